"""One POST to an OpenAI-compatible endpoint: bounded in time and size, no redirect, no proxy."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from certirag.errors import InputError

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_BLOCK: Final = 16_384


class NoAnswer(Exception):
    """The endpoint gave no usable answer; the message is ours and quotes nothing of theirs."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask, and how long: *url* ends before ``/chat/completions``.

    *timeout*, in seconds, bounds the connecting and then the whole exchange, however slowly bytes
    drip in; a reply of more than *max_bytes* is no answer. The key is sent and appears nowhere else.
    Raises InputError for a URL that cannot be asked, or that would send the key in the clear.
    """

    url: str
    key: str = field(default="", repr=False)
    timeout: float = 30.0
    max_bytes: int = 65_536

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            host, _ = parts.hostname, parts.port
        except ValueError as error:
            raise InputError("the language model's URL cannot be read") from error
        plain = parts.username is None and not parts.query and not parts.fragment
        if parts.scheme not in {"http", "https"} or not host or not plain:
            message = "the language model's URL must be like https://host/v1, with nothing behind"
            raise InputError(message)
        if not self.url.isascii() or not self.url.isprintable() or " " in self.url:
            raise InputError("the language model's URL holds characters that no URL has")
        if self.key and (not self.key.isascii() or not self.key.isprintable() or " " in self.key):
            raise InputError("the language model's key holds characters that no key has")
        if self.key and parts.scheme == "http" and host not in _LOOPBACK:
            message = f"the key for {host} would cross the network unencrypted: use https"
            raise InputError(message)

    @property
    def host(self) -> str:
        """Host and port as the URL has them: all of the endpoint that a record names."""
        return urlsplit(self.url).netloc.lower()

    def post(self, path: str, content: dict[str, Any]) -> bytes:
        """Return the body of the reply to *content* as JSON; NoAnswer for anything but a 200."""
        body = json.dumps(content).encode("ascii")
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        target = urlsplit(self.url).path.rstrip("/") + path
        connection = self._connection()
        late = threading.Event()
        watch: threading.Timer | None = None
        try:
            connection.connect()
            watch = _watch(connection.sock, self.timeout, late)
            connection.request("POST", target, body, headers)
            found = self._body(connection.getresponse())
            if late.is_set():  # an end that we made ourselves may look like theirs
                raise TimeoutError
            return found
        except (OSError, http.client.HTTPException, ValueError) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                raise NoAnswer(f"no answer within {self.timeout:g} seconds") from None
            message = f"the endpoint {self.host} cannot be asked ({type(error).__name__})"
            raise NoAnswer(message) from None
        finally:
            if watch is not None:
                watch.cancel()
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        host = str(parts.hostname)
        if parts.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                host, parts.port, timeout=self.timeout, context=context
            )
        return http.client.HTTPConnection(host, parts.port, timeout=self.timeout)

    def _body(self, response: http.client.HTTPResponse) -> bytes:
        if response.status != http.client.OK:
            raise NoAnswer(f"the endpoint answered with status {response.status}")
        blocks, size = [], 0
        while block := response.read(_BLOCK):
            blocks.append(block)
            size += len(block)
            if size > self.max_bytes:
                raise NoAnswer(f"the reply is longer than {self.max_bytes} bytes")
        if response.length:
            raise ConnectionError("the reply ended early")
        return b"".join(blocks)


def _watch(line: socket.socket, seconds: float, late: threading.Event) -> threading.Timer:
    """Return a running timer that sets *late* and hangs up *line*, whatever is read from it.

    A time-out of the socket's own bounds a single read: bytes that drip in would go on for ever.
    """

    def hang_up() -> None:
        late.set()
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, hang_up)
    timer.daemon = True
    timer.start()
    return timer
