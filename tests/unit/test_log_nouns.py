"""The log's nouns: leaves, commitments, checkpoints, proofs; every malformed one is refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st
from memory_log import ORIGIN, MemoryLog

from certirag.errors import CertificateError
from certirag.ports import NewEntry
from certirag.proof.envelope import key_id, raw_public_key
from certirag.proof.log import (
    ORIGIN as ORIGIN_FORM,
)
from certirag.proof.log import (
    Leaf,
    _key_hash,
    checkpoint_signature,
    checkpoint_text,
    commitment,
    leaf_text,
    open_checkpoint,
    parse_leaf,
    parse_proof,
    proof_json,
    prove,
    rotation_message,
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
TRUSTED = {key_id(KEY.public_key()): KEY.public_key()}
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ROOT = hashlib.sha256(b"root").digest()
LEAF = Leaf(
    1,
    ORIGIN,
    7,
    "received",
    "2026-01-02T03:04:05.000+00:00",
    "f" * 32,
    "internal_faq",
    "a" * 64,
    "b" * 64,
    {"of": "question"},
)
LINE = leaf_text(LEAF)
# Verifier keys of the signed-note world: name, the eight hex digits, type byte and public key.
NOTE_KEYS = [
    ("PeterNeumann", "c74f20a3", "ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"),
    ("sum.golang.org", "033de0ae", "Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"),
]


def signed(origin: str = ORIGIN, size: int = 5, root: bytes = ROOT, key=KEY) -> str:
    """Return a checkpoint as *key* signs it."""
    public = raw_public_key(key.public_key())
    return checkpoint_text(
        origin, size, root, public, checkpoint_signature(origin, size, root, key)
    )


def resigned(body: str, name: str = ORIGIN) -> str:
    """Return a note over any *body*, correctly signed: only its form is wrong."""
    public = raw_public_key(KEY.public_key())
    blob = _key_hash(name, public) + KEY.sign(body.encode())
    return f"{body}\n— {name} {base64.b64encode(blob).decode()}\n"


def test_a_leaf_comes_back_as_it_was_written() -> None:
    """One line of ASCII JSON, nothing between the values, and the same leaf again."""
    assert LINE.isascii()
    assert "\n" not in LINE
    assert ": " not in LINE
    assert parse_leaf(LINE) == LEAF
    assert leaf_text(parse_leaf(LINE)) == LINE


@given(st.text(), st.dictionaries(st.text(), st.text() | st.booleans() | st.integers(0, 2**40)))
def test_any_detail_and_name_come_back(name: str, detail: dict[str, object]) -> None:
    """Text beyond ASCII is escaped; halves of surrogate pairs are refused, not changed."""
    leaf = replace(LEAF, retention=name, detail=detail)
    try:
        assert parse_leaf(leaf_text(leaf)) == leaf
    except CertificateError:
        json.dumps(asdict(leaf), ensure_ascii=False).encode("utf-8", "strict")
        raise


BAD_LEAVES = {
    "empty": "",
    "no object": "[]",
    "not JSON": LINE[:-1],
    "something behind it": LINE + "{}",
    "a key twice": LINE[:-1] + ',"v":1}',
    "a key too many": LINE[:-1] + ',"more":1}',
    "a key missing": LINE.replace('"v":1,', ""),
    "another version": LINE.replace('"v":1', '"v":2'),
    "a version that is true": LINE.replace('"v":1', '"v":true'),
    "a version with a point": LINE.replace('"v":1', '"v":1.0'),
    "an index that is text": LINE.replace('"index":7', '"index":"7"'),
    "an index that is no integer": LINE.replace('"index":7', '"index":7.5'),
    "an index beyond 2^53": LINE.replace('"index":7', '"index":9007199254740992'),
    "an unknown kind": LINE.replace('"received"', '"recieved"'),
    "no kind": LINE.replace('"received"', "null"),
    "a detail that is a list": LINE.replace('{"of":"question"}', "[]"),
    "not a number": LINE.replace('"question"', "NaN"),
    "an infinity": LINE.replace('"question"', "1e999"),
    "half a surrogate pair": LINE.replace("question", "\\ud800"),
    "an escape in upper case": LINE.replace("question", "\\u00FF"),
    "too deep": LINE.replace('"question"', "[" * 40 + "]" * 40),
    "beyond ASCII": LINE.replace("question", "frågan"),
    "a byte order mark": "\ufeff" + LINE,
}


@pytest.mark.parametrize("name", BAD_LEAVES)
def test_a_malformed_leaf_is_refused(name: str) -> None:
    """Nothing is read into a leaf that is not whole."""
    assert BAD_LEAVES[name] != LINE
    with pytest.raises(CertificateError):
        parse_leaf(BAD_LEAVES[name])


@pytest.mark.parametrize("origin", ["certirag.dev/log", "a/b", "x.y-z/a_b/c.d/e-f"])
def test_a_checkpoint_comes_back_as_it_was_signed(origin: str) -> None:
    """Origin, size and root are those that were signed, and the key is named."""
    text = signed(origin, 12, ROOT)
    found = open_checkpoint(text, [OTHER.public_key(), KEY.public_key()])
    assert (found.origin, found.size, found.root, found.text) == (origin, 12, ROOT, text)
    assert found.keyid == key_id(KEY.public_key())


def test_a_checkpoint_is_a_signed_note() -> None:
    """Read as C2SP lays a signed note out, with code of its own, it holds."""
    text = signed(size=3)
    body, _, signatures = text.rpartition("\n\n")
    body += "\n"
    assert body.split("\n") == [ORIGIN, "3", base64.b64encode(ROOT).decode(), ""]
    (line,) = signatures.splitlines()
    dash, name, blob = line.split(" ")
    raw = base64.b64decode(blob, validate=True)
    public = KEY.public_key().public_bytes_raw()
    assert (dash, name) == ("\u2014", ORIGIN)
    assert raw[:4] == hashlib.sha256(f"{name}\n".encode() + b"\x01" + public).digest()[:4]
    KEY.public_key().verify(raw[4:], body.encode())


@pytest.mark.parametrize(("name", "digits", "encoded"), NOTE_KEYS)
def test_keys_are_named_as_in_every_signed_note(name: str, digits: str, encoded: str) -> None:
    """The four bytes that name a key are those of two well-known verifier keys."""
    raw = base64.b64decode(encoded)
    assert raw[:1] == b"\x01"
    assert _key_hash(name, raw[1:]).hex() == digits


ROOT_64 = base64.b64encode(ROOT).decode()
GOOD = signed()
BODY, SIGNATURE_LINE = GOOD.split("\n\n")
BAD_CHECKPOINTS = {
    "empty": "",
    "without a signature": BODY + "\n\n",
    "without the last line end": GOOD[:-1],
    "a line behind it": GOOD + "\n",
    "a second signature": GOOD + SIGNATURE_LINE,
    "a line before it": "\n" + GOOD,
    "an extension line": resigned(f"{ORIGIN}\n5\n{ROOT_64}\nmore\n"),
    "carriage returns": GOOD.replace("\n", "\r\n"),
    "a hyphen for the dash": GOOD.replace("\u2014", "-"),
    "a changed size": GOOD.replace("\n5\n", "\n6\n"),
    "a changed root": signed().replace(ROOT_64, base64.b64encode(bytes(32)).decode()),
    "another origin": GOOD.replace(ORIGIN, "certirag.test/other"),
    "another name on the signature": resigned(BODY + "\n", "certirag.test/other"),
    "a size with a zero before it": resigned(f"{ORIGIN}\n05\n{ROOT_64}\n"),
    "a size with a sign": resigned(f"{ORIGIN}\n+5\n{ROOT_64}\n"),
    "a size below zero": resigned(f"{ORIGIN}\n-5\n{ROOT_64}\n"),
    "a size that is a word": resigned(f"{ORIGIN}\nfive\n{ROOT_64}\n"),
    "no size": resigned(f"{ORIGIN}\n\n{ROOT_64}\n"),
    "a size in other digits": resigned(f"{ORIGIN}\n\N{ARABIC-INDIC DIGIT FIVE}\n{ROOT_64}\n"),
    "a size beyond any log": resigned(f"{ORIGIN}\n{10**17}\n{ROOT_64}\n"),
    "a size with a space": resigned(f"{ORIGIN}\n5 \n{ROOT_64}\n"),
    "a short root": resigned(f"{ORIGIN}\n5\n{base64.b64encode(ROOT[:31]).decode()}\n"),
    "a root without padding": resigned(f"{ORIGIN}\n5\n{ROOT_64.rstrip('=')}\n"),
    "a root in another spelling": resigned(
        f"{ORIGIN}\n5\n{ROOT_64[:-2]}{chr(ord(ROOT_64[-2]) + 1)}=\n"
    ),
    "an origin in capitals": resigned(f"Certirag.test/x\n5\n{ROOT_64}\n", "Certirag.test/x"),
    "an origin without a path": resigned(f"certirag.test\n5\n{ROOT_64}\n", "certirag.test"),
    "an origin with a space": resigned(f"certirag test/x\n5\n{ROOT_64}\n", "certirag test/x"),
    "a cut signature": GOOD[:-8] + "\n",
    "signed by nobody who is trusted": signed(key=OTHER),
}


@pytest.mark.parametrize("name", BAD_CHECKPOINTS)
def test_a_malformed_checkpoint_is_refused(name: str) -> None:
    """A note in another form is refused, although the log's own key signed it."""
    assert BAD_CHECKPOINTS[name] != GOOD
    with pytest.raises(CertificateError):
        open_checkpoint(BAD_CHECKPOINTS[name], TRUSTED.values())


