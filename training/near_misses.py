r"""Hand-written near misses → training rows in the windows that the verifier reads.

A case (`fixtures/near_misses/*.jsonl`) is a few near twins of one text with claims, and for each
claim one letter per text: ``e`` entailed, ``n`` neutral, ``c`` contradicted. The same claim stands
under several labels, so that neither its own wording nor its closeness to the text gives it away
(Gardner et al. 2020, contrast sets). Slots such as ``{P1}`` are filled anew in every epoch; figures
of one letter ascend, so that what is said of their order holds.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from certirag.errors import InputError
from certirag.ingest.chunk import chunk_document
from certirag.ingest.extract import Limits
from certirag.ingest.load import load_document
from certirag.ports import SentenceSplitter
from certirag.verification.candidates import content_words
from training.contrast import heading
from training.contrast_swap import drawing
from training.rows import Row, RowLabel

LABELS: Final[dict[str, RowLabel]] = {"e": "entailed", "n": "neutral", "c": "contradicted"}
FOLDER: Final = Path(__file__).resolve().parents[1] / "fixtures" / "near_misses"
PART: Final = 6  # every sixth case and every sixth family is kept from training

_SLOT: Final = re.compile(r"\{([A-Z][1-9])\}")
_CHOICE: Final = re.compile(r"\[\[([^\[\]]*)\]\]")
# A text that begins so leans on what stands before it: no stranger may be put there.
_OPENING: Final = re.compile(r"[A-Z{][\w{}' ]")


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Near twins of one text, and claims with one of ``e n c`` for each of them."""

    family: str
    texts: tuple[str, ...]
    claims: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        """What the case is told apart by."""
        return self.texts[0]


def read_near_misses(folder: Path) -> list[NearMiss]:
    """Read every ``*.jsonl`` in *folder*; raise InputError naming a bad line."""
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                found.append(_case(line, f"{path}, line {number}"))
    if not found:
        message = f"no near misses in {folder}; give a folder of .jsonl files"
        raise InputError(message)
    return found


