"""A paragraph is written from Verified claims alone, and what of it fails the gate is not shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_language_model import FakeLanguageModel, prompt_text
from integration_fixtures import Bench

from certirag.answers.follow_ups import prose_of, write_prose
from certirag.answers.pipeline import answer_question
from certirag.answers.services import AnswerWriter, Services
from certirag.checker import check
from certirag.errors import InputError, LanguageModelError
from certirag.proof.certificate import open_export

_QUESTION = "How many days of annual leave do full-time employees receive?"


@pytest.fixture
def answered(bench: Bench) -> bytes:
    """Return an answer with at least one Verified claim."""
    export = answer_question(_QUESTION, bench.index("policy"), bench.services).export
    assert _verified(export, bench.services)
    return export


def _verified(export: bytes, services: Services) -> list[str]:
    record = open_export(export, services.trusted)
    states = {d.claim_id: d.render_state for d in record.decisions}
    return [c.text for c in record.claim_ir.claims if states[c.id] == "VERIFIED"]


def _with(services: Services, *answers: object) -> tuple[Services, FakeLanguageModel]:
    model = FakeLanguageModel(*answers)  # type: ignore[arg-type]
    writer = AnswerWriter(model, "interleaved", {"prose": prompt_text("prose")})
    return replace(services, writer=writer), model


def test_what_the_model_adds_is_checked_and_falls(bench: Bench, answered: bytes) -> None:
    """The sentence that the evidence bears out stays; the invented one is not shown."""
    true = _verified(answered, bench.services)[0]
    writing, model = _with(bench.services, f"{true} Every employee also receives a company car.")
    written = write_prose(answered, bench.index("policy"), writing)
    shown = prose_of(written.export, writing)
    assert true in shown
    assert "company car" not in shown
    assert "company car" in open_export(written.export, bench.services.trusted).claim_ir.draft
    assert check(written.export, bench.services.trusted).verdict == "VALID"
    (prompt,) = model.prompts
    assert true in prompt.content
    assert _QUESTION not in prompt.content


def test_a_paragraph_of_inventions_shows_nothing(bench: Bench, answered: bytes) -> None:
    """Fluency is no evidence."""
    writing, _ = _with(
        bench.services, "Employees receive 90 days of leave. Dragons guard the office."
    )
    written = write_prose(answered, bench.index("policy"), writing)
    assert prose_of(written.export, writing) == ""


def test_without_a_model_or_an_answer_there_is_no_paragraph(bench: Bench, answered: bytes) -> None:
    """Each is one clear line; a model that fails leaves the answer as it was."""
    index = bench.index("policy")
    with pytest.raises(InputError, match="language model"):
        write_prose(answered, index, bench.services)
    writing, _ = _with(bench.services, LanguageModelError("unreachable", "nobody is there"))
    with pytest.raises(LanguageModelError, match="nobody"):
        write_prose(answered, index, writing)
    refused = answer_question("Who won the chess final of 1931?", index, bench.services).export
    with pytest.raises(InputError, match="no claim"):
        write_prose(refused, index, writing)
