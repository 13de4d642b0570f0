"""Reading in a process of its own: the same documents, and an end to what costs too much."""

from __future__ import annotations

import io
import os
import pickle
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from certirag.errors import IngestError
from certirag.ingest import apart
from certirag.ingest.apart import ReadingProcess
from certirag.ingest.chunk import chunk_document
from certirag.ingest.extract import Limits
from certirag.ingest.load import load_document
from certirag.ingest.sentences import sentence_splitter

CORPORA = Path(__file__).resolve().parents[2] / "fixtures" / "corpora"
FILES = sorted(path for path in CORPORA.rglob("*") if path.is_file())
DOCX_BODY = (
    '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/'
    'wordprocessingml/2006/main"><w:body>%s</w:body></w:document>'
)


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
    out, places = io.BytesIO(b"%PDF-1.7\n"), []
    out.seek(0, io.SEEK_END)
    for number, part in enumerate(parts, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj%b\nendobj\n" % (number, part))
    start = out.tell()
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    out.write(b"xref\n0 5\n0000000000 65535 f \n%b" % table)
    out.write(b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % start)
    return out.getvalue()


def _docx_bomb() -> bytes:
    """Return a docx of under 1 MB whose text unpacks to 150 MB, within what one may unpack to."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        types = (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
            'relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/'
            'vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
        )
        archive.writestr("[Content_Types].xml", types)
        archive.writestr(
            "_rels/.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
            'relationships/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        body = "<w:p><w:r><w:t>The fee is four euros.</w:t></w:r></w:p>" * 2_500_000
        archive.writestr("word/document.xml", DOCX_BODY % body)
    return out.getvalue()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux alone")
@pytest.mark.parametrize(("bomb", "name"), [(_pdf_bomb, "a.pdf"), (_docx_bomb, "a.docx")])
def test_a_bomb_is_refused_and_the_next_document_is_read(bomb: object, name: str) -> None:
    """The process that reads stays under 300 MB, and this one does not grow with it."""
    assert callable(bomb)
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
    assert line == f"{name}: {apart._MEMORY}"
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


def test_a_process_ends_with_its_reader() -> None:
    """Nobody is left to wait for documents that never come."""
    with ReadingProcess(Limits()) as read:
        read(b"The fee is 4 euros.", "a.txt")
        process = read._process
        assert process is not None
        assert process.poll() is None
    assert process.poll() is not None
