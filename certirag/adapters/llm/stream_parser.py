"""What a streamed chat completion says, chunk by chunk, or how it fails to say anything."""

from __future__ import annotations

from typing import Any, Final

from certirag.errors import LanguageModelError, ModelOutcome

_SECRET: Final = 12  # characters from which a key is taken for a secret ("none" is no secret)
_PREFIX: Final = 3  # characters with which keys begin that are no secret, as in "sk-"


def is_secret(key: str) -> bool:
    """Return whether *key* is long enough to be one; local servers are given "none" and the like."""
    return len(key) >= _SECRET


class Failed(LanguageModelError):
    """One try that gave no answer: *wait* in seconds, and what was said against the request."""

    def __init__(
        self,
        outcome: ModelOutcome,
        message: str,
        *,
        wait: float | None = None,
        complaint: str | None = None,
    ) -> None:
        super().__init__(outcome, message)
        self.wait, self.complaint = wait, complaint


class Heard:
    """What one stream has said so far; nothing of its shape is taken for granted."""

    def __init__(self, key: str, most: int) -> None:
        self._key, self._most = key if is_secret(key) else "", most
        self._characters, self._ended = 0, False
        self._passed, self._held = "", ""  # the end of what was passed on; what was not yet
        self._anything, self._blank = False, True

    @property
    def begun(self) -> bool:
        """Whether some of the answer has come."""
        return self._characters > 0

    def next_of(self, chunks: Any) -> str | None:
        """Return the next piece, "" for a chunk without text, None behind a whole answer."""
        chunk = next(chunks, None)
        if chunk is not None:
            self._anything = True
            return self._without_key(self._text(chunk))
        if not self._anything:
            raise Failed("malformed", "the reply of the language model is no stream of answers")
        if self._held:
            held, self._held = self._held, ""
            return held
        if not self._ended:
            raise Failed("truncated", "the language model's answer stopped before its end")
        if self._blank:
            raise Failed("empty", "the language model answered with nothing")
        return None

    def _text(self, chunk: Any) -> str:
        choices = getattr(chunk, "choices", None)
        if not isinstance(choices, list) or len(choices) > 1:
            raise Failed("malformed", "a piece of the language model's answer is no single answer")
        if not choices:  # a report of usage
            return ""
        (choice,) = choices
        delta = getattr(choice, "delta", None)
        text, refusal = getattr(delta, "content", None), getattr(delta, "refusal", None)
        if refusal:
            raise Failed("refused", "the language model declined to answer")
        if text is not None and not isinstance(text, str):
            raise Failed("malformed", "a piece of the language model's answer is no text")
        if text and self._ended:
            raise Failed("malformed", "the language model went on behind its answer's end")
        self._end(getattr(choice, "finish_reason", None))
        return self._counted(text or "")

    def _end(self, reason: object) -> None:
        if reason is None or reason == "":
            return
        if reason == "length":
            raise Failed("truncated", "the language model's answer was cut off at its token limit")
        if reason == "content_filter":
            raise Failed("refused", "the language model's host filtered the answer")
        if reason != "stop":
            raise Failed("malformed", "the language model ended otherwise than with an answer")
        self._ended = True

    def _counted(self, text: str) -> str:
        self._characters += len(text)
        if self._characters > self._most:
            message = f"the language model's answer is longer than {self._most} characters"
            raise Failed("truncated", message)
        text.encode("utf-8")  # half a surrogate pair is no text: UnicodeEncodeError, "malformed"
        self._blank = self._blank and not text.strip()
        return text

    def _without_key(self, text: str) -> str:
        """Return what may be passed on: not what may yet turn out to be the key's beginning."""
        if not self._key:
            return text
        known, held = self._passed + self._held + text, len(self._held) + len(text)
        if self._key in known:
            raise Failed("malformed", "the language model's answer holds the key that was sent")
        begun = (n for n in range(len(self._key) - 1, _PREFIX, -1) if known.endswith(self._key[:n]))
        held = min(held, next(begun, 0))
        passed = known[len(self._passed) : len(known) - held]
        self._held = known[len(known) - held :]
        self._passed = (self._passed + passed)[-len(self._key) :]
        return passed
