"""Questions over the demo corpora: what must, and what must not, be shown as Verified."""

from __future__ import annotations

import re

import pytest
from integration_fixtures import Bench, part_of, questions

from certirag.answers.pipeline import answer_question
from certirag.render import Mode, present

QUESTIONS = part_of(questions(), 3)


def _holds(text: str, strings: list[str]) -> bool:
    return all(string.casefold() in text.casefold() for string in strings)


@pytest.fixture(scope="module")
def shown(bench: Bench) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Answer every question once; keep how it was decided and its Verified claims."""
    found = {}
    for question in QUESTIONS:
        answer = answer_question(
            question["question"], bench.index(question["corpus"]), bench.services
        )
        seen = present(answer.export, Mode.STRICT, trusted=bench.services.trusted)
        found[question["id"]] = (
            seen.summary.reason_code
            if seen.summary.reason_code == "RELATED_ONLY"
            else seen.summary.decision,
            tuple(chip.text for chip in seen.shown),
        )
    return found


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_nothing_forbidden_is_verified(question: dict, shown: dict) -> None:
    """Superseded, conflicting and unsupported statements never get the badge."""
    _, texts = shown[question["id"]]
    # A quotation may hold several sentences: what is forbidden is that one of them says it.
    said = [sentence for text in texts for sentence in re.split(r"(?<=[.!?])\s+", text)]
    for strings in question["must_not_verify"]:
        assert not [sentence for sentence in said if _holds(sentence, strings)]


def test_most_required_claims_are_verified(shown: dict, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the statements that an answer must hold, at least three in four are Verified."""
    wanted = [(q["id"], strings) for q in QUESTIONS for strings in q["must_verify"]]
    missed = [
        (name, strings)
        for name, strings in wanted
        if not any(_holds(text, strings) for text in shown[name][1])
    ]
    with capsys.disabled():
        print(f"\nrequired claims Verified: {len(wanted) - len(missed)} of {len(wanted)}")
        for name, strings in missed:
            print(f"  missed {name}: {' … '.join(strings)}")
    assert len(missed) * 4 <= len(wanted)


def test_most_unanswerable_questions_are_refused(
    shown: dict, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the corpus holds no answer, the answer is refused more often than not."""
    unanswerable = [q["id"] for q in QUESTIONS if not q["answerable"]]
    refused = [n for n in unanswerable if shown[n][0] in {"REJECT", "RELATED_ONLY"}]
    with capsys.disabled():
        print(f"\nunanswerable questions refused: {len(refused)} of {len(unanswerable)}")
    assert len(refused) * 2 > len(unanswerable)
