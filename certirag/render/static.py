"""A presentation → static HTML and plain text, for notebooks and terminals."""

from __future__ import annotations

from typing import Final

from certirag.core.said import Message
from certirag.render.draft_text import DRAFT, draft_html, draft_lines, end_line, headline_of
from certirag.render.inert import highlight_html, inert_html, visible
from certirag.render.judgement_text import (
    is_disagreement,
    judgement_html,
    judgement_lines,
)
from certirag.render.present import Chip, EvidenceView, Presentation

_COLOUR: Final = {
    "verified": "#136c3a",
    "unverified": "#5b6470",
    "contradicted": "#b3261e",
}
NOTICE: Final[Message] = (
    "Verified: retrieved evidence entails the claim under the policy. Not: it is true."
)


def presentation_html(presentation: Presentation) -> str:
    """Return a self-contained fragment: no script, link, image or style from any text."""
    summary = presentation.summary
    parts = [
        '<section style="font-family:system-ui,sans-serif;max-width:46rem;line-height:1.5">',
        (
            f"<p><strong>{inert_html(headline_of(presentation))}</strong><br>"
            f"Confidence: {inert_html(summary.confidence.replace('_', ' '))} · "
            f"policy {inert_html(presentation.policy.name)}</p>"
        ),
    ]
    ended = end_line(presentation)
    if ended:
        parts.append(f"<p>{inert_html(ended)}</p>")
    parts += [_chip_html(chip) for chip in presentation.shown]
    if presentation.folded:
        count = len(presentation.folded)
        parts.append(f"<details><summary>What we could not verify ({count})</summary>")
        parts += [_chip_html(chip) for chip in presentation.folded]
        parts.append("</details>")
    parts += [judgement_html(presentation), draft_html(presentation)]
    if presentation.probe is not None:
        parts.append(f"<p>Planted errors: {inert_html(presentation.probe.sentence)}</p>")
    parts.append(f'<p style="font-size:.85em">{inert_html(NOTICE)}</p></section>')
    return "".join(parts)


def presentation_text(presentation: Presentation) -> str:
    """Return the same as plain lines for a terminal; control characters are made visible."""
    ended = end_line(presentation)
    lines = [headline_of(presentation), *([ended] if ended else []), ""]
    for chip in presentation.shown:
        lines += _chip_lines(chip)
    if presentation.folded:
        lines += ["", f"What we could not verify ({len(presentation.folded)}):"]
        for chip in presentation.folded:
            lines += _chip_lines(chip)
    if presentation.hidden and not is_disagreement(presentation):
        lines += ["", f"{presentation.hidden} contradicted, shown in debug mode only."]
    lines += [*([""] if lines[-1] else []), *judgement_lines(presentation)]
    drafted = draft_lines(presentation, with_end=False)
    if drafted:
        lines += ["", f"{DRAFT}:", *(f"  - {line}" for line in drafted)]
    if presentation.probe is not None:
        lines += ["", f"Planted errors: {presentation.probe.sentence}"]
    summary = presentation.summary
    lines += [
        "",
        (
            f"Answer {summary.decision} ({summary.reason_code}), confidence "
            f"{summary.confidence.replace('_', ' ')}, policy {presentation.policy.name}, "
            f"trace {presentation.record.trace_id}"
        ),
        NOTICE,
    ]
    return "\n".join(lines)


def _chip_html(chip: Chip) -> str:
    badge = (
        f'<span style="color:#fff;background:{_COLOUR[chip.badge.kind]};border-radius:1em;'
        f'padding:.1em .6em;font-size:.85em">{chip.badge.label}</span>'
    )
    quotes = "".join(
        "<blockquote style='margin:.3em 1em;white-space:pre-wrap'>"
        f"{highlight_html(v.chunk.text, [(v.span.start, v.span.end)])}<br>"
        f"<small>{inert_html(_place(v.chunk.source.title, v.chunk.source.page))}</small>"
        "</blockquote>"
        for v in chip.evidence
        if v.attached
    )
    if quotes and chip.badge.kind != "verified":
        quotes = f"<p>Nearest evidence, not enough under the rules:</p>{quotes}"
    return (
        '<div style="border:1px solid #8884;border-radius:.5em;padding:.5em .8em;margin:.5em 0">'
        f"{badge}<div style='white-space:pre-wrap;margin-top:.3em'>{inert_html(chip.text)}</div>"
        f"<details><summary>Evidence and rules</summary><p>{inert_html(_why(chip))}</p>{quotes}"
        "</details></div>"
    )


def _chip_lines(chip: Chip) -> list[str]:
    """Badge and claim; then what it stands on, or why it has no badge."""
    head = f"{chip.badge.label}  {_line(chip.text)}"
    if chip.badge.kind != "verified":
        return [head, f"    {_line(_why(chip))}"]
    return [head, *(f"    ↳ {_quoted(view)}" for view in chip.evidence if view.attached)]


def _why(chip: Chip) -> str:
    told = chip.why
    return f"{told.sentence} {told.mend}".rstrip()


def _quoted(view: EvidenceView) -> str:
    source = view.chunk.source
    return f"“{_line(view.span.sentence)}” — {_line(_place(source.title, source.page))}"


def _place(title: str, page: int | None) -> str:
    return title if page is None else f"{title}, page {page}"


def _line(text: str) -> str:
    return " ".join(visible(text).split())
