"""What becomes of an answer between a profile's two shares: once more, or before a person."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from gateway_served import Served
from scripted_model import ScriptedModel
from starlette.testclient import TestClient

from certirag import checker
from certirag.auditing.logged_answers import export_again
from certirag.auditing.review_queue import waiting
from certirag.auditing.verify_live import verify_live
from certirag.cli.main import main
from certirag.errors import AuditError, InputError
from certirag.gateway.access import Caller, KeyRecord, add_key
from certirag.gateway.profiles import load_profile, profile_names
from certirag.gateway.refusals import Refused
from certirag.ports import Prompt

TRUE = "The refund is paid within 14 days."
TRUER = "Entry costs 12 euros for adults."
FALSE = "Boats get zebracoins."
TOWN = {"question": "When is the refund paid?", "corpus": "town", "sources": ["public.txt"]}
ALLOWED = {"corpus": "town", "sources": ["public.txt"]}
BETWEEN = {**TOWN, "answer": f"{TRUE} {TRUER} {FALSE}", "profile": "financial"}  # two of three


class Desk:
    """A gateway with a key of who asks, one of somebody else, and one of a reviewer."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.keys = {
            "desk": served.key("desk"),
            "other": served.key("other"),
            "anna": served.key("anna.weber", use="review"),
        }

    def client(self, name: str) -> TestClient:
        return self.served.client(self.keys[name])

    def escalated(self, **more: object) -> str:
        """Ask for what lies between, and return its trace id."""
        response = self.client("desk").post("/v1/answer", json={**BETWEEN, **more})
        assert response.status_code == 202, response.text
        body = response.json()
        assert (body["error"]["code"], body["decision"]) == ("WAITS_FOR_REVIEW", "ESCALATE")
        trace_id: str = body["error"]["trace_id"]
        assert response.headers["location"] == f"/v1/reviews/{trace_id}"
        assert "14 days" not in response.text
        return trace_id

    def decide(self, trace_id: str, decision: str, by: str = "anna") -> object:
        said = {"decision": decision, "reason": "It was looked at."}
        return self.client(by).post(f"/v1/reviews/{trace_id}", json=said)

    def export(self, trace_id: str) -> bytes:
        return export_again(self.served.services.audit_log, trace_id)


@pytest.fixture
def desk(served: Served) -> Desk:
    """See `Desk`."""
    return Desk(served)


def _code(response: object, status: int, code: str) -> None:
    assert response.status_code == status, response.text  # type: ignore[attr-defined]
    assert response.json()["error"]["code"] == code  # type: ignore[attr-defined]


def test_what_waits_leaves_by_a_reviewers_decision_alone(desk: Desk) -> None:
    """Nothing of it is told before; after it the supported statements are, and no other."""
    trace_id = desk.escalated()
    for path in (f"/v1/reviews/{trace_id}", f"/v1/certificates/{trace_id}"):
        pending = desk.client("desk").get(path)
        _code(pending, 202, "WAITS_FOR_REVIEW")
        assert "14 days" not in pending.text
        _code(desk.client("other").get(path), 404, "UNKNOWN_ANSWER")
    _code(desk.decide(trace_id, "release", by="desk"), 403, "NOT_FOR_THIS_KEY")
    (listed,) = desk.client("anna").get("/v1/reviews").json()["reviews"]
    assert (listed["trace_id"], listed["unsupported"]) == (trace_id, [FALSE])
    made = desk.decide(trace_id, "release")
    assert made.json()["reviewer"] == "anna.weber"  # type: ignore[attr-defined]
    given = desk.client("desk").get(f"/v1/reviews/{trace_id}").json()
    assert given["answer"] == f"{TRUE} {TRUER}"
    assert (given["decision"], given["stripped"]) == ("ALLOW", True)
    assert given["review"]["reviewer"] == "anna.weber"
    assert "zebracoins" not in json.dumps(given)
    assert desk.client("anna").get("/v1/reviews").json() == {"waiting": 0, "reviews": []}
    _code(desk.client("other").get(f"/v1/reviews/{trace_id}"), 404, "UNKNOWN_ANSWER")
    certificate = desk.client("desk").get(given["certificate"]).json()
    assert certificate["review"]["certificate"]["signatures"]


