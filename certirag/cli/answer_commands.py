"""The commands that answer and check answers: ask, verify and check."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag.answers.follow_ups import probe_answer, prose_of, write_prose
from certirag.answers.pipeline import stream_answer, verify_draft
from certirag.auditing.recheck import check_file, revoked_since
from certirag.auditing.report_files import ready_format, report_file
from certirag.bootstrap import (
    build_services,
    existing_log,
    index_of_paths,
    load_policy,
    open_index,
)
from certirag.cli.files import read_draft, write_beside
from certirag.cli.output import note, print_json, say_progress
from certirag.core.generation import GenerationRecord
from certirag.errors import InputError
from certirag.render import Mode, present, presentation_text, visible
from certirag.settings import Settings

REFUSED: Final = 3
CHECK_FAILED: Final = 4


def ask(options: argparse.Namespace, settings: Settings) -> int:
    """Answer a question from an index."""
    _can_report(options)
    settings = _with_writer(options, settings)
    asked = load_policy(options.profile) if options.profile else None
    services = build_services(settings)
    index = open_index(options.index, services)
    parts = stream_answer(
        options.question,
        index,
        services,
        asked_policy=asked,
        progress=say_progress,
    )
    for answer in parts:
        if not answer.complete:
            say_progress(_so_far(answer.export, services.trusted), 0, 0)
    if options.prose:
        answer = write_prose(answer.export, index, services, progress=say_progress)
    if options.probe:
        answer = probe_answer(answer.export, services, progress=say_progress)
    if options.prose and not options.json:
        paragraph = prose_of(answer.export, services)
        print(visible(paragraph or "Nothing of the paragraph passed the check."), end="\n\n")
    return _show(answer.export, options, services.trusted)


def _can_report(options: argparse.Namespace) -> None:
    """Refuse a report that cannot be written before anything is asked."""
    if options.report:
        ready_format(_suffix(options.report))


def _suffix(path: Path) -> str:
    return path.suffix.lower().removeprefix(".")


def _without_writer(settings: Settings) -> Settings:
    """Return *settings* for a command that writes nothing: no language model is asked for."""
    return replace(settings, generator="extractive")


def _with_writer(options: argparse.Namespace, settings: Settings) -> Settings:
    """Return *settings* with the generator and the strategy that the command names."""
    generator = options.generator or settings.generator
    if options.strategy and generator == "extractive":
        message = (
            f"--strategy {options.strategy!r} needs a language model: add --generator openai:MODEL"
        )
        raise InputError(message)
    return replace(settings, generator=generator, strategy=options.strategy or settings.strategy)


def _so_far(export: bytes, trusted: Mapping[str, Ed25519PublicKey]) -> str:
    """Return how far an answer has come, for whoever waits for the rest."""
    part = present(export, Mode.STRICT, trusted=trusted)
    summary = part.summary
    claims = summary.verified + summary.unverified + summary.blocked
    return f"claims written: {claims}, verified: {summary.verified}"


def verify(options: argparse.Namespace, settings: Settings) -> int:
    """Check a draft against documents."""
    _can_report(options)
    asked = load_policy(options.profile) if options.profile else None
    question, draft = read_draft(options.draft)
    services = build_services(_without_writer(settings))
    index, skipped = index_of_paths(options.evidence, services, say_progress)
    for line in skipped:
        note(f"skipped {line}")
    answer = verify_draft(
        draft, index, services, question=question, asked_policy=asked, progress=say_progress
    )
    if options.probe:
        answer = probe_answer(answer.export, services, progress=say_progress)
    return _show(answer.export, options, services.trusted)


def check(options: argparse.Namespace, settings: Settings) -> int:
    """Derive every badge of exports again."""
    log = existing_log(settings) if options.log else None
    reports = [
        (
            path,
            check_file(
                path,
                settings,
                public_key=options.public_key,
                trust=options.trust,
                root=options.root,
                sources=options.sources,
                rescore=options.rescore,
            ),
        )
        for path in options.files
    ]
    if log is not None:
        reports = [
            (path, revoked_since(path.read_bytes(), str(path), log, report))
            for path, report in reports
        ]
    if options.json:
        print_json([{"file": str(path)} | asdict(report) for path, report in reports])
    else:
        for path, report in reports:
            code = f" ({report.code})" if report.code else ""
            print(visible(f"{report.verdict}  {path}  {report.reason}{code}"))
    return 0 if all(report.verdict == "VALID" for _, report in reports) else CHECK_FAILED


def _show(
    export: bytes, options: argparse.Namespace, trusted: Mapping[str, Ed25519PublicKey]
) -> int:
    """Print an answer and write its export; the states are derived from the export again."""
    presentation = present(export, Mode(options.mode), trusted=trusted)
    if options.export:
        write_beside(options.export, [export])
        note(f"audit JSON written to {options.export}")
    if options.report:
        write_beside(options.report, [report_file(presentation, _suffix(options.report))])
        note(f"report written to {options.report}")
    if options.json:
        sys.stdout.write(export.decode("utf-8"))
    else:
        print(presentation_text(presentation))
        if line := _ended(presentation.record.generation):
            print(visible(line))
    return REFUSED if presentation.summary.decision == "REJECT" else 0


def _ended(generation: GenerationRecord | None) -> str:
    """Return what to say of a language model that did not write an answer to its end, or ""."""
    if generation is None or generation.end == "complete" or generation.quoted:
        return ""
    if generation.end == "abstained":
        return "The language model found no answer in the documents."
    return f"Incomplete ({generation.end.replace('_', ' ')}): {generation.note}"
