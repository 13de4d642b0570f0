"""A sample for a human spot check as a folder: what a rater reads, and apart from it what a rater must not.

``sample.json`` says what it is, ``items.jsonl`` has the claims with their evidence, ``ratings/`` a file
for each rater (`eval.spot_ratings`), and ``sealed/key.jsonl`` where each claim comes from, its gold
and its scores. The key is sealed by its digest in ``sample.json``: it is not encrypted, and whoever
rates must not open it. What draws the rating view reads no more than this module's `read_items`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from certirag.core.text import sha256_hex
from certirag.errors import InputError

T = TypeVar("T")
FORMAT: Final = 1  # of a sample
SAMPLE, ITEMS, SEALED, KEY = "sample.json", "items.jsonl", "sealed", "key.jsonl"
FOLDER: Final = "spot-checks"  # in the home: the samples that the page offers
# A sample's folder is named in an address and in a list: no other name is offered.
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")
_MOST: Final = 100_000_000  # bytes of a file that is read


@dataclass(frozen=True, slots=True)
class SpotSample:
    """What a folder of a spot check says of itself; *size* items, drawn by *seed*.

    *items_sha256* and *key_sha256* are those of the files, so that neither changes unseen.
    """

    format: Literal[1]
    what: Literal["spot check"]
    size: int
    seed: int
    items_sha256: str
    key_sha256: str


@dataclass(frozen=True, slots=True)
class SpotItem:
    """A claim that had the badge, its attached sentences, and the one that speaks most *against* it."""

    id: str
    claim: str
    evidence: tuple[str, ...]
    against: str


@dataclass(frozen=True, slots=True)
class KeyItem:
    """What is kept from the raters of the item *id*: claim *claim* (from 0) of the row *number*.

    *gold* is what people said of it: entailed, not_entailed or a class of it, "" where nobody said it
    of this claim. *entailed* and *contradicted* are its scores, *verdict* is the verifier's. A claim
    of a logged answer has that answer's *trace_id*, and the entry's number.
    """

    id: str
    number: int
    claim: int
    source: str
    gold: str
    verdict: str
    entailed: float | None
    contradicted: float | None
    trace_id: str = ""


SPOT_ITEM: Final = TypeAdapter(SpotItem)
KEY_ITEM: Final = TypeAdapter(KeyItem)
_SAMPLE: Final = TypeAdapter(SpotSample)


def sample_names(home: Path) -> tuple[str, ...]:
    """Return the names of the samples in *home* that can be rated on the page, in order."""
    folder = home / FOLDER
    if not folder.is_dir():
        return ()
    found = (one.name for one in folder.iterdir() if (one / SAMPLE).is_file())
    return tuple(sorted(name for name in found if _NAME.fullmatch(name)))


def read_sample(folder: Path) -> SpotSample:
    """Return what *folder* says of itself; InputError where it is no sample of a spot check."""
    try:
        return _SAMPLE.validate_json(_read(folder / SAMPLE))
    except (ValidationError, InputError) as error:
        raise InputError(
            f"{folder}: is no sample of a spot check: name a folder that certirag eval sample wrote"
        ) from error


def read_items(folder: Path) -> tuple[SpotItem, ...]:
    """Return the items of the sample in *folder*, in the order in which they are rated.

    Raises InputError for a folder that is no sample, and for items that are not those drawn.
    """
    sample = read_sample(folder)
    data = _read(folder / ITEMS)
    if sha256_hex(data) != sample.items_sha256:
        raise InputError(f"{folder / ITEMS}: is not what was drawn: draw a sample again")
    return tuple(_lines(folder / ITEMS, data, SPOT_ITEM))


def read_key(folder: Path) -> dict[str, KeyItem]:
    """Return the sealed key of the sample in *folder* by item, {} where it was taken away.

    For whoever reckons, not for whoever rates. Raises InputError for a key that was changed.
    """
    path = folder / SEALED / KEY
    if not path.exists():
        return {}
    data = _read(path)
    if sha256_hex(data) != read_sample(folder).key_sha256:
        raise InputError(
            f"{path}: is not the key that was sealed: put the right one there, or none"
        )
    return {item.id: item for item in _lines(path, data, KEY_ITEM)}


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST:
            raise InputError(f"{path}: is larger than {_MOST} bytes: it is no file of a sample")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the folder") from error


def _lines(path: Path, data: bytes, adapter: TypeAdapter[T]) -> list[T]:
    found = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            found.append(adapter.validate_json(line))
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"])) or "the line"
            message = f"{path}, line {number}: {place}: is not what a sample has there"
            raise InputError(message) from error
    return found


def json_lines(items: list[SpotItem] | list[KeyItem]) -> bytes:
    """Return *items* as lines of JSON in UTF-8."""
    rows = (
        (SPOT_ITEM.dump_python(one) if isinstance(one, SpotItem) else KEY_ITEM.dump_python(one))
        for one in items
    )
    text = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    return text.encode("utf-8", "replace")
