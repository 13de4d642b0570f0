"""Claims that evidence almost supports, put through the real path: none may be Verified."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from certirag.bootstrap import load_policy, make_embedder, make_verifier
from certirag.claim_ir.compile import claims_from_draft
from certirag.core.claim import Claim
from certirag.core.text import Block, Document, EvidenceChunk, sha256_hex
from certirag.ingest.chunk import chunk_document
from certirag.ingest.sentences import sentence_splitter
from certirag.ports import SentenceSplitter
from certirag.render import certify
from certirag.settings import read_settings
from certirag.verify.candidates import choose_candidates
from certirag.verify.claim import verify_claims

ATTACKS = Path(__file__).resolve().parents[2] / "fixtures" / "attacks"
Row = dict[str, str]


def rows(name: str) -> list[Row]:
    """Return the rows of one file: id, kind, title, evidence, claim, and sometimes false.

    *false* stands in a row of which one part is supported: the words that make it untrue.
    """
    lines = (ATTACKS / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


NEAR_MISSES = rows("near_misses")
FAIR_CLAIMS = rows("fair_claims")


@dataclass(frozen=True)
class Piece:
    """One claim that a row's sentence was split into, and how the gate decided it."""

    text: str
    state: str
    reason: str


@pytest.fixture(scope="session")
def decided() -> dict[str, tuple[Piece, ...]]:
    """Verify every row against its own document alone, all in one batch, and certify it."""
    settings, policy, split = read_settings({}), load_policy("strict-1"), sentence_splitter()
    verifier = make_verifier("lexical", make_embedder("embedded"))
    claims: list[Claim] = []
    chunks: list[EvidenceChunk] = []
    candidates = []
    for row in (*NEAR_MISSES, *FAIR_CLAIMS):
        own = chunks_of(row, split)
        pieces = [
            replace(claim, id=f"{row['id']}/{claim.id}")
            for claim in claims_from_draft(
                "", row["claim"], split, max_claims=settings.max_claims
            ).claims
        ]
        candidates.extend(
            choose_candidates(
                pieces,
                own,
                max_spans=settings.max_spans_per_claim,
                max_pairs=settings.max_pairs,
            )
        )
        chunks.extend(own)
        claims.extend(pieces)
    results = verify_claims(candidates, verifier, policy)
    decisions, _ = certify(claims, results, chunks, policy)
    found: dict[str, tuple[Piece, ...]] = {}
    for claim, decision in zip(claims, decisions, strict=True):
        row_id = claim.id.rpartition("/")[0]
        piece = Piece(claim.text, decision.render_state, decision.reason)
        found[row_id] = (*found.get(row_id, ()), piece)
    return found


def chunks_of(row: Row, split: SentenceSplitter) -> tuple[EvidenceChunk, ...]:
    """Return the chunks of a document that holds the row's title and evidence."""
    text = row["evidence"]
    document = Document(
        doc_id=row["id"],
        title=row["title"],
        path=f"{row['id']}.txt",
        media_type="text/plain",
        sha256=sha256_hex(text),
        text=text,
        blocks=(Block("paragraph", 0, len(text)),),
    )
    return chunk_document(document, split)


def wrongly_verified(row: Row, pieces: tuple[Piece, ...]) -> list[str]:
    """Return the Verified pieces of a near miss; a supported part of a half-true row is none."""
    untrue = row.get("false", "").casefold()
    return [p.text for p in pieces if p.state == "VERIFIED" and untrue in p.text.casefold()]


@pytest.mark.parametrize("row", NEAR_MISSES, ids=lambda row: row["id"])
def test_no_near_miss_is_verified(row: Row, decided: dict[str, tuple[Piece, ...]]) -> None:
    """Evidence that only looks as if it said so gives no badge."""
    pieces = decided[row["id"]]
    assert pieces, "the sentence made no claim at all, so nothing was tested"
    assert wrongly_verified(row, pieces) == [], f"evidence: {row['evidence']}"


def test_at_least_half_of_the_fair_claims_are_verified(
    decided: dict[str, tuple[Piece, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A gate that refuses everything would pass the near misses too; coverage is printed."""
    verified = Counter(
        row["kind"]
        for row in FAIR_CLAIMS
        if decided.get(row["id"]) and all(p.state == "VERIFIED" for p in decided[row["id"]])
    )
    asked = Counter(row["kind"] for row in FAIR_CLAIMS)
    by_kind = ", ".join(f"{kind} {verified[kind]}/{count}" for kind, count in asked.items())
    with capsys.disabled():
        sys.stdout.write(
            f"\nfair claims Verified: {verified.total()} of {len(FAIR_CLAIMS)} ({by_kind})\n"
        )
    assert verified.total() * 2 >= len(FAIR_CLAIMS)


def test_the_rows_are_many_distinct_and_complete() -> None:
    """Each row has its own id and words, and every kind of near miss has several rows."""
    everything = NEAR_MISSES + FAIR_CLAIMS
    fields = {"id", "kind", "title", "evidence", "claim"}
    assert all(fields <= row.keys() <= fields | {"false"} for row in everything)
    assert len({row["id"] for row in everything}) == len(everything)
    assert len({(row["evidence"], row["claim"]) for row in NEAR_MISSES}) == len(NEAR_MISSES)
    assert all(row.get("false", "") in row["claim"] for row in NEAR_MISSES)
    assert len(NEAR_MISSES) >= 220
    assert len(FAIR_CLAIMS) >= 120
    assert min(Counter(row["kind"] for row in NEAR_MISSES).values()) >= 8
