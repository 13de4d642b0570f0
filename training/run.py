"""Runs the stages of a training config one after the other, each from where it was left."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from certirag.bootstrap import make_splitter
from certirag.errors import InputError
from training.config import Stage, TrainingConfig
from training.encode import Example, encode_rows
from training.export import open_model
from training.fit import Schedule, Trainer
from training.network import PairClassifier
from training.rows import Row, by_source, held_out, limited, read_rows

Say = Callable[[str], None]
MERGED: Final = "merged"


def train(
    config: TrainingConfig,
    *,
    pairs: Path,
    made: Path | None,
    weights: Path,
    work: Path,
    limit: int | None,
    device: str,
    threads: int | None,
    say: Say,
) -> Path:
    """Train every stage and return the folder of the finished checkpoint in *work*.

    The folder holds ``model.safetensors``, ``config.json`` and ``tokenizer.json``. A stage whose
    folder is there already is not trained again.
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if threads:
        torch.set_num_threads(threads)
    torch.manual_seed(config.seed)
    work.mkdir(parents=True, exist_ok=True)
    model = open_model(weights, config.layers).to(device)
    starts = [_copied(model)] if config.merged == "with the start" else []
    tokenizer = open_tokenizer(weights)
    examples: dict[str, list[Example]] | None = None
    folder = work
    for number, stage in enumerate(config.stages, 1):
        folder = work / f"{number}-{stage.name}"
        if (folder / "model.safetensors").exists():
            say(f"stage {stage.name} is there already")
            model.load_state_dict(load_file(folder / "model.safetensors", device=device))
            continue
        if examples is None:
            examples = _examples(config, pairs, made, tokenizer, limit, say)
        _train_stage(config, stage, model, examples, folder, device, say)
        _keep(model, weights, folder)
    if not config.merged:
        return folder
    ends = [work / f"{number}-{stage.name}" for number, stage in enumerate(config.stages, 1)]
    states = [*starts, *(load_file(end / "model.safetensors") for end in ends)]
    model.load_state_dict(_mean(states))
    say(f"the mean of {len(states)} sets of weights")
    _keep(model, weights, work / MERGED)
    return work / MERGED


def _mean(states: Sequence[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Return the mean of weights that began at the same ones and so lie near each other."""
    return {
        name: torch.stack([state[name].double() for state in states]).mean(dim=0).to(value.dtype)
        for name, value in states[0].items()
    }


def open_tokenizer(folder: Path) -> Tokenizer:
    """Open tokenizer.json in *folder* with truncation and padding off: both are done here."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        message = f"no tokenizer.json in {folder}; give the folder of a BERT model"
        raise InputError(message)
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is five characters, no marker
    return tokenizer


def _examples(
    config: TrainingConfig,
    pairs: Path,
    made: Path | None,
    tokenizer: Tokenizer,
    limit: int | None,
    say: Say,
) -> dict[str, list[Example]]:
    rows, _ = held_out(read_rows(pairs), config.held_out)
    rows = list(limited(rows, limit))
    extra: Sequence[Row] = ()
    if made is not None:
        extra = list(limited(read_rows(made), limit))
    elif config.contrast_seed is not None:
        from training.contrast import contrast_rows

        extra = contrast_rows(rows, seed=config.contrast_seed, limit=limit)
    split = make_splitter("rules")
    if config.fills:
        from training.near_misses import FOLDER, near_miss_rows, read_near_misses, split_cases

        cases, _, _ = split_cases(read_near_misses(FOLDER))
        near = [r for n in range(config.fills) for r in near_miss_rows(cases, split, seed=n)]
        extra = [*extra, *limited(near, limit)]
    say(f"{len(rows)} pairs and {len(extra)} made ones; reading them")
    return {
        source: encode_rows(own, tokenizer, split, room=config.room, together=config.together)
        for source, own in by_source([*rows, *extra]).items()
    }


def _train_stage(
    config: TrainingConfig,
    stage: Stage,
    model: PairClassifier,
    examples: dict[str, list[Example]],
    folder: Path,
    device: str,
    say: Say,
) -> None:
    schedule = Schedule(
        name=stage.name,
        epochs=stage.epochs,
        learning_rate=stage.learning_rate,
        tokens=stage.tokens,
        smoothing=stage.smoothing,
        average=stage.average,
        seed=config.seed,
        frozen=config.frozen,
    )
    epochs = [chosen(stage, examples, config.seed, epoch) for epoch in range(stage.epochs)]
    say(f"stage {stage.name}: {', '.join(str(len(e)) for e in epochs)} pairs an epoch on {device}")
    trainer = Trainer(model, schedule, device=device, state_path=folder.with_suffix(".state"))
    trainer.run(epochs, lambda line, done, total: say(f"{line}, step {done} of {total}"))


def chosen(
    stage: Stage, examples: dict[str, list[Example]], seed: int, epoch: int
) -> list[Example]:
    """Return the examples of one epoch: each source by its share, another part in each epoch."""
    taken: list[Example] = []
    for source, own in examples.items():
        share = _share(stage, source)
        order = list(range(len(own)))
        random.Random(f"{seed}/{source}").shuffle(order)  # noqa: S311  # an order, not a secret
        count = round(min(share, 1.0) * len(own))
        start = epoch * count
        taken += [own[order[(start + at) % len(own)]] for at in range(count)]
        if share > 1.0:  # more than once an epoch
            taken += [own[order[at % len(own)]] for at in range(round((share - 1.0) * len(own)))]
    return taken


def _share(stage: Stage, source: str) -> float:
    named = [name for name in stage.shares if name != "*" and source.startswith(name)]
    return stage.shares[max(named, key=len)] if named else stage.shares.get("*", 1.0)


def _copied(model: PairClassifier) -> dict[str, torch.Tensor]:
    return {k: value.detach().cpu().clone() for k, value in model.state_dict().items()}


def _keep(model: PairClassifier, weights: Path, folder: Path) -> None:
    beside = folder.with_suffix(".new")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    state = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
    save_file(state, beside / "model.safetensors")
    shape = json.loads((weights / "config.json").read_text(encoding="utf-8"))
    shape["num_hidden_layers"] = len(
        {name.split(".")[3] for name in state if ".encoder.layer." in name}
    )
    (beside / "config.json").write_text(json.dumps(shape, indent=1) + "\n", encoding="utf-8")
    shutil.copyfile(weights / "tokenizer.json", beside / "tokenizer.json")
    if folder.name == MERGED:  # made anew by every run
        shutil.rmtree(folder, ignore_errors=True)
    beside.replace(folder)
