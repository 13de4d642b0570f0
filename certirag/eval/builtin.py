"""`certirag eval builtin`: the benchmark that ships, through the whole product, on any machine.

Statements that are true or untrue to a text beside them, drafts with planted errors over whole corpora,
and questions, answerable and not. Nobody trains on them; some were looked at while the gate was built,
and the name of each part says which (``fixtures/``). The folder of a run is one of `certirag eval pairs`,
with ``drafts.jsonl`` and ``questions.jsonl`` beside its rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

import numpy as np
from pydantic import TypeAdapter

from certirag import __version__
from certirag.answers.pipeline import answer_question, verify_draft
from certirag.answers.services import Services
from certirag.bootstrap import build_services, index_of_paths, load_policy, make_verifier
from certirag.core.claim import Claim
from certirag.core.policy import Policy
from certirag.errors import InputError
from certirag.eval.builtin_questions import (
    AskedQuestion,
    QuestionWithAnswer,
    question_figures,
    read_questions_with_answers,
    what_became,
)
from certirag.eval.gate_counts import BadgeCount, trials_of
from certirag.eval.measured_claims import measured_claims
from certirag.eval.pair_report import write_report
from certirag.eval.pair_rows import MEASURED, MeasuredRow, PairRow
from certirag.eval.pairs import FORMAT, ROWS, begin_run, head_of, measure_rows
from certirag.eval.resumable import measured_lines
from certirag.eval.timings import timed, write_timings
from certirag.eval.workload import FIXTURES
from certirag.ports import Index, Progress, Verifier
from certirag.proof.certificate import AnswerRecord, open_export
from certirag.render import Mode, certify, present
from certirag.retrieve.relevance import read_text
from certirag.settings import Settings

DRAFTS: Final = "drafts with planted errors, over whole corpora"
# File of statements with a text each → what the part is called, and whether they are true.
_STATEMENTS: Final = {
    "attacks/near_misses": ("near misses, looked at", False),
    "attacks/fair_claims": ("fair claims, looked at", True),
    "heldout/near_misses": ("near misses, held out", False),
    "heldout/fair_claims": ("fair claims, held out", True),
}
_NUMERIC: Final = "figures: written otherwise, derived and wrong"
_DOCUMENTS: Final = {
    "documents_late": "claims about 30 documents, in other words",
    "documents_eighth": "claims about 24 documents, in other words, written last",
}
_FIRST_DRAFT: Final = 1_000_000  # number of the first row of a draft, above all others
_LINES: Final = {"drafts": "drafts.jsonl", "questions": "questions.jsonl"}
UNIT_FILES: Final = (ROWS, *_LINES.values())  # a line a unit while a run is under way


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer over *corpus* in which *errors* were planted: where they stand and what they say."""

    id: str
    corpus: str
    question: str
    text: str
    errors: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class MeasuredDraft:
    """What was measured of the draft *number*: a row for each of its claims that can be checked."""

    number: int
    rows: tuple[MeasuredRow, ...]


@dataclass(frozen=True, slots=True)
class BuiltinRun:
    """A run into the folder *out*, by so many processes; every *every*-th unit of each part."""

    out: Path
    every: int = 1
    jobs: int = 1


def run_builtin(run: BuiltinRun, settings: Settings, progress: Progress) -> dict[str, Any]:
    """Measure what *run*'s folder does not have yet, and return the figures of all.

    Raises InputError where the fixtures are not there, as in an installed package, and where the
    folder holds a run of something else.
    """
    statements = list(enumerate(labelled_statements()))[:: run.every]
    drafts = list(enumerate(drafts_with_errors()))[:: run.every]
    questions = list(enumerate(read_questions_with_answers(FIXTURES / "questions")))[:: run.every]
    verifier, policy = make_verifier(settings.verifier), load_policy(settings.policy)
    units = (statements, drafts, questions)
    begin_run(run.out, _described(run, units, verifier, settings.reader, policy))
    rows = measure_rows(run.out, statements, settings, progress, jobs=run.jobs)
    measured = measured_lines(
        run.out / _LINES["drafts"],
        TypeAdapter(MeasuredDraft),
        drafts,
        timed(partial(_measure_drafts, settings=settings), run.out, "drafts"),
        partial(progress, "Verifying drafts"),
        jobs=run.jobs,
    )
    asked = measured_lines(
        run.out / _LINES["questions"],
        TypeAdapter(AskedQuestion),
        questions,
        timed(partial(_ask, settings=settings), run.out, "questions"),
        partial(progress, "Asking questions"),
        jobs=run.jobs,
    )
    rows += [row for draft in measured for row in draft.rows]
    # The page reads one file; written whole, so that a stop here leaves the rows or all of them.
    whole = run.out / f"{ROWS}.new"
    whole.write_bytes(b"".join(MEASURED.dump_json(row) + b"\n" for row in rows))
    whole.replace(run.out / ROWS)
    write_timings(run.out)
    figures = question_figures(asked)
    head = f"{head_of(verifier, policy)[:-1]}; reader `{settings.reader}`."
    if run.every > 1:
        head += f" Of each part every {run.every}th alone."
    return write_report(rows, policy, run.out, seed=0, head=head, questions=figures)


