"""The audit log on SQL, on SQLite or PostgreSQL."""
