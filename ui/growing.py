"""An answer that grows on the page while it is written; each part is drawn from its signed bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.core.policy import Policy
from certirag.core.said import Message
from certirag.render import Mode, Presentation, present, sources_of
from certirag.render.draft_text import BEING_WRITTEN
from ui.claims import draw_growing, drawn_of, numbers_of
from ui.inert import draw_text
from ui.language import tr

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

NOTHING_YET: Final[Message] = "No claim has passed every rule so far."


class GrowingAnswer:
    """The answer so far: a banner that says how far it is, then the claims one by one.

    A claim keeps its place and is drawn anew only where the newest part says something else of it:
    what stands on the page does not flicker, and is never more than that part allows. Claims have
    no chips yet, for whatever is clicked while an answer is being written breaks it off. *banner*
    has room below for whoever tells the stage.
    """

    def __init__(
        self, mode: Mode, *, trusted: Mapping[str, Ed25519PublicKey], floor: Policy
    ) -> None:
        self._mode, self._trusted, self._floor = mode, trusted, floor
        with st.container(key="answer-growing"):
            self.banner = st.container(key="banner-growing")
            with self.banner:
                self._lead = st.empty()
            self._claims = st.container(key="claims-growing")
            self._rest = st.empty()
        self._slots: dict[int, st.delta_generator.DeltaGenerator] = {}
        self._drawn: dict[int, tuple[str, ...]] = {}

    def grow(self, export: bytes) -> None:
        """Draw the part *export*; CertificateError, and nothing more on the page, if it fails."""
        presentation = present(export, self._mode, trusted=self._trusted, floor=self._floor)
        numbers, sources = numbers_of(presentation), sources_of(presentation)
        shown = {numbers[id(chip.claim)]: chip for chip in presentation.shown}
        for number in [n for n in self._drawn if n not in shown]:
            self._slots[number].empty()
            del self._drawn[number]
        for number, chip in sorted(shown.items()):
            if self._drawn.get(number) == drawn_of(chip, sources):
                continue
            self._drawn[number] = drawn_of(chip, sources)
            if number not in self._slots:
                with self._claims:
                    self._slots[number] = st.empty()
            with self._slots[number].container():
                draw_growing(chip, number, sources)
        self._draw_around(presentation)

    def _draw_around(self, presentation: Presentation) -> None:
        summary = presentation.summary
        with self._lead.container():
            if presentation.question:
                draw_text(presentation.question, "question", max_lines=6)
            draw_text(tr(BEING_WRITTEN), "lead")
            draw_text(
                presentation.headline if summary.verified else tr(NOTHING_YET), "note", told=True
            )
        others = len(presentation.folded) + presentation.hidden
        if others:
            with self._rest.container():
                st.caption(
                    tr(
                        "{others:d} more without a badge. What each lacks is told when it is done.",
                        others=others,
                    )
                )
