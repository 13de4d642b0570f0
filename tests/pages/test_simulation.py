"""Other thresholds tried on an answer: counts and words, no badge, and nothing that lasts."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest
from builders import FACTS, Statement, answer_export, answer_record, hostile_record
from gate_cases import POLICY, TRUSTED, export
from page_stage import STATEMENTS, captions_of, html_of, ours_of
from test_ask import _asked

from certirag.auditing.replay import replay
from certirag.bootstrap import load_policy, policy_names
from certirag.core.generation import ModelIdentity
from certirag.core.policy import BASE_RULES, STRICT_RULES
from certirag.core.text import sha256_hex
from certirag.proof.certificate import open_export
from certirag.render.badge import _CONTRADICTED, _UNVERIFIED, _VERIFIED
from certirag.verification.measured import AtThreshold, Measurement, measurements_bytes
from ui.ask import ANSWER, CHECKED
from ui.contract_simulation import HIDDEN
from ui.contract_text import (
    MEASURED_HERE,
    NO_ANSWER_KEPT,
    NOT_MEASURED_HERE,
    NOT_PER_THRESHOLD,
    NOTHING_MEASURED,
    ONE_VARIED,
    PER_THRESHOLD,
    SIMULATION,
    SIMULATION_LOOSER,
)

LANGUAGE_KEYS = ("lang", "lang-named", "language")
ENTAIL, CONTRADICT = "simulated-entail-test-1", "simulated-contradict-test-1"


def _contract(open_page, kept: bytes = b"", key: str = ANSWER):
    at = open_page("contract")
    if kept:
        at.session_state[key] = kept
        at.run()
    assert not at.exception
    return at


def _simulated(at) -> list[tuple[str, str]]:
    """Return (now, simulated) of each claim, as the table says."""
    (table,) = (
        e.proto.body for e in at.get("html") if '<th scope="col">Simulated</th>' in e.proto.body
    )
    rows = table.split("<tr>")[2:]
    cells = [[c.split("</span>")[0].split(">")[-1] for c in row.split("<td ")[1:]] for row in rows]
    return [(now, then) for _, now, then, *_ in cells]


def test_without_an_answer_there_is_nothing_to_try(open_page) -> None:
    """It says what to do, and draws no slider."""
    at = _contract(open_page)
    assert NO_ANSWER_KEPT in [info.value for info in at.info]
    assert not at.slider


def test_at_the_thresholds_in_force_nothing_changes(open_page, stage) -> None:
    """The sliders begin where the policy is, and every claim would do what it does."""
    at = _contract(open_page, stage.export)
    assert (at.slider(key=ENTAIL).value, at.slider(key=CONTRADICT).value) == (0.85, 0.70)
    assert SIMULATION in captions_of(at)
    assert SIMULATION_LOOSER not in captions_of(at)
    fails = ("fails", "would fail")
    assert _simulated(at) == [("passes", "would pass"), fails, fails]


@pytest.mark.parametrize(
    ("key", "to", "outcomes", "looser"),
    [
        (ENTAIL, 0.99, ["would fail", "would fail", "would fail"], False),
        (CONTRADICT, 0.01, ["would fail", "would fail", "would fail"], False),
        (ENTAIL, 0.5, ["would pass", "would fail", "would fail"], True),
    ],
)
def test_the_sliders_replay_the_answer(open_page, stage, key, to, outcomes, looser) -> None:
    """What the replay says under those thresholds is what is shown; looser is called so."""
    at = _contract(open_page, stage.export)
    at.slider(key=key).set_value(to).run()
    assert not at.exception
    assert [then for _, then in _simulated(at)] == outcomes
    assert (SIMULATION_LOOSER in captions_of(at)) is looser
    field = "tau_entail" if key == ENTAIL else "tau_contradict"
    trial = replace(POLICY, name="x", **{field: to})
    expected = replay(open_export(stage.export, TRUSTED), trial).still_verified
    assert outcomes.count("would pass") == expected


def test_a_claim_that_would_pass_by_looser_thresholds_is_told_in_words(open_page) -> None:
    """Fails now and would pass: counted, named, and no badge anywhere."""
    of = answer_record([Statement(FACTS[0])])
    result = of.verification[0]
    scores = (replace(result.all_scores[0], entailed=0.7), *result.all_scores[1:])
    of = replace(of, verification=(replace(result, score=0.7, all_scores=scores),))
    at = _contract(open_page, export(of))
    assert _simulated(at) == [("fails", "would fail")]
    at.slider(key=ENTAIL).set_value(0.6).run()
    assert _simulated(at) == [("fails", "would pass")]
    assert SIMULATION_LOOSER in captions_of(at)


@pytest.mark.parametrize("to", [(0.5, 1.0), (0.85, 0.7), (1.0, 0.01)])
@pytest.mark.parametrize("made", ["plain", "hostile"])
def test_a_simulation_draws_no_badge(open_page, stage, made, to) -> None:
    """Not its word, icon or colours, whatever the thresholds and the texts are."""
    words, _ = ours_of(html_of(_contract(open_page)))
    at = _contract(open_page, stage.export if made == "plain" else export(hostile_record()))
    at.slider(key=ENTAIL).set_value(to[0])
    at.slider(key=CONTRADICT).set_value(to[1]).run()
    assert not at.exception
    html = html_of(at)
    said, classes = ours_of(html)
    assert "would fail" in html
    for badge in (_VERIFIED, _UNVERIFIED, _CONTRADICTED):
        assert badge.icon not in html
        assert said.count(badge.word) == words.count(badge.word) == 0
        assert not [name for name in classes if name.endswith(f"-{badge.kind}")]
    assert not [name for name in classes if name.startswith(("cr-rule--", "cr-status", "cr-mark"))]
    assert not [b for b in at.button if (b.key or "").startswith("chip-")]
    labels = [e.label for e in (*at.button, *at.slider, *at.expander)]
    assert not any(badge.word in label for badge in (_VERIFIED, _UNVERIFIED) for label in labels)


def test_the_trial_is_compared_with_the_policy_that_was_chosen(open_page, stage) -> None:
    """Under a stricter policy the sliders begin there, and its own loosening is called looser."""
    at = _contract(open_page, stage.export)
    at.selectbox(key="policy").set_value("strict-2").run()
    entail, contradict = at.slider
    assert (entail.value, contradict.value) == (0.95, 0.50)
    assert _simulated(at)[0] == ("passes", "would pass")
    entail.set_value(0.9).run()
    assert SIMULATION_LOOSER in captions_of(at)


def test_words_that_the_documents_contradict_stay_in_debug(open_page, stage) -> None:
    """The claim is counted and its text is not there, under any thresholds."""
    at = _contract(open_page, stage.export)
    for contradict in (0.7, 1.0):
        at.slider(key=CONTRADICT).set_value(contradict).run()
        html = html_of(at)
        assert HIDDEN in html
        assert "30 days" not in html


def test_a_simulation_keeps_nothing(open_page, stage) -> None:
    """Beside the sliders themselves the session is what it was, and nothing is asked or logged."""
    at = _contract(open_page, stage.export)
    at.slider(key=ENTAIL).set_value(0.5).run()
    kept = dict(at.session_state._state.filtered_state)
    assert kept.pop(ANSWER) == stage.export
    assert set(kept) <= {ENTAIL, CONTRADICT, "policy", *LANGUAGE_KEYS}
    assert {type(value) for value in kept.values()} <= {float, str}
    assert pickle.dumps(kept)
    assert stage.asked == []


def test_a_simulation_changes_nothing_that_ask_shows(open_page) -> None:
    """With the loosest thresholds left on the sliders, Ask draws the very same answer."""
    before = _asked(open_page)
    after = _asked(open_page)
    after.session_state[ENTAIL] = 0.5
    after.session_state[CONTRADICT] = 1.0
    after.run()
    assert html_of(after) == html_of(before)
    assert [b.label for b in after.button] == [b.label for b in before.button]
    contract = _contract(open_page, after.session_state[ANSWER])
    contract.slider(key=ENTAIL).set_value(0.5).run()
    assert contract.selectbox(key="policy").value == POLICY.name
    assert contract.session_state[ANSWER] == before.session_state[ANSWER]


def test_a_record_that_does_not_hold_is_not_simulated(open_page, stage) -> None:
    """One plain line, no count."""
    at = _contract(open_page, stage.export.replace(b"27 days", b"72 days", 1))
    html = html_of(at)
    assert html.count("cr-inert--error") == 1
    assert "Simulated" not in html
    assert "72 days" not in html


def test_two_kept_answers_are_chosen_between(open_page, stage) -> None:
    """The checked draft is tried when a reader picks it."""
    at = _contract(open_page, stage.export)
    at.session_state[CHECKED] = answer_export(STATEMENTS[:1])
    at.run()
    assert len(_simulated(at)) == 3
    at.segmented_control(key="simulated-answer").set_value("Check a draft").run()
    assert _simulated(at) == [("passes", "would pass")]


def test_the_policies_stand_side_by_side(open_page) -> None:
    """Each rule in one line, with the limit of each policy that ships."""
    html = html_of(_contract(open_page))
    (table,) = (t for t in html.split("<table>") if '<th scope="col">What it asks</th>' in t)
    for name in policy_names():
        assert f'<th scope="col">{name}</th>' in table
        assert f"{load_policy(name).tau_entail:.2f} or more" in table
        assert f"below {load_policy(name).tau_contradict:.2f}" in table
    assert table.count("<tr>") == len(BASE_RULES + STRICT_RULES) + 1
    assert table.count(">not asked<") == 2  # base-1 has neither strict rule
    assert "{" not in table


MEASUREMENT = Measurement(
    set_name="made drafts",
    description="Drafts.",
    verifier="0" * 64,
    policy=POLICY,
    badges=412,
    wrong=3,
)


@pytest.mark.parametrize("own", [True, False])
def test_figures_are_those_of_this_verifier_at_their_thresholds(
    open_page, monkeypatch, tmp_path, own
) -> None:
    """What was measured, where; of another verifier it is said which there are, and no number."""
    import ui.risk

    verifier = MEASUREMENT.verifier if own else sha256_hex("another")
    path = tmp_path / "measured.json"
    path.write_bytes(measurements_bytes([replace(MEASUREMENT, verifier=verifier)]))
    monkeypatch.setattr(ui.risk, "MEASURED", path)
    at = _contract(open_page)
    assert ("3 of 412 badges were wrong on made drafts" in html_of(at)) is own
    assert ("412" in html_of(at)) is own
    assert (NOT_PER_THRESHOLD in captions_of(at)) is own
    assert not at.get("plotly_chart")
    assert (NOTHING_MEASURED in captions_of(at)) is not own
    assert ("of another verifier, under test-1" in html_of(at)) is not own


AT = (
    AtThreshold(0.5, 500, 40, 300),
    AtThreshold(0.85, 412, 3, 280),
    AtThreshold(0.9, 300, 1, 200),
    AtThreshold(0.99, 0, 0, 0),
)
WHOLE = replace(MEASUREMENT, true_rows=320, thresholds=AT)
WORSE = replace(
    WHOLE,
    set_name="<b>pairs</b> ✅ Verified",
    description="<img src=x> of others.",
    wrong=30,
    thresholds=(AT[0], replace(AT[1], wrong=30), AT[3]),
)
HERE = "badges wrong (95 % interval up to"


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """Return a function that puts its measurements where they ship."""
    import ui.risk

    path = tmp_path / "measured.json"
    monkeypatch.setattr(ui.risk, "MEASURED", path)
    return lambda *those: path.write_bytes(measurements_bytes(those))


def _charts(at) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def test_each_set_is_drawn_by_threshold_the_worst_first(open_page, measured) -> None:
    """Wrong badges, their limit and coverage, the policy's threshold marked, and the same as a table."""
    measured(WHOLE, WORSE)
    at = _contract(open_page)
    assert PER_THRESHOLD in captions_of(at)
    html = html_of(at)
    assert html.index("&lt;b&gt;pairs") < html.index("Made drafts")
    worse, made = _charts(at)
    at_most, share, coverage = made["data"]
    assert share["x"] == [0.5, 0.85, 0.9, 0.99]
    assert share["y"] == [40 / 500, 3 / 412, 1 / 300, None]
    assert at_most["y"] == [one.upper for one in AT]
    assert coverage["y"] == [300 / 320, 280 / 320, 200 / 320, 0.0]
    for chart in (worse, made):
        assert {shape["x0"] for shape in chart["layout"]["shapes"]} == {0.85}
        assert len(chart["layout"]["shapes"]) == 2
    table = html.split("<table>")[-1]
    assert table.count("<tr>") == len(AT) + 1
    for text in ("0.85 (this policy)", ">412<", ">3<", "2.2 %", "280 of 320", "no badge"):
        assert text in table


