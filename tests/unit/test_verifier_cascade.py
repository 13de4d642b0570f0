"""The cascade: whom it asks, whose word counts, and what becomes of failures."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from certirag.adapters.networks.pair_model import refused
from certirag.adapters.verifiers.cascade import OPPOSES, CascadeVerifier
from certirag.core.generation import ModelIdentity
from certirag.core.verdict import Label
from certirag.errors import InputError, ModelError, VerifierError
from certirag.ports import Judgement, Pair


class Fixed:
    """Gives each claim the judgement that was fixed for it, and remembers what it was asked."""

    def __init__(self, name: str, judgements: dict[str, Judgement]) -> None:
        self.identity = ModelIdentity("verifier", name, "1", name * 8)
        self._judgements = judgements
        self.asked: list[str] = []

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        self.asked += [pair.claim for pair in pairs]
        return [self._judgements[pair.claim] for pair in pairs]


class Failing(Fixed):
    """Raises the error it was made with."""

    def __init__(self, error: Exception) -> None:
        super().__init__("failing", {})
        self._error = error

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        raise self._error


def says(entailed: float, contradicted: float = 0.0, **more: object) -> Judgement:
    """Return a judgement with these scores."""
    rest = round(1.0 - entailed - contradicted, 6)
    scores: dict[Label, float] = {
        "entailed": entailed,
        "not_enough_info": rest,
        "contradicted": contradicted,
    }
    label = max(scores, key=lambda name: scores[name])
    return Judgement(label, entailed, rest, contradicted, **more)


def cascade(
    cheap: dict[str, Judgement], strong: dict[str, Judgement], **band: float
) -> tuple[CascadeVerifier, Fixed]:
    """Return a cascade of two fixed verifiers, and the strong one."""
    second = Fixed("strong", strong)
    return CascadeVerifier(Fixed("cheap", cheap), second, **band), second


def ask(verifier: CascadeVerifier, *claims: str) -> list[Judgement]:
    """Return the judgements of *claims*."""
    return list(verifier.judge([Pair(claim, "Evidence.") for claim in claims]))


def test_only_the_band_is_asked_again() -> None:
    """Both ends belong to the band; outside it the cheap verifier's word stands."""
    cheap = {"a": says(0.1), "b": says(0.3), "c": says(0.5), "d": says(0.8), "e": says(0.9)}
    strong = {claim: says(0.7) for claim in "bcd"}
    verifier, second = cascade(cheap, strong, low=0.3, high=0.8)
    first, *asked, last = ask(verifier, *"abcde")
    assert second.asked == ["b", "c", "d"]
    assert (first, last) == (cheap["a"], cheap["e"])
    assert [judgement.entailed for judgement in asked] == [0.7] * 3
    assert (verifier.total, verifier.asked) == (5, 3)
    assert verifier.saved_share == pytest.approx(0.4)


def test_by_default_no_support_rests_on_the_cheap_one() -> None:
    """Every pair that the cheap verifier finds entailed is asked again, the surest too."""
    verifier, second = cascade({"a": says(1.0), "b": says(0.0)}, {"a": says(0.2)})
    sure, none = ask(verifier, "a", "b")
    assert second.asked == ["a"]
    assert (sure.label, sure.entailed) == ("not_enough_info", 0.2)
    assert none.entailed == 0.0


