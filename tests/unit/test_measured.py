"""The measured risk speaks of one verifier and one policy, or not at all."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from gate_cases import POLICY

from certirag.bootstrap import load_policy, make_verifier, policy_names
from certirag.core.generation import ModelIdentity
from certirag.core.policy import STRICT_RULES
from certirag.errors import ModelError
from certirag.settings import ASSETS, Settings
from certirag.verification.measured import (
    AtThreshold,
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
AT = (
    AtThreshold(0.5, 500, 9, 300),
    AtThreshold(0.85, 412, 3, 280),
    AtThreshold(0.99, 0, 0, 0),
)
WHOLE = replace(MEASUREMENT, true_rows=320, thresholds=AT)


def test_the_sentence_has_the_count_its_interval_and_its_limit() -> None:
    """The count with its exact interval, rounded outwards, and whose documents it is not."""
    assert MEASUREMENT.sentence == (
        "Under this policy 3 of 412 badges were wrong on made drafts "
        "(95 % interval: 0.1 % to 2.2 %). Not measured on your documents."
    )
    none = replace(MEASUREMENT, badges=1_500, wrong=0)
    assert "0 of 1500 badges were wrong" in none.sentence
    assert "0.0 % to 0.3 %" in none.sentence
    assert "1 of 412 badges was wrong" in replace(MEASUREMENT, wrong=1).sentence


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Value for value; a missing file holds none."""
    path = tmp_path / "measured.json"
    assert read_measurements(path) == ()
    both = (MEASUREMENT, replace(MEASUREMENT, set_name="réels", wrong=0), WHOLE)
    path.write_bytes(measurements_bytes(both))
    assert read_measurements(path) == both


def test_the_former_version_is_read_too(tmp_path: Path) -> None:
    """It has no thresholds, and one that has them is not of that version."""
    path = tmp_path / "measured.json"
    content = json.loads(measurements_bytes([MEASUREMENT]))
    content["version"] = 1
    del content["measurements"][0]["thresholds"], content["measurements"][0]["true_rows"]
    path.write_text(json.dumps(content))
    assert read_measurements(path) == (MEASUREMENT,)
    assert MEASUREMENT.at(POLICY.tau_entail) is None


def test_what_was_measured_at_a_threshold_is_said_in_words() -> None:
    """Wrong badges with the upper end of their interval, and how many true statements have one."""
    assert [WHOLE.at(tau) for tau in (0.5, 0.84, 0.85)] == [AT[0], None, AT[1]]
    assert WHOLE.sentence_at(AT[1]) == (
        "At 0.85, on made drafts: 3 of 412 badges wrong (95 % interval up to 2.2 %); "
        "280 of 320 true statements with a badge."
    )
    assert (AT[1].share, AT[1].upper) == (3 / 412, MEASUREMENT.interval()[1])
    assert (AT[2].share, AT[2].upper) == (None, None)
    assert ": no badge; 0 of 320 true statements" in WHOLE.sentence_at(AT[2])


def test_the_worst_set_comes_first() -> None:
    """By what its interval leaves open: few badges say little, though none of them is wrong."""
    few = replace(MEASUREMENT, set_name="few", badges=10, wrong=0)
    good = replace(MEASUREMENT, set_name="good", wrong=1)
    found = measured_for([good, MEASUREMENT, few], [VERIFIER], POLICY)
    assert found == (few, MEASUREMENT, good)


def _edited(*, of: Measurement = MEASUREMENT, **changes: object) -> bytes:
    content = json.loads(measurements_bytes([of]))
    content["measurements"][0] |= changes
    return json.dumps(content).encode()


def _at(*thresholds: tuple[float, int, int, int]) -> bytes:
    names = ("tau_entail", "badges", "wrong", "covered")
    return _edited(
        true_rows=320, thresholds=[dict(zip(names, one, strict=True)) for one in thresholds]
    )


POLICY_VALUES = json.loads(measurements_bytes([MEASUREMENT]))["measurements"][0]["policy"]
MALFORMED = {
    "not JSON": b"{",
    "a list": b"[]",
    "another version": measurements_bytes([MEASUREMENT]).replace(b'"version": 2', b'"version": 3'),
    "thresholds in version 1": measurements_bytes([WHOLE]).replace(
        b'"version": 2', b'"version": 1'
    ),
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
    "fewer than no true statements": _edited(true_rows=-1),
    "more covered than there are": _edited(of=WHOLE, true_rows=299),
    "its own threshold missing": _at((0.5, 500, 9, 300)),
    "its own threshold otherwise": _at((0.85, 412, 4, 280)),
    "a threshold twice": _at((0.85, 412, 3, 280), (0.85, 412, 3, 280)),
    "thresholds that fall": _at((0.85, 412, 3, 280), (0.5, 412, 3, 280)),
    "a threshold below any policy": _at((0.4, 500, 9, 300), (0.85, 412, 3, 280)),
    "a threshold above one": _at((0.85, 412, 3, 280), (1.1, 0, 0, 0)),
    "badges that rise": _at((0.5, 411, 3, 280), (0.85, 412, 3, 280)),
    "wrong ones that rise": _at((0.5, 500, 2, 280), (0.85, 412, 3, 280)),
    "coverage that rises": _at((0.5, 500, 3, 279), (0.85, 412, 3, 280)),
    "more wrong than badges at a threshold": _at((0.85, 412, 3, 280), (0.9, 1, 2, 0)),
    "fewer than none covered": _at((0.85, 412, 3, 280), (0.9, 1, 0, -1)),
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


def test_a_measurement_ships_for_the_verifier_and_each_strict_policy_that_ship() -> None:
    """Else every drawer says that none exists: a new verifier is measured before it ships."""
    verifier = make_verifier(Settings().verifier).identity
    shipped = read_measurements(ASSETS / "models" / "verifier" / "measured.json")
    strict = [p for p in map(load_policy, policy_names()) if {*STRICT_RULES} <= {*p.rules}]
    assert strict
    missing = [p.name for p in strict if not measured_for(shipped, [verifier], p)]
    assert missing == [], "measure them: certirag eval risk --out"
