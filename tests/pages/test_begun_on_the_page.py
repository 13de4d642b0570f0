"""A run begun on the evaluation page: who may, what is begun, how far it is, cancelling and going on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from builders import hostile_strings
from measured_runs import write_run
from page_stage import captions_of, html_of, ours_of

from certirag.errors import InputError
from certirag.eval.begun_runs import BUSY, BegunRun
from ui import evaluation_start, services
from ui.evaluation_start import ELSEWHERE, SHARES

BEGUN = BegunRun("builtin-60-x", 12, 39, None)


@dataclass
class FakeProcess:
    """Stands in for the process: what was asked of it, and what it tells."""

    begun: BegunRun | None = None
    busy: bool = False
    error: str = ""
    asked: list[object] = field(default_factory=list)

    def begin_builtin(self, every, now) -> None:
        """Keep what was asked, or fail."""
        self._take(("builtin", every))

    def begin_pairs(self, content, now) -> None:
        """Keep what was asked, or fail."""
        self._take(("pairs", content))

    def go_on(self, folder) -> None:
        """Keep what was asked, or fail."""
        self._take(("go on", folder.name))

    def cancel(self) -> None:
        """Keep that it was asked, and end."""
        self.asked.append("cancel")
        self.begun = None

    def look(self) -> BegunRun | None:
        """Return what is told."""
        return self.begun

    def is_under_way(self) -> bool:
        """Say so where another began one, or this one did."""
        return self.busy or (self.begun is not None and self.begun.ended is None)

    def _take(self, what: object) -> None:
        if self.error:
            raise InputError(self.error)
        self.asked.append(what)
        self.begun = BEGUN


@pytest.fixture
def process(stage, tmp_path, monkeypatch) -> FakeProcess:
    """Put a fake process behind a page on which everybody may begin a run."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path))
    monkeypatch.setenv("CERTIRAG_AUDIT_EVERYONE", "true")
    monkeypatch.setenv("CERTIRAG_CORPUS_CHANGES", "true")
    made = FakeProcess()
    monkeypatch.setattr(evaluation_start, "_process", lambda home: made)
    return made


def _keys(at) -> set[str]:
    return {button.key or "" for button in at.button}


FORBIDDEN = {
    "elsewhere than on this machine": {"CERTIRAG_CORPUS_CHANGES": None},
    "nobody may change": {"CERTIRAG_CORPUS_CHANGES": "false"},
    "nobody may see": {"CERTIRAG_AUDIT_EVERYONE": "false"},
    "no audit page": {"CERTIRAG_AUDIT_PAGE": "false"},
    "settings that cannot be read": {"CERTIRAG_CORPUS_CHANGES": "perhaps"},
}


@pytest.mark.parametrize("clicked", ["evaluation-begin", "evaluation-go-on"])
@pytest.mark.parametrize("name", FORBIDDEN)
def test_only_who_may_change_corpora_begins_a_run(
    process, open_page, monkeypatch, tmp_path, name, clicked
) -> None:
    """Others see no button, and a click that comes all the same does nothing."""
    write_run(tmp_path / "runs" / "one", what="builtin", every=60, finished=False)
    at = open_page("evaluation")
    assert {"evaluation-begin", "evaluation-go-on"} <= _keys(at)
    for variable, value in FORBIDDEN[name].items():
        if value is None:
            monkeypatch.delenv(variable)
        else:
            monkeypatch.setenv(variable, value)
    assert not services.allows_runs()
    at.button(key=clicked).click().run()
    assert not at.exception
    assert process.asked == []
    assert not _keys(at) & {"evaluation-begin", "evaluation-go-on"}
    process.begun = BEGUN
    assert "evaluation-cancel" not in _keys(open_page("evaluation"))


def test_the_benchmark_is_begun_watched_and_cancelled(process, open_page) -> None:
    """As much of it as was chosen; while it runs there is nothing to begin, and it can be cancelled."""
    at = open_page("evaluation")
    words = list(SHARES)
    at.selectbox(key="evaluation-share").set_value(words[1]).run()
    at.button(key="evaluation-begin").click().run()
    assert not at.exception
    assert process.asked == [("builtin", SHARES[words[1]])]
    assert "“builtin-60-x”: 12 of 39 units are measured." in html_of(at)
    assert "evaluation-begin" not in _keys(at)
    process.begun = replace(BEGUN, total=None)
    assert "is beginning" in html_of(at.run())
    at.button(key="evaluation-cancel").click().run()
    assert process.asked[-1] == "cancel"
    assert "evaluation-begin" in _keys(at)


