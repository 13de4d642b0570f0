"""What the gateway's traces hold: states and scores, no text unless it was switched on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from gateway_served import Served
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from certirag.errors import VerifierError
from certirag.gateway.telemetry import export_traces

TRUE = "The standard rate for business travel in 2025 is 70 cents per mile."
FALSE = "Boats get zebracoins."
ASKED = {
    "question": "What is the standard rate for business travel in 2025?",
    "corpus": "tax",
    "answer": f"{TRUE} {FALSE}",
}


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What is exported while a provider of the SDK is the process's."""
    kept = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield kept
    provider.shutdown()


def _written(found: tuple[ReadableSpan, ...]) -> str:
    return "".join(span.to_json() for span in found)


def test_a_request_is_a_span_and_a_claim_an_evaluation(
    served: Served, spans: InMemorySpanExporter
) -> None:
    """With the state that the gate gave and the score it was measured with, and no word of it."""
    parent = f"00-{'ab' * 16}-{'cd' * 8}-01"
    client = served.client()
    given = client.post("/v1/answer", json=ASKED, headers={"traceparent": parent}).json()
    (span,) = spans.get_finished_spans()
    assert span.name == "POST /v1/answer"
    assert f"{span.context.trace_id:x}" == "ab" * 16
    assert span.attributes["http.response.status_code"] == 200
    assert span.attributes["gen_ai.response.id"] == given["trace_id"]
    assert {event.name for event in span.events} == {"gen_ai.evaluation.result"}
    first, second = (event.attributes for event in span.events)
    assert first["gen_ai.evaluation.score.label"] == "verified"
    assert first["gen_ai.evaluation.score.value"] == given["claims"][0]["entailment"]
    assert "gen_ai.evaluation.explanation" not in first
    assert second["gen_ai.evaluation.score.label"] == "unverified"
    assert second["gen_ai.evaluation.explanation"] == given["claims"][1]["reason"]
    written = _written(spans.get_finished_spans())
    assert not any(word in written for word in ("70 cents", "zebracoins", "standard rate"))


def test_text_is_there_where_it_was_switched_on(
    served: Served, spans: InMemorySpanExporter
) -> None:
    """What nobody would see in it is marked, as everywhere."""
    settings = replace(served.services.settings, trace_text=True)
    asked = {**ASKED, "question": "What is the rate\u202e?"}
    served.with_services(settings=settings).client().post("/v1/answer", json=asked)
    (span,) = spans.get_finished_spans()
    assert [event.attributes["certirag.claim"] for event in span.events] == [TRUE, FALSE]
    assert span.attributes["certirag.question"] == "What is the rate⟨U+202E⟩?"


def test_a_contradicted_claim_is_called_so(served: Served, spans: InMemorySpanExporter) -> None:
    """It is hidden from the caller, and its state is told all the same."""
    draft = f"{TRUE} The standard rate for business travel in 2025 is 90 cents per mile."
    given = served.client().post("/v1/answer", json={**ASKED, "answer": draft}).json()
    (span,) = spans.get_finished_spans()
    labels = [event.attributes["gen_ai.evaluation.score.label"] for event in span.events]
    assert labels[0] == "verified"
    assert len(labels) == 2
    withheld = [claim["reason"] for claim in given["claims"][1:]]
    assert labels[1] == ("contradicted" if withheld == ["not_contradicted"] else "unverified")


class _Down:
    def __init__(self, whole: object) -> None:
        self._whole = whole

    def __getattr__(self, name: str) -> object:
        return getattr(self._whole, name)

    def judge(self, _pairs: object) -> None:
        raise VerifierError("zebracoins are away")


def test_refusals_and_outages_are_told_apart(served: Served, spans: InMemorySpanExporter) -> None:
    """An outage is an error, a refusal is none; paths and methods that nobody serves are not kept."""
    served.client().post("/v1/answer", json={**ASKED, "answer": FALSE})
    down = served.with_services(verifier=_Down(served.services.verifier))
    down.client().post("/v1/answer", json=ASKED)
    served.client().request("ZEBRACOINS", "/zebracoins?zebracoins=1")
    refused, outage, unknown = spans.get_finished_spans()
    assert refused.attributes["error.type"] == "NO_EVIDENCE"
    assert refused.status.status_code is StatusCode.UNSET
    assert outage.attributes["error.type"] == "VERIFIER_UNAVAILABLE"
    assert outage.status.status_code is StatusCode.ERROR
    assert unknown.name == "_OTHER other"
    assert "zebracoins" not in _written(spans.get_finished_spans())


def test_a_tool_is_a_span_in_its_request(served: Served, spans: InMemorySpanExporter) -> None:
    """The evaluations are the tool's, and the protocol's library adds no span of its own."""
    called = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "ask", "arguments": {"question": ASKED["question"], "corpus": "tax"}},
    }
    with served.client() as client:
        headers = {"accept": "application/json, text/event-stream"}
        answer = client.post("/mcp", json=called, headers=headers)
    assert "70 cents" in answer.text, answer.text
    tool, request = spans.get_finished_spans()
    assert (tool.name, request.name) == ("execute_tool ask", "POST /mcp")
    assert tool.parent.span_id == request.context.span_id
    assert tool.events
    assert not request.events


def test_nothing_is_sent_unless_an_endpoint_is_named(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And then it is sent there, with the official exporter."""
    got: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # its name
            got.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", trace.Once())
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    assert export_traces() == ""
    assert trace._TRACER_PROVIDER is None
    collector = HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    try:
        endpoint = f"http://127.0.0.1:{collector.server_port}"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        assert export_traces() == "traces are sent to the OTLP endpoint of the environment"
        assert served.client().post("/v1/answer", json=ASKED).status_code == 200
        trace.get_tracer_provider().shutdown()
    finally:
        collector.shutdown()
        collector.server_close()
    assert {path for path, _ in got} == {"/v1/traces"}
    sent = b"".join(body for _, body in got)
    assert b"gen_ai.evaluation.result" in sent
    assert b"70 cents" not in sent
