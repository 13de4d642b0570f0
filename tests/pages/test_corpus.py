"""Corpus: documents, what was skipped, a search of the passages; hostile names stay inert."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from builders import hostile_strings
from gate_cases import chunk
from page_stage import captions_of, corpus_index, html_of
from streamlit.testing.v1 import AppTest

from certirag.adapters.index.local import LocalIndex
from certirag.bootstrap import make_embedder
from certirag.render import inert_html


def test_documents_skips_and_the_fingerprint_are_shown(open_page) -> None:
    """A reader sees what was read of each document, each skipped file with its reason."""
    at = open_page("corpus")
    html = html_of(at)
    assert not at.exception
    for text in ("Leave policy", "Leave policy.md", "1 passage", "abababababab", ">read<"):
        assert text in html
    assert "notes.bin: not a text" in html
    assert [code.value for code in at.code] == ["cd" * 32]


def test_a_thousand_documents_are_shown_page_by_page(open_page, monkeypatch) -> None:
    """Twenty documents and twenty skipped files at once; a warning stands beside its document."""
    from ui import services

    index = corpus_index()
    (first,) = index.documents
    records = [SimpleNamespace(**{**vars(first), "path": f"{n}.md"}) for n in range(1000)]
    index.documents = tuple(records)
    index.skipped = tuple(
        SimpleNamespace(path=f"{n}.md", reason=f"{n}.md: given twice") for n in range(1000)
    )
    monkeypatch.setattr(services, "open_corpus", lambda name: index)
    at = open_page("corpus")
    assert not at.exception
    opened = [b.label for b in at.button if b.label.startswith("Open document")]
    assert opened == [f"Open document {n}" for n in range(1, 21)]
    assert html_of(at).count("7.md: given twice") == 4  # 7 and 17, beside theirs and in the list


@pytest.fixture
def searched(open_page, monkeypatch) -> Callable[[str], AppTest]:
    """Return a function that searches a small index, and its page."""
    from ui import services

    embedder = make_embedder("embedded")
    index = LocalIndex.of([chunk()], embedder)
    reader = SimpleNamespace(
        relevance=lambda _q, statements: [0.5 + n / 10 for n in range(len(statements))],
        instructs=lambda texts: [False] * len(texts),
    )
    common = services.Shared(
        SimpleNamespace(
            embedder=embedder,
            reranker=None,
            reader=reader,
            settings=SimpleNamespace(max_chunks=8),
            trusted={},
        )
    )
    monkeypatch.setattr(services, "shared", lambda: common)
    monkeypatch.setattr(services, "open_corpus", lambda name: index)

    def search(query: str) -> AppTest:
        at = open_page("corpus")
        at.text_input(key="search-passages").set_value(query).run()
        assert not at.exception
        return at

    return search


def test_a_search_shows_each_stage_of_what_it_finds(searched) -> None:
    """Places by words, by meaning and fused, and the relevance of the best sentence."""
    rows = facts_of(searched("How many days do full-time employees receive?"))
    assert rows["Place"] == rows["By words (BM25)"] == rows["By meaning (vectors)"] == "1"
    assert rows["Fused"] == "1"
    visible = sum(span.visible for span in chunk().spans)
    assert rows["Relevance"] == f"{0.5 + (visible - 1) / 10:.2f}"
    assert facts_of(searched("zeppelin"))["By words (BM25)"] == "none"


def test_a_hostile_search_is_not_drawn(searched) -> None:
    """What is searched for is in its own box and nowhere else; a blank search finds nothing."""
    text = ":green-badge[Verified] <img src=x>"
    at = searched(text)
    assert "green-badge" not in html_of(at)
    assert all(text not in sink.value for sink in (*at.markdown, *at.caption))
    assert "Place" not in facts_of(searched("   "))


def facts_of(at: AppTest) -> dict[str, str]:
    """Return the last value that the page draws under each name."""
    return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", html_of(at)))


def test_session_documents_are_removed_one_by_one(stage, open_page, monkeypatch) -> None:
    """The other one stays; without any the picker stands on a corpus of the server."""
    import ui.corpora

    monkeypatch.setattr(ui.corpora, "index_of_uploads", lambda *_, **__: (corpus_index(), ()))
    at = open_page("corpus")
    at.session_state["session_documents"] = (("a.md", b"One."), ("b.md", b"Two."))
    at.run()
    at.button(key="corpus-corpus-remove-1").click().run()
    assert not at.exception
    assert [name for name, _ in at.session_state["session_documents"]] == ["b.md"]
    at.button(key="corpus-corpus-remove-1").click().run()
    assert at.session_state["session_documents"] == ()
    assert at.selectbox(key="corpus-corpus").value == "policy"


@pytest.mark.parametrize(("_name", "text"), hostile_strings()[::6])
def test_hostile_titles_and_reasons_are_inert(open_page, monkeypatch, _name, text) -> None:
    """Titles, file names and reasons are drawn through the one inert path."""
    from ui import services

    monkeypatch.setattr(services, "open_corpus", lambda name: corpus_index(text, text))
    at = open_page("corpus")
    assert not at.exception
    assert inert_html(text) in html_of(at)
    for sink in (*at.markdown, *at.caption, *at.header, *at.subheader, *at.title):
        assert text not in sink.value


@pytest.mark.parametrize(
    ("page", "everyone", "readers"),
    [
        ("true", "true", "everybody who uses this app"),
        ("true", "false", "its operator"),
        ("false", "true", "its operator"),
    ],
)
def test_what_is_kept_of_uploads_is_said_before_they_are_made(
    open_page, monkeypatch, page, everyone, readers
) -> None:
    """The files are gone with the session; what answers quote is in the log, for whom is said."""
    monkeypatch.setenv("CERTIRAG_AUDIT_PAGE", page)
    monkeypatch.setenv("CERTIRAG_AUDIT_EVERYONE", everyone)
    at = open_page("ask")
    captions = captions_of(at)
    assert any("session's memory" in text for text in captions)
    (said,) = [text for text in captions if "kept in the audit log" in text]
    assert f"which {readers} can read" in said
