"""Records and exports at the very edge of a rule, where two readings of it would part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from vector_exports import KEYS, Json, Made, export, raw_hex
from vector_records import (
    OTHER,
    SENTENCE,
    STRICT,
    SURE,
    UNSURE,
    Pair,
    Scores,
    answer,
    chunk,
    claim,
    probed,
    result,
    single,
)

from certirag.core.text import sha256_hex
from certirag.core.verdict import PlantedError, Probe

# All characters that are blank (docs/certificate.md §7), and some that only look it.
BLANK: Final = (
    *map(chr, (*range(0x09, 0x0E), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680)),
    *map(chr, (*range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)),
)
NOT_BLANK: Final = (
    "\u180e",
    "\u200b",
    "\u2060",
    "\u2800",
    "\u3164",
    "\x1b",
    "\x08",
    "\x0e",
    "\x00",
)


def edge_records() -> Iterator[tuple[str, Json]]:
    """Yield a name and a sound record for each edge."""
    for blank in (*BLANK, "".join(BLANK)):
        named = "all blank characters" if len(blank) > 1 else f"U+{ord(blank):04X} alone"
        yield f"a blank attached sentence, {named}", single(of=chunk(sentences=(blank,)))
    for seen in NOT_BLANK:
        of = chunk(sentences=(f" {seen} ",))
        yield f"an attached sentence of U+{ord(seen):04X} is not blank", single(of=of)
    yield from _contested()
    for number, name in enumerate(("entailed", "not_enough_info", "contradicted")):
        scores = [*UNSURE]
        scores[number] = None  # type: ignore[call-overload]
        yield f"a span whose {name} is null", _with_second((scores[0], scores[1], scores[2]))


def _contested() -> Iterator[tuple[str, Json]]:
    """Another document, and the claim's own, at the limit of opposition and beside it."""
    for opposition in (0.39, 0.4, 0.41, 0.69, 0.7):
        scores = (0.1, round(0.9 - opposition, 2), opposition)
        yield (
            f"another document opposes by {opposition}",
            _opposed(chunk("notice", (OTHER,)), scores),
        )
        own = replace(chunk(sentences=(OTHER,)), chunk_id="hours#2")
        yield f"its own document opposes by {opposition}", _opposed(own, scores)


def _opposed(by: Any, scores: Scores) -> Json:
    of, one = chunk(), claim()
    pairs: list[Pair] = [(of, "s1", SURE), (by, "s1", scores)]
    return answer([(one, result(one, pairs))], [of, by])


def _with_second(scores: Scores) -> Json:
    of, one = chunk(sentences=(SENTENCE, OTHER)), claim()
    return answer([(one, result(one, [(of, "s1", SURE), (of, "s2", scores)]))], [of])


def edges() -> Iterator[Json]:
    """Yield vectors that are not VALID."""
    own = _named_as_its_claim()
    yield _vector("a planted error named as its claim, all else in order", own, "integrity")
    for name, digests in {"first": ("0" * 64, None), "last": (None, "0" * 64)}.items():
        yield _vector(f"two digests of one document, the {name} false", _two(*digests), "subject")
    yield from _stale()


def _vector(name: str, record: Json, code: str, **more: Any) -> Json:
    said = {"verdict": "TAMPERED" if code else "VALID", "code": code}
    return {"name": name, "export": export(record, Made()), **said, **more}


def _named_as_its_claim() -> Json:
    record = probed()
    record["probe"]["planted"][0]["id"] = "c1"
    record["probe"]["verification"][0]["claim_id"] = "c1"
    return record


def _two(*digests: str | None) -> Json:
    record = single()
    more = answer([], [replace(chunk(sentences=(OTHER,)), chunk_id="hours#2")])
    record["retrieval"]["chunks"] += more["retrieval"]["chunks"]
    for of, digest in zip(record["retrieval"]["chunks"], digests, strict=True):
        of["source"]["sha256"] = digest or of["source"]["sha256"]
    return record


def _stale() -> Iterator[Json]:
    """Today's sources: what counts is what is attached to claims, and nothing else."""
    keys = {"keys": [raw_hex(KEYS[0])]}
    hours, notice = sha256_hex("hours"), sha256_hex("notice")
    other = chunk("notice", (OTHER,))
    scored = _opposed(other, UNSURE)
    short = single(scores=(0.84, 0.15, 0.01))
    none = single(best_evidence=())
    elsewhere, both = _planted_elsewhere(other), _both(other)
    for name, record, sources, stale in (
        ("its source", single(), [hours], False),
        ("its source among others", single(), ["0" * 64, hours, notice], False),
        ("no source", single(), [], True),
        ("another source", single(), [notice], True),
        ("its source in capitals", single(), [hours.upper()], True),
        ("the source of what was attached, not of what was scored", scored, [hours], False),
        ("the source of what was scored, not of what was attached", scored, [notice], True),
        ("the source of the claim, not of the planted error", elsewhere, [hours], False),
        ("the source of the planted error, not of the claim", elsewhere, [notice], True),
        ("no source of a claim that has no badge", short, [], True),
        ("no source of a claim that nothing is attached to", none, [], False),
        ("no source of no claim", answer([], [other]), [], False),
        ("one of two sources", both, [hours], True),
        ("the other of two sources", both, [notice], True),
        ("both of two sources", both, [notice, hours], False),
    ):
        vector = _vector(f"today there is {name}", record, "", sources=sources, **keys)
        yield vector | ({"verdict": "STALE", "code": "source"} if stale else {})
    broken = Made(export=lambda v: v.update(question="Another?"))
    yield {
        **_vector("a broken export is not stale", single(), "readable", sources=[], **keys),
        "export": export(single(), broken),
    }


def _planted_elsewhere(other: Any) -> Json:
    """Return a record whose planted error was measured on another document than its claim."""
    of, one = chunk(), claim()
    text, start = SENTENCE.replace("nine", "noon"), SENTENCE.index("nine")
    error = PlantedError("c1~1", "c1", "entity", text, start, start + 4, "noon")
    pairs: list[Pair] = [(other, "s1", UNSURE), (of, "s1", UNSURE)]
    probe = Probe((error,), (result(claim(text, error.id), pairs),), STRICT, "vectors-1")
    return answer([(one, result(one, [(of, "s1", SURE)]))], [of, other], STRICT, probe)


def _both(other: Any) -> Json:
    of, one = chunk(), claim()
    pairs: list[Pair] = [(of, "s1", SURE), (other, "s1", UNSURE)]
    return answer([(one, result(one, pairs, 2))], [of, other])
