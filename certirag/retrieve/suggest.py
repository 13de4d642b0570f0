"""What a reader may ask instead: questions and filters made of words that the documents hold.

Pure over chunks and without a model. A question is suggested only when the passages that it was
made from hold a sentence that the reader takes for its answer; whether that answer is supported
is for the verifier to say, later. Every text here is the documents' own and
is to be drawn as inert text.
"""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Final

from certirag.core.claim import Quantity
from certirag.core.judgement import ANSWERS, Filter, Suggestion, Suggestions
from certirag.core.text import EvidenceChunk
from certirag.quantities.find import find_quantities
from certirag.retrieve.hybrid import visible_text
from certirag.text.question import AskedWord, asked_words, divided, has_term, quoted, stems
from certirag.text.word_classes import AMBIGUOUS_STEMS, BASE_FORMS, PAST_FORMS

MAX_REFINEMENTS: Final = 3
MAX_FILTERS: Final = 5
MAX_QUERY: Final = 300
MAX_NAME: Final = 120
# Places and passages that are looked into: suggestions are made while a reader waits.
_PLACES: Final = 8
_PASSAGES: Final = 3
_HEADINGS: Final = 5_000
_VOCABULARY: Final = 3_000
_ALIKE: Final = 0.8
_PHRASE: Final = 30
_PERIODS: Final = frozenset({"year", "period"})
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
# What nobody would ask a document "about".
_VERBS: Final = PAST_FORMS | (BASE_FORMS - AMBIGUOUS_STEMS)
_NUMBERING: Final = re.compile(r"^\s*(?:\d{1,2}(?:\.\d{1,2})*[.)]|[A-Z][.)])\s+")


# (question, [(headings, statement)]) → how surely each statement answers, in [0, 1].
Relevance = Callable[[str, Sequence[tuple[str, str]]], Sequence[float]]
# (question, passages) → whether one of them answers it.
_Answers = Callable[[str, Sequence[EvidenceChunk]], bool]


@dataclass(frozen=True, slots=True)
class _Place:
    """One section of one document with its passages; *weight* says how well it fits."""

    title: str
    section: str
    chunks: tuple[EvidenceChunk, ...]
    weight: float
    words: tuple[AskedWord, ...]


def suggest(
    question: str,
    nearest: Sequence[EvidenceChunk],
    relevance: Relevance,
    corpus: Sequence[EvidenceChunk] = (),
) -> Suggestions:
    """Return other questions and filters for *question*, drawn from the documents.

    *nearest* are the chunks that were found for it, best first; *relevance* says whether one of
    their sentences answers what is to be suggested; of *corpus* only the headings are
    read, to find sections that the search passed over. The same input gives the same answer; a
    question that asks about nothing, or documents without a word of it, give none.
    """
    words = asked_words(question)
    seen = [chunk for chunk in nearest if visible_text(chunk).strip()]
    if not words or not seen:
        return Suggestions()
    places = _places(words, seen, corpus)
    found: dict[str, Suggestion] = {}
    asked = _folded(question)
    answers = partial(_answers, relevance)
    for suggestion in chain(
        _respelled(question, words, seen, corpus, answers),
        _other_periods(question, words, seen, answers),
        _of_places(question, places, answers),
    ):
        key = _folded(suggestion.query)
        if key != asked and len(suggestion.query) <= MAX_QUERY:
            found.setdefault(key, suggestion)
        if len(found) == MAX_REFINEMENTS:
            break
    return Suggestions(tuple(found.values()), _filters(question, places, seen))


