"""Write fixtures/vectors/vectors.jsonl.xz: exports that every checker must judge alike.

One JSON object per line, as docs/certificate.md §12 says. Run it when the format or a rule has
changed; keys, salts and times are fixed, so the same program writes the same lines.
"""

from __future__ import annotations

import base64
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from vector_breaks import breaks
from vector_edges import edge_records, edges
from vector_exports import KEYS, ROOT, Json, Made, export, raw_hex, spelled, trust_file
from vector_limits import limit_records, limits
from vector_records import full, of_two_parts, probed, records, single
from vector_trust import unusable_trust, usable_trust

PATH: Final = Path(__file__).resolve().parent.parent / "fixtures" / "vectors" / "vectors.jsonl.xz"
SMALL_ORDER: Final = "01" + "00" * 31


def lines() -> Iterator[Json]:
    """Yield every vector, the sound ones first."""
    names = set()
    for vector in (*_valid(), *breaks(), *edges(), *limits(), *unusable_trust()):
        if vector["name"] in names:
            raise ValueError(f"two vectors are named {vector['name']!r}")
        names.add(vector["name"])
        pinned = {"keys": [raw_hex(KEYS[0])]} if "trust" not in vector else {}
        yield {**pinned, **vector, "export": base64.b64encode(vector["export"]).decode()}


def _vector(name: str, data: bytes, **pinned: Any) -> Json:
    return {"name": name, "export": data, "verdict": "VALID", "code": "", **pinned}


def _valid() -> Iterator[Json]:
    for name, record in (*records(), *edge_records(), *limit_records()):
        yield _vector(name, export(record, Made()))
    for relevance, code in ((0.5, "ALL_VERIFIED"), (0.499999, "RELATED_ONLY")):
        rated = single()
        rated["claim_ir"]["claims"][0]["relevance"] = relevance
        rated["answer"]["reason_code"] = code
        yield _vector(f"a claim of relevance {relevance}", export(rated, Made()))
    for scores, code in (
        ((0.9, 0.8), "ALL_VERIFIED"),
        ((0.9, 0.05), "PARTLY_ANSWERED"),
        ((0.5, 0.1), "ALL_VERIFIED"),
        ((0.5, 0.099999), "PARTLY_ANSWERED"),
        ((0.1, 0.2), "RELATED_ONLY"),
    ):
        name = f"a question of two parts, answered {scores[0]} and {scores[1]}"
        yield _vector(name, export(of_two_parts(scores, code), Made()))
    yield from _written()
    yield from _logged()
    yield from _pinned()
    yield from usable_trust()


def _written() -> Iterator[Json]:
    """What may differ in the writing of a file."""
    one, all_of = single(), full()
    ways = {
        "indented by four": lambda v: json.dumps(v, ensure_ascii=False, indent=4),
        "on one line": lambda v: json.dumps(v, ensure_ascii=False, separators=(",", ":")),
        "indented by tabs": lambda v: json.dumps(v, ensure_ascii=False, indent="\t"),
        "with CR LF": lambda v: json.dumps(v, ensure_ascii=False, indent=1).replace("\n", "\r\n"),
        "with the keys sorted": lambda v: json.dumps(v, ensure_ascii=False, sort_keys=True),
        "with the keys turned round": lambda v: json.dumps(_turned(v), ensure_ascii=False),
        "in ASCII": json.dumps,
        "with white space around": lambda v: f" \t\r\n{json.dumps(v)}\n\n \t",
        "with a slash escaped": lambda v: json.dumps(v).replace("/", "\\/"),
        "with letters escaped": lambda v: json.dumps(v).replace('"question"', '"quest\\u0069on"'),
    }
    for name, write in ways.items():
        yield _vector(f"the file {name}", export(all_of, Made(write=write)))
    astral = single("The 📚 library opens at nine.")
    yield _vector("surrogate pairs in the readable part", export(astral, Made(write=json.dumps)))
    yield _vector("surrogate pairs in the payload", export(astral, Made(spell=json.dumps)))
    yield _vector("an indented payload", export(one, Made(spell=lambda v: json.dumps(v, indent=2))))
    turned = Made(spell=lambda v: json.dumps(_turned(v), ensure_ascii=False))
    yield _vector("a payload with the keys turned round", export(one, turned))
    for plain, others in {
        "0.97": ("0.970", "97e-2", "9.7E-1", "0.097e+1", "0.97000000000000000000000000001"),
        "0.02": ("2E-2", "0.0200"),
        "8": ("-0", "9007199254740991", "-9007199254740991", "0.5", "1e300", "5e-324", "1e-400"),
    }.items():
        for other in others:
            made = Made(spell=spelled({plain: other}))
            yield _vector(f"the number {plain} written as {other}", export(one, made))
    for plain, other in (("0.0", "0"), ("0.0", "-0.0"), ("1.0", "1"), ("1.0", "1.00")):
        whole = next(r for name, r in records() if name == "thresholds and scores of one")
        made = Made(spell=spelled({plain: other}))
        yield _vector(f"the score {plain} written as {other}", export(whole, made))
    config = single()
    config["config"] |= {"a": "x" * 2000, "b": True, "c": -1, "d": 1.5}
    yield _vector("a configuration of all kinds", export(config, Made()))


