"""`certirag eval stages`: each stage alone, on labelled data of its own (fifth seed, §7.3).

Retrieval and the gate are runs of their own below the folder, and go on there; the others are measured
on the fixtures made for them. Where nobody labelled anything for a stage, the table says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from certirag import __version__
from certirag.bootstrap import load_policy
from certirag.core.claim import Claim
from certirag.core.policy import Policy
from certirag.core.text import ChunkSource, EvidenceChunk, SentenceSpan, SpanRef, sha256_hex
from certirag.core.verdict import SpanScore, VerificationResult
from certirag.drafting.extractive import QuotableSentence, instruct
from certirag.eval.builtin import (
    BuiltinRun,
    fixture_lines,
    labelled_statements,
    run_builtin,
    scratch_services,
)
from certirag.eval.builtin_questions import AskedQuestion
from certirag.eval.cited_cases import corrected_cases
from certirag.eval.claim_comparison import COMPARISONS, LEVELS, claim_complexity
from certirag.eval.figure_tables import FigureTable
from certirag.eval.gate_counts import trials_of
from certirag.eval.pair_figures import CALLED, json_values
from certirag.eval.pair_rows import read_measured_rows
from certirag.eval.pairs import ROWS, begin_run, head_of
from certirag.eval.resumable import measured_lines, read_lines
from certirag.eval.retrieval import RANKED, RetrievalRun, run_retrieval
from certirag.eval.retrieval_report import RERANKED, RankedQuestion
from certirag.eval.systems import Share
from certirag.eval.workload import FIXTURES
from certirag.ingest.sentences import sentence_splitter
from certirag.ports import Progress, Reader
from certirag.render import certify
from certirag.settings import Settings
from certirag.verification.question_answers import question_records

FORMAT: Final = 4  # of a run and its figures
PARTS: Final = "parts.jsonl"
# Each file of texts, and what the table calls it.
_INSTRUCTIONS: Final = {
    "instructions/test": "fixtures/instructions",
    "instructions/test_short": "fixtures/instructions, of up to 14 words",
}
_ABSENT: Final = (
    "Claim splitting: no fixture holds splits made by hand; tests hold single cases.",
    "Routing: nobody said how closely a claim has to be looked at.",
    "Writing by a language model: none ships; `certirag eval writers` measures yours.",
    "A learnt comparison of answers: no package carries the weights of one.",
)
_ENTAILED: Final = 0.97  # what the figures are told about entailment, so that they decide alone


@dataclass(frozen=True, slots=True)
class StageFigure:
    """What one stage makes of data of its own."""

    stage: str
    data: str
    figure: str
    share: Share


@dataclass(frozen=True, slots=True)
class MeasuredStage:
    """The figures of the part *number* of those that are no run of their own."""

    number: int
    figures: tuple[StageFigure, ...]


@dataclass(frozen=True, slots=True)
class StagesRun:
    """A run into the folder *out*; *every* *every*-th unit of each set of data."""

    out: Path
    every: int = 1
    jobs: int = 1


def run_stages(run: StagesRun, settings: Settings, progress: Progress) -> dict[str, Any]:
    """Measure each stage that *run*'s folder does not have yet, and return the figures of all.

    Raises InputError where the fixtures are not there, and for a folder of another run.
    """
    policy = load_policy(settings.policy)
    services = scratch_services(settings)
    begin_run(
        run.out,
        {
            "format": FORMAT,
            "what": "stages",
            "data": {"name": "the fixtures", "sha256": _digest()},
            "every": run.every,
            "models": [asdict(model) for model in services.models],
            "policy": asdict(policy),
            "settings": settings.caps(),
            "certirag": __version__,
        },
    )
    parts = measured_lines(
        run.out / PARTS,
        TypeAdapter(MeasuredStage),
        list(enumerate(_MEASURED)),
        partial(_measure, settings=settings, every=run.every),
        partial(progress, "Measuring parts"),
        jobs=min(run.jobs, len(_MEASURED)),
    )
    searched, built = run.out / "retrieval", run.out / "builtin"
    run_retrieval(RetrievalRun(None, searched, run.every, run.jobs), settings, progress)
    run_builtin(BuiltinRun(built, run.every, run.jobs), settings, progress)
    found = [
        *_of_retrieval(searched),
        *(figure for part in parts for figure in part.figures),
        *_of_the_benchmark(built, policy),
    ]
    return _report(found, run.out, head_of(services.verifier, policy), run.every)


def _digest() -> str:
    names = ("numeric/cases", "two_part/test", *_INSTRUCTIONS, "citations/policy")
    rows = [list(fixture_lines(FIXTURES / f"{name}.jsonl")) for name in names]
    return hashlib.sha256(repr((rows, list(labelled_statements()))).encode()).hexdigest()


def _measure(
    units: Sequence[tuple[int, str]], settings: Settings, every: int
) -> list[MeasuredStage]:
    return [
        MeasuredStage(number, tuple(_MEASURED[name](settings, every))) for number, name in units
    ]


def _questions_cut(settings: Settings, every: int) -> Iterator[StageFigure]:
    reader = scratch_services(settings).reader
    rows = list(fixture_lines(FIXTURES / "two_part" / "test.jsonl"))[::every]
    for two, what in ((True, "two questions cut as by hand"), (False, "one question left whole")):
        own = [row for row in rows if (len(row["parts"]) > 1) == two]
        right = sum(list(reader.parts(row["question"])) == row["parts"] for row in own)
        yield StageFigure("question", "fixtures/two_part", what, Share(right, len(own)))


def _instructions(settings: Settings, every: int) -> Iterator[StageFigure]:
    """Ask about each text by itself, and about its sentences amid a passage of ordinary ones."""
    reader = scratch_services(settings).reader
    for name, data in _INSTRUCTIONS.items():
        rows = list(fixture_lines(FIXTURES / f"{name}.jsonl"))[::every]
        yield from _told(rows, data, reader)


def _told(rows: Sequence[Mapping[str, Any]], data: str, reader: Reader) -> Iterator[StageFigure]:
    alone = reader.instructs([row["text"] for row in rows])
    plain = [row["text"] for row in rows if not row["label"]]
    amid = []
    for at, row in enumerate(rows):
        others = [
            text for text in (plain * 2)[at % max(1, len(plain)) :][:7] if text != row["text"]
        ]
        amid.append(_told_amid(row["text"], others[:6], reader))
    for told, where in ((alone, ""), (amid, " in a passage")):
        for label, what in (
            (1, "texts that instruct a model, told"),
            (0, "other texts, called so"),
        ):
            own = [mark for mark, row in zip(told, rows, strict=True) if row["label"] == label]
            share = Share(sum(own), len(own))
            yield StageFigure("what is left out of answers", data, what + where, share)


def _told_amid(text: str, others: Sequence[str], reader: Reader) -> bool:
    """Say whether any sentence of *text* is told where it stands amid *others*."""
    half = len(others) // 2
    passage = " ".join((*others[:half], text, *others[half:]))
    spans = tuple(
        SentenceSpan(f"s{n}", a, b, passage[a:b])
        for n, (a, b) in enumerate(sentence_splitter()(passage), 1)
    )
    source = ChunkSource("", "passage.md", "", sha256_hex(passage))
    chunk = EvidenceChunk("passage#1", "passage", passage, sha256_hex(passage), source, spans)
    begin = passage.index(text)
    own = [s for s in spans if begin < s.end and s.start < begin + len(text)]
    return any(instruct([QuotableSentence(chunk, span, 0.0) for span in own], reader))


def _figures(settings: Settings, every: int) -> Iterator[StageFigure]:
    """Ask the gate's rule about figures alone: everything else of each case is in order."""
    policy = load_policy(settings.policy)
    rows = list(fixture_lines(FIXTURES / "numeric" / "cases.jsonl"))[::every]
    passed = [_numbers_pass(row, policy) for row in rows]
    for wrong, what in ((False, "right figures passed"), (True, "wrong figures passed")):
        own = [
            p for p, row in zip(passed, rows, strict=True) if (row["expect"] == "no_match") == wrong
        ]
        yield StageFigure("figures", "fixtures/numeric", what, Share(sum(own), len(own)))


