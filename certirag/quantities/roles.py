"""What a figure does in its sentence: the start, the end or the size of a change, or of a time."""

from __future__ import annotations

from certirag.core.claim import Quantity
from certirag.quantities.figured_sentence import TEMPORAL, Sentence, token_index
from certirag.quantities.qualifiers import qualifier_start
from certirag.quantities.subject_words import stem

_CHANGE = frozenset(
    stem(word)
    for word in [
        "rise",
        "fall",
        "cut",
        "raise",
        "change",
        "improve",
        "widen",
        "narrow",
        "extend",
        "shrink",
        "expand",
        "move",
        "climb",
        "jump",
        "slip",
        "soar",
        "plunge",
        "double",
        "halve",
        "adjust",
        "go",
        "went",
        "lift",
    ]
)
_AMOUNT_ROLES = {"from": "from", "to": "to", "by": "by", "between": "from"}
_TIME_ROLES = {
    "from": "start", "since": "start", "starting": "start", "effective": "start",
    "until": "end", "till": "end", "to": "end", "through": "end",
    "before": "before", "by": "by", "after": "after", "following": "after",
}  # fmt: skip
_DASHES = ("-", "–", "—")


def _timely(quantity: Quantity) -> bool:
    return quantity.kind in TEMPORAL or quantity.unit == "time of day"


def is_denied(sentence: Sentence, quantity: Quantity) -> bool:
    """Say whether the figure is named as the wrong one ("$36 million, not $40 million")."""
    index = token_index(sentence.tokens, quantity.start)
    start = qualifier_start(sentence.tokens, index)
    words = sentence.tokens.words(start - 2, 2) if start > 1 else ()
    return words[-1:] in (("not",), ("never",)) or words in (
        ("instead", "of"),
        ("rather", "than"),
        ("no", "longer"),
        ("not", "the"),
    )


def changes(sentence: Sentence) -> bool:
    """Say whether the sentence tells of a change ("rose", "was cut")."""
    return bool(_CHANGE & sentence.stems()) or "up" in sentence.tokens.words(0, 400)


def role_of(sentence: Sentence, quantity: Quantity) -> str:
    """Return the role that the word before *quantity* gives it, or ""."""
    tokens = sentence.tokens
    index = token_index(tokens, quantity.start)
    start = qualifier_start(tokens, index)
    if _timely(quantity):
        return _time_role(sentence, quantity, index if start == index else start)
    word = tokens.at(start - 1).lower
    if word not in _AMOUNT_ROLES or start == 0:
        return ""
    if word == "from" and "to" in tokens.words(index, 8):
        return "from"
    return _AMOUNT_ROLES[word] if changes(sentence) else ""


def _time_role(sentence: Sentence, quantity: Quantity, index: int) -> str:
    tokens = sentence.tokens
    after = token_index(tokens, quantity.end)
    if tokens.at(after).lower in (*_DASHES, "to", "until", "through"):
        starts = [q.start for q in sentence.quantities if _timely(q)]
        if tokens.at(after + 1).start in starts:
            return "start"
    word = tokens.at(index - 1).lower
    if word in _DASHES:
        ends = [q.end for q in sentence.quantities if _timely(q)]
        return (
            "end" if tokens.at(index - 1).start in ends or tokens.at(index - 2).end in ends else ""
        )
    if word == "the":
        word = tokens.at(index - 2).lower
    return _TIME_ROLES.get(word, "") if index else ""


def role_mismatch(
    claim: Sentence, ours: Quantity, evidence: Sentence, theirs: Quantity, *, dated: bool
) -> str:
    """Return why the roles exclude each other, or "".

    *dated* says that both figures carry the same period, which settles what is their role.
    """
    mine, other = role_of(claim, ours), role_of(evidence, theirs)
    said = f"the claim has {ours.text} in another role than the evidence"
    if is_denied(claim, ours) != is_denied(evidence, theirs):
        return f"one of claim and evidence says that it is not {theirs.text}"
    if mine == other:
        return ""
    if _timely(ours):
        loose = {"", "start", "end"}
        return "" if {mine, other} <= loose and "" in (mine, other) else said
    if mine and other:
        return said
    role = mine or other
    if role == "by":
        return "" if changes(claim) and changes(evidence) else said
    if role == "from":
        return "" if dated else said
    return ""
