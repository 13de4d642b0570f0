"""Pages of a PDF as pictures: the words under a sentence's boxes, from the very file that was read."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fakes import FakeEmbedder
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from certirag.adapters.index.index_format import StoredCorpus
from certirag.adapters.index.index_store import write_corpus
from certirag.adapters.index.originals import FOLDER, keeping, original, sweep
from certirag.core.text import Box, SentenceSpan, sha256_hex
from certirag.errors import IngestError
from certirag.ingest import apart
from certirag.ingest.apart import ReadingProcess
from certirag.ingest.extract import Limits
from certirag.ingest.pdf_picture import PagePicture
from ui.original import _are_these

CORPORA = Path(__file__).resolve().parents[2] / "fixtures" / "corpora"
WORD = "Quarterly"


@pytest.fixture(scope="module")
def read() -> Iterator[ReadingProcess]:
    """One process for all."""
    with ReadingProcess(Limits()) as process:
        yield process


def spans_of(data: bytes, read: ReadingProcess) -> list[SentenceSpan]:
    """Return the evidence spans of a PDF."""
    return [span for chunk in read(data, "a.pdf")[1] for span in chunk.spans]


def test_the_words_under_the_boxes_are_the_sentence_s(read: ReadingProcess) -> None:
    """For every span of every PDF of the corpora: all its letters in prose, its cells in a row."""
    exact, rows = 0, 0
    for path in sorted(CORPORA.rglob("*.pdf")):
        data = path.read_bytes()
        for span in spans_of(data, read):
            pages = dict.fromkeys(box.page for box in span.boxes)
            of_page = [tuple(box for box in span.boxes if box.page == page) for page in pages]
            words = [w for boxes in of_page for w in read.picture(data, path.name, boxes).words]
            assert words, span.sentence
            assert _are_these(span.sentence, words), (path.name, span.sentence, words)
            same = letters("".join(words)) == letters(span.sentence)
            assert same or ": " in span.sentence, (path.name, span.sentence, words)
            exact, rows = exact + same, rows + (not same)
    print(f"{exact} sentences with the same words under their boxes, {rows} table rows")
    assert exact > 300
    assert rows > 40


def letters(text: str) -> str:
    """Return the letters and figures of *text*; line breaks and hyphens do not count."""
    return "".join(filter(str.isalnum, text)).casefold()


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
@pytest.mark.parametrize("cropped", [False, True])
def test_the_box_lies_on_the_ink(turned: int, cropped: bool, read: ReadingProcess) -> None:
    """On a page with one word, whichever way it lies, all the ink of the picture is in the box."""
    data = page_with_a_word(turned, cropped=cropped)
    (span,) = spans_of(data, read)
    for whole in (False, True):
        picture = read.picture(data, "a.pdf", span.boxes, whole=whole)
        assert picture.words == (WORD,)
        image = np.asarray(Image.open(io.BytesIO(picture.png)).convert("L"))
        rows, columns = np.nonzero(image < 128)
        height, width = image.shape
        (box,) = span.boxes
        across, up = width / (picture.right - picture.left), height / (picture.top - picture.bottom)
        assert (box.left - picture.left) * across - 2 <= columns.min()
        assert columns.max() <= (box.right - picture.left) * across + 2
        assert (picture.top - box.top) * up - 2 <= rows.min()
        assert rows.max() <= (picture.top - box.bottom) * up + 2


def page_with_a_word(turned: int, *, cropped: bool) -> bytes:
    """Return a PDF whose one page is turned by so many degrees and reads upright."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(400, 600))
    canvas.setFont("Helvetica", 14)
    canvas.setPageRotation(turned)
    canvas.translate(150, 300)
    canvas.rotate(turned)
    canvas.drawString(0, 0, WORD)
    if cropped:
        canvas.setCropBox((40, 60, 380, 380))
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "page"),
    [(b"%PDF-1.7 nothing", 1), (page_with_a_word(0, cropped=False), 2)],
    ids=["damaged", "no such page"],
)
def test_what_cannot_be_drawn_is_one_line(data: bytes, page: int, read: ReadingProcess) -> None:
    """And the next page is drawn."""
    with pytest.raises(IngestError, match=r"^a\.pdf: it"):
        read.picture(data, "a.pdf", [Box(page, 0.0, 0.0, 10.0, 10.0)])
    good = page_with_a_word(0, cropped=False)
    assert read.picture(good, "b.pdf", spans_of(good, read)[0].boxes).words == (WORD,)


