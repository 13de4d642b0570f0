"""The evidence drawer of one claim; open while `?claim=` names a claim that is on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

import streamlit as st

from certirag.core.said import Message
from certirag.core.verdict import is_score
from certirag.proof.certificate import FindingRecord
from certirag.render import Chip, EvidenceView, Mode, Presentation, counted_sentence
from certirag.render.conflicts import dates_in
from certirag.render.differences import contrast, differences
from ui.contract_text import PLANTED_RULE, PLANTED_TITLE, RULE_TITLES
from ui.inert import (
    draw_claim_text,
    draw_findings,
    draw_meter,
    draw_quote,
    draw_status,
    draw_table,
    draw_text,
)
from ui.language import tr, tr_of
from ui.located import CorpusLike, draw_place_of, lost_evidence, place_of
from ui.look import draw_look, draw_recomputed
from ui.risk import draw_risk

_PARAM: Final = "claim"
_WIDTH: Final = 560
_WIDE: Final = 1040  # both sides of a disagreement beside each other
_CLOSEST: Final = 2
_MOST_WORDS: Final = 12  # of a claim that are named as missing
_ANOTHER_RULE: Final[Message] = "Another rule"
_TITLES: Final[dict[str, Message]] = {**RULE_TITLES, PLANTED_RULE: PLANTED_TITLE}
_OUTCOMES: Final[dict[str, Message]] = {
    "caught": "Caught",
    "survived": "Passed every rule",
    "unmeasured": "Not measured",
}
_KINDS: Final[dict[str, Message]] = {
    "number": "number",
    "date": "date",
    "negation": "negation",
    "entity": "name",
    "unit": "unit",
}


def ask_to_open(claim_id: str, place: str = "") -> None:
    """Ask for the drawer of *claim_id* on this run (a button's callback), of the answer at *place*."""
    st.query_params[_PARAM] = place + claim_id


def open_if_asked(
    presentation: Presentation, corpus: CorpusLike | None = None, place: str = ""
) -> bool:
    """Open the drawer when the URL names a claim that this answer draws; say whether it did.

    *corpus* is the index that is open beside the answer, where there is one: its documents may
    have changed since. *place* tells apart the answers of one page, which has one drawer.
    """
    asked = st.query_params.get(_PARAM, "")
    drawn = (*presentation.shown, *presentation.folded)
    chips = {place + chip.claim_id: chip for chip in drawn}
    if asked not in chips:
        return False
    sides = _sides(chips[asked], presentation)
    width = _WIDE if sides.nearest and sides.against else _WIDTH
    # The title is said in the language of the page, so it is named when it is drawn.
    of = st.dialog(tr("Evidence"), position="right", width=width, on_dismiss=_forget)
    of(_drawer)(chips[asked], presentation, corpus)
    return True


def _forget() -> None:
    st.query_params.pop(_PARAM, None)


def _drawer(chip: Chip, presentation: Presentation, corpus: CorpusLike | None) -> None:
    lost = lost_evidence(chip.evidence, presentation, corpus)
    stands = _passed(chip) and not lost
    if lost:
        draw_text(tr("{lost} No badge without it.", lost=lost), "error", max_lines=4)
    if stands or not _passed(chip):
        draw_status(chip.badge)
    _draw_claim(chip, presentation)
    _draw_scores(chip, presentation)
    _draw_evidence(chip, presentation, corpus, stands=stands)
    draw_recomputed(chip)
    draw_look(chip.result)
    st.subheader(tr("Rules"), anchor=False)
    draw_findings(_told(chip, finding, presentation.mode) for finding in chip.failures_first)
    _draw_planted(chip, presentation)
    if stands:
        draw_risk(presentation)
    if presentation.mode is Mode.DEBUG:
        _draw_others([view for view in chip.evidence if not view.attached])


def _draw_claim(chip: Chip, presentation: Presentation) -> None:
    """Draw the claim; without a badge also why, what it has otherwise and what would mend it."""
    if _passed(chip):
        draw_text(chip.text, "claim")
        return
    sides = _sides(chip, presentation)
    first = (*sides.against, *sides.nearest)[:1]
    differing = [differences(chip.text, view.span.sentence).in_claim for view in first]
    draw_claim_text(chip.text, differing[0] if differing else ())
    draw_text(chip.why.sentence, "reason", max_lines=4)
    draw_text(chip.why.mend, "note", max_lines=4)


def _told(chip: Chip, finding: FindingRecord, mode: Mode) -> tuple[str, FindingRecord]:
    """Return a finding with its title: as it was recorded in debug mode, else in plain words."""
    if mode is Mode.DEBUG:
        return tr_of(_TITLES, finding.rule), finding
    plain = replace(finding, reason=chip.plain(finding).sentence)
    return tr(_TITLES.get(finding.rule, _ANOTHER_RULE)), plain


def _draw_evidence(
    chip: Chip, presentation: Presentation, corpus: CorpusLike | None, *, stands: bool
) -> None:
    """Draw what the claim stands on or what comes nearest, and what speaks against it beside that."""
    numbers = count(1)

    def draw(views: Sequence[EvidenceView], others: Sequence[EvidenceView]) -> None:
        debug = presentation.mode is Mode.DEBUG
        for view in views:
            _draw_view(
                view,
                debug=debug,
                claim="" if _passed(chip) else chip.text,
                other=others[0].span.sentence if others else "",
            )
            place = place_of(view, presentation, corpus)
            draw_place_of(view, place, corpus, offsets=debug, key=f"open-document-{next(numbers)}")

    sides = _sides(chip, presentation)
    both = sides.nearest and sides.against
    left, right = st.columns(2, gap="medium") if both else (st.container(), st.container())
    with left:
        if sides.nearest and stands:
            st.subheader(tr("Evidence it stands on"), anchor=False)
        elif sides.nearest and _passed(chip):
            st.subheader(tr("Evidence it stood on"), anchor=False)
        elif sides.nearest and sides.entailed:
            st.subheader(tr("Evidence for it"), anchor=False)
        elif sides.nearest:
            st.subheader(tr("Nearest evidence for it"), anchor=False)
            st.caption(tr("Not enough under the rules below."))
        elif not sides.against:
            st.caption(tr("No passage was found for this claim."))
        draw(sides.nearest, sides.against)
    with right:
        if sides.contested:
            st.subheader(tr("Contested: another document speaks against it"), anchor=False)
        elif sides.against:
            st.subheader(tr("Evidence against it"), anchor=False)
        draw(sides.against, sides.nearest)


@dataclass(frozen=True, slots=True)
class _Sides:
    """What the documents say for a claim, or nearest to it, and *against* it, the surest first.

    *entailed*: what they say for it would be enough by itself. *contested*: the record names the
    first of what is against it as another document's.
    """

    nearest: tuple[EvidenceView, ...]
    against: tuple[EvidenceView, ...]
    entailed: bool
    contested: bool


def _sides(chip: Chip, presentation: Presentation) -> _Sides:
    opposing = _opposing(chip)
    against = (*opposing[:_CLOSEST], *_against(chip, presentation))
    attached = [view for view in chip.evidence if view.attached]
    speaking = {id(view) for view in (*opposing, *against)}
    near = [view for view in attached or chip.evidence[:_CLOSEST] if id(view) not in speaking]
    entailed = any(one.rule == "entailed" and one.passed is True for one in chip.findings)
    return _Sides(tuple(near), against, entailed, bool(opposing))


def _passed(chip: Chip) -> bool:
    return all(finding.passed is True for finding in chip.findings)


def _opposing(chip: Chip) -> list[EvidenceView]:
    """Return the spans of other documents that the record names as speaking against the claim."""
    refs = () if chip.result is None else chip.result.opposing
    named = {(ref.chunk_id, ref.span_id) for ref in refs}
    found = [v for v in chip.evidence if (v.score.chunk_id, v.score.span_id) in named]
    return sorted(found, key=_contradicts)


def _against(chip: Chip, presentation: Presentation) -> list[EvidenceView]:
    """Return the spans that speak against the claim most, beside those that the record names."""
    policy, opposing = presentation.policy, _opposing(chip)
    limit = min(policy.tau_contradict, policy.tau_contest)
    found = [view for view in chip.evidence if (view.score.contradicted or 0.0) >= limit]
    return [v for v in sorted(found, key=_contradicts) if v not in opposing][:_CLOSEST]


def _contradicts(view: EvidenceView) -> float:
    return -(view.score.contradicted or 0.0)


def _draw_scores(chip: Chip, presentation: Presentation) -> None:
    result, policy = chip.result, presentation.policy
    if result is None:
        st.caption(tr("There is no single measurement of this claim."))
        return
    if is_score(result.score) and result.score is not None:
        draw_meter(tr("Entailment"), result.score, policy.tau_entail)
    else:
        st.caption(tr("There is no sound entailment score."))
    against = [s.contradicted for s in result.all_scores if is_score(s.contradicted)]
    if against:
        draw_meter(
            tr("Contradiction"), max(a for a in against if a is not None), policy.tau_contradict
        )
    if presentation.mode is Mode.DEBUG:
        draw_text(tr("Verifier's label: {label}", label=result.label.replace("_", " ")), "note")


def _draw_view(view: EvidenceView, *, debug: bool, claim: str, other: str) -> None:
    """Draw a passage and, where *claim* has no badge, which of its words the passage lacks.

    Where *other*, a sentence that stands against it, has it otherwise is marked too.
    """
    source, rank, start = view.chunk.source, view.chunk.retrieval.rank, view.span.start
    found = [
        tr("Chunk {chunk}", chunk=view.chunk.chunk_id),
        tr("Found for this claim") if rank is None else tr("Retrieval rank {rank}", rank=rank),
        tr("Entailment {score}", score=_number(view.score.entailed)),
        tr("Contradiction {score}", score=_number(view.score.contradicted)),
    ]
    differ = differences(claim, view.span.sentence)
    beside, _ = contrast(view.span.sentence, other) if other else ((), ())
    dates = dates_in(source.title)
    draw_quote(
        view.chunk.text,
        [(view.span.start, view.span.end)],
        title=source.title,
        facts=[
            *([tr("Dated {date}, by its title", date=dates[0])] if len(dates) == 1 else []),
            *([tr("Page {page}", page=source.page)] if source.page is not None else []),
            *([source.section] if source.section else []),
            *(found if debug else []),
            *([] if view.span.visible else [tr("Hidden from readers: no evidence")]),
        ],
        differing=[(start + first, start + last) for first, last in {*differ.in_passage, *beside}],
    )
    if differ.missing:
        rest = ["…"] if len(differ.missing) > _MOST_WORDS else []
        words = ", ".join([*differ.missing[:_MOST_WORDS], *rest])
        draw_text(tr("Not in the marked sentence: {words}", words=words), "note", max_lines=4)


def _draw_planted(chip: Chip, presentation: Presentation) -> None:
    """Draw the errors planted in this claim and what came of each, where some were asked for."""
    if presentation.probe is None:
        return
    debug = presentation.mode is Mode.DEBUG
    st.subheader(tr("Planted errors"), anchor=False)
    draw_text(counted_sentence(chip.planted), "note")
    if chip.planted:
        draw_table(
            (tr("Error"), tr("Claim with the error"), tr("Outcome"), tr("Because")),
            [
                (
                    tr_of(_KINDS, p.kind),
                    p.text,
                    tr(_OUTCOMES[p.outcome]),
                    p.reason if debug else chip.plain_planted(p),
                )
                for p in chip.planted
            ],
        )


def _draw_others(views: Sequence[EvidenceView]) -> None:
    if not views:
        return
    st.subheader(tr("Other scored spans"), anchor=False)
    st.caption(tr("What speaks against the claim comes first."))
    ordered = sorted(views, key=_contradicts)
    draw_table(
        (tr("Contradicts"), tr("Entails"), tr("Sentence"), tr("Document")),
        [
            (
                _number(view.score.contradicted),
                _number(view.score.entailed),
                view.span.sentence,
                view.chunk.source.title,
            )
            for view in ordered
        ],
    )


def _number(score: float | None) -> str:
    return tr("none") if score is None else f"{score:.2f}"
