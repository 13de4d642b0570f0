"""The checks of words: names, quotations, restrictions, opposites, who does it to whom, words not borne out.

Each check names one way in which a claim says other than its evidence. Every finding forbids
a high entailment score; one that *opposes* says besides that the evidence states the contrary.
"""

from __future__ import annotations

import re
from typing import Final

from certirag.verification.lexical.aligned_figures import AlignedFigure
from certirag.verification.lexical.alignment import (
    UNALIGNED,
    CheckFinding,
    Comparison,
    complementary,
)
from certirag.verification.lexical.lemmas import VERBS
from certirag.verification.lexical.markers import CONDITION_CLASS
from certirag.verification.lexical.polarity import rival_dates
from certirag.verification.lexical.predicate_clauses import Clause, Parsed
from certirag.verification.lexical.word_tokens import folded

_QUOTED: Final = re.compile(r'"([^"]{1,200})"')
_CHECKED_MARKERS: Final = frozenset({"unless", "until", "before", "after"})


def quotations(comparison: Comparison) -> list[CheckFinding]:
    """What stands between quotation marks on either side stands on the other side as well."""
    claim, evidence = _squeezed(comparison.claim.text), _squeezed(comparison.evidence.text)
    said = [quote.strip() for quote in _QUOTED.findall(claim)]
    findings = [
        CheckFinding("quotation", f"{quote} is not in the evidence")
        for quote in said
        if quote not in evidence
    ]
    for quote in (quote.strip() for quote in _QUOTED.findall(evidence)):
        touched = any(
            t.carries and t.text.lower() in quote.split() for t in comparison.claim.tokens
        )
        if touched and quote not in claim:
            findings.append(CheckFinding("quotation", f"the evidence quotes {quote}"))
    return findings


def _squeezed(text: str) -> str:
    return " ".join(folded(text).casefold().split())


def restrictors(comparison: Comparison) -> list[CheckFinding]:
    """``Only`` and its kin, and before/after/until, stand on both sides or on neither."""
    used = comparison.used_clauses()
    evidence, claim = comparison.evidence, comparison.claim
    there = {
        _plain(evidence.tokens[at].text.lower())
        for number in used
        for at in evidence.clauses[number].restrictors
    }
    here = {_plain(claim.tokens[at].text.lower()) for c in claim.clauses for at in c.restrictors}
    findings = [
        CheckFinding("restrictor", f"the evidence says {word}") for word in sorted(there - here)
    ]
    everywhere = {_plain(t.text.lower()) for t in evidence.tokens if t.kind == "restrictor"}
    findings += [
        CheckFinding("restrictor", f"{word} is not in the evidence")
        for word in sorted(here - everywhere)
    ]
    stated = {CONDITION_CLASS.get(t.text.lower(), "") for t in claim.tokens}
    found = {CONDITION_CLASS.get(t.text.lower(), "") for t in evidence.tokens}
    findings += [
        CheckFinding("restrictor", f"{word} is not in the evidence")
        for word in sorted((stated - found) & _CHECKED_MARKERS)
    ]
    return findings


def _plain(word: str) -> str:
    return {"solely": "only", "exclusively": "only", "merely": "only", "till": "until"}.get(
        word, word
    )


def names(comparison: Comparison) -> list[CheckFinding]:
    """Every name of the claim stands in the evidence or its context, as often as in the claim."""
    claim = comparison.claim
    places: dict[tuple[int, int], int] = {}
    for at, position in enumerate(comparison.alignment.target):
        if position >= 0 and claim.tokens[at].kind in {"name", "number"}:
            key = (position, claim.clause_of[at])
            places[key] = places.get(key, 0) + 1
    twice = [
        CheckFinding("name", f"{comparison.evidence.tokens[position].text} stands there only once")
        for (position, _), count in places.items()
        if count > 1
    ]
    return twice + [
        CheckFinding("name", f"{token.text} is not in the evidence")
        for at, token in enumerate(comparison.claim.tokens)
        if token.kind == "name" and comparison.partner(at) == UNALIGNED
    ]


def opposites(comparison: Comparison) -> list[CheckFinding]:
    """No word of the claim meets its opposite, unless a negation turns it back."""
    findings = []
    for at, position in comparison.alignment.opposed:
        claim, evidence = comparison.claim.tokens[at], comparison.evidence.tokens[position]
        here = comparison.claim.clauses[comparison.claim.clause_of[at]].negations
        there = comparison.evidence.clauses[comparison.evidence.clause_of[position]].negations
        if complementary(claim.lemma, evidence.lemma) and here % 2 != there % 2:
            continue
        findings.append(
            CheckFinding("opposite", f"{claim.text} against {evidence.text}", opposes=True)
        )
    return findings


