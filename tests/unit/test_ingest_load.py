"""Reading text, Markdown, HTML, CSV and JSON Lines, and refusing what cannot be read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

from certirag.core.text import Document
from certirag.errors import IngestError
from certirag.ingest.load import Limits, doc_id_of, load_document


def load(data: bytes | str, path: str) -> Document:
    """Return the document with the default limits."""
    raw = data.encode() if isinstance(data, str) else data
    return load_document(raw, path=path, limits=Limits())


def blocks(document: Document, kind: str = "") -> list[tuple[str, str]]:
    """Return (section, text) of the document's blocks of a kind."""
    return [
        (block.section, document.text[block.start : block.end])
        for block in document.blocks
        if not kind or block.kind == kind
    ]


MARKDOWN = """# Leave policy

Full-time staff get 27 days.
They apply in the portal.

## Carry-over

| Years | Extra days |
|---|---|
| 0 to 4 | |
| 5 to 9 | 2 |

### Exceptions

Only these:

- illness
- parental leave

The fee is ~~€50~~ €40. <!-- nobody sees this --> It grows as 10<sup>5</sup>.
"""


def test_markdown_gives_headings_rows_items_and_sections() -> None:
    """Markdown is read as a page shows it, title apart, chain of headings as section."""
    document = load(MARKDOWN, "hr/leave.md")
    assert document.title == "Leave policy"
    assert blocks(document) == [
        ("", "Leave policy"),
        ("", "Full-time staff get 27 days. They apply in the portal."),
        ("", "Carry-over"),
        ("Carry-over", "Years: 0 to 4"),
        ("Carry-over", "Years: 5 to 9; Extra days: 2"),
        ("Carry-over", "Exceptions"),
        ("Carry-over › Exceptions", "Only these:"),
        ("Carry-over › Exceptions", "illness"),
        ("Carry-over › Exceptions", "parental leave"),
        ("Carry-over › Exceptions", "The fee is €40. It grows as 10⁵."),
    ]
    assert [block.kind for block in document.blocks][3:5] == ["table_row", "table_row"]


HIDDEN = [
    "<script>var secret = 1</script>",
    "<style>.secret { color: red }</style>",
    "<template>secret</template>",
    "<p hidden>secret</p>",
    '<p aria-hidden="true">secret</p>',
    '<p style="display: none">secret</p>',
    '<p style="color:red;visibility:hidden">secret</p>',
    '<p style="font-size:0">secret</p>',
    '<p style="font-size:1px;color:black">secret</p>',
    '<p style="opacity:0">secret</p>',
    '<p style="position:absolute;left:-9999px">secret</p>',
    '<p style="color:#fff">secret</p>',
    '<p style="color:#fefefe;background-color:#fdfdfd">secret</p>',
    '<p style="color:rgb(255 255 255 / 90%);background:white">secret</p>',
    '<font color="white">secret</font>',
    '<p style="/* x */color:#fff">secret</p>',
    '<p style="/* x */display:none">secret</p>',
    f'<p style="color: {" " * 300} /* x */ #fff">secret</p>',
    '<div style="background:#036"><p style="color:#003366">secret</p></div>',
    '<table bgcolor="navy"><tr><td style="color:navy">secret</td><td>b</td></tr></table>',
    '<p class="big gone">secret</p>',
    "<!-- secret -->",
    "<del>secret</del>",
    '<textarea>secret</textarea><iframe srcdoc="secret">secret</iframe>',
    '<table><tr><td>a</td><td style="display:none">secret</td><td>b</td></tr></table>',
]


@pytest.mark.parametrize("markup", HIDDEN)
def test_html_that_nobody_sees_is_not_read(markup: str) -> None:
    """Scripts, hidden elements and struck-out text are no text of the document."""
    head = "<head><style>/* x */ p.gone, .other { display: none; }</style></head>"
    document = load(f"<html>{head}<body><p>Shown.</p>{markup}<p>Last.</p></body></html>", "a.html")
    assert "secret" not in document.text
    assert document.text.startswith("Shown.")
    assert document.text.endswith("Last.")


@pytest.mark.parametrize(
    "style",
    [
        "opacity:0.9",
        "font-size:12px",
        "font-size:1.2em",
        "color:#fff;background:#000",
        "left:-1px",
        "color:#fff;background:url(dark.png)",
        "color:currentcolor",
        "color:#777",
        "color:rgb(",
    ],
)
def test_html_that_is_seen_is_read(style: str) -> None:
    """A style that does not hide leaves the text in."""
    assert load(f'<html><p style="{style}">Shown.</p></html>', "a.html").text == "Shown."


