"""A table is the same figures in Markdown, LaTeX and CSV, and what stands in it is text in each of them."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

import pytest
from markdown_it import MarkdownIt

from certirag.eval.figure_tables import FigureTable, flat_table, latex_comment, latex_text

TABLE = FigureTable(
    "Two sources",
    ("Source", "Rows", "Precision (95 %)"),
    (("plain_name, held out", "12", "0.500 (0.211 to 0.789)"), ("50 % & more", "3", None)),
)
HOSTILE = (
    "\\input{/etc/passwd}",
    "\\end{tabular}\\write18{id}",
    "% the rest is gone",
    "a & b & c \\\\ d",
    "{\\catcode`\\$=12 unbalanced",
    "}}}",
    "$x$ ^^5cinput _x #1 ~",
    "[9cm] after a row",
    "*[9cm] after a row",
    "^^M^^5c",
    "line\nbreak\rand\u2028more",
    "“quoted” -- --- '' ?` !` <<a>> |b| \"c\"",
    "日本 \u202eabc\u202c ✅ Verified",
    "=HYPERLINK(1)",
    "`code` **bold** [a](javascript:b) <img src=x> &lt; ![i](j)",
    "https://example.org and www.example.org | pipe",
    "``two`` ticks` and ```",
    "_em_ x_y __init__",
    ":white_check_mark: passed :tada:",
)


def test_a_table_for_a_page_keeps_its_bytes() -> None:
    """Columns of figures to the right, what there is not as a dash; ordinary names as they are."""
    assert TABLE.markdown() == (
        "| Source | Rows | Precision (95 %) |\n| --- | ---: | ---: |\n"
        "| plain_name, held out | 12 | 0.500 (0.211 to 0.789) |\n| `50 % & more` | 3 | – |"
    )


def test_a_table_for_a_paper() -> None:
    """Rules of booktabs; signs that mean something to TeX are written out."""
    lines = TABLE.latex().splitlines()
    assert lines[0] == r"\begin{table}"
    assert r"\caption{Two sources}" in lines
    assert r"\begin{tabular}{@{}lrr@{}}" in lines
    assert lines[lines.index(r"\toprule") + 1] == r"Source & Rows & Precision (95 \%) \\"
    assert r"plain\_name, held out & 12 & 0.500 (0.211 to 0.789) \\" in lines
    assert r"50 \% \& more & 3 & -- \\" in lines
    assert lines[-3:] == [r"\bottomrule", r"\end{tabular}}", r"\end{table}"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_in_latex(name) -> None:
    """Only commands of ours are left, braces balance, no row and no cell begins or ends by it."""
    text = FigureTable("t", ("Source", "Rows"), ((name, "1"),)).latex()
    lines = text.splitlines()
    assert len(lines) == 12
    row = lines[8]
    commands = set(re.findall(r"\\([A-Za-z]+|.)", row.removesuffix(r" \\")))
    assert commands <= {
        *("textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater"),
        *("textbar", "char", "langle", "rangle", "ldots", "{", "}", "$", "&", "%", "#", "_"),
    }
    bare = re.sub(r"\\.", "", row)
    assert bare.count("{") == bare.count("}")
    assert bare.count("&") == 1
    assert not re.search(r"[%#_^~\[*]", re.sub(r"\{[\[\]*]\}", "", bare))
    assert set(re.findall(r"\$[^$]*\$", re.sub(r"\\\$", "", row))) <= {r"$\langle$", r"$\rangle$"}
    assert row.isascii()
    assert not re.search(r"--(?!\{\})|''|\?`|!`|,,", row)


def test_signs_that_tex_would_join_stay_apart() -> None:
    """Two hyphens are no dash and a bracket after a row is no length; one alone needs nothing."""
    assert latex_text("a--b") == "a-{}-b"
    assert latex_text("10-5, x's") == "10-5, x's"
    assert latex_text("[1cm]") == "{[}1cm{]}"
    assert latex_text("é 日") == r"é $\langle$U+65E5$\rangle$"
    assert latex_comment("a\nb\u2028\\input{c}") == "% a b⟨U+2028⟩\\input{c}"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_in_markdown(name) -> None:
    """A renderer with tables and links makes of it one cell of text or code, and nothing else."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = reader.parse(FigureTable("t", ("Source", "Rows"), ((name, "1"),)).markdown())
    kinds = [token.type for token in tokens]
    assert kinds.count("td_open") == 2
    cell = tokens[kinds.index("td_open") + 1]
    assert {child.type for child in cell.children} <= {"text", "code_inline"}
    assert "\u202e" not in cell.content
    assert "✅" not in cell.content
    # What CommonMark leaves alone and GitHub does not: addresses, and pictures between colons.
    if re.search(r"www|https|:\w+:", cell.content):
        assert {child.type for child in cell.children} == {"code_inline"}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_in_a_spreadsheet(name) -> None:
    """It comes back whole, but that nothing in it is a formula."""
    text = FigureTable("t", ("source", "rows"), ((name, 1),)).csv()
    (_, (cell, rows)) = csv.reader(io.StringIO(text, newline=""))
    assert rows == "1"
    assert cell.replace("'", "") == name.replace("'", "")
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


@dataclass(frozen=True, slots=True)
class _Inner:
    part: int
    whole: int


@dataclass(frozen=True, slots=True)
class _Outer:
    name: str
    share: _Inner
    p: float | None
    curve: tuple[float, ...] = ()


def test_dataclasses_are_columns_of_numbers() -> None:
    """A field inside another has both names; what there is not is empty, and a list has no place."""
    found = flat_table("t", [_Outer("a", _Inner(1, 3), None), _Outer("b", _Inner(0, 2), 0.5)])
    assert found.head == ("name", "share.part", "share.whole", "p")
    assert found.csv() == ('"name","share.part","share.whole","p"\r\n"a",1,3,""\r\n"b",0,2,0.5\r\n')
    nan = FigureTable("t", ("x",), ((float("nan"),),)).csv()
    assert nan == '"x"\r\n""\r\n'
    assert flat_table("t", []).rows == ()
