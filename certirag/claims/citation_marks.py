"""Reads the citation marks out of a draft, and leaves the draft's statements exactly as they were.

Read are ``[1]``, ``[2, 4]``, ``[1-3]``, ``[^1]``, ``【1†source】``, ``[[name]]``, ``[name#section]``,
``[name, p. 3]``, ``(Title, p. 3)``, ``(source: name)`` and several in one, parted by semicolons. A
name is a source's id, title, path or file name. What only looks like a mark stays in the text: a
bracket that may be part of the statement is never cut out of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from certirag.core.citation import Citation, CitedSource
from certirag.core.claim import Claim, ClaimIR
from certirag.core.text import EvidenceChunk

MOST_NUMBERS: Final = 20
_MARK: Final = re.compile(
    r"\[\[(?P<double>[^\[\]\n]{1,200})\]\]"
    r"|【(?P<lens>[^【】\n]{1,200})】"
    r"|\[(?P<single>[^\[\]\n]{1,300})\](?!\()"
    r"|\((?P<round>[^()\n]{1,300})\)"
)
_NUMBER: Final = re.compile(r"\^?(\d{1,3})")
_RANGE: Final = re.compile(r"\^?(\d{1,3})\s*[-–]\s*\^?(\d{1,3})")
_LENS: Final = re.compile(r"(\d{1,3})(?::\d{1,4})?(?:†.*)?")
_PREFIX: Final = re.compile(
    r"(?:sources?|docs?|refs?|citation|cited in)(?:\s*:\s*|\s+)|(?:see|cf\.)\s+", re.I
)
_STRONG_PREFIX: Final = re.compile(r"(?:sources?|docs?|refs?|citation|cited in)\s*:\s*", re.I)
_QUOTED: Final = re.compile(r"[:,]?\s*[\"“]([^\"“”\n]{1,280})[\"”]\s*$")
_PLACE: Final = re.compile(
    r"(?:\s*#|\s*[,;:]?\s+(?=(?:pp?\.|pages?\b|sections?\b|secs?\.|§|chapters?\b|ch\.|para))|\s*(?=§))"
    r"\s*(?P<place>\S.*)$",
    re.I | re.S,
)
_EXTENSION: Final = re.compile(r"\.(?:[a-z]{2,5}|[a-z]\d)$", re.I)
_DIGEST: Final = re.compile(r"-[0-9a-f]{6}$")
_SMALL_WORDS: Final = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "the", "to", "with"]
)


@dataclass(frozen=True, slots=True)
class Mark:
    """One reference of a draft: *doc_id* is "" when it names none of the sources.

    ``draft[start:end] == raw``; a mark that names several sources gives one of these for each.
    *at* is where it stood in the text without marks.
    """

    doc_id: str
    raw: str
    start: int
    end: int
    at: int
    place: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class CitedDraft:
    """A draft and its text without marks; ``draft[places[i]] == text[i]``."""

    draft: str
    text: str
    places: tuple[int, ...]
    marks: tuple[Mark, ...]


def cited_sources(chunks: Sequence[EvidenceChunk]) -> tuple[CitedSource, ...]:
    """Return the sources of *chunks*, numbered from 1 in the order in which they come first."""
    first: dict[str, EvidenceChunk] = {}
    for chunk in chunks:
        first.setdefault(chunk.doc_id, chunk)
    return tuple(
        CitedSource(number, doc_id, chunk.source.title, chunk.source.url_or_path)
        for number, (doc_id, chunk) in enumerate(first.items(), 1)
    )


def read_citations(draft: str, sources: Sequence[CitedSource]) -> CitedDraft:
    """Return *draft* without its citation marks, and the marks in order.

    A mark goes with the blanks before it, and with what parts it from the mark before. Numbers
    and names that none of *sources* has are marks too, of no source. Where two sources share a
    name, the name is that of the one with the smaller number. Total: no text is an error.
    """
    names = _names(sources)
    numbers = {source.number: source.doc_id for source in sources}
    found = [
        (match, named)
        for match in _MARK.finditer(draft)
        if (named := _named(match, names, numbers))
    ]
    drop = bytearray(len(draft))
    last_end = -1
    for match, _ in found:
        start = match.start()
        between = draft[last_end:start] if last_end >= 0 else "x"
        if not between.strip(" \t,;"):
            start = last_end
        while start > 0 and draft[start - 1] in " \t" and not drop[start - 1]:
            start -= 1
        end = match.end()
        if start == 0 or draft[start - 1] == "\n":  # nothing before it: the blank after it goes
            while end < len(draft) and draft[end] in " \t":
                end += 1
        drop[start:end] = b"\x01" * (end - start)
        last_end = match.end()
    places = tuple(index for index in range(len(draft)) if not drop[index])
    text = "".join(draft[index] for index in places)
    return CitedDraft(draft, text, places, tuple(_marks(found, draft, drop)))


def _marks(
    found: Sequence[tuple[re.Match[str], Sequence[tuple[str, str, str]]]],
    draft: str,
    drop: bytearray,
) -> Iterator[Mark]:
    kept, counted = 0, 0
    for match, named in found:
        kept += match.start() - counted - sum(drop[counted : match.start()])
        counted = match.start()
        before = _quote_before(draft, match.start())
        for doc_id, place, quote in named:
            yield Mark(
                doc_id,
                match.group(),
                match.start(),
                match.end(),
                at=kept,
                place=place,
                quote=quote or before,
            )


def _quote_before(draft: str, start: int) -> str:
    """Return the words in quotation marks that end right before a mark: a quote of three or more."""
    match = re.search(
        r"[\"“]([^\"“”\n]{1,400})[\"”]\)?[.,;]?\s{0,2}$", draft[max(0, start - 420) : start]
    )
    return match.group(1) if match and len(match.group(1).split()) >= 3 else ""


def _named(
    match: re.Match[str], names: Mapping[str, str], numbers: Mapping[int, str]
) -> list[tuple[str, str, str]]:
    """Return (doc_id, place, quote) of each source that *match* names; [] when it is no mark."""
    form = match.lastgroup or ""
    inside = match.group(form).strip()
    whole = _one(inside, form, names, numbers)
    if whole and any(doc_id for doc_id, _, _ in whole):
        return whole
    parts = [part.strip() for part in inside.split(";") if part.strip()]
    if len(parts) > 1:
        each = [_one(part, form, names, numbers) for part in parts]
        return [named for own in each for named in own] if all(each) else []
    return whole


def _one(
    inside: str, form: str, names: Mapping[str, str], numbers: Mapping[int, str]
) -> list[tuple[str, str, str]]:
    """Return what one reference names, [] when it need not be one."""
    quote = ""
    if quoted := _QUOTED.search(inside):
        inside, quote = inside[: quoted.start()].strip(), quoted.group(1)
    if form == "lens" and (lens := _LENS.fullmatch(inside)):
        return [(numbers.get(int(lens.group(1)), ""), "", quote)]
    if form != "round" and (listed := _numbers(inside)):
        return [(numbers.get(number, ""), "", quote) for number in listed]
    if doc_id := names.get(_plain(inside), ""):  # a name may hold what looks like a place
        return [(doc_id, "", quote)] if form != "round" or _is_distinct(inside) else []
    prefix = _PREFIX.match(inside)
    strong = _STRONG_PREFIX.match(inside) is not None
    named = inside[prefix.end() :].strip() if prefix else inside
    place = ""
    if found := _PLACE.search(named):
        named, place = named[: found.start()].strip(" ,;:"), found.group("place").strip(" ,;")
    number = _NUMBER.fullmatch(named)
    if number and form != "round" and (place or prefix):
        return [(numbers.get(int(number.group(1)), ""), place, quote)]
    doc_id = names.get(_plain(named), "")
    certain = form in {"double", "lens"} or strong
    if doc_id:
        return [(doc_id, place, quote)] if certain or place or _is_distinct(named) else []
    if certain or (form == "single" and (place or _EXTENSION.search(named))):
        return [("", place, quote)]
    return [("", place, quote)] if place and _is_title(named) else []


def _numbers(inside: str) -> list[int]:
    """Return the numbers that *inside* lists, and nothing else stands there; [] otherwise."""
    listed: list[int] = []
    for part in re.split(r"\s*[,;]\s*", inside):
        if one := _NUMBER.fullmatch(part):
            listed.append(int(one.group(1)))
        elif (span := _RANGE.fullmatch(part)) and int(span.group(1)) <= int(span.group(2)):
            listed += range(int(span.group(1)), int(span.group(2)) + 1)
        else:
            return []
    return listed if len(listed) <= MOST_NUMBERS else listed[:MOST_NUMBERS]


def _names(sources: Sequence[CitedSource]) -> dict[str, str]:
    """Return the plain form of each name of each source → its doc_id; the first source wins."""
    names: dict[str, str] = {}
    for source in sorted(sources, key=lambda s: s.number):
        path = PurePosixPath(source.path.replace("\\", "/"))
        known = (source.doc_id, source.path, path.name, source.title, path.stem)
        for name in (*known, _DIGEST.sub("", source.doc_id)):
            if plain := _plain(name):
                names.setdefault(plain, source.doc_id)
    return names


def _is_distinct(name: str) -> bool:
    """Say whether *name* alone in brackets is a reference: no single plain word could be."""
    return len(_plain(name).split()) > 1


def _is_title(name: str) -> bool:
    """Say whether *name* is written as a title is, so that nothing is stated by it."""
    words = re.findall(r"[^\W_]+", name)
    large = [word for word in words if word not in _SMALL_WORDS and not word.isdigit()]
    return (
        bool(large)
        and len(words) <= 12
        and all(word[0].isupper() for word in large)
        and not (set(name) & set("%$€£=<>"))
    )


def _plain(text: str) -> str:
    spread = unicodedata.normalize("NFKD", text).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in spread).split())


# Which claim a citation mark belongs to, and claims put back into the draft with its marks.
#
# A mark belongs to what stands before it in its sentence, back to the mark before: "A rose [1], and
# B fell [2]." cites one source for each half, "A rose, and B fell [1]." the same for both. A mark
# right after the full stop belongs to the sentence that the stop ends, and one that opens a line to
# the statement after it.

_STOP: Final = re.compile(r"[.!?][\"”’)\]*_]*(?=\s)|\n")
_ENDS: Final = re.compile(r"[.!?:;,]*[\"”’)\]*_]*\s*$")


@dataclass(frozen=True, slots=True)
class ClaimCitations:
    """The citations of all claims, in the order of the marks; *dropped* names marks of no claim."""

    citations: tuple[Citation, ...]
    dropped: tuple[str, ...] = ()


def citations_of(claims: Sequence[Claim], cited: CitedDraft) -> ClaimCitations:
    """Return the citations of *claims*, whose places are in ``cited.text``."""
    citations: list[Citation] = []
    dropped: list[str] = []
    previous = 0
    for at in dict.fromkeys(mark.at for mark in cited.marks):
        group = [mark for mark in cited.marks if mark.at == at]
        owners = _owners(claims, cited.text, at, previous)
        previous = at
        if not owners:
            dropped += [f"the mark '{mark.raw[:60]}' stands by no claim" for mark in group]
        citations += [_citation(claim, mark) for claim in owners for mark in group]
    return ClaimCitations(tuple(citations), tuple(dropped))


def with_marks(claim_ir: ClaimIR, cited: CitedDraft) -> ClaimIR:
    """Return *claim_ir*, made of ``cited.text``, with its places in the draft as it was written.

    The claims' texts stay as they are, without marks; ``draft[draft_start:draft_end]`` holds the
    marks that stand inside a claim.
    """
    if claim_ir.draft != cited.text:
        return claim_ir  # these claims are not of this text: there is nothing to move
    return replace(
        claim_ir,
        draft=cited.draft,
        claims=tuple(_moved(claim, cited) for claim in claim_ir.claims),
    )


def _owners(claims: Sequence[Claim], text: str, at: int, previous: int) -> list[Claim]:
    ended = _ENDS.search(text, max(0, at - 40), at)
    stop = ended.start() if ended else at
    line = text.rfind("\n", 0, at) + 1
    stop = max(stop, line)
    boundaries = [match.end() for match in _STOP.finditer(text, line, stop)]
    start = max([line, *boundaries, *([previous] if previous < stop else [])])
    owners = [c for c in claims if c.draft_start < stop and c.draft_end > start]
    if owners or text[line:stop].strip():
        return owners
    end = text.find("\n", at)
    following = [c for c in claims if at <= c.draft_start < (end if end >= 0 else len(text))]
    return following[:1]


def _citation(claim: Claim, mark: Mark) -> Citation:
    return Citation(
        claim_id=claim.id,
        doc_id=mark.doc_id,
        raw=mark.raw,
        place=mark.place,
        quote=mark.quote,
        start=mark.start,
        end=mark.end,
    )


def _moved(claim: Claim, cited: CitedDraft) -> Claim:
    if not 0 <= claim.draft_start < claim.draft_end <= len(cited.places):
        return claim
    return replace(
        claim,
        draft_start=cited.places[claim.draft_start],
        draft_end=cited.places[claim.draft_end - 1] + 1,
    )
