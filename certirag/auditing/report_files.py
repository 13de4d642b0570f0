"""An answer → a file to take away: Markdown, Word or PDF, each written from the same report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from certirag.auditing.report_docx import docx_report
from certirag.auditing.report_pdf import pdf_report
from certirag.errors import InputError, MissingExtra
from certirag.render import Presentation, markdown_report, report_of


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """A format by its *suffix*; *package* is what it needs installed, by the name of its import."""

    suffix: str
    mime: str
    package: str = ""
    extra: str = ""

    @property
    def missing(self) -> str:
        """What to do before this format can be written, "" when nothing is missing."""
        if not self.package or find_spec(self.package) is not None:
            return ""
        return f"{self.suffix} needs {self.package}: pip install 'certirag[{self.extra}]'"


_WORD: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FORMATS: Final[Mapping[str, ReportFormat]] = {
    "md": ReportFormat("md", "text/markdown"),
    "docx": ReportFormat("docx", _WORD),
    "pdf": ReportFormat("pdf", "application/pdf", "reportlab", "pdf"),
}
_WRITERS: Final = {"md": markdown_report, "docx": docx_report, "pdf": pdf_report}


def ready_format(suffix: str) -> ReportFormat:
    """Return the format of *suffix*; InputError if there is none, MissingExtra if it cannot be had."""
    known = FORMATS.get(suffix)
    if known is None:
        raise InputError(f"{suffix!r} is no format of a report: take {', '.join(FORMATS)}")
    if known.missing:
        raise MissingExtra(known.missing)
    return known


def report_file(presentation: Presentation, suffix: str) -> bytes:
    """Return *presentation* as a file of the format *suffix*; errors as of `ready_format`."""
    return _WRITERS[ready_format(suffix).suffix](report_of(presentation))
