"""The spot check: one claim at a time, blind, by keys, kept as it is said and gone on with."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from builders import hostile_strings
from page_stage import captions_of, html_of, ours_of
from spot_cases import GUIDE, SALE, claim, row, sample_folder, say
from streamlit.testing.v1 import AppTest

from certirag.eval.failure_kinds import KINDS
from certirag.eval.spot_items import SEALED, read_items
from certirag.render import inert_html


def _page() -> None:
    from ui.spot_check import draw_spot_check

    draw_spot_check()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home whose operator lets everybody see everybody's answers."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CERTIRAG_AUDIT_EVERYONE", "true")
    return tmp_path / "home"


@pytest.fixture
def sample(home: Path) -> Path:
    """Return a sample of four claims in that home."""
    return sample_folder(home / "spot-checks" / "first")


def _open(rater: str = "anna") -> AppTest:
    at = AppTest.from_function(_page, default_timeout=30).run()
    if rater:
        at.text_input(key="spot-rater").set_value(rater).run()
    assert not at.exception
    return at


def _press(at: AppTest, key: str) -> AppTest:
    """Press the one button that the key *key* triggers."""
    (found,) = [b for b in at.button if b.proto.shortcut.lower() == key and not b.disabled]
    found.click().run()
    assert not at.exception
    return at


def _lines(sample: Path, rater: str) -> list[dict]:
    text = (sample / "ratings" / f"{rater}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_who_may_not_see_everybody_sees_no_claim(sample, monkeypatch) -> None:
    """The function says so itself, whatever the page that calls it does."""
    monkeypatch.setenv("CERTIRAG_AUDIT_EVERYONE", "false")
    at = _open("")
    assert [info.value for info in at.info] == [
        "Spot checks show claims of every user's answers. Whoever operates this server can allow that."
    ]
    assert not at.text_input
    assert html_of(at) == ""


def test_what_is_no_longer_allowed_is_not_kept(sample, monkeypatch) -> None:
    """A button that was drawn before the operator took the permission back does nothing."""
    at = _open()
    monkeypatch.setenv("CERTIRAG_AUDIT_EVERYONE", "false")
    _press(at, "s")
    assert not (sample / "ratings" / "anna.jsonl").exists()


def test_without_a_sample_it_says_how_to_draw_one(home) -> None:
    """And what is no sample is not offered."""
    (home / "spot-checks" / "empty").mkdir(parents=True)
    at = _open("")
    assert "certirag eval sample" in at.info[0].value


def test_nothing_is_shown_before_there_is_a_name(sample) -> None:
    """Without one no rating could be kept."""
    assert SALE not in html_of(_open(""))
    at = _open("Anna Weber")
    assert "names no rater" in html_of(at)
    assert SALE not in html_of(at)


def test_a_rater_judges_one_claim_after_the_other(sample) -> None:
    """By keys alone; each is in the rater's own file before the next is drawn."""
    items = read_items(sample)
    at = _open()
    assert [head.value for head in at.subheader] == ["Claim 1 of 4"]
    for text in (items[0].claim, *items[0].evidence):
        assert inert_html(text) in html_of(at)
    _press(at, "s")
    assert [(one["item"], one["verdict"]) for one in _lines(sample, "anna")] == [
        (items[0].id, "supported")
    ]
    assert [head.value for head in at.subheader] == ["Claim 2 of 4"]
    _press(at, "t")
    _press(_press(_press(at, "n"), "6"), "n")
    assert [(one["verdict"], one["kind"]) for one in _lines(sample, "anna")] == [
        ("supported", ""),
        ("cannot_tell", ""),
        ("not_supported", "context_loss"),
    ]
    _press(at, "s")
    assert "You have judged all 4 claims" in at.info[0].value
    assert not any(one["consent"] for one in _lines(sample, "anna"))


def test_every_step_has_a_key_and_none_twice(sample) -> None:
    """No two buttons in sight answer to one key, and C and R are the browser's."""
    at = _open()
    for step in ("", "n"):
        keys = [b.proto.shortcut.lower() for b in (_press(at, step) if step else at).button]
        assert all(keys)
        assert len(keys) == len(set(keys))
        assert not {"c", "r"} & set(keys)


def test_a_rule_proposes_a_kind_and_the_rater_corrects_it(home) -> None:
    """Both are kept; nothing is proposed where the words tell nothing, and then nothing is recorded."""
    rows = (row(0, "x", "entailed", claim("The old mill of Corrant was sold in 1990.")),)
    folder = sample_folder(home / "spot-checks" / "drift", rows)
    at = _press(_open(), "n")
    marked = [b.label for b in at.button if b.proto.type == "primary"]
    assert [label.partition(":")[0] for label in marked] == ["Numeric drift"]
    _press(_press(at, "2"), "n")
    (kept,) = _lines(folder, "anna")
    assert (kept["suggested"], kept["kind"]) == ("numeric_drift", "contradicted")

    plain = (row(0, "x", "entailed", claim("The mill has a wheel.", against="")),)
    sample_folder(home / "spot-checks" / "plain", plain)
    at = _open("")
    at.selectbox(key="spot-sample").set_value("plain").run()
    at.text_input(key="spot-rater").set_value("anna").run()
    _press(at, "n")
    assert any("No rule proposes anything" in text for text in captions_of(at))
    assert [b.disabled for b in at.button if b.label == "Record it"] == [True]
    _press(at, "b")
    assert [b.label for b in at.button if b.proto.shortcut == "s"] == ["Supported"]


