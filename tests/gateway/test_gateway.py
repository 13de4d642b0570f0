"""What the gateway lets out: supported statements of allowed sources, or one clear refusal."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from gateway_served import HIDDEN, NOTICE, PUBLIC, TAX, Served, refused_as
from scripted_model import ScriptedModel
from starlette.testclient import TestClient

from certirag.bootstrap import corpus_writer, ingest_paths
from certirag.cli.main import main
from certirag.core.policy import BASE_RULES, STRICT_RULES
from certirag.core.text import sha256_hex
from certirag.errors import AuditError, VerifierError
from certirag.gateway.access import FILE, Caller, RateLimit, read_keys, revoke_key
from certirag.gateway.app import gateway_app
from certirag.gateway.around import REQUESTS
from certirag.gateway.gated import Gate
from certirag.gateway.metrics import FAILURES
from certirag.gateway.profiles import load_profile, profile_names
from certirag.gateway.refusals import CODES, Refused
from certirag.gateway.waiting import ClientGone
from certirag.ingest.collect import Watch
from certirag.ports import Judgement, Pair, Prompt, Verifier
from certirag.proof.envelope import strict_json

REFUND = "When is the refund paid?"


def test_a_question_is_answered_from_the_sources_that_are_named(served: Served) -> None:
    """The shape of the gateway document's §3.7.4, and its certificate."""
    asked = {**TAX, "sources": ["notice.md"], "max_citations": 3}
    response = served.client().post("/v1/answer", json=asked)
    assert response.status_code == 200, response.text
    given = response.json()
    assert given["answer"].startswith("The standard rate for business travel in 2025 is 70 cents")
    assert given["grounding_score"] == 1.0
    assert (given["decision"], given["stripped"]) == ("ALLOW", False)
    (cited,) = given["citations"]
    assert cited["source"] == "notice.md"
    assert cited["quote_span"] in NOTICE
    assert [source["source"] for source in given["sources"]] == ["notice.md"]
    export = served.client().get(given["certificate"])
    assert export.json()["trace_id"] == given["trace_id"]


def test_a_quotation_stands_where_its_offsets_say(served: Served) -> None:
    """In plain text these are places of the file, and the digest is the file's."""
    asked = {"question": REFUND, "corpus": "town", "sources": ["public.txt"]}
    (cited,) = served.client().post("/v1/answer", json=asked).json()["citations"]
    assert PUBLIC[cited["start"] : cited["end"]] == cited["quote_span"]
    assert cited["source_sha256"] == sha256_hex(PUBLIC)


def test_what_the_sources_do_not_hold_is_refused(served: Served) -> None:
    """The gateway document's §3.7.5: a refusal with the trace id of its own certificate."""
    asked = {"question": "Who will win the 2028 election?", "corpus": "tax"}
    error = refused_as(served.client().post("/v1/answer", json=asked), 422, "UNGROUNDED_CLAIM")
    assert error["message"] == "No supporting evidence found in provided sources."
    kept = served.client().get(f"/v1/certificates/{error['trace_id']}")
    assert kept.json()["decisions"] == [] or "VERIFIED" not in kept.text


def test_a_draft_leaves_without_what_is_not_supported(served: Served) -> None:
    """Nothing of an invented statement is in the response, not even as a withheld text."""
    draft = (
        "The standard rate for business travel in 2025 is 70 cents per mile. Boats get zebracoins."
    )
    response = served.client().post("/v1/answer", json={**TAX, "answer": draft})
    given = response.json()
    assert given["answer"] == "The standard rate for business travel in 2025 is 70 cents per mile."
    assert (given["grounding_score"], given["stripped"]) == (0.5, True)
    assert [claim["status"] for claim in given["claims"]] == ["VERIFIED", "WITHHELD"]
    assert given["claims"][1]["reason"] in BASE_RULES + STRICT_RULES
    assert "zebracoins" not in response.text
    strict = served.client().post("/v1/answer", json={**TAX, "answer": draft, "profile": "strict"})
    refused_as(strict, 422, "UNGROUNDED_CLAIM")


