"""The measured risk speaks of one verifier and one policy, or not at all."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from gate_cases import POLICY

from certirag.core.generation import ModelIdentity
from certirag.errors import ModelError
from certirag.verification.measured import (
    Measurement,
    measured_for,
    measurements_bytes,
    read_measurements,
)

VERIFIER = ModelIdentity("verifier", "ours", "1", "ab" * 32)
EMBEDDER = ModelIdentity("embedder", "ours", "1", "cd" * 32)
MEASUREMENT = Measurement(
    set_name="made drafts",
    description="Drafts with one planted error in every second claim.",
    verifier=VERIFIER.sha256,
    policy=POLICY,
    badges=412,
    wrong=3,
)


def test_the_sentence_has_the_count_its_interval_and_its_limit() -> None:
    """The count with its exact interval, rounded outwards, and whose documents it is not."""
    assert MEASUREMENT.sentence == (
        "Under this policy 3 of 412 badges were wrong on made drafts "
        "(95 % interval: 0.1 % to 2.2 %). Not measured on your documents."
    )
    none = replace(MEASUREMENT, badges=1_500, wrong=0)
    assert "0 of 1,500 badges were wrong" in none.sentence
    assert "0.0 % to 0.3 %" in none.sentence
    assert "1 of 412 badges was wrong" in replace(MEASUREMENT, wrong=1).sentence


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Value for value; a missing file holds none."""
    path = tmp_path / "measured.json"
    assert read_measurements(path) == ()
    both = (MEASUREMENT, replace(MEASUREMENT, set_name="réels", wrong=0))
    path.write_bytes(measurements_bytes(both))
    assert read_measurements(path) == both


def _edited(**changes: object) -> bytes:
    content = json.loads(measurements_bytes([MEASUREMENT]))
    content["measurements"][0] |= changes
    return json.dumps(content).encode()


POLICY_VALUES = json.loads(measurements_bytes([MEASUREMENT]))["measurements"][0]["policy"]
MALFORMED = {
    "not JSON": b"{",
    "a list": b"[]",
    "another version": measurements_bytes([MEASUREMENT]).replace(b'"version": 1', b'"version": 2'),
    "a missing field": b'{"version": 1}',
    "an unknown field": _edited(sure=True),
    "a doubled field": measurements_bytes([MEASUREMENT]).replace(
        b'"wrong": 3', b'"wrong": 3, "wrong": 0'
    ),
    "more wrong than badges": _edited(wrong=413),
    "fewer than none wrong": _edited(wrong=-1),
    "no badge": _edited(badges=0, wrong=0),
    "badges as text": _edited(badges="412"),
    "badges true": _edited(badges=True, wrong=0),
    "half a badge": _edited(badges=412.5),
    "NaN": measurements_bytes([MEASUREMENT]).replace(b"412", b"NaN"),
    "no digest": _edited(verifier=""),
    "another digest": _edited(verifier="AB" * 32),
    "two lines": _edited(set_name="made\ndrafts"),
    "no name": _edited(set_name=" "),
    "a hidden character": _edited(description="made\u202edrafts"),
    "a lax policy": _edited(policy={**POLICY_VALUES, "tau_entail": 0.1}),
    "a policy without rules": _edited(policy={**POLICY_VALUES, "rules": []}),
    "not UTF-8": b"\xff\xfe",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_refused_whole(tmp_path: Path, name: str) -> None:
    """One line names the file; no entry of it is used."""
    path = tmp_path / "measured.json"
    path.write_bytes(MALFORMED[name])
    with pytest.raises(ModelError, match=r"measured\.json does not hold measurements") as caught:
        read_measurements(path)
    assert "\n" not in str(caught.value)


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    """What cannot be read is not the same as what is not there."""
    with pytest.raises(ModelError, match="cannot be read"):
        read_measurements(tmp_path)


def test_it_speaks_of_its_own_verifier_and_policy() -> None:
    """Both equal: it is found, whatever other models there are."""
    assert measured_for([MEASUREMENT], [EMBEDDER, VERIFIER], POLICY) == (MEASUREMENT,)


@pytest.mark.parametrize(
    "models",
    [
        [],
        [EMBEDDER],
        [replace(VERIFIER, sha256="ab" * 31 + "ac")],
        [replace(VERIFIER, role="reranker")],
        [VERIFIER, VERIFIER],
        [VERIFIER, replace(VERIFIER, sha256="ef" * 32)],
    ],
    ids=["none", "no verifier", "another", "another role", "twice", "two"],
)
def test_another_verifier_has_no_measurement(models) -> None:
    """A figure is never lent to another verifier."""
    assert measured_for([MEASUREMENT], models, POLICY) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "test-2"},
        {"tau_entail": 0.86},
        {"tau_contradict": 0.69},
        {"rules": tuple(reversed(POLICY.rules))},
        {"max_claim_tokens": POLICY.max_claim_tokens - 1},
        {"class_minimum": {**POLICY.class_minimum, "scope_claim": 9}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_another_policy_has_no_measurement(changes) -> None:
    """Neither another name nor one threshold more strict."""
    assert measured_for([MEASUREMENT], [VERIFIER], replace(POLICY, **changes)) == ()
