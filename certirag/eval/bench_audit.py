"""Measures an audit log of many answers: appends, proofs, an auditor's questions, file size.

The log is one of its own in an empty folder, written through the same port as every answer. Each
entry but the first is an answer, so that the questions are asked of as many answers as the log
has entries. Contents are short: what is measured is the log, and not the weight of an answer.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Final

from certirag.auditing.query import read_query
from certirag.bootstrap import open_log
from certirag.errors import InputError
from certirag.eval.bench import machine_facts, milliseconds, peak_memory_mb, spread
from certirag.ports import AuditLog, NewEntry, Progress
from certirag.proof.facets import AnswerFacets, AnswerQuery, CitedDocument, Grouping
from certirag.settings import Settings

Report = dict[str, Any]
NOW: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)
_DAYS: Final = 3 * 365  # what the answers are spread over
_BATCH: Final = 1_000
_SINGLE: Final = 200
_PROOFS: Final = 200
_ASKED: Final = 7
_CONTENT_BYTES: Final = 400
_SUBJECTS: Final = (
    *("annual leave", "parental leave", "travel costs", "working hours", "data protection"),
    *("revenue", "operating cash flow", "net debt", "energy use", "dosage", "side effects"),
    *("waiting times", "a notice period", "the canteen", "remote work", "training"),
)
_CORPORA: Final = tuple(hashlib.sha256(f"corpus {n}".encode()).hexdigest() for n in range(12))
_DOCUMENTS: Final = tuple(
    CitedDocument(
        f"doc-{n:03d}",
        f"{_SUBJECTS[n % len(_SUBJECTS)].title()}, part {n // len(_SUBJECTS) + 1}",
        f"corpus/doc-{n:03d}.md",
        hashlib.sha256(f"document {n}".encode()).hexdigest(),
    )
    for n in range(80)
)


def run_audit_bench(
    entries: int, folder: Path, progress: Progress, *, url: str = "", seed: int = 1
) -> Report:
    """Build a log of *entries* entries in *folder* and return what was measured, for JSON.

    *url* names another database (SQLAlchemy), which must be as empty as the folder's. Times are in
    milliseconds. A proof is timed when the log has 1,000, 10,000 … entries, over random entries,
    so that its growth shows. Raises InputError for fewer than 10 entries or a log that is there.
    """
    if entries < 10:
        raise InputError(f"{entries} entries: give at least 10")
    folder.mkdir(parents=True, exist_ok=True)
    settings = Settings(home=folder, audit_url=url)
    log = open_log(settings)
    if log.size() > 1:
        raise InputError(f"{folder}: holds a log of {log.size()} entries: give an empty folder")
    chance = random.Random(seed)  # noqa: S311  # repeatable, and no secret
    answers = made_answers(entries, chance)
    report: Report = {"entries": entries, "database": url.partition(":")[0] or "sqlite"}
    singles = min(_SINGLE, entries // 4)
    report["append_single"] = _appended_singly(log, answers, singles)
    report["append_batch"], report["proofs"] = _grown(log, answers, entries, chance, progress)
    report["queries"] = {}
    asked = questions(log, entries, chance)
    for number, (name, ask) in enumerate(asked.items(), start=1):
        report["queries"][name] = _asked(ask)
        progress(f"asked: {name}", number, len(asked))
    report["bytes"] = None if url else _size_on_disk(folder, entries)
    report["peak_memory_mb"] = peak_memory_mb()
    report["machine"] = machine_facts()
    return report


def audit_report_lines(report: Report) -> tuple[str, ...]:
    """Return *report* as short tables for a person."""
    single, batch, size = report["append_single"], report["append_batch"], report["bytes"]
    lines = [
        f"{report['entries']} entries on {report['database']}",
        (
            f"append, one at a time: {single['per_second']:.0f} a second "
            f"(median {single['median']:.2f} ms, p95 {single['p95']:.2f} ms)"
        ),
        f"append, {batch['batch']} at a time: {batch['per_second']:.0f} a second",
        f"{'log of':>12}{'hashes':>9}{'proof ms':>10}{'p95 ms':>10}{'consistency ms':>16}",
    ]
    lines += [
        f"{at['size']:>12}{at['hashes']:>9.1f}{at['inclusion']['median']:>10.2f}"
        f"{at['inclusion']['p95']:>10.2f}{at['consistency']['median']:>16.2f}"
        for at in report["proofs"]
    ]
    lines.append(f"{'question':<44}{'found':>9}{'median ms':>11}{'most ms':>10}")
    lines += [
        f"{name:<44}{asked['found']:>9}{asked['median']:>11.1f}{asked['most']:>10.1f}"
        for name, asked in report["queries"].items()
    ]
    if size is not None:
        lines.append(
            f"{size['total'] / 1e6:.1f} MB on disk, {size['per_entry']:.0f} bytes an entry"
        )
    return tuple(lines)


def made_answers(number: int, chance: random.Random) -> Iterator[NewEntry]:
    """Yield *number* made-up answers, their times spread evenly over three years up to `NOW`."""
    step = timedelta(days=_DAYS) / number
    for index in range(number):
        at = NOW - (number - index) * step
        facets = _facets(chance, at.isoformat(timespec="seconds"))
        content = _content(facets, chance)
        signature = ("0" * 64, chance.randbytes(64))
        yield NewEntry(
            "answer",
            facets.trace_id,
            at,
            content,
            signature,
            facets,
            {"request": facets.request, "complete": True},
        )


def questions(log: AuditLog, entries: int, chance: random.Random) -> dict[str, Callable[[], Any]]:
    """Return what an auditor asks, by name; each call returns a page, a number or groups."""
    middle = entries // 2
    some = log.search(AnswerQuery(), after=middle + 1, limit=1).rows[0].facets
    last_quarter = read_query(NOW, when="last-quarter")
    low = replace(last_quarter, decisions=("ACCEPT", "STRIP"), score_below=0.8)
    about = AnswerQuery(about="parental leave 1234")
    grouped: tuple[tuple[Grouping, ...], ...] = (("topic", "week"), ("month",), ("policy", "day"))
    document = chance.choice(_DOCUMENTS)
    pages: dict[str, tuple[AnswerQuery, int | None]] = {
        "newest page": (AnswerQuery(), None),
        "page in the middle": (AnswerQuery(), middle),
        "by trace id": (AnswerQuery(trace_id=some.trace_id), None),
        "accepted below 0.80 last quarter": (low, None),
        "below 0.80 in the last 30 days": (
            replace(read_query(NOW, when="last-30-days"), score_below=0.8),
            None,
        ),
        "oldest quarter": (AnswerQuery(until=_oldest_quarter_end()), None),
        "rejected of one corpus": (
            AnswerQuery(decisions=("REJECT",), corpus=_CORPORA[3]),
            None,
        ),
        "one reason code": (AnswerQuery(reasons=("CONTRADICTED",)), None),
        "one policy": (AnswerQuery(policy="clinical-1"), None),
        "one model": (AnswerQuery(model="openai:large"), None),
        "a model that was never used": (AnswerQuery(model="another"), None),
        "a blocked claim": (AnswerQuery(state="BLOCKED"), None),
        "one document": (AnswerQuery(document=document.sha256), None),
        "a score that nothing has": (AnswerQuery(score_from=0.81, score_below=0.815), None),
        "words of the question, last quarter": (
            replace(about, since=last_quarter.since, until=last_quarter.until),
            None,
        ),
        "words of the question, all time": (about, None),
    }
    asked: dict[str, Callable[[], Any]] = {
        name: partial(log.search, query, after=after) for name, (query, after) in pages.items()
    }
    asked["count of all"] = partial(log.count, AnswerQuery())
    asked["count accepted below 0.80 last quarter"] = partial(log.count, low)
    for by in grouped:
        named = " and ".join(by)
        asked[f"trend by {named}, all time"] = partial(log.trend, AnswerQuery(), by)
        asked[f"trend by {named}, last quarter"] = partial(log.trend, last_quarter, by)
    return asked


def _appended_singly(log: AuditLog, answers: Iterator[NewEntry], number: int) -> Report:
    taken = [_seconds(partial(log.append, one)) for one in islice(answers, number)]
    return {"entries": number, "per_second": round(number / sum(taken), 1), **spread(taken)}


def _grown(
    log: AuditLog,
    answers: Iterator[NewEntry],
    entries: int,
    chance: random.Random,
    progress: Progress,
) -> tuple[Report, list[Report]]:
    """Append until the log has *entries*; time the proofs on the way and at the end."""
    marks = {10**power for power in range(3, 13) if 10**power < entries} | {entries}
    size, appended, taken = log.size(), 0, 0.0
    proofs: list[Report] = []
    for mark in sorted(marks):
        while size < mark:
            batch = list(islice(answers, min(_BATCH, mark - size)))
            taken += _seconds(partial(log.append_all, batch))
            appended += len(batch)
            size += len(batch)
            progress("entries appended", size, entries)
        proofs.append(_proofs(log, size, chance))
    rate = round(appended / taken, 1) if taken else 0.0
    return {"entries": appended, "batch": _BATCH, "per_second": rate}, proofs


def _proofs(log: AuditLog, size: int, chance: random.Random) -> Report:
    indexes = [chance.randrange(size) for _ in range(_PROOFS)]
    hashes = [len(log.proof(index).path) for index in indexes]
    inclusion = [_seconds(partial(log.proof, index)) for index in indexes]
    consistency = [_seconds(partial(log.consistency, index + 1, size)) for index in indexes]
    return {
        "size": size,
        "hashes": sum(hashes) / len(hashes),
        "inclusion": spread(inclusion),
        "consistency": spread(consistency),
    }


def _asked(ask: Callable[[], Any]) -> Report:
    found = ask()
    taken = [_seconds(ask) for _ in range(_ASKED)]
    rows: Sequence[object] | int = getattr(found, "rows", found)
    return {
        "found": rows if isinstance(rows, int) else len(rows),
        "median": milliseconds(median(taken)),
        "most": milliseconds(max(taken)),
    }


def _seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _size_on_disk(folder: Path, entries: int) -> Report:
    total = sum(path.stat().st_size for path in folder.glob("audit.sqlite3*"))
    return {"total": total, "per_entry": round(total / entries, 1)}


def _oldest_quarter_end() -> str:
    return (NOW - timedelta(days=_DAYS - 91)).isoformat()


def _facets(chance: random.Random, at: str) -> AnswerFacets:
    claims = chance.randint(1, 12)
    verified = claims if chance.random() < 0.5 else chance.randint(0, claims)
    blocked = 1 if verified < claims and chance.random() < 0.05 else 0
    decision = "ACCEPT" if verified == claims else "STRIP" if verified else "REJECT"
    missed = "CONTRADICTED" if blocked else "INSUFFICIENT_EVIDENCE"
    reasons = {"ACCEPT": "ALL_VERIFIED", "STRIP": "SOME_UNVERIFIED", "REJECT": missed}
    documents = chance.sample(_DOCUMENTS, chance.randint(1, 3))
    subject = documents[0].title.partition(",")[0].lower()
    return AnswerFacets(
        trace_id=chance.randbytes(16).hex(),
        request=chance.randbytes(16).hex(),
        at=at,
        question=f"What does rule {chance.randint(1, 9999)} say on {subject} in {at[:4]}?",
        corpus=chance.choice(_CORPORA),
        policy=chance.choices(("strict-1", "balanced-1", "clinical-1"), (80, 19, 1))[0],
        decision=decision,
        reason=reasons[decision],
        confidence=chance.choice(("high", "medium", "low")),
        grounding=verified / claims,
        claims=claims,
        states={
            "VERIFIED": verified,
            "UNVERIFIED": claims - verified - blocked,
            "BLOCKED": blocked,
        },
        verifier="embedded",
        generator=chance.choices(("extractive", "openai:large"), (70, 30))[0],
        topic=documents[0].title,
        documents=tuple(documents),
    )


def _content(facets: AnswerFacets, chance: random.Random) -> bytes:
    said = {"question": facets.question, "trace_id": facets.trace_id}
    text = json.dumps({**said, "filling": ""})
    filling = chance.randbytes(max(0, _CONTENT_BYTES - len(text)) // 2).hex()
    return json.dumps({**said, "filling": filling}).encode()
