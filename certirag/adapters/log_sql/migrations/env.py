"""Runs the steps on the connection that the audit log gives, inside its transaction."""

from __future__ import annotations

from alembic import context

from certirag.adapters.log_sql.schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=context.config.attributes["version_table"],
)
context.run_migrations()
