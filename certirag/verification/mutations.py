"""One small edit at a time that makes a claim false to its evidence (docs/adr/0009).

Only edits are made after which the evidence surely no longer bears the claim out: what the
evidence says elsewhere, a bound that a changed figure would still satisfy, and an edit that
leaves no well-formed claim all rule one out. Deterministic; any text is welcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from certirag.claims.well_formed import problems
from certirag.core.probe import PlantKind
from certirag.verification.mutated_figures import date_edits, number_edits, unit_edits
from certirag.verification.mutated_words import entity_edits, negation_edits
from certirag.verification.mutation import Edit, Surroundings, plain

# Changes whenever the same claim and evidence would get other edits.
PLANTER: Final = "one-edit-1"

_WAYS: Final[dict[PlantKind, Callable[[str, Surroundings], Iterator[Edit]]]] = {
    "number": number_edits,
    "date": date_edits,
    "negation": negation_edits,
    "entity": entity_edits,
    "unit": unit_edits,
}


def edits_of(text: str, around: Surroundings, *, max_tokens: int) -> tuple[Edit, ...]:
    """Return at most one edit of each kind, in the order number, date, negation, entity, unit.

    *max_tokens* is the cap on a claim's words. A claim that is stated word for word in several
    ways keeps no edit that one of them states.
    """
    said = [plain(sentence) for sentence in around.compared]
    found = []
    for way in _WAYS.values():
        for edit in way(text, around):
            changed = edit.applied(text)
            stated = any(plain(changed).rstrip(".") in sentence for sentence in said)
            if not stated and changed != text and not problems(changed, max_tokens=max_tokens):
                found.append(edit)
                break
    return tuple(found)
