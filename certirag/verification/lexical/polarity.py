"""The checks of negation and modality, and how certain it is that evidence states the contrary.

Not, never, may, must, should, need not; and of a claim, not of something else.
"""

from __future__ import annotations

import re
from typing import Final

from certirag.quantities.find import find_quantities
from certirag.quantities.match import unmatched_quantities
from certirag.text.word_classes import word_set
from certirag.verification.lexical.alignment import (
    FROM_CONTEXT,
    CheckFinding,
    Comparison,
    complementary,
    from_context,
)
from certirag.verification.lexical.markers import PRONOUNS
from certirag.verification.lexical.predicate_clauses import Clause, Parsed


def polarity(comparison: Comparison) -> list[CheckFinding]:
    """Each clause is negated in the claim exactly where it is in the evidence."""
    findings = []
    for number, clause in enumerate(comparison.claim.clauses):
        home = comparison.counterpart(number)
        if home < 0:
            if clause.negations % 2 or (number and clause.verb is not None):
                findings.append(CheckFinding("negation", "nothing in the evidence says so"))
            continue
        other = comparison.evidence.clauses[home]
        here = clause.negations + (clause.modality in {"ban", "exempt"})
        there = other.negations + (other.modality in {"ban", "exempt"})
        there += _negative_subject(comparison, home)
        if (here + there) % 2 and not _complement_turns(comparison, number) % 2:
            opposes = clause.kind == "main" and other.kind in {"main", "coordinate"}
            opposes = opposes and len(comparison.claim.clauses) == 1 and _one_clause(comparison)
            opposes = opposes and not other.quantifiers
            findings.append(CheckFinding("negation", "one side is negated", opposes))
    return findings or _denied_words(comparison)[:1]


def _complement_turns(comparison: Comparison, number: int) -> int:
    """How many prefix opposites (paid, unpaid) a claim clause holds against its evidence."""
    return sum(
        1
        for at, position in comparison.alignment.opposed
        if comparison.claim.clause_of[at] == number
        and complementary(
            comparison.claim.tokens[at].lemma, comparison.evidence.tokens[position].lemma
        )
    )


def _one_clause(comparison: Comparison) -> bool:
    return len({comparison.evidence.clause_of[position] for position in comparison.used()}) == 1


def _denied_words(comparison: Comparison) -> list[CheckFinding]:
    """A word that the evidence names only to deny it (", not $40.1 million") bears nothing out."""
    findings = []
    for at, position in enumerate(comparison.alignment.target):
        if position < 0:
            continue
        here = comparison.claim.clauses[comparison.claim.clause_of[at]]
        there = comparison.evidence.clauses[comparison.evidence.clause_of[position]]
        stated = here.verb is None or at >= here.verb or there.verb is None
        if stated and there.negations % 2 and not here.negations % 2 and here.modality != "ban":
            text = comparison.evidence.tokens[position].text
            findings.append(CheckFinding("negation", f"the evidence denies {text}"))
    return findings


def _negative_subject(comparison: Comparison, number: int) -> int:
    """A ``no`` or ``neither`` before a shared subject negates the clauses that continue it."""
    clause = comparison.evidence.clauses[number]
    own = [at for at in clause.subject() if comparison.evidence.tokens[at].carries]
    if own or clause.kind != "coordinate" or clause.marker == ",":
        return 0
    subject = comparison.evidence.inherited_subject(number)
    if not subject or subject[0] == 0:
        return 0
    return int(comparison.evidence.tokens[subject[0] - 1].text.lower() in {"no", "neither"})


# (evidence, claim) pairs of modality that a claim may use without saying more.
_MODAL_OK: Final = frozenset(
    {
        ("must", "need"), ("need", "must"), ("must", "plain"), ("plain", "must"),
        ("need", "plain"), ("plain", "need"), ("must", "should"), ("need", "should"),
        ("plain", "may"), ("may", "might"), ("plain", "might"),
    }
)  # fmt: skip
_MODAL_OK_NEGATED: Final = frozenset(
    {
        ("must", "may"), ("may", "must"), ("must", "plain"), ("plain", "must"), ("may", "plain"),
        ("plain", "may"), ("ban", "may"), ("ban", "must"), ("may", "ban"), ("must", "ban"),
        ("plain", "ban"), ("ban", "plain"), ("exempt", "need"), ("need", "exempt"),
    }
)  # fmt: skip


def modality(comparison: Comparison) -> list[CheckFinding]:
    """May is not must, can is not does, should is not must, need not is not must not."""
    findings = []
    for number, clause in enumerate(comparison.claim.clauses):
        home = comparison.counterpart(number)
        if home < 0:
            continue
        other = comparison.evidence.clauses[home]
        if clause.modality == other.modality or clause.verb is None:
            continue
        pair = (other.modality, clause.modality)
        negated = _denials(comparison.claim, clause) % 2 or clause.modality in {"ban", "exempt"}
        allowed = _MODAL_OK_NEGATED if negated else _MODAL_OK
        if pair not in allowed:
            opposes = {"ban", "exempt"} & set(pair) != set() and not negated
            findings.append(CheckFinding("modality", f"{pair[1]} against {pair[0]}", opposes))
    return findings


