"""The commands of the human spot check: eval sample, eval agreement and eval overrides."""

from __future__ import annotations

import argparse

from certirag.bootstrap import existing_log
from certirag.cli.files import json_line, write_beside
from certirag.cli.output import note, print_json
from certirag.errors import InputError
from certirag.eval.override_pairs import override_rows
from certirag.eval.refused_answers import claims_of_refused, kept_answers
from certirag.eval.spot_agreement import agreement, agreement_csv, agreement_lines, read_rated
from certirag.eval.spot_draw import claims_of_run, draw_sample
from certirag.eval.spot_items import FOLDER
from certirag.proof.keys import trusted_keys
from certirag.settings import Settings


def eval_sample(options: argparse.Namespace, settings: Settings) -> int:
    """Draw a blind sample of Verified claims, of a run or of answers that a reviewer refused."""
    if options.refused == bool(options.run_folder):
        raise InputError("give a run's folder, or --refused: one of them")
    if options.refused != options.consent:
        raise InputError(
            "--refused and --consent go together: raters will read what people asked, so say that "
            "you may show it"
        )
    if options.refused:
        claims, gone = claims_of_refused(existing_log(settings), trusted_keys(settings.home))
        if gone:
            note(f"{gone} refused answers are not in the log any more, or do not hold: left out")
    else:
        claims = claims_of_run(options.run_folder)
    counts = draw_sample(claims, options.out, size=options.size, seed=options.seed)
    total, sources = sum(counts.values()), len(counts)
    note(
        f"{total} of {len(claims)} claims with the badge, from {sources} sources, are in {options.out}"
    )
    if options.out.absolute().parent != (settings.home / FOLDER).absolute():
        note(f"the page offers what lies in {settings.home / FOLDER}: put the folder there")
    return 0


def eval_agreement(options: argparse.Namespace, _settings: Settings) -> int:
    """Say what the raters of a sample say together, and how far they agree."""
    sample = read_rated(options.sample)
    report = agreement(sample)
    if options.csv:
        write_beside(options.csv, agreement_csv(sample))
        note(f"a line for each claim is in {options.csv}")
    if options.json:
        print_json(report)
    else:
        print("\n".join(agreement_lines(report)))
    return 0


def eval_overrides(options: argparse.Namespace, settings: Settings) -> int:
    """Write what raters hold against the gate as rows to train and to measure verifiers on."""
    if not options.consent:
        raise InputError(
            "--consent is missing: these rows hold texts of documents and words of raters; give it "
            "where you may have them trained on"
        )
    found = override_rows(options.samples, lambda ids: kept_answers(existing_log(settings), ids))
    write_beside(options.out, map(json_line, found.rows))
    note(f"{len(found.rows)} pairs are in {options.out}")
    left_out = (
        (found.without_consent, "ratings without their rater's consent"),
        (found.contested, "claims on which raters differ"),
        (found.erased, "claims whose answer is not in the log any more"),
    )
    for number, what in left_out:
        if number:
            note(f"left out: {number} {what}")
    return 0
