"""The commands of the review queue: what waits for a person, and a decision on one."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from certirag.auditing.logged_answers import open_answer
from certirag.auditing.review_queue import decide_review, escalated, waiting
from certirag.bootstrap import existing_log
from certirag.cli.output import note, print_json
from certirag.proof.keys import trusted_keys
from certirag.render import visible
from certirag.settings import Settings


def list_reviews(options: argparse.Namespace, settings: Settings) -> int:
    """Print the answers that wait, those that wait longest first."""
    log, trusted = existing_log(settings), trusted_keys(settings.home)
    rows = []
    for trace_id in waiting(log):
        one = escalated(log, trace_id, trusted)
        if one is None:
            continue
        _, record = open_answer(log.find(trace_id), trusted)
        terms = {"profile": one.terms.profile, "grounding_score": one.terms.score}
        named = {"trace_id": trace_id, "at": one.at, "caller": one.caller}
        rows.append({**named, **terms, "question": record.question})
    if options.json:
        print_json(rows)
        return 0
    for row in rows:
        question = " ".join(str(row["question"]).split())
        since, by = str(row["at"])[:16], row["caller"]
        said = f"{row['trace_id']}  since {since}, {by}, {row['profile']}"
        print(visible(f"{said}, {row['grounding_score']:.2f}  {question[:80]}"))
    if not rows:
        note("no answer waits for a decision")
    return 0


def decide(options: argparse.Namespace, settings: Settings) -> int:
    """Log a decision on one answer that waits, countersigned with the reviewer's key."""
    made = decide_review(
        existing_log(settings),
        settings.home,
        options.trace_id,
        options.decision,
        reviewer=options.reviewer,
        reason=options.reason,
        trusted=trusted_keys(settings.home),
        now=datetime.now(UTC),
    )
    what = "the supported statements may leave" if made.decision == "release" else "nothing leaves"
    print(visible(f"{made.trace_id}: {what}, signed as {made.reviewer}"))
    return 0
