"""Words that point at another sentence, and what they must mean given the one before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from certirag.claims.antecedent import antecedent
from certirag.claims.split import frame_of
from certirag.text.tokens import (
    Token,
    Tokens,
    is_plural,
    new_words,
    render,
    supplied,
    tokenize,
)
from certirag.text.word_classes import (
    AMBIGUOUS_FORMS,
    AUXILIARIES,
    DETERMINERS,
    PERSONAL,
    PREPOSITIONS,
    STEM_OF,
    is_verb_form,
    word_set,
)

_POSSESSIVES: Final = frozenset({"its", "their", "his", "her"})
_DEMONSTRATIVES: Final = frozenset({"this", "that", "these", "those"})
_LONE: Final = word_set(
    "both neither either each some many most others another none all several few one"
)
# "It is possible that …", "It takes …": this "it" stands for nothing.
_EXPLETIVE: Final = re.compile(
    r"it (?:is|was|will be|may be|can be|has been|is not)(?: also| not| always)? "
    r"(?:possible|necessary|important|mandatory|required|forbidden|recommended|known|clear|likely|"
    r"unlikely|illegal|permitted|expected|estimated|advisable|essential)(?: that| to|\b)"
    r"|it (?:takes|costs|rains|seems|appears|follows|depends whether)\b",
    re.IGNORECASE,
)
_BACKWARD: Final = re.compile(
    r"^(?:the (?:former|latter|above|same|aforementioned|said)\b|as (?:above|before|mentioned|noted|"
    r"described|stated) (?:above|before|earlier)|as above\b|(?:likewise|similarly|therefore|thus|hence|"
    r"otherwise|instead|consequently|however|moreover|furthermore)$)",
    re.IGNORECASE,
)
# "… contributed $5 million of this": a part whose whole stands in another sentence.
_PART_OF: Final = re.compile(
    r"\b(?:of|to|than|after|before|besides|beyond) (?:that|this|these|those)(?=\s*[.,;]|$)"
    r"|\bof (?:that|this) (?=after|before|in|on|by|during|since)\b",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"(\w+)[)\]”\"']?([.!?])[)\]”\"']?\s+(?=[“\"(]?[A-Z])")
_ABBREVIATIONS: Final = word_set(
    "dr mr mrs ms prof st no vs inc ltd co corp jr sr dept fig sec art approx est e.g i.e etc cf "
    "al ca p pp vol ed gen sen rep hon jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k "
    "a.m p.m ph.d"
)
_LINK_WORDS: Final = word_set(
    "however moreover furthermore also therefore thus additionally consequently similarly "
    "likewise in addition but and so hence finally overall notably meanwhile"
)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A statement with its pronoun replaced by *words*; *words* is empty when nothing changed."""

    text: str
    words: str = ""


def pointing_words(text: str) -> str:
    """Return the words of *text* that need another sentence to be understood, or ""."""
    backward = _BACKWARD.match(text.strip())
    if backward:
        return backward.group()
    tokens = _without_link(tokenize(text))
    at = _pointer(tokens)
    if at >= 0:
        return tokens[at].text
    # In a later sentence of a quotation it points at the one before, which stands here too.
    part = _PART_OF.search(text, 0, second_sentence(text))
    return part.group().strip() if part else ""


def second_sentence(text: str) -> int:
    """Return where the second sentence of *text* begins, or its length."""
    for match in _SENTENCE_END.finditer(text):
        word = match[1].lower()
        if match[2] != "." or not (word in _ABBREVIATIONS or len(word) == 1):
            return match.end()
    return len(text)


def _without_link(tokens: Tokens) -> Tokens:
    """Drop a linking word and its comma from the front ("However, it …")."""
    if len(tokens) > 2 and tokens[0].lower in _LINK_WORDS:
        if tokens[1].text == ",":
            return tokens[2:]
        if tokens[0].lower in {"but", "and", "so", "also", "therefore", "thus"}:
            return tokens[1:]
    return tokens


def _pointer(tokens: Tokens) -> int:
    """Return the index of the first word that points outside, or -1."""
    if not tokens:
        return -1
    first = _points_at_front(tokens)
    if first >= 0:
        return first
    frame = frame_of(tokens)
    length = frame.length or _front(tokens)
    if not length:
        return -1
    inner = _points_at_front(tokens[length:])
    if inner < 0 or _named_in_front(tokens[length + inner], tokens[:length]):
        return -1
    return length + inner


