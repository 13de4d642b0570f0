"""Ask in its three modes, its drawer, and what it does when something does not hold."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from builders import FACTS, Statement, answer_export, answer_record
from gate_cases import POLICY, TRUSTED, export
from page_stage import STATEMENTS, captions_of, chips_of, corpus_index, html_of

from certirag.answers.services import AnswerWriter
from certirag.core.text import SpanRef, joined_evidence, pair_digest
from certirag.errors import AuditError, VerifierError
from certirag.proof.certificate import open_export
from certirag.render import Mode, footnotes_of, plain_report, present, sources_of
from certirag.settings import Settings
from ui import services
from ui.ask import ANSWER

VERIFIED, UNVERIFIED, CONTRADICTED = "✅ Verified", "⚠️ Unverified", "❌ Contradicted"


def _asked(open_page, **query):
    at = open_page("ask", **query)
    at.text_input(key="question").set_value("How much leave?")
    return _button(at, "Ask").click().run()


def _button(at, label):
    return next(button for button in at.button if button.label == label)


@pytest.mark.parametrize(
    ("mode", "chips", "expander"),
    [
        ("strict", [VERIFIED, UNVERIFIED], "What we could not verify (1)"),
        ("mixed", [VERIFIED, UNVERIFIED], "Claim 2: show it without enough evidence"),
        ("debug", [VERIFIED, UNVERIFIED, CONTRADICTED], "Scored pairs (4)"),
    ],
)
def test_each_mode_shows_its_claims(open_page, mode, chips, expander) -> None:
    """Strict and mixed fold the unverified and leave the contradicted out; debug shows all."""
    at = _asked(open_page, mode=mode)
    assert not at.exception
    assert chips_of(at) == chips
    assert expander in [e.label for e in at.expander]
    said = "1 contradicted, in Debug only." in captions_of(at)
    assert said is (mode != "debug")
    assert ("30 days" in html_of(at)) is (mode == "debug")


def test_strict_is_the_default_and_an_unknown_mode_is_dropped(open_page) -> None:
    """A mode from the URL that does not exist shows Strict."""
    assert CONTRADICTED not in chips_of(_asked(open_page, mode="evil"))


def test_an_answer_is_remembered_as_the_session_s_own(open_page) -> None:
    """The audit page shows a session no other answers; it is remembered once."""
    at = _asked(open_page)
    assert at.session_state["own_answers"] == ("a" * 32,)
    assert _button(at, "Ask").click().run().session_state["own_answers"] == ("a" * 32,)


def test_switching_the_mode_runs_the_pipeline_once(open_page, stage) -> None:
    """The kept export is drawn again; nothing is asked again."""
    at = _asked(open_page)
    before = at.session_state[ANSWER]
    for mode in ("mixed", "debug", "strict"):
        at.segmented_control(key="mode").set_value(mode).run()
    assert stage.asked == ["How much leave?"]
    assert at.session_state[ANSWER] == before


def test_the_session_keeps_bytes_and_words_only(open_page) -> None:
    """Nothing in the session is a decision: every value pickles, the answer is bytes."""
    at = _asked(open_page, mode="debug")
    assert isinstance(at.session_state[ANSWER], bytes)
    kept = at.session_state._state.filtered_state
    assert ANSWER in kept
    assert pickle.dumps(dict(kept))
    assert {type(value) for value in kept.values()} <= {bytes, str, bool, tuple, list}


def test_a_record_that_does_not_hold_shows_one_line(open_page, stage) -> None:
    """One changed byte: no chip, no download, no claim; one plain line."""
    stage.export = stage.export.replace(b"27 days", b"72 days", 1)
    at = _asked(open_page)
    assert chips_of(at) == []
    assert not at.get("download_button")
    assert html_of(at).count("cr-inert--error") == 1
    assert "does not hold" in html_of(at)
    assert "72 days" not in html_of(at)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (AuditError("the log is full"), "no answer is shown"),
        (VerifierError("the model <b>broke</b>"), "the model &lt;b&gt;broke&lt;/b&gt;"),
    ],
)
def test_errors_are_one_plain_line(open_page, stage, error, said) -> None:
    """A failing log or part shows no answer and no traceback, its text inert."""
    stage.error = error
    at = _asked(open_page)
    assert not at.exception
    assert said in html_of(at)
    assert chips_of(at) == []
    assert not at.session_state[ANSWER]


def test_a_failed_question_leaves_no_older_answer(open_page, stage) -> None:
    """After an error the answer to the previous question is gone."""
    at = _asked(open_page)
    stage.error = AuditError("the log is full")
    _button(at, "Ask").click().run()
    assert chips_of(at) == []


@pytest.mark.parametrize(
    ("claim", "opened"), [("c2", True), ("c3", False), ("zzz", False), ("<b>", False)]
)
def test_a_deep_link_opens_only_a_claim_on_the_page(open_page, claim, opened) -> None:
    """`?claim=` opens the drawer of a drawn claim; hidden or unknown ids do nothing."""
    at = _asked(open_page)
    at.query_params["claim"] = claim
    at.run()
    assert ("Quoted from" in html_of(at)) is opened


def test_a_chip_opens_its_drawer(open_page) -> None:
    """The drawer shows quote, highlight, place, threshold, and the failed rules first."""
    at = _asked(open_page, mode="debug")
    at.button(key="chip-contradicted-3").click().run()
    html = html_of(at)
    assert at.query_params["claim"] == "c3"
    assert "Quoted from" in html
    assert "<mark>Full-time employees receive 30 days of leave.</mark>" in html
    for fact in ("Page 3", "Retrieval rank 3", "Chunk doc3#c1", "threshold 0.85", "Old policy"):
        assert fact in html
    assert html.index("cr-rule--fail") < html.index("cr-rule--pass")


def test_a_stricter_policy_takes_badges_and_asks_nothing(open_page, stage) -> None:
    """Tightening the policy of a drawn answer only removes badges, without a new run."""
    stage.export = answer_export([Statement(FACTS[0])])
    at = _asked(open_page)
    assert chips_of(at) == [VERIFIED]
    options = at.selectbox(key="policy").options
    assert options[0] == "test-1"
    assert "base-1" not in options
    for option in options:
        at.selectbox(key="policy").set_value(option).run()
        assert set(chips_of(at)) <= {VERIFIED, UNVERIFIED}
    assert len(stage.asked) == 1


def test_a_sample_question_is_one_click(open_page, stage) -> None:
    """A sample's button asks it at once."""
    at = open_page("ask")
    at.button(key="try-policy-0").click().run()
    assert stage.asked == ["How many days of annual leave do full-time employees receive?"]
    assert VERIFIED in chips_of(at)


