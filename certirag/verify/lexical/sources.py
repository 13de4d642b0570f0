"""What a claim and a title say of the source itself: who is quoted, what no longer holds."""

from __future__ import annotations

from certirag.core.text import NO_LONGER_HOLDS
from certirag.verify.lexical.tokens import tokenise
from certirag.verify.lexical.words import ATTRIBUTION_VERBS


def title_of(context: str) -> str:
    """Return the document's title: what stands before the first ``›`` of the context."""
    return context.partition("›")[0].strip()


def named_source(claim: str) -> bool:
    """Say whether the claim names where it comes from ("According to the Travel Handbook").

    Such a name has to be the document's title: a heading inside another document is not it.
    """
    tokens = tokenise(claim)
    if any(token.text == "per_source" for token in tokens):
        return True
    for at, token in enumerate(tokens[:-1]):
        before = tokens[at - 1].kind if at else "stop"
        quotes = token.lemma in ATTRIBUTION_VERBS and before in {"name", "content", "number"}
        if quotes and tokens[at + 1].text.lower() in {"that", ",", ":"}:
            return True
    return False


def superseded(claim: str, context: str) -> bool:
    """Say whether a title or heading of the context says that it no longer holds, unknown to the claim.

    A claim knows it that says so in the same word, or names the heading's year, or another figure
    of the title, such as a version; the number of a section is no such figure.
    """
    states = {state.lower() for state in NO_LONGER_HOLDS.findall(claim)}
    said = {token.lemma for token in tokenise(claim) if token.quantity}
    for place, heading in enumerate(context.split("›")):
        own = {state.lower() for state in NO_LONGER_HOLDS.findall(heading)}
        figures = {
            token.lemma
            for token in tokenise(heading)
            if token.quantity and (not place or token.quantity.kind == "date")
        }
        if own and not own & states and not figures & said:
            return True
    return False
