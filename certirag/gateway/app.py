"""The HTTP service: routes, and around them keys, limits, one shape of error, and measures."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeGuard, TypeVar
from urllib.parse import urlsplit

from fastapi import Depends, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from fastapi.telemetry import TelemetryConfig
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route

from certirag.core.text import sha256_hex
from certirag.errors import CertiRAGError
from certirag.gateway import chat, reviews
from certirag.gateway.access import Caller, RateLimit, caller_of
from certirag.gateway.around import Around
from certirag.gateway.gated import Gate, answer_response, refusal_of
from certirag.gateway.once import Once
from certirag.gateway.pack import verification_report
from certirag.gateway.qa import grounded_answer
from certirag.gateway.refusals import CODES, PROBLEM, Code, Refused
from certirag.gateway.waiting import LOOKED, ClientGone, Gone, watched
from certirag.gateway.wire import (
    AnswerRequest,
    AnswerResponse,
    ChatRequest,
    ErrorOut,
    GroundedAnswer,
    QaRequest,
    QueueOut,
    ReviewOut,
    ReviewRequest,
    VerificationReport,
    VerifyRequest,
    WaitingOut,
)

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from pydantic import BaseModel
    from starlette.types import ASGIApp, Receive, Scope, Send

    from certirag.gateway.access import KeyRecord

T = TypeVar("T")
# What FastAPI itself would trace and log has addresses and exceptions in it: `telemetry` has neither.
_NO_TELEMETRY: Final[TelemetryConfig] = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "auto_configure": False,
}
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_DOCUMENTED: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorOut, "description": "; ".join(sorted(codes))}
    for status, codes in (
        (note.status, [code for code, other in CODES.items() if other.status == note.status])
        for note in CODES.values()
    )
}


async def _caller(request: Request) -> Caller:
    """Return whose key was sent, once it may ask again."""
    keys = request.app.state.keys
    if keys is None and not _LOOPBACK.issuperset((_host(request), _origin(request))):
        raise Refused("NOT_AUTHORISED", "Without keys this server answers localhost alone.")
    found = caller_of(request.headers.get("authorization", ""), keys)
    request.scope["certirag.key"] = found.name
    request.app.state.limit.take(found)
    return found


By = Annotated[Caller, Depends(_caller)]


@dataclass(frozen=True, slots=True)
class _Asking:
    """A request that is worked for: *by* whom, and under which idempotency *key*, if any."""

    request: Request
    by: Caller
    key: str | None


async def _asking(
    request: Request,
    by: By,
    idempotency_key: Annotated[str | None, Header(pattern=r"^[!-~]{1,255}$")] = None,
) -> _Asking:
    return _Asking(request, by, idempotency_key)


Asking = Annotated[_Asking, Depends(_asking)]


async def _require_json(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused("NOT_JSON")


def gateway_app(
    gate: Gate, keys: tuple[KeyRecord, ...] | None, *, log_text: bool = False
) -> FastAPI:
    """Return the service; without *keys* it answers what is addressed to loopback alone.

    `REQUESTS` gets a line for each request, with what was asked and given where *log_text*.
    """
    handler = _mcp_handler(gate)
    app = FastAPI(
        lifespan=None if handler is None else lambda _app: handler.run(),
        telemetry=_NO_TELEMETRY,
        title="CertiRAG gateway",
        version="1",
        description="Only statements that the sources support leave.",
        docs_url=None,
        redoc_url=None,
    )
    app.state.keys, app.state.limit = keys, RateLimit(time.monotonic, gate.together)
    once = Once(time.monotonic)
    asks: dict[str, Any] = {"responses": _DOCUMENTED, "dependencies": [Depends(_require_json)]}

    @app.post("/v1/answer", **asks)
    async def answer(body: AnswerRequest, asking: Asking) -> AnswerResponse:
        """Answer from the allowed sources, or gate an answer that somebody else gave."""

        def work(gone: Gone) -> AnswerResponse:
            by = asking.by
            asked = gate.asked(
                by,
                body.question,
                corpus=body.corpus,
                sources=body.sources,
                profile=body.profile,
                between=body.between,
                draft=body.answer,
            )
            shown = gate.presented(by, asked, gone)
            reviews.require_leave(gate, by, asked, shown, max_citations=body.max_citations)
            trace_id = shown.record.trace_id
            inline = body.certificate == "inline"
            certificate = gate.export(by, trace_id) if inline else f"/v1/certificates/{trace_id}"
            return answer_response(
                shown, asked, max_citations=body.max_citations, certificate=certificate
            )

        return await _answered(once, asking, body, gate, work)

    @app.post("/qa", **asks)
    async def qa(body: QaRequest, asking: Asking) -> GroundedAnswer:
        """Answer as RFC-0004 has it; where the sources do not support one, abstain and say why."""

        def work(gone: Gone) -> GroundedAnswer:
            by = asking.by
            asked = gate.asked(
                by, body.query, corpus=body.corpus, sources=body.sources, profile=body.profile
            )
            shown = gate.presented(by, asked, gone)
            return grounded_answer(shown, asked.profile, brief=body.mode == "brief")

        return await _answered(once, asking, body, gate, work)

    @app.post("/qa/verify", **asks)
    async def verify(body: VerifyRequest, asking: Asking) -> VerificationReport:
        """Verify an answer that somebody gave, claim by claim, against the pack that comes with it."""

        def work(gone: Gone) -> VerificationReport:
            return verification_report(body, asking.by, gate, gone)

        return await _answered(once, asking, body, gate, work)

    @app.post("/v1/chat/completions", response_model=None, **asks)
    async def complete(body: ChatRequest, asking: Asking) -> Response:
        """Complete a chat; of the model's reply only certified statements are passed on."""

        def work(gone: Gone) -> dict[str, Any]:
            return chat.completion(body, asking.by, gate, gone)

        whole = await _answered(once, asking, body, gate, work)
        if body.stream:
            return StreamingResponse(chat.events(whole), media_type="text/event-stream")
        return JSONResponse(whole)

    started = int(time.time())

    @app.get("/v1/models", responses=_DOCUMENTED)
    async def models(_by: By) -> dict[str, Any]:
        """Return the models that a chat completion may ask."""
        return chat.model_list(gate.services.settings, started)

    @app.get("/v1/certificates/{trace_id}", responses=_DOCUMENTED)
    def certificate(trace_id: str, by: By) -> dict[str, Any]:
        """Return the signed export of an answer that was given to the same key."""
        return gate.export(by, trace_id)

    _add_reviews(app, gate, asks)
    _add_probes(app, gate)
    if handler is not None:

        @app.post("/mcp", include_in_schema=False, dependencies=asks["dependencies"])
        async def mcp(request: Request, by: By) -> Response:
            request.state.caller = by
            return _Handed(handler.handle_request)

    _say_errors(app)
    gate.measures.begin(route.path for route in app.routes if _takes_work(route))
    app.add_middleware(Around, measures=gate.measures, now=gate.services.now, log_text=log_text)
    return app


