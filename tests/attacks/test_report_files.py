"""A report in each format, read back: the same words everywhere, and nothing that is live."""

from __future__ import annotations

import re

import pytest
from builders import FACTS, Statement, answer_export, hostile_record, hostile_strings
from gate_cases import POLICY, TRUSTED, export
from hypothesis import given
from hypothesis import strategies as st
from report_reading import read_markdown, read_pdf, read_word, unbroken, whole_lines

from certirag.auditing.report_files import FORMATS, as_set, docx_report, pdf_report, report_file
from certirag.errors import InputError, MissingExtra
from certirag.render import (
    AnswerReport,
    Mode,
    Presentation,
    footnotes_of,
    markdown_report,
    plain_report,
    present,
    report_of,
    sources_of,
    visible,
)
from certirag.render.report import ReportBlock, ReportPiece, _outside

STATUS = re.compile(r"Verified|Unverified|Contradicted")
any_text = st.text(st.characters(codec=None), max_size=200)


def _hostile(mode: Mode) -> Presentation:
    return present(export(hostile_record()), mode, trusted=TRUSTED, floor=POLICY)


def _of(text: str) -> AnswerReport:
    """Return a report with *text* wherever text from outside may stand in a line."""
    lines = (
        (_outside(text),),
        (ReportPiece("own", "Why: "), _outside(text)),
        (ReportPiece("own", "[1] “"), _outside(text), ReportPiece("own", "” — "), _outside(text)),
        (_outside(text), ReportPiece("own", " [1]")),
    )
    return AnswerReport("CertiRAG report", (ReportBlock("Claims", lines),), text)


def _texts(report: AnswerReport) -> list[str]:
    """Return the title, the headings and each piece of *report* in order."""
    parts = [report.title]
    for block in report.blocks:
        parts += [block.heading, *(piece.text for line in block.lines for piece in line)]
    return parts


def _check_markdown(report: AnswerReport) -> None:
    lines, spans, live = read_markdown(markdown_report(report))
    assert live == set()
    assert lines == whole_lines(report)
    pieces = [p for block in report.blocks for line in block.lines for p in line]
    assert spans == [p.text for p in pieces if p.kind in {"outside", "code"}]


def _check_word(report: AnswerReport) -> None:
    paragraphs, live = read_word(docx_report(report))
    assert live == set()
    assert paragraphs == whole_lines(report)


def _check_pdf(report: AnswerReport) -> None:
    text, live = read_pdf(pdf_report(report))
    assert live == 0
    assert text.startswith(unbroken("".join(map(as_set, _texts(report)))))


CHECKS = {"md": _check_markdown, "docx": _check_word, "pdf": _check_pdf}


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize(
    "text", [text for _, text in hostile_strings()], ids=[name for name, _ in hostile_strings()]
)
def test_an_attack_is_read_back_as_text(text: str, suffix: str) -> None:
    """No link, image, heading, table, field or annotation; the very words that `visible` gives."""
    CHECKS[suffix](_of(text))


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("suffix", FORMATS)
def test_an_answer_of_attacks_is_read_back_as_text(suffix: str, mode: Mode) -> None:
    """Every field of the record is an attack string."""
    CHECKS[suffix](report_of(_hostile(mode)))


@given(any_text)
def test_no_text_becomes_markdown(text: str) -> None:
    """Whatever it is, CommonMark reads one code span of it."""
    _check_markdown(_of(text))


@pytest.mark.parametrize("text", ["`", "``` ```", "`a`", "~~~", "\\`", "a ``b`` c `", "$`x`$"])
def test_backticks_end_no_code_span(text: str) -> None:
    """There are more of them around a text than in it."""
    _check_markdown(_of(text))


@given(any_text)
def test_any_text_can_be_written_as_word(text: str) -> None:
    """No character is left that XML refuses."""
    _check_word(_of(text))


@given(any_text)
def test_any_text_can_be_set_as_pdf(text: str) -> None:
    """Each character stands there or its number does; no markup of the library is read."""
    assert read_pdf(pdf_report(_of(text)))[1] == 0


