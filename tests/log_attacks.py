"""Attacks on a log's file by somebody who owns it: each kind is one function, chosen by name.

An attack gets the rows of every table as lists to change, or the whole file, and a seeded source
of chance. The triggers that refuse changes are dropped before and are back after it.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import log_cases as cases
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from certirag.adapters.log_sql.schema import METADATA
from certirag.adapters.log_sql.sql_log import SqlAuditLog
from certirag.errors import AuditError
from certirag.proof.log import checkpoint_signature, commitment, leaf_text, parse_leaf
from certirag.proof.merkle import completed_nodes, leaf_hash, root_hash

Row = dict[str, Any]
Tables = dict[str, list[Row]]
# What verifying reads, by table. A row's own older checkpoint (root, keyid, signature of any row
# but the last) and the times and kinds that no query asks for are read by nothing.
COLUMNS = {
    "log_entry": ["leaf", "nodes"],
    "log_content": ["salt", "content", "keyid", "signature"],
    "answer_facet": [
        *("trace_id", "request", "at", "at_ms", "question", "corpus", "policy", "decision"),
        *("reason", "confidence", "grounding", "claims", "verified", "unverified", "blocked"),
        *("verifier", "generator", "topic", "complete", "documents"),
    ],
    "answer_document": ["doc_id", "title", "sha256"],
    "answer_revoked": ["reason"],
}


@dataclass(frozen=True, slots=True)
class Target:
    """A log's file to attack, its older copies by size, and the entry that erased last."""

    path: Path
    copies: dict[int, Path]
    last_erasure: int


def opened(path: Path, key: Ed25519PrivateKey, origin: str = "") -> SqlAuditLog:
    """Open the log in the file *path*, with a clock that stands still."""
    return SqlAuditLog(f"sqlite:///{path}", key=key, origin=origin, now=lambda: cases.START)


def copied(path: Path, to: Path) -> Path:
    """Copy a database as it is committed."""
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(to)) as target:
        source.backup(target)
    return to


