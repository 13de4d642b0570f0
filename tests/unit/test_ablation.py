"""What an ablation changes, and its table counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from fakes import chunk_of

from certirag.bootstrap import load_policy
from certirag.core.claim import Claim
from certirag.core.generation import ModelIdentity
from certirag.errors import InputError
from certirag.eval.ablation_report import AblatedRow, ablation_figures, ablation_table, cost_plots
from certirag.eval.systems import Share
from certirag.eval.variants import (
    DEFAULT,
    SELECTIONS,
    ShownTheAnswer,
    policies_of,
    variants_of,
)
from certirag.ports import Judgement, Pair
from certirag.settings import Settings
from certirag.verification.candidates import choose_candidates

ONE = "The Orlen crane was bought from Keswick Lifting."
TWO = "The Orlen crane was painted in spring."
THREE = "The Orlen crane is inspected in June."
FOUR = "The Orlen crane stands on the east quay."
CLAIM = Claim("c1", "The Orlen crane was bought in spring.", "fact", "factual_lit_claim")


class Scores:
    """A verifier with a score for each set of sentences, 0.1 for others; it keeps what it was asked."""

    identity = ModelIdentity("verifier", "scores", "1", "0" * 64)

    def __init__(self, scores: dict[tuple[str, ...], float]) -> None:
        self.scores = scores
        self.asked: list[Pair] = []

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        self.asked += pairs
        found = [self.scores.get(tuple(pair.evidence.split("\n")), 0.1) for pair in pairs]
        return [
            Judgement("entailed" if s >= 0.5 else "not_enough_info", s, round(1 - s, 6), 0.0)
            for s in found
        ]


@pytest.mark.parametrize(
    ("selection", "attached", "score"),
    [
        ("minimal", [ONE, TWO], 0.93),
        ("top-1", [ONE], 0.4),
        ("top-3", [ONE, TWO, FOUR], 0.7),
    ],
)
def test_each_way_to_choose_evidence_attaches_its_own(selection, attached, score) -> None:
    """The best alone, the best three in reading order, or the smallest set that suffices."""
    verifier = Scores(
        {(ONE,): 0.4, (TWO,): 0.3, (FOUR,): 0.2, (ONE, TWO): 0.93, (ONE, TWO, FOUR): 0.7}
    )
    chunk = chunk_of(" ".join((ONE, TWO, THREE, FOUR)))
    candidates = choose_candidates([CLAIM], [chunk], max_spans=20, max_pairs=240)
    (result,) = SELECTIONS[selection](candidates, verifier)
    assert [chunk.span(ref.span_id).sentence for ref in result.best_evidence] == attached
    assert result.score == score
    assert len(result.all_scores) == 4  # each sentence alone, whatever is attached


@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_claim_without_a_span_attaches_nothing(selection) -> None:
    """No evidence is never evidence."""
    candidates = choose_candidates([CLAIM], [], max_spans=20, max_pairs=240)
    (result,) = SELECTIONS[selection](candidates, Scores({}))
    assert (result.best_evidence, result.score, result.verdict) == ((), 0.0, "NEI")


def test_who_is_shown_the_answer_reads_the_claim_behind_the_evidence() -> None:
    """Everything else of the pair stays as it was."""
    inner = Scores({(ONE, CLAIM.text): 0.99})
    pair = Pair(CLAIM.text, ONE, "Cranes", f"{ONE} {TWO}")
    (judgement,) = ShownTheAnswer(inner).judge([pair])
    assert judgement.entailed == 0.99
    assert inner.asked == [replace(pair, evidence=f"{ONE}\n{CLAIM.text}")]
    assert ShownTheAnswer(inner).identity == inner.identity


def test_one_thing_is_changed_at_a_time() -> None:
    """Each variant differs from the default in its own thing; names are folders, each once."""
    base, *others = variants_of(Settings(), ("nli:some/model", "embedded"))
    assert base.name == DEFAULT
    assert len({own.name for own in others}) == len(others)
    assert all(own.name.replace("-", "").isalnum() for own in others)
    named = ("name", "changed", "to", "parts", "without")
    for own in others:
        changed = [
            field
            for field in type(own).__dataclass_fields__
            if field not in named and getattr(own, field) != getattr(base, field)
        ]
        assert len(changed) == 1, own
    verifiers = [own.verifier for own in others if own.changed == "verifier"]
    assert verifiers == ["embedded", "reading", "nli:some/model"]
    assert [
        own.to
        for own in variants_of(Settings(verifier="embedded"), ())
        if own.changed == "verifier"
    ] == ["reading"]


def test_policies_are_the_own_one_and_those_it_is_compared_with() -> None:
    """First the one in force; the default measuring is certified under all, a variant under its own."""
    settings = Settings()
    policies = policies_of(settings)
    names = list(policies)
    assert names[0] == "strict-1"
    assert policies["strict-1"] == load_policy("strict-1")
    assert {"base-1", "strict-2", "strict-1 without load_bearing"} < set(names)
    assert policies["strict-1, entailment from 0.5"].tau_entail == 0.5
    assert all(policy.rules for policy in policies.values())
    by_name = {own.name: own for own in variants_of(settings, ())}
    assert list(by_name[DEFAULT].policies(policies)) == names
    assert list(by_name["claims-raw"].policies(policies)) == ["strict-1"]
    assert list(by_name["isolation-off"].policies(policies)) == [
        "strict-1",
        "strict-1 without load_bearing",
    ]
    base = policies_of(Settings(policy="base-1"))
    assert not any("without" in name for name in base)
    assert list(by_name["isolation-off"].policies(base)) == ["base-1"]


def _row(number: int, *, true: bool, **verified: bool) -> AblatedRow:
    counts = {
        name.replace("_", "-"): (int(v), int(v and not true), int(true), int(v and true))
        for name, v in verified.items()
    }
    source = "drafts with" if number > 9 else "claims"
    return AblatedRow(number, source, "text", true, (("text", "UNVERIFIED"),), counts)


def test_the_table_is_what_a_person_counts() -> None:
    """Seven statements and a claim of a draft; a change that grants more, and a policy that grants none."""
    default = [
        *(_row(n, true=True, strict_1=n < 2, base_1=False) for n in range(4)),
        *(_row(n, true=False, strict_1=False, base_1=False) for n in range(4, 7)),
        _row(10, true=True, strict_1=True, base_1=False),
    ]
    raw = [_row(n, true=n < 4, strict_1=n != 1) for n in range(7)]
    variants = [own for own in variants_of(Settings(), ()) if own.name in (DEFAULT, "claims-raw")]
    found = ablation_figures(
        {DEFAULT: default, "claims-raw": raw}, variants, ["strict-1", "base-1"]
    )
    whole, statements, drafts, changed, policy = found
    assert (whole.rows, whole.wrong, whole.coverage, whole.p) == (8, Share(0, 3), Share(3, 5), None)
    assert (statements.wrong, statements.coverage) == (Share(0, 2), Share(2, 4))
    assert (drafts.wrong, drafts.coverage) == (Share(0, 1), Share(1, 1))
    # Right by the default alone: row 1 and the three untrue ones; by this alone: rows 2 and 3.
    assert (changed.rows, changed.wrong, changed.coverage) == (7, Share(3, 6), Share(3, 4))
    assert (changed.only_default, changed.only_this) == (4, 2)
    assert changed.p == pytest.approx(2 * (1 + 6 + 15) / 64)
    # All three badges are gone, and nothing is right that was not: p 0.25, twice by Holm.
    assert (policy.wrong, policy.only_default, policy.only_this, policy.p) == (
        Share(0, 0),
        3,
        0,
        0.5,
    )
    assert "| claims | the whole statement as one | 7 | 3 of 6: 50.0%" in ablation_table(found)


def test_rows_that_the_default_lacks_are_no_comparison() -> None:
    """A folder of another run is said, and nothing is compared."""
    variants = [own for own in variants_of(Settings(), ()) if own.name in (DEFAULT, "claims-raw")]
    rows = {
        DEFAULT: [_row(1, true=True, strict_1=True)],
        "claims-raw": [_row(2, true=True, strict_1=True)],
    }
    with pytest.raises(InputError, match="claims-raw: has other rows"):
        ablation_figures(rows, variants, ["strict-1"])


def test_what_is_right_is_drawn_against_its_cost() -> None:
    """A point for each variant that was timed over statements; claims of drafts are not among them."""
    variants = [own for own in variants_of(Settings(), ()) if own.name in (DEFAULT, "claims-raw")]
    default = [
        *(_row(n, true=True, strict_1=n < 3) for n in range(4)),
        _row(10, true=True, strict_1=True),
    ]
    raw = [_row(n, true=n < 2, strict_1=n in {1, 2}) for n in range(4)]
    timed = {"ms_per_unit_p50": 12.5, "pairs_per_unit": 9.0, "first_batches_left_out": True}
    costs = {DEFAULT: {"statements": timed}, "claims-raw": {"drafts": timed}}
    rows = {DEFAULT: default, "claims-raw": raw}
    latency, pairs = cost_plots(rows, variants, "strict-1", costs)
    (point,) = latency.series
    assert (point.x, point.y) == ((12.5,), (0.75,))
    assert [(own.x, own.y) for own in pairs.series] == [((9.0,), (1.0,))]
    costs["claims-raw"] = {"statements": timed | {"pairs_per_unit": 3.0}}
    latency, pairs = cost_plots(rows, variants, "strict-1", costs)
    # Of the raw ones row 1 and row 3 are right; of the two badges one is wrong.
    assert [own.y for own in latency.series] == [(0.75,), (0.5,)]
    assert [(own.x, own.y) for own in pairs.series] == [((9.0,), (1.0,)), ((3.0,), (0.5,))]
    # One batch made the models ready too, and pairs that nobody counted are none.
    costs[DEFAULT] = {"statements": {"ms_per_unit_p50": 900.0, "first_batches_left_out": False}}
    latency, pairs = cost_plots(rows, variants, "strict-1", costs)
    assert [len(own.series) for own in (latency, pairs)] == [1, 1]
