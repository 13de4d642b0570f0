"""A reviewer's countersignature: whatever is not one over this very answer is TAMPERED."""

from __future__ import annotations

import json

import pytest
from gate_cases import TRUSTED, export
from review_cases import FORGED, reviewed

from certirag import checker
from certirag.errors import CertificateError
from certirag.proof.certificate import open_export, open_reviewed


def _bytes(made: object) -> bytes:
    return (json.dumps(made, ensure_ascii=False, indent=1) + "\n").encode()


def test_a_sound_one_is_read_by_both() -> None:
    """And says who decided what; without one an export stays what it was."""
    data = _bytes(reviewed())
    record, review = open_reviewed(data, TRUSTED)
    assert review is not None
    assert (review.reviewer, review.decision, review.trace_id) == (
        "anna",
        "release",
        record.trace_id,
    )
    report = checker.check(data, TRUSTED)
    assert (report.verdict, report.code) == ("VALID", "")
    assert "released by the reviewer “anna”" in report.reason
    assert open_reviewed(export(), TRUSTED)[1] is None
    assert checker.check(export(), TRUSTED).verdict == "VALID"


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_one_is_tampered(name: str) -> None:
    """In both readers, with the code of its step."""
    data = _bytes(FORGED[name])
    with pytest.raises(CertificateError):
        open_export(data, TRUSTED)
    report = checker.check(data, TRUSTED)
    assert (report.verdict, report.code) == ("TAMPERED", "review")


def test_no_flipped_bit_of_it_is_accepted() -> None:
    """Every bit of the part, one at a time."""
    data = _bytes(reviewed())
    start = data.index(b'"review"')
    for place in range(start, len(data) - 4):
        for bit in range(0, 8, 3):
            changed = bytearray(data)
            changed[place] ^= 1 << bit
            report = checker.check(bytes(changed), TRUSTED)
            assert report.verdict == "TAMPERED", (place, bit)
