"""A machine that signs, exports, tampers, rotates and opens: what opens is what was signed."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from gate_cases import good_case, logged, record, with_first_score, with_result
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)
from property_runs import examples

from certirag.core.policy import BASE_RULES, RISK_CLASSES, STRICT_RULES, Policy
from certirag.errors import CertificateError
from certirag.proof.certificate import AnswerRecord, open_export, statement_bytes
from certirag.proof.envelope import key_id
from certirag.render import Mode, present

scores = st.sampled_from([0.0, 0.2, 0.5, 0.84, 0.85, 0.9, 0.97, 1.0])
taus = st.sampled_from([0.5, 0.7, 0.85, 0.9, 0.97, 1.0])
policies = st.builds(
    Policy,
    name=st.sampled_from(["one", "two"]),
    rules=st.sampled_from([BASE_RULES, BASE_RULES + STRICT_RULES, (*BASE_RULES, "uncontested")]),
    tau_entail=taus,
    tau_contradict=taus,
    tau_contest=taus,
    max_claim_tokens=st.sampled_from([10, 11, 60]),
    class_minimum=st.fixed_dictionaries({risk: st.integers(1, 2) for risk in RISK_CLASSES}),
)


def _key(seed: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes([seed % 256, seed // 256]) + bytes(30))


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every plain value inside *value*."""
    if isinstance(value, dict):
        return [p for key in value for p in _leaves(value[key], (*path, key))]
    if isinstance(value, list):
        return [p for place, one in enumerate(value) for p in _leaves(one, (*path, place))]
    return [path]


