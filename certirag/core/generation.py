"""How a draft came to be: by which models, strategy and prompts, and how it ended.

Every certificate records the name and digest of a model; prompts are kept as they were sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from certirag.core.text import sha256_hex
from certirag.errors import GroundingFault, InputError, ModelOutcome


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model did a job: *role* is ``embedder``, ``reranker``, ``reader``, ``verifier`` or ``generator``."""

    role: str
    name: str
    version: str
    sha256: str


Strategy = Literal["interleaved", "generate-then-cite", "strict-quote", "prose"]
# "under_way": more may come. "complete": the model was done. "abstained": it found no answer.
# The others are failures, by their names.
DraftEnd = Literal["under_way", "complete", "abstained"] | ModelOutcome | GroundingFault


@dataclass(frozen=True, slots=True)
class PromptIdentity:
    """A prompt file as it was used: *sha256* is of the whole file."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True, slots=True)
class GenerationRecord:
    """What a language model's part in an answer was; nothing is decided by it.

    *stream* is shared by the parts of one answer, each recorded before it was shown; *part*
    counts them from 1. *end* says how the draft ended, *note* says it in our own words. *quoted*
    are the ids of the claims that are not the model's: where nothing that it wrote both answers and
    is borne out, the answer goes on with sentences of the documents.
    """

    strategy: Strategy
    prompts: tuple[PromptIdentity, ...]
    stream: str
    part: int
    end: DraftEnd
    note: str = ""
    quoted: tuple[str, ...] = ()


# A prompt as it is kept: named, versioned and known by the digest of its file.

# Where a request's random code goes; a prompt that does not tell the model the code cannot tell
# it where quoted material ends.
CODE_PLACE: Final = "{code}"
MAX_PROMPT_BYTES: Final = 20_000
_FILE: Final = re.compile(
    r"---\nname: (?P<name>[a-z][a-z0-9-]{0,40})\nversion: (?P<version>[0-9]{1,6})\n---\n(?P<text>.+)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class PromptText:
    """Our instructions to a language model; *sha256* is of the whole file that holds them."""

    name: str
    version: str
    text: str
    sha256: str

    def instructions(self, code: str) -> str:
        """Return the text with *code*, the random mark of one request, in each of its places."""
        return self.text.replace(CODE_PLACE, code)


def read_prompt_text(raw: bytes, *, source: str) -> PromptText:
    """Return the prompt that a file's bytes *raw* hold; *source* names the file in errors.

    The file begins with ``---``, ``name: …``, ``version: …`` and ``---``, one to a line, then the
    text. Raises InputError for anything else, and for a text without a place for the code.
    """
    if len(raw) > MAX_PROMPT_BYTES:
        raise InputError(f"{source} has {len(raw)} bytes: a prompt has at most {MAX_PROMPT_BYTES}")
    try:
        match = _FILE.fullmatch(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"{source} is not UTF-8: write the prompt anew") from error
    if match is None or not match["text"].strip():
        raise InputError(
            f"{source} is not a prompt: begin it with the lines '---', 'name: …', 'version: 1' "
            "and '---', then write its text"
        )
    if CODE_PLACE not in match["text"]:
        raise InputError(f"{source} never says {CODE_PLACE}: the model must be told the code")
    return PromptText(match["name"], match["version"], match["text"].strip(), sha256_hex(raw))
