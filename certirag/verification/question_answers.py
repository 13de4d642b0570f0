"""Questions about a claim, answered from the evidence alone and compared with what the claim says.

What the claim answers is not given to whoever looks the answer up: `answer_from_evidence` takes a
`Question`, which has no field for it. An answer that differs, or that the evidence does not hold,
can only take support back (`depth`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from certirag.core.claim import Quantity
from certirag.core.verdict import Outcome, QuestionRecord
from certirag.quantities.compare import amount_mismatch
from certirag.quantities.figured_sentence import Sentence, read_sentence
from certirag.quantities.period import aligned_periods, completed, covers_date
from certirag.quantities.roles import role_of
from certirag.quantities.subject import place
from certirag.verification.lexical.alignment import complementary, opposite
from certirag.verification.lexical.lemmas import same_family
from certirag.verification.lexical.lexicon import SYNONYMS
from certirag.verification.lexical.markers import PARTIAL
from certirag.verification.lexical.predicate_clauses import Clause, Parsed, parse
from certirag.verification.lexical.scoring import sentences
from certirag.verification.questions import (
    Answer,
    Asked,
    Question,
    denials,
    dimension_of,
    is_trivial,
    lemmas_of,
    questions_of,
    reading,
    scope_of,
)

_MOST_LINES: Final = 40
_LONGEST_SHOWN: Final = 200
# (evidence, claim): what a claim may say where the evidence says it otherwise.
_MODALITY_HELD: Final = frozenset(
    {(a, b) for a in ("must", "need", "plain") for b in ("must", "need", "plain")}
    | {("must", "should"), ("need", "should"), ("plain", "may"), ("plain", "might")}
    | {("may", "might")}
)


def question_records(claim: str, evidence: str, context: str) -> tuple[QuestionRecord, ...]:
    """Put the questions about *claim* to *evidence* with its headings; () where there is none.

    Sentences that say the claim word for word answer every question as the claim does. Who
    does it to whom is put only to evidence that names both in one clause: a claim may join what
    stands apart, and on the recorded drafts the open question cost true claims and caught nothing.
    """
    lines = sentences(evidence)[:_MOST_LINES]
    if _says_in_full(claim, lines):
        return tuple(_record(asked, asked.said) for asked in questions_of(claim))
    records = [
        _record(asked, answer_from_evidence(asked.question, evidence, context))
        for asked in questions_of(claim)
    ]
    return tuple(r for r in records if (r.kind, r.outcome) != ("roles", "not_found"))


def _says_in_full(claim: str, lines: Sequence[str]) -> bool:
    """Say whether lines that follow one another are *claim*, sentence for sentence."""
    said, held = [_plain(one) for one in sentences(claim)], [_plain(line) for line in lines]
    return bool(said) and any(held[at : at + len(said)] == said for at in range(len(held)))


def _record(asked: Asked, found: Answer | None) -> QuestionRecord:
    said, answer = asked.said, found.words if found else ()
    return QuestionRecord(
        kind=asked.question.kind,
        question=asked.question.text[:_LONGEST_SHOWN],
        said=" ".join(said.words)[:_LONGEST_SHOWN],
        answer="; ".join(answer)[:_LONGEST_SHOWN],
        outcome=outcome_of(asked, found),
    )


def answer_from_evidence(question: Question, evidence: str, context: str = "") -> Answer | None:
    """Return what *evidence* answers, or None; *context* may supply names, dates and periods."""
    lines = sentences(evidence)[:_MOST_LINES]
    if question.kind == "amount":
        return _amount(question, lines, context)
    if question.kind == "when":
        return _when(question, lines, context)
    if question.kind == "name":
        return _names(question, lines, context)
    if question.kind == "quantifier":
        return _scope(question, lines)
    if question.kind == "roles":
        return _order(question, lines)
    return _statement(question, lines)


def outcome_of(asked: Asked, found: Answer | None) -> Outcome:
    """Say whether the evidence answers as the claim does."""
    if found is None:
        return "not_found"
    kind, said = asked.question.kind, asked.said
    if kind == "amount":
        same = any(not amount_mismatch(said.figures[0], other) for other in found.figures)
    elif kind == "when":
        same = any(covers_date(said.dates[0], other) for other in found.dates)
    elif kind == "name":
        same = said.terms <= found.terms or _spelled_out(said.words[0], found.words)
        return "agree" if same else "not_found"
    elif kind == "modality":
        same = (found.words[0], said.words[0]) in _MODALITY_HELD or found.words == said.words
    elif kind == "quantifier":
        return _scope_outcome(said.terms, found.terms)
    elif kind == "roles":
        same = said.terms == found.terms
    else:
        same = said.words == found.words
    return "agree" if same else "differ"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!; ")


def _amount(question: Question, lines: Sequence[str], context: str) -> Answer | None:
    ranked: list[tuple[float, Sentence, Quantity]] = []
    headings = frozenset(q.value for q in read_sentence(context).temporals())
    for sentence in map(read_sentence, lines):
        for other in sentence.amounts():
            if dimension_of(other) != question.dimension or is_trivial(other):
                continue
            own = aligned_periods(sentence, other).values or headings
            fit = _fit(question, sentence, other)
            if question.periods and own:
                fit += 2.0 if question.periods & own else -2.0
            ranked.append((fit, sentence, other))
    best = _best(ranked)
    figures = tuple(reading(sentence, quantity) for sentence, quantity in best)
    return Answer(tuple(q.text for _, q in best), figures) if figures else None


def _when(question: Question, lines: Sequence[str], context: str) -> Answer | None:
    headings = frozenset(q.value for q in read_sentence(context).temporals())
    ranked = [
        (_fit(question, sentence, other), sentence, other)
        for sentence in map(read_sentence, lines)
        for other in sentence.temporals()
    ]
    found = [(q.text, completed(q.value, headings)) for _, q in _best(ranked)]
    found += [(value, value) for value in sorted(headings)]
    if not found:
        return None
    return Answer(tuple(text for text, _ in found), dates=tuple(value for _, value in found))


def _fit(question: Question, sentence: Sentence, quantity: Quantity) -> float:
    """Say how well a figure's place fits the question: shared words near it, role, sentence."""
    near = question.about & place(sentence, quantity).segment.stems()
    fit = len(near) + 0.25 * len(question.about & sentence.stems())
    role = role_of(sentence, quantity)
    if role and question.role:
        fit += 1.0 if role == question.role else -1.0
    return fit