def _numbers_pass(row: dict[str, Any], policy: Policy) -> bool:
    text, spans = "", []
    for number, sentence in enumerate(row["evidence"], 1):
        spans.append(SentenceSpan(f"s{number}", len(text), len(text) + len(sentence), sentence))
        text += f"{sentence}\n"
    source = ChunkSource(row.get("title", ""), "figures.md", "", sha256_hex(text))
    chunk = EvidenceChunk("figures#1", "figures", text, sha256_hex(text), source, tuple(spans))
    scores = tuple(
        SpanScore(
            chunk.chunk_id, s.span_id, "entailed", _ENTAILED, _ENTAILED, 1 - _ENTAILED, 0.0, ""
        )
        for s in spans
    )
    attached = tuple(SpanRef(chunk.chunk_id, span.span_id) for span in spans)
    result = VerificationResult("c1", "entailed", _ENTAILED, attached, scores)
    claim = Claim("c1", row["claim"], "numeric_fact", "factual_lit_claim")
    ((decision,), _) = certify([claim], [result], [chunk], policy)
    return any(one.rule == "numbers" and one.passed is True for one in decision.findings)


def _citations(settings: Settings, every: int) -> Iterator[StageFigure]:
    restored, broken = corrected_cases(scratch_services(settings), settings, every)
    total = restored.whole + broken.whole
    # Mean question-level attribution (CiteFix, Maheshwari et al. 2025), where each claim is asked alone.
    after = Share(restored.part + broken.whole - broken.part, total)
    for what, share in (
        ("wrong ones restored", restored),
        ("right ones broken", broken),
        ("right ones of all, before", Share(broken.whole, total)),
        ("right ones of all, after", after),
    ):
        yield StageFigure(
            "citation correction", "fixtures/citations, 3 in 10 made wrong", what, share
        )


