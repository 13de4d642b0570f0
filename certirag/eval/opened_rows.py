"""The measured rows of a run, opened for a reader: counted at each threshold, asked for, and read one by one.

A run may have 100,000 rows, so no text of theirs is kept: of each row, numbers and where its line
begins. What a reader asks for is read from its line again. The file is not trusted: a line that is
no measured row of this run is left out and counted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, get_args

import numpy as np
from pydantic import ValidationError
from pydantic_core import from_json

from certirag.core.policy import BASE_RULES, STRICT_RULES, Policy
from certirag.core.verdict import Label, Verdict, is_score
from certirag.errors import InputError
from certirag.eval import measures
from certirag.eval.gate_counts import trials_of
from certirag.eval.kept_runs import FileIdentity, file_identity
from certirag.eval.pair_figures import CALLED, GOLD
from certirag.eval.pair_rows import MEASURED, MeasuredRow
from certirag.proof.facets import RENDER_STATES
from certirag.render.trace import STAGES
from certirag.verification.clopper_pearson import exact_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.int64]

MOST_BYTES: Final = 600_000_000
MOST_ROWS: Final = 200_000
_MOST_OF_A_LINE: Final = 4_000_000
_MOST_SOURCES: Final = 500
_MOST_COUNTED: Final = 10_000  # badges of a row
GOLDS: Final = tuple(dict.fromkeys(GOLD.values()))
LABELS: Final[tuple[str, ...]] = get_args(Label)
VERDICTS: Final[tuple[str, ...]] = get_args(Verdict)
RULES: Final = (*BASE_RULES, *STRICT_RULES)


@dataclass(frozen=True, slots=True)
class AtTau:
    """Badges at the threshold *tau* of entailment; of *asked* entailed rows, *whole* are all Verified."""

    tau: float
    badges: int
    wrong: int
    asked: int
    whole: int

    @property
    def precision(self) -> float | None:
        """Verified-Claim Precision, None without a badge."""
        return (self.badges - self.wrong) / self.badges if self.badges else None

    @property
    def interval(self) -> tuple[float, float]:
        """The exact 95 % interval of the precision (Clopper and Pearson 1934); all of [0, 1] without a badge."""
        right = self.badges - self.wrong
        return exact_interval(right, self.badges) if self.badges else (0.0, 1.0)

    @property
    def coverage(self) -> float | None:
        """Verified Coverage: the share of entailed rows that are all Verified; None without such a row."""
        return self.whole / self.asked if self.asked else None


@dataclass(frozen=True, slots=True)
class SourceCount:
    """A *source*, its rows, how many are untrue, its badges, and how its verifier ranks (NaN: unknown)."""

    source: str
    rows: int
    untrue: int
    at: AtTau
    balanced_accuracy: float
    auroc: float


@dataclass(frozen=True, slots=True)
class RowFilter:
    """What a reader asks of rows; "" asks nothing.

    *wrong* asks for rows with a wrong badge, *lost* for true ones that are not all Verified, both at the
    threshold number *tau* (None: the run's own).
    *state*, *stage* and *rule* ask for one claim of the row that is so, each by itself; *words* for rows
    that hold this text somewhere, in capitals or not.
    """

    source: str = ""
    gold: str = ""
    label: str = ""
    state: str = ""
    stage: str = ""
    rule: str = ""
    wrong: bool = False
    lost: bool = False
    words: str = ""
    tau: int | None = None


@dataclass(frozen=True, slots=True)
class OpenedRows:
    """The rows of the file *path* as it was at *identity*: n of them, in the order of the file.

    *taus* are the thresholds that were tried, rising, and *own* the place of the policy's among them.
    Arrays of shape (n,): *starts* of the lines in bytes, *lengths*; *source*, *gold* and *label* as places
    in *sources*, `GOLDS` and `LABELS`; *entailed* in [0, 1], NaN for none; *states*, *stages* and *failed*
    as bits of `RENDER_STATES`, `STAGES` and `RULES`. *counts* has shape (n, thresholds, 4). *left_out*
    lines are no rows of this run, the first of which is line *first_left_out*.
    """

    path: Path
    identity: FileIdentity
    taus: tuple[float, ...]
    own: int
    sources: tuple[str, ...]
    starts: Places
    lengths: Places
    source: Places
    gold: Places
    label: Places
    entailed: NDArray[np.float64]
    states: Places
    stages: Places
    failed: Places
    counts: NDArray[np.int32]
    left_out: int = 0
    first_left_out: int = 0

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.starts)

    def of_source(self, source: str) -> Places:
        """Return the places of the rows of *source*, of all rows for ""."""
        if not source:
            return np.arange(len(self), dtype=np.int64)
        known = self.sources.index(source) if source in self.sources else -1
        return np.flatnonzero(self.source == known)

    def nearest(self, tau: float) -> int:
        """Return the number of the threshold that was tried next to *tau*."""
        return min(range(len(self.taus)), key=lambda at: abs(self.taus[at] - tau))

    def at(self, places: Places) -> tuple[AtTau, ...]:
        """Return the badges of the rows at *places*, for each threshold."""
        sums = self.counts[places].sum(axis=0, dtype=np.int64)
        return tuple(AtTau(tau, *map(int, row)) for tau, row in zip(self.taus, sums, strict=True))

    def by_source(self, tau: int) -> list[SourceCount]:
        """Return each source by its name, and all rows together last under "", at the threshold number *tau*."""
        names = [*sorted(self.sources), ""]
        return [self._count(name, tau) for name in names]

    def reliability(self, places: Places) -> tuple[measures.ReliabilityBin, ...]:
        """Return the reliability diagram of the verifier's scores (Guo et al. 2017); rows in error left out."""
        sound = places[self._sound(places)]
        return measures.reliability(self.entailed[sound], self._true(sound))

    def confusion(self, places: Places) -> list[list[int]]:
        """Return how many rows have each of `GOLDS` (lines) and each of `LABELS` (columns)."""
        found = np.zeros((len(GOLDS), len(LABELS)), dtype=np.int64)
        np.add.at(found, (self.gold[places], self.label[places]), 1)
        return [[int(n) for n in line] for line in found]

    def select(self, asked: RowFilter) -> Places:
        """Return the places of the rows that *asked* asks for, in order.

        Raises InputError where the file changed since it was opened.
        """
        kept = np.ones(len(self), dtype=np.bool_)
        if asked.source:
            kept[:] = False
            kept[self.of_source(asked.source)] = True
        kept &= _is(self.gold, GOLDS, asked.gold) & _is(self.label, LABELS, asked.label)
        kept &= _has(self.states, RENDER_STATES, asked.state)
        kept &= _has(self.stages, STAGES, asked.stage) & _has(self.failed, RULES, asked.rule)
        at = self.counts[:, self.own if asked.tau is None else asked.tau]
        if asked.wrong:
            kept &= at[:, 1] > 0
        if asked.lost:
            kept &= (at[:, 2] > 0) & (at[:, 3] == 0)
        places = np.flatnonzero(kept)
        return self._with_words(places, asked.words.strip()) if asked.words.strip() else places

    def rows(self, places: Sequence[int]) -> list[MeasuredRow]:
        """Return the rows at *places*; InputError where the file changed since it was opened."""
        return [MEASURED.validate_json(line) for line in self._lines(places)]

    def _lines(self, places: Sequence[int]) -> Iterator[bytes]:
        message = f"{self.path.name}: changed while it was read: open it again"
        try:
            with self.path.open("rb") as file:
                if file_identity(self.path) != self.identity:
                    raise InputError(message)
                for place in places:
                    file.seek(int(self.starts[place]))
                    yield file.read(int(self.lengths[place]))
        except OSError as error:
            raise InputError(message) from error

    def _with_words(self, places: Places, words: str) -> Places:
        wanted = words.casefold()
        # A line that has not even its bytes need not be parsed; one with escapes may hide them.
        raw = json.dumps(words, ensure_ascii=False)[1:-1].casefold()
        held = [
            (raw in line.decode("utf-8", "replace").casefold() or b"\\u" in line)
            and wanted in _text_of(from_json(line)).casefold()
            for line in self._lines([int(place) for place in places])
        ]
        return places[np.array(held, dtype=np.bool_)]

    def _count(self, name: str, tau: int) -> SourceCount:
        places = self.of_source(name)
        true, scores = self._true(places), np.nan_to_num(self.entailed[places])
        return SourceCount(
            source=name,
            rows=len(places),
            untrue=int((~true).sum()),
            at=self.at(places)[tau],
            balanced_accuracy=measures.balanced_accuracy(scores >= CALLED, true),
            auroc=measures.auroc(scores, true),
        )

    def _true(self, places: Places) -> NDArray[np.bool_]:
        return np.asarray(self.gold[places] == GOLDS.index("entailed"))

    def _sound(self, places: Places) -> NDArray[np.bool_]:
        error = self.label[places] == LABELS.index("error")
        return np.asarray(~error & ~np.isnan(self.entailed[places]))


def open_rows(path: Path, policy: Policy) -> OpenedRows:
    """Return the rows of a run under *policy* from its file *path*.

    Raises InputError for a file that is not there, is no ordinary one or is too large, and for one
    without a single row.
    """
    identity = file_identity(path)
    if identity[2] > MOST_BYTES:
        message = f"{path.name}: has {identity[2] // 1_000_000} MB, and at most "
        raise InputError(message + f"{MOST_BYTES // 1_000_000} are opened: measure with --limit")
    reading = _Reading(tuple(trial.tau_entail for trial in trials_of(policy)))
    try:
        with path.open("rb") as file:
            reading.read(file)
    except OSError as error:
        raise InputError(f"{path.name}: cannot be read ({error.strerror})") from error
    if not reading.numbers:
        raise InputError(f"{path.name}: holds no row of this run")
    numbers = np.array(reading.numbers, dtype=np.int64)
    starts, lengths, source, gold, label, states, stages, failed = numbers.T
    return OpenedRows(
        path=path,
        identity=identity,
        taus=reading.taus,
        own=reading.taus.index(policy.tau_entail),
        sources=tuple(reading.sources),
        starts=starts,
        lengths=lengths,
        source=source,
        gold=gold,
        label=label,
        entailed=np.array(reading.entailed, dtype=np.float64),
        states=states,
        stages=stages,
        failed=failed,
        counts=np.array(reading.counts, dtype=np.int32).reshape(-1, len(reading.taus), 4),
        left_out=reading.left_out,
        first_left_out=reading.first_left_out,
    )


@dataclass(slots=True)
class _Reading:
    """What was read so far."""

    taus: tuple[float, ...]
    sources: dict[str, int] = field(default_factory=dict)
    numbers: list[tuple[int, ...]] = field(default_factory=list)
    entailed: list[float] = field(default_factory=list)
    counts: list[list[tuple[int, int, int, int]]] = field(default_factory=list)
    left_out: int = 0
    first_left_out: int = 0

    def read(self, file: BinaryIO) -> None:
        start = 0
        for number, line in enumerate(file, 1):
            if not line.isspace() and not self._took(start, line):
                self.left_out += 1
                self.first_left_out = self.first_left_out or number
            start += len(line)

    def _took(self, start: int, line: bytes) -> bool:
        """Take the row of *line*, and say whether it is one of this run."""
        if len(line) > _MOST_OF_A_LINE or len(self.numbers) >= MOST_ROWS:
            return False
        try:
            row = MEASURED.validate_json(line)
        except ValidationError:
            return False
        if not self._is_sound(row):
            return False
        self.numbers.append(
            (
                start,
                len(line),
                self.sources.setdefault(row.source, len(self.sources)),
                GOLDS.index(row.gold),
                LABELS.index(row.label),
                _bits(RENDER_STATES, (claim.state for claim in row.claims)),
                _bits(STAGES, (claim.stage for claim in row.claims if claim.stage)),
                _bits(RULES, (rule for claim in row.claims for rule, _ in claim.failed)),
            )
        )
        self.entailed.append(math.nan if row.entailed is None else row.entailed)
        self.counts.append(row.counts)
        return True

    def _is_sound(self, row: MeasuredRow) -> bool:
        """Say whether every word of *row* that is a code is one, and every number possible."""
        return (
            row.gold in GOLDS
            and row.label in LABELS
            and (row.entailed is None or is_score(row.entailed))
            and all(
                claim.state in RENDER_STATES
                and claim.verdict in VERDICTS
                and claim.stage in {"", *STAGES}
                and all(rule in RULES for rule, _ in claim.failed)
                for claim in row.claims
            )
            and len(row.counts) == len(self.taus)
            and all(
                0 <= wrong <= badges <= _MOST_COUNTED and 0 <= whole <= asked <= 1
                for badges, wrong, asked, whole in row.counts
            )
            and (row.source in self.sources or len(self.sources) < _MOST_SOURCES)
        )


def _bits(words: Sequence[str], found: Iterator[str]) -> int:
    bits = 0
    for word in found:
        bits |= 1 << words.index(word)
    return bits


def _is(codes: Places, words: Sequence[str], asked: str) -> NDArray[np.bool_]:
    """Say of each code whether it is that of *asked*; of any where "" is asked, of none for another word."""
    if not asked:
        return np.ones(len(codes), dtype=np.bool_)
    return np.asarray(codes == (words.index(asked) if asked in words else -1))


def _has(bits: Places, words: Sequence[str], asked: str) -> NDArray[np.bool_]:
    if not asked:
        return np.ones(len(bits), dtype=np.bool_)
    return np.asarray(bits & (1 << words.index(asked) if asked in words else 0) != 0)


def _text_of(value: object) -> str:
    """Return every text in a JSON *value*, one a line."""
    if isinstance(value, str):
        return value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "\n".join(filter(None, map(_text_of, parts)))
