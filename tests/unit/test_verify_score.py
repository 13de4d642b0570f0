"""Rows are scored by their weakest sentence, and keep what they came with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from certirag.core.generation import ModelIdentity
from certirag.ingest.sentences import sentence_splitter
from certirag.ports import Judgement, Pair
from certirag.verification.judge import score_rows

SPLIT = sentence_splitter(None)
SURE = Judgement("entailed", 0.97, 0.02, 0.01)
UNSURE = Judgement("not_enough_info", 0.05, 0.9, 0.05)
AGAINST = Judgement("contradicted", 0.02, 0.08, 0.9)
PREMISE = "The canteen opens at noon. The limit is 40 kg. Dogs are welcome. Rooms are free."


@dataclass
class Scripted:
    """Supports what stands in the evidence, opposes what denies it, is unsure of the rest."""

    broken: str = "nothing is"
    asked: list[Pair] = field(default_factory=list)

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity("verifier", "scripted", "1", "0" * 64)

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        self.asked += pairs
        return [self._one(pair) for pair in pairs]

    def _one(self, pair: Pair) -> Judgement:
        if self.broken in pair.claim:
            return replace(SURE, truncated=True)
        if pair.claim in pair.evidence:
            return SURE
        return AGAINST if pair.claim.replace(" not", "") in pair.evidence else UNSURE


def _scored(hypothesis: str, verifier: Scripted | None = None, **row: object) -> dict[str, object]:
    (found,) = score_rows(
        [{"premise": PREMISE, "hypothesis": hypothesis, **row}],
        verifier or Scripted(),
        SPLIT,
        lambda *_: None,
    )
    return found


@pytest.mark.parametrize(
    ("hypothesis", "label", "entailed", "contradicted"),
    [
        ("The limit is 40 kg.", "entailed", 0.97, 0.01),
        ("The limit is 40 kg. Rooms are free.", "entailed", 0.97, 0.01),
        ("The limit is 40 kg. Cats are welcome.", "not_enough_info", 0.05, 0.05),
        ("Cats are welcome. The limit is 40 kg.", "not_enough_info", 0.05, 0.05),
        ("The limit is 40 kg. Dogs are not welcome.", "contradicted", 0.02, 0.9),
        ("Dogs are not welcome. Cats are welcome. Rooms are free.", "contradicted", 0.02, 0.9),
    ],
)
def test_a_hypothesis_is_worth_its_weakest_sentence(
    hypothesis, label, entailed, contradicted
) -> None:
    """The least support and the most contradiction of any of its sentences."""
    row = _scored(hypothesis)
    assert (row["label"], row["entailed"], row["contradicted"]) == (label, entailed, contradicted)
    total = row["entailed"] + row["not_enough_info"] + row["contradicted"]
    assert total == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("hypothesis", ["", "   ", "The limit is 40 kg. This one breaks."])
def test_a_sentence_that_fails_fails_the_row(hypothesis: str) -> None:
    """A truncated sentence, or none at all, is the label error without a number."""
    row = _scored(hypothesis, Scripted(broken="breaks"))
    assert row["label"] == "error"
    assert row["entailed"] is row["not_enough_info"] is row["contradicted"] is None


def test_rows_do_not_mix() -> None:
    """Each row gets the judgements of its own sentences, over several batches."""
    rows = [
        {"premise": PREMISE if n % 3 else "Rooms are free.", "hypothesis": hypothesis, "n": n}
        for n in range(150)
        for hypothesis in ["Rooms are free." + " The limit is 40 kg." * (n % 2)]
    ]
    scored = score_rows(rows, Scripted(), SPLIT, lambda *_: None)
    assert [row["n"] for row in scored] == list(range(150))
    expected = ["entailed" if n % 3 or not n % 2 else "not_enough_info" for n in range(150)]
    assert [row["label"] for row in scored] == expected


def test_what_people_said_is_kept_as_gold() -> None:
    """A row's own label is not lost under the verifier's, nor overwritten on a second run."""
    once = _scored("The limit is 40 kg.", label="neutral", id=7)
    assert (once["gold"], once["label"], once["id"]) == ("neutral", "entailed", 7)
    again = _scored("Cats are welcome.", label=once["label"], gold=once["gold"])
    assert (again["gold"], again["label"]) == ("neutral", "not_enough_info")
    assert "gold" not in _scored("The limit is 40 kg.")


def test_a_premise_is_handed_over_whole() -> None:
    """There is one pair for each sentence; the verifier cuts its own windows."""
    verifier = Scripted()
    rows = [{"premise": PREMISE, "hypothesis": "Rooms are free. Dogs are welcome."}]
    score_rows(rows, verifier, SPLIT, lambda *_: None)
    assert [pair.evidence for pair in verifier.asked] == [PREMISE, PREMISE]
