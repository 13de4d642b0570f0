"""Finds the words of amount and certainty that a sentence turns on, and what may stand for them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Final

from training.contrast_swap import Edit
from training.contrast_words import listed
from training.rows import RowLabel

# A phrase, what replaces it, the label of the claim with the second, of the claim with the first.
_Turn = tuple[str, str, RowLabel | None, RowLabel | None]
_QUANTITIES: Final[tuple[_Turn, ...]] = (
    ("some", "all", "neutral", None), ("some of", "all of", "neutral", None),
    ("many", "all", "neutral", None), ("most", "all", "neutral", None),
    ("several", "all", "neutral", None), ("most of", "all of", "neutral", None),
    ("many of", "none of", "contradicted", "contradicted"),
    ("all", "some", None, "neutral"), ("all", "most", None, "neutral"),
    ("all of", "none of", "contradicted", "contradicted"), ("every", "no", "contradicted", "contradicted"),
    ("each", "no", "contradicted", "contradicted"), ("all", "no", "contradicted", "contradicted"),
    ("some", "no", "contradicted", "contradicted"), ("at least", "at most", "neutral", "neutral"),
    ("at least", "exactly", "neutral", None), ("up to", "at least", "neutral", "neutral"),
    ("up to", "exactly", "neutral", None), ("at most", "at least", "neutral", "neutral"),
    ("no more than", "at least", "neutral", "neutral"),
    ("more than", "fewer than", "contradicted", "contradicted"),
    ("over", "under", "contradicted", "contradicted"), ("more than", "exactly", "contradicted", "contradicted"),
    ("less than", "more than", "contradicted", "contradicted"),
    ("fewer than", "more than", "contradicted", "contradicted"),
    ("half of", "all of", "neutral", None), ("few", "many", "contradicted", "contradicted"),
    ("a few", "all", "neutral", None), ("both", "neither of the", "contradicted", "contradicted"),
    ("usually", "always", "neutral", None), ("often", "always", "neutral", None),
    ("generally", "always", "neutral", None), ("sometimes", "always", "neutral", None),
    ("always", "sometimes", None, "neutral"), ("always", "never", "contradicted", "contradicted"),
    ("never", "sometimes", "contradicted", "contradicted"), ("mostly", "entirely", "neutral", None),
    ("partly", "entirely", "neutral", None), ("nearly", "more than", "contradicted", "contradicted"),
    ("almost", "more than", "contradicted", "contradicted"), ("one of the", "the only one of the", "neutral", None),
    ("a", "every", "neutral", None),
)  # fmt: skip
_MODES: Final[tuple[_Turn, ...]] = (
    ("may", "must", "neutral", None), ("may", "will", "neutral", None),
    ("might", "will", "neutral", None), ("could", "will", "neutral", None),
    ("can", "must", "neutral", None), ("should", "must", "neutral", None),
    ("may", "must not", "contradicted", "contradicted"), ("can", "cannot", "contradicted", "contradicted"),
    ("must", "need not", "contradicted", "contradicted"), ("will", "may", None, "neutral"),
    ("must", "should", None, "neutral"), ("is allowed to", "is required to", "neutral", None),
    ("are allowed to", "are required to", "neutral", None),
    ("is required to", "is not allowed to", "contradicted", "contradicted"),
    ("is expected to", "is certain to", "neutral", None),
    ("are expected to", "are certain to", "neutral", None),
    ("is likely to", "is certain to", "neutral", None), ("probably", "certainly", "neutral", None),
    ("possibly", "certainly", "neutral", None), ("perhaps", "certainly", "neutral", None),
    ("recommended", "required", "neutral", None), ("planned to", "refused to", "contradicted", "contradicted"),
    ("plans to", "refuses to", "contradicted", "contradicted"), ("tried to", "managed to", "neutral", None),
    ("attempted to", "managed to", "neutral", None), ("wanted to", "managed to", "neutral", None),
    ("hoped to", "managed to", "neutral", None), ("failed to", "managed to", "contradicted", "contradicted"),
    ("refused to", "agreed to", "contradicted", "contradicted"), ("alleged", "proven", "neutral", None),
    ("proposed", "approved", "neutral", None), ("suspected", "confirmed", "neutral", None),
    ("seems to be", "is", "neutral", None), ("believed to be", "proven to be", "neutral", None),
)  # fmt: skip
_TURNS: Final = {
    **{
        turn[0]: [("quantifier", *t) for t in _QUANTITIES if t[0] == turn[0]]
        for turn in _QUANTITIES[:-1]
    },
    **{turn[0]: [("modality", *t) for t in _MODES if t[0] == turn[0]] for turn in _MODES},
}
_TURN: Final = re.compile(
    r"\b(" + "|".join(sorted(map(re.escape, _TURNS), key=len, reverse=True)) + r")(?= [\w$€£])"
)
_NEGATED: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|\w+n't|cannot)\b"
)
_TAKES_NUMBER: Final = frozenset(
    listed("over nearly almost at_least up_to more_than less_than at_most")
)


def turns(text: str, chance: random.Random) -> Iterator[Edit]:
    """Yield an edit for every such word that stands where its replacement reads well."""
    negated = bool(_NEGATED.search(text))
    for match in _TURN.finditer(text):
        old = match[0]
        kind, _, new, forth, back = chance.choice(_TURNS[old])
        after = text[match.end() + 1 :]
        if kind == "modality" and re.match(r"(?:not|never|only|no longer|also|be able)\b", after):
            continue
        number = re.match(
            r"[$€£]?\d|(?:two|three|four|five|six|seven|eight|nine|ten|half)\b", after
        )
        if (old.replace(" ", "_") in _TAKES_NUMBER or new == "exactly") and not number:
            continue
        if old in {
            "some",
            "all",
            "many",
            "most",
            "several",
            "each",
            "every",
            "a few",
            "few",
            "both",
        }:
            if not re.match(r"[a-z]{3,}(?<!ing)", after) or re.match(
                r"(?:of|the|other|time|kind)\b", after
            ):
                continue
            if old == "most" and re.match(r"[a-z]+(?:ly|ed|ful|ous|ive|al|ant|ent|ble)\b", after):
                continue
            if not re.search(r"(?:^|[,;] )$", text[: match.start()]) and new in {"no", "none of"}:
                continue  # "has no X" is fine, but "with no of them" is not: only as a subject
        if negated and (forth == "neutral" or back == "neutral"):
            continue  # below a negation the directions turn round
        yield Edit(kind, old, new, forth, back)
