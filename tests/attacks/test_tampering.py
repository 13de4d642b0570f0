"""An export that was changed after it was signed is TAMPERED, whatever was changed."""

from __future__ import annotations

import base64
import json
import re
import sys
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from gate_cases import KEY, TRUSTED, export, good_case, logged, record, with_result
from hypothesis import given
from hypothesis import strategies as st
from integration_fixtures import part_of
from property_runs import examples

from certirag.checker import check
from certirag.errors import CertificateError
from certirag.proof.certificate import open_export, statement_bytes
from certirag.proof.envelope import key_id, load_public_key, strict_json
from certirag.render import Mode, present
from scripts.flips import accepted_flips

EXPORT = export()


def _changed(change: Any) -> bytes:
    value = json.loads(EXPORT)
    change(value)
    return json.dumps(value).encode()


def test_the_untouched_export_is_valid() -> None:
    """Signature, digests and derivations hold."""
    report = check(EXPORT, TRUSTED)
    assert (report.verdict, report.code) == ("VALID", "")
    assert open_export(EXPORT, TRUSTED) == record()


def test_spacing_of_the_readable_part_does_not_matter() -> None:
    """What is signed is bytes inside the envelope, so a re-indented file is the same export."""
    assert check(json.dumps(json.loads(EXPORT)).encode(), TRUSTED).verdict == "VALID"


