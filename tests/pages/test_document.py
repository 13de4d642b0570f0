"""Document: what the address names, from its passage on, the quoted words marked; all inert."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from builders import hostile_strings
from gate_cases import chunk
from page_stage import captions_of, html_of

from certirag.core.text import EvidenceChunk, SentenceSpan, sha256_hex
from certirag.render import inert_html
from ui.reader import CHANGED, NOT_HERE

MARK = re.compile(r"<mark>(.*?)</mark>")
TABLE = "Office: Oslo; Staff: 12\nOffice: Bergen; Staff: 4"


def passage(number: int, *sentences: str, section: str = "", start: int = 0) -> EvidenceChunk:
    """Return a passage of the sentences, a line each."""
    text, spans = "\n".join(sentences), []
    for sentence in sentences:
        at = spans[-1].end + 1 if spans else 0
        spans.append(SentenceSpan(f"s{len(spans) + 1}", at, at + len(sentence), sentence))
    of = chunk()
    source = replace(of.source, section=section, start=start, page=None)
    return replace(
        of,
        chunk_id=f"{of.doc_id}#c{number}",
        text=text,
        sha256=sha256_hex(text),
        spans=tuple(spans),
        source=source,
    )


@pytest.fixture
def hold(monkeypatch, stage):
    """Return a function that puts one document of the passages into the corpus."""
    from ui import services

    def holding(*passages: EvidenceChunk, title: str = "Offices") -> str:
        doc_id = passages[0].doc_id
        record = SimpleNamespace(
            doc_id=doc_id, title=title, path=f"in/{title}.md", sha256="ab" * 32, chunks=1
        )
        index = SimpleNamespace(
            documents=(record,),
            skipped=(),
            fingerprint="cd" * 32,
            foreign=False,
            chunks=lambda: passages,
        )
        monkeypatch.setattr(services, "open_corpus", lambda name: index)
        return doc_id

    return holding


def quote(of: EvidenceChunk, number: int) -> str:
    """Return how an address quotes that sentence."""
    span = of.spans[number]
    return f"{of.source.start + span.start}-{sha256_hex(span.sentence)[:12]}"


def test_headings_tables_and_the_quoted_row(hold, open_page) -> None:
    """Headings are headings, rows a table, and the cells of the quoted row alone are marked."""
    first = passage(1, "We have offices.", section="Places")
    second = passage(2, *TABLE.split("\n"), section="Places › North", start=40)
    doc = hold(first, second)
    at = open_page("document", corpus="policy", doc=doc, passage="1", quote=quote(second, 1))
    html = html_of(at)
    assert not at.exception
    assert re.search(r"<h3[^>]*><bdi[^>]*>Places</bdi></h3>", html)
    assert re.search(r"<h4[^>]*><bdi[^>]*>North</bdi></h4>", html)
    assert html.count(">Places<") == 1
    assert html.count('<th scope="col">') == 2
    assert MARK.findall(html) == ["Bergen", "4"]


@pytest.mark.parametrize(
    "wrong",
    ["0-000000000000", "1-{digest}", "41-{digest}", "{digest}", "<mark>", "40-{digest}0", "40-"],
)
def test_other_words_in_the_quoted_place_are_not_marked(hold, open_page, wrong) -> None:
    """Another place, other words, or no address at all: nothing is marked, and that is said."""
    of = passage(1, "We have offices.", "We have offices.", start=40)
    doc = hold(of)
    asked = wrong.format(digest=sha256_hex("We have offices.")[:12])
    html = html_of(open_page("document", corpus="policy", doc=doc, quote=asked))
    assert "<mark>" not in html
    assert inert_html(CHANGED) in html
    right = html_of(open_page("document", corpus="policy", doc=doc, quote=quote(of, 1)))
    assert MARK.findall(right) == ["We have offices."]


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"doc": "<b>x</b>"},
        {"doc": "other", "corpus": "policy"},
        {"doc": "doc1", "corpus": "<b>x</b>"},
        {"doc": "doc1", "corpus": "../policy"},
    ],
)
def test_what_the_address_does_not_find_is_said_and_not_drawn(hold, open_page, query) -> None:
    """No word of the address reaches the page."""
    hold(passage(1, "We have offices."))
    at = open_page("document", **query)
    assert inert_html(NOT_HERE) in html_of(at)
    assert "cr-read" not in html_of(at)
    drawn = " ".join([html_of(at), *captions_of(at), *(m.value for m in at.markdown)])
    assert "<b>x" not in drawn
    assert "&lt;b&gt;" not in drawn


@pytest.mark.parametrize("asked", ["", "0", "-1", "99", "1e3", "٣", "<b>", "9" * 400])
def test_any_passage_that_the_address_names_is_a_sound_one(hold, open_page, asked) -> None:
    """A number beyond the last passage, or none at all, opens one that is there."""
    doc = hold(*(passage(n, f"Sentence {n}.") for n in range(1, 4)))
    at = open_page("document", corpus="policy", doc=doc, passage=asked)
    assert not at.exception
    assert "Sentence 3." in html_of(at)


def test_passages_are_gone_through_one_by_one_and_a_few_at_once(hold, open_page) -> None:
    """A document of many passages shows a few; the buttons go on, back, and stop at the ends."""
    doc = hold(*(passage(n, f"Sentence {n}.") for n in range(1, 30_001)))
    at = open_page("document", corpus="policy", doc=doc, passage="9")
    assert html_of(at).count('class="cr-read"') == 6
    at.button(key="reader-next").click().run()
    assert at.query_params["passage"] == "10"
    assert "Sentence 9." not in html_of(at)
    at.button(key="reader-previous").click().run()
    assert "Sentence 9." in html_of(at)
    at = open_page("document", corpus="policy", doc=doc, passage="30000")
    assert at.button(key="reader-next").disabled
    assert html_of(at).count('class="cr-read"') == 1


def test_a_sentence_of_megabytes_is_cut_in_view_and_says_so(hold, open_page) -> None:
    """No passage can fill the page; a quoted sentence behind the cut is what is shown."""
    of = passage(1, "x" * 3_000_000, "The end.")
    doc = hold(of)
    html = html_of(open_page("document", corpus="policy", doc=doc))
    assert len(html) < 100_000
    assert "2980009 more characters" in html
    html = html_of(open_page("document", corpus="policy", doc=doc, quote=quote(of, 1)))
    assert MARK.findall(html) == ["The end."]


@pytest.mark.parametrize(("_name", "text"), hostile_strings()[::5])
def test_hostile_documents_are_inert(hold, open_page, _name, text) -> None:
    """Title, headings, names of columns, cells, items and paragraphs: no tag but our own."""
    line = " ".join(text.split()) or "x"
    doc = hold(
        passage(1, f"It says {line} to all.", section=f"{line} › {line}"),
        passage(2, f"{line}: a; B: {line}", f"{line}: c; B: {line}", start=5_000),
        passage(3, line, f"{line}.", section=" › ".join([line] * 500), start=9_000),
        title=text,
    )
    at = open_page("document", corpus="policy", doc=doc)
    assert not at.exception
    ours = "section div p span ul li table thead tbody tr th td h2 h3 h4 h5 h6 bdi dl dt dd mark"
    assert set(re.findall(r"<(\w+)", html_of(at))) <= set(ours.split())
    assert "cr-status" not in html_of(at)
    for sink in (*at.markdown, *at.caption, *at.title, *at.code):
        assert line == "x" or line not in sink.value
