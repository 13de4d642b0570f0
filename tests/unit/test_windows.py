"""The windows of evidence: all of it is covered, none is longer than its room."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

from certirag.verification.windows import focused, spans_of_windows

LENGTHS = st.lists(st.integers(0, 40), max_size=40)
SENTENCES = st.lists(st.text("abc .", max_size=12), max_size=12)


@examples(300)
@given(LENGTHS, st.integers(1, 50), st.integers(0, 60))
def test_windows_cover_every_sentence_and_fit(lengths: list[int], room: int, overlap: int) -> None:
    """Every sentence lies in a window; windows go forward and fit, but for one long sentence."""
    spans = spans_of_windows(lengths, room=room, overlap=overlap)
    assert {at for start, end in spans for at in range(start, end)} == set(range(len(lengths)))
    for start, end in spans:
        assert end > start
        assert sum(lengths[start:end]) <= room or end == start + 1
    for (start, end), (after, last) in pairwise(spans):
        assert start < after <= end < last


@examples(300)
@given(LENGTHS, st.integers(1, 50), st.integers(0, 60))
def test_windows_overlap_no_more_than_asked(lengths: list[int], room: int, overlap: int) -> None:
    """What two windows share has at most *overlap* tokens, and none are shared when it is 0."""
    spans = spans_of_windows(lengths, room=room, overlap=overlap)
    for (_, end), (after, _) in pairwise(spans):
        assert sum(lengths[after:end]) <= overlap


def test_a_known_case_of_overlap() -> None:
    """Six sentences of ten tokens in a room of thirty, the last ten of each window again."""
    assert spans_of_windows([10] * 6, room=30, overlap=10) == [(0, 3), (2, 5), (4, 6)]
    assert spans_of_windows([10] * 6, room=30, overlap=0) == [(0, 3), (3, 6)]
    assert spans_of_windows([5, 99, 5], room=30, overlap=10) == [(0, 1), (1, 2), (2, 3)]
    assert spans_of_windows([], room=30, overlap=10) == []


@examples(200)
@given(st.text("abc ", max_size=12), SENTENCES, st.integers(0, 30), st.data())
def test_the_focused_window_fits(claim: str, sentences: list[str], room: int, data) -> None:
    """The chosen sentences are in order, each once, share a word with the claim, and fit."""
    size = len(sentences)
    lengths = data.draw(st.lists(st.integers(0, 20), min_size=size, max_size=size))
    chosen = focused(claim, sentences, lengths, room=room)
    assert list(chosen) == sorted(set(chosen))
    assert sum(lengths[at] for at in chosen) <= room
    words = set(claim.split())
    assert all(words & set(sentences[at].replace(".", " ").split()) for at in chosen)


def test_the_focused_window_gathers_what_lies_far_apart() -> None:
    """Two sentences that together speak of the claim are found at both ends of a document."""
    filler = [f"Paragraph {n} is about the weather." for n in range(40)]
    sentences = ["The pump was bought in May.", *filler, "Its warranty runs two years."]
    lengths = [8] * len(sentences)
    chosen = focused("The pump has a warranty of two years.", sentences, lengths, room=24)
    assert {0, 41} <= set(chosen)
