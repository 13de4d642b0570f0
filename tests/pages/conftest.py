"""A page on its own, over fake services: a counted pipeline and a small corpus."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from page_stage import ROOT, FakeServices, Stage, corpus_index
from streamlit.testing.v1 import AppTest

from certirag.core.generation import ModelIdentity


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Put the fake services behind the pages."""
    import ui.run
    from ui import services

    made = Stage()
    fake = FakeServices(
        SimpleNamespace(search=lambda *_, **__: SimpleNamespace(rows=())),
        models=(ModelIdentity("verifier", "fake", "1", "0" * 64),),
    )
    shared = services.Shared(fake)
    monkeypatch.setattr(services, "shared", lambda: shared)
    monkeypatch.setattr(services, "corpus_names", lambda: ("policy",))
    monkeypatch.setattr(services, "open_corpus", lambda name: corpus_index())
    monkeypatch.setattr(ui.run, "stream_answer", made.stream)
    monkeypatch.setattr(ui.run, "verify_draft", made.answer)
    return made


@pytest.fixture
def open_page(stage: Stage) -> Callable[..., AppTest]:
    """Return a function that runs the page of that name, with query parameters if given."""

    def opened(name: str, **query: str) -> AppTest:
        at = AppTest.from_file(str(ROOT / "app_pages" / f"{name}.py"), default_timeout=30)
        for key, value in query.items():
            at.query_params[key] = value
        return at.run()

    return opened
