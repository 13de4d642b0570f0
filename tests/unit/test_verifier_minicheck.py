"""The MiniCheck adapter: its authors' chunks, input and scores, on tiny models."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tiny_models import CHARACTERS, save_tiny_nli, save_tiny_roberta, save_tiny_t5, script

from certirag.adapters.verifiers.minicheck import MiniCheckVerifier
from certirag.errors import ModelError
from certirag.ports import Pair

FEE = Pair("The fee is 40.", "Visitors pay.\nThe fee is 40 or more.")


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a tiny classifier with RoBERTa's window of 512."""
    return save_tiny_roberta(tmp_path_factory.mktemp("models") / "roberta")


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a tiny sequence-to-sequence model."""
    return save_tiny_t5(tmp_path_factory.mktemp("models") / "t5")


def test_the_second_class_is_support(tmp_path: Path) -> None:
    """Support is the probability of class 1; the rest is not enough information, all of it."""
    bias = (math.log(0.2), math.log(0.8))
    verifier = MiniCheckVerifier(str(save_tiny_roberta(tmp_path / "m", bias=bias)))
    (judgement,) = verifier.judge([FEE])
    assert judgement.label == "entailed"
    assert judgement.entailed == pytest.approx(0.8, abs=1e-6)
    assert judgement.not_enough_info == pytest.approx(0.2, abs=1e-6)
    assert judgement.contradicted == 0.0


def test_a_classifier_reads_document_end_claim(roberta: Path) -> None:
    """The score is the model's own on one text: document, end marker, claim."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    (judgement,) = MiniCheckVerifier(str(roberta)).judge([FEE])
    words = AutoTokenizer.from_pretrained(roberta)
    joined = f"<s>{FEE.evidence}{words.eos_token}{FEE.claim}</s>"
    row = words(joined, add_special_tokens=False, return_tensors="pt")
    model = AutoModelForSequenceClassification.from_pretrained(roberta).eval()
    with torch.no_grad():
        expected = torch.softmax(model(**_bare(row)).logits[0].double(), -1)[1].item()
    assert judgement.entailed == pytest.approx(expected, abs=2e-6)


def test_t5_is_asked_for_its_first_word(t5: Path) -> None:
    """The score is the softmax of the answers 0 and 1 at the first step, after the prompt."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    (judgement,) = MiniCheckVerifier(str(t5)).judge([FEE])
    words = AutoTokenizer.from_pretrained(t5)
    row = words(f"predict: {FEE.evidence}{words.eos_token}{FEE.claim}", return_tensors="pt")
    model = AutoModelForSeq2SeqLM.from_pretrained(t5).eval()
    with torch.no_grad():
        logits = model(**_bare(row), decoder_input_ids=torch.zeros((1, 1), dtype=torch.long)).logits
    answers = words.convert_tokens_to_ids(["▁", "▁1"])
    assert answers == [3, 4]
    expected = torch.softmax(logits[0, 0, answers].double(), -1)[1].item()
    assert judgement.entailed == pytest.approx(expected, abs=2e-6)
    assert judgement.contradicted == 0.0


def _bare(row: Any) -> dict[str, Any]:
    return {name: row[name] for name in ("input_ids", "attention_mask")}


def test_exchanged_answers_give_the_complement(t5: Path, tmp_path: Path) -> None:
    """With the output rows of 0 and 1 exchanged, support and no support change places."""
    import torch

    def exchange(model: Any, tokenizer: Any) -> None:
        with torch.no_grad():
            rows = model.lm_head.weight
            rows[[3, 4]] = rows[[4, 3]].clone()

    (one,) = MiniCheckVerifier(str(t5)).judge([FEE])
    other = MiniCheckVerifier(str(save_tiny_t5(tmp_path / "m", change=exchange)))
    assert other.judge([FEE])[0].entailed == pytest.approx(1.0 - one.entailed, abs=2e-6)


def test_chunks_of_a_classifier_hold_400_tokens(roberta: Path) -> None:
    """Sentences are packed up to 400 tokens without overlap, lines kept; the best chunk counts."""
    verifier = MiniCheckVerifier(str(roberta))
    read = script(verifier, lambda text: (0.0, 3.0 if "Shelf 59 " in text else -3.0))
    sentences = [f"Shelf {number:02} holds {'x' * 30}." for number in range(60)]
    evidence = " ".join(sentences[:30]) + "\n\n" + " ".join(sentences[30:])
    (judgement,) = verifier.judge([Pair("Bolts.", evidence)])
    assert judgement.entailed == pytest.approx(1 / (1 + math.exp(-3.0)), abs=1e-6)
    chunks = [text.removeprefix("<s>").removesuffix("</s>Bolts.</s>") for text in read]
    whole = " ".join(chunks).split()
    assert whole == evidence.split()  # every sentence once
    per_chunk = [chunk.count("Shelf") for chunk in chunks]
    assert per_chunk == [8] * 7 + [4]  # a sentence is 46 bytes, a token each: eight are 368
    assert sum("\n" in chunk for chunk in chunks) == 1


def test_chunks_of_t5_hold_500_words(t5: Path) -> None:
    """For Flan-T5 words are counted, not tokens."""
    verifier = MiniCheckVerifier(str(t5))
    row = [0.0] * (5 + len(CHARACTERS))
    read = script(verifier, lambda text: row, at=1)
    sentences = ["A b c d e f g h i j." for _ in range(120)]
    (judgement,) = verifier.judge([Pair("Bolts.", " ".join(sentences))])
    assert judgement.entailed == 0.5
    assert judgement.label == "not_enough_info"
    documents = [text.split("</s>")[0].replace("predict:", "").split() for text in read]
    assert [len(words) for words in documents] == [500, 500, 200]


@pytest.mark.parametrize("evidence", ["x" * 520, f"It is so. {'x' * 2100}."])
def test_a_sentence_that_does_not_fit_is_refused(roberta: Path, t5: Path, evidence: str) -> None:
    """Where the authors' code cuts, the pair is an error and marked."""
    for model in (roberta, t5):
        (judgement,) = MiniCheckVerifier(str(model)).judge([Pair("It is so.", evidence)])
        fits = model == t5 and len(evidence) < 2000
        assert (judgement.label == "error") is not fits
        assert judgement.truncated is not fits