def _answers_compared(_: Settings, every: int) -> Iterator[StageFigure]:
    """Compare what statements answer with what their texts answer, without a network."""
    asked = [
        (row.label == "entailed", records)
        for row in list(labelled_statements())[::every]
        if (records := question_records(row.hypothesis, row.premise, ""))
    ]
    for name, agree in COMPARISONS.items():
        said = [(true, agree(records)) for true, records in asked]
        for true, what in ((True, "true ones kept"), (False, "untrue ones stopped")):
            own = [kept == true for label, kept in said if label == true]
            yield StageFigure(
                "questions about a claim",
                "statements of the benchmark",
                f"{what}, answers compared {name}",
                Share(sum(own), len(own)),
            )


_MEASURED: Final[dict[str, Callable[[Settings, int], Iterator[StageFigure]]]] = {
    "questions": _questions_cut,
    "instructions": _instructions,
    "figures": _figures,
    "citations": _citations,
    "answers": _answers_compared,
}


def _of_retrieval(folder: Path) -> Iterator[StageFigure]:
    rows = [
        row for row in read_lines(folder / RANKED, TypeAdapter(RankedQuestion)) if row.sentences
    ]
    found = [row.found[RERANKED] for row in rows]
    for stage, what, most, places in (
        ("retrieval", "passage", 10, [own.passages for own in found]),
        ("preselection", "sentence", 5, [own.sentences for own in found]),
    ):
        hits = sum(min(own, default=most + 1) <= most for own in places)
        figure = f"a {what} that answers among the first {most}"
        yield StageFigure(stage, "questions of the fixtures", figure, Share(hits, len(rows)))


def _of_the_benchmark(folder: Path, policy: Policy) -> Iterator[StageFigure]:
    rows = read_measured_rows(folder / ROWS)
    true = [row for row in rows if row.gold == "entailed"]
    untrue = [row for row in rows if row.gold != "entailed"]
    data = "the built-in benchmark"
    called = [sum((row.entailed or 0.0) >= CALLED for row in own) for own in (true, untrue)]
    alone = f"called entailed (from {CALLED:g})"
    yield StageFigure("verifier", data, f"true ones {alone}", Share(called[0], len(true)))
    yield StageFigure("verifier", data, f"untrue ones {alone}", Share(called[1], len(untrue)))
    at = [trial.tau_entail for trial in trials_of(policy)].index(policy.tau_entail)
    badges, wrong, asked, whole = (sum(row.counts[at][n] for row in rows) for n in range(4))
    yield StageFigure("gate", data, "wrong of the badges", Share(wrong, badges))
    yield StageFigure("gate", data, "true ones Verified", Share(whole, asked))
    for level, meant in LEVELS.items():
        level_rows = [row for row in rows if claim_complexity(row.hypothesis) == level]
        badges, wrong, asked, whole = (
            sum(row.counts[at][n] for row in level_rows) for n in range(4)
        )
        what = f"complexity {level}, {meant}"
        yield StageFigure("gate", data, f"{what}: wrong of the badges", Share(wrong, badges))
        yield StageFigure("gate", data, f"{what}: true ones Verified", Share(whole, asked))
    asked_of = read_lines(folder / "questions.jsonl", TypeAdapter(AskedQuestion))
    for answerable, what in (
        (True, "answerable, called answered"),
        (False, "without an answer, called answered"),
    ):
        own = [one.answered for one in asked_of if one.answerable == answerable]
        yield StageFigure(
            "answer decision", "questions of the benchmark", what, Share(sum(own), len(own))
        )


def _report(found: Sequence[StageFigure], out: Path, head: str, every: int) -> dict[str, Any]:
    if every > 1:
        head += f" Of each part every {every}th unit alone."
    rows = [(one.stage, one.data, one.figure, str(one.share)) for one in found]
    head_row = ("Stage", "Data", "Figure", "Result (95 %)")
    absent = "\n".join(f"- {line}" for line in _ABSENT)
    text = FigureTable("Stages", head_row, tuple(rows)).markdown()
    (out / "figures.md").write_text(f"{head}\n\n{text}\n\nNot measured:\n\n{absent}\n", "utf-8")
    report = {"format": FORMAT, "figures": json_values(found), "absent": list(_ABSENT)}
    plain = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
    (out / "figures.json").write_text(plain + "\n", "utf-8")
    return report
