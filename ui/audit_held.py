"""Checkpoints that a reader kept, given back: read out of files, and compared with the log of now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.core.said import Message, said, said_n
from certirag.errors import AuditError, CertificateError
from certirag.proof.envelope import strict_json
from certirag.proof.log import Checkpoint, open_checkpoint
from certirag.proof.merkle import is_consistent
from certirag.proof.trust import require_in_range
from ui.inert import draw_lines, draw_text
from ui.language import tr

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from certirag.ports import AuditLog

MAX_NOTES: Final = 50
_MAX_TEXT: Final = 65_536
_SIGNED: Final = "\N{EM DASH} "
HELD_WORDS: Final[Message] = (
    "A file that was downloaded here before, one of `certirag audit checkpoint`, or the export of "
    "an answer: each holds one."
)
FITS: Final[Message] = "The log of now extends every checkpoint that you gave."
DIFFERS: Final[Message] = "The log of now is not what you kept."


@dataclass(frozen=True, slots=True)
class Compared:
    """What one kept checkpoint says of the log of now; *line* names it, in plain words."""

    fits: bool
    line: str


def ask_held() -> tuple[str, ...]:
    """Draw the uploader and return the checkpoints given, as text; nothing of them is believed."""
    st.caption(tr(HELD_WORDS))
    files = st.file_uploader(
        tr("Checkpoints"),
        type=["txt", "json"],
        accept_multiple_files=True,
        key="held-checkpoints",
        label_visibility="collapsed",
    )
    return tuple(note for file in files for note in held_notes(file.getvalue()))[:MAX_NOTES]


def held_notes(content: bytes) -> tuple[str, ...]:
    """Return the signed notes in *content*: one after the other, or the one in an export.

    A note ends with the line of its signature. What is neither is returned as it is, so that it
    is compared and found to be none.
    """
    if content.lstrip()[:1] == b"{":
        return (_of_export(content),)
    text = content[:_MAX_TEXT].decode("utf-8", "replace").replace("\r\n", "\n")
    notes: list[str] = []
    begun: list[str] = []
    for line in text.split("\n"):
        if not begun and not line:
            continue
        begun.append(line)
        if line.startswith(_SIGNED):
            notes.append("\n".join(begun) + "\n")
            begun = []
    rest = "\n".join(begun).strip()
    return (*notes, rest) if rest or not notes else tuple(notes)


def _of_export(content: bytes) -> str:
    try:
        export = strict_json(content)
    except CertificateError:
        return ""
    proof = export.get("log") if isinstance(export, dict) else None
    found = proof.get("checkpoint") if isinstance(proof, dict) else None
    return found if isinstance(found, str) else ""


def draw_compared(
    log: AuditLog,
    newest: Checkpoint,
    held: tuple[str, ...],
    trusted: Mapping[str, Ed25519PublicKey],
) -> None:
    """Draw the verdict on each of *held* against the checkpoint *newest* of *log*."""
    found = [compare(log, newest, note, trusted) for note in held]
    if not found:
        return
    draw_text(tr(FITS) if all(one.fits for one in found) else tr(DIFFERS), "lead", told=True)
    draw_lines(one.line for one in found)
    st.caption(
        tr(
            "This compares signed roots. Verify the whole log to have each entry read again as well."
        )
    )


def compare(
    log: AuditLog, newest: Checkpoint, note: str, trusted: Mapping[str, Ed25519PublicKey]
) -> Compared:
    """Return whether the tree of *newest* extends that of the kept *note*; never raises for either."""
    try:
        kept = open_checkpoint(note, trusted.values())
        require_in_range(trusted, kept.keyid, kept.size - 1, kept.origin)
    except CertificateError as error:
        return Compared(False, said("no checkpoint that can be used: {error}", error=str(error)))
    what = said_n("the checkpoint of {n} entry", "the checkpoint of {n} entries", kept.size)
    if kept.origin != newest.origin:
        return Compared(
            False, said("{what} is of another log, {origin}", what=what, origin=kept.origin)
        )
    if kept.size > newest.size:
        return Compared(
            False,
            said(
                "{what}: the log ends after {size}; it was cut off, or an older copy was put back",
                what=what,
                size=newest.size,
            ),
        )
    try:
        path = log.consistency(kept.size, newest.size) if kept.size else ()
        extends = is_consistent(kept.size, newest.size, kept.root, newest.root, path)
    except (AuditError, ValueError) as error:
        return Compared(
            False, said("{what} cannot be compared: {error}", what=what, error=str(error))
        )
    if not extends:
        return Compared(
            False,
            said(
                "{what}: the log had another root then; an entry was changed, or it is a fork",
                what=what,
            ),
        )
    return Compared(
        True,
        said(
            "{what}: what it covers is as it was, and {size} stand now",
            what=what,
            size=newest.size,
        ),
    )
