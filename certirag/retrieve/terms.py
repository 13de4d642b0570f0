"""What the two searches read of a chunk, and the terms that BM25 counts in a text."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from certirag.core.text import EvidenceChunk

# A number with its separators is one term; anything else is a run of letters and digits, with
# an apostrophe inside ("employee's", "don't").
_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:'[^\W_]+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_APOSTROPHES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\uff07": "'"})

# Words that say nothing about a topic. Negations, quantifiers and modal verbs are not among
# them: "no", "not", "all", "only", "must" and "may" (also the month) tell passages apart.
_STOP_LIST = """
    a an the this that these those
    i me my we us our you your he him his she her it its they them their
    who whom whose which what when where why how
    am is are was were be been being do does did doing has have had having
    of in on at by to for from with about into onto upon as than
    and or but if then so there here also just please tell give show
    s t d m re ve ll
"""
_STOP_WORDS = frozenset(_STOP_LIST.split())


def search_text(chunk: EvidenceChunk) -> str:
    """Return what a search may read of *chunk*: its context, a newline, its visible text.

    Text that a reader of the page cannot see never decides what is found, as it is never
    evidence: the spans marked invisible are cut out. Lone surrogates become U+FFFD, because
    no tokeniser takes them.
    """
    return clean_text(f"{chunk.context}\n{visible_text(chunk)}")


def visible_text(chunk: EvidenceChunk) -> str:
    """Return ``chunk.text`` without its invisible spans; "" when none of it can be seen."""
    if all(span.visible for span in chunk.spans):
        return chunk.text
    if not any(span.visible for span in chunk.spans):
        return ""
    kept, place = [], 0
    for span in sorted(chunk.spans, key=lambda s: s.start):
        if not span.visible:
            kept.append(chunk.text[place : span.start])
            place = max(place, span.end)
    kept.append(chunk.text[place:])
    return "".join(kept)


def clean_text(text: str) -> str:
    """Return *text* with each lone surrogate replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def terms(text: str) -> tuple[str, ...]:
    """Return the BM25 terms of *text* in order, repeats kept.

    Words are lower-cased, accents and invisible format characters dropped, possessives cut
    and plurals folded (Harman 1991, "How effective is suffixing?", the S-stemmer). Numbers
    stay as they are, except that separators of thousands go: 1,250 and 1250 are one term.
    Stop words are dropped, unless written in capitals ("IT", "US").
    """
    found = []
    for match in _WORD.finditer(_plain(text)):
        word = match.group()
        acronym = len(word) > 1 and word.isupper()
        term = _folded(word.casefold())
        if term and (acronym or term not in _STOP_WORDS):
            found.append(term)
    return tuple(found)


def _plain(text: str) -> str:
    if text.isascii():
        return text
    spread = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES))
    return "".join(c for c in spread if unicodedata.category(c) not in {"Mn", "Cf"})


@lru_cache(maxsize=65_536)
def _folded(word: str) -> str:
    """Return the term of a lower-case *word*; "" when only a possessive was there."""
    if word[0].isdigit():
        return word.replace(",", "") if _THOUSANDS.fullmatch(word) else word
    stem = word[:-2] if word.endswith("'s") else word
    if stem in _STOP_WORDS or len(stem) < 4 or not stem.endswith("s"):
        return stem
    if stem.endswith("ies") and not stem.endswith(("eies", "aies")):
        return stem[:-3] + "y"
    if stem.endswith("es") and not stem.endswith(("aes", "ees", "oes")):
        return _without_sibilant_plural(stem)
    return stem if stem.endswith(("us", "ss", "is")) else stem[:-1]


def _without_sibilant_plural(word: str) -> str:
    # "boxes", "branches", "losses" add a syllable; "expenses", "rates" only the s.
    return word[:-2] if word.endswith(("xes", "ches", "shes", "sses", "zzes")) else word[:-1]
