"""What every audit log on SQL does, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from gate_cases import KEY, TRUSTED, record
from sqlalchemy import create_engine, text

from certirag.adapters.log_sql.sql_log import SqlAuditLog, file_url
from certirag.errors import AuditError, CertificateError, InputError
from certirag.ports import NewEntry
from certirag.proof.envelope import key_id
from certirag.proof.facets import AnswerQuery, CitedDocument, facets_of
from certirag.proof.log import (
    LogProof,
    commitment,
    open_checkpoint,
    parse_leaf,
    prove,
    rotation_message,
)
from certirag.proof.merkle import is_consistent, leaf_hash, node_hash

AT = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
OTHER_TRUSTED = {key_id(OTHER_KEY.public_key()): OTHER_KEY.public_key()}
FACETS = facets_of(record(), request="f" * 32, complete=True)
SIGNED = ("a" * 64, b"s" * 64)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database of each kind."""
    if request.param == "sqlite":
        return file_url(tmp_path / "log.sqlite3")
    server = request.getfixturevalue("postgres_server")
    return str(server.url(server.new_database()))


@pytest.fixture
def log(url: str) -> SqlAuditLog:
    """A new log that is signed with `KEY`."""
    return SqlAuditLog(url, key=KEY, origin="certirag.test/contract")


def answer(number: int, content: bytes = b"") -> NewEntry:
    """Return the entry of an answer; its trace id is *number* in hex."""
    trace_id = f"{number:032x}"
    facets = replace(FACETS, trace_id=trace_id)
    detail = {"request": "f" * 32, "complete": True}
    return NewEntry(
        "answer", trace_id, AT, content or b"answer %d" % number, SIGNED, facets, detail
    )


def received(number: int) -> NewEntry:
    """Return the entry of a request."""
    return NewEntry("received", f"{number:032x}", AT, b"asked %d" % number, detail={"of": "draft"})


def act(kind: str, targets: Sequence[int], **detail: str) -> NewEntry:
    """Return an act over single entries."""
    ranges = [[target, target] for target in sorted(targets)]
    if kind == "erase":
        ranges = [list(span) for span in _spans(sorted(targets))]
    return NewEntry(kind, "", AT, detail={"targets": ranges, **detail})  # type: ignore[arg-type]