def test_a_page_of_any_size_is_a_picture_of_bounded_size(read: ReadingProcess) -> None:
    """A page of five metres is drawn no larger than others."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(14_000, 14_000))
    canvas.setFont("Helvetica", 400)
    canvas.drawString(1000, 1000, WORD)
    canvas.save()
    data = buffer.getvalue()
    picture = read.picture(data, "a.pdf", spans_of(data, read)[0].boxes, whole=True)
    width, height = Image.open(io.BytesIO(picture.png)).size
    assert width * height <= 6_100_000


FAKED = PagePicture(apart._PNG, 0.0, 0.0, 1.0, 1.0, ("a",))


@pytest.mark.parametrize(
    "answer",
    [
        pickle.dumps(given)
        for given in (
            b"<svg onload=alert(1)>",
            7,
            replace(FAKED, png=b"<svg>"),
            replace(FAKED, png="text"),
            replace(FAKED, left=float("nan")),
            replace(FAKED, top=0.0),
            replace(FAKED, right="1"),
            replace(FAKED, words=()),
            replace(FAKED, words=(7,)),
            replace(FAKED, words=["a"]),
        )
    ],
)
def test_what_is_no_picture_is_one_line(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a process that a hostile file took over answers."""
    script = (
        "import sys\n"
        "from certirag.ingest import apart\n"
        "apart._receive(sys.stdin.buffer)\n"
        f"apart._send(sys.stdout.buffer, {answer!r}, b'1')\n"
        "sys.stdin.buffer.read()\n"
    )
    monkeypatch.setattr(apart, "_SERVE", script)
    with (
        ReadingProcess(Limits()) as process,
        pytest.raises(IngestError, match=r"a\.pdf: the process that read it broke"),
    ):
        process.picture(b"%PDF", "a.pdf", [Box(1, 0.0, 0.0, 1.0, 1.0)])


def test_pdfs_alone_are_kept_and_go_with_their_document(
    tmp_path: Path, read: ReadingProcess
) -> None:
    """Under their digests, readable by the owner alone; the next write removes what is no more."""
    data = page_with_a_word(0, cropped=False)
    kept = keeping(read, tmp_path)
    kept(data, "a.pdf")
    kept(b"The fee is 4 euros.", "b.txt")
    digest = sha256_hex(data)
    assert [file.name for file in (tmp_path / FOLDER).iterdir()] == [digest]
    assert (tmp_path / FOLDER / digest).stat().st_mode & 0o077 == 0
    assert original([tmp_path / "none", tmp_path], digest) == data
    write_corpus(tmp_path, StoredCorpus((), ()), FakeEmbedder())
    assert original([tmp_path], digest) is None


def test_another_file_under_a_digest_is_none(tmp_path: Path) -> None:
    """Nor is what a made-up digest points at."""
    digest = sha256_hex(b"one")
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / digest).write_bytes(b"two")
    (tmp_path / "secret").write_bytes(b"one")
    assert original([tmp_path], digest) is None
    for name in ("../secret", "", "/etc/passwd", digest.upper()):
        assert original([tmp_path], name) is None


def test_a_damaged_original_is_kept_again(tmp_path: Path, read: ReadingProcess) -> None:
    """The next ingest mends what lies under the digest."""
    data = page_with_a_word(0, cropped=False)
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / sha256_hex(data)).write_bytes(b"damaged")
    keeping(read, tmp_path)(data, "a.pdf")
    assert original([tmp_path], sha256_hex(data)) == data


def test_nothing_is_written_or_removed_through_a_link(tmp_path: Path, read: ReadingProcess) -> None:
    """An index from elsewhere may hold one; nor is a file removed that no index named."""
    index, target = tmp_path / "index", tmp_path / "target"
    target.mkdir()
    (target / ("0" * 64)).write_text("mine")
    index.mkdir()
    (index / FOLDER).symlink_to(target)
    keeping(read, index)(page_with_a_word(0, cropped=False), "a.pdf")
    sweep(index, ())
    assert [file.name for file in target.iterdir()] == ["0" * 64]
    (index / FOLDER).unlink()
    (index / FOLDER).mkdir()
    (index / FOLDER / "notes.txt").write_text("mine")
    (index / FOLDER / f"{'1' * 64}.part").write_text("left by a writer that was killed")
    sweep(index, ())
    assert [file.name for file in (index / FOLDER).iterdir()] == ["notes.txt"]


def test_a_disk_that_refuses_costs_the_picture_alone(tmp_path: Path, read: ReadingProcess) -> None:
    """The document is read all the same."""
    (tmp_path / FOLDER).write_text("in the way")
    document, _ = keeping(read, tmp_path)(page_with_a_word(0, cropped=False), "a.pdf")
    assert replace(document, path="") != document
    assert original([tmp_path], document.sha256) is None


@pytest.mark.parametrize(
    ("sentence", "found", "same"),
    [
        ("The fee is 4 euros.", ["The fee is", "4 euros."], True),
        ("The fee was re-opened.", ["The fee was re", "opened."], True),
        ("The fee is 4 euros.", ["The fee is"], False),
        ("The fee is not 4 euros.", ["The fee is", "4 euros."], False),
        ("The fee is 4 euros.", ["The fee is 40 euros."], False),
        ("Fee: 4 euros; Due: –", ["4 euros", "–"], True),
        ("Fee: 4 euros; Due: May", ["4 euros", "June"], False),
        ("Fee: 4 euros; Due: May", ["May", "4 euros"], False),
        ("Fee: 4 euros; Due: May", ["4 euros", ""], False),
        ("–", ["–"], False),
        ("The fee is 4 euros.", [], False),
    ],
)
def test_other_words_are_not_these(sentence: str, found: list[str], same: bool) -> None:
    """A sentence is all of its words; the row of a table its cells, in their order."""
    assert _are_these(sentence, found) is same
