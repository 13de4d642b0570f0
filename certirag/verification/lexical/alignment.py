"""Finds, for each word of a claim, the word of an evidence sentence that bears it out.

A comparison is a claim beside one sentence, and what a check has to say of the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from certirag.verification.lexical.aligned_figures import AlignedFigure
from certirag.verification.lexical.lemmas import VERBS, lemma_of, same_family
from certirag.verification.lexical.lexicon import OPPOSITES, SYNONYMS
from certirag.verification.lexical.predicate_clauses import Parsed
from certirag.verification.lexical.word_tokens import WordToken


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim beside one evidence sentence, aligned."""

    claim: Parsed
    evidence: Parsed
    alignment: Alignment

    def partner(self, at: int) -> int:
        """The evidence position of a claim token, or a negative number."""
        return self.alignment.target[at]

    def used(self) -> set[int]:
        """Evidence positions that bear out a word of the claim."""
        return {position for position in self.alignment.target if position >= 0}

    def used_clauses(self) -> set[int]:
        """The numbers of the evidence clauses that bear out a word of the claim."""
        return {self.evidence.clause_of[position] for position in self.used()}

    def counterpart(self, number: int) -> int:
        """The evidence clause that shares most predicate weight with a claim clause, or -1."""
        clause = self.claim.clauses[number]
        votes: dict[int, float] = {}
        for at in clause.tokens:
            position = self.partner(at)
            if position >= 0:
                token = self.claim.tokens[at]
                weight = 2.0 if clause.verb is not None and at >= clause.verb else 1.0
                weight *= 2.0 if token.lemma in VERBS else 1.0
                home = self.evidence.clause_of[position]
                votes[home] = votes.get(home, 0.0) + weight
        return max(votes, key=lambda home: (votes[home], -home)) if votes else -1


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One reason against entailment; *opposes* where the evidence states the contrary."""

    name: str
    detail: str
    opposes: bool = False


Check = Callable[[Comparison], list[CheckFinding]]


def unsaid_verb(comparison: Comparison) -> bool:
    """Say whether a light verb heads a clause of the claim and nothing bears it out."""
    return any(
        clause.verb is not None
        and comparison.claim.tokens[clause.verb].kind == "light"
        and comparison.partner(clause.verb) == UNALIGNED
        for clause in comparison.claim.clauses
    )


def borne_out(comparison: Comparison, position: int) -> bool:
    """Say whether an evidence token is the same as some word of the claim."""
    token = comparison.evidence.tokens[position]
    return any(
        match(other, token) >= SAME
        for other in comparison.claim.tokens
        if other.carries or other.text.lower() == token.text.lower()
    )


def from_context(comparison: Comparison) -> int:
    """How many words of the claim rest on title and headings alone."""
    return sum(1 for position in comparison.alignment.target if position == FROM_CONTEXT)


FROM_CONTEXT: Final = -2
UNALIGNED: Final = -1
WEIGHTS: Final[dict[str, float]] = {"number": 3.0, "name": 2.5, "content": 1.5, "light": 0.4}
SAME: Final = 0.85  # at or above it two words count as the same when leftovers are looked for
_SPELLING: Final = 0.90
_PREFIXES: Final = ("un", "in", "im", "ir", "il", "non", "non-", "dis", "mis")


@dataclass(frozen=True, slots=True)
class Alignment:
    """For each claim token: where it is borne out (position, context or nowhere), how well.

    *opposed* lists (claim position, evidence position) of opposites such as before/after.
    """

    target: tuple[int, ...]
    strength: tuple[float, ...]
    opposed: tuple[tuple[int, int], ...]
    coverage: float


@lru_cache(maxsize=65536)
def opposite(left: str, right: str) -> bool:
    """Say whether two lemmas are opposites, by the list or by a negative prefix."""
    if right in OPPOSITES.get(left, ()):
        return True
    return complementary(left, right)


@lru_cache(maxsize=65536)
def complementary(left: str, right: str) -> bool:
    """Say whether one lemma is the other with a negative prefix (``paid`` and ``unpaid``)."""
    short, long = sorted((left, right), key=len)
    if len(short) < 3 or short == long:
        return False
    return any(
        long.startswith(p) and same_family(lemma_of(long[len(p) :]), short) for p in _PREFIXES
    )


@lru_cache(maxsize=65536)
def _word_match(left: str, right: str) -> float:
    """How far two lemmas state the same: 1 same, less for kin, synonyms and misspellings."""
    if left == right or left.replace("-", "") == right.replace("-", ""):
        return 1.0
    if opposite(left, right):
        return 0.0
    if same_family(left, right):
        return 0.96
    if right in SYNONYMS.get(left, ()):
        return 0.93
    return 0.88 if _misspelt(left, right) else 0.0


def _misspelt(left: str, right: str) -> bool:
    """Say whether two long words differ by a slip only; -er and -ee are no slip."""
    if min(len(left), len(right)) < 7 or left[0] != right[0]:
        return False
    if {left[-2:], right[-2:]} == {"er", "ee"}:
        return False
    return SequenceMatcher(None, left, right, autojunk=False).ratio() >= _SPELLING


def quantity_match(claim: AlignedFigure, evidence: AlignedFigure) -> float:
    """How far two quantities have the same value and unit; comparators are checked elsewhere."""
    if claim.unit == "date" and evidence.unit == "date":
        return _date_match(claim.value, evidence.value)
    if claim.value != evidence.value:
        return 0.0
    if claim.unit == evidence.unit:
        return 1.0
    if not claim.unit or not evidence.unit:
        return 0.9 if claim.unit in {"", "times", "point"} else 0.5
    return 0.0


def _date_match(claim: str, evidence: str) -> float:
    if claim == evidence:
        return 1.0
    if not claim or not evidence:
        return 0.0
    if "ambiguous" in f"{claim} {evidence}":
        return 0.0
    full, part = claim.split("-"), evidence.split("-")
    if len(full) == 3 == len(part) and full[1:] == part[1:] and not full[0]:
        return 0.97  # the claim leaves out the year
    if len(part) >= 2 and len(full) == 2 and part[:2] == full:
        return 0.97  # the claim leaves out the day
    if len(part) >= 2 and len(full) == 2 and not full[0] and part[1] == full[1] and len(part) == 2:
        return 0.97
    return 0.95 if len(full) == 1 and part[0] == full[0] and len(part) > 1 else 0.0


def match(claim: WordToken, evidence: WordToken) -> float:
    """Return how far the evidence token bears out the claim token, in [0, 1]."""
    if claim.quantity or evidence.quantity:
        if claim.quantity and evidence.quantity:
            return quantity_match(claim.quantity, evidence.quantity)
        return 0.0
    if claim.text.lower() == evidence.text.lower():
        return 1.0
    if any(c.isdigit() for c in claim.text + evidence.text):
        return 1.0 if claim.lemma == evidence.lemma else 0.0
    names = (claim.kind == "name") + (evidence.kind == "name")
    if names == 2 or (names and (claim.text.isupper() or evidence.text.isupper())):
        return 1.0 if claim.lemma == evidence.lemma else 0.0
    return _word_match(claim.lemma, evidence.lemma)


def _acronym(claim: WordToken, tokens: tuple[WordToken, ...]) -> int:
    """Position where the tokens spell out the claim's acronym, or UNALIGNED."""
    if not (claim.text.isupper() and claim.text.isalpha() and 2 <= len(claim.text) <= 6):
        return UNALIGNED
    worded = [at for at, token in enumerate(tokens) if token.text[:1].isalpha()]
    initials = "".join(tokens[at].text[0].upper() for at in worded)
    found = initials.find(claim.text)
    return worded[found] if found >= 0 else UNALIGNED


