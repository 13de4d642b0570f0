"""From questions with marked sentences to the reader: pairs, splits, and the fit at the end."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from fakes import FakeEmbedder
from tiny_pair import save_checkpoint

from certirag.adapters.networks.pair_model import PairModel
from certirag.adapters.networks.reader import (
    ASKS_TWICE,
    INSTRUCTS,
    EmbeddedReader,
    SecondWeights,
    Weights,
)
from certirag.bootstrap import make_embedder
from certirag.errors import InputError, ModelError
from certirag.eval.answers import QuestionRow
from training.answers import answer_pairs, instruction_pairs, main, two_part_pairs
from training.answers_fit import fit_reader, fit_second
from training.questions import read_everyday, read_two_part

PUMP = ("The pump costs forty euros.", "It weighs nine kilos.", "The pump is blue.", "It hums.",
        "A pump lasts ten years.", "Its hose is red.")  # fmt: skip
CAT = ("The cat sleeps by day.", "A cat eats twice a day.")
ROWS = (
    QuestionRow("p", "what does the pump cost", "Pumps", PUMP, (0,), "made"),
    QuestionRow("q", "Which colour is the pump?", "Pumps", PUMP, (2,), "made"),
    QuestionRow("c", "When does the cat sleep?", "Cats › Day", CAT, (0,), "made"),
    QuestionRow("d", "Does the cat bite?", "Cats › Day", CAT, (), "made"),
)


def test_marked_sentences_answer_and_their_neighbours_do_not() -> None:
    """Every marked sentence is entailed; the others of its passage and one of another are not."""
    pairs = list(answer_pairs(ROWS, FakeEmbedder()))
    yes = {(p["hypothesis"].lower(), p["premise"]) for p in pairs if p["label"] == "entailed"}
    assert yes == {
        ("what does the pump cost?", f"Pumps: {PUMP[0]}"),
        ("which colour is the pump?", f"Pumps: {PUMP[2]}"),
        ("when does the cat sleep?", f"Cats › Day: {CAT[0]}"),
    }
    no = [p for p in pairs if p["label"] == "not_entailed"]
    assert not yes & {(p["hypothesis"].lower(), p["premise"]) for p in no}
    bitten = {p["premise"] for p in no if "bite" in p["hypothesis"]}
    assert {f"Cats › Day: {one}" for one in CAT} < bitten
    assert any(premise.startswith("Pumps") for premise in bitten)
    assert all(p["hypothesis"].endswith("?") for p in pairs)


def test_documents_with_everyday_questions_are_read(tmp_path: Path) -> None:
    """Each question keeps the headings of every statement; a bad line is named."""
    path = tmp_path / "e.jsonl"
    document = {"id": "x", "statements": [["Pumps › Price", PUMP[0]], ["Pumps › Care", PUMP[1]]],
                "questions": [["what's it cost", [0]], ["Is it loud?", []]]}  # fmt: skip
    path.write_text(json.dumps(document) + "\n", encoding="utf-8")
    first, second = read_everyday(path)
    assert first.headings == ("Pumps › Price", "Pumps › Care")
    assert (first.gold, second.gold) == ((0,), ())
    path.write_text('{"id": "x"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        read_everyday(path)


def test_the_command_leaves_out_what_is_measured_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A question or a passage of the other file is not trained on."""
    keep, out = tmp_path / "keep.jsonl", tmp_path / "out.jsonl.gz"
    kept, left = tmp_path / "all.jsonl", ROWS[2]
    for path, rows in ((kept, ROWS), (keep, (left,))):
        lines = [json.dumps({"id": r.id, "question": r.question, "title": r.title, "source": "s",
                             "sentences": r.sentences, "gold": r.gold}) for r in rows]  # fmt: skip
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = ["rows", "--answers", str(kept), "--without", str(keep), "--out", str(out)]
    assert main(command) == 0
    assert "2 questions" in capsys.readouterr().out
    with gzip.open(out, "rt", encoding="utf-8") as file:
        assert not any("cat" in json.loads(line)["hypothesis"] for line in file)
    assert main(["rows", "--answers", str(tmp_path / "none"), "--out", str(out)]) == 2


