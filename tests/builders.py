"""Signed exports of many claims, for the tests of what draws them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from gate_cases import CLAIM, KEY, POLICY, chunk, export, located, record, result, score

from certirag.core.claim import Claim, ClaimIR
from certirag.core.policy import Policy
from certirag.core.text import EvidenceChunk, RetrievalScores, SpanRef, sha256_hex
from certirag.core.verdict import VerificationResult
from certirag.proof.certificate import AnswerRecord, RetrievalRecord
from certirag.render import certify

ATTACKS = Path(__file__).resolve().parent.parent / "fixtures" / "attacks" / "strings.jsonl"
Wanted = Literal["supported", "unsupported", "contradicted"]

FACTS = (
    "Full-time employees receive 27 days of annual leave per calendar year.",
    "Carried-over days expire on 31 March of the following year.",
    "The travel desk answers requests within two working days.",
)


SIDES = ("A lost laptop is reported within 4 hours.", "A lost laptop is reported within 24 hours.")


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim to be built: its text, what the scores say, and the document it is quoted from."""

    text: str
    wanted: Wanted = "supported"
    title: str = "Leave policy"
    section: str = "Annual leave"
    path: str = ""
    sentence: str = ""


def hostile_strings() -> tuple[tuple[str, str], ...]:
    """Return (id, text) of every attack string in the fixtures."""
    rows = [json.loads(line) for line in ATTACKS.read_text("utf-8").splitlines()]
    return tuple((row["id"], row["text"]) for row in rows)


def answer_record(
    statements: Sequence[Statement],
    *,
    question: str = "How much annual leave is there?",
    policy: Policy = POLICY,
    trace_id: str = "a" * 32,
) -> AnswerRecord:
    """Return the record of an answer with one claim, chunk and measurement per statement."""
    claims, results, chunks = [], [], []
    for number, statement in enumerate(statements, 1):
        claim = Claim(f"c{number}", statement.text, "fact", "factual_lit_claim")
        of = _chunk_for(statement, number)
        claims.append(claim)
        chunks.append(of)
        results.append(_measured(claim, of, statement.wanted))
    decisions, summary = certify(claims, results, chunks, policy)
    return replace(
        record(policy=policy),
        question=question,
        retrieval=RetrievalRecord(question, tuple(chunks), dropped=("one pair was left out",)),
        claim_ir=ClaimIR(question, tuple(claims), draft="\n".join(c.text for c in claims)),
        verification=tuple(results),
        decisions=decisions,
        answer=summary,
        trace_id=trace_id,
    )


def draft_record(statements: Sequence[Statement], *, draft: str = "") -> AnswerRecord:
    """Return the record of a pasted draft of these statements, each claim at its place in it."""
    of = answer_record(statements)
    draft = draft or " ".join(statement.text for statement in statements)
    claims = []
    at = 0
    for claim in of.claim_ir.claims:
        start = draft.index(claim.text, at)
        at = start + len(claim.text)
        claims.append(replace(claim, draft_start=start, draft_end=at))
    claim_ir = replace(of.claim_ir, claims=tuple(claims), draft=draft, generator="draft")
    return replace(of, claim_ir=claim_ir)


def disputed_record(
    one: str = SIDES[0],
    other: str = SIDES[1],
    titles: tuple[str, str] = ("Security 2024", "Reports 2023"),
) -> AnswerRecord:
    """Return a record of two claims, each a sentence of one document that the other opposes."""
    sides = [chunk(f"{text} Call.", f"doc{n}", text) for n, text in enumerate((one, other))]
    chunks = tuple(
        replace(of, source=replace(of.source, title=title))
        for of, title in zip(sides, titles, strict=True)
    )
    claims, results = [], []
    for number, (own, against) in enumerate((chunks, chunks[::-1]), 1):
        claim = replace(CLAIM, id=f"c{number}", text=own.spans[0].sentence)
        opposed = score(against, claim=claim, entailed=0.02, neutral=0.08, contradicted=0.9)
        found = result(own, claim)
        ref = SpanRef(against.chunk_id, "s1")
        claims.append(claim)
        results.append(replace(found, all_scores=(*found.all_scores, opposed), opposing=(ref,)))
    decisions, summary = certify(claims, results, chunks, POLICY)
    whole = record()
    return replace(
        whole,
        claim_ir=replace(whole.claim_ir, claims=tuple(claims)),
        retrieval=RetrievalRecord("How fast?", chunks),
        verification=tuple(results),
        decisions=decisions,
        answer=summary,
    )


def answer_export(statements: Sequence[Statement], **changes: object) -> bytes:
    """Return the export of `answer_record`, signed with the tests' key."""
    return export(answer_record(statements, **changes), KEY)  # type: ignore[arg-type]


def hostile_record() -> AnswerRecord:
    """Return an answer whose every field from outside is an attack string."""
    strings = [text for _, text in hostile_strings()]
    wanted: tuple[Wanted, ...] = ("supported", "unsupported", "contradicted")
    statements = [
        Statement(
            text=text,
            wanted=wanted[number % 3],
            title=strings[(number + 1) % len(strings)],
            section=strings[(number + 2) % len(strings)],
            path=strings[(number + 3) % len(strings)],
            sentence=strings[(number + 4) % len(strings)],
        )
        for number, text in enumerate(strings)
    ]
    return answer_record(statements, question="\n".join(strings[:8]))


def _chunk_for(statement: Statement, number: int) -> EvidenceChunk:
    sentence = statement.sentence or statement.text
    of = chunk(f"{sentence} The rest of the page says nothing else.", f"doc{number}", sentence)
    source = replace(
        of.source,
        title=statement.title,
        section=statement.section,
        url_or_path=statement.path or f"doc{number}.md",
        page=number,
        sha256=sha256_hex(f"doc{number}"),
    )
    ranks = RetrievalScores(bm25=7.25, dense=0.61, fused=0.03, bm25_rank=number, rank=number)
    return located(replace(of, source=source, retrieval=ranks))


def _measured(claim: Claim, of: EvidenceChunk, wanted: Wanted) -> VerificationResult:
    if wanted == "supported":
        return result(of, claim)
    entailed, contradicted = (0.31, 0.05) if wanted == "unsupported" else (0.02, 0.93)
    own = score(
        of,
        claim=claim,
        entailed=entailed,
        contradicted=contradicted,
        neutral=round(1 - entailed - contradicted, 2),
    )
    return VerificationResult(
        claim_id=claim.id,
        label=own.label,
        score=entailed,
        best_evidence=(SpanRef(of.chunk_id, "s1"),),
        all_scores=(own,),
        verdict="UNSUPPORTED" if wanted == "unsupported" else "CONTRADICTED",
        set_input_sha256=own.input_sha256,
        score_without=0.0,
    )
