"""CertiRAG: answers over documents whose every badge is derived from evidence, and signed.

>>> import certirag
>>> certirag.ask("How many days of annual leave do employees have?", "my-index")  # doctest: +SKIP
>>> certirag.verify("Employees have 27 days of annual leave.", "handbook/")  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "ask", "verify"]


def __getattr__(name: str) -> Any:
    """Load the Python interface when it is first used, so that imports stay light."""
    if name in {"ask", "verify"}:
        return getattr(import_module("certirag.notebook"), name)
    raise AttributeError(f"module 'certirag' has no attribute {name!r}")