def test_every_changed_character_of_a_checkpoint_is_refused() -> None:
    """At each place another letter, digit, sign or nothing."""
    for place in range(len(GOOD)):
        for character in ("", "A", "0", "=", " ", "\n"):
            text = GOOD[:place] + character + GOOD[place + 1 :]
            if text != GOOD:
                with pytest.raises(CertificateError):
                    open_checkpoint(text, TRUSTED.values())


def test_a_key_of_the_same_four_bytes_does_not_help() -> None:
    """The four bytes only say which key; the signature must hold under it."""
    public = raw_public_key(KEY.public_key())
    forged = checkpoint_text(ORIGIN, 5, ROOT, public, OTHER.sign(f"{BODY}\n".encode()))
    with pytest.raises(CertificateError, match="trusted"):
        open_checkpoint(forged, TRUSTED.values())
    with pytest.raises(CertificateError):
        open_checkpoint(GOOD, [])


def test_a_checkpoint_is_bound_to_its_log() -> None:
    """What is signed for one origin cannot be shown for another, key and all."""
    _, _, tail = GOOD.partition("\n")
    other = "certirag.test/other"
    assert ORIGIN_FORM.fullmatch(other)
    with pytest.raises(CertificateError):
        open_checkpoint(f"{other}\n{tail}".replace(f" {ORIGIN} ", f" {other} "), TRUSTED.values())


