"""Cuts inside noun phrases: "X and Y were …", "requires A, B and C", "neither A nor B"."""

from __future__ import annotations

import re
from typing import Final

from certirag.text.tokens import (
    Token,
    Tokens,
    clause_verb,
    depths,
    is_capitalised,
    is_number,
    is_plural,
    new_words,
    supplied,
)
from certirag.text.word_classes import (
    AUXILIARIES,
    BASE_FORMS,
    COLLECTIVE,
    DETERMINERS,
    FIXED_PAIRS,
    LIMITS,
    ORGANISATION_ENDS,
    PARTICIPLES,
    PREPOSITIONS,
    SCOPED_SUBJECTS,
    STEM_OF,
    TEMPORAL,
    third_person,
    word_set,
)

Parts = tuple[Tokens, ...]
_SINGULAR: Final = {"are": "is", "were": "was", "have": "has", "do": "does"}
_LISTING: Final = word_set(
    "requires require required includes include included covers cover covered provides provide "
    "provided offers offer offered supports support supported contains contain contained lists "
    "excludes exclude excluded needs need receives receive received insures insure reimburses"
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d$")
_MODIFIERS: Final = word_set("sales goods savings sports arms news operations systems")


def cut_subjects(tokens: Tokens) -> Parts:
    """Cut "X and Y were …" into one claim each, unless the predicate holds of both together."""
    verb = clause_verb(tokens) if tokens else -1
    if verb < 1:
        verb = _list_verb(tokens)
    if verb < 3:
        return ()
    subject, rest = tokens[:verb], tokens[verb:]
    if subject[0].lower == "both":
        subject = subject[1:]
    items = _items(subject)
    if len(items) < 2 or not _distributes(rest) or not all(map(_is_whole, items)):
        return ()
    if not _alike(items):
        return ()
    named = all(is_capitalised(item[0]) for item in items)
    return tuple(
        (*item, *_agreeing(item, rest, last=i + 1 == len(items), named=named))
        for i, item in enumerate(items)
    )


def _list_verb(tokens: Tokens) -> int:
    """Return the verb of a sentence whose subject is a list with commas, or -1."""
    for index, token in enumerate(tokens):
        if token.lower in AUXILIARIES:
            subject = tokens[:index]
            return index if any(t.lower == "and" for t in subject) else -1
        if token.lower in LIMITS or token.text in ";:":
            return -1
    return -1


def _items(phrase: Tokens) -> tuple[Tokens, ...]:
    """Return the members of "A, B and C"; () when the phrase is no plain list."""
    if any(depths(phrase)) or any(t.lower in {"or", "nor", "but", "between"} for t in phrase):
        return ()
    joins = [i for i, t in enumerate(phrase) if t.lower == "and"]
    if len(joins) != 1:
        return ()
    join = joins[0]
    if join + 1 >= len(phrase) or join == 0 or _is_fixed(phrase[join - 1], phrase[join + 1]):
        return ()
    head, last = phrase[:join], phrase[join + 1 :]
    items: list[Tokens] = []
    start = 0
    for index, token in enumerate(head):
        if token.text == ",":
            items.append(head[start:index])
            start = index + 1
    items.append(head[start:])
    kept = [item for item in (*items, last) if item]
    return tuple(kept)


def _is_fixed(left: Token, right: Token) -> bool:
    pair = (left.lower, right.lower)
    organisation = is_capitalised(left) and right.lower in ORGANISATION_ENDS
    return pair in FIXED_PAIRS or organisation or (is_number(left) and is_number(right))


def _is_whole(item: Tokens) -> bool:
    """Say whether *item* is a noun phrase of its own, with nothing that may belong to all."""
    first = item[0].lower
    if len(item) > 5 or (first in SCOPED_SUBJECTS - {"one"}) or first in {"any", "other"}:
        return False
    if any(t.lower in PREPOSITIONS or t.lower in AUXILIARIES for t in item):
        return False
    if any(t.text in ",;:" or t.lower in {"who", "which", "that", "not"} for t in item):
        return False
    if first in DETERMINERS or is_number(item[0]):
        return len(item) > 1
    name = all(is_capitalised(t) for t in item)
    plural = is_plural(item[-1]) and item[-1].lower not in _MODIFIERS
    return name or plural


def _alike(items: tuple[Tokens, ...]) -> bool:
    """Say whether the members are built alike, so that none modifies the next one's noun."""
    led = [_is_led(item) for item in items]
    if all(led):
        return True
    if any(led):
        return False
    if len(items[0]) == 1 and is_capitalised(items[0][0]) and not is_plural(items[0][0]):
        return all(len(item) == 1 for item in items)
    if all(all(is_capitalised(t) for t in item) for item in items):
        return True
    # "new laptops and phones": what stands before the first noun may belong to all of them
    return all(len(item) == 1 for item in items[:-1]) and all(is_plural(i[-1]) for i in items)


def _is_led(item: Tokens) -> bool:
    owned = any(t.lower.endswith(("'s", "s'")) for t in item)
    return owned or item[0].lower in DETERMINERS or is_number(item[0])


def _distributes(rest: Tokens) -> bool:
    """Say whether the predicate *rest* holds of each member by itself."""
    verb = rest[0].lower
    if verb in {"is", "was", "has", "does"}:
        return False
    if verb in STEM_OF and verb not in BASE_FORMS:
        return False
    words = {token.lower for token in rest}
    if words & COLLECTIVE or words & {"their", "they", "them", "either", "whichever", "combined"}:
        return False
    if rest[0].lower in {"have", "had"} or (len(rest) > 1 and rest[0].lower in {"are", "were"}
                                            and _is_nominal(rest[1:])):  # fmt: skip
        return False
    for index, token in enumerate(rest):
        if is_number(token) and token.lower not in {"one"}:
            # "were founded in 2017" holds of each; "in 57 countries" may be the sum
            near = rest[max(0, index - 3) : index]
            if not (_YEAR.match(token.text) and any(t.lower in TEMPORAL for t in near)):
                return False
        if token.lower in {"a", "an"}:
            return False
    return True


def _is_nominal(predicate: Tokens) -> bool:
    """Say whether the predicate is a noun ("are contacts"), whose number would have to change."""
    words = [t for t in predicate if t.lower not in {"not", "also", "both"}]
    return bool(words) and (
        words[0].lower in DETERMINERS or is_plural(words[0]) or is_number(words[0])
    )


def _agreeing(item: Tokens, rest: Tokens, *, last: bool, named: bool) -> Tokens:
    """Return the predicate with its verb in the number of *item*."""
    kept = rest if last else supplied(rest)
    if is_plural(item[-1]) and not named:
        return kept
    verb = rest[0].lower
    if verb in _SINGULAR:
        return (*new_words(_SINGULAR[verb]), *kept[1:])
    if verb in BASE_FORMS:
        return (*new_words(third_person(verb)), *kept[1:])
    return kept


def cut_objects(tokens: Tokens) -> Parts:
    """Cut "requires A, B and C" into one claim per item, for verbs that hold of each."""
    verb = clause_verb(tokens)
    if verb < 1:
        return ()
    stop = tokens[-1:] if tokens[-1].text in ".!" else ()
    body = tokens[: len(tokens) - len(stop)]
    start = verb
    while start < len(body) and body[start].lower in {"must", "should", "may", "also"}:
        start += 1
    if start >= len(body) or body[start].lower not in _LISTING:
        return ()
    if any(t.lower in SCOPED_SUBJECTS | {"and", "or"} for t in body[:verb]):
        return ()
    items = _items(body[start + 1 :])
    if len(items) < 2 or not all(map(_is_whole, items)) or not _alike(items):
        return ()
    if any(t.lower in COLLECTIVE for t in body):
        return ()
    lead = body[: start + 1]
    return ((*lead, *items[0]), *((*supplied(lead), *item) for item in items[1:-1]),
            (*supplied(lead), *items[-1], *stop))  # fmt: skip


def cut_neither(tokens: Tokens) -> Parts:
    """Turn "neither A nor B" into two negative claims; the negation is never lost."""
    places = [i for i, t in enumerate(tokens) if t.lower == "neither"]
    nors = [i for i, t in enumerate(tokens) if t.lower == "nor"]
    if len(places) != 1 or len(nors) != 1 or nors[0] <= places[0] + 1:
        return ()
    start, nor = places[0], nors[0]
    stop = tokens[-1:] if tokens[-1].text in ".!" else ()
    first, second = tokens[start + 1 : nor], tokens[nor + 1 : len(tokens) - len(stop)]
    if any(t.text in ",;" for t in (*first, *second)):
        return ()
    if start == 0:
        return _negative_subjects(first, second, stop)
    lead = tokens[:start]
    negation = _negated(lead)
    if not negation or not second:
        return ()
    return ((*negation, *first), (*supplied(negation), *second, *stop))


def _negative_subjects(first: Tokens, second: Tokens, stop: Tokens) -> Parts:
    verb = next((i for i, t in enumerate(second) if t.lower in AUXILIARIES), -1)
    if verb < 1 or any(t.lower in COLLECTIVE for t in second[verb:]):
        return ()
    auxiliary, rest = second[verb : verb + 1], second[verb + 1 :]
    own = (*auxiliary, *new_words("not"), *rest, *stop)
    other = (*supplied(auxiliary), *new_words("not"), *supplied(rest))
    return ((*first, *other), (*second[:verb], *own))


def _negated(lead: Tokens) -> Tokens:
    """Return *lead*, which ends in its verb, with "not"; () when the verb is not known."""
    verb = lead[-1].lower
    if verb in AUXILIARIES:
        return (*lead, *new_words("not"))
    if verb in PARTICIPLES and len(lead) > 1 and lead[-2].lower in AUXILIARIES:
        return (*lead[:-1], *new_words("not"), lead[-1])
    if verb in STEM_OF:
        return (*lead[:-1], *new_words(f"does not {STEM_OF[verb]}"))
    if verb in BASE_FORMS and len(lead) > 1 and is_plural(lead[-2]):
        return (*lead[:-1], *new_words(f"do not {verb}"))
    return ()