def test_either_may_support_what_the_other_does_not_deny() -> None:
    """Where the strong one sees too little, its word stands; contradiction is never lost."""
    cheap = {
        "kept": says(0.9),
        "denied": says(0.9),
        "raised": says(0.1, 0.35),
        "both": says(0.9, 0.1),
        "opposed": says(0.1, 0.6),
        "doubtful": says(0.1, 0.4),
    }
    strong = {
        "kept": says(0.6),
        "denied": says(0.49),
        "raised": says(0.95),
        "both": says(0.5, 0.5),
        "opposed": says(0.9),
        "doubtful": says(0.9),
    }
    verifier, _ = cascade(cheap, strong, low=0.0, agreed=0.5)
    kept, denied, raised, both, opposed, doubtful = ask(verifier, *cheap)
    assert [one.entailed for one in (kept, denied, raised)] == [0.9, 0.49, 0.95]
    assert (both.entailed, both.contradicted) == (0.5, 0.5)
    assert (opposed.entailed, opposed.contradicted) == (0.4, 0.6)
    # The strictest shipped policy acts on 0.40: so much is kept, whatever the strong one sees.
    assert (doubtful.entailed, doubtful.contradicted) == (0.6, 0.4)
    assert verifier.identity.name.endswith(",0.0,1.0,0.5")
    with pytest.raises(InputError, match="agree"):
        cascade(cheap, strong, agreed=1.2)


@pytest.mark.parametrize(
    ("cheap", "strong", "expected"),
    [
        (says(0.5, 0.4), says(0.95, 0.0), (0.6, 0.0, 0.4)),
        (says(0.4, 0.6), says(1.0, 0.0), (0.4, 0.0, 0.6)),
        (says(0.5, 0.0), says(0.1, 0.8), (0.1, 0.1, 0.8)),
        (says(0.5, 0.1), says(0.9, 0.05), (0.9, 0.0, 0.1)),
    ],
)
def test_contradiction_is_never_taken_away(
    cheap: Judgement, strong: Judgement, expected: tuple[float, float, float]
) -> None:
    """Contradiction is the higher of the two; support is the strong one's as far as it fits."""
    verifier, _ = cascade({"a": cheap}, {"a": strong})
    (judgement,) = ask(verifier, "a")
    found = (judgement.entailed, judgement.not_enough_info, judgement.contradicted)
    assert found == pytest.approx(expected, abs=1e-9)
    assert sum(found) == pytest.approx(1.0, abs=1e-9)


UNSOUND = (
    Judgement("error", 0.0, 1.0, 0.0, error="out of order"),
    Judgement("entailed", math.nan, 0.0, 0.0),
    Judgement("entailed", 2.0, 0.0, 0.0),
    Judgement("verified", 1.0, 0.0, 0.0),  # type: ignore[arg-type]
    None,
)


@pytest.mark.parametrize("unsound", UNSOUND)
def test_a_failing_pair_is_an_error(unsound: Judgement) -> None:
    """Where either verifier fails, the pair has the label error, and the others are untouched."""
    verifier, _ = cascade(
        {"a": says(0.5), "b": says(0.5), "c": unsound},
        {"a": unsound, "b": says(0.9), "c": says(1.0)},
    )
    strong_failed, fine, cheap_failed = ask(verifier, "a", "b", "c")
    for judgement in (strong_failed, cheap_failed):
        assert judgement.label == "error"
        assert judgement.entailed == 0.0
        assert judgement.error
    assert fine.entailed == 0.9


@pytest.mark.parametrize("error", [VerifierError("down"), ModelError("gone"), RuntimeError("x")])
def test_a_verifier_that_fails_as_a_whole(error: Exception) -> None:
    """Without the strong one its pairs are errors; without the cheap one all are."""
    cheap = Fixed("cheap", {"a": says(0.1), "b": says(0.9)})
    kept, lost = ask(CascadeVerifier(cheap, Failing(error)), "a", "b")
    assert kept == says(0.1)
    assert lost.label == "error"
    assert {j.label for j in ask(CascadeVerifier(Failing(error), cheap), "a", "b")} == {"error"}


def test_a_verifier_that_drops_pairs_is_not_believed() -> None:
    """Fewer answers than pairs cannot be matched to them."""

    class Dropping(Fixed):
        def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
            return [says(1.0)]

    cheap = Fixed("cheap", {"a": says(0.5), "b": says(0.5)})
    verifier = CascadeVerifier(cheap, Dropping("strong", {}))
    assert [judgement.label for judgement in ask(verifier, "a", "b")] == ["error", "error"]


