"""From evidence to an answer without a language model: the sentences that answer, best first.

Nothing is written that the evidence does not say. How well a sentence answers is measured by
whoever calls (the reader that ships, or any other); no word is counted here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.claims.compile import (
    MAX_CLAIM_TOKENS,
    Statement,
    capped,
    is_uncheckable,
    make_claim,
    statement_claims,
)
from certirag.claims.lists_and_rows import (
    LEFT_OUT,
    as_quoted,
    list_around,
    row_cells,
    row_sentence,
    unbulleted,
)
from certirag.claims.self_contained import pointing_words
from certirag.claims.well_formed import problems
from certirag.core.claim import Claim, ClaimIR
from certirag.core.judgement import ANSWERS
from certirag.core.text import EvidenceChunk, SentenceSpan, SpanRef
from certirag.ports import Reader
from certirag.quantities.find import find_quantities
from certirag.quantities.period import is_within
from certirag.text.question import asked_words, part_of
from certirag.text.word_classes import NUMBER_WORDS

MOST_SENTENCES: Final = 3
# Below this a sentence is not even on the topic. One that answers less surely than that share of
# the first, or stands further behind it in the reader's order (in log-odds), adds nothing to it.
# Chosen on the development questions of `fixtures/everyday` and CLAPNQ (docs/development.md).
RELATED: Final = 0.10
FALL_OFF: Final = 0.70
WITHIN: Final = 1.0
_OF_THE_ROW: Final = 0.90  # a column that answers nearly as surely as the best is said too
_OF_A_PART: Final = 2  # sentences, where two things are asked
_LOOKED_INTO: Final = 12
_MOST_TOGETHER: Final = 3  # sentences of one quotation
_LONGEST_LIST: Final = MAX_CLAIM_TOKENS - 8  # words, so that a heading has room before it
_DUPLICATE: Final = 0.85
# Words of a stretch that is asked whether it instructs a model; 60 and 80 find half as many orders.
_READ_TOGETHER: Final = 40


@dataclass(frozen=True, slots=True)
class QuotableSentence:
    """A sentence span of a retrieved chunk; *score* is the retriever's, larger is better."""

    chunk: EvidenceChunk
    span: SentenceSpan
    score: float


def claims_from_evidence(
    question: str, candidates: Sequence[QuotableSentence], reader: Reader, *, max_claims: int
) -> ClaimIR:
    """Return the claims of the sentences among *candidates* that answer *question*, best first.

    A claim's ``draft_start`` and ``draft_end`` are its place in its chunk's text and its
    ``evidence_candidates`` is the span it was taken from. Text that a reader of the document
    cannot see is never used. The same input gives the same claims.
    """
    usable = [c for c in candidates if _is_usable(c) and _states(c)]
    parts = reader.parts(question)
    own = [
        _best(question, usable, reader, part=part, most=_OF_A_PART, least=ANSWERS / 2)
        for part in (parts if len(parts) > 1 else ())
    ]
    if not any(own):
        own = [_best(question, usable, reader, part="", most=MOST_SENTENCES, least=RELATED)]
    claims = [claim for claims in own for claim in claims]
    return capped(
        question, _unrepeated(claims), generator="extractive", draft="", max_claims=max_claims
    )


def instruct(candidates: Sequence[QuotableSentence], reader: Reader) -> list[bool]:
    """Say of each of *candidates* whether it instructs a model, by itself or with its neighbours.

    An order and what it wants said stand side by side, so both are asked. Longer stretches are not:
    the networks that answer were taught on paragraphs of a few sentences, and take one in six
    ordinary passages of 150 words for an order (docs/development.md).
    """
    texts = [text for c in candidates for text in (c.span.sentence, _with_neighbours(c))]
    told = reader.instructs(texts)
    return [alone or beside for alone, beside in zip(told[::2], told[1::2], strict=True)]


def _unrepeated(claims: Sequence[Claim]) -> list[Claim]:
    """Drop a claim that says what one before it says, or that one and more of its passage.

    One may answer both parts of a question, and two quotations may begin with the same sentence.
    """
    kept: list[Claim] = []
    for claim in claims:
        if not any(claim.text in other.text or other.text in claim.text for other in kept):
            kept.append(claim)
    return kept