def order(comparison: Comparison) -> list[CheckFinding]:
    """Who does it to whom: the two sides of a shared verb or ``than`` are not exchanged."""
    claim, evidence = comparison.claim, comparison.evidence
    for at, token in enumerate(claim.tokens):
        position = comparison.partner(at)
        is_pivot = position >= 0 and _may_be_pivot(claim, at)
        if token.text.lower() == "than":
            thans = [p for p, t in enumerate(evidence.tokens) if t.text.lower() == "than"]
            is_pivot, position = len(thans) == 1, thans[0] if thans else UNALIGNED
        if not is_pivot:
            continue
        here = claim.clauses[claim.clause_of[at]]
        there = evidence.clauses[evidence.clause_of[position]]
        crossed, straight = _crossings(comparison, at, position, here)
        swapped = here.passive != there.passive and token.text.lower() != "than"
        by_agent = _has_agent(claim, here) or _has_agent(evidence, there)
        if swapped and by_agent and straight >= 2 and not crossed:
            return [
                CheckFinding("roles", f"the parts around {token.text} keep places in the passive")
            ]
        if not (swapped and by_agent) and crossed >= 2:
            return [CheckFinding("roles", f"the parts around {token.text} are exchanged")]
    return []


def _may_be_pivot(parsed: Parsed, at: int) -> bool:
    """A known verb, or any word where the list of verbs found none in the clause."""
    token = parsed.tokens[at]
    unknown = parsed.clauses[parsed.clause_of[at]].verb is None
    return token.lemma in VERBS or (unknown and token.kind in {"content", "light"})


def _has_agent(parsed: Parsed, clause: Clause) -> bool:
    return any(parsed.tokens[at].text.lower() == "by" for at in clause.tokens)


def _crossings(comparison: Comparison, at: int, position: int, here: Clause) -> tuple[int, int]:
    """Count aligned nouns that changed the side of the verb, and those that kept it.

    Only sides that hold words before and after the verb count as an exchange.
    """
    crossed: set[tuple[bool, int]] = set()
    straight: set[tuple[bool, int]] = set()
    for other in here.tokens:
        target = comparison.partner(other)
        token = comparison.claim.tokens[other]
        if other == at or target < 0 or token.kind not in {"name", "content"}:
            continue
        if comparison.evidence.clause_of[target] != comparison.evidence.clause_of[position]:
            continue
        if token.lemma in VERBS and token.kind != "name":
            continue
        kept = (other < at) == (target < position)
        (straight if kept else crossed).add((other < at, other))
    both = {side for side, _ in crossed} == {True, False}
    kept_both = {side for side, _ in straight} == {True, False}
    return (len(crossed) if both else 0), (len(straight) if kept_both else int(bool(straight)))


def missing(comparison: Comparison) -> list[CheckFinding]:
    """Content words of the claim that nothing in the evidence bears out."""
    opposed = {at for at, _ in comparison.alignment.opposed}
    return [
        CheckFinding("missing", f"{token.text} is not in the evidence")
        for at, token in enumerate(comparison.claim.tokens)
        if token.kind == "content" and comparison.partner(at) == UNALIGNED and at not in opposed
    ]


# The check of quantities: value, unit, bound and preposition are the same on both sides.


def numbers(comparison: Comparison) -> list[CheckFinding]:
    """Every quantity of the claim stands in the evidence, with unit, comparator, preposition."""
    findings = []
    for at, token in enumerate(comparison.claim.tokens):
        if token.quantity is None:
            continue
        position = comparison.partner(at)
        if position == UNALIGNED and not _is_one(comparison, at):
            rival = _rival(comparison, at, token.quantity)
            findings.append(CheckFinding("number", f"{token.text} is not in the evidence", rival))
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


def _rival(comparison: Comparison, at: int, quantity: AlignedFigure) -> bool:
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


def _same_bounds(
    comparison: Comparison, claim: AlignedFigure, evidence: AlignedFigure
) -> list[CheckFinding]:
    stated, found = claim.comparator, evidence.comparator
    if stated != found and not any({stated, found} <= group for group in _EQUAL_BOUNDS):
        lemmas = {t.lemma for t in comparison.claim.tokens + comparison.evidence.tokens}
        eased = {stated, found} <= {"le", "within", ""} and lemmas & _LIMIT_WORDS
        eased = eased or ({stated, found} <= {"ge", ""} and lemmas & _FLOOR_WORDS)
        if not eased:
            return [CheckFinding("bound", f"{claim.text}: {stated or '='} against {found or '='}")]
    if any({claim.preposition, evidence.preposition} == pair for pair in _APART):
        return [
            CheckFinding(
                "bound", f"{claim.preposition} {claim.text} against {evidence.preposition}"
            )
        ]
    return []
