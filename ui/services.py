"""What all sessions share: the services, the open indexes, and the policies on offer."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import streamlit as st

from certirag.bootstrap import (
    build_services,
    index_state,
    load_policy,
    open_index,
    policy_names,
)
from certirag.core.policy import Policy
from certirag.errors import CertiRAGError, CorpusError
from certirag.settings import read_settings
from ui.language import tr

if TYPE_CHECKING:
    from certirag.adapters.index.local import LocalIndex
    from certirag.answers.services import Services

# A corpus name is a folder name; others are not offered, so that none can imitate our words.
_CORPUS_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
# How the headers begin by which a proxy tells that a request came through it.
_PASSED_ON: Final = ("forwarded", "x-forwarded", "x-real-ip", "x-client-ip", "via")


@dataclass(frozen=True)
class Shared:
    """The services, the lock that lets one answer at a time use the models, and *uploads*.

    Who asks does not wait for what others upload; who uploads waits where two are read already,
    so that many sessions together take no more memory than two.
    """

    services: Services
    lock: threading.Lock = field(default_factory=threading.Lock)
    uploads: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(2))


@st.cache_resource(show_spinner="Starting the models")
def shared() -> Shared:
    """Return the services, built once for all sessions; raises a CertiRAGError."""
    return Shared(build_services(read_settings()))


def offers_audit() -> bool:
    """Say whether the audit page is there; settings that cannot be read offer nothing."""
    try:
        return read_settings().audit_page
    except CertiRAGError:
        return False


def shows_everyone() -> bool:
    """Say whether the audit page shows the answers of all users, and not a session's own alone."""
    try:
        return read_settings().audit_everyone
    except CertiRAGError:
        return False


def allows_changes(name: str) -> bool:
    """Say whether this session may change the corpus *name* on disk; a link is never changed.

    Unless the operator said so, only this server's own page in a browser on this machine may, where
    the server listens to no other and answers to no other name: a proxy needs a name, or tells that
    it passed something on. A program can still say anything to a proxy that does neither.
    """
    try:
        allowed = read_settings().corpus_changes
        if name not in corpus_names() or (indexes_home() / name).is_symlink():
            return False
    except CertiRAGError:
        return False
    return _from_this_machine() if allowed is None else allowed


def allows_reviews() -> bool:
    """Say whether this session may decide on answers that wait: a browser on this machine alone.

    Nobody signs in here, so a name is what was typed; elsewhere a reviewer's key says who it is.
    """
    return shows_everyone() and _from_this_machine()


def allows_runs() -> bool:
    """Say whether this session may begin and end runs of the evaluation: where it may see them, and change corpora.

    Settings that cannot be read allow nothing.
    """
    try:
        allowed = read_settings().corpus_changes
    except CertiRAGError:
        return False
    if not (offers_audit() and shows_everyone()):
        return False
    return _from_this_machine() if allowed is None else allowed


def _from_this_machine() -> bool:
    """Say whether this server's own page asks, from this machine, which alone it answers.

    Its browser names it, the server answers to no other name, and no proxy tells that it passed
    something on.
    """
    headers = st.context.headers
    origin = urlsplit(headers.get("Origin", ""))
    names = st.get_option("server.allowedHosts")
    return (
        _is_loopback(st.get_option("server.address"))
        and bool(names)
        and all(map(_is_loopback, names))
        and bool(st.get_option("server.enableCORS"))
        and not st.get_option("server.corsAllowedOrigins")
        and not any(name.lower().startswith(_PASSED_ON) for name in headers)
        and _is_loopback(origin.hostname)
        and origin.netloc == headers.get("Host")  # a page of another port is another one
    )


def _is_loopback(host: str | None) -> bool:
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False


def indexes_home() -> Path:
    """Return the folder whose sub-folders are the corpora on this server."""
    return read_settings().home / "indexes"


def corpus_names() -> tuple[str, ...]:
    """Return the names of the ingested corpora, in order."""
    home = indexes_home()
    if not home.is_dir():
        return ()
    found = (entry.name for entry in home.iterdir() if entry.is_dir())
    return tuple(sorted(name for name in found if _CORPUS_NAME.fullmatch(name)))


def open_corpus(name: str) -> LocalIndex:
    """Return the index of the corpus *name*; CorpusError when it is not one of `corpus_names`."""
    if name not in corpus_names():
        raise CorpusError(f"there is no corpus {name!r} here: ingest it, or choose another")
    directory = indexes_home() / name
    with st.spinner(tr("Opening the corpus")):
        return _opened(str(directory), index_state(directory))


def policies_on_offer() -> tuple[str, ...]:
    """Return the policies a reader may choose: the server's own and stricter ones."""
    own = shared().services.policy
    stricter = [n for n in policy_names() if n != own.name and load_policy(n).refines(own)]
    return (own.name, *stricter)


def policy_called(name: str) -> Policy:
    """Return the policy in force when a reader chose *name*: never looser than the server's."""
    own = shared().services.policy
    return own if name == own.name else own.meet(load_policy(name))


@st.cache_resource(show_spinner=False, max_entries=8)
def _opened(directory: str, state: object) -> LocalIndex:  # noqa: ARG001  # part of the cache key
    return open_index(Path(directory), shared().services)
