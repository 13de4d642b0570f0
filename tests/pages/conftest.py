"""A page on its own, over fake services: a counted pipeline and a small corpus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest
from builders import FACTS, Statement, answer_export
from gate_cases import POLICY, TRUSTED, chunk
from streamlit.testing.v1 import AppTest

from certirag.core.models import ModelIdentity
from certirag.pipeline import SignedAnswer

ROOT = Path(__file__).resolve().parents[2]
STATEMENTS = (
    Statement(FACTS[0]),
    Statement(FACTS[1], "unsupported", "Travel handbook"),
    Statement("Full-time employees receive 30 days of leave.", "contradicted", "Old policy"),
)


@dataclass
class Stage:
    """What the fake pipeline answers with, and how often it was run."""

    export: bytes = field(default_factory=lambda: answer_export(STATEMENTS))
    error: Exception | None = None
    asked: list[str] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def answer(
        self, text, _index, _services, *, asked_policy, progress, question=""
    ) -> SignedAnswer:
        """Stand in for the pipeline: say a stage, count, then answer or fail."""
        self.asked.append(text)
        self.policies.append(asked_policy.name)
        self.questions.append(question)
        progress("a line with **markup** from somewhere", 3, 5)
        if self.error is not None:
            raise self.error
        return SignedAnswer("a" * 32, self.export)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Put the fake services behind the pages."""
    import ui.run
    from ui import services

    made = Stage()
    fake = SimpleNamespace(
        policy=POLICY, trusted=TRUSTED, models=(ModelIdentity("verifier", "fake", "1", "0" * 64),)
    )
    shared = services.Shared(fake)
    monkeypatch.setattr(services, "shared", lambda: shared)
    monkeypatch.setattr(services, "corpus_names", lambda: ("policy",))
    monkeypatch.setattr(services, "open_corpus", lambda name: corpus_index())
    monkeypatch.setattr(ui.run, "answer_question", made.answer)
    monkeypatch.setattr(ui.run, "verify_draft", made.answer)
    return made


def corpus_index(title: str = "Leave policy", reason: str = "notes.bin: not a text") -> object:
    """Return an index of one document, with one skipped file."""
    of = chunk()
    document = SimpleNamespace(
        doc_id=of.doc_id, title=title, path=f"in/{title}.md", sha256="ab" * 32, chunks=1
    )
    return SimpleNamespace(
        documents=(document,),
        skipped=(SimpleNamespace(path="notes.bin", reason=reason),),
        fingerprint="cd" * 32,
        chunks=lambda: (of,),
    )


@pytest.fixture
def open_page(stage: Stage) -> Callable[..., AppTest]:
    """Return a function that runs the page of that name, with query parameters if given."""

    def opened(name: str, **query: str) -> AppTest:
        at = AppTest.from_file(str(ROOT / "pages" / f"{name}.py"), default_timeout=30)
        for key, value in query.items():
            at.query_params[key] = value
        return at.run()

    return opened


def html_of(at: AppTest) -> str:
    """Return all HTML that the page drew, the style sheets left out."""
    bodies = [element.proto.body for element in at.get("html")]
    return "\n".join(body for body in bodies if "<style>" not in body)


def chips_of(at: AppTest) -> list[str]:
    """Return the labels of the claims' chips in order."""
    return [b.label for b in at.button if (b.key or "").startswith("chip-")]


def captions_of(at: AppTest) -> list[str]:
    """Return the page's captions."""
    return [caption.value for caption in at.caption]
