"""Read documents in a process of their own: one that costs too much is ended, and nothing else.

A parser of hostile files can be made slow, hungry, or to crash. Here that ends a process that does
nothing but read; the caller gets one line, and whoever shares its process is not disturbed.
"""

from __future__ import annotations

import io
import os
import pickle
import re
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self, cast

from certirag.core.text import (
    Block,
    Box,
    ChunkSource,
    Document,
    EvidenceChunk,
    RetrievalScores,
    SentenceSpan,
)
from certirag.errors import IngestError
from certirag.ingest.chunk import chunk_document
from certirag.ingest.extract import Limits, printable
from certirag.ingest.load import load_document
from certirag.ingest.pdf_picture import PagePicture, page_picture
from certirag.ingest.sentences import sentence_splitter

# What reading may take at once, besides what is read already: the readers themselves, and so many
# bytes for each of the file (`certirag bench --reading` prints what the formats take). A page of a
# PDF may take as much again, since a book is no bomb, and all of it no more than the third.
_READERS_MB: Final = 200
_FOR_EACH_BYTE: Final = 24
_MOST_MB: Final = 900
_KEPT_BELOW: Final = 1_000_000  # bytes; after a larger file a new process begins with a clean heap
_MADE: Final = {
    (kind.__module__, kind.__name__): kind
    for kind in (
        *(Block, Box, ChunkSource, Document, EvidenceChunk, RetrievalScores, SentenceSpan),
        PagePicture,
    )
}
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_WATCHED_EVERY: Final = 0.4  # seconds
_HEADER: Final = struct.Struct(">QQ")
_SERVE: Final = "from certirag.ingest.apart import serve; serve()"
_MEMORY: Final = "reading it takes more memory than its size allows; split it or save it anew"
_ENDED: Final = (
    "the process that read it broke: too much memory, or damaged; split it or save it anew"
)


class ReadingProcess:
    """Reads documents one by one in a process that starts with the first (`DocumentReader`).

    *sentences* is "rules" or what `sentence_splitter` takes. Called with the bytes and the relative
    path of a document, it returns the document and its chunks. Raises IngestError, one line, for
    what cannot be read and for what takes more time or memory than *limits* allow. Memory is
    limited on Linux alone: elsewhere a process cannot be held to it. *waiting* is called time and
    again while a document is read; what it raises ends the process and is passed on. *peak_memory*
    is the most bytes that the process has held when it gave its last document; 0 where unknown.
    """

    peak_memory: int = 0

    def __init__(
        self,
        limits: Limits,
        sentences: str = "rules",
        waiting: Callable[[], None] | None = None,
    ) -> None:
        self.limits, self._sentences, self._waiting = limits, sentences, waiting
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def __call__(self, data: bytes, path: str) -> tuple[Document, tuple[EvidenceChunk, ...]]:
        """Return the document that *data*, found under *path*, holds, and its chunks."""
        read = self._asked((path, (), False), data)
        match read:
            case (Document() as document, tuple(chunks)) if all(
                isinstance(chunk, EvidenceChunk) for chunk in chunks
            ):
                return document, chunks
        self._end()
        raise IngestError(f"{printable(path)}: {_ENDED}")

    def picture(
        self, data: bytes, path: str, boxes: Sequence[Box], *, whole: bool = False
    ) -> PagePicture:
        """Return a picture of the page of a PDF on which *boxes* stand (`page_picture`)."""
        drawn = self._asked((path, tuple(boxes), whole), data)
        if isinstance(drawn, PagePicture) and _is_sound(drawn, len(boxes)):
            return drawn
        self._end()
        raise IngestError(f"{printable(path)}: {_ENDED}")

    def _asked(self, request: tuple[str, tuple[Box, ...], bool], data: bytes) -> object:
        """Return what the process answers to *request*; IngestError for its line or its end."""
        name = printable(request[0])
        try:
            process = self._process or self._begin()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise IngestError(f"{name}: no process can be started to read it: {reason}") from error
        late = threading.Event()
        answer, memory = b"", b""

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self.limits.max_seconds, end)
        timer.start()
        try:
            with suppress(BrokenPipeError):  # it ended while it was given the file
                _send(cast("IO[bytes]", process.stdin), pickle.dumps(request), data)
            answer, memory = self._answer(process)
        finally:
            timer.cancel()
            if not answer or late.is_set() or len(data) > _KEPT_BELOW:
                self._end()
        if late.is_set():
            raise IngestError(
                f"{name}: reading it took more than {self.limits.max_seconds:,} seconds; "
                "split it or raise CERTIRAG_MAX_FILE_SECONDS"
            )
        if not answer:
            raise IngestError(f"{name}: {_ENDED}")
        try:
            read, self.peak_memory = _Unpickler(io.BytesIO(answer)).load(), int(memory)
        except Exception as error:
            self._end()
            raise IngestError(f"{name}: {_ENDED}") from error
        if isinstance(read, str):
            raise IngestError(read)
        return cast("object", read)

    def _answer(self, process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
        stream, most = cast("IO[bytes]", process.stdout), _MOST_MB * 1_000_000
        if self._waiting is None:
            return _receive(stream, most=most)
        with ThreadPoolExecutor(1) as beside:
            coming = beside.submit(_receive, stream, most=most)
            try:
                while not coming.done():
                    wait([coming], timeout=_WATCHED_EVERY)
                    self._waiting()
            except BaseException:
                process.kill()  # or the thread would wait for what it reads
                raise
            return coming.result()

    def _begin(self) -> subprocess.Popen[bytes]:
        limits = (self.limits.max_bytes, self.limits.max_pages, self.limits.max_seconds)
        # Nothing of the folder that the user happens to stand in is imported.
        paths = os.pathsep.join(p for p in sys.path if p and Path(p).is_absolute())
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter on this package
            [sys.executable, "-P", "-c", _SERVE, *map(str, limits), self._sentences],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**_without_secrets(), "PYTHONPATH": paths},
            start_new_session=True,  # an interrupt reaches the caller, who ends this
        )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


