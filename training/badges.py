"""Measures how often badges are wrong: labelled pairs through the whole gate, counted.

    python -m training.badges --pairs held.jsonl --name "held-out pairs" \
        --description "Pairs that people labelled, none of them trained on." --out measured.json

What is measured once is decided under each policy that is asked for, and under each again with
other thresholds of entailment in its place.

Each pair's premise is one document, its hypothesis a draft about it. A badge counts as wrong
where the pair is not entailed; a row may name in ``false`` the words that make it untrue, and
then a badge on another part of it counts as right. Where an untrue hypothesis makes several
claims and nobody says which is wrong, one badge is wrong if all have one, and none counts else.
A premise that begins with ``# `` is read as Markdown. ``--each-check`` leaves out each check of the
word aligner in turn, and says which untrue rows it alone stops and which true ones it alone costs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from certirag.adapters.verifiers.embedded_verifier import forget_wording
from certirag.bootstrap import load_policy, make_splitter, make_verifier
from certirag.claims.compile import claims_from_draft
from certirag.core.claim import Claim
from certirag.core.policy import Policy
from certirag.core.selector import with_selectors
from certirag.core.text import Block, Document, EvidenceChunk, sha256_hex
from certirag.errors import CertiRAGError, InputError
from certirag.ingest.chunk import chunk_document
from certirag.ingest.extract import Limits
from certirag.ingest.load import load_document
from certirag.ports import SentenceSplitter, Verifier
from certirag.render import certify
from certirag.settings import Settings, read_settings
from certirag.verification.candidates import Candidates, choose_candidates
from certirag.verification.lexical import scoring
from certirag.verification.measured import (
    AtThreshold,
    Measurement,
    measurements_bytes,
    read_measurements,
)
from certirag.verification.opinion import verify_claims

_AT_ONCE: Final = 200  # rows whose pairs the verifier batches by length
# Thresholds of entailment at which each policy is counted beside its own.
_THRESHOLDS: Final = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99)


_States = list[tuple[str, str]]  # the texts of a row's claims with their render states


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A document, a statement about it, and whether the one bears out the other.

    *false* is what makes the statement untrue, or "" where that is its whole.
    """

    title: str
    premise: str
    hypothesis: str
    entailed: bool
    false: str = ""


@dataclass(frozen=True, slots=True)
class BadgeCount:
    """*badges* granted, *wrong* of them; *asked* entailed rows, *whole* of them all Verified."""

    badges: int
    wrong: int
    asked: int
    whole: int


