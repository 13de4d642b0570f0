"""The fixtures themselves: enough of them, and marked where they say."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from integration_fixtures import CORPORA, FIXTURES, drafts, questions

KINDS = {
    "number",
    "date",
    "unit",
    "entity",
    "negation",
    "dropped_qualifier",
    "over_generalisation",
    "invented_source",
    "wrong_source",
}


def test_there_are_enough_of_each() -> None:
    """Three corpora of 8 to 15 documents, 50 questions, 25 drafts, 60 errors of nine kinds."""
    for corpus in CORPORA:
        files = [p for p in (FIXTURES / "corpora" / corpus).iterdir() if p.is_file()]
        assert 8 <= len(files) <= 15
    suffixes = Counter(p.suffix for p in (FIXTURES / "corpora").glob("*/*"))
    assert suffixes[".pdf"] >= 3
    assert suffixes[".docx"] >= 2
    assert len(questions()) >= 50
    assert len(drafts()) >= 25
    errors = [error["kind"] for draft in drafts() for error in draft["errors"]]
    assert len(errors) >= 60
    assert set(errors) == KINDS


@pytest.mark.parametrize("draft", drafts(), ids=lambda draft: draft["id"])
def test_every_planted_error_stands_at_its_place(draft: dict) -> None:
    """Offsets are code points into the draft's text."""
    for error in draft["errors"]:
        assert draft["text"][error["start"] : error["end"]] == error["text"]


def test_built_documents_are_what_their_sources_make() -> None:
    """PDF and DOCX fixtures can be rebuilt, byte for byte."""
    command = [sys.executable, str(FIXTURES / "build.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
