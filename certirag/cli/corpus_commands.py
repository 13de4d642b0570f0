"""The commands on the documents of an index: ingest, and list, read again and remove."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Final

from certirag.answers.services import Services
from certirag.auditing.staleness import digests_of, stale_answers
from certirag.bootstrap import build_services, corpus_writer, open_index
from certirag.cli.output import note, print_json, say_progress
from certirag.ingest.collect import Watch
from certirag.render import visible
from certirag.settings import Settings

_COUNTED: Final = 1000


def ingest(options: argparse.Namespace, settings: Settings) -> int:
    """Read documents into an index."""
    services = build_services(_without_writer(settings))
    with corpus_writer(options.index, services, Watch(say_progress)) as writer:
        report = writer.ingest(options.paths)
    return _told(asdict(report), report.lines(), options, services)


def reread(options: argparse.Namespace, settings: Settings) -> int:
    """Read a document of an index, or all of them, again from where it came."""
    services = build_services(_without_writer(settings))
    with corpus_writer(options.index, services, Watch(say_progress)) as writer:
        report = writer.reread(options.document)
    return _told(asdict(report), report.lines(), options, services)


def remove(options: argparse.Namespace, settings: Settings) -> int:
    """Take a document out of an index."""
    services = build_services(_without_writer(settings))
    with corpus_writer(options.index, services, Watch(say_progress)) as writer:
        report = writer.remove(options.document)
    return _told(asdict(report), report.lines(), options, services)


def list_documents(options: argparse.Namespace, settings: Settings) -> int:
    """List the documents of an index, with their later readings."""
    index = open_index(options.index, build_services(_without_writer(settings)))
    if options.json:
        print_json([asdict(document) for document in index.documents])
        return 0
    for document in index.documents:
        path = document.path.replace(
            "\n", "\\n"
        )  # a name may hold one: it is one line all the same
        print(visible(f"{path}  {document.chunks} passages  {document.sha256[:12]}"))
        for version in document.versions:
            change = "changed" if version.text_changed else "is unchanged"
            print(visible(f"  read again on {version.read_on}; its text {change}"))
    return 0


def _told(
    report: dict[str, object],
    lines: Iterable[str],
    options: argparse.Namespace,
    services: Services,
) -> int:
    if options.json:
        print_json(report)
    else:
        for line in lines:
            print(visible(line))
    _note_stale(options.index, services)
    return 0


def _without_writer(settings: Settings) -> Settings:
    """Return *settings* for a command that writes nothing: no language model is asked for."""
    return replace(settings, generator="extractive")


def _note_stale(directory: Path, services: Services) -> None:
    """Say how many logged answers lean on documents that are other ones now."""
    stale = stale_answers(services.audit_log, digests_of(open_index(directory, services)))
    found = sum(1 for _ in islice(stale, _COUNTED))
    if found:
        more = "or more " if found == _COUNTED else ""
        lean = "answer leans" if found == 1 else "answers lean"
        note(
            f"{found} {more}{lean} on documents that changed: "
            f"see certirag audit stale --index {directory}"
        )