def _best(ranked: Sequence[tuple[float, Sentence, Quantity]]) -> list[tuple[Sentence, Quantity]]:
    top = max((fit for fit, _, _ in ranked), default=0.0)
    return [(sentence, quantity) for fit, sentence, quantity in ranked if fit >= top]


def _names(question: Question, lines: Sequence[str], context: str) -> Answer | None:
    """Return the names in evidence and headings that the question does not hold already."""
    found: dict[str, str] = {}
    for line in (*lines, context):
        for token in parse(line).tokens:
            if token.carries and token.text[0].isalpha() and token.lemma not in question.about:
                found.setdefault(token.lemma, token.text)
    return Answer(tuple(found.values()), terms=frozenset(found)) if found else None


def _spelled_out(name: str, words: Sequence[str]) -> bool:
    """Say whether *name* is the initials of words that stand together, or the other way about."""
    short = "".join(character for character in name if character.isalpha())
    initials = "".join(word[0].upper() for word in words)
    return short.isupper() and 2 <= len(short) <= 6 and short in initials


def _scope(question: Question, lines: Sequence[str]) -> Answer | None:
    """Return the words of scope in the line that shares most with the question."""
    best = _line(question.about, lines)
    if best is None:
        return None
    words = [
        token.text.casefold() for token in best.tokens if token.kind in {"quantifier", "restrictor"}
    ]
    return Answer(tuple(words), terms=frozenset(map(scope_of, words))) if words else None


def _scope_outcome(said: frozenset[str], found: frozenset[str]) -> Outcome:
    if said <= found:
        return "agree"
    partial = {word for word in found if word in PARTIAL}
    return "differ" if partial and ("all" in said or said & PARTIAL) else "not_found"


def _order(question: Question, lines: Sequence[str]) -> Answer | None:
    """Say in which order a clause names the two, seen as if it were in the active voice."""
    for parsed in map(parse, lines):
        for clause in parsed.clauses:
            named = [
                parsed.tokens[at].lemma
                for at in clause.tokens
                if parsed.tokens[at].lemma in question.about
            ]
            if clause.verb is None or set(named) != question.about:
                continue
            direct = (named[0] in question.role.split()) != clause.passive
            return Answer(
                (" → ".join(named),), terms=frozenset({"direct" if direct else "swapped"})
            )
    return None


def _statement(question: Question, lines: Sequence[str]) -> Answer | None:
    """Return "so" or "not so", or the modality, of the clause that shares most."""
    best: tuple[float, Parsed, Clause] | None = None
    for parsed in map(parse, lines):
        for clause in parsed.clauses:
            shared = _shared(question.about, lemmas_of(parsed, clause))
            if shared and (best is None or shared > best[0]):
                best = (shared, parsed, clause)
    if best is None:
        return None
    _, parsed, clause = best
    if question.kind == "modality":
        return Answer((clause.modality,))
    theirs = lemmas_of(parsed, clause)
    turned = denials(clause) + _turns(question.about, theirs)
    return Answer(("not so" if turned % 2 else "so",))


def _line(about: frozenset[str], lines: Sequence[str]) -> Parsed | None:
    parsed = [parse(line) for line in lines]
    scored = [
        (_shared(about, frozenset(t.lemma for t in p.tokens if t.carries)), p) for p in parsed
    ]
    best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] else None


def _shared(about: frozenset[str], theirs: frozenset[str]) -> float:
    """Count the words that the two share; kin, synonyms and opposites name the same matter."""
    return sum(1.0 if word in theirs else 0.9 if _kin(word, theirs) else 0.0 for word in about)


def _kin(word: str, theirs: Iterable[str]) -> bool:
    return any(
        same_family(word, other) or other in SYNONYMS.get(word, ()) or opposite(word, other)
        for other in theirs
    )


def _turns(about: frozenset[str], theirs: frozenset[str]) -> int:
    """Count the words of the question that the evidence says the opposite of."""
    left = [word for word in about if word not in theirs]
    rest = [word for word in theirs if word not in about]
    return sum(
        1
        for word in left
        if any(opposite(word, other) or complementary(word, other) for other in rest)
    )
