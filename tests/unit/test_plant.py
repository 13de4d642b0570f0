"""What is planted in a claim: one small edit of each kind that the evidence cannot bear out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fakes import chunk_of
from gate_cases import CLAIM, TRUSTED, result
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

import certirag
from certirag.answers.follow_ups import probe_answer
from certirag.auditing.logged_answers import export_again
from certirag.auditing.recheck import check_file
from certirag.checker import check
from certirag.claims.well_formed import problems
from certirag.core.claim import Claim
from certirag.core.text import SpanRef
from certirag.errors import CertificateError, InputError
from certirag.proof.certificate import open_export
from certirag.verification.mutated_words import Surroundings, plain, says
from certirag.verification.mutation_probe import MAX_PLANTED, Planted, edits_of, plant_errors


def _around(*sentences: str, also: tuple[str, ...] = ()) -> Surroundings:
    return Surroundings(sentences, (*sentences, *also), (*sentences, *also))


def _planted(claim: str, *evidence: str, also: tuple[str, ...] = ()) -> dict[str, str]:
    edits = edits_of(claim, _around(*(evidence or (claim,)), also=also), max_tokens=60)
    return {edit.kind: edit.applied(claim) for edit in edits}


@pytest.mark.parametrize(
    ("claim", "kind", "error"),
    [
        ("Employees receive 27 days of leave per year.", "number", "receive 37 days"),
        ("Employees receive 27 days of leave per year.", "unit", "receive 27 weeks"),
        ("Employees receive 27 days of leave per year.", "negation", "do not receive"),
        ("Revenue was $288.7 million in the third quarter.", "number", "$388.7 million"),
        ("Revenue was $288.7 million in the third quarter.", "unit", "$288.7 billion"),
        ("The desk answers requests within four days.", "number", "within three days"),
        ("Adults must not take more than 120 mg a day.", "unit", "more than 120 mcg a day"),
        ("Revenue rose by 14.3% in the third quarter.", "unit", "14.3 percentage points"),
        ("The margin rose by 1.6 percentage points.", "unit", "rose by 1.6%."),
        ("Unused days expire on 31 March.", "date", "on 31 May"),
        ("Revenue grew in the third quarter of 2024.", "date", "fourth quarter of 2024"),
        ("The plant opened in 2019.", "date", "in 2020"),
        ("Unused leave is not paid out.", "negation", "leave is paid out"),
        ("The fund cannot be closed.", "negation", "can be closed"),
        ("Revenue rose by 14.3% in 2024.", "negation", "did not rise by"),
        ("The report has been published.", "negation", "has not been published"),
        ("The lab of Hallowmere tests each lot.", "entity", "lab of Brenholt"),
    ],
)
def test_each_kind_is_one_small_edit(claim: str, kind: str, error: str) -> None:
    """The edit is made where it stands, and nothing else of the claim changes."""
    assert error in _planted(claim)[kind]


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("Employees may carry over up to 5 days.", "number"),  # up to 4 days holds too
        ("People aged 75 years and older start early.", "number"),  # and so do those aged 85
        ("Bonuses go to employees with at least 5 years of service.", "number"),  # so 6 do
        ("Employees get a bonus after 3 months.", "number"),  # and after 4
        ("Reports are due before 31 March.", "date"),
        ("The dose is about 40 mg.", "number"),
        ("The margin was 48.1% in 2024.", "unit"),  # 48.1 percentage points is the same margin
        ("It takes between 3 and 5 days.", "number"),
        ("The rule is not only for adults.", "negation"),
        ("Theft is covered only if it is reported.", "negation"),
        ("Leave might be paid out.", "negation"),
        ("Annual leave is paid.", "entity"),
        ("The Board approves the budget.", "entity"),
    ],
)
def test_what_could_still_be_borne_out_is_left_alone(claim: str, kind: str) -> None:
    """Bounds, edges, restrictions and words that deny nothing get no edit of that kind."""
    assert kind not in _planted(claim)


def test_a_figure_or_name_of_the_evidence_is_never_put_in() -> None:
    """What any compared sentence or heading says is no error; the next candidate is taken."""
    claim = "Employees receive 27 days of leave."
    assert "37" in _planted(claim)["number"]
    older = ("The old policy gave 37 days.", "Some get 47 days.")
    assert "57 days" in _planted(claim, claim, also=older)["number"]
    named = "The lab of Hallowmere tests each lot."
    retrieved = Surroundings((named,), (named,), ("The head of Castellan is often away.",))
    assert edits_of(named, retrieved, max_tokens=60)[-1].becomes == "Castellan"
    assert "Castellan" not in _planted(named, also=retrieved.retrieved)["entity"]


def test_a_figure_that_the_attached_evidence_does_not_state_is_left_alone() -> None:
    """Another figure departs from the evidence only where the evidence states the first."""
    planted = _planted("Employees receive 27 days of leave.", "Leave is generous.")
    assert set(planted) == {"negation"}


PHRASES = (
    "employees receive 27 days of leave", "revenue rose by 14.3%", "$5 million", "not", "may",
    "must", "Hallowmere", "in 2024", "the", "on 31 March", "40 mg", "up to", "is paid", "cannot",
    "at least", "within", "six", "The Board", ",", ".", "1.6 pp",
)  # fmt: skip


@examples(300)
@given(
    st.lists(st.sampled_from(PHRASES), min_size=1, max_size=9).map(" ".join),
    st.lists(st.sampled_from(PHRASES), max_size=9).map(" ".join),
)
def test_every_edit_keeps_what_is_promised(claim: str, evidence: str) -> None:
    """Well formed, different, stated nowhere, at most one of a kind, and the same each time."""
    around = _around(claim, evidence)
    edits = edits_of(claim, around, max_tokens=60)
    assert edits == edits_of(claim, around, max_tokens=60)
    assert len({edit.kind for edit in edits}) == len(edits)
    for edit in edits:
        changed = edit.applied(claim)
        assert changed != claim
        assert plain(changed) not in map(plain, around.compared)
        assert not problems(changed, max_tokens=60)
        if edit.kind in {"number", "date", "entity"}:
            assert not says(around.compared, edit.becomes)


@examples(100)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_welcome(claim: str, evidence: str) -> None:
    """No text raises."""
    edits_of(claim, _around(evidence), max_tokens=60)


def _many(count: int) -> Planted:
    sentences = [f"Site {chr(65 + n)} of Hallowmere stores {20 + n} mg lots." for n in range(12)]
    of = chunk_of(" ".join(sentences))
    claims = [replace(CLAIM, id=f"c{n}", text=text) for n, text in enumerate(sentences[:count])]
    results = [
        replace(result(of, c), best_evidence=(SpanRef(of.chunk_id, f"s{n}"),))
        for n, c in enumerate(claims, 1)
    ]
    return plant_errors(claims, results, [of], max_tokens=60)


def test_the_cap_gives_every_claim_its_first_error() -> None:
    """24 in all; with fewer claims each keeps at least what it had."""
    twelve, three = _many(12), _many(3)
    assert len(twelve.errors) == MAX_PLANTED
    assert twelve.left_out > 0
    assert {error.claim_id for error in twelve.errors} == {f"c{n}" for n in range(12)}
    assert {e for e in twelve.errors if e.claim_id in {"c0", "c1", "c2"}} <= set(three.errors)
    assert three.left_out == 0


def test_no_claim_no_error() -> None:
    """An answer without a Verified claim has nothing to plant in."""
    assert plant_errors([], [], [], max_tokens=60) == Planted((), 0)
    assert isinstance(CLAIM, Claim)


DOCUMENT = (
    "# Leave\n\nEmployees receive 27 days of leave per year. Unused days expire on 31 March. "
    "The Tarnbrook office stays open in August.\n"
)
DRAFT = "Employees receive 27 days of leave per year. Unused days expire on 31 March."


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> certirag.Certificate:
    """Check a short draft once, with errors planted."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "leave.md").write_text(DOCUMENT, "utf-8")
    return certirag.verify(DRAFT, folder, probe=True)