def _places(
    words: Sequence[AskedWord], nearest: Sequence[EvidenceChunk], corpus: Sequence[EvidenceChunk]
) -> tuple[_Place, ...]:
    """Return the sections that hold some of *words*, the best fitting first."""
    groups: dict[tuple[str, str], list[EvidenceChunk]] = {}
    for chunk in nearest:
        groups.setdefault((chunk.source.title, chunk.source.section), []).append(chunk)
    texts = {
        name: stems(" ".join([*name, *(visible_text(c) for c in chunks)]))
        for name, chunks in groups.items()
    }
    for chunk in corpus:
        name = (chunk.source.title, chunk.source.section)
        if name in groups and chunk not in groups[name] and len(groups[name]) < _PASSAGES:
            groups[name].append(chunk)
        elif name not in groups and len(groups) < _HEADINGS:
            groups[name] = [chunk]
            texts[name] = stems(" ".join(name))
    weigh = {
        word.term: math.log(1.0 + len(texts) / (0.5 + sum(has_term(word.term, t) for t in texts.values())))
        for word in words
    }  # fmt: skip
    made = []
    for (title, section), chunks in groups.items():
        held = tuple(w for w in words if has_term(w.term, texts[title, section]))
        weight = round(math.fsum(weigh[word.term] for word in held), 9)
        if held and _named(title):
            made.append(_Place(title, section, tuple(chunks[:_PASSAGES]), weight, held))
    made.sort(key=lambda place: -place.weight)  # stable: ties keep the order of the search
    return tuple(made[:_PLACES])


def _of_places(question: str, places: Sequence[_Place], answers: _Answers) -> Iterator[Suggestion]:
    """Yield one question for each place that holds an answer to it."""
    for place in places:
        title, heading = _named(place.title), _heading(place.section)
        where = f"“{heading}” in “{title}”" if heading else f"“{title}”"
        because = f"{where} mentions {quoted(place.words)}"
        if heading.endswith("?"):
            if divided(place.words, (heading,))[0] and answers(heading, place.chunks):
                yield Suggestion("question", heading, because)
            continue
        for query in _queries(question, place, title, heading):
            if answers(query, place.chunks):
                yield Suggestion("heading", query, because)
                break


def _queries(question: str, place: _Place, title: str, heading: str) -> Iterator[str]:
    """Yield ways to ask for what *place* says: by its heading, or by the words that it holds."""
    _, own = divided(place.words, (title, heading))  # words that its text holds, not its headings
    about = " and ".join(_phrases(question, own)[:2])
    if heading:
        yield f"What does “{title}” say about “{heading}”?"
    if about:
        yield f"What does “{title}” say about {about}?"


def _phrases(question: str, words: Sequence[AskedWord]) -> list[str]:
    """Return *words* as they stand in *question*, neighbours together, without plain verb forms."""
    nouns = [word for word in words if word.text.lower() not in _VERBS]
    found: list[tuple[int, int]] = []
    for word in nouns:
        gap = question[found[-1][1] : word.start] if found else "-"
        if found and not gap.strip() and word.start - found[-1][0] <= _PHRASE:
            found[-1] = (found[-1][0], word.end)
        else:
            found.append((word.start, word.end))
    return [_line(question[start:end]) for start, end in found]


def _respelled(
    question: str,
    words: Sequence[AskedWord],
    nearest: Sequence[EvidenceChunk],
    corpus: Sequence[EvidenceChunk],
    answers: _Answers,
) -> Iterator[Suggestion]:
    """Yield the question with a word that no document holds put as they spell it."""
    texts = [f"{chunk.context}\n{visible_text(chunk)}" for chunk in nearest]
    texts += list(dict.fromkeys(chunk.context for chunk in corpus))[:_HEADINGS]
    missing = [w for w in divided(words, texts)[1] if _WORD.fullmatch(w.text)]
    if not missing:
        return
    spelled: dict[str, str] = {}
    for text in texts:
        for match in _WORD.finditer(text):
            if len(spelled) < _VOCABULARY:
                spelled.setdefault(match.group().lower(), match.group())
    for word in missing:
        for near in difflib.get_close_matches(word.text.lower(), list(spelled), 1, _ALIKE):
            query = f"{question[: word.start]}{spelled[near]}{question[word.end :]}"
            if answers(query, nearest):
                because = f"no document holds “{word.text}”; they hold “{spelled[near]}”"
                yield Suggestion("spelling", _line(query), because)


