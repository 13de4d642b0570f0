"""Verification pairs of raters: with consent alone, of what they agree on, and never of what was erased."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from gate_cases import KEY, TRUSTED, good_case, record, with_result
from spot_cases import claim, row, sample_folder, say

from certirag.adapters.log_sql.sql_log import SqlAuditLog
from certirag.auditing.logged_answers import open_answer
from certirag.auditing.review_queue import Terms, decide_review, escalate
from certirag.cli.main import main
from certirag.core.verdict import PlantedError, Probe
from certirag.errors import InputError
from certirag.eval import refused_answers
from certirag.eval.override_pairs import override_rows
from certirag.eval.pair_rows import read_pair_rows
from certirag.eval.refused_answers import claims_of_refused, kept_answers
from certirag.eval.spot_draw import draw_sample
from certirag.eval.spot_items import read_key
from certirag.ports import NewEntry
from certirag.proof.certificate import statement_bytes
from certirag.proof.envelope import key_id
from certirag.proof.facets import facets_of
from certirag.proof.log import parse_leaf
from training.rows import read_rows

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
TERMS = Terms("financial", (("leave.md", "0" * 64),), 10, 0.67)


def _nobody(_ids: object) -> tuple[str, ...]:
    raise AssertionError("a sample of a run asks no log")


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """Return five claims, two raters who agree and consent on some of them alone."""
    rows = tuple(
        row(n, "mill", "entailed", claim(f"Claim {n}.", evidence=(f"Sentence {n}.", "Another.")))
        for n in range(5)
    )
    folder = sample_folder(tmp_path / "s", rows)
    say(folder, "anna", {"001": "n"}, kind="contradicted", consent=True, reason="It says not.")
    say(folder, "bo", {"001": "n"}, kind="contradicted", consent=True)
    say(folder, "anna", {"002": "n"}, kind="numeric_drift", consent=True)
    say(folder, "bo", {"002": "c"}, consent=True)
    say(folder, "anna", {"003": "n"}, consent=True)
    say(folder, "bo", {"003": "s"}, consent=True)  # they differ
    say(folder, "anna", {"004": "n"}, consent=False)
    say(folder, "anna", {"005": "s"}, consent=True)  # as the gate has it
    return folder


def test_pairs_are_what_raters_agree_on_against_the_gate(sample) -> None:
    """With what they said; a contested claim and one without consent are counted and left out."""
    found = override_rows([sample], _nobody)
    assert (found.without_consent, found.contested, found.erased) == (1, 1, 0)
    first, second = found.rows
    assert {name: first[name] for name in ("item", "label", "verdict", "override")} == {
        "item": "001",
        "label": "contradicted",
        "verdict": "VERIFIED",
        "override": "not_supported",
    }
    assert first["premise"].endswith("\nAnother.")
    assert [(one["rater"], one["reason"]) for one in first["ratings"]] == [
        ("anna", "It says not."),
        ("bo", ""),
    ]
    assert (second["item"], second["label"]) == ("002", "not_entailed")


def test_consent_is_of_each_rater_and_each_rating(tmp_path) -> None:
    """Nothing of who did not consent stands in a pair that another's consent allows."""
    folder = sample_folder(tmp_path / "s")
    say(folder, "anna", {"001": "n"}, kind="contradicted", reason="private words")
    say(folder, "bo", {"001": "n"}, kind="unsupported", consent=True)
    (pair,) = override_rows([folder], _nobody).rows
    assert "private words" not in json.dumps(pair)
    assert [one["rater"] for one in pair["ratings"]] == ["bo"]
    assert pair["label"] == "not_entailed"


def test_training_and_measuring_read_them_as_they_are(sample, tmp_path, capsys) -> None:
    """`python -m training --pairs` and `certirag eval pairs --data` take the file."""
    out = tmp_path / "pairs.jsonl"
    assert main(["eval", "overrides", str(sample), "--out", str(out), "--consent"]) == 0
    error = capsys.readouterr().err
    assert "2 pairs are in" in error
    assert "left out: 1 ratings without their rater's consent" in error
    assert [(r.source, r.label) for r in read_rows(out)] == [
        ("spot_check", "contradicted"),
        ("spot_check", "not_entailed"),
    ]
    assert [r.label for r in read_pair_rows(out)] == ["contradicted", "not_entailed"]
    assert out.stat().st_mode & 0o077 == 0


def test_nothing_is_written_without_consent(sample, tmp_path, capsys) -> None:
    """Of whoever operates it, and of the raters: one line, exit 2, no file."""
    out = tmp_path / "pairs.jsonl"
    assert main(["eval", "overrides", str(sample), "--out", str(out)]) == 2
    assert "--consent is missing" in capsys.readouterr().err
    unwilling = sample_folder(tmp_path / "unwilling")
    say(unwilling, "anna", {"001": "n", "002": "s"})
    assert main(["eval", "overrides", str(unwilling), "--out", str(out), "--consent"]) == 2
    error = capsys.readouterr().err
    assert "1 without the rater's consent" in error
    assert len(error.splitlines()) == 1
    assert main(["eval", "overrides", str(tmp_path), "--out", str(out), "--consent"]) == 2
    assert not out.exists()


def test_without_its_key_a_sample_gives_none(sample) -> None:
    """Nobody could say whether its texts were erased."""
    (sample / "sealed" / "key.jsonl").unlink()
    with pytest.raises(InputError, match="its key is gone"):
        override_rows([sample], _nobody)


