"""Each way in which a log can be wrong is one fault that names its entry."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import log_cases as cases
import pytest
from memory_log import MemoryLog

from certirag.auditing.verify_live import verify_live
from certirag.auditing.verify_log import MAX_FAULTS, LogReport, verify_log
from certirag.bootstrap import open_log
from certirag.cli import log_commands
from certirag.cli.main import main
from certirag.errors import AuditError, InputError
from certirag.ports import LogEntry, NewEntry
from certirag.proof.envelope import key_id
from certirag.proof.trust import KeyRing, Trust, TrustedKey
from certirag.settings import read_settings

OLD, NEW, STRANGER = (key_id(k.public_key()) for k in (cases.OLD, cases.NEW, cases.STRANGER))


def filled(entries: list[NewEntry]) -> MemoryLog:
    """Return a log of *entries* behind a genesis and one answered request (entries 1 and 2)."""
    log = MemoryLog(cases.OLD)
    log.append_all([cases.received(1), cases.answer(1), *entries])
    return log


def report_of(log: MemoryLog, entries: list[LogEntry] | None = None, **options: Any) -> LogReport:
    """Verify *entries*, or those of *log*, under its newest checkpoint."""
    entries = list(log.entries()) if entries is None else entries
    given = {"checkpoint": log.checkpoint(), "keys": cases.KEYS, **options}
    return verify_log(entries, **given)


def act(kind: Any, **detail: Any) -> NewEntry:
    """Return an entry of *kind* that says *detail* and has no content."""
    return NewEntry(kind, "", cases.at(5), detail=detail)


def rotated(**changes: str) -> NewEntry:
    """Return a rotation from the old key to the new one with parts of it changed."""
    good = cases.rotation(5, cases.OLD, cases.NEW, "certirag.test/memory")
    return replace(good, detail={**good.detail, **changes})


# name → entries from number 3 on, words of the fault
ACTS: dict[str, tuple[list[NewEntry], str]] = {
    "a second genesis": ([act("genesis")], "entry 3 .*no other"),
    "an answer to nothing": ([act("answer", complete=True)], "entry 3 .*'request' is missing"),
    "a failure of nothing": ([act("failed", error="X")], "entry 3 .*'request' is missing"),
    "an answer without content": ([act("answer", request="r", complete=True)], "no content"),
    "a revocation of a request": ([act("revoke", target=1, reason="X")], "revokes 1"),
    "a revocation of what is not there": ([act("revoke", target=9, reason="X")], "revokes 9"),
    "a revocation of itself": ([act("revoke", target=3, reason="X")], "revokes 3"),
    "a revocation of true": ([act("revoke", target=True, reason="X")], "revokes True"),
    "a revocation without reason": ([act("revoke", target=2)], "'reason' is missing"),
    "an escalation of a request": ([act("escalate", target=1)], "escalates 1"),
    "an escalation of true": ([act("escalate", target=True)], "escalates True"),
    "a second escalation": ([act("escalate", target=2)] * 2, "entry 4 .*second time"),
    "an escalation without content": ([act("escalate", target=2)], "commits to no content"),
    "a review of what does not wait": ([act("review", target=2)], "decides on 2"),
    "a review of another answer": (
        [act("escalate", target=2), act("review", target=1)],
        "entry 4 .*decides on 1",
    ),
    "a second review": (
        [act("escalate", target=2), *[act("review", target=2)] * 2],
        "entry 5 .*second time",
    ),
    "a review that nobody signed": (
        [act("escalate", target=2), replace(act("review", target=2), content=b"{}")],
        "entry 4 .*not signed",
    ),
    "a review that its log's key signed": (
        [
            act("escalate", target=2),
            replace(act("review", target=2), content=b"{}", signature=(OLD, bytes(64))),
        ],
        "entry 4 .*no public key|entry 4 .*not a usable",
    ),
    "an erasure before its target": ([act("erase", targets=[[4, 4]])], "4-4 are not entries"),
    "an erasure of itself": ([act("erase", targets=[[3, 3]])], "3-3 are not entries"),
    "an erasure that runs backwards": ([act("erase", targets=[[2, 1]])], "2-1 are not entries"),
    "an erasure below zero": ([act("erase", targets=[[-1, 1]])], "-1-1 are not entries"),
    "an erasure of nothing named": ([act("erase")], "targets are missing"),
    "an erasure of no ranges": ([act("erase", targets=[2])], "no ranges"),
    "an erasure that left the content": ([act("erase", targets=[[1, 1]])], "1: it was erased"),
    "an archive of what is not there": ([act("archive", targets=[[7, 7]])], "7-7 are not"),
    "an erasure under a hold": (
        [act("hold", hold="h", targets=[[1, 2]]), act("erase", targets=[[2, 2]])],
        "entry 4 .*the hold 'h' keeps",
    ),
    "a rotation from a stranger": ([rotated(old=STRANGER)], "not the log's"),
    "a rotation to itself": ([rotated(new=OLD)], "not the log's"),
    "a rotation to a stranger": ([rotated(new=STRANGER)], "not trusted|does not hold"),
    "a rotation the old key did not sign": ([rotated(old_signature="00" * 64)], "old_signature"),
    "a rotation the new key did not sign": ([rotated(new_signature="00" * 64)], "new_signature"),
    "a rotation signed in no hex": ([rotated(new_signature="zz")], "new_signature"),
    "the last key is retired": ([act("retire", key=OLD, until_index=3)], "or the last one"),
    "a stranger is retired": ([act("retire", key=STRANGER, until_index=3)], "not in force"),
    "retired from an entry to come": (
        [rotated(), act("retire", key=OLD, until_index=9)],
        "from entry 9",
    ),
    "a retired key writes on": (
        [rotated(), act("retire", key=OLD, until_index=4), cases.received(3)],
        "entry 5 .*no rotation says so",
    ),
}


@pytest.mark.parametrize("name", ACTS)
def test_an_act_that_may_not_be(name: str) -> None:
    """The log signed it, and still it is a fault."""
    entries, words = ACTS[name]
    report = report_of(filled(entries))
    assert not report.intact
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(" | ".join(report.faults))


def entry_changed(index: int, **changes: Any) -> Callable[[list[LogEntry]], list[LogEntry]]:
    """Return what replaces parts of entry *index*."""
    return lambda e: [*e[:index], replace(e[index], **changes), *e[index + 1 :]]


# name → what is done to the entries 0 genesis, 1 request, 2 answer, 3 failure; words of the fault
CHANGES: dict[str, tuple[Callable[[list[LogEntry]], list[LogEntry]], str]] = {
    "no entries": (lambda e: [], "entry 0: the log is empty"),
    "cut off": (lambda e: e[:-1], "newest checkpoint speaks of 4 entries .* ends after 3"),
    "one more": (lambda e: [*e, e[-1]], "entry 4: it and all after it are beyond"),
    "one removed": (lambda e: [*e[:1], *e[2:]], "entry 1 .*its leaf is that of entry 2"),
    "two swapped": (lambda e: [e[0], e[2], e[1], e[3]], "entry 1 .*that of entry 2"),
    "a leaf that is none": (entry_changed(3, leaf="{}"), "entry 3: .*malformed"),
    "a leaf beyond ASCII": (entry_changed(3, leaf="\ud800"), "entry 3: .*ASCII"),
    "another content": (entry_changed(1, content=b"x"), "entry 1 .*not the one that was logged"),
    "another salt": (entry_changed(1, salt=bytes(32)), "entry 1 .*not the one that was logged"),
    "a short salt": (entry_changed(1, salt=b""), "entry 1 .*not the one that was logged"),
    "no salt": (entry_changed(1, salt=None), "entry 1 .*not the one that was logged"),
    "content gone": (entry_changed(1, content=None, salt=None), "entry 1: .*missing and no entry"),
    "content gone, salt left": (entry_changed(1, content=None), "entry 1 .*without the rest"),
    "content that was never": (entry_changed(3, content=b"x"), "entry 3 .*without the rest"),
    "a signature that was never": (
        entry_changed(1, signature=(OLD, bytes(64))),
        "entry 1 .*only answers and reviews are signed",
    ),
    "an answer unsigned": (entry_changed(2, signature=None), "entry 2 .*not signed"),
    "an answer signed by a stranger": (
        entry_changed(2, signature=(STRANGER, bytes(64))),
        "entry 2 .*not trusted",
    ),
    "an answer ill signed": (
        entry_changed(2, signature=(OLD, bytes(64))),
        "entry 2 .*does not match the signed bytes",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_named(name: str) -> None:
    """What was done to the entries behind the log's back is found, and where."""
    change, words = CHANGES[name]
    log = filled([cases.failed(9)])
    assert report_of(log).faults == ()
    report = report_of(log, change(list(log.entries())))
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(" | ".join(report.faults))


