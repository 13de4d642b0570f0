"""A cheap verifier first and a strong one where it matters, as one Verifier."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Final

from certirag.adapters.networks.pair_model import Reading, judged, refused
from certirag.core.generation import ModelIdentity
from certirag.errors import InputError
from certirag.ports import Judgement, Pair, Verifier
from certirag.quantities.against import with_figure_of
from certirag.verification.judge import judge_pairs
from certirag.verification.vetoes import OPPOSED_ALONE

KIND: Final = "cascade"
VERSION: Final = "7"
LOW: Final = 0.3
HIGH: Final = 1.0
AGREED: Final = 1.0
# Of evidence that says what a claim says with another figure. Over 444 true and 592 untrue claims about
# 78 documents, from 0.70 on it spoke against 61 untrue ones and 6 true ones: enough for another document
# to contest a claim, not to call it contradicted. From 0.85 on, by both verifiers, it is 16 and none.
SAYS_OTHERWISE: Final = 0.85
MAY_SAY_OTHERWISE: Final = 0.70
CONTESTS: Final = 0.65
# Words of a part of evidence that is longer than a verifier can read, each with half of the one before.
PART: Final = 100
MOST_PARTS: Final = 12  # of one pair, 650 words: a document is not to choose what reading it costs
# From here on a part may oppose the claim, and so nothing is said of the whole. Of 360 true claims against
# eight long sentences about something else, 5 have a part of 0.40 or more, and 4 one of 0.50.
OPPOSES: Final = 0.4


class CascadeVerifier:
    """Asks *strong* about the pairs whose support, by *cheap*, lies in [*low*, *high*].

    With *high* at 1.0, as by default, every pair that *cheap* finds entailed is asked again, so
    that no support rests on *cheap* alone. Where *strong* was asked, support is what it says,
    and contradiction the higher of the two: it can take support away from *cheap* and speak
    against the claim, never for it against *cheap*'s contradiction. Where it fails on a pair, or
    as a whole, the pair has the label ``error``; so has a pair on which *cheap* fails.

    Where evidence lacks one figure of a claim and has another in its place, it is asked too whether it
    bears the claim out with its own: as surely as it does, it speaks against the claim, and calls it
    contradicted where *cheap* is sure of that too. An "error" there leaves what stands.

    With *agreed* below 1.0 either of the two may support what the other does not deny: where
    *strong* sees at least that much support, the higher of the two counts, and a contradiction
    by *cheap* that no shipped policy acts upon (`OPPOSED_ALONE`) takes nothing away from it.

    Evidence that is too long to be read, as one sentence of 250 words is, supports nothing. It is read
    in parts for what speaks against the claim; where a part does, or cannot be read, it is an ``error``.

    Raises InputError unless 0 <= *low* <= *high* <= 1, and *agreed* too lies in [0, 1].
    """

    def __init__(
        self,
        cheap: Verifier,
        strong: Verifier,
        *,
        low: float = LOW,
        high: float = HIGH,
        agreed: float = AGREED,
    ) -> None:
        if not 0.0 <= low <= high <= 1.0:
            message = (
                f"a cascade's band must lie in 0 to 1, the lower end first, not {low} to {high}"
            )
            raise InputError(message)
        if not 0.0 <= agreed <= 1.0:
            raise InputError(f"what a cascade's two agree on must lie in 0 to 1, not {agreed}")
        self._cheap, self._strong = cheap, strong
        self._low, self._high, self._agreed = low, high, agreed
        self._lock = threading.Lock()
        self._asked = self._total = 0
        numbers = [low, high] if agreed == AGREED else [low, high, agreed]
        parts = [VERSION, asdict(cheap.identity), asdict(strong.identity), *numbers]
        self._identity = ModelIdentity(
            role="verifier",
            name=f"{KIND}:{cheap.identity.name},{strong.identity.name},"
            + ",".join(map(str, numbers)),
            version=VERSION,
            sha256=hashlib.sha256(json.dumps(parts).encode("utf-8")).hexdigest(),
        )

    @property
    def identity(self) -> ModelIdentity:
        """Both names and the band, and a digest over both identities and the band."""
        return self._identity

    @property
    def total(self) -> int:
        """Pairs judged so far."""
        return self._total

    @property
    def asked(self) -> int:
        """Pairs of them that the strong verifier was asked about."""
        return self._asked

    @property
    def saved_share(self) -> float:
        """The share of pairs, in [0, 1], that the strong verifier was spared; 0.0 before any."""
        with self._lock:
            return 1.0 - self._asked / self._total if self._total else 0.0

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return one judgement per pair, in order."""
        found = self._read(pairs)
        unread = [at for at, one in enumerate(found) if one.label == "error" and one.truncated]
        parts = {at: own for at in unread if (own := _parts(pairs[at]))}
        read = iter(self._read([part for own in parts.values() for part in own]))
        for at, own in parts.items():
            found[at] = _of_parts(found[at], [next(read) for _ in own])
        return tuple(found)

    def _read(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Return what stands of each pair as it is."""
        turned = {at: turn for at, pair in enumerate(pairs) if (turn := _turned(pair))}
        first, found = self._judged([*pairs, *turned.values()])
        final, asked = found[: len(pairs)], len(pairs)
        for at, cheap, both in zip(turned, first[asked:], found[asked:], strict=True):
            final[at] = _opposed(final[at], cheap, both)
        return final

    def _judged(self, pairs: Sequence[Pair]) -> tuple[list[Judgement], list[Judgement]]:
        """Return what *cheap* says of each pair, and what stands."""
        first = _answers(self._cheap, pairs)
        doubtful = [at for at, judgement in enumerate(first) if self._in_band(judgement)]
        second = _answers(self._strong, [pairs[at] for at in doubtful])
        with self._lock:
            self._total += len(first)
            self._asked += len(doubtful)
        final = dict(enumerate(first))
        for at, answer in zip(doubtful, second, strict=True):
            final[at] = _together(first[at], answer, self._agreed)
        return first, list(final.values())

    def _in_band(self, judgement: Judgement) -> bool:
        return judgement.label != "error" and self._low <= judgement.entailed <= self._high


class _Overheard:
    """Passes pairs on to a verifier and remembers which it said it had not read whole."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self.unread: set[int] = set()

    @property
    def identity(self) -> ModelIdentity:
        return self._verifier.identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        said = self._verifier.judge(pairs)
        self.unread = {at for at, one in enumerate(said) if getattr(one, "truncated", False)}
        return said


def _answers(verifier: Verifier, pairs: Sequence[Pair]) -> list[Judgement]:
    """Return a sound judgement of each pair, or the label ``error`` whatever went wrong."""
    overheard = _Overheard(verifier)
    answers = judge_pairs(overheard, pairs)
    return [
        refused(answer.error, truncated=at in overheard.unread)
        if answer.label == "error"
        else answer
        for at, answer in enumerate(answers)
    ]


def _parts(pair: Pair) -> list[Pair]:
    """Return *pair* with each part of its evidence alone; none where it is no longer than a part, or endless."""
    words = pair.evidence.split()
    starts = range(0, len(words) - PART // 2, PART // 2)
    if not 1 < len(starts) <= MOST_PARTS:
        return []
    return [Pair(pair.claim, " ".join(words[at : at + PART]), pair.context) for at in starts]


def _of_parts(whole: Judgement, parts: Sequence[Judgement]) -> Judgement:
    """Return what stands of evidence of which only *parts* were read: nothing but that none opposes."""
    against = max(part.contradicted for part in parts)
    if any(part.label == "error" for part in parts) or against >= OPPOSES:
        return whole
    return Judgement("not_enough_info", 0.0, round(1.0 - against, 6), against)


def _turned(pair: Pair) -> Pair | None:
    """Return *pair* with the evidence's figure in place of the claim's one that it lacks, if any."""
    claim = with_figure_of(pair.claim, pair.evidence)
    return replace(pair, claim=claim) if claim else None


def _opposed(own: Judgement, cheap: Judgement, turned: Judgement) -> Judgement:
    """Return *own*, opposed as surely as the evidence says the same with another figure.

    *turned* is what stands of the claim with that figure, *cheap* what the cheap verifier says of it.
    """
    if "error" in {own.label, turned.label} or turned.entailed < MAY_SAY_OTHERWISE:
        return own
    sure = min(turned.entailed, cheap.entailed) >= SAYS_OTHERWISE
    said = turned.entailed if sure else CONTESTS
    against = max(own.contradicted, said)
    return replace(
        judged([Reading(min(own.entailed, 1 - against), against)]),
        truncated=own.truncated,
        note=own.note,
    )


def _together(cheap: Judgement, strong: Judgement, agreed: float) -> Judgement:
    """Return the support that both may stand for, with the higher contradiction of the two."""
    truncated = cheap.truncated or strong.truncated
    if strong.label == "error":
        return replace(strong, truncated=truncated)
    support, against = strong.entailed, max(cheap.contradicted, strong.contradicted)
    if strong.entailed >= agreed:
        support = max(support, cheap.entailed)
        if cheap.contradicted <= OPPOSED_ALONE:
            against = strong.contradicted
    both = judged([Reading(support, against)])
    return replace(both, truncated=truncated, note=strong.note)
