"""What a claim states, and what support that needs (DESIGN §3; RFC-0004 §6.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from certirag.claims.antecedent import subject_of
from certirag.claims.split import frame_of
from certirag.core.claim import ClaimType, Quantity, RiskClass
from certirag.text.tokens import render, tokenize
from certirag.text.word_classes import NUMBER_WORDS

_HEDGES: Final = re.compile(
    r"\b(?:might|could|perhaps|maybe|possibly|probably|likely|unlikely|reportedly|allegedly|"
    r"apparently|seemingly|presumably|supposedly|appears? to|seems? to|is (?:thought|believed|said|"
    r"expected|estimated) to|are (?:thought|believed|said|expected|estimated) to|suggests? that|"
    r"as far as (?:i|we) (?:can tell|know)|to (?:my|our) knowledge|about|around|approximately|roughly|"
    r"nearly|almost|circa|some \d|in general|generally|typically|usually|often|sometimes)\b",
    re.IGNORECASE,
)
_QUANTITY_HEDGES: Final = frozenset({"about", "around", "nearly", "almost"})
_COMPARISON: Final = re.compile(
    r"\b(?:more|less|fewer|greater|smaller|higher|lower|larger|longer|shorter|faster|slower|better|"
    r"worse|cheaper|stronger|weaker|older|newer|safer|earlier|later|bigger|rather|\w{3,12}er)\s"
    r"(?:[\w’'-]+\s){0,4}?than\s+(?P<than>\S+(?:\s\S+)?)"
    r"|\bcompared (?:with|to)\b|\bin (?:contrast|comparison) (?:to|with)\b|\bversus\b|\bvs\.?\s"
    r"|\bas \w+ as (?:the |an? )?[A-Z]\w+|\boutperform(?:s|ed)?\b|\bunlike\b",
    re.IGNORECASE,
)
# "more than 20 days", "later than June", "than before": a measure of one thing, no second thing.
_ONE_THING: Final = re.compile(
    r"(?:[\d€$£¥(]|half\b|"
    r"a (?:day|week|month|year|quarter|third|half|percent)|an hour|twice|once|expected|planned|ever|"
    r"before|previously|usual|normal|necessary|required|that\b|this\b|january|february|march|april|"
    r"may\b|june|july|august|september|october|november|december|monday|friday|last\b|in\b)",
    re.IGNORECASE,
)
_SCOPE: Final = re.compile(
    r"\b(?:only|solely|exclusively|except|unless|excluding|excluded|excludes?|exempt|limited to|"
    r"applies to|apply to|applied to|applicable|does not apply|do not apply|(?:is|are) not covered|"
    r"(?:do|does) not cover|not eligible|is not valid|provided that|subject to|restricted to|"
    r"regardless of|beyond the scope|assum(?:es|ing)|as long as|extends to|(?:is|are) for "
    r"(?:employees|patients|adults|customers))\b",
    re.IGNORECASE,
)
_HISTORY: Final = re.compile(
    r"\b(?:(?:was|were) (?:founded|established|created|born|launched|introduced|invented|opened|"
    r"built|acquired|replaced|superseded|discovered|formed|incorporated|dissolved|discontinued|"
    r"appointed|first|enrolled|published|signed|approved|completed|released|sold|closed)|"
    r"has been \w+ since|have been \w+ since|since (?:january|february|march|april|may|june|july|"
    r"august|september|october|november|december|(?:19|20)\d\d)|preceded|predates?|succeeded|"
    r"formerly|historically|originally|for the first time|the first (?:\w+ ){0,3}(?:to|was|in))\b",
    re.IGNORECASE,
)
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|began|became|took|fell|rose|grew|left|led|ran|won|lost|sold|bought|"
    r"opened|closed|launched|acquired|founded|ended|started|joined|died|moved|merged|replaced|"
    r"announced|signed|issued|published|completed|reported|increased|decreased|declined)\b",
    re.IGNORECASE,
)
_ATTRIBUTION: Final = re.compile(
    r"^(?:according to\b|as .{2,60}? (?:states|says|notes|reports|puts it)\b)"
    r"|\b(?:states|stated|says|said|reports|reported|notes|noted|announced|claims|claimed|confirmed|"
    r"confirms|explained|argues|argued|found|concluded|wrote) that\b",
    re.IGNORECASE,
)
_DEFINITION: Final = re.compile(
    r"\b(?:is|are) (?:defined as|called (?:an?|the|[A-Z“\"])|known as|short for)|\bmeans\b|\brefers to\b"
    r"|\bstands for\b|^(?:[A-Z][\w-]*\s?){1,4} (?:is|are) an? \w+",
)
_PROCEDURE: Final = re.compile(
    r"\b(?:must|shall|has to|have to|is to be|are to be|should|needs? to)\b"
    r"|\b(?:is|are) (?:requested|reported|submitted|handed|sent|booked|recorded|returned|ordered|"
    r"approved|repeated|signed|completed|filled|notified) (?:to|in|on|by|at|with|within|through|via)\b"
    r"|^(?:call|contact|report|send|submit|complete|press|hold|remove|insert|store|check|ask|take|"
    r"book|record|sign|open|close|turn|use|keep|wash|wait|inform|notify|return|do not|never)\b",
    re.IGNORECASE,
)
_MEASURES: Final = frozenset({"number", "percent", "percentage_point", "currency", "measure"})
_DATES: Final = frozenset({"date", "year", "period"})


def claim_type(text: str, quantities: Sequence[Quantity]) -> ClaimType:
    """Return what *text* states; *quantities* are those that stand in it."""
    kinds = {quantity.kind for quantity in quantities}
    if _ATTRIBUTION.search(text):
        return "attribution"
    if _is_comparison(text):
        return "comparison"
    if _SCOPE.search(text):
        return "scope"
    if kinds & _MEASURES:
        return "numeric_fact"
    if kinds & (_DATES | {"duration"}):
        return "temporal_fact"
    if _PROCEDURE.search(text):
        return "procedure"
    return "definition" if _DEFINITION.search(text) else "fact"


def risk_class(text: str, kind: ClaimType) -> RiskClass:
    """Return the RFC-0004 class that decides how much support *text* needs.

    A comparison of two things and a statement of limits are asked for before chronology, for
    they need the stronger support. A change of one thing over time is no comparison.
    """
    if kind == "comparison" or _is_comparison(text):
        return "comparative_claim"
    if kind == "scope" or _SCOPE.search(text):
        return "scope_claim"
    if _HISTORY.search(text):
        return "historical_claim"
    dated = re.search(r"\b(?:19|20)\d\d\b", text) is not None
    event = dated and _PAST.search(text) is not None and kind == "temporal_fact"
    return "historical_claim" if event else "factual_lit_claim"


def _is_comparison(text: str) -> bool:
    for match in _COMPARISON.finditer(text[:4000]):
        other = match.group("than")
        if other is None:
            return True
        number = re.split(r"\W", other.lower(), maxsplit=1)[0] in NUMBER_WORDS
        if not (number or _ONE_THING.match(other)):
            return True
    return False


def hedges(text: str) -> tuple[str, ...]:
    """Return the words of *text* that make it less than certain, in order, each once.

    "May" is none: it permits as often as it doubts, and a comparison that only may hold needs as
    many pieces of evidence as another.
    """
    found: dict[str, None] = {}
    for match in _HEDGES.finditer(text):
        word = match.group().lower()
        if word in _QUANTITY_HEDGES and not re.match(r"\s*[\d€$£¥a-z]", text[match.end() :]):
            continue
        if word in {"about", "around"} and not re.match(
            r"\s+(?:[\d€$£¥]|a (?:third|quarter|half|dozen|hundred)|half|one|two|three|four|five|"
            r"six|seven|eight|nine|ten|twelve|twenty|thirty)",
            text[match.end() :],
        ):
            continue
        found[match.group().lower().rstrip("0123456789 ")] = None
    return tuple(found)


def plain_fields(text: str, quantities: Sequence[Quantity]) -> dict[str, str | int]:
    """Return what can be read off plainly: the entity, a year, a date, one value, a connective."""
    found: dict[str, str | int] = {}
    tokens = tokenize(text[:2000])
    subject = subject_of(tokens[frame_of(tokens).length :])
    if subject:
        found["entity"] = re.sub(r"^(?:The|An?|the|an?) ", "", render(subject))
    years = [q for q in quantities if q.kind == "year"]
    dates = [q for q in quantities if q.kind in {"date", "period"}]
    if len(years) == 1 and years[0].value.isdigit():
        found["year"] = int(years[0].value)
    if len(dates) == 1:
        found[dates[0].kind] = dates[0].value
    amounts = [q for q in quantities if q.kind in _MEASURES | {"duration"}]
    if len(amounts) == 1 and not amounts[0].high:
        found["value"] = amounts[0].value
        if amounts[0].unit:
            found["unit"] = amounts[0].unit
    connective = re.search(r"\b(?:because|since(?! \d)|therefore)\b", text)
    if connective:
        found["connective"] = connective.group()
    return found
