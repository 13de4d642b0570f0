"""Exports that are broken in one way each, with the code of the step that must refuse them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from vector_edges import edge_records
from vector_exports import (
    KEYS,
    ORIGIN,
    ROOT,
    SALT,
    Json,
    Made,
    committed,
    export,
    raw_hex,
    trust_file,
    unspelled,
)
from vector_limits import limit_records
from vector_records import AGAINST, BASE, chunk, full, of_two_parts, probed, records, single

from certirag.proof.envelope import key_id
from certirag.proof.log import checkpoint_text

# Every encoding of a point of order 1, 2, 4 or 8, with the sign bit and without.
SMALL_ORDER: Final = tuple(
    start + end
    for start, ends in (
        ("01" + "00" * 30, ("00", "80")),
        ("00" * 31, ("00", "80")),
        ("ec" + "ff" * 30, ("7f", "ff")),
        ("ed" + "ff" * 30, ("7f", "ff")),
        ("ee" + "ff" * 30, ("7f", "ff")),
        ("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc", ("05", "85")),
        ("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03", ("7a", "fa")),
    )
    for end in ends
)
OTHER: Final = KEYS[1]
Place = tuple[str | int, ...]
Step = Callable[[Any], object]

# Where each kind of object stands in the record that holds them all.
PLACES: Final[dict[str, Place]] = {
    "AnswerRecord": (),
    "RetrievalRecord": ("retrieval",),
    "EvidenceChunk": ("retrieval", "chunks", 0),
    "ChunkSource": ("retrieval", "chunks", 0, "source"),
    "RetrievalScores": ("retrieval", "chunks", 0, "retrieval"),
    "SentenceSpan": ("retrieval", "chunks", 0, "spans", 0),
    "Box": ("retrieval", "chunks", 0, "spans", 0, "boxes", 0),
    "Selector": ("retrieval", "chunks", 0, "spans", 0, "selector"),
    "TextQuoteSelector": ("retrieval", "chunks", 0, "spans", 0, "selector", "quote"),
    "TextPositionSelector": ("retrieval", "chunks", 0, "spans", 0, "selector", "position"),
    "FragmentSelector": ("retrieval", "chunks", 0, "spans", 0, "selector", "fragment"),
    "ClaimIR": ("claim_ir",),
    "Claim": ("claim_ir", "claims", 0),
    "SpanRef": ("claim_ir", "claims", 0, "evidence_candidates", 0),
    "Quantity": ("claim_ir", "claims", 0, "quantities", 0),
    "VerificationResult": ("verification", 0),
    "SpanScore": ("verification", 0, "all_scores", 0),
    "QuestionRecord": ("verification", 0, "questions", 0),
    "RendererDecision": ("decisions", 0),
    "FindingRecord": ("decisions", 0, "findings", 0),
    "AnswerSummary": ("answer",),
    "ConfidenceBasis": ("answer", "basis"),
    "LeftOut": ("answer", "left_out", 0),
    "Reference": ("answer", "closest_references", 0),
    "Suggestions": ("answer", "suggestions"),
    "Suggestion": ("answer", "suggestions", "refinements", 0),
    "Filter": ("answer", "suggestions", "filters", 0),
    "Policy": ("policy",),
    "ModelIdentity": ("models", 0),
    "Probe": ("probe",),
    "PlantedError": ("probe", "planted", 0),
    "GenerationRecord": ("generation",),
    "PromptIdentity": ("generation", "prompts", 0),
    "CitationsRecord": ("citations",),
    "Citation": ("citations", "citations", 0),
    "CitationJudgement": ("citations", "judgements", 0),
    "Correction": ("citations", "corrections", 0),
}
_LEFT_OUT: Final = frozenset({"probe", "generation", "selector", "quoted"})


def breaks() -> Iterator[Json]:
    """Yield every broken vector."""
    one = single()
    for name, code, made in (
        *_files(),
        *_envelopes(),
        *_payloads(),
        *_readable(),
        *_leaves(),
        *_checkpoints(),
    ):
        yield _vector(name, code, export(one, made))
    for name, code, part, change in _shapes():
        yield _vector(name, code, export(_part(part), replace(_DENSE, statement=change)))
    for name, code, change in _subjects():
        yield _vector(name, code, export(one, Made(statement=change)))
    for name, code, record, change in _records():
        yield _vector(name, code, export(record, Made(statement=_inside(change))))
    yield from _pinned()


def _vector(name: str, code: str, data: bytes, **pinned: Any) -> Json:
    return {"name": name, "export": data, "verdict": "TAMPERED", "code": code, **pinned}


def _at(value: Any, place: Place) -> Any:
    for step in place:
        value = value[step]
    return value


def _set(*place: str | int, to: object) -> Step:
    def change(value: Any) -> None:
        _at(value, place[:-1])[place[-1]] = to

    return change


def _inside(change: Step) -> Step:
    return lambda statement: change(statement["predicate"])


def _text(plain: str, other: str) -> Callable[[Json], str]:
    """Return a writer that puts *other* where *plain* stands first."""

    def write(value: Json) -> str:
        text = unspelled(json.dumps(value, ensure_ascii=False))
        if plain not in text:
            raise ValueError(f"{plain!r} is not in the text")
        return text.replace(plain, other, 1)

    return write


def _nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


# What makes JSON loose: text in a file, what stands for it, and whether it fits a number.
_LOOSE: Final = {
    "a key twice": ('"question": ', '"question": "x", "question": '),
    "a key twice, once escaped": ('"question": ', '"\\u0071uestion": "x", "question": '),
    "a key twice further in": ('"max_chunks": 8', '"max_chunks": 8, "max_chunks": 8'),
    "NaN": ('"max_chunks": 8', '"max_chunks": NaN'),
    "infinity": ('"max_chunks": 8', '"max_chunks": Infinity'),
    "minus infinity": ('"max_chunks": 8', '"max_chunks": -Infinity'),
    "a number that overflows": ('"max_chunks": 8', '"max_chunks": 1e999'),
    "a negative number that overflows": ('"max_chunks": 8', '"max_chunks": -1E400'),
    "2^53": ('"max_chunks": 8', '"max_chunks": 9007199254740992'),
    "-2^53": ('"max_chunks": 8', '"max_chunks": -9007199254740992'),
    "an integer of forty digits": ('"max_chunks": 8', '"max_chunks": ' + "1" * 40),
    "an escape in upper case": ('"question": "W', '"question": "\\u004A'),
    "half of a surrogate pair": ('"question": "W', '"question": "\\ud83d'),
    "the other half alone": ('"question": "W', '"question": "\\udcda'),
    "a pair the wrong way round": ('"question": "W', '"question": "\\udcda\\ud83d'),
    "half of a pair in a key": ('"max_chunks": 8', '"\\ud83d": 8'),
    "a short escape": ('"question": "W', '"question": "\\u41'),
    "an unknown escape": ('"question": "W', '"question": "\\x41'),
    "a line break in a string": ('"question": "W', '"question": "\n'),
    "a NUL in a string": ('"question": "W', '"question": "\0'),
    "a leading zero": ('"max_chunks": 8', '"max_chunks": 08'),
    "a leading plus": ('"max_chunks": 8', '"max_chunks": +8'),
    "a number without its start": ('"max_chunks": 8', '"max_chunks": .8'),
    "a number without its end": ('"max_chunks": 8', '"max_chunks": 8.'),
    "a number in hex": ('"max_chunks": 8', '"max_chunks": 0x8'),
    "a comma too many": ('"max_chunks": 8', '"max_chunks": 8,'),
    "a comment": ('"max_chunks": 8', '"max_chunks": /* eight */ 8'),
    "single quotes": ('"max_chunks": 8', "'max_chunks': 8"),
    "a no-break space between": ('"max_chunks": 8', '"max_chunks":\u00a08'),
    "a form feed between": ('"max_chunks": 8', '"max_chunks":\f8'),
    "33 levels": ('"max_chunks": 8', '"max_chunks": ' + "[" * 32 + "8" + "]" * 32),
    "a thousand levels": ('"max_chunks": 8', '"max_chunks": ' + "[" * 1000 + "]" * 1000),
}


def _files() -> Iterator[tuple[str, str, Made]]:
    for name, (plain, other) in _LOOSE.items():
        yield f"the file has {name}", "json", Made(write=_text(plain, other))
    for name, data in {
        "empty": b"",
        "white space": b" \n",
        "a list": b"[]",
        "a string": b'"certificate"',
        "null": b"null",
        "a number": b"1",
        "open": b'{"certificate": ',
    }.items():
        yield f"the file is {name}", "json", Made(file=lambda _, data=data: data)
    yield "a byte order mark", "json", Made(file=lambda data: b"\xef\xbb\xbf" + data)
    yield "text behind it", "json", Made(file=lambda data: data + b"x")
    yield "a second value behind it", "json", Made(file=lambda data: data + b"{}")
    yield "a NUL behind it", "json", Made(file=lambda data: data + b"\0")
    yield "a vertical tab behind it", "json", Made(file=lambda data: data + b"\x0b")
    yield "bytes that are not UTF-8", "json", Made(file=lambda data: data.replace(b"W", b"\xff", 1))
    long = (b"\xc1\x97", b"\xed\xa0\xbd", b"\xf4\x90\x80\x80")
    for form in long:
        yield (
            f"the bytes {form.hex()}",
            "json",
            Made(file=lambda data, form=form: data.replace(b"When", form, 1)),
        )
    yield "UTF-16", "json", Made(file=lambda data: data.decode().encode("utf-16"))
    yield "an empty object", "export", Made(file=lambda _: b"{}")
    yield "no certificate", "export", Made(export=lambda v: v.pop("certificate"))
    yield "no log", "export", Made(export=lambda v: v.pop("log"))


def _envelopes() -> Iterator[tuple[str, str, Made]]:
    first = lambda v: v["signatures"][0]  # noqa: E731
    for name, change in {
        "an unknown field": lambda v: v.update(hint="x"),
        "an unknown field in the signature": lambda v: first(v).update(cert="x"),
        "no payload": lambda v: v.pop("payload"),
        "no payload type": lambda v: v.pop("payloadType"),
        "a signature without key": lambda v: first(v).pop("keyid"),
        "no signature": lambda v: v.update(signatures=[]),
        "two signatures": lambda v: v["signatures"].append(dict(first(v))),
        "signatures in an object": lambda v: v.update(signatures={"0": first(v)}),
        "another payload type": lambda v: v.update(payloadType="application/json"),
        "a payload type in capitals": lambda v: v.update(payloadType=v["payloadType"].upper()),
        "a payload that is a number": lambda v: v.update(payload=1),
        "a signature that is null": lambda v: first(v).update(sig=None),
    }.items():
        yield f"an envelope with {name}", "envelope", Made(envelope=change)
    for name, other in {"a list": [], "null": None, "a string": "x"}.items():
        made = Made(export=lambda v, other=other: v.update(certificate=other))
        yield f"a certificate that is {name}", "envelope", made
        made = Made(export=lambda v, other=other: v.update(log=other))
        yield f"a log that is {name}", "log-proof", made
    for name, change in {
        "an unknown field": lambda v: v.update(size=3),
        "no salt": lambda v: v.pop("salt"),
        "no checkpoint": lambda v: v.pop("checkpoint"),
        "a path in a string": lambda v: v.update(path="".join(v["path"])),
        "a number in its path": lambda v: v["path"].append(1),
        "its leaf as an object": lambda v: v.update(leaf=json.loads(v["leaf"])),
    }.items():
        yield f"a log proof with {name}", "log-proof", Made(log=change)
    yield "signed by a key that is not pinned", "untrusted-key", Made(key=OTHER)
    for name, keyid in {
        "empty": "",
        "cut short": key_id(KEYS[0].public_key())[:16],
        "in capitals": key_id(KEYS[0].public_key()).upper(),
        "of another key": key_id(OTHER.public_key()),
        "__proto__": "__proto__",
    }.items():
        made = Made(envelope=lambda v, keyid=keyid: first(v).update(keyid=keyid))
        yield f"a key id that is {name}", "untrusted-key", made
    for name, other in {
        "a line break behind": lambda t: t + "\n",
        "a space before": lambda t: " " + t,
        "a line break within": lambda t: t[:76] + "\n" + t[76:],
        "other padding bits": _loosened,
        "more padding": lambda t: t + "=",
        "no text": lambda t: t + "!",
        "the alphabet for addresses": lambda t: t[:4] + "-_" + t[6:],
        "a character beyond ASCII": lambda t: t[:4] + "\u212a" + t[5:],
    }.items():
        made = Made(spell=_padded, envelope=lambda v, o=other: v.update(payload=o(v["payload"])))
        yield f"a payload with {name}", "base64", made
        made = Made(envelope=lambda v, o=other: first(v).update(sig=o(first(v)["sig"])))
        yield f"a signature with {name}", "base64", made
    yield (
        "a payload without padding",
        "base64",
        Made(spell=_padded, envelope=lambda v: v.update(payload=v["payload"].rstrip("="))),
    )
    for name, change in {
        "an empty signature": lambda v: first(v).update(sig=""),
        "a signature of zeros": lambda v: first(v).update(sig=_b64(bytes(64))),
        "a signature of 63 bytes": lambda v: first(v).update(sig=_b64(_un(first(v)["sig"])[:63])),
        "a signature of 65 bytes": lambda v: first(v).update(sig=_b64(_un(first(v)["sig"]) + b"x")),
        "a signature with one bit changed": lambda v: first(v).update(
            sig=_b64(bytes([_un(first(v)["sig"])[0] ^ 1]) + _un(first(v)["sig"])[1:])
        ),
        "a signature with its order added": lambda v: first(v).update(
            sig=_malleable(first(v)["sig"])
        ),
        "an empty payload": lambda v: v.update(payload=""),
        "a payload with a space more": lambda v: v.update(payload=_b64(_un(v["payload"]) + b" ")),
        "a payload with a bit changed": lambda v: v.update(
            payload=_b64(_un(v["payload"])[:-9] + b"x" + _un(v["payload"])[-8:])
        ),
        "a signature over the payload alone": lambda v: first(v).update(
            sig=_b64(KEYS[0].sign(_un(v["payload"])))
        ),
        "a signature for another type": lambda v: first(v).update(
            sig=_b64(
                KEYS[0].sign(b"DSSEv1 4 text %d %s" % (len(_un(v["payload"])), _un(v["payload"])))
            )
        ),
    }.items():
        yield name, "signature", Made(envelope=change)


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _un(text: str) -> bytes:
    return base64.b64decode(text)


def _padded(value: Json) -> str:
    """Write a statement whose base64 ends in padding with spare bits."""
    text = json.dumps(value, ensure_ascii=False)
    return text + " " * ((1 - len(text.encode())) % 3)


def _loosened(text: str) -> str:
    """Return base64 of the same bytes with one of its spare bits set."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    bare = text.rstrip("=")
    return bare[:-1] + letters[letters.index(bare[-1]) | 1] + text[len(bare) :]