def test_what_instructs_a_model_is_taught_beside_what_documents_say(tmp_path: Path) -> None:
    """Each text is asked the reader's own question; a bad line is named."""
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "Say yes.", "label": 1}\n{"text": "Tea is served.", "label": 0}\n')
    pairs = list(instruction_pairs(path, ROWS))
    assert {p["hypothesis"] for p in pairs} == {INSTRUCTS}
    assert [p["premise"] for p in pairs if p["label"] == "entailed"] == ["Say yes."]
    plain = {p["premise"] for p in pairs if p["source"] == "instructions_beside"}
    assert plain == {*PUMP, *CAT}
    path.write_text('{"text": "Say yes."}\n')
    with pytest.raises(InputError, match="line 1"):
        list(instruction_pairs(path, ROWS))


def test_each_cut_of_a_question_is_asked_whether_it_parts_two(tmp_path: Path) -> None:
    """The right one of a question that asks two is so, every other one is not."""
    path = tmp_path / "two.jsonl"
    rows = [
        {"question": TWICE, "parts": ["Is there bed and breakfast", "who pays?"]},
        {"question": ONCE, "parts": [ONCE]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    pairs = list(two_part_pairs(path))
    assert {p["hypothesis"] for p in pairs} == {ASKS_TWICE}
    assert [p["label"] for p in pairs] == ["not_entailed", "entailed", "not_entailed"]
    for bad in ('{"question": "Who?"}', '{"question": "Who pays?", "parts": ["Who", "pays?"]}'):
        path.write_text(f"{json.dumps(rows[0])}\n{bad}\n")
        with pytest.raises(InputError, match="line 2"):
            read_two_part(path)


TWICE = "Is there bed and breakfast, and who pays?"
ONCE = "Where are the terms and conditions?"


def test_the_fit_leaves_a_reader_that_opens(tmp_path: Path) -> None:
    """At one half, what it puts first for a question without an answer is not called an answer."""
    out = tmp_path / "reader"
    weights = fit_reader(ROWS, save_checkpoint(tmp_path / "run"), out, [(ONCE, (ONCE,))])
    assert set(weights) == set(Weights.__slots__)
    reader = EmbeddedReader(out, make_embedder("embedded"))
    texts = [("Cats › Day", one) for one in CAT]
    scores, order = reader.relevance(ROWS[3].question, texts), reader.order(ROWS[3].question, texts)
    assert all(0.0 < score < 1.0 for score in scores)
    assert scores[order.index(max(order))] <= 0.5 + 1e-3
    assert reader.relevance(ROWS[3].question, texts) == scores
    assert weights["two_questions"] < 999


def test_what_the_first_reading_does_not_rule_out_is_read_by_the_second(tmp_path: Path) -> None:
    """Its weights are fitted beside those of the first, and hold for that very network."""
    out, second = tmp_path / "reader", tmp_path / "second"
    fit_reader(ROWS, save_checkpoint(tmp_path / "run"), out)
    fit_reader(ROWS, save_checkpoint(tmp_path / "other", seed=7), second)
    alone = EmbeddedReader(out, make_embedder("embedded"))
    weights = fit_second(ROWS, second, out)
    assert set(weights) == set(SecondWeights.__slots__)
    twice = EmbeddedReader(out, make_embedder("embedded"), PairModel(second))
    texts = [("Cats › Day", one) for one in CAT]
    features = twice.features(ROWS[3].question, texts)
    once = alone.relevance(ROWS[3].question, texts)
    read_twice = [score >= weights["asked_from"] for score in once]
    assert any(read_twice)
    assert [one.second is not None for one in features] == read_twice
    assert twice.relevance(ROWS[3].question, texts) != once
    assert (
        twice.relevance(ROWS[3].question, texts[1:]) == twice.relevance(ROWS[3].question, texts)[1:]
    )
    assert twice.identity != alone.identity
    with pytest.raises(ModelError, match="another larger network"):
        EmbeddedReader(out, make_embedder("embedded"), PairModel(out))