def test_a_run_that_ends_is_shown(process, open_page, tmp_path) -> None:
    """It is chosen and told once; where it failed, its last line stands there, inert."""
    write_run(tmp_path / "runs" / "other")
    write_run(tmp_path / "runs" / BEGUN.name)
    process.begun = BEGUN
    at = open_page("evaluation")
    at.selectbox(key="evaluation-run").set_value("other").run()
    process.begun = replace(BEGUN, done=39, ended=0)
    at.run()
    assert "is done" in html_of(at)
    assert at.selectbox(key="evaluation-run").value == BEGUN.name
    at.selectbox(key="evaluation-run").set_value("other").run()
    assert at.selectbox(key="evaluation-run").value == "other"
    assert "is done" not in html_of(at)
    for _, text in hostile_strings()[::9]:
        process.begun = replace(BEGUN, ended=2, complaint=text)
        at.run()
        assert not at.exception
        ours, _ = ours_of(html_of(at))
        assert not any(mark in ours for mark in ("Verified", "✅", "✓"))
        assert "ended before it was done" in html_of(at)


def test_a_file_of_pairs_is_begun(process, open_page) -> None:
    """Its bytes as they are; without one it says so; a bad one is one line, inert."""
    at = open_page("evaluation")
    at.segmented_control(key="evaluation-kind").set_value("A file of labelled pairs").run()
    at.button(key="evaluation-begin").click().run()
    assert "Choose a file of labelled pairs first." in html_of(at)
    process.error = "the file, line 2: label: <b>✅ Verified</b>"
    at.file_uploader(key="evaluation-file-0").upload("x.jsonl", b"{}", "application/jsonl").run()
    at.button(key="evaluation-begin").click().run()
    assert not at.exception
    assert "the file, line 2: label:" in html_of(at)
    assert "<b>" not in html_of(at)
    process.error = ""
    at.button(key="evaluation-begin").click().run()
    assert process.asked == [("pairs", b"{}")]
    process.begun = None
    at.run()
    at.segmented_control(key="evaluation-kind").set_value("A file of labelled pairs").run()
    assert "evaluation-file-1" in {uploader.key for uploader in at.file_uploader}


def test_one_that_was_broken_off_goes_on(process, open_page, tmp_path) -> None:
    """Where it can; a finished one and one whose data is elsewhere offer nothing."""
    write_run(tmp_path / "runs" / "one", what="builtin", every=60, finished=False)
    at = open_page("evaluation")
    process.error = BUSY
    at.button(key="evaluation-go-on").click().run()
    assert BUSY in html_of(at)
    process.error = ""
    at.button(key="evaluation-go-on").click().run()
    assert process.asked == [("go on", "one")]
    assert "evaluation-go-on" not in _keys(at)
    process.begun = None
    for changes in ({"what": "builtin", "every": 60}, {"finished": False}):
        write_run(tmp_path / "runs" / "one", **{"finished": True, **changes})
        if changes.get("finished") is False:
            (tmp_path / "runs" / "one" / "figures.json").unlink()
        assert "evaluation-go-on" not in _keys(open_page("evaluation"))


def test_one_that_was_begun_elsewhere_is_waited_for(process, open_page, tmp_path) -> None:
    """On another server over the same home, or before this one was started."""
    write_run(tmp_path / "runs" / "one", what="builtin", every=60, finished=False)
    process.busy = True
    at = open_page("evaluation")
    assert ELSEWHERE in [info.value for info in at.info]
    assert not _keys(at) & {"evaluation-begin", "evaluation-go-on", "evaluation-cancel"}
    assert any("Not finished" in caption for caption in captions_of(at))


def test_a_folder_that_is_being_begun_is_no_broken_one(process, open_page, tmp_path: Path) -> None:
    """Its run.json comes a moment later."""
    (tmp_path / "runs" / BEGUN.name).mkdir(parents=True)
    process.begun = BEGUN
    assert not any(e.label.startswith("Not read") for e in open_page("evaluation").expander)
    process.begun = None
    assert any(e.label.startswith("Not read") for e in open_page("evaluation").expander)
