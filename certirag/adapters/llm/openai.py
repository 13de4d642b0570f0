"""A language model behind any OpenAI-compatible endpoint, through the official client."""

from __future__ import annotations

import hashlib
import json
import math
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from certirag.adapters.llm.endpoint import Endpoint
from certirag.adapters.llm.prompt_forms import Form, complaint_of, instructions_with_schema
from certirag.adapters.llm.stream_parser import Failed, Heard
from certirag.core.generation import ModelIdentity
from certirag.errors import InputError, LanguageModelError, MissingExtra
from certirag.ports import Prompt

if TYPE_CHECKING:
    from certirag.adapters.llm.transport import Waiting

KIND: Final = "openai"
VERSION: Final = "1"
_FIRST_DELAY: Final = 0.5  # seconds; twice as long each time
_WORTH_ANOTHER_TRY: Final = frozenset({"unreachable", "rate_limited", "server_error"})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often an endpoint is asked, in seconds, and how much of it is read.

    *silence* bounds a pause between two reads, *total* all waiting for one answer, its *tries*
    and the delays between them included; *wait* is the longest delay that a server may ask for.
    """

    connect: float = 10.0
    silence: float = 60.0
    total: float = 300.0
    tries: int = 3
    wait: float = 20.0
    max_characters: int = 200_000
    max_bytes: int = 16_000_000


class OpenAiModel:
    """Asks *name* at *endpoint* (its URL and key; its own bounds are not used) for a stream.

    Temperature 0 and a fixed seed, and the strict schema, as far as the server takes them: what
    one rejects is left out and told in words, and what it took is remembered. A failure before
    the first piece is tried again if another try may help, after delays that double; never a
    failure behind it. An answer is whole when the model said that it had ended; nothing else
    ends without LanguageModelError. The key is sent to the endpoint's host and appears nowhere:
    an answer that repeats it is refused. Safe between threads.

    Raises InputError for a name that cannot be used, MissingExtra without the client.
    """

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        *,
        patience: Patience | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not name.strip() or not name.isprintable():
            raise InputError(f"the language model's name {name!r} cannot be used")
        _import_client(name)
        self._name, self._endpoint, self._sleep = name, endpoint, sleep
        self._patience = patience or Patience()
        self._form = Form()
        secure = endpoint.url.casefold().startswith("https:")
        self._tls = ssl.create_default_context() if secure else None
        told = instructions_with_schema(Prompt("", "", schema={}))
        settings = [VERSION, name, endpoint.host, told, Form().request(name, Prompt("", ""))]
        self._identity = ModelIdentity(
            role="generator",
            name=f"{KIND}:{name}@{endpoint.host}",
            version=VERSION,
            sha256=hashlib.sha256(json.dumps(settings).encode("ascii")).hexdigest(),
        )

    @property
    def identity(self) -> ModelIdentity:
        """Name and host, and a digest of these and the settings; the weights prove nothing."""
        return self._identity

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the answer piece by piece; LanguageModelError, at once or half-way, for none."""
        from certirag.adapters.llm.transport import Waiting

        waiting = Waiting(self._patience.total)
        form, tries = self._form, 1
        while True:
            pieces = self._pieces(prompt, form, waiting)
            try:
                first, failed = next(pieces), None
            except Failed as error:
                first, failed = "", error
            if failed is None:
                self._form = form
                yield first
                yield from pieces
                return
            simpler = None
            if failed.complaint is not None:
                with_schema = prompt.schema is not None
                simpler = form.simpler(failed.complaint, with_schema=with_schema)
            if simpler is not None:
                form = simpler
            else:
                self._pause(failed, tries, waiting)
                tries += 1

    def _pause(self, failed: Failed, tries: int, waiting: Waiting) -> None:
        """Wait before the next try; LanguageModelError, as *failed*, if there is none."""
        delay = _FIRST_DELAY * 2 ** (tries - 1) if failed.wait is None else failed.wait
        hopeless = failed.outcome not in _WORTH_ANOTHER_TRY or tries >= self._patience.tries
        if hopeless or delay > self._patience.wait or delay >= waiting.left:
            raise LanguageModelError(failed.outcome, str(failed))
        waiting.left -= delay
        self._sleep(delay)

    def _pieces(self, prompt: Prompt, form: Form, waiting: Waiting) -> Iterator[str]:
        """Yield the non-empty pieces of one exchange, at least one; Failed for anything else."""
        import httpx2
        import openai

        from certirag.adapters.llm.transport import BoundedTransport

        endpoint, patience = self._endpoint, self._patience
        transport = BoundedTransport(
            key=endpoint.key, waiting=waiting, max_bytes=patience.max_bytes, tls=self._tls
        )
        times = httpx2.Timeout(patience.silence, connect=patience.connect)
        http = httpx2.Client(
            transport=transport, timeout=times, trust_env=False, follow_redirects=False
        )
        client = openai.OpenAI(  # the key is the transport's; nothing of the environment is used
            api_key="none",
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            base_url=endpoint.url,
            max_retries=0,
            http_client=http,
        )
        heard = Heard(endpoint.key, patience.max_characters)
        asked = form.request(self._name, prompt)
        chunks: Any = None
        try:
            chunks = self._tried(lambda: client.chat.completions.create(**asked), heard, waiting)
            while not isinstance(chunks, Failed):
                piece = self._tried(lambda: heard.next_of(chunks), heard, waiting)
                if isinstance(piece, Failed):
                    raise piece
                if piece is None:
                    return
                if piece:
                    yield piece
            raise chunks
        finally:
            if chunks is not None and not isinstance(chunks, Failed):
                chunks.close()
            client.close()

    def _tried(self, action: Callable[[], Any], heard: Heard, waiting: Waiting) -> Any:
        """Return what *action* returns, or how it failed: raised later, it drags nothing along."""
        try:
            return action()
        except Failed as failed:
            return failed.with_traceback(None)
        except Exception as error:  # noqa: BLE001  # whatever a server makes the client do
            return self._named(error, heard, waiting)

    def _named(self, error: Exception, heard: Heard, waiting: Waiting) -> Failed:
        """Return *error*, which may hold request, headers and body, as a failure in our words."""
        import openai

        from certirag.adapters.llm.transport import TooLong

        host, patience = self._endpoint.host, self._patience
        if isinstance(error, openai.APIStatusError):
            return self._refused_request(error)
        if waiting.over:
            return Failed("timed_out", f"{host} gave no whole answer in {patience.total:g} seconds")
        if isinstance(error, openai.APITimeoutError):
            return Failed("timed_out", f"{host} was silent for {patience.silence:g} seconds")
        if isinstance(error, openai.APIConnectionError):
            if heard.begun:
                return Failed("truncated", f"{host} hung up before the answer was whole")
            return Failed("unreachable", f"{host} cannot be reached; check CERTIRAG_LLM_URL")
        if isinstance(error, TooLong):
            message = f"the reply of {host} is longer than {patience.max_bytes} bytes"
            return Failed("truncated", message)
        if isinstance(error, openai.APIError):
            return Failed("server_error", f"{host} failed while it answered")
        message = f"the reply of {host} is no stream of answers ({type(error).__name__})"
        return Failed("malformed", message)

    def _refused_request(self, error: Any) -> Failed:
        """Return what a status other than 200 comes to, and which variable mends it."""
        host, status = self._endpoint.host, int(error.status_code)
        if status == 401:
            told = "set CERTIRAG_LLM_KEY to one that it accepts"
            return Failed("rejected", f"{host} does not accept the key, or the lack of one; {told}")
        if status == 403:
            told = f"CERTIRAG_LLM_KEY may not use the model {self._name!r}, or not from here"
            return Failed("rejected", f"{host} forbids the request: {told}")
        if status == 404:
            told = "check the model's name, and CERTIRAG_LLM_URL, which mostly ends in /v1"
            return Failed("rejected", f"{host} knows no model {self._name!r} at this URL; {told}")
        if status == 408:
            return Failed("timed_out", f"{host} gave up waiting for the request")
        if status == 429:
            wait = _seconds(error.response.headers.get("retry-after"))
            asks = "" if wait is None else f" and asks to wait {wait:g} seconds"
            return Failed("rate_limited", f"{host} has had too many requests{asks}", wait=wait)
        if status >= 500:
            wait = _seconds(error.response.headers.get("retry-after"))
            return Failed("server_error", f"{host} failed (status {status})", wait=wait)
        if status < 400:
            told = "CERTIRAG_LLM_URL must be the address itself; the key is not sent to another"
            return Failed("rejected", f"{host} redirects (status {status}): {told}")
        complaint = complaint_of(error.body) if status in {400, 422} else None
        message = (
            f"{host} rejects the request (status {status}); the model {self._name!r} may not take "
            "that much evidence, or that kind of request"
        )
        return Failed("rejected", message, complaint=complaint)


def _seconds(header: str | None) -> float | None:
    """Return the delay that a Retry-After in seconds asks for; None for any other."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0.0 else None


def _import_client(name: str) -> None:
    """Raise MissingExtra where the official client is not installed."""
    try:
        import openai  # noqa: F401
    except ImportError:
        message = (
            f"the language model {KIND}:{name} needs the package openai; "
            "install it with: pip install 'certirag[openai]'"
        )
        raise MissingExtra(message) from None