def _spans(numbers: Sequence[int]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for number in numbers:
        joins = bool(spans) and spans[-1][1] == number - 1
        spans[-1:] = [(spans[-1][0], number)] if joins else [*spans[-1:], (number, number)]
    return spans


def run_sql(url: str, *statements: str) -> None:
    """Run *statements* past the adapter, as whoever owns the tables could."""
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            for statement in statements:
                connection.execute(text(statement))
    finally:
        engine.dispose()


def unguarded(url: str, table: str, *statements: str) -> None:
    """Run *statements* with the triggers of *table* out of the way."""
    if url.startswith("sqlite"):
        names = ("no_update", "no_delete", "no_replace", "no_second")
        run_sql(url, *(f"DROP TRIGGER IF EXISTS {table}_{name}" for name in names), *statements)
    else:
        run_sql(url, f"ALTER TABLE {table} DISABLE TRIGGER USER", *statements)


def root_of(leaves: Sequence[str]) -> bytes:
    """Return the root as RFC 9162 §2.1.1 defines it, from nothing but the leaves."""
    if len(leaves) == 1:
        return leaf_hash(leaves[0].encode())
    half = 1 << ((len(leaves) - 1).bit_length() - 1)
    return node_hash(root_of(leaves[:half]), root_of(leaves[half:]))


def test_an_entry_is_proven_by_what_append_returns(log: SqlAuditLog) -> None:
    """The proof holds for the content, under the key, with the leaf that the entry asked for."""
    proof = log.append(answer(1))
    leaf = prove(proof, b"answer 1", TRUSTED)
    assert (leaf.index, leaf.kind, leaf.trace_id) == (1, "answer", f"{1:032x}")
    assert (leaf.origin, leaf.retention) == ("certirag.test/contract", "internal_faq")
    assert leaf.at == "2026-01-02T03:04:05.678+00:00"
    assert leaf.detail == {"request": "f" * 32, "complete": True}
    with pytest.raises(CertificateError):
        prove(proof, b"answer 2", TRUSTED)
    with pytest.raises(CertificateError):
        prove(proof, b"answer 1", OTHER_TRUSTED)


def test_every_entry_is_proven_in_every_later_tree(log: SqlAuditLog) -> None:
    """Proofs at once and later hold; the signed root is RFC 9162's over the leaves."""
    contents = {}
    for number in range(1, 20):
        if number % 5:
            proofs = [log.append(answer(number))]
        else:
            proofs = list(log.append_all([answer(number), received(number), received(100)]))
            contents[parse_leaf(proofs[1].leaf).index] = b"asked %d" % number
            contents[parse_leaf(proofs[2].leaf).index] = b"asked 100"
        contents[parse_leaf(proofs[0].leaf).index] = b"answer %d" % number
        for proof in proofs:
            prove(proof, contents[parse_leaf(proof.leaf).index], TRUSTED)
    assert sorted(contents) == list(range(1, log.size()))
    for index, content in contents.items():
        assert prove(log.proof(index), content, TRUSTED).index == index
    leaves = [entry.leaf for entry in log.entries()]
    checkpoint = open_checkpoint(log.checkpoint(), TRUSTED.values())
    assert (checkpoint.size, checkpoint.root) == (len(leaves), root_of(leaves))


def test_any_two_trees_are_consistent(log: SqlAuditLog) -> None:
    """Each tree extends each one before it, by a proof that a stranger can check."""
    log.append_all([received(number) for number in range(30)])
    leaves = [entry.leaf for entry in log.entries()]
    roots = {size: root_of(leaves[:size]) for size in range(1, len(leaves) + 1)}
    for second, root in roots.items():
        for first in range(1, second + 1):
            path = log.consistency(first, second)
            assert is_consistent(first, second, roots[first], root, path)
    for first, second in ((0, 3), (4, 3), (1, len(leaves) + 1), (-1, 2)):
        with pytest.raises(AuditError):
            log.consistency(first, second)


@pytest.mark.parametrize("index", [-1, 2, 10**30])
def test_there_is_no_proof_of_what_is_not_there(log: SqlAuditLog, index: int) -> None:
    """An entry before the first or behind the last has no proof."""
    log.append(received(1))
    with pytest.raises(AuditError, match="no entry"):
        log.proof(index)


def test_an_answer_is_found_by_its_trace_id(log: SqlAuditLog) -> None:
    """Bytes, salt and signature come back; a request of that id is no answer."""
    log.append_all([received(7), answer(7, b"\x00\xff"), answer(8)])
    found = log.find(f"{7:032x}")
    assert (found.content, found.signature) == (b"\x00\xff", SIGNED)
    assert found.salt is not None
    assert parse_leaf(found.leaf).commit == commitment(found.salt, b"\x00\xff")
    for missing in (f"{9:032x}", "", "\ud800", "' OR 1=1 --"):
        with pytest.raises(AuditError):
            log.find(missing)


def test_entries_come_back_in_order(log: SqlAuditLog) -> None:
    """Ranges are as asked for, over more entries than are read at a time."""
    log.append_all([received(number) for number in range(450)])
    indexes = [parse_leaf(entry.leaf).index for entry in log.entries()]
    assert indexes == list(range(451))
    for start, stop in ((0, 1), (3, 3), (199, 402), (440, 1000), (451, None), (5, 2)):
        found = [parse_leaf(entry.leaf).index for entry in log.entries(start, stop)]
        assert found == indexes[start:stop]
    entry = next(log.entries(4))
    assert (entry.content, entry.signature) == (b"asked 3", None)


def test_an_answer_is_logged_once_and_a_batch_whole_or_not(log: SqlAuditLog) -> None:
    """A second answer of one trace id is refused, with everything that was to go with it."""
    log.append(answer(1))
    before = log.checkpoint()
    with pytest.raises(AuditError, match="no answer is shown"):
        log.append_all([received(1), answer(2), answer(1)])
    assert log.checkpoint() == before
    assert log.count(AnswerQuery()) == 1
    prove(log.append(answer(2)), b"answer 2", TRUSTED)


@pytest.mark.parametrize(
    "entry",
    [
        replace(answer(1), at=datetime(2026, 1, 1)),  # noqa: DTZ001  # what is refused
        replace(answer(1), detail={"score": float("nan")}),
        replace(answer(1), detail={"what": object()}),
        replace(answer(1), detail={"number": 2**53}),
        replace(answer(1), content=b""),
        replace(answer(1), trace_id="2" * 32),
        replace(answer(1), facets=replace(FACETS, trace_id=f"{1:032x}", grounding=float("nan"))),
        replace(answer(1), facets=replace(FACETS, trace_id=f"{1:032x}", at="yesterday")),
        replace(received(1), facets=FACETS),
        act("erase", [0]),
        act("hold", [5], hold="case"),
        act("archive", [-1]),
        NewEntry("release", "", AT, detail={"hold": "case", "targets": "all"}),
        NewEntry("revoke", "", AT, detail={"target": 0, "reason": "stale"}),
        NewEntry("revoke", "", AT, detail={"target": 10**20, "reason": "stale"}),
        NewEntry("revoke", "", AT, detail={"target": "1", "reason": "stale"}),
        NewEntry("genesis", "", AT),
    ],
)
def test_what_could_not_be_relied_on_is_refused(log: SqlAuditLog, entry: NewEntry) -> None:
    """An entry that says what is not so, or what nobody could read later, is not written."""
    with pytest.raises(AuditError):
        log.append(entry)
    assert log.size() == 1


def test_texts_of_any_kind_are_kept(log: SqlAuditLog) -> None:
    """Long titles, U+0000 and half surrogates do not keep an answer from being logged."""
    document = replace(FACETS.documents[0], title="\U0001f4c4" * 5000, doc_id="\x00" * 900)
    twin = replace(document, doc_id="\x00" * 901)
    facets = replace(
        answer(1).facets or FACETS,
        question="\x00\ud800 why?",
        topic="\U0001f4c4" * 5000,
        verifier="v" * 5000,
        policy="p" * 5000,
        reason="r" * 5000,
        documents=(document, twin),
    )
    log.append(replace(answer(1), facets=facets))
    assert log.count(AnswerQuery(document=twin.doc_id)) == 1
    assert log.count(AnswerQuery(document=document.title)) == 1
    assert log.count(AnswerQuery(document=document.title[:-1])) == 0


def test_facets_come_back_and_go_with_their_answer(log: SqlAuditLog) -> None:
    """What was logged is what is found; once the answer is erased, nothing is."""
    log.append_all([answer(1), answer(2)])
    page = log.search(AnswerQuery())
    assert [row.index for row in page.rows] == [2, 1]
    assert page.rows[1].facets == answer(1).facets
    assert [(row.answers, row.grounding) for row in log.trend(AnswerQuery(), ())] == [
        (2, FACETS.grounding)
    ]
    log.erase(act("erase", [2]), [2])
    assert [row.index for row in log.search(AnswerQuery()).rows] == [1]


def test_each_cited_document_is_named_once(log: SqlAuditLog) -> None:
    """By its digest, as the newest answer that cites it names it, until all of those are erased."""
    assert log.documents() == ()
    title = "t" * 400
    cited = [CitedDocument(f"d{n % 3}", f"{title}{n}", "p", f"{n % 3:064x}") for n in range(12)]
    for number, document in enumerate(cited):
        of = answer(number)
        facets = replace(of.facets or FACETS, documents=(document, cited[(number + 1) % 12]))
        log.append(replace(of, facets=facets))
    found = {document.sha256: document for document in log.documents()}
    assert len(log.documents()) == len(found) == 3
    assert found == {d.sha256: replace(d, path="") for d in (cited[0], cited[10], cited[11])}
    log.erase(act("erase", range(1, 13)), range(1, 13))
    assert log.documents() == ()


def test_a_revocation_marks_its_answer(log: SqlAuditLog) -> None:
    """The first revocation says why; a second is logged and changes nothing."""
    log.append(answer(1))
    for reason in ("stale", "failed"):
        log.append(NewEntry("revoke", "", AT, detail={"target": 1, "reason": reason}))
    assert [row.revoked for row in log.search(AnswerQuery()).rows] == ["stale"]
    assert log.size() == 4


def test_erasure_keeps_every_proof(log: SqlAuditLog) -> None:
    """Contents and salts are gone, the leaves stay, old proofs and new ones hold."""
    old = [log.append(answer(number)) for number in range(1, 9)]
    size, root = log.size(), open_checkpoint(log.checkpoint(), TRUSTED.values()).root
    erasure = log.erase(act("erase", [2, 3, 4, 7], rule="internal_faq"), [7, 4, 3, 2])
    assert parse_leaf(erasure.leaf).detail["targets"] == [[2, 4], [7, 7]]
    for number, proof in enumerate(old, start=1):
        prove(proof, b"answer %d" % number, TRUSTED)
        today = log.proof(number)
        gone = number in {2, 3, 4, 7}
        assert (today.salt == "") == gone
        prove(replace(today, salt=proof.salt), b"answer %d" % number, TRUSTED)
    assert log.find(f"{3:032x}") == replace(log.find(f"{3:032x}"), salt=None, content=None)
    newest = open_checkpoint(log.checkpoint(), TRUSTED.values())
    path = log.consistency(size, newest.size)
    assert is_consistent(size, newest.size, root, newest.root, path)


@pytest.mark.parametrize(
    ("said", "done"), [([1], [1, 2]), ([1, 2], [1]), ([], []), ([9], [9]), ([1], [-1])]
)
def test_an_erasure_says_what_it_does(log: SqlAuditLog, said: list[int], done: list[int]) -> None:
    """Targets that the act does not name, or that are not there, are not erased."""
    log.append_all([answer(1), answer(2)])
    with pytest.raises(AuditError):
        log.erase(act("erase", said), done)
    with pytest.raises(AuditError):
        log.erase(act("archive", [1], file="0" * 64, rule="x"), [1])
    assert log.size() == 3
    assert [entry.content for entry in log.entries(1)] == [b"answer 1", b"answer 2"]


def test_what_is_held_is_not_erased(log: SqlAuditLog) -> None:
    """Each hold keeps its entries until it is released, whatever another one does."""
    log.append_all([answer(number) for number in range(1, 6)])
    log.append(act("hold", [2, 3], hold="case-1"))
    log.append(act("hold", [3, 4], hold="case-2"))
    assert log.held() == {2: ("case-1",), 3: ("case-1", "case-2"), 4: ("case-2",)}
    size = log.size()
    with pytest.raises(AuditError, match="hold 'case-1'"):
        log.erase(act("erase", [1, 2]), [1, 2])
    assert log.size() == size
    assert log.find(f"{1:032x}").content == b"answer 1"
    log.append(act("release", [2, 3], hold="case-1"))
    assert log.held() == {3: ("case-2",), 4: ("case-2",)}
    log.erase(act("erase", [1, 2]), [1, 2])
    with pytest.raises(AuditError, match="case-2"):
        log.erase(act("erase", [3]), [3])


def test_a_changed_content_is_an_error(url: str, log: SqlAuditLog) -> None:
    """Content, leaf or tree changed behind the log's back are seen when the answer is read."""
    log.append_all([answer(number) for number in range(1, 5)])
    run_sql(url, "UPDATE log_content SET content = salt WHERE seq = 1")
    with pytest.raises(AuditError, match="content of entry 1"):
        log.find(f"{1:032x}")
    unguarded(
        url,
        "log_entry",
        "UPDATE log_entry SET leaf = REPLACE(leaf, 'true', 'false') WHERE seq = 2",
        "UPDATE log_entry SET trace_id = 'x' WHERE seq = 3",
        "UPDATE log_entry SET leaf = 'x' WHERE seq = 4",
    )
    for trace_id in (f"{2:032x}", "x", f"{4:032x}"):
        with pytest.raises(AuditError):
            log.find(trace_id)


def test_nothing_is_built_on_a_broken_head(url: str, log: SqlAuditLog) -> None:
    """A newest entry that is not the root of the tree refuses every later entry."""
    log.append_all([received(number) for number in range(5)])
    older = "UPDATE log_entry SET root = (SELECT root FROM log_entry WHERE seq = 4) WHERE seq = 5"
    unguarded(url, "log_entry", older)
    with pytest.raises(AuditError, match="not the root of those before it"):
        log.append(answer(1))
    unguarded(url, "log_entry", "DELETE FROM log_entry WHERE seq = 3")
    with pytest.raises(AuditError, match=r"no answer is shown|broken"):
        log.append(answer(1))
    unguarded(url, "log_entry", "DELETE FROM log_entry")
    with pytest.raises(AuditError):
        log.append(answer(1))
    with pytest.raises(AuditError):
        log.checkpoint()


@pytest.mark.parametrize("table", ["log_entry", "answer_revoked", "log_key"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET {} = {}", "DELETE FROM {}"])
def test_the_tables_refuse_changes(url: str, log: SqlAuditLog, table: str, statement: str) -> None:
    """Who owns the tables is refused as long as the triggers are there."""
    log.append(answer(1))
    log.append(NewEntry("revoke", "", AT, detail={"target": 1, "reason": "stale"}))
    column = {"log_entry": "kind", "answer_revoked": "reason", "log_key": "keyid"}[table]
    with pytest.raises(Exception, match="append-only"):
        run_sql(url, statement.format(table, column, column))


@pytest.mark.parametrize(
    "row",
    [
        "SELECT seq + 5, 'received', 'x', at_ms, leaf, nodes, root, keyid, signature",
        "SELECT -1, 'received', 'x', at_ms, leaf, nodes, root, keyid, signature",
        "SELECT seq, 'received', 'x', at_ms, leaf, nodes, root, keyid, signature",
        "SELECT seq + 1, 'answer', trace_id, at_ms, leaf, nodes, root, keyid, signature",
    ],
)
def test_rows_take_no_other_place_than_the_next(url: str, log: SqlAuditLog, row: str) -> None:
    """No gap, no second entry of a number, no second answer; REPLACE changes nothing of that."""
    log.append(answer(1))
    for verb in ("INSERT INTO", "INSERT OR REPLACE INTO"):
        with pytest.raises(Exception, match=r"append-only|already|unique|syntax"):
            run_sql(url, f"{verb} log_entry {row} FROM log_entry WHERE seq = 1")
    assert [parse_leaf(entry.leaf).kind for entry in log.entries()] == ["genesis", "answer"]


def test_threads_and_processes_make_one_log(url: str, log: SqlAuditLog) -> None:
    """Every acknowledged entry is there once, in one tree without a fork."""
    program = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from test_audit_log_contract import KEY, SqlAuditLog, answer\n"
        "log = SqlAuditLog(sys.argv[1], key=KEY)\n"
        "start = int(sys.stdin.read())\n"
        "[print(log.append(answer(start + n)).leaf) for n in range(25)]\n"
    )
    command = [sys.executable, "-c", program, url, str(Path(__file__).parent)]
    command.append(str(Path(__file__).parents[1]))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(command, **pipes) for _ in range(3)]  # type: ignore[call-overload]
    with ThreadPoolExecutor(8) as pool:
        said = pool.map(
            lambda at: at[1].communicate(str(1000 * at[0]))[0].splitlines(),
            enumerate(started, start=1),
        )
        proofs = list(pool.map(lambda n: log.append(answer(n)), range(50)))
        acknowledged = [line for lines in said for line in lines]
    assert [process.returncode for process in started] == [0, 0, 0]
    acknowledged += [proof.leaf for proof in proofs]
    kept = [entry.leaf for entry in log.entries()]
    assert len(acknowledged) == len(set(acknowledged)) == 125
    assert sorted(kept[1:]) == sorted(acknowledged)
    assert [parse_leaf(leaf).index for leaf in kept] == list(range(126))
    assert open_checkpoint(log.checkpoint(), TRUSTED.values()).root == root_of(kept)
    for proof in proofs:
        prove(proof, b"answer %d" % int(parse_leaf(proof.leaf).trace_id, 16), TRUSTED)


def test_a_clock_that_goes_back_is_recorded_as_it_is(log: SqlAuditLog) -> None:
    """Entries keep their order, whatever the clock says."""
    for hours in (0, -48, 72):
        log.append(replace(received(hours + 100), at=AT + timedelta(hours=hours)))
    times = [parse_leaf(entry.leaf).at[:10] for entry in log.entries(1)]
    assert times == ["2026-01-02", "2025-12-31", "2026-01-05"]


def test_a_log_keeps_its_name(url: str) -> None:
    """A new log is named at random unless it is given one; a log that is there has its own."""
    first = SqlAuditLog(url, key=KEY)
    assert first.origin.startswith("certirag.local/")
    assert SqlAuditLog(url, key=KEY).origin == first.origin
    assert SqlAuditLog(url, key=KEY, origin=first.origin).size() == 1
    with pytest.raises(AuditError, match="give its own name"):
        SqlAuditLog(url, key=KEY, origin="certirag.local/other")
    with pytest.raises(InputError, match="cannot name a log"):
        SqlAuditLog(url, key=KEY, origin="Not a name")


def test_opening_together_begins_one_log(url: str) -> None:
    """Those who open an empty database at the same time share one genesis."""
    with ThreadPoolExecutor(6) as pool:
        origins = list(pool.map(lambda _: SqlAuditLog(url, key=KEY).origin, range(6)))
    assert len(set(origins)) == 1
    assert SqlAuditLog(url, key=KEY).size() == 1


def test_a_log_that_another_began_meanwhile_is_joined(
    url: str, log: SqlAuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who found no log, and is second to begin it, writes no other genesis."""
    found = iter(["", log.origin])
    monkeypatch.setattr(SqlAuditLog, "_found_origin", lambda _: next(found))
    assert SqlAuditLog(url, key=KEY).origin == log.origin
    assert log.size() == 1


def test_a_newer_schema_is_refused(url: str, log: SqlAuditLog) -> None:
    """Tables that a newer program has changed are left alone."""
    run_sql(url, "UPDATE audit_schema_version SET version_num = '9999'")
    with pytest.raises(AuditError, match="newer version"):
        SqlAuditLog(url, key=KEY)
    assert log.size() == 1


def test_tables_of_something_else_are_refused(url: str) -> None:
    """A database that happens to hold a table of ours is not written over."""
    run_sql(url, "CREATE TABLE log_content (mine TEXT)")
    with pytest.raises(AuditError, match="something else"):
        SqlAuditLog(url, key=KEY)


def test_random_histories_hold_together(log: SqlAuditLog) -> None:
    """Appends, batches, erasures in any order: every proof holds, what is erased has no salt."""
    rng = random.Random(20260102)
    contents: dict[int, bytes] = {}
    erased: set[int] = set()
    steps: list[Callable[[], None]] = []

    def add() -> None:
        entries = [answer(rng.getrandbits(100)) for _ in range(rng.randint(1, 6))]
        for proof, entry in zip(log.append_all(entries), entries, strict=True):
            contents[parse_leaf(proof.leaf).index] = entry.content

    def erase() -> None:
        if targets := rng.sample(sorted(contents), min(len(contents), rng.randint(1, 4))):
            log.erase(act("erase", targets), targets)
            erased.update(targets)

    steps += [add, add, erase]
    kept: list[tuple[LogProof, bytes]] = []
    for _ in range(12):
        rng.choice(steps)()
        for index, content in contents.items():
            proof = log.proof(index)
            assert (proof.salt == "") == (index in erased)
            if index not in erased:
                kept.append((proof, content))
    for proof, content in kept:
        prove(proof, content, TRUSTED)


def test_leaves_are_those_of_the_entries(log: SqlAuditLog) -> None:
    """Any range of them, and no more."""
    log.append_all([received(number) for number in range(1, 8)])
    leaves = [entry.leaf for entry in log.entries()]
    for start, stop in ((0, None), (0, 0), (3, 5), (5, 99), (99, None), (-4, 2)):
        assert list(log.leaves(start, stop)) == leaves[max(start, 0) : stop]


def handing_over(log: SqlAuditLog, *, forged: bool = False) -> NewEntry:
    """Return the entry in which `KEY` hands over to `OTHER_KEY`; *forged*: without its own word."""
    names = key_id(KEY.public_key()), key_id(OTHER_KEY.public_key())
    message = rotation_message(log.origin, *names)
    old = (OTHER_KEY if forged else KEY).sign(message).hex()
    signed = {"old_signature": old, "new_signature": OTHER_KEY.sign(message).hex()}
    return NewEntry("rotate", "", AT, detail={"old": names[0], "new": names[1], **signed})


def test_a_log_goes_on_under_a_key_that_was_handed_over_to(log: SqlAuditLog, url: str) -> None:
    """Old and new key build on each other's entries; each names itself in its own."""
    log.append(handing_over(log))
    successor = SqlAuditLog(url, key=OTHER_KEY)
    for number, one in enumerate((successor, log, successor, log), start=1):
        leaf = parse_leaf(one.append(received(number)).leaf)
        assert leaf.keyid == key_id((OTHER_KEY if one is successor else KEY).public_key())


def test_a_stranger_adds_nothing(log: SqlAuditLog, url: str) -> None:
    """Neither a key that nobody handed over to, nor one whose hand-over the old key did not sign."""
    with pytest.raises(AuditError, match="never handed over"):
        SqlAuditLog(url, key=OTHER_KEY).append(received(1))
    log.append(handing_over(log, forged=True))
    with pytest.raises(AuditError, match="never handed over"):
        SqlAuditLog(url, key=OTHER_KEY).append(received(1))
    assert log.size() == 2


def test_a_retired_key_adds_nothing(log: SqlAuditLog, url: str) -> None:
    """A server that still holds it is told so, and the log goes on without it."""
    log.append(handing_over(log))
    successor = SqlAuditLog(url, key=OTHER_KEY)
    detail = {"key": key_id(KEY.public_key()), "until_index": 3}
    successor.append(NewEntry("retire", "", AT, detail=detail))
    successor.append(received(1))
    with pytest.raises(AuditError, match="was retired: restart"):
        log.append(received(2))
    successor.append(received(3))
    assert log.size() == 5


def test_a_rewritten_past_is_not_signed_over(log: SqlAuditLog, url: str) -> None:
    """An only entry changed with its whole tree, but under no key, ends the log there."""
    (entry,) = log.entries()
    leaf = entry.leaf.replace("2026", "2025")
    digest = leaf_hash(leaf.encode("ascii")).hex()
    blob = f"X'{digest}'" if url.startswith("sqlite") else f"decode('{digest}', 'hex')"
    written = leaf.replace(":", "\\:")  # a colon would name a parameter
    change = f"UPDATE log_entry SET leaf = '{written}', nodes = {blob}, root = {blob}"  # noqa: S608
    unguarded(url, "log_entry", change)
    with pytest.raises(AuditError, match="no key of this log signed"):
        SqlAuditLog(url, key=KEY).append(received(1))


def test_missing_triggers_are_named(log: SqlAuditLog, url: str) -> None:
    """Those that were taken away, or made to do nothing; a whole log lacks none."""
    assert log.missing_guards() == []
    unguarded(url, "log_entry", "UPDATE log_key SET keyid = keyid WHERE keyid = ''")
    entries = log.missing_guards()
    assert entries
    assert all(name.startswith("log_entry_no_") for name in entries)
    if url.startswith("postgresql"):
        run_sql(
            url,
            "CREATE OR REPLACE FUNCTION certirag_refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RETURN NEW; END $$",
        )
        assert "answer_revoked_no_change" in log.missing_guards()
    log.restore_guards()
    assert bool(log.missing_guards()) is url.startswith("postgresql")
