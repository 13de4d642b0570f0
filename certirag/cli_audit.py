"""The commands about what was answered before: audit, keys, replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certirag import (
    cli_audit_log,
    cli_audit_query,
    cli_audit_roles,
    cli_keys,
    cli_replay,
    cli_retain,
    cli_stale,
)

if TYPE_CHECKING:
    from certirag.cli_say import Commands


def add_commands(commands: Commands) -> None:
    """Add ``audit``, ``keys`` and ``replay`` to ``certirag``."""
    audit = commands.add_parser("audit", help="ask, verify, keep and erase what is logged")
    acts = audit.add_subparsers(dest="act", required=True, metavar="COMMAND")
    for part in (cli_audit_query, cli_audit_log, cli_retain, cli_stale, cli_audit_roles):
        part.add_commands(acts)
    keys = commands.add_parser("keys", help="the keys that sign certificates and the log")
    cli_keys.add_commands(keys.add_subparsers(dest="act", required=True, metavar="COMMAND"))
    cli_replay.add_commands(commands)
