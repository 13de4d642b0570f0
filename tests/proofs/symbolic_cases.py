"""Cases and policies whose numbers are symbolic, and the plain formulas they are held against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations, product
from typing import Any, Final
from unittest.mock import patch

import z3
from gate_cases import CLAIM
from symbolic_run import (
    Double,
    Path,
    SymbolicMath,
    Whole,
    at_most,
    explore,
    fp,
    holds_when,
    less,
    symbolic_max,
    symbolic_min,
    symbolic_type,
)

from certirag.core import policy as policy_module
from certirag.core.claim import Claim
from certirag.core.policy import BASE_RULES, RISK_CLASSES, STRICT_RULES, Policy
from certirag.core.text import ChunkSource, EvidenceChunk, SentenceSpan, SpanRef, sha256_hex
from certirag.core.verdict import Label, SpanScore, VerificationResult
from certirag.render import rules as rules_module
from certirag.render.gate import Case, Finding

LABELS: Final[tuple[Label, ...]] = ("entailed", "contradicted", "not_enough_info", "error")
ALL_RULES: Final = BASE_RULES + STRICT_RULES
TAUS: Final = ("tau_entail", "tau_contradict", "tau_contest")
# The proofs are over up to three scored spans; `test_rules_proved` says why that is enough.
MOST_SPANS: Final = 3


def symbolic_fields(tag: str) -> dict[str, Any]:
    """Return symbolic values for every number of a policy, named after *tag*."""
    return {
        **{tau: Double(f"{tau}.{tag}") for tau in TAUS},
        "max_claim_tokens": Whole(f"max_claim_tokens.{tag}"),
        "class_minimum": {risk: Whole(f"{risk}.{tag}") for risk in RISK_CLASSES},
    }


def unchecked_policy(tag: str, rules: Sequence[str] = ALL_RULES) -> Policy:
    """Return a policy of symbolic numbers past its own check; proofs assume `in_bounds` of it."""
    made = object.__new__(Policy)
    for name, value in {"name": tag, "rules": tuple(rules), **symbolic_fields(tag)}.items():
        object.__setattr__(made, name, value)
    return made


def in_bounds(tag: str) -> z3.BoolRef:
    """Return the bounds of a policy as DESIGN states them; proved to be what Policy enforces."""
    made = unchecked_policy(tag)
    taus = [made.tau_entail, made.tau_contradict, made.tau_contest]
    return z3.And(
        at_most(fp(0.5), fp(taus[0])),
        *(z3.And(less(fp(0.0), fp(tau)), at_most(fp(tau), fp(1.0))) for tau in taus),
        z3.Int(f"max_claim_tokens.{tag}") >= 1,
        z3.Int(f"max_claim_tokens.{tag}") <= 400,
        *(z3.Int(f"{risk}.{tag}") >= 1 for risk in RISK_CLASSES),
    )


def symbolic_case(
    docs: Sequence[str],
    attached: Sequence[int],
    label: Label = "entailed",
    *,
    policy: Policy | None = None,
    claim: Claim = CLAIM,
    numbers: Callable[[str], object] = Double,
) -> Case:
    """Return a case with one scored span for each of *docs*, those at *attached* attached.

    The scores are ``score``, ``without`` and ``entailed.0``, ``neutral.0``, ``contradicted.0``…;
    an attached place beyond *docs* is a span that was never scored.
    """
    chunks = [_chunk(doc, place) for place, doc in enumerate((*docs, "unscored"))]
    scores = tuple(
        SpanScore(
            chunk_id=chunks[place].chunk_id,
            span_id="s1",
            label="entailed",
            score=None,
            entailed=numbers(f"entailed.{place}"),  # type: ignore[arg-type]
            not_enough_info=numbers(f"neutral.{place}"),  # type: ignore[arg-type]
            contradicted=numbers(f"contradicted.{place}"),  # type: ignore[arg-type]
            input_sha256="",
        )
        for place in range(len(docs))
    )
    result = VerificationResult(
        claim_id=claim.id,
        label=label,
        score=numbers("score"),  # type: ignore[arg-type]
        best_evidence=tuple(SpanRef(chunks[place].chunk_id, "s1") for place in attached),
        all_scores=scores,
        score_without=numbers("without"),  # type: ignore[arg-type]
    )
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    return Case(claim, result, by_id, policy or unchecked_policy("p"))


def shapes() -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """Yield documents of up to three spans with each choice of attached ones, one unscored too."""
    for count in range(MOST_SPANS + 1):
        for docs in product("ab", repeat=count):
            for size in range(count + 2):
                for attached in combinations(range(count + 1), size):
                    yield docs, attached


@contextmanager
def followed() -> Iterator[None]:
    """Give the policy's and the rules' module the language's functions for symbolic numbers."""
    of_policy = {"math": SymbolicMath, "type": symbolic_type}
    both = {"max": symbolic_max, "min": symbolic_min}
    with (
        patch.multiple(policy_module, create=True, **of_policy, **both),
        patch.multiple(rules_module, create=True, **both),
    ):
        yield


def passes_when(
    rule: Callable[[Case], Finding], case: Case, assuming: z3.BoolRef | None = None
) -> z3.BoolRef:
    """Return the condition, over all numbers, under which *rule* passes *case*."""
    with followed():
        return holds_when(explore(lambda: rule(case), assuming), _passed)


def sound(name: str) -> z3.BoolRef:
    """Return the formula that the double *name* is a sound score; NaN fails both comparisons."""
    value = z3.Int(name)
    return z3.And(at_most(fp(0.0), value), at_most(value, fp(1.0)))


def at_least(name: str, least: str) -> z3.BoolRef:
    """Return the formula *name* ≥ *least* over doubles."""
    return at_most(z3.Int(least), z3.Int(name))


def below(name: str, limit: str) -> z3.BoolRef:
    """Return the formula *name* < *limit* over doubles."""
    return less(z3.Int(name), z3.Int(limit))


def _passed(path: Path) -> bool:
    return path.error is None and path.value.passed is True


def _chunk(doc: str, place: int) -> EvidenceChunk:
    text = f"Sentence {place} of the document."
    source = ChunkSource(doc, f"{doc}.md", "", sha256_hex(doc))
    span = SentenceSpan("s1", 0, len(text), text)
    return EvidenceChunk(f"{doc}#{place}", doc, text, sha256_hex(text), source, (span,))
