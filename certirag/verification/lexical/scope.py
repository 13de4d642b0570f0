"""Scope checks: quantifiers, restrictors and conditions are the same on both sides."""

from __future__ import annotations

from typing import Final

from certirag.verification.lexical.alignment import SAME, match
from certirag.verification.lexical.comparison import CheckFinding, Comparison, borne_out
from certirag.verification.lexical.dropped import used_clauses
from certirag.verification.lexical.lemmas import VERBS
from certirag.verification.lexical.markers import CONDITION_CLASS, UNIVERSAL, word_set
from certirag.verification.lexical.predicate_clauses import Clause, Parsed

_ADVERBS_OF_TIME: Final = word_set("always anytime anywhere everywhere invariably")
_CHECKED_MARKERS: Final = frozenset({"unless", "until", "before", "after"})


def _class_of(comparison: Comparison, number: int) -> str:
    return CONDITION_CLASS.get(comparison.evidence.clauses[number].marker, "")


def quantifiers(comparison: Comparison) -> list[CheckFinding]:
    """All is not most, some is not all, and a bare plural is not all either."""
    findings = []
    claim, evidence = comparison.claim, comparison.evidence
    used = used_clauses(comparison)
    here = [(at, claim.tokens[at].text.lower()) for c in claim.clauses for at in c.quantifiers]
    there = [
        (at, evidence.tokens[at].text.lower())
        for number in used
        for at in evidence.clauses[number].quantifiers
    ]
    negated = any(clause.negations for clause in claim.clauses)
    for at, word in here:
        if word in UNIVERSAL:
            if word == "any" and negated:
                continue
            if not any(_same_scope(comparison, at, p) for p, w in there if w in UNIVERSAL):
                findings.append(CheckFinding("quantifier", f"{word} is not in the evidence"))
        elif word not in {w for _, w in there}:
            findings.append(CheckFinding("quantifier", f"{word} is not in the evidence"))
    stated = {word for _, word in here}
    for position, word in there:
        if word not in UNIVERSAL and word not in stated and _matters(comparison, position):
            findings.append(CheckFinding("quantifier", f"the evidence says {word}"))
    return findings


def _matters(comparison: Comparison, position: int) -> bool:
    """A quantifier counts where the word that it stands before is one that the claim uses."""
    following = _next_carrying(comparison.evidence, position)
    return following < 0 or borne_out(comparison, following)


def _next_carrying(parsed: Parsed, at: int) -> int:
    for ahead in range(at + 1, len(parsed.tokens)):
        if parsed.tokens[ahead].carries:
            return ahead
    return -1


def _same_scope(comparison: Comparison, at: int, position: int) -> bool:
    """Both quantifiers stand before the same noun, or are adverbs."""
    word, other = comparison.claim.tokens[at].text.lower(), comparison.evidence.tokens[position]
    if word in _ADVERBS_OF_TIME or other.text.lower() in _ADVERBS_OF_TIME:
        return word == other.text.lower()
    noun, partner = (
        _next_carrying(comparison.claim, at),
        _next_carrying(comparison.evidence, position),
    )
    if noun < 0 or partner < 0:
        return noun == partner
    figures = comparison.claim.tokens[noun].quantity, comparison.evidence.tokens[partner].quantity
    if all(figures) and word == other.text.lower():
        return True  # "every 8 weeks": the figures are compared elsewhere
    return comparison.partner(noun) == partner


def restrictors(comparison: Comparison) -> list[CheckFinding]:
    """``Only`` and its kin, and before/after/until, stand on both sides or on neither."""
    used = used_clauses(comparison)
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


