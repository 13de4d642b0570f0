"""What a report says of an answer, in every mode and however the answer came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from builders import FACTS, Statement, answer_export, answer_record
from fakes import WordReader
from gate_cases import CLAIM, POLICY, TRUSTED, chunk, export, record, result, score
from report_reading import blocks_of

from certirag.core.claim import ClaimIR
from certirag.core.generation import GenerationRecord
from certirag.errors import CertificateError
from certirag.proof.certificate import AnswerRecord, RetrievalRecord
from certirag.render import (
    Mode,
    Presentation,
    certify,
    cited_by,
    file_name,
    footnotes_of,
    plain_report,
    present,
    report_of,
    sources_of,
)
from certirag.render.closest import found_references
from certirag.retrieve.relevance import nearest

MIXED = (
    Statement("Full-time employees receive 30 days of leave.", "contradicted", "Old policy"),
    Statement(FACTS[0]),
    Statement(FACTS[1], "unsupported", "Travel handbook"),
    Statement(FACTS[2], "supported", "Travel handbook", "Desk"),
)
FOOTNOTES = f"""2 of 4 claims are verified against the documents.
{FACTS[0]} [1]
{FACTS[2]} [2]

What is missing
2 of 4 checkable claims are left out.
Claim 1 is left out. “Old policy” says otherwise.
Claim 3 is left out. The closest passage supports this with 0.31; 0.85 is needed.

Sources
[1] “{FACTS[0]}” — Leave policy, page 2, Annual leave
[2] “{FACTS[2]}” — Travel handbook, page 4, Desk

Date: 2026-01-02 03:04:05 UTC
Policy: test-1
Certificate: {"a" * 32}"""


def _seen(of: bytes | AnswerRecord, mode: Mode = Mode.STRICT) -> Presentation:
    return present(of if isinstance(of, bytes) else export(of), mode, trusted=TRUSTED, floor=POLICY)


def _said(of: Presentation) -> dict[str, list[str]]:
    return blocks_of(report_of(of))


@pytest.mark.parametrize(
    ("mode", "claims", "folded"),
    [
        (Mode.STRICT, ["Claim 2: Verified", "Claim 4: Verified"], ["Claim 3: Unverified"]),
        (Mode.MIXED, ["Claim 2: Verified", "Claim 4: Verified"], ["Claim 3: Unverified"]),
        (
            Mode.DEBUG,
            [
                "Claim 1: Contradicted",
                "Claim 2: Verified",
                "Claim 3: Unverified",
                "Claim 4: Verified",
            ],
            [],
        ),
    ],
)
def test_a_report_says_what_its_mode_shows(mode, claims, folded) -> None:
    """Each claim with its status, no claim that this mode hides, and the mode by its name."""
    said = _said(_seen(answer_export(MIXED), mode))
    assert [line for line in said["Claims"] if line.startswith("Claim ")] == claims
    others = said.get("What we could not verify", [])
    assert [line for line in others if line.startswith("Claim ")] == folded
    assert ("30 days" in str(said)) is (mode is Mode.DEBUG)
    hides = "1 contradicted by the documents, shown in Debug mode only." in others
    assert hides is (mode is not Mode.DEBUG)
    assert f"Display: {mode.value.capitalize()}" in said["About this answer"]


def test_a_source_has_one_number_in_every_mode() -> None:
    """Only what carries a badge is a source; the first claim that is shown has the first."""
    numbered = [sources_of(_seen(answer_export(MIXED), mode)) for mode in Mode]
    assert numbered[0] == numbered[1] == numbered[2]
    assert [(s.number, s.quote, s.page) for s in numbered[0]] == [
        (1, FACTS[0], 2),
        (2, FACTS[2], 4),
    ]
    debug = _seen(answer_export(MIXED), Mode.DEBUG)
    cited = [[s.number for s in cited_by(chip, numbered[0])] for chip in debug.shown]
    assert cited == [[], [1], [], [2]]


def _two_on_one() -> AnswerRecord:
    """Return an answer whose two claims stand on the very same sentence."""
    of = chunk()
    claims = [CLAIM, replace(CLAIM, id="c2")]
    results = [result(of, claim) for claim in claims]
    decisions, summary = certify(claims, results, [of], POLICY)
    return replace(
        record(),
        claim_ir=ClaimIR("How much?", tuple(claims)),
        retrieval=RetrievalRecord("How much?", (of,)),
        verification=tuple(results),
        decisions=decisions,
        answer=summary,
    )


def test_the_same_sentence_has_the_same_number_under_each_claim() -> None:
    """And stands among the sources once."""
    seen = _seen(_two_on_one())
    assert len(seen.shown) == 2
    assert [s.number for s in sources_of(seen)] == [1]
    assert plain_report(footnotes_of(seen)).count("[1]") == 3


def test_the_text_with_footnotes() -> None:
    """What has the badge with its marks, what is missing, numbered sources; the same in all modes."""
    for mode in Mode:
        assert plain_report(footnotes_of(_seen(answer_export(MIXED), mode))) == FOOTNOTES


def test_it_says_which_answer_it_is_and_how_to_check_it() -> None:
    """Date, policy, certificate, and the offline check of the audit JSON by its name."""
    said = _said(_seen(answer_export(MIXED)))
    for line in ("Date: 2026-01-02 03:04:05 UTC", "Policy: test-1", f"Certificate: {'a' * 32}"):
        assert line in said["About this answer"]
    command = f"python certirag/checker.py certirag-{'a' * 32}.json --public-key signing.pub"
    assert command in said["How to check it"]
    assert "proves nothing by itself" in said["How to check it"][0]


@pytest.mark.parametrize("trace_id", ["../../etc/x", "A" * 32, "a" * 31, f"{'a' * 32}\n", ""])
def test_a_file_is_named_by_an_id_of_ours_or_by_none(trace_id) -> None:
    """Nothing else of a record reaches a file's name."""
    seen = _seen(answer_record([Statement(FACTS[0])]))
    named = replace(seen, record=replace(seen.record, trace_id=trace_id))
    assert file_name(named, "pdf") == "certirag-answer.pdf"
    assert file_name(seen, "pdf") == f"certirag-{'a' * 32}.pdf"


