"""Is a quote in the source, character for character? Blanks may differ, nothing else may."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from certirag.core.text import SentenceSpan, SpanRef
from certirag.drafting.extractive import QuotableSentence

# A single word can be found in any document and points nowhere.
MIN_QUOTE_WORDS: Final = 2
MAX_QUOTE_CHARACTERS: Final = 2_000
_MAX_PLACES: Final = 1_000  # of one quote in one passage that are tried
# Stands for text that the model was not shown; no quote may hold it or run over it.
_UNSHOWN: Final = "\x00"
_IN_WORDS: Final = frozenset("-\u2010\u2011'\u2019")  # "non-binding", "isn't"
_IN_NUMBERS: Final = frozenset(".,/:-\u2010\u2011\u2013\u2212'\u2019")  # "3.25", "10–20"
_SIGNS: Final = frozenset("-\u2212")
_QUOTATION_MARKS: Final = ('""', "“”", "„“", "«»", "‘’", "''", "``")


@dataclass(frozen=True, slots=True)
class Passage:
    """What the model was shown of one chunk, blanks made single; *places* are in the chunk."""

    chunk_id: str
    text: str
    places: tuple[int, ...]
    spans: tuple[SentenceSpan, ...]


def passages(candidates: Sequence[QuotableSentence]) -> tuple[Passage, ...]:
    """Return one passage per chunk among *candidates*, in order of first appearance."""
    shown: dict[str, list[QuotableSentence]] = {}
    for candidate in candidates:
        shown.setdefault(candidate.chunk.chunk_id, []).append(candidate)
    return tuple(_passage(group) for group in shown.values())


def _passage(group: Sequence[QuotableSentence]) -> Passage:
    spans = tuple(sorted({c.span.span_id: c.span for c in group}.values(), key=lambda s: s.start))
    raw = group[0].chunk.text
    inside = [False] * len(raw)
    for span in spans:
        inside[span.start : span.end] = [True] * (span.end - span.start)
    text: list[str] = []
    places: list[int] = []
    for place in range(spans[0].start, spans[-1].end):
        character = raw[place]
        if character.isspace():
            character = " "
        elif not inside[place]:
            character = _UNSHOWN
        if text and character == text[-1] and character in {" ", _UNSHOWN}:
            continue
        text.append(character)
        places.append(place)
    return Passage(group[0].chunk.chunk_id, "".join(text), tuple(places), spans)


def quoted_spans(quote: str, among: Sequence[Passage]) -> tuple[SpanRef, ...]:
    """Return the spans that hold *quote*, or () when no passage does, exactly.

    A quote may run over sentences that stand side by side. It may not begin or end inside a
    word or a number: "supported" is no quote from "unsupported", nor "5.7" from "−5.7".
    """
    wanted = " ".join(quote.split())
    if not wanted or len(wanted) > MAX_QUOTE_CHARACTERS or _UNSHOWN in wanted:
        return ()
    for passage in among:
        start = passage.text.find(wanted)
        for _ in range(_MAX_PLACES):
            if start < 0:
                break
            end = start + len(wanted)
            if _is_whole(passage.text, start, end):
                first, last = passage.places[start], passage.places[end - 1]
                return tuple(
                    SpanRef(passage.chunk_id, span.span_id)
                    for span in passage.spans
                    if span.start <= last and first < span.end
                )
            start = passage.text.find(wanted, start + 1)
    return ()


def is_too_short(quote: str) -> bool:
    """Say whether *quote* has too few words to point at any one place."""
    return sum(any(c.isalnum() for c in word) for word in quote.split()) < MIN_QUOTE_WORDS


def without_quotation_marks(quote: str) -> str:
    """Return *quote* without the pair of quotation marks around it, if there is one."""
    inner = quote.strip()
    for left, right in _QUOTATION_MARKS:
        if len(inner) > 2 and inner[0] == left and inner[-1] == right:
            return inner[1:-1]
    return quote


def _is_whole(text: str, start: int, end: int) -> bool:
    """Say whether ``text[start:end]`` cuts no word, number, sign or accent at either end."""
    before, after = text[max(0, start - 2) : start][::-1], text[end : end + 2]
    if after and unicodedata.category(after[0]).startswith("M"):
        return False
    first, last = text[start], text[end - 1]
    if first.isdigit() and before[:1] in _SIGNS and before[:1] and not before[1:2].isalnum():
        return False
    return not _joined(first, before) and not _joined(last, after)


def _joined(edge: str, outside: str) -> bool:
    """Say whether *edge* goes on into *outside*, the next two characters away from it."""
    if not edge.isalnum() or not outside:
        return False
    if outside[0].isalnum():
        return True
    if len(outside) < 2 or not outside[1].isalnum():
        return False
    if edge.isdigit() and outside[1].isdigit() and outside[0] in _IN_NUMBERS:
        return True
    return outside[0] in _IN_WORDS
