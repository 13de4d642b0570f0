"""Answers an auditor's questions from the facets in the database: pages, counts, trends.

Each question is answered in one of two ways, so that a million answers stay quick on either
database. Where one of its conditions holds for few answers only, those are looked up in that
condition's index and the rest is asked of them alone. Otherwise pages are walked from the newest
answer in the index `answer_facet_decision` (or in that of the reason code), and counts and trends
are read from `answer_facet_trend`; both hold what most conditions ask for. Words of the question
are looked for in the rows that the other conditions leave, without an index: narrow them down by
time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, get_args

from sqlalchemy import (
    Column,
    ColumnElement,
    CompoundSelect,
    Connection,
    Row,
    Select,
    case,
    func,
    literal_column,
    or_,
    select,
    true,
    union,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from certirag.adapters.log_sql.entry_rows import milliseconds
from certirag.adapters.log_sql.schema import (
    ANSWER_DOCUMENT,
    ANSWER_FACET,
    ANSWER_REVOKED,
    indexed_text,
)
from certirag.errors import AuditError, InputError
from certirag.proof.facets import (
    DECISIONS,
    MAX_PAGE,
    RENDER_STATES,
    AnswerFacets,
    AnswerPage,
    AnswerQuery,
    AnswerRow,
    CitedDocument,
    Grouping,
    TrendRow,
    question_words,
)

# A condition that holds for fewer answers than this is looked up before all others.
FEW: Final = 1_000
_COPIED: Final = (
    *("trace_id", "request", "at", "question", "corpus", "policy", "decision", "reason"),
    *("confidence", "grounding", "claims", "verifier", "generator", "topic"),
)
_DAY_MS: Final = 86_400_000
_PART_MS: Final = 7 * _DAY_MS
_MOST_PARTS: Final = 200
_EPOCH: Final = date(1970, 1, 1)
_FACET: Final = ANSWER_FACET.c
_Test = ColumnElement[bool]


class _Aside(FunctionElement[Any]):
    """A column that SQLite may not choose an index by; it keeps no statistics to choose well."""

    inherit_cache = True

    def __init__(self, column: Column[Any]) -> None:
        super().__init__(column)
        self.type = column.type


@compiles(_Aside)
def _as_it_is(element: _Aside, compiler: Any, **options: Any) -> str:
    text: str = compiler.process(element.clauses, **options)
    return text


@compiles(_Aside, "sqlite")
def _without_index(element: _Aside, compiler: Any, **options: Any) -> str:
    return f"+{compiler.process(element.clauses, **options)}"


def search(
    connection: Connection, query: AnswerQuery, *, after: int | None = None, limit: int = 50
) -> AnswerPage:
    """Return a page of at most *limit* answers below entry *after*, newest entry first.

    InputError for a limit that is not from 1 to `MAX_PAGE`.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise InputError(f"{limit} answers on a page: give from 1 to {MAX_PAGE}")
    found: list[int] = []
    for statement in _page_statements(connection, query, after, limit + 1):
        found += connection.scalars(statement)
    found = sorted(found, reverse=True)
    shown = found[:limit]
    rows = connection.execute(
        select(ANSWER_FACET, ANSWER_REVOKED.c.reason.label("revoked"))
        .outerjoin(ANSWER_REVOKED, ANSWER_REVOKED.c.seq == _FACET.seq)
        .where(_FACET.seq.in_(shown))
        .order_by(_FACET.seq.desc())
    )
    last = shown[-1] if len(found) > limit else None
    return AnswerPage(tuple(_answer_row(row) for row in rows), last)


def count(connection: Connection, query: AnswerQuery) -> int:
    """Return how many answers *query* asks for."""
    asked = _asked(connection, query)
    return connection.scalar(select(func.count()).select_from(ANSWER_FACET).where(*asked)) or 0