def test_html_tables_keep_caption_spans_and_multiple_header_rows() -> None:
    """A row's line names its columns through merged headers, merged cells and a caption."""
    document = load(
        "<html><h1>Report</h1><table><caption>Table 1</caption>"
        "<tr><th rowspan=2>Segment</th><th colspan=2>2024</th></tr><tr><th>Q1</th><th>Q2</th></tr>"
        "<tr><td rowspan=2>EMEA</td><td>1.1</td><td>1.2</td></tr><tr><td>2.1</td><td></td></tr>"
        "</table><p>After.</p></html>",
        "r.html",
    )
    assert blocks(document, "table_row") == [
        ("Table 1", "Segment: EMEA; 2024 Q1: 1.1; 2024 Q2: 1.2"),
        ("Table 1", "Segment: EMEA; 2024 Q1: 2.1"),
    ]
    assert blocks(document, "paragraph") == [("", "After.")]


def test_a_page_title_does_not_swallow_another_heading() -> None:
    """The only h1 stays in the section when the title element says something else."""
    page = "<html><head><title>Acme</title></head><h1>Refunds</h1><p>Ten days.</p></html>"
    document = load(page, "a.html")
    assert (document.title, blocks(document, "paragraph")) == ("Acme", [("Refunds", "Ten days.")])


def test_html_expands_no_entity_and_fetches_nothing() -> None:
    """A declared entity stays undefined: no file's content comes in."""
    page = '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><html><p>A &x; b.</p></html>'
    assert "root:" not in load(page, "a.html").text


def test_plain_text_finds_headings_lists_and_wrapped_paragraphs() -> None:
    """Wrapped lines are one paragraph; capitals, numbers and questions head what follows."""
    document = load(
        "INCIDENT PROCEDURE\nOwner: D. Pike\n\n1. What to report\n\nEvery accident that injures a\n"
        "person must be reported.\n\nCan it wait?\n\n- No, never.\n- Ask the\n  manager.\n\nThe limit is 4",
        "p.txt",
    )
    assert document.title == "INCIDENT PROCEDURE"
    assert blocks(document)[1:] == [
        ("", "Owner: D. Pike"),
        ("", "1. What to report"),
        ("1. What to report", "Every accident that injures a person must be reported."),
        ("", "Can it wait?"),
        ("Can it wait?", "No, never."),
        ("Can it wait?", "Ask the manager."),
        ("Can it wait?", "The limit is 4"),
    ]


def test_a_lone_statement_is_a_paragraph() -> None:
    """A short text without a full stop is evidence, not a heading."""
    assert blocks(load("The limit is 40 euros", "a.txt"), "paragraph") == [
        ("", "The limit is 40 euros")
    ]


ROWS = [
    ("a.csv", "Role,limit_eur\nLead,150\nHead,\n", ["Role: Lead; limit eur: 150", "Role: Head"]),
    ("a.csv", 'Name;Note\nX;"a; b"\nY;c\n', ["Name: X; Note: a; b", "Name: Y; Note: c"]),
    ("a.tsv", "Year\tRevenue\n2023\t1.10\n", ["Year: 2023; Revenue: 1.10"]),
    ("a.csv", "Oslo,12\nBern,7\n", ["Oslo; 12", "Bern; 7"]),
    ("a.jsonl", '{"a": {"b": 1.10, "c": null}, "ok": true}\n', ["a.b: 1.10; ok: true"]),
    ("a.jsonl", '{"k": "x", "k": "y", "l": [1, "z"]}\n\n"plain"', ["k: x; k: y; l: 1, z", "plain"]),
    ("a.ndjson", '{"n": 1e400, "m": NaN, "u": "a\u2028b"}', ["n: 1e400; m: NaN; u: a b"]),
]


@pytest.mark.parametrize(("path", "text", "expected"), ROWS)
def test_rows_read_alone(path: str, text: str, expected: list[str]) -> None:
    """Each record is one line that names its cells; figures stay as written."""
    assert [line for _, line in blocks(load(text, path), "table_row")] == expected


def test_prose_in_a_record_becomes_paragraphs() -> None:
    """A long value is not one line of a row but paragraphs under the record's first cell."""
    prose = "The pump runs all day. " * 10
    document = load(json.dumps({"title": "Pumps", "text": prose}), "a.jsonl")
    assert blocks(document) == [("", "title: Pumps"), ("Pumps › text", prose.strip())]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("Prix : 5 €".encode("utf-8-sig"), "Prix : 5 €"),
        ("Prix : 5 €".encode("utf-16"), "Prix : 5 €"),
        ("Le café de la gare est fermé à midi, désolé. Où êtes-vous déjà allé ?".encode("cp1252"),
         "Le café de la gare est fermé à midi, désolé. Où êtes-vous déjà allé ?"),
    ],
)  # fmt: skip
def test_other_encodings_are_understood(data: bytes, expected: str) -> None:
    """Byte order marks are obeyed and an older encoding is recognised."""
    assert load(data, "a.txt").text == expected


