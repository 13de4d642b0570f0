"""How the audit log's tables came to be, one file a step (Alembic)."""
