"""What a question asks for, and how far a sentence answers it: words only, no model."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from certirag.claim_ir.verbs import PAST_FORMS
from certirag.claim_ir.words import word_set

AnswerKind = Literal["person", "time", "count", "duration", "money", "place", "any"]

_WORD: Final = re.compile(r"\w+(?:[.'’-]\w+)*")
_STOP: Final = word_set(
    "because instead left share percentage number amount proportion figure "
    "share percentage number amount proportion figure a an the of in on at by for from to with within without and or but not no is are was were be "
    "been being do does did has have had can could may might must shall should will would what "
    "which who whom whose when where why how many much long often soon quickly fast far old it its "
    "this that these those there their they them he she his her i my we our us you your any all "
    "some each every one much more most than then so as if about into per up out over under "
    "please tell say give given get gets there's what's happens happen me know need needs "
    "whether also very just only still during after before until since between both either "
    "using use used according exactly currently now mean means called name named state stated "
    "company's such until time kind type sort document documents policy apply applies"
)
# Words that a question and a text use for one another; the first is the group's name.
_GROUPS: Final = (
    "maximum highest max most upper limit ceiling cap largest biggest",
    "minimum lowest min least smallest",
    "employee staff worker colleague personnel people",
    "begin start starting commence beginning onset",
    "end expire expiry finish terminate lapse",
    "pay paid payment payable payout",
    "cost price fee charge rate",
    "buy purchase acquire acquisition bought",
    "yearly annual annually year",
    "monthly month",
    "daily day",
    "nightly night",
    "weekly week",
    "revenue sales turnover",
    "profit earnings income",
    "head lead leader chief manager",
    "remote remotely home",
    "allow allowed permit permitted permission",
    "forbid forbidden prohibit prohibited ban banned",
    "medicine drug medication",
    "child children paediatric",
    "renal kidney",
    "hepatic liver",
    "store stored storage keep kept retain retained",
    "report reported reporting notify notified",
    "phone telephone call",
    "location office site",
    "car vehicle",
    "vacation holiday",
    "2fa two-factor",
    "founded establish established",
    "show shown showed",
    "take taken took",
    "give given gave",
    "choose chosen chose",
    "hold held",
    "send sent",
    "sell sold",
    "write written wrote",
    "grow grown grew",
    "rise risen rose",
    "divide divided split",
    "smoke smoker smokers smoked smoking",
    "carry carried",
    "lose lost",
    "work worked employ employed employs",
    "quote quotation offer",
)
_MONEY: Final = (
    r"\bhow expensive\b|\bwhat is the (?:price|cost|fee)\b|\bhow much\b(?=.*\b(?:pay|paid|costs?|"
    r"price|fee|charged?|spend|spent|worth|salary|reimbursed?|earn|revenue|profit)\b)"
)
_KINDS: Final[tuple[tuple[str, AnswerKind], ...]] = (
    (r"\bhow (?:long|quickly|soon|fast|old)\b|\bwithin what\b|\bhow much (?:time|notice)\b", "duration"),
    (_MONEY, "money"),
    (r"\bhow (?:much|many|often|far|high|large|big|tall)\b|\bwhat (?:percentage|share|number)\b", "count"),
    (r"\b(?:when|by when|until when|what date|which (?:day|year|month|quarter)|what (?:year|day))\b", "time"),
    (r"\b(?:who|whom|whose)\b", "person"),
    (r"\b(?:where)\b", "place"),
)  # fmt: skip
_NUMBER: Final = (
    r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|"
    r"thirty|once|twice|daily|weekly|monthly|half|no limit|none|no)\b)"
)
_FITS: Final[Mapping[AnswerKind, re.Pattern[str]]] = {
    "duration": re.compile(
        _NUMBER + r"|\b(?:day|week|month|year|hour|minute|second|immediately|delay)s?\b", re.I
    ),
    "money": re.compile(
        r"[€$£¥%]|\b(?:eur|usd|gbp|chf|euros?|dollars?|cents?|pounds?|percent|free|million)\b|"
        r"reimburse|free of charge",
        re.I,
    ),
    "count": re.compile(_NUMBER, re.I),
    "time": re.compile(
        r"\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|"
        r"december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|days?|months?|years?|hours?|"
        r"before|after|once|when|immediately|end|quarters?|weeks?|noon|midnight|mornings?|"
        r"afternoons?|evenings?|nights?|o[’']clock|daily|today|tomorrow|yesterday|until|during)\b",
        re.I,
    ),
    "person": re.compile(
        r"\b[A-Z][\w’'-]+ (?:[A-Z]\.? )?[A-Z][\w’'-]+|\b(?:manager|team|board|officer|"
        r"department|employee|head|owner|committee|desk|doctor|pharmacist|patient|parent|"
        r"insurer|shareholder|customer|everyone|anyone|prescriber|supplier|partner|landlord|staff|adults?)s?\b"
    ),
    "place": re.compile(r"\b(?:in|at|on|near|to|from)\b|[A-Z]"),
}
_HOW_MANY: Final = re.compile(
    r"\bhow many ((?:[\w’'-]+ ){0,4}?)(?:of|per|a|an|the|do|does|did|may|must|can|are|is|were|was|"
    r"should|will|has|have|in|on|at|for|before|after|to)\b",
    re.IGNORECASE,
)


# A second question in one sentence: ", and when are approved claims paid?"
_SECOND: Final = re.compile(
    r",? and (?=(?:by |until |since |at |in |on |for |within )?(?:how|when|what|which|who|where|why)\b)",
    re.IGNORECASE,
)
_NAME_WEIGHT: Final = 1.6


@dataclass(frozen=True, slots=True)
class Ask:
    """A question as read: stems of its content words, kind of answer, what is counted, names."""

    terms: tuple[str, ...]
    kind: AnswerKind
    counted: str = ""
    names: frozenset[str] = frozenset()
    text: str = ""


def stem(word: str) -> str:
    """Return the stem of *word*, common endings cut, words of one meaning made one."""
    plain = word.lower().replace("’", "'").removesuffix("'s").strip("'")
    if plain in _SAME:
        return _SAME[plain]
    for ending, least in (("ies", 3), ("sses", 2), ("ing", 4), ("edly", 4), ("ed", 4), ("ly", 4),
                          ("es", 4), ("s", 3), ("e", 4)):  # fmt: skip
        if plain.endswith(ending) and len(plain) - len(ending) >= least:
            if ending == "s" and plain.endswith(("ss", "us", "is")):
                continue
            plain = plain[: -len(ending)] + ("y" if ending == "ies" else "")
            break
    if len(plain) > 4 and plain[-1] == plain[-2] and plain[-1] not in "aeiousl":
        plain = plain[:-1]
    return _SAME.get(plain, plain.removesuffix("e") if len(plain) > 4 else plain)


_SAME: dict[str, str] = {}
_SAME.update({word: line.split()[0] for line in _GROUPS for word in line.split()})
for _line in _GROUPS:  # inflected forms reach their group through the stem as well
    for _word in _line.split():
        _SAME.setdefault(_word + "s", _line.split()[0])


def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of *text*."""
    found = set()
    for match in _WORD.finditer(text):
        word = match.group()
        for part in (word, *re.split(r"[-.]", word)) if "-" in word else (word,):
            if part.lower() not in _STOP and part:
                found.add(stem(part))
    return frozenset(found)


