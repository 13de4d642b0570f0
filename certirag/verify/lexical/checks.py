"""The checks of words: names, quotations, opposites, who does it to whom, words not borne out.

Each check names one way in which a claim says other than its evidence. Every finding forbids
a high entailment score; one that *opposes* says besides that the evidence states the contrary.
"""

from __future__ import annotations

import re
from typing import Final

from certirag.verify.lexical.alignment import UNALIGNED, complementary
from certirag.verify.lexical.clauses import Clause, Parsed
from certirag.verify.lexical.comparison import Comparison, Finding
from certirag.verify.lexical.forms import VERBS
from certirag.verify.lexical.tokens import folded

_QUOTED: Final = re.compile(r'"([^"]{1,200})"')


def quotations(comparison: Comparison) -> list[Finding]:
    """What stands between quotation marks on either side stands on the other side as well."""
    claim, evidence = _squeezed(comparison.claim.text), _squeezed(comparison.evidence.text)
    said = [quote.strip() for quote in _QUOTED.findall(claim)]
    findings = [
        Finding("quotation", f"{quote} is not in the evidence")
        for quote in said
        if quote not in evidence
    ]
    for quote in (quote.strip() for quote in _QUOTED.findall(evidence)):
        touched = any(
            t.carries and t.text.lower() in quote.split() for t in comparison.claim.tokens
        )
        if touched and quote not in claim:
            findings.append(Finding("quotation", f"the evidence quotes {quote}"))
    return findings


def _squeezed(text: str) -> str:
    return " ".join(folded(text).casefold().split())


def names(comparison: Comparison) -> list[Finding]:
    """Every name of the claim stands in the evidence or its context, as often as in the claim."""
    claim = comparison.claim
    places: dict[tuple[int, int], int] = {}
    for at, position in enumerate(comparison.alignment.target):
        if position >= 0 and claim.tokens[at].kind in {"name", "number"}:
            key = (position, claim.clause_of[at])
            places[key] = places.get(key, 0) + 1
    twice = [
        Finding("name", f"{comparison.evidence.tokens[position].text} stands there only once")
        for (position, _), count in places.items()
        if count > 1
    ]
    return twice + [
        Finding("name", f"{token.text} is not in the evidence")
        for at, token in enumerate(comparison.claim.tokens)
        if token.kind == "name" and comparison.partner(at) == UNALIGNED
    ]


def opposites(comparison: Comparison) -> list[Finding]:
    """No word of the claim meets its opposite, unless a negation turns it back."""
    findings = []
    for at, position in comparison.alignment.opposed:
        claim, evidence = comparison.claim.tokens[at], comparison.evidence.tokens[position]
        here = comparison.claim.clauses[comparison.claim.clause_of[at]].negations
        there = comparison.evidence.clauses[comparison.evidence.clause_of[position]].negations
        if complementary(claim.lemma, evidence.lemma) and here % 2 != there % 2:
            continue
        findings.append(Finding("opposite", f"{claim.text} against {evidence.text}", opposes=True))
    return findings


def order(comparison: Comparison) -> list[Finding]:
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
            return [Finding("roles", f"the parts around {token.text} keep places in the passive")]
        if not (swapped and by_agent) and crossed >= 2:
            return [Finding("roles", f"the parts around {token.text} are exchanged")]
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


def missing(comparison: Comparison) -> list[Finding]:
    """Content words of the claim that nothing in the evidence bears out."""
    opposed = {at for at, _ in comparison.alignment.opposed}
    return [
        Finding("missing", f"{token.text} is not in the evidence")
        for at, token in enumerate(comparison.claim.tokens)
        if token.kind == "content" and comparison.partner(at) == UNALIGNED and at not in opposed
    ]
