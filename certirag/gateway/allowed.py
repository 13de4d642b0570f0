"""Which documents a request may be answered from: an index that holds these and no others.

What is not allowed is not in the index that is searched, so that no stage (retrieval, the search
against a claim, correction, suggestions) can reach it.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from certirag.bootstrap import index_state, open_index
from certirag.gateway.refusals import Refused

if TYPE_CHECKING:
    from certirag.answers.services import Services
    from certirag.gateway.access import Caller
    from certirag.ports import Index

_CORPUS_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
_KEPT: Final = 32  # restricted indexes in memory; each shares nothing with the whole one


@dataclass(frozen=True, slots=True)
class Allowed:
    """An *index* of the allowed documents alone, and these by path in the corpus with their SHA-256."""

    index: Index
    sources: tuple[tuple[str, str], ...]


class Corpora:
    """The corpora under *home*, opened when first asked for and again when they have changed.

    *index_found* is told each time whether the index was open already.
    """

    def __init__(self, home: Path, services: Services) -> None:
        self._home, self._services = home, services
        self.index_found: Callable[[bool], None] = lambda _kept: None
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, object, frozenset[str] | None], Allowed] = OrderedDict()

    def names(self) -> tuple[str, ...]:
        """Return the names of the corpora, in order."""
        if not self._home.is_dir():
            return ()
        found = (entry.name for entry in self._home.iterdir() if entry.is_dir())
        return tuple(sorted(name for name in found if _CORPUS_NAME.fullmatch(name)))

    def allowed(self, corpus: str | None, asked: Sequence[str], caller: Caller) -> Allowed:
        """Return what *caller* may be answered from when it asks for *corpus* and sources *asked*.

        A source that is not there and one that the key may not use are refused alike, so that
        names cannot be tried; a reviewer's key may use none. Refused, and CorpusError for an index that cannot be opened.
        """
        if caller.use != "ask":
            raise Refused("NOT_FOR_THIS_KEY")
        name = self._named(corpus, caller)
        directory = self._home / name
        state = index_state(directory)
        with self._lock:
            whole = self._of(name, directory, state, None)
            there = [source for source, _ in whole.sources]
            may = _paths(caller.sources, there) if caller.sources else set(there)
            wanted = [_paths([one], there) & may for one in asked]
            usable = frozenset().union(*wanted) if asked else frozenset(may)
            if not usable or not all(wanted):
                raise Refused("SOURCE_NOT_ALLOWED")
            return whole if usable == set(there) else self._of(name, directory, state, usable)

    def _named(self, corpus: str | None, caller: Caller) -> str:
        names = [n for n in self.names() if not caller.corpora or n in caller.corpora]
        if corpus is None and len(names) == 1:
            return names[0]
        if corpus is None and names:
            raise Refused("BAD_REQUEST", f"name a corpus: {', '.join(names[:20])}")
        if corpus not in names:
            raise Refused("UNKNOWN_CORPUS")
        return corpus

    def _of(
        self, name: str, directory: Path, state: object, only: frozenset[str] | None
    ) -> Allowed:
        key = (name, state, only)
        self.index_found(key in self._kept)
        if key not in self._kept:
            index = open_index(directory, self._services)
            if only is not None:
                index = index.restricted({d.doc_id for d in index.documents if d.path in only})
            sources = tuple((d.path, d.sha256) for d in index.documents)
            self._kept[key] = Allowed(index, sources)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


def _paths(names: Iterable[str], there: Sequence[str]) -> set[str]:
    """Return the paths of *there* that *names* name: whole, or by a file name that one alone has."""
    counted = Counter(PurePath(path).name for path in there)
    return {
        path
        for path in there
        for name in names
        if name == path or (name == PurePath(path).name and counted[name] == 1)
    }
