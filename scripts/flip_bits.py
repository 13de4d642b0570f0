"""Flip every bit of real exports, one at a time, and count the flips that a checker accepts.

    python scripts/flip_bits.py [--limit N] [--jobs N] [--exports N] [--out DIR]
    python scripts/flip_bits.py FILE… --public-key FILE

Without files, ten exports are made by the real pipeline from the demo corpora, with small settings.
Each changed file is put to certirag/checker.py and to assets/checker.html in Chromium. Exit code 0:
none is accepted. 1: one is, or what was to be flipped is not VALID. Needs playwright and a Chromium.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from flips import accepted_flips
from playwright.async_api import Browser, async_playwright

from certirag import checker
from certirag.answers.follow_ups import probe_answer
from certirag.answers.pipeline import answer_question
from certirag.bootstrap import build_services, index_of_paths
from certirag.proof.keys import signing_key
from certirag.settings import read_settings

ROOT: Final = Path(__file__).resolve().parent.parent
CHROMIUM: Final = os.environ.get("CERTIRAG_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS: Final = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
# Small settings keep an export small, since the work grows with the square of its length.
SMALL: Final = {
    "MAX_CHUNKS": "1",
    "MAX_CLAIMS": "1",
    "MAX_SPANS_PER_CLAIM": "2",
    "MAX_SPANS_PER_SOURCE": "4",
}
# Corpus, question, and whether errors are planted in the answer. Two are refused without a claim,
# one with a claim that has no badge.
ASKED: Final = (
    ("policy", "When is the canteen in Skarholm open?", False),
    ("policy", "How quickly are critical security updates installed?", False),
    ("policy", "How many weeks of leave does a birth parent receive?", False),
    ("policy", "Which water damage does the property insurance cover?", False),
    ("policy", "How many months of sabbatical leave may an employee take?", False),
    ("finance", "Who may choose new shares instead of cash?", False),
    ("finance", "What was the order intake of Sensors in the fourth quarter of 2024?", False),
    ("clinical", "May Quindorel be given to children under 12?", True),
    ("clinical", "How often is the Corvane S2 primed before its first use?", False),
    ("clinical", "May a community pharmacy supply Quindorel tablets for 56 days?", False),
)
BYTES_AT_ONCE: Final = 512
RUN: Final = 8  # bytes side by side in a sample
Slice = tuple[int, int]  # first byte, and the one behind the last
Told = Callable[["Tally", int, Sequence[int]], None]

_FLIP: Final = """async ({ data, key, first, last }) => {
  const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
  const found = await window.checkMany(bytes, { keys: [key] }, first * 8, last * 8);
  return { tried: found.tried, accepted: found.accepted };
}"""


@dataclass(frozen=True, slots=True)
class Export:
    """An export's bytes, what it is called here, and the public key that signed it, in hex."""

    name: str
    data: bytes
    key: str


@dataclass(slots=True)
class Tally:
    """What one checker said of one export's flips; a bit is its byte · 8 + its place in it."""

    tried: int = 0
    accepted: list[int] = field(default_factory=list)
    seconds: float = 0.0


def real_exports(count: int) -> Iterator[Export]:
    """Yield exports of the first *count* questions, each answered by the whole pipeline."""
    with tempfile.TemporaryDirectory(prefix="certirag-flips-") as home:
        settings = {f"CERTIRAG_{name}": value for name, value in SMALL.items()}
        services = build_services(read_settings({"CERTIRAG_HOME": home, **settings}))
        key = checker._raw(signing_key(services.settings.home).public_key()).hex()  # noqa: SLF001
        indexes = {}
        for corpus, question, planted in ASKED[:count]:
            if corpus not in indexes:
                folder = ROOT / "fixtures" / "corpora" / corpus
                indexes[corpus] = index_of_paths([folder], services, lambda *_: None)[0]
            answer = answer_question(question, indexes[corpus], services)
            if planted:
                answer = probe_answer(answer.export, services)
            yield Export(question, answer.export, key)


