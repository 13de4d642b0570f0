"""Why a claim has no badge: plain sentences for whatever the rules and the verifier record."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from builders import FACTS, Statement, answer_record, hostile_record
from fakes import AlignedWords
from gate_cases import POLICY, chunk, good_case, record, score, with_result
from near_miss_path import FIXTURES, Row, measured, read_rows
from plain_words import internal, presented, sentences, texts_of

from certirag.claims.compile import claims_from_draft
from certirag.core.claim import Claim
from certirag.core.selector import with_selectors
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import VerificationResult
from certirag.ingest.chunk import chunk_document
from certirag.ingest.extract import Limits
from certirag.ingest.load import load_document
from certirag.ingest.sentences import sentence_splitter
from certirag.proof.certificate import AnswerRecord, RetrievalRecord
from certirag.quantities.derive import explain_quantities
from certirag.render import certify
from certirag.render.why import _FIGURES, _GENERAL, _UNKNOWN, _said, why
from certirag.verification.candidates import choose_candidates
from certirag.verification.opinion import verify_claims

ROOT = Path(__file__).resolve().parents[2]
ROWS = [*read_rows("attacks", "near_misses"), *read_rows("attacks", "fair_claims")]
BEHAVIOUR = [
    row for file in ("evidence_removed", "negation_flips", "multi_hop", "paraphrases")
    for row in read_rows("behaviour", file)
]  # fmt: skip


def _answer(
    claims: Sequence[Claim],
    results: Sequence[VerificationResult],
    chunks: Sequence[EvidenceChunk],
) -> AnswerRecord:
    decisions, summary = certify(claims, results, chunks, POLICY)
    whole = record()
    return replace(
        whole,
        retrieval=RetrievalRecord(whole.question, tuple(chunks)),
        claim_ir=replace(whole.claim_ir, claims=tuple(claims)),
        verification=tuple(results),
        decisions=decisions,
        answer=summary,
    )


def _recorded_reasons() -> Iterator[tuple[str, str]]:
    """Yield (rule, reason) for each reason that a rule's source can record, slots filled with 7."""
    for file in ("rules", "probe_verdicts"):
        tree = ast.parse((ROOT / f"certirag/render/{file}.py").read_text("utf-8"))
        for function in tree.body:
            if not isinstance(function, ast.FunctionDef) or function.name not in _GENERAL:
                continue
            names = {
                node.targets[0].id: node.value
                for node in ast.walk(function)
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            }
            for call in ast.walk(function):
                if not (isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Finding"):
                    continue
                if call.args[0].value is False:
                    yield from ((function.name, text) for text in _filled(call.args[1], names))


def _filled(node: ast.expr, names: dict[str, ast.expr]) -> list[str]:
    """Return the texts that *node* may be; nothing for one that another part of the code makes."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            return ["".join(_slot(value, names) for value in values)]
        case ast.IfExp(body=one, orelse=other):
            return [*_filled(one, names), *_filled(other, names)]
        case ast.Name(id=name) if name in names:
            return _filled(names[name], names)
    return []


def _slot(node: ast.expr, names: dict[str, ast.expr]) -> str:
    if not isinstance(node, ast.FormattedValue):
        return node.value
    return next(filter(None, _filled(node.value, names)), "7")


# Only where the quotation, its digest or what was compared is wrong is one sentence for all enough.
ONE_FOR_ALL = {"evidence", "isolated"}
REASONS = sorted(set(_recorded_reasons()))


@pytest.mark.parametrize(("rule", "reason"), REASONS)
def test_every_reason_of_a_rule_has_a_sentence(rule: str, reason: str) -> None:
    """A reason that a rule learns to record needs its row: the general sentence says too little."""
    reason = re.sub(r"^7(?= contradicts| opposes)", "“7”", reason)
    told = why(rule, reason)
    assert told.sentence.endswith(".")
    assert told.mend
    assert not internal([told.sentence, told.mend])
    assert rule in ONE_FOR_ALL or (told.sentence, told.mend) != _GENERAL[rule]


def test_reasons_of_all_rules_were_found() -> None:
    """The search above would pass by finding nothing."""
    assert len(REASONS) >= 40
    assert {rule for rule, _ in REASONS} >= _GENERAL.keys() - {"nearest"} - {"well_formed"}


def _figure_cases() -> list[tuple[str, list[str], str]]:
    numeric = (FIXTURES / "numeric" / "cases.jsonl").read_text("utf-8").splitlines()
    cases = [(row["claim"], row["evidence"], "") for row in map(json.loads, numeric)]
    held = [*read_rows("heldout", "near_misses"), *read_rows("heldout", "fair_claims")]
    rows = [*ROWS, *BEHAVIOUR, *held]
    return [*cases, *((row["claim"], [row["evidence"]], row["title"]) for row in rows)]


def test_every_figure_of_the_fixtures_that_differs_has_a_sentence() -> None:
    """Whatever rule 4 says of a figure, a row says it to a person, and quotes no nothing."""
    found = set()
    for claim, evidence, title in _figure_cases():
        for missing in explain_quantities(claim, evidence, title).missing:
            told = _said(_FIGURES, missing.reason)
            assert told is not None or "“”" in missing.reason, missing.reason
            told = why("numbers", missing.reason)
            assert not internal([told.sentence, told.mend], [claim, *evidence, title])
            found.add(re.sub(r"“.*?”|[\d.,]+", "", missing.reason))
    assert len(found) > 30


@pytest.mark.parametrize("rows", [ROWS, BEHAVIOUR], ids=["attacks", "behaviour"])
def test_claims_that_fail_are_told_in_plain_words(rows: list[Row]) -> None:
    """Near misses and fair claims, read by the alignment of words alone: all they fail on."""
    of = _answer(*measured(rows, AlignedWords()))
    shown = presented(of)
    assert sum(chip.badge.kind != "verified" for chip in shown.shown) > 20
    assert internal(sentences(shown), texts_of(of)) == []
    recorded = [finding.reason for chip in shown.shown for finding in chip.findings]
    assert internal(recorded, texts_of(of)), "what is recorded is not written for people"


def _chunks(corpus: str) -> list[EvidenceChunk]:
    split = sentence_splitter()
    files = sorted((FIXTURES / "corpora" / corpus).iterdir())
    texts = [file for file in files if file.suffix in {".md", ".txt", ".html"}]
    return [
        one
        for file in texts
        for one in chunk_document(
            load_document(file.read_bytes(), path=file.name, limits=Limits()), split
        )
    ]


@pytest.mark.parametrize("corpus", ["policy", "finance", "clinical"])
def test_drafts_and_questions_are_told_in_plain_words(corpus: str) -> None:
    """The recorded drafts, and questions with what must not be said of them, over their corpus."""
    drafts = [json.loads(p.read_text("utf-8")) for p in (FIXTURES / "drafts").glob("*.json")]
    texts = [draft["text"] for draft in drafts if draft["corpus"] == corpus]
    for line in (FIXTURES / "questions" / f"{corpus}.jsonl").read_text("utf-8").splitlines():
        asked = json.loads(line)
        texts += [asked["question"], *(f"{w}." for ws in asked["must_not_verify"] for w in ws)]
    own, split = _chunks(corpus), sentence_splitter()
    claims: list[Claim] = []
    for number, text in enumerate(texts):
        for claim in claims_from_draft("", text, split, max_claims=12, sentences=set()).claims:
            claims.append(replace(claim, id=f"{number}/{claim.id}"))
    candidates = choose_candidates(claims, own, max_spans=8, max_pairs=40 * len(claims))
    results = verify_claims(candidates, AlignedWords())
    of = _answer(claims, results, with_selectors(own, results))
    shown = presented(of)
    assert sum(chip.badge.kind != "verified" for chip in shown.shown) > 20
    assert internal(sentences(shown), texts_of(of)) == []


def test_hostile_records_are_told_in_plain_words() -> None:
    """Attack strings as claims, titles and sections: only they themselves are quoted."""
    of = hostile_record()
    assert internal(sentences(presented(of)), texts_of(of)) == []


def test_a_note_of_nothing_and_a_passage_of_no_title_are_not_quoted() -> None:
    """An empty quotation, the number of a passage and an unread note get the general sentence."""
    empty = "the evidence for 27 days says nothing of “”"
    low = "the closest passage supports it with 0.42; 0.85 is needed"
    assert why("numbers", empty).sentence == _GENERAL["numbers"][0]
    assert why("entailed", f"{low}: {empty}").sentence == (
        "The closest passage supports this with 0.42; 0.85 is needed."
    )
    assert why("entailed", f"{low}: must against plain").sentence.endswith("0.85 is needed.")
    opposed = "“leave#c1” contradicts it: 0.90, the threshold is 0.70"
    assert why("not_contradicted", opposed, titles={"Leave policy"}).sentence == (
        "A passage says otherwise."
    )
    assert (why("zzz", "anything").sentence, why("zzz", "anything").mend) == _UNKNOWN
    assert why("numbers", "x" * 30_000).sentence == _GENERAL["numbers"][0]


@pytest.mark.parametrize("rule", _GENERAL)
def test_a_failure_is_never_told_as_a_pass(rule: str) -> None:
    """A record whose failed rule gives the reason of a passed one is told as failed."""
    for reason in (
        "every rule passed",
        "one checkable statement that stands on its own",
        "every number and date of the claim is in the attached evidence",
        "of 3 scored spans none contradicts it (highest 0.10, limit 0.70)",
    ):
        assert why(rule, reason).mend


def test_figures_and_names_come_from_the_record() -> None:
    """Another document's figure, the name that no passage has, the score and what is needed."""
    against = Statement(
        "Full-time employees receive 30 days of leave.", "contradicted", "Leave policy",
        sentence="Full-time employees receive 27 days of leave.",
    )  # fmt: skip
    named = Statement(
        "The travel desk is led by Dana Okoye.", "unsupported",
        sentence="The travel desk is led by its senior clerk.",
    )  # fmt: skip
    whole = presented(answer_record([against, named, Statement(FACTS[1], "unsupported")]))
    assert [chip.why.sentence for chip in whole.shown] == [
        "It says 30 days; “Leave policy” says 27 days.",
        "The closest passage does not name Dana Okoye.",
        "The closest passage supports this with 0.31; 0.85 is needed.",
    ]
    told = [f"Claim {n} is left out. {chip.why.sentence}" for n, chip in enumerate(whole.shown, 1)]
    assert whole.missing[1:] == tuple(told)


@pytest.mark.parametrize(
    ("text", "passage", "said"),
    [
        (
            "Observing nights cost 9 pounds.",
            "Observing nights cost 12 pounds and have to be booked.",
            "It says 9 pounds; the closest passage says 12 pounds.",
        ),
        (
            "Invoices go to the Northmoor portal.",
            "Invoices go to the Compass Lane portal.",
            "It says “Northmoor” where the closest passage says “Compass Lane”.",
        ),
        (
            "The director came from Chile.",
            "Its director, Amina Farouk, came from Heidelberg.",
            "The closest passage does not name Chile.",
        ),
        (
            "The dose is 600 mg.",
            "The dose is 400 mg in winter and 500 mg in summer.",
            "The closest passage does not say “600 mg”.",
        ),
    ],
)
def test_the_passage_nearest_in_words_tells_what_differs(
    text: str, passage: str, said: str
) -> None:
    """Whatever the scores; two rivals, of which either may be meant, are not told."""
    (chip,) = presented(answer_record([Statement(text, "unsupported", sentence=passage)])).shown
    assert chip.why.sentence == said


def _read_beside(of: AnswerRecord, passage: str, entailed: float, against: float) -> AnswerRecord:
    """Return *of*, whose one claim was compared with *passage* of another document too."""
    (claim,), (found,) = of.claim_ir.claims, of.verification
    other = chunk(passage, "doc9", passage)
    neutral = round(1 - entailed - against, 2)
    low = score(other, claim=claim, entailed=entailed, neutral=neutral, contradicted=against)
    results = (replace(found, all_scores=(*found.all_scores, low)),)
    chunks = (*of.retrieval.chunks, other)
    decisions, summary = certify([claim], results, chunks, POLICY)
    return replace(
        of,
        retrieval=replace(of.retrieval, chunks=chunks),
        verification=results,
        decisions=decisions,
        answer=summary,
    )


def test_a_figure_that_the_attached_passage_has_is_not_held_against_the_claim() -> None:
    """A passage may share more words and be about another figure: the low score is the reason."""
    text = "Renting a bike for a day costs 29 euros."
    attached = "A hire of one hour costs €7, a day €29."
    of = answer_record([Statement(text, "unsupported", sentence=attached)])
    of = _read_beside(of, "A helmet for a day costs renting families 5 euros.", 0.07, 0.35)
    (chip,) = presented(of).shown
    assert chip.why.sentence == "The closest passage supports this with 0.31; 0.85 is needed."


def test_a_figure_that_any_passage_has_is_not_said_to_be_missing() -> None:
    """What is attached may lack a figure that stands in another passage, in fewer shared words."""
    text = "Children under five do not pay for the ferry."
    of = answer_record([Statement(text, "unsupported", sentence="The ferry crosses hourly.")])
    of = _read_beside(of, "Children under five travel free of charge.", 0.02, 0.05)
    failed = {f.rule: f.reason for f in of.decisions[0].findings if not f.passed}
    assert failed["numbers"] == "the evidence does not say less than five"
    (chip,) = presented(of).shown
    assert chip.why.sentence == "The closest passage does not support it enough."


def test_a_true_sentence_that_its_title_bears_out_is_told_so() -> None:
    """Where titles and headings alone score, the passage may add nothing: said without a code."""
    case = with_result(good_case(), score_without=0.55)
    (chip,) = presented(record(case)).shown
    assert chip.badge.kind == "unverified"
    assert chip.why.sentence == (
        "Titles and headings alone already support it with 0.55, so the passage may add nothing."
    )
    assert chip.why.mend.startswith("A passage that says it without")
    assert chunk().source.title not in chip.why.sentence
