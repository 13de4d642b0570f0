"""The command line: parse, call, print. Exit codes are those of DESIGN §7.

0 done · 2 bad usage or bad input · 3 refused: the evidence does not support an answer ·
4 a check failed. Progress goes to standard error; ``--json`` prints one document on standard
output and nothing else there.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag import __version__
from certirag.cli import measure_commands
from certirag.cli.files import read_draft, write_beside
from certirag.cli.output import complain, note, print_json, say_progress
from certirag.core.generation import GenerationRecord
from certirag.errors import CertiRAGError, InputError
from certirag.render import Mode, present, presentation_text, visible
from certirag.settings import STRATEGIES, Settings, read_settings

if TYPE_CHECKING:
    from certirag.answers.services import Services
from typing import TYPE_CHECKING

from certirag.cli import (
    key_commands,
    log_commands,
    query_commands,
    replay_command,
    retention_commands,
    role_commands,
    stale_command,
)

if TYPE_CHECKING:
    from certirag.cli.output import Commands

REFUSED: Final = 3
CHECK_FAILED: Final = 4
_COUNTED: Final = 1000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no traceback reaches the user."""
    parser = _parser()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        _none_empty(given)
        options = parser.parse_args(given)
        command: Callable[[argparse.Namespace, Settings], int] = options.run
        code = command(options, read_settings())
        sys.stdout.flush()
    except CertiRAGError as error:
        return complain(str(error), error.exit_code)
    except KeyboardInterrupt:
        return complain("interrupted; nothing was left half written", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # the last line of defence for the reader's eyes
        if os.environ.get("CERTIRAG_TRACEBACK"):
            raise
        if isinstance(error, OSError) and error.filename and error.strerror:
            return complain(f"{error.filename}: {error.strerror}: check the path", 2)
        return complain(
            f"unexpected {type(error).__name__}: {error}; "
            "set CERTIRAG_TRACEBACK=1 and run again to see where",
            2,
        )
    return code


def _none_empty(given: Sequence[str]) -> None:
    """Refuse an empty argument: as a path it would be the current folder, elsewhere be ignored."""
    for before, one in pairwise(("certirag", *given)):
        name, equals, value = one.partition("=")
        if not one or (name.startswith("--") and equals and not value):
            raise InputError(f"the argument {one or f'after {before}'} is empty: give it a value")


def _ingest(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.bootstrap import build_services, ingest_paths  # noqa: PLC0415  # starts fast

    services = build_services(_without_writer(settings))
    report = ingest_paths(options.paths, options.index, services, say_progress)
    if options.json:
        print_json(asdict(report))
    else:
        for line in report.lines():
            print(visible(line))
    _note_stale(options.index, services)
    return 0


def _note_stale(directory: Path, services: Services) -> None:
    """Say how many logged answers lean on documents that are other ones now."""
    from certirag.auditing.staleness import digests_of, stale_answers  # noqa: PLC0415
    from certirag.bootstrap import open_index  # noqa: PLC0415

    stale = stale_answers(services.audit_log, digests_of(open_index(directory, services)))
    found = sum(1 for _ in islice(stale, _COUNTED))
    if found:
        more = "or more " if found == _COUNTED else ""
        lean = "answer leans" if found == 1 else "answers lean"
        note(
            f"{found} {more}{lean} on documents that changed: "
            f"see certirag audit stale --index {directory}"
        )


def _ask(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.answers.follow_ups import probe_answer, prose_of, write_prose  # noqa: PLC0415
    from certirag.answers.pipeline import stream_answer  # noqa: PLC0415
    from certirag.bootstrap import build_services, load_policy, open_index  # noqa: PLC0415

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


def _verify(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.answers.follow_ups import probe_answer  # noqa: PLC0415
    from certirag.answers.pipeline import verify_draft  # noqa: PLC0415
    from certirag.bootstrap import build_services, index_of_paths, load_policy  # noqa: PLC0415

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


def _check(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.auditing.recheck import check_file, revoked_since  # noqa: PLC0415
    from certirag.bootstrap import existing_log  # noqa: PLC0415

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
        reports = [(path, revoked_since(path, log, report)) for path, report in reports]
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


class _Parser(argparse.ArgumentParser):
    """argparse with one line on standard error and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(complain(f"{message}; try '{self.prog} --help'", 2))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="certirag", description="Answers whose every badge can be proved.")
    parser.add_argument("--version", action="version", version=f"certirag {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    ingest = commands.add_parser("ingest", help="read documents into an index")
    ingest.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    ingest.add_argument("--index", required=True, type=Path, metavar="DIR")
    ingest.add_argument("--json", action="store_true")
    ingest.set_defaults(run=_ingest)

    ask = commands.add_parser("ask", help="answer a question from an index")
    ask.add_argument("question")
    ask.add_argument("--index", required=True, type=Path, metavar="DIR")
    ask.add_argument(
        "--generator",
        metavar="NAME",
        help="extractive, openai:MODEL at CERTIRAG_LLM_URL, or llamacpp:FILE.gguf",
    )
    ask.add_argument(
        "--strategy", metavar="NAME", help=f"how a language model writes: {', '.join(STRATEGIES)}"
    )
    ask.add_argument(
        "--prose", action="store_true", help="a paragraph from the Verified claims, checked again"
    )
    _add_answer_options(ask, mode=Mode.STRICT)
    ask.set_defaults(run=_ask)

    verify = commands.add_parser("verify", help="check an answer against documents")
    verify.add_argument("--draft", required=True, type=Path, metavar="FILE")
    verify.add_argument("--evidence", required=True, nargs="+", type=Path, metavar="PATH")
    _add_answer_options(verify, mode=Mode.MIXED)
    verify.set_defaults(run=_verify)

    check = commands.add_parser("check", help="derive every badge of an export again")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    check.add_argument("--public-key", type=Path, metavar="FILE")
    check.add_argument("--trust", type=Path, metavar="FILE", help="which keys are good for what")
    check.add_argument("--root", type=Path, metavar="FILE", help="the key that signed --trust")
    check.add_argument("--sources", nargs="+", type=Path, metavar="PATH", default=[])
    check.add_argument("--rescore", action="store_true", help="run the verifier again")
    check.add_argument(
        "--log", action="store_true", help="ask the log, where it is at hand, if it was revoked"
    )
    check.add_argument("--json", action="store_true")
    check.set_defaults(run=_check)

    _add_log_commands(commands)

    measure_commands.add_commands(commands)
    return parser


def _add_answer_options(parser: argparse.ArgumentParser, *, mode: Mode) -> None:
    parser.add_argument("--mode", choices=[m.value for m in Mode], default=mode.value)
    parser.add_argument("--profile", metavar="NAME", help="a policy; it can only tighten")
    parser.add_argument(
        "--probe", action="store_true", help="plant errors in the answer and say what was caught"
    )
    parser.add_argument("--export", type=Path, metavar="FILE", help="write the audit JSON")
    parser.add_argument("--json", action="store_true", help="print the audit JSON")


def _add_log_commands(commands: Commands) -> None:
    """Add ``audit``, ``keys`` and ``replay``: what was answered before."""
    audit = commands.add_parser("audit", help="ask, verify, keep and erase what is logged")
    acts = audit.add_subparsers(dest="act", required=True, metavar="COMMAND")
    for part in (query_commands, log_commands, retention_commands, stale_command, role_commands):
        part.add_commands(acts)
    keys = commands.add_parser("keys", help="the keys that sign certificates and the log")
    key_commands.add_commands(keys.add_subparsers(dest="act", required=True, metavar="COMMAND"))
    replay_command.add_commands(commands)
