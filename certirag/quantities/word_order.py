"""Small words and the order of words: what tells two sentences with the same content words apart.

"Revenue before tax" and "revenue after tax", "the plant received" and "the plant provided",
"Lund shipped to Gent" and "Gent shipped to Lund" have one bag of words each. An operand counts
only where these agree with the claim.
"""

from __future__ import annotations

from collections.abc import Sequence

from certirag.quantities.figure_tokens import word_set
from certirag.quantities.figured_sentence import Sentence, token_index

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