def _described(
    run: BuiltinRun,
    units: Sequence[Sequence[object]],
    verifier: Verifier,
    reader: str,
    policy: Policy,
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "what": "builtin",
        "data": {
            "name": "the built-in benchmark",
            "sha256": hashlib.sha256(repr(units).encode()).hexdigest(),
        },
        "units": sum(map(len, units)),
        "limit": None,
        "every": run.every,
        "seed": 0,
        "verifier": asdict(verifier.identity),
        "reader": reader,
        "policy": asdict(policy),
        "certirag": __version__,
    }


def fixture_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of the fixtures; InputError where there are none to read."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise _no_fixtures() from error
    yield from map(json.loads, text.splitlines())


def fixture_files(pattern: str) -> list[Path]:
    """Return the files of the fixtures that *pattern* names, in order; InputError where there are none."""
    found = sorted(FIXTURES.glob(pattern))
    if not found:
        raise _no_fixtures()
    return found


def _no_fixtures() -> InputError:
    message = f"the built-in benchmark is not in {FIXTURES} (an installed package has none): "
    return InputError(message + "run it in a checkout")


def labelled_statements() -> Iterator[PairRow]:
    """Yield the statements that have a text of their own."""
    for name, (part, true) in _STATEMENTS.items():
        for row in fixture_lines(FIXTURES / f"{name}.jsonl"):
            text = row["evidence"]
            if row.get("format") == "md":
                text = f"# {row['title']}\n\n{text}"
            yield _labelled(text, row["claim"], true, part, row["title"], row.get("false", ""))
    for row in fixture_lines(FIXTURES / "numeric" / "cases.jsonl"):
        true = row["expect"] != "no_match"
        text = "\n".join(row["evidence"])
        yield _labelled(text, row["claim"], true, _NUMERIC, row.get("title", ""))
    for name, part in _DOCUMENTS.items():
        for row in fixture_lines(FIXTURES / "heldout" / f"{name}.jsonl"):
            for claim, true, _ in row["claims"]:
                yield _labelled(row["document"], claim, true, part)


def _labelled(
    premise: str, claim: str, true: bool, part: str, title: str = "", false: str = ""
) -> PairRow:
    label: Literal["entailed", "not_entailed"] = "entailed" if true else "not_entailed"
    return PairRow(premise, claim, label, part, title, false)


def drafts_with_errors() -> list[Draft]:
    """Return the drafts over the demo corpora, in the order of their names."""
    return [
        TypeAdapter(Draft).validate_json(path.read_bytes())
        for path in fixture_files("drafts/*.json")
    ]


# Of each process: a home that goes with it, the services over it, and an index a corpus.
_HOME: Final = TemporaryDirectory(prefix="certirag-builtin-")


@cache
def scratch_services(settings: Settings) -> Services:
    """Return services over a home that goes with the process, made once for the same *settings*."""
    return build_services(replace(settings, home=Path(_HOME.name)))


@cache
def corpus_index(corpus: str, settings: Settings) -> Index:
    """Return the index of a demo corpus, made once for the same *settings*."""
    paths = [FIXTURES / "corpora" / corpus]
    return index_of_paths(paths, scratch_services(settings), lambda *_: None)[0]


def _measure_drafts(drafts: Sequence[tuple[int, Draft]], settings: Settings) -> list[MeasuredDraft]:
    services, found = scratch_services(settings), []
    for number, draft in drafts:
        record = draft_record(draft, settings)
        found.append(MeasuredDraft(number, tuple(_rows_of(number, draft, record, services))))
    return found


def draft_record(draft: Draft, settings: Settings) -> AnswerRecord:
    """Verify *draft* over its whole corpus, and return what was measured and decided."""
    services, index = scratch_services(settings), corpus_index(draft.corpus, settings)
    answer = verify_draft(draft.text, index, services, question=draft.question)
    return open_export(answer.export, services.trusted)


