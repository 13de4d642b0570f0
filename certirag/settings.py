"""Settings, read from the environment once and passed on as a value."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from certirag.errors import InputError

_PACKAGE = Path(__file__).resolve().parent
# A wheel carries the assets inside the package; a checkout has them beside it.
ASSETS = next(p for p in (_PACKAGE / "assets", _PACKAGE.parent / "assets") if p.is_dir())


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set; each field is the variable CERTIRAG_<FIELD> in capitals.

    The caps are the seed's (CertiRAG seed §9 NFR-2): claims an answer, spans a claim, pairs a
    question. *policy* is the server's: a caller can only tighten it.
    """

    home: Path = Path("~/.local/share/certirag")
    policy: str = "strict-1"
    embedder: str = "embedded"
    verifier: str = "lexical"
    reranker: str = "late-interaction"
    sentences: str = "rules"
    max_chunks: int = 8
    max_spans_per_chunk: int = 12
    max_claims: int = 12
    max_spans_per_claim: int = 20
    max_pairs: int = 240
    max_file_bytes: int = 25_000_000
    max_pages: int = 2_000

    def caps(self) -> dict[str, str | int | float | bool]:
        """Return what shapes an answer, for the record and its hash; no paths, no secrets."""
        skipped = {"home"}
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in skipped}


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings that *environment* (by default the process's) asks for.

    Raises InputError naming the variable whose value cannot be used.
    """
    source = os.environ if environment is None else environment
    chosen: dict[str, Any] = {}
    for setting in fields(Settings):
        variable = f"CERTIRAG_{setting.name.upper()}"
        if variable in source:
            chosen[setting.name] = _parsed(variable, source[variable], setting.default)
    settings = Settings(**chosen)
    return replace(settings, home=settings.home.expanduser())


def _parsed(variable: str, text: str, default: object) -> object:
    if isinstance(default, int):
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise InputError(f"{variable}={text!r}: give a whole number of at least 1")
        return int(text)
    if not text.strip():
        raise InputError(f"{variable} is empty: give a value or unset it")
    return Path(text) if isinstance(default, Path) else text
