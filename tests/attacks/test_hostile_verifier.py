"""Whatever a verifier does (late, wrong, malformed, truncated), no claim gains the badge by it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import signature

import pytest
from gate_cases import CLAIM, POLICY, SENTENCE, chunk

from certirag.core.claim import Claim
from certirag.core.generation import ModelIdentity
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import VerificationResult
from certirag.errors import VerifierError
from certirag.ports import Judgement, Pair
from certirag.render import certify
from certirag.verification.candidates import EXTRA_PAIRS, choose_candidates
from certirag.verification.judge import score_rows
from certirag.verification.opinion import verify_claims

SURE = Judgement("entailed", 0.97, 0.02, 0.01)
UNSURE = Judgement("not_enough_info", 0.05, 0.94, 0.01)


@dataclass
class Scripted:
    """A verifier that answers with what it was told to, and remembers what it was asked."""

    answer: Callable[[Sequence[Pair]], object]
    asked: list[Pair]

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity("verifier", "scripted", "1", "0" * 64)

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        self.asked.extend(pairs)
        return self.answer(pairs)  # type: ignore[return-value]


def honest(pairs: Sequence[Pair]) -> list[Judgement]:
    """Support what stands in the evidence word for word."""
    return [SURE if pair.claim in pair.evidence else UNSURE for pair in pairs]


def _decided(
    answer: Callable[[Sequence[Pair]], object],
    chunks: Sequence[EvidenceChunk] | None = None,
    claim: Claim = CLAIM,
) -> tuple[str, VerificationResult, Scripted]:
    verifier = Scripted(answer, [])
    chunks = chunks or [chunk()]
    candidates = choose_candidates([claim], chunks, max_spans=20, max_pairs=240)
    (result,) = verify_claims(candidates, verifier)
    (decision,), _ = certify([claim], [result], chunks, POLICY)
    return decision.render_state, result, verifier


def test_an_honest_verifier_verifies() -> None:
    """The path that the others spoil leads to the badge."""
    assert _decided(honest)[0] == "VERIFIED"


def _spoiling(**changes: object) -> Callable[[Sequence[Pair]], object]:
    return lambda pairs: [replace(j, **changes) for j in honest(pairs)]  # type: ignore[arg-type]


def _raise(error: Exception) -> Callable[[Sequence[Pair]], object]:
    def answer(_pairs: Sequence[Pair]) -> object:
        raise error

    return answer


HOSTILE: dict[str, Callable[[Sequence[Pair]], object]] = {
    "raises its own error": _raise(VerifierError("timed out")),
    "raises anything": _raise(ZeroDivisionError()),
    "runs out of memory": _raise(MemoryError()),
    "answers nothing": lambda _pairs: [],
    "answers None": lambda _pairs: None,
    "drops a pair": lambda pairs: honest(pairs)[:-1],
    "adds a pair": lambda pairs: [*honest(pairs), SURE],
    "answers with text": lambda pairs: ["entailed"] * len(pairs),
    "answers with True": lambda pairs: [True] * len(pairs),
    "answers with dicts": lambda pairs: [{"label": "entailed", "entailed": 1.0}] * len(pairs),
    "says NaN": _spoiling(entailed=math.nan),
    "says infinity": _spoiling(entailed=math.inf),
    "says None": _spoiling(entailed=None),
    "says two": _spoiling(entailed=2.0),
    "says minus one": _spoiling(contradicted=-1.0),
    "says True": _spoiling(entailed=True),
    "says text": _spoiling(entailed="0.99"),
    "contradiction is NaN": _spoiling(contradicted=math.nan),
    "contradiction is None": _spoiling(contradicted=None),
    "unknown label": _spoiling(label="VERIFIED"),
    "label error with high scores": _spoiling(label="error"),
    "read only a part": _spoiling(truncated=True),
    "reports an error with high scores": _spoiling(error="late"),
    "labels it neutral with high scores": _spoiling(label="not_enough_info"),
    "supports even without evidence": lambda pairs: [SURE] * len(pairs),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_or_broken_verifier_grants_nothing(name: str) -> None:
    """Every malformed, missing, late or partial answer loses the badge."""
    assert _decided(HOSTILE[name])[0] != "VERIFIED"


def test_a_break_halfway_grants_nothing() -> None:
    """A verifier that answers the spans and then fails on the rest leaves no badge."""
    calls = 0

    def fails_later(pairs: Sequence[Pair]) -> object:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise VerifierError("gone")
        return honest(pairs)

    state, result, _ = _decided(fails_later)
    assert state != "VERIFIED"
    assert result.score_without is None


def test_it_sees_the_claim_and_the_evidence_and_nothing_else() -> None:
    """The pair has four fields, and none carries question, draft or another claim."""
    _, _, verifier = _decided(honest)
    assert set(Pair.__dataclass_fields__) == {"claim", "evidence", "context", "window"}
    of = chunk()
    allowed = {span.sentence for span in of.spans} | {of.context}
    for pair in verifier.asked:
        assert pair.claim == CLAIM.text
        assert set(pair.evidence.split("\n")) <= allowed
        assert pair.context in {of.context, ""}
        assert pair.window in {of.text, ""}


def test_the_pair_budget_is_never_exceeded() -> None:
    """Sets of spans and the reading without evidence count too; what was left out is said."""
    sentences = [f"Full-time employees receive {n} days of annual leave." for n in range(30)]
    chunks = [chunk(text, f"doc{n}", text) for n, text in enumerate(sentences)]
    claims = [replace(CLAIM, id=f"c{n}", text=sentences[n]) for n in range(12)]
    for budget in (240, 100, 60, 12, 1):
        verifier = Scripted(lambda pairs: [UNSURE] * len(pairs), [])
        candidates = choose_candidates(claims, chunks, max_spans=20, max_pairs=budget)
        results = verify_claims(candidates, verifier)
        assert len(verifier.asked) <= budget
        assert all(result.pairs_dropped >= 30 - 20 for result in results)
    assert EXTRA_PAIRS * 12 < 240


def test_a_starved_claim_is_not_verified() -> None:
    """A budget that leaves no span for a claim leaves no badge either."""
    candidates = choose_candidates([CLAIM], [chunk()], max_spans=20, max_pairs=1)
    (result,) = verify_claims(candidates, Scripted(honest, []))
    assert result.label == "error"
    assert certify([CLAIM], [result], [chunk()], POLICY)[0][0].render_state != "VERIFIED"


def test_no_policy_reaches_the_measurement() -> None:
    """What is scored and attached is the same under every policy, so tightening only loses."""
    assert "policy" not in signature(verify_claims).parameters
    assert "policy" not in signature(choose_candidates).parameters


def test_hidden_text_is_no_candidate() -> None:
    """A span that a reader cannot see is never scored."""
    of = chunk()
    hidden = replace(of, spans=tuple(replace(span, visible=False) for span in of.spans))
    assert choose_candidates([CLAIM], [hidden], max_spans=20, max_pairs=240)[0].chosen == ()


def test_two_spans_can_prove_a_claim_together() -> None:
    """Where no single sentence suffices, the smallest set that does is attached."""

    def joint(pairs: Sequence[Pair]) -> list[Judgement]:
        return [SURE if pair.evidence.count("\n") else UNSURE for pair in pairs]

    second = "The employees receive the leave at the start of each calendar year."
    of = chunk(f"{SENTENCE} {second}")
    state, result, _ = _decided(joint, [of])
    assert len(result.best_evidence) == 2
    assert state == "VERIFIED"


# Rows are scored, not decided, so these two, which give sound numbers, are scores like others.
SOUND_NUMBERS = {"supports even without evidence", "labels it neutral with high scores"}


@pytest.mark.parametrize("name", sorted(set(HOSTILE) - SOUND_NUMBERS))
def test_scoring_rows_fails_closed_too(name: str) -> None:
    """`certirag score` writes the label error and no number."""
    rows = [{"premise": SENTENCE, "hypothesis": SENTENCE}]
    verifier = Scripted(HOSTILE[name], [])
    (row,) = score_rows(rows, verifier, lambda text: [(0, len(text))], lambda *_: None)
    assert row["label"] == "error"
    assert row["entailed"] is None
