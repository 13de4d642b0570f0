"""The commands that ask the log for answers: audit list, audit query and audit export."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from certirag.auditing.logged_answers import ExportFormat, line_of, pages, row_json, start_of
from certirag.auditing.query import read_groups, read_query
from certirag.bootstrap import existing_log
from certirag.cli.files import write_beside
from certirag.cli.output import note, print_json, say_progress
from certirag.errors import InputError
from certirag.ports import AuditLog, Progress
from certirag.proof.facets import (
    DECISIONS,
    AnswerPage,
    AnswerQuery,
    TrendRow,
)
from certirag.render import visible
from certirag.settings import Settings

_QUESTION: Final = 60


def list_answers(options: argparse.Namespace, settings: Settings) -> int:
    """Print the newest answers."""
    page = existing_log(settings).search(AnswerQuery(), after=options.after, limit=options.limit)
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
    log = existing_log(settings)
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
    written = export_file(existing_log(settings), query, options.out, options.format, say_progress)
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


def query_of(options: argparse.Namespace, *, now: datetime) -> AnswerQuery:
    """Return the query of the options by which an answer can be asked for."""
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
