"""Sentence splitting: what ends a sentence, what does not, and that nothing is lost."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

from certirag.errors import MissingExtra
from certirag.ingest.sentences import sentence_splitter

SPLIT = sentence_splitter()


def sentences(text: str) -> list[str]:
    """Return the sentences' texts."""
    return [text[start:end] for start, end in SPLIT(text)]


ONE_SENTENCE = [
    "Dr. Amaya sees patients on Wednesdays.",
    "The order is listed under No. 4 of the annex.",
    "Training used lr=0.002 and a batch of 32.",
    "Bring proof, e.g. Form IR-2, to the desk.",
    "The U.S. Department of Labor was told.",
    "Revenue rose by 3.5 % to $1.14 billion.",
    "J. A. Prior signed the letter.",
    "Acme Inc. Holdings paid the fee.",
    "Version 2.10.3 fixes the fault in node.js.",
    "He waited ... and then left.",
    "The pump (see Fig. 2. It is red.) was replaced.",
    '"Is it done?" she asked.',
    "The fee is due;\nlate payment costs\n5 euros",
    "The text runs over page\n12 and ends there.",
    "See Sec. 4.1 and App. B for the limits.",
    "The shop opens at 9 a.m. Monday to Friday.",
    "1. What must be reported",
    "It has no final full stop",
    "Doses of 0.5 mg vs. 1.5 mg were compared, cf. Table 3.",
]
SEVERAL = [
    ("It rained. It poured.", ["It rained.", "It poured."]),
    ("The answer is no. The rest follows.", ["The answer is no.", "The rest follows."]),
    ("We moved in 2024. The office is new.", ["We moved in 2024.", "The office is new."]),
    ("He works for Acme Inc. The firm pays.", ["He works for Acme Inc.", "The firm pays."]),
    ("They live in the U.S. They like it.", ["They live in the U.S.", "They like it."]),
    ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
    ('He said: " Stop. " Then he left.', ['He said: " Stop. "', "Then he left."]),
    ('They left. " Why? " she asked.', ["They left.", '" Why? " she asked.']),
    ('He said: " Go. Now. " They went.', ['He said: " Go.', 'Now. "', "They went."]),
    ("Done! Really? Yes.", ["Done!", "Really?", "Yes."]),
    ("It ends here.[3] Then more.", ["It ends here.[3]", "Then more."]),
    ("It is low. eGFR is measured again.", ["It is low.", "eGFR is measured again."]),
    ("Take these:\n- one pill\n- two drops", ["Take these:", "- one pill", "- two drops"]),
    ("Steps:\n1. Open it.\n2. Close it.", ["Steps:", "1. Open it.", "2. Close it."]),
    ("First paragraph\n\nsecond paragraph", ["First paragraph", "second paragraph"]),
    (
        "Plan B. It works at 5 p.m. Everyone left.",
        ["Plan B.", "It works at 5 p.m.", "Everyone left."],
    ),
]


@pytest.mark.parametrize("text", ONE_SENTENCE)
def test_a_full_stop_inside_a_sentence_does_not_end_it(text: str) -> None:
    """Abbreviations, numbers, initials, quotes, brackets and line breaks end no sentence."""
    assert sentences(text) == [text]


@pytest.mark.parametrize(("text", "expected"), SEVERAL)
def test_sentences_are_parted(text: str, expected: list[str]) -> None:
    """Each sentence, list item and paragraph stands alone."""
    assert sentences(text) == expected


FRAGMENTS = st.sampled_from(
    ["Dr. ", "No. 4", "e.g. ", "U.S. ", ". ", "? ", "…", "\n", "\n\n", "\n- ", "\n2. ", "(", ")", '"',
     "The ", "fee ", "lr=0.002", " ", "\t", "”", "。", "é", "\u200b", "\ud800", "\x00", "\u2028"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=200), st.lists(FRAGMENTS, max_size=40).map("".join))


@examples(200)
@given(TEXTS)
def test_every_nonblank_character_is_in_exactly_one_sentence(text: str) -> None:
    """Spans are ordered, apart, trimmed, and hold all that is not blank."""
    spans = SPLIT(text)
    position = 0
    for start, end in spans:
        assert position <= start < end <= len(text)
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


def test_a_long_text_is_split_all_the_same() -> None:
    """More than a million characters in one block are split in time that grows in step."""
    text = "The pump runs. " * 80_000
    spans = SPLIT(text)
    assert len(spans) == 80_000
    assert {text[start:end] for start, end in spans} == {"The pump runs."}


@pytest.mark.parametrize("name", ["en_not_there_sm", "../models/evil", ""])
def test_a_pipeline_that_is_not_installed_is_refused(name: str) -> None:
    """A missing package, or a path, is named with the command that installs one."""
    with pytest.raises(MissingExtra, match="spacy download"):
        sentence_splitter(name)


def test_an_installed_pipeline_sets_the_boundaries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that the user installed, also for a text of more than one window."""
    package, info = tmp_path / "tiny_en", tmp_path / "tiny_en-1.dist-info"
    package.mkdir()
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny_en\nVersion: 1\n", "utf-8")
    (package / "__init__.py").write_text(
        "import spacy\n\n\ndef load(**_):\n    nlp = spacy.blank('en')\n"
        "    nlp.add_pipe('sentencizer', config={'punct_chars': [';']})\n    return nlp\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    text = "The pump runs; the tank fills \ud800; nobody looks. " * 100
    said = [text[start:end] for start, end in sentence_splitter("tiny_en")(text)]
    assert said.count("the tank fills \ud800;") == 100
    assert "".join(said).replace(" ", "") == text.replace(" ", "")


def test_a_pipeline_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without spaCy the rules still work, and a pipeline's name says what to install."""
    monkeypatch.setitem(sys.modules, "spacy", None)
    assert SPLIT("It runs. It stops.") == [(0, 8), (9, 18)]
    with pytest.raises(MissingExtra, match=r"certirag\[spacy\]"):
        sentence_splitter("en_core_web_sm")


def test_a_text_without_any_sentence_end_is_cut_at_blanks() -> None:
    """Hostile text that never ends a sentence costs no more than its length."""
    text = "pump (" * 40_000
    spans = SPLIT(text)
    assert "".join(text[start:end] for start, end in spans).count("pump") == 40_000
