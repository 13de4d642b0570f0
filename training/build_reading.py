"""A trained MPNet checkpoint → the reading network that ships: int8 graph, head, risk, manifest.

The head is fitted on near misses that the network never saw, as the gate asks them: the document
is cut as at ingest, and a claim is read against the sentences that share most words with it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from certirag.adapters.networks.model_files import MANIFEST
from certirag.adapters.networks.pair_model import PairModel
from certirag.adapters.verifiers.embedded_verifier import (
    CALIBRATIONS,
    MeasuredPair,
    as_evidence_writes,
    measure_reading,
)
from certirag.bootstrap import make_splitter
from certirag.core.text import joined_evidence, reading_window, sha256_hex
from certirag.errors import InputError
from certirag.ingest.chunk import chunk_document
from certirag.ingest.extract import Limits
from certirag.ingest.load import load_document
from certirag.ports import Pair, SentenceSplitter
from certirag.verification.calibration import VERSION as CALIBRATION_VERSION
from certirag.verification.calibration import (
    Calibration,
    FittedOn,
    Head,
    calibration_bytes,
    softmax,
)
from certirag.verification.candidates import content_words
from certirag.verification.clopper_pearson import exact_interval
from certirag.verification.features import READING_NAMES, READING_SIGNS
from training.build import write_manifest
from training.calibrate import fit_head
from training.config import TrainingConfig
from training.contrast_swap import drawing
from training.export import export
from training.near_misses import (
    FOLDER,
    NearMiss,
    fill,
    read_near_misses,
    slot_values,
    split_cases,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Say = Callable[[str], None]
# The shares of untrue claims that may reach a policy's threshold for support, one step from the
# text as they are: 0.85 is that of strict-1, 0.95 that of strict-2.
RISKS: Final = ((0.85, 0.01), (0.95, 0.003))
ACCUSED: Final = 0.01  # of true claims that may be called contradicted at one half
MOST_CASES: Final = 1200
_PAIRS_OF_A_CLAIM: Final = 3
_RIDGE: Final = 3e-3
_BATCH: Final = 600


@dataclass(frozen=True, slots=True)
class ReadClaim:
    """A claim about a document, its letter (``e n c``), and the pairs that the gate would ask.

    *first* says that its document belongs to the quarter that the head is fitted on.
    """

    text: str
    letter: str
    pairs: tuple[Pair, ...]
    first: bool


def held_cases(most: int) -> list[NearMiss]:
    """Return about *most* of the near misses that are kept from training, evenly spread."""
    _, unseen, strange = split_cases(read_near_misses(FOLDER))
    cases = [*unseen, *strange]
    return cases[:: max(1, len(cases) // most)]


def build_reading(
    config: TrainingConfig, checkpoint: Path, cases: Sequence[NearMiss], *, out: Path, say: Say
) -> None:
    """Write the reading network of *checkpoint* to *out*, built beside it and moved.

    *cases* are near misses that it was not trained on; InputError where they do not suffice.
    """
    claims = list(claims_of(cases, make_splitter("rules")))
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as trial:
        folder = Path(trial) / "model"
        sizes = export(checkpoint, folder)
        say(f"int8 graph of {sizes['model.int8.onnx'] / 1e6:.1f} MB")
        names = ["model.int8.onnx", "tokenizer.json"]
        write_manifest(config, folder, names)
        calibration = calibrated(claims, _measured(PairModel(folder, cached=0), claims, say))
        (folder / CALIBRATIONS["sentence"]).write_bytes(calibration_bytes(calibration))
        write_manifest(config, folder, [*names, CALIBRATIONS["sentence"]])
        out.mkdir(exist_ok=True)
        for path in sorted(folder.iterdir(), key=lambda path: path.name == MANIFEST):
            path.replace(out / path.name)  # the manifest last: a half-written model is refused
    say(f"wrote {out}")


def claims_of(cases: Sequence[NearMiss], split: SentenceSplitter) -> Iterator[ReadClaim]:
    """Yield the claims of *cases* about one text of each, with the evidence closest in words."""
    for number, case in enumerate(cases):
        chance = drawing(f"calibration/{case.key}")
        values = slot_values(chance)
        at = number % len(case.texts)
        text = fill(case.texts[at], values, chance)
        document = load_document(text.encode(), path="text.md", limits=Limits())
        spans = [
            (chunk, chunk.spans[first:last])
            for chunk in chunk_document(document, split)
            for first in range(len(chunk.spans))
            for last in (first + 1, first + 2)
            if last <= len(chunk.spans)
        ]
        sentences = [joined_evidence([s.sentence for s in own]) for _, own in spans]
        words = [content_words(one) for one in sentences]
        for claim, letters in case.claims:
            said = fill(claim, values, chance)
            wanted = content_words(said)
            order = sorted(
                range(len(spans)), key=lambda n: (-len(wanted & words[n]), -len(spans[n][1]))
            )
            pairs = [
                Pair(
                    said,
                    sentences[n],
                    spans[n][0].context,
                    reading_window([spans[n][0]], sentences[n]),
                )
                for n in order[:_PAIRS_OF_A_CLAIM]
            ]
            yield ReadClaim(said, letters[at], tuple(pairs), first=number // 2 % 4 == 0)


def calibrated(
    claims: Sequence[ReadClaim], measured: Sequence[Sequence[MeasuredPair]]
) -> Calibration:
    """Fit the head on a quarter of the documents and its curve on the others, by what may go wrong.

    Six weights need few rows; how high a score must be is the surer the more rows say it.

    Of a true claim's pairs the one that supports it best counts, of an untrue one's all. The curve
    leads the score that surely at most 1 % of such untrue claims reach to 0.85, and so on for each
    of `RISKS`; opposition is lowered until `ACCUSED` of its true claims have one half.
    """
    own = [i for i, claim in enumerate(claims) if claim.first]
    other = [i for i, claim in enumerate(claims) if not claim.first]
    head = _head([claims[i] for i in own], [measured[i] for i in own])
    held, read = [claims[i] for i in other], [measured[i] for i in other]
    accused = [
        _opposition(head, one) for claim, one in zip(held, read, strict=True) if claim.letter == "e"
    ]
    entailed, neutral, contradicted = head.intercepts
    lower = max(0.0, _reached_by(accused, ACCUSED))
    head = Head(
        head.means, head.scales, head.coefficients, (entailed, neutral, contradicted - lower)
    )
    untrue = [
        _support(head, one) for claim, one in zip(held, read, strict=True) if claim.letter != "e"
    ]
    knots = [(0.0, 0.0)]
    for to, share in RISKS:
        at = min(max(_reached_by(untrue, share), knots[-1][0] + 1e-6), 1.0 - 1e-6)
        knots.append((round(at, 6), to))
    texts = "\n".join(one.text for one in claims)
    return Calibration(
        version=CALIBRATION_VERSION,
        features=READING_NAMES,
        head=head,
        temperature=1.0,
        isotonic=(*knots, (1.0, 1.0)),
        tau_entail=RISKS[0][0],
        tau_contradict=0.5,
        fitted_on=FittedOn(
            "near misses that the network was not trained on: the head on a quarter of the claims, "
            "the curve on the others",
            len(claims),
            sha256_hex(texts),
        ),
    )


def _head(claims: Sequence[ReadClaim], measured: Sequence[Sequence[MeasuredPair]]) -> Head:
    rows: list[tuple[float, ...]] = []
    labels: list[int] = []
    weights: list[float] = []
    for claim, pairs in zip(claims, measured, strict=True):
        found = [one.features for one in pairs if one.features is not None]
        if not found:
            continue
        if claim.letter == "e":
            rows.append(max(found, key=lambda one: one[0] + one[1]))
            labels.append(0)
            weights.append(1.0)
            continue
        nearest = max(range(len(found)), key=lambda n: found[n][4])
        rows += found
        labels += [
            (2 if claim.letter == "c" else 1) if n == nearest else 3 for n in range(len(found))
        ]
        weights += [len(found) ** -0.5] * len(found)
    if not rows:
        raise InputError("no near miss kept from training could be read; give more cases")
    signs = [READING_SIGNS[name] for name in READING_NAMES]
    return fit_head(
        np.array(rows, dtype=np.float64),
        np.array(labels, dtype=np.int64),
        signs=np.array([[s for s, _ in signs], [0] * len(signs), [o for _, o in signs]]),
        weights=np.array(weights, dtype=np.float64),
        l2=_RIDGE,
    )


def _logits(head: Head, pairs: Sequence[MeasuredPair]) -> NDArray[np.float64]:
    rows = [one.features for one in pairs if one.features is not None]
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(READING_NAMES))
    return head.logits(table)


def _support(head: Head, pairs: Sequence[MeasuredPair]) -> float:
    shares = softmax(_logits(head, pairs))
    return float(shares[:, 0].max(initial=0.0))


def _opposition(head: Head, pairs: Sequence[MeasuredPair]) -> float:
    """Return by how much contradicted leads entailed and silence together, at most."""
    logits = _logits(head, pairs)
    lead = logits[:, 2] - np.logaddexp(logits[:, 0], logits[:, 1])
    return float(lead.max(initial=-np.inf))


def _reached_by(scores: Sequence[float], share: float) -> float:
    """Return the score that, with 95 % confidence, at most *share* of such *scores* reach.

    The exact upper bound of Clopper and Pearson over the number of *scores* above it: the upper end
    of the two-sided interval of 90 % is the one-sided bound of 95 %.
    """
    if not scores:
        raise InputError("no near miss kept from training could be read; give more cases")
    ordered = sorted(scores, reverse=True)
    above = 0
    while (
        above + 1 < len(ordered)
        and exact_interval(above + 1, len(ordered), confidence=0.90)[1] <= share
    ):
        above += 1
    return ordered[above] + 1e-6


def _measured(
    model: PairModel, claims: Sequence[ReadClaim], say: Say
) -> list[tuple[MeasuredPair, ...]]:
    pairs = as_evidence_writes([pair for claim in claims for pair in claim.pairs])
    found: list[MeasuredPair] = []
    for at in range(0, len(pairs), _BATCH):
        found += measure_reading(model, pairs[at : at + _BATCH])
        say(f"read {min(at + _BATCH, len(pairs))} of {len(pairs)} pairs")
    answers = iter(found)
    return [tuple(next(answers) for _ in claim.pairs) for claim in claims]