def _best(
    whole: str,
    usable: Sequence[QuotableSentence],
    reader: Reader,
    *,
    part: str,
    most: int,
    least: float,
) -> list[Claim]:
    """Return the claims of at most *most* sentences that answer best, the first at *least* so well.

    They answer the question *whole*, or the *part* of it. What is no whole statement by itself (it
    points elsewhere, it is too long) gets no badge, so it is taken only where nothing better is on
    the topic.
    """
    question = part_of(whole, part) if part else whole
    asked = _periods(part) or _periods(whole)
    rated = _rated(question, [c for c in usable if _in_period(asked, c)], reader)
    rated = [one for one in rated if one.stands] or rated
    if not rated or rated[0].relevance < least:
        return []
    near = [
        one
        for one in rated
        if one.relevance >= FALL_OFF * rated[0].relevance and one.order >= rated[0].order - WITHIN
    ]
    near = _distinct(near)[:most]
    claims = [
        (one.candidate.chunk.context, _in_columns(part or whole, one.candidate, claim, reader))
        for one in (*near, *_of_unsaid_names(part or whole, near, rated))
        for claim in one.claims
    ]
    scores = reader.order(question, [(context, claim.text) for context, claim in claims])
    return [claims[at][1] for at in sorted(range(len(claims)), key=lambda at: -scores[at])]


@dataclass(frozen=True, slots=True)
class _Rated:
    """A candidate, how well it answers (`Reader`), and what it claims; never without a claim."""

    candidate: QuotableSentence
    order: float
    relevance: float
    claims: Sequence[Claim]

    @property
    def stands(self) -> bool:
        """Say whether all that it claims can be read by itself."""
        return not any(claim.problems for claim in self.claims)


def _of_unsaid_names(
    question: str, near: Sequence[_Rated], rated: Sequence[_Rated]
) -> list[_Rated]:
    """Return the best of *rated* for each name or year of *question* that *near* does not hold.

    "More parking in Elverton or in Skarholm?" is not answered by what is said of one of them.
    """
    found: list[_Rated] = []
    for word in asked_words(question):
        if word.telling and not any(_holds(one, word.text) for one in (*near, *found)):
            found += [one for one in rated if _holds(one, word.text)][:1]
    return found[: MOST_SENTENCES - 1]


def _holds(one: _Rated, name: str) -> bool:
    text = f"{one.candidate.chunk.context}\n{_self_contained(one.candidate).text}"
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _rated(question: str, candidates: Sequence[QuotableSentence], reader: Reader) -> list[_Rated]:
    """Return the first of *candidates* that are on the topic and instruct nobody, best first."""
    texts = [(c.chunk.context, _self_contained(c).text) for c in candidates]
    if not texts:
        return []
    scores = zip(
        candidates, reader.order(question, texts), reader.relevance(question, texts), strict=True
    )
    ranked = sorted((one for one in scores if one[2] >= RELATED), key=lambda one: -one[1])
    first = ranked[:_LOOKED_INTO]
    told = instruct([candidate for candidate, _, _ in first], reader)
    made = [
        _Rated(candidate, order, relevance, _claims(candidate))
        for (candidate, order, relevance), instructs in zip(first, told, strict=True)
        if not instructs
    ]
    return [one for one in made if one.claims]


def _with_neighbours(candidate: QuotableSentence) -> str:
    """Return the sentence with those around it, `_READ_TOGETHER` words at most."""
    spans = sorted(candidate.chunk.spans, key=lambda span: span.start)
    first = last = spans.index(candidate.span)
    left = _READ_TOGETHER - len(candidate.span.sentence.split())
    grown = True
    while grown:
        grown = False
        for at in (first - 1, last + 1):
            words = len(spans[at].sentence.split()) if 0 <= at < len(spans) else left + 1
            if words <= left:
                first, last, left, grown = min(first, at), max(last, at), left - words, True
    return candidate.chunk.text[spans[first].start : spans[last].end]