def _add_reviews(app: FastAPI, gate: Gate, asks: dict[str, Any]) -> None:
    @app.get("/v1/reviews", responses=_DOCUMENTED)
    def waiting(by: By) -> QueueOut:
        """Return to a reviewer the answers that wait for a decision."""
        return reviews.queue(gate, by)

    @app.get("/v1/reviews/{trace_id}", responses=_DOCUMENTED)
    def review(trace_id: str, by: By) -> AnswerResponse | WaitingOut:
        """Return what a reviewer let leave to who asked for it; to a reviewer, what waits."""
        return reviews.reviewed(gate, by, trace_id)

    @app.post("/v1/reviews/{trace_id}", **asks)
    def decide(trace_id: str, body: ReviewRequest, by: By) -> ReviewOut:
        """Let the supported statements of a waiting answer leave, or nothing of it."""
        return reviews.decided(gate, by, trace_id, body)


def _takes_work(route: BaseRoute) -> TypeGuard[Route]:
    return isinstance(route, Route) and "POST" in (route.methods or ())


def _add_probes(app: FastAPI, gate: Gate) -> None:
    @app.get("/livez", include_in_schema=False)
    @app.get("/startupz", include_in_schema=False)
    async def live() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", include_in_schema=False)
    def ready() -> dict[str, str]:
        gate.services.audit_log.size()  # AuditError where no answer could be logged
        if not gate.corpora.names():
            raise Refused("UNKNOWN_CORPUS", "No corpus was ingested.")
        return {"status": "ready"}

    @app.get("/metrics", include_in_schema=False)
    async def metrics(_by: By) -> Response:
        return Response(gate.measures.page(), media_type=CONTENT_TYPE_LATEST)


