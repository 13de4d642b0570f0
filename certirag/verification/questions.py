"""A claim in, the questions that would check it out: one for each part that evidence can settle.

Chain-of-Verification (Dhuliawala et al. 2023, arXiv:2309.11495) without a model: the questions are
cut from the claim by rules, and each is the claim with its own answer taken out. A `Question` has no
field for that answer, so whoever answers it cannot repeat it (fifth seed, Stage 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from certirag.core.claim import Quantity
from certirag.core.verdict import QuestionKind
from certirag.quantities.compare import FigureReading, reading_of
from certirag.quantities.figured_sentence import Sentence, read_sentence
from certirag.quantities.period import aligned_periods
from certirag.quantities.roles import role_of
from certirag.quantities.subject import place
from certirag.quantities.units import base_unit
from certirag.verification.lexical.markers import PARTIAL, UNIVERSAL
from certirag.verification.lexical.predicate_clauses import Clause, Parsed, parse
from certirag.verification.lexical.word_tokens import WordToken

MAX_QUESTIONS: Final = 12
GAP: Final = "___"
# A longer claim is no atomic statement; none is asked about it, so that it stays unanswered.
LONGEST: Final = 2_000
# These say how near a figure is; the question about the figure reads them.
_NEARNESS: Final = frozenset({"nearly", "almost", "likely", "unlikely"})


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, without the claim's answer.

    *text* is for a reader: the claim with a gap. *about* are the stems or lemmas of the rest of
    the claim, by which the place of the answer is found; *dimension*, *role* and *periods* say
    what sort of figure is asked for: "USD", "from", {"2024-Q3"}.
    """

    kind: QuestionKind
    text: str
    about: frozenset[str]
    dimension: str = ""
    role: str = ""
    periods: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, of a claim or of evidence: *words* verbatim or in one word, and what is compared.

    *figures* are amounts as read in their clauses, *dates* canonical dates and periods, *terms*
    lemmas. Where a text has several places that fit equally, all of them are the answer.
    """

    words: tuple[str, ...]
    figures: tuple[FigureReading, ...] = ()
    dates: tuple[str, ...] = ()
    terms: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and beside it what the claim itself answers."""

    question: Question
    said: Answer


def questions_of(claim: str) -> tuple[Asked, ...]:
    """Return the questions about *claim*, at most `MAX_QUESTIONS`, in the order of their kinds.

    A claim that states nothing that evidence could settle has none.
    """
    if len(claim) > LONGEST:
        return ()
    sentence, parsed = read_sentence(claim), parse(claim)
    found = [*_figures(sentence), *_names(parsed), *_clause(parsed), *_quantifiers(parsed)]
    return tuple(found[:MAX_QUESTIONS])


def dimension_of(quantity: Quantity) -> str:
    """Return what sort of thing *quantity* counts: its unit up to exact conversion."""
    if quantity.kind == "ordinal":
        return "ordinal"
    return base_unit(quantity.unit.partition("/")[0])[0] or "number"


def reading(sentence: Sentence, quantity: Quantity) -> FigureReading:
    """Return *quantity* as its own clause reads it."""
    return reading_of(sentence, quantity, place(sentence, quantity).segment)


def is_trivial(quantity: Quantity) -> bool:
    """Say whether the figure is the word "one", which counts as often as it points."""
    return quantity.text.casefold() == "one"


def stated_clause(parsed: Parsed) -> Clause | None:
    """Return the first clause with a verb that states something, or None."""
    stating = ("main", "coordinate", "contrast")
    clauses = [c for c in parsed.clauses if c.kind in stating and c.verb is not None]
    return clauses[0] if clauses else None


def lemmas_of(parsed: Parsed, clause: Clause) -> frozenset[str]:
    """Return the lemmas of *clause* that state something, figures in their canonical form."""
    return frozenset(parsed.tokens[at].lemma for at in clause.tokens if parsed.tokens[at].carries)


def denials(clause: Clause) -> int:
    """Count what turns a clause into its contrary: each "not", and "is forbidden"."""
    return clause.negations + (clause.modality in {"ban", "exempt"})


def _gapped(text: str, start: int, end: int) -> str:
    return f"{text[:start]}{GAP}{text[end:]}"


def _figures(sentence: Sentence) -> Iterator[Asked]:
    for quantity in sentence.quantities:
        if is_trivial(quantity):
            continue
        temporal = quantity in sentence.temporals()
        question = Question(
            kind="when" if temporal else "amount",
            text=_gapped(sentence.text, quantity.start, quantity.end),
            about=place(sentence, quantity).segment.stems(),
            dimension="" if temporal else dimension_of(quantity),
            role=role_of(sentence, quantity),
            periods=frozenset() if temporal else aligned_periods(sentence, quantity).values,
        )
        if temporal:
            yield Asked(question, Answer((quantity.text,), dates=(quantity.value,)))
        else:
            yield Asked(question, Answer((quantity.text,), (reading(sentence, quantity),)))


