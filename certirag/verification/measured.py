"""How often badges were wrong, as measured for one verifier under one policy; else nothing.

Beside each policy as it is stand the counts with other thresholds of entailment in its place.

A measurement speaks of exactly one verifier (by its digest) and one policy (in every field). For
any other pair, and for a file that cannot be read, there is no figure: a risk that was measured
elsewhere would be a promise. The file names the digest of the model's manifest, so the manifest
cannot list the file in turn; it lies beside it, shapes no score, and its own digest is shown
nowhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from certirag.core.generation import ModelIdentity
from certirag.core.policy import LEAST_TAU_ENTAIL, Policy
from certirag.core.said import said, said_n
from certirag.errors import CertificateError, ModelError, PolicyError
from certirag.proof.envelope import strict_json
from certirag.verification.clopper_pearson import exact_interval

VERSION: Final = 2
_READ: Final = (1, VERSION)  # version 1 has no thresholds
CONFIDENCE: Final = 0.95
_LONGEST: Final = 200
_SHA256_LENGTH: Final = 64


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """What a policy grants with *tau_entail* in place of its own: *wrong* of *badges* are wrong.

    *covered* counts the true statements of which every claim has a badge.
    """

    tau_entail: float
    badges: int
    wrong: int
    covered: int

    @property
    def share(self) -> float | None:
        """The share of wrong badges in [0, 1], None without a badge."""
        return self.wrong / self.badges if self.badges else None

    @property
    def upper(self) -> float | None:
        """The upper end of the exact 95 % interval of `share`, None without a badge."""
        if not self.badges:
            return None
        return exact_interval(self.wrong, self.badges, confidence=CONFIDENCE)[1]

    @property
    def at_most(self) -> str:
        """The share `upper` in words, rounded up."""
        return said("no badge") if self.upper is None else _percent(self.upper, down=False)


@dataclass(frozen=True, slots=True)
class Measurement:
    """*wrong* of the *badges* that *verifier* and *policy* granted on *set_name* were wrong.

    *verifier* is the SHA-256 of the verifier's identity, *description* says in a sentence what the
    set is and who said which badge is wrong. *thresholds* has the same counts for other thresholds
    of entailment, lowest first, the policy's own among them, and *true_rows* the true statements
    of the set; both are empty where only the policy itself was measured. Raises ModelError for
    counts that cannot be.
    """

    set_name: str
    description: str
    verifier: str
    policy: Policy
    badges: int
    wrong: int
    true_rows: int = 0
    thresholds: tuple[AtThreshold, ...] = ()

    def __post_init__(self) -> None:
        """Refuse counts that cannot be, and texts that are no line."""
        if self.badges < 1 or not 0 <= self.wrong <= self.badges:
            raise ModelError(f"{self.wrong} wrong of {self.badges} badges cannot be")
        if self.true_rows < 0:
            raise ModelError(f"{self.true_rows} true statements cannot be")
        if len(self.verifier) != _SHA256_LENGTH or set(self.verifier) - set("0123456789abcdef"):
            raise ModelError(f"verifier {self.verifier[:80]!r} is not a SHA-256 in hex")
        for text in (self.set_name, self.description):
            if not text.strip() or len(text) > _LONGEST or not text.isprintable():
                raise ModelError(f"{text[:80]!r} is not a line of 1 to {_LONGEST} characters")
        self._refuse_thresholds()

    def _refuse_thresholds(self) -> None:
        """Refuse counts that rise with the threshold, or say otherwise what the policy grants."""
        before = AtThreshold(-1.0, sys.maxsize, sys.maxsize, self.true_rows)
        for at in self.thresholds:
            rises = any(
                new > old
                for new, old in (
                    (at.badges, before.badges),
                    (at.wrong, min(at.badges, before.wrong)),
                    (at.covered, before.covered),
                )
            )
            sound = LEAST_TAU_ENTAIL <= at.tau_entail <= 1.0 and before.tau_entail < at.tau_entail
            if rises or not sound or min(at.badges, at.wrong, at.covered) < 0:
                raise ModelError(f"{at} cannot follow {before}")
            before = at
        own = self.at(self.policy.tau_entail)
        if self.thresholds and (
            own is None or (own.badges, own.wrong) != (self.badges, self.wrong)
        ):
            raise ModelError(f"{own} is not what the policy itself grants")

    def at(self, tau_entail: float) -> AtThreshold | None:
        """Return what was measured at *tau_entail*, None where nothing was at just that value."""
        return next((at for at in self.thresholds if at.tau_entail == tau_entail), None)

    def sentence_at(self, at: AtThreshold) -> str:
        """What was measured *at* a threshold, in words: wrong badges and true statements."""
        wrong = said("no badge")
        if at.badges:
            wrong = said(
                "{wrong:d} of {badges:d} badges wrong (95 % interval up to {most})",
                wrong=at.wrong,
                badges=at.badges,
                most=at.at_most,
            )
        return said(
            "At {value:.2f}, on {name}: {wrong}; {covered:d} of {whole:d} true statements with a "
            "badge.",
            value=at.tau_entail,
            name=self.set_name,
            wrong=wrong,
            covered=at.covered,
            whole=self.true_rows,
        )

    def interval(self) -> tuple[float, float]:
        """Return the exact 95 % interval of the share of wrong badges."""
        return exact_interval(self.wrong, self.badges, confidence=CONFIDENCE)

    @property
    def between(self) -> tuple[str, str]:
        """The ends of `interval` in words, rounded outwards."""
        low, high = self.interval()
        return _percent(low, down=True), _percent(high, down=False)

    @property
    def sentence(self) -> str:
        """The figure in words, with its interval and what it does not cover."""
        low, high = self.between
        return said_n(
            "Under this policy {n:d} of {badges:d} badges was wrong on {name} "
            "(95 % interval: {low} to {high}). Not measured on your documents.",
            "Under this policy {n:d} of {badges:d} badges were wrong on {name} "
            "(95 % interval: {low} to {high}). Not measured on your documents.",
            self.wrong,
            badges=self.badges,
            name=self.set_name,
            low=low,
            high=high,
        )


@dataclass(frozen=True, slots=True)
class _File:
    version: int
    measurements: tuple[Measurement, ...]


_ADAPTER: Final = TypeAdapter(_File)
_MEASUREMENTS: Final = TypeAdapter(tuple[Measurement, ...])


def read_measurements(path: Path) -> tuple[Measurement, ...]:
    """Return the measurements in *path*, () when there is no such file.

    Raises ModelError when anything in it is malformed: one entry that cannot be believed spoils
    the others.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror}): check the file") from error
    try:
        found = _ADAPTER.validate_json(json.dumps(strict_json(data)), strict=True, extra="forbid")
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "its top"
        raise ModelError(_complaint(path, f"it is malformed at {where}")) from error
    except (CertificateError, ModelError, PolicyError) as error:
        raise ModelError(_complaint(path, str(error))) from error
    if found.version not in _READ:
        raise ModelError(_complaint(path, f"version {found.version}, read here is {VERSION}"))
    if found.version == 1 and any(one.thresholds or one.true_rows for one in found.measurements):
        raise ModelError(_complaint(path, "version 1 has no thresholds"))
    return found.measurements


