"""Plans which windows a model reads of a claim and its evidence; nothing is left out unseen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from certirag.ingest.sentences import boundaries
from certirag.ports import Pair
from certirag.verification.windows import focused, spans_of_windows

MARKERS: Final = 3  # [CLS] evidence [SEP] claim [SEP]
LEAST_ROOM: Final = 32  # tokens; with less a window holds no sentence worth scoring
OVERLAP: Final = 60  # tokens, about two sentences: what leans on the one before stays with it
MOST_CHARACTERS: Final = 2_000_000  # of one pair
MOST_WINDOWS: Final = 512  # of one pair, about 100,000 tokens of evidence

# Where a piece that fits no window is cut further: at line ends (tables, verses), then after any
# mark that ends a statement, whatever follows it (text without capitals), then between the cells
# of a table that lost its line ends. Inside a statement it is never cut.
_FINER: Final = (
    re.compile(r"\s*[\n\r\u2028\u2029]\s*"),
    re.compile(r"(?<=[.!?;])\s+"),
    re.compile(r"(?<=\|)\s+"),
)
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")

Encode = Callable[[str], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Window:
    """The token ids of evidence with its context, and of which *sentences*, by number."""

    evidence: tuple[int, ...]
    sentences: tuple[int, ...]
    focused: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """All windows of one pair, or none and the *fault* that forbids to score it.

    *truncated* says that the fault is length: some of the pair could not be read.
    """

    claim: tuple[int, ...] = ()
    sentences: tuple[str, ...] = ()
    windows: tuple[Window, ...] = ()
    fault: str = ""
    truncated: bool = False


def plan_windows(pair: Pair, encode: Encode, *, max_tokens: int, in_parts: bool = False) -> Plan:
    """Cut *pair* into windows of at most *max_tokens* tokens, markers included.

    Windows are runs of sentences that overlap by about OVERLAP tokens; where there are several,
    one more holds the sentences closest to the claim, wherever they lie. The context, when there
    is one, stands before the evidence of every window as ``context: ``. A pair of which any part
    could not be read whole has a fault and no windows; with *in_parts* a sentence that fits no window
    is none, and read in parts between its words.
    """
    texts = (pair.claim, pair.evidence, pair.context)
    if any(_SURROGATE.search(text) for text in texts):
        return Plan(fault="a text holds half of a surrogate pair, which is no character")
    size = sum(map(len, texts))
    if size > MOST_CHARACTERS:
        return _too_long(f"the pair has {size} characters; {MOST_CHARACTERS} can be read")
    claim = tuple(encode(pair.claim))
    context = tuple(encode(f"{pair.context.strip()}:")) if pair.context.strip() else ()
    room = max_tokens - MARKERS - len(claim) - len(context)
    if not claim:
        return Plan(fault="the claim has no word that can be read")
    if room < LEAST_ROOM:
        return _too_long(
            f"claim and context take {len(claim)} and {len(context)} tokens and leave {room} "
            f"of {max_tokens} to the evidence; {LEAST_ROOM} are needed"
        )
    sentences, ids = _pieces(pair.evidence, encode, room)
    if in_parts:
        sentences, ids = _parts(sentences, ids, encode, room)
    lengths = [len(own) for own in ids]
    if not any(lengths):
        return Plan(fault="the evidence has no word that can be read")
    if max(lengths) > room:
        at = next(at for at, length in enumerate(lengths) if length > room)
        return _too_long(
            f"sentence {at + 1} of the evidence has {lengths[at]} tokens; {room} fit in a window"
        )
    held = _held(pair.claim, sentences, lengths, room)
    if len(held) > MOST_WINDOWS:
        return _too_long(f"the evidence fills {len(held)} windows; {MOST_WINDOWS} can be read")
    windows = tuple(
        Window((*context, *(token for at in numbers for token in ids[at])), numbers, closest)
        for numbers, closest in held
    )
    return Plan(claim, sentences, windows)


def _too_long(fault: str) -> Plan:
    return Plan(fault=fault, truncated=True)


def _held(
    claim: str, sentences: Sequence[str], lengths: Sequence[int], room: int
) -> list[tuple[tuple[int, ...], bool]]:
    """Which sentences each window holds, and whether it is the focused one."""
    runs = [
        (tuple(range(start, end)), False)
        for start, end in spans_of_windows(lengths, room=room, overlap=OVERLAP)
    ]
    if 1 < len(runs) <= MOST_WINDOWS:
        chosen = focused(claim, sentences, lengths, room=room)
        if chosen:
            runs.append((chosen, True))
    return runs


def _pieces(
    text: str, encode: Encode, room: int
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Cut *text* into sentences with their ids; those longer than *room* finer, if they can be."""
    found: list[tuple[str, tuple[int, ...]]] = []
    waiting = [(sentence, 0) for sentence in reversed(list(_sentences(text)))]
    while waiting:
        piece, depth = waiting.pop()
        ids = tuple(encode(piece))
        if len(ids) <= room or depth == len(_FINER):
            found.append((piece, ids))
            continue
        parts = [part for part in _FINER[depth].split(piece) if part]
        waiting += [(part, depth + 1) for part in reversed(parts)]
    return tuple(piece for piece, _ in found), tuple(ids for _, ids in found)


def _parts(
    sentences: Sequence[str], ids: Sequence[tuple[int, ...]], encode: Encode, room: int
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Return *sentences* with their *ids*, those beyond *room* as runs of words of about OVERLAP tokens.

    So short, a part stands in one window with what is beside it, and windows overlap by one.
    """
    found: list[tuple[str, tuple[int, ...]]] = []
    for sentence, own in zip(sentences, ids, strict=True):
        if len(own) <= room:
            found.append((sentence, own))
            continue
        part: list[str] = []
        used = 0
        for word in sentence.split():
            size = len(encode(word))
            if part and used + size > min(OVERLAP, room // 4):
                found.append((text := " ".join(part), tuple(encode(text))))
                part, used = [], 0
            part.append(word)
            used += size
        found.append((text := " ".join(part), tuple(encode(text))))
    return tuple(part for part, _ in found), tuple(own for _, own in found)


def _sentences(text: str) -> Iterator[str]:
    for start, end in pairwise((0, *boundaries(text), len(text))):
        sentence = text[start:end].strip()
        if sentence:
            yield sentence
