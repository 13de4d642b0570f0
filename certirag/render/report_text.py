"""A report → Markdown and plain text in which no text from outside becomes anything but text.

In Markdown every such text is a code span: escapes leave addresses to be linked and words to be
rewritten, a code span leaves nothing (CommonMark 0.31, §6.1).
"""

from __future__ import annotations

import re
from typing import Final

from certirag.render.report import AnswerReport, Line, ReportPiece

# What CommonMark and GitHub read as markup inside a line; our own words hold no address.
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>#&|~!$@^])")
_TICKS: Final = re.compile(r"`+")


def markdown_report(report: AnswerReport) -> bytes:
    """Return *report* as CommonMark in UTF-8: headings and paragraphs, no link, image or table."""
    parts = [f"# {report.title}"]
    for block in report.blocks:
        parts += [f"## {block.heading}", *map(_markdown_line, block.lines)]
    return ("\n\n".join(parts) + "\n").encode("utf-8")


def plain_report(report: AnswerReport) -> str:
    """Return *report* as plain text, one line for each paragraph, a blank one between blocks."""
    blocks = [
        "\n".join(
            filter(None, (block.heading, *("".join(p.text for p in line) for line in block.lines)))
        )
        for block in report.blocks
    ]
    return "\n\n".join(blocks)


def _markdown_line(line: Line) -> str:
    # Three backticks at the beginning of a line may be taken for a fenced block.
    begins = "> " if line[0].kind in {"outside", "code"} else ""
    return begins + "".join(map(_markdown_piece, line))


def _markdown_piece(piece: ReportPiece) -> str:
    if piece.kind in {"outside", "code"}:
        return _code_span(piece.text)
    plain = _MARKUP.sub(r"\\\1", piece.text)
    return f"**{plain}**" if piece.kind == "status" else plain


def _code_span(text: str) -> str:
    """Return *text*, which is one line, between more backticks than stand together in it."""
    ticks = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"
