"""Writers of an audit log that are killed at random moments; run as a program by test_kill.py.

Reads one line a run, ``URL SEED SHORTEST LONGEST`` (seconds), from standard input. Forks writers
that append to the log and acknowledge each entry on standard output once `append` returned:
``ack INDEX SHA-256-OF-THE-LEAF``. Each is killed by SIGKILL at a moment of its own; then the line
``done``. What a writer fails with is a line ``error …``. Forking spares the start-up of each.
The moments are counted from when all writers have opened the log; in every sixth run from the
start, so that some die while they open it, or while they make its tables.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import sys
import time
from typing import NoReturn

import log_cases as cases

from certirag.adapters.log_sql.sql_log import SqlAuditLog
from certirag.core.text import sha256_hex
from certirag.errors import CertiRAGError
from certirag.proof.log import LogProof, parse_leaf

WRITERS = 4
EARLY = 6


def acknowledge(proof: LogProof) -> None:
    """Say that an entry is in the log: one write, so that a kill cannot cut the line."""
    line = f"ack {parse_leaf(proof.leaf).index} {sha256_hex(proof.leaf)}\n"
    os.write(1, line.encode("ascii"))


def write_on(url: str, seed: int, writer: int, ready: int) -> NoReturn:
    """Append until killed: single entries, and several in one transaction."""
    chance = random.Random(seed * WRITERS + writer)
    try:
        log = SqlAuditLog(url, key=cases.OLD, origin=cases.ORIGIN)
        os.write(ready, b".")
        while True:
            number = chance.getrandbits(100)
            if chance.random() < 0.5:
                acknowledge(log.append(cases.received(number % 10**6)))
            else:
                several = [cases.received(number % 10**6), cases.failed(number % 10**6)]
                for proof in log.append_all(several):
                    acknowledge(proof)
    except CertiRAGError as error:
        os.write(1, f"error {error}\n".encode())
    finally:
        os.write(ready, b".")  # or the others would be waited for in vain
        os._exit(1)


def run(url: str, seed: int, shortest: float, longest: float) -> None:
    """Let the writers write, and kill each at a random moment."""
    chance = random.Random(seed)
    children = []
    opened, ready = os.pipe()
    for writer in range(WRITERS):
        child = os.fork()
        if child == 0:
            write_on(url, seed, writer, ready)
        children.append((chance.uniform(shortest, longest), child))
    os.close(ready)
    waiting = WRITERS if seed % EARLY else 0
    while waiting and (came := os.read(opened, waiting)):  # nothing comes once all have ended
        waiting -= len(came)
    begun = time.monotonic()
    for moment, child in sorted(children):
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            left = begun + moment - time.monotonic()
            if left <= 0:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
            time.sleep(min(left, 0.05))  # its log may fail it before
    os.close(opened)
    os.write(1, b"done\n")


if __name__ == "__main__":
    # That a connection to a server which was killed cannot be closed is no news.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL + 1)
    for line in sys.stdin:
        given = line.split()
        run(given[0], int(given[1]), float(given[2]), float(given[3]))
