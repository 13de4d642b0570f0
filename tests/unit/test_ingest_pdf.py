"""Reading PDF: pages, tables, what nobody can see, and files that are broken on purpose."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from reportlab.lib import colors
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table

from certirag.core.text import Document
from certirag.errors import IngestError
from certirag.ingest.chunk import chunk_document
from certirag.ingest.load import Limits, load_document
from certirag.ingest.sentences import sentence_splitter

Draw = Callable[[Canvas], None]


def pdf(*pages: Draw, encrypt: object = None) -> bytes:
    """Return a PDF with one page (595 x 842 points) for each drawing."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842), encrypt=encrypt)
    for draw in pages:
        canvas.setFont("Helvetica", 11)
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def load(data: bytes) -> Document:
    """Return the document with the default limits."""
    return load_document(data, path="a.pdf", limits=Limits())


def texts(document: Document, *, kind: str = "paragraph", visible: bool = True) -> list[str]:
    """Return the texts of the blocks of a kind."""
    return [
        document.text[block.start : block.end]
        for block in document.blocks
        if block.kind == kind and block.visible == visible
    ]


def lines(canvas: Canvas, *rows: str, top: float = 760, left: float = 72) -> None:
    """Draw lines of text 14 points apart."""
    for number, row in enumerate(rows):
        canvas.drawString(left, top - 14 * number, row)


def white(canvas: Canvas) -> None:
    """Draw white on white."""
    canvas.setFillGray(1)
    lines(canvas, "secret words", top=700)


def near_white(canvas: Canvas) -> None:
    """Draw nearly white on white."""
    canvas.setFillColorRGB(0.97, 0.98, 0.97)
    lines(canvas, "secret words", top=700)


def tiny(canvas: Canvas) -> None:
    """Draw in a font of two points."""
    canvas.setFont("Helvetica", 2)
    lines(canvas, "secret words", top=700)


def scaled(canvas: Canvas) -> None:
    """Draw in a large font that a matrix makes tiny."""
    canvas.scale(0.1, 0.1)
    canvas.drawString(720, 7000, "secret words")


def unpainted(canvas: Canvas) -> None:
    """Draw in render mode 3, neither filled nor stroked."""
    text = canvas.beginText(72, 700)
    text.setTextRenderMode(3)
    text.textOut("secret words")
    canvas.drawText(text)


def off_page(canvas: Canvas) -> None:
    """Draw left of the page."""
    canvas.drawString(-400, 700, "secret words")


def transparent(canvas: Canvas) -> None:
    """Draw with no opacity."""
    canvas.setFillAlpha(0)
    lines(canvas, "secret words", top=700)


def covered(canvas: Canvas) -> None:
    """Draw black text and a white box over it."""
    lines(canvas, "secret words", top=700)
    canvas.setFillGray(1)
    canvas.rect(60, 690, 300, 30, stroke=0, fill=1)


def same_as_ground(canvas: Canvas) -> None:
    """Draw blue on the same blue."""
    canvas.setFillColorRGB(0, 0, 0.5)
    canvas.rect(60, 690, 300, 30, stroke=0, fill=1)
    lines(canvas, "secret words", top=700)


@pytest.mark.parametrize(
    "draw",
    [white, near_white, tiny, scaled, unpainted, off_page, transparent, covered, same_as_ground],
)
def test_text_that_nobody_sees_is_marked_and_is_no_evidence(draw: Draw) -> None:
    """Hidden text is kept as an invisible block, and no chunk holds it."""

    def page(canvas: Canvas) -> None:
        lines(canvas, "The fee is 40 euros.")
        draw(canvas)

    document = load(pdf(page))
    assert texts(document) == ["The fee is 40 euros."]
    assert texts(document, visible=False) == ["secret words"]
    chunks = chunk_document(document, sentence_splitter())
    assert [chunk.text for chunk in chunks] == ["The fee is 40 euros."]


def test_a_word_hidden_inside_a_sentence_is_not_read_with_it() -> None:
    """A reader sees "may smoke": a white "not" between the words changes nothing."""

    def page(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "You may")
        canvas.setFillGray(1)
        canvas.drawString(116, 700, "not")
        canvas.setFillGray(0)
        canvas.drawString(134, 700, "smoke here.")

    document = load(pdf(page))
    assert " ".join(texts(document)) == "You may smoke here."
    assert texts(document, visible=False) == ["not"]


def test_white_text_on_a_dark_ground_is_seen() -> None:
    """A table header in white on blue is ordinary text."""

    def page(canvas: Canvas) -> None:
        canvas.setFillColorRGB(0, 0, 0.4)
        canvas.rect(60, 690, 300, 30, stroke=0, fill=1)
        canvas.setFillGray(1)
        lines(canvas, "Plainly visible.", top=700)

    assert texts(load(pdf(page))) == ["Plainly visible."]


