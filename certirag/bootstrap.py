"""Settings → services and policies; the only file that names adapters."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import TypeAdapter, ValidationError

from certirag.adapters.index import index_format
from certirag.adapters.log_sql.sql_log import SqlAuditLog, file_url, is_begun
from certirag.answers.draft import PROMPT_OF
from certirag.answers.services import AnswerWriter, Services
from certirag.core.generation import PromptText, Strategy, read_prompt_text
from certirag.core.policy import Policy
from certirag.errors import CertiRAGError, InputError, PolicyError
from certirag.ports import (
    AuditLog,
    Embedder,
    LanguageModel,
    Progress,
    Reader,
    Reranker,
    SentenceSplitter,
    Verifier,
)
from certirag.proof.keys import has_signing_key, key_that_may_sign, signing_key, trusted_keys
from certirag.proof.retention_files import retention_in_force
from certirag.retrieve.preselect import PreselectionRules
from certirag.retrieve.preselect import Strategy as Relevance
from certirag.settings import ASSETS, STRATEGIES, Settings, read_language_model_access
from certirag.verification.proposals import correction_strategy

if TYPE_CHECKING:
    from certirag.adapters.index.corpus_writer import CorpusWriter
    from certirag.adapters.index.index_store import IngestReport
    from certirag.adapters.index.kept_readings import KeptReadings
    from certirag.adapters.index.local import LocalIndex
    from certirag.ingest.apart import ReadingProcess
    from certirag.ingest.collect import Corpus, Watch
    from certirag.ingest.extract import Limits

index_state = index_format.index_state  # for whoever keeps an index open
_POLICY = TypeAdapter(Policy)
_LOCAL_VERIFIERS = ("nli", "minicheck", "hhem")
_VERIFIERS = (
    "embedded",
    "reading",
    *(f"{kind}:MODEL" for kind in _LOCAL_VERIFIERS),
    "reading:DIR",
    "llm:MODEL",
    "cascade:CHEAP,STRONG[,LOW,HIGH[,AGREED]]",
)


def build_services(settings: Settings) -> Services:
    """Return the services that *settings* name; raises a CertiRAGError that says the mend."""
    embedder = make_embedder(settings.embedder)
    verifier = make_verifier(settings.verifier)
    PreselectionRules(strategy=cast("Relevance", settings.preselection))  # refuse a wrong name now
    correction_strategy(settings.correction, embedder, verifier)
    key = key_that_may_sign(settings.home)
    return Services(
        settings=settings,
        policy=load_policy(settings.policy),
        embedder=embedder,
        reranker=make_reranker(settings.reranker, embedder),
        reader=make_reader(settings.reader, embedder),
        verifier=verifier,
        split=make_splitter(settings.sentences),
        audit_log=open_log(settings),
        key=key,
        trusted=trusted_keys(settings.home),
        writer=make_writer(settings.generator, settings.strategy),
    )


def open_log(settings: Settings) -> AuditLog:
    """Return the audit log of *settings*, made if there is none; AuditError when it cannot be."""
    key, path = signing_key(settings.home), settings.home / "audit.sqlite3"
    if not settings.audit_url:
        # For its owner only, and so are the files that SQLite puts beside it. SQLite says the rest.
        with suppress(OSError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    log = _log(settings, key)
    log.restore_guards()
    return log


def existing_log(settings: Settings) -> AuditLog:
    """Return the audit log that is there; InputError instead of making one only to ask it.

    In a home without a signing key, such as an auditor's, it is only read, and no key is made.
    """
    path = settings.home / "audit.sqlite3"
    if settings.audit_url.startswith("sqlite:///"):
        path = Path(settings.audit_url.removeprefix("sqlite:///"))
    if (not settings.audit_url or settings.audit_url.startswith("sqlite:")) and not path.exists():
        raise InputError(f"{path}: there is no log: set CERTIRAG_HOME or CERTIRAG_AUDIT_URL")
    if settings.audit_url and not is_begun(settings.audit_url):
        raise InputError("CERTIRAG_AUDIT_URL: there is no log in this database: ask first")
    return _log(settings, signing_key(settings.home) if has_signing_key(settings.home) else None)


def _log(settings: Settings, key: Ed25519PrivateKey | None) -> SqlAuditLog:
    return SqlAuditLog(
        settings.audit_url or file_url(settings.home / "audit.sqlite3"),
        key=key,
        retention=retention_in_force(settings.retention, settings.home).name,
        origin=settings.log_origin,
    )


def grant_role(settings: Settings, role: str, *, erases: bool) -> None:
    """Let *role* of the audit log's PostgreSQL server read and append, or erase contents too.

    The settings connect as the owner of the tables. AuditError for a role that nothing binds.
    """
    from certirag.adapters.log_sql.roles_of_database import (
        grant_application_role,
        grant_retention_role,
    )

    (grant_retention_role if erases else grant_application_role)(settings.audit_url, role)


def scrub_log(settings: Settings) -> None:
    """Take the bytes of what was erased out of the database's files; AuditError when it cannot."""
    from certirag.adapters.log_sql.engine import AuditDatabase
    from certirag.adapters.log_sql.erase import owns_contents, scrub

    database = AuditDatabase(settings.audit_url or file_url(settings.home / "audit.sqlite3"))
    if not owns_contents(database):
        raise InputError(
            f"{database.name}: this role does not own the tables: scrub as their owner"
        )
    scrub(database)


