"""The fake pipeline and corpus behind the pages' tests, and what a page drew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from builders import FACTS, Statement, answer_export
from gate_cases import POLICY, TRUSTED, chunk
from lxml.html import fragment_fromstring
from streamlit.testing.v1 import AppTest

from certirag.answers.services import SignedAnswer
from certirag.core.generation import ModelIdentity
from certirag.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
STATEMENTS = (
    Statement(FACTS[0]),
    Statement(FACTS[1], "unsupported", "Travel handbook"),
    Statement("Full-time employees receive 30 days of leave.", "contradicted", "Old policy"),
)


@dataclass
class FakeServices:
    """What the pages read of the services."""

    audit_log: object
    trusted: object = field(default_factory=lambda: TRUSTED)
    policy: object = POLICY
    models: tuple[ModelIdentity, ...] = ()
    writer: object = None
    settings: Settings = field(default_factory=Settings)


@dataclass
class Stage:
    """What the fake pipeline answers with, and how often it was run."""

    export: bytes = field(default_factory=lambda: answer_export(STATEMENTS))
    error: BaseException | None = None
    trace: str = "a" * 32
    asked: list[str] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    given: list[object] = field(default_factory=list)

    def answer(self, text, _index, given, *, asked_policy, progress, question="") -> SignedAnswer:
        """Stand in for the pipeline: say a stage, count, then answer or fail."""
        self.asked.append(text)
        self.policies.append(asked_policy.name)
        self.questions.append(question)
        self.given.append(given)
        progress("a line with **markup** from somewhere", 3, 5)
        if self.error is not None:
            raise self.error
        return SignedAnswer(self.trace, self.export)

    def stream(self, *given, **named) -> Iterator[SignedAnswer]:
        """Stand in for the pipeline that asks no language model: one part, and that is whole."""
        yield self.answer(*given, **named)


def corpus_index(title: str = "Leave policy", reason: str = "notes.bin: not a text") -> object:
    """Return an index of one document, with one skipped file."""
    of = chunk()
    document = SimpleNamespace(
        doc_id=of.doc_id,
        title=title,
        path=f"in/{title}.md",
        sha256="ab" * 32,
        chunks=1,
        versions=(),
    )
    return SimpleNamespace(
        documents=(document,),
        skipped=(SimpleNamespace(path="notes.bin", reason=reason),),
        fingerprint="cd" * 32,
        foreign=False,
        sources=(),
        chunks=lambda: (of,),
    )


def html_of(at: AppTest) -> str:
    """Return all HTML that the page drew, the style sheets left out."""
    bodies = [element.proto.body for element in at.get("html")]
    return "\n".join(body for body in bodies if "<style>" not in body)


def ours_of(bodies: str) -> tuple[str, set[str]]:
    """Return the text and the classes of HTML beyond texts from outside; these hold no element."""
    tree = fragment_fromstring(bodies, create_parent="div")
    for quoted in tree.find_class("cr-inert"):
        assert [child.tag for child in quoted] == []
        quoted.text = ""
    classes = {name for element in tree.iter() for name in element.get("class", "").split()}
    return tree.text_content(), classes


def chips_of(at: AppTest) -> list[str]:
    """Return the badges of the claims' chips in order, without the claims' numbers."""
    chips = [b.label for b in at.button if (b.key or "").startswith("chip-")]
    assert len(set(chips)) == len(chips), "each chip has a name of its own"
    return [label.partition(" · claim ")[0] for label in chips]


def captions_of(at: AppTest) -> list[str]:
    """Return the page's captions."""
    return [caption.value for caption in at.caption]
