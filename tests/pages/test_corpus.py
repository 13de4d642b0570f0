"""Corpus: documents, what was skipped, passages; hostile names stay inert."""

from __future__ import annotations

import pytest
from builders import hostile_strings
from page_stage import captions_of, corpus_index, html_of

from certirag.render import inert_html


def test_documents_skips_and_passages_are_shown(open_page) -> None:
    """A reader sees each document, each skipped file with its reason, and the passages."""
    at = open_page("corpus")
    html = html_of(at)
    assert not at.exception
    for text in ("Leave policy", "Leave policy.md", "abababababab", "notes.bin: not a text"):
        assert text in html
    assert "Full-time employees receive 27 days" in html
    assert "cdcdcdcdcdcd" in html


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
