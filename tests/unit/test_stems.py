"""One stem for the forms of a word, whoever asks and whatever it is given."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certirag.text.stems import FUNCTION_WORDS, stem


@pytest.mark.parametrize(
    "forms",
    [
        "process processes processed Processing",
        "policy policies policy's policy’s",
        "reimburse reimburses reimbursed reimbursement",
        "carry carries carried",
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: str) -> None:
    """Number, tense, possessives and capitals do not count."""
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize("pair", ["contract contractor", "prednisone prednisolone", "news newer"])
def test_words_that_look_alike_keep_their_stems(pair: str) -> None:
    """Another word has another stem."""
    one, other = pair.split()
    assert stem(one) != stem(other)


def test_threads_do_not_mix_their_words() -> None:
    """A stemmer that is shared would return the stem of another thread's word."""
    words = [
        f"{letter}{ending}" for letter in "bcdfg" for ending in ("oxes", "iling", "ained")
    ] * 40
    fresh = [f"{word}{number}ing" for number, word in enumerate(words)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(stem, fresh))
    assert found == [word.removesuffix("ing") for word in fresh]


@given(st.text(max_size=200))
def test_anything_has_a_stem(text: str) -> None:
    """Any text is taken; what is no word of any length keeps its letters."""
    assert isinstance(stem(text), str)
    assert stem("x" * 100 + "s") == "x" * 100 + "s"


def test_what_denies_or_limits_is_no_function_word() -> None:
    """Two texts may differ in it alone."""
    assert not FUNCTION_WORDS & {"no", "not", "never", "all", "only", "some", "every"}
