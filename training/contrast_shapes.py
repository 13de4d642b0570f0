"""Rewrites a whole sentence into another statement: negated, roles exchanged, a part dropped."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from training.contrast_words import listed
from training.rows import RowLabel


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Two statements, *one* being the sentence, of which neither or only one follows from the other.

    *forth* is the label of *other* given *one*, *back* that of *one* given *other*; None where
    the claim follows or nobody can be sure. *said* says *one* in other words, *other_said* says
    *other*: claims that follow just as well as the verbatim ones.
    """

    kind: str
    one: str
    other: str
    forth: RowLabel | None
    back: RowLabel | None
    said: str = ""
    other_said: str = ""


_NEGATED: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|few|little)\b|n't"
)
_SOME: Final = re.compile(
    r"\b(?:some|many|most|all|every|each|several|any|both|only|few|or|if|that|who|which|because)\b"
)
_BE: Final = re.compile(
    r"^(?P<head>(?:\S+ ){1,7}?)(?P<verb>is|are|was|were|has been|have been|will be|can be|must be|should be|had been) (?P<rest>(?:a|an|the|located|found|held|made|used|in|at|on|by|[a-z]+ed|[a-z]+ing|[a-z]{4,})\b.*)$"
)
_MODAL: Final = re.compile(
    r"^(?P<head>(?:\S+ ){1,7}?)(?P<verb>will|can|must|should|would) (?P<rest>[a-z]{3,} .*)$"
)
_NOT: Final = re.compile(
    r"^(?P<head>[^,;]{3,80}?\b(?:is|are|was|were|will|must|should|has been|have been|can)) not (?!only|just|all|every|any\b|yet|until|less|more)(?P<rest>.*)$"
)


def _negated(sentence: str, _: random.Random) -> Iterator[Rewrite]:
    for pattern in (_BE, _MODAL):
        match = pattern.match(sentence)
        if match and not _NEGATED.search(sentence) and not _SOME.search(match["head"].lower()):
            if re.search(r"[,;:]|\b(?:and|but)\b", match["head"]) or match["rest"].startswith(
                "not"
            ):
                continue
            first, _gap, second = match["verb"].partition(" ")
            verb = " ".join(filter(None, (f"{first} not", second)))
            if first == "can":
                verb = f"cannot {second}".strip()
            other = f"{match['head']}{verb} {match['rest']}"
            yield Rewrite("negation", sentence, other, "contradicted", "contradicted")
            return
    match = _NOT.match(sentence)
    if match is None or _SOME.search(match["head"].lower()) or _NEGATED.search(match["rest"]):
        return
    if not re.search(r"\b(?:any|either|yet|at all|ever|but)\b", match["rest"]):
        other = f"{match['head']} {match['rest']}"
        yield Rewrite("negation", sentence, other, "contradicted", "contradicted")


_NAME: Final = r"[A-Z][\w.'-]*(?: (?:of |the |de )?[A-Z][\w.'-]*){0,3}"
_DOERS: Final = listed("""
    defeated beat bought acquired sold founded hired killed succeeded replaced preceded followed
    owns owned sued attacked invaded conquered produced directed wrote influenced inspired
    supported opposed criticised criticized praised accused married-into visited succeeded
    portrayed rescued nominated appointed endorsed recruited employed
    """)
_NAMED_ROLES: Final = re.compile(rf"^({_NAME}) ({'|'.join(_DOERS)}) ({_NAME})(?=[ .,])(.*)$")
_ACTIONS: Final = listed("""
    chasing holding pushing pulling feeding following teaching watching carrying kicking
    throwing chases holds pushes pulls feeds follows teaches watches carries kicks helping helps
    filming films photographing interviewing leading leads lifting lifts tackling tackles
    attacking
    """)