def test_a_commitment_is_the_hmac_of_the_content_under_the_salt() -> None:
    """The keyed hash of RFC 2104; another salt, another commitment."""
    salt, content = bytes(range(32)), b"content"
    assert commitment(salt, content) == hmac.new(salt, content, "sha256").hexdigest()
    assert commitment(salt[::-1], content) != commitment(salt, content)
    assert commitment(salt, b"") != commitment(salt, b"\x00")


def proven() -> tuple[MemoryLog, dict[str, object]]:
    """Return a log of five entries and the proof of its answer, as JSON."""
    log = MemoryLog(KEY)
    for number in range(3):
        log.append(NewEntry("received", f"{number:032x}", AT, b"request"))
    proof = log.append(NewEntry("answer", "e" * 32, AT, b"the answer"))
    return log, proof_json(proof)


def test_a_proof_comes_back_and_proves() -> None:
    """Through JSON and back, the proof shows the entry of that content."""
    log, value = proven()
    proof = parse_proof(json.loads(json.dumps(value)))
    assert proof_json(proof) == value
    leaf = prove(proof, b"the answer", TRUSTED)
    assert (leaf.index, leaf.kind, leaf.trace_id) == (4, "answer", "e" * 32)
    for _ in range(9):  # an old proof stays one, a newer one is one too
        log.append(NewEntry("failed", "f" * 32, AT))
    assert prove(proof, b"the answer", TRUSTED) == prove(log.proof(4), b"the answer", TRUSTED)


def _path(value: dict[str, object]) -> list[str]:
    return list(value["path"])