def measurements_bytes(measurements: Sequence[Measurement]) -> bytes:
    """Return *measurements* as the JSON that `read_measurements` reads."""
    values = _MEASUREMENTS.dump_python(tuple(measurements), mode="json")
    content = {"version": VERSION, "measurements": values}
    return (json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def measured_for(
    measurements: Sequence[Measurement], models: Sequence[ModelIdentity], policy: Policy
) -> tuple[Measurement, ...]:
    """Return those of *measurements* that speak of the one verifier in *models* and of *policy*.

    The set on which most badges may be wrong comes first. () when *models* names no verifier or more than one, and when the policy differs in anything.
    """
    verifiers = [model for model in models if model.role == "verifier"]
    if len(verifiers) != 1:
        return ()
    found = (
        own for own in measurements if own.verifier == verifiers[0].sha256 and own.policy == policy
    )
    return tuple(sorted(found, key=lambda own: -own.interval()[1]))


def _percent(share: float, *, down: bool) -> str:
    """Return *share* in per cent with one decimal, rounded away from the figure itself."""
    tenths = share * 1000
    whole = int(tenths) if down else -int(-tenths // 1)
    return f"{whole / 10:.1f} %"


def _complaint(path: Path, fault: str) -> str:
    return f"{path} does not hold measurements: {fault}; restore it from the release"
