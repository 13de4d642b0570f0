"""Two checked drafts beside each other, every badge from each one's own signed record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.core.said import Message, together
from certirag.errors import CertificateError
from certirag.render import NOTICE, Mode, Presentation, present
from certirag.render.compared_drafts import compare_drafts
from certirag.render.judgement_text import CONFIDENCES, lowered_because
from ui import drawer, run, taking
from ui.answer import BROKEN, draw_otherwise
from ui.checked import MOST, draw_lacks, draw_marked, draw_statements
from ui.inert import draw_facts, draw_table, draw_text
from ui.language import tr, tr_of, trn

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from certirag.core.policy import Policy
    from certirag.render import CheckedDraft
    from ui.located import CorpusLike

PLACES: Final = ("", "second-")  # in keys and in the address: both have a claim 1
OTHERWISE: Final[Message] = (
    "The second draft was checked otherwise than the first: over other documents, under another "
    "policy, by other steps or for another question. The two are not compared; check it again."
)
NOTHING: Final[Message] = "Nothing that was compared differs."
IN_DEBUG: Final[Message] = "Debug shows the records of one draft at a time: close the comparison."


def show_compared(
    exports: tuple[bytes, bytes],
    mode: Mode,
    *,
    trusted: Mapping[str, Ed25519PublicKey],
    floor: Policy,
    corpus: CorpusLike | None,
    key: str,
) -> bool:
    """Draw two drafts beside each other and what differs; say whether they could be compared.

    Every badge is derived again from each one's record, on each call. Records that do not hold, or
    were made otherwise than each other, are not compared, and a line says so. *key* is where the
    session keeps the second.
    """
    try:
        first, second = (present(one, mode, trusted=trusted, floor=floor) for one in exports)
    except CertificateError as error:
        draw_text(tr(BROKEN, error=error), "error")
        return False
    if first.draft is None or second.draft is None or _grounds(first) != _grounds(second):
        draw_text(tr(OTHERWISE), "error")
        return False
    both = ((first, first.draft), (second, second.draft))
    with st.container(key="checked"):
        draw_otherwise(first, floor, corpus)
        if first.question:
            draw_text(first.question, "question", max_lines=6)
        st.button(tr("Close the comparison"), key="second-close", on_click=run.forget, args=(key,))
        one, two = st.columns(2, gap="medium")
        with one, st.container(gap="xsmall"):
            st.subheader(tr("First draft"), anchor=False)
            _draw_draft(first, first.draft)
        with two, st.container(gap="xsmall"):
            st.subheader(tr("Second draft"), anchor=False)
            _draw_draft(second, second.draft)
        st.subheader(tr("What differs"), anchor=False)
        _draw_differences(first.draft, second.draft)
        columns = st.columns(2, gap="medium")
        for column, place, (shown, draft), export in zip(
            columns, PLACES, both, exports, strict=True
        ):
            with column:
                draw_statements(shown, draft, place)
                draw_lacks(draft)
                _draw_footer(shown, export, place)
        st.caption(tr(NOTICE))
        if mode is Mode.DEBUG:
            st.caption(tr(IN_DEBUG))
    for place, (shown, _) in zip(PLACES, both, strict=True):
        if drawer.open_if_asked(shown, corpus, place):
            break
    return True


def _grounds(of: Presentation) -> tuple[object, ...]:
    """Return what two drafts have in common that may be compared: how each of them was checked."""
    record = of.record
    corpus = record.retrieval.settings.get("corpus")
    return (corpus, of.policy, record.models, record.config_hash, of.question)


def _draw_draft(presentation: Presentation, draft: CheckedDraft) -> None:
    draw_text(draft.headline, "lead")
    draw_marked(draft)
    draw_facts(
        (
            (tr("Confidence"), tr_of(CONFIDENCES, presentation.summary.confidence)),
            (tr("Policy"), presentation.policy.name),
            (tr("Checked"), presentation.record.created_at.replace("T", " ")[:16]),
        )
    )
    lowered = lowered_because(presentation.summary.basis)
    if lowered:
        draw_text(lowered, "note", max_lines=4)


def _draw_differences(first: CheckedDraft, second: CheckedDraft) -> None:
    found = compare_drafts(first, second)
    if found.differences:
        with st.container(key="rows-compared"):
            draw_table(
                (tr("Difference"), tr("First draft"), tr("Second draft")),
                [
                    (together(*one.kinds, between=" · "), one.first or "–", one.second or "–")
                    for one in found.differences[:MOST]
                ],
            )
    else:
        st.caption(tr(NOTHING))
    rest = len(found.differences) - MOST
    if rest > 0:
        st.caption(
            trn(
                "{n:d} more is marked in the drafts and not listed.",
                "{n:d} more are marked in the drafts and not listed.",
                rest,
            )
        )
    if found.alike:
        st.caption(tr("The same in both, with the same badge: {n:d}.", n=found.alike))
    if found.left_out:
        st.caption(
            tr(
                "Without sure words of their own, or not checked, so not compared: {n:d}.",
                n=found.left_out,
            )
        )


def _draw_footer(presentation: Presentation, export: bytes, place: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"footer{place}"):
        taking.draw_taking(presentation, export, place)
        draw_text(
            tr("Trace {trace_id}", trace_id=presentation.record.trace_id), "note", max_lines=1
        )
