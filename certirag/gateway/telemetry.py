"""Traces for OpenTelemetry: a span for each request, and in it one evaluation for each claim.

Without an SDK that somebody configured every call here does nothing. Text (the question, the
claims) is in a span only with CERTIRAG_TRACE_TEXT. Names are those of the semantic conventions,
where the evaluation of generated text is still in development, so they are spelled out here:
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from certirag import __version__
from certirag.render import visible

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from certirag.render import Presentation

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_PARENT: Final = TraceContextTextMapPropagator()


@dataclass(frozen=True, slots=True)
class RequestSpan:
    """The span of one request."""

    span: Span

    def failed(self, code: str, status: int) -> None:
        """Say that the request was refused with *code*; an outage (*status* 5xx) is an error."""
        self.span.set_attributes({"error.type": code})
        if status >= 500:
            self.span.set_status(StatusCode.ERROR)

    def answered(self, method: str, route: str, status: int, code: str) -> None:
        """Say which *route* answered, with which *status* and refusal *code* ("" for none)."""
        method = method if method in _METHODS else "_OTHER"
        self.span.update_name(f"{method} {route}")
        self.span.set_attributes(
            {
                "http.request.method": method,
                "http.route": route,
                "http.response.status_code": status,
            }
        )
        if code or status >= 500:
            self.failed(code or str(status), status)


@contextmanager
def traced(
    name: str,
    headers: Mapping[str, str] | None = None,
    attributes: Mapping[str, str] | None = None,
) -> Iterator[RequestSpan]:
    """Open the span of a request, under the caller's where *headers* have a ``traceparent``.

    What is raised in it is not written down: it may quote a document.
    """
    with trace.get_tracer("certirag", __version__).start_as_current_span(
        name,
        context=None if headers is None else _PARENT.extract(headers),
        kind=SpanKind.SERVER if headers is not None else SpanKind.INTERNAL,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield RequestSpan(span)


def tell_claims(shown: Presentation, *, text: bool) -> None:
    """Add to the current span an evaluation for each claim of *shown*: its state and its score.

    States are those of the presentation: what it does not show or fold away it hides, because
    something contradicts it. With *text* the question and the claims are in it too.
    """
    span = trace.get_current_span()
    if not span.is_recording():
        return
    record = shown.record
    chips = {chip.claim_id: chip for chip in (*shown.shown, *shown.folded)}
    scores = {result.claim_id: result.score for result in record.verification}
    span.set_attributes(
        {
            "gen_ai.response.id": record.trace_id,
            "certirag.reason_code": shown.summary.reason_code,
            "certirag.policy": shown.policy.name,
            **({"certirag.question": visible(record.question)} if text else {}),
        }
    )
    for claim in record.claim_ir.claims:
        chip = chips.get(claim.id)
        score = scores.get(claim.id)
        failed = [f.rule for f in chip.failures_first if not f.passed] if chip else []
        span.add_event(
            "gen_ai.evaluation.result",
            {
                "gen_ai.evaluation.name": "certirag.claim",
                "gen_ai.evaluation.score.label": chip.badge.kind if chip else "contradicted",
                "gen_ai.response.id": record.trace_id,
                **({} if score is None else {"gen_ai.evaluation.score.value": score}),
                **({"gen_ai.evaluation.explanation": failed[0]} if failed else {}),
                **({"certirag.claim": visible(claim.text)} if text else {}),
            },
        )


def export_traces() -> str:
    """Send spans to the endpoint that the environment names, if it names one.

    Returns a line for whoever starts the gateway, "" where nothing is to be sent. A missing SDK is
    said there and stops nothing.
    """
    if not any(map(os.environ.get, _ENDPOINTS)):
        return ""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        return f"no traces are sent, {error.name} is missing: pip install 'certirag[telemetry]'"
    name = os.environ.get("OTEL_SERVICE_NAME") or "certirag"
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return "traces are sent to the OTLP endpoint of the environment"