def _other(value: Any) -> Any:
    """Return a value that differs from *value*, in the least way of its type."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return math.nextafter(value, 2)
        case str():
            return value[:-1] + ("0" if value[-1] != "0" else "1") if value else "x"
        case _:
            return 0


class CertificateMachine(RuleBasedStateMachine):
    """Exports of every age under keys that come and go; one model: what was signed, by whom."""

    exports = Bundle("exports")
    tampered = Bundle("tampered")

    def __init__(self) -> None:
        super().__init__()
        self.keys = [_key(1)]
        self.trusted = {0}
        self.broken: list[bytes] = []

    def _trust(self) -> dict[str, Any]:
        publics = [self.keys[n].public_key() for n in sorted(self.trusted)]
        return {key_id(public): public for public in publics}

    def _sign(self, of: AnswerRecord) -> tuple[bytes, AnswerRecord, int]:
        signer = len(self.keys) - 1
        return logged(statement_bytes(of), self.keys[signer]), of, signer

    @initialize(target=exports)
    def first(self) -> Any:
        """The answer from which the others are made."""
        return self._sign(record())

    @rule(
        target=exports,
        entailed=scores,
        contradicted=scores,
        without=scores,
        policy=policies,
    )
    def answer(self, entailed: float, contradicted: float, without: float, policy: Policy) -> Any:
        """Another answer, decided under another policy, signed with the newest key."""
        case = with_result(good_case(), score=entailed, score_without=without)
        case = with_first_score(case, entailed=entailed, contradicted=contradicted)
        made = record(replace(case, policy=policy), policy)
        return self._sign(replace(made, trace_id=f"{hash((entailed, without)) % 16**32:032x}"))

    @rule()
    def rotate(self) -> None:
        """A new key signs from here on; those before stay pinned."""
        self.trusted.add(len(self.keys))
        self.keys.append(_key(len(self.keys) + 1))

    @rule(which=st.integers(0, 9))
    def revoke(self, which: int) -> None:
        """A checker stops trusting one key."""
        self.trusted.discard(which % len(self.keys))

    @rule(one=exports)
    def opens_as_signed(self, one: Any) -> None:
        """It opens exactly while its key is pinned, and is then what was signed."""
        data, of, signer = one
        if signer in self.trusted:
            assert open_export(data, self._trust()) == of
        else:
            with pytest.raises(CertificateError):
                open_export(data, self._trust())

    @rule(target=exports, one=consumes(exports))
    def signed_again(self, one: Any) -> Any:
        """What opens can be signed by the newest key; both copies say the same."""
        data, _, signer = one
        if signer not in self.trusted:
            return multiple(one)
        return multiple(one, self._sign(open_export(data, self._trust())))

    @rule(target=tampered, one=exports, where=st.integers(0, 10**6), drop=st.booleans())
    def tamper_with_a_value(self, one: Any, where: int, drop: bool) -> bytes:
        """Change or drop one value anywhere in the export: readable part, envelope or log proof."""
        value = json.loads(one[0])
        paths = _leaves(value)
        path = paths[where % len(paths)]
        inside = value
        for step in path[:-1]:
            inside = inside[step]
        if drop:
            del inside[path[-1]]
        else:
            inside[path[-1]] = _other(inside[path[-1]])
        return json.dumps(value, ensure_ascii=False).encode()

    @rule(target=tampered, one=exports, other=exports, part=st.sampled_from(["certificate", "log"]))
    def tamper_by_exchange(self, one: Any, other: Any, part: str) -> bytes:
        """Put the certificate or log proof of one answer beside another's.

        Two signatures of the same record are both genuine: what opens then is that very record.
        """
        mine, theirs = json.loads(one[0]), json.loads(other[0])
        if mine[part] == theirs[part]:
            return b"{}"
        mine[part] = theirs[part]
        mixed = json.dumps(mine, ensure_ascii=False).encode()
        if one[1] == other[1]:
            with suppress(CertificateError):  # a key may be revoked by now
                assert open_export(mixed, self._trust()) == one[1]
            return b"{}"
        return mixed

    @rule(target=tampered, one=exports, policy=policies)
    def tamper_with_a_foreign_key(self, one: Any, policy: Policy) -> bytes:
        """Sign a record of one's own with a key that nobody pinned."""
        return logged(statement_bytes(replace(one[1], policy=policy)), _key(60_000))

    @rule(data=tampered)
    def nothing_tampered_opens(self, data: bytes) -> None:
        """Whatever keys are pinned by now."""
        self.broken.append(data)
        for open_it in (open_export, lambda d, t: present(d, Mode.DEBUG, trusted=t)):
            with pytest.raises(CertificateError):
                open_it(data, self._trust())

    @rule(one=exports, floor=policies, mode=st.sampled_from(Mode))
    def a_floor_only_takes_badges(self, one: Any, floor: Policy, mode: Mode) -> None:
        """No display shows a badge that the recorded policy, or the floor, does not give."""
        data, of, signer = one
        if signer not in self.trusted:
            return
        shown = present(data, mode, trusted=self._trust(), floor=floor)
        verified = {c.claim_id for c in (*shown.shown, *shown.folded) if c.badge.kind == "verified"}
        recorded = {d.claim_id for d in of.decisions if d.render_state == "VERIFIED"}
        assert verified <= recorded
        if floor.refines(of.policy):
            alone = record(replace(good_case(), result=of.verification[0]), floor)
            assert verified == {d.claim_id for d in alone.decisions if d.render_state == "VERIFIED"}

    @invariant()
    def trust_is_never_taken_from_a_file(self) -> None:
        """With no key pinned nothing opens; the newest tampered one shows it."""
        for data in self.broken[-1:]:
            with pytest.raises(CertificateError):
                open_export(data, {})


def test_a_stricter_floor_brings_no_badge_back() -> None:
    """Headings that alone score 0.90 take the badge, whatever stricter policy displays it."""
    lax, strict = (replace(good_case().policy, tau_entail=tau) for tau in (0.85, 0.95))
    case = replace(with_result(good_case(), score_without=0.90), policy=lax)
    data, trust = logged(statement_bytes(record(case, lax)), _key(1)), _key(1).public_key()
    shown = present(data, Mode.STRICT, trusted={key_id(trust): trust}, floor=strict)
    assert strict.refines(lax)
    assert shown.shown == ()


def test_two_signatures_of_one_record_may_be_exchanged() -> None:
    """Found by the machine: a rotation, then the old certificate beside the new log proof.

    The leaf binds what was signed and not the signature, so both copies prove the same record
    under pinned keys; without the key that signed, the mixture opens as little as its parts.
    """
    of = record()
    old, new = (json.loads(logged(statement_bytes(of), _key(seed))) for seed in (1, 2))
    mixed = json.dumps({**old, "log": new["log"]}).encode()
    pinned = {key_id(public): public for public in (_key(1).public_key(), _key(2).public_key())}
    assert open_export(mixed, pinned) == of
    for public in pinned.values():
        with pytest.raises(CertificateError):
            open_export(mixed, {key_id(public): public})


TestCertificates = CertificateMachine.TestCase
TestCertificates.settings = examples(60, stateful_step_count=25)
