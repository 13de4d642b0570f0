"""What a training run is made of: one TOML file, read strictly."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from certirag.errors import InputError


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True)
class Stage:
    """One pass of training: *shares* says how much of each source is used in an epoch.

    A source that is not named has the share of ``"*"`` (1 unless given); 0 leaves it out, 0.5
    takes every other row, another half in each epoch. *average* is the decay of the moving average of the
    weights per step, *tokens* the most tokens of a batch.
    """

    name: str
    epochs: int
    learning_rate: float
    shares: dict[str, float] = field(default_factory=dict)
    tokens: int = 2560
    smoothing: float = 0.0
    average: float = 0.998


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """A whole run: the same config, weights, pairs and seed give the same order of steps.

    *room* is the most tokens of a training pair, *max_tokens* of a pair at inference;
    *held_out* the share of premises that no stage sees (calibration and early figures);
    *contrast_seed* seeds the made pairs, none are made when it is absent. *fills* is how many
    times the slots of the near misses are filled, 0 for none of them. Claims about one text are
    read *together* while they take at most so many tokens (MPNet only), 0 for each alone. *layers* keeps so many of
    the backbone's, *frozen* of them, the lowest, are not trained. With *merged*
    "stages" the result is the mean of the weights at the end of every stage (Wortsman et al. 2022, "Model
    soups"), not those of the last; "with the start" counts those that the run began with as one more
    (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models"), so that a stage forgets less.
    """

    name: str
    version: str
    seed: int
    stages: tuple[Stage, ...]
    room: int = 256
    max_tokens: int = 320
    held_out: float = 0.04
    contrast_seed: int | None = None
    fills: int = 0
    together: int = 0
    layers: int | None = None
    frozen: int = 0
    merged: Literal["stages", "with the start"] | None = None


_CONFIG = TypeAdapter(TrainingConfig)


def read_config(path: Path) -> TrainingConfig:
    """Read *path*; InputError names what is missing, unknown or of another type."""
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        content["stages"] = tuple(content.get("stages", ()))
        config = _CONFIG.validate_python(content)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"cannot read the training config {path}: {error}"
        raise InputError(message) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        message = f"{path}: {place or 'the file'}: {first['msg']}"
        raise InputError(message) from error
    if not config.stages:
        message = f"{path} has no [[stages]]; a run needs at least one"
        raise InputError(message)
    return config
