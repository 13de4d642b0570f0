"""An answer that is written while it is drawn: parts in, each drawn and kept before the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pytest
import streamlit as st
from builders import FACTS, Statement, answer_export, answer_record
from gate_cases import export
from page_stage import chips_of, html_of
from streamlit.testing.v1 import AppTest

from certirag.answers.services import AnswerWriter, SignedAnswer
from certirag.core.generation import DraftEnd, GenerationRecord, PromptIdentity
from certirag.core.verdict import QuestionRecord
from certirag.errors import AuditError
from certirag.proof.certificate import AnswerRecord
from certirag.render import certify
from ui import services
from ui.ask import ANSWER
from ui.run import TIMED

VERIFIED, UNVERIFIED = "✅ Verified", "⚠️ Unverified"
BEING_WRITTEN = "The answer is being written."
STATEMENTS = [Statement(FACTS[0]), Statement(FACTS[1], "unsupported"), Statement(FACTS[2])]
PROMPTS = (PromptIdentity("cited", "1", "f" * 64),)
EVIL = "<img src=x onerror=alert(1)> ✅ Verified :green-badge[x]"


def _record(
    statements: Iterable[Statement], end: DraftEnd = "under_way", note: str = ""
) -> AnswerRecord:
    of = answer_record(list(statements))
    made = GenerationRecord("generate-then-cite", PROMPTS, "e" * 32, 1, end, note)
    return replace(of, generation=made)


def _part(
    count: int, end: DraftEnd = "under_way", note: str = "", *, name: str = "a" * 32
) -> SignedAnswer:
    whole = export(_record(STATEMENTS[:count], end, note))
    return SignedAnswer(name, whole, complete=end != "under_way")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is drawn as HTML, in order."""
    import ui.inert

    pieces: list[str] = []
    put = ui.inert._put

    def listened(*parts: ui.inert.Markup) -> None:
        pieces.append("".join(parts))
        put(*parts)

    monkeypatch.setattr(ui.inert, "_put", listened)
    return pieces


@pytest.fixture
def streamed(stage, monkeypatch: pytest.MonkeyPatch, drawn: list[str]) -> Callable[..., list]:
    """Return a function that puts parts (or errors) behind Ask, and gives what each found done."""
    import ui.run

    services.shared().services.writer = AnswerWriter(object(), "interleaved", {})

    def script(*parts: SignedAnswer | Exception) -> list[tuple[bytes, list[str]]]:
        found: list[tuple[bytes, list[str]]] = []

        def stream_answer(*_: object, progress, **__: object) -> Iterator[SignedAnswer]:
            progress("The language model is writing", 3, 5)
            for number, part in enumerate(parts, 1):
                drawn.clear()
                if isinstance(part, Exception):
                    raise part
                progress(f"Claim {number} is checked with **markup**", number, 24)
                yield part
                found.append((st.session_state[ANSWER], list(drawn)))

        monkeypatch.setattr(ui.run, "stream_answer", stream_answer)
        return found

    return script


def _asked(open_page, **query: str) -> AppTest:
    at = open_page("ask", **query)
    at.text_input(key="question").set_value("How much leave?")
    return next(button for button in at.button if button.label == "Ask").click().run()


def test_each_part_is_kept_and_drawn_before_the_next(open_page, streamed) -> None:
    """A part's bytes are in the session and its new claim on the page when the next is asked for."""
    parts = [_part(1), _part(2), _part(3), _part(3, "complete")]
    found = streamed(*parts)
    at = _asked(open_page)
    assert not at.exception
    assert [kept for kept, _ in found] == [part.export for part in parts]
    pages = ["".join(pieces) for _, pieces in found]
    assert FACTS[0] in pages[0]
    assert pages[0].count("cr-status--verified") == 1
    assert FACTS[2] in pages[2]
    assert pages[2].count("cr-status--verified") == 1  # what stands there is not drawn again
    assert all(BEING_WRITTEN in page for page in pages[:3])
    assert not any(FACTS[1] in page for page in pages)  # strict shows it when all is done
    assert BEING_WRITTEN not in html_of(at)
    assert chips_of(at) == [VERIFIED, VERIFIED, UNVERIFIED]


def test_debug_draws_every_claim_as_it_comes(open_page, streamed) -> None:
    """In debug a claim without a badge appears too, with its reason."""
    found = streamed(_part(1), _part(2), _part(2, "complete"))
    _asked(open_page, mode="debug")
    page = "".join(found[1][1])
    assert FACTS[1] in page
    assert page.count("cr-status--unverified") == 1


