"""Deleting documents and reading them again, on the page Corpus; what a session asks is done once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.bootstrap import corpus_writer
from certirag.core.said import Message, said, said_n, together
from certirag.errors import CertiRAGError
from ui import services
from ui.corpora import SESSION, Corpus, corpus_label, read_again, remove_uploads
from ui.inert import draw_text
from ui.language import tr, trn
from ui.reading import ReadingBoard

if TYPE_CHECKING:
    from certirag.adapters.index.index_format import DocumentRecord

Task = tuple[str, str, str]  # (corpus, what, path)
_CONFIRM: Final = "corpus_confirm"  # (corpus, path): whose deletion waits for a yes
_TASK: Final = "corpus_task"  # what is to be done on this run
_SAID: Final = "corpus_said"  # (corpus, path, what came of it, its role): text from outside
_DELETE: Final = "delete"
_READ: Final = "read"
_SEEN: Final = 3
# Whether the corpus is another one all the same → what is said of an error.
_FAILED: Final[dict[bool | None, Message]] = {
    False: "Nothing was changed. {error}",
    True: "The corpus was changed, but not all of it went well. {error}",
    None: "The corpus cannot be opened any more. {error}",
}
_EARLIER: Final[Message] = (
    "Earlier answers keep their certificates and say that they are of other documents."
)
_CANCELLED: Final[Message] = "You cancelled this. The page shows what the corpus holds now."
_CHANGED: Final[Message] = "Read again on {day} at {time} UTC; its text changed."
_UNCHANGED: Final[Message] = "Read again on {day} at {time} UTC; its text is unchanged."


def may_change(corpus: Corpus) -> bool:
    """Say whether this session may delete and read again documents of *corpus*."""
    return corpus.name == SESSION or (
        services.allows_changes(corpus.name) and not corpus.index.foreign
    )


def what_was_asked() -> Task | None:
    """Return what a click asked for and forget it: it is done on this run of the page or never."""
    task: Task | None = st.session_state.pop(_TASK, None)
    return task


def do_what_was_asked(
    corpus: Corpus, task: Task | None, path: str = "", *, below: Collection[str] = ()
) -> None:
    """Do *task* of that document of *corpus* on disk, or of all of it, if it is one.

    Without *path* it is also of a document that is not drawn *below*, where it would be done.
    The page begins anew then, and this says in the same place what came of it.
    """

    def is_here(name: str, of: str) -> bool:
        return name == corpus.name and (of == path if path else of not in below)

    if task is not None and is_here(task[0], task[2]) and may_change(corpus):
        board = ReadingBoard("corpus", (), partial(_cancelled, corpus.name, task[2]))
        try:
            told, role = _done(corpus, task[1], task[2], board), "note"
        except CertiRAGError as error:
            told, role = said(_FAILED[_was_changed(corpus)], error=str(error)), "error"
        if _was_changed(corpus):
            told = together(told, said(_EARLIER))
        _say(corpus.name, "" if task[1] == _DELETE and role == "note" else task[2], told, role)
        board.close()
        st.rerun()
    if _SAID in st.session_state and is_here(*st.session_state[_SAID][:2]):
        _, _, text, role = st.session_state.pop(_SAID)
        draw_text(text, "error" if role == "error" else "note", told=True)


def _was_changed(corpus: Corpus) -> bool | None:
    """Say whether the corpus on disk is another one than *corpus* by now; None: nobody can tell."""
    try:
        return services.open_corpus(corpus.name).fingerprint != corpus.index.fingerprint
    except CertiRAGError:
        return None


def offer_changes(corpus: Corpus, document: DocumentRecord, number: int) -> None:
    """Draw the buttons that read *document* again and delete it, in a row that the caller draws."""
    if not may_change(corpus):
        return
    asked = (corpus.name, document.path)
    if _is_known(corpus):
        st.button(
            tr("Read document {number:d} again", number=number),
            key=f"reread-{number}",
            type="tertiary",
            on_click=_read_document,
            args=(*asked, document.sha256),
        )
    st.button(
        tr("Delete document {number:d}", number=number),
        key=f"delete-{number}",
        type="tertiary",
        on_click=_ask_to_confirm,
        args=asked,
    )


def confirm_deletion(corpus: Corpus, document: DocumentRecord, number: int) -> None:
    """Draw the question whether *document* is to go, if its deletion was asked for."""
    asked = (corpus.name, document.path)
    if st.session_state.get(_CONFIRM) != asked or not may_change(corpus):
        return
    after = (
        tr("Upload it again to have it back.")
        if corpus.name == SESSION
        else tr("Its file is left where it is: reading all documents again takes it in again.")
    )
    draw_text(
        tr(
            "Delete “{name}” from “{corpus}”? No answer will be made from it any more. {after}",
            name=_name(document.path),
            corpus=corpus_label(corpus.name),
            after=after,
        ),
        "note",
        told=True,
    )
    with st.container(horizontal=True):
        st.button(
            tr("Yes, delete document {number:d}", number=number),
            key=f"confirm-{number}",
            type="primary",
            on_click=_delete,
            args=(*asked, document.sha256),
        )
        st.button(
            tr("Keep document {number:d}", number=number),
            key=f"keep-{number}",
            on_click=_forget_question,
        )


def offer_all_again(corpus: Corpus) -> None:
    """Draw the button that reads all documents of *corpus* again, or why there is none."""
    if not may_change(corpus):
        st.caption(tr("Documents of this corpus cannot be deleted or read again from here."))
    elif _is_known(corpus):
        st.button(
            tr("Read all documents again"),
            key="reread-all",
            on_click=_read_document,
            args=(corpus.name, "", ""),
        )
    else:
        st.caption(
            tr(
                "It is not recorded where these documents came from; ingest them once more to have "
                "them read again from here."
            )
        )


def versions_of(document: DocumentRecord) -> Sequence[str]:
    """Return a line on each of the newest readings that found another file, newest first."""
    lines = [
        tr(
            _CHANGED if version.text_changed else _UNCHANGED,
            day=version.read_on[:10],
            time=version.read_on[11:16],
        )
        for version in reversed(document.versions[-_SEEN:])
    ]
    earlier = len(document.versions) - _SEEN
    return [
        *lines,
        *([trn("{n} earlier change.", "{n} earlier changes.", earlier)] if earlier > 0 else []),
    ]


def _done(corpus: Corpus, what: str, path: str, board: ReadingBoard) -> str:
    """Do it, and return what came of it in words; raises a CertiRAGError and changes nothing."""
    common, directory = services.shared(), services.indexes_home() / corpus.name
    with (
        board.turn(common.uploads),
        corpus_writer(directory, common.services, board.watch) as writer,
    ):
        report = writer.remove(path) if what == _DELETE else writer.reread(path)
    if what == _DELETE:
        return said("“{name}” was deleted from this corpus.", name=_name(path))
    if not path:
        return said_n(
            "All documents were read again: {documents} can be quoted, {n} file was not read.",
            "All documents were read again: {documents} can be quoted, {n} files were not read.",
            len(report.skipped),
            documents=report.documents,
        )
    before = {document.path: document for document in corpus.index.documents}
    now = {d.path: d for d in services.open_corpus(corpus.name).documents}
    if path not in before or path not in now or before[path].sha256 == now[path].sha256:
        return said("“{name}” was read again. The file is the same as before.", name=_name(path))
    if now[path].versions[-1].text_changed:
        return said("“{name}” was read again; its text changed.", name=_name(path))
    return said("“{name}” was read again; its text is unchanged.", name=_name(path))


def _is_known(corpus: Corpus) -> bool:
    return corpus.name == SESSION or bool(corpus.index.sources)


def _name(path: str) -> str:
    return PurePath(path).name


def _say(corpus: str, path: str, text: str, role: str) -> None:
    st.session_state[_SAID] = (corpus, path, text, role)


def _cancelled(corpus: str, path: str) -> None:
    _say(corpus, path, said(_CANCELLED), "note")


def _ask_to_confirm(corpus: str, path: str) -> None:
    st.session_state[_CONFIRM] = (corpus, path)


def _forget_question() -> None:
    st.session_state.pop(_CONFIRM, None)


def _delete(corpus: str, path: str, sha256: str) -> None:
    _forget_question()
    if corpus == SESSION:
        remove_uploads(sha256)
        gone = said("“{name}” was deleted from your documents.", name=_name(path))
        _say(corpus, "", together(gone, said(_EARLIER)), "note")
    else:
        st.session_state[_TASK] = (corpus, _DELETE, path)


def _read_document(corpus: str, path: str, sha256: str) -> None:
    _forget_question()
    if corpus == SESSION:
        read_again(sha256)
        again = (
            said("“{name}” was read again.", name=_name(path))
            if path
            else said("Your documents were read again.")
        )
        _say(corpus, path, again, "note")
    else:
        st.session_state[_TASK] = (corpus, _READ, path)
