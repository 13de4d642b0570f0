"""`certirag eval bounds`: whether a run's figures stay within named bounds, for a build that must fail else.

A file of bounds is TOML. Each ``[[bound]]`` names a figure, by words or by a JSON Pointer (RFC 6901) into
``figures.json``, and ``at_least``, ``at_most`` or both; ``[run]`` says of which run they are. A figure that
is not there, or is no number, breaks its bound.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from certirag.errors import InputError
from certirag.eval.pairs import RUN
from certirag.verification.clopper_pearson import exact_interval

FIGURES: Final = "figures.json"
# Part of the figures → the field that names one of its entries.
_NAMED_BY: Final = {
    "systems": "system",
    "gate": "source",
    "verifier": "source",
    "questions": "part",
}
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")  # of a list, as RFC 6901 writes it


class FigureBound(BaseModel):
    """A figure and the numbers between which it has to lie, both included.

    *figure* is ``PART/NAME/FIELD``, as ``systems/CertiRAG Strict/wrong``, or ``PART/FIELD`` with the name in
    *source*; a field inside another follows after a slash. A share of counts has the fields ``share``
    (which is meant without one), ``low`` and ``high`` (its exact 95 % interval), ``part`` and ``whole``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    figure: str = ""
    pointer: str = ""
    source: str = ""
    at_least: float | None = None
    at_most: float | None = None
    why: str = ""

    @model_validator(mode="after")
    def _whole(self) -> FigureBound:
        if bool(self.figure) == bool(self.pointer):
            raise ValueError("give one of figure and pointer")
        if self.pointer and (self.source or not self.pointer.startswith("/")):
            raise ValueError("a pointer begins with / and stands without source")
        limits = [limit for limit in (self.at_least, self.at_most) if limit is not None]
        if not limits or not all(map(math.isfinite, limits)):
            raise ValueError("give at_least or at_most, a finite number")
        if len(limits) == 2 and limits[0] > limits[1]:
            raise ValueError("at_least is above at_most: no number lies between")
        return self

    @property
    def named(self) -> str:
        """What the bound is about, as its file says it."""
        return self.pointer or " of ".join(filter(None, (self.figure, self.source)))