def _logged() -> Iterator[Json]:
    """What may differ in the log."""
    one = single()
    for index, size in (
        (0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (4, 5), (6, 7), (7, 8), (8, 9), (9, 12), (999, 1000),
        (512, 1025), (1024, 1025), (123_456, 1_000_000), (2**32 - 1, 2**32), (2**32, 2**32 + 1),
        (2**40, 2**40 + 12_345), (5, 2**52), (2**53 - 2, 2**53 - 1),
    ):  # fmt: skip
        yield _vector(f"entry {index} of {size}", export(one, Made(index=index, size=size)))
    wide = Made(leaf_text=lambda leaf: json.dumps(leaf, indent=1).replace("\n", "\r\n"))
    yield _vector("a leaf with white space", export(one, wide))
    turned = Made(leaf_text=lambda leaf: json.dumps(_turned(leaf)))
    yield _vector("a leaf with the keys turned round", export(one, turned))
    deep: Json = {}
    for _ in range(30):
        deep = {"a": deep}
    yield _vector(
        "a leaf as deep as may be", export(one, Made(leaf=lambda v: v.update(detail={"a": deep})))
    )
    odd = {"__proto__": None, "constructor": [1.5, "é📚", True]}
    yield _vector("a leaf with odd details", export(one, Made(leaf=lambda v: v.update(detail=odd))))
    for origin in ("a/b", "0" + "a" * 62 + "/" + "b" * 63 + "/" + "c" * 63 + "/._-"):
        made = Made(leaf=lambda v, origin=origin: v.update(origin=origin))
        yield _vector(f"an origin of {len(origin)} characters", export(one, made))


def _pinned() -> Iterator[Json]:
    """What may differ in the keys of whoever checks."""
    one, hexes = single(), [raw_hex(key) for key in KEYS]
    yield _vector("one key of three", export(one, Made()), keys=hexes[::-1])
    yield _vector("a useless key beside", export(one, Made()), keys=[SMALL_ORDER, hexes[0]])
    rotated = Made(log_key=KEYS[1], index=4, size=9)
    yield _vector("two keys signed", export(one, rotated), keys=hexes[:2])
    root = {"root": raw_hex(ROOT)}
    for name, made, ranges in (
        ("one key for ever", Made(), [(KEYS[0], 0, None)]),
        ("a key from this entry on", Made(), [(KEYS[0], 2, None)]),
        ("a key up to this entry", Made(), [(KEYS[0], 0, 3)]),
        ("an old and a new key", rotated, [(KEYS[0], 0, 5), (KEYS[1], 5, None)]),
        ("three keys", rotated, [(KEYS[2], 0, 1), (KEYS[0], 1, 5), (KEYS[1], 8, 9)]),
    ):
        trust = base64.b64encode(trust_file(*ranges)).decode()
        yield _vector(f"a trust file with {name}", export(one, made), trust=trust, **root)
    trust = base64.b64encode(trust_file((KEYS[0], 0, None))).decode()
    yield _vector("a probe under a trust file", export(probed(), Made()), trust=trust, **root)


def _turned(value: Any) -> Any:
    """Return *value* with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: _turned(part) for key, part in reversed(value.items())}
    return [_turned(part) for part in value] if isinstance(value, list) else value


def main() -> None:
    """Write the file and say how much is in it."""
    written = "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in lines())
    PATH.parent.mkdir(parents=True, exist_ok=True)
    PATH.write_bytes(lzma.compress(written.encode("ascii"), preset=9 | lzma.PRESET_EXTREME))
    count = written.count("\n")
    valid = written.count('"verdict": "VALID"')
    print(f"{PATH.name}: {valid} VALID, {count - valid} not, {PATH.stat().st_size} bytes")


if __name__ == "__main__":
    main()