def test_no_text_of_a_measurement_comes_near_a_chart(open_page, measured) -> None:
    """Plotly reads labels as HTML: they are ours, and the set's words are inert beside it."""
    measured(WORSE)
    at = _contract(open_page)
    (chart,) = _charts(at)
    assert "pairs" not in json.dumps(chart)
    assert "<img" not in html_of(at)
    said, classes = ours_of(html_of(at))
    assert _VERIFIED.word not in said
    assert not [name for name in classes if name.startswith(("cr-status", "cr-mark"))]


def test_the_charts_are_those_of_the_policy_that_was_chosen(open_page, measured) -> None:
    """Under a policy that was not measured by threshold there is none."""
    strict = load_policy("strict-2")
    measured(WHOLE, replace(MEASUREMENT, policy=strict, badges=9, wrong=1))
    at = _contract(open_page)
    assert len(_charts(at)) == 1
    at.selectbox(key="policy").set_value("strict-2").run()
    assert _charts(at) == []
    assert NOT_PER_THRESHOLD in captions_of(at)


@pytest.mark.parametrize("of", [replace(WHOLE, verifier="ab" * 32), None], ids=["another", "none"])
def test_what_was_not_measured_has_no_chart_and_no_figure(open_page, measured, of) -> None:
    """Of another verifier, or nothing at all: it says so, beside the slider too."""
    measured(*([of] if of else []))
    at = _contract(open_page, _answer_of(WHOLE.verifier))
    assert _charts(at) == []
    assert NOTHING_MEASURED in captions_of(at)
    assert NOT_MEASURED_HERE in captions_of(at)
    assert HERE not in html_of(at)


