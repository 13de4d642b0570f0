"""CertiRAG: answers over documents whose every badge is derived from evidence, and signed."""

__version__ = "0.1.0"
