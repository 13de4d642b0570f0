"""What a citation points at, looked up in the sources: the source, the place, the quoted words.

These are the checks that cost nothing; whether the sentences found support a claim is
`verification/citation_check`. Text that a reader of the document cannot see is not there to be cited.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from certirag.core.citation import Citation, CitationCheck
from certirag.core.text import EvidenceChunk, SentenceSpan

Place = tuple[EvidenceChunk, SentenceSpan]

_PAGES: Final = re.compile(r"(?:pp?\.?|pages?|s\.)?\s*(\d{1,5})(?:\s*[-–]\s*(\d{1,5}))?", re.I)
_SECTION_WORD: Final = re.compile(
    r"^(?:(?:the\s+)?(?:sections?|secs?\.?|chapters?|ch\.|paragraphs?|para\.?|rows?|"
    r"headings?|table)\b|§+|#+)\s*",
    re.I,
)
_NUMBERED: Final = re.compile(r"(\d+(?:\.\d+)*)\.?(?:\s|$)")
_WIDEST_RANGE: Final = 50


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """The visible sentences that a citation points at, or the check that failed and why."""

    spans: tuple[Place, ...] = ()
    failed: CitationCheck | None = None
    reason: str = ""


def find_cited(citation: Citation, chunks: Sequence[EvidenceChunk]) -> CitedPlace:
    """Return what *citation* points at in *chunks*, checked in the order source, place, quote.

    *chunks* must hold every chunk of the sources that may be cited: a place is only known not to
    exist where the whole source is at hand.
    """
    of_source = [c for c in chunks if citation.doc_id and c.doc_id == citation.doc_id]
    if not of_source:
        named = citation.raw or citation.doc_id or "no source at all"
        return CitedPlace(failed="source", reason=f"{_short(named)} is none of the sources")
    places = _named_spans(citation, of_source)
    if not places:
        where = citation.place or ", ".join(f"{r.chunk_id} {r.span_id}" for r in citation.spans)
        what = f"{_short(where)} in it" if where else "nothing that a reader sees in it"
        return CitedPlace(failed="place", reason=f"the source exists, but there is {_no(what)}")
    if not citation.quote.strip():
        return CitedPlace(places)
    quoted = _quoted_spans(citation.quote, places)
    if quoted:
        return CitedPlace(quoted)
    elsewhere = _quoted_spans(citation.quote, _visible(of_source))
    where = elsewhere[0][0].source.section if elsewhere else ""
    reason = "the quoted words are not in the cited place, character for character"
    if elsewhere:
        reason += f"; they stand in {_short(where)}" if where else "; they stand elsewhere in it"
    return CitedPlace(failed="quote", reason=reason)


def _no(what: str) -> str:
    return what if what.startswith("nothing") else f"no {what}"


def _named_spans(citation: Citation, chunks: Sequence[EvidenceChunk]) -> tuple[Place, ...]:
    """Return the visible spans of *chunks* at the place that *citation* names."""
    visible = _visible(chunks)
    if citation.spans:
        wanted = {(ref.chunk_id, ref.span_id) for ref in citation.spans}
        found = tuple(p for p in visible if (p[0].chunk_id, p[1].span_id) in wanted)
        return found if len(found) == len(wanted) else ()
    place = citation.place.strip()
    if not place:
        return visible
    by_chunk = tuple(p for p in visible if place in {p[0].chunk_id, _local(p[0])})
    if by_chunk:
        return by_chunk
    in_section = tuple(p for p in visible if _is_section(place, p[0].source.section))
    return in_section or tuple(p for p in visible if _on_page(place, p))


def _visible(chunks: Sequence[EvidenceChunk]) -> tuple[Place, ...]:
    return tuple((chunk, span) for chunk in chunks for span in chunk.spans if span.visible)


def _local(chunk: EvidenceChunk) -> str:
    return chunk.chunk_id.removeprefix(f"{chunk.doc_id}#")


def _is_section(place: str, path: str) -> bool:
    """Say whether *place* names one of the headings over a section, by its words or its number.

    "4.2" names the section "4.2 Carry-over" and those under it ("4.2.1 Limits"); a whole path
    of headings is named too.
    """
    if not path:
        return False
    wanted = _plain(_SECTION_WORD.sub("", place.strip()))
    if not wanted:
        return False
    headings = path.split(" › ")
    if wanted in {_plain(path), *(_plain(heading) for heading in headings)}:
        return True
    number = _SECTION_WORD.sub("", place.strip()).strip().rstrip(".")
    if not _NUMBERED.fullmatch(number):
        return False
    for heading in headings:
        own = _NUMBERED.match(_SECTION_WORD.sub("", heading.strip()))
        if own and (own.group(1) == number or own.group(1).startswith(f"{number}.")):
            return True
    return False


def _on_page(place: str, found: Place) -> bool:
    """Say whether *place* names a page, or a range of them, that the sentence stands on."""
    match = _PAGES.fullmatch(place.strip())
    if not match:
        return False
    first = int(match.group(1))
    last = int(match.group(2) or first)
    if not first <= last <= first + _WIDEST_RANGE:
        return False
    chunk, span = found
    pages = [box.page for box in span.boxes]
    if not pages and chunk.source.page is not None:
        pages = [chunk.source.page]
    return any(first <= page <= last for page in pages)


def _quoted_spans(quote: str, places: Sequence[Place]) -> tuple[Place, ...]:
    """Return the neighbouring spans of one chunk that hold *quote*, runs of blanks aside."""
    wanted = " ".join(quote.split())
    for chunk in dict.fromkeys(place[0].chunk_id for place in places):
        own = sorted((p for p in places if p[0].chunk_id == chunk), key=lambda p: p[1].start)
        for size in range(1, len(own) + 1):
            for at in range(len(own) - size + 1):
                part = own[at : at + size]
                text = " ".join(" ".join(span.sentence for _, span in part).split())
                if wanted in text:
                    return tuple(part)
    return ()


def _plain(text: str) -> str:
    """Return *text* as a slug would have it: letters and digits, lower case, single blanks."""
    spread = unicodedata.normalize("NFKD", text).casefold()
    kept = "".join(c if c.isalnum() else " " for c in spread if unicodedata.category(c) != "Mn")
    return " ".join(kept.split())


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return f"'{flat[:60]}…'" if len(flat) > 60 else f"'{flat}'"
