"""Each claim's way to its document: in Debug, on the audit page when asked, hostile texts inert."""

from __future__ import annotations

import pytest
from builders import answer_export, hostile_record
from gate_cases import export
from page_stage import STATEMENTS, captions_of, html_of, ours_of
from test_audit import log  # noqa: F401  # a fixture

HEADING = "From claim to document"


def _asked(open_page, **query):
    at = open_page("ask", **query)
    at.text_input(key="question").set_value("How much leave?")
    at = next(button for button in at.button if button.label == "Ask").click().run()
    assert not at.exception
    return at


def _headings(at) -> list[str]:
    return [heading.value for heading in (*at.header, *at.subheader)]


def _opens(at) -> list[str]:
    return [b.label for b in at.button if b.label.startswith("Evidence of claim")]


@pytest.mark.parametrize("mode", ["strict", "mixed"])
def test_ways_are_drawn_in_debug_alone(open_page, mode) -> None:
    """An answer that is read has none, and no claim's text stands there a second time."""
    at = _asked(open_page, mode=mode)
    assert HEADING not in _headings(at)
    assert "cr-way" not in html_of(at)


def test_each_claim_has_its_way_and_its_stage(open_page) -> None:
    """One passed, one failed at verification, one contradicted; each opens the drawer."""
    at = _asked(open_page, mode="debug")
    html = html_of(at)
    assert HEADING in _headings(at)
    assert html.count('<ol class="cr-way">') == len(STATEMENTS)
    assert "Claim 1</span>" in html
    assert "Claim 2 failed at verification</span>" in html
    assert "Claim 3 failed at verification</span>" in html
    assert html.count("cr-step-here") == 2
    assert _opens(at) == [f"Evidence of claim {n}" for n in (1, 2, 3)]
    at.button(key="way-2-open").click().run()
    assert at.query_params["claim"] in ("c2", ["c2"])
    assert "Nearest evidence for it" in _headings(at)


def test_the_claims_of_one_stage_are_shown_alone(open_page) -> None:
    """The filter keeps what failed there; an empty stage says so."""
    at = _asked(open_page, mode="debug")
    at.segmented_control(key="failed-at").set_value("Verification").run()
    assert _opens(at) == ["Evidence of claim 2", "Evidence of claim 3"]
    at.segmented_control(key="failed-at").set_value("Retrieval").run()
    assert _opens(at) == []
    assert "No claim failed at this stage." in captions_of(at)


def test_no_stage_has_a_time(open_page) -> None:
    """The record holds none, so none is shown."""
    html = html_of(_asked(open_page, mode="debug"))
    assert " ms" not in html
    assert "seconds" not in html


def test_hostile_texts_stay_text_on_the_way(open_page, stage) -> None:
    """No tag, and no badge beyond the gate's chips; labels are ours whatever a claim says."""
    of = hostile_record()
    stage.export = export(of)
    at = _asked(open_page, mode="debug")
    ways = [e.proto.body for e in at.get("html") if 'class="cr-way"' in e.proto.body]
    assert len(ways) == len(of.claim_ir.claims)
    for way in ways:
        said, classes = ours_of(way)
        assert said.startswith("ClaimPassageDocument")
        assert "Verified" not in said
        assert classes <= {
            *("cr-way", "cr-stop", "cr-stop-name", "cr-odd"),
            *("cr-inert", "cr-inert--entry", "cr-inert--beside"),
        }
    assert _opens(at) == [f"Evidence of claim {n:d}" for n in range(1, len(ways) + 1)]


def test_the_audit_page_draws_ways_when_asked(log, open_page) -> None:  # noqa: F811  # the fixture
    """In any mode, of the claims that the mode draws; not before a reader asks for it."""
    at = open_page("audit", trace=f"{1:032x}")
    assert HEADING not in _headings(at)
    at.toggle(key="ways").set_value(True).run()
    assert not at.exception
    assert HEADING in _headings(at)
    assert "failed at verification" in html_of(at)


def test_contradicted_claims_stay_out_of_the_audit_page_s_ways(
    log,  # noqa: F811  # the fixture
    open_page,
    monkeypatch,
) -> None:
    """What a mode hides has no way there; Debug draws all of them and needs no toggle."""
    import ui.audit_opened

    monkeypatch.setattr(ui.audit_opened, "export_again", lambda *_: answer_export(STATEMENTS))
    at = open_page("audit", trace=f"{2:032x}")
    at.toggle(key="ways").set_value(True).run()
    assert _opens(at) == ["Evidence of claim 1", "Evidence of claim 2"]
    assert "30 days" not in html_of(at)
    at.segmented_control(key="mode").set_value("debug").run()
    assert len(_opens(at)) == len(STATEMENTS)
    assert "ways" not in [toggle.key for toggle in at.toggle]
