"""The language model behind an endpoint: every way to fail has its name, and the key no trace."""

from __future__ import annotations

import ipaddress
import json
import logging
import re
import socket
import ssl
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from llm_server import END, Played, chat, endpoint, event, reply, spoken, stream

from certirag.adapters.llm.endpoint import Endpoint
from certirag.adapters.llm.openai import OpenAiModel, Patience
from certirag.adapters.llm.prompt_forms import SEED
from certirag.drafting.model_answer import json_answer, streamed_items
from certirag.errors import InputError, LanguageModelError
from certirag.ports import Prompt

KEY = "sk-secret-0123456789"
ITEM = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 300}},
    "required": ["text"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": {"claims": {"type": "array", "items": ITEM, "maxItems": 3}},
    "required": ["claims"],
    "additionalProperties": False,
}
PLAIN = Prompt("Say it.", "What is the fee?", max_tokens=64)
ASKED = Prompt("Say it.", "What is the fee?", "claims", SCHEMA, 64)
Answer = Callable[[dict[str, Any], Any], bytes | None]


def model(url: str, *, slept: list[float] | None = None, **patience: Any) -> OpenAiModel:
    """Return the model at *url*, which notes its delays in *slept* instead of waiting."""
    sleep = (slept if slept is not None else []).append
    return OpenAiModel("model-1", Endpoint(url, KEY), patience=Patience(**patience), sleep=sleep)


def failure(answer: Answer, prompt: Prompt = PLAIN, **patience: Any) -> LanguageModelError:
    """Return how the model fails when *answer* plays its endpoint."""
    with endpoint(answer) as played, pytest.raises(LanguageModelError) as caught:
        list(model(played.url, **patience).stream(prompt))
    return caught.value


def playing(*answers: Answer) -> Answer:
    """Return an answer that is the first of *answers* at the first request, and so on."""
    left = iter(answers)

    def answer(content: dict[str, Any], handler: Any) -> bytes | None:
        return next(left)(content, handler)

    return answer


def heard_until(pieces: Iterator[str]) -> tuple[list[str], LanguageModelError]:
    """Return the pieces that came, and how they failed."""
    heard: list[str] = []
    try:
        for piece in pieces:
            heard.append(piece)
    except LanguageModelError as error:
        return heard, error
    raise AssertionError(heard)


def status(number: int, content: object = None, **headers: str) -> Answer:
    """Return an answer with status *number*."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _, handler: reply(handler, number, content, named)


def good(_: object, __: object) -> bytes:
    """Answer well."""
    return spoken("The fee ", "is €40.")


def test_pieces_come_as_they_are_written() -> None:
    """Each piece is there before the next was sent."""
    heard = threading.Event()

    def parts() -> Iterator[bytes]:
        yield event("The fee ")
        assert heard.wait(20)
        yield event("is €40.") + END

    with endpoint(lambda _, handler: stream(handler, parts())) as played:
        pieces = model(played.url).stream(PLAIN)
        assert next(pieces) == "The fee "
        heard.set()
        assert list(pieces) == ["is €40."]


def test_the_request_is_ours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Temperature 0, a seed, the strict schema; nothing of the environment, no proxy, no report."""
    monkeypatch.setenv("OPENAI_API_KEY", "another-hosts-key-0")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "another-hosts-key-1")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another-host")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-another-host")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer another\nX-Note: private")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with endpoint(good) as played:
        assert "".join(model(played.url).stream(ASKED)) == "The fee is €40."
        list(OpenAiModel("model-1", Endpoint(played.url)).stream(PLAIN))
    (path, headers, content), (_, without_key, plain) = played.requests
    assert path == "/v1/chat/completions"
    assert {name.casefold() for name in headers} == {
        "host", "accept", "accept-encoding", "content-type", "content-length", "user-agent",
        "authorization",
    }  # fmt: skip
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert "another" not in json.dumps([headers, without_key])
    assert "Authorization" not in without_key
    asked = content.pop("response_format")
    assert content == {
        "model": "model-1",
        "messages": [
            {"role": "system", "content": "Say it."},
            {"role": "user", "content": "What is the fee?"},
        ],
        "stream": True,
        "temperature": 0,
        "seed": SEED,
        "max_tokens": 64,
    }
    assert (asked["type"], asked["json_schema"]["strict"]) == ("json_schema", True)
    sent = asked["json_schema"]["schema"]
    assert sent["properties"]["claims"]["items"]["properties"] == {"text": {"type": "string"}}
    assert sent["properties"]["claims"]["maxItems"] == 3
    assert "response_format" not in plain


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (b"", "malformed"),
        (b"data: [DONE]\n\n", "malformed"),
        (chat("The fee is 40."), "malformed"),  # whole, though a stream was asked for
        (b"\xff\xfe\x00 garbage \x80\n\n" * 9, "malformed"),
        (b"data: \xff\xfe\n\n", "malformed"),
        (b"data: {broken\n\n", "malformed"),
        (b"data: [1, 2]\n\n", "malformed"),
        (b'data: "text"\n\n', "malformed"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "malformed"),
        (b'data: {"choices": {"delta": "x"}}\n\n', "malformed"),
        (event(["The fee"]) + END, "malformed"),
        (event(40) + END, "malformed"),
        (event("\ud83d") + END, "malformed"),
        (event("The fee") + END[: END.index(b"data: [DONE]")] + event("!") + END, "malformed"),
        (event("The fee", finish_reason="tool_calls"), "malformed"),
        (event("The fee is"), "truncated"),
        (event("The fee is") + b"data: [DONE]\n\n", "truncated"),
        (event("The fee is") + event(finish_reason="length"), "truncated"),
        (event("The fee is") + event(finish_reason="content_filter"), "refused"),
        (event(delta={"refusal": "I cannot help."}) + END, "refused"),
        (END, "empty"),
        (event(" \n") + END, "empty"),
        (event("x" * 500) * 3 + END, "truncated"),
        (b'data: {"error": {"message": "out of memory"}}\n\n', "server_error"),
    ],
)
def test_each_bad_stream_has_its_name(body: bytes, outcome: str) -> None:
    """Whatever stands in a 200's body, it is a whole answer or an error with a name."""
    assert failure(lambda *_: body, max_characters=1_000).outcome == outcome


