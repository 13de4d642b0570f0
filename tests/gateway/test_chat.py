"""The model behind the gateway, as OpenAI's clients ask it: only certified statements come back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from fastapi import FastAPI
from gateway_served import TAX, Served, refused_as
from llm_server import END, endpoint, event, stream
from scripted_model import ScriptedModel

from certirag.adapters.llm.endpoint import Endpoint
from certirag.adapters.llm.openai import OpenAiModel, Patience
from certirag.errors import LanguageModelError
from certirag.ports import Prompt

INVENTED = (
    "The standard rate for business travel in 2025 is 70 cents per mile. Boats get zebracoins."
)


@pytest.mark.parametrize("stream", [False, True])
def test_the_official_client_gets_certified_statements_alone(
    served: Served, listening: Callable[[FastAPI], str], *, stream: bool
) -> None:
    """The model behind the gateway invents; what it invented reaches nobody."""
    from openai import OpenAI

    model = ScriptedModel(INVENTED.split(" "), name="liar")
    model._rule = [f"{word} " for word in INVENTED.split(" ")]
    url = listening(served.before(model).app())
    client = OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    assert [m.id for m in client.models.list()] == ["certirag", "small"]
    asked = {
        "model": "small",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": TAX["question"]},
        ],
        "extra_body": {"certirag": {"corpus": "tax"}},
    }
    if stream:
        events = list(client.chat.completions.create(**asked, stream=True))
        content = "".join(e.choices[0].delta.content or "" for e in events)
        whole = "".join(e.model_dump_json() for e in events)
        assert events[-1].choices[0].finish_reason == "stop"
    else:
        answer = client.chat.completions.create(**asked)
        message, whole = answer.choices[0].message, answer.model_dump_json()
        content = message.content
        place = message.annotations[0].url_citation
        assert content[place.start_index : place.end_index] in INVENTED
    assert content == "The standard rate for business travel in 2025 is 70 cents per mile."
    assert "zebracoins" not in whole
    assert model.prompts[0].instructions == "Be short."


def _upstream(way: str, ended: threading.Event) -> Callable[[Any, Any], bytes | None]:
    """Return a model's server of which what it says was recorded, and that then does as *way* says."""
    said = [event(f"{word} ") for word in INVENTED.split(" ")]

    def parts() -> Iterator[bytes]:
        for piece in said if way in {"inventing", "slow"} else said[:6]:
            if way == "slow":
                time.sleep(0.03)
            yield piece
        if way == "hung":
            ended.wait(20)
        if way == "malformed":
            yield b"data: {\n\n"
        if way != "killed":
            yield END

    return lambda _, handler: stream(handler, parts(), whole=way != "killed")


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("way", "answered"),
    [
        ("inventing", True),
        ("slow", True),
        ("killed", False),
        ("hung", False),
        ("malformed", False),
    ],
)
def test_the_official_client_with_an_upstream_over_http(
    served: Served, listening: Callable[[FastAPI], str], way: str, *, answered: bool, streamed: bool
) -> None:
    """What it invents reaches nobody; half a reply is a failure of the call, plain and streamed."""
    from openai import APIStatusError, OpenAI

    ended = threading.Event()
    with endpoint(_upstream(way, ended)) as played:
        model = OpenAiModel(
            "small",
            Endpoint(played.url, "none"),
            patience=Patience(silence=1.0),
            sleep=lambda _: None,
        )
        url = listening(served.before(model).app())
        client = OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)

        def ask() -> str:
            given = client.chat.completions.create(
                model="small",
                messages=[{"role": "user", "content": TAX["question"]}],
                extra_body={"certirag": {"corpus": "tax"}},
                stream=streamed,
            )
            if streamed:
                return "".join(e.choices[0].delta.content or "" for e in given)
            return str(given.choices[0].message.content)

        if answered:
            assert ask() == "The standard rate for business travel in 2025 is 70 cents per mile."
        else:
            with pytest.raises(APIStatusError) as caught:
                ask()
            assert (caught.value.status_code, caught.value.code) == (502, "MODEL_UNAVAILABLE")
            assert "standard" not in caught.value.response.text
        ended.set()


def test_a_reply_without_support_is_a_refusal_of_the_standard_kind(served: Served) -> None:
    """The content is empty, and the reason stands where clients look for one."""
    client = served.before(ScriptedModel(["Boats get zebracoins."])).client()
    said = [{"role": "user", "content": "What do boats get?"}]
    asked = {"model": "small", "messages": said, "certirag": {"corpus": "tax"}}
    response = client.post("/v1/chat/completions", json=asked)
    message = response.json()["choices"][0]["message"]
    assert message["content"] is None
    assert message["refusal"] == "Nothing in the provided sources is on this."
    assert "zebracoins" not in response.text


@pytest.mark.parametrize(
    "said",
    [
        [LanguageModelError("unreachable", "it cannot be reached")],
        ["The standard ", LanguageModelError("timed_out", "it took too long")],
        [LanguageModelError("malformed", "it is no answer")],
        [" "],
        ["x" * 50_000],
    ],
    ids=["killed", "hung", "malformed", "empty", "endless"],
)
def test_a_model_that_fails_is_a_failure_of_the_call(
    served: Served, said: Sequence[str | LanguageModelError]
) -> None:
    """Half a reply is no reply: an outage is told as one, and nothing of the reply leaves."""

    def speak(_prompt: Prompt) -> Sequence[str | LanguageModelError]:
        return said

    client = served.before(ScriptedModel(speak)).client()
    messages = [{"role": "user", "content": TAX["question"]}]
    asked = {"model": "small", "messages": messages, "certirag": {"corpus": "tax"}}
    response = client.post("/v1/chat/completions", json=asked)
    refused_as(response, 502, "MODEL_UNAVAILABLE")
    assert "standard" not in response.text


@pytest.mark.parametrize(
    ("model", "messages", "status", "code"),
    [
        ("nobody", [{"role": "user", "content": "Why?"}], 404, "UNKNOWN_MODEL"),
        ("certirag", [], 400, "BAD_REQUEST"),
        ("certirag", [{"role": "assistant", "content": "Why?"}], 400, "BAD_REQUEST"),
        ("certirag", [{"role": "user", "content": "x" * 2_001}], 400, "BAD_REQUEST"),
        ("certirag", [{"role": "tool", "content": "x"}], 400, "BAD_REQUEST"),
    ],
)
def test_a_chat_that_cannot_be_asked(
    served: Served, model: str, messages: list[dict[str, str]], status: int, code: str
) -> None:
    """It is said which part of it cannot be used."""
    response = served.client().post(
        "/v1/chat/completions", json={"model": model, "messages": messages}
    )
    refused_as(response, status, code)
