"""Opinions about claims; nothing here can say VERIFIED.

The package is also callable: ``certirag.verify(draft, sources)`` is `certirag.notebook.verify`.
Python binds the name of an imported subpackage on its parent, so the function has to live
under that name (docs/adr/0005).
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Check a draft against sources; see `certirag.notebook.verify`."""
        return import_module("certirag.notebook").verify(*arguments, **options)


sys.modules[__name__].__class__ = _CallablePackage
