"""Vectors that a checker with one condition too few, or one too many, would judge otherwise."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from vector_exports import ORIGIN, Json, Made, export
from vector_records import (
    BASE,
    OTHER,
    SENTENCE,
    STRICT,
    SURE,
    UNSURE,
    Pair,
    answer,
    chunk,
    claim,
    probed,
    result,
    scored,
    single,
)

from certirag.core.policy import RISK_CLASSES
from certirag.proof.merkle import leaf_hash

FALSE_ORIGINS: Final = (
    "certirag",
    "Certirag.test/vectors",
    "certirag test/vectors",
    "a/b/c/d/e",
    "a" * 64 + "/b",
    "a/" + "b" * 64,
    "a//b",
    "-a/b",
    "a/b/",
    "",
)
Change = Callable[[Any], object]


def limit_records() -> Iterator[tuple[str, Json]]:
    """Yield a name and a sound record for each limit."""
    for name, changes in {
        "the lowest threshold": {"tau_entail": 0.5},
        "the fewest tokens": {"max_claim_tokens": 1},
        "the most tokens": {"max_claim_tokens": 400},
        "thresholds just above zero": {"tau_contradict": 1e-9, "tau_contest": 1e-9},
    }.items():
        yield f"a policy with {name}", single(policy=replace(STRICT, **changes))
    lax, base = replace(STRICT, tau_contest=0.9), replace(BASE, tau_contest=0.1)
    yield "a contest threshold that the probe's policy has no use for", probed(False, lax, base)
    yield from _attached()
    yield "another order than the names'", _named_backwards()
    two = {**dict.fromkeys(RISK_CLASSES, 1), "factual_lit_claim": 2}
    double = replace(STRICT, class_minimum=two)
    of, hedged = chunk(), claim(hedges=("about",))
    yield "nothing was scored, and all else is in order", single(all_scores=())
    for score in (0.0, 0.499999, 0.5, 0.500001, 1.0, 1.000001, -0.000001):
        yield f"without its sentence it scores {score}", single(score_without=score)
    yield "a hedged fact", answer([(hedged, result(hedged, [(of, "s1", SURE)]))], [of], double)


def _attached() -> Iterator[tuple[str, Json]]:
    of, one = chunk(sentences=(SENTENCE, OTHER)), claim()
    both: list[Pair] = [(of, "s1", UNSURE), (of, "s2", UNSURE)]
    together = {"label": "entailed", "score": 0.9}
    yield "two sentences together", answer([(one, result(one, both, 2, **together))], [of])
    second = (scored(one, of, "s2", UNSURE),)
    unscored = result(one, both, 2, **together, all_scores=second)
    yield "two sentences, one of them not scored", answer([(one, unscored)], [of])
    for number in (0, 1):
        spans = [replace(s, visible=number != i) for i, s in enumerate(of.spans)]
        hidden = replace(of, spans=tuple(spans))
        found = result(one, [(hidden, "s1", SURE), (hidden, "s2", UNSURE)], 2)
        yield f"two sentences, number {number + 1} not to be seen", answer([(one, found)], [hidden])
    bare = replace(chunk(sentences=(OTHER,), section=""), chunk_id="hours#2")
    whole = chunk(section="Library › Town")
    for name, chunks in {"first": [bare, whole], "last": [whole, bare]}.items():
        pairs: list[Pair] = [(chunks[0], "s1", SURE), (chunks[1], "s1", UNSURE)]
        yield (
            f"two headings, the {name} the shorter",
            answer([(one, result(one, pairs, 2))], chunks),
        )
    for before in ("x", "x" * 31, "x" * 32, "x" * 33):
        start = single(of=chunk(before=before))
        yield f"a sentence behind {len(before)} characters", start
        end = single(of=chunk(sentences=(SENTENCE, before), between=""))
        yield f"a sentence before {len(before)} characters", end


def _named_backwards() -> Json:
    of, many = chunk(), [claim(name="c2"), claim(name="c1")]
    return answer([(one, result(one, [(of, "s1", SURE)])) for one in many], [of])


def limits() -> Iterator[Json]:
    """Yield vectors that are not VALID."""
    one = single()
    for name, code, made in (*_notes(), *_paths(), *_subjects()):
        record = _two_digests() if code == "subject" else one
        yield _vector(name, record, code, made)
    for to in ([], {}, None, 1, True):
        change = _inside(lambda p, to=to: p["verification"][0].update(label=to))
        yield _vector(f"the label {to!r}", one, "record", Made(statement=change))
    yield from _policies(one)
    yield from _outside()
    hedged = claim(risk_class="comparative_claim", hedges=("about",))
    none = answer([(hedged, result(hedged, [(chunk(), "s1", SURE)], 0))], [chunk()])
    least = next(f for f in none["decisions"][0]["findings"] if f["rule"] == "class_minimum")
    least["passed"] = True
    yield _vector("a hedged comparison with nothing", none, "finding", Made())


def _vector(name: str, record: Json, code: str, made: Made) -> Json:
    return {"name": name, "export": export(record, made), "verdict": "TAMPERED", "code": code}


def _inside(change: Change) -> Change:
    return lambda statement: change(statement["predicate"])


def _notes() -> Iterator[tuple[str, str, Made]]:
    for name, change in {
        "with text in its empty line": lambda t: t.replace("\n\n", "\nx\n"),
        "with a space in its empty line": lambda t: t.replace("\n\n", "\n \n"),
        "with text behind its end": lambda t: t + "x",
        "whose signature has no name": lambda t: t.replace(f"— {ORIGIN} ", ""),
        "whose signature has no origin": lambda t: t.replace(f"— {ORIGIN} ", "— "),
    }.items():
        yield f"a checkpoint {name}", "checkpoint", Made(note=change)
    for origin in FALSE_ORIGINS:
        made = Made(leaf=lambda v, origin=origin: v.update(origin=origin))
        yield f"a log of the origin {origin[:30]!r}", "checkpoint", made


def _paths() -> Iterator[tuple[str, str, Made]]:
    """Signed roots that a path leads to only if its length or the index is not looked at."""
    for index, size, steps in ((0, 1, 1), (0, 2, 2), (2, 3, 3), (3, 3, 2), (7, 4, 2), (-1, 3, 2)):
        path = [hashlib.sha256(b"step %d" % n).digest() for n in range(steps)]

        def sealed(
            origin: str, of: int, _: bytes, at: tuple[int, int] = (index, size), path: Any = path
        ) -> tuple[str, int, bytes]:
            return origin, of, _root(*at, path)

        made = Made(
            leaf=lambda v, index=index: v.update(index=index),
            log=lambda v, path=path: v.update(path=[step.hex() for step in path]),
            sealed=sealed,
            index=0,
            size=size,
        )
        yield f"a path of {steps} steps from entry {index} of {size}", "inclusion", made


def _root(index: int, size: int, path: list[bytes]) -> bytes:
    """Return where a checker arrives that asks neither for the index nor for the length."""
    made: Json = {}
    export(
        single(), Made(leaf=lambda v: v.update(index=index), log=made.update, size=size, index=0)
    )
    root, number, last = leaf_hash(made["leaf"].encode("ascii")), index, size - 1
    for step in path:
        if number & 1 or number == last:
            root = hashlib.sha256(b"\x01" + step + root).digest()
            while number and not number & 1:
                number, last = number >> 1, last >> 1
        else:
            root = hashlib.sha256(b"\x01" + root + step).digest()
        number, last = number >> 1, last >> 1
    return root


def _two_digests() -> Json:
    record = single()
    more = answer([], [replace(chunk(sentences=(OTHER,)), chunk_id="hours#2")])
    record["retrieval"]["chunks"] += more["retrieval"]["chunks"]
    record["retrieval"]["chunks"][1]["source"]["sha256"] = "0" * 64
    return record


def _subjects() -> Iterator[tuple[str, str, Made]]:
    first = single()["retrieval"]["chunks"][0]["source"]["sha256"]
    for name, digest in {"first": first, "last": "0" * 64}.items():
        made = Made(
            statement=lambda v, digest=digest: v["subject"][1]["digest"].update(sha256=digest)
        )
        yield f"two digests of one document, the subject has the {name}", "subject", made


def _policies(one: Json) -> Iterator[Json]:
    """Thresholds out of range that every decision names, too."""
    for field, to in (
        *(("tau_entail", to) for to in (0.49, 0.499999, 1.000001, 1.5, -0.85)),
        *(("tau_contradict", to) for to in (0, 0.0, -0.1, 1.000001, 1.5)),
    ):

        def change(value: Json, field: str = field, to: float = to) -> None:
            value["policy"][field] = to
            value["decisions"][0]["policy"][field] = to

        named = f"a policy whose {field} is {to}, and so say the decisions"
        yield _vector(named, one, "policy", Made(statement=_inside(change)))


def _outside() -> Iterator[Json]:
    """Spans that end outside of their text, with the selector that slicing it would give."""
    size = len(SENTENCE)
    for start, end, sentence in (
        (-size, size, SENTENCE),
        (-1, size, SENTENCE[-1]),
        (0, size + 1, SENTENCE),
        (0, 2**40, SENTENCE),
        (4, -3, SENTENCE[4:-3]),
    ):
        of = chunk()
        record = single(of=of)
        span = record["retrieval"]["chunks"][0]["spans"][0]
        span.update(start=start, end=end, sentence=sentence)
        selector, text = span["selector"], of.text
        selector["quote"].update(
            exact=sentence, prefix=text[max(0, start - 32) : start], suffix=text[end : end + 32]
        )
        selector["position"].update(start=start, end=end)
        selector["sha256"] = hashlib.sha256(sentence.encode("utf-8")).hexdigest()
        selector |= {"utf8_start": len(text[:start]), "utf8_end": len(text[:end])}
        selector |= {"utf16_start": len(text[:start]), "utf16_end": len(text[:end])}
        one = claim()
        given = replace(of, spans=(replace(of.spans[0], sentence=sentence),))
        found = result(one, [(given, "s1", SURE)])
        record["verification"][0]["set_input_sha256"] = found.set_input_sha256
        scores = record["verification"][0]["all_scores"]
        scores[0]["input_sha256"] = found.all_scores[0].input_sha256
        yield _vector(f"a span from {start} to {end}", record, "finding", Made())
