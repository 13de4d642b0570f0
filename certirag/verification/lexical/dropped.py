"""The dropped-qualifier check: what narrows the evidence and is left out of the claim.

So it is with a claim made of the evidence's own words in its own order: a condition moved, a clause
left off.
"""

from __future__ import annotations

import re
from typing import Final

from certirag.text.word_classes import word_set
from certirag.verification.lexical.alignment import CheckFinding, Comparison, borne_out
from certirag.verification.lexical.lemmas import VERBS, lemma_of
from certirag.verification.lexical.markers import ATTRIBUTION_VERBS, CONDITION_CLASS, PREPOSITIONS
from certirag.verification.lexical.predicate_clauses import COMPARED, Clause, Parsed
from certirag.verification.lexical.word_tokens import folded, tokenise

_FRONTED: Final = re.compile(
    r"(?P<marker>if|when|unless|where|once|after|before) (?P<condition>[^,;:]+), "
    r"(?:then )?(?P<rest>[^,;:]+)"
)
# With one of these in the main clause a condition at its end may belong to a part of it only.
_OPEN_ENDED: Final = word_set("and or but to that who which whose whom while because although") | (
    ATTRIBUTION_VERBS
)
_DETERMINERS: Final = word_set("the a an its their this these")
_AUXILIARIES: Final = word_set("is are was were has have had")
_BINDING: Final = word_set(
    """or but nor that which who whose whom then together respectively both either neither between
    whether as than so yet because though although while"""
)
_REACHING: Final = frozenset({"negation", "modal", "marker", "restrictor", "quantifier"})
_LONGEST_SUBJECT: Final = 6


def says_the_same(claim: str, evidence: str) -> bool:
    """Say whether *claim* is *evidence* with its condition moved or one coordinate part left."""
    said, known = _plain(claim), _plain(evidence)
    return (
        said in {_with_condition_last(known)} - {known}
        or known in {_with_condition_last(said)} - {said}
        or _is_coordinate_part(said, known, evidence)
    )


def _plain(text: str) -> str:
    return " ".join(folded(text).casefold().split()).rstrip(".!; ")


def _with_condition_last(sentence: str) -> str:
    """Turn "if P, Q" to "Q if P"; anything else is returned as it is."""
    found = _FRONTED.fullmatch(sentence)
    if found is None or any(lemma_of(w) in _OPEN_ENDED for w in found["rest"].split()):
        return sentence
    return f"{found['rest']} {found['marker']} {found['condition']}"


def _is_coordinate_part(said: str, known: str, evidence: str) -> bool:
    left, joint, right = known.partition(" and ")
    if not joint or " and " in right or re.search(r"[^\w\s.%€$£'-]", known):
        return False
    tokens = tokenise(evidence)
    if any(t.kind in _REACHING or t.text.lower() in _BINDING for t in tokens):
        return False
    first, second = left.split(), right.split()
    if said == left:
        return _is_clause(second) and any(_form(word) for word in first[1:])
    return _is_second_predicate(said.split(), first, second)


def _is_clause(words: list[str]) -> bool:
    """Say whether *words* open with a subject of their own: a determiner, a noun, a verb "be"."""
    near = words[2:_LONGEST_SUBJECT]
    return bool(words) and words[0] in _DETERMINERS and bool(_AUXILIARIES.intersection(near))


def _is_second_predicate(said: list[str], first: list[str], second: list[str]) -> bool:
    """Say whether the claim is the evidence's subject with the second of its two predicates.

    Both verbs have one form, and the first part holds no other verb: its subject is the one
    that the two share ("hoped the firm sold it and closed the mill" has two).
    """
    size = len(said) - len(second)
    if not 2 <= size < len(first) or size > _LONGEST_SUBJECT:
        return False
    if said[:size] != first[:size] or said[size:] != second:
        return False
    form = _form(first[size])
    if not form or form != _form(second[0]) or said[0] not in _DETERMINERS:
        return False
    return not any(_form(word) for word in first[:size] + first[size + 1 :])


