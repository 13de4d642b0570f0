"""Settings, read from the environment once and passed on as a value."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from certirag.errors import InputError

_PACKAGE = Path(__file__).resolve().parent
# A wheel carries the assets inside the package; a checkout has them beside it.
ASSETS = next(p for p in (_PACKAGE / "assets", _PACKAGE.parent / "assets") if p.is_dir())
STRATEGIES: Final = ("interleaved", "generate-then-cite", "strict-quote")
# Where and how long things are kept: no part of how an answer came about, and a secret at times.
# That an index is foreign stands with its fingerprint; how long reading may take, nowhere.
_KEEPING: Final = frozenset(
    {
        "home",
        "audit_url",
        "retention",
        "log_origin",
        "audit_page",
        "audit_everyone",
        "foreign_index",
        "corpus_changes",
        "max_file_seconds",
        "trace_text",
    }
)
_SWITCH: Final = {"true": True, "false": False, "1": True, "0": False, "on": True, "off": False}
_NAME_PART = re.compile(r"[^,:]+")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set; each field is the variable CERTIRAG_<FIELD> in capitals.

    The caps are the seed's (CertiRAG seed §9 NFR-2): claims an answer, spans a claim, pairs a
    question. A pasted draft may have more claims, *max_draft_claims*, and is measured under those
    caps *max_claims* at a time. *policy* is the server's: a caller can only tighten it. *generator* is ``extractive``,
    ``openai:MODEL`` or ``llamacpp:FILE``; *strategy* is how a language model writes. The
    ``enable_…`` toggles are the fifth seed's (Appendix B): each names a step that can be left out
    and falls back on less, never on a badge.

    *audit_url* is the audit log's database, as SQLAlchemy writes it ("": a SQLite file in *home*),
    *log_origin* the name that a new log takes in its checkpoints ("": one that is made up), and
    *retention* the policy that new entries are kept under, by name or as a file. The audit page
    shows a session its own answers, and with *audit_everyone* those of all users to every user of
    the app; *audit_page* takes it away. An index that no key of this home signed is asked only with
    *foreign_index*. *corpus_changes* lets every user of the app delete and read again documents of
    the corpora on disk; None lets a browser on the same machine, and nobody else. *trace_text* puts
    questions and claims into the gateway's traces.
    """

    home: Path = Path("~/.local/share/certirag")
    policy: str = "strict-1"
    embedder: str = "embedded"
    verifier: str = "cascade:embedded,reading,0.1,1.0,0.74"
    reader: str = "embedded,reading"
    reranker: str = "late-interaction"
    sentences: str = "rules"
    max_chunks: int = 8
    max_claims: int = 12
    max_draft_claims: int = 60
    max_spans_per_claim: int = 20
    max_pairs: int = 240
    max_spans_per_source: int = 32
    max_file_bytes: int = 25_000_000
    max_pages: int = 2_000
    max_file_seconds: int = 120
    generator: str = "extractive"
    strategy: str = "interleaved"
    preselection: str = "rerank"
    correction: str = "hybrid"
    enable_evidence_preselection: bool = True
    enable_interleaved_generation: bool = True
    enable_confidence_classification: bool = True
    enable_citation_correction: bool = True
    enable_numeric_qa_verification: bool = True
    enable_abstention: bool = True
    enable_nei_verdict: bool = True
    enable_verification_retrieval: bool = False
    retention: str = "internal_faq"
    log_origin: str = ""
    audit_url: str = field(default="", repr=False)
    audit_page: bool = True
    audit_everyone: bool = False
    foreign_index: bool = False
    corpus_changes: bool | None = None
    trace_text: bool = False

    def caps(self) -> dict[str, str | int | float | bool]:
        """Return what shapes an answer, for the record and its hash; no paths, no secrets."""
        chosen = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _KEEPING}
        return {
            name: _without_directories(value) if isinstance(value, str) else value
            for name, value in chosen.items()
        }


@dataclass(frozen=True, slots=True)
class LanguageModelAccess:
    """Where a language model is asked, and with which key; no setting, so that no record has it."""

    url: str
    key: str = field(repr=False)


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


def read_language_model_access(environment: Mapping[str, str] | None = None) -> LanguageModelAccess:
    """Return CERTIRAG_LLM_URL and CERTIRAG_LLM_KEY; InputError without the URL, "" for no key."""
    source = os.environ if environment is None else environment
    url = source.get("CERTIRAG_LLM_URL", "").strip()
    if not url:
        message = (
            "a language model needs CERTIRAG_LLM_URL, its endpoint as in https://host/v1 "
            "(and CERTIRAG_LLM_KEY, if the endpoint wants a key)"
        )
        raise InputError(message)
    return LanguageModelAccess(url, source.get("CERTIRAG_LLM_KEY", "").strip())


def _without_directories(name: str) -> str:
    """Return a model's name with each directory in it cut to its last part (nli:PATH too)."""
    return _NAME_PART.sub(
        lambda part: Path(part.group()).name if _is_directory(part.group()) else part.group(), name
    )


def _is_directory(name: str) -> bool:
    return Path(name).name not in {"", name} and Path(name).is_dir()


def _parsed(variable: str, text: str, default: object) -> object:
    if default is None or isinstance(default, bool):
        if text.lower() not in _SWITCH:
            raise InputError(f"{variable}={text!r}: give true or false")
        return _SWITCH[text.lower()]
    if isinstance(default, int):
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise InputError(f"{variable}={text!r}: give a whole number of at least 1")
        return int(text)
    if not text.strip():
        raise InputError(f"{variable} is empty: give a value or unset it")
    return Path(text) if isinstance(default, Path) else text