def draft_counts(
    draft: Draft, record: AnswerRecord, policies: Sequence[Policy]
) -> dict[str, list[BadgeCount]]:
    """Return what counts of each claim that can be checked, by its id, under each of *policies*.

    A claim that touches a planted error is untrue. Nothing is measured again.
    """
    claims = record.claim_ir.claims
    measured = (claims, record.verification, record.retrieval.chunks)
    states = [
        {one.claim_id: one.render_state for one in certify(*measured, policy)[0]}
        for policy in policies
    ]
    found = {}
    for claim in claims:
        if any(problem.startswith("not_checkable") for problem in claim.problems):
            continue
        true = not any(touches(claim, error, draft.text) for error in draft.errors)
        marks = [own[claim.id] == "VERIFIED" for own in states]
        found[claim.id] = [
            BadgeCount(int(v), int(v and not true), int(true), int(v and true)) for v in marks
        ]
    return found


def _rows_of(
    number: int, draft: Draft, record: AnswerRecord, services: Services
) -> Iterator[MeasuredRow]:
    """Yield a row for each claim that can be checked; one that touches a planted error is untrue."""
    claims, results = record.claim_ir.claims, record.verification
    policy = services.policy
    counts = draft_counts(draft, record, trials_of(policy))
    measured = (claims, results, record.retrieval.chunks)
    decisions = {one.claim_id: one for one in certify(*measured, policy)[0]}
    spans = [span.sentence for chunk in record.retrieval.chunks for span in chunk.spans]
    vectors = services.embedder.embed([*(claim.text for claim in claims), *spans])
    cosines = vectors[: len(claims)] @ vectors[len(claims) :].T if spans else None
    decided = measured_claims(*measured, decisions)
    for at, (claim, result, kept) in enumerate(zip(claims, results, decided, strict=True)):
        if claim.id not in counts:
            continue
        planted = [error for error in draft.errors if touches(claim, error, draft.text)]
        yield MeasuredRow(
            number=_FIRST_DRAFT + 1_000 * number + at,
            source=DRAFTS,
            title=draft.corpus,
            premise="",
            hypothesis=claim.text,
            false=planted[0]["text"] if planted else "",
            gold="not_entailed" if planted else "entailed",
            label=result.label,
            entailed=max((s.entailed or 0.0 for s in result.all_scores), default=0.0),
            not_enough_info=min((s.not_enough_info or 0.0 for s in result.all_scores), default=1.0),
            contradicted=max((s.contradicted or 0.0 for s in result.all_scores), default=0.0),
            cosine=0.0 if cosines is None else round(float(np.clip(cosines[at].max(), 0, 1)), 6),
            premise_words=sum(len(chunk.text.split()) for chunk in record.retrieval.chunks),
            hypothesis_words=len(claim.text.split()),
            claims=[kept],
            counts=[astuple(count) for count in counts[claim.id]],
        )


def touches(claim: Claim, error: dict[str, Any], text: str) -> bool:
    """Say whether *claim* comes from the place of *error* in *text*, or carries its words from there.

    A piece of a sentence may repeat the subject of another piece, so an error elsewhere in the
    same sentence counts when its words stand in the claim.
    """
    if claim.draft_start < error["end"] and error["start"] < claim.draft_end:
        return True
    low, high = sorted([(claim.draft_start, claim.draft_end), (error["start"], error["end"])])
    between = text[max(0, low[1] - 1) : high[0]]  # with the full stop that ends a claim
    same_sentence = "\n" not in between and ". " not in between
    return same_sentence and error["text"].casefold() in claim.text.casefold()


def _ask(
    questions: Sequence[tuple[int, QuestionWithAnswer]], settings: Settings
) -> list[AskedQuestion]:
    services, found = scratch_services(settings), []
    for number, row in questions:
        index = corpus_index(row.corpus, settings)
        answer = answer_question(row.question, index, services)
        shown = present(answer.export, Mode.STRICT, trusted=services.trusted)
        found.append(what_became(number, row, shown, _closest(row.question, row.corpus, settings)))
    return found


@cache
def _sentences(corpus: str, settings: Settings) -> tuple[list[str], Any]:
    """Return every sentence of *corpus* and their vectors, shape (sentences, dimension)."""
    places = [
        (chunk, span) for chunk in corpus_index(corpus, settings).chunks() for span in chunk.spans
    ]
    vectors = scratch_services(settings).embedder.embed([read_text(place) for place in places])
    return [span.sentence for _, span in places], vectors


def _closest(question: str, corpus: str, settings: Settings) -> str:
    """Return the sentence of *corpus* with the largest cosine: the plainest answer."""
    sentences, vectors = _sentences(corpus, settings)
    return sentences[
        int((vectors @ scratch_services(settings).embedder.embed([question])[0]).argmax())
    ]
