"""A draft's shape: paragraphs, headings, bullets and sentences, and its text without markup.

Each line keeps, for every character that is read, where it stands in the draft, so that a claim
found in the clean text is a place in the draft again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

LineKind = Literal["paragraph", "bullet", "heading", "table_row", "blank"]

_BULLET: Final = re.compile(r"\s{0,12}(?:[-*+•◦‣·–]|\d{1,3}[.)]|[a-z][.)])\s+(?=\S)")
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+")
_QUOTE: Final = re.compile(r"\s{0,3}>\s?")
_RULE: Final = re.compile(r"\s*(?:[-*_=]\s*){3,}$|\s*\|?[\s:|-]+\|[\s:|-]*$")
_TABLE: Final = re.compile(r"\s*\|.*\|\s*$")
_LABEL: Final = re.compile(r"\s*\*\*[^*]{1,80}\*\*:?\s*$")
# Marks that are no part of what is stated: citations, emphasis, code ticks.
_MARKS: Final = re.compile(
    r"\s?\[\[[^\[\]\n]{1,200}\]\]"
    r"|\s?\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,10}\](?!\()"
    r"|\s?\[(?:source|doc|ref|see|citation)\b[^\[\]\n]{0,200}\]"
    r"|\s?\((?:source|ref|see|cited in|cf\.)s?\b:?[^()\n]{0,200}\)"
    r"|\s?【[^】\n]{0,100}】"
    r"|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)|`+|~~",
    re.IGNORECASE,
)
_LINK: Final = re.compile(r"!?\[([^\[\]\n]{0,300})\]\(([^()\s]{0,500})\)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line's or paragraph's text to read; ``draft[places[i]]`` is ``text[i]``."""

    kind: LineKind
    text: str
    places: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the draft of ``text[start:end]``, which is not empty."""
        return self.places[start], self.places[end - 1] + 1


def read_lines(draft: str) -> tuple[Line, ...]:
    """Return the draft's lines in order; lines of one running paragraph are joined."""
    found: list[Line] = []
    position = 0
    for raw in draft.split("\n"):
        line = _read(raw.rstrip("\r"), position)
        position += len(raw) + 1
        if (
            found
            and found[-1].kind == line.kind == "paragraph"
            and _goes_on(found[-1].text, line.text)
        ):
            found[-1] = _join(found[-1], line)
        else:
            found.append(line)
    return tuple(found)


def _goes_on(text: str, following: str) -> bool:
    """Say whether a line breaks off in a sentence that *following* goes on with."""
    if text.rstrip().endswith((":", ".", "!", "?", ";", "”", '"')):
        return False
    return len(text) >= 40 or following[:1].islower()


def _join(first: Line, second: Line) -> Line:
    gap = first.places[-1] + 1 if first.places else 0
    return Line("paragraph", f"{first.text} {second.text}", (*first.places, gap, *second.places))


def _read(raw: str, position: int) -> Line:
    if not raw.strip() or _RULE.match(raw):
        return Line("blank", "", ())
    kind: LineKind = "paragraph"
    start = 0
    quote = _QUOTE.match(raw)
    start = quote.end() if quote else 0
    if heading := _HEADING.match(raw, start):
        kind, start = "heading", heading.end()
    elif bullet := _BULLET.match(raw, start):
        kind, start = "bullet", bullet.end()
    elif _TABLE.match(raw):
        kind = "table_row"
    elif _LABEL.match(raw):
        kind = "heading"
    return _clean(kind, raw, start, position)


def _clean(kind: LineKind, raw: str, start: int, position: int) -> Line:
    """Leave out citation marks and emphasis, and keep the places of what is left."""
    drop = [False] * len(raw)
    for link in _LINK.finditer(raw, start):
        for index in range(link.start(), link.end()):
            drop[index] = not link.start(1) <= index < link.end(1)
    for mark in _MARKS.finditer(raw, start):
        for index in range(mark.start(), mark.end()):
            drop[index] = True
    kept = [index for index in range(start, len(raw)) if not drop[index]]
    while kept and raw[kept[0]].isspace():
        kept.pop(0)
    while kept and raw[kept[-1]].isspace():
        kept.pop()
    text = "".join(raw[index] for index in kept)
    if not text:
        return Line("blank", "", ())
    return Line(kind, text, tuple(position + index for index in kept))
