"""Dictionary forms and word families by small suffix rules."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from certirag.verify.lexical.forms import IRREGULAR, VERBS
from certirag.verify.lexical.synonyms import SYNONYMS

_KNOWN: Final = VERBS | frozenset(SYNONYMS) | frozenset(IRREGULAR.values())
_VOWELS: Final = frozenset("aeiouy")
# Families that look related and are not: members never stand for one another.
_APART: Final = (
    frozenset({"employer", "employee", "employ", "employment"}),
    frozenset({"trainer", "trainee"}),
    frozenset({"payer", "payee"}),
    frozenset({"import", "importance", "important"}),
    frozenset({"organ", "organise", "organisation"}),
    frozenset({"univers", "universe", "university"}),
    frozenset({"part", "party", "partial", "partner"}),
    frozenset({"act", "actual", "actor"}),
    frozenset({"apply", "appliance"}),
    frozenset({"commune", "communist", "community"}),
    frozenset({"general", "generate", "generation"}),
    frozenset({"late", "later", "lately"}),
    frozenset({"hard", "hardly"}),
    frozenset({"short", "shortly"}),
    frozenset({"office", "officer", "official"}),
    frozenset({"firm", "firmer"}),
    frozenset({"person", "personal", "personnel"}),
    frozenset({"new", "newly", "news"}),
    frozenset({"care", "career", "careless", "careful"}),
    frozenset({"use", "useful", "useless"}),
    frozenset({"note", "notice", "notion"}),
    frozenset({"nation", "national", "native"}),
    frozenset({"state", "station", "statement"}),
    frozenset({"depart", "department", "departure"}),
    frozenset({"comply", "complete"}),
    frozenset({"found", "founder"}),
    frozenset({"invent", "inventory"}),
    frozenset({"hospital", "hospitality"}),
)
_SUFFIXES: Final = (
    "isation", "ization", "ations", "ation", "ments", "ment", "ances", "ance", "ences", "ence",
    "ities", "ity", "ness", "ively", "ally", "ional", "ions", "ion", "able", "ible", "ally",
    "ings", "ing", "als", "al", "ers", "er", "ors", "or", "ive", "ise", "ize", "ary", "ory",
    "ful", "ous", "ic", "ed", "es", "ly", "al", "e", "y", "s",
)  # fmt: skip


@lru_cache(maxsize=65536)
def lemma_of(word: str) -> str:
    """Return the dictionary form of *word* in lower case (``policies`` → ``policy``)."""
    lowered = word.lower().strip(".'")
    if lowered in IRREGULAR:
        return IRREGULAR[lowered]
    if len(lowered) <= 3 or not lowered.isascii() or any(c.isdigit() for c in lowered):
        return lowered
    if "-" in lowered:
        head, _, tail = lowered.rpartition("-")
        return f"{head}-{lemma_of(tail)}"
    for ending, restore in (
        ("ies", "y"),
        ("sses", "ss"),
        ("shes", "sh"),
        ("ches", "ch"),
        ("xes", "x"),
        ("zes", "ze"),
    ):
        if lowered.endswith(ending) and len(lowered) > len(ending) + 1:
            return lowered[: -len(ending)] + restore
    if lowered.endswith("s") and not lowered.endswith(("ss", "us", "is")):
        return lowered[:-1]
    if lowered.endswith("ied"):
        return lowered[:-3] + "y"
    for ending in ("ed", "ing"):
        if lowered.endswith(ending) and len(lowered) > len(ending) + 2:
            return _verb_base(lowered[: -len(ending)], lowered)
    return lowered


def _verb_base(stem: str, word: str) -> str:
    """Choose among ``stem``, ``stem+e`` and the undoubled stem: known verbs first."""
    if not _VOWELS & set(stem):
        return word
    undoubled = stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
    for candidate in (stem, stem + "e", undoubled):
        if candidate in _KNOWN:
            return candidate
    if undoubled != stem and stem[-1] not in "lsz":
        return undoubled
    ends_in_e = stem.endswith(
        ("at", "iz", "is", "us", "ur", "in", "ag", "dg", "rg", "ng", "c", "v", "u")
    )
    if ends_in_e and not stem.endswith(("ain", "ein", "oin", "eat", "oat", "ing")):
        return stem + "e"
    return stem


@lru_cache(maxsize=65536)
def stem_of(lemma: str) -> str:
    """Return the part of *lemma* that its word family shares (``approval`` → ``approv``)."""
    stem = lemma
    for _ in range(2):
        for suffix in _SUFFIXES:
            if stem.endswith(suffix) and len(stem) - len(suffix) >= 4:
                stem = stem[: -len(suffix)]
                break
        else:
            break
    if len(stem) > 5:
        stem = stem.removesuffix("s")
    return stem[:-1] + "i" if stem.endswith("y") else stem


@lru_cache(maxsize=65536)
def same_family(left: str, right: str) -> bool:
    """Say whether two lemmas belong to one word family (``approve`` and ``approval``)."""
    if left == right:
        return True
    if any(left in group and right in group for group in _APART):
        return False
    if {left[-2:], right[-2:]} == {"er", "ee"}:
        return False
    negative = ("un", "in", "im", "non", "dis", "ir", "il", "mis", "over", "under", "pre", "post")
    if any(left.startswith(p) != right.startswith(p) for p in negative):
        return False
    stems = stem_of(left), stem_of(right)
    return stems[0] == stems[1] and len(stems[0]) >= 4
