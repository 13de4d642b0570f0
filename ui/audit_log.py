"""The log's state: its newest checkpoint to take away, and the whole of it verified on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.auditing.verify_live import verify_live
from certirag.core.said import Message
from certirag.errors import CertificateError
from certirag.proof.log import Checkpoint, open_checkpoint
from certirag.proof.trust import require_in_range
from ui import services
from ui.audit_held import ask_held, draw_compared
from ui.contract_check import draw_checkers
from ui.inert import draw_facts, draw_lines, draw_text
from ui.language import tr

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from certirag.auditing.verify_log import LogReport
    from certirag.ports import AuditLog

_REPORT: Final = "audit_report"
LONG: Final = 50_000
# What `verify_live` calls its three parts.
STEPS: Final = {
    "verifying the log": 1,
    "proving each entry": 2,
    "comparing the answers with their entries": 3,
}
KEEP_HELP: Final[Message] = (
    "Keep it on another machine. Whoever holds an older checkpoint can see that the log was cut "
    "or written anew; whoever holds none cannot."
)
HOLDS: Final[Message] = "The log holds: every entry is where its checkpoint says."
BROKEN: Final[Message] = (
    "The log does not hold. Do not rely on it until each line below is explained."
)


def draw_log(log: AuditLog) -> None:
    """Draw what the log is, compare it with kept checkpoints, and verify it when asked."""
    trusted = services.shared().services.trusted
    checkpoint = log.checkpoint()
    newest = _opened(checkpoint, trusted)
    size = newest.size if newest else log.size()
    if newest:
        draw_facts(
            (
                (tr("Log"), newest.origin),
                (tr("Entries"), str(newest.size)),
                (tr("Root"), newest.root.hex()[:16]),
                (tr("Signed by key"), newest.keyid[:16]),
            )
        )
        if newest.size <= 1:
            st.caption(
                tr("The log has just begun: its first entry names it, and no other is there.")
            )
    with st.expander(tr("Compare with checkpoints that you kept")):
        held = ask_held()
        if newest:
            draw_compared(log, newest, held, trusted)
    with st.container(horizontal=True, vertical_alignment="center", key="log-acts"):
        if st.button(tr("Verify the whole log"), type="primary", key="verify-log"):
            st.session_state[_REPORT] = _verified(log, held)
        st.download_button(
            tr("Download the newest checkpoint"),
            data=checkpoint.encode("utf-8"),
            file_name="certirag-checkpoint.txt",
            mime="text/plain",
            on_click="ignore",
            help=tr(KEEP_HELP),
        )
    if size > LONG:
        st.caption(
            tr(
                "A log this long takes minutes to verify. `certirag audit verify` does the same on "
                "the server."
            )
        )
    report = st.session_state.get(_REPORT)
    if report is not None:
        _draw_report(report, size)
    with st.expander(tr("Check an answer without this server")):
        draw_checkers(newest.keyid if newest else "")


def _opened(checkpoint: str, trusted: Mapping[str, Ed25519PublicKey]) -> Checkpoint | None:
    """Return the newest checkpoint; draw why not, and return None, when nobody trusted signed it."""
    try:
        newest = open_checkpoint(checkpoint, trusted.values())
        require_in_range(trusted, newest.keyid, newest.size - 1, newest.origin)
    except CertificateError as error:
        draw_text(tr("The newest checkpoint does not hold: {error}.", error=error), "error")
        return None
    return newest


def _verified(log: AuditLog, held: tuple[str, ...]) -> LogReport:
    slot = st.empty()
    with slot.status(tr("Verifying the log")) as status:

        def progress(line: str, done: int, total: int) -> None:
            step = STEPS.get(line, 0)
            if total:
                status.update(
                    label=tr(
                        "Verifying the log, step {step:d} of 3: {done:d} of {total:d}",
                        step=step,
                        done=done,
                        total=total,
                    )
                )
            else:
                status.update(
                    label=tr(
                        "Verifying the log, step {step:d} of 3: {done:d}", step=step, done=done
                    )
                )

        trusted = services.shared().services.trusted
        report = verify_live(log, trusted, held=held, progress=progress)
    slot.empty()
    return report


def _draw_report(report: LogReport, size: int) -> None:
    with st.container(key="log-report"):
        draw_text(tr(HOLDS) if report.intact else tr(BROKEN), "lead", told=True)
        if not report.intact:
            draw_lines(report.faults)
            if report.more_faults:
                st.caption(tr("and {more_faults:d} more faults", more_faults=report.more_faults))
        draw_facts(
            (
                (tr("Entries looked at"), str(report.size)),
                (tr("Answers"), str(report.kinds.get("answer", 0))),
                (tr("Erased contents"), str(report.erased)),
                (tr("Revoked answers"), str(len(report.revoked))),
                (tr("Kept checkpoints compared"), str(report.held)),
            )
        )
        if report.vanished:
            st.header(tr("Requests without an end"), anchor=False)
            st.caption(tr("They came in, and neither an answer nor a failure was logged for them."))
            draw_lines(report.vanished[:20])
        if report.under_way:
            st.caption(tr("{n:d} requests are under way.", n=len(report.under_way)))
        if report.notes:
            draw_lines(report.notes)
        if not report.held:
            st.caption(
                tr(
                    "No checkpoint was compared: a log that was cut back to an earlier state of its "
                    "own, or written anew by whoever has its key, looks the same."
                )
            )
        if report.size < size:
            st.caption(tr("{n:d} entries came in since.", n=size - report.size))