@pytest.mark.parametrize(("profile", "given"), [("casual", True), ("financial", False)])
def test_what_was_not_put_before_a_reviewer_has_no_certificate_either(
    served: Served, profile: str, given: bool
) -> None:
    """What lies between is held where a route queues nothing, as /qa, or nothing could be released."""
    gate, by = served.gate, Caller("desk")
    asked = gate.asked(
        by,
        BETWEEN["question"],
        corpus="town",
        sources=["public.txt"],
        profile=profile,
        draft=BETWEEN["answer"],
    )
    trace_id = gate.presented(by, asked, lambda: False).record.trace_id
    if given:
        assert gate.export(by, trace_id)["trace_id"] == trace_id
    else:
        with pytest.raises(Refused) as refused:
            gate.export(by, trace_id)
        assert refused.value.code == "UNKNOWN_ANSWER"


def test_what_a_reviewer_refuses_stays(desk: Desk) -> None:
    """The answer is refused to who asked, and so is its certificate."""
    trace_id = desk.escalated()
    assert desk.decide(trace_id, "refuse").status_code == 200  # type: ignore[attr-defined]
    for path in (f"/v1/reviews/{trace_id}", f"/v1/certificates/{trace_id}"):
        refused = desk.client("desk").get(path)
        _code(refused, 422, "REFUSED_BY_REVIEWER")
        assert refused.json()["decision"] == "DENY"
        assert "14 days" not in refused.text


def test_a_decision_is_made_once(desk: Desk) -> None:
    """By whoever is first, and the log takes no second one."""
    trace_id = desk.escalated()
    desk.decide(trace_id, "refuse")
    _code(desk.decide(trace_id, "release"), 409, "ALREADY_DECIDED")
    log = desk.served.services.audit_log
    again = log.leaves_of("review", trace_id)
    assert len(again) == 1
    entry = next(log.entries(json.loads(again[0])["index"]))
    from certirag.ports import NewEntry

    second = NewEntry(
        "review",
        trace_id,
        desk.served.services.now(),
        entry.content or b"",
        signature=entry.signature,
        detail=json.loads(again[0])["detail"],
    )
    with pytest.raises(AuditError, match="already"):
        log.append(second)
    with pytest.raises(AuditError, match="follows"):
        log.append(replace(second, trace_id="0" * 32))


def test_the_queue_outlives_the_process(desk: Desk) -> None:
    """It is read from the log: another process lists it, decides on it, and gives it out."""
    trace_id = desk.escalated()
    desk.served = desk.served.with_services()
    assert desk.client("anna").get("/v1/reviews").json()["waiting"] == 1
    _code(desk.client("desk").get(f"/v1/reviews/{trace_id}"), 202, "WAITS_FOR_REVIEW")
    desk.decide(trace_id, "release")
    desk.served = desk.served.with_services()
    assert desk.client("desk").get(f"/v1/reviews/{trace_id}").json()["answer"].startswith(TRUE)


def test_a_key_made_anew_under_an_old_name_is_another(desk: Desk) -> None:
    """What the first one asked for is not the second one's."""
    from certirag.gateway.access import revoke_key

    trace_id = desk.escalated()
    desk.decide(trace_id, "release")
    revoke_key(desk.served.home, "desk")
    desk.keys["desk"] = desk.served.key("desk")
    _code(desk.client("desk").get(f"/v1/reviews/{trace_id}"), 404, "UNKNOWN_ANSWER")
    _code(desk.client("desk").get(f"/v1/certificates/{trace_id}"), 404, "UNKNOWN_ANSWER")


