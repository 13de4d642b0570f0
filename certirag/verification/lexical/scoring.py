"""Turns the comparison of a claim with evidence into three scores that sum to one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from certirag.claims.lists_and_rows import quotations, reads_row, without_gaps
from certirag.claims.split import split_claims
from certirag.quantities.compare import in_one_notation
from certirag.quantities.derive import explain_quantities
from certirag.quantities.figured_sentence import read_sentence
from certirag.quantities.match import unmatched_quantities
from certirag.text.word_classes import word_set
from certirag.verification.lexical import (
    checks,
    dropped,
    framing,
    polarity,
    sides,
)
from certirag.verification.lexical.alignment import (
    Check,
    CheckFinding,
    Comparison,
    align,
    from_context,
    unsaid_verb,
)
from certirag.verification.lexical.framing import named_source, superseded, title_of
from certirag.verification.lexical.markers import PRONOUNS
from certirag.verification.lexical.predicate_clauses import Parsed, parse
from certirag.verification.lexical.row_claims import ClaimedCell, cells_of, read_row
from certirag.verification.lexical.word_tokens import WordToken, folded, tokenise

CHECKS: Final[tuple[Check, ...]] = (
    checks.numbers,
    checks.names,
    checks.quotations,
    checks.restrictors,
    checks.opposites,
    polarity.polarity,
    polarity.modality,
    checks.order,
    sides.sides,
    sides.joints,
    framing.framing,
    dropped.dropped,
)
VERBATIM: Final = 0.99
REARRANGED: Final = 0.97
RECOMPUTED: Final = 0.97  # as sure as the same words in another order
VETO_CEILING: Final = 0.45
MISSING_CEILING: Final = 0.80
ROW_CEILING: Final = 0.93
VERB_CEILING: Final = 0.84


@dataclass(frozen=True, slots=True)
class Scores:
    """Entailed and contradicted in [0, 1], together at most 1, with the reasons against."""

    entailed: float
    contradicted: float
    findings: tuple[CheckFinding, ...] = ()


NOTHING: Final = Scores(0.0, 0.0)


def compare(claim: str, evidence: str, context: Sequence[WordToken]) -> Scores:
    """Score one claim against one evidence sentence; *context* may supply its subject."""
    left, right = parse(claim), parse(evidence)
    if not _states_something(left) or not _states_something(right):
        return NOTHING
    if framing.is_question(evidence):
        return NOTHING
    if _plain(claim) == _plain(evidence) or _noted(claim) == _noted(evidence):
        return Scores(VERBATIM, 0.0)
    if reads_row(claim, evidence):
        return Scores(VERBATIM, 0.0)
    if dropped.says_the_same(claim, evidence):
        return Scores(REARRANGED, 0.0)
    cells = cells_of(evidence)
    if cells:
        return _from_row(claim, cells, tuple(context))
    comparison = Comparison(left, right, align(left, right, tuple(context)))
    if not comparison.used():
        return NOTHING
    findings = tuple(finding for check in CHECKS for finding in check(comparison))
    absent = tuple(checks.missing(comparison))
    entailed = _entailed(comparison, findings, absent)
    return Scores(entailed, polarity.contradicted(comparison, findings, absent), findings + absent)


def _from_row(claim: str, cells: tuple[ClaimedCell, ...], context: tuple[WordToken, ...]) -> Scores:
    reading = read_row(claim, cells, context)
    findings = tuple(CheckFinding("row", reason) for reason in reading.against)
    if not findings:
        return Scores(ROW_CEILING, 0.0)
    return Scores(VETO_CEILING * reading.coverage**2, 0.75 if reading.rival else 0.0, findings)


def _states_something(parsed: Parsed) -> bool:
    return any(token.carries for token in parsed.tokens)


def _plain(text: str) -> str:
    """The text in one case with single blanks and without its closing mark; nothing else goes."""
    return " ".join(folded(text).casefold().split()).rstrip(".!; ")


def _noted(text: str) -> str:
    return _plain(in_one_notation(read_sentence(text)))


def _entailed(
    comparison: Comparison, findings: tuple[CheckFinding, ...], absent: tuple[CheckFinding, ...]
) -> float:
    coverage = comparison.alignment.coverage
    score = max(0.0, min(1.0, 0.50 + (coverage - 0.75) * 1.88)) if coverage >= 0.5 else 0.0
    if findings:
        return min(score, VETO_CEILING, VETO_CEILING * coverage / (1 + 0.2 * (len(findings) - 1)))
    carrying = [token for token in comparison.claim.tokens if token.carries]
    if absent or len(carrying) < 2:
        score = min(score, MISSING_CEILING)
    if unsaid_verb(comparison):
        score = min(score, VERB_CEILING)
    if from_context(comparison) > len(comparison.used()):
        score = min(score, MISSING_CEILING)
    return min(score, 0.98)


@lru_cache(maxsize=2048)
def sentences(text: str) -> tuple[str, ...]:
    """Cut evidence into sentences at line ends and full stops; abbreviations are kept whole."""
    found: list[str] = []
    for line in text.splitlines():
        start = 0
        for end in re.finditer(r"[.!?][\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])", line):
            word = re.split(r"[\s(]", line[start : end.start()])[-1]
            if word in _ABBREVIATIONS or len(word) == 1:
                continue
            found.append(line[start : end.end()].strip())
            start = end.end()
        found.append(line[start:].strip())
    return tuple(sentence for sentence in found if sentence)


_ABBREVIATIONS: Final = word_set(
    "Dr Gov Sen Rep Gen Col Lt Mr Mrs Ms Prof St No Nos vs etc e.g i.e approx ca Inc Ltd Co Corp Jr Sr Fig Art Sec"
)


def subject_words(sentence: str) -> tuple[WordToken, ...]:
    """The words before the verb of a sentence: what a pronoun after it may stand for."""
    parsed = parse(sentence)
    first = parsed.clauses[0]
    return tuple(parsed.tokens[at] for at in first.subject() if parsed.tokens[at].carries)


def leads_with_pronoun(sentence: str) -> bool:
    """Say whether the sentence leaves its subject to the one before it."""
    words = [token.text.lower() for token in tokenise(sentence)[:2] if token.text.isalpha()]
    return bool(words) and words[0] in PRONOUNS and words[0] not in {"we", "you", "there", "here"}


def score(claim: str, evidence: str, context: str) -> Scores:
    """Score a claim against evidence of any length: the best sentence decides.

    A claim that does nothing but compute with figures of the evidence is supported when the result
    is right. In long evidence only the sentences that share most with the claim are compared; all
    of it is read to find them. Opposition counts where no sentence bears the claim out.
    """
    heading = title_of(context) if named_source(claim) else context
    headings = tuple(token for token in tokenise(heading) if token.carries)
    lines = sentences(evidence)
    explained = explain_quantities(claim, lines, context)
    if explained.derived and not explained.missing:
        return Scores(RECOMPUTED, 0.0)
    best, worst = NOTHING, NOTHING
    if _is_quotation(claim, lines, evidence, context):
        best = Scores(VERBATIM, 0.0)
    for number in _promising(claim, lines):
        support = headings
        if number and leads_with_pronoun(lines[number]):
            support = headings + subject_words(lines[number - 1])
        found = compare(claim, lines[number], support)
        best = found if found.entailed > best.entailed else best
        found = _certain(found, claim, lines[number], context)
        worst = found if found.contradicted > worst.contradicted else worst
        for fact in _facts(claim):
            found = _certain(compare(fact, lines[number], support), fact, lines[number], context)
            worst = found if found.contradicted > worst.contradicted else worst
    best = _with_whole_evidence(best, claim, lines, context)
    if best.entailed >= 0.5:
        return replace(best, contradicted=min(worst.contradicted, 0.9 * (1 - best.entailed)))
    if superseded(claim, context):
        worst = replace(worst, contradicted=min(worst.contradicted, VETO_CEILING))
    chosen = worst if worst.contradicted else best
    return replace(chosen, entailed=min(best.entailed, 1 - worst.contradicted))


def _is_quotation(claim: str, lines: Sequence[str], evidence: str, context: str) -> bool:
    """Say whether *claim* is several sentences of *evidence*, a list, or one under its heading."""
    if not any(map(str.isalnum, evidence)) or any(map(framing.is_question, lines)):
        return False
    alone, headed = quotations(evidence.splitlines(), context)
    quoted = (evidence, alone, headed) if len(lines) > 1 else (headed,)
    return _plain(without_gaps(claim)) in map(_plain, quoted)


@lru_cache(maxsize=256)
def _facts(claim: str) -> tuple[str, ...]:
    """Return the facts of a claim that states several, () of a plain one.

    A quotation may state several: what speaks against one of them speaks against it.
    """
    facts = [piece.text for sentence in sentences(claim) for piece in split_claims(sentence)]
    return tuple(facts) if len(facts) > 1 else ()


def _certain(found: Scores, claim: str, line: str, context: str) -> Scores:
    """Take back a contradiction by a figure that is the same one, or of another period."""
    if not found.contradicted:
        return found
    if polarity.same_figures(found.findings, claim, line, context):
        return replace(found, contradicted=0.0)
    if polarity.other_period(found.findings, claim, context):
        return replace(found, contradicted=min(found.contradicted, polarity.DOUBTFUL))
    return found


def _with_whole_evidence(best: Scores, claim: str, lines: tuple[str, ...], context: str) -> Scores:
    """Hold a good score to the figures of all the evidence, and to its being in force."""
    if best.entailed <= VETO_CEILING:
        return best
    reasons = []
    if best.entailed < VERBATIM:
        missed = unmatched_quantities(claim, lines, context)
        reasons = [CheckFinding("number", mismatch.reason) for mismatch in missed]
    if superseded(claim, context):
        reasons.append(CheckFinding("superseded", "the document says that it no longer holds"))
    if framing.takes_back(context) and not framing.takes_back(claim):
        reasons.append(CheckFinding("frame", "the heading takes back what stands below it"))
    if not reasons:
        return best
    return Scores(min(best.entailed, VETO_CEILING), 0.0, best.findings + tuple(reasons))


_MOST_SENTENCES: Final = 24


def _promising(claim: str, lines: tuple[str, ...]) -> list[int]:
    """Sentence numbers in order; in long evidence the ones that share most with the claim."""
    if len(lines) <= _MOST_SENTENCES:
        return list(range(len(lines)))
    wanted = {token.lemma for token in tokenise(claim) if token.carries}
    shared = [len(wanted & {t.lemma for t in tokenise(line)}) for line in lines]
    ranked = sorted(range(len(lines)), key=lambda at: (-shared[at], at))
    return sorted(ranked[:_MOST_SENTENCES])
