"""The commands that ask the log for answers: audit list, audit query and audit export."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from certirag.auditing.export_rows import ExportFormat, line_of, row_json, start_of
from certirag.auditing.logged_answers import pages
from certirag.auditing.query import GROUPINGS, PERIOD_FORMS, read_groups, read_query
from certirag.cli.files import write_beside
from certirag.cli.output import note, print_json, say_progress
from certirag.errors import InputError
from certirag.ports import AuditLog, Progress
from certirag.proof.facets import (
    DECISIONS,
    MAX_PAGE,
    RENDER_STATES,
    AnswerPage,
    AnswerQuery,
    TrendRow,
)
from certirag.render import visible
from certirag.settings import Settings

if TYPE_CHECKING:
    from certirag.cli.output import Commands

_LIST: Final = 20
_QUESTION: Final = 60
_EXAMPLES: Final = """examples:
  accepted with a low score, last quarter:
    certirag audit query --decision ACCEPT STRIP --score-below 0.80 --when last-quarter
  average score per topic and week:
    certirag audit query --by topic week
  all rejected answers of one corpus, last 30 days:
    certirag audit query --decision REJECT --corpus FINGERPRINT --when last-30-days
"""


def add_commands(commands: Commands) -> None:
    """Add ``list``, ``query`` and ``export`` to the sub-parsers of ``certirag audit``."""
    newest = commands.add_parser("list", help="the newest answers, in short")
    _add_page_options(newest)
    newest.set_defaults(run=list_answers)
    query = commands.add_parser(
        "query",
        help="answers by time, score, decision, document and more, or their trend",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_query_options(query)
    query.add_argument(
        "--by", nargs="+", default=[], metavar="GROUP", help=f"a trend: {', '.join(GROUPINGS)}"
    )
    _add_page_options(query)
    query.set_defaults(run=query_answers)
    export = commands.add_parser(
        "export",
        help="write what a query finds as JSON Lines or CSV",
        epilog="Question texts are written as they are; in CSV, what a spreadsheet would compute "
        "gets an apostrophe.",
    )
    export.add_argument("--out", required=True, type=Path, metavar="FILE")
    export.add_argument("--format", choices=["jsonl", "csv"], default="jsonl")
    add_query_options(export)
    export.set_defaults(run=export_answers)


def list_answers(options: argparse.Namespace, settings: Settings) -> int:
    """Print the newest answers."""
    page = _open(settings).search(AnswerQuery(), after=options.after, limit=options.limit)
    if options.json:
        print_json(_page_json(page))
        return 0
    _print_page(page, "The log holds no answers" + _below(options))
    return 0


def query_answers(options: argparse.Namespace, settings: Settings) -> int:
    """Print the answers that a query finds, or their groups."""
    query, by = query_of(options, now=datetime.now(UTC)), read_groups(options.by)
    if by and options.after is not None:
        raise InputError(f"--after {options.after}: groups are printed whole, without pages")
    log = _open(settings)
    if by:
        groups = log.trend(query, by)
        if options.json:
            print_json({"by": list(by), "groups": [_group_json(by, row) for row in groups]})
        else:
            _print_lines(_group_lines(by, groups) or ["No answer in the log matches."])
        return 0
    page = log.search(query, after=options.after, limit=options.limit)
    found = log.count(query)
    if options.json:
        print_json({"found": found, **_page_json(page)})
        return 0
    _print_page(page, f"No answer in the log{_below(options)} matches")
    if page.rows:
        note(f"{len(page.rows)} of {found} answers")
    return 0


def export_answers(options: argparse.Namespace, settings: Settings) -> int:
    """Write all answers that a query finds to a file, whole or not at all."""
    query = query_of(options, now=datetime.now(UTC))
    if not options.out.name:
        raise InputError(f"{str(options.out)!r} names no file: give one to write")
    if not options.out.absolute().parent.is_dir():
        raise InputError(
            f"{options.out}: cannot be written: {options.out.absolute().parent} is no folder"
        )
    written = export_file(_open(settings), query, options.out, options.format, say_progress)
    note(f"{written} answers written to {options.out}" if written else _nothing(options.out))
    return 0


def export_file(
    log: AuditLog, query: AnswerQuery, path: Path, form: ExportFormat, progress: Progress
) -> int:
    """Write the answers of *query* to *path* as *form*, newest first; return how many.

    They are read page by page, so memory does not grow with them. Answers that are logged
    meanwhile are not among them. InputError when the file cannot be written: none is left then.
    """
    total = log.count(query)
    written = 0

    def lines() -> Iterator[bytes]:
        nonlocal written
        yield start_of(form)
        write = line_of(form)
        for page in pages(log, query):
            yield b"".join(map(write, page.rows))
            written += len(page.rows)
            progress("answers exported", min(written, total), total)

    write_beside(path, lines())
    return written


def _open(settings: Settings) -> AuditLog:
    from certirag.bootstrap import existing_log  # noqa: PLC0415  # starts fast

    return existing_log(settings)


def query_of(options: argparse.Namespace, *, now: datetime) -> AnswerQuery:
    """Return the query of the options that `add_query_options` adds."""
    return read_query(
        now,
        trace_id=options.trace_id,
        when=options.when,
        since=options.since,
        until=options.until,
        corpus=options.corpus,
        score_from=options.score_from,
        score_below=options.score_below,
        decisions=options.decision,
        reasons=options.reason,
        policy=options.policy,
        model=options.model,
        state=options.state,
        document=options.document,
        about=options.about,
        parts=options.parts,
    )


def _page_json(page: AnswerPage) -> dict[str, Any]:
    return {"answers": [row_json(row) for row in page.rows], "after": page.after}


def _group_json(by: Sequence[str], row: TrendRow) -> dict[str, Any]:
    return {
        **dict(zip(by, row.group, strict=True)),
        "answers": row.answers,
        "grounding": row.grounding,
        "decisions": dict(row.decisions),
    }


def _print_page(page: AnswerPage, nothing: str) -> None:
    if not page.rows:
        print(f"{nothing}.")
        return
    lines = [("entry", "time (UTC)", "trace id", "decision", "score", "question")]
    for row in page.rows:
        of = row.facets
        question = _short(of.question)
        if row.revoked:
            question = f"[revoked: {_short(row.revoked)}] {question}"
        if not of.complete:
            question = f"[part] {question}"
        at = of.at[:19].replace("T", " ")
        lines.append(
            (str(row.index), at, of.trace_id, of.decision, f"{of.grounding:.2f}", question)
        )
    _print_lines(_table(lines, right={0, 4}))
    if page.after is not None:
        note(f"more: --after {page.after}")


def _group_lines(by: Sequence[str], groups: Sequence[TrendRow]) -> list[str]:
    if not groups:
        return []
    lines = [(*by, "answers", "score", *DECISIONS)]
    for row in groups:
        counts = (str(row.decisions.get(name, 0)) for name in DECISIONS)
        names = (_short(name) or "(none)" for name in row.group)
        lines.append((*names, str(row.answers), f"{row.grounding:.3f}", *counts))
    return _table(lines, right=set(range(len(by), len(lines[0]))))


def _table(lines: Sequence[Sequence[str]], right: set[int]) -> list[str]:
    """Return *lines* in columns; those in *right* are set to the right."""
    cells = [[visible(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if number in right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _short(text: str) -> str:
    """Return *text* on one line, cut to `_QUESTION` characters."""
    line = " ".join(text.split())
    return line if len(line) <= _QUESTION else f"{line[: _QUESTION - 1]}…"


def _below(options: argparse.Namespace) -> str:
    return "" if options.after is None else f" below entry {options.after}"


def _nothing(path: Path) -> str:
    return f"no answer in the log matches: {path} holds none"


def _add_page_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit",
        type=_number(1, MAX_PAGE),
        default=_LIST,
        metavar="N",
        help=f"answers on a page, at most {MAX_PAGE} ({_LIST} unless told)",
    )
    parser.add_argument(
        "--after", type=_number(0, 2**62), metavar="ENTRY", help="the page below this entry"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_query_options(parser: argparse.ArgumentParser) -> None:
    """Add all that an answer can be asked for by."""
    for name, metavar, help_text in (
        ("--when", "PERIOD", PERIOD_FORMS),
        ("--since", "TIME", "from where this period begins"),
        ("--until", "TIME", "before where this period begins"),
        ("--trace-id", "ID", "the answer's 32 hex digits"),
        ("--corpus", "FINGERPRINT", "answers over this corpus"),
        ("--score-from", "SCORE", "grounding score of at least this, 0 to 1"),
        ("--score-below", "SCORE", "grounding score below this, 0 to 1"),
        ("--policy", "NAME", "the policy they were decided under"),
        ("--model", "NAME", "the verifier or the generator"),
        ("--state", "STATE", f"at least one claim is {', '.join(RENDER_STATES)}"),
        ("--document", "NAME", "cites the document of this id, title or SHA-256"),
        ("--about", "WORDS", "the question holds these words; give a period with it"),
    ):
        parser.add_argument(name, default="", metavar=metavar, help=help_text)
    parser.add_argument(
        "--decision", nargs="+", default=[], metavar="DECISION", help=", ".join(DECISIONS)
    )
    parser.add_argument(
        "--reason", nargs="+", default=[], metavar="CODE", help="as INSUFFICIENT_EVIDENCE"
    )
    parser.add_argument(
        "--parts", action="store_true", help="unfinished parts of streamed answers too"
    )


def _number(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not low <= int(text[:20]) <= high:
            raise argparse.ArgumentTypeError(f"{text!r}: give a whole number from {low} to {high}")
        return int(text)

    return read