def conditions(comparison: Comparison) -> list[CheckFinding]:
    """A condition of the claim is a condition of the evidence, of the same sort."""
    findings = []
    for number, clause in enumerate(comparison.claim.clauses):
        if clause.kind != "condition":
            continue
        home = comparison.counterpart(number)
        if home < 0:
            continue
        other = comparison.evidence.clauses[home]
        sort, found = CONDITION_CLASS.get(clause.marker, ""), _class_of(comparison, home)
        if other.kind == "condition":
            agrees = sort == found or {sort, found} <= {"if", "while"}
        else:
            agrees = other.kind in {"relative", "aside"} and sort in {"if", "while"}
            agrees = agrees or _phrase_of_time(comparison, clause, sort)
        if not agrees:
            findings.append(CheckFinding("condition", f"{clause.marker} is not so in the evidence"))
    return findings + _loose_conditions(comparison)


def _phrase_of_time(comparison: Comparison, clause: Clause, sort: str) -> bool:
    """The evidence has the same marker before a noun ("after the last tablet")."""
    return (
        sort in _CHECKED_MARKERS
        and any(
            CONDITION_CLASS.get(token.text.lower()) == sort for token in comparison.evidence.tokens
        )
        and bool(clause.tokens)
    )


def _loose_conditions(comparison: Comparison) -> list[CheckFinding]:
    """What the evidence only supposes may not become what the claim states."""
    used_main = {
        comparison.evidence.clauses[number].kind for number in used_clauses(comparison)
    } - {"condition", "relative"}
    stated = {CONDITION_CLASS.get(t.text.lower(), "") for t in comparison.claim.tokens}
    findings = []
    for number in used_clauses(comparison):
        if comparison.evidence.clauses[number].kind == "relative" and not used_main:
            findings.append(CheckFinding("condition", "the evidence only describes it"))
        if comparison.evidence.clauses[number].kind != "condition":
            continue
        sort = _class_of(comparison, number)
        if not used_main:
            findings.append(CheckFinding("condition", "the evidence only supposes it"))
        elif sort in _CHECKED_MARKERS and sort not in stated:
            findings.append(CheckFinding("condition", f"the evidence says {sort}"))
        elif sort == "if" and "if" not in stated and _main_verb_inside(comparison, number):
            findings.append(CheckFinding("condition", "the evidence only supposes it"))
    return findings


def _main_verb_inside(comparison: Comparison, number: int) -> bool:
    """Say whether a main verb of the claim is borne out inside a condition of the evidence."""
    for clause in comparison.claim.clauses:
        if clause.kind in {"main", "coordinate"} and clause.verb is not None:
            for at in clause.tokens:
                if at < clause.verb or comparison.claim.tokens[at].lemma not in VERBS:
                    continue
                position = comparison.partner(at)
                if position >= 0 and comparison.evidence.clause_of[position] == number:
                    return True
    return False


def binding(comparison: Comparison) -> list[CheckFinding]:
    """One clause of the claim does not mix subject and predicate of two evidence clauses."""
    evidence = comparison.evidence
    findings = []
    for number, clause in enumerate(comparison.claim.clauses):
        home = comparison.counterpart(number)
        if home < 0 or not _stands_alone(evidence, home):
            continue
        near = set(evidence.clauses[home].tokens) | set(evidence.inherited_subject(home))
        for at in clause.tokens:
            position = comparison.partner(at)
            token = comparison.claim.tokens[at]
            if position < 0 or position in near or token.kind == "light":
                continue
            away = evidence.clause_of[position]
            if not _stands_alone(evidence, away) or _also_in(comparison, at, near):
                continue
            if any(evidence.tokens[p].carries for p in evidence.clauses[away].subject()):
                findings.append(CheckFinding("binding", f"{token.text} is said in another clause"))
    return findings[:1]


def _stands_alone(parsed: Parsed, number: int) -> bool:
    clause = parsed.clauses[number]
    return clause.verb is not None and clause.kind in {"main", "coordinate", "contrast"}


def _also_in(comparison: Comparison, at: int, positions: set[int]) -> bool:
    token = comparison.claim.tokens[at]
    return any(
        match(token, comparison.evidence.tokens[position], comparison.similar) >= SAME
        for position in positions
        if comparison.evidence.tokens[position].carries
    )
