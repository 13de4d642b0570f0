"""Idempotency keys: what is asked twice under one key is worked out, logged and signed once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from fastapi import FastAPI
from gateway_served import Served
from scripted_model import ScriptedModel

from certirag.errors import VerifierError
from certirag.gateway.once import KEPT_EACH, KEPT_SECONDS, Once
from certirag.gateway.refusals import Refused
from certirag.gateway.waiting import ClientGone
from certirag.ports import Judgement, Pair, Prompt, Verifier

ASKED = {"question": "What is the standard rate for business travel in 2025?", "corpus": "tax"}
NO_ANSWER = {"question": "Who will win the 2028 election?", "corpus": "tax"}
SAID = [{"role": "user", "content": ASKED["question"]}]
KEY = {"Idempotency-Key": "one"}


def _entries(served: Served) -> int:
    return served.services.audit_log.size()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/answer", ASKED),
        ("/v1/answer", NO_ANSWER),
        ("/qa", {"query": ASKED["question"], "corpus": "tax"}),
        (
            "/v1/chat/completions",
            {"model": "certirag", "messages": SAID, "certirag": {"corpus": "tax"}},
        ),
        (
            "/v1/chat/completions",
            {"model": "certirag", "messages": SAID, "stream": True, "certirag": {"corpus": "tax"}},
        ),
    ],
    ids=["answer", "refusal", "qa", "chat", "stream"],
)
def test_a_repeated_request_has_the_same_answer(
    served: Served, path: str, body: dict[str, object]
) -> None:
    """The same bytes, with the same trace id, and not one entry more; without the key another one."""
    client = served.client()
    first = client.post(path, json=body, headers=KEY)
    logged = _entries(served)
    again = client.post(path, json=body, headers=KEY)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert _entries(served) == logged
    assert client.post(path, json=body).content != first.content
    assert _entries(served) > logged


def test_a_key_belongs_to_one_request_of_one_caller(served: Served) -> None:
    """Another body or path is refused and not worked for; another caller's key is another key."""
    mine, yours = served.client(served.key("mine")), served.client(served.key("yours"))
    first = mine.post("/v1/answer", json=ASKED, headers=KEY)
    logged = _entries(served)
    for path, body in (
        ("/v1/answer", {**ASKED, "max_citations": 1}),
        ("/qa", {"query": ASKED["question"], "corpus": "tax"}),
    ):
        other = mine.post(path, json=body, headers=KEY)
        assert (other.status_code, other.json()["error"]["code"]) == (409, "KEY_REUSED")
    assert _entries(served) == logged
    other = yours.post("/v1/answer", json=ASKED, headers=KEY)
    assert other.json()["trace_id"] != first.json()["trace_id"]
    for bad in ("", "a b", "x" * 256):
        refused = mine.post("/v1/answer", json=ASKED, headers={"Idempotency-Key": bad})
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "BAD_REQUEST")


class _FailsOnce:
    """A verifier that fails when it is first asked."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier, self.identity, self._asked = verifier, verifier.identity, 0

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        self._asked += 1
        if self._asked == 1:
            raise VerifierError("down")
        return self._verifier.judge(pairs)


def test_what_failed_may_be_tried_again(served: Served) -> None:
    """An outage is kept for nobody."""
    client = served.with_services(verifier=_FailsOnce(served.services.verifier)).client()
    statuses = [client.post("/v1/answer", json=ASKED, headers=KEY).status_code for _ in range(2)]
    assert statuses == [503, 200]


@pytest.mark.parametrize("first_leaves", [False, True])
def test_who_comes_while_the_first_is_under_way_waits_for_it(
    served: Served, listening: Callable[[FastAPI], str], *, first_leaves: bool
) -> None:
    """The model is asked once; where the first one's client leaves, the second takes over."""
    begun, go_on = threading.Event(), threading.Event()

    def speak(_prompt: Prompt) -> Sequence[str]:
        begun.set()
        go_on.wait(30)
        return ["The standard rate for business travel in 2025 is 70 cents per mile."]

    model = ScriptedModel(speak)
    url = listening(served.before(model).app())
    body = {"model": "small", "messages": SAID, "certirag": {"corpus": "tax"}}

    def ask(seconds: float) -> httpx.Response:
        return httpx.post(f"{url}/v1/chat/completions", json=body, headers=KEY, timeout=seconds)

    with ThreadPoolExecutor(3) as clients:
        first = clients.submit(ask, 6 if first_leaves else 60)
        assert begun.wait(20)
        others = [clients.submit(ask, 60) for _ in range(2)]
        if first_leaves:
            with pytest.raises(httpx.ReadTimeout):
                first.result()
            threading.Event().wait(1.5)  # the server looks twice a second
        go_on.set()
        given = [one.result() for one in others]
    if not first_leaves:
        given.append(first.result())
    assert {one.status_code for one in given} == {200}
    assert len({one.content for one in given}) == 1
    assert len(model.prompts) == (2 if first_leaves else 1)


def test_keys_are_kept_for_a_bounded_time_and_number() -> None:
    """The oldest go first, what is under way never; a day later all are forgotten."""
    now = [0.0]
    once = Once(lambda: now[0])
    under_way = once.turn("desk", "under way", "d")
    for number in range(KEPT_EACH + 5):
        assert once.turn("desk", f"k{number}", "d").first
        once.settle("desk", f"k{number}", number)
    assert once.turn("desk", "k0", "another").first
    last = once.turn("desk", f"k{KEPT_EACH + 4}", "d")
    assert not last.first
    assert last.outcome.result() == KEPT_EACH + 4
    now[0] = KEPT_SECONDS
    assert once.turn("desk", f"k{KEPT_EACH + 4}", "another").first
    assert not once.turn("desk", "under way", "d").first
    assert not under_way.outcome.done()


def test_what_breaks_off_leaves_nobody_waiting() -> None:
    """A failure of any kind reaches who waits; a refusal by the documents is kept."""
    once = Once(lambda: 0.0)
    for error, told in (
        (Refused("OVERLOADED"), Refused),
        (KeyboardInterrupt(), ClientGone),
    ):
        once.turn("desk", "k", "d")
        waiting = once.turn("desk", "k", "d")
        once.settle("desk", "k", error)
        with pytest.raises(told):
            waiting.outcome.result(0)
    once.turn("desk", "k", "d")
    once.settle("desk", "k", Refused("NO_EVIDENCE"))
    assert isinstance(once.turn("desk", "k", "d").outcome.result(0), Refused)
