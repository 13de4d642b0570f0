"""The trained pair classifier as int8 ONNX: logits of claims against windows of evidence.

What all model verifiers share in values stands first: limits, blanks, sound numbers, refusals.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from certirag.adapters.networks.model_files import (
    GRAPH,
    TOKENIZER,
    ModelFiles,
    marker,
    open_session,
    open_tokenizer,
    read_model_files,
)
from certirag.adapters.networks.pair_windows import LEAST_ROOM, MARKERS, Plan, Window, plan_windows
from certirag.core.verdict import Label
from certirag.errors import ModelError
from certirag.ports import Judgement, Pair

if TYPE_CHECKING:
    from tokenizers import Encoding


MAX_CLAIM: Final = 4_000  # characters; a longer claim is no atomic statement
MAX_EVIDENCE: Final = 200_000  # characters of one pair, about a hundred windows of a model
_WORD: Final = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model said of one window: two probabilities, whose rest is not_enough_info."""

    entailed: float
    contradicted: float


def judged(readings: Sequence[Reading]) -> Judgement:
    """Return the judgement of a pair from its windows, rounded to six places; they sum to one.

    Support is the highest of any window and so is contradiction. Where the two do not fit into
    one, support gives way: a window that speaks against the claim is never outvoted. Without a
    reading, or with one that is no probability, the judgement is an error.
    """
    if not readings:
        return refused("the verifier read nothing of the pair")
    numbers = [n for reading in readings for n in (reading.entailed, reading.contradicted)]
    if not all(math.isfinite(number) and 0.0 <= number <= 1.0 for number in numbers):
        return refused("the verifier's scores are no probabilities")
    contradicted = round(max(reading.contradicted for reading in readings), 6)
    entailed = round(min(max(reading.entailed for reading in readings), 1.0 - contradicted), 6)
    rest = round(max(0.0, 1.0 - entailed - contradicted), 6)
    label: Label = "not_enough_info"
    if contradicted >= max(entailed, rest):
        label = "contradicted"
    elif entailed > rest:
        label = "entailed"
    return Judgement(label, entailed, rest, contradicted)


def refused(reason: str, *, truncated: bool = False) -> Judgement:
    """Return the label ``error`` with its reason; *truncated* where text was left unread."""
    return Judgement("error", 0.0, 1.0, 0.0, truncated=truncated, error=reason)


def answered_unasked(pair: Pair) -> Judgement | None:
    """Return the judgement of a pair that needs no model, None where one must be asked.

    A claim or evidence without a word supports nothing; text beyond the limits is not cut but
    refused.
    """
    if len(pair.claim) > MAX_CLAIM or len(pair.evidence) > MAX_EVIDENCE:
        reason = (
            f"a pair may hold {MAX_CLAIM} characters of claim and {MAX_EVIDENCE} of evidence; "
            f"this one has {len(pair.claim)} and {len(pair.evidence)}"
        )
        return refused(reason, truncated=True)
    if not _WORD.search(pair.claim) or not _WORD.search(pair.evidence):
        return Judgement("not_enough_info", 0.0, 1.0, 0.0)
    return None