def test_what_was_not_read_whole_stays_marked() -> None:
    """Either verifier's mark of truncation is kept, on support and on errors."""
    refused = Judgement("error", 0.0, 1.0, 0.0, truncated=True, error="too long")
    verifier, _ = cascade(
        {"a": refused, "b": says(0.5), "c": says(0.5, truncated=True), "d": says(0.5)},
        {"b": refused, "c": says(0.9), "d": says(0.9, truncated=True)},
    )
    judgements = ask(verifier, "a", "b", "c", "d")
    assert [judgement.truncated for judgement in judgements] == [True] * 4
    assert [judgement.error for judgement in judgements[:2]] == ["too long"] * 2


def test_counts_add_up_over_calls() -> None:
    """Before anything was judged nothing was saved; counts go on from call to call."""
    verifier, _ = cascade({"a": says(0.1), "b": says(0.9)}, {"b": says(0.9)})
    assert verifier.saved_share == 0.0
    assert ask(verifier) == []
    for _ in range(3):
        ask(verifier, "a", "b", "a", "a")
    assert (verifier.total, verifier.asked, verifier.saved_share) == (12, 3, 0.75)


def test_identity_covers_both_and_the_band() -> None:
    """Another part, or another band, is another verifier; the name says all of it."""
    one, two = Fixed("one", {}), Fixed("two", {})
    made = [
        CascadeVerifier(one, two),
        CascadeVerifier(two, one),
        CascadeVerifier(one, one),
        CascadeVerifier(one, two, low=0.4),
        CascadeVerifier(one, two, high=0.9),
    ]
    assert len({verifier.identity.sha256 for verifier in made}) == len(made)
    assert made[0].identity == CascadeVerifier(one, two).identity
    assert made[3].identity.name == "cascade:one,two,0.4,1.0"


@pytest.mark.parametrize(("low", "high"), [(0.6, 0.5), (-0.1, 0.5), (0.5, 1.1), (math.nan, 1.0)])
def test_an_unsound_band_is_refused(low: float, high: float) -> None:
    """A band that is empty, beyond [0, 1] or no number is an InputError."""
    with pytest.raises(InputError, match="band"):
        CascadeVerifier(Fixed("one", {}), Fixed("two", {}), low=low, high=high)


FOUR, OTHER = "Losses are told within 4 hours.", "Losses are told within 24 hours."
EVIDENCE = "Losses are told to the desk within 24 hours."


@pytest.mark.parametrize(
    ("cheap", "strong", "against"),
    [
        (0.9, says(0.9), 0.9),  # what the evidence says with its own figure, it denies with another
        (0.8, says(0.8), 0.65),  # enough to contest, not to accuse
        (0.8, says(0.95), 0.65),  # both have to be sure
        (0.6, says(0.6), 0.2),
        (0.9, Judgement("error", 0.0, 0.0, 0.0, error="late"), 0.2),
    ],
)
def test_evidence_with_another_figure_speaks_against_a_claim(
    cheap: float, strong: Judgement, against: float
) -> None:
    """It is asked what it says of the claim with its figure; it never speaks for it by that."""
    own = says(0.05, 0.2)
    first, second = {FOUR: own, OTHER: says(cheap)}, {FOUR: own, OTHER: strong}
    verifier, _ = cascade(first, second, low=0.5)
    (found,) = verifier.judge([Pair(FOUR, EVIDENCE)])
    assert found.contradicted == against
    assert found.entailed <= 0.05


