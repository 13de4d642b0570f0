"""Reading in a process of its own: the same documents, and an end to what costs too much."""

from __future__ import annotations

import io
import os
import pickle
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from certirag.errors import IngestError
from certirag.eval.bench_reading import docx_file, pdf_file
from certirag.ingest import apart
from certirag.ingest.apart import ReadingProcess
from certirag.ingest.chunk import chunk_document
from certirag.ingest.extract import Limits
from certirag.ingest.load import load_document
from certirag.ingest.sentences import sentence_splitter

CORPORA = Path(__file__).resolve().parents[2] / "fixtures" / "corpora"
FILES = sorted(path for path in CORPORA.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def read() -> Iterator[ReadingProcess]:
    """One process for all that is not too much for it."""
    with ReadingProcess(Limits()) as process:
        yield process


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_reads_what_is_read_without_it(path: Path, read: ReadingProcess) -> None:
    """Documents and chunks are the same, and so is the line for what cannot be read."""
    data, name = path.read_bytes(), path.name
    try:
        document = load_document(data, path=name, limits=Limits())
    except IngestError as error:
        with pytest.raises(IngestError, match=re.escape(str(error))):
            read(data, name)
        return
    assert read(data, name) == (document, chunk_document(document, sentence_splitter()))


def test_it_holds_no_key_and_no_record() -> None:
    """Nothing that signs or records is loaded where hostile files are read."""
    program = (
        "import sys\n"
        "import certirag.ingest.apart\n"
        "unwanted = {'cryptography', 'pydantic', 'sqlite3', 'certirag.proof', 'certirag.settings'}\n"
        "print(*sorted(unwanted & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("path", ["../a.txt", "ä ö.txt", os.fsdecode(b"caf\xe9.txt"), "a\nb.txt"])
def test_a_name_comes_back_as_it_went(path: str, read: ReadingProcess) -> None:
    """Whatever the bytes of a file's name are."""
    document, _ = read(b"The fee is 4 euros.", path)
    assert document == load_document(b"The fee is 4 euros.", path=path, limits=Limits())


def _pdf_bomb() -> bytes:
    """Return a PDF of 2.4 MB whose one content stream unpacks to 970 MB."""
    packer, packed = zlib.compressobj(9), [b""]
    block = b"0 0 m 9 9 l S (The fee) Tj " * 40_000
    packed = [packer.compress(block) for _ in range(900)]
    stream = b"".join([*packed, packer.flush()])
    parts = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<<>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream" % (len(stream), stream),
    )
    return pdf_file(parts)


def _docx_bomb() -> bytes:
    """Return a docx of under 1 MB whose text unpacks to 150 MB, within what one may unpack to."""
    return docx_file("<w:p><w:r><w:t>The fee is four euros.</w:t></w:r></w:p>" * 2_500_000)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux alone")
@pytest.mark.parametrize(
    ("bomb", "name", "reason"),
    [(_pdf_bomb, "a.pdf", apart._ENDED), (_docx_bomb, "a.docx", apart._MEMORY)],
)
def test_a_bomb_is_refused_and_the_next_document_is_read(
    bomb: Callable[[], bytes], name: str, reason: str
) -> None:
    """The process that reads stays under 300 MB, and this one does not grow with it.

    PDFium ends its process where it gets no memory; Python says so and goes on.
    """
    data = bomb()
    assert len(data) < 3_000_000
    script = (
        "import resource, sys\n"
        "from certirag.errors import IngestError\n"
        "from certirag.ingest.apart import ReadingProcess\n"
        "from certirag.ingest.extract import Limits\n"
        "data = sys.stdin.buffer.read()\n"
        "with ReadingProcess(Limits()) as read:\n"
        "    try:\n"
        f"        read(data, {name!r})\n"
        "    except IngestError as error:\n"
        "        print(error)\n"
        "    print(read(b'The fee is 4 euros.', 'b.txt')[1][0].text)\n"
        "status = dict(line.split(':\\t') for line in open('/proc/self/status'))\n"
        "print(int(status['VmHWM'].split()[0]) // 1000)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1000)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=data, capture_output=True, check=True, timeout=300
    )
    line, text, own, reader = done.stdout.decode().splitlines()
    assert line == f"{name}: {reason}"
    assert text == "The fee is 4 euros."
    assert int(own) < 200
    assert int(reader) < 300


def test_what_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says so, and the next document is read by another process."""
    monkeypatch.setattr(
        apart, "_SERVE", "import sys, time; sys.argv[-1] == 'slow' and time.sleep(60)"
    )
    with ReadingProcess(Limits(max_seconds=1), "slow") as read:
        with pytest.raises(IngestError, match=r"a\.txt: reading it took more than 1 seconds"):
            read(b"The fee is 4 euros.", "a.txt")
        monkeypatch.undo()
        read._sentences = "rules"
        assert read(b"The fee is 4 euros.", "b.txt")[0].path == "b.txt"


def test_nothing_but_documents_is_made_of_what_it_sends() -> None:
    """A process that a hostile file took over cannot make this one call anything."""
    for payload in (
        pickle.dumps(os.getcwd),
        pickle.dumps(subprocess.Popen),
        pickle.dumps(io.BytesIO()),
    ):
        with pytest.raises(pickle.UnpicklingError, match="is no part of a document"):
            apart._Unpickler(io.BytesIO(payload)).load()


@pytest.mark.parametrize(
    "answer",
    [
        pickle.dumps(subprocess.Popen),
        pickle.dumps(7),
        pickle.dumps(("a", "b", "c")),
        pickle.dumps(("a", ())),
        b"no pickle",
        pickle.dumps("x")[:-1],
    ],
)
def test_what_is_no_document_is_one_line(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a process that a hostile file took over answers; the next document is read."""
    script = (
        "import sys\n"
        "from certirag.ingest import apart\n"
        "apart._receive(sys.stdin.buffer)\n"
        f"apart._send(sys.stdout.buffer, {answer!r}, b'1')\n"
        "sys.stdin.buffer.read()\n"
    )
    monkeypatch.setattr(apart, "_SERVE", script)
    with ReadingProcess(Limits()) as read:
        with pytest.raises(IngestError, match=r"a\.txt: the process that read it broke"):
            read(b"The fee is 4 euros.", "a.txt")
        monkeypatch.undo()
        assert read(b"The fee is 4 euros.", "b.txt")[0].path == "b.txt"


def test_an_endless_answer_is_not_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said to be longer than any document is not read into memory."""
    script = "import sys; sys.stdout.buffer.write(b'\\xff' * 16); sys.stdout.flush(); input()"
    monkeypatch.setattr(apart, "_SERVE", script)
    with (
        ReadingProcess(Limits()) as read,
        pytest.raises(IngestError, match=r"a\.txt: the process that read it broke"),
    ):
        read(b"The fee is 4 euros.", "a.txt")


def test_settings_are_not_given_to_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A process that a hostile file took over finds no key of a model or a database there."""
    monkeypatch.setenv("CERTIRAG_LLM_API_KEY", "secret")
    seen = tmp_path / "seen"
    script = f"import os; open({str(seen)!r}, 'w').write('\\n'.join(sorted(os.environ)))"
    monkeypatch.setattr(apart, "_SERVE", script)
    with ReadingProcess(Limits()) as read, pytest.raises(IngestError):
        read(b"The fee is 4 euros.", "a.txt")
    names = seen.read_text().splitlines()
    assert "PATH" in names
    assert not [name for name in names if name.startswith("CERTIRAG_")]


def test_a_process_ends_with_its_reader() -> None:
    """Nobody is left to wait for documents that never come."""
    with ReadingProcess(Limits()) as read:
        read(b"The fee is 4 euros.", "a.txt")
        process = read._process
        assert process is not None
        assert process.poll() is None
    assert process.poll() is not None
