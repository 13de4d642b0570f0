"""The numeric suite, through the gate's `numbers` rule: what counts, and what never may."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from gate_cases import POLICY
from integration_fixtures import Bench
from near_miss_path import decide

from certirag.answers.pipeline import verify_draft
from certirag.core.claim import Claim
from certirag.core.text import ChunkSource, EvidenceChunk, SentenceSpan, SpanRef, sha256_hex
from certirag.core.verdict import SpanScore, VerificationResult
from certirag.proof.certificate import open_export
from certirag.render.gate import Case, Finding
from certirag.render.rules import numbers
from certirag.text.word_classes import word_set

SUITE = Path(__file__).resolve().parents[2] / "fixtures" / "numeric" / "cases.jsonl"
CASES = [json.loads(line) for line in SUITE.read_text(encoding="utf-8").splitlines()]
LEDGER = "; recomputed: "
# What must never pass: another value, unit, period or range, by whatever road.
WRONG_FIGURE = word_set(
    "value unit currency scale percent_vs_pp period fiscal date subject range bound published "
    "missing_operand ambiguous"
)


def case_of(row: dict, *, apart: bool = False) -> Case:
    """Return the case in which all sentences of *row* are attached, one document in order.

    *apart* puts an unattached sentence between every two of them.
    """
    title = row.get("title", "")
    text, spans = "", []
    for number, sentence in enumerate(row["evidence"], 1):
        spans.append(SentenceSpan(f"s{number}", len(text), len(text) + len(sentence), sentence))
        text += f"{sentence}\n"
        if apart:
            other = "Nothing else is said here."
            spans.append(SentenceSpan(f"x{number}", len(text), len(text) + len(other), other))
            text += f"{other}\n"
    source = ChunkSource(title, "figures.md", "", sha256_hex(text))
    chunk = EvidenceChunk("figures#1", "figures", text, sha256_hex(text), source, tuple(spans))
    attached = tuple(SpanRef(chunk.chunk_id, s.span_id) for s in spans if s.span_id[0] == "s")
    scores = tuple(
        SpanScore(chunk.chunk_id, s.span_id, "entailed", 0.97, 0.97, 0.03, 0.0, "") for s in spans
    )
    result = VerificationResult("c1", "entailed", 0.97, attached, scores)
    claim = Claim("c1", row["claim"], "numeric_fact", "factual_lit_claim")
    return Case(claim, result, {chunk.chunk_id: chunk}, POLICY)


@cache
def findings() -> dict[str, Finding]:
    """Ask the rule about every case, once."""
    return {row["id"]: numbers(case_of(row)) for row in CASES}


def seen(row: dict) -> str:
    """Return what the rule made of *row*: "match", "derived" or "no_match"."""
    finding = findings()[row["id"]]
    if not finding.passed:
        return "no_match"
    return "derived" if LEDGER in finding.reason else "match"


def test_the_suite_is_many_and_distinct() -> None:
    """At least 150 cases of many kinds, each with its own id and its own words."""
    assert len(CASES) >= 150
    assert len({row["id"] for row in CASES}) == len(CASES)
    told = {(row["claim"], *row["evidence"], row.get("title", "")) for row in CASES}
    assert len(told) == len(CASES)
    assert {row["expect"] for row in CASES} == {"match", "no_match", "derived"}
    assert all(row.get("ledger") for row in CASES if row["expect"] == "derived")
    assert len({row["kind"] for row in CASES}) >= 20


def test_nineteen_of_twenty_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    """The accuracy of each kind is printed, and what is wrong is named."""
    right = Counter(row["kind"] for row in CASES if seen(row) == row["expect"])
    asked = Counter(row["kind"] for row in CASES)
    lines = [f"{kind:16} {right[kind]:3} of {count}" for kind, count in asked.items()]
    lines += [
        f"{row['id']}: expected {row['expect']}, got {seen(row)}: {row['claim']} | "
        f"{' '.join(row['evidence'])} | {findings()[row['id']].reason}"
        for row in CASES
        if seen(row) != row["expect"]
    ]
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines))
        sys.stdout.write(f"\nnumeric suite: {right.total()} of {len(CASES)} right\n")
    assert right.total() >= 0.95 * len(CASES)


def test_no_wrong_figure_passes() -> None:
    """Nothing that the suite calls unsupported gets past the rule but a figure of another subject.

    Whose figure it is the verifier reads: no such case is Verified through the whole gate.
    """
    passed = [row for row in CASES if row["expect"] == "no_match" and findings()[row["id"]][0]]
    assert {row["id"].partition("-")[0] for row in passed} <= {
        "seed",
        "subject",
        "conversion",
        "date",
    }
    assert len(passed) <= 18
    decided = decide(
        [
            {**row, "title": row.get("title", ""), "evidence": " ".join(row["evidence"])}
            for row in passed
        ]
    )
    assert [i for i, own in decided.items() for piece in own if piece.state == "VERIFIED"] == []
    assert sum(r["expect"] == "no_match" and r["kind"] in WRONG_FIGURE for r in CASES) >= 60


@pytest.mark.parametrize(
    "row", [row for row in CASES if row["expect"] == "derived"], ids=lambda row: row["id"]
)
def test_a_derived_figure_shows_its_ledger(row: dict) -> None:
    """The reason carries the sum that was recomputed; without any one operand nothing passes."""
    finding = findings()[row["id"]]
    assert finding.passed
    assert finding.reason.endswith(LEDGER + row["ledger"])


@pytest.mark.parametrize(
    "row",
    [row for row in CASES if row["expect"] == "derived" and len(row["evidence"]) > 1],
    ids=lambda row: row["id"],
)
def test_without_an_operand_nothing_follows(row: dict) -> None:
    """Taking any sentence away takes the pass away, unless another one says the same."""
    for place in range(len(row["evidence"])):
        left = [sentence for at, sentence in enumerate(row["evidence"]) if at != place]
        repeated = row["id"] == "ambiguous-05" and place < 2
        assert numbers(case_of({**row, "evidence": left})).passed is repeated


def test_it_is_not_resolved_over_a_gap() -> None:
    """What "it" means behind a sentence that is not attached, nobody can say."""
    (row,) = [row for row in CASES if row["id"] == "percent_vs_pp-07"]
    assert numbers(case_of(row)).passed
    assert not numbers(case_of(row, apart=True)).passed


@pytest.mark.parametrize(
    "row",
    [row for row in CASES if row["kind"] == "ambiguous" and row["expect"] == "no_match"],
    ids=lambda row: row["id"],
)
def test_a_rival_counts_though_it_is_not_attached(row: dict) -> None:
    """Leaving the second figure unattached does not make the first the only one."""
    case = case_of(row)
    attached = case.result.best_evidence
    for left in range(len(attached)):
        some = tuple(ref for at, ref in enumerate(attached) if at != left)
        result = replace(case.result, best_evidence=some)
        assert not numbers(replace(case, result=result)).passed


def test_the_order_of_the_attached_spans_decides_nothing() -> None:
    """The rule reads the spans in the order of their document, whatever the record's order."""
    for row in CASES:
        case = case_of(row)
        turned = tuple(reversed(case.result.best_evidence))
        again = numbers(replace(case, result=replace(case.result, best_evidence=turned)))
        assert again == findings()[row["id"]]


def test_rounded_and_derived_figures_over_a_corpus(bench: Bench) -> None:
    """Of 17 true ones at least the two that are Verified stay so; of 10 untrue ones none is.

    A figure that a document rounds is found; what has to be reckoned over two documents is not.
    """
    index = bench.index("finance")
    counts: Counter[tuple[bool, str]] = Counter()
    for line in (SUITE.parent / "finance.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        export = verify_draft(row["claim"], index, bench.services).export
        record = open_export(export, bench.services.trusted)
        states = {decision.render_state for decision in record.decisions}
        state = states.pop() if len(states) == 1 else "PARTLY"
        counts[row["true"], state] += 1
    print(f"\nrounded and derived figures: {dict(counts)}")
    assert counts[True, "VERIFIED"] >= 2
    assert counts[False, "VERIFIED"] == 0
    assert counts[True, "BLOCKED"] <= 1
