"""Cut text into sentences: by the rules here, or with a spaCy pipeline that the user names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from certirag.errors import MissingExtra
from certirag.ingest.extract import words
from certirag.ports import SentenceSplitter

if TYPE_CHECKING:
    from spacy.language import Language

_WINDOW: Final = 2_000  # characters, about, that a pipeline is given at a time
_LONGEST: Final = 8_000  # characters at most, where no sentence ends
_BRACKET_REACH: Final = 400  # a round bracket that closes later than this was never closed

# A mark that may end a sentence, what closes after it, and the blank before the next one.
_CANDIDATE = re.compile(
    r"(?P<mark>[.!?…]+)(?P<close>(?:[\"'”’»)\]}*_]|\[\d{1,3}\]|[⁰¹²³⁴-⁹])*)(?:\s+|$)"
)
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_BULLET_LINE = re.compile(r"\n\s*(?=[•‣◦▪●]\s|[-*–]\s+[^\W\d])")
_NUMBER_LINE = re.compile(r"\n[^\S\n]*(?=\(?\d{1,2}[.)]\s+[^\W\d_])")
_ITEM_LINE = re.compile(r"\s*(?:[•‣◦▪●*–-]\s|\(?\d{1,2}[.)]\s)")
_OPENERS: Final = "\"'“‘«([{¿¡*_-–—•‣◦▪● "
_WORD_BEFORE = re.compile(r"[^\s(\[{\"“‘«/]*$")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]{1,2}")
_NEXT_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?\.?")
_ITEM_NUMBER = re.compile(r"(?:\d{1,3}(?:\.\d{1,3})*|[a-z]|[ivx]{1,4})", re.IGNORECASE)
_PERIOD_OF_DAY: Final = frozenset({"a.m", "p.m"})
_MIXED_CASE = re.compile(r"[a-z]{1,2}[A-Z]")  # eGFR, pH, iPhone open a sentence in lower case

# Never the last word of a sentence.
_TITLES: Final = words(
    "dr mr mrs ms mx prof rev hon gen col lt sgt capt cmdr messrs sen rep gov pres supt "
    "vs cf e.g i.e viz approx ca incl excl resp"
)
# An abbreviation before a number ("No. 4", "Fig. 2", "App. B"), an ordinary word otherwise.
_BEFORE_NUMBER: Final = words(
    "no nos nr fig figs eq eqs sec secs sect art arts para paras vol vols p pp ch chap tab app "
    "ref refs ver rev ext tel lot cl reg ann sched cat"
)
# May end a sentence, but does so only before a word that opens one.
_SUFFIXES: Final = words(
    "inc ltd corp co plc llc bros jr sr al dept est min max avg st ave blvd rd mt ft dist univ "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun "
    "ed eds intl natl govt assn gmbh ing nat ph.d m.d b.sc m.sc u.s u.k e.u u.n"
)
# Closed-class words: in capitals after a full stop they open a sentence.
_STARTERS: Final = words(
    "a an the this that these those it its he she they we you i his her their our your there here "
    "in on at by for from with without under over after before during since until as if when "
    "while where although because unless whereas to of and but or so yet nor not no all any each "
    "every both most some many few several other another such however therefore thus moreover "
    "furthermore meanwhile instead otherwise then also only please what which who whose why how "
    "is are was were do does did has have had can could may might must shall should will would "
    "today according additionally finally once"
)
_CALENDAR: Final = words(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december"
)


def sentence_splitter(pipeline: str | None = None) -> SentenceSplitter:
    """Return a splitter: text in, (start, end) of each sentence out, in code points.

    Sentences are in order, do not overlap, begin and end with a non-blank character, and hold
    every non-blank character of the text. *pipeline* names an installed spaCy package whose
    sentence boundaries are used instead of the rules here. Raises MissingExtra when it is not
    installed or sets no sentence boundaries.
    """
    edges = _rule_edges if pipeline is None else _pipeline_edges(_named_pipeline(pipeline))

    def split(text: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for left, right in pairwise((0, *edges(text), len(text))):
            sentence = text[left:right]
            lead = len(sentence) - len(sentence.lstrip())
            if sentence.strip():
                spans.append((left + lead, left + len(sentence.rstrip())))
        return spans

    return split


def _rule_edges(text: str) -> Iterator[int]:
    """Yield the `boundaries` of *text*, and where what has none is too long for one sentence."""
    start = 0
    for edge in (*boundaries(text), len(text)):
        while edge - start > _LONGEST:
            start = _blank_before(text, start + _LONGEST)
            yield start
        if edge < len(text):
            yield edge
        start = edge


def _pipeline_edges(nlp: Language) -> Callable[[str], Iterator[int]]:
    """Return what yields the offsets, over 0, at which *nlp* begins a sentence."""

    def edges(text: str) -> Iterator[int]:
        encodable = _SURROGATES.sub("\ufffd", text)  # spaCy hashes UTF-8, which has none of them
        for start, end in _windows(text):
            starts = (start + sentence.start_char for sentence in nlp(encodable[start:end]).sents)
            yield from (at for at in starts if at > 0)

    return edges


def boundaries(text: str) -> Iterator[int]:
    """Yield, in order, each offset of *text* (over 0) at which the rules begin a new sentence."""
    hard = _line_boundaries(text)
    sentence, depth, marks, counted, next_hard = 0, 0, 0, 0, 0
    for match in _CANDIDATE.finditer(text):
        while next_hard < len(hard) and hard[next_hard] <= match.start():
            if hard[next_hard] > sentence:
                sentence, depth, marks, counted = hard[next_hard], 0, 0, hard[next_hard]
                yield sentence
            next_hard += 1
        end = match.end()
        depth = max(0, depth + text.count("(", counted, end) - text.count(")", counted, end))
        marks += text.count('"', counted, end)
        counted = max(counted, end)
        bracketed = depth > 0 and ")" in text[end : end + _BRACKET_REACH]
        if end < len(text) and not bracketed and _ends_sentence(text, match, sentence):
            # In text with blanks around its quotation marks (' " Yes. " He left.') an open one closes.
            if marks % 2 and text[end] == '"' and text[end + 1 : end + 2].isspace():
                end += 1
            sentence, depth = end, 0
            yield end
    for offset in hard[next_hard:]:
        if sentence < offset < len(text):
            sentence = offset
            yield offset


def _line_boundaries(text: str) -> list[int]:
    found = {m.end() for rule in (_BLANK_LINE, _BULLET_LINE) for m in rule.finditer(text)}
    for match in _NUMBER_LINE.finditer(text):
        above = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].rstrip()
        # "…on page\n12. The…" is a wrapped line, not the twelfth item.
        if not above or above[-1] in ".:;!?" or _ITEM_LINE.match(above):
            found.add(match.end())
    return sorted(found)


def _ends_sentence(text: str, match: re.Match[str], sentence: int) -> bool:
    mark, after = match["mark"], text[match.end() : match.end() + 80].lstrip(_OPENERS)
    if not after or _opens_in_lower_case(after):
        return False
    if mark != ".":
        return bool(after[0].isalpha() or mark[-1] in "!?")
    # 80 characters are more than any abbreviation, and bound the search in hostile text.
    word = _WORD_BEFORE.search(text[max(sentence, match.start() - 80) : match.start()])
    before = word[0].lower() if word else ""
    if not before:
        return True
    return _word_may_end(before, after, at_start=match.start() - len(before) <= sentence)


def _opens_in_lower_case(after: str) -> bool:
    return after[0].islower() and not _MIXED_CASE.match(after)


def _word_may_end(before: str, after: str, *, at_start: bool) -> bool:
    following = _NEXT_WORD.match(after)
    next_word = following[0] if following else ""
    opens = next_word.lower() in _STARTERS
    bare = before.strip("\"'”’»)]}*_-•")
    if bare in _TITLES:
        return False
    if at_start and _ITEM_NUMBER.fullmatch(bare):
        return False  # "1. What must be reported": the number belongs to what it counts
    if bare in _BEFORE_NUMBER and (after[0].isdigit() or len(next_word.rstrip(".")) == 1):
        return False
    if bare in _PERIOD_OF_DAY:
        return next_word.lower() not in _CALENDAR and not next_word.isupper()
    if bare in _SUFFIXES or _DOTTED.fullmatch(bare):
        return opens
    if len(bare) == 1 and bare.isalpha():
        return opens and not next_word.endswith(".")  # J. A. Smith, but: Plan B. It works.
    # "12. 5 percent" is a decimal torn apart more often than two sentences.
    return not (bare[-1:].isdigit() and after[0].isdigit())


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield short stretches of *text* that end where a sentence does.

    spaCy's time for a document grows with the square of its length, and it refuses more than a
    million characters.
    """
    start = last = 0
    for edge in (*_rule_edges(text), len(text)):
        if edge - start > _WINDOW and last > start:
            yield start, last
            start = last
        last = edge
    if start < len(text):
        yield start, len(text)


def _blank_before(text: str, end: int) -> int:
    """Return the place behind the last blank of the half of `_LONGEST` before *end*, or *end*."""
    cut = text.rfind(" ", end - _LONGEST // 2, end)
    return cut + 1 if cut > 0 else end


def _named_pipeline(name: str) -> Language:
    try:
        import spacy  # noqa: PLC0415 - an extra, and a second of start-up
    except ImportError as error:
        message = f"a spaCy pipeline ({name!r}) needs spaCy: run pip install 'certirag[spacy]'"
        raise MissingExtra(message) from error

    # Packages only: a path could name a folder of somebody else's pickles.
    if not name.isidentifier() or not spacy.util.is_package(name):
        raise MissingExtra(
            f"spaCy pipeline {name!r} is not installed: run python -m spacy download {name!r}, "
            "or leave the name out to use the rules"
        )
    nlp = spacy.load(name)
    if not nlp("One. Two.").has_annotation("SENT_START"):
        raise MissingExtra(
            f"spaCy pipeline {name!r} sets no sentence boundaries: name one with a parser or senter"
        )
    return nlp