def trend(
    connection: Connection, query: AnswerQuery, by: Sequence[Grouping]
) -> tuple[TrendRow, ...]:
    """Return the answers of *query* in groups, in the groups' order; one group for no *by*.

    Days are UTC as ``2026-11-21``, weeks are ISO 8601's as ``2026-W47``, months ``2026-11``. The
    mean grounding score has six places. InputError for an unknown grouping, or one named twice.
    """
    for name in by:
        if name not in get_args(Grouping) or list(by).count(name) > 1:
            raise InputError(f"cannot group by {name!r}: choose each of {get_args(Grouping)} once")
    keys = [_group_key(name).label(f"group_{name}") for name in by]
    made = [func.sum(case((_FACET.decision == name, 1), else_=0)) for name in DECISIONS]
    statement = select(func.count(), func.sum(_FACET.grounding), *made, *keys).group_by(*keys)
    groups: dict[tuple[str, ...], _Sum] = {}
    for asked in _asked_in_parts(connection, query):
        for answers, grounding, *rest in connection.execute(statement.where(*asked)):
            if not answers:
                continue  # without groups, nothing is one row of nothing
            values = rest[len(DECISIONS) :]
            group = tuple(_group_text(n, v) for n, v in zip(by, values, strict=True))
            total = groups.setdefault(group, _Sum(dict.fromkeys(DECISIONS, 0)))
            total.add(answers, grounding, rest)
    return tuple(
        TrendRow(group, total.answers, round(total.grounding / total.answers, 6), total.decisions)
        for group, total in sorted(groups.items())
    )


@dataclass(slots=True)
class _Sum:
    """What the rows of one group add up to: months from days, and all from parts of the time."""

    decisions: dict[str, int]
    answers: int = 0
    grounding: float = 0.0

    def add(self, answers: int, grounding: float, decisions: Sequence[int]) -> None:
        self.answers += answers
        self.grounding += grounding
        for name, number in zip(DECISIONS, decisions, strict=False):
            self.decisions[name] += number


def _group_key(name: Grouping) -> ColumnElement[Any]:
    if name == "week":  # 1970-01-01 was a Thursday; ISO's weeks begin on Monday
        return literal_column(f"(at_ms / {_DAY_MS} + 3) / 7")
    if name in {"day", "month"}:
        return literal_column(f"at_ms / {_DAY_MS}")
    return _Aside(_FACET[name])


def _group_text(name: Grouping, value: Any) -> str:
    if name == "week":
        year, week, _ = (_EPOCH + timedelta(days=value * 7 - 3)).isocalendar()
        return f"{year:04d}-W{week:02d}"
    if name in {"day", "month"}:
        day = (_EPOCH + timedelta(days=value)).isoformat()
        return day if name == "day" else day[:7]
    return str(value)


def _page_statements(
    connection: Connection, query: AnswerQuery, after: int | None, limit: int
) -> list[Select[int]]:
    """Return selects that together find the first *limit* entries of the page, each only once."""
    asked = _conditions(query)
    newest = select(_FACET.seq).order_by(_FACET.seq.desc()).limit(limit)
    few = _few(connection, query)
    if few is not None:
        below = [seq for seq in few if after is None or seq < after]
        return [newest.where(_FACET.seq.in_(below), *asked)] if below else []
    if after is not None:
        asked.append(_FACET.seq < after)
    if query.reasons:
        named = dict.fromkeys(map(indexed_text, query.reasons))
        return [newest.where(_FACET.reason == name, *asked) for name in named]
    decisions = dict.fromkeys(query.decisions or DECISIONS)
    return [newest.where(_FACET.decision == name, *asked) for name in decisions]


def _asked(connection: Connection, query: AnswerQuery) -> list[_Test]:
    """Return the conditions of a count, led by few entries or else by the time."""
    few = _few(connection, query)
    lead = [_FACET.seq.in_(few)] if few is not None else _period(query)
    return [*lead, *_conditions(query)]