def _denials(parsed: Parsed, clause: Clause) -> int:
    """Count the negations up to the verb: "may take shares instead of cash" does not turn "may"."""
    last = len(parsed.tokens) if clause.verb is None else clause.verb + 1
    return sum(parsed.tokens[at].kind == "negation" and at <= last for at in clause.tokens)


CERTAIN: Final = 0.90
DOUBTFUL: Final = 0.40  # below the middle: says that this is no contradiction to act upon
_OTHER: Final = 0.45  # taken off for each thing besides the opposition that differs
# "of this": an amount of something that another sentence names.
_POINTS_BACK: Final = re.compile(
    r"\bof (?:this|that|these|those|it|them)\b(?!\s+\w)", re.IGNORECASE
)
# Parts of a whole, of which a text has several: "the segment" is another one elsewhere.
_PARTS: Final = word_set("segment division unit team department branch plant site building section")
_DATED: Final = frozenset({"on", "in", "by", "from", "until", "since", "before", "after", "at"})


def contradicted(
    comparison: Comparison, findings: tuple[CheckFinding, ...], absent: tuple[CheckFinding, ...]
) -> float:
    """Opposition counts only where everything else agrees: the subject match is certain then."""
    against = [finding for finding in findings if finding.opposes]
    sorts = {finding.name for finding in against}
    if sum(1 for finding in findings if finding.name == "number") > 1:
        return 0.0  # another figure and another date: the evidence is about something else
    if not against or {"opposite", "negation"} <= sorts:
        return 0.0  # a negated opposite ("did not increase") says neither the one nor the other
    others = len(findings) - len(against) + len(absent)
    others -= _rival_leftovers(findings)
    context = from_context(comparison)
    words = sum(1 for t in comparison.claim.tokens if t.kind in {"name", "content", "number"})
    certain = CERTAIN - _OTHER * max(0, others) - 0.08 * context - 0.05 * (len(against) - 1)
    if words < 3:
        certain -= 0.25
    if _other_subject(comparison) or ("number" in sorts and _points_elsewhere(comparison)):
        certain = min(certain, DOUBTFUL)
    return max(0.0, min(0.92, certain))


def _rival_leftovers(findings: tuple[CheckFinding, ...]) -> int:
    """A rival value in the evidence is one leftover that opposition itself explains."""
    rivals = any(finding.name == "number" and finding.opposes for finding in findings)
    leftovers = sum(1 for finding in findings if finding.name == "dropped")
    return min(1, leftovers) if rivals else 0


def _other_subject(comparison: Comparison) -> bool:
    """The claim's subject stands in the headings only, and the evidence has one of its own."""
    claim, evidence = comparison.claim, comparison.evidence
    subject = [at for at in claim.clauses[0].subject() if claim.tokens[at].carries]
    if not subject or any(comparison.partner(at) >= 0 for at in subject):
        return False
    if all(comparison.partner(at) != FROM_CONTEXT for at in subject):
        return False  # a subject that nothing bears out counts as a missing word
    theirs = [at for at in evidence.clauses[0].subject() if evidence.tokens[at].carries]
    taken = {comparison.partner(at) for at in range(len(claim.tokens)) if at not in subject}
    return any(at in taken for at in theirs)


def _points_elsewhere(comparison: Comparison) -> bool:
    """The claim says of what it speaks by a word that points to a sentence it does not hold."""
    claim = comparison.claim
    words = [token.text.lower() for token in claim.tokens]
    if words and words[0] in PRONOUNS - {"there", "here", "each", "all", "both", "such"}:
        following = claim.tokens[1:2]
        possessive = words[0] in {"its", "their", "his", "her", "our"}
        if possessive or not (following and following[0].carries):
            return True
    if _POINTS_BACK.search(claim.text):
        return True
    named = any(token.kind == "name" for token in claim.tokens)
    parts = any(
        word in {"the", "this", "that"} and claim.tokens[at + 1].lemma in _PARTS
        for at, word in enumerate(words[:-1])
    )
    return parts and not named


def rival_dates(here: str, there: str, *, has_verb: bool) -> bool:
    """Say whether two dates answer the same question, by the small words before them."""
    return here == there and (here in _DATED or has_verb)


def same_figures(findings: tuple[CheckFinding, ...], claim: str, line: str, context: str) -> bool:
    """Say whether a contradiction by a figure is none: the line holds the claim's figures."""
    by_figure = any(f.name == "row" or (f.name == "number" and f.opposes) for f in findings)
    return by_figure and not unmatched_quantities(claim, [line], context)


def other_period(findings: tuple[CheckFinding, ...], claim: str, context: str) -> bool:
    """The headings speak of a part of a year that the claim does not name."""
    if not any(f.name == "number" and f.opposes for f in findings):
        return False
    spoken = _parts_of_years(context)
    return bool(spoken) and not spoken & _parts_of_years(claim)


def _parts_of_years(text: str) -> frozenset[str]:
    return frozenset(
        quantity.value[-2:]
        for quantity in find_quantities(text)
        if quantity.kind == "period" and quantity.value[-2:-1] in {"Q", "H"}
    )