def _is_usable(candidate: QuotableSentence) -> bool:
    span, chunk = candidate.span, candidate.chunk
    sound = math.isfinite(candidate.score) and chunk.text[span.start : span.end] == span.sentence
    return span.visible and sound and bool(span.sentence.strip())


def _before(chunk: EvidenceChunk, span: SentenceSpan) -> SentenceSpan | None:
    """Return the visible sentence before *span* in the same paragraph of its chunk, if any."""
    earlier = [s for s in chunk.spans if s.visible and s.end <= span.start]
    last = max(earlier, key=lambda s: s.end, default=None)
    return None if last is None or "\n\n" in chunk.text[last.end : span.start] else last


def _periods(text: str) -> frozenset[str]:
    """Return the years, quarters and dates in *text*, in canonical form.

    A day or a month of any year is none: "between October and April" speaks of January too.
    """
    kinds = {"year", "period", "date"}
    found = (q.value for q in find_quantities(text) if q.kind in kinds)
    return frozenset(value for value in found if not value.startswith("--"))


def _in_period(asked: frozenset[str], candidate: QuotableSentence) -> bool:
    """Say whether the sentence may speak of a period that is asked for.

    Revenue of another quarter, or of the whole year, is not the revenue of the third quarter.
    A sentence that names no period takes the one of its headings.
    """
    source = candidate.chunk.source
    for text in (candidate.span.sentence, source.section, source.title):
        named = _periods(text) if asked else frozenset()
        if named:
            return any(is_within(name, period) for name in named for period in asked)
    return True


def _states(candidate: QuotableSentence) -> bool:
    """Say whether the sentence states something, by itself or under its lead or heading."""
    text = candidate.span.sentence
    unfit = problems(text, max_tokens=4 * MAX_CLAIM_TOKENS)
    if not any(problem.startswith("not_checkable:") for problem in unfit):
        return True
    fragment = any("heading or a fragment" in problem for problem in unfit)
    figure = any(c.isdigit() for c in text) and _heading_noun(candidate.chunk)
    return bool(list_around(candidate.chunk, candidate.span)) or (fragment and bool(figure))


def _distinct(rated: Sequence[_Rated]) -> list[_Rated]:
    """Drop sentences that say the same as one before them, in the same figures."""
    kept: list[_Rated] = []
    for one in rated:
        if not any(_same(one.candidate, other.candidate) for other in kept):
            kept.append(one)
    return kept


def _same(one: QuotableSentence, other: QuotableSentence) -> bool:
    first, second = _words(one), _words(other)
    figures = [
        {w for w in words if w[:1].isdigit() or w in NUMBER_WORDS} for words in (first, second)
    ]
    if figures[0] != figures[1] or (first ^ second) & {"not", "no", "never", "only", "cannot"}:
        return False
    union = first | second
    return not union or len(first & second) / len(union) >= _DUPLICATE


def _words(candidate: QuotableSentence) -> frozenset[str]:
    return frozenset(re.findall(r"\w+(?:[.,]\d+)*", _self_contained(candidate).text.lower()))


def _claims(candidate: QuotableSentence) -> list[Claim]:
    """Return the checkable claims of one sentence, each pointing at its spans.

    What can stand as it is written is one claim, word for word, so that no condition and no
    reason is cut from it.
    """
    statement = _self_contained(candidate)
    spans = _quoted(candidate)
    whole = make_claim(statement.text, statement.start, statement.end, statement.given, quoted=True)
    claims = (whole,) if not whole.problems else statement_claims(statement)
    references = tuple(SpanRef(candidate.chunk.chunk_id, span.span_id) for span in spans)
    return [
        replace(claim, evidence_candidates=references)
        for claim in claims
        if not is_uncheckable(claim)
    ]