def _case(line: str, place: str) -> NearMiss:
    try:
        content = json.loads(line)
        case = NearMiss(
            content["family"],
            tuple(content["texts"]),
            tuple((claim, letters) for claim, letters in content["claims"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        message = f"{place} is no case with family, texts and claims: {error!r}"
        raise InputError(message) from error
    for claim, letters in case.claims:
        if len(letters) != len(case.texts) or not set(letters) <= set(LABELS):
            message = f"{place}: {claim!r} has {letters!r}, not one of e, n, c for each text"
            raise InputError(message)
    return case


def split_cases(
    cases: Iterable[NearMiss],
) -> tuple[list[NearMiss], list[NearMiss], list[NearMiss]]:
    """Part *cases* into those to train on, unseen cases of seen families, and unseen families."""
    train, unseen, strange = [], [], []
    for case in cases:
        if drawing(f"family/{case.family}").randrange(PART) == 0:
            strange.append(case)
        elif drawing(f"case/{case.key}").randrange(PART) == 0:
            unseen.append(case)
        else:
            train.append(case)
    return train, unseen, strange


def near_miss_rows(
    cases: Sequence[NearMiss], split: SentenceSplitter, *, seed: int, dressed: bool = True
) -> Iterator[Row]:
    """Yield a row for each claim and each text of *cases*, slots filled by *seed*.

    The premise is a window as the verifier reads it: ``title › section: text`` of one chunk. Of a
    text in several chunks a true claim is taught on the chunk that has most of its words, or on
    all where none has clearly most; an untrue one on the closest chunk and on one more. *dressed*
    puts strangers before and after plain texts, and made headings over them.
    """
    plain = [case for case in cases if not case.texts[0].startswith(("#", "-", "|"))]
    for case in cases:
        chance = drawing(f"{seed}/{case.key}")
        values = slot_values(chance)
        claims = [(fill(claim, values, chance), letters) for claim, letters in case.claims]
        for at, text in enumerate(case.texts):
            windows = _windows(fill(text, values, chance), split)
            if dressed and len(windows) == 1 and not text.startswith("#"):
                windows = (_dressed(windows[0], plain, case, chance),)
            for claim, letters in claims:
                yield from _rows(case.family, windows, claim, LABELS[letters[at]], chance)


def _rows(
    family: str, windows: Sequence[str], claim: str, label: RowLabel, chance: random.Random
) -> Iterator[Row]:
    source = f"near_{family}"
    if len(windows) == 1:
        yield Row(source, windows[0], claim, label)
        return
    wanted = content_words(claim)
    shares = [len(wanted & content_words(w)) / max(1, len(wanted)) for w in windows]
    order = sorted(range(len(windows)), key=lambda at: -shares[at])
    best, second = order[0], order[1]
    if label == "entailed":
        clear = shares[best] > shares[second] + 0.15
        yield Row(source, windows[best] if clear else "\n".join(windows), claim, label)
        return
    yield Row(source, windows[best], claim, "not_entailed")
    if chance.random() < 0.5:
        yield Row(source, "\n".join(windows), claim, label)
    else:
        yield Row(source, windows[chance.choice(order[1:])], claim, "not_entailed")


def _windows(text: str, split: SentenceSplitter) -> tuple[str, ...]:
    document = load_document(text.encode(), path="text.md", limits=Limits())
    titled = any(line.startswith("# ") for line in text.splitlines())
    windows = []
    for chunk in chunk_document(document, split):
        context = chunk.context if titled else chunk.source.section
        windows.append(f"{context}: {chunk.text}" if context else chunk.text)
    return tuple(windows)


def _dressed(window: str, others: Sequence[NearMiss], own: NearMiss, chance: random.Random) -> str:
    before = _stranger(others, own, chance) if chance.random() < 0.3 else ""
    after = _stranger(others, own, chance) if chance.random() < 0.3 else ""
    text = " ".join(part for part in (before, window, after) if part)
    return f"{heading(chance)}: {text}" if chance.random() < 0.5 else text


def _stranger(others: Sequence[NearMiss], own: NearMiss, chance: random.Random) -> str:
    """Return one plain text of another case, with names and figures of its own."""
    for _ in range(8):
        other = chance.choice(others)
        text = chance.choice(other.texts)
        if other.family != own.family and len(text) < 260 and _OPENING.match(text):
            return fill(text, slot_values(chance), chance)
    return ""


def fill(text: str, values: dict[str, str], chance: random.Random) -> str:
    """Return *text* with one of each ``[[a|b]]`` and the *values* in its slots."""
    chosen = _CHOICE.sub(lambda found: chance.choice(found[1].split("|")), text)
    return _SLOT.sub(lambda found: values[found[1]], chosen)


@lru_cache(maxsize=1)
def _words() -> dict[str, list[str]]:
    content: dict[str, list[str]] = json.loads((FOLDER / "slots.json").read_text(encoding="utf-8"))
    return content


def slot_values(chance: random.Random) -> dict[str, str]:
    """Return a value for every slot; figures, years, days and times of one letter ascend."""
    words = _words()
    found: dict[str, str] = {}

    def put(letter: str, values: Iterable[object]) -> None:
        found.update({f"{letter}{at}": str(value) for at, value in enumerate(values, 1)})

    first, last = chance.sample(words["first"], 10), chance.sample(words["last"], 6)
    full = chance.random() < 0.55
    people = zip(first, last, strict=False)
    put("P", [f"{one} {other}" if full else other for one, other in people])
    put("F", first[6:])
    names = chance.sample(words["organisation"], 6)
    kinds = [chance.choice(words["kind"]) for _ in names]
    put("O", [" ".join(pair) for pair in zip(names, kinds, strict=True)])
    put("L", chance.sample(words["place"], 6))
    put("N", chance.sample(words["product"], 6))
    alike = chance.sample(chance.choice(words["alike"]).split("/"), 2)
    found |= {"X1": alike[0], "Y1": alike[1]}
    for letter, (low, high, count) in _RANGES.items():
        put(letter, _ascending(chance, low, high, count))
    put("K", [f"{value:,}" for value in _ascending(chance, 1_200, 98_000, 6)])
    put("R", [f"{value / 10:.1f}" for value in _ascending(chance, 11, 399, 6)])
    for letter, (name, count) in _ORDERED.items():
        places = sorted(chance.sample(range(len(words[name])), count))
        put(letter, [words[name][at] for at in places])
    times = sorted(chance.sample(range(25, 92), 6))
    put("T", [f"{quarter // 4:02d}:{quarter % 4 * 15:02d}" for quarter in times])
    for letter, name in _DRAWN.items():
        put(letter, chance.sample(words[name], 4))
    return found


_RANGES: Final = {
    "I": (2, 99, 8),
    "H": (120, 980, 6),
    "Q": (3, 96, 6),
    "A": (1961, 2026, 6),
    "D": (2, 28, 4),
}
_ORDERED: Final = {"M": ("month", 6), "W": ("weekday", 6), "V": ("number", 6)}
_DRAWN: Final = {"C": "colour", "G": "animal", "S": "subject", "J": "job"}


def _ascending(chance: random.Random, low: int, high: int, count: int) -> list[int]:
    """Return *count* whole numbers that ascend by at least a thirtieth of the range."""
    room = (high - low) - (count - 1) * ((high - low) // 30)
    drawn = sorted(chance.sample(range(room + 1), count))
    return [low + value + at * ((high - low) // 30) for at, value in enumerate(drawn)]
