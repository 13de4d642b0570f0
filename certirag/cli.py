"""The command line: parse, call, print. Exit codes are those of DESIGN §7.

0 done · 2 bad usage or bad input · 3 refused: the evidence does not support an answer ·
4 a check failed. Progress goes to standard error; ``--json`` prints one document on standard
output and nothing else there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final, NoReturn

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag import __version__
from certirag.errors import CertiRAGError, InputError
from certirag.render import Mode, present, presentation_text, visible
from certirag.settings import Settings, read_settings

REFUSED: Final = 3
CHECK_FAILED: Final = 4
_FEW_STEPS: Final = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no traceback reaches the user."""
    parser = _parser()
    try:
        options = parser.parse_args(arguments)
        command: Callable[[argparse.Namespace, Settings], int] = options.run
        code = command(options, read_settings())
        sys.stdout.flush()
    except CertiRAGError as error:
        return _complain(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _complain("interrupted; nothing was left half written", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # the last line of defence for the reader's eyes
        if os.environ.get("CERTIRAG_TRACEBACK"):
            raise
        return _complain(
            f"unexpected {type(error).__name__}: {error}; "
            "set CERTIRAG_TRACEBACK=1 and run again to see where",
            2,
        )
    return code


def _ingest(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.bootstrap import build_services, ingest_paths  # noqa: PLC0415  # starts fast

    report = ingest_paths(options.paths, options.index, build_services(settings), _progress)
    if options.json:
        _print_json(asdict(report))
        return 0
    for line in report.lines():
        print(visible(line))
    return 0


def _ask(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.bootstrap import build_services, load_policy, open_index  # noqa: PLC0415
    from certirag.pipeline import answer_question, probe_answer  # noqa: PLC0415

    asked = load_policy(options.profile) if options.profile else None
    services = build_services(settings)
    answer = answer_question(
        options.question,
        open_index(options.index, services),
        services,
        asked_policy=asked,
        progress=_progress,
    )
    if options.probe:
        answer = probe_answer(answer.export, services, progress=_progress)
    return _show(answer.export, options, services.trusted)


def _verify(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.bootstrap import build_services, index_of_paths, load_policy  # noqa: PLC0415
    from certirag.pipeline import probe_answer, verify_draft  # noqa: PLC0415

    asked = load_policy(options.profile) if options.profile else None
    question, draft = _read_draft(options.draft)
    services = build_services(settings)
    index, skipped = index_of_paths(options.evidence, services, _progress)
    for line in skipped:
        _note(f"skipped {line}")
    answer = verify_draft(
        draft, index, services, question=question, asked_policy=asked, progress=_progress
    )
    if options.probe:
        answer = probe_answer(answer.export, services, progress=_progress)
    return _show(answer.export, options, services.trusted)


def _score(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.bootstrap import make_embedder, make_splitter, make_verifier  # noqa: PLC0415
    from certirag.verify.score import WINDOW_SENTENCES, score_rows  # noqa: PLC0415

    verifier = make_verifier(
        options.verifier or settings.verifier, make_embedder(settings.embedder)
    )
    rows = _read_rows(options.pairs)
    # A model cuts windows that fit it; the lexical verifier has no window of its own.
    own = None if verifier.identity.name != "lexical" else WINDOW_SENTENCES
    split = make_splitter(settings.sentences)
    scored = score_rows(rows, verifier, split, _progress, window_sentences=own)
    _write_beside(options.out, b"".join(_json_line(row) for row in scored))
    _note(f"{len(scored)} rows written to {options.out}")
    return 0


def _check(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.recheck import check_file  # noqa: PLC0415

    reports = [
        (
            path,
            check_file(
                path,
                settings,
                public_key=options.public_key,
                sources=options.sources,
                rescore=options.rescore,
            ),
        )
        for path in options.files
    ]
    if options.json:
        _print_json(
            [{"file": str(p), "verdict": r.verdict, "reason": r.reason} for p, r in reports]
        )
    else:
        for path, report in reports:
            print(visible(f"{report.verdict}  {path}  {report.reason}"))
    return 0 if all(report.verdict == "VALID" for _, report in reports) else CHECK_FAILED


def _bench(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.eval.bench import run_bench  # noqa: PLC0415
    from certirag.eval.bench_report import report_lines  # noqa: PLC0415
    from certirag.eval.workload import demo_workloads, own_workload  # noqa: PLC0415

    if options.questions and not options.data:
        raise InputError("--questions needs documents too: give --data PATH")
    if options.out and not options.out.absolute().parent.is_dir():
        raise InputError(f"{options.out}: cannot be written: {options.out.parent} is no folder")
    if options.verifier:
        settings = replace(settings, verifier=options.verifier)
    report = run_bench(
        own_workload(options.data, options.questions) if options.data else demo_workloads(),
        settings,
        _progress,
        repeat=options.repeat,
        limit=options.limit,
    )
    if options.out:
        _write_beside(options.out, _json_line(report))
        _note(f"measurements written to {options.out}")
    if options.json:
        _print_json(report)
    else:
        print("\n".join(visible(line) for line in report_lines(report)))
    return 0


def _show(
    export: bytes, options: argparse.Namespace, trusted: Mapping[str, Ed25519PublicKey]
) -> int:
    """Print an answer and write its export; the states are derived from the export again."""
    presentation = present(export, Mode(options.mode), trusted=trusted)
    if options.export:
        _write_beside(options.export, export)
        _note(f"audit JSON written to {options.export}")
    if options.json:
        sys.stdout.write(export.decode("utf-8"))
    else:
        print(presentation_text(presentation))
    return REFUSED if presentation.summary.decision == "REJECT" else 0


def _read_draft(path: Path) -> tuple[str, str]:
    """Return (question, draft) of a text file, or of a JSON object with ``text``."""
    text = _read_text(path)
    if path.suffix.lower() != ".json":
        return "", text
    try:
        value = json.loads(text)
        question, draft = value.get("question", ""), value["text"]
    except (ValueError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: a JSON draft is an object with the key 'text'") from error
    if not isinstance(question, str) or not isinstance(draft, str):
        raise InputError(f"{path}: 'text' and 'question' must be strings")
    return question, draft


def _read_rows(path: Path) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    text = _read_gzipped(path) if path.suffix == ".gz" else _read_text(path)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: not JSON: {error}") from error
        if not isinstance(row, dict) or not all(
            isinstance(row.get(key), str) for key in ("premise", "hypothesis")
        ):
            raise InputError(
                f"{path}, line {number}: a row is an object with strings 'premise' and 'hypothesis'"
            )
        rows.append(row)
    return rows


def _read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: save it as UTF-8") from error


def _read_gzipped(path: Path) -> str:
    try:
        return gzip.decompress(path.read_bytes()).decode("utf-8")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read as gzip ({error}): check the file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: save it as UTF-8") from error


def _write_beside(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        temporary.unlink(missing_ok=True)


def _json_line(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def _print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n")


def _progress(line: str, done: int, total: int) -> None:
    """Say what is being done: one line that moves on a terminal, few lines in a log."""
    text = f"[{done}/{total}] {line}" if total else line
    if sys.stderr.isatty():
        end = "\n" if done >= total else ""
        print(f"\r\x1b[K{visible(text)}", end=end, file=sys.stderr, flush=True)
    elif total <= _FEW_STEPS or done in {0, total}:
        _note(text)


def _note(line: str) -> None:
    print(visible(line), file=sys.stderr, flush=True)


def _complain(message: str, code: int) -> int:
    _note("certirag: " + " ".join(message.split()))
    return code


class _Parser(argparse.ArgumentParser):
    """argparse with one line on standard error and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(_complain(f"{message}; try '{self.prog} --help'", 2))


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
    ask.add_argument("--generator", choices=["extractive"], default="extractive")
    _add_answer_options(ask, mode=Mode.STRICT)
    ask.set_defaults(run=_ask)

    verify = commands.add_parser("verify", help="check an answer against documents")
    verify.add_argument("--draft", required=True, type=Path, metavar="FILE")
    verify.add_argument("--evidence", required=True, nargs="+", type=Path, metavar="PATH")
    _add_answer_options(verify, mode=Mode.MIXED)
    verify.set_defaults(run=_verify)

    score = commands.add_parser("score", help="score premise and hypothesis pairs")
    score.add_argument("--pairs", required=True, type=Path, metavar="IN.jsonl[.gz]")
    score.add_argument("--out", required=True, type=Path, metavar="OUT.jsonl")
    score.add_argument("--verifier", metavar="NAME")
    score.set_defaults(run=_score)

    check = commands.add_parser("check", help="derive every badge of an export again")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    check.add_argument("--public-key", type=Path, metavar="FILE")
    check.add_argument("--sources", nargs="+", type=Path, metavar="PATH", default=[])
    check.add_argument("--rescore", action="store_true", help="run the verifier again")
    check.add_argument("--json", action="store_true")
    check.set_defaults(run=_check)

    bench = commands.add_parser("bench", help="measure speed and memory of each stage")
    bench.add_argument("--data", nargs="+", type=Path, metavar="PATH", default=[])
    bench.add_argument("--questions", type=Path, metavar="FILE.jsonl")
    bench.add_argument("--verifier", metavar="NAME")
    bench.add_argument("--repeat", type=_at_least_one, metavar="N", default=1)
    bench.add_argument("--limit", type=_at_least_one, metavar="N", help="ask the first N questions")
    bench.add_argument("--out", type=Path, metavar="FILE", help="write the measurements as JSON")
    bench.add_argument("--json", action="store_true", help="print the measurements as JSON")
    bench.set_defaults(run=_bench)
    return parser


def _at_least_one(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number of at least 1")
    return int(text)


def _add_answer_options(parser: argparse.ArgumentParser, *, mode: Mode) -> None:
    parser.add_argument("--mode", choices=[m.value for m in Mode], default=mode.value)
    parser.add_argument("--profile", metavar="NAME", help="a policy; it can only tighten")
    parser.add_argument(
        "--probe", action="store_true", help="plant errors in the answer and say what was caught"
    )
    parser.add_argument("--export", type=Path, metavar="FILE", help="write the audit JSON")
    parser.add_argument("--json", action="store_true", help="print the audit JSON")
