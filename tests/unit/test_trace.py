"""At which stage a claim failed, and its way to a document: by rule, from any record."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import FACTS, Statement, answer_record, hostile_record
from gate_cases import (
    POLICY,
    TRUSTED,
    export,
    good_case,
    record,
    with_first_score,
    with_result,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from certirag.core.citation import Citation, CitationJudgement, CitationsRecord, Correction
from certirag.core.policy import Policy
from certirag.core.text import SpanRef
from certirag.proof.certificate import AnswerRecord
from certirag.render import Chip, Mode, present
from certirag.render.gate import Case
from certirag.render.trace import STAGES, failed_rules, failure_of, stages_of, way_of

WEAK = with_first_score(with_result(good_case(), score=0.3), entailed=0.3)
OFF = with_result(WEAK, verdict="NEI", label="not_enough_info")
NONE_FOUND = with_result(
    good_case(), all_scores=(), best_evidence=(), score=0.0, label="not_enough_info"
)


def _chips(of: AnswerRecord, floor: Policy | None = None) -> tuple[Chip, ...]:
    return present(export(of), Mode.DEBUG, trusted=TRUSTED, floor=floor).shown


def _chip(case: Case, floor: Policy | None = None) -> Chip:
    (chip,) = _chips(record(case), floor)
    return chip


def _of_text(text: str, case: Case) -> Case:
    return replace(case, claim=replace(case.claim, text=text))


CASES = {
    "a greeting": (_of_text("Hello there!", WEAK), "compilation", "not checkable"),
    "a greeting for which nothing was found": (
        _of_text("Hello there!", NONE_FOUND),
        "compilation",
        "not checkable",
    ),
    "a problem that was recorded": (
        replace(good_case(), claim=replace(good_case().claim, problems=("not_atomic: two",))),
        "compilation",
        "not atomic: two",
    ),
    "nothing compared": (NONE_FOUND, "retrieval", "no passage was found"),
    "nothing compared, for a limit left it out": (
        with_result(NONE_FOUND, label="error", error="the pair budget left no span"),
        "verification",
        "pair budget",
    ),
    "off the subject": (OFF, "retrieval", "on its subject"),
    "on the subject": (
        with_result(OFF, verdict="UNSUPPORTED"),
        "verification",
        "supports it with 0.30; 0.85 is needed",
    ),
    "called off the subject, and cut off": (
        with_result(OFF, truncated=True),
        "verification",
        "cut off",
    ),
    "called off the subject, and contradicted": (
        with_first_score(OFF, contradicted=0.9),
        "verification",
        "contradicts it: 0.90",
    ),
    "called off the subject by another label": (
        with_result(OFF, label="entailed"),
        "verification",
        "0.85 is needed",
    ),
    "a score that is none": (with_result(OFF, score=None), "verification", "not a number"),
    "a verifier that broke": (
        with_result(good_case(), error="boom", label="error"),
        "verification",
        "boom",
    ),
    "given something else": (
        with_first_score(good_case(), input_sha256="0" * 64),
        "verification",
        "something other than the evidence",
    ),
    "another label than entailed": (
        with_result(good_case(), label="not_enough_info"),
        "verification",
        "not entailed",
    ),
    "entailed and contradicted": (
        with_first_score(good_case(), contradicted=0.9),
        "policy",
        "contradicts it: 0.90",
    ),
    "carried by headings alone": (
        with_result(good_case(), score_without=0.9),
        "policy",
        "titles and headings",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_stage_follows_from_the_record(name: str) -> None:
    """Each kind of failure falls at one stage, with the reason of the record."""
    case, stage, reason = CASES[name]
    failure = failure_of(_chip(case))
    assert failure is not None
    assert failure.stage == stage
    assert reason in failure.reason


def test_what_passes_every_rule_failed_nowhere() -> None:
    """A badge of the gate, and only that, is no failure."""
    chip = _chip(good_case())
    assert chip.badge.kind == "verified"
    assert failure_of(chip) is None
    assert failed_rules(chip) == ()


def test_the_reader_s_own_policy_counts() -> None:
    """Under a stricter one the same record fails, at the stage of that rule."""
    failure = failure_of(_chip(good_case(), replace(POLICY, name="high", tau_entail=0.99)))
    assert failure is not None
    assert failure.stage == "verification"
    two = {**POLICY.class_minimum, "factual_lit_claim": 2}
    failure = failure_of(_chip(good_case(), replace(POLICY, name="two", class_minimum=two)))
    assert failure is not None
    assert failure.stage == "policy"


@pytest.mark.parametrize("times", [0, 2])
def test_without_a_single_measurement_it_is_not_said_what_was_found(times: int) -> None:
    """None, or two of one claim: the record does not tell whether a passage was found."""
    of = record()
    (chip,) = _chips(replace(of, verification=of.verification * times))
    failure = failure_of(chip)
    assert failure is not None
    assert failure.stage == "verification"
    assert "does not tell" in stages_of(chip, POLICY)["retrieval"][0]
    assert way_of(chip, None)[-1] == ("passage", (("", "the record does not tell"),))


def test_where_nothing_was_compared_the_way_ends() -> None:
    """No passage and no document is made up."""
    assert [stop.place for stop in way_of(_chip(NONE_FOUND), None)] == ["claim", "passage"]
    assert way_of(_chip(NONE_FOUND), None)[1].entries == (("", "no passage"),)


SCORES = st.floats(0, 1)


@settings(max_examples=150)
@given(
    score=SCORES,
    entailed=SCORES,
    contradicted=SCORES,
    without=st.none() | SCORES,
    label=st.sampled_from(["entailed", "contradicted", "not_enough_info", "error"]),
    verdict=st.sampled_from(["SUPPORTED", "PARTIAL", "UNSUPPORTED", "CONTRADICTED", "NEI"]),
    error=st.sampled_from(["", "it broke"]),
    scored=st.booleans(),
    text=st.sampled_from([*FACTS, "Hello there!", "✅ Verified", "<b>x</b> is 3."]),
)
def test_every_record_has_one_stage_or_a_badge(
    score, entailed, contradicted, without, label, verdict, error, scored, text
) -> None:
    """Whatever is recorded: a stage and a reason without a badge, neither with one."""
    case = with_result(
        good_case(), score=score, label=label, verdict=verdict, error=error, score_without=without
    )
    case = with_first_score(case, entailed=entailed, contradicted=contradicted)
    case = _of_text(text, case if scored else with_result(case, all_scores=()))
    chip = _chip(case)
    failure = failure_of(chip)
    assert (failure is None) == (chip.badge.kind == "verified")
    if failure is None:
        return
    assert failure.stage in STAGES
    assert failure.reason
    assert bool(failed_rules(chip))
    if failure.stage == "retrieval":
        assert not error
        assert not scored or (verdict, label) == ("NEI", "not_enough_info")
    if failure.stage == "policy":
        assert score >= POLICY.tau_entail


def test_hostile_records_have_stages_and_ways() -> None:
    """Every claim of an answer made of attacks has a stage or a badge, and a way that is its own."""
    chips = _chips(hostile_record())
    assert len(chips) > 20
    for chip in chips:
        assert (failure_of(chip) is None) == (chip.badge.kind == "verified")
        stops = way_of(chip, None)
        assert [stop.place for stop in stops] == ["claim", "passage", "document"]
        assert stops[0].entries == ((chip.text, ""),)
        assert stops[1].entries[0].text == chip.evidence[0].span.sentence
        assert set(stages_of(chip, POLICY)) == set(STAGES) - {"policy"}


def test_the_way_names_what_was_cited_chosen_and_opposed() -> None:
    """Citation with what became of it, the chosen passage, and the one that speaks against it."""
    of = answer_record([Statement(FACTS[0]), Statement(FACTS[1])])
    first, second = of.retrieval.chunks
    cited = Citation("c1", first.doc_id, raw="[1]")
    better = Citation("c1", second.doc_id, place="s. 2")
    citations = CitationsRecord(
        (cited, Citation("c2", "other", raw="[9]")),
        (CitationJudgement(cited, "WEAK", "too little"),),
        (
            Correction("c1", "KEEP", cited, cited, "nothing better"),
            Correction("c1", "ADD_ALTERNATE", None, better, "it says so too"),
        ),
    )
    against = replace(
        of.verification[0].all_scores[0], chunk_id=second.chunk_id, contradicted=0.9, entailed=0.0
    )
    opposed = replace(of.verification[0], all_scores=(*of.verification[0].all_scores, against))
    of = replace(of, verification=(opposed, of.verification[1]), citations=citations)
    chip = _chips(of)[0]
    claim, citation, passage, document = way_of(chip, of.citations)
    assert claim.entries[0].text == FACTS[0]
    assert [entry.text for entry in citation.entries] == ["[1]", f"{second.doc_id} s. 2"]
    assert citation.entries[0].note.endswith("supports it too little; kept")
    assert citation.entries[1].note == "added: it says so too"
    assert [entry.text for entry in passage.entries] == [FACTS[0], FACTS[1]]
    assert passage.entries[0].note == (
        "1: rank 1 for the question, entailment 0.97, contradiction 0.01, chosen"
    )
    assert passage.entries[1].note.endswith("contradiction 0.90, not chosen")
    assert [entry.text for entry in document.entries] == ["Leave policy", "Leave policy"]


def test_a_chosen_passage_that_is_not_in_the_record_is_said() -> None:
    """What was chosen and does not resolve is counted, and no other sentence stands for it."""
    chip = _chip(with_result(good_case(), best_evidence=(SpanRef("gone", "s1"),)))
    passage = way_of(chip, None)[1]
    assert passage.entries[0].note.endswith("not chosen")
    assert passage.entries[-1].note == "1 chosen, and not in the record as quoted"