def _in_columns(question: str, candidate: QuotableSentence, claim: Claim, reader: Reader) -> Claim:
    """Return the *claim* that a table row makes in the columns that answer *question* best.

    What is no row stays as it is; where no column alone answers as well as the row, all are said.
    """
    cells = row_cells(claim.text)
    if len(cells) < 2:
        return claim
    columns = range(1, len(cells))
    parts = [cells, *(cells[:1] + cells[at : at + 1] for at in columns)]
    texts = ["; ".join(f"{cell.name}: {cell.value}" for cell in part) for part in parts]
    scores = reader.relevance(question, [(candidate.chunk.context, text) for text in texts])
    least = _OF_THE_ROW * max(scores)
    wanted = [at for at in columns if scores[at] >= least] or list(columns)
    text = row_sentence(cells, wanted[:MOST_SENTENCES])
    made = make_claim(text, claim.draft_start, claim.draft_end, (), quoted=True)
    return replace(made, evidence_candidates=claim.evidence_candidates)


def _quoted(candidate: QuotableSentence) -> list[SentenceSpan]:
    """Return the span with the list that it stands in, or with what it points back at.

    Of a list that is too long for one claim, the line that leads into it and the item. Only the
    candidate's own span where they do not stand together in one paragraph, or would be too long.
    """
    listed = list_around(candidate.chunk, candidate.span)
    if listed and sum(len(span.sentence.split()) for span in listed) <= _LONGEST_LIST:
        return list(listed)
    if _is_led(listed) and candidate.span != listed[0]:
        return [listed[0], candidate.span]
    run = [candidate.span]
    while pointing_words(unbulleted(run[0].sentence)) and len(run) < _MOST_TOGETHER:
        before = _before(candidate.chunk, run[0])
        if before is None:
            break
        run.insert(0, before)
    words = sum(len(span.sentence.split()) for span in run)
    fits = words <= MAX_CLAIM_TOKENS and not pointing_words(unbulleted(run[0].sentence))
    return run if fits and not any(map(_states_nothing, run[:-1])) else [candidate.span]


def _states_nothing(span: SentenceSpan) -> bool:
    found = problems(unbulleted(span.sentence), max_tokens=MAX_CLAIM_TOKENS, quoted=True)
    return any(problem.startswith("not_checkable:") for problem in found)


def _is_led(run: Sequence[SentenceSpan]) -> bool:
    return bool(run) and run[0].sentence.rstrip().endswith(":")


def _self_contained(candidate: QuotableSentence) -> Statement:
    """Return the sentence with those that it points at or is listed with, or under its heading."""
    run = _quoted(candidate)
    sentences = [span.sentence for span in run]
    fragment = "heading or a fragment" in "".join(
        problems(as_quoted(sentences), max_tokens=MAX_CLAIM_TOKENS)
    )
    listed = list(list_around(candidate.chunk, run[0]))
    headed = fragment or (len(run) > 1 and run == listed)
    heading = "" if _is_led(run) or not headed else _heading_noun(candidate.chunk)
    text = as_quoted(_with_gaps(sentences, run, listed), heading)
    places = [-1] * len(text)
    end = len(heading)
    for span in run:
        part = unbulleted(span.sentence)
        at, offset = text.index(part, end), span.start + span.sentence.index(part)
        end = at + len(part)
        places[at:end] = range(offset, offset + len(part))
    given = (heading,) if heading else ()
    return Statement(text, run[0].start, run[-1].end, tuple(places), given=given)


def _with_gaps(
    sentences: list[str], run: Sequence[SentenceSpan], listed: Sequence[SentenceSpan]
) -> list[str]:
    """Mark where items of the list are left out: "all of these: […] a ticket; […]"."""
    if not _is_led(run) or len(run) < 2 or len(run) == len(listed):
        return sentences
    before = [LEFT_OUT] * (run[1] != listed[1])
    after = [LEFT_OUT] * (run[-1] != listed[-1])
    return [sentences[0], *before, *sentences[1:], *after]


def _heading_noun(chunk: EvidenceChunk) -> str:
    """Return the nearest heading over *chunk* if it can be a subject; a question cannot."""
    for name in (chunk.source.section.split(" › ")[-1].strip(), chunk.source.title.strip()):
        if name and not name.endswith("?") and len(name.split()) <= 8:
            return name.rstrip(":.")
    return ""
