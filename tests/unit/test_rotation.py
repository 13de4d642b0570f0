"""A key hands over to the next one, and what an old one signs later is worth nothing."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from gate_cases import record
from memory_log import MemoryLog

from certirag.auditing.rotation import retire, rotate, trust_in_force
from certirag.auditing.verify_log import LogReport, verify_log
from certirag.errors import AuditError, CertificateError, InputError
from certirag.ports import NewEntry
from certirag.proof.certificate import export_bytes, open_export, statement_bytes
from certirag.proof.envelope import envelope_json, key_id, raw_public_key, sign
from certirag.proof.keys import key_that_may_sign, read_trust, signing_key, trusted_keys
from certirag.proof.log import parse_leaf, rotation_message
from certirag.proof.trust import TRUST_TYPE, Trust, TrustedKey, open_trust, trust_bytes

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def _answered(log: MemoryLog, key: Ed25519PrivateKey) -> bytes:
    payload = statement_bytes(record())
    proof = log.append(NewEntry("answer", record().trace_id, NOW, payload))
    return export_bytes(sign(payload, key), proof)


def _after_rotation(home: Path) -> tuple[MemoryLog, Ed25519PrivateKey, Ed25519PrivateKey]:
    old = signing_key(home)
    log = MemoryLog(old)
    rotate(home, log, NOW)
    return log, old, signing_key(home)


def test_both_keys_sign_the_rotation(tmp_path: Path) -> None:
    """The leaf names both keys, and each signed what names the log and both of them."""
    log, old, new = _after_rotation(tmp_path)
    detail = parse_leaf([*log.entries()][-1].leaf).detail
    assert (detail["old"], detail["new"]) == (
        key_id(old.public_key()),
        key_id(new.public_key()),
    )
    message = rotation_message(log.origin, detail["old"], detail["new"])
    old.public_key().verify(bytes.fromhex(detail["old_signature"]), message)
    new.public_key().verify(bytes.fromhex(detail["new_signature"]), message)
    assert raw_public_key(old.public_key()) != raw_public_key(new.public_key())


def test_old_and_new_answers_both_open_until_the_old_key_is_retired(tmp_path: Path) -> None:
    """What the old key signed before its end stays good; what it signs after is refused."""
    old = signing_key(tmp_path)
    log = MemoryLog(old)
    before = _answered(log, old)
    rotate(tmp_path, log, NOW)
    late = _answered(log, old)  # a server that still holds the old key
    trusted = trusted_keys(tmp_path)
    assert open_export(before, trusted) == open_export(late, trusted)
    retire(tmp_path, log, key_id(old.public_key())[:8], NOW, until=2, reason="stolen")
    trusted = trusted_keys(tmp_path)
    open_export(before, trusted)
    with pytest.raises(CertificateError, match=r"retired before entry .*: stolen"):
        open_export(late, trusted)
    log._key = signing_key(tmp_path)
    open_export(_answered(log, log._key), trusted)


def test_a_key_signs_nothing_before_it_was_there(tmp_path: Path) -> None:
    """A certificate of the new key at an entry before its own is a forgery of history."""
    home = tmp_path
    old = signing_key(home)
    log = MemoryLog(old)
    rotate(home, log, NOW)
    forged = MemoryLog(signing_key(home))
    with pytest.raises(CertificateError, match="did not sign for entry 1"):
        open_export(_answered(forged, signing_key(home)), trusted_keys(home))


@pytest.mark.parametrize("lost", ["trust", "rename"])
def test_a_rotation_that_was_cut_off_is_finished(
    lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash behind the log's entry the same key takes over, named once in the log."""
    old = signing_key(tmp_path)
    log = MemoryLog(old)
    trust_in_force(tmp_path, log)
    with monkeypatch.context() as patched:
        if lost == "trust":
            patched.setattr("certirag.auditing.rotation._write", _broken)
        else:
            patched.setattr(Path, "replace", _broken_for_keys)
        with pytest.raises(OSError, match="power"):
            rotate(tmp_path, log, NOW)
    assert raw_public_key(signing_key(tmp_path).public_key()) == raw_public_key(old.public_key())
    monkeypatch.undo()
    trust = rotate(tmp_path, log, NOW)
    kinds = [parse_leaf(entry.leaf).kind for entry in log.entries()]
    assert kinds.count("rotate") == 1
    assert trust.keys[-1].keyid == key_id(signing_key(tmp_path).public_key())
    assert trust.keys[-1].from_index == kinds.index("rotate") + 1
    assert len(trust.keys) == 2


