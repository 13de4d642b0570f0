"""Erased means gone: whatever cuts a run off, no byte of any file of the home holds it after."""

from __future__ import annotations

import base64
import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from erasure_cases import Spoken, answered, markers_in
from gate_cases import KEY, TRUSTED

from certirag.adapters.log_sql.sql_log import SqlAuditLog
from certirag.auditing.archive_files import ArchiveFolder
from certirag.auditing.legal_hold import authorisation_of, erase_on_request, hold, release
from certirag.auditing.retain import Retention, retain
from certirag.auditing.verify_log import verify_log
from certirag.errors import AuditError, InputError
from certirag.proof.certificate import open_export
from certirag.proof.log import parse_leaf, parse_proof, prove
from certirag.proof.retention import Authorisation
from certirag.proof.retention_files import known_policies

T0 = datetime(2026, 1, 10, 12, tzinfo=UTC)
BY = Authorisation("Dora Data", "Request 12 of a data subject.")


def opened(home: Path, rule: str = "internal_faq") -> Retention:
    """Return the retention of a log in *home* that writes under *rule*."""
    home.mkdir(exist_ok=True)
    log = SqlAuditLog(f"sqlite:///{home / 'audit.sqlite3'}", key=KEY, retention=rule)
    return Retention.at(home, log, known_policies(home))


def spoken(of: Retention, count: int, *, rule: str = "x", hours: int = 1) -> list[Spoken]:
    """Log answers some hours apart and return what was said."""
    said = [Spoken(rule, T0 + timedelta(hours=hours * i), i) for i in range(count)]
    for one in said:
        answered(of.log, one)
    return said


def days(count: int) -> datetime:
    """Return a moment some days after the first answer."""
    return T0 + timedelta(days=count)


def archive(home: Path) -> list[Path]:
    """Return the files of the archive, hidden ones too, but for its lock."""
    return sorted(path for path in (home / "archive").iterdir() if path.name != ".lock")


@pytest.mark.parametrize(
    "form",
    [
        lambda m: m.encode(),
        lambda m: m.encode("utf-16-le"),
        lambda m: m.encode("utf-16-be"),
        lambda m: m.encode("utf-16"),
        lambda m: m.encode().hex().encode(),
        lambda m: m.encode().hex().upper().encode(),
        *(lambda m, n=n: base64.b64encode(b"x" * n + m.encode() + b"tail" * 9) for n in range(3)),
        lambda m: b"q" + base64.b64encode(b"x" + m.encode() + b"tail" * 9),
        lambda m: base64.urlsafe_b64encode(b"\xff\xfe\xfd" * 5 + m.encode() + b"tail" * 9),
    ],
)
@pytest.mark.parametrize("before", [b"", b"\0", b"abc", b'{"'])
def test_the_search_finds_what_is_there(form, before: bytes, tmp_path: Path) -> None:
    """The search that the other tests lean on sees every form, wherever it stands."""
    marker = Spoken("x", T0, 1).marker
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "f").write_bytes(before + form(marker) + b"\n")
    assert markers_in(tmp_path) == {marker}


