"""The corpus picker and the documents of this session; owns the key `session_documents`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.adapters.index.kept_readings import KeptReadings
from certirag.adapters.index.originals import original
from certirag.bootstrap import index_of_uploads
from certirag.core.said import Message
from certirag.core.text import sha256_hex
from certirag.errors import CertiRAGError, InputError
from ui import services
from ui.inert import draw_lines, draw_place, draw_text
from ui.language import tr
from ui.reading import ReadingBoard

if TYPE_CHECKING:
    from certirag.adapters.index.local import LocalIndex

DOCUMENT_TYPES: Final = ["txt", "md", "html", "htm", "pdf", "docx", "csv", "jsonl"]
MAX_SESSION_FILES: Final = 50
MAX_SESSION_BYTES: Final = 100_000_000
SESSION: Final = "your documents"
# What the demo corpora are called in words; another corpus is called by its folder.
CORPUS_WORDS: Final[dict[str, Message]] = {
    "policy": "Company policy handbook",
    "finance": "Quarterly and annual figures",
    "clinical": "Clinical and product guideline",
    SESSION: "Your documents (this session only)",
}
_KEY: Final = "session_documents"
_CHOSEN: Final = "chosen_corpus"
# Counted up whenever the documents change: a new uploader starts empty.
_GENERATION: Final = "session_generation"

# Digests of the documents that were not read yet when the reading was cancelled.
_LEFT_OUT: Final = "session_left_out"

Upload = tuple[str, bytes]


@dataclass(frozen=True)
class Corpus:
    """A chosen corpus: *skipped* says, one line each, which files were not read and why."""

    name: str
    index: LocalIndex
    skipped: tuple[str, ...] = ()


@dataclass
class SessionReading:
    """What this session's documents were read as, and the *corpus* that they made of *made_of*."""

    kept: KeptReadings = field(default_factory=KeptReadings)
    made_of: object = None
    corpus: Corpus | None = None


def original_file(sha256: str) -> bytes | None:
    """Return the file with that digest, of this session's or kept beside a corpus, or None."""
    for _, content in _session_documents():
        if sha256_hex(content) == sha256:
            return content
    home = services.indexes_home()
    return original([home / name for name in services.corpus_names()], sha256)


def corpus_label(name: str) -> str:
    """Return a corpus's name in words."""
    return tr(CORPUS_WORDS[name]) if name in CORPUS_WORDS else name


def offered() -> tuple[str, ...]:
    """Return the names of the corpora that may be chosen, this session's documents first."""
    own = (SESSION,) if _session_documents() else ()
    return (*own, *_in_order(services.corpus_names()))


def chosen_corpus() -> str:
    """Return the name of the corpus that this session chose last, "" before the first."""
    return str(st.session_state.get(_CHOSEN, ""))


def keep_chosen(name: str) -> None:
    """Let the next page begin with the corpus *name*."""
    st.session_state[_CHOSEN] = name


def corpus_called(name: str) -> Corpus | None:
    """Return the corpus *name*, None when it is not offered; CorpusError when it cannot be opened."""
    if name not in offered():
        return None
    if name == SESSION:
        return _session_corpus(_session_documents())
    return Corpus(name, services.open_corpus(name))


def choose_corpus(*, key: str) -> Corpus | None:
    """Draw the picker and the uploader; return the chosen corpus, or None when there is none.

    A page begins with what was chosen on the page before. Raises a CertiRAGError when the chosen
    corpus cannot be opened.
    """
    documents = _session_documents()
    names = offered()
    if key not in st.session_state and chosen_corpus() in names:
        st.session_state[key] = chosen_corpus()
    slot = st.container()
    with st.expander(tr("Add your own documents"), key=f"{key}-add", expanded=not names):
        _take_uploads(key)
    if _session_documents() != documents:
        _choose_first(key)
        st.rerun()
    if not names:
        st.info(
            tr(
                "No corpus is ingested yet. Add documents above, or run "
                "`certirag ingest` on a folder and open this page again."
            )
        )
        return None
    with slot:
        name = st.selectbox(tr("Corpus"), names, format_func=corpus_label, key=key)
        keep_chosen(name)
        return corpus_called(name)  # what is read meanwhile is seen here, above many files


def remove_uploads(sha256: str) -> None:
    """Take the documents with that digest out of this session's."""
    _keep(tuple(d for d in _session_documents() if sha256_hex(d[1]) != sha256))


def read_again(sha256: str = "") -> None:
    """Have the document with that digest read again, or all of them, those left out as well."""
    digests = {sha256} if sha256 else {digest for _, digest in map(_identity, _session_documents())}
    reading = _session_reading()
    reading.kept.forget(digests)
    reading.made_of = None
    st.session_state[_LEFT_OUT] = tuple(sorted(_left_out() - digests))


def draw_skipped(lines: Sequence[str]) -> None:
    """Draw what was not read and why, folded away."""
    if not lines:
        return
    with st.expander(tr("Not read ({n:d})", n=len(lines))):
        draw_lines(lines)