def read_labelled(path: Path, limit: int | None) -> list[LabelledRow]:
    """Return the rows of a JSON Lines file, about *limit* evenly spread; InputError naming a line."""
    try:
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    rows = [_row(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]
    if not rows:
        raise InputError(f"{path} holds no rows")
    return rows[:: max(1, len(rows) // limit)] if limit else rows


def _row(line: str, place: str) -> LabelledRow:
    try:
        found: dict[str, Any] = json.loads(line)
        texts = [found.get("title", ""), found["premise"], found["hypothesis"]]
        label, false = found["label"], found.get("false", "")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{place} is not an object with premise, hypothesis and label: {error!r}"
        raise InputError(message) from error
    if not all(isinstance(text, str) for text in (*texts, label, false)):
        raise InputError(f"{place}: title, premise, hypothesis, label and false are texts")
    return LabelledRow(texts[0], texts[1], texts[2], label == "entailed", false)


def count_badges(
    rows: Sequence[LabelledRow],
    verifier: Verifier,
    policies: Sequence[Policy],
    split: SentenceSplitter,
    settings: Settings,
    progress: Callable[[int], None] = lambda _: None,
) -> list[BadgeCount]:
    """Verify every row on its own document, once, and count badges under each of *policies*."""
    asked = sum(row.entailed for row in rows)
    counts = [BadgeCount(0, 0, asked, 0)] * len(policies)
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        decided = _decided(part, verifier, policies, split, settings)
        for row, each in zip(part, decided, strict=True):
            counts = [
                _with_row(count, row, states) for count, states in zip(counts, each, strict=True)
            ]
        progress(start + len(part))
    return counts


def measure_set(
    named: tuple[str, str],
    rows: Sequence[LabelledRow],
    verifier: Verifier,
    policies: Sequence[Policy],
    split: SentenceSplitter,
    settings: Settings,
    progress: Callable[[int], None] = lambda _: None,
) -> list[Measurement]:
    """Return a measurement of *rows*, *named* and described so, for each of *policies*.

    Raises ModelError where a policy grants no badge at all.
    """
    grids = [sorted({*_THRESHOLDS, policy.tau_entail}) for policy in policies]
    trials = [
        replace(policy, tau_entail=tau)
        for policy, grid in zip(policies, grids, strict=True)
        for tau in grid
    ]
    counts = iter(count_badges(rows, verifier, trials, split, settings, progress))
    found = []
    for policy, grid in zip(policies, grids, strict=True):
        each = {tau: next(counts) for tau in grid}
        own = each[policy.tau_entail]
        at = tuple(AtThreshold(tau, n.badges, n.wrong, n.whole) for tau, n in each.items())
        sha256 = verifier.identity.sha256
        found.append(Measurement(*named, sha256, policy, own.badges, own.wrong, own.asked, at))
    return found


def _with_row(count: BadgeCount, row: LabelledRow, states: _States) -> BadgeCount:
    """Return *count* with the badges of *row*, whose claims have *states*."""
    verified = [text for text, state in states if state == "VERIFIED"]
    every = bool(states) and len(verified) == len(states)
    if not row.entailed and not row.false and len(states) > 1:
        verified = verified[:1] if every else []
    wrong = sum(not row.entailed and row.false.casefold() in text.casefold() for text in verified)
    return BadgeCount(
        count.badges + len(verified),
        count.wrong + wrong,
        count.asked,
        count.whole + (row.entailed and every),
    )


def each_check(
    rows: Sequence[LabelledRow],
    verifier: Verifier,
    policy: Policy,
    split: SentenceSplitter,
    settings: Settings,
) -> Iterator[tuple[str, int, int]]:
    """Yield each check with the untrue rows that it alone stops and the true ones it alone costs.

    A row counts where all of its claims are Verified without the check and not with it. The head
    that weighs the findings is not fitted anew. The last line is that of all checks together.
    """
    with_all = _whole(rows, verifier, policy, split, settings)
    checks = scoring.CHECKS
    try:
        for out in [*((check,) for check in checks), checks]:
            scoring.CHECKS = tuple(check for check in checks if check not in out)  # type: ignore[misc]
            forget_wording()
            without = _whole(rows, verifier, policy, split, settings)
            new = [r for r, a, b in zip(rows, with_all, without, strict=True) if b and not a]
            true = sum(row.entailed for row in new)
            name = "all of them" if out is checks else out[0].__name__
            yield name, len(new) - true, true
    finally:
        scoring.CHECKS = checks  # type: ignore[misc]
        forget_wording()


def _whole(
    rows: Sequence[LabelledRow],
    verifier: Verifier,
    policy: Policy,
    split: SentenceSplitter,
    settings: Settings,
) -> list[bool]:
    """Return for each row whether it makes claims and all of them are Verified."""
    found = []
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        for (states,) in _decided(part, verifier, (policy,), split, settings):
            found.append(bool(states) and all(state == "VERIFIED" for _, state in states))
    return found


def _decided(
    rows: Sequence[LabelledRow],
    verifier: Verifier,
    policies: Sequence[Policy],
    split: SentenceSplitter,
    settings: Settings,
) -> Iterator[list[_States]]:
    """Yield for each row, under each of *policies*, the texts of its claims with their states."""
    claims: list[list[Claim]] = []
    chunks: list[EvidenceChunk] = []
    candidates: list[Candidates] = []
    for number, row in enumerate(rows):
        own = _chunks(f"row-{number}", row, split)
        draft = claims_from_draft(
            "",
            row.hypothesis,
            split,
            max_claims=settings.max_claims,
            sentences={span.sentence for chunk in own for span in chunk.spans},
        )
        named = [replace(claim, id=f"{number}/{claim.id}") for claim in draft.claims]
        candidates += choose_candidates(
            named, own, max_spans=settings.max_spans_per_claim, max_pairs=settings.max_pairs
        )
        claims.append(named)
        chunks += own
    flat = [claim for own in claims for claim in own]
    results = verify_claims(candidates, verifier)
    measured = (flat, results, with_selectors(chunks, results))
    each = [
        {one.claim_id: one.render_state for one in certify(*measured, policy)[0]}
        for policy in policies
    ]
    for named in claims:
        yield [[(claim.text, state[claim.id]) for claim in named] for state in each]


def _chunks(name: str, row: LabelledRow, split: SentenceSplitter) -> tuple[EvidenceChunk, ...]:
    text = row.premise
    if text.startswith("# "):
        return chunk_document(
            load_document(text.encode(), path=f"{name}.md", limits=Limits()), split
        )
    whole = (Block("paragraph", 0, len(text)),)
    document = Document(name, row.title, name, "text/plain", sha256_hex(text), text, whole)
    return chunk_document(document, split)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m training.badges", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--pairs", type=Path, required=True, help="JSON lines")
    parser.add_argument("--name", required=True, help="what the set is called in a sentence")
    parser.add_argument("--description", required=True, help="what it is, and who labelled it")
    parser.add_argument("--verifier", default="", help="as in CERTIRAG_VERIFIER")
    parser.add_argument("--policy", nargs="+", default=[], help="one or more, as CERTIRAG_POLICY")
    parser.add_argument("--limit", type=int, help="about so many rows, evenly spread")
    parser.add_argument("--each-check", action="store_true", help="what each word check is worth")
    parser.add_argument("--out", type=Path, help="file of measurements to add this one to")
    options = parser.parse_args(arguments)
    try:
        _measure(options)
    except (CertiRAGError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _measure(options: argparse.Namespace) -> None:
    settings = read_settings()
    policies = [load_policy(name) for name in options.policy or [settings.policy]]
    verifier = make_verifier(options.verifier or settings.verifier)
    rows = read_labelled(options.pairs, options.limit)

    def say(done: int) -> None:
        print(f"{done} of {len(rows)} rows decided", file=sys.stderr)

    split = make_splitter(settings.sentences)
    if options.each_check:
        print("check | untrue rows that it alone stops | true rows that it alone costs")
        for name, stopped, costs in each_check(rows, verifier, policies[0], split, settings):
            print(f"{name} | {stopped} | {costs}", flush=True)
        return
    measured = measure_set(
        (options.name, options.description), rows, verifier, policies, split, settings, say
    )
    for one in measured:
        own = one.at(one.policy.tau_entail)
        print(
            f"{one.wrong} of {one.badges} badges wrong; of {one.true_rows} entailed rows "
            f"{own and own.covered} are Verified whole; {len(rows)} rows, policy {one.policy.name}"
        )
    if options.out is None:
        return
    renewed = {(options.name, policy.name) for policy in policies}
    kept = [
        one
        for one in read_measurements(options.out)
        if one.verifier == verifier.identity.sha256
        and (one.set_name, one.policy.name) not in renewed
    ]
    beside = options.out.with_suffix(".new")
    beside.write_bytes(measurements_bytes([*kept, *measured]))
    beside.replace(options.out)


if __name__ == "__main__":
    sys.exit(main())
