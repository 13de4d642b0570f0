"""``POST /qa/verify``: an answer against the pack that comes with it, claim by claim (RFC-0004 §12)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from builders import hostile_strings
from fakes import AlignedWords
from gateway_served import Served
from starlette.testclient import TestClient

from certirag.gateway.pack import MAX_CHARACTERS

RATE = "The standard rate for business travel is 70 cents per mile."
LOGS = "A mileage log is kept for three years."
PACK = {
    "works": [{"work_id": "notice", "title": "Notice", "authors": ["A. Clerk"], "year": 2025}],
    "passages": [
        {"work_id": "notice", "passage_id": "p1", "text": RATE, "score": 0.9},
        {"work_id": "notice", "passage_id": "p2", "text": f"Keep a log.\n\n{LOGS}"},
        {"work_id": "memo", "passage_id": "p1", "text": "Boats are moored in the harbour."},
    ],
}
P1 = {"work_id": "notice", "passage_id": "p1"}
P2 = {"work_id": "notice", "passage_id": "p2"}


def _claim(text: str, *cites: dict[str, object]) -> dict[str, object]:
    return {"text": text, "supporting_citations": list(cites)}


def _report(client: TestClient, *claims: dict[str, object], **more: object) -> dict:
    asked = {"answer": {"claims": claims}, "evidence_pack": PACK, **more}
    response = client.post("/qa/verify", json=asked)
    assert response.status_code == 200, response.text
    return response.json()


def test_a_report_says_of_each_claim_what_carries_it(served: Served) -> None:
    """By passage and by work; the answer is logged, signed and to be fetched like any other."""
    client = served.client()
    given = _report(client, _claim(RATE, P1), _claim(LOGS, {"work_id": "notice"}))
    assert (given["verdict"], given["reason_codes"], given["grounding_score"]) == ("pass", [], 1.0)
    one, other = given["claims"]
    assert one == {
        "index": 0,
        "text": RATE,
        "supported": True,
        "passed": True,
        "support_level": "direct",
        "supporting_citations": [P1],
        "reason_codes": [],
    }
    assert (other["index"], other["supporting_citations"]) == (1, [P2])
    export = client.get(given["certificate"]).json()
    assert export["trace_id"] == given["trace_id"]
    assert [d["render_state"] for d in export["decisions"]] == ["VERIFIED", "VERIFIED"]
    assert served.services.audit_log.size() > 0


@pytest.mark.parametrize(
    ("claim", "supported", "code"),
    [
        (
            _claim("The standard rate for business travel is 71 cents per mile.", P1),
            False,
            "not_contradicted",
        ),
        (_claim("Trains get zebracoins.", P1), False, "evidence"),
        (_claim(RATE), True, "no_citation"),
        (_claim(RATE, {"work_id": "notice", "passage_id": "p9"}), True, "unknown_citation"),
        (_claim(RATE, {"work_id": "elsewhere"}), True, "unknown_citation"),
        (_claim(RATE, P1, {"work_id": "elsewhere"}), True, "unknown_citation"),
        (_claim(RATE, {"work_id": "memo", "passage_id": "p1"}), True, "citation_does_not_support"),
        (_claim(RATE, P2), True, "citation_does_not_support"),
        (_claim(RATE, P1, P2), True, "citation_does_not_support"),
        (_claim("What is the rate?", P1), False, "well_formed"),
        (_claim("Overall", P1), False, "evidence"),
        (_claim("- " + RATE, P1), False, "unread"),
        (_claim(f"{RATE} (see the memo, which says that trains are free)", P1), False, "unread"),
        (_claim(f"{RATE} Boats get zebracoins.", P1), False, "entailed"),
    ],
)
def test_a_claim_that_fails_says_why(
    served: Served, claim: dict, supported: bool, code: str
) -> None:
    """It fails alone, and what is not supported has no text in the report."""
    given = _report(served.client(), claim, _claim(LOGS, P2))
    assert given["verdict"] == "fail"
    failed, stands = given["claims"]
    assert stands["passed"]
    assert not failed["passed"]
    assert (failed["supported"], bool(failed["text"])) == (supported, supported)
    assert code in failed["reason_codes"]
    assert set(given["reason_codes"]) == set(failed["reason_codes"])
    assert "zebracoins" not in json.dumps(given)


def test_a_claim_cannot_lend_its_words_to_the_next(served: Served) -> None:
    """A list item is read with the line that leads into it, so it is never called supported."""
    lead = "It is not true that the standard rate for business travel is:"
    item = "- 70 cents per mile"
    given = _report(served.client(), _claim(lead, P1), _claim(item, P1))
    assert [claim["supported"] for claim in given["claims"]] == [False, False]


def test_a_summary_is_verified_too(served: Served) -> None:
    """Unless it is what the claims say: nothing may be said in it alone."""
    claims = [_claim(RATE, P1), _claim(LOGS, P2)]
    client = served.client()

    def of(summary: str) -> dict:
        answer = {"answer_summary": summary, "claims": claims, "references": [], "trace_id": "x"}
        body = {"answer": answer, "evidence_pack": PACK}
        return client.post("/qa/verify", json=body).json()

    assert [c["index"] for c in of(f"{RATE} {LOGS}")["claims"]] == [0, 1]
    other = of(f"{RATE} Boats get zebracoins.")
    assert [(c["index"], c["passed"]) for c in other["claims"]] == [
        (0, True),
        (1, True),
        (None, False),
    ]
    assert other["verdict"] == "fail"


def test_what_qa_answers_passes_against_what_it_cites(served: Served) -> None:
    """RFC-0004: the answer of ``/qa`` is a candidate as it stands."""
    client = served.client()
    answer = client.post("/qa", json={"query": "What is the rate in 2025?", "corpus": "tax"}).json()
    assert answer["claims"]
    (cites,) = answer["claims"][0]["supporting_citations"]
    passage = {**cites, "text": answer["claims"][0]["text"]}
    body = {"answer": answer, "evidence_pack": {"passages": [passage]}}
    assert client.post("/qa/verify", json=body).json()["verdict"] == "pass"


def test_more_than_the_cap_is_unread(served: Served) -> None:
    """What was not measured has not passed."""
    settings = replace(served.services.settings, max_draft_claims=1)
    client = served.with_services(settings=settings).client()
    given = _report(client, _claim(RATE, P1), _claim(LOGS, P2))
    assert [claim["passed"] for claim in given["claims"]] == [True, False]
    assert "unread" in given["claims"][1]["reason_codes"]


def test_a_superseded_work_is_no_evidence(served: Served) -> None:
    """As in every corpus; it is named, and alone it is no evidence at all."""
    old = {"work_id": "old", "passage_id": "p1", "text": f"This notice is superseded. {RATE}"}
    body = {"answer": {"claims": [_claim(RATE, {"work_id": "old"})]}}
    pack = {"passages": [old, PACK["passages"][2]]}
    given = served.client().post("/qa/verify", json={**body, "evidence_pack": pack}).json()
    assert given["left_out"] == ["old"]
    assert not given["claims"][0]["supported"]
    alone = served.client().post("/qa/verify", json={**body, "evidence_pack": {"passages": [old]}})
    assert (alone.status_code, alone.json()["error"]["code"]) == (422, "NO_EVIDENCE")


@pytest.mark.parametrize(
    ("pack", "status", "code"),
    [
        ({"passages": []}, 400, "BAD_REQUEST"),
        ({"passages": [PACK["passages"][0]] * 2}, 400, "BAD_REQUEST"),
        ({"works": PACK["works"] * 2, "passages": PACK["passages"]}, 400, "BAD_REQUEST"),
        ({"passages": [{**P1, "text": " \u0007 "}]}, 400, "BAD_REQUEST"),
        ({"passages": [{**P1, "text": "x" * 8_001}]}, 400, "BAD_REQUEST"),
        (
            {
                "passages": [
                    {"work_id": "w", "passage_id": str(n), "text": "x" * 8_000}
                    for n in range(MAX_CHARACTERS // 8_000 + 1)
                ]
            },
            413,
            "TOO_LARGE",
        ),
    ],
    ids=["empty", "passage twice", "work twice", "blank", "long passage", "too much"],
)
def test_a_pack_that_cannot_be_used_is_refused(
    served: Served, pack: dict, status: int, code: str
) -> None:
    """Before anything is measured or logged."""
    logged = served.services.audit_log.size()
    body = {"answer": {"claims": [_claim(RATE, P1)]}, "evidence_pack": pack}
    response = served.client().post("/qa/verify", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert served.services.audit_log.size() == logged


def test_hostile_names_take_nobodys_place(served: Served) -> None:
    """A title or id that imitates another work's does not carry a citation of that one."""
    pack = {
        "works": [{"work_id": "2-memo", "title": "memo"}, {"work_id": "memo", "title": RATE}],
        "passages": [
            {"work_id": "2-memo", "passage_id": "p1", "text": RATE},
            {"work_id": "memo", "passage_id": "p1", "text": "Boats are moored in the harbour."},
        ],
    }
    body = {"answer": {"claims": [_claim(RATE, {"work_id": "memo"})]}, "evidence_pack": pack}
    (claim,) = served.client().post("/qa/verify", json=body).json()["claims"]
    assert claim["supporting_citations"] == [{"work_id": "2-memo", "passage_id": "p1"}]
    assert claim["reason_codes"] == ["citation_does_not_support"]


