"""The line under the official client: bounded in waiting and size, with our headers alone.

Imported only where a language model is asked: httpx2 and httpcore2 come with the ``openai`` extra.
"""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import httpcore2
import httpx2

from certirag.adapters.llm.stream_parser import is_secret

# What goes out besides the key: the client's own headers say what machine and version it runs on,
# and the environment may add others that were meant for another host.
_SENT: Final = frozenset({b"host", b"content-type", b"content-length", b"accept"})
# What comes in: no redirect is followed, nothing is unpacked, no cookie is kept.
_HEARD: Final = frozenset({b"content-type", b"retry-after"})
_COMPLAINT: Final = 65_536  # bytes of an error's body that are read; the rest is left
_BLOCK: Final = 65_536
_CHATTY: Final = ("httpcore2.connection", "httpcore2.http11", "httpx2", "openai._base_client")

T = TypeVar("T")


class TooLong(Exception):
    """The reply is longer than the bound; it was not read to its end."""


class Waiting:
    """The seconds that one exchange may still wait for the other side.

    Only waiting is counted, so that whoever takes his time over a piece loses nothing of it, and
    all of it, so that bytes that drip in come to an end however small the pauses between them.
    """

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @property
    def over(self) -> bool:
        """Whether there is nothing left to wait."""
        return self.left <= 0.0

    def spend(self, action: Callable[[float], T], at_most: float | None) -> T:
        """Return what *action*, given its time-out in seconds, returns; its time is taken off."""
        if self.over:
            raise httpcore2.ReadTimeout
        started = time.monotonic()
        try:
            return action(self.left if at_most is None else min(at_most, self.left))
        finally:
            self.left -= time.monotonic() - started


class BoundedTransport(httpx2.BaseTransport):
    """Sends one request to the endpoint, with *key* if there is one, and hands its reply on.

    The key is known here and nowhere else in the client. There is no proxy, no redirect, no
    second use of a connection. Raises httpx2's own errors, and TooLong for a reply of more than
    *max_bytes*.
    """

    def __init__(
        self, *, key: str, waiting: Waiting, max_bytes: int, tls: ssl.SSLContext | None
    ) -> None:
        self._key, self._max_bytes = key, max_bytes
        self._pool = httpcore2.ConnectionPool(
            ssl_context=tls,
            max_connections=1,
            max_keepalive_connections=0,
            network_backend=_BoundedBackend(waiting),
        )
        withhold(key)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the reply to *request*, its body still to be read."""
        sent = [(name, value) for name, value in request.headers.raw if name.lower() in _SENT]
        sent += [(b"Accept-Encoding", b"identity"), (b"User-Agent", b"certirag")]
        if self._key:
            sent.append((b"Authorization", b"Bearer " + self._key.encode("ascii")))
        url = request.url
        asked = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=sent,
            content=request.stream,
            extensions={"timeout": request.extensions.get("timeout", {})},
        )
        with _their_errors():
            reply = self._pool.handle_request(asked)
        fine = reply.status == httpx2.codes.OK
        return httpx2.Response(
            status_code=reply.status,
            headers=[(name, value) for name, value in reply.headers if name.lower() in _HEARD],
            stream=_BoundedBody(reply, self._max_bytes if fine else _COMPLAINT, whole=fine),
        )

    def close(self) -> None:
        """Hang up."""
        self._pool.close()


class _BoundedBody(httpx2.SyncByteStream):
    """The body of a reply up to *most* bytes; TooLong behind them if it is to be *whole*."""

    def __init__(self, reply: httpcore2.Response, most: int, *, whole: bool) -> None:
        self._reply, self._most, self._whole = reply, most, whole

    def __iter__(self) -> Iterator[bytes]:
        left = self._most
        with _their_errors():
            for block in self._reply.iter_stream():
                if len(block) > left:
                    if self._whole:
                        raise TooLong
                    return
                left -= len(block)
                yield block

    def close(self) -> None:
        self._reply.close()


class _BoundedBackend(httpcore2.NetworkBackend):
    """Opens connections whose every wait is taken off *waiting*."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting, self._network = waiting, httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        def connect(seconds: float) -> httpcore2.NetworkStream:
            return self._network.connect_tcp(host, port, seconds, local_address, socket_options)

        return _BoundedStream(self._waiting.spend(connect, timeout), self._waiting)


class _BoundedStream(httpcore2.NetworkStream):
    """A connection whose every wait is taken off *waiting*."""

    def __init__(self, stream: httpcore2.NetworkStream, waiting: Waiting) -> None:
        self._stream, self._waiting = stream, waiting

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._waiting.spend(lambda left: self._stream.read(max_bytes, left), timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _BLOCK):  # each block has a time-out of its own
            block = buffer[start : start + _BLOCK]
            self._waiting.spend(lambda left, block=block: self._stream.write(block, left), timeout)  # type: ignore[misc]

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        def greet(seconds: float) -> httpcore2.NetworkStream:
            return self._stream.start_tls(ssl_context, server_hostname, seconds)

        return _BoundedStream(self._waiting.spend(greet, timeout), self._waiting)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


@contextmanager
def _their_errors() -> Iterator[None]:
    """Turn the connection's errors into the client's; who cannot be reached is not slow."""
    try:
        yield
    except (httpcore2.ConnectTimeout, httpcore2.ConnectError) as error:
        raise httpx2.ConnectError(type(error).__name__) from None
    except httpcore2.TimeoutException as error:
        raise httpx2.ReadTimeout(type(error).__name__) from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise httpx2.ReadError(type(error).__name__) from None


class _Withheld(logging.Filter):
    """Empties log lines that hold a secret: a server may send the key back in its headers."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets: frozenset[str] = frozenset()

    def filter(self, record: logging.LogRecord) -> bool:
        line = record.getMessage()
        if any(secret in line or repr(secret)[1:-1] in line for secret in self.secrets):
            record.msg, record.args = "a line that held the language model's key was withheld", ()
        return True


_WITHHELD: Final = _Withheld()


def withhold(key: str) -> None:
    """See to it that the client's and the connection's loggers never write *key*."""
    if is_secret(key):
        _WITHHELD.secrets |= {key}
        for name in _CHATTY:
            logging.getLogger(name).addFilter(_WITHHELD)  # adding it twice adds it once
