"""Debug mode's sections: each claim's way, claim IR, retrieval set, scored pairs, policy and models, as recorded."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import streamlit as st

from ui.inert import draw_lines, draw_table, draw_text
from ui.language import tr
from ui.toggles import draw_toggles
from ui.ways import draw_ways

if TYPE_CHECKING:
    from certirag.core.text import EvidenceChunk
    from certirag.core.verdict import VerificationResult
    from certirag.render import Presentation

_RECORD_LINES = 2_000


def draw_debug(presentation: Presentation) -> None:
    """Draw what the record holds beyond the claims; none of it is coloured by its score."""
    record = presentation.record
    draw_ways(presentation)
    st.header(tr("Behind this answer"), anchor=False)
    with st.expander(tr("Retrieval set ({n:d} chunks)", n=len(record.retrieval.chunks))):
        _draw_retrieval(record.retrieval.chunks)
        draw_lines(record.retrieval.dropped)
    pairs = sum(len(result.all_scores) for result in record.verification)
    with st.expander(tr("Scored pairs ({pairs:d})", pairs=pairs)):
        _draw_pairs(record.verification, {c.chunk_id: c for c in record.retrieval.chunks})
    with st.expander(tr("Claim IR ({n:d} claims)", n=len(record.claim_ir.claims))):
        draw_text(_json(asdict(record.claim_ir)), "record", max_lines=_RECORD_LINES)
    with st.expander(tr("How it was made")):
        draw_toggles(record.config)
    with st.expander(tr("Policy, models and configuration")):
        draw_text(
            _json(
                {
                    "policy_in_force": asdict(presentation.policy),
                    "policy_recorded": asdict(record.policy),
                    "models": [asdict(model) for model in record.models],
                    "config": record.config,
                    "config_hash": record.config_hash,
                    "retrieval_settings": record.retrieval.settings,
                }
            ),
            "record",
            max_lines=_RECORD_LINES,
        )


def _draw_retrieval(chunks: tuple[EvidenceChunk, ...]) -> None:
    st.caption(tr("A stage that missed a chunk says none. Ranks count from 1."))
    ordered = sorted(chunks, key=lambda c: (c.retrieval.rank or 10_000, c.chunk_id))
    draw_table(
        (
            tr("Rank"),
            tr("Document"),
            tr("Chunk"),
            tr("BM25"),
            tr("Dense"),
            tr("Fused"),
            tr("Rerank"),
            tr("Begins"),
        ),
        [
            (
                _whole(c.retrieval.rank),
                c.source.title,
                c.chunk_id,
                _staged(c.retrieval.bm25, c.retrieval.bm25_rank),
                _staged(c.retrieval.dense, c.retrieval.dense_rank),
                _staged(c.retrieval.fused, c.retrieval.fused_rank),
                _staged(c.retrieval.rerank, None),
                c.text[:90],
            )
            for c in ordered
        ],
    )


def _draw_pairs(results: tuple[VerificationResult, ...], chunks: dict[str, EvidenceChunk]) -> None:
    st.caption(tr("What contradicts comes first."))
    rows = sorted(
        ((result, score) for result in results for score in result.all_scores),
        key=lambda row: -(row[1].contradicted or 0.0),
    )
    draw_table(
        (
            tr("Claim"),
            tr("Label"),
            tr("Contradicts"),
            tr("Entails"),
            tr("Neither"),
            tr("Sentence"),
            tr("Chunk"),
        ),
        [
            (
                result.claim_id,
                score.label.replace("_", " "),
                _decimal(score.contradicted),
                _decimal(score.entailed),
                _decimal(score.not_enough_info),
                _sentence(chunks.get(score.chunk_id), score.span_id),
                score.chunk_id,
            )
            for result, score in rows
        ],
    )


def _sentence(chunk: EvidenceChunk | None, span_id: str) -> str:
    spans = () if chunk is None else chunk.spans
    return next((span.sentence for span in spans if span.span_id == span_id), "")


def _staged(score: float | None, rank: int | None) -> str:
    return _decimal(score) if rank is None else f"{_decimal(score)} (#{rank})"


def _whole(value: int | None) -> str:
    return "none" if value is None else str(value)


def _decimal(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
