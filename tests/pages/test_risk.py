"""The drawer says how often badges were wrong where that was measured, and nothing elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from builders import FACTS, Statement, answer_export
from gate_cases import POLICY
from page_stage import captions_of, html_of

from certirag.core.text import sha256_hex
from certirag.verification.measured import Measurement, measurements_bytes

MEASUREMENT = Measurement(
    set_name="made drafts",
    description="Drafts with one planted error in every second claim.",
    verifier=sha256_hex("fake"),
    policy=POLICY,
    badges=412,
    wrong=3,
)
NONE = "No measurement exists for this verifier and policy."
HEADING = "How often such badges are wrong"


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[bytes], None]:
    """Return a function that puts its bytes where the measurements ship."""
    import ui.risk

    path = tmp_path / "measured.json"
    monkeypatch.setattr(ui.risk, "MEASURED", path)

    def put(data: bytes) -> None:
        path.write_bytes(data)

    return put


def _drawer(open_page, stage, claim="c1"):
    stage.export = answer_export([Statement(FACTS[0]), Statement(FACTS[1], "unsupported")])
    at = open_page("ask")
    at.text_input(key="question").set_value("How much leave?")
    next(button for button in at.button if button.label == "Ask").click().run()
    at.query_params["claim"] = claim
    at.run()
    assert not at.exception
    return at


def _claims_a_risk(at) -> bool:
    return "badges were" in html_of(at) or "interval" in html_of(at)


def test_the_measured_risk_is_said_with_its_limits(open_page, stage, measured) -> None:
    """Count, interval, set and whose documents it is not; nothing says that none was measured."""
    measured(measurements_bytes([MEASUREMENT]))
    at = _drawer(open_page, stage)
    html = html_of(at)
    assert HEADING in [heading.value for heading in at.subheader]
    assert "Under this policy 3 of 412 badges were wrong on made drafts" in html
    assert "(95 % interval: 0.1 % to 2.2 %). Not measured on your documents." in html
    assert "one planted error in every second claim" in html
    assert NONE not in captions_of(at)


def test_a_claim_without_a_badge_has_no_risk_of_one(open_page, stage, measured) -> None:
    """The figure is about badges, so it stands below a badge only."""
    measured(measurements_bytes([MEASUREMENT]))
    at = _drawer(open_page, stage, claim="c2")
    assert HEADING not in [heading.value for heading in at.subheader]
    assert not _claims_a_risk(at)


OTHERS = {
    "no file": None,
    "an empty list": measurements_bytes([]),
    "another verifier": measurements_bytes([replace(MEASUREMENT, verifier="ab" * 32)]),
    "another policy": measurements_bytes(
        [replace(MEASUREMENT, policy=replace(POLICY, tau_entail=0.9))]
    ),
    "not JSON": b"{",
    "one entry malformed": measurements_bytes([MEASUREMENT, MEASUREMENT]).replace(
        b'"wrong": 3', b'"wrong": -3', 1
    ),
    "hidden characters": measurements_bytes([MEASUREMENT]).replace(
        b"made drafts", "made \u202edrafts".encode()
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_no_figure_is_claimed_where_none_fits(open_page, stage, measured, name) -> None:
    """Missing, malformed, or of something else: it says that none exists, and no number."""
    data = OTHERS[name]
    if data is not None:
        measured(data)
    else:
        measured(b"x")
        import ui.risk

        ui.risk.MEASURED.unlink()
    at = _drawer(open_page, stage)
    assert NONE in captions_of(at)
    assert not _claims_a_risk(at)


def test_a_stricter_policy_loses_the_figure(open_page, stage, measured) -> None:
    """What was measured under one policy is not said of another one."""
    measured(measurements_bytes([MEASUREMENT]))
    at = _drawer(open_page, stage)
    assert _claims_a_risk(at)
    others = [name for name in at.selectbox(key="policy").options if name != POLICY.name]
    assert others
    for name in others:
        at.selectbox(key="policy").set_value(name).run()
        at.query_params["claim"] = "c1"
        at.run()
        assert not _claims_a_risk(at)


def test_markup_in_a_measurement_is_drawn_inert(open_page, stage, measured) -> None:
    """The file's words are text like any other."""
    hostile = replace(MEASUREMENT, set_name="<b>sets</b>", description="✅ <img src=x>")
    measured(measurements_bytes([hostile]))
    html = html_of(_drawer(open_page, stage))
    assert "<b>sets" not in html
    assert "<img" not in html
    assert "sets" in html
