"""The HTTP service: routes, and around them keys, limits, one shape of error, and measures."""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from anyio.to_thread import run_sync
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from certirag.errors import CertiRAGError
from certirag.gateway import chat
from certirag.gateway.access import Caller, RateLimit, caller_of
from certirag.gateway.gated import (
    ClientGone,
    Gate,
    Gone,
    answer_response,
    refusal_of,
    require_allowed,
)
from certirag.gateway.qa import grounded_answer
from certirag.gateway.refusals import CODES, PROBLEM, Code, Refused
from certirag.gateway.wire import (
    AnswerRequest,
    AnswerResponse,
    ChatRequest,
    ErrorOut,
    GroundedAnswer,
    QaRequest,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from certirag.gateway.access import KeyRecord
    from certirag.gateway.measures import Measures

T = TypeVar("T")
MAX_BODY: Final = 1_000_000  # bytes
BODY_SECONDS: Final = 30.0  # between two parts of a body
_LOGGER: Final = logging.getLogger("certirag.gateway")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_WATCHED: Final = 0.5  # seconds between two looks at whether the client is still there
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
    if keys is None and _host(request) not in _LOOPBACK:
        raise Refused("NOT_AUTHORISED", "Without keys this server answers localhost alone.")
    found = caller_of(request.headers.get("authorization", ""), keys)
    request.app.state.limit.take(found)
    return found


By = Annotated[Caller, Depends(_caller)]


async def _require_json(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused("NOT_JSON")


def gateway_app(gate: Gate, keys: tuple[KeyRecord, ...] | None) -> FastAPI:
    """Return the service; without *keys* it answers what is addressed to loopback alone."""
    app = FastAPI(
        title="CertiRAG gateway",
        version="1",
        description="Only statements that the sources support leave.",
        docs_url=None,
        redoc_url=None,
    )
    app.state.keys, app.state.limit = keys, RateLimit(time.monotonic, gate.together)
    asks: dict[str, Any] = {"responses": _DOCUMENTED, "dependencies": [Depends(_require_json)]}

    @app.post("/v1/answer", **asks)
    async def answer(body: AnswerRequest, request: Request, by: By) -> AnswerResponse:
        """Answer from the allowed sources, or gate an answer that somebody else gave."""

        def work(gone: Gone) -> AnswerResponse:
            asked = gate.asked(
                by,
                body.question,
                corpus=body.corpus,
                sources=body.sources,
                profile=body.profile,
                draft=body.answer,
            )
            shown = gate.presented(by, asked, gone)
            require_allowed(shown, asked.profile, answers=body.answer is None)
            trace_id = shown.record.trace_id
            inline = body.certificate == "inline"
            certificate = gate.export(by, trace_id) if inline else f"/v1/certificates/{trace_id}"
            return answer_response(
                shown, asked, max_citations=body.max_citations, certificate=certificate
            )

        return await _watched(request, gate, work)

    @app.post("/qa", **asks)
    async def qa(body: QaRequest, request: Request, by: By) -> GroundedAnswer:
        """Answer as RFC-0004 has it; where the sources do not support one, abstain and say why."""

        def work(gone: Gone) -> GroundedAnswer:
            asked = gate.asked(
                by, body.query, corpus=body.corpus, sources=body.sources, profile=body.profile
            )
            shown = gate.presented(by, asked, gone)
            return grounded_answer(shown, asked.profile, brief=body.mode == "brief")

        return await _watched(request, gate, work)

    @app.post("/v1/chat/completions", response_model=None, **asks)
    async def complete(body: ChatRequest, request: Request, by: By) -> Response:
        """Complete a chat; of the model's reply only certified statements are passed on."""
        whole = await _watched(request, gate, lambda gone: chat.completion(body, by, gate, gone))
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

    _say_errors(app)
    app.add_middleware(_Bounded, measures=gate.measures)
    return app


def _host(request: Request) -> str:
    """Return the host that the request is addressed to, without its port."""
    host = request.headers.get("host", "").lower()
    return host if host.endswith("]") else host.rpartition(":")[0] or host


async def _watched(request: Request, gate: Gate, work: Callable[[Gone], T]) -> T:
    """Run *work* in a place of *gate*, in a thread; it is told to stop when the client has left.

    The threads are of their own and no fewer than there are places: probes need none of them.
    """
    gone = threading.Event()

    def placed() -> T:
        with gate.place():
            return work(gone.is_set)

    task = asyncio.create_task(run_sync(placed, limiter=gate.threads))
    while not (await asyncio.wait({task}, timeout=_WATCHED))[0]:
        if await request.is_disconnected():
            gone.set()
    return task.result()


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


class _Bounded:
    """ASGI middleware: a request's id, the bound on its body, and what is counted of it."""

    def __init__(self, app: ASGIApp, measures: Measures) -> None:
        self._app, self._measures = app, measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on with a body of at most `MAX_BODY` bytes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, seen, whole, started = time.perf_counter(), 0, False, False
        scope["certirag.request"] = secrets.token_hex(16)
        status = 500

        async def bounded() -> Message:
            nonlocal seen, whole
            if whole:  # what comes now is that the client leaves, whenever it does
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), BODY_SECONDS)
            except TimeoutError as error:
                raise HTTPException(408) from error
            whole = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > MAX_BODY:
                raise HTTPException(413)
            return message

        async def counted(message: Message) -> None:
            nonlocal status, started
            if message["type"] == "http.response.start":
                status, started = message["status"], True
                name = (b"x-request-id", scope["certirag.request"].encode("ascii"))
                message["headers"] = [*message.get("headers", ()), name]
            await send(message)

        try:
            await self._app(scope, bounded, counted)
        except Exception:
            if started:
                raise
            scope["certirag.code"] = "INTERNAL"
            told = JSONResponse(Refused("INTERNAL").body(scope["certirag.request"]), 500)
            await told(scope, bounded, counted)
            _LOGGER.exception("a request failed that should not")
        finally:
            route = scope.get("route")
            path = getattr(route, "path", "other")
            code = scope.get("certirag.code", "")
            self._measures.requests.labels(path, str(status), code).inc()
            self._measures.seconds.labels(path).observe(time.perf_counter() - began)