def make_writer(generator: str, strategy: str) -> AnswerWriter | None:
    """Return the language model *generator* with its prompts; None for ``extractive``.

    ``openai:MODEL`` asks the endpoint of CERTIRAG_LLM_URL, ``llamacpp:FILE`` opens a GGUF file
    that the user has. InputError for an unknown name of either.
    """
    if strategy not in STRATEGIES:
        raise InputError(f"unknown strategy {strategy!r}: choose {', '.join(STRATEGIES)}")
    if generator == "extractive":
        return None
    prompts = {name: read_prompt(name) for name in PROMPT_OF.values()}
    return AnswerWriter(_language_model(generator), cast("Strategy", strategy), prompts)


def _language_model(generator: str) -> LanguageModel:
    kind, _, model = generator.partition(":")
    if kind == "openai" and model:
        from certirag.adapters.llm.endpoint import Endpoint
        from certirag.adapters.llm.openai import OpenAiModel

        access = read_language_model_access()
        return OpenAiModel(model, Endpoint(access.url, access.key))
    if kind == "llamacpp" and model:
        from certirag.adapters.llm.llamacpp import LlamaCppModel

        return LlamaCppModel(model)
    message = f"unknown generator {generator!r}: choose extractive, openai:MODEL or llamacpp:FILE"
    raise InputError(message)


def read_prompt(name: str) -> PromptText:
    """Return the prompt *name* that ships; InputError where its file is missing."""
    path = ASSETS / "prompts" / f"{name}.md"
    try:
        return read_prompt_text(path.read_bytes(), source=path.name)
    except OSError as error:
        raise InputError(f"the prompt {path.name} is missing: restore it") from error


def make_embedder(name: str) -> Embedder:
    """Return the embedder *name*: ``embedded``, or any sentence-transformers model."""
    if name == "embedded":
        from certirag.adapters.embedders.minilm import OnnxEmbedder

        return OnnxEmbedder(ASSETS / "models" / "embedder")
    from certirag.adapters.embedders.sentence_transformers_embedder import (
        SentenceTransformersEmbedder,
    )

    return SentenceTransformersEmbedder(name)


def make_reranker(name: str, embedder: Embedder) -> Reranker:
    """Return the reranker *name*: ``late-interaction``, or any cross-encoder model."""
    if name == "late-interaction":
        from certirag.adapters.rerankers.late_interaction import LateInteractionReranker

        return LateInteractionReranker(embedder)
    from certirag.adapters.rerankers.cross_encoder import CrossEncoderReranker

    return CrossEncoderReranker(name)


def make_reader(name: str, embedder: Embedder) -> Reader:
    """Return the reader *name*, which was fitted with the embedder that ships and asks that one."""
    from certirag.adapters.embedders.minilm import OnnxEmbedder
    from certirag.adapters.networks.reader import open_reader

    own = embedder if isinstance(embedder, OnnxEmbedder) else make_embedder("embedded")
    return open_reader(name, ASSETS / "models", own)


def make_splitter(name: str) -> SentenceSplitter:
    """Return the sentence splitter *name*: ``rules``, or any installed spaCy pipeline."""
    from certirag.ingest.sentences import sentence_splitter

    return sentence_splitter(None if name == "rules" else name)


def make_verifier(name: str) -> Verifier:
    """Return the verifier *name*; InputError for an unknown one, never a lenient default.

    ``embedded`` and ``reading`` are the small and the larger network that ship; ``nli:MODEL``,
    ``minicheck:MODEL`` and ``hhem:MODEL`` open a model that the user has, by its hub name or
    directory; ``reading:DIR`` is a larger network as `training` makes one of MPNet;
    ``llm:MODEL`` asks the endpoint of CERTIRAG_LLM_URL; and
    ``cascade:CHEAP,STRONG,LOW,HIGH,AGREED`` (the numbers may be left out) asks two of the others.
    """
    kind, _, model = name.partition(":")
    if name == "embedded":
        from certirag.adapters.verifiers.embedded_verifier import EmbeddedVerifier

        return EmbeddedVerifier(ASSETS / "models" / "verifier")
    if name == "reading" or (kind == "reading" and model):
        from certirag.adapters.verifiers.embedded_verifier import ReadingVerifier

        return ReadingVerifier(Path(model) if model else ASSETS / "models" / "verifier-large")
    if kind == "cascade" and model:
        return _cascade(model)
    if kind == "llm" and model:
        from certirag.adapters.llm.endpoint import Endpoint
        from certirag.adapters.verifiers.llm_verifier import LlmVerifier

        access = read_language_model_access()
        return LlmVerifier(model, Endpoint(access.url, access.key))
    if kind in _LOCAL_VERIFIERS and model:
        return _local_verifier(kind, model)
    raise InputError(f"unknown verifier {name!r}: choose {', '.join(_VERIFIERS)}")


