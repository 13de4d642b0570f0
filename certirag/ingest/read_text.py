"""Read plain text (paragraphs, headings and lists by their looks) and Markdown (by way of HTML)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from markdown_it import MarkdownIt

from certirag.ingest.extract import Extract, Outline, clean, words
from certirag.ingest.read_html import read_html

_BULLET = re.compile(r"\s*(?:[-*+•‣◦▪●–]|\(?\d{1,3}[.)]|\(?[a-z]\))\s+(?=\S)")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)\.?\s+[^\W\d_]")
_LABEL = re.compile(r"[A-Z][a-z]+(?: [a-z]+)?: \S")  # "Owner: …" opens a line of its own
_UNDERLINE = re.compile(r"\s*(=|-|~|\*|_){3,}\s*")
_ENDED = re.compile(r"[.!;,:][\"'”’)\]]*$")
_VERBS: Final = words(
    "is are was were be been has have had does do did must may can could shall should will would "
    "needs need applies apply"
)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_LONGEST_HEADING: Final = 90
_HEADING_WORDS: Final = 12


def read_markdown(text: str, *, name: str) -> Extract:
    """Return the blocks of CommonMark *text* with tables; a front matter's title is its title."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    title = ""
    if front := _FRONT_MATTER.match(text):
        text = text[front.end() :]
        if found := _FRONT_TITLE.search(front[1]):
            title = clean(found[1].strip("\"'"))
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    page = f"<html><head></head><body>{markdown.render(text)}</body></html>"
    extract = read_html(page, name=name)
    return replace(extract, title=title or extract.title, media_type="text/markdown")


def read_plain_text(text: str) -> Extract:
    """Return the blocks of plain *text*: blank lines part paragraphs, wrapped lines are joined."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n").split("\n")
    groups = list(_groups(lines))
    width = _wrap_width(lines)
    outline = Outline()
    for index, group in enumerate(groups):
        follows = groups[index + 1] if index + 1 < len(groups) else ()
        rest = group
        if level := _heading_level(group, follows, first=index == 0):
            outline.heading(group[0], level=level)
            rest = [line for line in group[1:] if not _UNDERLINE.fullmatch(line)]
        for item, block in _blocks(rest, width=width):
            outline.add("list_item" if item else "paragraph", block)
    return outline.extract(title="", media_type="text/plain")


def _groups(lines: Sequence[str]) -> Iterator[list[str]]:
    group: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            group.append(line.rstrip())
        elif group:
            yield group
            group = []


def _wrap_width(lines: Sequence[str]) -> int:
    """Return the width that the text seems wrapped at: nearly all lines are no longer."""
    lengths = sorted(len(line.rstrip()) for line in lines if line.strip())
    return lengths[int(len(lengths) * 0.95)] if lengths else 0


def _heading_level(group: Sequence[str], follows: Sequence[str], *, first: bool) -> int:
    """Return the level of the heading that opens *group*, 0 when none does."""
    text = group[0].strip()
    if len(text) > _LONGEST_HEADING or len(text.split()) > _HEADING_WORDS or not text:
        return 0
    if len(group) > 1 and (rule := _UNDERLINE.fullmatch(group[1])):
        return 1 if rule[1] == "=" else 2
    if _BULLET.match(text) and not _NUMBERED.match(text):
        return 0
    below = group[1:] or follows
    if not below or _ENDED.search(text):
        return 0
    number = _NUMBERED.match(text)
    capitals = text.isupper() and sum(c.isalpha() for c in text) > 3
    if capitals and not number:
        return 1 if first else 2
    if len(group) > 1 or text[0].islower():
        return 0
    if number and _NUMBERED.match(below[0].strip()) and "." not in number[1]:
        return 0  # a list whose items stand apart
    if number:
        return 2 + number[1].count(".")
    stated = _VERBS.intersection(word.lower() for word in text.split())
    if text.endswith("?") or (not stated and not _BULLET.match(below[0])):
        return 1 if first else 2
    return 0


def _blocks(lines: Sequence[str], *, width: int) -> Iterator[tuple[bool, str]]:
    """Yield (is it a list item, its text) for the lines of one group."""
    item, parts = False, list[str]()
    for line in lines:
        bullet = _BULLET.match(line)
        if bullet or (parts and _breaks(parts[-1], line, width=width, item=item)):
            if parts:
                yield item, " ".join(parts)
            item, parts = bool(bullet), []
        parts.append(line[bullet.end() :] if bullet else line.strip())
    if parts:
        yield item, " ".join(parts)


def _breaks(above: str, line: str, *, width: int, item: bool) -> bool:
    """Say whether the writer broke the line on purpose: the next word would have fitted."""
    text = line.strip()
    if not text[0].isupper() and not text[0].isdigit():
        return False
    if _LABEL.match(text):
        return True
    if item:
        return not line[0].isspace() and bool(_ENDED.search(above))
    return len(above) + 1 + len(text.split()[0]) <= width * 0.85