def test_a_profile_can_only_be_tightened(served: Served) -> None:
    """Under a key with a floor a looser profile changes nothing."""
    key = served.key("clinic", profile="strict")
    draft = (
        "The standard rate for business travel in 2025 is 70 cents per mile. Boats get zebracoins."
    )
    asked = {**TAX, "answer": draft, "profile": "casual"}
    refused_as(served.client(key).post("/v1/answer", json=asked), 422, "UNGROUNDED_CLAIM")
    for one in map(load_profile, profile_names()):
        for other in map(load_profile, profile_names()):
            both = one.meet(other)
            assert both.policy.refines(one.policy)
            assert both.policy.refines(other.policy)
            assert both.accept == max(one.accept, other.accept)
            assert both.reject == max(one.reject, other.reject)


def test_a_comparison_needs_two_passages_under_the_profile_mathematics(served: Served) -> None:
    """RFC-0004 §6.2: one passage is too little, and word for word is no way around it."""
    compared = "The standard rate for business travel in 2025 is higher than the rate in 2024."
    folder = served.home.parent / "one"
    folder.mkdir()
    (folder / "one.txt").write_text(compared, "utf-8")
    ingest_paths([folder], served.home / "indexes" / "one", served.services, lambda *_: None)
    asked = {"question": "Which rate is higher?", "corpus": "one", "profile": "mathematics"}
    client = served.client()
    refused = client.post("/v1/answer", json={**asked, "answer": compared})
    trace = refused_as(refused, 422, "UNGROUNDED_CLAIM")["trace_id"]
    (decision,) = client.get(f"/v1/certificates/{trace}").json()["decisions"]
    failed = [finding["rule"] for finding in decision["findings"] if not finding["passed"]]
    assert failed == ["class_minimum"]
    (folder / "two.txt").write_text(f"{compared} It was lower in 2024.", "utf-8")
    ingest_paths([folder], served.home / "indexes" / "one", served.services, lambda *_: None)
    given = client.post("/v1/answer", json={**asked, "answer": compared}).json()
    assert len(given["citations"]) == 2


@pytest.mark.parametrize("path", ["/v1/answer", "/qa", "/v1/chat/completions"])
def test_a_key_sees_its_own_sources_alone(served: Served, path: str) -> None:
    """No word of another document is in a response or a certificate, and names cannot be tried."""
    open_key = served.key("all")
    own = served.key("narrow", corpora=("town",), sources=("public.txt",))
    client = served.client(own)

    def ask(question: str, **more: object) -> object:
        if path == "/qa":
            return client.post(path, json={"query": question, **more})
        if path == "/v1/answer":
            return client.post(path, json={"question": question, "certificate": "inline", **more})
        said = [{"role": "user", "content": question}]
        return client.post(path, json={"model": "certirag", "messages": said, "certirag": more})

    for question in (REFUND, "When does the merger with Ostrava Glass close?"):
        text = ask(question).text  # type: ignore[attr-defined]
        assert "Ostrava" not in text.replace(question, "")
        assert "90 days" not in text
        assert "secret" not in text
    refused = [
        refused_as(ask(REFUND, sources=[name]), 403, "SOURCE_NOT_ALLOWED")["message"]
        for name in ("secret.txt", "nowhere.txt")
    ]
    assert refused[0] == refused[1]
    refused_as(ask(REFUND, corpus="tax"), 404, "UNKNOWN_CORPUS")
    other = served.client(open_key).post(
        "/v1/answer", json={"question": REFUND, "corpus": "town", "sources": ["secret.txt"]}
    )
    assert "90 days" in other.json()["answer"]
    refused_as(client.get(other.json()["certificate"]), 404, "UNKNOWN_ANSWER")


