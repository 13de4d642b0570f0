"""How the evidence frames what it says: as past habit, as denied, as one of several, as a myth.

Words that carry no content of their own, and whose loss changes what is claimed.
"""

from __future__ import annotations

import re
from typing import Final

from certirag.core.text import NO_LONGER_HOLDS
from certirag.verification.lexical.alignment import CheckFinding, Comparison
from certirag.verification.lexical.lemmas import VERBS
from certirag.verification.lexical.markers import ATTRIBUTION_VERBS, MODALS, STOP
from certirag.verification.lexical.word_tokens import tokenise

_BELIEF: Final = (
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\b(?:assum(?:es?|ed)|hop(?:es?|ed)|"
    r"expect(?:s|ed)|believ(?:es?|ed)|thinks?|thought|suspect(?:s|ed)|fear(?:s|ed)|"
    r"predict(?:s|ed)|suppos(?:es?|ed)|claimed|claims that)\b"
)
# Phrases of the evidence, each of which the claim has to keep.
_FRAMES: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), said)
    for pattern, said in (
        (r"\b(?:one|two|three|some|several) of the\b|\bamong the\b", "one of several"),
        (r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bget )\bused to\b", "a past habit"),
        (r"\b(?:den(?:y|ies|ied|ying)|disput(?:es|ed|ing)|refut(?:es|ed|ing))\b", "denied"),
        (r"\b(?:alleg(?:es|ed|edly|ing)|rumou?r(?:s|ed)?|purported(?:ly)?)\b", "alleged"),
        (_BELIEF, "what somebody believes"),
        (r"\b(?:would have|could have|should have|had it|were it)\b", "not what happened"),
    )
)
_MYTH: Final = re.compile(
    r"\b(?:myths?|misconceptions?|fallac(?:y|ies)|misunderstandings?|false beliefs?|"
    r"common (?:errors?|mistakes?)|wrong answers?)\b",
    re.IGNORECASE,
)
_UNIVERSAL_BUT: Final = re.compile(
    r"\b(?:every|everything|everyone|all|any|each|no|none|nobody|nothing)\b[^.;:!?]*?"
    r"\b(?:but|save|bar)\s+(?P<rest>[^.;:!?]+)",
    re.IGNORECASE,
)
_SINGLE: Final = re.compile(r"\b(?:one|a single|1)\s+(?P<nouns>[a-z-]{3,}(?:\s+[a-z-]{3,})?)", re.I)
_ONE_EVENT: Final = re.compile(r"^\W*an?\s+(?P<nouns>[a-z-]{3,})\s+[a-z]{2,}ed\b", re.I)
_SMALL: Final = STOP | set(MODALS)
_ONLY: Final = re.compile(r"\bonly\b", re.IGNORECASE)
_LONGEST_EXCEPTION: Final = 5


def framing(comparison: Comparison) -> list[CheckFinding]:
    """The claim keeps the frame in which its evidence puts the statement."""
    claim, evidence = comparison.claim.text, comparison.evidence.text
    findings = [
        CheckFinding("frame", f"the evidence states it as {said}")
        for pattern, said in _FRAMES
        if pattern.search(evidence) and not pattern.search(claim)
    ]
    exception = _UNIVERSAL_BUT.search(evidence)
    if exception and _is_noun_phrase(exception["rest"]) and not _UNIVERSAL_BUT.search(claim):
        findings.append(CheckFinding("frame", f"the evidence excepts {exception['rest'].strip()}"))
    findings += _from_one_to_many(claim, evidence)
    return findings + _only_moved(claim, evidence)


def is_question(sentence: str) -> bool:
    """Say whether *sentence* asks and so states nothing."""
    return sentence.rstrip(" \"')]»”’").endswith("?")


def takes_back(context: str) -> bool:
    """Say whether title or headings announce what follows as untrue."""
    return bool(_MYTH.search(context))


def _is_noun_phrase(text: str) -> bool:
    words = text.lower().split()
    verbs = any(word in VERBS or word in MODALS for word in words)
    return len(words) <= _LONGEST_EXCEPTION and not verbs


def _from_one_to_many(claim: str, evidence: str) -> list[CheckFinding]:
    """One case in the evidence is no statement about many."""
    claimed = claim.lower()
    for match in (*_SINGLE.finditer(evidence), *_ONE_EVENT.finditer(evidence)):
        for noun in match["nouns"].lower().split():
            plural = re.search(rf"\b{re.escape(noun)}e?s\b", claimed)
            if plural and not re.search(rf"\b{re.escape(noun)}\b", claimed):
                return [CheckFinding("frame", f"the evidence speaks of one {noun}")]
    return []


def _only_moved(claim: str, evidence: str) -> list[CheckFinding]:
    """What "only" limits in the evidence does not stand before it in the claim."""
    if len(_ONLY.findall(claim)) != 1 or len(_ONLY.findall(evidence)) != 1:
        return []
    limited = _limited(evidence)
    before, after = _ONLY.split(claim, maxsplit=1)
    closes = not re.search(r"[a-z0-9]", after.split(",")[0], re.IGNORECASE)
    if limited and not closes and limited in re.findall(r"[a-z0-9]+", before.lower()):
        return [CheckFinding("frame", f"the evidence says “only” of {limited}")]
    return []


def _limited(text: str) -> str:
    """The first word that states something after "only", or the last before it at a clause's end."""
    before, after = _ONLY.split(text, maxsplit=1)
    following = re.match(r"[^.,;:!?]*", after)
    words = [w for w in _words(following.group() if following else "") if w not in _SMALL]
    if words:
        return words[0]
    return next((w for w in reversed(_words(before)) if w not in _SMALL), "")


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


# What a claim and a title say of the source itself: who is quoted, what no longer holds.


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