def _in_order(names: Sequence[str]) -> list[str]:
    """Return the demo corpora first, in the order of their words, then the others by name."""
    demo = list(CORPUS_WORDS)
    return sorted(names, key=lambda name: (demo.index(name) if name in demo else len(demo), name))


def _take_uploads(key: str) -> None:
    st.caption(
        tr(
            "The files stay in this session's memory, are searched here only, and are gone when it ends."
        )
    )
    if services.offers_audit() and services.shows_everyone():
        st.caption(
            tr(
                "Questions, and what answers quote, are kept in the audit log, which everybody who uses "
                "this app can read."
            )
        )
    else:
        st.caption(
            tr(
                "Questions, and what answers quote, are kept in the audit log, which its operator can read."
            )
        )
    files = st.file_uploader(
        tr("Documents"),
        type=DOCUMENT_TYPES,
        accept_multiple_files=True,
        key=f"{key}-files-{_generation()}",
        label_visibility="collapsed",
    )
    kept = {_identity(document): document for document in _session_documents()}
    for file in files:
        document = (file.name, file.getvalue())
        kept.setdefault(_identity(document), document)
    documents = tuple(kept.values())
    try:
        _require_bounded(documents)
    except InputError as error:
        draw_text(str(error), "error")
        return
    if files:
        _keep(documents)
    with st.container(gap="xxsmall"):
        for number, document in enumerate(documents, 1):
            row = st.container(
                key=f"{key}-file-{number}", horizontal=True, vertical_alignment="center"
            )
            with row:
                draw_place(document[0])
                if st.button(
                    tr("Remove file {number:d}", number=number),
                    key=f"{key}-remove-{number}",
                    type="tertiary",
                ):
                    _keep(tuple(other for other in documents if other is not document))
    if _left_out():
        st.button(tr("Read the files that were left out"), key=f"{key}-read-on", on_click=_read_on)
    if documents and st.button(tr("Forget my documents"), key=f"{key}-forget", type="tertiary"):
        _keep(())


def _keep(documents: tuple[Upload, ...]) -> None:
    """Keep *documents* for this session; the uploader starts empty again."""
    st.session_state[_KEY] = documents
    st.session_state[_GENERATION] = _generation() + 1


def _choose_first(key: str) -> None:
    """Let the picker stand on what was just added, or on the first corpus after forgetting."""
    names = offered()
    if names:
        st.session_state[key] = names[0]
    else:
        st.session_state.pop(key, None)


def _generation() -> int:
    return int(st.session_state.get(_GENERATION, 0))


def _session_documents() -> tuple[Upload, ...]:
    return tuple(st.session_state.get(_KEY, ()))


def _identity(document: Upload) -> tuple[str, str]:
    return document[0], sha256_hex(document[1])


def _require_bounded(documents: Sequence[Upload]) -> None:
    if len(documents) > MAX_SESSION_FILES:
        raise InputError(f"{len(documents)} documents: at most {MAX_SESSION_FILES} in a session")
    size = sum(len(content) for _, content in documents)
    if size > MAX_SESSION_BYTES:
        raise InputError(f"{size} bytes of documents: at most {MAX_SESSION_BYTES} in a session")


def _session_corpus(documents: tuple[Upload, ...]) -> Corpus:
    """Return the corpus of *documents*; what was not read yet is read, in sight and till cancelled."""
    reading, common, left_out = _session_reading(), services.shared(), _left_out()
    made_of = (tuple(map(_identity, documents)), left_out)
    if reading.corpus is None or reading.made_of != made_of:
        board = ReadingBoard("session", [name for name, _ in documents], _leave_out_the_rest)
        try:
            with board.turn(common.uploads):
                index, skipped = index_of_uploads(
                    documents, common.services, board.watch, kept=reading.kept, left_out=left_out
                )
        except CertiRAGError:
            board.close()
            raise
        board.close()
        reading.corpus, reading.made_of = Corpus(SESSION, index, skipped), made_of
    return reading.corpus


# Kept for this session alone and gone with it: another session cannot reach it.
@st.cache_resource(scope="session", max_entries=1, show_spinner=False)
def _session_reading() -> SessionReading:
    return SessionReading()


def _left_out() -> set[str]:
    """Return the digests of the documents that are not to be read before somebody asks for it."""
    here = {digest for _, digest in map(_identity, _session_documents())}
    return here & set(st.session_state.get(_LEFT_OUT, ()))


def _leave_out_the_rest() -> None:
    """Cancel: what was read stays, the rest is read when it is asked for (a button's callback)."""
    knows = _session_reading().kept.knows
    digests = (digest for _, digest in map(_identity, _session_documents()))
    st.session_state[_LEFT_OUT] = tuple(digest for digest in digests if not knows(digest))


def _read_on() -> None:
    st.session_state[_LEFT_OUT] = ()