CHANGES: dict[str, Any] = {
    "state": lambda v: v["decisions"][0].update(render_state="UNVERIFIED"),
    "score": lambda v: v["verification"][0].update(score=0.98),
    "score as text": lambda v: v["verification"][0].update(score="0.97"),
    "threshold": lambda v: v["policy"].update(tau_entail=0.5),
    "claim": lambda v: v["claim_ir"]["claims"][0].update(text="All is well."),
    "evidence": lambda v: v["retrieval"]["chunks"][0]["spans"][0].update(sentence="x"),
    "question": lambda v: v.update(question="Another?"),
    "extra key": lambda v: v.update(verified=True),
    "extra key inside": lambda v: v["answer"].update(note="trust me"),
    "missing key": lambda v: v.pop("models"),
    "missing certificate": lambda v: v.pop("certificate"),
    "true for one": lambda v: v["answer"].update(verified=True),
    "number spelled otherwise": lambda v: v["config"].update(max_chunks=8.0),
    "extra envelope key": lambda v: v["certificate"].update(hint="x"),
    "no signature": lambda v: v["certificate"].update(signatures=[]),
    "two signatures": lambda v: v["certificate"]["signatures"].append(
        v["certificate"]["signatures"][0]
    ),
    "other payload type": lambda v: v["certificate"].update(payloadType="text/plain"),
    "certificate is a list": lambda v: v.update(certificate=[]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_any_change_is_tampered(name: str) -> None:
    """A changed, added or missing value is TAMPERED and shows nothing."""
    data = _changed(CHANGES[name])
    assert check(data, TRUSTED).verdict == "TAMPERED"
    with pytest.raises(CertificateError):
        present(data, Mode.DEBUG, trusted=TRUSTED)


# Every value in the readable part that a reader relies on, byte by byte.
_RELIED_ON = re.compile(
    rb'"(?:sentence|text|render_state|score|entailed|contradicted|tau_entail|tau_contradict|'
    rb'claim_id|sha256|start|end|label)": ("(?:[^"\\]|\\.)*"|[0-9.]+)'
)


def test_any_one_byte_of_a_relied_on_value_is_tampered() -> None:
    """Each byte of each sentence, score, state, threshold and claim, changed by itself."""
    places = [i for match in _RELIED_ON.finditer(EXPORT) for i in range(*match.span(1))]
    assert len(places) > 500
    for place in places:
        changed = bytearray(EXPORT)
        changed[place] = ord("7") if changed[place] != ord("7") else ord("8")
        assert check(bytes(changed), TRUSTED).verdict == "TAMPERED", place


def test_no_flipped_bit_is_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    """Each single-bit change of an export, one at a time, is TAMPERED (CERTIRAG_WHOLE=1: of all bytes)."""
    places = part_of(range(len(EXPORT)), 4)
    accepted = accepted_flips(EXPORT, TRUSTED, places)
    with capsys.disabled():
        sys.stdout.write(f"\nflipped bits: {len(places) * 8}, accepted: {len(accepted)}\n")
    assert accepted == []


def test_a_flipped_bit_that_changes_nothing_would_be_found() -> None:
    """The count above can be other than 0: a tab turned into a carriage return is white space."""
    tabbed = json.dumps(json.loads(EXPORT), indent="\t").encode()
    place = tabbed.index(b"\t")
    assert accepted_flips(tabbed, TRUSTED, [place]) == [place * 8 + 2]


@examples(200)
@given(st.integers(0, len(EXPORT) - 1), st.integers(0, 7))
def test_a_flipped_bit_shows_nothing(place: int, bit: int) -> None:
    """The program that draws an export refuses it too."""
    changed = bytearray(EXPORT)
    changed[place] ^= 1 << bit
    with pytest.raises(CertificateError):
        present(bytes(changed), Mode.DEBUG, trusted=TRUSTED)


def _statement(change: Any) -> bytes:
    value = json.loads(statement_bytes(record()))
    change(value)
    return json.dumps(value).encode()


STATEMENTS: dict[str, Any] = {
    "a state that the record does not give": (
        "finding",
        lambda v: v["predicate"]["verification"][0].update(score=0.5),
    ),
    "a missing decision": ("integrity", lambda v: v["predicate"].update(decisions=[])),
    "a relevance that would not answer": (
        "summary",
        lambda v: v["predicate"]["claim_ir"]["claims"][0].update(relevance=0.01),
    ),
    "an inflated summary": ("summary", lambda v: v["predicate"]["answer"].update(verified=9)),
    "a lax policy": ("policy", lambda v: v["predicate"]["policy"].update(tau_entail=0.1)),
    "a policy without rules": ("policy", lambda v: v["predicate"]["policy"].update(rules=[])),
    "an unknown field": ("record", lambda v: v["predicate"]["policy"].update(bonus=1)),
    "another predicate type": (
        "payload",
        lambda v: v.update(predicateType="https://example.org/v1"),
    ),
    "another statement type": ("payload", lambda v: v.update(_type="x")),
    "another subject": ("subject", lambda v: v["subject"][0]["digest"].update(sha256="0" * 64)),
    "a missing source": ("subject", lambda v: v["subject"].pop()),
    "an unknown label": (
        "record",
        lambda v: v["predicate"]["verification"][0].update(label="great"),
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_genuine_signature_does_not_excuse_a_false_record(name: str) -> None:
    """Even signed by a trusted key, what does not follow from the record is TAMPERED."""
    data = logged(_statement(STATEMENTS[name][1]))
    report = check(data, TRUSTED)
    assert (report.verdict, report.code) == ("TAMPERED", STATEMENTS[name][0])


def test_another_key_is_not_trusted() -> None:
    """An export signed by a stranger is TAMPERED; so is any export when no key is trusted."""
    stranger = Ed25519PrivateKey.generate()
    assert check(export(key=stranger), TRUSTED).verdict == "TAMPERED"
    assert check(EXPORT, {}).verdict == "TAMPERED"
    mislabelled = {key_id(KEY.public_key()): stranger.public_key()}
    assert check(EXPORT, mislabelled).verdict == "TAMPERED"


def test_small_order_keys_are_refused() -> None:
    """Keys under which one signature fits every message are no keys."""
    for key in ("01" + "00" * 31, "00" * 32, "ec" + "ff" * 30 + "7f"):
        with pytest.raises(CertificateError):
            load_public_key(bytes.fromhex(key))
    with pytest.raises(CertificateError):
        load_public_key(b"short")


def test_base64_has_one_spelling() -> None:
    """Padding bits and line breaks in the envelope are refused."""
    value = json.loads(EXPORT)
    payload = value["certificate"]["payload"]
    for other in (payload + "\n", payload.rstrip("="), " " + payload):
        if other != payload:
            value["certificate"]["payload"] = other
            assert check(json.dumps(value).encode(), TRUSTED).verdict == "TAMPERED"
    loose = base64.b64encode(b"a").decode()
    assert base64.b64decode("YR==") == base64.b64decode(loose)  # why the check is needed


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": Infinity}', "[" * 100_000, b"\xff", "", "{", "nul"],
    ids=["duplicate", "nan", "infinity", "deep", "utf-8", "empty", "open", "word"],
)
def test_json_is_read_strictly(text: str | bytes) -> None:
    """Duplicate keys, NaN, infinities, bad UTF-8 and endless nesting are refused, in one line."""
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(CertificateError) as caught:
        strict_json(data)
    assert "\n" not in str(caught.value)
    assert check(data, TRUSTED).verdict == "TAMPERED"


def test_a_display_can_only_tighten() -> None:
    """The displayer's policy meets the recorded one; a laxer one changes nothing."""
    tighter = replace(record().policy, name="tight", tau_entail=0.99)
    laxer = replace(record().policy, name="lax", tau_entail=0.5)
    shown = present(EXPORT, Mode.STRICT, trusted=TRUSTED)
    assert [chip.badge.kind for chip in shown.shown] == ["verified"]
    assert present(EXPORT, Mode.STRICT, trusted=TRUSTED, floor=tighter).shown == ()
    same = present(EXPORT, Mode.STRICT, trusted=TRUSTED, floor=laxer)
    assert (same.shown, same.policy) == (shown.shown, shown.policy)


def test_modes_show_what_they_promise() -> None:
    """Strict and mixed hide contradicted claims and say how many; debug shows all."""
    weak = export(record(with_result(good_case(), score=0.3, label="not_enough_info")))
    strict = present(weak, Mode.STRICT, trusted=TRUSTED)
    assert (strict.shown, len(strict.folded)) == ((), 1)
    assert len(present(weak, Mode.DEBUG, trusted=TRUSTED).shown) == 1
    assert open_export(weak, TRUSTED).decisions[0].render_state == "UNVERIFIED"
