"""The real path from rows of claim and evidence to gate decisions, each row on its own document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from certirag.bootstrap import load_policy, make_verifier
from certirag.claims.compile import claims_from_draft
from certirag.core.claim import Claim
from certirag.core.selector import with_selectors
from certirag.core.text import Block, Document, EvidenceChunk, sha256_hex
from certirag.core.verdict import VerificationResult
from certirag.ingest.chunk import chunk_document
from certirag.ingest.extract import Limits
from certirag.ingest.load import load_document
from certirag.ingest.sentences import sentence_splitter
from certirag.ports import SentenceSplitter, Verifier
from certirag.render import certify
from certirag.settings import read_settings
from certirag.verification.candidates import Candidates, choose_candidates
from certirag.verification.opinion import verify_claims

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Piece:
    """One claim that a row's sentence was split into, and how the gate decided it."""

    text: str
    state: str
    reason: str


def read_rows(folder: str, name: str) -> list[Row]:
    """Return the rows of one file: id, kind, title, evidence, claim, and sometimes false.

    *false* stands in a row of which one part is supported: the words that make it untrue. The
    *format* of evidence that has sections or lists is ``md``; *open* says why a near miss is
    known to be Verified wrongly.
    """
    lines = (FIXTURES / folder / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def chunks_of(row: Row, split: SentenceSplitter) -> tuple[EvidenceChunk, ...]:
    """Return the chunks of a document that holds the row's title and evidence."""
    text = row["evidence"]
    if row.get("format") == "md":
        written = f"# {row['title']}\n\n{text}".encode()
        return chunk_document(
            load_document(written, path=f"{row['id']}.md", limits=Limits()), split
        )
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


def decide(rows: Sequence[Row], verifier_name: str = "") -> dict[str, tuple[Piece, ...]]:
    """Return the decided pieces of every row by row id; all rows are verified in one batch.

    *verifier_name* is by default that of the settings.
    """
    verifier = make_verifier(verifier_name or read_settings({}).verifier)
    claims, results, chunks = measured(rows, verifier)
    decisions, _ = certify(claims, results, chunks, load_policy("strict-1"))
    found: dict[str, tuple[Piece, ...]] = {row["id"]: () for row in rows}
    for claim, decision in zip(claims, decisions, strict=True):
        row_id = claim.id.rpartition("/")[0]
        piece = Piece(claim.text, decision.render_state, decision.reason)
        found[row_id] = (*found[row_id], piece)
    return found


def measured(
    rows: Sequence[Row], verifier: Verifier
) -> tuple[list[Claim], Sequence[VerificationResult], tuple[EvidenceChunk, ...]]:
    """Return the claims of *rows*, each as *verifier* measured it on its own document, and these."""
    settings, split = read_settings({}), sentence_splitter()
    claims: list[Claim] = []
    chunks: list[EvidenceChunk] = []
    candidates: list[Candidates] = []
    for row in rows:
        own = chunks_of(row, split)
        draft = claims_from_draft(
            "",
            row["claim"],
            split,
            max_claims=settings.max_claims,
            sentences={span.sentence for chunk in own for span in chunk.spans},
        )
        pieces = [replace(claim, id=f"{row['id']}/{claim.id}") for claim in draft.claims]
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
    results = verify_claims(candidates, verifier)
    return claims, results, with_selectors(chunks, results)


def wrongly_verified(row: Row, pieces: tuple[Piece, ...]) -> list[str]:
    """Return the Verified pieces of a near miss; a supported part of a half-true row is none."""
    untrue = row.get("false", "").casefold()
    return [p.text for p in pieces if p.state == "VERIFIED" and untrue in p.text.casefold()]


def wholly_verified(pieces: tuple[Piece, ...]) -> bool:
    """Whether a sentence made claims and every one of them is Verified."""
    return bool(pieces) and all(piece.state == "VERIFIED" for piece in pieces)
