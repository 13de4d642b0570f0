"""The checks of negation and modality: not, never, may, must, should, need not."""

from __future__ import annotations

from typing import Final

from certirag.verification.lexical.alignment import complementary
from certirag.verification.lexical.comparison import CheckFinding, Comparison
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