def test_a_probe_is_asked_for_and_told(certificate: certirag.Certificate) -> None:
    """Text and HTML say how many were planted and caught; both claims keep their badge."""
    services = certificate._services
    probe = open_export(certificate.export, services.trusted).probe
    assert probe is not None
    count = len(probe.planted)
    assert count >= 4
    for shown in (str(certificate), certificate._repr_html_()):
        assert f"Planted errors: {count} planted, {count} caught." in shown
        assert shown.count("✅ Verified") == 2


def test_a_probed_answer_is_a_new_record_in_the_log(certificate: certirag.Certificate) -> None:
    """It has a trace of its own and is logged byte for byte; planting again plants the same."""
    services = certificate._services
    again = probe_answer(certificate.export, services)
    assert again.trace_id != certificate.trace_id
    assert export_again(services.audit_log, again.trace_id) == again.export
    one, two = (open_export(e, services.trusted) for e in (certificate.export, again.export))
    assert one.probe == two.probe
    assert one.verification == two.verification


def test_a_check_plants_and_measures_again(
    certificate: certirag.Certificate, tmp_path: Path
) -> None:
    """`check` derives the sentence from the record; `--rescore` plants and scores once more."""
    services = certificate._services
    assert "planted" in check(certificate.export, services.trusted).reason
    path = certificate.save(tmp_path / "a.json")
    assert check_file(path, services.settings, rescore=True).verdict == "VALID"


def test_a_foreign_or_broken_export_is_not_probed(certificate: certirag.Certificate) -> None:
    """Another verifier's answer and one that does not hold are refused in one line."""
    services = certificate._services

    class Other:
        identity = replace(services.verifier.identity, sha256="0" * 64)

    with pytest.raises(InputError, match="another verifier"):
        probe_answer(certificate.export, replace(services, verifier=Other()))  # type: ignore[arg-type]
    with pytest.raises(CertificateError):
        probe_answer(certificate.export.replace(b"27 days", b"28 days", 1), services)
    with pytest.raises(CertificateError):
        probe_answer(certificate.export, replace(services, trusted=TRUSTED))
