"""The log, what may be erased beside it, and the triggers that keep the log append-only."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.sqlite import INTEGER, REAL

revision = "0001"
down_revision = None

_REFUSAL = "the audit log is append-only"
_ERASABLE_TEXTS = {
    "log_content": ("salt", "content", "keyid", "signature"),
    "answer_facet": ("request", "question", "corpus", "topic", "documents", "words"),
    "answer_document": ("doc_id", "title", "sha256"),
}
# The table is named in full: a temporary table of its name would be found first.
_NEXT_ENTRY = """
DECLARE expected bigint;
BEGIN
  EXECUTE format(
    'SELECT COALESCE(MAX(seq) + 1, 0) FROM %I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME
  ) INTO expected;
  IF NEW.seq <> expected THEN
    RAISE EXCEPTION 'the audit log is append-only';
  END IF;
  RETURN NEW;
END
"""
_REFUSE = f"BEGIN RAISE EXCEPTION '{_REFUSAL}'; END"
_TABLES = ("log_entry", "answer_revoked", "log_key")


def upgrade() -> None:
    """Create tables, indexes and triggers."""
    _create_kept()
    _create_erasable()
    if op.get_context().dialect.name == "postgresql":
        _guard_postgresql()
    else:
        for guard in sqlite_guards().values():
            op.execute(guard)


def _long() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(INTEGER(), "sqlite")


def _create_kept() -> None:
    op.create_table(
        "log_entry",
        sa.Column("seq", _long(), primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("trace_id", sa.Text, nullable=False),
        sa.Column("at_ms", _long(), nullable=False),
        sa.Column("leaf", sa.Text, nullable=False),
        sa.Column("nodes", sa.LargeBinary, nullable=False),
        sa.Column("root", sa.LargeBinary, nullable=False),
        sa.Column("keyid", sa.Text, nullable=False),
        sa.Column("signature", sa.LargeBinary, nullable=False),
        sqlite_strict=True,
    )
    answers = sa.text("kind = 'answer'")
    op.create_index(
        "log_entry_answer",
        "log_entry",
        ["trace_id"],
        unique=True,
        sqlite_where=answers,
        postgresql_where=answers,
    )
    op.create_index("log_entry_kind", "log_entry", ["kind", "seq"])
    op.create_table(
        "answer_revoked",
        sa.Column("seq", _long(), primary_key=True, autoincrement=False),
        sa.Column("by_seq", _long(), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "log_key",
        sa.Column("keyid", sa.Text, primary_key=True),
        sa.Column("public_key", sa.LargeBinary, nullable=False),
        sqlite_strict=True,
    )


def _create_erasable() -> None:
    op.create_table(
        "log_content",
        sa.Column("seq", _long(), primary_key=True, autoincrement=False),
        sa.Column("salt", sa.LargeBinary, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("keyid", sa.Text),
        sa.Column("signature", sa.LargeBinary),
        sqlite_strict=True,
    )
    words = ("corpus", "policy", "decision", "reason", "confidence")
    counts = ("claims", "verified", "unverified", "blocked")
    op.create_table(
        "answer_facet",
        sa.Column("seq", _long(), primary_key=True, autoincrement=False),
        sa.Column("trace_id", sa.Text, nullable=False),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("at_ms", _long(), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in words),
        sa.Column("grounding", sa.Double().with_variant(REAL(), "sqlite"), nullable=False),
        *(sa.Column(name, sa.Integer, nullable=False) for name in counts),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("verifier", "generator", "topic")),
        sa.Column("complete", sa.Boolean().with_variant(INTEGER(), "sqlite"), nullable=False),
        sa.Column("documents", sa.Text, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    walked = ["decision", "seq", "complete", "grounding", "at_ms"]
    counted = ["at_ms", "complete", "decision", "grounding", "topic", "policy", "reason"]
    states = ["verified", "unverified", "blocked"]
    op.create_index("answer_facet_decision", "answer_facet", walked + states)
    op.create_index("answer_facet_trend", "answer_facet", [*counted, "verifier"])
    op.create_index("answer_facet_trace_id", "answer_facet", ["trace_id"])
    for name in ("corpus", "policy", "reason", "verifier", "generator"):
        op.create_index(f"answer_facet_{name}", "answer_facet", [name, "seq"])
    op.create_table(
        "answer_document",
        sa.Column("seq", _long(), primary_key=True, autoincrement=False),
        sa.Column("doc_id", sa.Text, primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    for name in ("doc_id", "title", "sha256"):
        op.create_index(f"answer_document_{name}", "answer_document", [name, "seq"])


def sqlite_guards() -> dict[str, str]:
    """Return the triggers by name: they refuse changes, and rows that REPLACE would put for others.

    REPLACE fires no DELETE trigger unless its connection asked for that, so each unique key is
    looked up before the insert. The first also refuses gaps.
    """
    taken = {
        "log_entry": "NEW.seq <> (SELECT COALESCE(MAX(seq) + 1, 0) FROM log_entry)",
        "answer_revoked": "EXISTS (SELECT 1 FROM answer_revoked WHERE seq = NEW.seq)",
        "log_key": "EXISTS (SELECT 1 FROM log_key WHERE keyid = NEW.keyid)",
    }
    refused = f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
    guards = {}
    for table, condition in taken.items():
        for event in ("UPDATE", "DELETE"):
            guards[f"{table}_no_{event.lower()}"] = f"BEFORE {event} ON {table} {refused}"
        guards[f"{table}_no_replace"] = f"BEFORE INSERT ON {table} WHEN {condition} {refused}"
    guards["log_entry_no_second"] = (
        "BEFORE INSERT ON log_entry WHEN NEW.kind = 'answer' "
        "AND EXISTS (SELECT 1 FROM log_entry WHERE kind = 'answer' AND trace_id = NEW.trace_id) "
        "BEGIN SELECT RAISE(ABORT, 'the audit log holds an answer of this trace id already'); END"
    )
    return {name: f"CREATE TRIGGER {name} {does}" for name, does in guards.items()}


def postgresql_guards() -> dict[str, str]:
    """Return the triggers by name, each with the body of its function."""
    changes = [f"{table}_{name}" for table in _TABLES for name in ("no_change", "no_truncate")]
    return dict.fromkeys(changes, _REFUSE) | {"log_entry_no_gap": _NEXT_ENTRY}


def _guard_postgresql() -> None:
    """Refuse changes and gaps, whatever the session's replication role is."""
    for name, body in {"certirag_refuse": _REFUSE, "certirag_next_entry": _NEXT_ENTRY}.items():
        op.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")
    for table in _TABLES:
        op.execute(
            f"CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION certirag_refuse()"
        )
        op.execute(
            f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION certirag_refuse()"
        )
        for trigger in ("no_change", "no_truncate"):
            op.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_{trigger}")
    op.execute(
        "CREATE TRIGGER log_entry_no_gap BEFORE INSERT ON log_entry "
        "FOR EACH ROW EXECUTE FUNCTION certirag_next_entry()"
    )
    op.execute("ALTER TABLE log_entry ENABLE ALWAYS TRIGGER log_entry_no_gap")
    # The planner would keep samples of what is written, which no erasure reaches.
    for table, columns in _ERASABLE_TEXTS.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0")
