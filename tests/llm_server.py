"""A small HTTP server that plays a language model's endpoint, well or badly."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Played:
    """The server's address, and each request that it was sent: path, headers, JSON body."""

    url: str
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)


def chat(content: object, **more: object) -> bytes:
    """Return the body of a chat completion whose one answer is *content*."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, **more}
    return json.dumps({"choices": [choice]}).encode()


def verdict(label: str, entailed: float, rest: float, contradicted: float) -> str:
    """Return an answer as the judge is asked to give it."""
    scores = {"entailed": entailed, "not_enough_info": rest, "contradicted": contradicted}
    return json.dumps({"label": label, **scores})


def event(content: object = None, **more: object) -> bytes:
    """Return one event of a stream that says *content*; *more* goes beside its delta."""
    delta = {} if content is None else {"content": content}
    choice = {"index": 0, "delta": delta, "finish_reason": None, **more}
    chunk = {"id": "1", "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


END = event(finish_reason="stop") + b"data: [DONE]\n\n"


def spoken(*pieces: str) -> bytes:
    """Return the body of a sound stream that says *pieces* one by one."""
    return b"".join(map(event, pieces)) + END


def reply(
    handler: Any, status: int, content: object = None, headers: Mapping[str, str] | None = None
) -> None:
    """Answer with *status* and *content*: bytes as they are, anything else as JSON."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    handler.send_response(status)
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def stream(handler: Any, parts: Iterable[bytes], *, whole: bool = True) -> None:
    """Send *parts* as they come, chunked; unless *whole*, hang up without the last chunk."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for part in parts:
        handler.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
        handler.wfile.flush()
    if whole:
        handler.wfile.write(b"0\r\n\r\n")
    handler.close_connection = True


@contextmanager
def endpoint(
    answer: Callable[[dict[str, Any], Any], bytes | None], *, tls: ssl.SSLContext | None = None
) -> Iterator[Played]:
    """Serve on a free port: *answer* gives a 200's body, or writes to the handler and says None."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            content = json.loads(sent)
            played.requests.append((self.path, dict(self.headers), content))
            body = answer(content, self)
            if body is not None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        do_GET = do_POST  # noqa: N815  # the library's own spelling

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that hangs up is what some tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    played = Played(f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield played
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
