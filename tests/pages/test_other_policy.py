"""An answer beside what another policy would make of it: words from a replay, never a badge."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from builders import answer_export, hostile_record
from gate_cases import POLICY, export
from page_stage import STATEMENTS, captions_of, chips_of, html_of, ours_of
from test_ask import _asked

from certirag.core.policy import Policy
from ui.ask import ANSWER
from ui.compared_policies import CHOOSE, REPLAYED, UNSEEN
from ui.contract_text import SIMULATION_LOOSER

STRICTER = replace(POLICY, name="strict-2", tau_entail=0.99)


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch):
    """Return a function that puts a policy in the place of every one that ships."""
    import ui.compared_policies

    def put(policy: Policy) -> None:
        monkeypatch.setattr(ui.compared_policies, "load_policy", lambda _: policy)

    return put


def _table(at) -> tuple[str, list[list[str]]]:
    """Return the table's markup, and the words of each cell of its rows."""
    (body,) = (e.proto.body for e in at.get("html") if ">Because</th>" in e.proto.body)
    rows = [re.findall(r'dir="auto">(.*?)</span>', row, re.DOTALL) for row in body.split("<tr>")]
    return body, [row for row in rows if row]


def _chosen(open_page, mode: str = "strict", name: str = "strict-2"):
    at = _asked(open_page, mode=mode)
    at.selectbox(key="other-policy").set_value(name).run()
    assert not at.exception
    return at


def test_nothing_is_decided_until_a_policy_is_chosen(open_page) -> None:
    """The choice is offered without the policy in force, with what it is."""
    at = _asked(open_page)
    assert at.selectbox(key="other-policy").value == CHOOSE
    assert POLICY.name not in at.selectbox(key="other-policy").options
    assert REPLAYED in captions_of(at)
    assert "Because</th>" not in html_of(at)


@pytest.mark.parametrize("mode", ["strict", "mixed", "debug"])
def test_a_stricter_policy_is_told_beside_the_one_in_force(open_page, stage, other, mode) -> None:
    """Each claim under both; the page's own chips stay, and no badge stands in the table."""
    other(STRICTER)
    before = chips_of(_asked(open_page, mode=mode))
    at = _chosen(open_page, mode)
    body, rows = _table(at)
    assert [row[:3] for row in rows] == [
        ["1", "passes", "would fail"],
        ["2", "fails", "would fail"],
        ["3", "fails", "would fail"],
    ]
    said = rows[0][4] if mode == "debug" else rows[0][4].split(";")[0]
    assert "0.97" in said
    assert (STATEMENTS[2].text in body, UNSEEN in body) == (mode == "debug", mode != "debug")
    assert not re.search(r"[✅❌⚠]|cr-(mark|note|status)", body)
    assert "Refused: 0 would pass" in html_of(at)
    assert chips_of(at) == before
    assert len(stage.asked) == 2, "once for each page, and not for the comparison"
    assert SIMULATION_LOOSER not in captions_of(at)


def test_a_looser_policy_gives_nothing(open_page, stage, other) -> None:
    """What would pass is called so, as what no page shows."""
    strict = replace(POLICY, tau_entail=0.99)
    stage.export = answer_export(STATEMENTS, policy=strict)
    other(replace(POLICY, name="base-1"))
    at = _chosen(open_page, name="base-1")
    body, rows = _table(at)
    assert rows[0][:3] == ["1", "fails", "would pass"]
    assert SIMULATION_LOOSER in captions_of(at)
    assert "✅" not in body
    assert "✅ Verified" not in chips_of(at)


def test_the_comparison_leaves_the_answer_and_the_log_alone(open_page, stage, other) -> None:
    """What the session keeps is the record as it was signed."""
    other(STRICTER)
    at = _chosen(open_page)
    assert at.session_state[ANSWER] == stage.export
    assert at.session_state["own_answers"] == ("a" * 32,)


def test_hostile_claims_are_inert_beside_another_policy(open_page, stage, other) -> None:
    """Whatever the claims, titles and reasons hold, the table is our words and inert text."""
    other(STRICTER)
    stage.export = export(hostile_record())
    body, rows = _table(_chosen(open_page, "debug"))
    assert len(rows) == len(hostile_record().claim_ir.claims)
    text, classes = ours_of(body)
    assert classes == {"cr-table", "cr-inert"}
    assert "erified" not in text