def _other_periods(
    question: str,
    words: Sequence[AskedWord],
    nearest: Sequence[EvidenceChunk],
    answers: _Answers,
) -> Iterator[Suggestion]:
    """Yield the question about a period of which the documents do speak."""
    for asked in (q for q in find_quantities(question) if q.kind in _PERIODS):
        for period, chunk in _periods(asked, words, nearest):
            query = f"{question[: asked.start]}{period.text}{question[asked.end :]}"
            if answers(query, nearest):
                title = _named(chunk.source.title)
                because = f"“{title}” speaks of “{period.text}”" if title else "another period"
                yield Suggestion("period", _line(query), because)
                break


def _periods(
    asked: Quantity, words: Sequence[AskedWord], nearest: Sequence[EvidenceChunk]
) -> list[tuple[Quantity, EvidenceChunk]]:
    """Return periods of *asked*'s kind in sentences on the question, the nearest first."""
    topic = [w for w in words if not asked.start <= w.start < asked.end]
    found: dict[str, tuple[Quantity, EvidenceChunk]] = {}
    for chunk in nearest:
        for span in chunk.spans:
            if not span.visible or 2 * len(divided(topic, (span.sentence,))[0]) < len(topic):
                continue
            for period in find_quantities(span.sentence):
                same = period.kind == asked.kind and _shape(period) == _shape(asked)
                if same and period.value != asked.value and _named(period.text):
                    found.setdefault(period.value, (period, chunk))
    return list(found.values())[:_PASSAGES]


def _shape(quantity: Quantity) -> str:
    return re.sub(r"\d+", "0", quantity.value)


def _filters(
    question: str, places: Sequence[_Place], nearest: Sequence[EvidenceChunk]
) -> tuple[Filter, ...]:
    """Return documents, sections and periods that part of the question fits, with what they keep."""
    titles = dict.fromkeys(_named(place.title) for place in places)
    documents = [
        Filter("document", title, sum(_named(c.source.title) == title for c in nearest))
        for title in titles
    ]
    sections = [
        Filter("section", heading, sum(_heading(c.source.section) == heading for c in nearest))
        for heading in dict.fromkeys(_heading(place.section) for place in places)
        if heading
    ]
    held: dict[str, tuple[str, set[str]]] = {}
    for chunk in nearest:
        for period in find_quantities(f"{chunk.context}\n{visible_text(chunk)}"):
            if period.kind in _PERIODS and _named(period.text):
                held.setdefault(period.value, (period.text, set()))[1].add(chunk.chunk_id)
    asked = {q.value for q in find_quantities(question)}
    periods = sorted(
        (Filter("period", text, len(ids)) for value, (text, ids) in held.items() if value not in asked),
        key=lambda one: -one.passages,
    )  # fmt: skip
    chosen = (*documents[:2], *sections[:2], *periods[:1])
    return tuple(one for one in chosen if one.passages)[:MAX_FILTERS]


def _answers(relevance: Relevance, query: str, chunks: Sequence[EvidenceChunk]) -> bool:
    """Say whether a sentence of *chunks* is taken for an answer to *query*."""
    seen = [(c.context, s.sentence) for c in chunks for s in c.spans if s.visible]
    return max(relevance(query, seen), default=0.0) >= ANSWERS


def _heading(section: str) -> str:
    """Return the innermost heading of *section* without its number, "" when it cannot be named."""
    return _named(_NUMBERING.sub("", section.rsplit(" › ", maxsplit=1)[-1]))


def _named(text: str) -> str:
    """Return *text* on one line if it is short and plain, else "".

    Controls, unseen characters and symbols are in no name that could be asked for.
    """
    line = _line(text)
    odd = any(unicodedata.category(c) in _ODD for c in line)
    return "" if odd or len(line) > MAX_NAME else line.translate(_QUOTES)


_ODD: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "So", "Sk"})
_QUOTES: Final = str.maketrans({"“": "'", "”": "'", '"': "'"})


def _line(text: str) -> str:
    return " ".join(text.split())


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