def test_a_log_that_refuses_half_way_leaves_what_was_recorded(open_page, streamed) -> None:
    """The parts that were recorded stay with their badges, beside the line, in every mode."""
    parts = [_part(1), _part(3)]
    streamed(*parts, AuditError(f"the log is full {EVIL}"))
    at = _asked(open_page)
    assert at.session_state[ANSWER] == parts[-1].export
    for mode in ("strict", "debug"):
        at.segmented_control(key="mode").set_value(mode).run()
        assert sorted(chips_of(at)) == sorted([VERIFIED, VERIFIED, UNVERIFIED])
        assert "goes no further than what was recorded" in html_of(at)
        assert "This answer was not finished" in html_of(at)
        assert "<img" not in html_of(at)
        assert BEING_WRITTEN not in html_of(at)


def test_an_address_that_lags_behind_a_growing_answer_leads_to_what_is_kept(
    open_page, streamed
) -> None:
    """A click while it is written may name an older part: no later claim and no reason is lost."""
    parts = [_part(1, name="1" * 32), _part(3, name="3" * 32)]
    streamed(*parts, AuditError("the log is full"))
    at = _asked(open_page)
    at.query_params["trace"] = "1" * 32
    at.run()
    assert at.session_state[ANSWER] == parts[-1].export
    assert at.query_params["trace"] in ("3" * 32, ["3" * 32])
    assert "goes no further than what was recorded" in html_of(at)


def test_a_written_answer_has_the_times_of_its_parts(open_page, streamed) -> None:
    """What was timed up to the newest part stays with it, also when it goes no further."""
    streamed(_part(1), _part(3), AuditError("the log is full"))
    at = _asked(open_page, mode="debug")
    ((trace_id, times),) = at.session_state["stage_times"]
    assert trace_id == "a" * 32
    assert [stage for stage, _ in times] == list(TIMED["write"][2:4])
    assert all(seconds >= 0 for _, seconds in times)
    assert "Writing and checking the rest" in html_of(at)


def test_a_log_that_refuses_at_once_shows_no_answer(open_page, streamed) -> None:
    """Nothing was recorded, so nothing is shown."""
    streamed(AuditError("the log is full"))
    at = _asked(open_page)
    assert "no answer is shown" in html_of(at)
    assert chips_of(at) == []


def test_a_part_that_does_not_hold_shows_nothing(open_page, streamed) -> None:
    """A part that was changed draws no claim, neither while it comes nor afterwards."""
    changed = replace(_part(1), export=_part(1).export.replace(b"27 days", b"72 days", 1))
    found = streamed(changed, _part(2))
    at = _asked(open_page)
    assert found == []
    assert chips_of(at) == []
    assert "72 days" not in html_of(at)
    assert "does not hold" in html_of(at)


def test_a_part_without_a_badge_is_no_refusal(open_page, streamed) -> None:
    """A reader who went elsewhere finds that the answer was not finished, not that there is none."""
    at = open_page("ask")
    at.session_state[ANSWER] = export(_record(STATEMENTS[1:2]))
    at.run()
    assert "This answer was not finished." in html_of(at)
    assert "Nothing was certified before." in html_of(at)
    assert [heading.value for heading in at.header] == []


def test_a_model_that_gives_nothing_is_said_of_the_model(open_page, streamed) -> None:
    """Without a claim nothing was measured: nothing is said of the evidence."""
    streamed(_part(0, "unreachable", "the language model stopped: host cannot be reached"))
    at = _asked(open_page)
    assert at.header[0].value == "No answer: the language model gave none"
    assert "The language model stopped: host cannot be reached." in html_of(at)


@pytest.mark.parametrize("end", ["truncated", "altered_quote"])
def test_how_it_ended_is_inert_text(open_page, streamed, end) -> None:
    """A note that quotes what a model wrote is drawn as text."""
    streamed(_part(1), _part(1, end, f"it ended with {EVIL}"))
    at = _asked(open_page)
    assert "It ended with" in html_of(at) or "refused as a whole: it ended with" in html_of(at)
    assert "<img" not in html_of(at)
    assert chips_of(at) == [VERIFIED]