_PLAIN_ROLES: Final = re.compile(
    r"^((?:A|An|The|Two|Three) (?:[a-z]+ ){0,2}?[a-z]+) ((?:(?:is|are) )?(?:"
    + "|".join(_ACTIONS)
    + r")) ((?:a|an|the|two|three) (?:[a-z]+ )?[a-z]+)( (?:in|on|at|near|through|across|down|outside|with) .*|\.?)$"
)
_THAN: Final = re.compile(
    rf"^({_NAME}|[Tt]he [a-z ]{{3,30}}?) ((?:is|are|was|were|has|had|have) (?:\w+ ){{0,3}}?(?:more|less|fewer|\w+er)(?: \w+)? than) ({_NAME}|the [a-z ]{{3,30}}?)(\.)$"
)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _inner(text: str) -> str:
    return text[0].lower() + text[1:] if re.match(r"(?:A|An|The|Two|Three) ", text) else text


def _roles(sentence: str, _: random.Random) -> Iterator[Rewrite]:
    for pattern in (_NAMED_ROLES, _PLAIN_ROLES, _THAN):
        match = pattern.match(sentence)
        if match is None or match[1].lower() == match[3].lower():
            continue
        one, verb, two, rest = match.groups()
        many = re.compile(r"^(?:two|three) ", re.IGNORECASE)
        if pattern is _PLAIN_ROLES and bool(many.match(one)) != bool(many.match(two)):
            continue
        if pattern is not _PLAIN_ROLES and re.search(
            r"\b(?:his|her|its|their|he|she|it|they)\b", rest
        ):
            continue
        other = f"{_capital(two)} {verb} {_inner(one)}{rest}"
        label: RowLabel = "contradicted" if pattern is _THAN else "not_entailed"
        yield Rewrite("roles", sentence, other, label, label)
        return


_BY: Final = re.compile(
    rf"^({_NAME}) (was|were|is|are) ([a-z]+ed) by ({_NAME})((?: in \d{{4}}| in {_NAME}| on \w+ \d+)?)\.$"
)
_NOBODY: Final = frozenset(listed("It He She They This That These There I We You"))
_BESIDE: Final = frozenset(
    listed("located situated surrounded followed bordered caused based united")
)


def _passive(sentence: str, _: random.Random) -> Iterator[Rewrite]:
    match = _BY.match(sentence)
    if match is None or match[3] in _BESIDE or match[2] in {"is", "are"} or match[1] in _NOBODY:
        return
    done, was, verb, doer, rest = match.groups()
    if re.search(r"\band\b", done + doer):
        return
    said = f"{_capital(doer)} {verb} {_inner(done)}{rest}."
    other = f"{_capital(doer)} {was} {verb} by {_inner(done)}{rest}."
    other_said = f"{_capital(done)} {verb} {_inner(doer)}{rest}."
    yield Rewrite("passive", sentence, other, "not_entailed", "not_entailed", said, other_said)


_CONDITION: Final = re.compile(
    r"^(?P<main>[A-Z][^,;]{15,140}?),? (?P<tail>(?:only if|only when|unless|except|if|provided that|as long as) [^,;]{6,80})\.$"
)
_FRONT: Final = re.compile(
    r"^(?P<tail>(?:If|Unless|When|Provided that|Except) [^,]{6,80}), (?P<main>[a-z][^;]{15,140})\.$"
)
_ONLY: Final = re.compile(
    r"^(?P<head>.{3,80}?)\b(?P<only>only|mainly|partly|nearly|almost|allegedly|reportedly|probably|possibly) (?P<rest>[a-z].{8,})$"
)


def _qualified(sentence: str, _: random.Random) -> Iterator[Rewrite]:
    for pattern in (_CONDITION, _FRONT):
        match = pattern.match(sentence)
        if match and not re.search(
            r"\b(?:as if|even if|what if|see if|asked if|know if)\b", sentence
        ):
            bare = _capital(match["main"]) + "."
            if len(bare.split()) >= 4 and re.search(
                r"\b(?:will|can|may|must|would|should|is|are)\b", bare
            ):
                yield Rewrite("qualifier", sentence, bare, "neutral", None)
            return
    match = _ONLY.match(sentence)
    if match and not _NEGATED.search(sentence):
        if re.search(r"\b(?:not|the|an|a|if|but|and)$", match["head"].strip()):
            return
        bare = match["head"] + match["rest"]
        weak: RowLabel | None = None if match["only"] in {"only", "mainly"} else "neutral"
        yield Rewrite("qualifier", sentence, bare, weak, "neutral" if weak is None else None)