@pytest.mark.parametrize("at", ["public half", "power"])
def test_a_rotation_cut_off_at_its_end_is_over(
    at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the new key signs, what is left of the old one is cleared up by whatever comes next."""
    log = MemoryLog(signing_key(tmp_path))
    trust_in_force(tmp_path, log)
    with monkeypatch.context() as patched:
        if at == "power":
            patched.setattr("certirag.auditing.rotation._settle", _broken)
        else:
            patched.setattr(Path, "unlink", _broken_for_next)
        with pytest.raises((OSError, AuditError)):
            rotate(tmp_path, log, NOW)
    if (
        at == "power"
    ):  # it struck when the trust file was written, so the rotation is to be finished
        rotate(tmp_path, log, NOW)
    new = signing_key(tmp_path)
    log._key = new
    assert trust_in_force(tmp_path, log).keys[-1].keyid == key_id(new.public_key())
    rotate(tmp_path, log, NOW)
    assert [parse_leaf(text).kind for text in log.leaves()].count("rotate") == 2
    assert not [*(tmp_path / "keys").glob("next.*")]


_UNLINK = Path.unlink


def _broken_for_next(path: Path, missing_ok: bool = False) -> None:
    if path.name == "next.pub" and path.exists():
        raise OSError("power")
    _UNLINK(path, missing_ok)


def test_a_retirement_that_was_cut_off_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log has it and the trust file has not: what comes next takes it over from the log."""
    log, old, new = _after_rotation(tmp_path)
    log._key = new
    late = _answered(log, old)
    with monkeypatch.context() as patched:
        patched.setattr("certirag.auditing.rotation._write", _broken)
        with pytest.raises(OSError, match="power"):
            retire(tmp_path, log, key_id(old.public_key()), NOW, until=2, reason="stolen")
    open_export(late, trusted_keys(tmp_path))  # not yet
    ended = trust_in_force(tmp_path, log).keys[0]
    assert (ended.until_index, ended.reason) == (2, "retired")
    with pytest.raises(CertificateError, match="retired before"):
        open_export(late, trusted_keys(tmp_path))
    retire(tmp_path, log, key_id(old.public_key()), NOW, until=2, reason="stolen")
    assert [parse_leaf(text).kind for text in log.leaves()].count("retire") == 1
    assert trust_in_force(tmp_path, log).keys[0].reason == "stolen"


@pytest.mark.parametrize("version", [1, 2])
def test_an_older_trust_file_brings_no_key_back(version: int, tmp_path: Path) -> None:
    """The log remembers who took over and who was retired, whatever file is put back."""
    path = tmp_path / "keys" / "trust.json"
    old = signing_key(tmp_path)
    log = MemoryLog(old)
    trust_in_force(tmp_path, log)
    files = {1: path.read_bytes()}
    rotate(tmp_path, log, NOW)
    files[2] = path.read_bytes()
    log._key = signing_key(tmp_path)
    newest = retire(tmp_path, log, key_id(old.public_key()), NOW, until=None, reason="")
    late = _answered(log, old)
    path.write_bytes(files[version])
    report = _verified(log, trusted_keys(tmp_path))
    assert any("older one" in fault or "not trusted" in fault for fault in report.faults)
    mended = trust_in_force(tmp_path, log)
    ranges = [(one.keyid, one.from_index, one.until_index) for one in mended.keys]
    assert ranges == [(one.keyid, one.from_index, one.until_index) for one in newest.keys]
    with pytest.raises(CertificateError, match="retired before"):
        open_export(late, trusted_keys(tmp_path))
    assert key_that_may_sign(tmp_path)


def _verified(log: MemoryLog, keys: Mapping[str, Ed25519PublicKey]) -> LogReport:
    return verify_log(log.entries(), checkpoint=log.checkpoint(), keys=keys)


def test_a_key_that_lost_once_may_lose_more(tmp_path: Path) -> None:
    """Retired, and later found to be stolen earlier: two entries, and the log stays whole."""
    log, old, new = _after_rotation(tmp_path)
    log._key = new
    for _ in range(3):
        log.append(NewEntry("received", "0" * 32, NOW, b"{}", detail={"of": "question"}))
    for until in (4, 3, 2):
        retire(tmp_path, log, key_id(old.public_key()), NOW, until=until, reason="")
    assert _verified(log, trusted_keys(tmp_path)).faults == ()
    longer = {"key": key_id(old.public_key()), "until_index": 3}
    log.append(NewEntry("retire", "", NOW, detail=longer))
    (fault,) = _verified(log, trusted_keys(tmp_path)).faults
    assert "retires a key from entry 3 on" in fault


def test_nobody_rotates_beside_another(tmp_path: Path) -> None:
    """One program changes the keys at a time; the others are told to wait, and do nothing."""
    log, old, _ = _after_rotation(tmp_path)
    before = {path.name: path.read_bytes() for path in (tmp_path / "keys").iterdir()}
    with (tmp_path / "keys" / "keys.lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for act in (
            lambda: rotate(tmp_path, log, NOW),
            lambda: trust_in_force(tmp_path, log),
            lambda: retire(tmp_path, log, key_id(old.public_key()), NOW, until=1, reason=""),
        ):
            with pytest.raises(AuditError, match="wait until it is done"):
                act()
    assert {path.name: path.read_bytes() for path in (tmp_path / "keys").iterdir()} == before
    assert log.size() == 2


def test_a_key_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    """Neither the key that signs nor the root: a stranger in its place would be found too late."""
    log, _, _ = _after_rotation(tmp_path)
    for name in ("root", "signing"):
        (tmp_path / "keys" / f"{name}.key").unlink()
        with pytest.raises(AuditError, match="put it back"):
            rotate(tmp_path, log, NOW)
    assert log.size() == 2


def test_a_trust_file_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    """Without it every key would sign for everything again."""
    log, _, _ = _after_rotation(tmp_path)
    (tmp_path / "keys" / "trust.json").unlink()
    with pytest.raises(InputError, match="put it back"):
        trust_in_force(tmp_path, log)


def test_a_key_that_may_not_sign_is_refused(tmp_path: Path) -> None:
    """One that was retired, and one that the trust file does not know."""
    log, old, _ = _after_rotation(tmp_path)
    path = tmp_path / "keys" / "signing.key"
    retire(tmp_path, log, key_id(old.public_key()), NOW, until=None, reason="stolen")
    path.write_bytes(old.private_bytes_raw())
    with pytest.raises(AuditError, match=r"was retired \(stolen\)"):
        key_that_may_sign(tmp_path)
    path.write_bytes(b"s" * 32)
    with pytest.raises(AuditError, match="is not in"):
        key_that_may_sign(tmp_path)
    with pytest.raises(InputError, match="neither in"):
        trust_in_force(tmp_path, log)


def _broken(*_arguments: object) -> None:
    raise OSError("power")


_REPLACE = Path.replace


def _broken_for_keys(path: Path, target: Path) -> Path:
    if path.suffix == ".key":
        raise OSError("power")
    return _REPLACE(path, target)


def test_no_private_key_is_left_behind(tmp_path: Path) -> None:
    """The old private key is gone from the folder; the new one is for its owner only."""
    _, old, _ = _after_rotation(tmp_path)
    raw = old.private_bytes_raw()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(raw not in path.read_bytes() for path in files)
    private = [path for path in files if path.suffix == ".key"]
    assert {path.name for path in private} == {"signing.key", "root.key"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in private)


def test_only_what_is_there_can_be_retired(tmp_path: Path) -> None:
    """The key in use, an unknown key and a range that would grow are refused in one line."""
    log, old, new = _after_rotation(tmp_path)
    name = key_id(old.public_key())
    with pytest.raises(InputError, match="in use"):
        retire(tmp_path, log, key_id(new.public_key()), NOW, until=None, reason="")
    with pytest.raises(InputError, match="names 0 keys"):
        retire(tmp_path, log, "zz", NOW, until=None, reason="")
    with pytest.raises(InputError, match="names 0 keys"):
        retire(tmp_path, log, "", NOW, until=None, reason="")
    with pytest.raises(InputError, match="has the entries 0 to 1"):
        retire(tmp_path, log, name, NOW, until=3, reason="")
    with pytest.raises(InputError, match="one line"):
        retire(tmp_path, log, name, NOW, until=1, reason="a\nb")
    retire(tmp_path, log, name, NOW, until=1, reason="")
    with pytest.raises(InputError, match="only shrink"):
        retire(tmp_path, log, name, NOW, until=2, reason="")


TRUST = Trust(1, 3, "certirag.test/memory", (TrustedKey("", "", 0, None, ""),))


def _entry(key: Ed25519PublicKey) -> TrustedKey:
    return TrustedKey(key_id(key), raw_public_key(key).hex(), 0, None, "")


ENTRY = _entry(Ed25519PrivateKey.from_private_bytes(bytes(range(32))).public_key())
ROOT = Ed25519PrivateKey.from_private_bytes(b"r" * 32)


@pytest.mark.parametrize(
    "keys",
    [
        (replace(ENTRY, keyid="0" * 64),),
        (replace(ENTRY, public_key="zz"),),
        (replace(ENTRY, public_key=ENTRY.public_key.upper()),),
        (replace(ENTRY, public_key="01" + "00" * 31),),
        (ENTRY, ENTRY),
        (replace(ENTRY, from_index=-1),),
        (replace(ENTRY, until_index=-1),),
    ],
    ids=["misnamed", "not hex", "upper case", "small order", "twice", "from", "until"],
)
def test_a_trust_file_with_a_bad_key_is_refused(keys: tuple[TrustedKey, ...]) -> None:
    """Even under the root's signature."""
    with pytest.raises(CertificateError):
        open_trust(trust_bytes(replace(TRUST, keys=keys), ROOT), ROOT.public_key())


def test_a_trust_file_of_another_root_is_refused(tmp_path: Path) -> None:
    """Another root key's file, an answer's envelope in its place, and a changed byte: refused."""
    data = trust_bytes(replace(TRUST, keys=(ENTRY,)), ROOT)
    assert open_trust(data, ROOT.public_key()).version == 3
    with pytest.raises(CertificateError):
        open_trust(data, Ed25519PrivateKey.generate().public_key())
    other = json.loads(data)
    other["payloadType"] = "application/vnd.in-toto+json"
    with pytest.raises(CertificateError):
        open_trust(json.dumps(other).encode(), ROOT.public_key())
    signing_key(tmp_path)
    trust_in_force(tmp_path, MemoryLog(signing_key(tmp_path)))
    path = tmp_path / "keys" / "trust.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"trust\.json"):
        read_trust(tmp_path)
    with pytest.raises(InputError):
        trusted_keys(tmp_path)


@pytest.mark.parametrize("version", [True, 1.0, 2, "1"])
def test_a_trust_file_of_another_version_is_refused(version: object) -> None:
    """True and 1.0 are no version either."""
    value = {**asdict(replace(TRUST, keys=(ENTRY,))), "v": version}
    envelope = sign(json.dumps(value).encode(), ROOT, TRUST_TYPE)
    with pytest.raises(CertificateError):
        open_trust(json.dumps(envelope_json(envelope)).encode(), ROOT.public_key())


def test_a_trust_file_is_for_one_log(tmp_path: Path) -> None:
    """Keys of one log say nothing of another."""
    key = signing_key(tmp_path)
    trust_in_force(tmp_path, MemoryLog(key))
    other = MemoryLog(key, "certirag.test/other")
    with pytest.raises(CertificateError, match="is for the log"):
        open_export(_answered(other, key), trusted_keys(tmp_path))
    with pytest.raises(InputError, match="is for the log"):
        rotate(tmp_path, other, NOW)


def test_a_key_that_a_person_pinned_needs_no_range(tmp_path: Path) -> None:
    """Keys in keys/trusted/ open exports of other logs, and lend nothing to a retired key."""
    log, old, _ = _after_rotation(tmp_path)
    stranger = Ed25519PrivateKey.generate()
    folder = tmp_path / "keys" / "trusted"
    folder.mkdir()
    (folder / "them.pub").write_text(raw_public_key(stranger.public_key()).hex())
    open_export(_answered(MemoryLog(stranger, "them.test/log"), stranger), trusted_keys(tmp_path))
    late = _answered(log, old)
    retire(tmp_path, log, key_id(old.public_key()), NOW, until=2, reason="stolen")
    (folder / "old.pub").write_text(raw_public_key(old.public_key()).hex())
    with pytest.raises(CertificateError, match="retired"):
        open_export(late, trusted_keys(tmp_path))


def test_an_exposed_root_key_signs_nothing(tmp_path: Path) -> None:
    """The root key is guarded as the signing key is."""
    log, _, _ = _after_rotation(tmp_path)
    (tmp_path / "keys" / "root.key").chmod(0o644)
    with pytest.raises(AuditError, match="chmod 600"):
        rotate(tmp_path, log, NOW)
