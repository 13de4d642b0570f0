"""`certirag eval agreement`: what the raters of a spot check say together, and how far they agree.

Verified-Claim Precision (CertiRAG seed §12.1) from each rater and from their majority, with its exact
interval (Clopper and Pearson 1934). A claim of which a rater cannot tell, or that has no majority, is in
no precision, so that of the majority leaves the hard ones out; ``at_least`` counts them as not supported.
The sample is proportional to its strata but for the one that each gives at least, so its share stands
for the run's; the interval treats it as drawn at random.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from certirag.auditing.logged_answers import csv_record
from certirag.errors import InputError
from certirag.eval.measures import cohen_kappa, fleiss_kappa
from certirag.eval.spot_items import KeyItem, SpotItem, read_items, read_key
from certirag.eval.spot_ratings import RATER_VERDICTS, Rating, all_ratings
from certirag.eval.systems import Share
from certirag.render import visible

FORMAT: Final = 1  # of the figures
MAJORITY: Final = "majority"
_SUBSTANTIAL: Final = 0.7  # what the fifth seed (§7.5) asks of two raters
_ByItem = Mapping[str, Rating]


@dataclass(frozen=True, slots=True)
class RatedSample:
    """A sample with what its raters said: *ratings* by rater and item, *key* {} where it was taken away."""

    folder: Path
    items: tuple[SpotItem, ...]
    key: Mapping[str, KeyItem]
    ratings: Mapping[str, _ByItem]


def read_rated(folder: Path) -> RatedSample:
    """Return the sample in *folder* and its ratings; InputError for another folder, and for no rating."""
    items = read_items(folder)
    ratings = all_ratings(folder, {item.id for item in items})
    ratings = {rater: said for rater, said in ratings.items() if said}
    if not ratings:
        raise InputError(f"{folder}: nobody has rated anything yet: rate it on the page")
    return RatedSample(folder, items, read_key(folder), ratings)


def agreement(sample: RatedSample) -> dict[str, Any]:
    """Return the figures of *sample* as JSON values; a kappa that is not defined is None.

    ``cohen`` has each pair of raters over the items that both rated, with their confusion; ``fleiss``
    the items that all of them rated. ``gold`` compares each rater who can tell with what people
    said of the claim before: where nearly all of it is entailed, kappa says little and the share of
    agreement more (Feinstein and Cicchetti 1990, "High agreement but low kappa").
    """
    verdicts = _verdicts(sample)
    everyone = dict(verdicts)
    if len(verdicts) > 1:
        everyone[MAJORITY] = majority_of(verdicts)
    gold = {
        item: "supported" if key.gold == "entailed" else "not_supported"
        for item, key in sample.key.items()
        if key.gold
    }
    kinds = Counter(one.kind for said in sample.ratings.values() for one in said.values())
    kept = [
        one.kind == one.suggested
        for said in sample.ratings.values()
        for one in said.values()
        if one.kind and one.suggested
    ]
    return {
        "format": FORMAT,
        "items": len(sample.items),
        "raters": [_precision(rater, said, verdicts) for rater, said in everyone.items()],
        "cohen": [_pair(verdicts, one, other) for one, other in combinations(verdicts, 2)],
        "fleiss": _all(verdicts),
        "gold": [_against_gold(rater, said, gold) for rater, said in everyone.items() if gold],
        "kinds": {kind: n for kind, n in sorted(kinds.items()) if kind},
        "suggestions": {"made": len(kept), "kept": sum(kept)},
        "disagreements": [
            {"item": item.id, "claim": item.claim, "verdicts": said}
            for item in sample.items
            if len(set((said := _said(verdicts, item.id)).values())) > 1
        ],
    }


def _verdicts(sample: RatedSample) -> dict[str, dict[str, str]]:
    """Return the verdicts by rater and item."""
    return {
        rater: {item: str(one.verdict) for item, one in said.items()}
        for rater, said in sample.ratings.items()
    }


def majority_of(verdicts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return by item the verdict of more than half of those who rated it, two at least."""
    found = {}
    for item in sorted({item for said in verdicts.values() for item in said}):
        said = list(_said(verdicts, item).values())
        verdict, votes = Counter(said).most_common(1)[0]
        if len(said) > 1 and 2 * votes > len(said):
            found[item] = verdict
    return found


def _said(verdicts: Mapping[str, Mapping[str, str]], item: str) -> dict[str, str]:
    return {rater: said[item] for rater, said in verdicts.items() if item in said}


