"""The verifier that ships: a trained network, word alignment and hard checks under one head."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from certirag.adapters.judgements import answered_unasked, refused
from certirag.adapters.pair_model import PairLogits, PairModel
from certirag.core.models import ModelIdentity
from certirag.core.verdict import Label
from certirag.errors import ModelError
from certirag.ports import Judgement, Pair
from certirag.verify.calibration import Calibration, read_calibration
from certirag.verify.features import NAMES, aligned, features, surface
from certirag.verify.guards import guarded
from certirag.verify.lexical.scoring import NOTHING, Scores

NAME: Final = "embedded"
CALIBRATION: Final = "calibration.json"
_LONGEST_NOTE: Final = 120


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of one pair: its *features*, or None and the *answer* that stands.

    *words* is the word alignment, *unread* what of the claim the network has no tokens for.
    """

    features: tuple[float, ...] | None
    words: Scores = NOTHING
    unread: tuple[str, ...] = ()
    answer: Judgement | None = None


class EmbeddedVerifier:
    """Scores pairs with the model in *directory* (Verifier port); no torch, no network.

    Per pair: the network's logits of every window of the evidence, and plain facts of wording,
    become features; a small calibrated head makes three probabilities of them; checks of figures,
    names, denials and scope may then lower the support, never raise it. A pair of which any part
    cannot be read whole has the label ``error``. Scores depend on the pair alone.
    Raises ModelError or MissingExtra on construction.
    """

    def __init__(self, directory: Path, *, threads: int | None = None) -> None:
        self._model = PairModel(directory, threads=threads)
        files = self._model.files
        if CALIBRATION not in files.contents:
            message = f"{directory} has no {CALIBRATION} in its manifest; restore it"
            raise ModelError(message)
        self._calibration: Calibration = read_calibration(
            files.contents[CALIBRATION], features=NAMES, place=str(directory / CALIBRATION)
        )
        self._identity = ModelIdentity("verifier", NAME, files.text("version"), files.sha256)

    @property
    def identity(self) -> ModelIdentity:
        """Name, version and the manifest's digest, which covers weights and calibration."""
        return self._identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return one judgement per pair, in order."""
        measured = measure(self._model, pairs)
        known = [one.features for one in measured if one.features is not None]
        table = np.array(known, dtype=np.float64).reshape(len(known), len(NAMES))
        rows = iter(self._calibration.probabilities(table).tolist() if known else [])
        return tuple(
            one.answer if one.answer is not None else _judgement(pair, one, next(rows))
            for pair, one in zip(pairs, measured, strict=True)
        )


def measure(model: PairModel, pairs: Sequence[Pair]) -> list[Measured]:
    """Return the features of each of *pairs*, or the answer where there is nothing to weigh."""
    unasked = [answered_unasked(pair) for pair in pairs]
    asked = [pair for pair, answer in zip(pairs, unasked, strict=True) if answer is None]
    logits = dict(zip(asked, _logits(model, asked), strict=True))
    return [
        Measured(None, answer=answer) if answer is not None else _measured(pair, logits[pair])
        for pair, answer in zip(pairs, unasked, strict=True)
    ]


def _logits(model: PairModel, pairs: Sequence[Pair]) -> list[PairLogits]:
    """Score the pairs with their headings, unless the headings alone would carry the claim.

    Title and headings tell what a sentence is about; they are not evidence. Where the network
    takes them for it, the evidence has to do without them.
    """
    bare = list(dict.fromkeys(Pair(p.claim, p.context) for p in pairs if _WORD.search(p.context)))
    found = model.logits([*pairs, *bare])
    carried = {
        pair
        for pair, logits in zip(bare, found[len(pairs) :], strict=True)
        if logits.error or any(_supports(window.logits) for window in logits.windows)
    }
    again = [p for p in dict.fromkeys(pairs) if Pair(p.claim, p.context) in carried]
    alone = model.logits([replace(pair, context="") for pair in again])
    instead = dict(zip(again, alone, strict=True))
    return [instead.get(pair, own) for pair, own in zip(pairs, found, strict=False)]


_WORD: Final = re.compile(r"[^\W_]")


def _supports(logits: tuple[float, float, float]) -> bool:
    return logits[0] >= max(logits[1:])


def _measured(pair: Pair, logits: PairLogits) -> Measured:
    if logits.error or not logits.windows:
        reason = logits.error or "the model read nothing of the pair"
        return Measured(None, answer=refused(reason, truncated=logits.truncated))
    found = surface(pair.claim, pair.evidence, pair.context)
    words = aligned(pair.claim, pair.evidence, pair.context, found)
    numbers = features([window.logits for window in logits.windows], found, words)
    return Measured(numbers, words, logits.unread)


def _judgement(pair: Pair, measured: Measured, scores: Sequence[float]) -> Judgement:
    """Apply the guards and round to six places, so that the three sum to one as written."""
    guard = guarded(pair, scores[0], scores[2], measured.words, measured.unread)
    entailed = round(guard.entailed, 6)
    contradicted = round(min(guard.contradicted, 1.0 - entailed), 6)
    rest = round(max(0.0, 1.0 - entailed - contradicted), 6)
    label: Label = "not_enough_info"
    if contradicted >= max(entailed, rest):
        label = "contradicted"
    elif entailed > rest:
        label = "entailed"
    note = (
        guard.reason if len(guard.reason) <= _LONGEST_NOTE else f"{guard.reason[:_LONGEST_NOTE]}…"
    )
    return Judgement(label, entailed, rest, contradicted, note=note)
