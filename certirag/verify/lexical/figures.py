"""The check of quantities: value, unit, bound and preposition are the same on both sides."""

from __future__ import annotations

from typing import Final

from certirag.verify.lexical.alignment import UNALIGNED
from certirag.verify.lexical.comparison import Comparison, Finding
from certirag.verify.lexical.opposition import rival_dates
from certirag.verify.lexical.quantities import Quantity


def numbers(comparison: Comparison) -> list[Finding]:
    """Every quantity of the claim stands in the evidence, with unit, comparator, preposition."""
    findings = []
    for at, token in enumerate(comparison.claim.tokens):
        if token.quantity is None:
            continue
        position = comparison.partner(at)
        if position == UNALIGNED and not _is_one(comparison, at):
            rival = _rival(comparison, at, token.quantity)
            findings.append(Finding("number", f"{token.text} is not in the evidence", rival))
        elif position >= 0:
            other = comparison.evidence.tokens[position].quantity
            if other is not None:
                findings.extend(_same_bounds(comparison, token.quantity, other))
    return findings


def _is_one(comparison: Comparison, at: int) -> bool:
    """``one quote`` is borne out by ``a quote``."""
    quantity = comparison.claim.tokens[at].quantity
    if quantity is None or quantity.value != "1" or at + 1 >= len(comparison.claim.tokens):
        return False
    position = comparison.partner(at + 1)
    return position > 0 and comparison.evidence.tokens[position - 1].text.lower() in {"a", "an"}


def _rival(comparison: Comparison, at: int, quantity: Quantity) -> bool:
    """Say whether the evidence gives another value of the same unit in the same clause."""
    home = comparison.counterpart(comparison.claim.clause_of[at])
    taken = comparison.used()
    rivals = [
        other.quantity
        for position, other in enumerate(comparison.evidence.tokens)
        if other.quantity is not None
        and position not in taken
        and comparison.evidence.clause_of[position] == home
        and other.quantity.kind == quantity.kind
        and "ambiguous" not in other.quantity.value + quantity.value
    ]
    same = [r for r in rivals if r.comparator == quantity.comparator and r.unit == quantity.unit]
    if quantity.unit == "date":
        has_verb = comparison.claim.clauses[comparison.claim.clause_of[at]].verb is not None
        same = [
            r for r in same if rival_dates(quantity.preposition, r.preposition, has_verb=has_verb)
        ]
    return len(rivals) == 1 == len(same)


_LIMIT_WORDS: Final = frozenset({"limit", "maximum", "max", "exceed", "cap", "most", "highest"})
_FLOOR_WORDS: Final = frozenset({"minimum", "min", "least", "lowest"})
_EQUAL_BOUNDS: Final = ({"", "eq"}, {"le", "within"})
_APART: Final = (
    {"by", "to"}, {"by", "from"}, {"to", "from"}, {"before", "after"}, {"until", "from"},
    {"until", "after"}, {"until", "since"}, {"before", "since"}, {"by", "after"},
    {"till", "from"}, {"before", "from"}, {"until", "on"}, {"after", "on"}, {"before", "on"},
    {"from", "on"}, {"since", "on"},
)  # fmt: skip


def _same_bounds(comparison: Comparison, claim: Quantity, evidence: Quantity) -> list[Finding]:
    stated, found = claim.comparator, evidence.comparator
    if stated != found and not any({stated, found} <= group for group in _EQUAL_BOUNDS):
        lemmas = {t.lemma for t in comparison.claim.tokens + comparison.evidence.tokens}
        eased = {stated, found} <= {"le", "within", ""} and lemmas & _LIMIT_WORDS
        eased = eased or ({stated, found} <= {"ge", ""} and lemmas & _FLOOR_WORDS)
        if not eased:
            return [Finding("bound", f"{claim.text}: {stated or '='} against {found or '='}")]
    if any({claim.preposition, evidence.preposition} == pair for pair in _APART):
        return [
            Finding("bound", f"{claim.preposition} {claim.text} against {evidence.preposition}")
        ]
    return []
