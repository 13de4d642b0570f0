"""A language model that says what a test wrote for it, and notes what it was asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence

from certirag.core.generation import ModelIdentity
from certirag.errors import LanguageModelError
from certirag.ports import Prompt

# The pieces of one answer; an error among them ends it where it stands.
Said = Sequence[str | LanguageModelError]


class ScriptedModel:
    """Answers each prompt with the pieces that *rule* gives for it; one piece is one token."""

    def __init__(self, rule: Said | Callable[[Prompt], Said], *, name: str = "scripted") -> None:
        self._rule, self._name = rule, name
        self.prompts: list[Prompt] = []

    @property
    def identity(self) -> ModelIdentity:
        """The name, and a digest of it."""
        digest = hashlib.sha256(json.dumps(self._name).encode()).hexdigest()
        return ModelIdentity("generator", f"scripted:{self._name}", "1", digest)

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the pieces, up to the first that is an error."""
        self.prompts.append(prompt)
        said = self._rule(prompt) if callable(self._rule) else self._rule
        for number, piece in enumerate(said):
            if isinstance(piece, LanguageModelError):
                raise piece
            if number >= prompt.max_tokens:
                raise LanguageModelError("truncated", "the answer was cut off at its token limit")
            yield piece
        if not any(said):
            raise LanguageModelError("empty", "the language model answered with nothing")
