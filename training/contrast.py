"""Makes contrast pairs from training pairs: one small edit flips the label, and others keep it.

    python -m training.contrast --pairs train.jsonl.gz --out made.jsonl.gz --seed 1

Every made hypothesis comes with at least two premises, one that entails it and one that does not
(Kaushik et al. 2020, Gardner et al. 2020): a model that reads the hypothesis alone stays at chance.
``made_sentence`` alone turns it round: one premise, a hypothesis that follows and its wrong twin.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from certirag.errors import CertiRAGError
from training.contrast_cases import (
    Case,
    Group,
    case_of_names,
    cases_of_row,
    cases_of_sentence,
    headed,
    pairs_of,
    sentences_of,
    specific,
    states,
    tidy,
    wrapped,
)
from training.contrast_evidence import removed, wrong_chunks
from training.contrast_hops import hop_groups
from training.contrast_omit import grafted, omitted, sentences_apart
from training.contrast_swap import drawing
from training.contrast_templates import template_cases
from training.rows import Row, held_out, limited, read_rows

# The most pairs of a kind; a kind of which the data offers fewer gives what it has.
_MOST: Final[dict[str, int]] = {
    "number": 2000, "date": 1400, "unit": 800, "currency": 500, "percent": 400, "entity": 1900,
    "other_name": 1400, "antonym": 2000, "negation": 1900, "quantifier": 1500, "comparison": 1200,
    "modality": 1200, "qualifier": 1200, "roles": 1200, "passive": 500, "exchange": 800,
    "conjunct": 1200, "removed": 900, "wrong_chunk": 1800, "distractors": 1300, "heading": 1200,
    "hops": 800, "omitted": 4500, "omitted_part": 3500, "grafted": 2600, "sentence": 800,
}  # fmt: skip
_KEEP: Final = 700  # of each way of saying a claim otherwise
_TEMPLATES: Final = 4200
_DISTANT: Final = (
    "lingnli",
    "conjnli",
    "begin",
    "fever_symmetric",
    "fool_me_twice",
    "wice",
    "factcg",
)


def contrast_rows(rows: Sequence[Row], *, seed: int, limit: int | None) -> list[Row]:
    """Return made rows: groups that share a hypothesis, about half of each entailed.

    Sources are named ``made_<kind>``. About *limit* rows at most, spread over all kinds; the same
    for the same *rows* and *seed*.
    """
    rows = list(limited(rows, None if limit is None else 4 * limit))
    by_kind: dict[str, list[Group]] = defaultdict(list)
    for group in _groups(rows, seed):
        by_kind[group[0].source.removeprefix("made_")].append(group)
    taken: list[Group] = []
    for kind, groups in sorted(by_kind.items()):
        chance = drawing(f"{seed}/{kind}")
        chance.shuffle(groups)
        most = _KEEP if kind.startswith("keep_") else _MOST.get(kind, _TEMPLATES)
        taken += list({group[0].hypothesis: group for group in groups}.values())[:most]
    taken = _without_clashes(taken)
    if limit is not None:
        size = sum(map(len, taken))
        taken = taken[:: max(1, -(-size // max(1, limit)))]
    return [row for group in taken for row in group]


def _without_clashes(groups: Sequence[Group]) -> list[Group]:
    """Drop each group that calls a pair entailed of which an earlier one says otherwise, or back."""
    said: dict[tuple[str, str], bool] = {}
    kept = []
    for group in groups:
        own = {(row.premise, row.hypothesis): row.label == "entailed" for row in group}
        if all(said.get(pair, label) == label for pair, label in own.items()):
            said.update(own)
            kept.append(group)
    return kept


def _groups(rows: Sequence[Row], seed: int) -> Iterator[Group]:
    chance = drawing(f"{seed}/pairs")
    others = [
        tidy(row.premise)
        for row in rows
        if row.source in _DISTANT and len(row.premise) < 260 and states(tidy(row.premise))
    ]
    headings = drawing(f"{seed}/headings")
    for case in _cases(rows, seed):
        for group in pairs_of(case, chance, 0.25):
            yield from _dressed(group, others, headings)
    yield from removed(rows, drawing(f"{seed}/removed"))
    yield from wrong_chunks(rows)
    yield from omitted(rows, drawing(f"{seed}/omitted"))
    yield from grafted(rows, drawing(f"{seed}/grafted"))
    yield from sentences_apart(rows)
    yield from hop_groups(drawing(f"{seed}/hops"), 1200)
    fresh = drawing(f"{seed}/templates")
    for case in template_cases(fresh, 6000):
        yield from pairs_of(case, fresh, 0.2)


def _cases(rows: Sequence[Row], seed: int) -> Iterator[Case]:
    chance = drawing(f"{seed}/cases")
    seen: set[str] = set()
    for row in rows:
        found: list[Case] = []
        if row.label == "entailed" and len(row.premise) < 900:
            found += cases_of_row(row, chance)
            named = case_of_names(tidy(row.premise), tidy(row.hypothesis), chance)
            found += [named] if named else []
        if row.premise not in seen and "samsum" not in row.source and "call" not in row.source:
            seen.add(row.premise)
            found += _cases_of_premise(tidy(row.premise), chance)
        yield from chance.sample(found, min(4, len(found)))


def _cases_of_premise(premise: str, chance: random.Random) -> Iterator[Case]:
    sentences = sentences_of(premise)
    places = [at for at, sentence in enumerate(sentences) if states(sentence)]
    for at in chance.sample(places, min(3, len(places))):
        before = " ".join(sentences[max(0, at - chance.randint(0, 2)) : at])
        after = " ".join(sentences[at + 1 : at + 1 + chance.randint(0, 2)])
        if len((before + after).split()) < 90:
            yield from cases_of_sentence(before, sentences[at], after, chance)


def _dressed(group: Group, others: Sequence[str], chance: random.Random) -> Iterator[Group]:
    pinned = bool(specific(group[0].hypothesis))
    draw = chance.random()
    if pinned and others and draw < 0.12 and len(group[0].premise) < 300:
        count = chance.choice((2, 2, 3, 3, 4, 5, 8))
        drawn = [chance.choice(others) for _ in range(count)]
        at = chance.randint(0, count)
        if not any(specific(group[0].hypothesis) <= specific(text) for text in drawn):
            yield wrapped(group, drawn[:at], drawn[at:])
            return
    if draw > 0.9:
        yield headed(group, heading(chance))
        return
    yield group


_TITLES: Final = (
    "Annual review", "Staff handbook", "Field notes", "Overview", "Reader's guide", "Records",
    "Background paper", "Bulletin", "History", "Reference book", "Briefing", "Collected articles",
)  # fmt: skip
_SECTIONS: Final = (
    "Summary", "Details", "Introduction", "Scope", "Findings", "General", "Main points", "Part 2",
    "Chronology", "People", "Notes", "Results",
)  # fmt: skip


def heading(chance: random.Random) -> str:
    """Return a made title with a section, as the evidence of a document carries it."""
    return f"{chance.choice(_TITLES)} › {chance.choice(_SECTIONS)}"


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write *rows* as JSON lines, gzipped where the name ends in .gz, the same bytes each time."""
    text = "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)
    content = text.encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m training.contrast", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--pairs", type=Path, required=True, help="JSON lines, may be gzipped")
    parser.add_argument("--out", type=Path, required=True, help="file of the made pairs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, help="make about so many pairs only")
    parser.add_argument("--held-out", type=float, default=0.04, help="share kept for measuring")
    parser.add_argument("--from-held-out", action="store_true", help="make them from that share")
    options = parser.parse_args(arguments)
    try:
        sides = held_out(read_rows(options.pairs), options.held_out)
        made = contrast_rows(sides[options.from_held_out], seed=options.seed, limit=options.limit)
        write_rows(made, options.out)
    except (CertiRAGError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(table(made))
    return 0


def table(rows: Sequence[Row]) -> str:
    """Return the counts of *rows* by kind, with the share that is entailed."""
    count: Counter[str] = Counter(row.source for row in rows)
    good = Counter(row.source for row in rows if row.label == "entailed")
    lines = [f"{kind:24} {n:6} {good[kind] / n:6.1%} entailed" for kind, n in sorted(count.items())]
    long = sum(len(row.premise.split()) > 120 for row in rows) / max(1, len(rows))
    lines.append(f"{'all':24} {len(rows):6} {sum(good.values()) / max(1, len(rows)):6.1%} entailed")
    return "\n".join((*lines, f"{long:.1%} have a premise of more than 120 words"))


if __name__ == "__main__":
    sys.exit(main())