def test_a_refusal_says_so_first(open_page, stage) -> None:
    """Without a single badge the page opens with the refusal, its reason and what may help."""
    stage.export = answer_export(STATEMENTS[1:2])
    at = _asked(open_page)
    assert at.header[0].value == "No answer: the evidence does not support one"
    html = html_of(at)
    assert "not hold enough evidence" in html
    assert "Travel handbook" in html
    assert "Not enough: it supports a statement here with 0.31; 0.85 is needed." in html


def test_every_answer_can_be_downloaded(open_page, stage) -> None:
    """For reading in three formats, and as the audit JSON."""
    at = _asked(open_page)
    labels = [button.label for button in at.get("download_button")]
    assert labels == ["Markdown", "Word", "PDF", "Download audit JSON"]


@pytest.mark.parametrize("mode", list(Mode))
def test_the_page_has_the_numbers_of_the_report(open_page, stage, mode) -> None:
    """Beside the place of each claim stand those of its sources; the text to copy has the same."""
    stage.export = answer_export([*STATEMENTS, Statement(FACTS[2], "supported", "Desk rules")])
    at = _asked(open_page, mode=mode.value)
    seen = present(stage.export, mode, trusted=TRUSTED, floor=POLICY)
    sources = sources_of(seen)
    drawn = re.findall(r'cr-place">(.*?)</div>', html_of(at))
    marks = [re.findall(r'cr-number" title="Source (\d+)">\1<', place) for place in drawn]
    assert marks == [["1"], ["2"]]
    for place, source in zip(drawn, sources, strict=True):
        assert f"{source.title}<" in place
        assert f"page {source.page}" in place
    assert [code.value for code in at.code] == [plain_report(footnotes_of(seen))]


def test_two_sources_in_one_place_stand_on_one_line(open_page, stage) -> None:
    """One place, two numbers."""
    of = answer_record([Statement(FACTS[0])])
    first = of.retrieval.chunks[0]
    result = of.verification[0]
    both = tuple(SpanRef(first.chunk_id, span.span_id) for span in first.spans)
    text = joined_evidence([span.sentence for span in first.spans])
    claim = of.claim_ir.claims[0]
    given = pair_digest(claim.text, text, first.context)
    measured = replace(result, best_evidence=both, set_input_sha256=given)
    stage.export = export(replace(of, verification=(measured,)))
    html = html_of(_asked(open_page))
    assert html.count("cr-place") == 1
    assert re.findall(r'title="Source (\d)">\1<', html) == ["1", "2"]


