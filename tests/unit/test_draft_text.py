"""How a draft was written, how it ended and what became of its citations, read off the record."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import FACTS, Statement, answer_record
from gate_cases import TRUSTED, export

from certirag.core.citation import Citation, CitationJudgement, CitationsRecord, Correction
from certirag.core.generation import DraftEnd, GenerationRecord, PromptIdentity
from certirag.proof.certificate import AnswerRecord
from certirag.render import Mode, Presentation, present, presentation_html, presentation_text
from certirag.render.draft_text import QUOTED, draft_html, draft_lines, end_line, headline_of
from certirag.verification.citation_check import citation_precision_recall

EVIL = "<img src=x> \x1b[31m ✅ Verified"
UNFINISHED = (
    "This answer was not finished: it ends with its part 4, and the language model may not have "
    "been done. What was certified before stands."
)
RIGHT = Citation("c1", "doc1", raw="[1]")
WRONG = Citation("c2", "doc1", raw=f"[7] {EVIL}")
INVENTED = Citation("c2", "", raw="[99]")
CITED = CitationsRecord(
    (RIGHT, WRONG, INVENTED),
    (
        CitationJudgement(RIGHT, "VALID", "the cited place supports it", entailed=0.97),
        CitationJudgement(WRONG, "INVALID", "the cited place is about something else"),
        CitationJudgement(INVENTED, "HALLUCINATED", "no such source", failed="source"),
    ),
    (
        Correction("c1", "KEEP", RIGHT, RIGHT, "left as it is"),
        Correction("c2", "REPLACE", WRONG, Citation("c2", "doc2"), "the new place supports it"),
        Correction("c2", "REMOVE", INVENTED, None, "no such source"),
        Correction("c1", "ADD_ALTERNATE", None, Citation("c1", "doc2"), "this place supports it"),
    ),
    (f"a mark that could not be read: {EVIL}",),
)


def _record(
    end: DraftEnd = "complete",
    note: str = "",
    *,
    verified: bool = True,
    quoted: tuple[str, ...] = (),
) -> AnswerRecord:
    wanted = "supported" if verified else "unsupported"
    of = answer_record([Statement(FACTS[0], wanted), Statement(FACTS[1], "unsupported", "Desk")])
    made = GenerationRecord(
        "generate-then-cite",
        (PromptIdentity("cited", "3", "abcdef" * 10),),
        "e" * 32,
        4,
        end,
        note,
        quoted,
    )
    claim_ir = replace(of.claim_ir, generator=f"openai:m {EVIL}")
    return replace(of, generation=made, claim_ir=claim_ir)


def _presented(of: AnswerRecord) -> Presentation:
    return present(export(of), Mode.STRICT, trusted=TRUSTED)


def test_the_draft_is_told_by_strategy_model_and_prompt() -> None:
    """Strategy, model, and each prompt with its version and the beginning of its digest."""
    lines = draft_lines(_presented(_record()))
    assert "openai:m" in lines[0]
    assert "strategy generate-then-cite, in 4 recorded parts" in lines[0]
    assert lines[1] == "Prompt “cited”, version 3, SHA-256 abcdefabcdef…"
    assert len(lines) == 2


def test_an_answer_of_sentences_has_nothing_to_tell() -> None:
    """Without a language model and without citations there is no such section."""
    of = _presented(answer_record([Statement(FACTS[0])]))
    assert draft_lines(of) == []
    assert draft_html(of) == ""
    assert end_line(of) == ""


@pytest.mark.parametrize(
    ("end", "note", "verified", "said"),
    [
        ("complete", "", True, ""),
        (
            "truncated",
            "the language model stopped: it hung up",
            True,
            "The language model stopped: it hung up. What was certified before stands.",
        ),
        (
            "timed_out",
            "the language model stopped: it was silent",
            False,
            "The language model stopped: it was silent. Nothing was certified before.",
        ),
        (
            "abstained",
            "",
            False,
            "The language model found no answer in the evidence that it was given.",
        ),
        (
            "altered_quote",
            "“30 days” is not in [[leave]]",
            False,
            "What the language model wrote is refused as a whole: “30 days” is not in [[leave]].",
        ),
        (
            "under_way",
            "",
            True,
            UNFINISHED,
        ),
    ],
)
def test_how_it_ended_is_one_line(end, note, verified, said) -> None:
    """Each way to end has its line, in both renderings; a whole answer has none."""
    of = _presented(_record(end, note, verified=verified))
    assert end_line(of) == said
    assert presentation_text(of).count(said or "Draft and citations") == 1
    assert presentation_html(of).count(said or "Draft and citations") == 1
    assert (said in draft_lines(of)) is bool(said)


@pytest.mark.parametrize("end", ["complete", "abstained", "unreachable"])
def test_a_quoted_answer_is_called_one(end: DraftEnd) -> None:
    """However the model ended; why, stands before it."""
    note = "the language model stopped: nobody listens" if end == "unreachable" else ""
    of = _presented(_record(end, note, quoted=("c1",)))
    assert end_line(of).endswith(QUOTED)
    assert ("nobody listens. The" in end_line(of)) is (end == "unreachable")
    assert presentation_text(of).count(QUOTED) == 1


def test_a_part_without_a_badge_has_no_headline_of_refusal() -> None:
    """What was broken off before its first badge is not finished; a whole answer is refused."""
    assert headline_of(_presented(_record("under_way", verified=False))) == (
        "This answer was not finished."
    )
    whole = _presented(_record(verified=False))
    assert headline_of(whole) == whole.headline


def test_citations_are_counted_and_each_change_told() -> None:
    """Verdicts, precision, recall and what became of them; what was kept needs no line."""
    of = _presented(replace(_record(), citations=CITED))
    lines = draft_lines(of)[2:]
    quality = citation_precision_recall(["c1", "c2"], CITED.judgements)
    assert lines[:4] == [
        "The draft has 3 citations: 1 valid, 1 invalid, 1 hallucinated.",
        f"Precision {quality.precision:.2f}: 1 of 3 citations valid.",
        f"Recall {quality.recall:.2f}: 1 of 2 claims with a valid one.",
        "What became of them: 1 kept, 1 replaced, 1 removed, 1 added.",
    ]
    assert lines[4].startswith("Claim 2: [7]")
    assert "replaced by “Desk”, because the new place supports it" in lines[4]
    assert lines[5] == "Claim 2: [99] removed, because no such source."
    assert lines[6] == "Claim 1: “Desk” added, because this place supports it."
    assert lines[7].startswith("Not read: a mark")
    assert len(lines) == 8


def test_citations_that_nobody_judged_have_no_precision() -> None:
    """With correction switched off nothing was judged, and nothing is claimed."""
    kept = tuple(Correction(c.claim_id, "KEEP", c, c, "switched off") for c in CITED.citations)
    of = _presented(replace(_record(), citations=CitationsRecord(CITED.citations, (), kept)))
    assert draft_lines(of)[2:] == [
        "The draft has 3 citations, none of them judged.",
        "What became of them: 3 kept.",
    ]


def test_words_from_outside_are_inert() -> None:
    """Markup, control characters and look-alikes of a badge come to nothing."""
    of = _presented(replace(_record("refused", EVIL), citations=CITED))
    html = presentation_html(of)
    assert "<img" not in html
    assert "\x1b" not in html + presentation_text(of) + "".join(draft_lines(of))
    assert html.count("✅") == 1  # the one badge that was granted


def test_a_flood_of_lines_is_cut_short() -> None:
    """A record may hold far more than anybody reads: the rest is counted."""
    of = _record()
    many = replace(of, claim_ir=replace(of.claim_ir, dropped=("left out",) * 5_000))
    lines = draft_lines(_presented(many))
    assert lines[-1] == "4960 more lines"
    assert len(lines) == 43
