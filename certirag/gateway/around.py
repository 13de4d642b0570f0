"""Around every request: its id, the bound on its body, what is counted of it, and its line."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from certirag.gateway.refusals import Refused
from certirag.gateway.telemetry import traced

if TYPE_CHECKING:
    from datetime import datetime

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from certirag.gateway.metrics import Measures

MAX_BODY: Final = 1_000_000  # bytes
BODY_SECONDS: Final = 30.0  # between two parts of a body
REQUESTS: Final = logging.getLogger("certirag.gateway.requests")  # a JSON line each, at INFO
_LOGGER: Final = logging.getLogger("certirag.gateway")


class Around:
    """ASGI middleware: a request's id, the bound on its body, what is counted of it and its line."""

    def __init__(
        self, app: ASGIApp, measures: Measures, now: Callable[[], datetime], *, log_text: bool
    ) -> None:
        self._app, self._measures, self._now, self._log_text = app, measures, now, log_text

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

        with traced("request", Headers(scope=scope)) as span:
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
                path = getattr(scope.get("route"), "path", "other")
                code = scope.get("certirag.code", "")
                span.answered(scope["method"], path, status, code)
                self._told(scope, path, status, code, time.perf_counter() - began)

    def _told(self, scope: Scope, path: str, status: int, code: str, seconds: float) -> None:
        self._measures.requests.labels(path, str(status), code).inc()
        self._measures.seconds.labels(path).observe(seconds)
        self._log(scope, {"route": path, "status": status, "code": code}, seconds)

    def _log(self, scope: Scope, line: dict[str, Any], seconds: float) -> None:
        """Write the request's line: what a client chose freely is in it only as text."""
        about = {name: _plain(scope.get(f"certirag.{name}")) for name in ("asked", "given")}
        given = about["given"]
        trace_id = (
            given.get("certirag", given)["trace_id"] if given else scope.get("certirag.trace")
        )
        line = {
            "at": self._now().isoformat(timespec="milliseconds"),
            "request_id": scope["certirag.request"],
            "trace_id": trace_id or "",
            **line,
            "seconds": round(seconds, 3),
            "key": scope.get("certirag.key", ""),
            **(about if self._log_text else {}),
        }
        REQUESTS.info("%s", json.dumps(line))


def _plain(of: BaseModel | dict[str, Any] | None) -> dict[str, Any] | None:
    return of.model_dump(mode="json") if isinstance(of, BaseModel) else of