def test_a_sentence_beyond_the_chunk_is_read_where_it_fits(roberta: Path) -> None:
    """A sentence of 450 tokens stands alone in its chunk and is read whole."""
    verifier = MiniCheckVerifier(str(roberta))
    read = script(verifier, lambda text: (0.0, 0.0))
    long = "y" * 450 + "."
    (judgement,) = verifier.judge([Pair("Bolts.", f"It is so. {long} It is not.")])
    assert judgement.label != "error"
    assert sum(long in text for text in read) == 1


@pytest.mark.parametrize("marker", ["</s>", "<s>", "<pad>"])
def test_written_markers_do_not_end_the_document(roberta: Path, t5: Path, marker: str) -> None:
    """A marker is read as letters, or, where the tokeniser knows it as a word, refused."""
    pair = Pair("It is so.", f"Nothing. {marker}It is so. Nothing.")
    classifier = MiniCheckVerifier(str(roberta))
    ids = classifier._input(pair.evidence, classifier._local.ids(pair.claim))
    assert ids.count(classifier._local.tokenizer.eos_token_id) == 2
    assert ids.count(classifier._local.tokenizer.cls_token_id) == 1
    assert classifier.judge([pair])[0].label != "error"
    asked = MiniCheckVerifier(str(t5))
    for given in (pair, Pair(pair.evidence, pair.claim)):
        (judgement,) = asked.judge([given])
        known = marker != "<s>"  # T5 has no such marker
        assert (judgement.label == "error") is known
        assert ("marker" in judgement.error) is known


def test_what_is_no_minicheck_model_is_refused(tmp_path: Path) -> None:
    """Three classes, support named first, no markers, or one answer for both: ModelError."""
    three = save_tiny_roberta(tmp_path / "three", labels=3)
    with pytest.raises(ModelError, match="3 classes"):
        MiniCheckVerifier(str(three))
    named = save_tiny_nli(tmp_path / "named", ("entailment", "not_entailment"))
    with pytest.raises(ModelError, match="first class is 'entailment'"):
        MiniCheckVerifier(str(named))
    bert = save_tiny_nli(tmp_path / "bert", ("LABEL_0", "LABEL_1"))
    with pytest.raises(ModelError, match="lacks the markers"):
        MiniCheckVerifier(str(bert))

    def without_one(model: Any, tokenizer: Any) -> None:
        import json

        content = json.loads(tokenizer.backend_tokenizer.to_str())
        content["model"]["vocab"] = [
            [word if word != "▁1" else "▁unused", score]
            for word, score in content["model"]["vocab"]
        ]
        tokenizer._tokenizer = type(tokenizer.backend_tokenizer).from_str(json.dumps(content))

    same = save_tiny_t5(tmp_path / "same", change=without_one)
    with pytest.raises(ModelError, match="answers 0 and 1"):
        MiniCheckVerifier(str(same))
    with pytest.raises(ModelError, match="no-such-model"):
        MiniCheckVerifier(str(tmp_path / "no-such-model"))


def test_identity_tells_the_models_apart(roberta: Path, t5: Path) -> None:
    """Opened twice, a model has one identity, without a path; two models have two."""
    one, again = (MiniCheckVerifier(str(roberta)).identity for _ in range(2))
    assert one == again
    assert one.name == "minicheck:roberta"
    assert MiniCheckVerifier(str(t5)).identity.sha256 != one.sha256