def test_a_pdf_shows_other_alphabets_and_says_what_it_cannot_set() -> None:
    """Greek and Cyrillic are set; Chinese and right-to-left text are numbers, and that is said."""
    plain = read_pdf(pdf_report(_of("naïve Ελλάδα Привет → ≤ 27 e\u0301x")))[0]
    assert "naïveΕλλάδαПривет→≤27" in plain
    assert "bytheirnumber" not in plain
    assert "e\u0301x" in plain
    numbered = read_pdf(pdf_report(_of("日 שלום")))[0]
    assert "⟨U+65E5⟩⟨U+05E9⟩" in numbered
    assert "bytheirnumber" in numbered


@pytest.mark.parametrize("markup", ["<b>bold</b>", "<para>", "&amp;", "<a href='http://x'>y</a>"])
def test_a_pdf_reads_no_markup(markup: str) -> None:
    """The words of a tag are shown as they are."""
    assert unbroken(markup) in read_pdf(pdf_report(_of(markup)))[0]


def test_a_word_without_an_end_stays_on_the_page() -> None:
    """It is cut into lines; every letter is there, and it takes no time."""
    assert unbroken("x" * 20_000) in read_pdf(pdf_report(_of("x" * 20_000)))[0]


@pytest.mark.parametrize("mode", list(Mode))
def test_the_words_of_a_status_are_the_gate_s_alone(mode: Mode) -> None:
    """Each such word is the status of a chip, bracketed as quoted, or stands in our own notice."""
    seen = _hostile(mode)
    report = report_of(seen)
    chips = [*seen.shown, *seen.folded]
    pieces = [p for block in report.blocks for line in block.lines for p in line]
    assert [p.text for p in pieces if p.kind == "status"] == [chip.badge.word for chip in chips]
    outside = " ".join(p.text for p in pieces if p.kind == "outside")
    assert STATUS.search(outside)
    # What an unseen character glues to another word stands beside that character's number.
    assert not re.search(rf"(?<![⟨⟩])\b(?:{STATUS.pattern})\b(?!⟨)", outside)
    own = [p.text for p in pieces if p.kind == "own" and STATUS.search(p.text)]
    assert own == [
        "Verified: retrieved evidence entails the claim under the policy. Not: it is true."
    ]


def test_the_text_to_copy_has_no_line_of_theirs() -> None:
    """A text from outside stays on its line: it cannot add a source or a status of its own."""
    seen = _hostile(Mode.STRICT)
    lines = plain_report(footnotes_of(seen)).splitlines()
    assert [line[:4] for line in lines if line.startswith("[")] == [
        *(line[:4] for line in (visible(chip.text) for chip in seen.shown) if line[0] == "["),
        *(f"[{source.number}] " for source in sources_of(seen)),
    ]
    assert not [line for line in lines if line.startswith("Status: ")]


def test_all_formats_have_the_same_sources_and_numbers() -> None:
    """And they are those of the presentation."""
    seen = present(
        answer_export([Statement(FACTS[0]), Statement(FACTS[2], "supported", "Desk")]),
        Mode.STRICT,
        trusted=TRUSTED,
        floor=POLICY,
    )
    wanted = [
        f"[{s.number}] “{s.quote}” — {s.title}, page {s.page}, {s.section}"
        for s in sources_of(seen)
    ]
    assert len(wanted) == 2
    found = read_markdown(report_file(seen, "md"))[0]
    assert [line for line in found if line.startswith("[")] == wanted
    found = read_word(report_file(seen, "docx"))[0]
    assert [line for line in found if line.startswith("[")] == wanted
    assert unbroken("".join(wanted)) in read_pdf(report_file(seen, "pdf"))[0]
    copied = plain_report(footnotes_of(seen)).splitlines()
    assert [line for line in copied if line.startswith("[")] == wanted


def test_a_format_that_is_not_there_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown one, and one whose package is not installed."""
    seen = _hostile(Mode.STRICT)
    with pytest.raises(InputError, match="take md, docx, pdf"):
        report_file(seen, "exe")
    monkeypatch.setattr("certirag.auditing.report_files.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=re.escape("pip install 'certirag[pdf]'")):
        report_file(seen, "pdf")
    assert report_file(seen, "md")