class _Unpickler(pickle.Unpickler):
    """Makes nothing but documents, chunks and pictures of what read a hostile file.

    Raises whatever it may where a process that somebody took over sends something else.
    """

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _MADE:
            message = f"{module}.{name} is no part of a document"
            raise pickle.UnpicklingError(message)
        return _MADE[module, name]


def _is_sound(drawn: PagePicture, boxes: int) -> bool:
    """Say whether *drawn* is a picture of a place, with words for each of so many *boxes*."""
    edges = (drawn.left, drawn.right, drawn.bottom, drawn.top)
    return (
        isinstance(drawn.png, bytes)
        and drawn.png.startswith(_PNG)
        and all(isinstance(edge, float) and isfinite(edge) for edge in edges)
        and drawn.left < drawn.right
        and drawn.bottom < drawn.top
        and isinstance(drawn.words, tuple)
        and [type(words) for words in drawn.words] == [str] * boxes
    )


def _without_secrets() -> dict[str, str]:
    """Return the environment without settings: keys of models and databases are among them."""
    return {name: of for name, of in os.environ.items() if not name.startswith("CERTIRAG_")}


def serve() -> None:
    """Read what standard input holds, document by document, and write each to standard output."""
    *numbers, sentences = sys.argv[1:]
    most_bytes, most_pages, most_seconds = map(int, numbers)
    split = sentence_splitter(None if sentences == "rules" else sentences)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a parser prints is no answer
    while (request := _receive(requests)) != (b"", b""):
        (path, boxes, whole), data = pickle.loads(request[0]), request[1]  # noqa: S301  # ours
        hold = partial(_hold_to, _READERS_MB * 1_000_000 + _FOR_EACH_BYTE * len(data))
        limits = Limits(most_bytes, most_pages, most_seconds, page_begins=hold)
        _leave_when_overdue(most_seconds)
        hold()
        answer: object
        try:
            if boxes:
                read: object = page_picture(data, boxes, whole=whole, name=printable(path))
            else:
                document = load_document(data, path=path, limits=limits)
                read = document, chunk_document(document, split)
            answer = pickle.dumps(read)
        except IngestError as error:
            answer = pickle.dumps(str(error))
        except MemoryError:
            answer = pickle.dumps(f"{printable(path)}: {_MEMORY}")
        _send(answers, answer, b"%d" % _peak_memory())


def _hold_to(memory: int) -> None:
    """Let this process take *memory* more bytes than it has, on Linux."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415  # not on Windows

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[5])
        soft = min(pages * resource.getpagesize() + memory, _MOST_MB * 1_000_000)
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _leave_when_overdue(seconds: int) -> None:
    """Let this process not go on for ever, should the caller be killed while it reads."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415  # not on Windows

        soft = int(time.process_time()) + seconds + 5
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _peak_memory() -> int:
    """Return the most bytes that this process has held; 0 where that is unknown."""
    try:
        status = Path("/proc/self/status").read_text("ascii", "replace")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _send(stream: IO[bytes], *parts: bytes) -> None:
    stream.write(_HEADER.pack(*map(len, parts)))
    for part in parts:
        stream.write(part)
    stream.flush()


def _receive(stream: IO[bytes], *, most: int | None = None) -> tuple[bytes, bytes]:
    """Return the two parts that come next, both empty where there are none within *most* bytes."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return b"", b""
    sizes = _HEADER.unpack(header)
    if most is not None and sum(sizes) > most:
        return b"", b""
    parts = tuple(stream.read(size) for size in sizes)
    return (parts[0], parts[1]) if tuple(map(len, parts)) == sizes else (b"", b"")
