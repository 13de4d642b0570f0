"""The drawer says where a sentence stands, or that it cannot be located; then there is no badge."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from builders import FACTS, Statement, answer_record, hostile_record
from gate_cases import POLICY, TRUSTED, export, located
from page_stage import html_of
from reportlab.pdfgen.canvas import Canvas
from streamlit.testing.v1 import AppTest

from certirag.adapters.index.originals import FOLDER, keeping
from certirag.core.text import Box, EvidenceChunk, sha256_hex
from certirag.ingest.apart import ReadingProcess
from certirag.ingest.extract import Limits
from certirag.proof.certificate import AnswerRecord
from certirag.render import certify
from ui.located import WHERE
from ui.original import NOT_KEPT, NOT_THESE

GRANTED = "cr-status--verified"
RECORD = answer_record([Statement(FACTS[0]), Statement(FACTS[1])])
FIRST = RECORD.retrieval.chunks[0]


def corpus(*chunks: EvidenceChunk) -> object:
    """Return an open index of *chunks*."""
    digests = {chunk.doc_id: chunk.source.sha256 for chunk in chunks}
    return SimpleNamespace(
        fingerprint="ef" * 32,
        documents=tuple(SimpleNamespace(doc_id=d, sha256=s) for d, s in digests.items()),
        chunks=lambda: chunks,
    )


def _page(data, trusted, beside) -> None:
    """Draw the drawer alone, as a page does below its answer."""
    from certirag.render import Mode, present
    from ui import drawer

    drawer.open_if_asked(present(data, Mode.DEBUG, trusted=trusted), beside)


def opened(of: AnswerRecord, beside: object = None, claim: str = "c1") -> AppTest:
    """Return the page with the drawer of *claim* open, the index *beside* it."""
    at = AppTest.from_function(_page, default_timeout=30, args=(export(of), TRUSTED, beside))
    at.query_params["claim"] = claim
    at.run()
    assert not at.exception
    return at


def edited(text: str, chunk: EvidenceChunk = FIRST) -> EvidenceChunk:
    """Return *chunk* as a later version of its document has it."""
    source = replace(chunk.source, sha256=sha256_hex("a later version"))
    return replace(chunk, text=text, sha256=sha256_hex(text), source=source)


def changed(of: AnswerRecord, chunks: Sequence[EvidenceChunk]) -> AnswerRecord:
    """Return *of* over *chunks*, its decisions derived."""
    decisions, summary = certify(of.claim_ir.claims, of.verification, chunks, POLICY)
    retrieval = replace(of.retrieval, chunks=tuple(chunks))
    return replace(of, retrieval=retrieval, decisions=decisions, answer=summary)


def folds(at: AppTest) -> list[str]:
    """Return the labels of the foldable parts."""
    return [expander.label for expander in at.expander]


def test_it_says_where_the_sentence_stands() -> None:
    """Document, page, section, and its place counted in four ways; folded, with the badge."""
    sentence = f"😀 {FACTS[0]}"
    of = answer_record([Statement(FACTS[0], sentence=sentence, section="Leave › Annual")])
    first = of.retrieval.chunks[0]
    source = replace(first.source, start=1000)
    spans = (replace(first.spans[0], boxes=(Box(1, 72.0, 690.25, 523.0, 702.5),)), first.spans[1])
    at = opened(changed(of, [located(replace(first, source=source, spans=spans))]))
    html = html_of(at)
    assert folds(at) == [WHERE]
    assert GRANTED in html
    length = len(sentence)
    for fact in ("Leave policy", "doc1.md", "Leave › Annual", first.source.sha256[:12]):
        assert fact in html
    for name, first_place, last in (
        ("Code points of the document's text", 1000, 1000 + length),
        ("Code points of the passage", 0, length),
        ("UTF-8 bytes of the passage", 0, length + 3),
        ("UTF-16 units of the passage", 0, length + 1),
    ):
        row = html[html.index(f">{name}<".replace("'", "&#x27;")) :]
        cells = [cell.split("</span>")[0] for cell in row.split('dir="auto">')[1:3]]
        assert cells == [str(first_place), str(last)]
    assert all(f">{number}<" in html for number in ("72.0", "690.2", "523.0", "702.5"))
    assert "annot locate" not in html


def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[AnswerRecord, Path]:
    """Return a record whose first sentence stands in a PDF that a corpus keeps, and that file."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842))
    canvas.drawString(72, 700, FACTS[0])
    canvas.drawString(72, 680, FACTS[1])
    canvas.save()
    data, home = buffer.getvalue(), tmp_path / "home"
    index = home / "indexes" / "leave"
    with ReadingProcess(Limits()) as read:
        (chunk,) = keeping(read, index)(data, "leave.pdf")[1]
    of = answer_record([Statement(FACTS[0]), Statement(FACTS[1])])
    first = of.retrieval.chunks[0]
    boxes = next(span.boxes for span in chunk.spans if span.sentence == FACTS[0])
    source = replace(first.source, page=1, sha256=sha256_hex(data))
    spans = (replace(first.spans[0], boxes=boxes), *first.spans[1:])
    chunks = [replace(first, source=source, spans=spans), *of.retrieval.chunks[1:]]
    monkeypatch.setenv("CERTIRAG_HOME", str(home))
    return changed(of, chunks), index / FOLDER / source.sha256