def _names(parsed: Parsed) -> Iterator[Asked]:
    """Ask for each run of names; the other names of the claim say which one is meant."""
    runs: list[list[int]] = []
    for at, token in enumerate(parsed.tokens):
        if token.kind == "name" and token.text[0].isalpha():
            if runs and runs[-1][-1] == at - 1:
                runs[-1].append(at)
            else:
                runs.append([at])
    every = frozenset(t.lemma for t in parsed.tokens if t.carries)
    for run in runs:
        tokens = [parsed.tokens[at] for at in run]
        words = " ".join(token.text for token in tokens)
        terms = frozenset(token.lemma for token in tokens)
        start = parsed.text.find(words)
        text = _gapped(parsed.text, start, start + len(words)) if start >= 0 else parsed.text
        if start >= 0:
            yield Asked(Question("name", text, every - terms), Answer((words,), terms=terms))
    yield from _roles(parsed, runs)


def _roles(parsed: Parsed, runs: list[list[int]]) -> Iterator[Asked]:
    """Ask who does it to whom, where one name stands before the verb and one after it."""
    clause = stated_clause(parsed)
    if clause is None or clause.verb is None:
        return
    verb = clause.verb
    inside = [run for run in runs if set(run) <= set(clause.tokens)]
    before = [run for run in inside if run[-1] < verb]
    after = [run for run in inside if run[0] > verb]
    if len(before) != 1 or len(after) != 1:
        return
    first, second = (_lemmas(parsed, run) for run in (before[0], after[0]))
    if not first or not second or first & second:
        return
    names = frozenset(first | second)
    said = " → ".join(" ".join(parsed.tokens[at].text for at in r) for r in (before[0], after[0]))
    order = "swapped" if clause.passive else "direct"
    question = Question("roles", f"Who to whom: {parsed.text}", names, role=" ".join(sorted(first)))
    yield Asked(question, Answer((said,), terms=frozenset({order})))


def _lemmas(parsed: Parsed, run: list[int]) -> frozenset[str]:
    return frozenset(parsed.tokens[at].lemma for at in run)


def _clause(parsed: Parsed) -> Iterator[Asked]:
    """Ask whether the claim's first statement holds, and whether it must, may or does."""
    clause = stated_clause(parsed)
    if clause is None:
        return
    about = lemmas_of(parsed, clause)
    if len(about) < 2:
        return
    denied = denials(clause) % 2 == 1
    plain = " ".join(
        t.text for at, t in enumerate(parsed.tokens) if at in clause.tokens and not _turns(t)
    )
    so = "not so" if denied else "so"
    yield Asked(Question("polarity", f"So or not so: {plain}", about), Answer((so,)))
    if not denied:
        text = f"Must, may or does: {plain}"
        yield Asked(Question("modality", text, about), Answer((clause.modality,)))


def _turns(token: WordToken) -> bool:
    return token.kind in {"negation", "modal"}


def _quantifiers(parsed: Parsed) -> Iterator[Asked]:
    """Ask how much of a thing is meant where the claim says all, most, some or only."""
    denied = any(clause.negations for clause in parsed.clauses)
    for token, following in pairwise((*parsed.tokens, None)):
        word = token.text.casefold() if token is not None else ""
        if token is None or token.kind not in {"quantifier", "restrictor"}:
            continue
        if word in _NEARNESS or (word == "any" and denied):
            continue
        noun = following.lemma if following is not None else ""
        start = parsed.text.casefold().find(word)
        text = _gapped(parsed.text, start, start + len(word)) if start >= 0 else parsed.text
        lemmas = frozenset(t.lemma for t in parsed.tokens if t.carries)
        yield Asked(
            Question("quantifier", text, lemmas, role=noun),
            Answer((word,), terms=frozenset({scope_of(word)})),
        )


def scope_of(word: str) -> str:
    """Return how much a word of scope covers: "all", a limit as its own word, or the word."""
    if word in UNIVERSAL:
        return "all"
    if word in PARTIAL:
        return word
    return _LIMITS.get(word, word)


_LIMITS: Final = {
    "only": "only", "solely": "only", "exclusively": "only", "alone": "only", "merely": "only",
    "except": "except", "excluding": "except", "unless": "except", "barring": "except",
    "save": "except", "bar": "except", "apart": "except",
    "until": "until", "till": "until",
}  # fmt: skip
