"""The published schemas are current, valid, and describe what the program writes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from gate_cases import chunk, good_case, record

from certirag.proof.certificate import record_json
from certirag.proof.schemas import published_schemas
from certirag.settings import ASSETS

FOLDER = ASSETS / "schemas"
# The seed's field names (CertiRAG seed §6), none of which may be renamed.
SEED_FIELDS = {
    "evidence-chunk": {"chunk_id", "doc_id", "text", "source", "spans", "retrieval"},
    "claim-ir": {"question", "claims"},
    "verification-result": {"claim_id", "label", "score", "best_evidence", "all_scores"},
    "renderer-decision": {"claim_id", "render_state", "policy", "reason"},
}


@pytest.mark.parametrize("name", published_schemas())
def test_the_file_is_current_and_valid(name: str) -> None:
    """scripts/schemas.py was run after the last change of a type."""
    schema = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    assert schema == json.loads(json.dumps(published_schemas()[name]))
    jsonschema.Draft202012Validator.check_schema(schema)


def test_no_other_file_is_published() -> None:
    """A schema whose type is gone is gone too."""
    assert {path.stem for path in Path(FOLDER).glob("*.json")} == set(published_schemas())


@pytest.mark.parametrize("name", SEED_FIELDS)
def test_the_seeds_fields_are_kept(name: str) -> None:
    """Fields may be added to the four contracts, none renamed."""
    assert set(published_schemas()[name]["properties"]) >= SEED_FIELDS[name]


def test_a_record_validates_and_an_unknown_field_does_not() -> None:
    """What the program writes fits the schema; one more field does not."""
    validator = jsonschema.Draft202012Validator(published_schemas()["answer-record"])
    value = json.loads(json.dumps(record_json(record())))
    validator.validate(value)
    value["claim_ir"]["claims"][0]["verified"] = True
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(value)


def test_span_offsets_map_to_the_quote() -> None:
    """The builders that the gate's tests lean on keep the contract of offsets."""
    for of in (*good_case().chunks.values(), chunk()):
        assert all(of.text[s.start : s.end] == s.sentence for s in of.spans)
