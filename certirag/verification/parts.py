"""Which part of an unsupported claim is missing: the claim with each part left out, judged again.

Only an opinion for a reader rests on this (PARTIAL and the name of the part), so parts are cut more
boldly than claims are (`claims/split`): a wrong cut costs a better word, never a badge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal

from certirag.claims.split import split_claims
from certirag.core.verdict import Label
from certirag.ports import Judgement, Pair
from certirag.text.tokens import Token, Tokens, clause_verb, render, tokenize
from certirag.text.word_classes import AUXILIARIES, PREPOSITIONS
from certirag.verification.sufficient import ATTACH_TARGET

MAX_PARTS: Final = 4
_OPENS: Final = (PREPOSITIONS - {"of", "than", "as", "per", "due"}) | {
    "and", "or", "but", "because", "when", "if", "unless", "until", "while", "which", "who",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """*words* of a claim and the text that settles whether they are the missing ones.

    ``alone``: *text* states this part only. ``without``: *text* is the claim without the part,
    so that its being supported shows the part to be what is missing.
    """

    kind: Literal["alone", "without"]
    words: str
    text: str


@dataclass(frozen=True, slots=True)
class Missing:
    """The *words* that the evidence leaves unsaid, and the *labels* of the parts for the verdict."""

    words: str
    labels: tuple[Label, ...]


def parts_of(claim: str) -> tuple[Part, ...]:
    """Return the parts of *claim*, at most `MAX_PARTS`; () where it cannot be taken apart."""
    pieces = split_claims(claim)
    if len(pieces) > 1:
        return tuple(Part("alone", piece.text, piece.text) for piece in pieces[:MAX_PARTS])
    tokens = tokenize(claim)
    end = len(tokens) - (bool(tokens) and tokens[-1].text in ".!?")
    front = next((i for i in range(end) if tokens[i].text == ","), -1)
    opening = front if tokens and tokens[0].lower in _OPENS else -1
    verb = clause_verb(tokens[opening + 1 : end])
    if verb < 1:
        return ()
    starts = [i for i in range(opening + 1 + verb + 1, end) if _opens(tokens, i)]
    cuts = [(a, b) for a, b in pairwise([*starts, end]) if b - a > 1]
    if opening > 0:
        cuts.append((0, opening + 1))
    parts = [_without(tokens, a, b, end) for a, b in reversed(cuts)]
    return tuple(part for part in parts if part is not None)[:MAX_PARTS]


def _opens(tokens: Tokens, index: int) -> bool:
    """Say whether a phrase that may be left out begins at *index*."""
    before = tokens[index - 1]
    if before.lower in _OPENS or before.text == ",":
        return False  # the phrase began there already
    if before.lower in AUXILIARIES:
        return False  # without it the verb would have nothing to say
    if tokens[index].text == ",":
        return index + 1 < len(tokens)
    return tokens[index].lower in _OPENS


def _without(tokens: Tokens, start: int, stop: int, end: int) -> Part | None:
    kept: list[Token] = [*tokens[:start], *tokens[stop:end]]
    words = render([t for t in tokens[start:stop] if t.text != ","])
    if len(kept) < 3 or not words:
        return None
    text = render(kept).strip(" ,")
    return Part("without", words, f"{text[:1].upper()}{text[1:]}.")


def part_pairs(parts: Sequence[Part], attached: Pair) -> list[Pair]:
    """Return what the verifier sees of *parts*: each part's text over the claim's own evidence."""
    return [replace(attached, claim=part.text) for part in parts]


def missing_part(parts: Sequence[Part], judgements: Sequence[Judgement]) -> Missing:
    """Return the missing words and what the parts say; no words where no part is supported."""
    held = [j.label == "entailed" and j.entailed >= ATTACH_TARGET for j in judgements]
    if not any(held) or (all(held) and parts[0].kind == "alone"):
        return Missing("", ())
    if parts[0].kind == "alone":
        words = "; ".join(p.words for p, ok in zip(parts, held, strict=True) if not ok)
        labels = tuple(_part_label(j, held=ok) for j, ok in zip(judgements, held, strict=True))
        return Missing(words, labels)
    shown = [p for p, ok in zip(parts, held, strict=True) if ok]
    return Missing(min(shown, key=lambda p: len(p.words)).words, ("entailed", "not_enough_info"))


def _part_label(judgement: Judgement, *, held: bool) -> Label:
    if held:
        return "entailed"
    return "not_enough_info" if judgement.label == "entailed" else judgement.label