def _asked_in_parts(connection: Connection, query: AnswerQuery) -> Iterator[list[_Test]]:
    """Yield the conditions of a trend for one part of the time after the other.

    SQLite sorts what it groups, and many small parts are sorted in less time than a large one.
    """
    few = _few(connection, query)
    if few is not None:
        yield [_FACET.seq.in_(few), *_conditions(query)]
        return
    ends = (func.min(_FACET.at_ms), func.max(_FACET.at_ms))
    first, last = (connection.scalar(select(end).where(*_period(query))) for end in ends)
    if first is None or last is None:
        return
    step = max(_PART_MS, (last - first) // _MOST_PARTS + 1)
    for begin in range(first, last + 1, step):
        yield [_FACET.at_ms >= begin, _FACET.at_ms < begin + step, *_conditions(query)]


def _period(query: AnswerQuery) -> list[_Test]:
    period: list[_Test] = [_FACET.at_ms >= (_moment(query.since) if query.since else 0)]
    if query.until:
        period.append(_FACET.at_ms < _moment(query.until))
    return period


def _few(connection: Connection, query: AnswerQuery) -> list[int] | None:
    """Return the entries that meet the rarest condition with an index, None if many meet each."""
    fewest: list[int] | None = None
    for statement in _by_index(query):
        found = list(connection.scalars(statement.limit(FEW)))
        if len(found) < (FEW if fewest is None else len(fewest)):
            fewest = found
        if not found:
            break
    return fewest


def _by_index(query: AnswerQuery) -> list[Select[int]]:
    """Return, for each condition that may be rare and has an index, the entries that meet it."""
    few = [
        select(_FACET.seq).where(column == indexed_text(value))
        for column, value in (
            (_FACET.trace_id, query.trace_id),
            (_FACET.corpus, query.corpus),
            (_FACET.policy, query.policy),
        )
        if value
    ]
    if query.among is not None:
        few.append(select(_FACET.seq).where(_FACET.trace_id.in_(map(indexed_text, query.among))))
    if query.document:
        few.append(select(_citing(query.document).subquery().c.seq))
    if query.reasons:
        few.append(select(_FACET.seq).where(_FACET.reason.in_(map(indexed_text, query.reasons))))
    if query.model:
        name = indexed_text(query.model)
        few.append(select(_FACET.seq).where(or_(_FACET.verifier == name, _FACET.generator == name)))
    return few


def _conditions(query: AnswerQuery) -> list[_Test]:
    """Return all that *query* asks for, in terms that lead SQLite to no index."""
    equal = {
        _FACET.trace_id: (query.trace_id,),
        _FACET.corpus: (query.corpus,),
        _FACET.policy: (query.policy,),
        _FACET.decision: query.decisions,
        _FACET.reason: query.reasons,
    }
    asked: list[_Test] = [
        _Aside(column).in_(map(indexed_text, values))
        for column, values in equal.items()
        if any(values)
    ]
    if query.among is not None:
        asked.append(_Aside(_FACET.trace_id).in_(map(indexed_text, query.among)))
    at, grounding = _Aside(_FACET.at_ms), _Aside(_FACET.grounding)
    if query.since:
        asked.append(at >= _moment(query.since))
    if query.until:
        asked.append(at < _moment(query.until))
    if query.score_from is not None:
        asked.append(grounding >= query.score_from)
    if query.score_below is not None:
        asked.append(grounding < query.score_below)
    if query.model:
        name = indexed_text(query.model)
        asked.append(or_(_Aside(_FACET.verifier) == name, _Aside(_FACET.generator) == name))
    if query.state:
        asked.append(_Aside(_counted(query.state)) > 0)
    if query.document:
        asked.append(_Aside(_FACET.seq).in_(_citing(query.document)))
    if not query.parts:
        asked.append(_Aside(_FACET.complete) == true())
    if query.about:
        asked += _about(query.about)
    return asked


def _citing(document: str) -> CompoundSelect[int]:
    """Return the entries whose answers cite *document*, by either of its names."""
    name, of = indexed_text(document), ANSWER_DOCUMENT.c
    return union(*(select(of.seq).where(one == name) for one in (of.doc_id, of.title, of.sha256)))


def _counted(state: str) -> Column[Any]:
    columns = {
        "VERIFIED": _FACET.verified,
        "UNVERIFIED": _FACET.unverified,
        "BLOCKED": _FACET.blocked,
    }
    if state not in columns:
        raise InputError(f"unknown render state {state!r}: choose {', '.join(columns)}")
    return columns[state]


def _about(words: str) -> list[_Test]:
    found = dict.fromkeys(question_words(words))
    if not found:
        raise InputError(f"{words!r} holds no word to look for: give words of the question")
    return [_FACET.words.contains(f" {word} ", autoescape=True) for word in found]


def _moment(text: str) -> int:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no time: give ISO 8601, as 2026-11-21T08:00:00Z") from error
    return milliseconds(at if at.tzinfo else at.replace(tzinfo=UTC))


def _answer_row(row: Row[Any]) -> AnswerRow:
    value = row._mapping  # noqa: SLF001  # its public name in SQLAlchemy
    try:
        documents = tuple(CitedDocument(*names) for names in json.loads(value["documents"]))
    except (ValueError, TypeError) as error:
        raise AuditError(
            f"the facets of entry {value['seq']} of the audit log are broken"
        ) from error
    facets = AnswerFacets(
        **{name: value[name] for name in _COPIED},
        states={name: value[name.lower()] for name in RENDER_STATES},
        documents=documents,
        complete=bool(value["complete"]),
    )
    return AnswerRow(value["seq"], facets, value["revoked"] or "")
