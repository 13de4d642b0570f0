"""Read an answer in which every sentence ends with an exact quote and its source, or refuse it.

A quote is in its source character for character: blanks may differ, nothing else may.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from certirag.core.text import SentenceSpan, SpanRef
from certirag.drafting.draft_steps import excerpt
from certirag.drafting.extractive import QuotableSentence
from certirag.errors import GroundingError
from certirag.ports import SentenceSplitter
from certirag.text.layout import read_lines

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


INSUFFICIENT: Final = "insufficient information"
MAX_ANSWER_CHARACTERS: Final = 40_000
MAX_MARKS: Final = 200
_MAX_NAME: Final = 200
_MAX_OPENINGS: Final = 50  # brackets tried as the beginning of one quote
_END: Final = re.compile(r"\s*([.!?…]+)")
_CONNECTORS: Final = frozenset({"", "and", "&", "as well as"})


@dataclass(frozen=True, slots=True)
class Quotation:
    """One citation that holds: the source's name, the quote as written, the spans it stands in."""

    source: str
    quote: str
    evidence: tuple[SpanRef, ...]


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A sentence of the answer without its quotes; *new_line* says that it began one."""

    text: str
    quotations: tuple[Quotation, ...]
    new_line: bool = False


@dataclass(slots=True)
class _Open:
    """A sentence as far as it has been read."""

    text: str
    new_line: bool
    quotations: list[Quotation] = field(default_factory=list)
    ended: bool = False


def read_grounded(
    answer: str, sources: Mapping[str, Sequence[Passage]], split: SentenceSplitter
) -> tuple[QuotedSentence, ...]:
    """Return the sentences of *answer*, () when it is "Insufficient information" and no more.

    *sources* are the passages that the model was given, by the name to cite them under. A
    sentence may have several citations; ``(quote) [[a]] [[b]]`` needs the quote in both. A quote
    may hold round and square brackets. Raises GroundingError naming the first offender.
    """
    if _is_insufficient(answer):
        return ()
    if len(answer) > MAX_ANSWER_CHARACTERS:
        size = f"{len(answer)} characters, the limit is {MAX_ANSWER_CHARACTERS}"
        raise GroundingError("unreadable", "", f"the answer has {size}")
    found: list[_Open] = []
    end = 0
    for start, mark, after in _marks(answer):
        name = answer[mark + 2 : after - 2].strip()
        _read_segment(answer[start:mark], name, found, sources, split)
        end = after
    rest = answer[end:]
    if stop := _END.match(rest) if found else None:
        _ended(found, stop[1])
        rest = rest[stop.end() :]
    if rest.strip():
        _refuse_uncited(rest, split)
    return tuple(QuotedSentence(_full(s.text), tuple(s.quotations), s.new_line) for s in found)


def _is_insufficient(text: str) -> bool:
    plain = " ".join(text.strip().strip("\"“”'*_. !\n").split())
    return plain.casefold() == INSUFFICIENT


def _marks(answer: str) -> Iterator[tuple[int, int, int]]:
    """Yield where each segment starts, where its ``[[`` stands and where its ``]]`` ends.

    A mark inside a round bracket that is still open belongs to a quote.
    """
    start = scan = depth = 0
    for _ in range(MAX_MARKS):
        mark = answer.find("[[", scan)
        if mark < 0:
            return
        after = answer.find("]]", mark + 2) + 2
        name = answer[mark + 2 : after - 2] if after > 1 else ""
        if not name.strip() or "[[" in name or "\n" in name or len(name) > _MAX_NAME:
            piece = answer[mark : after if after > 1 else None][:_MAX_NAME]
            message = f"a citation mark does not read as [[DocID]]: '{excerpt(piece)}'"
            raise GroundingError("unreadable", piece, message)
        before = answer[scan:mark]
        depth = max(0, depth + before.count("(") - before.count(")"))
        if depth and not before.rstrip().endswith(")"):
            scan = after
            continue
        yield start, mark, after
        start = scan = after
        depth = 0
    if "[[" in answer[scan:]:
        message = f"the answer has more than {MAX_MARKS} citation marks"
        raise GroundingError("unreadable", "", message)


def _read_segment(
    segment: str,
    name: str,
    found: list[_Open],
    sources: Mapping[str, Sequence[Passage]],
    split: SentenceSplitter,
) -> None:
    """Read what stands between two citation marks, the second of which names *name*."""
    if name not in sources:
        message = f"the answer cites [[{excerpt(name)}]], which is none of the sources it was given"
        raise GroundingError("invented_source", name, message)
    if found and not segment.strip(" \t,;"):
        last = found[-1].quotations[-1].quote
        found[-1].quotations.append(_quotation(segment, [last], name, sources))
        return
    body = segment.rstrip()
    if not body.endswith(")"):
        message = (
            f"'{excerpt(segment)}' cites [[{excerpt(name)}]] without a quote in brackets before it"
        )
        raise GroundingError("no_quote", segment.strip(), message)
    openings = _openings(body)
    inner = [body[opening + 1 : -1] for opening in openings]
    quotation = _quotation(body, inner, name, sources)
    text = body[: openings[inner.index(quotation.quote)]]
    _add_sentence(text, quotation, found, split)


def _openings(body: str) -> list[int]:
    """Return where the quote that ends *body* may begin: the bracket that balances it first."""
    depth = 0
    balanced = -1
    for place in range(len(body) - 1, -1, -1):
        depth += (body[place] == ")") - (body[place] == "(")
        if depth == 0:
            balanced = place
            break
    others = [place for place, c in enumerate(body) if c == "(" and place != balanced]
    return ([balanced] if balanced >= 0 else []) + others[-_MAX_OPENINGS:]


def _quotation(
    body: str, quotes: Sequence[str], name: str, sources: Mapping[str, Sequence[Passage]]
) -> Quotation:
    """Return the first of *quotes* that stands in the source *name*; GroundingError if none."""
    for quote in quotes:
        for form in dict.fromkeys((quote, without_quotation_marks(quote))):
            spans = () if is_too_short(form) else quoted_spans(form, sources[name])
            if spans:
                return Quotation(name, quote, spans)
    if not quotes:
        message = f"'{excerpt(body)}' closes a bracket that it never opened"
        raise GroundingError("unreadable", body.strip(), message)
    quote = quotes[0]
    shown = f"the quote '{excerpt(quote)}'"
    form = without_quotation_marks(quote)
    if is_too_short(form):
        raise GroundingError("short_quote", quote, f"{shown} is too short to point at any place")
    for other, held in sources.items():
        if other != name and quoted_spans(form, held):
            message = f"{shown} stands in [[{other}]], not in [[{name}]]"
            raise GroundingError("misplaced_quote", quote, message)
    message = f"{shown} does not stand in [[{name}]] word for word"
    raise GroundingError("altered_quote", quote, message)


def _add_sentence(
    text: str, quotation: Quotation, found: list[_Open], split: SentenceSplitter
) -> None:
    new_line = False
    if found:
        if not found[-1].ended and (stop := _END.match(text)):
            _ended(found, stop[1])
            text = text[stop.end() :]
        new_line = "\n" in text[: len(text) - len(text.lstrip())]
    words = text.strip()
    same = bool(found) and not found[-1].ended and not new_line
    if same and words.strip(" ,;").casefold() in _CONNECTORS:
        found[-1].quotations.append(quotation)
        return
    _refuse_several(words, quotation.source, split)
    goes_on = words[0].islower() or words[0] in ",;:–—"
    if same and goes_on and found[-1].text[-1:] not in ".!?…":
        gap = "" if words[0] in ",;:" else " "
        found[-1].text += gap + words
        found[-1].quotations.append(quotation)
        return
    found.append(_Open(words, new_line, [quotation]))


def _refuse_several(words: str, name: str, split: SentenceSplitter) -> None:
    """Refuse *words*, which one citation follows, unless they are one sentence."""
    if not any(c.isalnum() for c in words):
        raise _alone(name)
    sentences = _sentences(words, split)
    for sentence in sentences:
        _refuse_insufficient(sentence)
    if len(sentences) > 1:
        raise _uncited(sentences[0])


def _refuse_uncited(rest: str, split: SentenceSplitter) -> None:
    sentences = _sentences(rest, split) or [rest.strip()]
    for sentence in sentences:
        _refuse_insufficient(sentence)
    raise _uncited(sentences[0])


def _refuse_insufficient(sentence: str) -> None:
    if _is_insufficient(sentence):
        message = "'Insufficient information' is an answer only by itself, not beside another"
        raise GroundingError("no_citation", sentence, message)


def _sentences(text: str, split: SentenceSplitter) -> list[str]:
    lines = [line.text for line in read_lines(text) if line.text.strip()]
    return [line[start:end] for line in lines for start, end in split(line)]


def _uncited(sentence: str) -> GroundingError:
    message = f"'{excerpt(sentence)}' does not end with a quote and its source"
    return GroundingError("no_citation", sentence, message)


def _alone(name: str) -> GroundingError:
    message = f"a citation of [[{excerpt(name)}]] stands without a sentence before it"
    return GroundingError("unreadable", name, message)


def _ended(found: list[_Open], stop: str) -> None:
    if found[-1].text[-1:] not in ".!?…":
        found[-1].text += stop
    found[-1].ended = True


def _full(text: str) -> str:
    return text if text[-1:] in ".!?…" else f"{text}."
