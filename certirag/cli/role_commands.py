"""The commands for whoever owns the log's database: audit grant and audit scrub."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from certirag.cli.output import note
from certirag.errors import InputError
from certirag.render import visible
from certirag.settings import Settings

if TYPE_CHECKING:
    from certirag.cli.output import Commands

_REMAINS = (
    "The server's write-ahead log, archives of it, replicas, backups and its own messages may "
    "hold erased contents still: see docs/postgresql.md"
)


def add_commands(commands: Commands) -> None:
    """Add ``grant`` and ``scrub`` to those of ``certirag audit``."""
    grant = commands.add_parser(
        "grant",
        help="let a role of PostgreSQL use the log, and no more",
        description="CERTIRAG_AUDIT_URL connects as the owner of the tables, which are made if "
        "they are missing. The role may read and append from then on, and nothing else.",
    )
    grant.add_argument("role", metavar="ROLE", help="a role that may log in and owns nothing")
    grant.add_argument(
        "--retention", action="store_true", help="it may also erase contents, for audit retain"
    )
    grant.set_defaults(run=_grant)
    scrub = commands.add_parser(
        "scrub",
        help="take the bytes of what was erased out of the database's files",
        description="After an erasure under another role than the owner's, or one that was cut "
        "off. The log cannot be used meanwhile.",
    )
    scrub.set_defaults(run=_scrub)


def _grant(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.bootstrap import grant_role  # noqa: PLC0415  # starts fast

    if not settings.audit_url:
        raise InputError(
            "roles are PostgreSQL's: set CERTIRAG_AUDIT_URL to "
            "postgresql+pg8000://OWNER@HOST/DATABASE"
        )
    grant_role(settings, options.role, erases=options.retention)
    may = "read, append and erase contents" if options.retention else "read and append"
    print(visible(f"The role {options.role!r} may {may}, and nothing else."))
    return 0


def _scrub(_options: argparse.Namespace, settings: Settings) -> int:
    from certirag.bootstrap import scrub_log  # noqa: PLC0415  # starts fast

    path = settings.home / "audit.sqlite3"
    if not settings.audit_url and not path.exists():
        raise InputError(f"{path}: there is no log: set CERTIRAG_HOME or CERTIRAG_AUDIT_URL")
    scrub_log(settings)
    print("The files of the log's tables hold nothing of what was erased.")
    if settings.audit_url and not settings.audit_url.startswith("sqlite"):
        note(_REMAINS)
    return 0