def _malleable(sig: str) -> str:
    """Return the signature with the group's order added to its second half."""
    raw = _un(sig)
    order = 2**252 + 27742317777372353535851937790883648493
    return _b64(raw[:32] + (int.from_bytes(raw[32:], "little") + order).to_bytes(32, "little"))


def _payloads() -> Iterator[tuple[str, str, Made]]:
    one = single()
    for name, (plain, other) in _LOOSE.items():
        yield f"the payload has {name}", "payload", Made(spell=_text(plain, other), readable=one)
    for name, data in {
        "empty": b"",
        "a list": b"[]",
        "null": b"null",
        "not UTF-8": b"\xff",
        "a record alone": json.dumps(one).encode(),
    }.items():
        yield f"the payload is {name}", "payload", Made(payload=lambda _, data=data: data)
    yield (
        "a payload with a byte order mark",
        "payload",
        Made(payload=lambda data: b"\xef\xbb\xbf" + data),
    )
    for name, change in {
        "another version": lambda v: v.update(predicateType=v["predicateType"][:-1] + "1"),
        "another predicate": lambda v: v.update(predicateType="https://slsa.dev/provenance/v1"),
        "another statement": lambda v: v.update(_type="https://in-toto.io/Statement/v0.1"),
        "an unknown field": lambda v: v.update(comment="x"),
        "no subject": lambda v: v.pop("subject"),
        "no type": lambda v: v.pop("_type"),
        "no predicate": lambda v: v.pop("predicate"),
        "a type that is null": lambda v: v.update(_type=None),
    }.items():
        yield f"a statement with {name}", "payload", Made(statement=change)