def _form(word: str) -> str:
    """Read the form of a word that may be a finite verb: "s", "ed", irregular, or ""."""
    if word.endswith("ed"):
        return "ed"
    if word in _AUXILIARIES:
        return "auxiliary"
    if word.endswith("s") and not word.endswith(("ss", "us", "'s")) and word.isalpha():
        return "" if word in _DETERMINERS else "s"
    changed = word.isalpha() and lemma_of(word) != word and not word.endswith("ing")
    return "irregular" if changed else ""


_RESTRICTING_BUT: Final = word_set("""only not if for in on when unless at until after before with except never no within during
    from under over limited just""")
_JOINERS: Final = frozenset({",", "and", "or", "nor"})
_WEEKDAYS: Final = word_set("monday tuesday wednesday thursday friday saturday sunday")
_SINGULAR: Final = frozenset({"is", "was", "has"})
# Words that speak of several things together.
_COLLECTIVE: Final = word_set(
    """consist comprise total combine combined between compose compound mixture sum together
    respectively jointly both mutual common merge split divide equal either pair couple"""
)


def dropped(comparison: Comparison) -> list[CheckFinding]:
    """Words and clauses of the evidence that narrow what the claim states without them."""
    evidence = comparison.evidence
    used = comparison.used()
    loose = [
        position
        for position in sorted(_checked_positions(comparison))
        if _narrows(comparison, position, used)
    ]
    findings = [
        CheckFinding("dropped", f"the evidence says {evidence.tokens[position].text}")
        for position in loose
    ]
    touched = comparison.used_clauses()
    findings += [
        CheckFinding("dropped", "the evidence says or")
        for number in touched
        if number - 1 not in _predicates_used(comparison)
        and evidence.clauses[number].marker == "or"
        and evidence.clauses[number].verb is not None
        and not evidence.clauses[number].negations
    ]
    for number, clause in enumerate(evidence.clauses):
        if number not in touched and _restricts(comparison, number, clause, touched):
            text = " ".join(evidence.tokens[at].text for at in clause.tokens[:6])
            findings.append(CheckFinding("dropped", f"the evidence adds: {text}"))
    return findings


def _predicates_used(comparison: Comparison) -> set[int]:
    """The clauses whose verb or what follows it bears out a word of the claim."""
    clauses, clause_of = comparison.evidence.clauses, comparison.evidence.clause_of
    found = set()
    for position in comparison.used():
        verb = clauses[clause_of[position]].verb
        if verb is not None and position >= verb:
            found.add(clause_of[position])
    return found


def _checked_positions(comparison: Comparison) -> set[int]:
    """The subjects and predicates of the evidence from which the claim takes words."""
    evidence, used = comparison.evidence, comparison.used()
    checked: set[int] = set()
    for number, clause in enumerate(evidence.clauses):
        here = [at for at in clause.tokens if at in used]
        if not here:
            continue
        if _only_described(evidence, number, here):
            continue
        verb = clause.verb
        if verb is None or clause.kind in {"condition", "relative"}:
            checked.update(clause.tokens)
            continue
        predicate = [at for at in here if at >= verb]
        if predicate:
            if not _taken_over(comparison, number, predicate):
                checked.update(at for at in clause.tokens if at >= verb)
            checked.update(evidence.inherited_subject(number))
        if any(at < verb for at in here) or predicate:
            checked.update(at for at in clause.tokens if at < verb)
    return checked


def _only_described(evidence: Parsed, number: int, here: list[int]) -> bool:
    """The claim takes from this clause only the noun that the aside after it is about.

    "Questions go to Ann Lee, who chairs the committee" bears out "Ann Lee chairs ...".
    """
    for after in evidence.clauses[number + 1 :]:
        if after.kind == "aside" and after.marker in {"who", "which"} and after.tokens:
            last = after.tokens[0] - 1
            while last > 0 and evidence.tokens[last].kind == "punctuation":
                last -= 1
            run = range(last - len(here) + 1, last + 1)
            return here == list(run) and evidence.tokens[last].kind == "name"
    return False