def _host(request: Request) -> str:
    """Return the host that the request is addressed to, without its port."""
    return _without_port(request.headers.get("host", ""))


def _origin(request: Request) -> str:
    """Return the host of the page that asks; a browser always says which one, others do not."""
    try:
        return _without_port(urlsplit(request.headers.get("origin", "http://localhost")).netloc)
    except ValueError:  # no address at all
        return ""


def _without_port(authority: str) -> str:
    host = authority.lower()
    return host if host.endswith("]") else host.rpartition(":")[0] or host


def _mcp_handler(gate: Gate) -> StreamableHTTPSessionManager | None:
    """Return what answers ``/mcp``, each request for itself; None without the extra 'mcp'."""
    if find_spec("mcp") is None:
        return None
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415

    from certirag.gateway.mcp_tools import mcp_server  # noqa: PLC0415

    return StreamableHTTPSessionManager(mcp_server(gate), json_response=True, stateless=True)


class _Handed(Response):
    """A response that another ASGI application sends, once the request has passed our checks."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer."""
        await self._app(scope, receive, send)


async def _answered(
    once: Once, asking: _Asking, body: BaseModel, gate: Gate, work: Callable[[Gone], T]
) -> T:
    """Return what `_once` does, and note for the request's line what it was about."""
    scope = asking.request.scope
    scope["certirag.asked"] = body
    given = await _once(once, asking, body, gate, work)
    scope["certirag.given"] = given
    return given


async def _once(
    once: Once, asking: _Asking, body: BaseModel, gate: Gate, work: Callable[[Gone], T]
) -> T:
    """Return what comes of *work*, or came of it where the same was asked under the same key.

    Whoever comes second waits for the first, and takes over where that one's client has left.
    """
    request, name, key = asking.request, asking.by.name, asking.key
    if key is None:
        return await watched(gate.places, work, request.is_disconnected)
    digest = sha256_hex(f"{request.url.path}\n{body.model_dump_json()}")
    while True:
        turn = once.turn(name, key, digest)
        if turn.first:
            try:
                given = await watched(gate.places, work, request.is_disconnected)
            except BaseException as error:
                once.settle(name, key, error)
                raise
            once.settle(name, key, given)
            return given
        coming = asyncio.wrap_future(turn.outcome)
        while not (await asyncio.wait({coming}, timeout=LOOKED))[0]:
            if await request.is_disconnected():
                raise ClientGone("the request was cancelled")
        try:
            found = coming.result()
        except ClientGone:
            continue
        if isinstance(found, Refused):
            raise replace(found)  # each raises its own: Python writes a traceback onto it
        repeated: T = found
        return repeated


def _say_errors(app: FastAPI) -> None:
    """Give every error the one shape."""

    def said(request: Request, refused: Refused) -> Response:
        trace_id = request.scope.get("certirag.request", "")
        problem = PROBLEM in request.headers.get("accept", "")
        body = refused.problem(trace_id) if problem else refused.body(trace_id)
        return JSONResponse(
            body,
            refused.status,
            headers=refused.headers,
            media_type=PROBLEM if problem else "application/json",
        )

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> Response:
        request.scope["certirag.code"] = error.code
        request.scope["certirag.trace"] = error.trace_id
        return said(request, error)

    @app.exception_handler(CertiRAGError)
    async def failed(request: Request, error: CertiRAGError) -> Response:
        if isinstance(error, ClientGone):
            return Response(status_code=499)  # nobody is there to read it
        return await refused(request, refusal_of(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
        return await refused(request, Refused("BAD_REQUEST", f"{place[:200]}: {first['msg']}"))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        codes: dict[int, Code] = {
            404: "NOT_FOUND",
            405: "METHOD_NOT_ALLOWED",
            408: "TOO_SLOW",
            413: "TOO_LARGE",
        }
        found = Refused(codes.get(error.status_code, "BAD_REQUEST"))
        found.headers.update(error.headers or {})
        return await refused(request, found)