class RunBounds(BaseModel):
    """A file of bounds: fields that ``run.json`` has to have, and bounds, at least one."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    run: dict[str, str | int | bool] = {}
    bound: list[FigureBound]

    @model_validator(mode="after")
    def _some(self) -> RunBounds:
        if not self.bound:
            raise ValueError("holds no [[bound]]: nothing would be checked")
        return self


@dataclass(frozen=True, slots=True)
class CheckedBound:
    """What became of a bound on *figure*: its *value*, None where it is not there, and why it is *broken*."""

    figure: str
    value: float | None
    at_least: float | None
    at_most: float | None
    broken: str
    why: str = ""

    def __str__(self) -> str:
        limits = [
            f"{words} {limit:g}"
            for words, limit in (("at least", self.at_least), ("at most", self.at_most))
            if limit is not None
        ]
        value = "no figure" if self.value is None else f"{self.value:.6g}"
        found = ", ".join((value, *limits)) if limits else self.broken
        said = f"{'broken' if self.broken else 'held':<7}{' '.join(self.figure.split())}: {found}"
        missing = self.broken if self.value is None and limits else ""
        added = "; ".join(filter(None, (missing, " ".join(self.why.split()))))
        return f"{said} ({added})" if added else said


def read_bounds(path: Path) -> RunBounds:
    """Return the bounds of a TOML file; InputError naming what is wrong in it."""
    try:
        return RunBounds.model_validate(tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: save it as UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path}: is no TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        # Bounds are counted from 1 for a reader.
        place = ".".join(str(at + 1) if isinstance(at, int) else at for at in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{path}: {place or 'the file'}: {message}") from error


def check_bounds(run: Path, bounds: RunBounds) -> list[CheckedBound]:
    """Return what becomes of each of *bounds* in the folder of a finished *run*, in their order.

    What ``[run]`` asks for comes first, where the run differs. Raises InputError for a folder that
    holds no figures.
    """
    described, found = _read(run / RUN), _read(run / FIGURES)
    differing = [
        CheckedBound(
            f"run/{field}",
            None,
            None,
            None,
            f"is {described.get(field, 'not there')!r}, and the bounds are for {value!r}",
        )
        for field, value in bounds.run.items()
        if described.get(field) != value
        or isinstance(described.get(field), bool) != isinstance(value, bool)
    ]
    return differing + [_checked(found, bound) for bound in bounds.bound]


def bounds_lines(checked: Sequence[CheckedBound]) -> Iterator[str]:
    """Yield a line for each bound, and one that counts."""
    yield from map(str, checked)
    broken = sum(bool(one.broken) for one in checked)
    yield (
        f"{broken} of {len(checked)} bounds broken"
        if broken
        else f"{len(checked)} of {len(checked)} bounds held"
    )


def _read(path: Path) -> dict[str, Any]:
    """Return a JSON object; NaN is no number, and in JSON there is none."""

    def refuse(_name: str) -> None:
        raise ValueError

    try:
        found = json.loads(path.read_text("utf-8"), parse_constant=refuse)
    except (OSError, ValueError, RecursionError) as error:
        message = f"{path}: is not there or no JSON: name the folder of a run that is finished"
        raise InputError(message) from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: is no JSON object: name the folder of a run that is finished")
    return found


def _checked(found: Mapping[str, Any], bound: FigureBound) -> CheckedBound:
    limits = (bound.at_least, bound.at_most)
    try:
        value = _number(_at(found, bound.pointer) if bound.pointer else _of_figure(found, bound))
    except LookupError as error:
        return CheckedBound(bound.named, None, *limits, str(error.args[0]), bound.why)
    low = -math.inf if bound.at_least is None else bound.at_least
    high = math.inf if bound.at_most is None else bound.at_most
    broken = "" if low <= value <= high else "out of bounds"
    return CheckedBound(bound.named, value, *limits, broken, bound.why)


def _of_figure(found: Mapping[str, Any], bound: FigureBound) -> object:
    """Return what *bound* names by words. Raises LookupError, saying what is missing."""
    part, _, rest = bound.figure.partition("/")
    entries = found.get(part)
    if part not in _NAMED_BY or not isinstance(entries, list):
        raise LookupError(f"the run has no part {part!r}")
    by_name = [(str(one.get(_NAMED_BY[part], "")), one) for one in entries if isinstance(one, dict)]
    if bound.source:
        fits = [(rest, one) for name, one in by_name if name == bound.source]
    else:
        # A name may hold slashes, and begin with another one.
        fits = [(rest.removeprefix(f"{n}/"), one) for n, one in by_name if rest.startswith(f"{n}/")]
    if len(fits) != 1:
        many = "names several entries" if fits else "names no entry"
        raise LookupError(f"it {many} of {part}")
    fields, value = fits[0]
    return _down(value, fields.split("/"))


def _at(found: object, pointer: str) -> object:
    steps = (step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))
    return _down(found, list(steps))


def _down(value: object, steps: Sequence[str]) -> object:
    """Go down from *value*; a share has what is computed from its counts too."""
    for at, step in enumerate(steps):
        if isinstance(value, dict) and value.keys() == {"part", "whole"} and step not in value:
            value = _of_share(value).get(step)
        elif isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            value = None
        if value is None:
            raise LookupError(f"there is no figure at {'/'.join(steps[: at + 1])!r}")
    return value


def _of_share(share: Mapping[str, Any]) -> dict[str, float]:
    """Return the share and its exact interval; nothing where nothing was counted."""
    part, whole = share["part"], share["whole"]
    if type(part) is not int or type(whole) is not int or not 0 <= part <= whole or not whole:
        return {}
    low, high = exact_interval(part, whole)
    return {"share": part / whole, "low": low, "high": high}


def _number(value: object) -> float:
    if isinstance(value, dict) and value.keys() == {"part", "whole"}:
        value = _of_share(value).get("share")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LookupError("it is no number")
    try:
        found = float(value)
    except OverflowError as error:
        raise LookupError("it is no number of a size to compare") from error
    if not math.isfinite(found):
        raise LookupError("it is no finite number")
    return found