def test_certificates_of_a_narrow_key_hold_no_other_document(served: Served) -> None:
    """The index that is searched, and that the record describes, holds the allowed ones alone."""
    own = served.key("narrow", corpora=("town",), sources=("public.txt",))
    client = served.client(own)
    given = client.post("/v1/answer", json={"question": REFUND, "certificate": "inline"}).json()
    written = json.dumps(given["certificate"])
    assert "14 days" in written
    assert not any(sentence in written for sentence in HIDDEN.split(". "))


def test_keys_are_kept_hashed_and_can_be_revoked(
    served: Served, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The secret is printed once and is in no file; a revoked one is nobody's."""
    monkeypatch.setenv("CERTIRAG_HOME", str(served.home))
    assert main(["serve-key", "add", "desk", "--corpus", "tax"]) == 0
    secret = capsys.readouterr().out.strip()
    assert secret not in (served.home / FILE).read_text("utf-8")
    assert (served.home / FILE).stat().st_mode & 0o077 == 0
    assert main(["serve-key", "list"]) == 0
    assert secret not in capsys.readouterr().out
    assert served.client(secret).get("/v1/models").status_code == 200
    for key in ("", "crk_wrong", secret[:-1]):
        refused_as(served.client(key).get("/v1/models"), 401, "NOT_AUTHORISED")
    assert main(["serve-key", "revoke", "desk"]) == 0
    assert main(["serve-key", "revoke", "desk"]) == 2


def test_without_keys_only_this_machine_is_answered(
    served: Served, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by binding elsewhere, and not by a name that somebody points at loopback."""
    monkeypatch.setenv("CERTIRAG_HOME", str(served.home))
    assert main(["serve", "--host", "0.0.0.0"]) == 2  # noqa: S104  # refused
    assert "make one with certirag serve-key add" in capsys.readouterr().err
    answer = served.client().get("/v1/models", headers={"host": "rebound.example"})
    refused_as(answer, 401, "NOT_AUTHORISED")


def test_a_key_asks_no_more_often_than_it_may() -> None:
    """The seconds to wait are told, and after them it may ask again."""
    now = [0.0]
    limit, caller = RateLimit(lambda: now[0]), Caller("desk", per_minute=3)
    for _ in range(3):
        limit.take(caller)
    with pytest.raises(Refused) as refused:
        limit.take(caller)
    now[0] += int(refused.value.headers["Retry-After"])
    limit.take(caller)
    limit.take(Caller("another", per_minute=3))


class _Broken:
    """A log or a verifier that fails."""

    def __init__(self, error: Exception, whole: object) -> None:
        self._error, self._whole = error, whole

    def __getattr__(self, name: str) -> object:
        return getattr(self._whole, name)

    def append(self, _entry: object) -> None:
        raise self._error

    def judge(self, _pairs: Sequence[Pair]) -> Sequence[Judgement]:
        raise self._error


@pytest.mark.parametrize(
    ("part", "error", "code"),
    [
        ("audit_log", AuditError("the database is away"), "AUDIT_UNAVAILABLE"),
        ("verifier", VerifierError("no answer"), "VERIFIER_UNAVAILABLE"),
    ],
)
def test_an_outage_is_neither_a_refusal_nor_a_pass(
    served: Served, part: str, error: Exception, code: str
) -> None:
    """Without a log no answer leaves; without a verifier nothing is called unsupported."""
    broken = served.with_services(**{part: _Broken(error, getattr(served.services, part))})
    asked = {**TAX, "answer": "Business travel in 2025 is paid with 70 cents per mile."}
    response = broken.client().post("/v1/answer", json=asked)
    refused_as(response, 503, code)
    assert "70 cents" not in response.text


def test_too_many_waiting_are_refused(served: Served) -> None:
    """What cannot be done soon is refused at once, with the time to wait."""
    served.gate.places._free = type(served.gate.places._free)(0)  # as if all were taken
    response = served.client().post("/v1/answer", json=TAX)
    refused_as(response, 503, "OVERLOADED")
    assert int(response.headers["retry-after"]) > 0


def test_work_ends_when_nobody_waits_for_it(served: Served) -> None:
    """The log has the request and that it ended without an answer."""
    asked = served.gate.asked(
        Caller("desk"), TAX["question"], corpus="tax", sources=(), profile=None
    )
    looks = iter([False, True])
    with pytest.raises(ClientGone):
        served.gate.presented(Caller("desk"), asked, lambda: next(looks))
    kinds = [strict_json(e.leaf.encode())["kind"] for e in served.services.audit_log.entries()]
    assert kinds[-2:] == ["received", "failed"]
    assert served.client().post("/v1/answer", json=TAX).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "code"),
    [
        ("GET", "/nowhere", {}, 404, "NOT_FOUND"),
        ("GET", "/v1/answer", {}, 405, "METHOD_NOT_ALLOWED"),
        ("POST", "/v1/answer", {"content": b"{}"}, 415, "NOT_JSON"),
        ("POST", "/v1/answer", {"json": {"question": ""}}, 400, "BAD_REQUEST"),
        ("POST", "/v1/answer", {"json": {**TAX, "max_citations": 0}}, 400, "BAD_REQUEST"),
        ("POST", "/v1/answer", {"json": {**TAX, "wish": 1}}, 400, "BAD_REQUEST"),
        ("POST", "/v1/answer", {"json": {**TAX, "profile": "lax"}}, 400, "BAD_REQUEST"),
        ("POST", "/v1/answer", {"json": {"question": "Which?"}}, 400, "BAD_REQUEST"),
        ("POST", "/v1/answer", {"json": {**TAX, "answer": "x" * 1_000_001}}, 413, "TOO_LARGE"),
        ("GET", "/v1/certificates/" + "0" * 32, {}, 404, "UNKNOWN_ANSWER"),
    ],
)
def test_every_error_has_one_shape(
    served: Served, method: str, path: str, sent: dict[str, object], status: int, code: str
) -> None:
    """And as RFC 9457 has it for whoever asks."""
    client = served.client()
    refused_as(client.request(method, path, **sent), status, code)  # type: ignore[arg-type]
    headers = {"accept": "application/problem+json"}
    problem = client.request(method, path, headers=headers, **sent)  # type: ignore[arg-type]
    assert problem.headers["content-type"] == "application/problem+json"
    assert (problem.json()["status"], problem.json()["code"]) == (status, code)


def test_probes_and_metrics(served: Served) -> None:
    """Ready means that an answer could be logged; what is counted names no question."""
    client = served.client()
    assert client.get("/livez").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}
    client.post("/v1/answer", json=TAX)
    metrics = client.get("/metrics").text
    assert 'certirag_requests_total{code="",path="/v1/answer",status="200"} 1.0' in metrics
    assert "mileage" not in metrics
    for line in (
        'certirag_answers_total{decision="ACCEPT",reason="ALL_VERIFIED"} 1.0',
        'certirag_claims_total{state="verified"} 1.0',
        'certirag_claims_total{state="contradicted"} 0.0',
        'certirag_stage_seconds_count{stage="turn"} 1.0',
        'certirag_stage_seconds_count{stage="verify"} 1.0',
        'certirag_indexes_total{found="opened"} 1.0',
        "certirag_places_taken 0.0",
        "certirag_places 17.0",
    ):
        assert line in metrics
    pairs = re.search(r"^certirag_verifier_pairs_total (\d+)", metrics, re.MULTILINE)
    assert pairs is not None
    assert int(pairs[1]) > 0
    client.post("/v1/answer", json={"question": "Who will win the 2028 election?", "corpus": "tax"})
    after = client.get("/metrics").text
    assert 'certirag_indexes_total{found="open"} 1.0' in after
    assert re.search(r'^certirag_answers_total\{decision="REJECT",', after, re.MULTILINE)


def test_the_runbook_names_what_is_counted(served: Served) -> None:
    """Each metric, path and code of its table and its alerts is one that the gateway has."""
    docs = Path(__file__).resolve().parents[2] / "docs"
    page = "".join((docs / name).read_text("utf-8") for name in ("runbook.md", "alerts.yaml"))
    client = served.client()
    client.post("/v1/answer", json=TAX)
    there = set(re.findall(r"^(certirag_\w+)", client.get("/metrics").text, re.MULTILINE))
    there |= {name.removesuffix("_bucket") for name in there}
    told = set(re.findall(r"\bcertirag_(?!app|owner)[a-z_]+", page))
    assert len(told) >= 8
    assert told <= there
    codes = set(re.findall(r'code=~?"([A-Z_|]+)"', page))
    counted = {code for group in codes for code in group.split("|")}
    assert counted == set(FAILURES)
    # Before anything fails there is a 0, without which the first failure would raise no alert.
    for code in counted:
        zero = rf'^certirag_requests_total\{{code="{code}",path="/v1/answer",status="\d+"\}} 0.0$'
        assert re.search(zero, client.get("/metrics").text, re.MULTILINE)


@pytest.mark.parametrize("log_text", [False, True])
def test_a_request_has_one_line_and_no_words_unless_asked_for(
    served: Served, caplog: pytest.LogCaptureFixture, *, log_text: bool
) -> None:
    """Ids, route, status, code, seconds and the key's name; never a secret or a line of a client."""
    caplog.set_level("INFO", REQUESTS.name)
    secret = served.key("desk")
    app = gateway_app(served.gate, read_keys(served.home), log_text=log_text)
    client = TestClient(app, headers={"authorization": f"Bearer {secret}"})
    said = [{"role": "user", "content": TAX["question"]}]
    chat = {"model": "certirag", "messages": said, "certirag": {"corpus": "tax"}}
    none = {"question": "Who wins\n{}?", "corpus": "tax"}
    given = [
        client.post("/v1/answer", json=TAX),
        client.post("/v1/answer", json=none),
        client.post("/v1/chat/completions", json=chat),
        client.post("/v1/answer", json=TAX, headers={"authorization": "Bearer crk_wrong"}),
        client.get("/no\u2028where"),
    ]
    assert secret not in caplog.text
    written = [record.getMessage() for record in caplog.records if record.name == REQUESTS.name]
    assert all(line.isascii() and "\n" not in line for line in written)
    lines = [json.loads(line) for line in written]
    assert [line["request_id"] for line in lines] == [r.headers["x-request-id"] for r in given]
    trace_ids = [
        given[0].json()["trace_id"],
        given[1].json()["error"]["trace_id"],
        given[2].json()["certirag"]["trace_id"],
    ]
    assert [line["trace_id"] for line in lines] == [*trace_ids, "", ""]
    assert [line["route"] for line in lines] == [
        *["/v1/answer"] * 2,
        "/v1/chat/completions",
        "/v1/answer",
        "other",
    ]
    assert [line["status"] for line in lines] == [200, 422, 200, 401, 404]
    assert [line["code"] for line in lines] == [
        "",
        "UNGROUNDED_CLAIM",
        "",
        "NOT_AUTHORISED",
        "NOT_FOUND",
    ]
    assert [line["key"] for line in lines] == ["desk", "desk", "desk", "", ""]
    assert all(0 <= line["seconds"] < 60 for line in lines)
    if log_text:
        assert lines[0]["asked"]["question"] == TAX["question"]
        assert lines[0]["given"] == given[0].json()
        assert lines[1]["asked"]["question"] == none["question"]
        assert lines[1]["given"] is None
    else:
        assert not any(word in "".join(written) for word in ("standard rate", "70 cents", "wins"))
        names = {"at", "request_id", "trace_id", "route", "status", "code", "seconds", "key"}
        assert {*lines[0]} == names


def test_a_grounded_answer_or_an_abstention(served: Served) -> None:
    """RFC-0004 §4.2: an abstention is an answer of the same shape, without claims."""
    client = served.client()
    given = client.post("/qa", json={"query": TAX["question"], "corpus": "tax"}).json()
    assert given["claims"][0]["support_level"] == "direct"
    assert given["claims"][0]["supporting_citations"][0]["passage_id"]
    assert [r["source"].rpartition("/")[2] for r in given["references"]] == ["notice.md"]
    none = client.post("/qa", json={"query": "Who will win the 2028 election?", "corpus": "tax"})
    assert (none.json()["claims"], none.json()["confidence"]) == ([], "insufficient_evidence")


def test_a_request_of_any_form_gets_a_documented_answer(served: Served) -> None:
    """Schemathesis over the OpenAPI document: no 5xx, no undocumented status, one shape of error.

    CERTIRAG_WHOLE=1 asks four times as often.
    """
    import schemathesis
    from hypothesis import HealthCheck, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        response_schema_conformance,
        status_code_conformance,
    )

    key = served.key("fuzz", per_minute=100_000, corpora=("tax",))
    schema = schemathesis.openapi.from_asgi("/openapi.json", served.app())
    checks = (not_a_server_error, status_code_conformance, response_schema_conformance)
    seen, whole = 0, bool(os.environ.get("CERTIRAG_WHOLE"))

    def ask(case: schemathesis.Case) -> None:
        nonlocal seen
        seen += 1
        case.call_and_validate(headers={"authorization": f"Bearer {key}"}, checks=checks)

    for found in schema.get_all_operations():
        bounded = settings(
            max_examples=520 if whole else 130,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        bounded(given(case=found.ok().as_strategy())(ask))()
    assert seen >= (2_000 if whole else 500)


def test_the_page_on_the_gateway_names_every_code() -> None:
    """docs/gateway.md has the codes with their status, as the service sends them."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "gateway.md").read_text("utf-8")
    told = dict(re.findall(r"^\| `([A-Z_]+)` \| (\d{3}) \|", page, re.MULTILINE))
    assert told == {code: str(note.status) for code, note in CODES.items()}


def test_documents_of_one_file_name_are_told_apart(served: Served, tmp_path: Path) -> None:
    """A name that two documents have names neither; the path in the corpus does."""
    folder = tmp_path / "hr"
    for name, text in (("open", PUBLIC), ("board", HIDDEN)):
        (folder / name).mkdir(parents=True)
        (folder / name / "x.txt").write_text(text, "utf-8")
    index = served.home / "indexes" / "hr"
    with corpus_writer(index, served.services, Watch()) as writer:
        writer.ingest([folder])
    by_name = served.client(served.key("name", corpora=("hr",), sources=("x.txt",)))
    refused_as(by_name.post("/v1/answer", json={"question": REFUND}), 403, "SOURCE_NOT_ALLOWED")
    by_path = served.client(served.key("path", corpora=("hr",), sources=("open/x.txt",)))
    given = by_path.post("/v1/answer", json={"question": REFUND}).json()
    assert [source["source"] for source in given["sources"]] == ["open/x.txt"]
    assert "90 days" not in json.dumps(given)


def test_what_the_cap_leaves_out_counts(served: Served) -> None:
    """So many statements are checked; invented ones after them are not passed over."""
    true = "The standard rate for business travel in 2025 is 70 cents per mile."
    settings = replace(served.services.settings, max_draft_claims=2)
    capped = served.with_services(settings=settings).client()
    draft = f"{true} It was 67 cents in 2024. Boats get zebracoins. Trains get zebracoins."
    given = capped.post("/v1/answer", json={**TAX, "answer": draft}).json()
    assert given["grounding_score"] <= 0.5
    assert given["stripped"]
    assert [c["reason"] for c in given["claims"]].count("max_claims") == 2
    whole = capped.post("/v1/answer", json={**TAX, "answer": draft, "profile": "strict"})
    refused_as(whole, 422, "UNGROUNDED_CLAIM")


def test_what_max_citations_leaves_out_is_told(served: Served) -> None:
    """A statement that is supported and not shown makes the answer a stripped one."""
    draft = (
        "The standard rate for business travel in 2025 is 70 cents per mile. "
        "It was 67 cents in 2024."
    )
    asked = {**TAX, "answer": draft, "max_citations": 1}
    given = served.client().post("/v1/answer", json=asked).json()
    assert given["stripped"]
    assert "WITHHELD" in [claim["status"] for claim in given["claims"]]


class _FailsOn:
    """A verifier that fails on the pairs whose claim has *word*."""

    def __init__(self, word: str, verifier: Verifier) -> None:
        self._word, self._verifier, self.identity = word, verifier, verifier.identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        found = self._verifier.judge(pairs)
        failed = Judgement("error", 0.0, 0.0, 0.0, error="down: zebracoins")
        return [
            failed if self._word in pair.claim else one
            for pair, one in zip(pairs, found, strict=True)
        ]


@pytest.mark.parametrize("path", ["/v1/answer", "/qa"])
def test_half_an_outage_is_an_outage(served: Served, path: str) -> None:
    """A statement that could not be measured is not called unsupported, nor an answer missing."""
    half = served.with_services(verifier=_FailsOn("cents", served.services.verifier))
    asked = {**TAX} if path == "/v1/answer" else {"query": TAX["question"], "corpus": "tax"}
    response = half.client().post(path, json=asked)
    refused_as(response, 503, "VERIFIER_UNAVAILABLE")
    assert "zebracoins" not in response.text


def test_no_keys_are_left_and_nobody_may_ask(served: Served) -> None:
    """To revoke the last key does not open the server to everybody on the machine."""
    served.key("only")
    revoke_key(served.home, "only")
    refused_as(served.client().post("/v1/answer", json=TAX), 401, "NOT_AUTHORISED")


def test_documents_answer_without_the_model_behind(served: Served) -> None:
    """What is asked of the documents is not shown to a language model."""
    model = ScriptedModel(["Boats get zebracoins."])
    client = served.before(model).client()
    assert client.post("/v1/answer", json=TAX).status_code == 200
    said = [{"role": "user", "content": TAX["question"]}]
    asked = {"model": "certirag", "messages": said, "certirag": {"corpus": "tax"}}
    assert client.post("/v1/chat/completions", json=asked).status_code == 200
    nowhere = {"model": "small", "messages": said, "certirag": {"corpus": "nowhere"}}
    refused_as(client.post("/v1/chat/completions", json=nowhere), 404, "UNKNOWN_CORPUS")
    assert model.prompts == []


def test_slow_models_leave_room_for_probes_and_refusals(
    served: Served, listening: Callable[[FastAPI], str]
) -> None:
    """As many wait as there are places; more are refused, and the server says that it lives."""
    released = threading.Event()

    def wait(_prompt: Prompt) -> Sequence[str]:
        released.wait(20)
        return ["Boats get zebracoins."]

    slow = served.before(ScriptedModel(wait))
    slow.gate = Gate(slow.services, slow.gate.corpora, slow.gate.profile, 3)
    url = listening(slow.app())
    said = [{"role": "user", "content": "What do boats get?"}]
    asked = {"model": "small", "messages": said, "certirag": {"corpus": "tax"}}

    def ask(_number: int) -> int:
        return httpx.post(f"{url}/v1/chat/completions", json=asked, timeout=30).status_code

    with ThreadPoolExecutor(8) as clients:
        answers = [clients.submit(ask, number) for number in range(8)]
        done, _ = wait_for(answers, timeout=10, return_when="FIRST_COMPLETED")
        assert httpx.get(f"{url}/livez", timeout=5).status_code == 200
        assert {one.result() for one in done} == {503}
        released.set()
    assert sorted(one.result() for one in answers) == [200] * 4 + [503] * 4


def test_an_unexpected_fault_is_told_in_the_same_shape(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the request's id, and nothing of the fault."""
    monkeypatch.setattr(served.gate, "presented", lambda *_: 1 // 0)
    response = served.client().post("/v1/answer", json=TAX)
    error = refused_as(response, 500, "INTERNAL")
    assert response.headers["x-request-id"] == error["trace_id"]
    assert "division" not in response.text