def read_questions(question: str) -> tuple[Ask, ...]:
    """Return the questions that *question* joins; a part without a subject takes the fullest's."""
    parts = [part for part in _SECOND.split(question) if part.strip()]
    asks = [read_question(part) for part in parts] or [read_question(question)]
    fullest = max(asks, key=lambda ask: len(ask.terms))
    return tuple(ask if len(ask.terms) >= 2 else _joined(fullest, ask) for ask in asks)


def _joined(first: Ask, second: Ask) -> Ask:
    terms = tuple(dict.fromkeys((*first.terms, *second.terms)))
    return Ask(terms, second.kind, second.counted, first.names | second.names, first.text)


def read_question(question: str) -> Ask:
    """Return what *question* asks for; its terms are in order, each once."""
    terms: dict[str, None] = {}
    for match in _WORD.finditer(question):
        word = match.group()
        if word.lower() not in _STOP and (len(word) > 1 or word.isdigit()):
            terms[stem(word)] = None
    kind: AnswerKind = "any"
    for pattern, name in _KINDS:
        if re.search(pattern, question, re.IGNORECASE):
            kind = name
            break
    counted = _HOW_MANY.search(question)
    words = counted.group(1).split() if counted else []
    noun = [w for place, w in enumerate(words) if place == 0 or w.lower() not in PAST_FORMS]
    names = {
        stem(m.group()) for m in _WORD.finditer(question) if m.start() and m.group()[0].isupper()
    }
    return Ask(tuple(terms), kind, stem(noun[-1]) if noun else "", frozenset(names), question)


def fits(ask: Ask, sentence: str) -> bool:
    """Say whether *sentence* holds the kind of thing that is asked for."""
    pattern = _FITS.get(ask.kind)
    return pattern is None or pattern.search(sentence) is not None


def weights(ask: Ask, texts: Sequence[Iterable[str]]) -> dict[str, float]:
    """Return how much each term of the question tells: the rarer among *texts*, the more.

    A term that is found nowhere tells the most: a text without it is about something else.
    """
    sets = [set(text) for text in texts]
    count = max(1, len(sets))
    found = {}
    for term in ask.terms:
        having = sum(has_term(term, text) for text in sets)
        found[term] = math.log(1.0 + (count + 1) / (having + 0.5))
        if term in ask.names:  # a row about another place is not the answer
            found[term] *= _NAME_WEIGHT
    return found


def has_term(term: str, words: Iterable[str]) -> bool:
    """Say whether *term* is among *words*, a long word also by its first letters."""
    pool = words if isinstance(words, set | frozenset) else set(words)
    if term in pool:
        return True
    if len(term) < 5 or not term.isalpha():
        return False
    head = term[: max(5, len(term) - 3)]
    return any(word.startswith(head) and abs(len(word) - len(term)) <= 4 for word in pool)