def test_headings_lists_and_paragraphs_over_a_page_end() -> None:
    """A paragraph goes on over the page; running feet and page numbers are not glued into it."""

    def first(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold", 18)
        lines(canvas, "Travel handbook")
        canvas.setFont("Helvetica-Bold", 13)
        lines(canvas, "1. Flights", top=720)
        canvas.setFont("Helvetica", 11)
        lines(canvas, "\u2022 Economy class is booked.", "\u2022 Miles are kept.", top=700)
        lines(
            canvas, "A flight of more than six hours may be booked in a better class, and", top=650
        )
        foot(canvas, 1)

    def second(canvas: Canvas) -> None:
        lines(canvas, "only if the head of the depart-", "ment agrees. A department pays.")
        foot(canvas, 2)

    def foot(canvas: Canvas, number: int) -> None:
        canvas.drawString(72, 30, "Travel handbook")
        canvas.drawRightString(520, 30, f"Page {number} of 2")

    document = load(pdf(first, second))
    assert document.title == "Travel handbook"
    assert texts(document, kind="heading") == ["Travel handbook", "1. Flights"]
    assert texts(document, kind="list_item") == ["Economy class is booked.", "Miles are kept."]
    whole = (
        "A flight of more than six hours may be booked in a better class, and "
        "only if the head of the department agrees. A department pays."
    )
    assert texts(document) == [whole]
    assert {block.section for block in document.blocks} == {"", "1. Flights"}
    last = chunk_document(document, sentence_splitter())[-1]
    assert [box.page for box in last.spans[-2].boxes] == [1, 2, 2]
    assert [box.page for box in last.spans[-1].boxes] == [2]


ROWS = [
    ["Segment", "Q3 2024 revenue ($M)", "Change"],
    ["EMEA", "12.3", "4%"],
    ["Asia Pacific and Oceania", "", "-2%"],
]
LINES = [
    "Segment: EMEA; Q3 2024 revenue ($M): 12.3; Change: 4%",
    "Segment: Asia Pacific and Oceania; Change: -2%",
]


@pytest.mark.parametrize("grid", [True, False], ids=["ruled", "bare"])
def test_table_rows_name_their_columns(grid: bool) -> None:
    """Each row is one line with the header's names, with or without drawn lines."""

    def page(canvas: Canvas) -> None:
        lines(canvas, "Revenue of the segments is shown here.", "Table 1: Revenue", top=780)
        table = Table(ROWS, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)] if grid else [])
        table.wrapOn(canvas, 450, 300)
        table.drawOn(canvas, 72, 690)

    document = load(pdf(page))
    assert texts(document, kind="table_row") == LINES
    rows = [block for block in document.blocks if block.kind == "table_row"]
    assert all(block.boxes and block.boxes[0].page == 1 for block in rows)


def test_prose_in_two_columns_is_no_table() -> None:
    """Columns are read one after the other, each as a paragraph."""
    left = ["The pump runs all day and", "is stopped only at night,", "when nobody is at work in"]
    left += ["the hall or in the yard", "that belongs to the hall."]
    right = ["A second text stands here", "and has nothing to do with", "the first one, which was"]
    right += ["about the pump that runs", "in the hall during the day."]

    def page(canvas: Canvas) -> None:
        lines(canvas, *left)
        lines(canvas, *right, left=320)

    assert texts(load(pdf(page))) == [" ".join(left), " ".join(right)]


def test_superscripts_do_not_become_digits() -> None:
    """Ten to the fifth is not a hundred and five."""

    def page(canvas: Canvas) -> None:
        text = canvas.beginText(72, 700)
        text.textOut("Count: 10")
        text.setFont("Helvetica", 7)
        text.setRise(4)
        text.textOut("5")
        canvas.drawText(text)

    assert texts(load(pdf(page))) == ["Count: 10⁵"]


def test_an_encrypted_file_is_refused() -> None:
    """A password that nobody gave is said, with the mend."""
    locked = pdf(lambda canvas: lines(canvas, "x"), encrypt=StandardEncryption("secret"))
    with pytest.raises(IngestError, match="encrypted; save a copy without a password"):
        load(locked)


def test_too_many_pages_are_refused() -> None:
    """The page limit is a limit of the file, named in the message."""
    data = pdf(*[lambda canvas: lines(canvas, "x")] * 3)
    with pytest.raises(IngestError, match="3 pages, more than the limit of 2"):
        load_document(data, path="a.pdf", limits=Limits(max_pages=2))


def test_a_page_without_text_is_said_to_be_a_scan() -> None:
    """A drawing without text asks for text recognition."""
    with pytest.raises(IngestError, match="scan"):
        load(pdf(lambda canvas: canvas.rect(72, 72, 300, 300)))


@pytest.mark.parametrize("cut", [20, 200, 500, 900])
def test_a_cut_or_garbled_file_never_crashes(cut: int) -> None:
    """A damaged file is refused, or read as far as PDFium mends it."""
    data = pdf(lambda canvas: lines(canvas, "The fee is 40 euros."))
    for broken in (data[:cut], data[:cut] + b"\xff" * 40 + data[cut + 40 :]):
        try:
            outcome = load(broken).doc_id
        except IngestError as error:
            outcome = str(error)
        assert outcome.startswith(("a-pdf-", "a.pdf: "))