_FROM_TO: Final = re.compile(
    r"\bfrom (?P<a>[$€£]?[\w.,%]+(?: million| billion| percent)?) to (?P<b>[$€£]?[\w.,%]+?(?: million| billion| percent)?)(?=[ ,;]|\.$|\.? )"
)
_RATHER: Final = re.compile(
    r"\b(?P<a>[a-z]{4,}|[A-Z]\w+) (?P<gap>rather than|instead of) (?P<b>[a-z]{4,}|[A-Z]\w+)(?=[.,;])"
)


def _exchanged(sentence: str, _: random.Random) -> Iterator[Rewrite]:
    for pattern in (_FROM_TO, _RATHER):
        match = pattern.search(sentence)
        if match is None:
            continue
        one, two = match["a"].rstrip(".,"), match["b"].rstrip(".,")
        number = any(c.isdigit() for c in one + two)
        if one == two or (pattern is _FROM_TO and not (number or (one[0] + two[0]).isupper())):
            continue
        if re.fullmatch(r"1\d{3}|20\d\d", one) or (
            pattern is _RATHER and one[0].isupper() != two[0].isupper()
        ):
            continue  # "from 1999 to 2003" exchanged says nothing
        start, end = match.start("a"), match.end("b")
        inner = sentence[start:end].replace(one, "\0", 1)
        inner = inner[::-1].replace(two[::-1], one[::-1], 1)[::-1].replace("\0", two, 1)
        other = sentence[:start] + inner + sentence[end:]
        label: RowLabel = "contradicted" if number else "not_entailed"
        yield Rewrite("exchange", sentence, other, label, label)
        return


_LIST: Final = re.compile(
    r"(?P<a>[A-Z]\w+(?: [A-Z]\w+)?), (?P<b>[A-Z]\w+(?: [A-Z]\w+)?),? and (?P<c>[A-Z]\w+(?: [A-Z]\w+)?)(?=[ .,])"
)
_TWO: Final = re.compile(
    r"(?<= )(?P<a>[a-z]+ed|[A-Z][a-z]+) and (?P<b>[a-z]+ed|[A-Z][a-z]+)(?=[ .])"
)


def _fewer(sentence: str, chance: random.Random) -> Iterator[Rewrite]:
    """Drop one of several things named together: the rest follows, the whole does not."""
    if _NEGATED.search(sentence) or re.search(
        r"\b(?:between|both|or|only|consists?|compris|if)\b", sentence
    ):
        return
    match = _LIST.search(sentence)
    if match:
        left = [match[k] for k in "abc"]
        left.pop(chance.randrange(3))
        other = sentence[: match.start()] + " and ".join(left) + sentence[match.end() :]
        yield Rewrite("conjunct", sentence, other, None, "neutral")
        return
    match = _TWO.search(sentence)
    if match and match["a"][0].isupper() == match["b"][0].isupper() and match["a"] != "And":
        before = sentence[: match.start()].split()
        after = sentence[match.end() :]
        if match["a"][0].isupper() and (
            (before[-1:] and before[-1][0].isupper()) or re.match(r" [A-Z]", after)
        ):
            return
        if before and before[-1] in {"of", "between", "the"} and match["a"][0].isupper():
            return
        kept = chance.choice((match["a"], match["b"]))
        other = sentence[: match.start()] + kept + after
        yield Rewrite("conjunct", sentence, other, None, "neutral")


SHAPES: Final[tuple[Callable[[str, random.Random], Iterator[Rewrite]], ...]] = (
    _negated, _roles, _passive, _qualified, _exchanged, _fewer,
)  # fmt: skip


def rewrites_of(sentence: str, chance: random.Random) -> list[Rewrite]:
    """Return every rewrite that *sentence* offers; doubtful grammar offers none."""
    return [rewrite for shape in SHAPES for rewrite in shape(sentence, chance)]