def joined_sentences(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the sentences of *text* at *spans*, neighbours, with one blank or line break between.

    A line break stays one because it separates rows and items; longer gaps hold nothing. Where
    there is no gap, in a text without an end of a sentence, none is made.
    """
    parts = []
    for at, (start, end) in enumerate(spans):
        gap = text[spans[at - 1][1] : start] if at else ""
        parts.append("\n" if "\n" in gap else gap[:1] and " ")
        parts.append(text[start:end])
    return "".join(parts)


Logits = tuple[float, float, float]  # entailed, not_enough_info, contradicted

INPUTS: Final = ("input_ids", "segments", "attention_mask")
MOST_CACHED: Final = 50_000  # windows; a few megabytes
MOST_IN_A_RUN: Final = 8
_STRANGE: Final = re.compile(r"[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class WindowLogits:
    """The logits of one window, which holds the *sentences* of these numbers.

    *focused* marks the window that was gathered around the claim rather than read in a row.
    """

    sentences: tuple[int, ...]
    logits: Logits
    focused: bool = False


@dataclass(frozen=True, slots=True)
class PairLogits:
    """What the model says of one pair: *windows*, all of them, or none and an *error*.

    *sentences* are those of the evidence, each in at least one window. *truncated* says that the
    error is length. *unread* are words of the claim that the model has no tokens for: it cannot
    tell one from another, so nothing it says of them is worth anything.
    """

    sentences: tuple[str, ...] = ()
    windows: tuple[WindowLogits, ...] = ()
    truncated: bool = False
    error: str = ""
    unread: tuple[str, ...] = ()


class PairModel:
    """Gives the logits of (claim, evidence) pairs, window by window.

    *directory* holds manifest.json and the files that it names; each is checked against its
    SHA-256 first. *threads* is how many runs go at once: four, or one per processor where there
    are fewer, unless given. *cached* is how many windows' logits are kept, 0 for none.

    A window's logits are the same bits whatever else is asked in the call, in whatever order and
    on however many threads. For that nothing is padded, which would change the lengths over which
    sums are added up: only windows of exactly one length share a run, each run on one thread.

    Texts are read as text: ``[SEP]`` in a document is five characters, never a marker. A pair of
    which any part could not be read or scored has an error and no windows, and the other pairs
    are answered all the same. Safe to share between threads. Raises ModelError or MissingExtra
    on construction.
    """

    def __init__(
        self, directory: Path, *, threads: int | None = None, cached: int = MOST_CACHED
    ) -> None:
        count = threads if threads is not None else min(4, os.cpu_count() or 1)
        if count < 1:
            message = f"threads must be at least 1, not {count}"
            raise ModelError(message)
        self._files = read_model_files(directory, needed=(GRAPH, TOKENIZER))
        self._max_tokens = self._files.count("max_tokens")
        if self._max_tokens <= MARKERS + LEAST_ROOM:
            message = (
                f"max_tokens in {directory} is {self._max_tokens}; "
                f"a pair needs more than {MARKERS + LEAST_ROOM}"
            )
            raise ModelError(message)
        self._tokenizer = open_tokenizer(self._files)
        self._first = marker(self._tokenizer, "[CLS]", "<s>")
        self._between = marker(self._tokenizer, "[SEP]", "</s>")
        self._unknown = marker(self._tokenizer, "[UNK]", "<unk>")
        self._session = open_session(self._files, inputs=INPUTS, output="logits")
        self._workers = ThreadPoolExecutor(count, thread_name_prefix="certirag-verify")
        self._threads = count
        self._cache = _Cache(cached)

    @property
    def files(self) -> ModelFiles:
        """The checked files; ``files.sha256`` covers the graph, the tokeniser and the rest."""
        return self._files

    def logits(self, pairs: Sequence[Pair], *, in_parts: bool = False) -> tuple[PairLogits, ...]:
        """Return what the model says of each of *pairs*, in order.

        All windows of all pairs are scored together; windows that are equal are scored once. A sentence
        that fits no window is an error or, with *in_parts*, read in parts.
        """
        read: dict[str, Sequence[int]] = {}  # the claims of a question share their evidence

        def encode(text: str) -> Sequence[int]:
            if text not in read:
                read[text] = self._encode(text)[0]
            return read[text]

        plans = [
            plan_windows(pair, encode, max_tokens=self._max_tokens, in_parts=in_parts)
            for pair in pairs
        ]
        inputs = [[self._input(plan, window) for window in plan.windows] for plan in plans]
        scored = self._scored({one for own in inputs for one in own})
        return tuple(
            self._answer(pair, plan, [scored[one] for one in own])
            for pair, plan, own in zip(pairs, plans, inputs, strict=True)
        )

    def _input(self, plan: Plan, window: Window) -> _Input:
        evidence = (self._first, *window.evidence, self._between)
        ids = np.array((*evidence, *plan.claim, self._between), dtype="<i4").tobytes()
        return _Input(ids, len(evidence))

    def _answer(self, pair: Pair, plan: Plan, found: Sequence[Logits | str]) -> PairLogits:
        if plan.fault:
            return PairLogits(truncated=plan.truncated, error=plan.fault)
        windows = []
        for window, logits in zip(plan.windows, found, strict=True):
            if isinstance(logits, str):
                return PairLogits(sentences=plan.sentences, error=logits)
            windows.append(WindowLogits(window.sentences, logits, window.focused))
        return PairLogits(plan.sentences, tuple(windows), unread=self._unread(pair.claim, plan))

    def _unread(self, claim: str, plan: Plan) -> tuple[str, ...]:
        if self._unknown not in plan.claim:
            return ()
        _, unread = self._encode(claim)
        return tuple(unread)

    def _encode(self, text: str) -> tuple[Sequence[int], list[str]]:
        """Return the token ids of *text*, and the words for which the vocabulary has none.

        A word is unknown as a whole if it holds one strange character: "not" with an emoji behind
        it would be gone. Such a word is read again with the strange characters set apart.
        """
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        if self._unknown not in encoding.ids:
            return encoding.ids, []
        pieces, last = [], 0
        for start, end in self._unknown_spans(encoding):
            pieces += [text[last:start], _STRANGE.sub(r" \g<0> ", text[start:end])]
            last = end
        apart = "".join((*pieces, text[last:]))
        encoding = self._tokenizer.encode(apart, add_special_tokens=False)
        return encoding.ids, [apart[start:end] for start, end in self._unknown_spans(encoding)]

    def _unknown_spans(self, encoding: Encoding) -> list[tuple[int, int]]:
        found = zip(encoding.ids, encoding.offsets, strict=True)
        return [span for token, span in found if token == self._unknown]

    def _scored(self, wanted: Iterable[_Input]) -> dict[_Input, Logits | str]:
        """Return the logits of every window, or what kept the model from giving them."""
        keys = {one: one.key(self._files.sha256) for one in wanted}
        scored: dict[_Input, Logits | str] = {}
        missing: list[_Input] = []
        for one, key in keys.items():
            known = self._cache.get(key)
            if known is None:
                missing.append(one)
            else:
                scored[one] = known
        for run, answers in zip(
            runs := self._runs(missing), self._workers.map(self._run, runs), strict=True
        ):
            for one, answer in zip(run, answers, strict=True):
                scored[one] = answer
                if not isinstance(answer, str):
                    self._cache.put(keys[one], answer)
        return scored

    def _runs(self, inputs: Sequence[_Input]) -> list[list[_Input]]:
        """Put windows of one length together, the longest first, so that no thread ends late."""
        most = max(1, min(MOST_IN_A_RUN, len(inputs) // (2 * self._threads)))
        runs: list[list[_Input]] = []
        for one in sorted(inputs, key=lambda one: (-len(one.ids), one.ids, one.evidence)):
            if runs and len(runs[-1]) < most and len(runs[-1][0].ids) == len(one.ids):
                runs[-1].append(one)
            else:
                runs.append([one])
        return runs

    def _run(self, run: Sequence[_Input]) -> list[Logits | str]:
        ids = np.stack([np.frombuffer(one.ids, dtype="<i4") for one in run]).astype(np.int64)
        starts = np.array([[one.evidence] for one in run])
        segments = (np.arange(ids.shape[1]) >= starts).astype(np.int64)
        feed = dict(zip(INPUTS, (ids, segments, np.ones_like(ids)), strict=True))
        try:
            (rows,) = self._session.run(["logits"], feed)
        except Exception as error:  # noqa: BLE001 the runtime's errors share no root
            return [f"the model failed on {ids.shape[1]} tokens: {error}"] * len(run)
        return _checked(rows, len(run))


@dataclass(frozen=True, slots=True)
class _Input:
    """One window as the model reads it: its *ids* as 32-bit integers, *evidence* in segment 0."""

    ids: bytes
    evidence: int

    def key(self, model: str) -> bytes:
        """The digest of everything that decides the logits."""
        return hashlib.sha256(f"{model}/{self.evidence}/".encode() + self.ids).digest()


@lru_cache(maxsize=2)
def shared_pair_model(directory: Path) -> PairModel:
    """Return the model in *directory*, the same one for all who ask: its weights fill memory once.

    Raises ModelError or MissingExtra as the model itself does; a failure is not remembered.
    """
    return PairModel(directory)


def _checked(rows: Any, count: int) -> list[Logits | str]:
    if rows.shape != (count, 3):
        return [f"the model gave shape {rows.shape}, not ({count}, 3)"] * count
    return [
        (row[0], row[1], row[2]) if finite else "the model gave logits that are not finite"
        for row, finite in zip(rows.tolist(), np.isfinite(rows).all(axis=1), strict=True)
    ]


class _Cache:
    """The logits of the windows asked for last, at most *limit*; safe to share between threads."""

    def __init__(self, limit: int) -> None:
        self._limit, self._lock = limit, Lock()
        self._kept: OrderedDict[bytes, Logits] = OrderedDict()

    def get(self, key: bytes) -> Logits | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: bytes, logits: Logits) -> None:
        with self._lock:
            self._kept[key] = logits
            self._kept.move_to_end(key)
            while len(self._kept) > self._limit:
                self._kept.popitem(last=False)