def test_an_honest_log_says_what_it_is() -> None:
    """Requests, vanished and under way, revocations and notes of a log without a fault."""
    log = filled(
        [
            cases.received(2),
            replace(cases.failed(3), at=cases.at(0)),
            cases.revocation(4, 2),
            cases.received(60),
        ]
    )
    report = report_of(log, held=[log.checkpoint()])
    assert report.faults == ()
    assert (report.size, report.held, report.erased) == (7, 1, 0)
    assert report.vanished == (cases.request_id(2),)
    assert report.under_way == (cases.request_id(60),)
    assert report.revoked == {2: "SOURCE_CHANGED"}
    assert [note for note in report.notes if "clock went back 1 times, first at entry 4" in note]
    within = report_of(log, grace=timedelta(hours=2))
    assert (within.vanished, len(within.under_way)) == ((), 2)
    last = report_of(log, grace=timedelta(0))  # the newest is never before itself
    assert last.under_way == (cases.request_id(60),)


def test_a_part_of_an_answer_is_no_answer() -> None:
    """Only a whole answer, or a failure, ends a request; an answer unasked for is noted."""
    log = MemoryLog(cases.OLD)
    log.append_all([cases.received(1), cases.answer(1, complete=False), cases.received(90)])
    assert report_of(log).vanished == (cases.request_id(1),)
    log.append_all([cases.answer(1), cases.answer(1)])
    report = report_of(log)
    assert report.vanished == ()
    assert any("1 answers follow no open request" in note for note in report.notes)