def rewrite(path: Path, change: Callable[[Tables], None]) -> None:
    """Change the rows of all tables as *change* says, past the triggers."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("BEGIN")
        guards = connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND "
            "(type = 'trigger' OR type = 'index')"
        ).fetchall()
        for guard in guards:
            connection.execute(f"DROP {guard['type']} {guard['name']}")
        tables: Tables = {}
        for table in METADATA.sorted_tables:
            rows = connection.execute(f"SELECT * FROM {table.name} ORDER BY 1")  # noqa: S608
            tables[table.name] = [dict(row) for row in rows]
        change(tables)
        for name, rows in tables.items():
            connection.execute(f"DELETE FROM {name}")  # noqa: S608
            for row in rows:
                places = ", ".join("?" * len(row))
                names = ", ".join(row)
                connection.execute(
                    f"INSERT INTO {name} ({names}) VALUES ({places})",  # noqa: S608
                    list(row.values()),
                )
        for guard in guards:
            if guard["type"] == "trigger":
                connection.execute(guard["sql"])
        connection.execute("COMMIT")


def grown(tables: Tables, key: Ed25519PrivateKey | None = None) -> None:
    """Number the entries anew and make nodes and roots fit them; sign the last with *key*."""
    nodes: dict[tuple[int, int], bytes] = {}

    def node(level: int, number: int) -> bytes:
        return nodes[level, number]

    for index, row in enumerate(tables["log_entry"]):
        row["seq"] = index
        made = completed_nodes(index, leaf_hash(row["leaf"].encode("ascii")), node)
        for level, one in enumerate(made):
            nodes[level, index >> level] = one
        row["nodes"], row["root"] = b"".join(made), root_hash(index + 1, node)
    if key is not None:
        size, last = len(tables["log_entry"]), tables["log_entry"][-1]
        last["signature"] = checkpoint_signature(cases.ORIGIN, size, last["root"], key)


def shifted(tables: Tables, start: int, by: int) -> None:
    """Move everything that belongs to entries from *start* on by so many places."""
    for name in ("log_content", "answer_facet", "answer_document", "answer_revoked"):
        for row in tables[name]:
            row["seq"] += by if row["seq"] >= start else 0


def changed(value: Any, chance: random.Random) -> Any:
    """Return a value of the same type that differs from *value* in little."""
    if isinstance(value, bytes):
        spoiled = bytearray(value)
        spoiled[chance.randrange(len(value))] ^= 1 << chance.randrange(8)
        return bytes(spoiled)
    if isinstance(value, str):
        place = chance.randrange(len(value) + 1)
        new = chance.choice([c for c in "axAX09 _" if c != value[place : place + 1]])
        return value[:place] + new + value[place + 1 :]
    if isinstance(value, float):
        return value + chance.choice([-0.25, 0.015625])
    return 1 - value if value in {0, 1} else value + chance.choice([-1, 1])


def delete_entry(tables: Tables, chance: random.Random) -> None:
    """One entry is gone, and a gap is left."""
    tables["log_entry"].pop(chance.randrange(len(tables["log_entry"]) - 1))


def delete_and_close(tables: Tables, chance: random.Random) -> None:
    """One entry is gone with its content, and the others move up; all nodes and roots fit."""
    index = chance.randrange(1, len(tables["log_entry"]))
    del tables["log_entry"][index]
    for name in ("log_content", "answer_facet", "answer_document", "answer_revoked"):
        tables[name] = [row for row in tables[name] if row["seq"] != index]
    shifted(tables, index, -1)
    grown(tables)


def delete_content(tables: Tables, chance: random.Random) -> None:
    """A content that no entry erased is gone, facets and all."""
    row = tables["log_content"].pop(chance.randrange(len(tables["log_content"])))
    for name in ("answer_facet", "answer_document"):
        tables[name] = [other for other in tables[name] if other["seq"] != row["seq"]]


def delete_derived(tables: Tables, chance: random.Random) -> None:
    """A query shall not find an answer, by anything or by a document, or not as revoked."""
    name = chance.choice(["answer_facet", "answer_document", "answer_revoked"])
    tables[name].pop(chance.randrange(len(tables[name])))


def edit(tables: Tables, chance: random.Random) -> None:
    """A leaf, a content, its salt or its signature is another."""
    name = chance.choice(["log_entry", "log_content"])
    row = chance.choice(tables[name])
    column = chance.choice([c for c in COLUMNS[name] if c != "nodes" and row[c] is not None])
    row[column] = changed(row[column], chance)


def edit_whole(tables: Tables, chance: random.Random) -> None:
    """A leaf speaks of another content, which is there; all nodes and roots fit it."""
    row = chance.choice([r for r in tables["log_content"] if r["signature"] is None])
    entry = tables["log_entry"][row["seq"]]
    row["content"] = changed(row["content"], chance)
    leaf = parse_leaf(entry["leaf"])
    entry["leaf"] = leaf_text(leaf).replace(leaf.commit, commitment(row["salt"], row["content"]))
    grown(tables)


def edit_derived(tables: Tables, chance: random.Random) -> None:
    """What a query reads, or what a proof is made of, is another."""
    name = chance.choice(["log_entry", "answer_facet", "answer_document", "answer_revoked"])
    row = chance.choice(tables[name])
    column = chance.choice([c for c in COLUMNS[name] if c != "leaf" and row[c] != ""])
    row[column] = changed(row[column], chance)


def edit_place(tables: Tables, chance: random.Random) -> None:
    """An answer stands under another trace id or kind, or a hold is none any more."""
    rows = [r for r in tables["log_entry"] if r["kind"] in {"answer", "hold", "release"}]
    kept = {row["seq"] for row in tables["answer_facet"]}
    row = chance.choice([r for r in rows if r["kind"] != "answer" or r["seq"] in kept])
    column = "kind" if row["kind"] != "answer" else chance.choice(["kind", "trace_id"])
    row[column] = changed(row[column], chance)


def swap(tables: Tables, chance: random.Random) -> None:
    """Two entries, two contents or the facets of two answers change places."""
    name = chance.choice(["log_entry", "log_content", "answer_facet"])
    one, other = chance.sample(tables[name], 2)
    columns = ["leaf"] if name == "log_entry" else [c for c in one if c != "seq"]
    for column in columns:
        one[column], other[column] = other[column], one[column]


def insert_last(tables: Tables, chance: random.Random) -> None:
    """An entry more at the end, made by somebody without the key."""
    last = tables["log_entry"][-1]
    leaf = parse_leaf(last["leaf"])
    text = leaf_text(leaf).replace(f'"index":{leaf.index}', f'"index":{leaf.index + 1}')
    text = text.replace('"received"', '"failed"').replace(leaf.commit, "")
    tables["log_entry"].append({**last, "kind": "failed", "leaf": text})
    grown(tables, chance.choice([None, cases.STRANGER]))


def insert_between(tables: Tables, chance: random.Random) -> None:
    """An entry more on the way; everything behind it moves on, all nodes and roots fit."""
    index = chance.randrange(1, len(tables["log_entry"]))
    tables["log_entry"].insert(index, dict(tables["log_entry"][index - 1]))
    shifted(tables, index, 1)
    grown(tables)


def insert_content(tables: Tables, chance: random.Random) -> None:
    """An entry that never had content, or whose content was erased, has one."""
    there = {row["seq"] for row in tables["log_content"]}
    free = [row["seq"] for row in tables["log_entry"] if row["seq"] not in there]
    tables["log_content"].append(
        {**chance.choice(tables["log_content"]), "seq": chance.choice(free)}
    )


def duplicate(tables: Tables, chance: random.Random) -> None:
    """An entry stands in the log twice, the second time at the end."""
    row = dict(chance.choice(tables["log_entry"][:-1]))
    content = [c for c in tables["log_content"] if c["seq"] == row["seq"]]
    tables["log_entry"].append(row)
    end = len(tables["log_entry"]) - 1
    tables["log_content"] += [{**one, "seq": end} for one in content]
    grown(tables)


def replay(tables: Tables, chance: random.Random) -> None:
    """The newest checkpoint is replaced by an old one, or its key by another."""
    rows = tables["log_entry"]
    if chance.random() < 0.2:
        row = next(r for r in tables["log_key"] if r["keyid"] == rows[-1]["keyid"])
        row["public_key"] = cases.STRANGER.public_key().public_bytes_raw()
        return
    old = chance.choice(rows[:-1])
    columns = chance.choice([("root", "keyid", "signature"), ("signature",), ("root",)])
    for column in columns:
        rows[-1][column] = old[column]


def _cut(tables: Tables, size: int) -> None:
    for name in ("log_entry", "log_content", "answer_facet", "answer_document", "answer_revoked"):
        column = "by_seq" if name == "answer_revoked" else "seq"
        tables[name] = [row for row in tables[name] if row[column] < size]


def truncate_before_erasure(target: Target, chance: random.Random) -> None:
    """The end is cut off, with an erasure in it: what it erased is missing without a reason."""
    size = chance.randrange(4, target.last_erasure + 1)
    rewrite(target.path, lambda tables: _cut(tables, size))


def truncate(target: Target, chance: random.Random) -> None:
    """The end is cut off behind the last erasure; the log's own older checkpoint fits."""
    with closing(sqlite3.connect(target.path)) as connection:
        (size,) = connection.execute("SELECT COUNT(*) FROM log_entry").fetchone()
    size = chance.randrange(target.last_erasure + 1, size)
    rewrite(target.path, lambda tables: _cut(tables, size))