def _taken_over(comparison: Comparison, number: int, predicate: list[int]) -> bool:
    """In "fell by 41% in one group and by 17% in the other" the second phrase has its own words.

    Then the claim may use the verb and leave out the first phrase, if it uses nothing else of it.
    """
    evidence, used = comparison.evidence, comparison.used()
    after = number + 1
    if after >= len(evidence.clauses) or evidence.clauses[after].kind != "fragment":
        return False
    fragment = evidence.clauses[after].tokens
    if not any(at in used and evidence.tokens[at].quantity for at in fragment):
        return False
    lemmas = {evidence.tokens[at].lemma for at in fragment}
    verb = evidence.clauses[number].verb
    rest = [at for at in predicate if at != verb and evidence.tokens[at].lemma not in VERBS]
    return all(evidence.tokens[at].lemma in lemmas for at in rest)


def _narrows(comparison: Comparison, position: int, used: set[int]) -> bool:
    token = comparison.evidence.tokens[position]
    if position in used or token.kind not in {"name", "number", "content"}:
        return False
    if token.quantity is not None and token.quantity.value == "1" and not token.quantity.comparator:
        return False
    if borne_out(comparison, position) or _opposed_here(comparison, position):
        return False
    return not (
        _other_list_member(comparison, position)
        or _other_part_of_name(comparison, position, used)
        or _base_of_comparison(comparison, position)
        or _weekday_of_date(comparison.evidence, position)
    )


def _other_part_of_name(comparison: Comparison, position: int, used: set[int]) -> bool:
    """``Tarnbeck`` names ``Tarnbeck Instruments``: words without digits may be left out."""
    tokens = comparison.evidence.tokens
    if tokens[position].kind != "name" or any(c.isdigit() for c in tokens[position].text):
        return False
    first = last = position
    while first > 0 and tokens[first - 1].kind == "name":
        first -= 1
    while last + 1 < len(tokens) and tokens[last + 1].kind == "name":
        last += 1
    around = {tokens[at].text.lower() for at in (first - 1, last + 1) if 0 <= at < len(tokens)}
    if around & _JOINERS - {","}:
        return False
    ends = used & {first, last}
    return bool(ends) and any(
        tokens[at].kind == "name" and tokens[at].text.istitle() for at in ends
    )


def _base_of_comparison(comparison: Comparison, position: int) -> bool:
    """In ", up 31.4% from $122.2 million in 2023" figures and what follows from may be left out."""
    evidence = comparison.evidence
    clause = evidence.clauses[evidence.clause_of[position]]
    if clause.kind != "aside" or clause.marker not in COMPARED:
        return False
    token = evidence.tokens[position]
    words = [evidence.tokens[at].text.lower() for at in clause.tokens if at < position]
    return token.text.lower() in COMPARED or token.quantity is not None or "from" in words


def _weekday_of_date(evidence: Parsed, position: int) -> bool:
    """In "Tuesday, 8 April 2025" the date alone says which day it was."""
    tokens = evidence.tokens
    if tokens[position].text.lower() not in _WEEKDAYS:
        return False
    after = position + 1
    if after < len(tokens) and tokens[after].text == ",":
        after += 1
    quantity = tokens[after].quantity if after < len(tokens) else None
    return quantity is not None and re.fullmatch(r"\d{4}-\d\d-\d\d", quantity.value) is not None


def _opposed_here(comparison: Comparison, position: int) -> bool:
    return any(position == there for _, there in comparison.alignment.opposed)


