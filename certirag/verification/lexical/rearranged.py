"""Claims made of the evidence's own words in its own order: a condition moved, a clause left off.

Each form is narrow on purpose: it holds word for word, and only where nothing in the evidence
(a negation, a condition, a limit, a reported statement) could reach over what is left off.
"""

from __future__ import annotations

import re
from typing import Final

from certirag.verification.lexical.lemmas import lemma_of
from certirag.verification.lexical.markers import ATTRIBUTION_VERBS, word_set
from certirag.verification.lexical.word_tokens import folded, tokenise

_FRONTED: Final = re.compile(
    r"(?P<marker>if|when|unless|where|once|after|before) (?P<condition>[^,;:]+), "
    r"(?:then )?(?P<rest>[^,;:]+)"
)
# With one of these in the main clause a condition at its end may belong to a part of it only.
_OPEN_ENDED: Final = word_set("and or but to that who which whose whom while because although") | (
    ATTRIBUTION_VERBS
)
_DETERMINERS: Final = word_set("the a an its their this these")
_AUXILIARIES: Final = word_set("is are was were has have had")
_BINDING: Final = word_set(
    """or but nor that which who whose whom then together respectively both either neither between
    whether as than so yet because though although while"""
)
_REACHING: Final = frozenset({"negation", "modal", "marker", "restrictor", "quantifier"})
_LONGEST_SUBJECT: Final = 6


def says_the_same(claim: str, evidence: str) -> bool:
    """Say whether *claim* is *evidence* with its condition moved or one coordinate part left."""
    said, known = _plain(claim), _plain(evidence)
    return (
        said in {_with_condition_last(known)} - {known}
        or known in {_with_condition_last(said)} - {said}
        or _is_coordinate_part(said, known, evidence)
    )


def _plain(text: str) -> str:
    return " ".join(folded(text).casefold().split()).rstrip(".!; ")


def _with_condition_last(sentence: str) -> str:
    """Turn "if P, Q" to "Q if P"; anything else is returned as it is."""
    found = _FRONTED.fullmatch(sentence)
    if found is None or any(lemma_of(w) in _OPEN_ENDED for w in found["rest"].split()):
        return sentence
    return f"{found['rest']} {found['marker']} {found['condition']}"


def _is_coordinate_part(said: str, known: str, evidence: str) -> bool:
    left, joint, right = known.partition(" and ")
    if not joint or " and " in right or re.search(r"[^\w\s.%€$£'-]", known):
        return False
    tokens = tokenise(evidence)
    if any(t.kind in _REACHING or t.text.lower() in _BINDING for t in tokens):
        return False
    first, second = left.split(), right.split()
    if said == left:
        return _is_clause(second) and any(_form(word) for word in first[1:])
    return _is_second_predicate(said.split(), first, second)


def _is_clause(words: list[str]) -> bool:
    """Say whether *words* open with a subject of their own: a determiner, a noun, a verb "be"."""
    near = words[2:_LONGEST_SUBJECT]
    return bool(words) and words[0] in _DETERMINERS and bool(_AUXILIARIES.intersection(near))


def _is_second_predicate(said: list[str], first: list[str], second: list[str]) -> bool:
    """Say whether the claim is the evidence's subject with the second of its two predicates.

    Both verbs have one form, and the first part holds no other verb: its subject is the one
    that the two share ("hoped the firm sold it and closed the mill" has two).
    """
    size = len(said) - len(second)
    if not 2 <= size < len(first) or size > _LONGEST_SUBJECT:
        return False
    if said[:size] != first[:size] or said[size:] != second:
        return False
    form = _form(first[size])
    if not form or form != _form(second[0]) or said[0] not in _DETERMINERS:
        return False
    return not any(_form(word) for word in first[:size] + first[size + 1 :])


def _form(word: str) -> str:
    """Read the form of a word that may be a finite verb: "s", "ed", irregular, or ""."""
    if word.endswith("ed"):
        return "ed"
    if word in _AUXILIARIES:
        return "auxiliary"
    if word.endswith("s") and not word.endswith(("ss", "us", "'s")) and word.isalpha():
        return "" if word in _DETERMINERS else "s"
    changed = word.isalpha() and lemma_of(word) != word and not word.endswith("ing")
    return "irregular" if changed else ""
