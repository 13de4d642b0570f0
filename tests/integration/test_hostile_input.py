"""Hostile questions and drafts end in an answer without false badges, or in one clear line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from integration_fixtures import Bench, part_of

from certirag.answers.pipeline import MAX_DRAFT, answer_question, verify_draft
from certirag.errors import InputError
from certirag.render import Mode, present

STRINGS = Path(__file__).resolve().parents[2] / "fixtures" / "attacks" / "strings.jsonl"
ATTACKS = part_of([json.loads(line) for line in STRINGS.read_text("utf-8").splitlines()], 6)
HONEST = "Full-time employees receive 27 days of annual leave per calendar year."


def _verified(bench: Bench, export: bytes) -> list[str]:
    shown = present(export, Mode.STRICT, trusted=bench.services.trusted)
    return [chip.text for chip in shown.shown]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["id"])
def test_a_hostile_draft_gains_nothing(bench: Bench, attack: dict) -> None:
    """Before and after an honest sentence: only the honest sentence is Verified, if any."""
    index = bench.index("policy")
    for draft in (attack["text"], f"{HONEST}\n\n{attack['text']}", f"{attack['text']}\n\n{HONEST}"):
        try:
            answer = verify_draft(draft, index, bench.services)
        except InputError:  # one line that names the mend; nothing is shown
            continue
        assert set(_verified(bench, answer.export)) <= {HONEST}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["id"])
def test_a_hostile_question_is_answered_from_the_documents_only(bench: Bench, attack: dict) -> None:
    """What is Verified are sentences of the corpus; the question's words make none."""
    index = bench.index("policy")
    try:
        answer = answer_question(attack["text"], index, bench.services)
    except InputError:  # one line that names the mend; nothing is shown
        return
    assert attack["text"] not in _verified(bench, answer.export)


@pytest.mark.parametrize(
    "draft",
    ["", " \n\t ", "\u200b", "." * 500, "\ud800", "x" * (MAX_DRAFT + 1), "\x00" * 10, "?!"],
    ids=["empty", "blank", "zero width", "dots", "surrogate", "too long", "nulls", "marks"],
)
def test_degenerate_drafts_are_refused_or_unverified(bench: Bench, draft: str) -> None:
    """No exception but the one that names the mend, and never a badge."""
    try:
        answer = verify_draft(draft, bench.index("policy"), bench.services)
    except InputError:
        return
    assert _verified(bench, answer.export) == []


def test_a_very_long_draft_is_cut_by_caps_that_are_said(bench: Bench) -> None:
    """Beyond sixty checkable claims the rest is named as dropped, and twelve share their pairs."""
    draft = " ".join(f"Rule {n} allows {n} days of leave." for n in range(1, 82))
    answer = verify_draft(draft, bench.index("policy"), bench.services)
    record = json.loads(answer.export)
    settings = bench.services.settings
    assert len(record["claim_ir"]["claims"]) == settings.max_draft_claims
    assert len(record["claim_ir"]["dropped"]) == 81 - settings.max_draft_claims
    asked = [len(result["all_scores"]) for result in record["verification"]]
    for at in range(0, len(asked), settings.max_claims):
        assert sum(asked[at : at + settings.max_claims]) <= settings.max_pairs
