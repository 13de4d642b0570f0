"""A line to a server that can be cut, held up or bent at a chosen word of what is sent."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

How = Literal["cut", "unanswered", "silent"]


@dataclass
class Line:
    """Hands bytes on to *port* until *word* was sent *times* times; then it is broken for good.

    ``cut``: the word does not get through and all connections end. ``unanswered``: the word gets
    through, and then they end. ``silent``: nothing gets through any more and nothing ends.
    """

    port: int
    word: bytes = b""
    times: int = 1
    how: How = "cut"
    broken: bool = False
    _listener: socket.socket = field(default_factory=socket.socket)
    _open: list[socket.socket] = field(default_factory=list)

    @property
    def own_port(self) -> int:
        """The port to connect to in the place of the server's."""
        return int(self._listener.getsockname()[1])

    def start(self) -> None:
        """Listen, on a thread of its own."""
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        """Close everything."""
        self.broken = True
        for one in [self._listener, *self._open]:
            _end(one)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._open.append(client)
                if self.broken and self.how != "silent":
                    _end(client)
                    continue
                server = socket.create_connection(("127.0.0.1", self.port))
                self._open.append(server)
                for one, other in ((client, server), (server, client)):
                    arguments = (one, other, one is client)
                    threading.Thread(target=self._hand_on, args=arguments, daemon=True).start()

    def _hand_on(self, source: socket.socket, target: socket.socket, up: bool) -> None:
        sent = b""
        with suppress(OSError):
            while data := source.recv(65536):
                if up and self.word and not self.broken:
                    sent += data
                    if sent.count(self.word) >= self.times:
                        self._break(target, data)
                        return
                    sent = sent[-10_000_000:]
                if self.broken and self.how == "silent":
                    continue
                target.sendall(data)
        if not (self.broken and self.how == "silent"):
            _end(target)

    def _break(self, server: socket.socket, data: bytes) -> None:
        self.broken = True
        if self.how == "silent":
            return
        if self.how == "unanswered":
            server.sendall(data)
            server.shutdown(socket.SHUT_WR)
            with suppress(OSError):  # the server's end of it: done
                server.settimeout(0.5)
                while server.recv(65536):
                    pass
        for one in list(self._open):
            _end(one)


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextmanager
def line_to(port: int, word: bytes = b"", times: int = 1, how: How = "cut") -> Iterator[Line]:
    """Yield a line to *port* that breaks as told."""
    line = Line(port, word, times, how)
    line.start()
    try:
        yield line
    finally:
        line.stop()


@contextmanager
def answering(words: bytes | None) -> Iterator[int]:
    """Yield the port of a server that is none of ours: it says *words*, or never anything."""
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken: list[socket.socket] = []

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    taken.append(client)
                    if words is not None:
                        client.recv(8)
                        client.sendall(words)
                        _end(client)

        threading.Thread(target=accept, daemon=True).start()
        yield int(listener.getsockname()[1])
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        for one in taken:
            _end(one)
