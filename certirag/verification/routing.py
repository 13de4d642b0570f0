"""How sure a claim looks before it is verified, and so how closely it has to be looked at.

Linguistic signals of claim and evidence add up to a confidence (fifth seed, Stage 3 and Gap 1).
The routing picks a depth of verification (`depth`) and nothing else: no threshold, no score and no
rule of the gate knows of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from certirag.claims.classify import hedges
from certirag.core.verdict import Routing, is_score
from certirag.quantities.find import find_figures
from certirag.quantities.match import unmatched_quantities
from certirag.verification.candidates import Candidates
from certirag.verification.lexical.word_tokens import tokenise

# The seed's numbers (Stage 3).
BASE: Final = 0.5
HIGH_THRESHOLD: Final = 0.85
LOW_THRESHOLD: Final = 0.50
STRONG: Final = 0.3
MILD: Final = 0.1
WEAK: Final = -0.2

_QUOTED: Final = re.compile(r"[\"“«]([^\"“”«»]{2,300})[\"”»]|‘([^‘’]{2,300})’(?!\w)")
_HEDGES: Final = re.compile(
    r"\b(?:approximately|around(?=\s+\d)|about(?=\s+\d)|may(?=\s+(?:be|have|lead|cause|reduce))|"
    r"might|possibly|likely|perhaps|probably|seemingly|apparently|reportedly|allegedly)\b",
    re.IGNORECASE,
)
_COMPARED: Final = re.compile(
    r"\b(?:(?:more|less|greater|fewer|higher|lower|larger|smaller|longer|shorter|better|worse) than"
    r"|similar to|compared (?:to|with)|relative to|versus|vs\.?(?=\s)|twice as|as \w+ as)",
    re.IGNORECASE,
)
_DERIVED: Final = re.compile(
    r"\b(?:total(?:l?ing|s|l?ed)|combined|in (?:total|all|sum)|on average|average of|sum of|"
    r"total of|altogether|calculated|computed|estimated|projected|difference (?:of|between))\b",
    re.IGNORECASE,
)
_SUBJECTIVE: Final = re.compile(
    r"\b(?:significant(?:ly)?|substantial(?:ly)?|notabl[ey]|major|considerabl[ey]|remarkabl[ey]|"
    r"impressive(?:ly)?|important(?:ly)?|strong(?:ly)?|dramatic(?:ally)?)\b",
    re.IGNORECASE,
)
_SUPERLATIVE: Final = re.compile(
    r"\b(?:best|worst|largest|smallest|highest|lowest|biggest|greatest|fastest|safest|oldest|"
    r"newest|longest|shortest|strongest|leading|(?<!at )most(?=\s+\w+))\b",
    re.IGNORECASE,
)
_SOURCE: Final = re.compile(
    r"\baccording to\b|\b(?:states|stated|says|said|reports|reported|notes|noted|found|shows|"
    r"announced|confirmed) that\b",
    re.IGNORECASE,
)
_PATTERN: Final = re.compile(
    r"\b(?:was|were) (?:founded|established|created|born|opened|published|signed|appointed|"
    r"acquired|launched|introduced|built) (?:in|on|by|at)\b",
    re.IGNORECASE,
)
_LONGEST: Final = 4_000  # characters that are read of either text; a longer claim is routed LOW


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing that was noticed, what it weighs, and the words it was noticed by."""

    name: str
    weight: float
    words: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """*confidence* in [0, 1] and the depth that it picks, with the *signals* it comes from."""

    confidence: float
    routing: Routing
    signals: tuple[Signal, ...] = ()


# Where the classification is switched off, every claim is verified in full (seed, Appendix B).
UNROUTED: Final = Route(0.3, "LOW")


def route(claim_text: str, evidence_text: str, *, context: str = "") -> Route:
    """Return how confident the wording lets one be that *evidence_text* bears *claim_text* out.

    *context* is the headings over the evidence.
    """
    if len(claim_text) > _LONGEST:
        return Route(0.0, "LOW", (Signal("too long to read", 0.0),))
    signals = list(_raising(claim_text, evidence_text[:_LONGEST], context[:_LONGEST]))
    signals += _lowering(claim_text)
    total = BASE + sum(signal.weight for signal in signals)
    confidence = round(min(1.0, max(0.0, total)), 6)
    return Route(confidence, routing_of(confidence), tuple(signals))


def routing_of(confidence: float) -> Routing:
    """Return the depth for *confidence*; what is no number in [0, 1] gets the closest look."""
    if not is_score(confidence):
        return "LOW"
    if confidence >= HIGH_THRESHOLD:
        return "HIGH"
    return "MEDIUM" if confidence >= LOW_THRESHOLD else "LOW"


def route_claims(candidates: Sequence[Candidates]) -> tuple[Route, ...]:
    """Return one route per claim, read off its text and its best candidate span."""
    return tuple(map(_route_of, candidates))


def _route_of(c: Candidates) -> Route:
    best = max(c.chosen, key=lambda candidate: candidate.share, default=None)
    if best is None:
        return Route(0.0, "LOW", (Signal("no evidence", 0.0),))
    return route(c.claim.text, best.span.sentence, context=best.chunk.context)


def _raising(claim: str, evidence: str, context: str) -> list[Signal]:
    """Return the signals that raise confidence; each needs the evidence to hold what is said."""
    found = []
    quotes = [" ".join((a or b).casefold().split()) for a, b in _QUOTED.findall(claim)]
    said = " ".join(evidence.casefold().split())
    if quotes and all(quote.rstrip(".,;") in said for quote in quotes):
        found.append(Signal("quote", STRONG, quotes[0]))
    figures = find_figures(claim)
    dates = [q for q in figures.quantities if q.kind in ("date", "year", "period")]
    amounts = [q for q in figures.quantities if q not in dates]
    missed = unmatched_quantities(claim, [evidence], context)
    unread = {m.quantity for m in missed}
    if amounts and not unread & set(amounts):
        found.append(Signal("number", STRONG, amounts[0].text))
    if dates and not unread & set(dates):
        found.append(Signal("date", STRONG, dates[0].text))
    theirs = _names(f"{context} | {evidence}")
    names = _names(claim) | (_first(claim) & theirs)
    if names and names <= theirs:
        found.append(Signal("entity", STRONG, sorted(names)[0]))
    source, pattern = _SOURCE.search(claim), _PATTERN.search(claim)
    if source:
        found.append(Signal("source", MILD, source.group()))
    if pattern:
        found.append(Signal("pattern", MILD, pattern.group()))
    return found


def _lowering(claim: str) -> list[Signal]:
    """Return the signals that lower confidence: each hedge, and once each other kind."""
    doubt = dict.fromkeys((*hedges(claim), *(m.lower() for m in _HEDGES.findall(claim))))
    found = [Signal("hedge", WEAK, word) for word in doubt]
    kinds = [("comparison", _COMPARED), ("derived", _DERIVED), ("subjective", _SUBJECTIVE)]
    if not _SOURCE.search(claim):
        kinds.append(("superlative", _SUPERLATIVE))
    for name, pattern in kinds:
        match = pattern.search(claim)
        if match:
            found.append(Signal(name, WEAK, match.group()))
    return found


def _names(text: str) -> frozenset[str]:
    return frozenset(token.lemma.casefold() for token in tokenise(text) if token.kind == "name")


def _first(claim: str) -> frozenset[str]:
    """Return the first word that states something: a name, if the evidence writes it as one."""
    carrying = [token.lemma.casefold() for token in tokenise(claim) if token.carries]
    return frozenset(carrying[:1])
