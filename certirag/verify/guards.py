"""Hard checks beside the network: they lower a score, with a reason; only the same words raise it.

A network of this size lets a changed figure pass now and then; a check that reads figures does
not. Which kinds of finding are vetoes was measured, see the model card. The checks are those of
`verify/lexical`, which read one sentence at a time: where the support rests on several sentences,
a finding about one of them is no reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from certirag.claim_ir.quantity_match import unmatched_quantities
from certirag.ports import Pair
from certirag.verify.lexical.scoring import REARRANGED, VETO_CEILING, Scores

# Below every shipped threshold and above one half: the pair still counts as likely, unbadged.
DOUBT_CEILING: Final = 0.80
# The network was taught on pairs about one event and takes two sentences about different matters
# for opposed; by itself it may not speak against a claim as the word aligner can.
OPPOSED_ALONE: Final = 0.55
VETOES: Final = frozenset({"number", "negation", "opposite", "superseded", "quantifier", "bound"})
DOUBTS: Final = frozenset(
    {
        "name",
        "modality",
        "condition",
        "restrictor",
        "roles",
        "frame",
        "quotation",
        "row",
        "dropped",
        "sides",
        "joint",
        "binding",
        "tense",
    }
)
# A word that nothing bears out may be a paraphrase, if the network is sure of it.
DOUBTS_UNLESS_SURE: Final = frozenset({"missing"})
SURE: Final = 0.95
# What these find in one sentence is to be expected where the claim joins two.
OF_ONE_SENTENCE: Final = frozenset({"dropped", "name", "roles", "sides", "joint", "restrictor"})


@dataclass(frozen=True, slots=True)
class Guarded:
    """The scores after the checks, and the first *reason* against the claim, or ""."""

    entailed: float
    contradicted: float
    reason: str = ""


def guarded(
    pair: Pair,
    entailed: float,
    contradicted: float,
    words: Scores,
    unread: Sequence[str],
    *,
    needed: int = 1,
) -> Guarded:
    """Return *entailed* and *contradicted* as the checks leave them.

    *words* is the word alignment of the pair, *unread* the words of the claim that the network
    has no tokens for. *needed* is over how many sentences the claim's words are spread.
    Of three or more, the words of nearly any claim can be had: such a set proves nothing.
    """
    if words.entailed >= REARRANGED and not words.findings:
        return Guarded(max(entailed, words.entailed), min(contradicted, 1 - words.entailed))
    contradicted = max(min(contradicted, OPPOSED_ALONE), words.contradicted)
    doubts = DOUBTS
    if entailed < SURE:
        doubts |= DOUBTS_UNLESS_SURE
    elif needed == 2:
        doubts -= OF_ONE_SENTENCE
    doubtful = [f.detail for f in words.findings if f.name in doubts]
    if needed > 2:
        doubtful.append(f"its words are scattered over {needed} sentences")
    for ceiling, reasons in (
        (VETO_CEILING, _vetoes(pair, words, unread)),
        (DOUBT_CEILING, doubtful),
    ):
        if reasons:
            return Guarded(min(entailed, ceiling), contradicted, reasons[0].rstrip(" ."))
    return Guarded(entailed, contradicted)


def _vetoes(pair: Pair, words: Scores, unread: Sequence[str]) -> list[str]:
    found = [finding.detail for finding in words.findings if finding.name in VETOES]
    lines = [pair.evidence]
    found += [missed.reason for missed in unmatched_quantities(pair.claim, lines, pair.context)]
    evidence = pair.evidence.casefold()
    found += [f"{w!r} is not in the evidence" for w in unread if w.casefold() not in evidence]
    return found