def test_there_is_no_report_of_a_record_that_does_not_hold() -> None:
    """A report is made of a presentation, and there is none."""
    with pytest.raises(CertificateError):
        _seen(answer_export(MIXED).replace(b"27 days", b"72 days", 1))


def test_a_refusal_has_the_reason_and_the_nearest_passages_and_no_source() -> None:
    """No status but Unverified, nothing that could be read as an answer."""
    seen = _seen(answer_export([Statement(FACTS[1], "unsupported", "Travel handbook")]))
    said = _said(seen)
    assert "Claims" not in said
    assert said["What came of it"][:2] == [
        "The documents do not support an answer that may be shown.",
        "The documents do not hold enough evidence for any claim of this answer.",
    ]
    passages = said["Nearest passages: none of them is enough"]
    assert passages[0] == f"“{FACTS[1]}” — Travel handbook, page 1, Annual leave"
    assert passages[1] == "Not enough: it supports a statement here with 0.31; 0.85 is needed"
    assert said["Sources"] == ["No claim here stands on a source."]
    assert "[1]" not in str(said)


def test_a_refusal_without_a_claim() -> None:
    """Nothing was measured: what was found is quoted as not enough."""
    of, whole = chunk(), answer_record([], question="How much leave in Norway?")
    _, summary = certify([], [], [of], POLICY, question=whole.question)
    near = found_references(nearest(whole.question, [of], WordReader(), most=3))
    answer = replace(summary, closest_references=near)
    retrieval = replace(whole.retrieval, chunks=(of,))
    said = _said(_seen(replace(whole, retrieval=retrieval, answer=answer)))
    assert said["Question"] == ["How much leave in Norway?"]
    assert said["What came of it"][1].startswith("Nothing was found here")
    assert "Not enough: " in said["Nearest passages: none of them is enough"][1]


def _relevant(scores: Sequence[tuple[float, ...]], parts: tuple[str, ...] = ()) -> AnswerRecord:
    whole = answer_record([Statement(FACTS[0])])
    claims = tuple(
        replace(claim, relevance=max(own), by_part=own if parts else ())
        for claim, own in zip(whole.claim_ir.claims, scores, strict=True)
    )
    return replace(whole, claim_ir=replace(whole.claim_ir, claims=claims, parts=parts))


def test_a_related_answer_and_a_part_of_one_are_called_that() -> None:
    """Before its claims, in the report and in the text with footnotes."""
    related = _seen(_relevant([(0.2,)]))
    first = "The documents say this on the topic; it may not answer the question."
    assert _said(related)["What came of it"][0] == first
    assert plain_report(footnotes_of(related)).startswith(first)
    parts = ("How many days of leave are there?", "Who pays for the train?")
    partly = _seen(_relevant([(0.9, 0.01)], parts))
    assert "one part of the question" in _said(partly)["What came of it"][0]
    missing = "Nothing that is verified answers “Who pays for the train?”."
    assert missing in _said(partly)["What is missing"]
    assert missing in plain_report(footnotes_of(partly))


def test_documents_that_disagree_are_both_quoted_with_no_status() -> None:
    """Neither side is a source, and neither has a number."""
    own, other = chunk(), chunk(FACTS[1], "other", FACTS[1])
    found = result(own)
    against = score(other, entailed=0.02, neutral=0.08, contradicted=0.9)
    measured = replace(found, all_scores=(*found.all_scores, against))
    decisions, summary = certify([CLAIM], [measured], [own, other], POLICY)
    seen = _seen(
        replace(
            record(),
            retrieval=RetrievalRecord("How much?", (own, other)),
            verification=(measured,),
            decisions=decisions,
            answer=summary,
        )
    )
    said = _said(seen)
    assert [line.split("”")[0] for line in said["Your documents disagree"]] == [
        f"“{FACTS[0]}",
        f"“{FACTS[1]}",
    ]
    assert "Claims" not in said
    assert sources_of(seen) == ()
    assert "Your documents disagree" in plain_report(footnotes_of(seen))


def test_a_draft_check_says_what_was_not_read_and_needs_no_question() -> None:
    """Without a question there is no such block; what was left out of the draft is listed."""
    whole = answer_record(MIXED, question="")
    dropped = ("“Hello there” is no statement",)
    said = _said(_seen(replace(whole, claim_ir=replace(whole.claim_ir, dropped=dropped))))
    assert "Question" not in said
    assert said["Left out of the draft"] == list(dropped)


def test_an_answer_that_was_broken_off_says_so() -> None:
    """With a claim and without one."""
    made = GenerationRecord("generate-then-cite", (), "e" * 32, 1, "timed_out", "it was too late")
    said = _said(_seen(replace(answer_record([Statement(FACTS[0])]), generation=made)))
    assert "It was too late. What was certified before stands." in said["What came of it"]
    said = _said(_seen(replace(answer_record([]), generation=made)))
    assert "It was too late. Nothing was certified before." in said["What came of it"]
    assert not [line for line in said["What came of it"] if "Nothing was found" in line]