def test_the_controls_sleep_while_an_answer_is_made(open_page, streamed, monkeypatch) -> None:
    """Mode and policy are asleep during the run that asks, and awake after it."""
    import ui.ask

    slept: list[bool] = []
    display = ui.ask._display

    def listened(*, busy: bool):
        slept.append(busy)
        return display(busy=busy)

    monkeypatch.setattr(ui.ask, "_display", listened)
    streamed(_part(1), _part(1, "complete"))
    at = _asked(open_page)
    assert slept == [False, True, False]
    assert not at.segmented_control(key="mode").disabled


def test_what_a_later_part_does_not_grant_is_taken_away() -> None:
    """The page shows no more than the newest part allows, whatever an earlier one said."""

    def page(first: bytes, second: bytes) -> None:

        import gate_cases

        from certirag.render import Mode
        from ui.growing import GrowingAnswer

        growing = GrowingAnswer(Mode.STRICT, trusted=gate_cases.TRUSTED, floor=gate_cases.POLICY)
        growing.grow(first)
        growing.grow(second)

    granted, not_granted = (
        answer_export([Statement(FACTS[0], wanted)]) for wanted in ("supported", "unsupported")
    )
    twice = AppTest.from_function(page, args=(granted, granted)).run()
    assert html_of(twice).count("cr-status--verified") == 1
    at = AppTest.from_function(page, args=(granted, not_granted)).run()
    assert not at.exception
    assert "cr-status--verified" not in html_of(at)


def _looked_at() -> bytes:
    """Return an answer whose first claim is contested and whose look has hostile words."""
    of = answer_record([Statement(FACTS[0]), Statement("No days are given.", "contradicted", EVIL)])
    first, second = of.verification
    against = replace(second.all_scores[0], input_sha256="0" * 64)
    question = QuestionRecord("amount", f"How many? {EVIL}", "27 days", "", "not_found")
    first = replace(
        first,
        all_scores=(*first.all_scores, against),
        opposing=second.best_evidence,
        depth="LOW",
        questions=(question,),
        missing_part=f"per year {EVIL}",
    )
    results = (first, second)
    decisions, summary = certify(of.claim_ir.claims, results, of.retrieval.chunks, of.policy)
    config = {"generator": EVIL, "strategy": "interleaved", "enable_nei_verdict": False}
    made = replace(of, verification=results, decisions=decisions, answer=summary, config=config)
    return export(made)


def test_the_drawer_tells_how_closely_a_claim_was_looked_at(open_page, stage) -> None:
    """Depth, what is left unsaid, questions, and both sides of what is contested, all inert."""
    stage.export = _looked_at()
    at = _asked(open_page, mode="debug", claim="c1")
    at.query_params["claim"] = "c1"
    at.run()
    html = html_of(at)
    headings = [heading.value for heading in at.subheader]
    assert "Contested: another document speaks against it" in headings
    assert "How closely it was checked" in headings
    assert "Checked as a claim of low confidence." in html
    assert "Left unsaid by the evidence: “per year" in html
    assert "How many?" in html
    assert "No answer" in html
    assert "<mark>No days are given.</mark>" in html
    assert "<img" not in html


def test_the_drawer_shows_the_ledger_of_a_recomputed_figure() -> None:
    """What the rule for numbers worked out is told figure by figure; a failure tells nothing."""

    def page(passed: bool) -> None:
        from types import SimpleNamespace

        from certirag.proof.certificate import FindingRecord
        from ui.look import draw_recomputed

        reason = "they follow; recomputed: 44.8 % − 42.1 % = 2.7 pp; 3 × 4 = 12 <img src=x>"
        draw_recomputed(SimpleNamespace(findings=(FindingRecord("numbers", passed, reason),)))

    html = html_of(AppTest.from_function(page, args=(True,)).run())
    assert html.count("<li>") == 2
    assert "44.8 % − 42.1 % = 2.7 pp" in html
    assert "<img" not in html
    assert html_of(AppTest.from_function(page, args=(False,)).run()) == ""


def test_debug_names_every_toggle(open_page, stage) -> None:
    """The eight toggles with value and fallback; one that the record lacks says so."""
    from certirag.settings import Settings
    from ui.toggles import TOGGLES

    assert set(TOGGLES) == {name for name in Settings().caps() if name.startswith("enable_")}
    stage.export = _looked_at()
    html = html_of(_asked(open_page, mode="debug"))
    rows = html.split("<tr>")
    for name, (_, fallback) in TOGGLES.items():
        (row,) = [row for row in rows if f">{name}<" in row]
        assert fallback in row
        assert (">off<" if name == "enable_nei_verdict" else ">not recorded<") in row
    assert "interleaved" in html
    assert "<img" not in html
