"""Depths save pairs and never a needed one; a closer look can only lose support."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from fakes import AlignedWords, chunk_of
from gate_cases import POLICY

from certirag.claims.compile import make_claim
from certirag.core.claim import Claim
from certirag.core.generation import ModelIdentity
from certirag.core.selector import with_selectors
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import QuestionRecord, VerificationResult
from certirag.errors import VerifierError
from certirag.ports import Judgement, Pair
from certirag.render import certify
from certirag.verification.candidates import NEEDED_SHARE, Candidates, choose_candidates
from certirag.verification.depth import (
    HIGH_SPANS,
    MOST_NEIGHBOURS,
    Asker,
    neighbours_of,
    verify_at_depths,
)
from certirag.verification.opinion import Opinion, verdict_of, verify_claims
from certirag.verification.parts import MAX_PARTS, parts_of
from certirag.verification.routing import UNROUTED, Route
from certirag.verification.sufficient import SpanSet

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
ROUTES = {"HIGH": Route(0.9, "HIGH"), "MEDIUM": Route(0.6, "MEDIUM"), "LOW": UNROUTED}
LEAVE = "Full-time employees receive 27 days of annual leave per calendar year."
TAKEN_BACK = "This ended last spring."
FILLER = [f"Employees of site {n} receive notice of leave." for n in range(12)]


class Recording:
    """Passes pairs to the word aligner, keeps them, and may be told what to answer instead."""

    identity = ModelIdentity("verifier", "recording", "1", "0" * 64)

    def __init__(self, instead: dict[str, Judgement] | None = None) -> None:
        self.pairs: list[Pair] = []
        self.instead = instead or {}
        self._words = AlignedWords()

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        self.pairs += pairs
        plain = self._words.judge(pairs)
        return [self.instead.get(p.evidence, j) for p, j in zip(pairs, plain, strict=True)]


def claim_of(text: str, claim_id: str = "c1") -> Claim:
    """Return *text* as a claim with everything that is read off it."""
    made = make_claim(text, 0, len(text), ())
    return Claim(claim_id, made.text, made.type, made.risk_class, quantities=made.quantities)


def candidates_of(text: str, chunks: Sequence[EvidenceChunk]) -> tuple[Candidates, ...]:
    """Return the candidates of one claim among *chunks*."""
    return choose_candidates([claim_of(text)], chunks, max_spans=20, max_pairs=60)


def at(
    depth: str,
    candidates: Sequence[Candidates],
    verifier: object = None,
    **options: Asker | bool | None,
) -> tuple[VerificationResult, ...]:
    """Look at every claim at *depth*."""
    routes = [ROUTES[depth]] * len(candidates)
    return verify_at_depths(candidates, routes, verifier or Recording(), **options)  # type: ignore[arg-type]


def badges(
    results: Sequence[VerificationResult], chunks: Sequence[EvidenceChunk], text: str
) -> int:
    """Count the claims that the gate verifies."""
    decisions, _ = certify([claim_of(text)], results, with_selectors(chunks, results), POLICY)
    return sum(decision.render_state == "VERIFIED" for decision in decisions)


def test_without_depths_nothing_changed() -> None:
    """A caller who passes nothing else gets one result with the new fields at their defaults."""
    candidates = candidates_of(LEAVE, [chunk_of(f"{LEAVE} {TAKEN_BACK}")])
    (result,) = verify_claims(candidates, Recording())
    assert (result.depth, result.questions, result.missing_part) == ("", (), "")
    assert result.label == "entailed"


def test_high_asks_least_and_saves_what_it_says() -> None:
    """Needed spans and the best few are judged, and the claim keeps its badge."""
    chunks = [chunk_of(LEAVE, name="a"), *(chunk_of(t, name=f"f{n}") for n, t in enumerate(FILLER))]
    candidates = candidates_of(LEAVE, chunks)
    asked: dict[str, int] = {}
    for depth in ROUTES:
        verifier = Recording()
        found = at(depth, candidates, verifier)
        assert badges(found, chunks, LEAVE) == 1
        asked[depth] = len(verifier.pairs)
    assert asked["HIGH"] < 0.8 * asked["MEDIUM"] == 0.8 * asked["LOW"]


def test_high_never_leaves_a_needed_span() -> None:
    """However many spans share most of the claim, each is judged at every depth."""
    twins = [
        f"Employees at site {n} receive 27 days of annual leave per calendar year."
        for n in range(9)
    ]
    chunks = [chunk_of(LEAVE, name="a"), *(chunk_of(t, name=f"t{n}") for n, t in enumerate(twins))]
    candidates = candidates_of(LEAVE, chunks)
    needed = {s.span.sentence for s in candidates[0].chosen if s.share >= NEEDED_SHARE}
    assert len(needed) > HIGH_SPANS
    verifier = Recording()
    at("HIGH", candidates, verifier)
    assert needed <= {pair.evidence for pair in verifier.pairs}


@pytest.mark.parametrize("depth", ROUTES)
def test_a_contradiction_is_seen_at_every_depth(depth: str) -> None:
    """Rule 3 loses nothing to routing."""
    against = "Full-time employees receive 21 days of annual leave per calendar year."
    chunks = [
        *(chunk_of(t, name=f"f{n}") for n, t in enumerate(FILLER)),
        chunk_of(LEAVE, name="y"),
        chunk_of(against, name="z"),
    ]
    found = at(depth, candidates_of(LEAVE, chunks))
    assert max(s.contradicted or 0.0 for s in found[0].all_scores) >= POLICY.tau_contradict
    assert badges(found, chunks, LEAVE) == 0


def test_high_that_does_not_suffice_is_looked_at_again() -> None:
    """A claim that no single span supports gets the whole look: no true claim is lost to routing."""
    alpha, beta = "The Orlen crane was bought from Keswick.", "Keswick belongs to the Dorrin group."
    chunks = [chunk_of(f"{alpha} {beta}")]
    candidates = candidates_of("The Orlen crane was bought from the Dorrin group.", chunks)
    both = Judgement("entailed", 0.95, 0.05, 0.0)
    verifier = Recording({f"{alpha}\n{beta}": both})
    found = at("HIGH", candidates, verifier)
    assert found[0].depth == "MEDIUM"
    assert len(found[0].best_evidence) == 2
    assert found == at("MEDIUM", candidates, Recording({f"{alpha}\n{beta}": both}))


def test_a_comparison_is_never_high() -> None:
    """It is looked up in two places, which needs the search for sets."""
    text = "The Orlen crane is heavier than the Pinder crane."
    found = at("HIGH", candidates_of(text, [chunk_of(text)]))
    assert found[0].depth == "MEDIUM"


def test_a_neighbour_that_takes_it_back_is_scored() -> None:
    """It shares no word with the claim, so only its place finds it."""
    chunk = chunk_of(f"{LEAVE} {TAKEN_BACK}")
    candidates = candidates_of(LEAVE, [chunk])
    opposed = Judgement("contradicted", 0.02, 0.08, 0.9)
    plain = at("HIGH", candidates, Recording({TAKEN_BACK: opposed}))
    closer = at("MEDIUM", candidates, Recording({TAKEN_BACK: opposed}))
    assert badges(plain, [chunk], LEAVE) == 1
    assert badges(closer, [chunk], LEAVE) == 0
    late = at("MEDIUM", candidates, Recording({TAKEN_BACK: Judgement("error", 0, 0, 0)}))
    assert badges(late, [chunk], LEAVE) == 0


def test_neighbours_are_the_unscored_visible_ones_beside() -> None:
    """One on each side, none twice, none hidden, and no more than the budget has left."""
    chunk = chunk_of("One came. Two came. Three came. Four came.", hidden=["Three"])
    claim = claim_of("Two came.")
    candidates = choose_candidates([claim], [chunk], max_spans=5, max_pairs=50)
    two = next(s for s in candidates[0].chosen if s.span.sentence == "Two came.")
    support = SpanSet((two,), Judgement("entailed", 0.9, 0.1, 0.0))
    said = [s.span.sentence for s in neighbours_of(claim, support, [], most=9)]
    assert said == ["One came."]
    assert neighbours_of(claim, support, [], most=0) == ()
    assert neighbours_of(claim, None, [], most=9) == ()
    assert MOST_NEIGHBOURS >= 2


@pytest.mark.parametrize("outcome", ["differ", "not_found", "", "Agree", None])
def test_a_failed_question_takes_the_support_back(outcome: str) -> None:
    """Anything but "agree" leaves no badge; the measured score stays on record."""
    chunk = chunk_of(LEAVE)
    record = QuestionRecord("amount", "How many?", "27 days", "21 days", outcome)  # type: ignore[arg-type]
    found = at("LOW", candidates_of(LEAVE, [chunk]), ask=lambda *_: (record,))
    (result,) = found
    assert (result.label, result.questions) == ("not_enough_info", (record,))
    assert result.score is not None
    assert result.score >= POLICY.tau_entail
    assert result.verdict == ("CONTRADICTED" if outcome == "differ" else "PARTIAL")
    assert badges(found, [chunk], LEAVE) == 0


def test_an_asker_that_breaks_or_lies_takes_the_support_back() -> None:
    """Fail closed: no records, other things than records, and exceptions."""
    chunk = chunk_of(LEAVE)

    def broken(*_: str) -> Sequence[QuestionRecord]:
        raise RuntimeError

    for ask in (broken, lambda *_: None, lambda *_: ("agree",), lambda *_: 7):
        found = at("LOW", candidates_of(LEAVE, [chunk]), ask=ask)  # type: ignore[arg-type]
        assert badges(found, [chunk], LEAVE) == 0


def test_only_low_asks_and_only_about_what_seems_supported() -> None:
    """Questions cannot raise anything, so none is put about a claim that has no support."""
    asked: list[tuple[str, str, str]] = []

    def ask(*given: str) -> Sequence[QuestionRecord]:
        asked.append(given)  # type: ignore[arg-type]
        return ()

    chunk = chunk_of(LEAVE, title="Leave policy")
    for depth in ("HIGH", "MEDIUM"):
        at(depth, candidates_of(LEAVE, [chunk]), ask=ask)
    at("LOW", candidates_of(LEAVE.replace("27", "40"), [chunk]), ask=ask)
    assert asked == []
    at("LOW", candidates_of(LEAVE, [chunk]), ask=ask)
    assert asked == [(LEAVE, LEAVE, "Leave policy")]


class Broken:
    """A verifier that fails in one way or another."""

    identity = Recording.identity

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return [self.answer] * len(pairs)  # type: ignore[list-item]


@pytest.mark.parametrize("depth", ROUTES)
@pytest.mark.parametrize(
    "answer",
    [VerifierError("late"), ValueError(), None, Judgement("entailed", float("nan"), 0.0, 0.0),
     Judgement("entailed", 2.0, 0.0, 0.0), Judgement("error", 1.0, 0.0, 0.0),
     Judgement("entailed", 1.0, 0.0, 0.0, truncated=True)],
)  # fmt: skip
def test_a_broken_verifier_brings_no_badge_at_any_depth(depth: str, answer: object) -> None:
    """The label is error or the gate refuses; nothing raises."""
    chunk = chunk_of(LEAVE)
    found = at(depth, candidates_of(LEAVE, [chunk]), Broken(answer))
    assert badges(found, [chunk], LEAVE) == 0


@pytest.mark.parametrize("name", ["near_misses", "fair_claims"])
def test_no_depth_adds_a_badge(name: str) -> None:
    """On every row of the attack fixtures a depth verifies no claim that the plain path does not."""
    rows = [
        json.loads(line)
        for line in (FIXTURES / "attacks" / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]
    claims, candidates, chunks = [], [], []
    for row in rows:
        chunk = chunk_of(row["evidence"], name=row["id"], title=row["title"])
        claim = claim_of(row["claim"], row["id"])
        claims.append(claim)
        chunks.append(chunk)
        candidates += choose_candidates([claim], [chunk], max_spans=20, max_pairs=60)

    def verified(results: Sequence[VerificationResult]) -> set[str]:
        decisions, _ = certify(claims, results, with_selectors(chunks, results), POLICY)
        return {d.claim_id for d in decisions if d.render_state == "VERIFIED"}

    plain = verified(verify_claims(candidates, Recording()))
    found = {depth: verified(at(depth, candidates)) for depth in ROUTES}
    for depth in ROUTES:
        assert found[depth] <= plain
    assert found["LOW"] <= found["MEDIUM"]
    if name == "fair_claims":  # a look that loses every badge would be sound and of no use
        assert len(found["LOW"]) >= 0.97 * len(plain)


def test_the_decision_tree() -> None:
    """Every leaf, and what each toggle and failure does."""
    cases = {
        ("not_enough_info", 0.1, False, (), ()): "NEI",
        ("not_enough_info", 0.1, True, (), ()): "UNSUPPORTED",
        ("not_enough_info", 0.1, True, ("entailed", "not_enough_info"), ()): "PARTIAL",
        ("not_enough_info", 0.1, True, ("entailed", "contradicted"), ()): "CONTRADICTED",
        ("contradicted", 0.1, True, (), ()): "CONTRADICTED",
        ("entailed", 0.9, True, (), ("agree",)): "SUPPORTED",
        ("entailed", 0.85, False, (), ()): "SUPPORTED",
        ("entailed", 0.8499, True, (), ()): "UNSUPPORTED",
        ("entailed", 0.8499, True, ("entailed", "not_enough_info"), ()): "PARTIAL",
        ("entailed", 0.8499, False, (), ()): "NEI",
        ("entailed", None, True, (), ()): "UNSUPPORTED",
        ("entailed", 0.9, True, (), ("agree", "not_found")): "PARTIAL",
        ("entailed", 0.9, True, (), ("not_found", "differ")): "CONTRADICTED",
        ("error", None, True, ("entailed",), ()): "NEI",
    }
    for given, verdict in cases.items():
        assert verdict_of(Opinion(*given)) == verdict, given  # type: ignore[arg-type]
    assert verdict_of(Opinion("not_enough_info", 0.1, False), nei=False) == "UNSUPPORTED"
    assert verdict_of(Opinion("error", None, False), nei=False) == "NEI"


def test_nothing_on_the_topic_is_nei() -> None:
    """UNSUPPORTED is kept for evidence about the matter."""
    canteen = chunk_of("The canteen opens at noon for guests of the year.")
    far = at("MEDIUM", candidates_of(LEAVE, [canteen]))
    near = at("MEDIUM", candidates_of(LEAVE, [chunk_of("Full-time employees receive leave.")]))
    merged = at("MEDIUM", candidates_of(LEAVE, [canteen]), nei=False)
    verdicts = [found[0].verdict for found in (far, near, merged)]
    assert verdicts == ["NEI", "UNSUPPORTED", "UNSUPPORTED"]


def test_partial_names_what_is_missing() -> None:
    """The part without which the evidence would support the claim."""
    evidence = "Tarnbeck opened a plant in Ghent."
    text = "Tarnbeck opened a plant in Ghent because of local demand."
    verifier = Recording()
    (result,) = at("MEDIUM", candidates_of(text, [chunk_of(evidence)]), verifier)
    assert (result.verdict, result.missing_part) == ("PARTIAL", "because of local demand")
    assert result.label == "not_enough_info"
    (high,) = at("HIGH", candidates_of(text, [chunk_of(evidence)]))
    assert high.missing_part == "because of local demand"


@pytest.mark.parametrize(
    "text", ["", "Yes.", "( ,", "and and and", "In 2023, of the,", "x " * 900, "A is in B."]
)
def test_any_text_comes_apart_or_stays_whole(text: str) -> None:
    """Few parts, none empty, and every word of them is the claim's own."""
    parts = parts_of(text)
    assert len(parts) <= MAX_PARTS
    own = set(text.casefold().replace(".", " ").replace(",", " ").split())
    for part in parts:
        words = part.text.casefold().replace(".", " ").replace(",", " ").split()
        assert words
        assert set(words) <= own


def test_routes_must_match_the_claims() -> None:
    """A caller who loses one is told, and no claim is verified by another's route."""
    with pytest.raises(ValueError, match="zip"):
        verify_at_depths(candidates_of(LEAVE, [chunk_of(LEAVE)]), [], Recording())


def test_an_unknown_routing_gets_the_closest_look() -> None:
    """What is none of the three is LOW."""
    candidates = candidates_of(LEAVE, [chunk_of(LEAVE)])
    odd = Route(0.99, "high")  # type: ignore[arg-type]
    assert verify_at_depths(candidates, [odd], Recording())[0].depth == "LOW"
