"""Group the words of a PDF page into lines, in the order of the page's content stream."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from certirag.core.text import Box
from certirag.ingest.extract import clean
from certirag.ingest.pdf_frame import Ruling
from certirag.ingest.pdf_page import PdfWord

_COLUMN_GAP: Final = 1.0  # of the font size: a wider gap parts columns or cells
_MARKER = re.compile(r"[•‣◦▪●*–\-\uf0b7\uf0a7·]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]")
_MARKER_REACH: Final = 45.0  # points from a list marker to its text


@dataclass(frozen=True)
class PdfLine:
    """Words side by side on one baseline; *index* is its place in the content stream."""

    words: tuple[PdfWord, ...]
    page: int
    index: int

    @cached_property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @cached_property
    def left(self) -> float:
        return min(word.left for word in self.words)

    @cached_property
    def right(self) -> float:
        return max(word.right for word in self.words)

    @cached_property
    def bottom(self) -> float:
        return min(word.bottom for word in self.words)

    @cached_property
    def top(self) -> float:
        return max(word.top for word in self.words)

    @cached_property
    def base(self) -> float:
        return self.words[0].base

    @cached_property
    def size(self) -> float:
        return max(word.size for word in self.words)

    @cached_property
    def bold(self) -> bool:
        """Whether every word of it is bold."""
        return all(word.bold for word in self.words)

    @cached_property
    def box(self) -> Box:
        return box_of(self.words, self.page)


def box_of(words: Sequence[PdfWord], page: int) -> Box:
    """Return the box around *words*, to a hundredth of a point."""
    return Box(
        page,
        round(min(word.left for word in words), 2),
        round(min(word.bottom for word in words), 2),
        round(max(word.right for word in words), 2),
        round(max(word.top for word in words), 2),
    )


def is_marker(word: str) -> bool:
    """Say whether *word* is a bullet or the number of a list item."""
    return bool(_MARKER.fullmatch(word))


def lines_of(
    words: Sequence[PdfWord], *, page: int, rulings: Sequence[Ruling] = ()
) -> list[PdfLine]:
    """Return the lines that *words*, in stream order, make; wide gaps and rulings part them."""
    verticals = [ruling for ruling in rulings if ruling.vertical]
    runs: list[list[PdfWord]] = []
    for word in words:
        if not clean(word.text):
            continue
        if runs and _continues(runs[-1][-1], word, verticals):
            runs[-1].append(word)
        else:
            runs.append([word])
    return _with_markers([PdfLine(tuple(run), page, index) for index, run in enumerate(runs)])


def same_row(one: PdfLine, other: PdfLine) -> bool:
    """Say whether two lines of a page share a baseline."""
    return abs(one.base - other.base) < 0.3 * max(one.size, other.size)


def _continues(last: PdfWord, word: PdfWord, verticals: Sequence[Ruling]) -> bool:
    size = max(last.size, word.size)
    gap = word.left - last.right
    if abs(word.base - last.base) > 0.35 * size or not -0.8 * size < gap < _COLUMN_GAP * size:
        return False
    return not any(
        last.right - 1 <= ruling.left <= word.left + 1 and ruling.bottom < word.base < ruling.top
        for ruling in verticals
    )


def _with_markers(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Join each bullet that stands alone with the text that it stands before."""
    joined: list[PdfLine] = []
    for line in lines:
        if joined and same_row(joined[-1], line):
            above = joined[-1]
            first, second = sorted((above, line), key=lambda part: part.left)
            alone = len(first.words) == 1 and is_marker(first.words[0].text)
            if alone and 0 <= second.left - first.right < _MARKER_REACH:
                joined[-1] = PdfLine(first.words + second.words, line.page, above.index)
                continue
        joined.append(line)
    return joined
