"""Draws a claim: its chip or its plain status, its text, and where its evidence stands."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from certirag.render import Chip, Presentation, Source, cited_by, place_of_source
from ui import drawer
from ui.inert import draw_number, draw_place, draw_status, draw_text
from ui.language import language, tr


def numbers_of(presentation: Presentation) -> dict[int, int]:
    """Return the number of each claim of the answer, from 1, by the claim's identity.

    By identity: a hostile record may give two claims one id, and keys must stay apart.
    """
    return {id(claim): n for n, claim in enumerate(presentation.record.claim_ir.claims, 1)}


def draw_claim(
    chip: Chip,
    number: int,
    sources: Sequence[Source],
    *,
    numbered: bool = False,
    place: str = "",
) -> None:
    """Draw a claim with its chip, which opens the drawer, and with its number if asked.

    *sources* are those of the answer; *place* tells apart the answers of one page.
    """
    with st.container(key=f"claim-{chip.badge.kind}-{number}{place}", gap="xsmall"):
        if numbered:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                draw_number(number)
                _draw_chip(chip, number, place)
        else:
            _draw_chip(chip, number, place)
        draw_text(chip.text, "claim")
        _draw_below(chip, sources)


def draw_folded(chip: Chip, number: int, sources: Sequence[Source], place: str = "") -> None:
    """Draw a claim whose text is folded behind a warning, of the answer at *place*."""
    with st.container(key=f"claim-{chip.badge.kind}-{number}{place}", gap="xsmall"):
        _draw_chip(chip, number, place)
        with st.expander(tr("Claim {number:d}: show it without enough evidence", number=number)):
            draw_text(chip.text, "claim")
            _draw_below(chip, sources)


def draw_growing(chip: Chip, number: int, sources: Sequence[Source]) -> None:
    """Draw a claim of an answer that is being written: a click on a chip would break it off."""
    with st.container(key=f"claim-{chip.badge.kind}-{number}-growing", gap="xsmall"):
        draw_status(chip.badge)
        draw_text(chip.text, "claim")
        _draw_below(chip, sources)


def drawn_of(chip: Chip, sources: Sequence[Source]) -> tuple[str, ...]:
    """Return everything that `draw_growing` draws of *chip*, to see whether it has changed."""
    places = [f"{title} {fact} {numbers}" for (title, fact), numbers in _places(chip, sources)]
    return (chip.badge.kind, chip.badge.label_in(language()), chip.text, *_reasons(chip), *places)


def _draw_chip(chip: Chip, number: int, place: str) -> None:
    st.button(
        # With its number, or every chip would have the same name.
        f"{chip.badge.label_in(language())} · {tr('claim {number:d}', number=number)}",
        key=f"chip-{chip.badge.kind}-{number}{place}",
        on_click=drawer.ask_to_open,
        args=(chip.claim_id, place),
    )


def _draw_below(chip: Chip, sources: Sequence[Source]) -> None:
    """Draw where a claim's evidence stands, or why it got no badge."""
    for reason in _reasons(chip):
        draw_text(reason, "reason", max_lines=4)
    for (title, fact), numbers in _places(chip, sources):
        draw_place(title, *([fact] if fact else []), numbers=numbers)


def _passed(chip: Chip) -> bool:
    return all(finding.passed is True for finding in chip.findings)


def _reasons(chip: Chip) -> list[str]:
    """Return why a claim has no badge: the failure that says most, in one sentence."""
    return [] if _passed(chip) else [chip.why.sentence]


def _places(chip: Chip, sources: Sequence[Source]) -> list[tuple[tuple[str, str], list[int]]]:
    """Return (title, place) of what the claim stands on, each once, with its sources' numbers."""
    found: dict[tuple[str, str], list[int]] = {}
    for source in cited_by(chip, sources):
        found.setdefault((source.title, place_of_source(source)), []).append(source.number)
    return list(found.items())
