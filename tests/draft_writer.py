"""A language model that writes a recorded draft, planted errors included, whatever it is shown.

Asked by any strategy for an answer to the draft's question, it says the draft's own sentences and
points each at the evidence that looks most like it. Where a claim of such an answer came from is
found again by its sentence, so that planted errors are counted as in the draft itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from fake_language_model import prompt_text
from integration_fixtures import Bench
from planted_counts import touched_errors

from certirag.answers.draft import PROMPT_OF
from certirag.answers.pipeline import stream_answer
from certirag.answers.services import AnswerWriter, SignedAnswer
from certirag.core.claim import Claim
from certirag.core.generation import ModelIdentity, Strategy
from certirag.core.text import sha256_hex
from certirag.ports import Prompt, SentenceSplitter
from certirag.proof.certificate import AnswerRecord, open_export

_BLOCK: Final = re.compile(
    r"^<(?P<label>[^\n/]+) (?P<code>[0-9a-f]{16,64})>\n(?P<text>.*?)\n</(?P=label) (?P=code)>",
    re.M | re.S,
)
_WORD: Final = re.compile(r"\w+(?:[.,]\d+)*")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a draft: ``draft[start:end] == text``."""

    text: str
    start: int
    end: int


def sentences_of(draft: str, split: SentenceSplitter) -> list[Sentence]:
    """Return the sentences of *draft*, line by line."""
    found = []
    start = 0
    for line in draft.split("\n"):
        found += [Sentence(line[a:b], start + a, start + b) for a, b in split(line)]
        start += len(line) + 1
    return [sentence for sentence in found if sentence.text.strip()]


class DraftWriter:
    """Writes *draft* by *strategy*; *alter* changes its last quote (strict quotes only).

    *asked* counts the requests.
    """

    def __init__(
        self, draft: dict, strategy: Strategy, split: SentenceSplitter, *, alter: bool = False
    ) -> None:
        self.identity = ModelIdentity("generator", "draft-writer", "1", sha256_hex("draft-writer"))
        self.sentences = sentences_of(draft["text"], split)
        self.asked = 0
        self.strategy, self._alter, self._draft = strategy, alter, draft["text"]

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the whole answer at once."""
        self.asked += 1
        blocks = {m["label"]: m["text"] for m in _BLOCK.finditer(prompt.content)}
        yield {
            "interleaved": self._one,
            "generate-then-cite": self._all,
            "strict-quote": self._quoted,
        }[self.strategy](blocks)

    def _one(self, blocks: Mapping[str, str]) -> str:
        """Say the sentence of the draft that is closest to the one shown; it never says nothing."""
        return max(self.sentences, key=lambda s: _alike(s.text, blocks["sentence"])).text

    def _all(self, blocks: Mapping[str, str]) -> str:
        """Say every sentence, each citing the evidence that looks most like it."""
        shown = {
            int(label.split()[1]): text
            for label, text in blocks.items()
            if label.startswith("evidence ")
        }
        claims = []
        for sentence in self.sentences:
            closest = max(shown, key=lambda n: _alike(sentence.text, shown[n]))
            claims.append({"text": sentence.text, "citations": [closest]})
        return json.dumps({"claims": claims})

    def _quoted(self, blocks: Mapping[str, str]) -> str:
        """Say every sentence with the closest line of a source as its exact, or altered, quote."""
        lines = [
            (label.removeprefix("source "), line)
            for label, text in blocks.items()
            if label.startswith("source ")
            for line in text.split("\n")
            if len(line.split()) >= 3
        ]
        said = ""
        before = self.sentences[0]
        for sentence in self.sentences:
            name, quote = max(lines, key=lambda own: _alike(sentence.text, own[1]))
            if self._alter and sentence is self.sentences[-1]:
                quote = altered(quote)  # one is enough
            words = sentence.text.rstrip(".!?")
            end = sentence.text[len(words) :]
            gap = "\n" if "\n" in self._draft[before.end : sentence.start] else " "
            said += f"{gap if said else ''}{words} ({quote}) [[{name}]]{end}"
            before = sentence
        return said


@dataclass(frozen=True)
class Written:
    """A draft as one strategy wrote it: every part of the answer, and what the model did."""

    draft: dict
    model: DraftWriter | None
    parts: tuple[AnswerRecord, ...]
    last: SignedAnswer

    @property
    def record(self) -> AnswerRecord:
        """The last part; where that quotes the documents instead, the one before it, if any."""
        quotes = self.model is not None and self.parts[-1].generation.quoted
        return self.parts[-2] if quotes and len(self.parts) > 1 else self.parts[-1]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the model wrote; without one, all claims."""
        generation = self.record.generation
        quoted = () if generation is None else generation.quoted
        return tuple(c for c in self.record.claim_ir.claims if c.id not in quoted)


def wrote(
    bench: Bench, draft: dict, strategy: Strategy | None, *, model: DraftWriter | None = None
) -> Written:
    """Ask the draft's question of its corpus; without a *strategy* no model takes part."""
    services = bench.services
    if strategy is not None:
        model = model or DraftWriter(draft, strategy, services.split)
        prompts = {name: prompt_text(name) for name in PROMPT_OF.values()}
        services = replace(services, writer=AnswerWriter(model, strategy, prompts))
    answers = list(stream_answer(draft["question"], bench.index(draft["corpus"]), services))
    parts = tuple(open_export(answer.export, services.trusted) for answer in answers)
    assert [answer.complete for answer in answers] == [*[False] * (len(answers) - 1), True]
    return Written(draft, model, parts, answers[-1])


def altered(quote: str) -> str:
    """Return *quote* with its first digit changed, or its first word if it has none."""
    changed = re.sub(r"\d", lambda m: str((int(m.group()) + 1) % 10), quote, count=1)
    return changed if changed != quote else re.sub(r"\w+", "Nevertheless", quote, count=1)


def written_errors(claim: Claim, own: Written) -> set[int]:
    """Return the numbers of the draft's planted errors that *claim* of a written answer touches.

    Its words are looked up in the draft, sentence by sentence; AssertionError where it has none
    of them.
    """
    assert own.model is not None
    text = own.record.claim_ir.draft
    found: set[int] = set()
    places = 0
    for sentence in own.model.sentences:
        for match in re.finditer(re.escape(sentence.text), text):
            start, end = max(claim.draft_start, match.start()), min(claim.draft_end, match.end())
            if start >= end:
                continue
            moved = sentence.start - match.start()
            there = replace(claim, draft_start=start + moved, draft_end=end + moved)
            found |= touched_errors(there, own.draft)
            places += 1
    assert places, f"{claim.text!r} stands in no sentence of the draft"
    return found


def _alike(one: str, other: str) -> float:
    """Return the share of words that two texts have in common (Jaccard)."""
    a, b = (set(_WORD.findall(text.casefold())) for text in (one, other))
    return len(a & b) / max(1, len(a | b))
