"""Reads the audit log's URL: what it names, how it is shown, how its server is reached.

Nothing that is refused here is quoted, for a password may stand in any part of a URL that does
not parse.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from certirag.errors import InputError

_FORMS: Final = "sqlite:///FILE or postgresql+pg8000://USER@HOST/DATABASE"
_OPTIONS: Final = frozenset({"sslmode", "sslrootcert", "unix_sock"})
_MODES: Final = ("prefer", "disable", "require", "verify-full")


def file_url(path: Path) -> str:
    """Return the URL of the SQLite log in the file *path*."""
    return URL.create("sqlite", database=str(path)).render_as_string()


def read_url(given: str) -> URL:
    """Return *given* as a URL of a place for a log; InputError for any other."""
    try:
        url = make_url(given)
        backend = url.get_backend_name()
    except (ArgumentError, ValueError) as error:
        # Without its cause: that one quotes what may be a part of the password.
        raise InputError(
            f"the audit log's URL cannot be read: give {_FORMS}, "
            "with / : @ and % of a password written as %2F %3A %40 %25"
        ) from (error if isinstance(error, ArgumentError) else None)
    if backend == "postgresql":
        return _server_url(url)
    if url.drivername != "sqlite" or url.query:
        raise InputError(
            f"an audit log is on SQLite or PostgreSQL, not on {url.drivername!r}: give {_FORMS}"
        )
    if url.database in {None, "", ":memory:"}:
        raise InputError("the audit log must outlive the program: give sqlite:///FILE")
    return url


def shown(url: URL) -> str:
    """Return what may be said of *url*: no password, no options."""
    if url.get_backend_name() == "sqlite":
        return url.database or ""
    return url.set(query={}).render_as_string(hide_password=True)


def server_arguments(url: URL) -> Mapping[str, Any]:
    """Return what the options of a server's URL mean to pg8000; InputError for unusable files.

    ``sslmode`` as PostgreSQL's own programs know it: without one, TLS is used if the server has
    it and nobody's certificate is looked at; ``require`` insists on TLS, ``verify-full`` also on
    a certificate of *host* by an authority that the machine, or the file ``sslrootcert``, names.
    """
    options = {name: str(value) for name, value in url.query.items()}
    arguments: dict[str, Any] = {}
    if options.get("unix_sock"):
        arguments["unix_sock"] = options["unix_sock"]
    mode = options.get("sslmode", "prefer")
    if mode == "disable":
        arguments["ssl_context"] = False
    elif mode == "require":
        arguments["ssl_context"] = True
    elif mode == "verify-full":
        try:
            context = ssl.create_default_context(cafile=options.get("sslrootcert"))
        except OSError as error:
            raise InputError(
                f"sslrootcert of the audit log's URL cannot be used: {error.strerror or error}"
            ) from error
        arguments["ssl_context"] = context
    return arguments


def _server_url(url: URL) -> URL:
    if "@" in (url.host or ""):  # the rest of a password
        raise InputError("the audit log's URL has two @: write that of a password as %40")
    if not url.username:
        raise InputError(f"the audit log's URL names no user: give {_FORMS}")
    for name, value in url.query.items():
        if name not in _OPTIONS or not isinstance(value, str):
            raise InputError(
                f"the audit log's URL has an option that is not known here: "
                f"choose {', '.join(sorted(_OPTIONS))}, each once"
            )
    mode = url.query.get("sslmode", "prefer")
    if mode not in _MODES:
        raise InputError(f"sslmode of the audit log's URL: choose {', '.join(_MODES)}")
    if "sslrootcert" in url.query and mode != "verify-full":
        raise InputError("sslrootcert of the audit log's URL needs sslmode=verify-full")
    return url.set(drivername="postgresql+pg8000")