def _answer_of(verifier: str) -> bytes:
    of = answer_record(STATEMENTS)
    return export(replace(of, models=(ModelIdentity("verifier", "fake", "1", verifier),)))


def test_the_slider_says_what_was_measured_at_its_value(open_page, measured) -> None:
    """At a value of the grid the figures, between two of them which those are, and no figure."""
    measured(WHOLE, WORSE)
    at = _contract(open_page, _answer_of(WHOLE.verifier))
    html = html_of(at)
    assert MEASURED_HERE in captions_of(at)
    assert f"At 0.85, on made drafts: 3 of 412 {HERE} 2.2 %); 280 of 320 true" in html
    assert html.index(f"30 of 412 {HERE}") < html.index(f"3 of 412 {HERE}")
    at.slider(key=ENTAIL).set_value(0.9).run()
    assert f"At 0.90, on made drafts: 1 of 300 {HERE}" in html_of(at)
    assert html_of(at).count(HERE) == 1
    assert ": not measured." in html_of(at)
    at.slider(key=ENTAIL).set_value(0.87).run()
    assert "Not measured at 0.87; measured next to it: 0.85, 0.90." in html_of(at)
    assert HERE not in html_of(at)
    at.slider(key=ENTAIL).set_value(1.0).run()
    assert "Not measured at 1.00; measured next to it: 0.99." in html_of(at)


def test_with_another_threshold_of_contradiction_nothing_was_measured(open_page, measured) -> None:
    """The figures are of the policy's own; they come back with it."""
    measured(WHOLE)
    at = _contract(open_page, _answer_of(WHOLE.verifier))
    at.slider(key=CONTRADICT).set_value(0.6).run()
    assert ONE_VARIED in captions_of(at)
    assert HERE not in html_of(at)
    at.slider(key=CONTRADICT).set_value(0.7).run()
    assert HERE in html_of(at)


def test_an_answer_that_another_verifier_measured_has_no_figure(open_page, measured) -> None:
    """What was measured of the verifier here says nothing of a record's other one."""
    measured(WHOLE)
    at = _contract(open_page, _answer_of("cd" * 32))
    assert NOT_MEASURED_HERE in captions_of(at)
    assert HERE not in html_of(at)
    assert len(_charts(at)) == 1
