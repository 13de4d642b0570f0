"""The grounded answer of RFC-0004 §4.2, from an answer as it may be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certirag.gateway.gated import grounding_score, require_measured
from certirag.gateway.wire import GroundedAnswer, GroundedClaim, ReferenceOut, SupportingCitation

if TYPE_CHECKING:
    from certirag.gateway.profiles import Profile
    from certirag.render import Chip, Presentation


def grounded_answer(shown: Presentation, profile: Profile, *, brief: bool) -> GroundedAnswer:
    """Return *shown*; an abstention where it does not answer or too little of it is supported.

    Raises Refused where it could not be measured.
    """
    summary = shown.summary
    stands = summary.reason_code != "RELATED_ONLY" and grounding_score(shown) >= profile.least
    chips = shown.shown if stands else ()
    if not chips:
        require_measured(shown)
    cited = [view.chunk for chip in chips for view in chip.evidence if view.attached]
    references = {chunk.doc_id: chunk.source for chunk in cited}
    return GroundedAnswer(
        answer_summary=" ".join(chip.text for chip in chips),
        claims=[_claim(chip, brief=brief) for chip in chips],
        references=[
            ReferenceOut(work_id=doc_id, title=source.title, source=source.url_or_path)
            for doc_id, source in references.items()
        ],
        confidence=summary.confidence if chips else "insufficient_evidence",
        limitations=list(summary.limitations),
        query_refinements=list(summary.query_refinements),
        trace_id=shown.record.trace_id,
    )


def _claim(chip: Chip, *, brief: bool) -> GroundedClaim:
    views = [view for view in chip.evidence if view.attached]
    return GroundedClaim(
        text=chip.text,
        supporting_citations=[
            SupportingCitation(
                work_id=view.chunk.doc_id, passage_id=None if brief else view.chunk.chunk_id
            )
            for view in views
        ],
        support_level="direct" if len(views) == 1 else "indirect",
    )
