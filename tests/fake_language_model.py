"""A language model that plays a script: what it was asked is kept, what it says is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from certirag.core.generation import ModelIdentity, PromptText, read_prompt_text
from certirag.core.text import sha256_hex
from certirag.ports import Prompt

PROMPTS = Path(__file__).resolve().parents[1] / "assets" / "prompts"
# A text, its pieces (an exception among them is raised there), or a function of the prompt.
Answer = str | Iterable[str | Exception] | Exception | Callable[[Prompt], str]


class FakeLanguageModel:
    """Gives *answers* in order, each in pieces of *size* characters; IndexError when all are used.

    *prompts* is what it was asked, *read* the characters that anybody took, *open* the answers
    that were neither read to their end nor closed.
    """

    def __init__(self, *answers: Answer, size: int = 7) -> None:
        self.identity = ModelIdentity("generator", "fake", "1", sha256_hex("fake"))
        self.prompts: list[Prompt] = []
        self.read = self.open = 0
        self._answers, self._size = list(answers), size

    def stream(self, prompt: Prompt) -> Iterator[str]:
        self.prompts.append(prompt)
        return self._pieces(self._answers.pop(0), prompt)

    def _pieces(self, answer: Answer, prompt: Prompt) -> Iterator[str]:
        self.open += 1
        try:
            for piece in self._parts(answer, prompt):
                if isinstance(piece, Exception):
                    raise piece
                self.read += len(piece)
                yield piece
        finally:
            self.open -= 1

    def _parts(self, answer: Answer, prompt: Prompt) -> Iterable[str | Exception]:
        if isinstance(answer, Exception):
            return [answer]
        if callable(answer):
            answer = answer(prompt)
        if isinstance(answer, str):
            return [answer[n : n + self._size] for n in range(0, len(answer), self._size)]
        return answer


def prompt_text(name: str) -> PromptText:
    """Return the prompt *name* that ships."""
    path = PROMPTS / f"{name}.md"
    return read_prompt_text(path.read_bytes(), source=path.name)
