"""Join the lines of a PDF into paragraphs, list items and headings, over page ends as well."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from certirag.core.text import Box
from certirag.ingest.extract import clean
from certirag.ingest.pdf_lines import PdfLine, box_of, is_marker, same_row
from certirag.ingest.pdf_page import SOFT_HYPHEN, PdfWord
from certirag.ingest.pdf_tables import Table

_ENDED = re.compile(r"[.!?:;][\"'”’)\]]*$")
_STOPPED = re.compile(r"[.;,][\"'”’)\]]*$")
_BROKEN = re.compile(r"[^\W\d_]-$")
_LETTERS = re.compile(r"[^\W\d_]+")
_NUMBERED = re.compile(r"\d{1,2}(?:\.\d{1,2})+\.?|\d{1,2}\.?|[A-Z]\.")
_HEADING_WORDS: Final = 20
_LARGER: Final = 1.12  # times the body's size: a heading
_SUSPENDED: Final = frozenset({"and", "or", "to", "und"})  # pre- and post-sale


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that belong together; *item* says that they are an item of a list."""

    lines: tuple[PdfLine, ...]
    item: bool = False

    @property
    def page(self) -> int:
        return self.lines[0].page

    @property
    def style(self) -> tuple[float, bool]:
        """Font size to half a point, and whether all of it is bold."""
        size = Counter[float]()
        for line in self.lines:
            for word in line.words:
                size[round(word.size * 2) / 2] += len(word.text)
        return size.most_common(1)[0][0], all(line.bold for line in self.lines)


