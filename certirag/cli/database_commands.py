"""The commands for whoever owns the log's database: audit grant and audit scrub."""

from __future__ import annotations

import argparse

from certirag.bootstrap import grant_role, scrub_log
from certirag.cli.output import note
from certirag.errors import InputError
from certirag.render import visible
from certirag.settings import Settings

_REMAINS = (
    "The server's write-ahead log, archives of it, replicas, backups and its own messages may "
    "hold erased contents still: see docs/postgresql.md"
)


def grant(options: argparse.Namespace, settings: Settings) -> int:
    """Let a role of PostgreSQL use the log."""
    if not settings.audit_url:
        raise InputError(
            "roles are PostgreSQL's: set CERTIRAG_AUDIT_URL to "
            "postgresql+pg8000://OWNER@HOST/DATABASE"
        )
    grant_role(settings, options.role, erases=options.retention)
    may = "read, append and erase contents" if options.retention else "read and append"
    print(visible(f"The role {options.role!r} may {may}, and nothing else."))
    return 0


def scrub(_options: argparse.Namespace, settings: Settings) -> int:
    """Take what was erased out of the database's files."""
    path = settings.home / "audit.sqlite3"
    if not settings.audit_url and not path.exists():
        raise InputError(f"{path}: there is no log: set CERTIRAG_HOME or CERTIRAG_AUDIT_URL")
    scrub_log(settings)
    print("The files of the log's tables hold nothing of what was erased.")
    if settings.audit_url and not settings.audit_url.startswith("sqlite"):
        note(_REMAINS)
    return 0