def roll_back(target: Target, chance: random.Random) -> None:
    """An old copy of the whole file is put back."""
    shutil.copyfile(target.copies[chance.choice(sorted(target.copies))], target.path)


def fork(target: Target, chance: random.Random) -> None:
    """Whoever holds the key goes on from an old copy with other entries, as long as the log."""
    size = chance.choice(sorted(target.copies))
    shutil.copyfile(target.copies[size], target.path)
    key = cases.NEW if size > target.last_erasure else cases.OLD
    log = opened(target.path, key)
    numbers = iter(range(500, 600))
    while log.size() < 63 + chance.randrange(3):
        number = next(numbers)
        log.append_all([cases.received(number), cases.answer(number, key)])
    log.close()


def rewrite_and_wait(target: Target, chance: random.Random) -> None:
    """A past entry is rewritten with all nodes and roots; the log itself shall sign it next."""
    rewrite(target.path, lambda tables: edit_whole(tables, chance))
    try:
        log = opened(target.path, cases.NEW)
        log.append(cases.failed(64))
        log.close()
    except AuditError:
        pass  # it refused to go on


ROWS: dict[str, Callable[[Tables, random.Random], None]] = {
    "delete an entry": delete_entry,
    "delete an entry, close the gap": delete_and_close,
    "delete a content": delete_content,
    "delete what queries read": delete_derived,
    "edit a leaf, content, salt or signature": edit,
    "edit an entry with its tree": edit_whole,
    "edit what queries and proofs read": edit_derived,
    "edit an entry's place": edit_place,
    "swap": swap,
    "insert at the end": insert_last,
    "insert between": insert_between,
    "insert a content": insert_content,
    "duplicate": duplicate,
    "replay an old checkpoint": replay,
}
FILES: dict[str, Callable[[Target, random.Random], None]] = {
    "truncate before an erasure": truncate_before_erasure,
    "truncate": truncate,
    "roll back to an old copy": roll_back,
    "fork with the log's key": fork,
    "rewrite, let the log sign it": rewrite_and_wait,
}
KINDS = (*ROWS, *FILES)
# Nothing but a checkpoint that was held elsewhere tells these from an honest log.
UNSEEN = {
    "truncate",
    "roll back to an old copy",
    "fork with the log's key",
}


def attack(kind: str, target: Target, chance: random.Random) -> None:
    """Attack the log in *target* in one way."""
    if kind in FILES:
        FILES[kind](target, chance)
    else:
        rewrite(target.path, lambda tables: ROWS[kind](tables, chance))
