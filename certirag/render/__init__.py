"""The gate: the only part that may grant the badge. Pure; see docs/adr/0002."""

from certirag.render.certify import certify
from certirag.render.checked_draft import CheckedDraft
from certirag.render.inert import (
    highlight_html,
    inert_html,
    inert_slice,
    oddities,
    visible,
    visible_characters,
)
from certirag.render.present import Chip, EvidenceView, Mode, Presentation, present
from certirag.render.probe_verdicts import PlantedView, ProbeView, counted_sentence
from certirag.render.static import NOTICE, presentation_html, presentation_text

__all__ = [
    "NOTICE",
    "CheckedDraft",
    "Chip",
    "EvidenceView",
    "Mode",
    "PlantedView",
    "Presentation",
    "ProbeView",
    "certify",
    "counted_sentence",
    "highlight_html",
    "inert_html",
    "inert_slice",
    "oddities",
    "present",
    "presentation_html",
    "presentation_text",
    "visible",
    "visible_characters",
]
