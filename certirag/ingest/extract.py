"""What a reader hands on: pieces of text in reading order, each under its headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from certirag.core.text import BlockKind, Box

_LONGEST_NAME: Final = 120
_BLANKS = re.compile(r"\s+")
# Controls have no glyph and lone surrogates no UTF-8: neither may reach a model, page or log.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Besides, what turns or hides the text around it when a file's name is shown in a message.
_DECEPTIVE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\ufff0-\uffff\U000e0000-\U000e0fff]"
)
_SUPERSCRIPTS: Final = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_RAISED = re.compile(r"[0-9+\-=()n]+")


def _nothing() -> None:
    """Whoever reads in its own process need not know of pages."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one source may cost: bytes of the file, pages of a PDF, seconds of reading it."""

    max_bytes: int = 25_000_000
    max_pages: int = 2_000
    max_seconds: int = 120
    page_begins: Callable[[], None] = _nothing  # what is told before each page of a PDF


@dataclass(frozen=True, slots=True)
class Piece:
    """One block to be: *headings* is the chain above it, *boxes* as `core.text.Block` has them.

    A paragraph or list item of a PDF has one box for each white-space separated word of its
    text, so that any part of it can be found on the page; a table row has one for each line.
    """

    kind: BlockKind
    text: str
    headings: tuple[str, ...] = ()
    page: int | None = None
    visible: bool = True
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Extract:
    """What a reader found: *title* is the document's own, or "" when it has none."""

    title: str
    media_type: str
    pieces: tuple[Piece, ...]


class Outline:
    """Collects pieces in reading order and knows the headings in force."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._open: list[tuple[int, str]] = []
        self._levels: list[tuple[int, str]] = []

    def heading(
        self, text: str, *, level: int, page: int | None = None, boxes: Sequence[Box] = ()
    ) -> None:
        """Add a heading; it closes all that are open at *level* (1 is the highest) or below."""
        cleaned = clean(text)
        if not cleaned:
            return
        self.close(level)
        self._append("heading", cleaned, (), page, True, boxes)
        self._open.append((level, cleaned))
        self._levels.append((level, cleaned))

    def close(self, level: int) -> None:
        """End every open heading of *level* or below."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()

    def caption(self, text: str, *, page: int | None = None, boxes: Sequence[Box] = ()) -> None:
        """Add the caption of a table: a heading for its rows (see `add`) and for nothing else."""
        cleaned = clean(text)
        if cleaned:
            self._append("heading", cleaned, (), page, True, boxes)

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        caption: str = "",
        page: int | None = None,
        visible: bool = True,
        boxes: Sequence[Box] = (),
    ) -> None:
        """Add a piece that is no heading; blank text adds nothing."""
        cleaned = clean(text)
        if cleaned:
            extra = (clean(caption),) if clean(caption) else ()
            self._append(kind, cleaned, extra, page, visible, boxes)

    def _append(
        self,
        kind: BlockKind,
        text: str,
        extra: tuple[str, ...],
        page: int | None,
        visible: bool,
        boxes: Sequence[Box],
    ) -> None:
        headings = tuple(heading for _, heading in self._open) + extra
        self._pieces.append(Piece(kind, text, headings, page, visible, tuple(boxes)))

    def extract(self, *, title: str, media_type: str) -> Extract:
        """Return what was collected.

        Without a *title*, the first heading is the title if it opens the document at its highest
        level. The heading that is the title is left out of every chain of headings.
        """
        title = clean(title)
        heading = self._title_heading(title)
        pieces = tuple(
            Piece(p.kind, p.text, p.headings[1:], p.page, p.visible, p.boxes)
            if heading and p.headings[:1] == (heading,)
            else p
            for p in self._pieces
        )
        return Extract(title or heading, media_type, pieces)

    def _title_heading(self, title: str) -> str:
        if not self._levels:
            return ""
        level, text = self._levels[0]
        above = min(other for other, _ in self._levels)
        if level > above:
            return ""
        alone = sum(other == level for other, _ in self._levels) == 1
        if title:
            return text if text.casefold() in title.casefold() else ""
        first = next((p for p in self._pieces if p.visible), None)
        opens = first is not None and first.kind == "heading"
        return text if alone or (opens and level == 1) else ""


def words(text: str) -> frozenset[str]:
    """Return the set of the white-space separated words in *text*."""
    return frozenset(text.split())


def clean(text: str) -> str:
    """Return *text* on one line: controls gone, every run of white space one space."""
    return _BLANKS.sub(" ", _UNPRINTABLE.sub(" ", text)).strip()


def raised(text: str) -> str:
    """Return superscript *text* so that 10⁵ is never read as 105."""
    stripped = text.strip()
    if not stripped:
        return text
    if _RAISED.fullmatch(stripped):
        return stripped.translate(_SUPERSCRIPTS)
    return text if stripped.isalpha() else f"^({stripped})"


def printable(name: str) -> str:
    """Return a file's *name* for a message: one line, nothing hidden, at most 120 characters."""
    shown = _DECEPTIVE.sub(lambda match: f"\\u{ord(match[0]):04x}", name)
    if len(shown) <= _LONGEST_NAME:
        return shown
    return f"{shown[: _LONGEST_NAME // 2]}…{shown[-_LONGEST_NAME // 2 + 1 :]}"
