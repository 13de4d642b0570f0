"""How often badges are wrong is counted through the gate, and a bad file says which line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import AlignedWords

from certirag.bootstrap import load_policy, make_splitter
from certirag.core.generation import ModelIdentity
from certirag.errors import ModelError
from certirag.eval.gate_counts import BadgeCount, LabelledRow, count_badges, measure_set
from certirag.ports import Judgement, Pair
from certirag.settings import read_settings
from certirag.verification.lexical import scoring
from certirag.verification.measured import AtThreshold
from training.badges import each_check, main

_DOCUMENT = "The old mill of Corrant was sold in 1987. Its wheel is made of oak."


class _Credulous:
    """Finds every claim entailed by every text, as no verifier should."""

    identity = ModelIdentity("verifier", "credulous", "1", "ab" * 32)

    def judge(self, pairs: list[Pair]) -> list[Judgement]:
        """Support everything."""
        return [Judgement("entailed", 0.99, 0.01, 0.0) for _ in pairs]


def _rows() -> list[LabelledRow]:
    return [
        LabelledRow("", _DOCUMENT, "The wheel of the mill is made of oak.", entailed=True),
        LabelledRow("", _DOCUMENT, "The old mill of Corrant was sold quickly.", entailed=False),
        LabelledRow("", _DOCUMENT, "The old mill was bought in 1988.", entailed=False),
    ]


def test_a_credulous_verifier_is_caught_by_the_count_and_the_gate_still_reads_numbers() -> None:
    """The false statement gets a wrong badge; the wrong year gets none, whatever the score."""
    settings = read_settings({})
    (found,) = count_badges(
        _rows(), _Credulous(), [load_policy("base-1")], make_splitter("rules"), settings
    )
    assert found == BadgeCount(badges=2, wrong=1, asked=1, whole=1)


def test_a_badge_on_the_true_part_of_a_row_is_not_wrong() -> None:
    """Only a badge whose text holds the untrue words counts against the gate."""
    row = LabelledRow("", _DOCUMENT, "The wheel is made of oak.", entailed=False, false="steel")
    (found,) = count_badges(
        [row], _Credulous(), [load_policy("base-1")], make_splitter("rules"), read_settings({})
    )
    assert (found.badges, found.wrong) == (1, 0)


def test_of_a_row_with_several_claims_nobody_knows_which_is_wrong() -> None:
    """Its badges count for nothing, unless every claim has one: then one of them is wrong."""
    half = "The wheel is made of oak. The mill was sold in 1988."
    both = "The wheel is made of oak. The mill was sold quickly."
    settings, policy = read_settings({}), load_policy("base-1")
    for text, counted in ((half, (0, 0)), (both, (1, 1))):
        row = LabelledRow("", _DOCUMENT, text, entailed=False)
        (found,) = count_badges([row], _Credulous(), [policy], make_splitter("rules"), settings)
        assert (found.badges, found.wrong) == counted


class _Doubting(_Credulous):
    """Finds each claim entailed the more surely the longer it is, and counts what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Pair] = []

    def judge(self, pairs: list[Pair]) -> list[Judgement]:
        """Give a score of the claim's length alone."""
        self.asked += pairs
        scores = [0.96 if len(pair.claim) > 35 else 0.88 for pair in pairs]
        return [Judgement("entailed", score, 1 - score, 0.0) for score in scores]


def test_other_thresholds_are_decided_from_one_measuring() -> None:
    """Each policy is counted at the grid and at its own threshold; the verifier is asked once."""
    settings, split = read_settings({}), make_splitter("rules")
    own = replace(load_policy("base-1"), name="own", tau_entail=0.87)
    strict = replace(own, name="strict", tau_entail=0.95)
    rows = [
        LabelledRow("", _DOCUMENT, "The wheel of the mill is made of oak.", entailed=True),
        LabelledRow("", _DOCUMENT, "The mill was sold quickly.", entailed=False),
        LabelledRow("", _DOCUMENT, "The wheel is made of oak.", entailed=True),
    ]
    alone, both = _Doubting(), _Doubting()
    count_badges(rows, alone, [own], split, settings)
    first, second = measure_set(("rows", "Rows."), rows, both, [own, strict], split, settings)
    assert alone.asked
    assert both.asked == alone.asked
    assert (first.badges, first.wrong, first.true_rows) == (3, 1, 2)
    assert (second.badges, second.wrong, second.true_rows) == (1, 0, 2)
    for measurement in (first, second):
        for at in measurement.thresholds:
            trial = replace(measurement.policy, tau_entail=at.tau_entail)
            (n,) = count_badges(rows, _Doubting(), [trial], split, settings)
            assert (at.badges, at.wrong, at.covered) == (n.badges, n.wrong, n.whole)
    assert first.at(0.87) == AtThreshold(0.87, 3, 1, 2)
    assert first.at(0.9) == AtThreshold(0.9, 1, 0, 1)
    assert first.at(0.99) == AtThreshold(0.99, 0, 0, 0)
    assert second.at(0.87) is None