def _logged(log: SqlAuditLog, number: int, home: Path, decision: str) -> str:
    """Log an answer, put it before a reviewer, and let that one decide; odd ones have no badge."""
    case = good_case() if number % 2 == 0 else with_result(good_case(), score=0.3)
    at = START + timedelta(days=number)
    trace_id = f"{number:032x}"
    of = replace(record(case), trace_id=trace_id, created_at=at.isoformat(timespec="seconds"))
    payload = statement_bytes(of)
    facets = facets_of(of, request=trace_id, complete=True)
    pae = b"DSSEv1 28 application/vnd.in-toto+json %d %s" % (len(payload), payload)
    signature = (key_id(KEY.public_key()), KEY.sign(pae))
    detail = {"request": trace_id, "complete": True}
    log.append(NewEntry("received", trace_id, at, b"{}", detail={"of": "question"}))
    log.append(NewEntry("answer", trace_id, at, payload, signature, facets, detail))
    if decision:
        escalate(log, trace_id, TERMS, caller="desk", key="", now=at)
        decide_review(
            log,
            home,
            trace_id,
            decision,  # type: ignore[arg-type]
            reviewer="anna",
            reason="Read.",
            trusted=TRUSTED,
            now=at,
        )
    return trace_id


@pytest.fixture
def log(tmp_path: Path) -> SqlAuditLog:
    """Return a log: two refused answers with a badge, one refused without, one released, one not asked."""
    made = SqlAuditLog(f"sqlite:///{tmp_path}/audit.sqlite3", key=KEY)
    for number, decision in ((0, "refuse"), (1, "refuse"), (2, "release"), (4, ""), (6, "refuse")):
        _logged(made, number, tmp_path / "home", decision)
    return made


def _erase(log: SqlAuditLog, trace_id: str, at: datetime) -> None:
    index = parse_leaf(log.find(trace_id).leaf).index
    detail = {"targets": [[index, index]], "rule": "internal_faq"}
    log.erase(NewEntry("erase", "", at, detail=detail), [index])


def test_claims_of_refused_answers_go_to_raters_without_a_label(log) -> None:
    """Those with a badge, derived again; a refusal says nothing of any of them."""
    claims, gone = claims_of_refused(log, TRUSTED)
    assert [(one.trace_id, one.gold) for one in claims] == [(f"{n:032x}", "") for n in (0, 6)]
    assert {one.claim.state for one in claims} == {"VERIFIED"}
    assert claims[0].claim.evidence
    assert gone == 0


def test_a_claim_whose_planted_error_was_missed_had_no_badge(log, monkeypatch) -> None:
    """The probe of a record takes the badge here as it does on the page."""

    def probed(entry, trusted):
        leaf, of = open_answer(entry, trusted)
        text = of.claim_ir.claims[0].text
        at = text.index("27")
        missed = PlantedError("p1", of.claim_ir.claims[0].id, "number", text, at, at + 2, "28")
        return leaf, replace(of, probe=Probe((missed,), (), of.policy, "one-edit-1"))

    monkeypatch.setattr(refused_answers, "open_answer", probed)
    with pytest.raises(InputError, match="has no refused answer with a Verified claim"):
        claims_of_refused(log, TRUSTED)


def test_what_is_erased_is_neither_drawn_nor_exported(log, tmp_path) -> None:
    """Erased before the draw it is not opened, erased after it its pair is left out."""
    claims, _ = claims_of_refused(log, TRUSTED)
    folder = tmp_path / "refused"
    draw_sample(claims, folder)
    say(folder, "anna", {"001": "n", "002": "n"}, consent=True)
    pairs = override_rows([folder], lambda ids: kept_answers(log, ids))
    assert (len(pairs.rows), pairs.erased) == (2, 0)

    erased = f"{6:032x}"
    _erase(log, erased, START + timedelta(days=90))
    left, gone = claims_of_refused(log, TRUSTED)
    assert [one.trace_id for one in left] == [f"{0:032x}"]
    assert gone == 1
    pairs = override_rows([folder], lambda ids: kept_answers(log, ids))
    assert (len(pairs.rows), pairs.erased) == (1, 1)
    item = pairs.rows[0]["item"]
    assert read_key(folder)[item].trace_id != erased
    assert kept_answers(log, ["f" * 32]) == frozenset()


def test_the_commands_go_by_the_log(log, tmp_path, monkeypatch, capsys) -> None:
    """From refused answers to pairs, with the consent that each of them wants."""
    from certirag.cli import spot_commands

    monkeypatch.setattr(spot_commands, "existing_log", lambda _settings: log)
    monkeypatch.setattr(spot_commands, "trusted_keys", lambda _home: TRUSTED)
    folder, out = tmp_path / "refused", tmp_path / "pairs.jsonl"
    assert main(["eval", "sample", "--refused", "--consent", "--out", str(folder)]) == 0
    say(folder, "anna", {"001": "n", "002": "n"}, consent=True)
    _erase(log, f"{0:032x}", START + timedelta(days=90))
    assert main(["eval", "overrides", str(folder), "--out", str(out), "--consent"]) == 0
    assert "left out: 1 claims whose answer is not in the log any more" in capsys.readouterr().err
    assert len(read_rows(out)) == 1


def test_a_log_without_a_refusal_is_one_line(tmp_path) -> None:
    """There is nothing to judge."""
    empty = SqlAuditLog(f"sqlite:///{tmp_path}/empty.sqlite3", key=KEY)
    with pytest.raises(InputError, match="has no refused answer"):
        claims_of_refused(empty, TRUSTED)


def test_an_answer_that_does_not_hold_is_not_read(log, monkeypatch) -> None:
    """One whose signature no trusted key made counts as gone."""
    monkeypatch.setattr(refused_answers, "review_of", _stranger)
    with pytest.raises(InputError, match="3 are not in it any more"):
        claims_of_refused(log, TRUSTED)


def _stranger(*_: object) -> None:
    from certirag.errors import CertificateError

    raise CertificateError("signed by a stranger")