def test_a_reason_and_consent_stand_in_the_rating(sample) -> None:
    """The reason is of its claim alone, consent holds from when it is given."""
    first, second = read_items(sample)[:2]
    at = _open()
    at.text_input(key=f"spot-reason-{first.id}").set_value("Says it in  other words.").run()
    _press(at, "s")
    at.toggle(key="spot-consent").set_value(True).run()
    assert at.text_input(key=f"spot-reason-{second.id}").value == ""
    _press(at, "s")
    said = [(one["reason"], one["consent"]) for one in _lines(sample, "anna")]
    assert said == [("Says it in other words.", False), ("", True)]


def test_the_last_one_is_taken_back(sample) -> None:
    """It stays in the file with a line that withdraws it, and is judged again."""
    at = _open()
    assert [b.disabled for b in at.button if b.label == "Take the last one back"] == [True]
    _press(_press(_press(at, "s"), "s"), "u")
    assert [head.value for head in at.subheader] == ["Claim 2 of 4"]
    assert [one["withdrawn"] for one in _lines(sample, "anna")] == [False, False, True]
    _press(at, "t")
    assert [head.value for head in at.subheader] == ["Claim 3 of 4"]


def test_who_comes_back_goes_on_and_a_torn_line_is_cut(sample) -> None:
    """In another session, after a crash in the middle of a line."""
    items = read_items(sample)
    _press(_press(_open(), "s"), "s")
    path = sample / "ratings" / "anna.jsonl"
    path.write_bytes(path.read_bytes() + b'{"item": "003", "verd')
    at = _open()
    assert [head.value for head in at.subheader] == ["Claim 3 of 4"]
    _press(at, "s")
    assert [one["item"] for one in _lines(sample, "anna")] == [one.id for one in items[:3]]


def test_a_rater_sees_nothing_of_another(sample) -> None:
    """The page of the second is the same, letter for letter, whatever the first said."""
    before = html_of(_open("bo"))
    say(sample, "anna", {"001": "n", "002": "n"}, reason="The year is wrong.", kind="numeric_drift")
    at = _open("bo")
    assert html_of(at) == before
    assert [head.value for head in at.subheader] == ["Claim 1 of 4"]
    path = sample / "ratings" / "anna.jsonl"
    path.chmod(0)
    try:
        assert html_of(_open("bo")) == before
        _press(_open("bo"), "s")
    finally:
        path.chmod(0o600)
    assert len(_lines(sample, "bo")) == 1


def test_the_key_is_never_read(sample, monkeypatch) -> None:
    """The page is the same without it, and no file of it is opened."""
    opened: list[str] = []
    real = Path.read_bytes

    def seen(path: Path) -> bytes:
        opened.append(str(path))
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", seen)
    before = html_of(_open())
    assert any(path.endswith("items.jsonl") for path in opened)
    shutil.rmtree(sample / SEALED)
    at = _open()
    assert html_of(at) == before
    _press(_press(_press(at, "n"), "1"), "n")
    assert not [path for path in opened if SEALED in path]
    for hidden in ("secret", "0.98", "entailed", "Verified"):
        assert hidden not in html_of(at)


def test_items_that_were_changed_are_not_rated(sample) -> None:
    """Their digest is not the sample's."""
    path = sample / "items.jsonl"
    path.write_text(path.read_text("utf-8").replace("1987", "1986"), "utf-8")
    at = _open()
    assert "is not what was drawn" in html_of(at)
    assert not [b for b in at.button if b.proto.shortcut]


def test_what_cannot_be_written_is_said(sample) -> None:
    """The claim stays, and nothing counts as rated."""
    (sample / "ratings").rmdir()
    (sample / "ratings").write_text("in the way of the folder", "utf-8")
    at = _press(_open(), "s")
    assert "nothing was rated" in html_of(at)
    assert [head.value for head in at.subheader] == ["Claim 1 of 4"]


def test_a_full_disk_is_said(sample, monkeypatch) -> None:
    """The claim stays, and nothing counts as rated."""

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    at = _open()
    monkeypatch.setattr(os, "fsync", full)
    _press(at, "s")
    assert "No space left on device" in html_of(at)
    assert [head.value for head in at.subheader] == ["Claim 1 of 4"]
    assert _lines(sample, "anna") == []


@pytest.mark.parametrize(("_name", "text"), hostile_strings()[::7])
def test_hostile_texts_are_text(home, _name, text) -> None:
    """Claim, evidence and what speaks against it are drawn inert, in each step."""
    one = claim(f"1 {text}", evidence=(f"2 {text}", GUIDE), against=f"3 {text}")
    sample_folder(home / "spot-checks" / "hostile", (row(0, text[:40] or "x", "entailed", one),))
    at = _open()
    for step in ("", "n"):
        at = _press(at, step) if step else at
        for number in (1, 2, 3):
            assert inert_html(f"{number} {text}", max_lines=40) in html_of(at)
        said, _ = ours_of(html_of(at))
        assert "Verified" not in said
        labels = [b.label for b in at.button] + [h.value for h in at.subheader] + captions_of(at)
        assert not [label for label in labels if text.strip() and text in label]


def test_the_kinds_are_those_of_the_taxonomy(sample) -> None:
    """In its order, by numbers."""
    at = _press(_open(), "n")
    keys = [b.proto.shortcut for b in at.button if (b.key or "").startswith("spot-kind-")]
    assert keys == [str(n) for n in range(1, len(KINDS) + 1)]


def test_it_is_said_in_german(sample) -> None:
    """The claims stay as they are."""
    at = AppTest.from_function(_page, default_timeout=30)
    at.query_params["lang"] = "de"
    at.run()
    at.text_input(key="spot-rater").set_value("anna").run()
    assert [head.value for head in at.subheader] == ["Aussage 1 von 4"]
    assert inert_html(read_items(sample)[0].claim) in html_of(at)