def _front(tokens: Tokens) -> int:
    """Return where the subject begins after an opening phrase without a plain end."""
    if tokens[0].lower not in PREPOSITIONS:
        return 0
    for index, token in enumerate(tokens[:16]):
        if token.text == "," or (index > 1 and token.lower in PERSONAL):
            return index + (token.text == ",")
    return 0


def _points_at_front(tokens: Tokens) -> int:
    if not tokens:
        return -1
    first = tokens[0].lower
    following = tokens[1].lower if len(tokens) > 1 else ""
    verb_next = following in AUXILIARIES or (
        is_verb_form(following) and following not in {"use", "work", "time"}
    )
    if first in PERSONAL | _POSSESSIVES | {"them"}:
        return -1 if first == "it" and _EXPLETIVE.match(render(tokens[:8])) else 0
    if first in _DEMONSTRATIVES | {"such"} and (verb_next or following in PREPOSITIONS | {""}):
        return 0
    if first in _LONE and (following in AUXILIARIES or following in {"of", "must", "may"}):
        of_known = (
            following == "of" and len(tokens) > 2 and tokens[2].lower not in {"these", "them"}
        )
        return -1 if of_known else 0
    if first == "the" and following in {"first", "second", "third", "other", "same", "latter"}:
        third = tokens[2].lower if len(tokens) > 2 else ""
        verbal = third in STEM_OF and third not in AMBIGUOUS_FORMS
        return 1 if third in AUXILIARIES | (PREPOSITIONS - {"of"}) or verbal else -1
    if first in PREPOSITIONS and following in _DEMONSTRATIVES | {"it", "them"}:
        near = tokens[2].lower if len(tokens) > 2 else ""
        # "in this document", "under this policy" is the page's own name for itself
        own = following == "this" and near not in {"case", ""} and near.isalpha()
        return -1 if own else 1
    return -1


def _named_in_front(pronoun: Token, front: Tokens) -> bool:
    """Say whether the opening phrase names something that *pronoun* can stand for."""
    if pronoun.lower in {"they", "their"}:
        return any(is_plural(t) for t in front)
    if pronoun.lower in {"this", "that"}:
        return front[0].lower in {"if", "when", "whenever", "once", "where"}
    if pronoun.lower in {"it", "its"}:
        return any(t.lower in DETERMINERS for t in front[:-1])
    return False


def resolve(text: str, before: str) -> Resolved:
    """Return *text* with its leading pronoun replaced from *before*, the sentence before it.

    Nothing is replaced unless only one noun phrase of *before* can be meant.
    """
    tokens = tokenize(text)
    kept = _without_link(tokens)
    at = _pointer(kept)
    if at < 0:
        return Resolved(text)
    pronoun = kept[at].lower
    if pronoun not in PERSONAL | _POSSESSIVES:
        return Resolved(text)
    clause = tokenize(before)
    frame = frame_of(clause)
    noun = antecedent(pronoun, clause[frame.length :] or clause, strict=True)
    if not noun:
        return Resolved(text)
    noun = _definite(noun)
    words = supplied(noun)
    if pronoun in _POSSESSIVES:
        ending = "'" if noun[-1].text.endswith("s") else "'s"
        words = (*words[:-1], Token(noun[-1].text + ending, -1, -1, own=False))
    replaced = _spaced((*kept[:at], *words, *kept[at + 1 :]), at, len(words), text)
    return Resolved(replaced, render(words))


def _definite(noun: Tokens) -> Tokens:
    """Return *noun* as it is spoken of a second time: "A clause …" becomes "The clause"."""
    return (*new_words("The"), *noun[1:]) if noun[0].lower in {"a", "an"} else noun


def _spaced(tokens: Tokens, at: int, count: int, text: str) -> str:
    """Return *text* with ``tokens[at:at+count]`` in place of the pronoun, the rest verbatim."""
    head = text[tokens[0].start : tokens[at - 1].end] if at else ""
    rest = tokens[at + count :]
    tail = text[rest[0].start :] if rest else ""
    words = render(tokens[at : at + count])
    first, second = tokens[at], tokens[at + 1] if count > 1 else None
    common = is_plural(first) and not (second and second.text[:1].isupper())
    if head and (first.lower in DETERMINERS or common):
        words = words[:1].lower() + words[1:]
    joined = " ".join(part for part in (head, words, tail) if part)
    return re.sub(r" (?=[,.;:!?])", "", joined[:1].upper() + joined[1:])
