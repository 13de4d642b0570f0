"""The three demo corpora, ingested once for the whole run, and services over the real parts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from certirag.answers.services import Services
from certirag.bootstrap import build_services, index_of_paths
from certirag.ports import Index
from certirag.settings import read_settings

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
CORPORA = ("policy", "finance", "clinical")
# With CERTIRAG_WHOLE=1 everything is asked, as for the figures that are written down; else an even part.
WHOLE = bool(os.environ.get("CERTIRAG_WHOLE"))
T = TypeVar("T")


def part_of(rows: Sequence[T], every: int) -> Sequence[T]:
    """Return every *every*-th of *rows*, or all of them with CERTIRAG_WHOLE=1."""
    return rows if WHOLE else rows[::every]


@dataclass(frozen=True)
class Bench:
    """Real services and the indexes of the demo corpora, each built when first asked for."""

    services: Services
    index: Callable[[str], Index]


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Return the services and a way to the indexes."""
    home = tmp_path_factory.mktemp("bench")
    services = build_services(read_settings({"CERTIRAG_HOME": str(home)}))

    @cache
    def index(corpus: str) -> Index:
        return index_of_paths([FIXTURES / "corpora" / corpus], services, lambda *_: None)[0]

    return Bench(services, index)


def drafts() -> list[dict]:
    """Return every recorded draft with its planted errors."""
    paths = sorted((FIXTURES / "drafts").glob("*.json"))
    return [json.loads(path.read_text("utf-8")) for path in paths]


def questions() -> list[dict]:
    """Return every recorded question with what must and must not be Verified."""
    found = sorted((FIXTURES / "questions").glob("*.jsonl"))
    paths = [path for path in found if (FIXTURES / "corpora" / path.stem).is_dir()]
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