def _local_verifier(kind: str, model: str) -> Verifier:
    if kind == "nli":
        from certirag.adapters.verifiers.nli import NliVerifier

        return NliVerifier(model)
    if kind == "minicheck":
        from certirag.adapters.verifiers.minicheck import MiniCheckVerifier

        return MiniCheckVerifier(model)
    from certirag.adapters.verifiers.hhem import HhemVerifier

    return HhemVerifier(model)


def _cascade(parts: str) -> Verifier:
    """Return the cascade of *parts*: two verifiers, the ends of the band, what both agree on."""
    from certirag.adapters.verifiers.cascade import AGREED, HIGH, LOW, CascadeVerifier

    names = [part.strip() for part in parts.split(",")]
    numbers = names[2:]
    try:
        low, high, *rest = map(float, numbers) if numbers else (LOW, HIGH)
        (agreed,) = rest or (AGREED,)
        cheap, strong = names[:2]
    except ValueError:
        raise InputError(f"cascade:{parts} is not {_VERIFIERS[-1]}") from None
    if any(part.startswith("cascade:") for part in (cheap, strong)):
        raise InputError(f"cascade:{parts}: a cascade asks two verifiers, not another cascade")
    return CascadeVerifier(
        make_verifier(cheap),
        make_verifier(strong),
        low=low,
        high=high,
        agreed=agreed,
    )


def open_index(directory: Path, services: Services) -> LocalIndex:
    """Return the index in *directory*; CorpusError as in `LocalIndex.open`."""
    from certirag.adapters.index.local import LocalIndex

    return LocalIndex.open(
        directory,
        embedder=services.embedder.identity,
        trusted=services.trusted,
        allow_foreign=services.settings.foreign_index,
    )


def ingest_paths(
    paths: Sequence[Path], directory: Path, services: Services, progress: Progress
) -> IngestReport:
    """Make the index in *directory* hold exactly what *paths* hold (`CorpusWriter.ingest`)."""
    from certirag.ingest.collect import Watch

    with corpus_writer(directory, services, Watch(progress)) as writer:
        return writer.ingest(paths)


@contextmanager
def corpus_writer(directory: Path, services: Services, watch: Watch) -> Iterator[CorpusWriter]:
    """Give what reads, reads again and removes the documents of the index in *directory*."""
    from certirag.adapters.index.corpus_writer import CorpusWriter

    by = services
    with reading_process(by.settings, watch) as read:
        yield CorpusWriter(directory, read, by.embedder, by.key, by.trusted, by.now, watch)


def index_of_paths(
    paths: Sequence[Path], services: Services, progress: Progress
) -> tuple[LocalIndex, tuple[str, ...]]:
    """Return an index in memory of the files in *paths*, and why some were skipped."""
    from certirag.ingest.collect import Watch, read_corpus

    with reading_process(services.settings) as read:
        corpus = read_corpus(paths, limits=read.limits, read=read, watch=Watch(progress))
    return index_in_memory(corpus, services, progress)


def index_of_uploads(
    uploads: Sequence[tuple[str, bytes]],
    services: Services,
    watch: Watch,
    *,
    kept: KeptReadings,
    left_out: Collection[str] = (),
) -> tuple[LocalIndex, tuple[str, ...]]:
    """Return an index in memory of uploaded (name, bytes), and why some were skipped.

    Only what *kept* has not is read, as `KeptReadings.corpus` says.
    """
    with reading_process(services.settings, watch) as read:
        corpus = kept.corpus(uploads, read, services.embedder, watch, left_out=left_out)
    return index_in_memory(corpus, services, watch.progress, kept)


def reading_process(settings: Settings, watch: Watch | None = None) -> ReadingProcess:
    """Return what reads documents within the limits that *settings* set; use it in a ``with``."""
    from certirag.ingest.apart import ReadingProcess

    waiting = None if watch is None else watch.waiting
    return ReadingProcess(read_limits(settings), settings.sentences, waiting)


def read_limits(settings: Settings) -> Limits:
    """Return the limits on one document that *settings* set."""
    from certirag.ingest.extract import Limits

    return Limits(settings.max_file_bytes, settings.max_pages, settings.max_file_seconds)


def index_in_memory(
    corpus: Corpus, services: Services, progress: Progress, kept: KeptReadings | None = None
) -> tuple[LocalIndex, tuple[str, ...]]:
    """Return an index of *corpus*, and why files were skipped; InputError where nothing is in it."""
    from certirag.adapters.index.local import LocalIndex

    reasons = tuple(skipped.reason for skipped in corpus.skipped)
    if not corpus.chunks:
        detail = reasons[0] if reasons else "no documents were given"
        raise InputError(f"there is nothing to check against: {detail}")
    known = None if kept is None else kept.vectors
    return LocalIndex.of(corpus.chunks, services.embedder, progress, known), reasons


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