def test_where_no_badge_is_granted_there_is_no_share_of_wrong_ones() -> None:
    """One line names the set and the policy, and says what to do."""
    policy = replace(load_policy("base-1"), name="own", tau_entail=1.0)
    split, settings = make_splitter("rules"), read_settings({})
    with pytest.raises(
        ModelError, match=r"^rows: own grants no badge there, .* more rows"
    ) as caught:
        measure_set(("rows", "Rows."), _rows(), _Doubting(), [policy], split, settings)
    assert "\n" not in str(caught.value)


def test_what_each_check_is_worth_is_counted_and_all_are_there_again() -> None:
    """A denial is stopped by one check alone, an exchange by two; the verifier is as before then."""
    rows = [
        LabelledRow("", document, said, entailed=document == said)
        for document, said in (
            ("The mayor opened the pool in May.", "The mayor opened the pool in May."),
            ("The pool was not opened by the mayor.", "The pool was opened by the mayor."),
            ("Ida Vance wrote to Tom Okafor in May.", "Tom Okafor wrote to Ida Vance in May."),
        )
    ]
    before = scoring.CHECKS
    verifier = AlignedWords()
    settings, policy = read_settings({}), load_policy("base-1")
    found = list(each_check(rows, verifier, policy, make_splitter("rules"), settings))
    assert [name for name, _, _ in found] == [*(c.__name__ for c in before), "all of them"]
    assert all(costs == 0 for _, _, costs in found)
    assert [one for one in found if one[1]] == [("polarity", 1, 0), ("all of them", 2, 0)]
    assert scoring.CHECKS is before


def test_a_premise_in_markdown_has_its_sections() -> None:
    """What stands under a heading is read under it, not as one paragraph with it."""
    asked: list[Pair] = []

    class Listening(_Credulous):
        def judge(self, pairs: list[Pair]) -> list[Judgement]:
            asked.extend(pairs)
            return super().judge(pairs)

    row = LabelledRow(
        "", "# Lido\n\n## Prices\n\nA swim costs £4.", "A swim costs £4.", entailed=True
    )
    count_badges(
        [row], Listening(), [load_policy("base-1")], make_splitter("rules"), read_settings({})
    )
    first = asked[0]
    assert first.evidence == "A swim costs £4."
    assert ("Lido" in first.context, "Prices" in first.context) == (True, True)


def test_what_the_checks_are_worth_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line for each check and one for all; where none stops or costs a row, all are 0."""
    pairs = tmp_path / "pairs.jsonl"
    row = {"premise": _DOCUMENT, "hypothesis": "Its wheel is made of oak.", "label": "entailed"}
    pairs.write_text(json.dumps(row), encoding="utf-8")
    assert main(["--pairs", str(pairs), "--verifier", "embedded"]) == 0
    _, *lines = capsys.readouterr().out.splitlines()
    names = [*(check.__name__ for check in scoring.CHECKS), "all of them"]
    assert lines == [f"{name} | 0 | 0" for name in names]


@pytest.mark.parametrize("line", ["[]", "{}", '{"premise": 1, "hypothesis": "a", "label": "b"}'])
def test_a_malformed_row_is_one_line_that_names_it(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and no traceback."""
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(line + "\n", encoding="utf-8")
    assert main(["--pairs", str(pairs)]) == 2
    assert f"{pairs}, line 1" in capsys.readouterr().err
