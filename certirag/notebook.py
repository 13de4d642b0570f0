"""The Python way in: `certirag.ask` and `certirag.verify` return a certificate that shows itself.

What a notebook displays is derived from the signed bytes on every display, by the same code
as on the page; a certificate that does not hold shows that and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from certirag.answers.follow_ups import probe_answer
from certirag.answers.pipeline import answer_question, verify_draft
from certirag.answers.services import Services, SignedAnswer
from certirag.bootstrap import build_services, index_of_paths, load_policy, open_index
from certirag.errors import CertificateError
from certirag.render import (
    Mode,
    Presentation,
    inert_html,
    present,
    presentation_html,
    presentation_text,
)
from certirag.settings import read_settings

PathLike = str | os.PathLike[str]


class Certificate:
    """The signed export of one answer; its display re-derives every badge."""

    __slots__ = ("_services", "export", "mode", "trace_id")

    def __init__(self, answer: SignedAnswer, services: Services, mode: Mode) -> None:
        self.export = answer.export
        self.trace_id = answer.trace_id
        self.mode = mode
        self._services = services

    def save(self, path: PathLike) -> Path:
        """Write the audit JSON to *path* and return the path."""
        target = Path(path)
        target.write_bytes(self.export)
        return target

    def __str__(self) -> str:
        try:
            return presentation_text(self._presented())
        except CertificateError as error:
            return _broken(error)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        try:
            return presentation_html(self._presented())
        except CertificateError as error:
            return f"<p>{inert_html(_broken(error))}</p>"

    def _presented(self) -> Presentation:
        return present(
            self.export,
            Mode(self.mode),
            trusted=self._services.trusted,
            floor=self._services.policy,
        )


def ask(
    question: str,
    index: PathLike,
    *,
    profile: str | None = None,
    mode: str = "strict",
    probe: bool = False,
) -> Certificate:
    """Answer *question* from the index directory *index* and return the certificate.

    *profile* names a policy and can only tighten the one in force; *mode* is ``strict``,
    ``mixed`` or ``debug``; *probe* plants errors in the answer, and a claim whose error passes
    loses its badge. Raises a CertiRAGError whose one line names the input and the mend.
    """
    services = _services()
    answer = answer_question(
        question,
        open_index(Path(index), services),
        services,
        asked_policy=load_policy(profile) if profile else None,
    )
    return Certificate(_probed(answer, services) if probe else answer, services, Mode(mode))


def verify(
    draft: str,
    sources: PathLike | Sequence[PathLike],
    *,
    question: str = "",
    profile: str | None = None,
    mode: str = "mixed",
    probe: bool = False,
) -> Certificate:
    """Check the text *draft* against the files or folders *sources*, claim by claim.

    *profile*, *mode* and *probe* are those of `ask`.
    """
    services = _services()
    paths = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    index, _skipped = index_of_paths([Path(p) for p in paths], services, lambda *_: None)
    answer = verify_draft(
        draft,
        index,
        services,
        question=question,
        asked_policy=load_policy(profile) if profile else None,
    )
    return Certificate(_probed(answer, services) if probe else answer, services, Mode(mode))


def _probed(answer: SignedAnswer, services: Services) -> SignedAnswer:
    return probe_answer(answer.export, services)


@cache
def _services() -> Services:
    return build_services(read_settings())


def _broken(error: CertificateError) -> str:
    return f"This certificate does not hold, so nothing of it is shown: {error}"