def test_hostile_text_supports_nothing_and_breaks_nothing(served: Served) -> None:
    """Whatever stands in passages, titles, ids and claims: a report, and no claim that is not there."""
    client = served.client()
    for name, text in hostile_strings():
        own = text.encode("utf-8", "replace").decode("utf-8")[:250] or "x"
        cites = {"work_id": own, "passage_id": own}
        passages = [{**cites, "text": f"{own} x\n\n{LOGS}"}, PACK["passages"][2]]
        pack = {"works": [{"work_id": own, "title": own}], "passages": passages}
        claims = [_claim(f"{own} trains get zebracoins.", cites), _claim(RATE, cites)]
        body = {"answer": {"claims": claims}, "evidence_pack": pack}
        response = client.post("/qa/verify", json=body)
        assert response.status_code == 200, (name, response.text)
        assert not any(claim["supported"] for claim in response.json()["claims"]), name


def test_half_an_outage_is_an_outage_here_as_well(served: Served) -> None:
    """What could not be measured is not called unsupported."""

    class Broken(AlignedWords):
        def judge(self, pairs):
            return [replace(one, label="error", error="down") for one in super().judge(pairs)]

    body = {"answer": {"claims": [_claim(RATE, P1)]}, "evidence_pack": PACK}
    response = served.with_services(verifier=Broken()).client().post("/qa/verify", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (503, "VERIFIER_UNAVAILABLE")
