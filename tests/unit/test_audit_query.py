"""What an auditor asks: the words of a query, and the SQL against a second reading of it."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from audit_facets import CORPORA, asked_for, entries_of, made_facets, made_query
from postgres import Server
from sqlalchemy import Connection, create_engine, event, insert, text

from certirag.adapters.log_sql import facet_queries
from certirag.adapters.log_sql.entry_rows import _documents, _facet
from certirag.adapters.log_sql.facet_queries import count, search, trend
from certirag.adapters.log_sql.schema import ANSWER_DOCUMENT, ANSWER_FACET, ANSWER_REVOKED, METADATA
from certirag.auditing.query import GROUPINGS, read_groups, read_period, read_query
from certirag.errors import InputError
from certirag.proof.facets import AnswerQuery, CitedDocument

ROWS = made_facets(400)
NOW = datetime(2026, 11, 21, 15, 30, tzinfo=UTC)


def fill(connection: Connection) -> None:
    """Write the rows of the made-up answers, and revoke one of three."""
    connection.execute(insert(ANSWER_FACET), [_facet(seq, of) for seq, of in ROWS])
    connection.execute(
        insert(ANSWER_DOCUMENT), [row for seq, of in ROWS for row in _documents(seq, of)]
    )
    revoked = [{"seq": seq, "by_seq": 9999, "reason": "source changed"} for seq, _ in ROWS[::3]]
    connection.execute(insert(ANSWER_REVOKED), revoked)


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    """Yield a connection to a database in memory that holds the made-up answers."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        METADATA.create_all(connection)
        fill(connection)
        yield connection
    engine.dispose()


