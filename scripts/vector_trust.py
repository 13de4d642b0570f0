"""Trust files for the vectors: odd ones that are usable, and ones that nothing can be checked with."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from vector_exports import KEYS, ORIGIN, ROOT, Json, Made, export, raw_hex, unspelled
from vector_records import single

from certirag.proof.envelope import PAYLOAD_TYPE, envelope_json, key_id, sign
from certirag.proof.trust import TRUST_TYPE

SMALL: Final = "01" + "00" * 31
Change = Callable[[Json], object]


def _payload() -> Json:
    public = KEYS[0].public_key()
    one = {"keyid": key_id(public), "public_key": raw_hex(KEYS[0]), "from_index": 0}
    return {
        "v": 1,
        "version": 1,
        "origin": ORIGIN,
        "keys": [{**one, "until_index": None, "reason": ""}],
    }


def _file(
    change: Change = lambda _: None,
    *,
    text: Callable[[str], str] = lambda text: text,
    envelope: Change = lambda _: None,
    file: Callable[[str], str] = lambda text: text,
    kind: str = TRUST_TYPE,
    key: Ed25519PrivateKey = ROOT,
) -> bytes:
    """Return a trust file of the first key, changed before or after it is signed."""
    value = _payload()
    change(value)
    signed = envelope_json(sign(text(unspelled(json.dumps(value))).encode("utf-8"), key, kind))
    envelope(signed)
    return file(json.dumps(signed, indent=1)).encode("utf-8")


def _vector(name: str, trust: bytes, root: str = raw_hex(ROOT), **said: str) -> Json:
    pinned = {"trust": base64.b64encode(trust).decode("ascii"), "root": root}
    return {"name": name, "export": export(single(), Made()), **pinned, **said}


def usable_trust() -> Iterator[Json]:
    """Yield sound exports under trust files that are written oddly, and are good."""
    spare = {
        "keyid": key_id(KEYS[1].public_key()),
        "public_key": raw_hex(KEYS[1]),
        "from_index": 7,
        "until_index": 3,
        "reason": "none",
    }
    for name, trust in {
        "whose first entry is -0": _file(_key(from_index="@@-0@@")),
        "of version 0": _file(_set(version=0)),
        "of an old version": _file(_set(version=-1)),
        "with white space": _file(text=lambda t: f"\n{t} ", file=lambda t: f" {t}\r\n"),
        "with a key of no entry": _file(lambda v: v["keys"].append(spare)),
    }.items():
        yield _vector(f"a trust file {name}", trust, verdict="VALID", code="")


def unusable_trust() -> Iterator[Json]:
    """Yield sound exports under trust files under which no checker says anything."""
    for name, trust in {**dict(_payloads()), **dict(_envelopes())}.items():
        yield _vector(f"no trust file: {name}", trust, verdict="CANNOT CHECK", code="trust")
    other = raw_hex(KEYS[0])
    wrong = _vector("no trust file: of another root", _file(), other)
    yield wrong | {"verdict": "CANNOT CHECK", "code": "trust"}


def _set(**fields: Any) -> Change:
    return lambda value: value.update(fields)


def _key(**fields: Any) -> Change:
    return lambda value: value["keys"][0].update(fields)


def _named(public: str) -> Change:
    """Name another public key, under its own key id where it has one."""
    return _key(public_key=public, keyid=hashlib.sha256(bytes.fromhex(public)).hexdigest())


def _payloads() -> Iterator[tuple[str, bytes]]:
    for field, plain in (("from_index", -1), ("until_index", -1), ("until_index", -(2**53) + 1)):
        yield f"{field} {plain}", _file(_key(**{field: plain}))
    for field in ("from_index", "until_index"):
        for to in (True, False, "@@1.0@@", "@@3e0@@", 0.5, "3", [], 2**53):
            yield f"{field} {json.dumps(to).strip('@')}", _file(_key(**{field: to}))
    yield "from_index null", _file(_key(from_index=None))
    for to in (True, "@@1.0@@", "@@1e0@@", 0, 2, "1", None):
        yield f"v {json.dumps(to)}", _file(_set(v=to))
    for to in (True, "@@1.0@@", "1", None):
        yield f"version {json.dumps(to)}", _file(_set(version=to))
    yield "origin null", _file(_set(origin=None))
    yield "keys in an object", _file(lambda v: v.update(keys={"0": v["keys"][0]}))
    for field in ("v", "version", "origin", "keys"):
        yield f"without {field}", _file(lambda v, field=field: v.pop(field))
    for field in ("keyid", "public_key", "from_index", "until_index", "reason"):
        yield f"a key without {field}", _file(lambda v, field=field: v["keys"][0].pop(field))
    yield "a field more", _file(_set(note=""))
    yield "a key with a field more", _file(_key(note=""))
    yield "a reason that is null", _file(_key(reason=None))
    public = raw_hex(KEYS[0])
    for name, to in {
        "in capitals": public.upper(),
        "a byte short": public[:-2],
        "a byte long": public + "00",
        "with a space": " " + public[1:],
        "with a line end": public + "\n",
        "in full-width digits": "\uff10" * 64,
        "empty": "",
    }.items():
        yield f"a public key {name}", _file(_key(public_key=to))
    yield "a public key of small order", _file(_named(SMALL))
    yield "a public key of small order, its sign set", _file(_named("01" + "00" * 30 + "80"))
    yield "a key id in capitals", _file(_key(keyid=key_id(KEYS[0].public_key()).upper()))
    yield "a key id of another key", _file(_key(keyid=key_id(KEYS[1].public_key())))
    yield "a key twice", _file(lambda v: v["keys"].append(v["keys"][0]))
    again = {"from_index": 5, "reason": "again"}
    yield "a key twice, later", _file(lambda v: v["keys"].append(v["keys"][0] | again))


def _envelopes() -> Iterator[tuple[str, bytes]]:
    yield "of another type", _file(kind=PAYLOAD_TYPE)
    yield "signed for another type", _file(kind=PAYLOAD_TYPE, envelope=_set(payloadType=TRUST_TYPE))
    yield "signed by another key", _file(key=KEYS[1])
    misnamed = {"keyid": key_id(ROOT.public_key())}
    forged = _file(key=KEYS[1], envelope=lambda v: v["signatures"][0].update(misnamed))
    yield "signed by another key in the root's name", forged
    changed = _file(envelope=_set(payloadType="application/json"))
    yield "of another type, signed for its own", changed
    other = {"keyid": key_id(KEYS[0].public_key())}
    unnamed = _file(envelope=lambda v: v["signatures"][0].update(other))
    yield "signed by the root in another key's name", unnamed
    yield "without signature", _file(envelope=_set(signatures=[]))
    yield "signed twice", _file(envelope=lambda v: v["signatures"].append(v["signatures"][0]))
    yield "with a field more in its envelope", _file(envelope=_set(note=""))
    payload = _file()
    yield "a payload with a line end", _file(envelope=_grown("payload"))
    yield "a signature with a line end", _file(envelope=lambda v: _grown("sig")(v["signatures"][0]))
    yield "a key of the payload twice", _file(text=lambda t: t.replace('"v"', '"v": 1, "v"', 1))
    yield "a key of the file twice", _file(file=lambda t: t.replace("{", '{"payload": "",', 1))
    yield "a byte order mark", _file(file=lambda t: "\ufeff" + t)
    yield "a byte order mark in its payload", _file(text=lambda t: "\ufeff" + t)
    yield "text behind it", _file(file=lambda t: t + "{}")
    yield (
        "an escape in upper case",
        _file(text=lambda t: t.replace("certirag", "\\u0063ertir\\u006Ag")),
    )
    yield "a list", b"[]"
    yield "a payload that is a list", _file(text=lambda _: "[]")
    yield "nothing", b""
    yield "an export", export(single(), Made())
    yield "half of it", payload[: len(payload) // 2]


def _grown(field: str) -> Change:
    return lambda value: value.update({field: value[field] + "\n"})
