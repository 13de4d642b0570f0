"""The commands of retention as a person types them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from erasure_cases import Spoken, answered, markers_in

from certirag.adapters.log_sql.sql_log import SqlAuditLog
from certirag.bootstrap import open_log
from certirag.cli.arguments import command_line
from certirag.cli.main import command_of
from certirag.errors import CertiRAGError
from certirag.proof.keys import signing_key
from certirag.settings import Settings

NOW = datetime.now(UTC)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A home whose log has five answers: 100, 99, 40, 2 and 1 days old."""
    settings = Settings(home=tmp_path)
    begun = NOW - timedelta(days=101)
    url = f"sqlite:///{tmp_path / 'audit.sqlite3'}"
    log = SqlAuditLog(url, key=signing_key(tmp_path), now=lambda: begun)
    for number, days in enumerate((100, 99, 40, 2, 1)):
        answered(log, Spoken("x", NOW - timedelta(days=days), number))
    return settings


def typed(settings: Settings, *words: str) -> int:
    """Run one command as `certirag audit` would."""
    options = command_line().parse_args(["audit", *words])
    return command_of(options)(options, settings)


def test_retain(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """Dry, then done, then nothing is left to do."""
    assert typed(settings, "retain", "--dry-run") == 0
    oldest = (NOW - timedelta(days=100)).isoformat(timespec="milliseconds")
    assert f"internal_faq: to erase: 4, oldest {oldest}" in capsys.readouterr().out
    assert typed(settings, "retain") == 0
    out = capsys.readouterr().out
    assert "internal_faq: archived: 2" in out
    assert "internal_faq: erased: 4" in out
    assert "recorded in the log as entries 11, 12" in out
    assert typed(settings, "retain", "--json") == 0
    assert json.loads(capsys.readouterr().out)["acts"] == []
    assert len(markers_in(settings.home)) == 3
    assert typed(settings, "retain") == 0
    assert capsys.readouterr().out == "Nothing is due.\n"


def test_another_time_is_for_dry_runs_only(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """A date on the command line must not make anything old."""
    later = (NOW + timedelta(days=400)).isoformat()
    with pytest.raises(CertiRAGError, match="--dry-run"):
        typed(settings, "retain", "--now", later)
    with pytest.raises(CertiRAGError, match="give a time"):
        typed(settings, "retain", "--dry-run", "--now", "soon")
    assert typed(settings, "retain", "--dry-run", "--json", "--now", later) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["rules"]["internal_faq"]["erase"]["entries"] == 10
    assert len(markers_in(settings.home)) == 5


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["--trace", Spoken("x", NOW, 0).trace_id, Spoken("x", NOW, 1).trace_id], 4),
        (["--entries", "1-4"], 4),
        (["--until", (NOW - timedelta(days=98)).isoformat()], 4),
        (["--document", "leave", "--until", (NOW - timedelta(days=98)).isoformat()], 4),
        (["--about", Spoken("x", NOW, 0).marker, "--entries", "3", "4"], 4),
    ],
)
def test_hold_and_release(
    words: list[str], count: int, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is held stays, whichever way it was chosen, and goes after the release."""
    assert typed(settings, "hold", "lawsuit-7", *words, "--authoriser", "Lea Legal") == 0
    assert f"held under 'lawsuit-7': {count} entries" in capsys.readouterr().out
    typed(settings, "retain")
    assert "internal_faq: kept by a hold: 4" in capsys.readouterr().out
    assert len(markers_in(settings.home)) == 5
    trace = Spoken("x", NOW, 0).trace_id
    with pytest.raises(CertiRAGError, match="lawsuit-7"):
        typed(settings, "erase", trace, "--authoriser", "Ada", "--justification", "asked")
    assert typed(settings, "release", "lawsuit-7", "--json") == 0
    assert json.loads(capsys.readouterr().out)["entries"] == count
    typed(settings, "retain")
    assert len(markers_in(settings.home)) == 3


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["hold", "x"], "nothing to hold"),
        (["hold", "X y", "--entries", "1"], "names no hold"),
        (["hold", "x", "--entries", "1-"], "FIRST-LAST"),
        (["hold", "x", "--entries", "4-1"], "0 to 10"),
        (["hold", "x", "--entries", "0-99"], "0 to 10"),
        (["hold", "x", "--trace", "\x1b[31m"], "no answer or request"),
        (["hold", "x", "--since", "then"], "then"),
        (["release", "x"], "no hold"),
        (["erase", "f" * 32, "--authoriser", "A", "--justification", "b"], "no answer or request"),
        (["erase", Spoken("x", NOW, 0).trace_id], "--authoriser"),
        (["retain", "--authoriser", "a\nb"], "plain text"),
        (["retain", "--authoriser", "Ada", "--rule", "none"], "known here"),
    ],
)
def test_what_is_refused(words: list[str], why: str, settings: Settings) -> None:
    """One clear line, and nothing was logged."""
    before = open_log(settings).size()
    with pytest.raises(CertiRAGError, match=why) as caught:
        typed(settings, *words)
    assert caught.value.exit_code == 2
    assert open_log(settings).size() == before


def test_erase(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """A person's words go, at once; asked twice it says so."""
    said = Spoken("x", NOW, 4)
    words = ["erase", said.trace_id, "--authoriser", "Dora Data", "--justification", "request 12"]
    assert typed(settings, *words) == 0
    assert "erased: 2 entries" in capsys.readouterr().out
    assert said.marker not in markers_in(settings.home)
    assert typed(settings, *words) == 0
    assert "erased before" in capsys.readouterr().err
