"""The promise, measured on recorded drafts: no planted error gets the badge."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from integration_fixtures import Bench, drafts, part_of
from plain_words import internal, presented, sentences, texts_of
from planted_counts import checkable, touches

from certirag.answers.pipeline import verify_draft
from certirag.bootstrap import load_policy
from certirag.proof.certificate import AnswerRecord, open_export
from certirag.quantities.find import find_quantities
from certirag.render import certify

DRAFTS = part_of(drafts(), 9)
# Of 111 claims with a planted error, and of 149 untouched ones: what was reached, not a goal.
MOST_SUPPORTED = 0
MOST_CONTRADICTED = 2
FIGURES = ("number", "unit", "date")


@dataclass
class Tally:
    """Counts over all drafts."""

    errors: int = 0
    errors_verified: int = 0
    untouched: int = 0
    untouched_verified: int = 0


@pytest.fixture(scope="module")
def records(bench: Bench) -> dict[str, AnswerRecord]:
    """Verify every draft against its whole corpus, once."""
    found = {}
    for draft in DRAFTS:
        answer = verify_draft(
            draft["text"],
            bench.index(draft["corpus"]),
            bench.services,
            question=draft["question"],
        )
        found[draft["id"]] = open_export(answer.export, bench.services.trusted)
    return found


def verified_errors(draft: dict, record: AnswerRecord) -> list[str]:
    """Return the texts of Verified claims that touch a planted error."""
    states = {d.claim_id: d.render_state for d in record.decisions}
    return [
        f"{error['kind']}: {claim.text}"
        for claim in record.claim_ir.claims
        for error in draft["errors"]
        if states[claim.id] == "VERIFIED" and touches(claim, error, draft["text"])
    ]


@pytest.mark.parametrize("draft", DRAFTS, ids=lambda draft: draft["id"])
def test_no_planted_error_is_verified(draft: dict, records: dict[str, AnswerRecord]) -> None:
    """Each changed number, date, unit, entity, negation, qualifier and source stays out."""
    assert verified_errors(draft, records[draft["id"]]) == []


def test_at_least_half_of_the_untouched_claims_are_verified(
    records: dict[str, AnswerRecord], capsys: pytest.CaptureFixture[str]
) -> None:
    """A gate that refuses everything would be safe and useless; both figures are printed."""
    tally = Tally()
    for draft in DRAFTS:
        record = records[draft["id"]]
        states = {d.claim_id: d.render_state for d in record.decisions}
        tally.errors += len(draft["errors"])
        tally.errors_verified += len(verified_errors(draft, record))
        for claim in record.claim_ir.claims:
            if checkable(claim) and not any(
                touches(claim, error, draft["text"]) for error in draft["errors"]
            ):
                tally.untouched += 1
                tally.untouched_verified += states[claim.id] == "VERIFIED"
    with capsys.disabled():
        print(
            f"\nplanted errors Verified: {tally.errors_verified} of {tally.errors}; "
            f"untouched claims Verified: {tally.untouched_verified} of {tally.untouched} "
            f"({tally.untouched_verified / tally.untouched:.0%})"
        )
    assert tally.errors_verified == 0
    assert tally.untouched_verified * 2 >= tally.untouched


def test_verdicts_mean_what_they_say(
    records: dict[str, AnswerRecord], capsys: pytest.CaptureFixture[str]
) -> None:
    """How often an erroneous claim is called supported, and an untouched one contradicted."""
    erroneous, untouched = Counter[str](), Counter[str]()
    for draft in DRAFTS:
        record = records[draft["id"]]
        verdicts = {result.claim_id: result.verdict for result in record.verification}
        for claim in record.claim_ir.claims:
            touched = any(touches(claim, error, draft["text"]) for error in draft["errors"])
            if checkable(claim):
                (erroneous if touched else untouched)[verdicts[claim.id]] += 1
    with capsys.disabled():
        print(f"\nverdicts on erroneous claims: {dict(erroneous)}, on untouched: {dict(untouched)}")
    assert erroneous["SUPPORTED"] <= MOST_SUPPORTED
    assert untouched["CONTRADICTED"] <= MOST_CONTRADICTED


def test_a_stricter_policy_verifies_a_subset(records: dict[str, AnswerRecord]) -> None:
    """Over all drafts: what strict-2 verifies strict-1 does, and what that does base-1 does."""
    verified = {name: set[tuple[str, str]]() for name in ("base-1", "strict-1", "strict-2")}
    for name, found in verified.items():
        policy = load_policy(name)
        for draft_id, record in records.items():
            decisions, _ = certify(
                record.claim_ir.claims, record.verification, record.retrieval.chunks, policy
            )
            found |= {(draft_id, d.claim_id) for d in decisions if d.render_state == "VERIFIED"}
    assert verified["strict-2"] <= verified["strict-1"] <= verified["base-1"]
    assert verified["strict-2"]


@pytest.mark.slow
def test_what_has_no_badge_is_told_in_plain_words(records: dict[str, AnswerRecord]) -> None:
    """With the real networks too, nobody reads a rule's name, an id or a quotation of nothing."""
    for of in records.values():
        assert internal(sentences(presented(of)), texts_of(of)) == []


@pytest.mark.slow
def test_most_reasons_name_the_figure_that_stands_there(
    records: dict[str, AnswerRecord], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of claims with one wrong figure, most are told the right one; few any other."""
    told = Counter[str]()
    for draft in DRAFTS:
        shown = presented(records[draft["id"]])
        for chip in (*shown.shown, *shown.folded):
            for error in draft["errors"]:
                if error["kind"] not in FIGURES or not touches(chip.claim, error, draft["text"]):
                    continue
                why = chip.why.sentence.casefold()
                truths = [q.text.casefold() for q in find_quantities(error["truth"])]
                right = any(truth in why for truth in truths)
                told["right" if right else "other" if "it says" in why else "none"] += 1
    with capsys.disabled():
        print(f"\nreasons of claims with a wrong figure name: {dict(told)}")
    assert told["right"] * 2 > told.total()
    assert told["other"] * 8 < told.total()