def slices(size: int, limit: int | None, chance: random.Random) -> list[Slice]:
    """Return the bytes to change: all of *size*, or short runs of about *limit* bits in all."""
    if limit is None or limit >= size * 8:
        return [(at, min(at + BYTES_AT_ONCE, size)) for at in range(0, size, BYTES_AT_ONCE)]
    starts = range(0, size, RUN)
    chosen = chance.sample(starts, max(1, min(limit // (8 * RUN), len(starts))))
    return [(at, min(at + RUN, size)) for at in sorted(chosen)]


def accepted_by_checker(export: Export, of: Slice) -> list[int]:
    """Return the bits of a slice whose change certirag/checker.py does not call TAMPERED."""
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(export.key))
    return accepted_flips(export.data, {checker.key_id(key): key}, range(*of))


def flip_in_checker(
    todo: Sequence[tuple[Export, list[Slice]]], jobs: int, told: Told
) -> list[Tally]:
    """Put every change to certirag/checker.py, in *jobs* processes."""
    tallies = []
    with ProcessPoolExecutor(jobs) as pool:
        for export, parts in todo:
            tally, began = Tally(), time.monotonic()
            found = pool.map(partial(accepted_by_checker, export), parts)
            for (first, last), accepted in zip(parts, found, strict=True):
                told(tally, (last - first) * 8, accepted)
            tally.seconds = time.monotonic() - began
            tallies.append(tally)
    return tallies


async def flip_in_page(
    todo: Sequence[tuple[Export, list[Slice]]], jobs: int, told: Told
) -> list[Tally]:
    """Put every change to assets/checker.html, opened from its file in *jobs* offline contexts."""
    tallies = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        for export, parts in todo:
            tally, began, queue = Tally(), time.monotonic(), list(parts)
            await asyncio.gather(
                *(_flip_in_one(browser, export, queue, tally, told) for _ in range(jobs))
            )
            tally.seconds = time.monotonic() - began
            tallies.append(tally)
        await browser.close()
    return tallies


async def _flip_in_one(
    browser: Browser, export: Export, queue: list[Slice], tally: Tally, told: Told
) -> None:
    context = await browser.new_context(offline=True)
    page = await context.new_page()
    await page.goto((ROOT / "assets" / "checker.html").as_uri())
    asked = {"data": base64.b64encode(export.data).decode("ascii"), "key": export.key}
    while queue:
        first, last = queue.pop()
        found = await page.evaluate(_FLIP, {**asked, "first": first, "last": last})
        if found["tried"] != (last - first) * 8:
            raise RuntimeError(f"the page tried {found['tried']} flips of {(last - first) * 8}")
        told(tally, found["tried"], found["accepted"])
    await context.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Flip, print what was tried and accepted, and return the exit code."""
    options = _parser().parse_args(arguments)
    exports = _given(options.files, options.public_key) or list(real_exports(options.exports))
    for number, export in enumerate(exports, 1):
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(export.key))
        report = checker.check(export.data, {checker.key_id(key): key})
        if report.verdict != "VALID":
            sys.stderr.write(f"{export.name!r} is not VALID: {report.line}\n")
            return 1
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"{number:02}.json").write_bytes(export.data)
    chance = random.Random(8)  # noqa: S311  # which bits a quick run takes
    todo = [(export, slices(len(export.data), options.limit, chance)) for export in exports]
    by_checker = flip_in_checker(todo, options.jobs, _progress("checker.py", todo))
    in_page = flip_in_page(todo, options.jobs, _progress("checker.html", todo))
    by_page = asyncio.run(in_page)
    _print(exports, by_checker, by_page)
    return 1 if any(tally.accepted for tally in (*by_checker, *by_page)) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Flips every bit of real exports.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--public-key", type=Path, metavar="FILE", help="the key of the files")
    parser.add_argument("--limit", type=_positive, metavar="N", help="about N flips of each export")
    parser.add_argument("--jobs", type=_positive, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--exports", type=_positive, default=len(ASKED), metavar="N")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep the exports there")
    return parser


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number of at least 1")
    return int(text)


def _given(files: Sequence[Path], public_key: Path | None) -> list[Export]:
    if bool(files) != bool(public_key):
        _parser().error("name the exports and, with --public-key, the key that signed them")
    key = "" if public_key is None else checker._raw(checker.read_key(public_key)).hex()  # noqa: SLF001
    return [Export(str(path), path.read_bytes(), key) for path in files]


def _progress(name: str, todo: Sequence[tuple[Export, list[Slice]]]) -> Told:
    """Return what adds to a tally and says on standard error how far *name* is."""
    whole = sum((last - first) * 8 for _, parts in todo for first, last in parts)
    done = [0, 0, -1.0]

    def told(tally: Tally, tried: int, accepted: Sequence[int]) -> None:
        tally.tried += tried
        tally.accepted += accepted
        done[0] += tried
        done[1] += len(accepted)
        now = time.monotonic()
        if now - done[2] > 1 or done[0] == whole:
            done[2] = now
            end = "\n" if done[0] == whole else ""
            line = f"\r{name}: {done[0]:,} of {whole:,} flips, accepted {done[1]}"
            sys.stderr.write(line + end)
            sys.stderr.flush()

    return told


def _print(
    exports: Sequence[Export], by_checker: Sequence[Tally], by_page: Sequence[Tally]
) -> None:
    rows = [("bytes", "flips", "checker.py", "s", "checker.html", "s", "export")]
    for export, one, two in zip(exports, by_checker, by_page, strict=True):
        rows.append(_row(len(export.data), export.name, one, two))
    sizes = sum(len(export.data) for export in exports)
    rows.append(_row(sizes, "all", _sum(by_checker), _sum(by_page)))
    for row in rows:
        print("{:>8} {:>9} {:>11} {:>6} {:>13} {:>6}  {}".format(*row))
    for export, *tallies in zip(exports, by_checker, by_page, strict=True):
        for name, tally in zip(("checker.py", "checker.html"), tallies, strict=True):
            if tally.accepted:
                print(f"{name} accepts {export.name!r} with bits {tally.accepted[:20]}")


def _row(size: int, name: str, one: Tally, two: Tally) -> tuple[object, ...]:
    if one.tried != two.tried:
        raise RuntimeError(f"{one.tried} flips were put to checker.py, {two.tried} to the page")
    accepted = [f"{len(tally.accepted)} accepted" for tally in (one, two)]
    seconds = [f"{tally.seconds:.0f}" for tally in (one, two)]
    return size, one.tried, accepted[0], seconds[0], accepted[1], seconds[1], name


def _sum(tallies: Sequence[Tally]) -> Tally:
    accepted = [bit for tally in tallies for bit in tally.accepted]
    return Tally(sum(t.tried for t in tallies), accepted, sum(t.seconds for t in tallies))


if __name__ == "__main__":
    sys.exit(main())