@pytest.mark.parametrize(
    ("number", "outcome", "told"),
    [
        (400, "rejected", "model-1"),
        (401, "rejected", "CERTIRAG_LLM_KEY"),
        (403, "rejected", "CERTIRAG_LLM_KEY"),
        (404, "rejected", "CERTIRAG_LLM_URL"),
        (408, "timed_out", "waiting"),
        (413, "rejected", "evidence"),
        (429, "rate_limited", "too many"),
        (500, "server_error", "500"),
        (503, "server_error", "503"),
    ],
)
def test_each_status_has_its_name(number: int, outcome: str, told: str) -> None:
    """The line names what mends it, and quotes nothing of the server's."""
    error = failure(status(number, {"error": {"message": f"theirs {KEY}"}}))
    assert error.outcome == outcome
    assert told in str(error)
    assert "theirs" not in str(error)
    assert "\n" not in str(error)


def test_a_404_names_the_model() -> None:
    """The model's name is the other thing that may be wrong."""
    assert "'model-1'" in str(failure(status(404)))


def test_what_may_pass_is_tried_again() -> None:
    """Delays double, a Retry-After takes their place, and the answer is whole."""
    slept: list[float] = []
    answers = playing(status(500), status(429, None, Retry_After="3"), status(503), good)
    with endpoint(answers) as played:
        pieces = model(played.url, slept=slept, tries=4).stream(PLAIN)
        assert "".join(pieces) == "The fee is €40."
    assert slept == [0.5, 3.0, 2.0]


@pytest.mark.parametrize(
    ("answer", "tries"),
    [
        (status(500), 3),
        (status(429), 3),
        (status(429, None, Retry_After="5"), 3),
        (status(429, None, Retry_After="3600"), 1),
        (status(429, None, Retry_After="nan"), 3),
        (status(429, None, Retry_After="-1"), 3),
        (status(401), 1),
        (status(408), 1),
        (lambda *_: END, 1),
        (lambda _, handler: stream(handler, [], whole=False), 3),
        (lambda _, handler: stream(handler, [event("")], whole=False), 3),
        (lambda _, handler: stream(handler, [event("The")], whole=False), 1),
    ],
)
def test_tries_are_bounded(answer: Answer, tries: int) -> None:
    """What cannot help is not repeated, and nothing is repeated behind the first piece."""
    slept: list[float] = []
    with endpoint(answer) as played, pytest.raises(LanguageModelError):
        list(model(played.url, slept=slept).stream(PLAIN))
    assert len(played.requests) == tries
    assert len(slept) == tries - 1


def test_delays_are_part_of_the_bound() -> None:
    """An exchange does not sleep beyond its total."""
    slept: list[float] = []
    asked = status(429, None, Retry_After="4")
    with endpoint(asked) as played, pytest.raises(LanguageModelError):
        list(model(played.url, slept=slept, total=6.0, tries=9).stream(PLAIN))
    assert slept == [4.0]