def test_a_release_gives_no_badge(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a stricter server than then, what it refuses does not leave, whoever released it."""
    trace_id = desk.escalated()
    desk.decide(trace_id, "release")
    gate = desk.served.gate
    monkeypatch.setattr(gate, "profile", load_profile("strict"))
    refused = desk.client("desk").get(f"/v1/reviews/{trace_id}")
    _code(refused, 422, "UNGROUNDED_CLAIM")
    assert "14 days" not in refused.text


def test_a_reviewer_asks_nothing_and_is_nobody_without_a_key(desk: Desk, served: Served) -> None:
    """Four eyes: no key both asks and decides, and a server without keys decides on nothing."""
    _code(desk.client("anna").post("/v1/answer", json=TOWN), 403, "NOT_FOR_THIS_KEY")
    _code(desk.client("anna").post("/qa", json={"query": "Why?"}), 403, "NOT_FOR_THIS_KEY")
    _code(desk.client("desk").get("/v1/reviews"), 403, "NOT_FOR_THIS_KEY")
    (served.home / "gateway_keys.json").unlink()
    _code(served.client().get("/v1/reviews"), 403, "NOT_FOR_THIS_KEY")
    for name, more in (("Anna Weber", {}), ("../x", {}), ("anna", {"corpora": ("town",)})):
        with pytest.raises(InputError):
            add_key(served.home, KeyRecord(name, "", "casual", use="review", **more))  # type: ignore[arg-type]


def test_nothing_between_leaves_by_another_way(desk: Desk) -> None:
    """/qa abstains where a person would have to decide."""
    profile = load_profile("financial")
    assert profile.least == profile.accept
    assert replace(profile, between="strip").least == profile.reject


def test_the_log_and_both_programs_hold_the_decision(desk: Desk) -> None:
    """An entry of the log, and in the export a countersignature that the checker reads."""
    trace_id = desk.escalated()
    services = desk.served.services
    before = desk.export(trace_id)
    assert "review" not in json.loads(before)
    desk.decide(trace_id, "release")
    assert verify_live(services.audit_log, services.trusted).faults == ()
    report = checker.check(desk.export(trace_id), services.trusted)
    assert report.verdict == "VALID"
    assert "released" in report.reason
    assert "anna.weber" in report.reason
    assert checker.check(before, services.trusted).verdict == "VALID"


def test_without_a_log_nothing_waits(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that cannot be put before a person is an outage, not an answer."""
    log = desk.served.services.audit_log
    append = type(log).append

    def broken(self: object, entry: object) -> object:
        if entry.kind == "escalate":  # type: ignore[attr-defined]
            raise AuditError("the disk is full")
        return append(self, entry)  # type: ignore[arg-type]

    monkeypatch.setattr(type(log), "append", broken)
    response = desk.client("desk").post("/v1/answer", json=BETWEEN)
    _code(response, 503, "AUDIT_UNAVAILABLE")
    assert response.json()["decision"] is None
    assert waiting(log) == []


def test_a_draft_of_somebody_else_is_sent_back(served: Served) -> None:
    """With the decision RETRY, and nothing of what is not supported."""
    asked = {**BETWEEN, "profile": "casual", "between": "retry"}
    response = served.client().post("/v1/answer", json=asked)
    _code(response, 422, "PARTLY_GROUNDED")
    assert response.json()["decision"] == "RETRY"
    assert "zebracoins" not in response.text
    assert "14 days" not in response.text


def test_a_way_can_only_be_tightened(desk: Desk) -> None:
    """A request that asks for less than the profile changes nothing."""
    desk.escalated(between="strip")
    desk.escalated(profile="casual", between="escalate")
    for one in map(load_profile, profile_names()):
        for other in map(load_profile, profile_names()):
            ways = ["strip", "retry", "escalate"]
            both = max(ways.index(one.between), ways.index(other.between))
            assert ways.index(one.meet(other).between) == both


def _chat(served: Served, replies: Sequence[str], **options: object) -> tuple[dict, ScriptedModel]:  # type: ignore[type-arg]
    left: Iterator[str] = iter(replies)

    def speak(_prompt: Prompt) -> Sequence[str]:
        return [next(left)]

    model = ScriptedModel(speak)
    said = [{"role": "user", "content": TOWN["question"]}]
    asked = {"model": "small", "messages": said, "certirag": {**ALLOWED, **options}}
    response = served.before(model).client().post("/v1/chat/completions", json=asked)
    assert response.status_code == 200, response.text
    assert "zebracoins" not in response.text
    return response.json(), model


def test_the_model_is_asked_once_more_with_the_evidence_alone(served: Served) -> None:
    """A whole second answer is a whole answer, and says which one came before it."""
    whole, model = _chat(served, [f"{TRUE} {FALSE}", TRUE], between="retry")
    assert whole["choices"][0]["message"]["content"] == TRUE
    assert (whole["certirag"]["grounding_score"], whole["certirag"]["stripped"]) == (1.0, False)
    assert whole["certirag"]["retry_of"] not in {"", whole["certirag"]["trace_id"]}
    _, second = model.prompts
    assert TOWN["question"] in second.content
    assert "14 days" in second.content
    assert "zebracoins" not in second.content
    assert "nothing else" in second.instructions


def test_what_lies_between_twice_is_stripped(served: Served) -> None:
    """There is no third time."""
    whole, model = _chat(served, [f"{TRUE} {FALSE}", f"{TRUE} {FALSE}"], between="retry")
    assert whole["choices"][0]["message"]["content"] == TRUE
    assert whole["certirag"]["stripped"]
    assert len(model.prompts) == 2


def test_a_whole_or_a_hopeless_reply_is_not_asked_again(served: Served) -> None:
    """Only what lies between is."""
    for reply in (TRUE, FALSE):
        _, model = _chat(served, [reply], between="retry")
        assert len(model.prompts) == 1


def test_a_chat_is_told_that_its_answer_waits(served: Served) -> None:
    """As a refusal in the standard field, with the trace to look for."""
    whole, _ = _chat(served, [f"{TRUE} {TRUER} {FALSE}"], profile="financial")
    message = whole["choices"][0]["message"]
    assert message["content"] is None
    assert "A person decides" in message["refusal"]
    assert (whole["certirag"]["decision"], whole["certirag"]["code"]) == (
        "ESCALATE",
        "WAITS_FOR_REVIEW",
    )
    assert waiting(served.services.audit_log) == [whole["certirag"]["trace_id"]]


def test_the_command_line_lists_and_decides(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the API does, on the same queue; what cannot be decided is said in one line."""
    monkeypatch.setenv("CERTIRAG_HOME", str(desk.served.home))
    trace_id = desk.escalated()
    assert main(["review", "list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["trace_id"], row["caller"], row["question"]) == (trace_id, "desk", TOWN["question"])
    words = ["review", "decide", trace_id, "release", "--reviewer", "ben", "--reason", "Read."]
    assert main([*words[:-1], "two\nlines"]) == 2
    assert main(words) == 0
    assert main(words) == 2
    assert "waits for a decision" in capsys.readouterr().err
    given = desk.client("desk").get(f"/v1/reviews/{trace_id}").json()
    assert given["review"]["reviewer"] == "ben"


def test_reviewers_keys_are_their_own(desk: Desk, tmp_path: Path) -> None:
    """A file for each, for its owner alone, and none that the home trusts for answers."""
    from certirag.proof.keys import trusted_keys

    desk.decide(desk.escalated(), "release")
    key = desk.served.home / "keys" / "reviewers" / "anna.weber.key"
    assert key.stat().st_mode & 0o077 == 0
    public = checker.read_key(key.with_suffix(".pub"))
    assert checker.key_id(public) not in trusted_keys(desk.served.home)
