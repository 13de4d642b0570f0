"""What the wording of a claim asks to be computed: which operation, which way, of what.

The lists are closed on purpose: wording that is not known here asks for nothing, and the claim's
figure stays unexplained.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

from certirag.core.claim import Quantity
from certirag.quantities.figure_tokens import Tokens
from certirag.quantities.figured_sentence import Sentence, token_index
from certirag.quantities.find import qualifier_of, qualifier_start
from certirag.quantities.subject_words import class_of
from certirag.text.word_classes import AUXILIARIES, is_verb_form, word_set

_RISING = word_set(
    "rose rise rises rising risen grew grow grows growing grown growth increase increases increased "
    "increasing climbed climb climbs gained jumped soared up higher more greater larger bigger "
    "longer heavier older taller expanded widened"
)
_FALLING = word_set(
    "fell fall falls falling fallen drop drops dropped dropping decline declines declined declining "
    "decrease decreases decreased decreasing reduce reduces reduced reduction shrank shrunk down "
    "lower lowered less fewer smaller shorter lighter younger cut slipped plunged narrowed"
)
_DEGREES = word_set("high large big long heavy old tall great many much size amount number level")
_SUMMING = word_set(
    "total totals totalled totaled together combined altogether sum aggregate cumulative jointly"
)
_AVERAGING = word_set("average averages averaged averaging mean")
_SHARING = word_set(
    "account accounts accounted represent represents represented share proportion portion "
    "constitute constituted generate generated contribute contributed"
)
_SPANS = word_set("year years annual annually yearly quarterly quarters quarter monthly month months "
                  "half halves period full")  # fmt: skip
_FACTORS = {
    "doubled": 2, "doubling": 2, "tripled": 3, "tripling": 3, "trebled": 3, "trebling": 3,
    "quadrupled": 4, "quadrupling": 4, "halved": Fraction(1, 2), "halving": Fraction(1, 2),
}  # fmt: skip
_SUPPOSED = word_set(
    "not no never cannot without nor neither would could might should must if unless whether will "
    "shall except excluding but than false wrongly instead rather"
)
_CLAIM_SUPPOSED = _SUPPOSED - {"than"}
_OF_BASE = word_set("from than since over versus vs against as that those")
_PREPOSITIONS = word_set(
    "in of at from with who that which on under over aged for by without among between per when "
    "where whose to"
)
_ARTICLES = word_set("the a an all its our their in of for during year")

NEUTRAL = frozenset(
    class_of(word) for word in word_set("company organisation organization figure report reported")
)
CHANGES = frozenset(class_of(word) for word in _RISING | _FALLING)


def is_supposed(sentence: Sentence) -> bool:
    """Say whether the sentence denies, excepts or supposes: then nothing in it is plainly stated.

    "Than" counts: what a sentence compares is not what it says of its own subject.
    """
    asks = sentence.text.rstrip(" \t\n\"”'’)").endswith("?")
    return asks or _holds(sentence, _SUPPOSED)


def claims_plainly(claim: Sentence) -> bool:
    """Say whether the claim neither denies nor supposes (comparing is allowed)."""
    return not _holds(claim, _CLAIM_SUPPOSED)


def _holds(sentence: Sentence, words: frozenset[str]) -> bool:
    return any(
        token.lower in words
        or token.text == "may"
        or token.lower.endswith(("n't", "n’t"))
        or (token.lower == "can")
        for token in sentence.tokens.items
    )


def lowers(sentence: Sentence) -> tuple[str, ...]:
    """Return the lower-case tokens of *sentence*."""
    return sentence.tokens.words(0, len(sentence.tokens.items))


def direction(claim: Sentence) -> int:
    """Return +1 for one word of rising, -1 for one of falling, 0 for none, 2 where unclear."""
    words = lowers(claim)
    up = sum(word in _RISING for word in words)
    down = sum(word in _FALLING for word in words)
    return {(0, 0): 0, (1, 0): 1, (0, 1): -1}.get((up, down), 2)


def subject_words(
    claim: Sentence, operation: str, *, start: int = 0, end: int = -1
) -> frozenset[str]:
    """Return the stems of the claim's subject: its content words without those of *operation*.

    *start* and *end* are offsets that cut out a part of the claim.
    """
    dropped = {
        "sum": _SUMMING | _SPANS,
        "average": _AVERAGING | _SPANS,
        "share": _SHARING,
    }.get(operation, _RISING | _FALLING | _DEGREES | frozenset(_FACTORS))
    stop = len(claim.text) if end < 0 else end
    return (
        frozenset(
            word.stem
            for word in claim.words
            if start <= word.start < stop and word.lower not in dropped
        )
        - NEUTRAL
    )


def asks_sum(claim: Sentence) -> bool:
    """Say whether the claim calls its figure a total."""
    return bool(_SUMMING & set(lowers(claim))) and not asks_average(claim)


def asks_average(claim: Sentence) -> bool:
    """Say whether the claim calls its figure an average."""
    return bool(_AVERAGING & set(lowers(claim)))


def is_annual(claim: Sentence) -> bool:
    """Say whether the claim speaks of a year without naming it ("annual revenue")."""
    words = lowers(claim)
    return "annual" in words or "yearly" in words or ("full", "year") in set(pairwise(words))


def factors(claim: Sentence) -> tuple[Quantity, ...]:
    """Return the multiples that the claim says with a verb ("doubled"), as figures."""
    return tuple(
        Quantity(
            "number",
            token.text,
            token.start,
            token.end,
            str(_FACTORS[token.lower]),
            unit="times",
            qualifier=qualifier_of(claim.tokens, index, index + 1),
        )
        for index, token in enumerate(claim.tokens.items)
        if token.lower in _FACTORS
    )


def is_size(claim: Sentence, figure: Quantity) -> bool:
    """Say whether *figure* is the size of a change or a gap ("rose by $2M", "$2M higher").

    In "revenue was $2M, up from 2023" it is not.
    """
    tokens = claim.tokens
    after = tokens.at(token_index(tokens, figure.end)).lower
    index = qualifier_start(tokens, token_index(tokens, figure.start)) - 1
    while tokens.at(index).lower in ("by", "of", "a", "an", "about", "around", "some"):
        index -= 1
    if after in _RISING | _FALLING or tokens.at(index).lower in _RISING | _FALLING:
        return True
    # "Revenue growth from 2023 to 2024 was 20%", "The increase in revenue … was $2M".
    first = tuple(word for word in tokens.words(0, 3) if word not in ("the", "an", "a"))[:1]
    noun = "growth" in tokens.words(0, index) or first in (("increase",), ("decrease",))
    return noun and tokens.at(index).lower in ("was", "were", "is")


def bases(claim: Sentence) -> tuple[tuple[Quantity, ...], tuple[Quantity, ...]]:
    """Split the dates of the claim into those that it measures from, and the others.

    "From 2022 to 2023", "between 2022 and 2023", "in 2023 compared with 2022", "than in 2022".
    """
    tokens = claim.tokens
    base: list[Quantity] = []
    other: list[Quantity] = []
    for temporal in claim.temporals():
        index = token_index(tokens, temporal.start)
        before = tokens.words(index - 3, 3) if index > 2 else tokens.words(0, index)
        while before and before[-1] in _ARTICLES:
            before = before[:-1]
        last, words = before[-1:], set(before[-2:])
        measured = bool(last and last[0] in _OF_BASE) or last == ("between",)
        measured |= bool(words & {"compared", "relative"}) and last in (("with",), ("to",))
        (base if measured else other).append(temporal)
    return tuple(base), tuple(other)


def pivot(claim: Sentence, figure: Quantity) -> int:
    """Return the offset at which a comparison names what it compares with, or -1.

    "… 40 more employees than | the Gent plant", "three times as many as | …", "twice that | of …".
    """
    tokens = claim.tokens
    after = token_index(tokens, figure.end)
    first = tokens.at(after).lower
    if first in ("that", "those", "the"):
        return tokens.at(after + 1).start
    places = [at for at in range(after, len(tokens.items)) if tokens.at(at).lower == "than"]
    if first == "as":
        places = [at for at in range(after + 1, len(tokens.items)) if tokens.at(at).lower == "as"]
    return tokens.at(places[0] + 1).start if len(places) == 1 else -1


def is_multiple(claim: Sentence, figure: Quantity) -> bool:
    """Say whether *figure* is a multiple in plain form ("twice that", "three times as many").

    "Three times higher" has two readings, so it has none here.
    """
    if figure.unit != "times" and not (figure.unit == "" and figure.value == "0.5"):
        return False
    after = token_index(claim.tokens, figure.end)
    return claim.tokens.at(after).lower in ("that", "those", "the", "as")


def whole_of(claim: Sentence, figure: Quantity) -> tuple[tuple[str, ...], ...]:
    """Return which noun phrases may be the whole of "25% of employees work remotely".

    Each is the stems of the first words behind "of", where what follows is a verb, a date or the
    end: a whole that is narrowed behind its noun ("employees in Berlin", "patients treated with
    it") is none.
    """
    tokens = claim.tokens
    index = token_index(tokens, figure.end)
    if tokens.at(index).lower != "of":
        return ()
    words = [word for word in claim.words if word.start > tokens.at(index).start]
    found = []
    for count in range(1, min(len(words), 4) + 1):
        if _whole_ends(claim, words[count - 1].start, last=count == len(words)):
            found.append(tuple(word.stem for word in words[:count]))
    return tuple(found)


def _whole_ends(claim: Sentence, start: int, *, last: bool) -> bool:
    """Say whether a noun phrase ends with the word at *start*; *last* says no subject follows."""
    tokens = claim.tokens
    index = token_index(tokens, start) + 1
    following = tokens.at(index)
    if following.kind == "end" or following.text in (".", "!"):
        return True
    dates = {q.start for q in claim.temporals()}
    if following.lower in _PREPOSITIONS | {",", "and", "or"}:
        return last and _leads_to(tokens, index + 1, dates)
    # A second verb form would make the first one narrow the noun ("employees hired in May work").
    return _is_verb(following.lower) and not any(
        _is_verb(token.lower) for token in tokens.items[index + 1 :]
    )


def _is_verb(word: str) -> bool:
    return is_verb_form(word) or word.endswith(("ed", "ing")) or word in AUXILIARIES


def _leads_to(tokens: Tokens, index: int, starts: set[int]) -> bool:
    while tokens.at(index).lower in ("the", "fiscal", "year"):
        if tokens.at(index).start in starts:
            return True
        index += 1
    return tokens.at(index).start in starts


# Periods that add up: the quarters of a year, the years of a span, the dates of a list.

MAX_PERIODS = 40
_YEAR = re.compile(r"(FY)?([0-9]{4})")
_QUARTER = re.compile(r"((?:FY)?[0-9]{4}|)-Q([1-4])")


def grain(period: str) -> str:
    """Return the shape of a period value, equal for periods of one length ("2023", "2024")."""
    return re.sub(r"[0-9]", "9", period)


def is_earlier(first: str, second: str) -> bool:
    """Say whether *first* is before *second*; False for periods of different length."""
    return grain(first) == grain(second) and first < second


def wanted_parts(claim: Sentence) -> tuple[tuple[str, ...], ...]:
    """Return the sets of periods of which each would make up the time that the claim names.

    A year is its four quarters or two halves; "from 2022 to 2024" is three years; "2023 and
    2024" are two. () where the claim names no such time, or one that has no known parts.
    """
    temporals = claim.temporals()
    if not temporals:
        return _of_year("") if is_annual(claim) else ()
    values = [q.value for q in temporals]
    if len(values) == 1:
        return _of_year(values[0]) if _YEAR.fullmatch(values[0]) else ()
    base, _ = bases(claim)
    dashed = len(values) == 2 and claim.text[temporals[0].end : temporals[1].start].strip() in (
        "-", "–", "—", "to",
    )  # fmt: skip
    if len(values) == 2 and (dashed or base == (temporals[0],)):
        whole = _between(values[0], values[1])
        return (whole,) if whole else ()
    listed = all(
        re.fullmatch(r"\s*(?:,|and|,\s*and)\s*(?:in\s+)?", claim.text[a.end : b.start])
        for a, b in pairwise(temporals)
    )
    same = len({grain(v) for v in values}) == 1 and len(set(values)) == len(values)
    return (tuple(values),) if listed and same and not base else ()


def _of_year(year: str) -> tuple[tuple[str, ...], ...]:
    quarters = tuple(f"{year}-Q{n}" for n in range(1, 5))
    return quarters, tuple(f"{year}-H{n}" for n in (1, 2))


def _between(first: str, last: str) -> tuple[str, ...]:
    """Return all periods from *first* to *last*, for years and for quarters; () for others."""
    one, two = _YEAR.fullmatch(first), _YEAR.fullmatch(last)
    if one and two and one[1] == two[1]:
        years = range(int(one[2]), int(two[2]) + 1)
        found = tuple(f"{one[1] or ''}{year}" for year in years[: MAX_PERIODS + 1])
        return found if 2 <= len(found) <= MAX_PERIODS else ()
    q_one, q_two = _QUARTER.fullmatch(first), _QUARTER.fullmatch(last)
    if q_one and q_two and q_one[1] == q_two[1] and q_one[2] < q_two[2]:
        return tuple(f"{q_one[1]}-Q{n}" for n in range(int(q_one[2]), int(q_two[2]) + 1))
    return ()