def test_a_dead_server_is_unreachable() -> None:
    """Nobody listens, and the line says which variable to check."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(LanguageModelError) as caught:
        list(model(f"http://127.0.0.1:{port}/v1").stream(PLAIN))
    assert caught.value.outcome == "unreachable"
    assert "CERTIRAG_LLM_URL" in str(caught.value)


@pytest.mark.parametrize("chunked", [True, False])
def test_a_server_that_dies_half_way_leaves_what_it_said(chunked: bool) -> None:
    """The pieces before the end stay, and the end is an error."""
    said = [event("The fee "), event("is")]

    def answer(_: object, handler: Any) -> None:
        if chunked:
            return stream(handler, said, whole=False)
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"".join(said))
        handler.close_connection = True
        return None

    with endpoint(answer) as played:
        heard, error = heard_until(model(played.url).stream(PLAIN))
    assert (heard, error.outcome) == (["The fee ", "is"], "truncated")


def _for_ever(part: bytes, ended: threading.Event) -> Iterator[bytes]:
    """Yield *part* again and again, with small pauses, until the test has *ended*."""
    while not ended.wait(0.02):
        yield part


def _certificate(directory: Path) -> Path:
    """Write a certificate for 127.0.0.1 that nobody signed, and its key, to one file."""
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    host = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    signed = (
        x509.CertificateBuilder(name, name, private.public_key(), 1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
        .add_extension(host, critical=False)
        .sign(private, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = private.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = directory / "server.pem"
    path.write_bytes(signed.public_bytes(pem) + secret)
    return path


def test_the_line_is_encrypted_and_the_host_proves_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host whose certificate nobody vouches for is shown neither key nor question."""
    path = _certificate(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    with endpoint(good, tls=server) as played:
        assert played.url.startswith("https:")
        with pytest.raises(LanguageModelError) as caught:
            list(model(played.url).stream(PLAIN))
        assert (caught.value.outcome, played.requests) == ("unreachable", [])
        monkeypatch.setenv("SSL_CERT_FILE", str(path))  # now its owner does
        assert "".join(model(played.url).stream(PLAIN)) == "The fee is €40."
        assert played.requests[0][1]["Authorization"] == f"Bearer {KEY}"


def test_a_silent_server_is_late() -> None:
    """A pause behind a piece is bounded by itself."""
    ended = threading.Event()

    def parts() -> Iterator[bytes]:
        yield event("The fee ")
        ended.wait(20)

    with endpoint(lambda _, handler: stream(handler, parts())) as played:
        heard, error = heard_until(model(played.url, silence=0.2).stream(PLAIN))
        ended.set()
    assert (heard, error.outcome) == (["The fee "], "timed_out")


@pytest.mark.parametrize("what", ["headers", "comments", "one event", "pieces"])
def test_a_drip_comes_to_an_end(what: str) -> None:
    """Bytes that keep coming do not keep the exchange going, wherever they belong."""
    ended = threading.Event()

    def answer(_: object, handler: Any) -> None:
        if what == "headers":
            for part in _for_ever(b"x", ended):
                handler.wfile.write(part)
                handler.wfile.flush()
        parts = {"comments": b": wait\n\n", "one event": b"d", "pieces": event("x")}
        return stream(handler, _for_ever(parts[what], ended))

    with endpoint(answer) as played:
        with pytest.raises(LanguageModelError) as caught:
            list(model(played.url, total=0.4, silence=5.0).stream(PLAIN))
        ended.set()
    assert caught.value.outcome == "timed_out"


def test_who_takes_his_time_over_a_piece_loses_nothing() -> None:
    """Only waiting for the server counts: claims may be verified between two pieces."""
    with endpoint(good) as played:
        pieces = model(played.url, total=0.5).stream(PLAIN)
        heard = [next(pieces)]
        threading.Event().wait(0.6)
        assert "".join([*heard, *pieces]) == "The fee is €40."


def test_a_gigantic_reply_is_cut() -> None:
    """One line without end is bounded in bytes."""
    parts: Iterable[bytes] = (b"data: " if n == 0 else b"x" * 10_000 for n in range(100))
    error = failure(lambda _, handler: stream(handler, parts), max_bytes=100_000)
    assert error.outcome == "truncated"
    huge = status(500, b"x" * 1_000_000)
    assert failure(huge, tries=1, max_bytes=1_000).outcome == "server_error"


def test_nothing_is_unpacked() -> None:
    """A compressed reply was not asked for; its bytes are taken as they are."""
    packed = status(200, b"\x1f\x8b" + b"\0" * 100, Content_Encoding="gzip")
    assert failure(packed).outcome == "malformed"


@pytest.mark.parametrize("number", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(number: int) -> None:
    """Another host is never asked, let alone shown the key."""
    with endpoint(good) as other:
        error = failure(status(number, None, Location=f"{other.url}/chat/completions"))
    assert error.outcome == "rejected"
    assert "redirect" in str(error)
    assert other.requests == []


def _takes(content: dict[str, Any], handler: Any, *, shapes: set[str], mute: bool) -> bytes | None:
    shape = content.get("response_format", {}).get("type", "none")
    if shape in shapes:
        return spoken('{"claims": [{"text": "', 'The fee is €40."}]}')
    said = "Bad Request" if mute else f"'response_format' of type {shape} is not supported"
    reply(handler, 400, {"error": {"message": said, "seen": "temperature seed max_tokens"}})
    return None


@pytest.mark.parametrize("mute", [False, True])
@pytest.mark.parametrize(
    ("shapes", "steps"),
    [({"json_schema"}, 1), ({"json_object", "none"}, 2), ({"none"}, 3)],
)
def test_a_server_without_schemas_is_asked_in_words(
    shapes: set[str], steps: int, mute: bool
) -> None:
    """json_schema, json_object, words; what worked is remembered, what else was asked for stays."""
    with endpoint(lambda *sent: _takes(*sent, shapes=shapes, mute=mute)) as played:
        asked = model(played.url)
        for _ in range(2):
            found = json_answer(asked.stream(ASKED), SCHEMA)
            assert found == {"claims": [{"text": "The fee is €40."}]}
    assert len(played.requests) == steps + 1
    for _, _, content in played.requests:
        assert (content["temperature"], content["seed"], content["max_tokens"]) == (0, SEED, 64)
        in_words = '"additionalProperties":false' in content["messages"][0]["content"]
        assert in_words == (content.get("response_format", {}).get("type") != "json_schema")


def test_a_rejection_that_nothing_mends_is_one() -> None:
    """Steps come to an end, and a form that did not work is not remembered."""
    with endpoint(status(400, {"error": {"message": "no"}})) as played:
        asked = model(played.url)
        for _ in range(2):
            with pytest.raises(LanguageModelError) as caught:
                list(asked.stream(ASKED))
            assert caught.value.outcome == "rejected"
        assert len(played.requests) == 6
        assert "json_schema" in json.dumps(played.requests[3][2])


@pytest.mark.parametrize(
    ("body", "absent", "present"),
    [
        (
            {"error": {"message": "Use 'max_completion_tokens'.", "param": "max_tokens"}},
            "max_tokens",
            {"max_completion_tokens": 64, "temperature": 0, "seed": SEED},
        ),
        (
            {"error": {"message": "Only the default of 1.", "param": "temperature"}},
            "temperature",
            {"seed": SEED, "max_tokens": 64},
        ),
        (
            {"detail": [{"loc": ["body", "seed"], "input": "temperature"}]},
            "seed",
            {"temperature": 0, "max_tokens": 64},
        ),
    ],
)
def test_a_parameter_that_is_not_offered_is_left_out(
    body: object, absent: str, present: dict[str, object]
) -> None:
    """The one that the rejection names, no other, and the strict schema stays."""

    def answer(content: dict[str, Any], handler: Any) -> bytes | None:
        if absent not in content:
            return spoken("{}")
        return reply(handler, 422 if absent == "seed" else 400, body)

    with endpoint(answer) as played:
        assert list(model(played.url).stream(ASKED)) == ["{}"]
    content = played.requests[-1][2]
    assert {name: content.get(name) for name in present} == present
    assert content["response_format"]["type"] == "json_schema"


def test_items_stream_through_and_a_dead_server_keeps_them() -> None:
    """What was complete before the server died was yielded; then comes the line."""
    said = ['{"claims": [{"text": "One', '."}, {"text"', ': "Two."}, {"te']
    parts = [event(piece) for piece in said]
    with endpoint(lambda _, handler: stream(handler, parts, whole=False)) as played:
        items = streamed_items(model(played.url).stream(ASKED), "claims", ITEM)
        found, error = heard_until(item["text"] for item in items)
    assert (found, error.outcome) == (["One.", "Two."], "truncated")


def test_hanging_up_early_ends_the_exchange() -> None:
    """Whoever stops reading lets go of the connection."""
    ended = threading.Event()
    gone = threading.Event()

    def answer(_: object, handler: Any) -> None:
        try:
            stream(handler, _for_ever(event("x" * 50), ended))
        except OSError:
            gone.set()

    with endpoint(answer) as played:
        pieces = model(played.url).stream(PLAIN)
        assert next(pieces)
        pieces.close()  # type: ignore[attr-defined]
        assert gone.wait(20)
        ended.set()


def _echoes(_: object, handler: Any) -> None:
    """Send the key back wherever it may stand."""
    handler.wfile.write(
        f"HTTP/1.1 401 {KEY}\r\nX-Request-Id: {KEY}\r\nX-Echo: Bearer {KEY}\r\n"
        f"Set-Cookie: a={KEY}\r\nContent-Length: {len(KEY)}\r\n\r\n{KEY}".encode()
    )


def _breaks_protocol(_: object, handler: Any) -> None:
    """Send the key back where no header may stand."""
    handler.wfile.write(f"HTTP/1.1 200 OK\r\n{KEY} {KEY}\r\n\r\n".encode())
    handler.close_connection = True


@pytest.mark.parametrize(
    "answer",
    [
        _echoes,
        _breaks_protocol,
        status(400, {"error": {"message": KEY, "param": KEY}}),
        status(302, None, Location=f"http://127.0.0.1:9/{KEY}"),
        status(429, None, Retry_After=KEY),
        status(500, {"detail": KEY}),
        lambda *_: b'data: {"error": {"message": "' + KEY.encode() + b'"}}\n\n',
        lambda *_: b"data: " + KEY.encode() + b"\n\n",
        lambda *_: event(refusal=KEY, delta={"refusal": KEY}),
        lambda *_: spoken("Your key is sk-secr", "et-01", "23456789."),
    ],
)
def test_the_key_leaves_no_trace(answer: Answer, caplog: pytest.LogCaptureFixture) -> None:
    """Not in a message, a chain, a traceback, a repr, an identity, a piece, or any log line."""
    with caplog.at_level(logging.DEBUG), endpoint(answer) as played:
        asked = model(played.url, silence=2.0)
        pieces, error = heard_until(asked.stream(ASKED))
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next  # our own frame knows what the server was sent
    assert frames is not None
    told = traceback.TracebackException(type(error), error, frames, capture_locals=True)
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = [
        repr(asked), repr(asked.identity), str(error), repr(error), repr(vars(error)),
        "".join(told.format()), "".join(pieces), caplog.text, *(repr(vars(record)) for record in caplog.records),
    ]  # fmt: skip
    assert any(record.name.startswith("httpcore2") for record in caplog.records)
    assert [line for line in shown if KEY in line] == []


def test_a_piece_is_held_back_no_longer_than_needed() -> None:
    """What only begins like the key is answered in full."""
    with endpoint(lambda *_: spoken("It is ", "sk-", "sk-sec", "ond, sk-secret-")) as played:
        assert "".join(model(played.url).stream(PLAIN)) == "It is sk-sk-second, sk-secret-"


def test_a_word_that_is_given_for_a_key_is_no_secret() -> None:
    """Local servers are given any word, and may say it."""
    with endpoint(lambda *_: spoken("Ask ollama.")) as played:
        asked = OpenAiModel("m", Endpoint(played.url, "ollama"))
        assert list(asked.stream(PLAIN)) == ["Ask ollama."]


def test_the_identity_names_model_and_host() -> None:
    """The same for the same model there, another for another, whatever the key."""
    found = {
        name: OpenAiModel(name, Endpoint("https://api.example.com/v1", key)).identity
        for name, key in (("a", KEY), ("b", KEY))
    }
    again = OpenAiModel("a", Endpoint("https://api.example.com/v1", "another-key-0123")).identity
    assert found["a"] == again
    assert found["a"].name == "openai:a@api.example.com"
    assert (found["a"].role, len(found["a"].sha256)) == ("generator", 64)
    assert found["a"].sha256 != found["b"].sha256
    assert re.fullmatch(r"[0-9a-f]{64}", found["a"].sha256)


@pytest.mark.parametrize("name", ["", "  ", "a\nb"])
def test_names_that_cannot_be_used(name: str) -> None:
    """A model's name goes into records and messages: it is one printable line."""
    with pytest.raises(InputError):
        OpenAiModel(name, Endpoint("http://127.0.0.1:1/v1"))


def test_text_that_json_cannot_carry_is_sent_readable() -> None:
    """Half a surrogate pair in evidence does not stop the question."""
    with endpoint(good) as played:
        list(model(played.url).stream(Prompt("i\udc80", "fee \ud83d €")))
    assert [m["content"] for m in _messages(played)] == ["i?", "fee ? €"]


def _messages(played: Played) -> list[dict[str, str]]:
    (request,) = played.requests
    return list(request[2]["messages"])
