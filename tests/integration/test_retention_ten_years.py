"""Ten years of a log in simulated time: what is due is gone from every byte, all proofs hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from erasure_cases import Spoken, answered, markers_in
from gate_cases import KEY, TRUSTED

from certirag.adapters.log_sql.sql_log import SqlAuditLog
from certirag.auditing.legal_hold import erase_on_request, hold, release
from certirag.auditing.retain import Retention, retain
from certirag.auditing.verify_log import verify_log
from certirag.proof.log import LogProof, open_checkpoint, prove
from certirag.proof.merkle import is_consistent
from certirag.proof.retention import Authorisation
from certirag.proof.retention_files import known_policies, retention_in_force

BEGIN = datetime(2024, 2, 29, 9, tzinfo=UTC)
YEARS = 10
OWN = """
name = "research"
archive_after = "60 days"
delete_after = "1 year 6 months"
"""
OFFICER = {
    "financial_7yr": Authorisation("Ada Compliance", ""),
    "clinical_6yr": Authorisation("Per Privacy", "The period of the rule is over."),
}


@dataclass
class Years:
    """The log, what was written into it, and what a second, naive reckoning says must be gone."""

    home: Path
    logs: dict[str, SqlAuditLog]
    spoken: list[Spoken] = field(default_factory=list)
    proofs: list[tuple[LogProof, bytes]] = field(default_factory=list)
    checkpoints: list[str] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)

    @property
    def retention(self) -> Retention:
        log = next(iter(self.logs.values()))
        return Retention.at(self.home, log, known_policies(self.home))

    def write(self, now: datetime) -> None:
        for rule, log in self.logs.items():
            said = Spoken(rule, now, len(self.spoken))
            self.proofs += answered(log, said)
            self.spoken.append(said)
        self.checkpoints.append(log.checkpoint())

    def reckon(self, now: datetime, authorised: str) -> None:
        """Say by days alone what a run *now* must have erased."""
        for said in self.spoken:
            days = (now - said.at).days
            rule = said.rule.partition("-")[0]
            over = {
                "internal_faq": days >= 90,
                "financial_7yr": authorised == said.rule and days >= 7 * 365 + 2,
                "clinical_6yr": authorised == said.rule and days >= 6 * 365 + 2,
                "research": days >= 547 + 3,
            }[rule]
            if over and said.marker not in self.held:
                self.gone.add(said.marker)

    def check(self) -> tuple[int, int]:
        """Compare the reckoning with every byte of the home; return (gone, kept)."""
        found = markers_in(self.home)
        kept = {said.marker for said in self.spoken} - self.gone
        assert not found & self.gone
        assert kept <= found
        return len(self.gone), len(kept)

    def everything_holds(self, log: SqlAuditLog) -> None:
        """Check all proofs and checkpoints that were ever given out, and what is kept."""
        for proof, content in self.proofs:
            prove(proof, content, TRUSTED)
        newest = open_checkpoint(log.checkpoint(), [KEY.public_key()])
        assert newest.size == log.size()
        for text in self.checkpoints:
            old = open_checkpoint(text, [KEY.public_key()])
            path = log.consistency(old.size, newest.size)
            assert is_consistent(old.size, newest.size, old.root, newest.root, path)
        report = verify_log(
            log.entries(), checkpoint=log.checkpoint(), keys=TRUSTED, held=self.checkpoints
        )
        assert report.faults == ()
        kept = [said for said in self.spoken if said.marker not in self.gone]
        for said in kept:
            entry = log.find(said.trace_id)
            assert entry.content is not None
            assert said.marker.encode() in entry.content
            prove(log.proof(said.indexes[1]), entry.content, TRUSTED)
        for said in self.spoken:
            if said.marker in self.gone:
                assert log.find(said.trace_id).content is None
        rules = {
            rule
            for rule in self.logs
            if any(s.rule == rule and s.marker in self.gone for s in self.spoken)
        }
        assert rules == set(self.logs)  # each policy came to erase something


@pytest.fixture
def years(tmp_path: Path) -> Years:
    """One log, written under the three policies that ship and one of the user's own."""
    home = tmp_path / "home"
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    rules = ("internal_faq", "financial_7yr", "clinical_6yr")
    names = [*rules, retention_in_force(str(own), home).name]
    home.mkdir(exist_ok=True)
    url = f"sqlite:///{home / 'audit.sqlite3'}"
    logs = {name: SqlAuditLog(url, key=KEY, retention=name, now=lambda: BEGIN) for name in names}
    return Years(home, logs)


@pytest.mark.slow
def test_ten_years(years: Years) -> None:
    """An answer a month under each of four policies, a run a month, holds and requests."""
    first, points = years.logs["internal_faq"], []
    now, month = BEGIN, 0
    subject = ""
    while now < BEGIN + timedelta(days=int(365.25 * YEARS)):
        years.write(now)
        if month == 24:  # a lawsuit: the last answers of the short policy, two of a long one
            chosen = [s for s in years.spoken if s.rule == "internal_faq"][-3:]
            chosen += [s for s in years.spoken if s.rule == "clinical_6yr"][:2]
            indexes = sorted(index for said in chosen for index in said.indexes)
            hold(first, "lawsuit-7", indexes, now, "Lea Legal")
            years.held = {said.marker for said in chosen}
        if month == 100:
            release(first, "lawsuit-7", now, "Lea Legal")
            years.held = set()
        if month == 50:  # a person asks for erasure
            said = [s for s in years.spoken if s.rule.startswith("research")][-1]
            given = Authorisation("Dora Data", "Request 12 of a data subject.")
            subject = said.marker
            assert erase_on_request(years.retention, said.trace_id, given, now).entries == 2
            years.gone.add(subject)
        run = now + timedelta(days=5)
        authorised = ""
        if month % 12 == 11:
            authorised = ("financial_7yr", "clinical_6yr")[month // 12 % 2]
        retain(
            years.retention,
            run,
            authorisation=OFFICER.get(authorised, Authorisation()),
            rule=authorised,
        )
        years.reckon(run, authorised)
        if month % 12 == 0:
            points.append(years.check())
        now, month = now + timedelta(days=30, hours=10, minutes=30), month + 1
    points.append(years.check())
    again = retain(years.retention, now - timedelta(days=30))
    assert (again.acts, again.mended) == ([], 0)
    years.everything_holds(first)
    print(
        f"\n{first.size()} entries, {len(years.spoken)} answers over {YEARS} years: "
        f"{points[-1][0]} erased and in no byte, {points[-1][1]} kept, "
        f"{len(years.proofs)} proofs and {len(years.checkpoints)} checkpoints hold"
    )
