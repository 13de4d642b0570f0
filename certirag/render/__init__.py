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
from certirag.render.report import (
    AnswerReport,
    ReportPiece,
    Source,
    cited_by,
    file_name,
    footnotes_of,
    place_of_source,
    report_of,
    sources_of,
)
from certirag.render.report_text import markdown_report, plain_report
from certirag.render.static import NOTICE, presentation_html, presentation_text

__all__ = [
    "NOTICE",
    "AnswerReport",
    "CheckedDraft",
    "Chip",
    "EvidenceView",
    "Mode",
    "PlantedView",
    "Presentation",
    "ProbeView",
    "ReportPiece",
    "Source",
    "certify",
    "cited_by",
    "counted_sentence",
    "file_name",
    "footnotes_of",
    "highlight_html",
    "inert_html",
    "inert_slice",
    "markdown_report",
    "oddities",
    "place_of_source",
    "plain_report",
    "present",
    "presentation_html",
    "presentation_text",
    "report_of",
    "sources_of",
    "visible",
    "visible_characters",
]
