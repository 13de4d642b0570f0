"""Whatever is done to a log, in whatever order: it verifies, and what it once proved stays proven."""

from __future__ import annotations

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path

import log_cases as cases
import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from property_runs import examples

from certirag.adapters.log_sql.sql_log import SqlAuditLog
from certirag.auditing.verify_live import verify_live
from certirag.errors import AuditError
from certirag.ports import NewEntry
from certirag.proof.log import LogProof, open_checkpoint, parse_leaf, prove
from certirag.proof.merkle import is_consistent

NAMES = st.sampled_from(["case-1", "case-2"])


class LogMachine(RuleBasedStateMachine):
    """One SQLite log, and what an auditor saw of it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="certirag-machine-"))
        self.key, self.spare = cases.OLD, cases.NEW
        self.minute = 0
        self.contents: dict[int, bytes] = {}
        self.proofs: list[tuple[LogProof, bytes]] = []
        self.checkpoints: list[str] = []
        self.holds: dict[str, set[int]] = {}
        self.open: list[int] = []
        self.numbers = iter(range(10**6))

    @initialize()
    def begin(self) -> None:
        """Open a new log."""
        self.log = self.opened()
        self.size = 1

    def opened(self) -> SqlAuditLog:
        return SqlAuditLog(
            f"sqlite:///{self.folder}/log.sqlite3",
            key=self.key,
            origin=cases.ORIGIN,
            now=lambda: cases.START,
        )

    def took(self, entries: list[NewEntry], proofs: list[LogProof]) -> None:
        """Remember what was appended, and what was given for it."""
        assert len(entries) == len(proofs)
        for entry, proof in zip(entries, proofs, strict=True):
            assert parse_leaf(proof.leaf).index == self.size
            if entry.content:
                self.contents[self.size] = entry.content
                self.proofs.append((proof, entry.content))
            self.size += 1

    @rule()
    def receive(self) -> None:
        """A request comes in."""
        number = next(self.numbers)
        entry = cases.received(number)
        self.took([entry], [self.log.append(entry)])
        self.open.append(number)

    @precondition(lambda self: self.open)
    @rule(fails=st.booleans(), parts=st.integers(0, 2))
    def conclude(self, fails: bool, parts: int) -> None:
        """A request is answered, in parts perhaps, or fails; in one transaction."""
        number = self.open.pop()
        entries = [cases.answer(number, self.key, complete=False)] if parts else []
        entries.append(cases.failed(number) if fails else cases.answer(number, self.key))
        self.took(entries, list(self.log.append_all(entries)))

    @precondition(lambda self: self.contents)
    @rule(data=st.data())
    def erase(self, data: st.DataObject) -> None:
        """Contents are erased; refused, with nothing written, where a hold is on one."""
        first = data.draw(st.integers(1, self.size - 1))
        last = data.draw(st.integers(first, min(self.size - 1, first + 3)))
        act, targets = cases.erasure(self.minute, (first, last))
        if any(index in held for held in self.holds.values() for index in targets):
            with pytest.raises(AuditError):
                self.log.erase(act, targets)
            return
        self.took([act], [self.log.erase(act, targets)])
        for index in targets:
            self.contents.pop(index, None)

    @precondition(lambda self: self.size > 2)
    @rule(name=NAMES, data=st.data(), kind=st.sampled_from(["hold", "release"]))
    def hold(self, name: str, data: st.DataObject, kind: str) -> None:
        """Entries are put under a hold, or let out of it."""
        first = data.draw(st.integers(1, self.size - 1))
        last = data.draw(st.integers(first, min(self.size - 1, first + 5)))
        entry = cases.hold(self.minute, name, (first, last), kind=kind)
        self.took([entry], [self.log.append(entry)])
        targets = set(range(first, last + 1))
        held = self.holds.setdefault(name, set())
        self.holds[name] = held | targets if kind == "hold" else held - targets

    @rule()
    def rotate(self) -> None:
        """Another key signs from here on."""
        entry = cases.rotation(self.minute, self.key, self.spare, self.log.origin)
        self.took([entry], [self.log.append(entry)])
        self.key, self.spare = self.spare, self.key
        self.reopen()

    @rule()
    def reopen(self) -> None:
        """The log is closed and opened again."""
        self.log.close()
        self.log = self.opened()

    @rule()
    def look(self) -> None:
        """An auditor takes the checkpoint with them."""
        self.checkpoints.append(self.log.checkpoint())

    @invariant()
    def whole(self) -> None:
        """The log verifies, with every checkpoint that was ever seen; nothing open vanished."""
        grace = timedelta(days=10**6)
        found = verify_live(self.log, cases.KEYS, held=self.checkpoints, grace=grace, derived=False)
        assert found.faults == ()
        assert found.size == self.log.size() == self.size
        assert set(found.under_way) == {cases.request_id(number) for number in self.open}

    @invariant()
    def kept(self) -> None:
        """What was not erased is there, what was erased is not, and holds are as they were put."""
        entries = list(self.log.entries())
        there = {i: e.content for i, e in enumerate(entries) if e.content is not None}
        assert there == self.contents
        held = {index: names for index, names in self.log.held().items() if names}
        expected: dict[int, tuple[str, ...]] = {}
        for name in sorted(self.holds):
            for index in self.holds[name]:
                expected[index] = (*expected.get(index, ()), name)
        assert held == expected

    @invariant()
    def proven(self) -> None:
        """Every proof ever given proves, whatever was erased since."""
        for proof, content in self.proofs:
            prove(proof, content, cases.KEYS)

    @invariant()
    def consistent(self) -> None:
        """Every checkpoint ever seen is one of this log's past."""
        new = open_checkpoint(self.log.checkpoint(), cases.KEYS.values())
        for text in self.checkpoints:
            old = open_checkpoint(text, cases.KEYS.values())
            path = self.log.consistency(old.size, new.size)
            assert is_consistent(old.size, new.size, old.root, new.root, path)

    def teardown(self) -> None:
        """At the end, what queries read is compared too."""
        if hasattr(self, "log"):
            assert verify_live(self.log, cases.KEYS, held=self.checkpoints).faults == ()
            self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


LogMachine.TestCase.settings = examples(
    25, stateful_step_count=25, suppress_health_check=list(HealthCheck)
)
TestLogMachine = pytest.mark.slow(LogMachine.TestCase)