BAD_PROOFS = {
    "no object": lambda v: [v],
    "a field missing": lambda v: {k: x for k, x in v.items() if k != "salt"},
    "a field too many": lambda v: {**v, "size": 5},
    "a path that is text": lambda v: {**v, "path": _path(v)[0]},
    "a salt that is null": lambda v: {**v, "salt": None},
    "no salt": lambda v: {**v, "salt": ""},
    "another salt": lambda v: {**v, "salt": "0" * 64},
    "a salt in capitals": lambda v: {**v, "salt": v["salt"].upper()},
    "a salt with a line end": lambda v: {**v, "salt": v["salt"] + "\n"},
    "a short path": lambda v: {**v, "path": _path(v)[:-1]},
    "a long path": lambda v: {**v, "path": [*_path(v), "0" * 64]},
    "a path in capitals": lambda v: {**v, "path": [p.upper() for p in _path(v)]},
    "a path of short hashes": lambda v: {**v, "path": [p[:-2] for p in _path(v)]},
    "another path": lambda v: {**v, "path": ["0" * 64 for _ in _path(v)]},
    "another leaf": lambda v: {**v, "leaf": v["leaf"].replace("e" * 32, "d" * 32)},
    "the leaf at another place": lambda v: {
        **v,
        "leaf": v["leaf"].replace('"index":4', '"index":3'),
    },
    "a leaf beyond the tree": lambda v: {**v, "leaf": v["leaf"].replace('"index":4', '"index":5')},
    "a leaf below zero": lambda v: {**v, "leaf": v["leaf"].replace('"index":4', '"index":-1')},
    "the leaf in another spelling": lambda v: {**v, "leaf": v["leaf"].replace(",", ", ")},
    "the leaf of another log": lambda v: {**v, "leaf": v["leaf"].replace(ORIGIN, "a/b")},
    "an unsigned checkpoint": lambda v: {**v, "checkpoint": signed(key=OTHER)},
    "another checkpoint": lambda v: {**v, "checkpoint": signed(size=5)},
    "the checkpoint of another log": lambda v: {**v, "checkpoint": signed("a/b")},
}


@pytest.mark.parametrize("name", BAD_PROOFS)
def test_a_malformed_proof_proves_nothing(name: str) -> None:
    """Every spoiled field of a proof is refused, in reading or in proving."""
    _, value = proven()
    spoiled = BAD_PROOFS[name](value)
    assert spoiled != value
    with pytest.raises(CertificateError):
        prove(parse_proof(spoiled), b"the answer", TRUSTED)


def test_a_proof_is_of_one_content_only() -> None:
    """Another content is refused; so is any for an entry that has none."""
    log, value = proven()
    with pytest.raises(CertificateError, match="another content"):
        prove(parse_proof(value), b"another answer", TRUSTED)
    bare = log.append(NewEntry("failed", "f" * 32, AT))
    for salt in ("", "0" * 64):
        with pytest.raises(CertificateError):
            prove(replace(bare, salt=salt), b"", TRUSTED)


def test_an_erased_content_can_be_proven_by_who_kept_it() -> None:
    """With the salt that an export holds; the log's own proof has none any more."""
    log, value = proven()
    erased = replace(log.proof(4), salt="")
    with pytest.raises(CertificateError):
        prove(erased, b"the answer", TRUSTED)
    assert prove(replace(erased, salt=value["salt"]), b"the answer", TRUSTED).index == 4


def test_a_rotation_is_bound_to_its_log_and_direction() -> None:
    """What the keys sign differs with the log and with who hands over to whom."""
    messages = {
        rotation_message(origin, old, new)
        for origin in ("a/b", "a/c")
        for old, new in (("1" * 64, "2" * 64), ("2" * 64, "1" * 64))
    }
    assert len(messages) == 4


def test_small_order_keys_sign_no_checkpoint() -> None:
    """Under the neutral point this signature holds for any text, and no note opens."""
    identity = Ed25519PublicKey.from_public_bytes(bytes([1]) + bytes(31))
    forged = checkpoint_text(ORIGIN, 5, ROOT, bytes([1]) + bytes(31), bytes([1]) + bytes(63))
    with pytest.raises(CertificateError, match="small order"):
        open_checkpoint(forged, [identity])