def test_held_checkpoints_tell_truncation_from_another_history() -> None:
    """A longer past means cut off, another root means a fork between two checkpoints."""
    log, other = filled([]), filled([cases.failed(8)])
    early = log.checkpoint()
    log.append(cases.failed(9))
    late = log.checkpoint()
    assert report_of(log, held=[early, late, early]).faults == ()
    (fork,) = report_of(other, held=[early, late]).faults
    assert "held checkpoint 2 of 4 entries" in fork
    assert "from 3 to 3" in fork
    (cut,) = report_of(filled([]), held=[late]).faults
    assert "held checkpoint 1 speaks of 4 entries" in cut
    foreign = MemoryLog(cases.OLD, "certirag.test/other").checkpoint()
    assert "certirag.test/other" in report_of(log, held=[foreign]).faults[0]
    assert "held checkpoint 1 does not hold" in report_of(log, held=["nonsense"]).faults[0]
    assert "newest checkpoint does not hold" in report_of(log, checkpoint=GARBAGE).faults[0]


GARBAGE = "a\nb\nc\n\nd\n"


def test_keys_are_good_for_their_entries_only() -> None:
    """Without the old key its entries are strangers'; under a trust file its range counts."""
    log = filled([])
    only_new = {NEW: cases.NEW.public_key()}
    assert any("not trusted" in fault for fault in report_of(log, keys=only_new).faults)
    public = cases.OLD.public_key().public_bytes_raw().hex()
    for until, intact in ((None, True), (3, True), (2, False), (1, False)):
        trust = Trust(1, 1, "certirag.test/memory", (TrustedKey(OLD, public, 0, until, ""),))
        assert report_of(log, keys=KeyRing(trust.ring(), trust)).intact is intact
    trust = Trust(1, 1, "certirag.test/other", (TrustedKey(OLD, public, 0, None, ""),))
    assert not report_of(log, keys=KeyRing(trust.ring(), trust)).intact


