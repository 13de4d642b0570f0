"""Documents that disagree: both sides are quoted, and what is no side of it is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gate_cases import CLAIM, POLICY, chunk, result, score

from certirag.core.text import EvidenceChunk, SentenceSpan, SpanRef
from certirag.core.verdict import VerificationResult
from certirag.render.abstain import Grounds, disagreements
from certirag.render.conflicts import conflicts

FOUR = "A lost laptop is reported within 4 hours."
DAY = "A lost laptop is reported within 24 hours."


def _document(name: str, sentence: str, title: str) -> EvidenceChunk:
    of = chunk(sentence, name, sentence=sentence)
    return replace(of, source=replace(of.source, title=title))


OWN = _document("security", FOUR, "Security Policy 2024")
OTHER = _document("incidents", DAY, "Incident Reporting 2023")


def _opposed(
    own: EvidenceChunk, other: EvidenceChunk, *, contradicted: float = 0.9
) -> VerificationResult:
    claim = replace(CLAIM, text=own.spans[0].sentence)
    against = score(other, claim=claim, entailed=0.02, neutral=0.08, contradicted=contradicted)
    found = result(own, claim)
    return replace(found, all_scores=(*found.all_scores, against))


def _found(results: list[VerificationResult], *chunks: EvidenceChunk) -> list[tuple[str, ...]]:
    claims = [replace(CLAIM, id=one.claim_id) for one in results]
    grounds = Grounds("How fast?", tuple(results), chunks or (OWN, OTHER), POLICY)
    return [conflict.lines for conflict in conflicts(claims, grounds)]


def test_both_sides_are_quoted_and_the_newer_is_named() -> None:
    """The side that speaks for the claim comes first."""
    newer = f"“{FOUR}” — Security Policy 2024, newer"
    assert _found([_opposed(OWN, OTHER)]) == [(newer, f"“{DAY}” — Incident Reporting 2023")]


def test_two_claims_on_the_same_matter_are_one_conflict() -> None:
    """Each side is a claim that the other contradicts."""
    second = replace(_opposed(OTHER, OWN), claim_id="c2")
    assert len(_found([_opposed(OWN, OTHER), second])) == 1


def test_a_disagreement_is_told_from_one_side_whatever_else_each_side_quotes() -> None:
    """Each of two claims has a quotation that the other lacks, and both are the same matter."""
    one, two = _opposed(OWN, OTHER), replace(_opposed(OTHER, OWN), claim_id="c2")
    more = _document("desk", "The IT Service Desk takes reports within 4 hours.", "Desk rules")
    less = _document("form", "A form for a lost laptop is sent within 4 hours.", "Forms")
    ref = SpanRef(more.chunk_id, "s1")
    one = replace(one, best_evidence=(*one.best_evidence, ref))
    own = score(less, entailed=0.02, neutral=0.08, contradicted=0.9)
    two = replace(two, all_scores=(*two.all_scores, own))
    assert len(_found([one, two], OWN, OTHER, more, less)) == 1


def test_that_two_documents_disagree_is_said_once() -> None:
    """In one order, whichever of them a claim follows, with the ids of all its claims."""
    results = (_opposed(OWN, OTHER), replace(_opposed(OTHER, OWN), claim_id="c2"))
    claims = [replace(CLAIM, id="c1"), replace(CLAIM, id="c2")]
    said = disagreements(claims, Grounds("How fast?", results, (OWN, OTHER), POLICY))
    line = "“Incident Reporting 2023” and “Security Policy 2024” disagree"
    assert said == {line: ["c1", "c2"]}


@pytest.mark.parametrize("title", ["Security Policy", "Policies 2023 and 2024", "Rules 2023"])
def test_which_is_newer_is_said_only_where_every_title_says_it(title) -> None:
    """No year, two years, or the same year: nobody is called newer."""
    own = _document("security", FOUR, title)
    (lines,) = _found([_opposed(own, OTHER)], own, OTHER)
    assert not any("newer" in line for line in lines)


def test_what_is_not_entailed_or_not_contradicted_enough_is_no_conflict() -> None:
    """The policy's thresholds decide, on both sides."""
    weak = replace(_opposed(OWN, OTHER), score=POLICY.tau_entail - 0.01)
    assert _found([weak]) == []
    assert _found([_opposed(OWN, OTHER, contradicted=POLICY.tau_contradict - 0.01)]) == []
    assert _found([replace(_opposed(OWN, OTHER), score=float("nan"))]) == []


def test_a_document_that_speaks_against_itself_is_no_disagreement_of_documents() -> None:
    """Both sentences are of one document."""
    same = replace(OTHER, doc_id=OWN.doc_id)
    assert _found([_opposed(OWN, same)], OWN, same) == []


def test_a_document_opposes_its_own_claim_from_where_it_contradicts_it() -> None:
    """Of another document less is told already."""
    policy = replace(POLICY, tau_contradict=0.7, tau_contest=0.6)
    weak = _opposed(OWN, OTHER, contradicted=0.65)
    strong = _opposed(OWN, OTHER, contradicted=0.7)
    same = replace(OTHER, doc_id=OWN.doc_id)
    claims = [replace(CLAIM, id=weak.claim_id)]
    for found, other, told in ((weak, OTHER, 1), (weak, same, 0), (strong, same, 1)):
        assert len(disagreements(claims, Grounds("How?", (found,), (OWN, other), policy))) == told


@pytest.mark.parametrize("spoil", ["hidden", "elsewhere", "gone"])
def test_a_side_that_does_not_resolve_is_no_side(spoil) -> None:
    """What a reader of the document cannot see, or what is not there, is not quoted."""
    span = OTHER.spans[0]
    spans: dict[str, tuple[SentenceSpan, ...]] = {
        "hidden": (replace(span, visible=False),),
        "elsewhere": (replace(span, start=1),),
        "gone": (),
    }
    broken = replace(OTHER, spans=spans[spoil])
    assert _found([_opposed(OWN, OTHER)], OWN, broken) == []


def test_a_claim_that_is_not_of_the_answer_has_no_conflict() -> None:
    """A measurement without its claim is nothing to show."""
    grounds = Grounds("How fast?", (_opposed(OWN, OTHER),), (OWN, OTHER), POLICY)
    assert conflicts([], grounds) == ()
