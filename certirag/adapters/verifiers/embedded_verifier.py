"""The verifiers that ship: a small network with word alignment and checks, and one that reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from certirag.adapters.networks.pair_model import (
    PairLogits,
    PairModel,
    answered_unasked,
    refused,
    shared_pair_model,
)
from certirag.core.generation import ModelIdentity
from certirag.core.verdict import Label
from certirag.errors import ModelError
from certirag.ports import Judgement, Pair
from certirag.quantities.compare import in_its_notation
from certirag.quantities.figured_sentence import read_sentence
from certirag.verification.calibration import Calibration, read_calibration
from certirag.verification.features import (
    NAMES,
    READING_NAMES,
    Surface,
    aligned,
    features,
    reading_features,
    states_something,
    surface,
)
from certirag.verification.lexical.scoring import NOTHING, Scores
from certirag.verification.vetoes import Guarded, checked_exactly, guarded, is_quoted

NAME: Final = "embedded"
# Two heads: in a sentence the network sees all there is to see, in a passage counted words know
# more than it does. Each is calibrated by itself.
CALIBRATIONS: Final = {"sentence": "calibration.json", "passage": "calibration_passage.json"}
JOINED_SHARE: Final = 0.2  # of the claim's content words
PASSAGE_WORDS: Final = 45  # evidence of more words is a passage
_LONGEST_NOTE: Final = 120
# Log-odds below which the evidence says nothing on a claim.
_NO_SUPPORT: Final = -3.0
_NO_OPPOSITION: Final = -1.0


@dataclass(frozen=True, slots=True)
class MeasuredPair:
    """What was measured of one pair: its *features*, or None and the *answer* that stands.

    *words* is the word alignment, *unread* what of the claim the network has no tokens for,
    *needed* is how many sentences the evidence has, 1 if one has nearly as much as all of it.
    """

    features: tuple[float, ...] | None
    words: Scores = NOTHING
    unread: tuple[str, ...] = ()
    needed: int = 1
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
        self._calibrations: dict[str, Calibration] = {}
        for kind, name in CALIBRATIONS.items():
            if name not in files.contents:
                message = f"the manifest in {directory} lists no {name}; restore it"
                raise ModelError(message)
            self._calibrations[kind] = read_calibration(
                files.contents[name], features=NAMES, place=str(directory / name)
            )
        self._identity = ModelIdentity("verifier", NAME, files.text("version"), files.sha256)

    @property
    def identity(self) -> ModelIdentity:
        """Name, version and the manifest's digest, which covers weights and calibration."""
        return self._identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return one judgement per pair, in order."""
        pairs = as_evidence_writes(pairs)
        return tuple(
            _judgement(pair, one, self._probabilities(pair, one))
            for pair, one in zip(pairs, measure(self._model, pairs), strict=True)
        )

    def _probabilities(self, pair: Pair, measured: MeasuredPair) -> Sequence[float]:
        if measured.features is None:
            return ()
        calibration = self._calibrations[evidence_kind(pair.evidence)]
        table = np.array([measured.features], dtype=np.float64)
        scores: list[float] = calibration.probabilities(table)[0].tolist()
        return scores


class ReadingVerifier:
    """Scores pairs with the larger network in *directory* (Verifier port), as the gate asks them.

    It reads a claim twice: against the evidence, and against the passage that the evidence stands
    in, for what stands beside a sentence may take it back; a sentence of the passage that fits no
    window is read in parts. A calibrated head over both makes the
    scores, and what is exact may then lower them. A claim that is its evidence word for word needs
    no network. It costs several times as much as `EmbeddedVerifier`, so a cascade asks it where
    that one sees anything at all. Raises ModelError or MissingExtra on construction.
    """

    def __init__(self, directory: Path) -> None:
        self._model = shared_pair_model(directory)
        files = self._model.files
        name = CALIBRATIONS["sentence"]
        if name not in files.contents:
            message = f"the manifest in {directory} lists no {name}; restore it"
            raise ModelError(message)
        self._calibration = read_calibration(
            files.contents[name], features=READING_NAMES, place=str(directory / name)
        )
        self._identity = ModelIdentity("verifier", "reading", files.text("version"), files.sha256)

    @property
    def identity(self) -> ModelIdentity:
        """Name, version and the manifest's digest, which covers weights and calibration."""
        return self._identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return one judgement per pair, in order."""
        pairs = as_evidence_writes(pairs)
        return tuple(
            one.answer or self._judgement(pair, one)
            for pair, one in zip(pairs, measure_reading(self._model, pairs), strict=True)
        )

    def _judgement(self, pair: Pair, measured: MeasuredPair) -> Judgement:
        table = np.array([measured.features], dtype=np.float64)
        entailed, _, contradicted = self._calibration.probabilities(table)[0].tolist()
        _, words = _wording(pair)
        return _rounded(checked_exactly(pair, entailed, contradicted, words, measured.unread))


def as_evidence_writes(pairs: Sequence[Pair]) -> list[Pair]:
    """Return *pairs* with each claim's measures and dates written as its evidence writes them.

    No network of this size reckons that two years are 24 months; rule 4 of the gate, which compares
    the figures of the claim as it stands, does.
    """
    return [
        replace(
            pair, claim=in_its_notation(read_sentence(pair.claim), read_sentence(pair.evidence))
        )
        for pair in pairs
    ]


def measure_reading(model: PairModel, pairs: Sequence[Pair]) -> list[MeasuredPair]:
    """Return what the reading network makes of each of *pairs*, or the answer that stands."""
    unasked = [_unasked(pair) or _quoted(pair) for pair in pairs]
    asked = [pair for pair, answer in zip(pairs, unasked, strict=True) if answer is None]
    alone = _logits(model, asked)
    told = [at for at, logits in enumerate(alone) if _tells(logits)]
    passages = [replace(asked[at], evidence=asked[at].window or asked[at].evidence) for at in told]
    around = dict(zip(told, _logits(model, passages, in_parts=True), strict=True))
    read = {
        pair: (own, around.get(at, own))
        for at, (pair, own) in enumerate(zip(asked, alone, strict=True))
    }
    return [
        MeasuredPair(None, answer=answer) if answer is not None else _read(*read[pair])
        for pair, answer in zip(pairs, unasked, strict=True)
    ]


def _tells(logits: PairLogits) -> bool:
    """Say whether the evidence by itself says anything on the claim, so that the passage is read.

    Of 18,418 pairs of cases kept from training this leaves out 29 %: read in their passages too, none of
    them is supported with more than 0.31 or opposed with more than 0.40.
    """
    if logits.error or not logits.windows:
        return True
    own = [window.logits for window in logits.windows]
    found = dict(zip(READING_NAMES, reading_features(own, own), strict=True))
    return found["support"] >= _NO_SUPPORT or found["opposition"] >= _NO_OPPOSITION


def _read(alone: PairLogits, around: PairLogits) -> MeasuredPair:
    for logits in (alone, around):
        if logits.error or not logits.windows:
            reason = logits.error or "the model read nothing of the pair"
            return MeasuredPair(None, answer=refused(reason, truncated=logits.truncated))
    own, whole = ([window.logits for window in logits.windows] for logits in (alone, around))
    return MeasuredPair(reading_features(own, whole), unread=alone.unread)


def evidence_kind(evidence: str) -> str:
    """Return which of `CALIBRATIONS` reads *evidence*: ``sentence`` or ``passage``."""
    return "passage" if len(evidence.split()) > PASSAGE_WORDS else "sentence"


def measure(model: PairModel, pairs: Sequence[Pair]) -> list[MeasuredPair]:
    """Return the features of each of *pairs*, or the answer where there is nothing to weigh."""
    unasked = [_unasked(pair) for pair in pairs]
    asked = [pair for pair, answer in zip(pairs, unasked, strict=True) if answer is None]
    with ThreadPoolExecutor(
        1
    ) as beside:  # the network needs no interpreter; words need nothing else
        found = beside.submit(_logits, model, asked)
        wording = {pair: _wording(pair) for pair in asked}
        logits = dict(zip(asked, found.result(), strict=True))
    return [
        MeasuredPair(None, answer=answer)
        if answer is not None
        else _measured(pair, logits[pair], *wording[pair])
        for pair, answer in zip(pairs, unasked, strict=True)
    ]


@lru_cache(maxsize=4096)  # both networks of a cascade are told the same of a pair
def _wording(pair: Pair) -> tuple[Surface, Scores]:
    found = surface(pair.claim, pair.evidence, pair.context)
    return found, aligned(pair.claim, pair.evidence, pair.context, found)


def forget_wording() -> None:
    """Forget what the word aligner said of a pair: for measurements with other checks."""
    _wording.cache_clear()


def _unasked(pair: Pair) -> Judgement | None:
    """Return what stands without the model: limits, blanks, and texts that state nothing."""
    answer = answered_unasked(pair)
    if answer is None and not (states_something(pair.claim) and states_something(pair.evidence)):
        return Judgement("not_enough_info", 0.0, 1.0, 0.0)
    return answer


def _quoted(pair: Pair) -> Judgement | None:
    """Return what stands of a claim that is its evidence word for word: no network is needed."""
    _, words = _wording(pair)
    if not is_quoted(pair, words):
        return None
    return Judgement("entailed", words.entailed, round(1 - words.entailed, 6), 0.0)


def _logits(model: PairModel, pairs: Sequence[Pair], *, in_parts: bool = False) -> list[PairLogits]:
    """Score the pairs with their headings, unless the headings alone would carry the claim.

    Title and headings tell what a sentence is about; they are not evidence. Where the network
    takes them for it, the evidence has to do without them.
    """
    bare = list(dict.fromkeys(Pair(p.claim, p.context) for p in pairs if _WORD.search(p.context)))
    found = model.logits(pairs, in_parts=in_parts)
    carried = {
        pair
        for pair, logits in zip(bare, model.logits(bare), strict=True)
        if logits.error or any(_supports(window.logits) for window in logits.windows)
    }
    again = [p for p in dict.fromkeys(pairs) if Pair(p.claim, p.context) in carried]
    alone = model.logits([replace(pair, context="") for pair in again], in_parts=in_parts)
    instead = dict(zip(again, alone, strict=True))
    return [instead.get(pair, own) for pair, own in zip(pairs, found, strict=True)]


_WORD: Final = re.compile(r"[^\W_]")


def _supports(logits: tuple[float, float, float]) -> bool:
    return logits[0] >= max(logits[1:])


def _measured(pair: Pair, logits: PairLogits, found: Surface, words: Scores) -> MeasuredPair:
    if logits.error or not logits.windows:
        reason = logits.error or "the model read nothing of the pair"
        return MeasuredPair(None, answer=refused(reason, truncated=logits.truncated))
    numbers = features([window.logits for window in logits.windows], found, words)
    spread = found.cover - found.cover_sentence >= JOINED_SHARE
    # Spans are joined by line ends, and items of a list end with no full stop.
    parts = max(len(logits.sentences), len(pair.evidence.splitlines()))
    sentences = parts if spread else 1
    return MeasuredPair(numbers, words, logits.unread, sentences)


def _judgement(pair: Pair, measured: MeasuredPair, scores: Sequence[float]) -> Judgement:
    if measured.answer is not None:
        return measured.answer
    return _rounded(
        guarded(pair, scores[0], scores[2], measured.words, measured.unread, needed=measured.needed)
    )


def _rounded(guard: Guarded) -> Judgement:
    """Return the scores after the checks, to six places, so that the three sum to one as written."""
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
