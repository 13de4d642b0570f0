"""The training loop: length-bucketed batches, averaged weights, and a state to go on from."""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from training.encode import Example
from training.network import PairClassifier, loss_of


@dataclass(frozen=True, slots=True)
class Schedule:
    """How one stage is trained.

    *tokens* is the most tokens of a batch with its padding, *learning_rate* the peak (AdamW,
    linear warm-up over the first 5 % of steps and linear decay to zero), *average* the decay per
    step of the moving average of the weights, which is what the stage leaves behind. The *frozen*
    lowest layers stay as they are.
    """

    name: str
    epochs: int
    learning_rate: float
    tokens: int
    smoothing: float
    average: float
    seed: int
    frozen: int = 0


def batches(examples: Sequence[Example], *, tokens: int, rng: random.Random) -> list[list[Example]]:
    """Return shuffled batches of examples of nearly equal length, each at most *tokens* padded."""
    order = sorted(examples, key=lambda example: (len(example.ids), rng.random()))
    groups: list[list[Example]] = []
    group: list[Example] = []
    for example in order:
        if group and len(example.ids) * (len(group) + 1) > tokens:
            groups.append(group)
            group = []
        group.append(example)
    if group:
        groups.append(group)
    rng.shuffle(groups)
    return groups


def tensors(batch: Sequence[Example], device: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return ids, segments, mask (batch, longest) and labels (claims,) as int64."""
    longest = max(len(example.ids) for example in batch)
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    segments, mask = torch.zeros_like(ids), torch.zeros_like(ids)
    for row, example in enumerate(batch):
        size = len(example.ids)
        ids[row, :size] = torch.tensor(example.ids)
        mask[row, :size] = 1
        segments[row, :size] = torch.tensor(example.segments())
    labels = torch.tensor([label for example in batch for label in example.labels])
    return ids.to(device), segments.to(device), mask.to(device), labels.to(device)


class Trainer:
    """Trains one stage and can be stopped and taken up again at any step.

    Every *save_seconds* the whole state goes to *state_path*, written beside it and renamed, so
    that an interruption leaves the last whole state. The order of batches follows from the
    schedule's seed alone.
    """

    def __init__(
        self,
        model: PairClassifier,
        schedule: Schedule,
        *,
        device: str,
        state_path: Path,
        save_seconds: float = 300.0,
    ) -> None:
        self._model, self._schedule, self._device = model, schedule, device
        self._state_path, self._save_seconds = state_path, save_seconds
        words = model.backbone.get_parameter("embeddings.word_embeddings.weight")
        words.requires_grad_(False)  # half of the weights, and good as they are
        for name, parameter in model.named_parameters():
            layer = re.search(r"\.encoder\.layer\.(\d+)\.", name)
            if schedule.frozen and (layer is None or int(layer[1]) < schedule.frozen):
                parameter.requires_grad_(not name.startswith("backbone."))
        self._trained = {n: p for n, p in model.named_parameters() if p.requires_grad}
        decayed = [p for p in self._trained.values() if p.ndim > 1]
        plain = [p for p in self._trained.values() if p.ndim <= 1]
        groups = [
            {"params": decayed, "weight_decay": 0.01},
            {"params": plain, "weight_decay": 0.0},
        ]
        self._optimiser = torch.optim.AdamW(groups, lr=schedule.learning_rate, fused=True)
        self._average = {n: p.detach().clone() for n, p in self._trained.items()}
        self._step = 0

    def run(
        self, epochs: Sequence[Sequence[Example]], progress: Callable[[str, int, int], None]
    ) -> None:
        """Train on each of *epochs* in turn and leave the averaged weights in the model."""
        steps = list(self._steps(epochs))
        self._resume()
        began, first, seen, losses = time.monotonic(), self._step, 0, 0.0
        saved = began
        for batch in steps[self._step :]:
            losses = 0.98 * losses + 0.02 * self._train(batch, len(steps))
            seen += sum(len(example.ids) for example in batch)
            self._step += 1
            now = time.monotonic()
            if self._step % 50 == 0 or self._step == len(steps):
                share = 1 - 0.98 ** (self._step - first)
                line = f"{self._schedule.name}: loss {losses / share:.4f}"
                progress(f"{line}, {seen / (now - began):.0f} tokens/s", self._step, len(steps))
            if now - saved > self._save_seconds:
                self._save()
                saved = now
        with torch.no_grad():
            for name, parameter in self._trained.items():
                parameter.copy_(self._average[name])
        self._state_path.unlink(missing_ok=True)

    def _steps(self, epochs: Sequence[Sequence[Example]]) -> Iterator[list[Example]]:
        for number, examples in enumerate(epochs):
            rng = random.Random(f"{self._schedule.seed}/{self._schedule.name}/{number}")  # noqa: S311  # an order, not a secret
            yield from batches(examples, tokens=self._schedule.tokens, rng=rng)

    def _train(self, batch: Sequence[Example], total: int) -> float:
        warm = max(1, total // 20)
        if self._step < warm:
            factor = (self._step + 1) / warm
        else:
            factor = (total - self._step) / max(1, total - warm)
        for group in self._optimiser.param_groups:
            group["lr"] = self._schedule.learning_rate * factor
        ids, segments, mask, labels = tensors(batch, self._device)
        self._model.train()
        with torch.autocast(self._device.split(":")[0], dtype=torch.bfloat16):
            logits = self._model(ids, segments, mask)
        loss = loss_of(logits, labels, self._schedule.smoothing)
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(list(self._trained.values()), 1.0)
        self._optimiser.step()
        # The average starts short, so that it does not drag the first weights along.
        keep = min(self._schedule.average, (self._step + 1) / (self._step + 10))
        with torch.no_grad():
            for name, parameter in self._trained.items():
                self._average[name].lerp_(parameter, 1 - keep)
        value = float(loss.detach())
        if not math.isfinite(value):
            message = f"the loss is {value} at step {self._step}; lower the learning rate"
            raise FloatingPointError(message)
        return value

    def _save(self) -> None:
        state: dict[str, Any] = {
            "schedule": repr(self._schedule),
            "step": self._step,
            "weights": {n: p.detach() for n, p in self._trained.items()},
            "average": self._average,
            "optimiser": self._optimiser.state_dict(),
        }
        beside = self._state_path.with_suffix(".new")
        torch.save(state, beside)
        beside.replace(self._state_path)

    def _resume(self) -> None:
        if not self._state_path.exists():
            return
        state = torch.load(self._state_path, map_location=self._device, weights_only=True)
        if state["schedule"] != repr(self._schedule):
            return  # of another configuration: begin anew
        with torch.no_grad():
            for name, parameter in self._trained.items():
                parameter.copy_(state["weights"][name])
                self._average[name].copy_(state["average"][name])
        self._optimiser.load_state_dict(state["optimiser"])
        self._step = state["step"]


@torch.inference_mode()
def logits_of(
    model: PairClassifier, examples: Sequence[Example], *, device: str, tokens: int = 8192
) -> list[tuple[float, float, float]]:
    """Return the three logits of each example, which has one claim, in order, in 32 bits."""
    model.eval()
    order = sorted(range(len(examples)), key=lambda at: len(examples[at].ids))
    found: dict[int, tuple[float, float, float]] = {}
    group: list[int] = []
    for position, at in enumerate(order):
        group.append(at)
        upcoming = order[position + 1] if position + 1 < len(order) else None
        if upcoming is None or len(examples[upcoming].ids) * (len(group) + 1) > tokens:
            ids, segments, mask, _ = tensors([examples[own] for own in group], device)
            for own, row in zip(group, model(ids, segments, mask).float().tolist(), strict=True):
                found[own] = (row[0], row[1], row[2])
            group = []
    return [found[at] for at in range(len(examples))]
