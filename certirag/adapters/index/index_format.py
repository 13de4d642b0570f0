"""The files of a local index: what a generation holds, how it is written down and read back.

DIR/CURRENT                 the name of the generation in force
DIR/gen-<12 hex>/           named by the digest of its manifest
    manifest.json           format, fingerprint, embedder, documents, skipped, file digests
    chunks.jsonl            one chunk a line, with its sentence spans
    vectors.npy             float32 (chunks, dimension), unit rows, in the same order
    signature.json          who ingested it: a DSSE envelope over the manifest's digest
DIR/.lock                   held by whoever writes
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import TypeAdapter, ValidationError

from certirag.core.generation import ModelIdentity
from certirag.core.text import EvidenceChunk, RetrievalScores, sha256_hex
from certirag.errors import CertificateError, CorpusError
from certirag.ingest.collect import Skipped
from certirag.proof.envelope import (
    envelope_json,
    parse_envelope,
    sign,
    strict_json,
    verified_payload,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Raise it whenever these files, or the text that is embedded of a chunk, change their meaning.
FORMAT: Final = 2
CURRENT: Final = "CURRENT"
MANIFEST: Final = "manifest.json"
CHUNKS: Final = "chunks.jsonl"
VECTORS: Final = "vectors.npy"
SIGNATURE: Final = "signature.json"
PAYLOAD_TYPE: Final = "application/vnd.certirag.index"
Trusted = Mapping[str, Ed25519PublicKey]
GENERATION_NAME: Final = re.compile(r"gen-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Version:
    """A reading that found other bytes than the one before, whose digest was *replaced*.

    *read_on* is in UTC, as ISO 8601 writes it; *text_changed*: other passages were read too.
    """

    read_on: str
    replaced: str
    text_changed: bool


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document of the corpus: *sha256* is of the source's bytes, *chunks* counts them.

    *versions* are its later readings under the same path, oldest first.
    """

    doc_id: str
    title: str
    path: str
    media_type: str
    sha256: str
    chunks: int
    versions: tuple[Version, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredCorpus:
    """What an index holds: documents by path, their chunks in the same order, what was skipped.

    *sources* are the absolute paths of the files and folders that it was read from.
    """

    documents: tuple[DocumentRecord, ...]
    chunks: tuple[EvidenceChunk, ...]
    skipped: tuple[Skipped, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Generation:
    """One whole state of an index; *vectors* has shape (chunks, dimension).

    *signed* says that a trusted key signed it; nobody was asked where no keys were named.
    """

    name: str
    fingerprint: str
    embedder: ModelIdentity
    corpus: StoredCorpus
    vectors: NDArray[np.float32]
    signed: bool = False


@dataclass(frozen=True, slots=True)
class _Manifest:
    format: int
    fingerprint: str
    embedder: ModelIdentity
    documents: tuple[DocumentRecord, ...]
    skipped: tuple[Skipped, ...]
    files: dict[str, str]
    sources: tuple[str, ...] = ()


_MANIFEST: Final = TypeAdapter(_Manifest)
_CHUNK: Final = TypeAdapter(EvidenceChunk)


def encode_generation(
    corpus: StoredCorpus, vectors: NDArray[np.float32], embedder: ModelIdentity
) -> tuple[Generation, dict[str, bytes]]:
    """Return the generation and its files' bytes, which are the same for equal arguments.

    Raises CorpusError for chunks that contradict themselves or could not be read back.
    """
    contents = {CHUNKS: _chunk_lines(corpus), VECTORS: _array_bytes(vectors)}
    files = {name: sha256_hex(content) for name, content in contents.items()}
    fingerprint = sha256_hex(json.dumps([FORMAT, asdict(embedder), files]))
    manifest = _Manifest(
        FORMAT, fingerprint, embedder, corpus.documents, corpus.skipped, files, corpus.sources
    )
    contents[MANIFEST] = json.dumps(asdict(manifest), indent=1).encode("ascii")
    name = f"gen-{sha256_hex(contents[MANIFEST])[:12]}"
    return Generation(name, fingerprint, embedder, corpus, vectors), contents


def signature_of(manifest: bytes, key: Ed25519PrivateKey) -> bytes:
    """Return the content of `SIGNATURE`: *key* ingested what the *manifest* lists."""
    envelope = sign(sha256_hex(manifest).encode("ascii"), key, PAYLOAD_TYPE)
    return json.dumps(envelope_json(envelope), indent=1).encode("ascii")


def read_generation(directory: Path, trusted: Trusted | None = None) -> Generation:
    """Return the generation in force in *directory*, every byte checked against its digest.

    Whoever can write there can write digests too: only a signature by one of *trusted* shows
    that it is as it was ingested. Raises CorpusError when there is none, a part is missing or changed, or another version of
    this program wrote it.
    """
    name = _current(directory)
    while True:
        try:
            return _read(directory, name, trusted)
        except CorpusError:
            # A writer may have removed the old generation between the two reads.
            newer = _current(directory)
            if newer == name:
                raise
            name = newer


def index_state(directory: Path) -> tuple[tuple[str, int], ...]:
    """Return what differs after each write of the index in *directory*: names and times in ns.

    All of them: the newest time says nothing where one lies ahead, after a restored backup or a
    clock that was set back, and what was deleted would go on being asked.
    """
    state = []
    for path in sorted((directory, *directory.iterdir())):
        with suppress(OSError):  # a writer may have removed it since
            state.append((path.name, path.lstat().st_mtime_ns))
    return tuple(state)


def _current(directory: Path) -> str:
    try:
        name = (directory / CURRENT).read_bytes().decode("ascii", "replace").strip()
    except FileNotFoundError:
        message = f"no index in {directory}: run certirag ingest PATH --index {directory}"
        raise CorpusError(message) from None
    except OSError as error:
        raise CorpusError(_damaged(directory, f"{CURRENT}: {error.strerror}")) from error
    if not GENERATION_NAME.fullmatch(name):
        raise CorpusError(_damaged(directory, f"{CURRENT} says {name[:40]!r}"))
    return name


def _read(directory: Path, name: str, trusted: Trusted | None) -> Generation:
    raw = _part(directory, name, MANIFEST)
    manifest = _manifest(directory, name, raw)
    contents = {part: _part(directory, name, part) for part in (CHUNKS, VECTORS)}
    for part, content in contents.items():
        if sha256_hex(content) != manifest.files.get(part):
            raise CorpusError(_damaged(directory, f"{part} differs from its recorded digest"))
    corpus = StoredCorpus(
        manifest.documents,
        _chunks(directory, contents[CHUNKS]),
        manifest.skipped,
        manifest.sources,
    )
    vectors = _array(directory, contents[VECTORS])
    if len(vectors) != len(corpus.chunks):
        raise CorpusError(
            _damaged(directory, f"{len(vectors)} vectors for {len(corpus.chunks)} chunks")
        )
    signed = trusted is not None and _is_signed(directory / name / SIGNATURE, raw, trusted)
    return Generation(name, manifest.fingerprint, manifest.embedder, corpus, vectors, signed)


def _is_signed(path: Path, manifest: bytes, trusted: Trusted) -> bool:
    try:
        envelope = parse_envelope(strict_json(path.read_bytes()))
        payload = verified_payload(envelope, trusted, PAYLOAD_TYPE)
    except (CertificateError, OSError):
        return False
    return payload == sha256_hex(manifest).encode("ascii")


def _manifest(directory: Path, name: str, raw: bytes) -> _Manifest:
    try:
        values: Any = json.loads(raw)
    except ValueError as error:
        raise CorpusError(_damaged(directory, f"{MANIFEST} is not JSON")) from error
    written = values.get("format") if isinstance(values, dict) else None
    if written != FORMAT:
        message = (
            f"the index in {directory} has format {written!r}, this program reads {FORMAT}: "
            "run certirag ingest again"
        )
        raise CorpusError(message)
    if name != f"gen-{sha256_hex(raw)[:12]}":
        raise CorpusError(_damaged(directory, f"{MANIFEST} differs from its recorded digest"))
    try:
        return _MANIFEST.validate_python(values)
    except ValidationError as error:
        raise CorpusError(_damaged(directory, f"{MANIFEST} has a field amiss")) from error


def _part(directory: Path, name: str, part: str) -> bytes:
    try:
        return (directory / name / part).read_bytes()
    except OSError as error:
        message = _damaged(directory, f"{name}/{part} cannot be read ({error.strerror})")
        raise CorpusError(message) from error


def _chunk_lines(corpus: StoredCorpus) -> bytes:
    counts = {document.doc_id: 0 for document in corpus.documents}
    if len(counts) != len(corpus.documents):
        raise CorpusError("two documents have one doc_id: give each document its own")
    seen: set[str] = set()
    lines = []
    for chunk in corpus.chunks:
        if chunk.chunk_id in seen or chunk.doc_id not in counts:
            fault = "occurs twice" if chunk.chunk_id in seen else f"has no document {chunk.doc_id}"
            raise CorpusError(f"chunk {chunk.chunk_id!r} {fault}: ingest its document again")
        seen.add(chunk.chunk_id)
        counts[chunk.doc_id] += 1
        lines.append(_chunk_line(chunk))
    for document in corpus.documents:
        if counts[document.doc_id] != document.chunks:
            message = (
                f"document {document.doc_id!r} says {document.chunks} chunks and has "
                f"{counts[document.doc_id]}: ingest it again"
            )
            raise CorpusError(message)
    return "".join(lines).encode("ascii")


def _chunk_line(chunk: EvidenceChunk) -> str:
    """Return *chunk*, without retrieval scores, as one line that reads back equal."""
    plain = replace(chunk, retrieval=RetrievalScores())
    spans_hold = all(plain.text[span.start : span.end] == span.sentence for span in plain.spans)
    if not spans_hold or sha256_hex(plain.text) != plain.sha256:
        fault = "its digest" if spans_hold else "a sentence span of it"
        message = f"chunk {plain.chunk_id!r} and {fault} differ: ingest its document again"
        raise CorpusError(message)
    values = asdict(plain)
    del values["retrieval"]
    line = json.dumps(values)
    if _CHUNK.validate_python(json.loads(line)) != plain:  # a NaN in a box, for one
        message = f"chunk {plain.chunk_id!r} cannot be written down: ingest its document again"
        raise CorpusError(message)
    return f"{line}\n"


def _chunks(directory: Path, content: bytes) -> tuple[EvidenceChunk, ...]:
    try:
        return tuple(_CHUNK.validate_python(json.loads(line)) for line in content.splitlines())
    except (ValueError, ValidationError) as error:
        raise CorpusError(_damaged(directory, f"{CHUNKS} holds a line amiss")) from error


def _array_bytes(vectors: NDArray[np.float32]) -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, vectors, allow_pickle=False)
    return buffer.getvalue()


def _array(directory: Path, content: bytes) -> NDArray[np.float32]:
    import numpy as np

    try:
        vectors = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise CorpusError(_damaged(directory, f"{VECTORS} is not an array")) from error
    if not isinstance(vectors, np.ndarray) or vectors.dtype != np.float32 or vectors.ndim != 2:
        raise CorpusError(_damaged(directory, f"{VECTORS} is not a float32 matrix"))
    return vectors


def _damaged(directory: Path, fault: str) -> str:
    return f"the index in {directory} is damaged: {fault}; run certirag ingest again"