BAD = [
    (b"", "a.txt", "empty"),
    (b" \n\t\n", "a.md", "empty"),
    (b"\x00\x01\x02\xff" * 300, "a.txt", "binary"),
    (b"\xff\xfe\x00", "a.txt", "encoding"),
    (b"\x7fELF\x02\x01\x01" + b"\x00" * 64, "tool", "binary"),
    (b"MZ\x90\x00", "a.exe", r"cannot read \.exe"),
    (b"%PDF-1.7\nnothing", "a.pdf", "damaged"),
    (b"no pdf at all", "a.pdf", "damaged"),
    (b"%PDF-1.7\n", "a.txt", "rename"),
    (b"PK\x03\x04broken", "a.docx", "damaged"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 99, "a.docx", "encrypted"),
    (b'{"a": 1}\n{broken', "a.jsonl", "line 2"),
    (b'{"a": ' + b"[" * 100_000, "a.jsonl", "line 1"),
    (b'a,b\n"x,y\n', "a.csv", "readable table"),
    (b"<html><body><script>x</script></body></html>", "a.html", "no text"),
    (b"<html>" + b"<div>" * 5000 + b"deep", "a.html", "deep"),
]


@pytest.mark.parametrize(("data", "path", "reason"), BAD)
def test_what_cannot_be_read_is_refused_in_one_line(data: bytes, path: str, reason: str) -> None:
    """The error names the file and the reason, on one line."""
    with pytest.raises(IngestError, match=reason) as caught:
        load(data, path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_an_oversized_file_is_refused() -> None:
    """The limit is in bytes, and the message names both figures."""
    with pytest.raises(IngestError, match="11 bytes, more than the limit of 10"):
        load_document(b"hello world", path="a.txt", limits=Limits(max_bytes=10))


def test_a_hostile_name_is_made_safe() -> None:
    """Line breaks and text that turns direction do not reach the message or the identifier."""
    name = "x\u202egnp\n.exe\udcff" + "a" * 500 + ".bin"
    with pytest.raises(IngestError) as caught:
        load(b"data", name)
    assert str(caught.value).isascii() or "…" in str(caught.value)
    assert not {"\n", "\u202e", "\udcff"} & set(str(caught.value))
    assert len(str(caught.value)) < 300


@given(st.text(max_size=80))
def test_document_identifiers_are_safe_and_stable(path: str) -> None:
    """An identifier is short, lower-case ASCII, and the same each time."""
    identifier = doc_id_of(path)
    slug, _, digest = identifier.rpartition("-")
    assert set(identifier) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert 0 < len(slug) <= 48
    assert len(digest) == 6
    assert identifier == doc_id_of(path)


MARKUP = st.lists(
    st.sampled_from(
        ["# A\n", "\n\n", "- item\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "<table><tr><td>", "</td>",
         "<h2>", "<li>", "<p hidden>", "word. ", "\x00", "&nbsp;", "é", "\u2028", "1. x\n", "a,b\n"]
    ),
    min_size=1,
    max_size=25,
).map("".join)  # fmt: skip


@examples(150)
@given(
    st.one_of(MARKUP, st.text(min_size=1, max_size=200)),
    st.sampled_from(["md", "html", "txt", "csv"]),
)
def test_blocks_lie_in_the_text_in_order(text: str, suffix: str) -> None:
    """Whatever the source, blocks follow one another, a line end or two apart, and fill the text."""
    try:
        document = load(text.encode("utf-8", "replace"), f"a.{suffix}")
    except IngestError:
        return
    lines = [document.text[block.start : block.end] for block in document.blocks]
    assert "\n".join(lines) == document.text.replace("\n\n", "\n")
    assert all(line == line.strip() and line and "\n" not in line for line in lines)
    document.text.encode("utf-8")


def test_only_lists_and_tables_run_on_without_a_blank_line() -> None:
    """What reads a list later knows where it ends."""
    text = "# Pool\n\nOpen all year.\n\nYou may bring:\n\n- a towel\n- a ball\n\nNo dogs.\n\n|A|B|\n|-|-|\n|1|x|\n|2|y|\n"
    said = load(text.encode(), "pool.md").text
    assert said.split("\n\n") == [
        "Pool",
        "Open all year.",
        "You may bring:\na towel\na ball",
        "No dogs.",
        "A: 1; B: x\nA: 2; B: y",
    ]
