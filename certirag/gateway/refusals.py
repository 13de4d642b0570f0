"""Every way in which the gateway says no: one code, one status, one shape (gateway seed §3.7.5).

A refusal, an outage and a bad request are never the same code, and none of them is an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

PROJECT: Final = "certirag"
PROBLEM: Final = "application/problem+json"
_TYPE: Final = "urn:certirag:error:"

Code = Literal[
    "UNGROUNDED_CLAIM",
    "NO_EVIDENCE",
    "CONTRADICTED",
    "PARTLY_GROUNDED",
    "WAITS_FOR_REVIEW",
    "REFUSED_BY_REVIEWER",
    "ALREADY_DECIDED",
    "NOT_FOR_THIS_KEY",
    "SOURCE_NOT_ALLOWED",
    "UNKNOWN_CORPUS",
    "UNKNOWN_MODEL",
    "UNKNOWN_ANSWER",
    "BAD_REQUEST",
    "TOO_LARGE",
    "NOT_JSON",
    "NOT_AUTHORISED",
    "NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "TOO_SLOW",
    "KEY_REUSED",
    "RATE_LIMITED",
    "OVERLOADED",
    "MODEL_UNAVAILABLE",
    "VERIFIER_UNAVAILABLE",
    "AUDIT_UNAVAILABLE",
    "INTERNAL",
]


Decision = Literal["DENY", "RETRY", "ESCALATE"]


@dataclass(frozen=True, slots=True)
class CodeNote:
    """What a code means: its HTTP *status*, and what a caller can do (*mend*).

    *decision* is what was decided on an answer; None where there was none to decide on.
    """

    status: int
    meaning: str
    mend: str
    decision: Decision | None = None


CODES: Final[dict[Code, CodeNote]] = {
    "UNGROUNDED_CLAIM": CodeNote(
        422,
        "The sources do not support an answer.",
        "Ask otherwise, or allow other sources.",
        "DENY",
    ),
    "NO_EVIDENCE": CodeNote(
        422, "Nothing in the sources is on this.", "Ask otherwise, or allow other sources.", "DENY"
    ),
    "CONTRADICTED": CodeNote(
        422,
        "The sources contradict the answer or each other.",
        "Read the certificate's evidence.",
        "DENY",
    ),
    "PARTLY_GROUNDED": CodeNote(
        422, "Too little of the answer is supported.", "Say what the sources say alone.", "RETRY"
    ),
    "WAITS_FOR_REVIEW": CodeNote(
        202, "A person decides on this answer.", "Look again at /v1/reviews/TRACE.", "ESCALATE"
    ),
    "REFUSED_BY_REVIEWER": CodeNote(
        422, "A reviewer refused this answer.", "Ask otherwise, or allow other sources.", "DENY"
    ),
    "ALREADY_DECIDED": CodeNote(409, "A reviewer decided on it before.", "See what was decided."),
    "NOT_FOR_THIS_KEY": CodeNote(403, "The key is for something else.", "Use a key made for this."),
    "SOURCE_NOT_ALLOWED": CodeNote(
        403, "A source is not there, or not for this key.", "Name sources that the key may use."
    ),
    "UNKNOWN_CORPUS": CodeNote(404, "There is no such corpus.", "Name one that was ingested."),
    "UNKNOWN_MODEL": CodeNote(404, "There is no such model.", "Take a name of /v1/models."),
    "UNKNOWN_ANSWER": CodeNote(404, "No answer has this trace id.", "Check the trace id."),
    "BAD_REQUEST": CodeNote(400, "The request cannot be used.", "Mend what the message names."),
    "TOO_LARGE": CodeNote(413, "The request is too large.", "Send less."),
    "NOT_JSON": CodeNote(415, "The body is not JSON.", "Send content-type: application/json."),
    "NOT_AUTHORISED": CodeNote(401, "No key that is known was sent.", "Send a key as a bearer."),
    "NOT_FOUND": CodeNote(404, "There is nothing under this path.", "See /openapi.json."),
    "METHOD_NOT_ALLOWED": CodeNote(405, "Not this way.", "See /openapi.json."),
    "TOO_SLOW": CodeNote(408, "The body did not come.", "Send it in one go."),
    "KEY_REUSED": CodeNote(
        409, "Something else was asked with this Idempotency-Key.", "Take a new key."
    ),
    "RATE_LIMITED": CodeNote(429, "Too many requests with this key.", "Wait as Retry-After says."),
    "OVERLOADED": CodeNote(503, "Too many requests wait already.", "Wait as Retry-After says."),
    "MODEL_UNAVAILABLE": CodeNote(
        502, "The language model gave no usable answer.", "Try again, or see the model's server."
    ),
    "VERIFIER_UNAVAILABLE": CodeNote(503, "Nothing can be verified now.", "Try again later."),
    "AUDIT_UNAVAILABLE": CodeNote(
        503, "The answer could not be logged, so none is given.", "See the log's database."
    ),
    "INTERNAL": CodeNote(500, "Something failed that should not.", "Tell the operator."),
}
assert set(CODES) == set(get_args(Code))  # noqa: S101  # read at import, before anything is served
# What is refused by the documents, and logged as such: it is no failure of the call.
OF_THE_DOCUMENTS: Final[frozenset[Code]] = frozenset(
    {"UNGROUNDED_CLAIM", "NO_EVIDENCE", "CONTRADICTED", "WAITS_FOR_REVIEW"}
)


@dataclass(eq=False)  # not frozen: Python writes the traceback onto it
class Refused(Exception):  # what it says to a caller, not what went wrong
    """An answer that is not given: *code*, one line of ours, and the answer's *trace_id* if any."""

    code: Code
    message: str = ""
    trace_id: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The HTTP status of the code."""
        return CODES[self.code].status

    @property
    def decision(self) -> Decision | None:
        """What was decided on the answer, None where there was none."""
        return CODES[self.code].decision

    def body(self, trace_id: str) -> dict[str, Any]:
        """Return the error as JSON values; *trace_id* where the refusal has none of its own."""
        return {
            "error": {
                "code": self.code,
                "message": self.message or CODES[self.code].meaning,
                "trace_id": self.trace_id or trace_id,
                "project": PROJECT,
            },
            "decision": self.decision,
        }

    def problem(self, trace_id: str) -> dict[str, Any]:
        """Return the error as RFC 9457 has it, for whoever asks for `PROBLEM`."""
        note = CODES[self.code]
        return {
            "type": f"{_TYPE}{self.code}",
            "title": note.meaning,
            "status": note.status,
            "detail": self.message or note.mend,
            "code": self.code,
            "decision": self.decision,
            "trace_id": self.trace_id or trace_id,
            "project": PROJECT,
        }
