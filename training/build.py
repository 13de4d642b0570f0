"""A trained checkpoint → the model that ships: int8 graph, head, calibration, manifest."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from certirag.adapters.networks.model_files import MANIFEST
from certirag.adapters.networks.pair_model import PairModel
from certirag.adapters.verifiers.embedded_verifier import CALIBRATIONS, as_evidence_writes, measure
from certirag.bootstrap import make_splitter
from certirag.errors import InputError, ModelError
from certirag.eval.measures import threshold_for_precision
from certirag.ports import Pair
from certirag.verification.calibration import VERSION as CALIBRATION_VERSION
from certirag.verification.calibration import Calibration, FittedOn, calibration_bytes, softmax
from certirag.verification.features import NAMES, SIGNS
from training.calibrate import fit_head, fit_isotonic, fit_temperature, rows_sha256
from training.config import TrainingConfig
from training.contrast import contrast_rows
from training.encode import encode_rows, label_number
from training.export import Agreement, agreement, export
from training.rows import GROUNDING, Row, held_out, limited, read_rows
from training.run import open_tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Say = Callable[[str], None]
LEAST_AGREEMENT: Final = 0.97
MOST_MADE: Final = 6_000  # made pairs that the head is fitted on
_BATCH: Final = 256
_HEAVY: Final = 400  # a source of more rows weighs no more than one of so many
_RIDGE: Final = {"sentence": 1e-2, "passage": 1.0}
# A curve follows the held-out rows closely. Those of sentences are captions for the most part, and
# on other texts the temperature alone kept the balance better; passages are few and need it.
_CURVED: Final = frozenset({"passage"})
_EVIDENCE: Final = tuple(
    f"made_{kind}" for kind in ("wrong_chunk", "removed", "other_name", "distractors", "hops")
)
_AIM_SUPPORT: Final = 0.90
_AIM_OPPOSITION: Final = 0.80


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows with the features that were measured of them: (n, d) and labels (n,)."""

    rows: list[Row]
    features: Floats
    labels: NDArray[np.int64]

    def part(self, chosen: NDArray[np.bool_]) -> _Table:
        """Return the rows that *chosen* (n,) marks."""
        rows = [row for row, taken in zip(self.rows, chosen, strict=True) if taken]
        return _Table(rows, self.features[chosen], self.labels[chosen])


def build_verifier(
    config: TrainingConfig,
    checkpoint: Path,
    *,
    pairs: Path,
    limit: int | None,
    out: Path,
    say: Say,
) -> Agreement:
    """Write the model to *out* and return how closely the int8 graph agrees with 32 bits.

    The head is fitted on one half of the held-out premises, its temperature and curve on the
    other. The folder is written beside *out* and renamed. Raises ModelError where the graph
    differs too much, InputError where the held-out pairs do not suffice.
    """
    _, held = held_out(read_rows(pairs), config.held_out)
    held = list(limited(held, limit))
    made = contrast_rows(held, seed=config.seed, limit=min(MOST_MADE, limit or MOST_MADE))
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as trial:
        folder = Path(trial) / "model"
        sizes = export(checkpoint, folder)
        say(f"int8 graph of {sizes['model.int8.onnx'] / 1e6:.1f} MB")
        write_manifest(config, folder, ["model.int8.onnx", "tokenizer.json"])
        found = _agreement(config, checkpoint, folder, held)
        say(f"int8 and 32 bits give the same label to {found.labels:.1%} of {found.pairs} pairs")
        table = _measured(PairModel(folder, cached=0), [*held, *made], say)
        digest = rows_sha256([*held, *made])
        for kind, name in CALIBRATIONS.items():
            (folder / name).write_bytes(calibration_bytes(fit(table, kind, digest)))
        names = ["model.int8.onnx", "tokenizer.json", *CALIBRATIONS.values()]
        write_manifest(config, folder, names)
        out.mkdir(exist_ok=True)
        for path in sorted(folder.iterdir(), key=lambda path: path.name == MANIFEST):
            path.replace(out / path.name)  # the manifest last: a half-written model is refused
    say(f"wrote {out}")
    return found