def body_size(lines: Sequence[PdfLine]) -> float:
    """Return the font size that most of the text has, in points to half a point."""
    sizes = Counter[float]()
    for line in lines:
        for word in line.words:
            sizes[round(word.size * 2) / 2] += len(word.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def paragraphs_of(items: Sequence[PdfLine | Table]) -> Iterator[Paragraph | Table]:
    """Yield the paragraphs that the lines among *items* make, with the tables in their places."""
    leading = _leading([item for item in items if isinstance(item, PdfLine)])
    edges = _right_edges(items)
    current: list[PdfLine] = []
    item = False
    for part in items:
        if isinstance(part, Table):
            if current:
                yield Paragraph(tuple(current), item)
            current = []
            yield part
            continue
        marked = len(part.words) > 1 and is_marker(part.words[0].text)
        if current and not _joins(current, part, leading, edges, marked=marked):
            yield Paragraph(tuple(current), item)
            current = []
        if not current:
            item = marked
        current.append(part)
    if current:
        yield Paragraph(tuple(current), item)


def _leading(lines: Sequence[PdfLine]) -> float:
    """Return the usual distance of baselines, as a multiple of the font size."""
    steps = [
        (above.base - below.base) / above.size
        for above, below in pairwise(lines)
        if above.page == below.page
        and abs(above.size - below.size) < 0.6
        and 0.8 * above.size < above.base - below.base < 2.6 * above.size
    ]
    # The lower quarter: gaps between paragraphs are in the list as well.
    return sorted(steps)[len(steps) // 4] if steps else 1.3


def _right_edges(items: Sequence[PdfLine | Table]) -> dict[int, list[PdfLine]]:
    pages: dict[int, list[PdfLine]] = {}
    for item in items:
        if isinstance(item, PdfLine):
            pages.setdefault(item.page, []).append(item)
    return pages


def _joins(
    current: Sequence[PdfLine],
    line: PdfLine,
    leading: float,
    pages: dict[int, list[PdfLine]],
    *,
    marked: bool,
) -> bool:
    last = current[-1]
    if abs(last.size - line.size) > 0.6 and not same_row(last, line):
        return False
    text = clean(line.text)
    open_end = not _ENDED.search(clean(last.text))
    runs_on = open_end and (text[:1].islower() or last.text.endswith(("-", ",", SOFT_HYPHEN)))
    step = last.base - line.base
    if last.page == line.page and same_row(last, line):
        return line.left - last.right < 3 * line.size and line.left > last.left
    if marked and not (runs_on and not line.words[0].text[0].isalnum() and line.left > last.left):
        return False
    if last.bold != line.bold and not runs_on:
        return False
    short = _is_short(last, line, pages.get(last.page, []))
    if last.page != line.page or step <= 0:  # the next page or column
        return runs_on or (open_end and not short and not last.bold)
    if step > leading * last.size * 1.12 + 1:
        return False
    indented = len(current) > 1 and line.left - last.left > 0.9 * line.size and not open_end
    return not indented and (open_end or not short)


def _is_short(last: PdfLine, line: PdfLine, neighbours: Sequence[PdfLine]) -> bool:
    """Say whether the first word of *line* would have fitted at the end of *last*."""
    edge = max(
        (near.right for near in neighbours if abs(near.left - last.left) < 3 * last.size),
        default=last.right,
    )
    first = line.words[0]
    return last.right + 0.5 * last.size + (first.right - first.left) < edge - 0.5 * last.size


def is_heading(paragraph: Paragraph, body: float) -> bool:
    """Say whether a paragraph looks like a heading: larger than the body, or short and bold."""
    size, bold = paragraph.style
    words = sum(len(line.words) for line in paragraph.lines)
    text = clean(paragraph.lines[-1].text)
    if words > _HEADING_WORDS or paragraph.lines[0].page != paragraph.lines[-1].page:
        return False
    if paragraph.item and not _NUMBERED.fullmatch(paragraph.lines[0].words[0].text):
        return False
    if not any(character.isalpha() for line in paragraph.lines for character in line.text):
        return False
    if size >= body * _LARGER:
        return not (_STOPPED.search(text) and words > 8)
    return bold and size >= body * 0.95 and not _STOPPED.search(text) and len(paragraph.lines) < 3


def vocabulary(lines: Sequence[PdfLine]) -> frozenset[str]:
    """Return the words that stand whole in the document, to judge hyphens at line ends by."""
    found: set[str] = set()
    for line in lines:
        for word in line.words[:-1]:
            found.update(match.lower() for match in _LETTERS.findall(word.text))
    return frozenset(found)


def tokens(paragraph: Paragraph, known: frozenset[str]) -> Iterator[tuple[str, Box]]:
    """Yield the paragraph's words with their boxes; a list marker is left out.

    A hyphen at a line's end stays, unless the word stands elsewhere without one (*known*).
    """
    flat = [
        (word, line.page, number == len(line.words) - 1)
        for line in paragraph.lines
        for number, word in enumerate(line.words)
    ]
    if paragraph.item:
        flat = flat[1:]
    held: tuple[str, Box] | None = None
    for position, (word, page, ends_line) in enumerate(flat):
        text = _token(word)
        if not text and held is None:
            continue
        box = box_of([word], page)
        if held is not None:
            text, box = held[0] + text, held[1]
            held = None
        if ends_line and position + 1 < len(flat):
            following = _token(flat[position + 1][0])
            stem = _stem(word.text, following, known)
            if stem is not None:
                held = (text[: len(text) - 1] if stem == "" and text.endswith("-") else text, box)
                continue
        yield text, box
    if held is not None:
        yield held


def _token(word: PdfWord) -> str:
    return clean(word.text.replace(SOFT_HYPHEN, "")).replace(" ", "")


def _stem(raw: str, following: str, known: frozenset[str]) -> str | None:
    """Return how a word goes on in the next line: "-" hyphen kept, "" removed, None: it ends."""
    if raw.endswith(SOFT_HYPHEN):
        return ""
    if not _BROKEN.search(raw) or not following[:1].isalpha() or following.lower() in _SUSPENDED:
        return None
    first = _LETTERS.findall(raw)[-1].lower()
    second = _LETTERS.findall(following)[0].lower()
    whole = following[:1].islower() and first + second in known
    return "" if whole else "-"