def test_archived_lines_are_exports(tmp_path: Path) -> None:
    """Each archived answer is an export that verifies alone; a request carries its own proof."""
    of = opened(tmp_path)
    said = spoken(of, 3)
    report = retain(of, days(40))
    (file,) = archive(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    lines = file.read_bytes().split(b"\n")[:-1]
    records = [open_export(line, TRUSTED) for line in lines if b'"request"' not in line[:12]]
    assert [record.trace_id for record in records] == [one.trace_id for one in said]
    for line in lines[0::2]:
        value = json.loads(line)
        assert set(value) == {"request", "log"}
        content = base64.b64decode(value["request"])
        assert prove(parse_proof(value["log"]), content, TRUSTED).kind == "received"
    (act,) = report.acts
    (entry,) = of.log.entries(act, act + 1)
    leaf = parse_leaf(entry.leaf)
    assert (leaf.kind, leaf.detail["file"] + ".jsonl") == ("archive", file.name)
    assert leaf.detail["targets"] == [[1, 6]]
    again = retain(of, days(40))
    assert (again.acts, again.mended) == ([], 0)


def test_an_erasure_takes_lines_out_of_the_archive(tmp_path: Path) -> None:
    """The file is written again without them under another name, which the log tells."""
    of = opened(tmp_path)
    said = spoken(of, 3)
    retain(of, days(40))
    (old,) = archive(tmp_path)
    done = erase_on_request(of, said[1].trace_id, BY, days(41))
    assert done.entries == 2
    assert markers_in(tmp_path) == {said[0].marker, said[2].marker}
    (new,) = archive(tmp_path)
    assert new.name != old.name
    kinds = [parse_leaf(e.leaf) for e in of.log.entries(done.acts[0])]
    assert [leaf.kind for leaf in kinds] == ["erase", "archive"]
    assert kinds[0].detail["authoriser"] == BY.name
    assert kinds[1].detail["replaces"] + ".jsonl" == old.name
    assert kinds[1].detail["file"] + ".jsonl" == new.name
    assert erase_on_request(of, said[1].trace_id, BY, days(41)).entries == 0
    retain(of, days(91))
    assert archive(tmp_path) == []
    assert markers_in(tmp_path) == set()


def test_a_request_takes_all_that_came_of_it(tmp_path: Path) -> None:
    """The question, every part of the answer, and answers made from it; asked for by any of them."""
    of = opened(tmp_path)
    for number, ask in enumerate(("trace", "request", "made", "made_from_made")):
        base = number * 10
        said, made, more, other = (Spoken("x", T0, base + i) for i in range(4))
        answered(of.log, said, parts=3)
        answered(of.log, made, of="probe", about=said.trace_id)
        answered(of.log, more, of="prose", about=made.trace_id)
        answered(of.log, other)
        asked = {
            "trace": said.trace_id,
            "request": said.request,
            "made": made.trace_id,
            "made_from_made": more.trace_id,
        }[ask]
        assert erase_on_request(of, asked, BY, days(1)).entries == 4 + 2 + 2
        assert not markers_in(tmp_path) & {said.marker, made.marker, more.marker}
        assert other.marker in markers_in(tmp_path)


def test_what_an_erasure_is_refused_for(tmp_path: Path) -> None:
    """Nothing happens under a hold, before a minimum, without a name, for an unknown trace."""
    of = opened(tmp_path)
    (said,) = spoken(of, 1)
    size = of.log.size()
    for given in (Authorisation(), Authorisation("Ada"), Authorisation("", "why")):
        with pytest.raises(InputError, match="--authoriser"):
            erase_on_request(of, said.trace_id, given, days(1))
    with pytest.raises(InputError, match="no answer or request"):
        erase_on_request(of, "f" * 32, BY, days(1))
    assert of.log.size() == size
    hold(of.log, "lawsuit", said.indexes[:1], days(1))
    with pytest.raises(AuditError, match="lawsuit"):
        erase_on_request(of, said.trace_id, BY, days(1))
    assert retain(of, days(200)).rules["internal_faq"]["held"].entries == 1
    assert markers_in(tmp_path) == {said.marker}
    release(of.log, "lawsuit", days(201))
    with pytest.raises(InputError, match="no hold"):
        release(of.log, "lawsuit", days(201))
    erase_on_request(of, said.trace_id, BY, days(201))
    assert markers_in(tmp_path) == set()

    clinical = opened(tmp_path, "clinical_6yr")
    late = Spoken("clinical", days(300), 99)
    answered(clinical.log, late)
    with pytest.raises(InputError, match="must be kept until 2032-11-06"):
        erase_on_request(clinical, late.trace_id, BY, days(300 + 6 * 365))
    erase_on_request(clinical, late.trace_id, BY, days(300 + 6 * 365 + 2))


def test_an_authoriser_speaks_for_one_policy(tmp_path: Path) -> None:
    """With two policies waiting one must be named; a name alone is not enough where a reason is."""
    spoken(opened(tmp_path, "financial_7yr"), 1, rule="a")
    of = opened(tmp_path, "clinical_6yr")
    spoken(of, 1, rule="b")
    late = days(4000)
    waiting = retain(of, late, dry_run=True).rules
    assert [waiting[r]["waiting"].entries for r in ("financial_7yr", "clinical_6yr")] == [2, 2]
    with pytest.raises(InputError, match="--rule"):
        retain(of, late, authorisation=BY)
    with pytest.raises(InputError, match="justification"):
        retain(of, late, authorisation=Authorisation("Per Privacy"), rule="clinical_6yr")
    with pytest.raises(InputError, match="is known here"):
        retain(of, late, authorisation=BY, rule="no_such")
    retain(of, late, authorisation=Authorisation("Ada Compliance"), rule="financial_7yr")
    assert len(markers_in(tmp_path)) == 1
    retain(of, late, authorisation=Authorisation("Per Privacy", "over"))  # one is left to wait
    assert markers_in(tmp_path) == set()


def test_a_dry_run_touches_nothing(tmp_path: Path) -> None:
    """It says the same as a run would do, and leaves every byte as it was."""
    of = opened(tmp_path)
    spoken(of, 3)
    before = (of.log.checkpoint(), sorted(p.name for p in tmp_path.rglob("*")))
    told = retain(of, days(95), dry_run=True)
    assert (of.log.checkpoint(), sorted(p.name for p in tmp_path.rglob("*"))) == before
    assert told.rules == retain(of, days(95)).rules
    assert told.rules["internal_faq"]["erase"].oldest == T0.isoformat(timespec="milliseconds")


def test_small_windows_and_acts_do_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the log is cut into parts: the same goes, and a clock that fell back is noticed."""
    monkeypatch.setattr("certirag.auditing.retain._WINDOW", 1)
    monkeypatch.setattr("certirag.auditing.retain._BATCH", {"archive": 3, "erase": 5})
    monkeypatch.setattr("certirag.auditing.retain.SPANS_OF_AN_ACT", 2)
    home = tmp_path / "home"
    home.mkdir()
    url = f"sqlite:///{home / 'audit.sqlite3'}"
    logs = [
        SqlAuditLog(url, key=KEY, retention=rule, now=lambda: T0)
        for rule in ("internal_faq", "financial_7yr")
    ]
    of = Retention.at(home, logs[0], known_policies(home))
    said = [Spoken("x", T0 + timedelta(hours=i), i) for i in range(8)]
    for number, one in enumerate(said):
        answered(logs[number % 2], one)
    fell = Spoken("fell", datetime(1970, 1, 1, tzinfo=UTC), 0)
    answered(logs[0], fell)
    retain(of, T0 + timedelta(days=40))
    last = T0 + timedelta(days=90, hours=6)
    report = retain(of, last)
    assert markers_in(home) == {one.marker for one in (*said[1::2], fell)}
    assert report.rules["internal_faq"]["erase"].entries == 8
    for leaf in (parse_leaf(entry.leaf) for entry in of.log.entries(19)):
        assert len(leaf.detail["targets"]) <= 2
        assert sum(b - a + 1 for a, b in leaf.detail["targets"]) <= 5
    assert retain(of, last).acts == []


class Cut(Exception):
    """The power went off."""


@pytest.mark.parametrize("method", ["remove", "write_without", "sweep", "names", "write"])
@pytest.mark.parametrize("moment", range(3))
def test_a_run_that_is_cut_off_in_the_archive(
    method: str, moment: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off at any step of the archive, the next run finishes what was begun."""
    of = opened(tmp_path)
    said = spoken(of, 4)
    retain(of, days(40))
    real = getattr(ArchiveFolder, method)
    calls = []

    def cut(self, *args):  # the later the moment, the more is done before
        calls.append(1)
        if len(calls) > moment:
            raise Cut
        return real(self, *args)

    with monkeypatch.context() as broken:
        broken.setattr(ArchiveFolder, method, cut)
        try:
            erase_on_request(of, said[2].trace_id, BY, days(41))
            retain(of, days(90))
        except Cut:
            pass
    retain(of, days(90))  # when the first two answers are not due, by an hour
    erase_on_request(of, said[2].trace_id, BY, days(90))
    assert said[2].marker not in markers_in(tmp_path)
    assert {said[1].marker, said[3].marker} <= markers_in(tmp_path)
    assert len(archive(tmp_path)) == 1


def test_copies_that_no_act_tells_of_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off between a file and its act, or half-way through a file, the copies go too."""
    of = opened(tmp_path)
    spoken(of, 2)
    with monkeypatch.context() as broken:
        broken.setattr(
            "certirag.auditing.retain._log_archive", lambda *_: (_ for _ in ()).throw(Cut())
        )
        with pytest.raises(Cut):
            retain(of, days(40))
    assert len(archive(tmp_path)) <= 1
    (tmp_path / "archive" / ".123.tmp").write_text(Spoken("x", T0, 0).marker)
    retain(of, days(95))
    assert (archive(tmp_path), markers_in(tmp_path)) == ([], set())


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    """A file of another log, or of nobody, is named and not touched."""
    one, other = opened(tmp_path / "one"), opened(tmp_path / "other")
    spoken(one, 1)
    spoken(other, 1, rule="y")
    retain(one, days(40))
    retain(other, days(40))
    (file,) = archive(tmp_path / "other")
    strange = tmp_path / "one" / "archive" / file.name
    strange.write_bytes(file.read_bytes())
    report = retain(one, days(95))
    assert report.foreign == [file.stem]
    assert archive(tmp_path / "one") == [strange]
    strange.write_bytes(b"no JSON\n")
    with pytest.raises(AuditError, match="move the file"):
        retain(one, days(95))


def test_bytes_left_by_a_cut_off_erasure_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deleted in the database, cut off before its files were cleaned: the next run cleans them."""
    of = opened(tmp_path)
    said = spoken(of, 2)
    with monkeypatch.context() as broken:
        broken.setattr(SqlAuditLog, "scrub", lambda _self: (_ for _ in ()).throw(Cut()))
        with pytest.raises(Cut):
            erase_on_request(of, said[0].trace_id, BY, days(1))
        assert said[0].marker in markers_in(tmp_path)  # or this test shows nothing
    retain(of, days(1))
    assert markers_in(tmp_path) == {said[1].marker}


def test_two_runs_do_not_meet(tmp_path: Path) -> None:
    """The second says so in one line; so a copy is never taken for one that nobody logged."""
    of = opened(tmp_path)
    with of.archive.locked(), pytest.raises(AuditError, match="another retention run"):
        retain(of, days(1))


_RUN = """
import sys
from datetime import datetime
from pathlib import Path
from integration.test_erased_bytes import opened, retain
of = opened(Path(sys.argv[1]))
print("ready", flush=True)
retain(of, datetime.fromisoformat(sys.argv[2]))
"""


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """Killed (-9) in the middle of runs: the next whole run leaves nothing of what is due."""
    of = opened(tmp_path)
    said = spoken(of, 40, hours=24)
    rolls = random.Random(5)
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root}:{root / 'tests'}"}
    killed = 0
    for turn in range(12):
        now = days(60 + turn * 5) + timedelta(hours=1)
        command = [sys.executable, "-c", _RUN, str(tmp_path), now.isoformat()]
        run = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE)
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        time.sleep(rolls.random() * 0.2)
        if run.poll() is None:
            os.kill(run.pid, signal.SIGKILL)
            killed += 1
        run.communicate()
    assert killed
    end = days(120) + timedelta(hours=1)
    report = retain(of, end)
    assert markers_in(tmp_path) == {one.marker for one in said[31:]}
    assert retain(of, end).acts == []
    whole = verify_log(of.log.entries(), checkpoint=of.log.checkpoint(), keys=TRUSTED)
    assert whole.faults == ()
    print(f"\n{killed} of 12 runs killed; the last one mended {report.mended} files")


@pytest.mark.parametrize(
    ("name", "why"),
    [("a\nb", ""), ("x" * 81, ""), ("Ada", "y" * 501), ("Ada", "a\x1b[31m"), ("\u202eadA", "")],
)
def test_what_cannot_stand_in_the_log(name: str, why: str) -> None:
    """Names and reasons are plain text."""
    with pytest.raises(InputError, match="plain text"):
        authorisation_of(name, why)


@pytest.mark.parametrize("name", ["", "A", "a b", "../x", "x" * 65, "a\n"])
def test_a_hold_has_a_plain_name(name: str, tmp_path: Path) -> None:
    """Its name stands in the log for ever."""
    of = opened(tmp_path)
    with pytest.raises(InputError, match="names no hold"):
        hold(of.log, name, [0], T0)
