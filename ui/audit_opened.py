"""One answer of the log, opened: what its entry says, whether it still stands, and the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.auditing.logged_answers import export_again, open_answer
from certirag.core.said import Message
from certirag.errors import AuditError
from certirag.proof.certificate import open_reviewed
from certirag.proof.facets import AnswerQuery
from certirag.render import Mode
from ui import services
from ui.answer import show_answer
from ui.audit_filters import OUTCOMES
from ui.audit_reviews import sentence_of
from ui.controls import choose_mode
from ui.inert import draw_facts, draw_lines, draw_text
from ui.language import tr, tr_of
from ui.run import own_answers

if TYPE_CHECKING:
    from certirag.ports import AuditLog
    from certirag.proof.certificate import AnswerRecord
    from certirag.proof.facets import AnswerRow
    from certirag.proof.log import Leaf

NOT_THERE: Final[Message] = (
    "The log has no answer of that trace id. It may have been erased, or be of another log."
)
OTHERWISE: Final = (
    "What queries read of this answer differs from its signed record, so it is not shown: verify "
    "the whole log."
)
STALE: Final[Message] = (
    "Revoked: its documents changed, and it failed when it was checked again. The badges below "
    "are those of then."
)
RENEWED: Final[Message] = (
    "Its documents changed; it was checked again, and a newer entry stands. The badges below are "
    "those of then."
)
_MOST_NEWER: Final = 5


def draw_opened(log: AuditLog, trace_id: str) -> None:
    """Draw the answer *trace_id*; its badges are derived again from the logged bytes.

    Raises AuditError or CertificateError for an entry that was erased or does not hold; nothing
    of the answer has been drawn then.
    """
    found = logged(log, trace_id)
    if found is None:
        draw_text(tr(NOT_THERE), "error")
        return
    row, leaf, record = found
    draw_standing(log, row)
    _draw_entry(leaf, record)
    mode = choose_mode()
    ways = mode is not Mode.DEBUG and st.toggle(tr("How each claim was decided"), key="ways")
    shared = services.shared().services
    export = export_again(log, trace_id)
    _, review = open_reviewed(export, shared.trusted)
    if review is not None:
        draw_text(sentence_of(review), "note")
    show_answer(export, mode, trusted=shared.trusted, floor=shared.policy, ways=ways)
    st.caption(
        tr(
            "Download audit JSON gives the signed record with its proof from the newest checkpoint. "
            "How a stranger checks it: Trust contract, Checking us."
        )
    )


def logged(log: AuditLog, trace_id: str) -> tuple[AnswerRow, Leaf, AnswerRecord] | None:
    """Return the answer *trace_id* with its row and its leaf, None where the log has none.

    Raises AuditError or CertificateError for an entry that was erased or does not hold.
    """
    rows = log.search(AnswerQuery(trace_id=trace_id, parts=True), limit=1).rows
    if not rows:
        return None
    leaf, record = open_answer(log.find(trace_id), services.shared().services.trusted)
    if not _agrees(rows[0], leaf, record):
        raise AuditError(OTHERWISE)
    return rows[0], leaf, record


def _agrees(row: AnswerRow, leaf: Leaf, record: AnswerRecord) -> bool:
    of = row.facets
    return (row.index, of.trace_id, of.at, of.decision, of.policy) == (
        leaf.index,
        record.trace_id,
        record.created_at,
        record.answer.decision,
        record.policy.name,
    )


def draw_standing(log: AuditLog, row: AnswerRow) -> None:
    """Say before anything else that an answer is no longer stood by, and what came after it."""
    if not row.revoked:
        return
    known = {"stale": tr(STALE), "renewed": tr(RENEWED)}
    words = known.get(row.revoked) or tr("Revoked: {reason}", reason=row.revoked)
    draw_text(words, "error")
    newer = _newer(log, row)
    if newer:
        st.caption(tr("Newer answers of the log to the same question:"))
        draw_lines(
            tr(
                "entry {index}, {outcome}, trace {trace_id}",
                index=one.index,
                outcome=tr_of(OUTCOMES, one.facets.decision),
                trace_id=one.facets.trace_id,
            )
            for one in newer
        )


def _newer(log: AuditLog, row: AnswerRow) -> list[AnswerRow]:
    of = row.facets
    if not of.question.strip():
        return []
    among = None if services.shows_everyone() else own_answers()
    page = log.search(AnswerQuery(about=of.question[:512], among=among), limit=50)
    same = [r for r in page.rows if r.index > row.index and r.facets.question == of.question]
    return same[:_MOST_NEWER]


def _draw_entry(leaf: Leaf, record: AnswerRecord) -> None:
    models = {model.role: f"{model.name} {model.version}" for model in record.models}
    with st.expander(tr("The log entry"), expanded=True):
        draw_facts(
            (
                (tr("Entry"), str(leaf.index)),
                (tr("Log"), leaf.origin),
                (tr("Logged (UTC)"), leaf.at[:19].replace("T", " ")),
                (tr("Policy"), record.policy.name),
                (tr("Verifier"), models.get("verifier", tr("none"))),
                (tr("Generator"), models.get("generator", record.claim_ir.generator)),
                (tr("Retention"), leaf.retention or tr("none")),
                (tr("Signed by key"), leaf.keyid[:16]),
                (tr("Corpus"), str(record.retrieval.settings.get("corpus", tr("none")))[:16]),
                (tr("Configuration"), record.config_hash[:16]),
            )
        )