def test_without_the_package_the_page_says_what_to_do(open_page, monkeypatch) -> None:
    """A line in place of the button; the other formats stay."""
    monkeypatch.setattr("certirag.auditing.report_files.find_spec", lambda name: None)
    at = _asked(open_page)
    labels = [button.label for button in at.get("download_button")]
    assert labels == ["Markdown", "Word", "Download audit JSON"]
    assert "pdf needs reportlab: pip install" in html_of(at)


def test_a_refusal_can_be_taken_along_too(open_page, stage) -> None:
    """Its text to copy has no mark and no source."""
    stage.export = answer_export([Statement(FACTS[1], "unsupported")])
    at = _asked(open_page)
    assert len(at.get("download_button")) == 4
    assert "No claim here stands on a source." in at.code[0].value
    assert "cr-number" not in html_of(at)


def test_no_corpus_is_said_with_the_mend(open_page, stage, monkeypatch) -> None:
    """Without a corpus the page says how to get one."""
    from ui import services

    monkeypatch.setattr(services, "corpus_names", tuple)
    at = open_page("ask")
    assert "certirag ingest" in at.info[0].value
    assert not at.exception


def test_two_claims_of_one_id_are_both_drawn_without_a_badge(open_page, stage) -> None:
    """A record whose claims share an id draws, and none of them is granted anything."""
    whole = answer_record([Statement(FACTS[0]), Statement(FACTS[1])])
    twin = replace(whole.claim_ir.claims[1], id="c1")
    claim_ir = replace(whole.claim_ir, claims=(whole.claim_ir.claims[0], twin))
    stage.export = export(replace(whole, claim_ir=claim_ir))
    at = _asked(open_page, mode="debug")
    assert not at.exception
    assert chips_of(at) == [UNVERIFIED, UNVERIFIED]


def test_an_answer_over_other_documents_or_policies_says_so(open_page, stage, monkeypatch) -> None:
    """The answer stays when the corpus or the policy above it is changed, and is not taken for one."""
    other = "This was answered over other documents than those chosen above. Ask it again."
    at = _asked(open_page)
    assert other in captions_of(at)
    index = corpus_index()
    index.fingerprint = open_export(stage.export, TRUSTED).retrieval.settings.get("corpus")
    monkeypatch.setattr(services, "open_corpus", lambda _name: index)
    at = at.run()
    assert other not in captions_of(at)
    assert "This was answered under" not in html_of(at)


def _given(stage) -> Settings:
    return stage.given[-1].settings


def test_a_session_leaves_out_steps_and_searches_twice(open_page, stage) -> None:
    """What it chose is in the services that answer, and nowhere else."""
    at = open_page("ask")
    at.toggle(key="step-enable_abstention").set_value(False)
    at.toggle(key="step-enable_verification_retrieval").set_value(True).run()
    at.text_input(key="question").set_value("How much leave?")
    _button(at, "Ask").click().run()
    assert not at.exception
    assert (_given(stage).enable_abstention, _given(stage).enable_verification_retrieval) == (
        False,
        True,
    )
    assert services.shared().services.settings == Settings()
    assert _given(stage).generator == "extractive"


def test_a_session_cannot_switch_on_what_the_server_has_off(open_page, stage, monkeypatch) -> None:
    """Whatever value a browser sends for it."""
    off = replace(services.shared().services, settings=Settings(enable_nei_verdict=False))
    monkeypatch.setattr(services, "shared", lambda: services.Shared(off))
    at = open_page("ask")
    assert at.toggle(key="step-enable_nei_verdict").disabled
    at.session_state["step-enable_nei_verdict"] = True
    at.text_input(key="question").set_value("How much leave?")
    _button(at, "Ask").click().run()
    assert _given(stage).enable_nei_verdict is False


def test_a_session_chooses_how_a_language_model_writes(open_page, stage, monkeypatch) -> None:
    """One of the ways, or that it does not write at all."""
    writer = AnswerWriter(SimpleNamespace(), "interleaved", {})
    own = replace(services.shared().services, writer=writer)
    monkeypatch.setattr(services, "shared", lambda: services.Shared(own))
    at = open_page("ask")
    at.selectbox(key="strategy").set_value("strict-quote").run()
    at.text_input(key="question").set_value("How much leave?")
    _button(at, "Ask").click().run()
    assert stage.given[-1].writer.strategy == "strict-quote"
    assert _given(stage).strategy == "strict-quote"
    at.selectbox(key="writer").set_value("Sentences of the documents").run()
    _button(at, "Ask").click().run()
    assert stage.given[-1].writer is None
    assert _given(stage).generator == "extractive"