def test_the_page_is_shown_with_the_words_boxed(tmp_path, monkeypatch) -> None:
    """A picture from the file itself; without that file, a line that says so and no picture."""
    of, file = printed(tmp_path, monkeypatch)
    html = html_of(opened(of))
    assert "Page 1 as printed" in html
    assert html.count("data:image/png;base64,") == 1
    assert GRANTED in html
    file.write_bytes(b"another file")
    at = opened(of)
    assert NOT_KEPT in [caption.value for caption in at.caption]
    assert "data:image" not in html_of(at)


def test_other_words_in_its_place_are_not_shown_as_it(tmp_path, monkeypatch) -> None:
    """A record whose box lies on another line is not believed."""
    of, _ = printed(tmp_path, monkeypatch)
    first = of.retrieval.chunks[0]
    box = first.spans[0].boxes[0]
    lower = replace(box, bottom=box.bottom - 20, top=box.top - 20)
    spans = (replace(first.spans[0], boxes=(lower,)), *first.spans[1:])
    chunks = [replace(first, spans=spans), *of.retrieval.chunks[1:]]
    html = html_of(opened(changed(of, chunks)))
    assert NOT_THESE in html
    assert "data:image" not in html


@pytest.mark.parametrize("spoil", ["none", "another's", "shifted"])
def test_what_cannot_be_located_in_the_record_is_said_and_has_no_badge(spoil: str) -> None:
    """No selector, another sentence's, and one that is a place off."""
    first, second = FIRST.spans
    assert first.selector is not None
    position = replace(first.selector.position, start=1)
    selector = {
        "none": None,
        "another's": second.selector,
        "shifted": replace(first.selector, position=position),
    }[spoil]
    spoiled = replace(FIRST, spans=(replace(first, selector=selector), second))
    at = opened(changed(RECORD, [spoiled, RECORD.retrieval.chunks[1]]))
    html = html_of(at)
    assert GRANTED not in html
    assert "Cannot locate: the record" in html
    assert "cannot locate s1 in doc1#c1" in html  # the rule's own words
    assert folds(at) == []


STILL = "still stands in its place, word for word"
# What the open index holds of the document → what is said, and whether the badge stays.
BESIDE = {
    "no index": (None, "", True),
    "the same document": (corpus(FIRST), "unchanged", True),
    "changed elsewhere": (corpus(edited(f"{FIRST.text[:-1]}!")), STILL, True),
    "changed in the sentence": (
        corpus(edited(FIRST.text.replace("27", "28"))),
        "Cannot locate: the document has changed since, and other words stand",
        False,
    ),
    "moved": (
        corpus(edited(f"New. {FIRST.text}")),
        "Cannot locate: the document has changed since, and other words stand",
        False,
    ),
    "another sentence behind it": (
        corpus(edited(f"{FACTS[0]} Not for interns. The rest.")),
        "Cannot locate: the document has changed since, and the words around it",
        False,
    ),
    "cut off": (
        corpus(edited("")),
        "Cannot locate: the document has changed since, and nothing stands",
        False,
    ),
    "gone": (
        corpus(RECORD.retrieval.chunks[1]),
        "Cannot locate: the document is no longer in the open corpus",
        False,
    ),
    "another corpus": (
        corpus(replace(FIRST, doc_id="elsewhere")),
        "The open corpus is another one",
        True,
    ),
}


@pytest.mark.parametrize("name", BESIDE)
def test_today_s_document_is_held_against_the_record(name: str) -> None:
    """It resolves exactly where it stood, or the drawer says so and shows no badge."""
    beside, said, granted = BESIDE[name]
    at = opened(RECORD, beside)
    html = html_of(at)
    assert said in html
    assert (GRANTED in html) is granted
    assert ("Cannot locate: " in html) is not granted
    assert ("Evidence it stands on" in [h.value for h in at.subheader]) is granted
    assert ("No badge without it." in html) is not granted
    assert folds(at) == [WHERE]
    opens = [b.label for b in at.button] == ["Open the document here"]
    assert opens is (granted and name not in ("no index", "another corpus"))


def test_a_claim_without_a_badge_keeps_its_status() -> None:
    """Only a badge is taken: what is unverified is still called that."""
    of = answer_record([Statement(FACTS[0], "unsupported")])
    lost = edited("", of.retrieval.chunks[0])
    html = html_of(opened(of, corpus(lost)))
    assert "cr-status--unverified" in html
    assert "Cannot locate: " in html


def test_ask_gives_the_drawer_its_open_corpus(open_page, stage, monkeypatch) -> None:
    """A document that was ingested anew since the answer was given is looked at on the page."""
    from ui import services

    stage.export = export(RECORD)
    beside = corpus(edited(FIRST.text.replace("27", "28")))
    monkeypatch.setattr(services, "open_corpus", lambda _name: beside)
    beside.skipped = ()
    at = open_page("ask")
    at.text_input(key="question").set_value("How much leave?")
    next(button for button in at.button if button.label == "Ask").click().run()
    at.query_params["claim"] = "c1"
    at.run()
    assert not at.exception
    assert "Cannot locate: the document has changed since" in html_of(at)
    assert GRANTED not in html_of(at)


def test_hostile_text_is_drawn_inert_in_it() -> None:
    """Titles, sections and paths are attack strings; every tag on the page is one of ours."""
    of = hostile_record()
    ours = set(re.findall(r"<(\w+)", html_of(opened(RECORD, corpus(FIRST)))))
    for claim in of.claim_ir.claims[:12]:
        at = opened(of, corpus(*of.retrieval.chunks), claim.id)
        html = html_of(at)
        assert WHERE in folds(at) or "Cannot locate: " in html
        assert set(re.findall(r"<(\w+)", html)) <= ours | {"br", "mark", "strong"}
