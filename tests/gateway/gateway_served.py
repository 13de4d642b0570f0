"""The gateway over two small corpora, with networks replaced by counted words."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import uvicorn
from fakes import AlignedWords, FakeEmbedder, WordReader
from fastapi import FastAPI
from starlette.testclient import TestClient

from certirag.answers.services import AnswerWriter, Services
from certirag.bootstrap import build_services, ingest_paths
from certirag.core.generation import ModelIdentity
from certirag.gateway.access import KeyRecord, add_key, read_keys
from certirag.gateway.allowed import Corpora
from certirag.gateway.app import gateway_app
from certirag.gateway.gated import Gate
from certirag.gateway.profiles import load_profile
from certirag.ports import LanguageModel
from certirag.settings import Settings

PUBLIC = "The refund is paid within 14 days. Entry costs 12 euros for adults."
HIDDEN = "The merger with Ostrava Glass closes in March. The refund is paid within 90 days."
NOTICE = """# Notice on mileage

The standard rate for business travel in 2025 is 70 cents per mile. It was 67 cents in 2024.
"""
TAX = {"question": "What is the standard rate for business travel in 2025?", "corpus": "tax"}


class Order:
    """A reranker that keeps the order."""

    identity = ModelIdentity("reranker", "order", "1", "1" * 64)

    def score(self, _query: str, texts: Sequence[str]) -> Sequence[float]:
        return [1.0 / (n + 1) for n in range(len(texts))]


@dataclass
class Served:
    """A gateway's parts, for tests that replace one of them."""

    home: Path
    services: Services
    gate: Gate

    def app(self) -> FastAPI:
        return gateway_app(self.gate, read_keys(self.home))

    def client(self, key: str = "") -> TestClient:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return TestClient(
            self.app(), "http://localhost", headers=headers, raise_server_exceptions=False
        )

    def key(self, name: str, **what: object) -> str:
        record = KeyRecord(name, "", **{"profile": "casual", **what})  # type: ignore[arg-type]
        return add_key(self.home, record)

    def with_services(self, **parts: object) -> Served:
        services = replace(self.services, **parts)  # type: ignore[arg-type]
        gate = Gate(services, Corpora(self.home / "indexes", services), self.gate.profile, 16)
        return Served(self.home, services, gate)

    def before(self, model: LanguageModel) -> Served:
        """Return the gateway in front of *model*, which is asked by the name ``small``."""
        settings = replace(self.services.settings, generator="openai:small")
        return self.with_services(settings=settings, writer=AnswerWriter(model, "interleaved", {}))


def _services(home: Path) -> Services:
    return replace(
        build_services(Settings(home=home, verifier="embedded", reader="embedded")),
        embedder=FakeEmbedder(),
        verifier=AlignedWords(),
        reader=WordReader(),
        reranker=Order(),
    )


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the corpora ``town`` (two documents) and ``tax`` (one), read once for all tests."""
    folder = tmp_path_factory.mktemp("ingested")
    services = _services(folder / "home")
    files = {"town": {"public.txt": PUBLIC, "secret.txt": HIDDEN}, "tax": {"notice.md": NOTICE}}
    for corpus, documents in files.items():
        (folder / corpus).mkdir()
        for name, text in documents.items():
            (folder / corpus / name).write_text(text, "utf-8")
        index = folder / "home" / "indexes" / corpus
        ingest_paths([folder / corpus], index, services, lambda *_: None)
    return folder / "home"


@pytest.fixture
def served(tmp_path: Path, ingested: Path) -> Served:
    """A gateway without keys over a copy of the corpora; nothing was asked of it yet."""
    home = tmp_path / "home"
    shutil.copytree(ingested, home)
    services = _services(home)
    corpora = Corpora(home / "indexes", services)
    return Served(home, services, Gate(services, corpora, load_profile("casual"), 16))


@pytest.fixture
def listening() -> Iterator[Callable[[FastAPI], str]]:
    """Serve an app on a free port of loopback; the call returns its URL."""
    running: list[tuple[uvicorn.Server, threading.Thread]] = []

    def serve(app: FastAPI) -> str:
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    yield serve
    for server, thread in running:
        server.should_exit = True
        thread.join(10)


def refused_as(response: object, status: int, code: str) -> dict[str, str]:
    """Return the error of a response that has *status* and *code*, in the one shape."""
    assert response.status_code == status, response.text  # type: ignore[attr-defined]
    error: dict[str, str] = response.json()["error"]  # type: ignore[attr-defined]
    assert set(error) == {"code", "message", "trace_id", "project"}
    assert (error["code"], error["project"]) == (code, "certirag")
    assert error["message"]
    assert error["trace_id"]
    return error