def fit(table: _Table, kind: str, digest: str) -> Calibration:
    """Fit head, temperature, curve and thresholds on the two halves of *table*.

    The head for passages is fitted on grounding sources and on contrasts of evidence, whatever
    their length, and held closely to equal weights: such rows are few and their habits differ.
    """
    if kind == "passage":
        table = table.part(np.array([_of_grounding(row.source) for row in table.rows]))
    second = np.array([_second_half(row.premise) for row in table.rows])
    first, other = table.part(~second), table.part(second)
    signs = np.array(
        [[SIGNS[name][0] for name in NAMES], [0] * len(NAMES), [SIGNS[name][1] for name in NAMES]]
    )
    head = fit_head(
        first.features,
        first.labels,
        signs=signs,
        weights=balanced(first.rows),
        l2=_RIDGE[kind],
    )
    logits, weights = head.logits(other.features), balanced(other.rows)
    temperature = fit_temperature(logits, other.labels, weights=weights)
    shares = softmax(logits / temperature)
    curve: tuple[tuple[float, float], ...] = ()
    if kind in _CURVED:
        curve = fit_isotonic(shares[:, 0], other.labels == 0, weights=weights)
    known = other.labels != 3  # two-way rows say nothing of opposition
    return Calibration(
        version=CALIBRATION_VERSION,
        features=NAMES,
        head=head,
        temperature=temperature,
        isotonic=curve,
        tau_entail=_tau(shares[:, 0], other.labels == 0, _AIM_SUPPORT),
        tau_contradict=_tau(shares[known, 2], other.labels[known] == 2, _AIM_OPPOSITION),
        fitted_on=FittedOn(
            f"held-out premises of the training pairs and contrasts made from them, for evidence "
            f"that is a {kind}: the head on one half, temperature and curve on the other",
            len(table.rows),
            digest,
        ),
    )


def balanced(rows: Sequence[Row]) -> Floats:
    """Return (n,) weights: within a source entailed and not weigh the same, large sources less.

    Of what is not entailed, silence and opposition weigh the same too: sources differ in how many
    they have of each, and that is no property of a pair.
    """
    keys = [(_family(row.source), row.label) for row in rows]
    counts, sizes = Counter(keys), Counter(family for family, _ in keys)
    weights = []
    for family, label in keys:
        one_way = [counts[family, other] for other in ("neutral", "contradicted")]
        known, two_way = sum(one_way), counts[family, "not_entailed"]
        share = 1.0
        if label == "not_entailed":
            share = two_way / (known + two_way)
        elif label != "entailed":
            share = known / (known + two_way) / sum(count > 0 for count in one_way)
        weights.append(min(sizes[family], _HEAVY) ** 0.5 * share / counts[family, label])
    return np.array(weights, dtype=np.float64)


def _family(source: str) -> str:
    """One family per collection; every kind of made pair is one."""
    return source if source.startswith("made_") else source.partition("_")[0]


def _of_grounding(source: str) -> bool:
    return source.startswith((*GROUNDING, *_EVIDENCE))


def _second_half(premise: str) -> bool:
    return hashlib.sha256(premise.encode()).digest()[8] < 128  # half of a byte


def _tau(scores: Floats, positive: NDArray[np.bool_], aim: float) -> float:
    """Return the least threshold that surely reaches *aim*, 1.0 where none does."""
    try:
        return float(threshold_for_precision(scores, positive, precision=aim).tau)
    except InputError:
        return 1.0


def _agreement(
    config: TrainingConfig, checkpoint: Path, folder: Path, rows: Sequence[Row]
) -> Agreement:
    examples = encode_rows(
        limited(rows, 1_000), open_tokenizer(checkpoint), make_splitter("rules"), room=config.room
    )
    found = agreement(checkpoint, (folder / "model.int8.onnx").read_bytes(), examples)
    if found.labels < LEAST_AGREEMENT and found.pairs >= 500:  # fewer say little
        message = (
            f"the int8 graph gives another label than 32 bits to {1 - found.labels:.1%} of "
            f"{found.pairs} pairs; at most {1 - LEAST_AGREEMENT:.0%} are allowed"
        )
        raise ModelError(message)
    return found


def _measured(model: PairModel, rows: Sequence[Row], say: Say) -> _Table:
    kept: list[Row] = []
    features: list[tuple[float, ...]] = []
    for at in range(0, len(rows), _BATCH):
        part = rows[at : at + _BATCH]
        found = measure(
            model, as_evidence_writes([Pair(row.hypothesis, row.premise) for row in part])
        )
        for row, one in zip(part, found, strict=True):
            if one.features is not None:
                kept.append(row)
                features.append(one.features)
        if at // _BATCH % 8 == 0:
            say(f"measured {at + len(part)} of {len(rows)} held-out and made pairs")
    if not kept:
        message = "no held-out pair could be measured; give more pairs"
        raise InputError(message)
    labels = np.array([label_number(row.label) for row in kept], dtype=np.int64)
    return _Table(kept, np.array(features, dtype=np.float64), labels)


def write_manifest(config: TrainingConfig, folder: Path, names: Sequence[str], **more: str) -> None:
    """Write the manifest of *folder* over its files *names*, as `read_model_files` reads it."""
    files = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    content: dict[str, Any] = {
        "name": config.name,
        "version": config.version,
        "max_tokens": config.max_tokens,
        **more,
        "files": files,
    }
    text = json.dumps(content, indent=1) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
