"""Whole small documents with true and untrue claims about them, as a demanding user writes them.

No rule or network was fitted to `documents_blind.jsonl` and `documents_plain.jsonl`; but the thresholds that
ship were chosen with their figures in view, so that neither is blind any more. `documents_unseen.jsonl` was
written after that by somebody who saw nothing of the gate. Of its claims one was read, which ended in an error;
by now the figures of two networks and two settings on it have been seen. `documents_fresh.jsonl` was written
by another such writer: version 4 of the network was tried on it once, with six settings, and so was the one before.
`documents_late.jsonl` is by a third such writer: its first run was that of version 5. `documents_seventh.jsonl`
is the newest, by a fourth: version 5 had 31 of 120 and 2 of 160 there, and a later one that does not ship 37 and 2.
Version 6 was measured on all of them before it was shipped, and so were two that were not.
`documents_eighth.jsonl` is by a fifth such writer, after all of that: its figures are a first run.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from integration_fixtures import WHOLE, Bench, part_of
from near_miss_path import Row, decide, wholly_verified

from certirag.answers.pipeline import answer_question
from certirag.bootstrap import index_of_paths
from certirag.render import Mode, present

HELD_OUT = Path(__file__).resolve().parents[2] / "fixtures" / "heldout"
# CERTIRAG_WHOLE=1 asks about every document, as the cards of the networks do. Of the untrue claims how
# many may be Verified, and of the true ones how many are at least. They are 120 and 120 in the first two
# sets, 160 and 120 in the seventh, 192 and 144 in the eighth, 240 and 180 in the others.
FLOORS = {
    "documents": (1, 29),
    "documents_blind": (0, 33),
    "documents_plain": (0, 27),
    "documents_unseen": (0, 54),
    "documents_fresh": (3, 45),
    "documents_late": (2, 62),
    "documents_seventh": (1, 37),
    "documents_eighth": (4, 32),
}
EVERY = 2
# The same of every second document of the last set, without it. Networks of eight bits differ in the
# third figure between processors: two of the true ones lie at 0.847 and 0.848 on one, where 0.85 is needed.
OF_A_PART = {"documents_eighth": (3, 17)}

# Of 60 questions (of every sixth) at least so many begin with their sentence; of the 30 others at most so
# many answer.
QUESTIONS = {"documents_late": (33, 4) if WHOLE else (5, 1)}


def _rows(name: str) -> list[tuple[Row, bool, str]]:
    found = []
    for line in (
        (HELD_OUT / f"{name}.jsonl").read_text("utf-8").splitlines()[:: 1 if WHOLE else EVERY]
    ):
        one = json.loads(line)
        title, _, text = one["document"].removeprefix("# ").partition("\n")
        for number, (claim, true, kind) in enumerate(one["claims"]):
            row = {
                "id": f"{one['name']}-{number}",
                "title": title.strip(),
                "evidence": text.strip(),
                "claim": claim,
                "format": "md",
            }
            found.append((row, true, kind))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", FLOORS if WHOLE else OF_A_PART)
def test_few_untrue_claims_are_verified_and_not_fewer_true_ones(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The share of untrue claims is near nought; that of true ones is what wants to grow."""
    rows = _rows(name)
    assert len({row["id"] for row, _, _ in rows}) == len(rows) >= (240 if WHOLE else 168)
    decided = decide([row for row, _, _ in rows])
    verified = [
        (row, true, kind) for row, true, kind in rows if wholly_verified(decided[row["id"]])
    ]
    wrong = [row for row, true, _ in verified if not true]
    right = Counter(kind for _, true, kind in verified if true)
    asked = Counter(kind for _, true, kind in rows if true)
    with capsys.disabled():
        by_kind = ", ".join(f"{kind} {right[kind]}/{n}" for kind, n in sorted(asked.items()))
        print(
            f"\n{name}: untrue claims Verified {len(wrong)} of {len(rows) - asked.total()}, "
            f"true ones {right.total()} of {asked.total()} ({by_kind})"
        )
    most_wrong, least_right = (FLOORS if WHOLE else OF_A_PART)[name]
    assert len(wrong) <= most_wrong
    assert right.total() >= least_right


def _flat(text: str) -> str:
    return " ".join(text.replace("|", " ").split()).casefold().rstrip(".")


def _says(text: str, answer: str) -> bool:
    """Say whether *text* holds the sentence *answer*, all cells of the row, or a part of it."""
    cells = [_flat(cell) for cell in answer.split("|") if cell.strip()]
    whole = len(text) > 25 and _flat(text) in _flat(answer)
    return whole or all(cell in _flat(text) for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_over_documents_that_nobody_had_read(
    name: str, bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of everyday questions how many begin with their sentence, of those without one how many do."""
    for line in (HELD_OUT / f"{name}.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        (tmp_path / f"{one['name']}.md").write_text(one["document"], encoding="utf-8")
    index, _ = index_of_paths([tmp_path], bench.services, lambda *_: None)
    found = Counter[str]()
    lines = (HELD_OUT / f"{name}_questions.jsonl").read_text("utf-8").splitlines()
    for line in part_of(lines, 6):
        asked = json.loads(line)
        answer = answer_question(asked["question"], index, bench.services)
        seen = present(answer.export, Mode.STRICT, trusted=bench.services.trusted)
        texts = [chip.text for chip in seen.shown]
        answered = bool(texts) and seen.summary.reason_code != "RELATED_ONLY"
        if asked["answer"] is None:
            found["called answered without one"] += answered
            continue
        says = [_says(text, asked["answer"]) for text in texts]
        found["called answered"] += answered
        found["first"] += answered and says[0]
        found["shown"] += any(says)
    with capsys.disabled():
        print(f"\nquestions about {name}: {dict(found)}")
    first, wrongly_answered = QUESTIONS[name]
    assert found["first"] >= first, found
    assert found["called answered without one"] <= wrongly_answered, found
