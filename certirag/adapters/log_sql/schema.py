"""The tables of the audit log: one schema for SQLite and PostgreSQL (SQLAlchemy Core).

`log_entry`, `log_key` and `answer_revoked` are kept for ever and hold no text of a user or a
document; triggers refuse to change them. The other tables hold what may be erased.
`certirag/adapters/log_sql/migrations` creates all of it; a test compares the two.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.sqlite import INTEGER, REAL

from certirag.core.text import sha256_hex

# SQLite's STRICT tables know INTEGER, REAL, TEXT and BLOB only.
_LONG: Final = BigInteger().with_variant(INTEGER(), "sqlite")
_REAL: Final[Double[float]] = Double().with_variant(REAL(), "sqlite")
_TRUTH: Final = Boolean().with_variant(INTEGER(), "sqlite")
# PostgreSQL refuses an index entry of more than 2,704 bytes; a code point has at most 4, and the
# widest index holds five texts.
INDEXED_CHARACTERS: Final = 128

METADATA: Final = MetaData()


def indexed_text(text: str) -> str:
    """Return *text* as the indexed columns hold it, which is what to compare them with.

    A text of more than `INDEXED_CHARACTERS` is cut, and ends on a part of its digest instead, so
    that no two become one. U+0000 is not kept, since PostgreSQL cannot.
    """
    kept = kept_text(text)
    if len(kept) <= INDEXED_CHARACTERS:
        return kept
    return f"{kept[: INDEXED_CHARACTERS - 33]}\N{HORIZONTAL ELLIPSIS}{sha256_hex(kept)[:32]}"


def kept_text(text: str) -> str:
    """Return *text* as the facets hold it: without what a database cannot keep.

    U+0000 is none of PostgreSQL's characters, and half of a surrogate pair none of anybody's.
    """
    plain = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return plain.encode("utf-8", "replace").decode("utf-8")


LOG_ENTRY: Final = Table(
    "log_entry",
    METADATA,
    Column("seq", _LONG, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("trace_id", Text, nullable=False),
    Column("at_ms", _LONG, nullable=False),
    Column("leaf", Text, nullable=False),
    # Node (level, number) stands at offset 32·level of row ((number + 1) << level) − 1.
    Column("nodes", LargeBinary, nullable=False),
    # The checkpoint over seq + 1 leaves, signed in the same transaction.
    Column("root", LargeBinary, nullable=False),
    Column("keyid", Text, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    sqlite_strict=True,
)
Index(
    "log_entry_answer",
    LOG_ENTRY.c.trace_id,
    unique=True,
    sqlite_where=text("kind = 'answer'"),
    postgresql_where=text("kind = 'answer'"),
)
Index("log_entry_kind", LOG_ENTRY.c.kind, LOG_ENTRY.c.seq)

LOG_CONTENT: Final = Table(
    "log_content",
    METADATA,
    Column("seq", _LONG, primary_key=True, autoincrement=False),
    Column("salt", LargeBinary, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("keyid", Text),
    Column("signature", LargeBinary),
    sqlite_strict=True,
)

ANSWER_FACET: Final = Table(
    "answer_facet",
    METADATA,
    Column("seq", _LONG, primary_key=True, autoincrement=False),
    Column("trace_id", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("at_ms", _LONG, nullable=False),
    Column("question", Text, nullable=False),
    Column("corpus", Text, nullable=False),
    Column("policy", Text, nullable=False),
    Column("decision", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("confidence", Text, nullable=False),
    Column("grounding", _REAL, nullable=False),
    Column("claims", Integer, nullable=False),
    Column("verified", Integer, nullable=False),
    Column("unverified", Integer, nullable=False),
    Column("blocked", Integer, nullable=False),
    Column("verifier", Text, nullable=False),
    Column("generator", Text, nullable=False),
    Column("topic", Text, nullable=False),
    Column("complete", _TRUTH, nullable=False),
    # [[doc_id, title, path, sha256], …] as JSON, in full.
    Column("documents", Text, nullable=False),
    # The words of the question, as `audit_sql_query.facet_rows` writes them for the search.
    Column("words", Text, nullable=False),
    sqlite_strict=True,
)
# Pages are walked in the first of these, counts and trends are read from the second: both hold
# what most queries filter by, so that the rows themselves are read for what is shown only.
ANSWER_FACET_INDEXES: Final = {
    "decision": (
        *("decision", "seq", "complete", "grounding", "at_ms"),
        *("verified", "unverified", "blocked"),
    ),
    "trend": (
        *("at_ms", "complete", "decision", "grounding"),
        *("topic", "policy", "reason", "verifier"),
    ),
    "trace_id": ("trace_id",),
    **{name: (name, "seq") for name in ("corpus", "policy", "reason", "verifier", "generator")},
}
for _name, _columns in ANSWER_FACET_INDEXES.items():
    Index(f"answer_facet_{_name}", *(ANSWER_FACET.c[column] for column in _columns))

ANSWER_DOCUMENT: Final = Table(
    "answer_document",
    METADATA,
    Column("seq", _LONG, primary_key=True, autoincrement=False),
    Column("doc_id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    sqlite_strict=True,
)
for _name in ("doc_id", "title", "sha256"):
    Index(f"answer_document_{_name}", ANSWER_DOCUMENT.c[_name], ANSWER_DOCUMENT.c.seq)

ANSWER_REVOKED: Final = Table(
    "answer_revoked",
    METADATA,
    Column("seq", _LONG, primary_key=True, autoincrement=False),
    Column("by_seq", _LONG, nullable=False),
    Column("reason", Text, nullable=False),
    sqlite_strict=True,
)

# The raw public keys that signed checkpoints. A name for the signed note, never a reason to trust:
# the keyid is the digest of the key, and whoever checks has pinned keys of their own.
LOG_KEY: Final = Table(
    "log_key",
    METADATA,
    Column("keyid", Text, primary_key=True),
    Column("public_key", LargeBinary, nullable=False),
    sqlite_strict=True,
)

KEPT: Final = (LOG_ENTRY, ANSWER_REVOKED, LOG_KEY)
ERASABLE: Final = (LOG_CONTENT, ANSWER_FACET, ANSWER_DOCUMENT)
