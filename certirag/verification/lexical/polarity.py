"""The check of negation: each clause is denied on both sides or on neither."""

from __future__ import annotations

from certirag.verification.lexical.alignment import complementary
from certirag.verification.lexical.comparison import CheckFinding, Comparison


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