def test_faults_are_counted_beyond_the_first() -> None:
    """A log of rubbish gives a short report."""
    report = verify_log([LogEntry("rubbish")] * 100, checkpoint="", keys=cases.KEYS)
    assert len(report.faults) == MAX_FAULTS
    assert report.more_faults == 101 - MAX_FAULTS


def test_a_log_that_cannot_be_read_is_no_intact_log() -> None:
    """A log that raises is a fault, whatever raises."""

    class Broken(MemoryLog):
        def entries(self, start: int = 0, stop: int | None = None):
            raise AuditError("the disk is gone")

    report = verify_live(Broken(cases.OLD), cases.KEYS)
    assert report.faults == ("the log cannot be read: the disk is gone",)


def run(*arguments: str) -> int:
    """Run ``certirag audit …`` and return its exit code."""
    return main(["audit", *arguments])


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a home with a small log, and return it."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path))
    open_log(read_settings()).append_all([cases.received(1), cases.failed(1)])
    return tmp_path


def test_the_commands_keep_and_compare_checkpoints(log: Path, capsys) -> None:
    """Kept twice it stands once; compared it holds; a log begun anew does not hold against it."""
    kept = log / "kept.txt"
    assert run("checkpoint") == 0
    printed = capsys.readouterr().out
    for _ in range(2):
        assert run("checkpoint", "--out", str(kept)) == 0
    assert log_commands.read_checkpoints(kept) == [printed]
    capsys.readouterr()
    assert run("verify") == 0
    assert "cannot be known without" in capsys.readouterr().out
    assert run("verify", "--checkpoint", str(kept), "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["intact"], shown["size"], shown["held"], shown["faults"]) == (True, 3, 1, [])
    for path in log.glob("audit.sqlite3*"):
        path.unlink()
    for command in ("verify", "checkpoint"):  # none is made to be called intact
        assert run(command) == 2
        assert "there is no log" in capsys.readouterr().err
    open_log(read_settings())
    assert run("verify", "--checkpoint", str(kept)) == 4
    out = capsys.readouterr().out
    assert out.startswith("BROKEN")
    assert "held checkpoint 1" in out


def test_the_commands_refuse_what_cannot_be_used(log: Path, capsys) -> None:
    """Files that are no checkpoints, keys by halves, times that are none: exit code 2, one line."""
    junk = log / "junk.txt"
    junk.write_text("certirag.test/log\n3\n", "utf-8")
    for arguments in (
        ("--checkpoint", str(junk)),
        ("--checkpoint", str(log / "none.txt")),
        ("--trust", str(junk)),
        ("--trust", str(junk), "--root", str(junk)),
        ("--public-key", str(junk)),
        ("--grace", "nan"),
        ("--grace", "-1"),
    ):
        assert run("verify", *arguments) == 2, arguments
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
    with pytest.raises(InputError, match="no whole checkpoint"):
        log_commands.read_checkpoints(junk)


def test_another_public_key_does_not_verify(log: Path, capsys) -> None:
    """The log holds under its own key only."""
    key = log / "other.pub"
    key.write_text(cases.STRANGER.public_key().public_bytes_raw().hex(), "ascii")
    assert run("verify", "--public-key", str(key)) == 4
    assert run("verify", "--public-key", str(log / "keys" / "signing.pub")) == 0
    capsys.readouterr()
