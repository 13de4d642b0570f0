"""Settings → services and policies; the only file that names adapters."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from certirag.adapters.audit_sqlite import SqliteAuditLog
from certirag.audit.keys import signing_key, trusted_keys
from certirag.core.policy import Policy
from certirag.errors import CertiRAGError, InputError, PolicyError
from certirag.pipeline import Services
from certirag.ports import Embedder, Reranker, Verifier
from certirag.settings import ASSETS, Settings

if TYPE_CHECKING:
    from certirag.adapters.index_local import LocalIndex

_POLICY = TypeAdapter(Policy)


def build_services(settings: Settings) -> Services:
    """Return the services that *settings* name; raises a CertiRAGError that says the mend."""
    from certirag.ingest.sentences import sentence_splitter

    embedder = make_embedder(settings.embedder)
    key = signing_key(settings.home)
    return Services(
        settings=settings,
        policy=load_policy(settings.policy),
        embedder=embedder,
        reranker=make_reranker(settings.reranker, embedder),
        verifier=make_verifier(settings.verifier, embedder),
        split=sentence_splitter(),
        audit_log=SqliteAuditLog(settings.home / "audit.sqlite3"),
        key=key,
        trusted=trusted_keys(settings.home),
    )


def make_embedder(name: str) -> Embedder:
    """Return the embedder *name*: ``embedded``, or any sentence-transformers model."""
    if name == "embedded":
        from certirag.adapters.embedder_onnx import OnnxEmbedder

        return OnnxEmbedder(ASSETS / "models" / "embedder")
    from certirag.adapters.embedder_sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(name)


def make_reranker(name: str, embedder: Embedder) -> Reranker:
    """Return the reranker *name*: ``late-interaction``, or any cross-encoder model."""
    if name == "late-interaction":
        from certirag.adapters.reranker_late_interaction import LateInteractionReranker

        return LateInteractionReranker(embedder)
    from certirag.adapters.reranker_cross_encoder import CrossEncoderReranker

    return CrossEncoderReranker(name)


def make_verifier(name: str, embedder: Embedder) -> Verifier:
    """Return the verifier *name*; InputError for an unknown one, never a lenient default."""
    if name == "lexical":
        from certirag.adapters.verifier_lexical import LexicalVerifier

        return LexicalVerifier(embedder)
    raise InputError(f"unknown verifier {name!r}: choose lexical")


def open_index(directory: Path) -> LocalIndex:
    """Return the index in *directory*; CorpusError when it is missing or damaged."""
    from certirag.adapters.index_local import LocalIndex

    return LocalIndex.open(directory)


def policy_names() -> tuple[str, ...]:
    """Return the names of the policies that ship."""
    return tuple(sorted(path.stem for path in (ASSETS / "policies").glob("*.toml")))


def load_policy(name: str) -> Policy:
    """Return the shipped policy *name*; PolicyError for an unknown name or an unsound file."""
    if name not in policy_names():
        raise PolicyError(f"unknown profile {name!r}: choose one of {', '.join(policy_names())}")
    path = ASSETS / "policies" / f"{name}.toml"
    try:
        values = tomllib.loads(path.read_text("utf-8"))
        policy = _POLICY.validate_python(values, extra="forbid")
    except (tomllib.TOMLDecodeError, ValidationError, CertiRAGError, OSError) as error:
        raise PolicyError(f"the policy file {path.name} cannot be used: {error}") from error
    if policy.name != name:
        raise PolicyError(f"the policy file {path.name} calls itself {policy.name!r}")
    return policy
