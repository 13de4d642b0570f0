"""How the evidence frames what it says: as past habit, as denied, as one of several, as a myth.

Words that carry no content of their own, and whose loss changes what is claimed.
"""

from __future__ import annotations

import re
from typing import Final

from certirag.verify.lexical.comparison import Comparison, Finding
from certirag.verify.lexical.forms import VERBS
from certirag.verify.lexical.words import MODALS, STOP

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


def framing(comparison: Comparison) -> list[Finding]:
    """The claim keeps the frame in which its evidence puts the statement."""
    claim, evidence = comparison.claim.text, comparison.evidence.text
    findings = [
        Finding("frame", f"the evidence states it as {said}")
        for pattern, said in _FRAMES
        if pattern.search(evidence) and not pattern.search(claim)
    ]
    exception = _UNIVERSAL_BUT.search(evidence)
    if exception and _is_noun_phrase(exception["rest"]) and not _UNIVERSAL_BUT.search(claim):
        findings.append(Finding("frame", f"the evidence excepts {exception['rest'].strip()}"))
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


def _from_one_to_many(claim: str, evidence: str) -> list[Finding]:
    """One case in the evidence is no statement about many."""
    claimed = claim.lower()
    for match in (*_SINGLE.finditer(evidence), *_ONE_EVENT.finditer(evidence)):
        for noun in match["nouns"].lower().split():
            plural = re.search(rf"\b{re.escape(noun)}e?s\b", claimed)
            if plural and not re.search(rf"\b{re.escape(noun)}\b", claimed):
                return [Finding("frame", f"the evidence speaks of one {noun}")]
    return []


def _only_moved(claim: str, evidence: str) -> list[Finding]:
    """What "only" limits in the evidence does not stand before it in the claim."""
    if len(_ONLY.findall(claim)) != 1 or len(_ONLY.findall(evidence)) != 1:
        return []
    limited = _limited(evidence)
    before, after = _ONLY.split(claim, maxsplit=1)
    closes = not re.search(r"[a-z0-9]", after.split(",")[0], re.IGNORECASE)
    if limited and not closes and limited in re.findall(r"[a-z0-9]+", before.lower()):
        return [Finding("frame", f"the evidence says “only” of {limited}")]
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