class Short(Fixed):
    """Reads evidence of no more than *most* words; *opposed* by a word, and by every part that holds it."""

    def __init__(
        self, name: str, most: int, opposed: str = "", support: float = 0.9, against: float = 0.8
    ) -> None:
        super().__init__(name, {})
        self._most, self._opposed = most, opposed
        self._support, self._against = support, against
        self.read: list[str] = []

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        self.read += [pair.evidence for pair in pairs]
        return [self._said(pair.evidence.split()) for pair in pairs]

    def _said(self, words: Sequence[str]) -> Judgement:
        if len(words) > self._most:
            return refused("too long", truncated=True)
        return says(0.1, self._against) if self._opposed in words else says(self._support)


LONG = " ".join(f"word{number}" for number in range(330))
LETTERS = "Letters are kept."


def long_cascade(cheap: Short, strong: Short | None = None) -> Judgement:
    """Return what a cascade says of a claim about `LONG`."""
    (found,) = CascadeVerifier(cheap, strong or Short("strong", 200)).judge([Pair(LETTERS, LONG)])
    return found


def test_what_is_too_long_supports_nothing_and_is_read_in_parts() -> None:
    """Every word is read, and so is every run of fifty together, but no part can bear the claim out."""
    cheap = Short("cheap", 200)
    assert long_cascade(cheap) == Judgement("not_enough_info", 0.0, 1.0, 0.0)
    whole, *parts = cheap.read
    assert whole == LONG
    words = LONG.split()
    for at in range(len(words) - 50):
        assert any(" ".join(words[at : at + 51]) in part for part in parts)
    assert all(len(part.split()) <= 100 for part in parts)


@pytest.mark.parametrize("at", [0, 99, 100, 165, 329])
@pytest.mark.parametrize("who", ["cheap", "strong"])
def test_a_part_that_opposes_leaves_the_error(who: str, at: int) -> None:
    """Wherever it stands and whoever sees it: not contradicted, for the whole may say otherwise, and no badge."""
    opposed = Short(who, 200, f"word{at}")
    found = long_cascade(opposed) if who == "cheap" else long_cascade(Short("cheap", 200), opposed)
    assert (found.label, found.truncated, found.error) == ("error", True, "too long")


def test_from_where_on_a_part_opposes() -> None:
    """Below it, what a part has against the claim is what the whole has."""
    assert long_cascade(Short("cheap", 200, "word40", against=OPPOSES)).label == "error"
    found = long_cascade(Short("cheap", 200, "word40", against=0.39))
    assert found == Judgement("not_enough_info", 0.0, 0.61, 0.39)


def test_a_part_that_cannot_be_read_leaves_the_error() -> None:
    """Either verifier may read less; nothing is left out."""
    assert long_cascade(Short("cheap", 60)).label == "error"
    assert long_cascade(Short("cheap", 200), Short("strong", 60)).label == "error"
    assert long_cascade(Short("cheap", 200, support=0.0), Short("strong", 60)).label != "error"


def test_what_the_strong_one_alone_cannot_read_is_read_in_parts_too() -> None:
    """Support by the cheap one counts for nothing there."""
    found = long_cascade(Short("cheap", 1_000), Short("strong", 200))
    assert found == Judgement("not_enough_info", 0.0, 1.0, 0.0)


@pytest.mark.parametrize("words", [1, 100, 150, 651])
def test_other_lengths_are_not_cut(words: int) -> None:
    """What is too long for another reason, or by far, stays an error and costs no more."""
    cheap = Short("cheap", 0)
    (found,) = CascadeVerifier(cheap, Short("strong", 0)).judge([Pair(LETTERS, "a " * words)])
    assert found.label == "error"
    assert len(cheap.read) == (1 if words != 150 else 3)


def test_a_figure_of_a_long_sentence_that_differs_leaves_the_error() -> None:
    """What a part says with another figure would contest the claim: nothing is said of it."""
    evidence = f"{LONG} the rent is 40 euros a month"
    cheap, strong = Short("cheap", 200), Short("strong", 200)
    (found,) = CascadeVerifier(cheap, strong).judge(
        [Pair("The rent is 50 euros a month.", evidence)]
    )
    assert found.label == "error"
