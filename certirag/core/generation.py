"""How a draft came to be: by which strategy and prompts, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from certirag.errors import GroundingFault, ModelOutcome

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
