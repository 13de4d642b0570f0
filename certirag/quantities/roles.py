"""What a figure does in its sentence: the start, the end or the size of a change, or of a time.

Small words and their order tell two sentences with the same content words apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from certirag.core.claim import Quantity
from certirag.quantities.figured_sentence import TEMPORAL, Sentence, token_index
from certirag.quantities.find import qualifier_start
from certirag.quantities.subject_words import class_of
from certirag.text.word_classes import word_set

_SHARP = word_set(
    "before after without under below above over only some most other others another each every "
    "any either both until since among against between per inside outside last first still almost "
    "nearly just up down off out about into onto via because while though although during"
)
# Of a claim, these belong to the computing itself.
_OF_COMPUTING = word_set("up down over between against since both out about almost nearly")
# Verbs without a subject of their own: an operand must have the one that the claim has.
_VERBS = {
    form: forms.split()[0]
    for forms in (
        "get gets got getting", "give gives gave given giving", "receive receives received",
        "entitle entitled entitles", "grant grants granted", "allow allowed allows",
        "permit permits permitted", "provide provides provided", "need needs needed",
        "require required requires", "make makes made", "take takes taken took",
        "apply applies applied", "use used uses", "set sets", "include includes included including",
        "based", "concerning", "generate generated", "offer offers offered", "enjoy enjoys",
        "state states stated", "eligible", "able", "due",
    )
    for form in forms.split()
}  # fmt: skip
_THEN, _NOW = frozenset(("had", "was", "were")), frozenset(("has", "have", "is", "are"))
_TOWARDS = frozenset(("to", "from", "by", "for", "than", "of"))


def senses(sentence: Sentence, *, claim: bool = False) -> frozenset[str]:
    """Return the small words and empty verbs of *sentence* that change what its figures mean.

    Those before a date belong to the date ("over 2023"), except where they move it ("before").
    """
    tokens = sentence.tokens
    taken = [(q.start, q.end) for q in sentence.quantities]
    found: set[str] = set()
    for index, token in enumerate(tokens.items):
        word = token.lower
        if any(start <= token.start < end for start, end in taken):
            continue
        if word in _VERBS:
            found.add(_VERBS[word])
        elif word in ("up", "down") and tokens.at(index + 1).lower == "from":
            continue  # "$3.6M, up from $3.1M": the roles of the figures say it
        elif word in _SHARP and not (claim and word in _OF_COMPUTING):
            found.add(word)
    return frozenset(found)


def same_tense(sentences: Sequence[Sentence]) -> bool:
    """Say whether no sentence tells of then what another tells of now ("had", "has").

    For figures without a date, which the tense alone places.
    """
    words = [{token.lower for token in sentence.tokens.items} for sentence in sentences]
    past = any(w & _THEN for w in words)
    return not (past and any(w & _NOW for w in words))


def order_of(sentence: Sentence) -> tuple[str, ...]:
    """Return the stems of the content words in their order, each once."""
    return tuple(dict.fromkeys(word.stem for word in sentence.words))


def is_directed(sentence: Sentence) -> bool:
    """Say whether a word like "to" or "by" stands between words, so that their order matters."""
    figures = {q.start for q in sentence.quantities}
    for word in sentence.words[1:]:
        index = token_index(sentence.tokens, word.start)
        before = sentence.tokens.words(index - 2, 2)
        towards = [at for at in before if at in _TOWARDS - {"of"}]
        if towards and word.start not in figures:
            return True
    return False


def same_order(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Say whether the words that both have stand in the same order."""
    common = set(ours) & set(theirs)
    return [w for w in ours if w in common] == [w for w in theirs if w in common]


_CHANGE = frozenset(
    class_of(word)
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


def tells_a_change(sentence: Sentence) -> bool:
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
    return _AMOUNT_ROLES[word] if tells_a_change(sentence) else ""


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
        return "" if tells_a_change(claim) and tells_a_change(evidence) else said
    if role == "from":
        return "" if dated else said
    return ""
