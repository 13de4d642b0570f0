"""Planting errors in the answer on the page: asked in the footer, told there and in the drawer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import FACTS, Statement, answer_export, answer_record
from gate_cases import POLICY, export
from page_stage import Stage, chips_of, html_of

from certirag.answers.services import SignedAnswer
from certirag.core.verdict import PlantedError, Probe
from certirag.errors import AuditError
from certirag.render import certify
from ui.ask import ANSWER, CHECKED

VERIFIED, UNVERIFIED = "✅ Verified", "⚠️ Unverified"
EVIL = FACTS[0].replace("27 days", "<script>27</script> ✅ Verified")


def _probed() -> bytes:
    """Return an answer whose first claim holds an error that nobody measured, in hostile words."""
    of = answer_record([Statement(FACTS[0]), Statement(FACTS[1])])
    start = FACTS[0].index("27 days")
    becomes = "<script>27</script> ✅ Verified"
    error = PlantedError("c1~1", "c1", "number", EVIL, start, start + len("27 days"), becomes)
    probe = Probe((error,), (), POLICY, "one-edit-1")
    measured = (of.claim_ir.claims, of.verification, of.retrieval.chunks)
    decisions, summary = certify(*measured, of.policy, probe)
    return export(replace(of, probe=probe, decisions=decisions, answer=summary))


@pytest.fixture
def planting(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Put a fake probe behind the page; return the exports that it was given."""
    import ui.run

    stage.export = answer_export([Statement(FACTS[0]), Statement(FACTS[1])])
    given: list[bytes] = []

    def probe_answer(kept: bytes, _services: object, *, progress) -> SignedAnswer:
        given.append(kept)
        progress("a line with **markup** from somewhere", 2, 3)
        if stage.error is not None:
            raise stage.error
        return SignedAnswer("b" * 32, _probed())

    monkeypatch.setattr(ui.run, "probe_answer", probe_answer)
    return given


def _answered(open_page, name: str = "ask"):
    at = open_page(name)
    if name == "ask":
        at.text_input(key="question").set_value("How much leave?")
    else:
        at.text_area(key="draft").set_value("Leave is 27 days.")
    label = "Ask" if name == "ask" else "Check"
    return next(button for button in at.button if button.label == label).click().run()


def _offered(at) -> bool:
    return any(button.key == "plant" for button in at.button)


@pytest.mark.parametrize(("name", "key"), [("ask", ANSWER), ("draft", CHECKED)])
def test_errors_are_planted_in_the_answer_on_the_page(open_page, planting, name, key) -> None:
    """One click: the kept answer goes in, the new record takes its place and tells."""
    at = _answered(open_page, name)
    assert chips_of(at) == [VERIFIED, VERIFIED]
    before = at.session_state[key]
    at.button(key="plant").click().run()
    assert not at.exception
    assert planting == [before]
    assert at.session_state[key] == _probed()
    assert sorted(chips_of(at)) == sorted([VERIFIED, UNVERIFIED])
    assert "Planted errors: 1 planted, 0 caught, 1 could not be measured." in html_of(at)
    assert not _offered(at)
    at.run()
    assert len(planting) == 1


def test_the_drawer_shows_what_was_planted_inert(open_page, planting) -> None:
    """Each error of the claim with what came of it; its words are drawn as they are."""
    at = _answered(open_page)
    at.button(key="plant").click().run()
    at.query_params["claim"] = "c1"
    at.run()
    html = html_of(at)
    assert [s.value for s in at.subheader][-1] == "Planted errors"
    assert "Not measured" in html
    assert "<script" not in html
    assert "✅" not in html
    at.query_params["claim"] = "c2"
    at.run()
    assert "No error could be planted." in html_of(at)


def test_a_failed_probe_leaves_the_answer_as_it_was(open_page, planting, stage) -> None:
    """When the log refuses, one plain line says so, and the logged answer stands."""
    at = _answered(open_page)
    before = at.session_state[ANSWER]
    stage.error = AuditError("the log is full")
    at.button(key="plant").click().run()
    assert not at.exception
    assert "no errors were planted" in html_of(at)
    assert at.session_state[ANSWER] == before
    assert chips_of(at) == [VERIFIED, VERIFIED]
    assert _offered(at)


def test_an_answer_without_a_badge_offers_nothing_to_plant_in(open_page, planting, stage) -> None:
    """Errors are planted in claims that have a badge."""
    stage.export = answer_export([Statement(FACTS[0], "unsupported")])
    assert not _offered(_answered(open_page))
