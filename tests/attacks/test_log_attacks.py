"""Hundreds of attacks on a real log's file: with a held checkpoint, each one is seen."""

from __future__ import annotations

import random
import shutil
import sys
from collections import Counter
from pathlib import Path

import log_cases as cases
import pytest
from integration_fixtures import WHOLE
from log_attacks import KINDS, UNSEEN, Target, attack, copied, opened

from certirag.auditing.verify_live import verify_live
from certirag.errors import AuditError

ATTACKS = 1_000 if WHOLE else 200
SEED = 9162


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Target, str]:
    """Return an honest log of some sixty entries, with copies of its past, and its checkpoint."""
    folder = tmp_path_factory.mktemp("honest")
    path = folder / "log.sqlite3"
    copies: dict[int, Path] = {}

    def keep() -> None:
        log = opened(path, cases.OLD)
        size = log.size()
        log.close()
        copies[size] = copied(path, folder / f"{size}.sqlite3")

    log = cases.fill(lambda key: opened(path, key, cases.ORIGIN), keep)
    held = log.checkpoint()
    log.close()
    erasures = [
        index for index, entry in enumerate(log.entries()) if '"kind":"erase"' in entry.leaf
    ]
    copied(path, folder / "whole.sqlite3")
    return Target(folder / "whole.sqlite3", copies, erasures[-1]), held


def faults(path: Path, held: list[str]) -> tuple[str, ...]:
    """Return what is found wrong with the log in *path*; that it cannot be opened is one."""
    try:
        log = opened(path, cases.NEW)
    except AuditError as error:
        return (str(error),)
    found = verify_live(log, cases.KEYS, held=held).faults
    log.close()
    return found


def test_the_honest_log_is_intact(honest: tuple[Target, str], tmp_path: Path) -> None:
    """The log that is attacked below has no fault, with and without its checkpoint."""
    target, held = honest
    path = Path(shutil.copyfile(target.path, tmp_path / "log.sqlite3"))
    assert faults(path, []) == faults(path, [held]) == ()
    assert len(target.copies) >= 15
    for size, copy in target.copies.items():  # each past state was intact in its time
        assert faults(Path(shutil.copyfile(copy, path)), []) == (), size


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_attack_is_seen(honest: tuple[Target, str], tmp_path: Path) -> None:
    """With a held checkpoint all are seen; without one exactly the kinds of `UNSEEN` are not."""
    target, held = honest
    chance = random.Random(SEED)
    made: Counter[str] = Counter()
    seen: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    missed: list[str] = []
    for number in range(ATTACKS):
        kind = KINDS[number % len(KINDS)]
        path = tmp_path / f"{number}.sqlite3"
        shutil.copyfile(target.path, path)
        attack(kind, Target(path, target.copies, target.last_erasure), chance)
        made[kind] += 1
        whole = faults(path, [held])
        own = [fault for fault in whole if not fault.startswith("held checkpoint")]
        # What is found beside the held checkpoint is found without it too: it is not looked at.
        for with_held, found in ((True, whole), (False, own or faults(path, []))):
            seen[with_held][kind] += bool(found)
            if bool(found) != (with_held or kind not in UNSEEN):
                missed.append(f"{number}: {kind}, held: {with_held}, found: {found[:1]}")
        for part in tmp_path.glob(f"{number}.sqlite3*"):
            part.unlink()
    width = max(map(len, KINDS))
    lines = [f"{'attack':{width}} made  seen with a held checkpoint  without one"]
    counts = {kind: (made[kind], seen[True][kind], seen[False][kind]) for kind in KINDS}
    counts["in all"] = (made.total(), seen[True].total(), seen[False].total())
    lines += [f"{k:{width}} {n[0]:4} {n[1]:28} {n[2]:12}" for k, n in counts.items()]
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    assert missed == []
    assert seen[True] == made
    assert {kind for kind in KINDS if not seen[False][kind]} == UNSEEN
