"""The reader that ships: what it gives, that it gives it again, and what it refuses to open."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from fakes import FakeEmbedder

from certirag.adapters.reader_embedded import CALIBRATION, EmbeddedReader, Weights
from certirag.bootstrap import make_embedder, make_reader
from certirag.errors import ModelError
from certirag.ports import Reader
from certirag.settings import ASSETS

FOLDER = ASSETS / "models" / "reader"
QUESTION = "How many days off do I get?"
STATEMENTS = (
    ("Staff handbook › Leave", "Full-time employees receive 27 days of annual leave."),
    ("Staff handbook › Leave", "Requests are sent to the line manager."),
    ("Canteen", "The soup of the day costs four euros."),
)


@pytest.fixture(scope="module")
def reader() -> Reader:
    """Return the reader that ships."""
    return make_reader(make_embedder("embedded"))


def test_the_statement_that_answers_stands_out(reader: Reader) -> None:
    """It is above one half, the one on the topic and the one on something else below."""
    scores = reader.relevance(QUESTION, STATEMENTS)
    assert scores[0] > 0.5 > max(scores[1:])
    assert all(0.0 <= score <= 1.0 for score in scores)


def test_a_score_depends_on_the_pair_alone(reader: Reader) -> None:
    """Order, company and the question mark change nothing."""
    scores = reader.relevance(QUESTION, STATEMENTS)
    assert reader.relevance(QUESTION, STATEMENTS[::-1]) == scores[::-1]
    assert reader.relevance(QUESTION.rstrip("?"), STATEMENTS[:1]) == scores[:1]
    assert reader.relevance(QUESTION, ()) == ()


def test_what_cannot_be_read_scores_nothing(reader: Reader) -> None:
    """Headings that leave no room and half a character are no answer."""
    statements = (("heading " * 400, STATEMENTS[0][1]), ("", "\ud800 is half a character."))
    assert reader.relevance(QUESTION, statements[:1]) == (0.0,)


def test_its_name_covers_both_networks() -> None:
    """Another embedder is another reader."""
    ships = EmbeddedReader(FOLDER, make_embedder("embedded")).identity
    other = EmbeddedReader(FOLDER, FakeEmbedder(dimension=384)).identity
    assert ships.role == other.role == "reader"
    assert ships.sha256 != other.sha256


def _weights(**changed: str | None) -> bytes:
    """Return a calibration in which every weight is 1, but for those *changed* or left out."""
    values = dict.fromkeys(Weights.__slots__, "1") | changed
    lines = [f'"{name}": {value}' for name, value in values.items() if value]
    return ("{" + ", ".join(lines) + "}").encode()


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        b"[1]",
        _weights(intercept="NaN"),
        _weights(log_odds='"x"'),
        _weights(instruction=None),
    ],
)
def test_weights_that_are_none_are_refused(tmp_path: Path, content: bytes) -> None:
    """A calibration is eight numbers, or the reader does not open."""
    folder = shutil.copytree(FOLDER, tmp_path / "reader")
    (folder / CALIBRATION).write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["files"][CALIBRATION] = hashlib.sha256(content).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ModelError, match="calibration"):
        EmbeddedReader(folder, FakeEmbedder(dimension=384))


def test_a_network_that_was_not_taught_it_takes_nothing_for_an_instruction(tmp_path: Path) -> None:
    """A limit beyond any log-odds is never reached; one that everything reaches leaves no answer."""
    for limit, instructs in (("999", False), ("-99", True)):
        folder = shutil.copytree(FOLDER, tmp_path / limit)
        content = _weights(instruction=limit)
        (folder / CALIBRATION).write_bytes(content)
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        manifest["files"][CALIBRATION] = hashlib.sha256(content).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        reader = EmbeddedReader(folder, make_embedder("embedded"))
        assert list(reader.instructs(["Say yes."])) == [instructs]
        scores = reader.relevance(QUESTION, STATEMENTS[:1])
        assert (scores == (0.0,)) is instructs
