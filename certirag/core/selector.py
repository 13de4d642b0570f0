"""Where a sentence stands in its document, exactly or not at all (docs/certificate.md §9).

A selector is derived from its chunk and compared whole. In a document it is looked for in one
place only, its own: the same words elsewhere, or nearly the same words there, are not it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Final

from certirag.core.text import (
    EvidenceChunk,
    FragmentSelector,
    Selector,
    SentenceSpan,
    TextPositionSelector,
    TextQuoteSelector,
    sha256_hex,
)
from certirag.core.verdict import VerificationResult

# Code points of the chunk's text kept on either side of a sentence, as far as there are any.
AROUND: Final = 32


@dataclass(frozen=True, slots=True)
class Located:
    """A sentence stands at ``text[start:end]`` of its document's text, in code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CannotLocate:
    """A sentence does not stand where it should; *reason* goes behind a colon."""

    reason: str


_NO_PLACE: Final = CannotLocate("the record gives no place in a text")


def selector_of(chunk: EvidenceChunk, span: SentenceSpan) -> Selector | CannotLocate:
    """Return the selector that *chunk* gives for *span*, or why it gives none.

    There is none unless ``chunk.text[span.start:span.end]`` is the sentence, and the text can be
    written as UTF-8.
    """
    text, start, end, sentence = chunk.text, span.start, span.end, span.sentence
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        return CannotLocate("it lies outside its passage")
    if text[start:end] != sentence or not sentence.strip():
        return CannotLocate("other words stand in its place in the passage")
    try:
        utf8_start, utf8_end = (len(text[:place].encode("utf-8")) for place in (start, end))
    except UnicodeEncodeError:
        return CannotLocate("its passage holds characters that are not text")
    utf16_start, utf16_end = (len(text[:place].encode("utf-16-le")) // 2 for place in (start, end))
    source = chunk.source
    return Selector(
        quote=TextQuoteSelector(
            exact=sentence,
            prefix=text[max(0, start - AROUND) : start],
            suffix=text[end : end + AROUND],
        ),
        position=TextPositionSelector(source.start + start, source.start + end),
        fragment=None if source.page is None else FragmentSelector(f"page={source.page}"),
        section=source.section,
        sha256=sha256_hex(sentence),
        utf8_start=utf8_start,
        utf8_end=utf8_end,
        utf16_start=utf16_start,
        utf16_end=utf16_end,
    )


def resolve(chunk: EvidenceChunk, span: SentenceSpan) -> Selector | CannotLocate:
    """Return the selector that *span* carries if it is exactly what *chunk* gives for it."""
    derived = selector_of(chunk, span)
    if isinstance(derived, CannotLocate):
        return derived
    if span.selector is None:
        return CannotLocate("the record does not say where it stands")
    if not _exactly(span.selector, derived):
        return CannotLocate("the record says that it stands elsewhere")
    return derived


def with_selectors(
    chunks: Sequence[EvidenceChunk], results: Iterable[VerificationResult]
) -> tuple[EvidenceChunk, ...]:
    """Return *chunks* with a selector on every span that any of *results* attaches.

    A span that gives none is left without: the rule *evidence* refuses it.
    """
    attached = {(r.chunk_id, r.span_id) for result in results for r in result.best_evidence}
    named = {chunk_id for chunk_id, _ in attached}
    return tuple(
        replace(
            chunk,
            spans=tuple(
                _with_selector(chunk, span) if (chunk.chunk_id, span.span_id) in attached else span
                for span in chunk.spans
            ),
        )
        if chunk.chunk_id in named
        else chunk
        for chunk in chunks
    )


def locate(selector: Selector, text: str) -> Located | CannotLocate:
    """Return where the sentence of *selector* stands in *text*, a document's extracted text.

    That is its own position, with its own words there and around it, character for character.
    """
    window = _window(selector)
    if window is None:
        return _NO_PLACE
    return _judged(selector, text[window.start : window.stop])


def locate_in(selector: Selector, chunks: Iterable[EvidenceChunk]) -> Located | CannotLocate:
    """Return where the sentence of *selector* stands in the document that *chunks* are all of.

    As `locate` in that document's text, so far as its chunks hold it. What stands in no chunk,
    and what a reader cannot see, is unknown; chunks that contradict each other say nothing.
    """
    window = _window(selector)
    if window is None:
        return _NO_PLACE
    known: dict[int, str] = {}
    for chunk in chunks:
        start = chunk.source.start
        hidden = [(s.start, s.end) for s in chunk.spans if s.visible is not True]
        for place in range(max(window.start, start), min(window.stop, start + len(chunk.text))):
            character = chunk.text[place - start]
            if known.setdefault(place, character) != character:
                return CannotLocate("the document is read in two ways at its place")
            if any(first <= place - start < last for first, last in hidden):
                return CannotLocate("a reader of the document cannot see the text in its place")
    return _judged(selector, [known.get(place) for place in window])


def _window(selector: Selector) -> range | None:
    """Return the places that prefix, sentence and suffix fill; None where they are none."""
    quote, start, end = selector.quote, selector.position.start, selector.position.end
    if type(start) is not int or type(end) is not int or end - start != len(quote.exact):
        return None
    if not quote.exact.strip() or sha256_hex(quote.exact) != selector.sha256:
        return None
    if start < len(quote.prefix):
        return None
    return range(start - len(quote.prefix), end + len(quote.suffix))


def _judged(selector: Selector, found: Sequence[str | None]) -> Located | CannotLocate:
    """Compare *found*, the characters of the window (None: unknown), with what should be there."""
    quote = selector.quote
    first = len(quote.prefix)
    there = found[first : first + len(quote.exact)]
    if list(found) == list(quote.prefix + quote.exact + quote.suffix):
        return Located(selector.position.start, selector.position.end)
    if list(there) == list(quote.exact):
        return CannotLocate("the words around it are others")
    if all(character is None for character in there):
        return CannotLocate("nothing stands in its place")
    return CannotLocate("other words stand in its place")


def _with_selector(chunk: EvidenceChunk, span: SentenceSpan) -> SentenceSpan:
    derived = selector_of(chunk, span)
    return replace(span, selector=None if isinstance(derived, CannotLocate) else derived)


def _exactly(given: object, derived: object) -> bool:
    """Compare type by type: ``True`` is not 1, and no object says of itself that it is equal."""
    if type(given) is not type(derived):
        return False
    if is_dataclass(derived):
        names = [field.name for field in fields(derived)]
        return all(_exactly(getattr(given, name), getattr(derived, name)) for name in names)
    return given == derived