def _dense(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_DENSE: Final = Made(spell=_dense, write=_dense)


def _part(kept: str | int) -> Json:
    """Return the record of all kinds of objects without the parts that may be left out, but one."""
    dropped = {"probe", "generation", "citations"} - {kept}
    return {name: value for name, value in full().items() if name not in dropped} | (
        {} if kept == "probe" else {"decisions": _unprobed(full()["decisions"])}
    )


def _unprobed(decisions: Sequence[Json]) -> list[Json]:
    return [
        decision | {"findings": [f for f in decision["findings"] if f["rule"] != "planted_errors"]}
        for decision in decisions
    ]


def _shapes() -> Iterator[tuple[str, str, str | int, Step]]:
    whole = full()
    for kind, place in PLACES.items():
        names = [name for name in _at(whole, place) if name not in _LEFT_OUT]
        names = [n for n in names if not (kind == "AnswerRecord" and n == "citations")]
        part = place[0] if place else ""
        yield f"an unknown field in {kind}", "record", part, _inside(_set(*place, "more", to=1))
        last = (*place, names[-1])
        yield (
            f"{kind} without {last[-1]}",
            "record",
            part,
            _inside(lambda v, last=last: _at(v, last[:-1]).pop(last[-1])),
        )
        field = (*place, names[len(names) // 2])
        other: object = [[]] if isinstance(_at(whole, field), str | bool) else "x"
        yield f"{kind} with another {field[-1]}", "record", part, _inside(_set(*field, to=other))
    for kind, place, to in (
        ("a probe that is null", ("probe",), None),
        ("a draft that is null", ("generation",), None),
        ("citations that are null", ("citations",), None),
        ("a selector that is null", (*PLACES["SentenceSpan"], "selector"), None),
        ("a number for true", (*PLACES["SentenceSpan"], "visible"), 1),
        ("true for a count", ("answer", "verified"), True),
        ("false for a count", ("answer", "blocked"), False),
        ("true for a score", ("verification", 0, "score"), True),
        ("a score as text", ("verification", 0, "score"), "0.97"),
        ("1.0 for a count", ("answer", "verified"), 1.0),
        ("a half for a count", ("answer", "verified"), 0.5),
        ("an offset with a point", (*PLACES["SentenceSpan"], "start"), 0.0),
        ("a minimum with a point", ("policy", "class_minimum", "scope_claim"), 1.0),
        ("null in the configuration", ("config", "max_chunks"), None),
        ("a list in the configuration", ("config", "max_chunks"), []),
        ("true in the settings", ("retrieval", "settings"), {"x": True}),
        (
            "a number with a point in a claim's fields",
            ("claim_ir", "claims", 0, "fields"),
            {"x": 0.5},
        ),
        ("a count in a decision's policy that is true", ("decisions", 0, "policy", "name"), True),
        ("an unknown label", ("verification", 0, "label"), "great"),
        ("an unknown state", ("decisions", 0, "render_state"), "verified"),
        ("an unknown decision", ("answer", "decision"), "PASS"),
        ("an unknown risk class", ("claim_ir", "claims", 0, "risk_class"), "toString"),
        ("an unknown depth", ("verification", 0, "depth"), "high"),
        ("an unknown end of a draft", ("generation", "end"), "done"),
        ("an unknown selector", (*PLACES["TextQuoteSelector"], "type"), "TextSelector"),
        ("claims in an object", ("claim_ir", "claims"), {}),
        ("a claim that is null", ("claim_ir", "claims", 0), None),
        ("a configuration in a list", ("config",), []),
        ("depth inside a record", ("config", "max_chunks"), _nested(26)),
    ):
        yield kind, "record", place[0], _inside(_set(*place, to=to))
    for field, other in (("__proto__", {}), ("constructor", "x"), ("certificate", {}), ("log", {})):
        yield f"the field {field} in a record", "record", "", _inside(_set(field, to=other))
    yield "a record that is a list", "record", "", _set("predicate", to=[])


def _subjects() -> Iterator[tuple[str, str, Step]]:
    zeros = "0" * 64
    for name, change in {
        "another answer": _set("subject", 0, "digest", "sha256", to=zeros),
        "another source": _set("subject", 1, "digest", "sha256", to=zeros),
        "another name": _set("subject", 1, "name", to="hours"),
        "a digest in capitals": lambda v: v["subject"][0]["digest"].update(
            sha256=v["subject"][0]["digest"]["sha256"].upper()
        ),
        "a second digest": _set("subject", 0, "digest", "sha512", to=zeros),
        "an unknown field": _set("subject", 0, "uri", to="x"),
        "a source missing": lambda v: v["subject"].pop(),
        "a source too many": lambda v: v["subject"].append(dict(v["subject"][1], name="source/x")),
        "a source twice": lambda v: v["subject"].append(v["subject"][1]),
        "the order changed": lambda v: v["subject"].reverse(),
        "nothing in it": _set("subject", to=[]),
        "no list": _set("subject", to={"0": "x"}),
        "null": _set("subject", to=None),
    }.items():
        yield f"a subject with {name}", "subject", change
    yield (
        "another claim than the subject's",
        "subject",
        _inside(_set("claim_ir", "claims", 0, "text", to="All is well.")),
    )


def _readable() -> Iterator[tuple[str, str, Made]]:
    for name, change in {
        "another state": _set("decisions", 0, "render_state", to="UNVERIFIED"),
        "another score": _set("verification", 0, "score", to=0.98),
        "another threshold": _set("policy", "tau_entail", to=0.5),
        "another claim": _set("claim_ir", "claims", 0, "text", to="All is well."),
        "another sentence": _set("retrieval", "chunks", 0, "spans", 0, "sentence", to="x"),
        "another question": _set("question", to="Another?"),
        "true for one": _set("answer", "verified", to=True),
        "null for an empty text": _set("claim_ir", "draft", to=None),
        "a text for a number": _set("config", "max_chunks", to="8"),
        "8.0 for 8": _set("config", "max_chunks", to="@@8.0@@"),
        "8e0 for 8": _set("config", "max_chunks", to="@@8e0@@"),
        "0.970 for 0.97": _set("verification", 0, "score", to="@@0.970@@"),
        "9.7e-1 for 0.97": _set("verification", 0, "score", to="@@9.7e-1@@"),
        "-0 for 0": _set("claim_ir", "claims", 0, "draft_start", to="@@-0@@"),
        "a number that reads the same": _set(
            "verification", 0, "score", to="@@0.97000000000000000000000001@@"
        ),
        "an unknown field": _set("verified", to=True),
        "an unknown field inside": _set("answer", "note", to="trust me"),
        "the field __proto__": _set("__proto__", to={}),
        "a probe that was not signed": _set("probe", to=None),
        "a list in another order": lambda v: v["decisions"][0]["findings"].reverse(),
        "an entry twice": lambda v: v["models"].append(v["models"][0]),
        "an entry fewer": lambda v: v["decisions"][0]["findings"].pop(),
        "a list for an object": _set("config", to=[]),
        "an object for a list": _set("retrieval", "dropped", to={}),
        "no models": lambda v: v.pop("models"),
        "nothing": lambda v: [v.pop(k) for k in list(v) if k not in ("certificate", "log")],
        "depth as far as it may go": _set("config", "max_chunks", to=_nested(30)),
    }.items():
        yield f"the readable part has {name}", "readable", Made(export=change)
    composed = Made(export=_set("question", to="When does it open\uff1f"))
    yield "the readable part has a look-alike", "readable", composed


def _leaves() -> Iterator[tuple[str, str, Made]]:
    for name, change in {
        "of a request": lambda v: v.update(kind="received"),
        "of an erasure": lambda v: v.update(kind="erase"),
        "of an unknown kind": lambda v: v.update(kind="Answer"),
        "of another answer": lambda v: v.update(trace_id="f" * 32),
        "of no answer": lambda v: v.update(trace_id=""),
        "with an unknown field": lambda v: v.update(size=3),
        "without detail": lambda v: v.pop("detail"),
        "without commitment": lambda v: v.pop("commit"),
        "of another version": lambda v: v.update(v=2),
        "of a version that is true": lambda v: v.update(v=True),
        "of version 1.0": lambda v: v.update(v=1.0),
        "with a text for its index": lambda v: v.update(index="2"),
        "with an index that has a point": lambda v: v.update(index=2.0),
        "with null for a commitment": lambda v: v.update(commit=None),
        "with a list for its detail": lambda v: v.update(detail=[]),
        "that is too deep": lambda v: v.update(detail={"a": _nested(31)}),
        "with an index of 2^53": lambda v: v.update(index=2**53),
    }.items():
        yield f"a leaf {name}", "leaf", Made(leaf=change)
    for name, text in {
        "beyond ASCII": lambda leaf: json.dumps(leaf | {"retention": "café"}, ensure_ascii=False),
        "with a key twice": lambda leaf: json.dumps(leaf).replace('"v"', '"v": 1, "v"', 1),
        "with an escape in upper case": lambda leaf: json.dumps(leaf).replace("faq", "\\u00AA"),
        "with half of a pair": lambda leaf: json.dumps(leaf).replace("faq", "\\ud83d"),
        "that is empty": lambda _: "",
        "that is no object": lambda _: "[]",
        "with text behind": lambda leaf: json.dumps(leaf) + "x",
        "with NaN": lambda leaf: json.dumps(leaf).replace("true", "NaN"),
    }.items():
        yield f"a leaf {name}", "leaf", Made(leaf_text=text)
    for name, change in {
        "spelled with a space more": lambda v: v.update(leaf=v["leaf"].replace(":", ": ", 1)),
        "with another order": lambda v: v.update(
            leaf=json.dumps(dict(reversed(json.loads(v["leaf"]).items())), separators=(",", ":"))
        ),
        "with another time": lambda v: v.update(leaf=v["leaf"].replace("03:04", "03:05")),
        "with another index": lambda v: v.update(leaf=v["leaf"].replace('"index":2', '"index":1')),
        "with a letter escaped": lambda v: v.update(leaf=v["leaf"].replace("faq", "fa\\u0071")),
        "with an index outside": lambda v: v.update(
            leaf=v["leaf"].replace('"index":2', '"index":3')
        ),
    }.items():
        yield f"a leaf written {name}", "inclusion", Made(log=change)
    for index in (-1, 1, 3, 2**53 - 1):
        made = Made(leaf=lambda v, index=index: v.update(index=index))
        yield f"a leaf logged with the index {index}", "inclusion", made
    longer: dict[str, Step] = {
        "too long": lambda v: v["path"].append("0" * 64),
        "too short": lambda v: v["path"].pop(),
        "empty": lambda v: v.update(path=[]),
        "swapped": lambda v: v["path"].reverse(),
        "changed": lambda v: v["path"].__setitem__(0, "0" * 64),
        "in capitals": lambda v: v.update(path=[step.upper() for step in v["path"]]),
        "not of hashes": lambda v: v["path"].__setitem__(0, "0" * 62),
        "not of hex": lambda v: v["path"].__setitem__(0, "g" * 64),
        "with spaces": lambda v: v["path"].__setitem__(0, " " + v["path"][0][1:]),
        "with full-width digits": lambda v: v["path"].__setitem__(0, "０" * 64),
        "endless": lambda v: v.update(path=["0" * 64] * 100),
    }
    for name, change in longer.items():
        yield f"a path that is {name}", "inclusion", Made(log=change, index=4, size=7)
    yield (
        "a path in a tree of one",
        "inclusion",
        Made(log=lambda v: v.update(path=["0" * 64]), index=0, size=1),
    )
    for name, change in {
        "another": lambda v: v.update(salt="0" * 64),
        "in capitals": lambda v: v.update(salt=SALT.hex().upper()),
        "too short": lambda v: v.update(salt=SALT.hex()[:-2]),
        "empty": lambda v: v.update(salt=""),
        "with a line break": lambda v: v.update(salt=SALT.hex() + "\n"),
        "no hex": lambda v: v.update(salt="z" * 64),
    }.items():
        yield f"a salt that is {name}", "commitment", Made(log=change)
    for name, commit in {
        "of another content": committed(b"another"),
        "that is empty": "",
        "of zeros": "0" * 64,
    }.items():
        made = Made(leaf=lambda v, commit=commit: v.update(commit=commit))
        yield f"a commitment {name}", "commitment", made
    capitals = Made(leaf=lambda v: v.update(commit=v["commit"].upper()))
    yield "a commitment in capitals", "commitment", capitals


def _checkpoints() -> Iterator[tuple[str, str, Made]]:
    for name, change in {
        "empty": lambda _: "",
        "without its last line end": lambda t: t[:-1],
        "with a line end more": lambda t: t + "\n",
        "with CR LF": lambda t: t.replace("\n", "\r\n"),
        "with a line more": lambda t: t.replace("\n\n", "\nmore\n\n"),
        "without the empty line": lambda t: t.replace("\n\n", "\n"),
        "with a second signature": lambda t: t + t.split("\n")[4] + "\n",
        "with a hyphen": lambda t: t.replace("—", "-"),
        "with another size": lambda t: t.replace("\n3\n", "\n4\n"),
        "with a zero before its size": lambda t: t.replace("\n3\n", "\n03\n"),
        "with a plus before its size": lambda t: t.replace("\n3\n", "\n+3\n"),
        "with a space behind its size": lambda t: t.replace("\n3\n", "\n3 \n"),
        "with a size in another script": lambda t: t.replace("\n3\n", "\n\u0663\n"),
        "without size": lambda t: t.replace("\n3\n", "\n\n"),
        "of another name": lambda t: t.replace(f"— {ORIGIN}", "— certirag.test/other"),
        "without padding": lambda t: t.replace("=\n", "\n", 1),
        "with a space before its signature": lambda t: t.replace(f"— {ORIGIN} ", f"— {ORIGIN}  "),
        "with a short signature": lambda t: t[:-5] + "\n",
        "with another key hash": lambda t: _resealed(t, lambda raw: b"\0\0\0\0" + raw[4:]),
        "with a changed signature": lambda t: _resealed(t, lambda raw: raw[:-1] + b"\x7f"),
        "with a signature of zeros": lambda t: _resealed(t, lambda raw: raw[:4] + bytes(64)),
        "that is the leaf": lambda _: "{}",
    }.items():
        yield f"a checkpoint {name}", "checkpoint", Made(note=change)
    yield "a checkpoint by a key that is not pinned", "checkpoint", Made(log_key=OTHER)
    for name, origin in {
        "of another log": "certirag.test/other",
        "without a slash": "certirag",
        "in capitals": "Certirag.test/vectors",
        "with a space": "certirag test/vectors",
        "of five parts": "a/b/c/d/e",
        "that is too long": "a" * 64 + "/b",
        "with an empty part": "a//b",
    }.items():
        made = Made(sealed=lambda _, size, root, origin=origin: (origin, size, root))
        yield f"a checkpoint with an origin {name}", "checkpoint", made
    for name, root in {"31": bytes(31), "33": bytes(33), "no": b""}.items():
        made = Made(sealed=lambda origin, size, _, root=root: (origin, size, root))
        yield f"a checkpoint of a root of {name} bytes", "checkpoint", made
    for size in (2**53, 10**17, 10**40):
        made = Made(sealed=lambda origin, _, root, size=size: (origin, size, root))
        yield f"a checkpoint of size {size}", "checkpoint", made
    for size in (0, 1, 2, 5, 100):
        made = Made(sealed=lambda origin, _, root, size=size: (origin, size, root))
        yield f"a signed checkpoint of size {size}", "inclusion", made
    other = Made(sealed=lambda origin, size, _: (origin, size, bytes(32)))
    yield "a signed checkpoint of another root", "inclusion", other


def _resealed(note: str, change: Callable[[bytes], bytes]) -> str:
    start, _, signed = note.rstrip("\n").rpartition(" ")
    return f"{start} {_b64(change(_un(signed)))}\n"


def _records() -> Iterator[tuple[str, str, Json, Step]]:
    """Yield a record and what makes it false; it is signed and logged as it then is."""
    yield from _integrity()
    yield from _policies()
    yield from _findings()
    yield from _states()


def _named(name: str) -> Json:
    return next(record for other, record in records() if other == name)


def _integrity() -> Iterator[tuple[str, str, Json, Step]]:
    two, probe = _named("one of two claims is Verified"), probed()
    away = {"chunk_id": "hours#1", "span_id": "s9"}
    gone = {"chunk_id": "__proto__", "span_id": "s1"}
    for name, record, change in (
        ("two claims of one id", two, _set("claim_ir", "claims", 1, "id", to="c1")),
        ("two results of one claim", two, _set("verification", 1, "claim_id", to="c1")),
        ("a result too many", two, lambda v: v["verification"].append(v["verification"][0])),
        ("a result too few", two, lambda v: v["verification"].pop()),
        ("a result of no claim", two, _set("verification", 0, "claim_id", to="c9")),
        ("a decision too few", two, lambda v: v["decisions"].pop()),
        ("no decision", two, _set("decisions", to=[])),
        ("a decision too many", two, lambda v: v["decisions"].append(v["decisions"][0])),
        ("the decisions in another order", two, lambda v: v["decisions"].reverse()),
        ("a decision of no claim", two, _set("decisions", 1, "claim_id", to="c9")),
        ("a claim without result and decision", two, lambda v: v["claim_ir"]["claims"].reverse()),
        ("a chunk twice", two, _twice_chunk),
        ("a span twice", two, _set("retrieval", "chunks", 0, "spans", 1, "span_id", to="s1")),
        (
            "an attached span that is not there",
            two,
            _set("verification", 0, "best_evidence", to=[away]),
        ),
        (
            "an attached chunk that is not there",
            two,
            _set("verification", 0, "best_evidence", to=[gone]),
        ),
        (
            "a scored span that is not there",
            two,
            _set("verification", 1, "all_scores", 0, "span_id", to="s9"),
        ),
        ("an opposing span that is not there", two, _set("verification", 0, "opposing", to=[away])),
        ("a planted error of no claim", probe, _set("probe", "planted", 0, "claim_id", to="c9")),
        ("a planted error with its claim's id", probe, _set("probe", "planted", 0, "id", to="c1")),
        (
            "a planted error twice",
            probe,
            lambda v: v["probe"]["planted"].append(v["probe"]["planted"][0]),
        ),
        ("a planted error without result", probe, _set("probe", "verification", to=[])),
        (
            "a result of no planted error",
            probe,
            _set("probe", "verification", 0, "claim_id", to="x"),
        ),
        (
            "two results of a planted error",
            probe,
            lambda v: v["probe"]["verification"].append(v["probe"]["verification"][0]),
        ),
        (
            "a planted error scored elsewhere",
            probe,
            _set("probe", "verification", 0, "all_scores", 0, "chunk_id", to="x"),
        ),
        (
            "a planted error attached elsewhere",
            probe,
            _set("probe", "verification", 0, "best_evidence", to=[gone]),
        ),
        (
            "a planted error opposed elsewhere",
            probe,
            _set("probe", "verification", 0, "opposing", to=[away]),
        ),
    ):
        code = "subject" if name == "a claim without result and decision" else "integrity"
        yield name, code, record, change


def _twice_chunk(value: Json) -> None:
    value["retrieval"]["chunks"].append(value["retrieval"]["chunks"][0])


def _policies() -> Iterator[tuple[str, str, Json, Step]]:
    one, probe = single(), probed()
    base = one["policy"]["rules"][:8]
    for name, change in {
        "a low threshold": {"tau_entail": 0.49},
        "a threshold above one": {"tau_entail": 1.01},
        "a contradiction threshold of zero": {"tau_contradict": 0},
        "a negative contradiction threshold": {"tau_contradict": -0.1},
        "a contradiction threshold above one": {"tau_contradict": 1.5},
        "a contest threshold of zero": {"tau_contest": 0},
        "a contest threshold above one": {"tau_contest": 2},
        "no token": {"max_claim_tokens": 0},
        "too many tokens": {"max_claim_tokens": 401},
        "no rule": {"rules": []},
        "a rule too few": {"rules": base[1:]},
        "a rule twice": {"rules": [*base, base[0]]},
        "an unknown rule": {"rules": [*base, "planted_errors"]},
        "a minimum of zero": {
            "class_minimum": {**one["policy"]["class_minimum"], "scope_claim": 0}
        },
        "a minimum too few": {"class_minimum": {"scope_claim": 1}},
        "no minimum": {"class_minimum": {}},
        "a minimum too many": {"class_minimum": {**one["policy"]["class_minimum"], "x": 1}},
    }.items():
        yield f"a policy with {name}", "policy", one, lambda v, c=change: v["policy"].update(c)
        yield (
            f"a probe's policy with {name}",
            "policy",
            probe,
            lambda v, c=change: v["probe"]["policy"].update(c),
        )
    for name, change in {
        "a higher threshold": {"tau_entail": 0.99},
        "a lower contradiction threshold": {"tau_contradict": 0.1},
        "a lower contest threshold": {"tau_contest": 0.1},
        "fewer tokens": {"max_claim_tokens": 59},
        "a higher minimum": {"class_minimum": {**one["policy"]["class_minimum"], "scope_claim": 2}},
    }.items():
        yield (
            f"planted errors under {name}",
            "policy",
            probe,
            lambda v, c=change: v["probe"]["policy"].update(c),
        )
    more = probed(under=BASE)
    yield (
        "planted errors under more rules",
        "policy",
        more,
        lambda v: (
            v["policy"].update(rules=base),
            v["probe"]["policy"].update(rules=[*base, "load_bearing"]),
        ),
    )
    for name, used in {
        "another name": {"name": "other"},
        "another threshold": {"tau_entail": 0.5},
        "another contradiction threshold": {"tau_contradict": 0.5},
        "a text for a threshold": {"tau_entail": "0.85"},
        "a field more": {"tau_contest": 0.4},
    }.items():
        yield (
            f"a decision under {name}",
            "policy",
            one,
            lambda v, used=used: v["decisions"][0]["policy"].update(used),
        )
    yield (
        "a decision without its policy's name",
        "policy",
        one,
        lambda v: v["decisions"][0]["policy"].pop("name"),
    )


def _passing(record: Json) -> None:
    """Say of every rule that it passed, and count accordingly."""
    for decision in record["decisions"]:
        decision["render_state"] = "VERIFIED"
        for finding in decision["findings"]:
            finding["passed"] = True
    count = len(record["decisions"])
    record["answer"].update(decision="ACCEPT", verified=count, unverified=0, blocked=0)


def _findings() -> Iterator[tuple[str, str, Json, Step]]:
    # What is said of their wording is read from the record.
    skipped = {
        "a scope that no wording states",
        "a byte order mark that is not blank in claim and evidence",
        "a policy with the fewest tokens",
    }
    for name, record in (*records(), *edge_records(), *limit_records()):
        failed = [
            finding["rule"]
            for decision in record["decisions"]
            for finding in decision["findings"]
            if not finding["passed"]
        ]
        if (
            record["decisions"]
            and set(failed) - {"numbers", "planted_errors"}
            and name not in skipped
        ):
            yield f"recorded as Verified: {name}", "finding", record, _passing
    one, probe = single(), probed()
    for number, rule in enumerate(finding["rule"] for finding in one["decisions"][0]["findings"]):
        if rule in ("numbers", "well_formed", "class_minimum"):
            continue
        yield (
            f"recorded as failed: {rule}",
            "finding",
            one,
            _set("decisions", 0, "findings", number, "passed", to=False),
        )
    span: Place = ("retrieval", "chunks", 0, "spans", 0)
    selector = (*span, "selector")
    paged = single(of=chunk(page=12))
    for name, record, change in (
        ("a finding too few", one, lambda v: v["decisions"][0]["findings"].pop()),
        (
            "a finding twice",
            one,
            lambda v: v["decisions"][0]["findings"].append(v["decisions"][0]["findings"][0]),
        ),
        ("no finding", one, _set("decisions", 0, "findings", to=[])),
        ("the findings in another order", one, lambda v: v["decisions"][0]["findings"].reverse()),
        (
            "a finding of another rule",
            one,
            _set("decisions", 0, "findings", 3, "rule", to="toString"),
        ),
        (
            "planted errors that were not planted",
            one,
            lambda v: v["decisions"][0]["findings"].append(
                {"rule": "planted_errors", "passed": True, "reason": ""}
            ),
        ),
        (
            "planted errors that are not spoken of",
            probe,
            lambda v: v["decisions"][0]["findings"].pop(),
        ),
        (
            "a problem of a claim that is Verified",
            one,
            _set("claim_ir", "claims", 0, "problems", to=["not_atomic: two"]),
        ),
        (
            "a minimum that is not reached",
            one,
            _set("policy", "class_minimum", "factual_lit_claim", to=2),
        ),
        ("no selector", one, lambda v: _at(v, span).pop("selector")),
        ("another quote", one, _set(*selector, "quote", "exact", to="The library")),
        ("another prefix", one, _set(*selector, "quote", "prefix", to="x")),
        ("another suffix", one, _set(*selector, "quote", "suffix", to="x")),
        ("another position", one, _set(*selector, "position", "start", to=1)),
        ("another end", one, _set(*selector, "position", "end", to=1)),
        (
            "a fragment without a page",
            one,
            _set(
                *selector,
                "fragment",
                to={
                    "value": "page=1",
                    "conformsTo": "http://tools.ietf.org/rfc/rfc8118",
                    "type": "FragmentSelector",
                },
            ),
        ),
        ("another page", paged, _set(*selector, "fragment", "value", to="page=11")),
        ("no fragment of a page", paged, _set(*selector, "fragment", to=None)),
        (
            "another standard of a fragment",
            paged,
            _set(*selector, "fragment", "conformsTo", to="x"),
        ),
        ("another section", one, _set(*selector, "section", to="x")),
        ("another digest of a sentence", one, _set(*selector, "sha256", to="0" * 64)),
        ("another place in UTF-8", one, _set(*selector, "utf8_end", to=1)),
        ("another place in UTF-16", one, _set(*selector, "utf16_start", to=1)),
        (
            "a text that is not its digest's",
            one,
            _set("retrieval", "chunks", 0, "sha256", to="0" * 64),
        ),
        (
            "a sentence that is not in the text",
            one,
            _set(*span, "sentence", to="The library is open."),
        ),
        ("a place that is another", one, _set(*span, "start", to=1)),
        ("text that is not to be seen", one, _set(*span, "visible", to=False)),
        (
            "another title than was given",
            one,
            _set("retrieval", "chunks", 0, "source", "title", to="x"),
        ),
        (
            "another input",
            one,
            _set("verification", 0, "all_scores", 0, "input_sha256", to="0" * 64),
        ),
        ("another score of the set", one, _set("verification", 0, "score", to=0.96)),
        ("a set's score that is null", one, _set("verification", 0, "score", to=None)),
        (
            "a lower score",
            one,
            lambda v: (
                _set("verification", 0, "score", to=0.5)(v),
                _set("verification", 0, "all_scores", 0, "entailed", to=0.5)(v),
            ),
        ),
        ("a contradiction", one, _set("verification", 0, "all_scores", 0, "contradicted", to=0.7)),
        (
            "opposition in no score",
            one,
            _set("verification", 0, "all_scores", 0, "contradicted", to=None),
        ),
        ("an error of the verifier", one, _set("verification", 0, "error", to="late")),
        (
            "a text that was truncated",
            one,
            _set("verification", 0, "all_scores", 0, "truncated", to=True),
        ),
        ("support without the sentence", one, _set("verification", 0, "score_without", to=0.9)),
        ("a pair left out", one, _set("verification", 0, "needed_dropped", to=-1)),
        (
            "a sentence attached twice",
            one,
            lambda v: v["verification"][0]["best_evidence"].append(
                v["verification"][0]["best_evidence"][0]
            ),
        ),
        ("nothing attached", one, _set("verification", 0, "best_evidence", to=[])),
        ("nothing scored", one, _set("verification", 0, "all_scores", to=[])),
    ):
        yield f"a record with {name}", "finding", record, change


def _states() -> Iterator[tuple[str, str, Json, Step]]:
    one, against = single(), single(scores=AGAINST)
    unsure, two = single(scores=(0.3, 0.6, 0.1)), _named("one of two claims is Verified")
    greeting, none = _named("a greeting does not count"), _named("no claim at all")
    for name, record, to in (
        ("a Verified claim as Unverified", one, "UNVERIFIED"),
        ("a Verified claim as Blocked", one, "BLOCKED"),
        ("a Blocked claim as Unverified", against, "UNVERIFIED"),
        ("a Blocked claim as Verified", against, "VERIFIED"),
        ("an Unverified claim as Verified", unsure, "VERIFIED"),
        ("an Unverified claim as Blocked", unsure, "BLOCKED"),
    ):
        yield f"it records {name}", "state", record, _set("decisions", 0, "render_state", to=to)
    yield (
        "a survivor as Verified",
        "state",
        probed(survives=True),
        _set("decisions", 0, "render_state", to="VERIFIED"),
    )
    for rule in (3, 4, 7):
        yield (
            f"a Verified claim of which rule {rule} failed",
            "state",
            one,
            _set("decisions", 0, "findings", rule, "passed", to=False),
        )
    for name, record, field, to in (
        ("more Verified claims", two, "verified", 2),
        ("fewer Verified claims", two, "verified", 0),
        ("more Unverified claims", two, "unverified", 2),
        ("a negative count", two, "unverified", -1),
        ("more Blocked claims", two, "blocked", 1),
        ("fewer Blocked claims", against, "blocked", 0),
        ("all of two claims", two, "decision", "ACCEPT"),
        ("none of two claims", two, "decision", "REJECT"),
        ("a part of one claim", one, "decision", "STRIP"),
        ("no answer where there is one", one, "decision", "REJECT"),
        ("an answer where there is none", unsure, "decision", "ACCEPT"),
        ("a part of a refused answer", against, "decision", "STRIP"),
        ("an answer without claims", none, "decision", "ACCEPT"),
        ("a greeting as a claim", greeting, "decision", "STRIP"),
        ("no answer beside a greeting", greeting, "decision", "REJECT"),
    ):
        yield f"its summary counts {name}", "summary", record, _set("answer", field, to=to)
    for name, to in (("too small", 0.49), ("above one", 1.01), ("below nothing", -0.5)):
        change = _set("claim_ir", "claims", 0, "relevance", to=to)
        yield f"an answer whose relevance is {name}", "summary", one, change
    related = _set("answer", "reason_code", to="RELATED_ONLY")
    yield "no answer by a claim of unknown relevance", "summary", one, related
    for scores, code in (
        ((0.9, 0.05), "ALL_VERIFIED"),
        ((0.9, 0.05), "RELATED_ONLY"),
        ((0.9, 0.8), "PARTLY_ANSWERED"),
        ((0.2, 0.05), "PARTLY_ANSWERED"),
        ((0.2, 0.05), "ALL_VERIFIED"),
    ):
        name = f"two parts answered {scores[0]} and {scores[1]} that are {code}"
        yield name, "summary", of_two_parts(scores, ""), _set("answer", "reason_code", to=code)
    half = of_two_parts((0.9, 0.8), "ALL_VERIFIED")
    rated = ("claim_ir", "claims", 0)
    for name, change in (
        ("a relevance beside those of its parts", _set(*rated, "relevance", to=0.95)),
        ("a part without a relevance", _set(*rated, "by_part", to=[0.9])),
        ("a part too many", _set(*rated, "by_part", to=[0.9, 0.8, 0.7])),
        ("a part's relevance above one", _set(*rated, "by_part", to=[0.9, 1.8])),
        ("no parts where a claim has them", _set("claim_ir", "parts", to=[])),
    ):
        yield f"an answer with {name}", "summary", half, change


def _pinned() -> Iterator[Json]:
    one = single()
    good, hexes = export(one, Made()), [raw_hex(key) for key in KEYS]
    yield _vector("no key is pinned", "untrusted-key", good, keys=[])
    yield _vector("other keys are pinned", "untrusted-key", good, keys=hexes[1:])
    for key in SMALL_ORDER:
        named = f"the small key {key[:4]}…{key[-2:]}"
        yield _vector(f"{named} alone", "untrusted-key", good, keys=[key])
        forged = export(one, Made(envelope=lambda v, key=key: _forge(v, key)))
        yield _vector(
            f"a forgery under {named}",
            "untrusted-key",
            forged,
            keys=[key, hexes[0]],
        )
    small = SMALL_ORDER[0]
    yield _vector(
        "a checkpoint under a small key",
        "checkpoint",
        export(one, Made(note=lambda note: _small_note(note, bytes.fromhex(small)))),
        keys=[small, hexes[0]],
    )
    rotated = Made(log_key=OTHER, index=4, size=9)
    root = {"root": raw_hex(ROOT)}
    for name, code, made, ranges, origin in (
        ("that lacks the key", "untrusted-key", Made(), [(OTHER, 0, None)], ORIGIN),
        ("that lacks the log's key", "checkpoint", rotated, [(KEYS[0], 0, None)], ORIGIN),
        ("without keys", "untrusted-key", Made(), [], ORIGIN),
        ("of another log", "checkpoint", Made(), [(KEYS[0], 0, None)], "certirag.test/other"),
        ("with a key of later", "key-range", Made(), [(KEYS[0], 3, None)], ORIGIN),
        ("with a key of before", "key-range", Made(), [(KEYS[0], 0, 2)], ORIGIN),
        ("with an empty range", "key-range", Made(), [(KEYS[0], 2, 2)], ORIGIN),
        (
            "with a key that ended before the checkpoint",
            "key-range",
            Made(size=9),
            [(KEYS[0], 0, 8)],
            ORIGIN,
        ),
        (
            "with a log's key of later",
            "key-range",
            rotated,
            [(KEYS[0], 0, 5), (OTHER, 9, None)],
            ORIGIN,
        ),
        (
            "with a log's key of before",
            "key-range",
            rotated,
            [(KEYS[0], 0, None), (OTHER, 0, 8)],
            ORIGIN,
        ),
        (
            "with the old key of a rotated log",
            "key-range",
            rotated,
            [(KEYS[0], 0, 4), (OTHER, 4, None)],
            ORIGIN,
        ),
    ):
        trust = _b64(trust_file(*ranges, origin=origin))
        yield _vector(f"a trust file {name}", code, export(one, made), trust=trust, **root)


def _forge(envelope: Json, key: str) -> None:
    """Sign as anybody can under a key of order one: the key as R, zero as S."""
    from hashlib import sha256  # noqa: PLC0415

    raw = bytes.fromhex(key)
    envelope["signatures"] = [{"keyid": sha256(raw).hexdigest(), "sig": _b64(raw + bytes(32))}]


def _small_note(note: str, key: bytes) -> str:
    origin, size, root = note.split("\n")[:3]
    return checkpoint_text(origin, int(size), _un(root), key, key + bytes(32))
