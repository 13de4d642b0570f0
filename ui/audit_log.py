"""The log's state: its newest checkpoint to take away, and the whole of it verified on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.audit.verify_live import verify_live
from certirag.core.log import open_checkpoint
from certirag.errors import CertificateError
from ui import services
from ui.inert import draw_facts, draw_lines, draw_text

if TYPE_CHECKING:
    from certirag.audit.verify_log import LogReport
    from certirag.ports import AuditLog

_REPORT: Final = "audit_report"
_MAX_HELD: Final = 65_536
KEEP_HELP: Final = (
    "Keep it on another machine. Whoever holds an older checkpoint can see that the log was cut "
    "or written anew; whoever holds none cannot."
)
HOLDS: Final = "The log holds: every entry is where its checkpoint says."
BROKEN: Final = "The log does not hold."


def draw_log(log: AuditLog) -> None:
    """Draw what the log is, and verify it when asked."""
    trusted = services.shared().services.trusted
    checkpoint = log.checkpoint()
    try:
        newest = open_checkpoint(checkpoint, trusted.values())
    except CertificateError as error:
        draw_text(f"The newest checkpoint does not hold: {error}", "error")
        return
    draw_facts(
        (
            ("Log", newest.origin),
            ("Entries", str(newest.size)),
            ("Root", newest.root.hex()[:16]),
            ("Signed by key", newest.keyid[:16]),
        )
    )
    held = _held()
    with st.container(horizontal=True, vertical_alignment="center", key="log-acts"):
        if st.button("Verify the whole log", type="primary", key="verify-log"):
            st.session_state[_REPORT] = _verified(log, held)
        st.download_button(
            "Download the newest checkpoint",
            data=checkpoint.encode("utf-8"),
            file_name="certirag-checkpoint.txt",
            mime="text/plain",
            on_click="ignore",
            help=KEEP_HELP,
        )
    report = st.session_state.get(_REPORT)
    if report is not None:
        _draw_report(report, newest.size)


def _held() -> tuple[str, ...]:
    """Return the checkpoints that the reader kept and gives back now, read as text."""
    with st.expander("Compare with checkpoints that you kept"):
        files = st.file_uploader(
            "Checkpoints",
            type=["txt"],
            accept_multiple_files=True,
            key="held-checkpoints",
            label_visibility="collapsed",
        )
    return tuple(file.getvalue()[:_MAX_HELD].decode("utf-8", "replace") for file in files)


def _verified(log: AuditLog, held: tuple[str, ...]) -> LogReport:
    slot = st.empty()
    with slot.status("Verifying the log") as status:

        def progress(_line: str, done: int, total: int) -> None:
            status.update(label=f"Verifying the log: {done:d} of {total:d} entries")

        trusted = services.shared().services.trusted
        report = verify_live(log, trusted, held=held, progress=progress)
    slot.empty()
    return report


def _draw_report(report: LogReport, size: int) -> None:
    with st.container(key="log-report"):
        draw_text(HOLDS if report.intact else BROKEN, "lead")
        if not report.intact:
            draw_lines(report.faults)
            if report.more_faults:
                st.caption(f"and {report.more_faults:d} more faults")
        draw_facts(
            (
                ("Entries looked at", str(report.size)),
                ("Answers", str(report.kinds.get("answer", 0))),
                ("Erased contents", str(report.erased)),
                ("Revoked answers", str(len(report.revoked))),
                ("Kept checkpoints compared", str(report.held)),
            )
        )
        if report.vanished:
            st.subheader("Requests without an end", anchor=False)
            st.caption("They came in, and neither an answer nor a failure was logged for them.")
            draw_lines(report.vanished[:20])
        if report.under_way:
            st.caption(f"{len(report.under_way):d} requests are under way.")
        if report.notes:
            draw_lines(report.notes)
        if not report.held:
            st.caption(
                "No checkpoint was compared: a log that was cut back to an earlier state of its "
                "own, or written anew by whoever has its key, looks the same."
            )
        if report.size < size:
            st.caption(f"{size - report.size:d} entries came in since.")
