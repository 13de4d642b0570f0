"""Cuts inside a predicate: one subject that does X and does Y; one verb with two figures."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from certirag.claims.antecedent import subject_of
from certirag.text.tokens import (
    Token,
    Tokens,
    clause_verb,
    depths,
    is_figure,
    is_number,
    is_plural,
    supplied,
)
from certirag.text.word_classes import (
    AMBIGUOUS_FORMS,
    AMBIGUOUS_STEMS,
    ANAPHORS,
    AUXILIARIES,
    BASE_FORMS,
    BE,
    DEADLINES,
    DETERMINERS,
    LIMITS,
    MODALS,
    PARTICIPLES,
    PAST_FORMS,
    PAST_ONLY,
    PREPOSITIONS,
    SEQUENCERS,
    SPREADING,
    STEM_OF,
    SUBORDINATORS,
    TEMPORAL,
    word_set,
)

Parts = tuple[Tokens, ...]
_WIDE: Final = LIMITS - frozenset({"only", "solely", "merely"})
_CHAIN: Final = AUXILIARIES | frozenset({"be", "been", "being", "not"})
# An adverb at the head of the second half belongs to it alone.
_OWN_ADVERBS: Final = word_set("usually also normally typically generally often still")
_NEGATIVE: Final = frozenset({"not", "never", "cannot", "no", "nor"})


def cut_predicates(tokens: Tokens) -> Parts:
    """Cut "A does X and does Y" into two claims about A, or return ()."""
    subject = subject_of(tokens)
    if not subject or _some_one_thing(subject, tokens):
        return ()
    inside = depths(tokens)
    verb = clause_verb(tokens)
    for index in range(verb + 2, len(tokens) - 1):
        if tokens[index].lower not in {"and", "but"} or inside[index]:
            continue
        left = tokens[: index - (tokens[index - 1].text == ",")]
        right = tokens[index + 1 :]
        shared = _shared(left, verb, right)
        if shared is None or not _safe(left, verb, right):
            continue
        if (shared or right[0].lower in MODALS) and _late(left, right):
            continue
        rights = [(*supplied(left[: len(subject)]), *supplied(shared), *right)]
        lefts = _comma_verbs(left, verb, shared)
        for extra in reversed(lefts[1:]):
            rights.insert(0, (*supplied(left[: len(subject)]), *supplied(shared), *extra))
        return (lefts[0], *rights)
    return ()


def _some_one_thing(subject: Tokens, tokens: Tokens) -> bool:
    """Say whether "a patient" means one certain patient, whom a second claim would lose."""
    verb = tokens[clause_verb(tokens)].lower
    past = verb in {"was", "were", "had", "did"} or verb in PAST_FORMS
    return subject[0].lower in {"a", "an", "another"} and past


def _shared(left: Tokens, verb: int, right: Tokens) -> Tokens | None:
    """Return the auxiliaries that *right* takes over from *left*; None if it is no predicate."""
    if len(right) > 2 and right[0].lower in _OWN_ADVERBS:
        right = right[1:]
    first = right[0].lower
    following = right[1].lower if len(right) > 1 else ""
    main = left[verb].lower
    if first in AUXILIARIES:
        return () if following not in {"so"} else None
    chain_end = verb
    while chain_end < len(left) and left[chain_end].lower in _CHAIN:
        chain_end += 1
    chain = left[verb:chain_end]
    lexical = left[chain_end].lower if chain_end < len(left) else ""
    if first in STEM_OF and (main in STEM_OF or main in {"is", "has"}):
        clear = first not in AMBIGUOUS_FORMS or following in DETERMINERS
        return () if clear or (len(right) > 1 and is_number(right[1])) else None
    past = main in PAST_FORMS or (main in {"was", "were"} and first in PAST_ONLY)
    if past and first in PAST_FORMS:
        after = left[verb + 1 :]
        reduced = any(t.lower.endswith("ed") or t.lower in PARTICIPLES for t in after)
        direct = following in DETERMINERS or (len(right) > 1 and is_number(right[1]))
        return () if first in PAST_ONLY or direct or not reduced else None
    if not chain or any(token.lower in _NEGATIVE for token in chain):
        return None
    complement = len(left) - chain_end > 2
    if first in PARTICIPLES and lexical in PARTICIPLES and complement and len(right) > 2:
        ends_be = chain[-1].lower in BE | {"be", "been"} or chain[-1].lower in {"has", "have"}
        return chain if ends_be else None
    base = first in BASE_FORMS and first not in AMBIGUOUS_STEMS and lexical in BASE_FORMS
    if base and chain[-1].lower in MODALS and complement and len(right) > 2:
        return chain
    return None


def _safe(left: Tokens, verb: int, right: Tokens) -> bool:
    """Say whether no word of one half governs the other half too."""
    words = {token.lower for token in left[verb:]}
    if words & (SUBORDINATORS - {"before", "after", "than"}) or words & {"to", "both"}:
        infinitive = any(a.lower == "to" and b.lower in BASE_FORMS for a, b in pairwise(left))
        if infinitive or words & (SUBORDINATORS | {"both"}):
            return False
    own_auxiliary = right[0].lower in AUXILIARIES
    spreading = {t.lower for t in left[verb : verb + 3]} & SPREADING
    if spreading - ({"not", "only"} if own_auxiliary or right[0].lower in STEM_OF else set()):
        return False
    if right[0].lower in SEQUENCERS or (len(right) > 1 and right[1].lower in SEQUENCERS - {"not"}):
        return False
    tail = {token.lower for token in right}
    if tail & _WIDE or tail & {"who", "which", "because", "since"}:
        return False
    if any(t.lower in ANAPHORS - {"that"} for t in right):
        return False
    return len(left) - verb > 1 + (left[verb].lower in AUXILIARIES)


def _late(left: Tokens, right: Tokens) -> bool:
    """Say whether only *right* has a deadline, which may hold of *left* as well."""
    dated = any(token.lower in DEADLINES | TEMPORAL for token in left)
    return not dated and any(token.lower in DEADLINES for token in right[1:])


def _comma_verbs(left: Tokens, verb: int, shared: Tokens) -> list[Tokens]:
    """Cut the first half of "A does X, does Y and does Z" at the commas before verbs."""
    pieces: list[Tokens] = []
    start = 0
    for index in range(verb + 2, len(left) - 1):
        if left[index].text != "," or depths(left)[index]:
            continue
        again = _shared(left[:index], verb, left[index + 1 :])
        if again is not None and [t.text for t in again] == [t.text for t in shared]:
            pieces.append(left[start:index])
            start = index + 1
    pieces.append(left[start:])
    return pieces


def cut_figures(tokens: Tokens) -> Parts:
    """Cut "fell by 41% in group A and by 17% in group B" into one claim per figure."""
    verb = clause_verb(tokens)
    subject = subject_of(tokens)
    if verb < 1 or not subject:
        return ()
    inside = depths(tokens)
    words = {token.lower for token in tokens}
    if words & {"between", "from", "respectively", "total", "combined"} or words & _WIDE:
        return ()
    places = [i for i in range(verb, len(tokens)) if tokens[i].lower == "and" and not inside[i]]
    if len(places) != 1 or any(t.text == "," for t in tokens[verb:]):
        return ()
    left, right = tokens[: places[0]], tokens[places[0] + 1 :]
    shape = _figure_shape(right)
    for start in range(verb + 1, len(left)):
        if shape and _figure_shape(left[start:]) == shape:
            return (left, (*supplied(left[:start]), *right))
    return ()


def _figure_shape(tokens: Tokens) -> tuple[str, ...]:
    """Return the outline of "[by] 41% … in …": prepositions kept, figures as #, () if none."""
    body = tokens[:-1] if tokens and tokens[-1].text in ".!" else tokens
    if len(body) < 3 or not any(c.isdigit() for t in body[:3] for c in t.text):
        return ()
    first = body[0]
    if not (first.lower in PREPOSITIONS or is_figure(first)):
        return ()
    if any(t.lower in AUXILIARIES or t.text in ",;" or _is_plain_verb(t) for t in body):
        return ()
    shape = ["#" if is_figure(first) else first.lower]
    places = [t.lower for t in body[1:] if t.lower in PREPOSITIONS - {"of"}]
    if not places:
        return ()
    return (*shape, places[0])


def _is_plain_verb(token: Token) -> bool:
    """Say whether *token* is a verb form that is not also a plural noun."""
    return token.lower in STEM_OF and token.lower not in AMBIGUOUS_FORMS and not is_plural(token)
