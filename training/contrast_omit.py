"""Makes rows in which a part of a sentence is left out of the evidence, or put from one to another.

Models that read evidence for its topic overlook what it no longer says (Atanasova et al. 2022).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

from training.contrast_cases import (
    CAPTIONS,
    Group,
    content,
    paired,
    sentences_of,
    states,
    tidy,
)
from training.contrast_keeps import KEEPS
from training.contrast_words import MONTHS
from training.rows import Row

_WORD: Final = r"[\w'$€£%-]+"
_STOPS: Final = (
    r"(?=[,.;:)]|$| (?:in|on|at|by|for|from|with|during|after|before|since|until|near|and|but|or|who|"
    r"which|that|when|where|while|because|to|is|are|was|were|has|have|had|will|can|may|must)\b)"
)
# What a sentence can do without and still be one: each pattern is one kind of constituent.
_PARTS: Final = (
    # an adjunct: "in the old harbour", "by 14 May 2001", "after the second vote"
    re.compile(
        r" (?:in|on|at|by|for|from|with|during|after|before|since|until|near|under|across|through|"
        rf"against|within|along|around|throughout|despite|without)(?: {_WORD}){{1,5}}?{_STOPS}"
    ),
    re.compile(
        rf" of (?:the |a |an |his |her |its |their )?(?:[A-Z0-9]{_WORD})(?: {_WORD}){{0,2}}?{_STOPS}"
    ),
    re.compile(
        rf" (?:in|on|by|since|until) (?:\d{{1,2}} )?(?:(?:{'|'.join(MONTHS)}) ?)?\d{{0,4}}{_STOPS}"
    ),
    # between commas or brackets: an apposition, a relative clause
    re.compile(
        r", [^,.;:()]{6,80},(?= (?:is|are|was|were|has|have|had|will|can|may|must|[a-z]+ed|[a-z]+s)\b)"
    ),
    re.compile(r" \([^()]{2,60}\)"),
    re.compile(
        r",? (?:who|which|where|when|while|because|although|so that|in order to|as)(?: [^ ,.;:]+){2,14}(?=[.,;])"
    ),
    re.compile(r" (?:to|by) [a-z]{3,}(?:ing)?(?: [^ ,.;:]+){1,8}(?=[.;]|$)"),
    re.compile(r"(?<=[a-z]) and (?:[a-z]+ed|[a-z]{4,}s|the|a|an) [^,.;:]{4,60}(?=[.;])"),
    # before a noun: an adjective, a number, a name
    re.compile(
        r"\b(?:the|his|her|its|our|an?|The|His|Her|Its|An?|two|new)(?P<part> "
        r"[a-z]+(?:al|ic|ive|ous|ful|ish|ary|ern|ese|ian|less|able|ible|ed|est|er|ent|ant))(?= [a-z]{3,})"
    ),
    re.compile(
        r"\b(?:the|The|of|by|an?|An?)(?P<part> [A-Z][a-z]{3,}(?:an|ish|ese|ian|ern))(?= [a-z]{3,})"
    ),
    re.compile(
        r"(?<= )(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|twelve) (?=[a-z]{3,}s\b)"
    ),
    # an adverb, or what says how far
    re.compile(r" [a-z]{3,}ly(?= |[.,;])"),
    re.compile(
        r" (?:only|about|nearly|almost|at least|at most|up to|more than|less than|partly)(?= )"
    ),
)
# Under these a shorter sentence says more, not less, or something else.
_DOWNWARD: Final = re.compile(
    r"\b(?:no|not|never|nobody|nothing|none|neither|nor|without|few|fewer|less|all|every|each|any|most|"
    r"only|if|unless|except|but|rather|instead|would|could|may|might|deny|denied|denies|refused|fail|"
    r"failed|fails|hardly|rarely|seldom|than|like|said|says|claim|claims|claimed|asked|whether|half|"
    r"fake|former|alleged|likely)\b|n't\b",
    re.IGNORECASE,
)


def parts_of(sentence: str) -> list[tuple[int, int]]:
    """Return the places (start, end) in *sentence* that it can do without and still be one."""
    found = {
        match.span("part" if "part" in part.groupindex else 0)
        for part in _PARTS
        for match in part.finditer(sentence)
    }
    return sorted(span for span in found if span[1] - span[0] < 0.7 * len(sentence))


def without(text: str, span: tuple[int, int]) -> str:
    """Return *text* without *span*, with its spaces and articles mended."""
    start, end = span
    rest = re.sub(r"\s+", " ", f"{text[:start]} {text[end:]}").strip()
    rest = re.sub(r" (?=[,.;:)])", "", rest)
    rest = re.sub(r"([,;:])(?=[.;])", "", rest)
    return re.sub(
        r"\b(a|A) (?=[aeio])", r"\1n ", re.sub(r"\b([aA])n (?=[^aeiouAEIOU\Wh])", r"\1 ", rest)
    )


def omitted(rows: Sequence[Row], chance: random.Random) -> Iterator[Group]:
    """Yield claims with evidence from which a part was left out: one they need, one they do not."""
    for row in rows:
        caption = row.source in CAPTIONS and chance.random() < 0.7
        if row.label == "entailed" and len(row.premise) < 700 and not caption:
            yield from _of_row(tidy(row.premise), tidy(row.hypothesis), chance)
    own = [row for row in rows if row.source not in CAPTIONS and len(row.premise) < 1500]
    for premise in dict.fromkeys(row.premise for row in own):
        sentences = sentences_of(tidy(premise))
        for at in range(len(sentences)):
            if states(sentences[at]) and len(sentences[at].split()) > 8:
                yield from _of_sentence(sentences, at, chance)


def _of_row(premise: str, claim: str, chance: random.Random) -> Iterator[Group]:
    wanted = {word for word in content(claim) if len(word) > 3 or word.isdigit()}
    spans = parts_of(premise)
    chance.shuffle(spans)
    needed = [s for s in spans if _loses(premise, s, wanted)]
    spare = [s for s in spans if not content(premise[s[0] : s[1]]) & content(claim)]
    for span in needed[:1]:
        lacking = without(premise, span)
        supporting = premise
        if spare and chance.random() < 0.7 and not _DOWNWARD.search(premise):
            supporting = without(premise, spare[0])
        yield paired("omitted", claim, supporting, lacking, "neutral")


def _loses(text: str, span: tuple[int, int], wanted: set[str]) -> bool:
    return bool((content(text[span[0] : span[1]]) & wanted) - content(without(text, span)))


def _of_sentence(sentences: Sequence[str], at: int, chance: random.Random) -> Iterator[Group]:
    sentence = sentences[at]
    if _DOWNWARD.search(sentence):
        return
    around = sentences[max(0, at - chance.randint(0, 2)) : at + 1 + chance.randint(0, 2)]
    spans = parts_of(sentence)
    chance.shuffle(spans)
    for span in spans[:1]:
        apart = [s for s in spans if s[1] <= span[0] or s[0] >= span[1]]
        claim = sentence
        if apart and chance.random() < 0.7:
            claim = without(sentence, apart[0])  # a shorter claim, still with the part in question
        if content(without(sentence, span)) == content(sentence):
            return
        claim = KEEPS[chance.choice(sorted(KEEPS))](claim, chance)
        lacking = without(sentence, span)
        supporting = sentence
        spare = apart[0] if apart and len(claim) < len(sentence) else None
        if spare and chance.random() < 0.5:
            supporting = without(sentence, spare)
        yield paired(
            "omitted_part",
            claim,
            " ".join(supporting if s is sentence else s for s in around),
            " ".join(lacking if s is sentence else s for s in around),
            "neutral",
        )


_AMONG: Final = 220  # words of the text around a claim: about one window of the verifier
_AT_END: Final = re.compile(
    rf" (?:in|on|at|by|for|from|with|during|after|before|since|until|near|to|against)(?: {_WORD}){{1,6}}?(?=\.$)"
)


def grafted(rows: Sequence[Row], chance: random.Random) -> Iterator[Group]:
    """Yield claims that a long text makes, and claims fused from two of its sentences.

    That is how a summary goes wrong: what it says of one thing the text says of another.
    """
    for premise in dict.fromkeys(row.premise for row in rows if len(row.premise) > 500):
        sentences = sentences_of(tidy(premise))
        places = [at for at, s in enumerate(sentences) if states(s) and len(s.split()) > 7]
        for at in chance.sample(places, min(8, len(places))):
            group = _graft(sentences, at, places, chance)
            if group is not None:
                yield group


def _graft(
    sentences: Sequence[str], at: int, places: Sequence[int], chance: random.Random
) -> Group | None:
    own = sentences[at]
    start, end = at, at + 1
    while sum(len(s.split()) for s in sentences[start:end]) < _AMONG:
        if start == 0 and end == len(sentences):
            break
        start, end = max(0, start - chance.randint(0, 1)), min(len(sentences), end + 1)
    end_of_own = _AT_END.search(own)
    near = [sentences[place] for place in places if start <= place < end and place != at]
    others = [match[0] for match in map(_AT_END.search, near) if match]
    if end_of_own is None or not others:
        return None
    donor = chance.choice(others)
    if not content(donor) or content(donor) <= content(own):
        return None
    fused = f"{own[: end_of_own.start()]}{donor}."
    said, other = (own, fused) if chance.random() < 0.5 else (fused, own)
    claim = said
    spare = [span for span in parts_of(claim) if span[1] < end_of_own.start()]
    if spare and not _DOWNWARD.search(own) and chance.random() < 0.7:
        claim = without(claim, chance.choice(spare))
    claim = KEEPS[chance.choice(sorted(KEEPS))](claim, chance)
    before, after = " ".join(sentences[start:at]), " ".join(sentences[at + 1 : end])
    supporting = " ".join(filter(None, (before, said, after)))
    lacking = " ".join(filter(None, (before, other, after)))
    return paired("grafted", claim, supporting, lacking, "not_entailed")


def sentences_apart(rows: Sequence[Row]) -> Iterator[Group]:
    """Yield single sentences of claims of several: those of a true claim, and the one that is wrong.

    A false claim shows which of its sentences is wrong where a true one of the same text has the
    others word for word.
    """
    true: dict[str, list[list[str]]] = {}
    for row in rows:
        if row.label == "entailed":
            parts = sentences_of(tidy(row.hypothesis))
            if len(parts) > 1:
                true.setdefault(row.premise, []).append(parts)
    for row in rows:
        parts = sentences_of(tidy(row.hypothesis))
        for whole in true.get(row.premise, ()):
            if row.label == "entailed" or len(parts) != len(whole):
                continue
            differing = [at for at, part in enumerate(parts) if part != whole[at]]
            if len(differing) == 1:
                at = differing[0]
                source = "made_sentence"
                yield (
                    Row(source, row.premise, whole[at], "entailed"),
                    Row(source, row.premise, parts[at], "not_entailed"),
                )
                break
