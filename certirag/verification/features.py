"""What the head of the embedded verifier is told of a pair: the network's logits and plain facts.

A small network is unsure where words simply are, or are not, in the evidence; counting is not.
The facts here are cheap and readable: how much of the claim's wording the evidence has, which
figures and names it lacks, whether one of the two denies, and what the word aligner of
`verification/lexical` found. The head (`verification/calibration.py`) weighs them; no single one decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log
from typing import Final

from certirag.text.stems import FUNCTION_WORDS, stem
from certirag.text.word_classes import word_set
from certirag.verification.lexical.scoring import NOTHING, Scores, score, sentences

Logits = tuple[float, float, float]  # entailed, not_enough_info, contradicted

# What each feature may say: the sign of its weight for entailed and for contradicted; 0 is silence.
# A fitted weight may not point the wrong way. Without that the head learns a data set's habits
# (long claims are mostly false here), which do not hold on the next one.
SIGNS: Final[dict[str, tuple[int, int]]] = {
    "support": (1, -1),
    "opposition": (-1, 1),
    "opposition_there": (-1, 1),
    "cover": (1, 0),
    "cover_sentence": (1, 0),
    "uncovered": (-1, 0),
    "bigrams": (1, 0),
    "run": (1, 0),
    "numbers_missing": (-1, 1),
    "names_missing": (-1, 0),
    "denial_differs": (-1, 1),
    "aligned": (1, -1),
    "aligned_against": (-1, 1),
    "reasons_against": (-1, 1),
}
NAMES: Final = tuple(SIGNS)
# What the network that reads makes of the evidence alone, of the passage around it, and the least
# of both. Wording and the word aligner add nothing to it (assets/models/verifier-large, its card).
READING_SIGNS: Final[dict[str, tuple[int, int]]] = {
    "support": (1, -1),
    "support_around": (1, -1),
    "support_least": (1, -1),
    "opposition": (-1, 1),
    "opposition_around": (-1, 1),
    "opposition_least": (-1, 1),
}
READING_NAMES: Final = tuple(READING_SIGNS)
LEAST_COVER: Final = 0.35  # with less in common the word aligner has nothing to align

_WORD: Final = re.compile(r"[^\W_]+(?:[.,:'’-][^\W_]+)*")
_FIGURE: Final = re.compile(r"\d+(?:[.,]\d+)*")
_DENIALS: Final = word_set(
    "no not never none nobody nothing neither nor cannot without hardly barely"
)


@dataclass(frozen=True, slots=True)
class Surface:
    """How the wording of a claim and its evidence compare; shares in [0, 1]."""

    cover: float
    cover_sentence: float
    bigrams: float
    run: float
    numbers_missing: float
    names_missing: float
    denial_differs: float


def adds_no_word(claim: str, evidence: str) -> bool:
    """Say whether every word of *claim*, up to its ending, is one of *evidence*: some left out, or moved."""
    known = {stem(word) for word in _words(evidence)}
    return all(stem(word) in known for word in _words(claim))


def surface(claim: str, evidence: str, context: str = "") -> Surface:
    """Compare the words of *claim* with those of *evidence*.

    Words of the *context* (title and headings) count as there, and its names; its figures and
    its phrases do not: a heading names the subject, the evidence must say what is said of it.
    """
    words, around = _words(claim), _words(evidence)
    content = [stem(word) for word in words if word not in FUNCTION_WORDS] or [
        stem(w) for w in words
    ]
    stems = [stem(word) for word in around]
    known = frozenset(stems) | {stem(word) for word in _words(context)}
    best, denies = _best_sentence(content, evidence)
    own = [stem(word) for word in words]
    pairs = set(pairwise(own))
    figures = _FIGURE.findall(claim)
    there = {figure.replace(",", "") for figure in _FIGURE.findall(evidence)}
    names = [n for n in _names(claim) if stem(n.casefold()) not in known]
    all_names = _names(claim)
    return Surface(
        cover=_share(sum(word in known for word in content), len(content)),
        cover_sentence=best,
        bigrams=_share(len(pairs & set(pairwise(stems))), len(pairs)),
        run=_share(_longest_run(own, stems), len(own)),
        numbers_missing=_share(sum(f.replace(",", "") not in there for f in figures), len(figures)),
        names_missing=_share(len(names), len(all_names)),
        denial_differs=float(_denies(words) != denies),
    )


def aligned(claim: str, evidence: str, context: str, found: Surface) -> Scores:
    """Return what the word aligner says of the pair; nothing where it shares too few words."""
    if found.cover < LEAST_COVER:
        return NOTHING
    return score(claim, evidence, context)


def states_something(text: str) -> bool:
    """Say whether *text* has two different words, one of which carries meaning."""
    words = set(_words(text))
    return len(words) > 1 and bool(words - FUNCTION_WORDS - _DENIALS)


def features(windows: Sequence[Logits], found: Surface, words: Scores) -> tuple[float, ...]:
    """Return the numbers named by `NAMES`, in order, of one pair.

    *windows* are the network's logits of each window of the evidence, at least one; *words* is
    what `aligned` gives. ``support`` and ``opposition`` are the best over windows,
    ``opposition_there`` the opposition of the window that supports best.
    """
    supports = [_margin(entailed, neutral, against) for entailed, neutral, against in windows]
    opposed = [_margin(against, entailed, neutral) for entailed, neutral, against in windows]
    best = max(range(len(windows)), key=lambda at: supports[at])
    return (
        supports[best],
        max(opposed),
        opposed[best],
        found.cover,
        found.cover_sentence,
        float(found.cover < 1.0),
        found.bigrams,
        found.run,
        found.numbers_missing,
        found.names_missing,
        found.denial_differs,
        words.entailed,
        words.contradicted,
        float(min(len(words.findings), 3)),
    )


def reading_features(alone: Sequence[Logits], around: Sequence[Logits]) -> tuple[float, ...]:
    """Return the numbers named by `READING_NAMES`, in order, of one pair.

    *alone* are the reading network's logits of each window of the evidence by itself, *around*
    those of the passage that it stands in, at least one each; of several the strongest counts.
    """
    support = [max(_margin(e, n, c) for e, n, c in windows) for windows in (alone, around)]
    opposed = [max(_margin(c, e, n) for e, n, c in windows) for windows in (alone, around)]
    return (*support, min(support), *opposed, min(opposed))


def _margin(one: float, other: float, third: float) -> float:
    """How far the logit *one* stands above the two others together (their log-sum-exp)."""
    top = max(other, third)
    return one - (top + log(exp(other - top) + exp(third - top)))


def _best_sentence(content: Sequence[str], evidence: str) -> tuple[float, bool]:
    """Return the largest share of *content* that one sentence has, and whether it denies."""
    best, denies = 0.0, False
    for number, sentence in enumerate(sentences(evidence)):
        words = _words(sentence)
        known = {stem(word) for word in words}
        share = _share(sum(word in known for word in content), len(content))
        if share > best or number == 0:
            best, denies = share, _denies(words)
    return best, denies


def _longest_run(own: Sequence[str], others: Sequence[str]) -> int:
    """Return the length of the longest sequence of words that both texts have."""
    places: dict[str, list[int]] = {}
    for at, word in enumerate(others):
        places.setdefault(word, []).append(at)
    best = 0
    before: dict[int, int] = {}
    for word in own:
        now = {at: before.get(at - 1, 0) + 1 for at in places.get(word, ())}
        best = max(best, *now.values()) if now else best
        before = now
    return best


def _words(text: str) -> list[str]:
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text)]


def _names(text: str) -> list[str]:
    """Words with a capital that do not begin the text."""
    return [word for word in _WORD.findall(text)[1:] if word[0].isupper()]


def _denies(words: Sequence[str]) -> bool:
    return any(word in _DENIALS or word.endswith("n't") for word in words)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
