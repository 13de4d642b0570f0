"""A table of figures, and its three forms: Markdown for a page, LaTeX for a paper, CSV for a spreadsheet.

What stands in a table may be anybody's: the name of a source comes with the data. In each form it is
text and nothing else: no markup, no command, no formula, no character that nobody sees, no badge.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Final

from certirag.auditing.logged_answers import csv_record
from certirag.render import visible

# What CommonMark and GitHub read as text wherever it stands in a line; anything else is put into a code span.
_PLAIN: Final = re.compile(r"(?:(?<=\w)_(?=\w)|[^\W_]|[ ,.;:()'’%+/=–…-])*")
# GitHub makes links of addresses, and pictures of what stands between colons: a check mark, for one.
_REWRITTEN: Final = re.compile(r"://|www\.|:[\w+-]+:", re.IGNORECASE)
_TICKS: Final = re.compile("`+")

# Every character that TeX reads as more than itself. A bracket or a star may follow the end of a row,
# which would take it for an argument; two hyphens, commas or quotation marks together become another sign.
_TEX: Final[Mapping[str, str]] = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "-": "-{}",
    ",": ",{}",
    "`": "`{}",
    "'": "'{}",
    "!": "!{}",
    "?": "?{}",
    "–": "--{}",
    "…": r"\ldots{}",
    "’": "'{}",
    "⟨": r"$\langle$",
    "⟩": r"$\rangle$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
}
# Needed again only where the same sign follows.
_TOGETHER: Final = re.compile(r"([-,`'!?])\{\}(?![-,`'])")
_HEAD: Final = 20  # characters of a line of a column's name
_LATIN: Final = 0x180  # below it LaTeX has every letter; above, a document has to load more

TEX_NEEDS: Final = (
    "% Needs \\usepackage{booktabs,graphicx}, and \\usepackage[T1]{fontenc} unless it is set by LuaLaTeX"
    " or XeLaTeX."
)


@dataclass(frozen=True, slots=True)
class FigureTable:
    """A table called *name* with the columns *head* and *rows* of as many cells.

    *head* and *name* are the program's own words. A cell of *rows* is a number, which only CSV writes
    in full, or a text. All columns but the first are set to the right.
    """

    name: str
    head: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]

    def markdown(self) -> str:
        """Return the table as GitHub's Markdown, one line for each row."""
        rule = ["---" if column == 0 else "---:" for column in range(len(self.head))]
        head = [" ".join(cell.replace("|", "\\|").split()) for cell in self.head]
        body = [[_markdown_cell(cell) for cell in _texts(row)] for row in self.rows]
        return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))

    def latex(self) -> str:
        """Return the table as a float of booktabs that is no wider than the text; see `TEX_NEEDS`."""
        body = [map(visible, row) for row in map(_texts, self.rows)]
        lines = [" & ".join(map(latex_text, row)) + r" \\" for row in body]
        return "\n".join(
            (
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{latex_text(self.name)}}}",
                r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
                rf"\begin{{tabular}}{{@{{}}l{'r' * (len(self.head) - 1)}@{{}}}}",
                r"\toprule",
                " & ".join(map(_tex_head, self.head)) + r" \\",
                r"\midrule",
                *lines,
                r"\bottomrule",
                r"\end{tabular}}",
                r"\end{table}",
            )
        )

    def csv(self) -> str:
        """Return the table as RFC 4180: numbers plain, texts quoted and without formulas."""
        rows: Iterable[Sequence[object]] = (self.head, *self.rows)
        return "".join(csv_record([_csv_cell(cell) for cell in row]) for row in rows)


def flat_table(name: str, found: Sequence[object]) -> FigureTable:
    """Return the dataclasses *found* as a table: a column for each number and text in them.

    What is in a dataclass inside has its field's name and its own, with a full stop between. Lists
    and mappings have no place in a row and are left out.
    """
    rows = [dict(_leaves("", one)) for one in found]
    head = tuple(rows[0]) if rows else ()
    return FigureTable(name, head, tuple(tuple(row[column] for column in head) for row in rows))


def latex_text(text: str) -> str:
    """Return *text* so that LaTeX sets it and does nothing else; one line.

    What is not our own is made `visible` before. A character for which LaTeX asks more of a document is shown by its number.
    """
    line = " ".join(text.split())
    return _TOGETHER.sub(r"\1", "".join(map(_tex_character, line)))


def latex_comment(text: str) -> str:
    """Return *text* as one comment of LaTeX, which nothing in it ends."""
    return "% " + " ".join(visible(text).split())


def _tex_head(text: str) -> str:
    """Return the name of a column, a long one in several lines: a column is no wider than its figures."""
    lines = textwrap.wrap(text, _HEAD, break_long_words=False)
    stacked = r" \\ ".join(map(latex_text, lines))
    return rf"\shortstack[r]{{{stacked}}}" if len(lines) > 1 else stacked


def _tex_character(character: str) -> str:
    if character in _TEX:
        return _TEX[character]
    if ord(character) < _LATIN:
        return character
    return rf"$\langle$U+{ord(character):04X}$\rangle$"


def _texts(row: Sequence[object]) -> list[str]:
    return ["–" if cell is None else str(cell) for cell in row]


def _markdown_cell(text: str) -> str:
    line = " ".join(visible(text).split())
    if _PLAIN.fullmatch(line) and not _REWRITTEN.search(line):
        return line
    ticks = "`" * (max(map(len, _TICKS.findall(line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    span = f"{ticks}{pad}{line}{pad}{ticks}"
    return span.replace("|", "\\|")  # a pipe ends a cell even in a code span (GFM 0.29, §4.10)


def _csv_cell(cell: object) -> object:
    """Return the empty text for what there is not: a spreadsheet would count "nan" as a text."""
    if isinstance(cell, float):
        return "" if math.isnan(cell) else float(cell)
    return "" if cell is None else cell


def _leaves(place: str, value: object) -> Iterable[tuple[str, object]]:
    if is_dataclass(value):
        for field in fields(value):
            at = f"{place}.{field.name}" if place else field.name
            yield from _leaves(at, getattr(value, field.name))
    elif not isinstance(value, list | tuple | dict):
        yield place, value