def align(claim: Parsed, evidence: Parsed, context: tuple[WordToken, ...]) -> Alignment:
    """Align greedily: unique partners first, then the partner whose clause is already used."""
    size = len(claim.tokens)
    target, strength = [UNALIGNED] * size, [0.0] * size
    options = _options(claim, evidence)
    used: dict[int, int] = {}
    for at in sorted(options, key=lambda at: (len(options[at]), at)):
        before = [target[b] for b in range(at) if target[b] >= 0]
        near = before[-1] if before else at
        best = max(
            options[at],
            key=lambda o: (
                round(o[1], 2) + 0.05 * (used.get(evidence.clause_of[o[0]], 0) > 0),
                used.get(evidence.clause_of[o[0]], 0),
                -abs(o[0] - near),
                -o[0],
            ),
        )
        target[at], strength[at] = best
        used[evidence.clause_of[best[0]]] = used.get(evidence.clause_of[best[0]], 0) + 1
    opposed = _opposed(claim, evidence, target)
    for at, token in enumerate(claim.tokens):
        if token.carries and target[at] == UNALIGNED:
            spelled = _acronym(token, evidence.tokens)
            if spelled >= 0:
                target[at], strength[at] = spelled, 0.95
            elif _may_come_from_context(claim, at) and not any(o[0] == at for o in opposed):
                found = max((match(token, other) for other in context), default=0.0)
                if found >= SAME or _acronym(token, context) >= 0:
                    target[at], strength[at] = FROM_CONTEXT, 0.97
    return Alignment(tuple(target), tuple(strength), opposed, _coverage(claim, strength))


def _options(claim: Parsed, evidence: Parsed) -> dict[int, list[tuple[int, float]]]:
    found: dict[int, list[tuple[int, float]]] = {}
    for at, token in enumerate(claim.tokens):
        if token.carries:
            scored = [
                (position, match(token, other))
                for position, other in enumerate(evidence.tokens)
                if other.carries or other.text.lower() == token.text.lower()
            ]
            partners = [pair for pair in scored if pair[1] > 0.55]
            if partners:
                found[at] = partners
    return found


def _may_come_from_context(claim: Parsed, at: int) -> bool:
    """Only the subject, a phrase after a preposition, and dates may come from the context."""
    token = claim.tokens[at]
    if token.quantity:
        return token.quantity.unit == "date"
    if token.kind == "name" and all(t.kind in {"name", "stop"} for t in claim.tokens[:at]):
        return True
    clause = claim.clauses[claim.clause_of[at]]
    if clause.verb is not None and at < clause.verb:
        return True
    for back in range(at - 1, max(-1, at - 5), -1):
        lowered = claim.tokens[back].text.lower()
        if lowered in {"of", "for", "in", "under", "at", "from", "per_source", "by"}:
            return True
        if claim.tokens[back].kind in {"modal", "negation", "punctuation"}:
            return False
    return False


def _opposed(claim: Parsed, evidence: Parsed, target: list[int]) -> tuple[tuple[int, int], ...]:
    """Opposites between words that found no partner of their own."""
    taken = {position for position in target if position >= 0}
    pairs = []
    for at, token in enumerate(claim.tokens):
        if target[at] != UNALIGNED or token.kind in {"number", "punctuation"}:
            continue
        for position, other in enumerate(evidence.tokens):
            if position not in taken and opposite(token.lemma, other.lemma):
                pairs.append((at, position))
                break
    return tuple(pairs)


def _coverage(claim: Parsed, strength: list[float]) -> float:
    total = got = 0.0
    for token, found in zip(claim.tokens, strength, strict=True):
        weight = WEIGHTS.get(token.kind, 0.0)
        total += weight
        got += weight * found
    return got / total if total else 0.0