@pytest.fixture(params=["few", "many"])
def way(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer by either way: with every condition taken as rare, and with none."""
    if request.param == "many":
        monkeypatch.setattr(facet_queries, "FEW", 1)


def check_queries(connection: Connection, seed: int, number: int) -> None:
    """Check *number* queries against the second reading."""
    of = random.Random(seed)
    found_any = 0
    for _ in range(number):
        query = made_query(of)
        expected = entries_of(ROWS, query)
        assert all_entries(connection, query, of.randint(1, 60)) == expected, query
        assert count(connection, query) == len(expected), query
        found_any += bool(expected)
    assert found_any > number // 4


def all_entries(connection: Connection, query: AnswerQuery, limit: int) -> list[int]:
    """Return the entries of all pages of *query*."""
    found: list[int] = []
    after = None
    while True:
        page = search(connection, query, after=after, limit=limit)
        assert len(page.rows) == limit or page.after is None
        found += [row.index for row in page.rows]
        if page.after is None:
            return found
        after = page.after


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("seed", range(3))
def test_a_query_finds_what_it_asks_for_and_nothing_else(connection: Any, seed: int) -> None:
    """Pages and counts agree with a filter over all answers, whichever way they are read."""
    check_queries(connection, seed, 60)


def test_rows_come_back_as_they_were_logged(connection: Any) -> None:
    """No facet is lost, and a revoked answer says so."""
    page = search(connection, AnswerQuery(parts=True), limit=500)
    assert [(row.index, row.facets) for row in page.rows] == ROWS[::-1]
    assert [row.index for row in page.rows if row.revoked == "source changed"] == [
        seq for seq, _ in ROWS[::3][::-1]
    ]


def check_trends(connection: Connection) -> None:
    """Check trends by several groupings against the second reading."""
    of = random.Random(5)
    for by in ((), ("week",), ("topic", "week"), ("month", "decision"), ("day",), GROUPINGS):
        query = AnswerQuery(
            score_below=of.choice((None, 0.8)), decisions=of.choice(((), ("ACCEPT", "STRIP")))
        )
        groups: dict[tuple[str, ...], list[Any]] = defaultdict(list)
        for _, facets in ROWS:
            if asked_for(query, facets):
                groups[tuple(group_of(name, facets) for name in by)].append(facets)
        found = trend(connection, query, read_groups(by))
        assert [row.group for row in found] == sorted(groups), by
        for row in found:
            members = groups[row.group]
            assert row.answers == len(members)
            mean = sum(one.grounding for one in members) / len(members)
            assert row.grounding == pytest.approx(mean, abs=1e-6)
            decided = [one.decision for one in members]
            assert row.decisions == {d: decided.count(d) for d in ("ACCEPT", "STRIP", "REJECT")}


def group_of(name: str, facets: Any) -> str:
    """Return the name of the group that an answer belongs to."""
    at = datetime.fromisoformat(facets.at)
    if name == "week":
        return at.strftime("%G-W%V")
    shown = {"day": "%Y-%m-%d", "month": "%Y-%m"}
    return at.strftime(shown[name]) if name in shown else str(getattr(facets, name))


@pytest.mark.usefixtures("way")
def test_a_trend_is_the_mean_of_its_groups(connection: Any) -> None:
    """Groups, counts and means agree with a count over all answers."""
    check_trends(connection)


def test_a_trend_over_nothing_has_no_groups(connection: Any) -> None:
    """No answers, no groups; above all no mean of nothing."""
    nothing = AnswerQuery(corpus="f" * 64)
    assert trend(connection, nothing, ()) == trend(connection, nothing, ("week",)) == ()


def test_what_cannot_be_asked_is_refused_not_ignored(connection: Any) -> None:
    """A condition that is ignored would find too much."""
    for limit in (0, 501, -1):
        with pytest.raises(InputError, match=str(limit)):
            search(connection, AnswerQuery(), limit=limit)
    for query in (AnswerQuery(state="verified"), AnswerQuery(about="?!"), AnswerQuery(since="x")):
        with pytest.raises(InputError):
            search(connection, query)
        with pytest.raises(InputError):
            count(connection, query)
    for by in (("hour",), ("week", "week")):
        with pytest.raises(InputError, match=by[0]):
            trend(connection, AnswerQuery(), by)


@pytest.mark.postgres
@pytest.mark.usefixtures("way")
def test_postgresql_finds_the_same(postgres_server: Server) -> None:
    """Pages, counts and trends on PostgreSQL agree with the second reading too."""
    engine = create_engine(postgres_server.url(postgres_server.new_database()))
    try:
        with engine.begin() as connection:
            METADATA.create_all(connection)
            fill(connection)
            check_queries(connection, seed=11, number=60)
            check_trends(connection)
            page = search(connection, AnswerQuery(parts=True), limit=500)
            assert [(row.index, row.facets) for row in page.rows] == ROWS[::-1]
    finally:
        engine.dispose()


# The plans of SQLite: what each query reads its rows by. A scan of the table is in none of them.
PLANS = {
    "newest": (AnswerQuery(), "answer_facet_decision (decision=?)"),
    "low score": (
        AnswerQuery(decisions=("ACCEPT", "STRIP"), score_below=0.8, since="2026-01-01"),
        "answer_facet_decision (decision=?)",
    ),
    "score": (AnswerQuery(score_from=0.2), "answer_facet_decision (decision=?)"),
    "time": (AnswerQuery(since="2026-01-01"), "answer_facet_decision (decision=?)"),
    "trace id": (AnswerQuery(trace_id="1" * 32), "answer_facet_trace_id (trace_id=?)"),
    "corpus": (AnswerQuery(corpus=CORPORA[0]), "answer_facet_corpus (corpus=?)"),
    "policy": (AnswerQuery(policy="strict-1"), "answer_facet_policy (policy=?)"),
    "reason": (AnswerQuery(reasons=("NO_CLAIMS",)), "answer_facet_reason (reason=?)"),
    "verifier": (AnswerQuery(model="lexical"), "answer_facet_verifier (verifier=?)"),
    "generator": (AnswerQuery(model="lexical"), "answer_facet_generator (generator=?)"),
    "doc_id": (AnswerQuery(document="doc-1"), "answer_document_doc_id (doc_id=?)"),
    "title": (AnswerQuery(document="doc-1"), "answer_document_title (title=?)"),
    "sha256": (AnswerQuery(document="doc-1"), "answer_document_sha256 (sha256=?)"),
}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("name", PLANS)
def test_every_page_is_read_by_an_index(connection: Any, name: str) -> None:
    """No page reads the whole table."""
    query, index = PLANS[name]
    plans = plans_of(connection, lambda: search(connection, query, limit=5))
    assert any(index in line for line in plans), plans
    assert not scans(plans), plans


@pytest.mark.usefixtures("way")
def test_counts_and_trends_are_read_by_an_index(connection: Any) -> None:
    """No count and no trend reads the whole table."""
    for query, _ in PLANS.values():
        plans = plans_of(connection, lambda of=query: count(connection, of))
        assert not scans(plans), plans
    plans = plans_of(connection, lambda: trend(connection, AnswerQuery(), ("topic", "week")))
    assert any(
        "COVERING INDEX answer_facet_trend (at_ms>? AND at_ms<?)" in line for line in plans
    ), plans


def test_a_condition_that_holds_for_few_leads(connection: Any) -> None:
    """What is rare is looked up; the common conditions are asked of it alone."""
    rare = AnswerQuery(corpus=CORPORA[0], trace_id=ROWS[7][1].trace_id, decisions=("ACCEPT",))
    plans = plans_of(connection, lambda: search(connection, rare))
    assert not any("answer_facet_decision" in line for line in plans), plans


def plans_of(connection: Connection, ask: Any) -> list[str]:
    """Return the steps of the plans of all statements that *ask* sends."""
    sent: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        sent.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", note)
    try:
        ask()
    finally:
        event.remove(connection, "before_cursor_execute", note)
    plans = []
    for statement, parameters in sent:
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        plans += [row[3] for row in rows]
    assert plans
    return plans


def scans(plans: list[str]) -> list[str]:
    """Return the steps that read a whole table."""
    return [line for line in plans if line.startswith(("SCAN answer_facet", "SCAN answer_doc"))]


def test_long_names_are_kept_and_found() -> None:
    """Names longer than an index takes, and U+0000, are kept and found."""
    long = "x" * 5000 + "\x00"
    document = CitedDocument(long, long, long, "0" * 64)
    facets = made_facets(1)[0][1]
    facets = type(facets)(
        **{
            **{name: getattr(facets, name) for name in facets.__dataclass_fields__},
            "question": "a\x00b",
            "documents": (document, CitedDocument(long + "y", "", "", "1" * 64)),
        }
    )
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        METADATA.create_all(connection)
        connection.execute(insert(ANSWER_FACET), [_facet(1, facets)])
        connection.execute(insert(ANSWER_DOCUMENT), _documents(1, facets))
        page = search(connection, AnswerQuery(document=long, parts=True))
        assert [row.index for row in page.rows] == [1]
        assert page.rows[0].facets.documents[0].doc_id == long
        assert page.rows[0].facets.question == "a\N{REPLACEMENT CHARACTER}b"
        connection.execute(text("UPDATE answer_facet SET documents = '[[1]]'"))
        with pytest.raises(Exception, match=r"facets of entry 1 .* are broken"):
            search(connection, AnswerQuery(parts=True))
    engine.dispose()


PERIODS = {
    "2026": ("2026-01-01", ""),
    "2025": ("2025-01-01", "2026-01-01"),
    "2026-11": ("2026-11-01", ""),
    "2026-02": ("2026-02-01", "2026-03-01"),
    "2024-02-29": ("2024-02-29", "2024-03-01"),
    "2026-Q4": ("2026-10-01", ""),
    "2026-q1": ("2026-01-01", "2026-04-01"),
    "2026-W01": ("2025-12-29", "2026-01-05"),
    "2026-11-20": ("2026-11-20", "2026-11-21"),
    "today": ("2026-11-21", ""),
    "yesterday": ("2026-11-20", "2026-11-21"),
    "this-week": ("2026-11-16", ""),
    "last-week": ("2026-11-09", "2026-11-16"),
    "this-month": ("2026-11-01", ""),
    "last-month": ("2026-10-01", "2026-11-01"),
    "this-quarter": ("2026-10-01", ""),
    "last-quarter": ("2026-07-01", "2026-10-01"),
    "this-year": ("2026-01-01", ""),
    " Last-Year ": ("2025-01-01", "2026-01-01"),
    "last-30-days": ("2026-10-22T15:30", ""),
    "last-1-hour": ("2026-11-21T14:30", ""),
    "last-2-weeks": ("2026-11-07T15:30", ""),
    "2026-11-21T08:00": ("2026-11-21T08:00", ""),
    "2026-11-21T08:00:00+02:00": ("2026-11-21T06:00", ""),
    "2026-11-21 08:00:00z": ("2026-11-21T08:00", ""),
}


@pytest.mark.parametrize("words", PERIODS)
def test_periods_are_counted_from_now(words: str) -> None:
    """Each form of a period begins and ends where the calendar says."""
    begin, end = PERIODS[words]
    assert read_period(words, NOW) == (moment(begin), moment(end) if end else "")


def test_last_quarter_in_january_lies_in_the_year_before() -> None:
    """A quarter before the first is the year before's last."""
    january = datetime(2026, 1, 5, tzinfo=UTC)
    assert read_period("last-quarter", january) == (moment("2025-10-01"), moment("2026-01-01"))


def test_every_last_period_ends_where_this_one_begins() -> None:
    """Periods leave no gap and do not overlap, on any day."""
    for days in range(0, 800, 3):
        now = NOW + timedelta(days=days)
        for unit in ("day", "week", "month", "quarter", "year"):
            begin, end = read_period(f"last-{unit}", now)
            assert end == read_period(f"this-{unit}", now)[0]
            assert begin < end


def moment(short: str) -> str:
    """Return a time as queries hold it."""
    at = datetime.fromisoformat(short).replace(tzinfo=UTC)
    return at.isoformat(timespec="milliseconds")


def test_a_query_is_read_out_of_words() -> None:
    """Words become a query; none become an empty one."""
    query = read_query(
        NOW,
        when="last-quarter",
        score_below="0.80",
        decisions=["accept", "STRIP", "Accept"],
        reasons=["no_claims"],
        state="blocked",
        trace_id="A" * 32,
        about=" Annual  leave ",
    )
    assert query == AnswerQuery(
        trace_id="a" * 32,
        since=moment("2026-07-01"),
        until=moment("2026-10-01"),
        score_below=0.8,
        decisions=("ACCEPT", "STRIP"),
        reasons=("NO_CLAIMS",),
        state="BLOCKED",
        about="Annual  leave",
    )
    assert read_query(NOW) == AnswerQuery()
    ends = read_query(NOW, since="2026-Q1", until="2026-Q2")
    assert (ends.since, ends.until) == (moment("2026-01-01"), moment("2026-04-01"))


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({"when": "last-fortnight"}, "last-fortnight"),
        ({"when": "2026-13"}, "2026-13"),
        ({"when": "2026-02-30"}, "2026-02-30"),
        ({"when": "2026-W54"}, "2026-W54"),
        ({"when": "0000"}, "0000"),
        ({"when": "9999"}, "9999"),
        ({"when": "last-999999-days"}, "last-999999-days"),
        ({"when": "last-0-days"}, "last-0-days"),
        ({"when": "٢٠٢٦"}, "٢٠٢٦"),
        ({"when": "2026-11-21T25:00"}, "2026-11-21T25:00"),
        ({"when": "today", "since": "2026"}, "today"),
        ({"since": "2026-02", "until": "2026-01"}, "2026-02"),
        ({"since": "today", "until": "today"}, "today"),
        ({"score_below": "80"}, "80"),
        ({"score_below": "nan"}, "nan"),
        ({"score_from": "-0.1"}, "-0.1"),
        ({"score_from": "low"}, "low"),
        ({"score_from": "0.8", "score_below": "0.8"}, "0.8"),
        ({"decisions": ["ACCEPTED"]}, "ACCEPTED"),
        ({"decisions": [""]}, "''"),
        ({"reasons": ["no claims"]}, "no claims"),
        ({"state": "GREEN"}, "GREEN"),
        ({"trace_id": "12"}, "12"),
        ({"about": "?"}, "?"),
        ({"corpus": "x" * 513}, "xxx"),
        ({"document": "a\x00b"}, "U+0000"),
    ],
)
def test_a_word_that_cannot_be_read_is_named(words: dict[str, Any], named: str) -> None:
    """One line names the word and says what to give."""
    with pytest.raises(InputError) as caught:
        read_query(NOW, **words)
    message = str(caught.value)
    assert named in message
    assert "\n" not in message
    assert "give" in message or "choose" in message


def test_groups_are_known_and_named_once() -> None:
    """Unknown groups and repeated ones are refused."""
    assert read_groups(["Topic", "week"]) == ("topic", "week")
    for names in (["hour"], ["week", "week"], [""]):
        with pytest.raises(InputError):
            read_groups(names)