def _precision(
    rater: str, said: Mapping[str, str], verdicts: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Return what *rater*, or the majority, *said*; ``differed`` are claims that have no majority."""
    counts: dict[str, Any] = {v: list(said.values()).count(v) for v in RATER_VERDICTS}
    supported, told = counts["supported"], counts["supported"] + counts["not_supported"]
    votes = Counter(item for own in verdicts.values() for item in own)
    rated = sum(n > 1 for n in votes.values()) if rater == MAJORITY else len(said)
    return {
        "rater": rater,
        "rated": rated,
        **counts,
        "differed": rated - len(said),
        "precision": _share(supported, told),
        "at_least": _share(supported, rated),
    }


def _share(part: int, whole: int) -> dict[str, Any]:
    low, high = Share(part, whole).interval
    value = part / whole if whole else None
    return {"part": part, "whole": whole, "value": value, "low": low, "high": high}


def _pair(verdicts: Mapping[str, Mapping[str, str]], one: str, other: str) -> dict[str, Any]:
    both = sorted(verdicts[one].keys() & verdicts[other].keys())
    mine, theirs = [verdicts[one][i] for i in both], [verdicts[other][i] for i in both]
    table = Counter(zip(mine, theirs, strict=True))
    return {
        "raters": [one, other],
        "items": len(both),
        "agreed": sum(table[verdict, verdict] for verdict in RATER_VERDICTS),
        "kappa": _number(cohen_kappa(mine, theirs)),
        # Rows are the first rater's verdicts, columns the second's.
        "labels": list(RATER_VERDICTS),
        "confusion": [[table[row, column] for column in RATER_VERDICTS] for row in RATER_VERDICTS],
    }


def _all(verdicts: Mapping[str, Mapping[str, str]]) -> dict[str, Any] | None:
    if len(verdicts) < 2:
        return None
    common = sorted(set.intersection(*(set(said) for said in verdicts.values())))
    counts = [
        [list(_said(verdicts, item).values()).count(verdict) for verdict in RATER_VERDICTS]
        for item in common
    ]
    return {
        "raters": len(verdicts),
        "items": len(common),
        "kappa": _number(fleiss_kappa(counts)),
    }


def _against_gold(rater: str, said: Mapping[str, str], gold: Mapping[str, str]) -> dict[str, Any]:
    both = sorted(i for i, verdict in said.items() if i in gold and verdict != "cannot_tell")
    mine, true = [said[item] for item in both], [gold[item] for item in both]
    table = Counter(zip(mine, true, strict=True))
    return {
        "rater": rater,
        "items": len(both),
        "agreed": table["supported", "supported"] + table["not_supported", "not_supported"],
        "only_rater_objects": table["not_supported", "supported"],
        "only_gold_objects": table["supported", "not_supported"],
        "kappa": _number(cohen_kappa(mine, true)),
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 6)


def agreement_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield *report* as lines for a reader; what is not ours in them is inert."""
    yield f"{report['items']} Verified claims drawn"
    for one in report["raters"]:
        names = [*RATER_VERDICTS, *(["differed"] if one["differed"] else [])]
        counts = ", ".join(f"{one[name]} {_words(name)}" for name in names)
        yield f"{one['rater']}: {one['rated']} rated: {counts}"
        yield f"  Verified-Claim Precision {_told(one['precision'])}"
        if one["at_least"]["whole"] != one["precision"]["whole"]:
            yield f"  at least, all that is open counted against it: {_told(one['at_least'])}"
    for pair in report["cohen"]:
        agreed = f"agree on {pair['agreed']} of {pair['items']}"
        yield f"{' and '.join(pair['raters'])} {agreed}; Cohen's kappa {_kappa(pair['kappa'])}"
        yield from _confusion(pair)
    if report["fleiss"]:
        of = report["fleiss"]
        how = f"{of['raters']} raters, {of['items']} claims rated by all"
        yield f"Fleiss' kappa {_kappa(of['kappa'])} ({how})"
    for one in report["gold"]:
        yield (
            f"{one['rater']} and the gold agree on {one['agreed']} of {one['items']}; kappa "
            f"{_kappa(one['kappa'])}; {one['only_rater_objects']} that only the rater objects to, "
            f"{one['only_gold_objects']} only the gold"
        )
    if report["kinds"]:
        counted = ", ".join(f"{n} {_words(kind)}" for kind, n in report["kinds"].items())
        made = report["suggestions"]
        yield f"why not supported: {counted}; {made['kept']} of {made['made']} proposals kept"
    if report["disagreements"]:
        yield f"{len(report['disagreements'])} claims on which raters differ:"
    for row in report["disagreements"]:
        said = ", ".join(f"{rater}: {_words(v)}" for rater, v in row["verdicts"].items())
        yield f"  {row['item']}  {visible(' '.join(row['claim'].split())[:100])}  ({said})"


def _confusion(pair: Mapping[str, Any]) -> Iterator[str]:
    labels = [_words(label) for label in pair["labels"]]
    yield f"  {pair['raters'][0] + ' ↓  ' + pair['raters'][1] + ' →':30}" + "".join(
        f"{label:>15}" for label in labels
    )
    for label, row in zip(labels, pair["confusion"], strict=True):
        yield f"  {label:30}" + "".join(f"{n:>15}" for n in row)


def _told(share: Mapping[str, Any]) -> str:
    return str(Share(share["part"], share["whole"]))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _kappa(value: float | None) -> str:
    if value is None:
        return "not defined: one verdict alone, or none"
    return f"{value:.3f}" + ("" if value > _SUBSTANTIAL else f" (below {_SUBSTANTIAL})")


def agreement_csv(sample: RatedSample) -> Iterator[bytes]:
    """Yield *sample* as CSV (RFC 4180), a record a claim, no cell of which a spreadsheet computes."""
    raters = list(sample.ratings)
    majority = majority_of(_verdicts(sample))
    named = [f"{rater} {part}" for rater in raters for part in ("verdict", "kind", "reason")]
    head: list[object] = ["item", "claim", "evidence", *named, MAJORITY, "gold", "source"]
    yield _utf8(head)
    for item in sample.items:
        key = sample.key.get(item.id)
        row: list[object] = [item.id, item.claim, "\n".join(item.evidence)]
        for rater in raters:
            one = sample.ratings[rater].get(item.id)
            row += [one.verdict, one.kind, one.reason] if one else ["", "", ""]
        row += [majority.get(item.id, ""), key.gold if key else "", key.source if key else ""]
        yield _utf8(row)


def _utf8(row: Sequence[object]) -> bytes:
    return csv_record(list(row)).encode("utf-8", "replace")