def _runs(parsed: Parsed, clause: Clause) -> list[tuple[str, list[int]]]:
    """Cut a clause at marks, conjunctions, prepositions and its verb: (what stands before, run)."""
    runs: list[tuple[str, list[int]]] = [("", [])]
    for at in clause.tokens:
        lowered = parsed.tokens[at].text.lower()
        if lowered in {",", "and", "or", "nor"}:
            if runs[-1][1] or runs[-1][0] != ",":
                runs.append((lowered, []))
            else:
                runs[-1] = (lowered, [])
        elif lowered in PREPOSITIONS:
            runs.append((lowered, []))
        elif at == clause.verb or parsed.tokens[at].lemma in {"be"}:
            runs.append(("verb", []))
        else:
            runs[-1][1].append(at)
    return runs


def _other_list_member(comparison: Comparison, position: int) -> bool:
    """Say whether the word belongs to a list of which the claim names another member."""
    evidence, used = comparison.evidence, comparison.used()
    clause = evidence.clauses[evidence.clause_of[position]]
    runs = _runs(evidence, clause)
    index = next((i for i, (_, run) in enumerate(runs) if position in run), -1)
    if index < 0:
        return False
    chain = [index]
    while chain[0] > 0 and runs[chain[0]][0] in _JOINERS:
        chain.insert(0, chain[0] - 1)
    while chain[-1] + 1 < len(runs) and runs[chain[-1] + 1][0] in _JOINERS:
        chain.append(chain[-1] + 1)
    if any(at in used for at in runs[index][1]):
        return False
    if not any(at in used for i in chain if i != index for at in runs[i][1]):
        return False
    members = [at for i in chain for at in runs[i][1]]
    joiners = {runs[i][0] for i in chain[1:]}
    return bool(members) and _may_be_shortened(
        evidence, clause, members, joiners, runs[chain[0]][0]
    )


def _may_be_shortened(
    evidence: Parsed, clause: Clause, members: list[int], joiners: set[str], before: str
) -> bool:
    """Say whether what holds of a list holds of each member ("A and B are", not "A or B is").

    Totals, makeups and names such as "Hope and Glory" hold of the whole only.
    """
    lemmas = {token.lemma for token in evidence.tokens}
    if not joiners & {"and", "or", "nor"} or lemmas & _COLLECTIVE:
        return False
    subject = clause.verb is not None and members[-1] < clause.verb
    if "or" in joiners and not (subject and clause.negations):
        return False
    if "or" not in joiners and clause.negations and not subject:
        return False
    if subject and clause.verb is not None:
        verb = evidence.tokens[clause.verb].text.lower()
        singular = verb in _SINGULAR or (verb.endswith("s") and verb not in {"does", "is", "was"})
        return "or" in joiners or not singular
    leading = range(max(clause.tokens[0], members[0] - 4), members[0])
    counted = any(evidence.tokens[at].quantity for at in (*leading, *members))
    if before == "verb" and any(evidence.tokens[at].kind == "name" for at in members):
        return False
    return not counted and before not in {"of", "between", "from", "with"}


def _restricts(comparison: Comparison, number: int, clause: Clause, touched: set[int]) -> bool:
    """Say whether a clause that the claim leaves out narrows the clauses that it uses."""
    evidence = comparison.evidence
    words = [evidence.tokens[at].text.lower() for at in clause.tokens]
    if clause.kind == "condition":
        if CONDITION_CLASS.get(clause.marker) == "contrast":
            return False
        return clause.parent is None or clause.parent in touched or number + 1 in touched
    if clause.kind == "relative":
        noun = clause.tokens[0] - 1
        return noun in comparison.used() or (noun >= 0 and borne_out(comparison, noun))
    if clause.kind == "contrast":
        return len(words) < 2 or words[1] in _RESTRICTING_BUT
    if clause.kind in {"aside", "fragment"}:
        return bool(clause.restrictors)
    if clause.kind == "coordinate" and clause.marker == "or" and not clause.negations:
        return clause.verb is not None
    if clause.kind == "coordinate":
        return bool(clause.restrictors) and not clause.subject()
    return False
