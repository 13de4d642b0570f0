"""From a draft to claims: places, lists, marks, pronouns, caps."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

from certirag.claims.compile import MAX_UNCHECKABLE, claims_from_draft, is_uncheckable

DRAFTS = sorted((Path(__file__).parents[2] / "fixtures" / "drafts").glob("*.json"))


def sentences(text):
    """Cut at sentence ends that stand before a capital; enough for tests."""
    found, start = [], 0
    for match in re.finditer(r"(?<=[.!?])(?<!Dr\.)\s+(?=[A-Z“\"])", text):
        found.append((start, match.start()))
        start = match.end()
    return [*found, (start, len(text))] if text[start:].strip() else found


def compiled(draft, *, max_claims=12):
    """Compile *draft* with the plain splitter."""
    return claims_from_draft("q", draft, sentences, max_claims=max_claims)


TEXTS = [
    ("", []),
    (" \n\n ", []),
    ("The policy covers:\n- fire\n- theft; and\n- Storm damage.",
     ["The policy covers fire.", "The policy covers theft.", "The policy covers storm damage."]),
    ("It covers the following:\n\n1. Fire damage\n2. Theft",
     ["It covers fire damage.", "It covers theft."]),
    ("**Leave** is _paid_ [1].", ["Leave is paid."]),
    ("Leave is paid [[policy.md]] (source: HR).", ["Leave is paid."]),
    ("See [the site](http://x.example/a) is closed.", ["See the site is closed."]),
    ("The period lasts six months. It may be extended once.",
     ["The period lasts six months.", "The period may be extended once."]),
    ("The period lasts six months.\n\nIt may be extended once.",
     ["The period lasts six months.", "It may be extended once."]),
    ("Yes, employees receive 27 days.", ["Employees receive 27 days."]),
    ("Code name_with_marks is used.", ["Code name_with_marks is used."]),
    ("The fee is 3 * 4 euros.", ["The fee is 3 * 4 euros."]),
    ("Acme sells pumps, and Birch makes\nvalves in the old town of Skarholm.",
     ["Acme sells pumps.", "Birch makes valves in the old town of Skarholm."]),
]  # fmt: skip


@pytest.mark.parametrize(("draft", "texts"), TEXTS)
def test_a_draft_becomes_claims_that_read_as_sentences(draft, texts):
    """Markup and citation marks are gone, list items are joined with their lead."""
    assert [claim.text for claim in compiled(draft).claims] == texts


def test_places_in_the_draft_are_the_clause_itself():
    """The offsets hold the words of the clause, marks inside it included."""
    draft = "Intro.\n\nThe **hotline** is run by Orsa [2] and is open on Monday."
    first, second = [c for c in compiled(draft).claims if "hotline" in c.text]
    assert draft[first.draft_start : first.draft_end] == "The **hotline** is run by Orsa"
    assert draft[second.draft_start : second.draft_end] == "is open on Monday"
    assert second.supplied == ("The hotline",)


def test_a_resolved_pronoun_keeps_its_place_and_is_named():
    """The claim's place begins at the pronoun, and the words put there are listed."""
    draft = "The period lasts six months. It may be extended once."
    claim = compiled(draft).claims[1]
    assert draft[claim.draft_start : claim.draft_end].startswith("It may be extended once")
    assert claim.supplied == ("The period",)
    assert claim.problems == ()


def test_the_cap_drops_only_checkable_claims_and_says_which():
    """Greetings do not count; every dropped claim is named with its first words."""
    draft = "Hello!\n" + "\n".join(f"Site {n} is closed on Monday." for n in range(1, 15))
    ir = compiled(draft, max_claims=12)
    assert sum(not is_uncheckable(c) for c in ir.claims) == 12
    assert len(ir.dropped) == 2
    said = "“Site 13 is closed on Monday.” was not checked: only the first 12 statements are"
    assert ir.dropped[0] == said
    assert [c.id for c in ir.claims] == [f"c{n}" for n in range(1, 14)]


def test_remarks_are_kept_up_to_their_own_cap():
    """What cannot be checked is shown as such, but not without end."""
    ir = compiled("\n\n".join(["Is it so?"] * 60))
    assert len(ir.claims) == MAX_UNCHECKABLE
    assert len(ir.dropped) == 60 - MAX_UNCHECKABLE


@pytest.mark.parametrize("path", DRAFTS, ids=lambda p: p.stem)
def test_the_fixture_drafts_compile_into_readable_claims(path):
    """Nearly every sentence is well formed, in its place, and no planted error is lost."""
    record = json.loads(path.read_text(encoding="utf-8"))
    draft = record["text"]
    ir = compiled(draft, max_claims=40)
    assert not ir.dropped
    checkable = [c for c in ir.claims if not is_uncheckable(c)]
    assert sum(not c.problems for c in checkable) >= 0.7 * len(checkable)
    for claim in ir.claims:
        assert 0 <= claim.draft_start < claim.draft_end <= len(draft)
    for error in record["errors"]:
        # the words of each planted error are in some claim, so they can be found wanting
        assert any(
            c.draft_start < error["end"] and c.draft_end > error["start"] for c in checkable
        ), error


def test_the_fixture_drafts_are_there():
    """An empty folder would pass the test above."""
    assert len(DRAFTS) >= 25


@examples(200)
@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=400))
def test_any_draft_compiles_with_places_inside_it(draft):
    """Total on arbitrary text, and every place is a stretch of the draft."""
    for claim in compiled(draft).claims:
        assert 0 <= claim.draft_start < claim.draft_end <= len(draft)


@examples(200)
@given(st.lists(st.sampled_from(["- ", "# ", "**", "a b", "[1]", "\n", "The cat is", ":", ". ", "`",
                                 "[x](y)", "It is", "covers", "| a | b |", "> ", "fire"]),
                max_size=30).map("".join))  # fmt: skip
def test_markup_salad_compiles(draft):
    """Broken markup neither fails nor moves a claim outside the draft."""
    for claim in compiled(draft).claims:
        assert 0 <= claim.draft_start < claim.draft_end <= len(draft)


def test_what_stands_in_a_document_word_for_word_is_one_claim() -> None:
    """It may state several facts; a sentence that differs in one character is split as ever."""
    text = "Notice is given in writing and signed by hand."
    kept = claims_from_draft("q", text, sentences, max_claims=9, sentences={text})
    assert [claim.text for claim in kept.claims] == [text]
    assert kept.claims[0].problems == ()
    assert (kept.claims[0].draft_start, kept.claims[0].draft_end) == (0, len(text))
    other = text.replace("hand", "a hand")
    split = claims_from_draft("q", other, sentences, max_claims=9, sentences={text})
    assert len(split.claims) == 2
