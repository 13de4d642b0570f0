"""The NLI adapter: labels read from the model, windows that cover, and no answer made up."""

from __future__ import annotations

import itertools
import json
import math
import shutil
import sys
from pathlib import Path

import pytest
from tiny_models import bert_tokenizer, save_tiny_nli, script

from certirag.adapters.verifiers.nli import LabelOrder, NliVerifier, label_order
from certirag.errors import MissingExtra, ModelError
from certirag.ports import Pair

THREE = ("entailment", "neutral", "contradiction")
SHARES = {"entailment": 0.7, "neutral": 0.2, "contradiction": 0.1}
FEE = Pair("The fee is 40.", "Visitors pay a fee of 40.")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a tiny model of three classes with random weights."""
    return save_tiny_nli(tmp_path_factory.mktemp("models") / "tiny", THREE)


@pytest.mark.parametrize("labels", list(itertools.permutations(THREE)))
def test_scores_follow_the_labels_of_the_config(tmp_path: Path, labels: tuple[str, ...]) -> None:
    """The same three probabilities come out in whatever order the model has its classes."""
    bias = [math.log(SHARES[label]) for label in labels]
    verifier = NliVerifier(str(save_tiny_nli(tmp_path / "m", labels, bias=bias)))
    (judgement,) = verifier.judge([FEE])
    found = (judgement.entailed, judgement.not_enough_info, judgement.contradicted)
    assert found == pytest.approx((0.7, 0.2, 0.1), abs=1e-6)
    assert judgement.label == "entailed"


@pytest.mark.parametrize("labels", [("not_entailment", "entailment"), ("Entailed", "not-entailed")])
def test_two_classes_never_contradict(tmp_path: Path, labels: tuple[str, str]) -> None:
    """What such a model does not entail is not enough information, however sure it is."""
    bias = [math.log(0.03 if label.casefold().startswith("entail") else 0.97) for label in labels]
    verifier = NliVerifier(str(save_tiny_nli(tmp_path / "m", labels, bias=bias)))
    (judgement,) = verifier.judge([FEE])
    assert judgement.label == "not_enough_info"
    assert judgement.entailed == pytest.approx(0.03, abs=1e-6)
    assert judgement.contradicted == 0.0


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), LabelOrder(2, 1, 0)),
        (("SUPPORTS", "NOT ENOUGH INFO", "REFUTES"), LabelOrder(0, 1, 2)),
        (("refuted", "entailed", "not_enough_info"), LabelOrder(1, 2, 0)),
        (("entailment", "neutral"), LabelOrder(0, 1, None)),
    ],
)
def test_known_spellings(labels: tuple[str, ...], order: LabelOrder) -> None:
    """The spellings of published models are read as what they mean."""
    assert label_order("m", dict(enumerate(labels))) == order


@pytest.mark.parametrize(
    "labels",
    [
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("entailment", "neutral", "other"),
        ("entailment", "entailed", "contradiction"),
        ("entailment", "contradiction"),
        ("neutral", "contradiction"),
        ("entailment",),
        ("entailment", "neutral", "contradiction", "not_entailment"),
    ],
)
def test_labels_that_say_nothing_are_refused(labels: tuple[str, ...]) -> None:
    """Unknown, double or missing classes are an error that names them all; nothing is guessed."""
    with pytest.raises(ModelError) as caught:
        label_order("owner/model", dict(enumerate(labels)))
    assert "owner/model" in str(caught.value)
    assert all(repr(label) in str(caught.value) for label in labels)


def test_the_evidence_is_the_premise(tiny: Path) -> None:
    """Scores are the model's own on (evidence, claim), its tokeniser's pair in that order."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    (judgement,) = NliVerifier(str(tiny)).judge([FEE])
    row = AutoTokenizer.from_pretrained(tiny)(FEE.evidence, FEE.claim, return_tensors="pt")
    model = AutoModelForSequenceClassification.from_pretrained(tiny).eval()
    with torch.no_grad():
        expected = torch.softmax(model(**row).logits[0].double(), -1).tolist()
    found = [judgement.entailed, judgement.not_enough_info, judgement.contradicted]
    assert found == pytest.approx(expected, abs=2e-6)
    (turned,) = NliVerifier(str(tiny)).judge([Pair(FEE.evidence, FEE.claim)])
    assert abs(turned.entailed - judgement.entailed) > 1e-4


def test_the_context_is_not_read(tiny: Path) -> None:
    """A title that says the claim makes no difference."""
    verifier = NliVerifier(str(tiny))
    plain, titled = verifier.judge([FEE, Pair(FEE.claim, FEE.evidence, FEE.claim)])
    assert plain == titled


def test_windows_cover_the_evidence_and_fit(tiny: Path) -> None:
    """Each sentence of long evidence is read with the claim, and no input exceeds the window."""
    verifier = NliVerifier(str(tiny))
    read = script(verifier, lambda text: (0.0, 0.0, 0.0))
    sentences = [f"Shelf {number} holds screws." for number in range(40)]
    (judgement,) = verifier.judge([Pair("Bolts are there.", " ".join(sentences))])
    assert judgement.label != "error"
    assert len(read) > 5
    tokens = verifier._local.tokenizer
    assert all(len(tokens(t, add_special_tokens=False)["input_ids"]) <= 128 for t in _plain(read))
    bare = ["".join(text.split()) for text in read]
    assert all("Boltsarethere." in text for text in bare)
    assert all(any("".join(s.split()) in text for text in bare) for s in sentences)


def _plain(texts: list[str]) -> list[str]:
    return [text.replace("[CLS]", "x").replace("[SEP]", "x") for text in texts]


def test_support_anywhere_counts_and_contradiction_stays(tiny: Path) -> None:
    """Support is the best window's; a window that contradicts takes it away again."""
    verifier = NliVerifier(str(tiny))

    def rule(text: str) -> tuple[float, float, float]:
        return (9.0 * ("yes" in text), 4.0, 10.0 * ("never" in text))

    script(verifier, rule)
    filler = " ".join(f"Shelf {number} holds screws." for number in range(30))
    pairs = [Pair("Is it.", f"{filler} {end}") for end in ("", "So it is yes.")]
    pairs.append(Pair("Is it.", f"It was never so. {filler} So it is yes."))
    nothing, found, both = verifier.judge(pairs)
    assert nothing.label == "not_enough_info"
    assert found.label == "entailed"
    assert found.entailed > 0.9
    assert both.label == "contradicted"
    assert both.contradicted > 0.9
    assert both.entailed < 0.1


def test_what_does_not_fit_is_refused(tiny: Path) -> None:
    """A sentence or claim longer than the window is an error and marked, never cut."""
    verifier = NliVerifier(str(tiny))
    read = script(verifier, lambda text: (9.0, 0.0, 0.0))
    endless = "very " * 60 + "long."
    sentence, claim = verifier.judge(
        [Pair("It is so.", f"It is so. {endless}"), Pair(endless, "It is so.")]
    )
    for judgement in (sentence, claim):
        assert judgement.label == "error"
        assert judgement.truncated
        assert judgement.entailed == 0.0
    assert not any("long" in text for text in read)


def test_written_markers_are_text(tiny: Path) -> None:
    """A marker in the evidence cannot end it: the model is given two separators, its own."""
    verifier = NliVerifier(str(tiny))
    given: list[int] = []
    local = verifier._local
    forward = local.model.forward

    def watch(**inputs: object) -> object:
        given.extend(inputs["input_ids"][0].tolist())
        return forward(**inputs)

    local.model.forward = watch
    (judgement,) = verifier.judge([Pair("It is so.", "Nothing. [SEP] It is so. [SEP] [CLS]")])
    assert judgement.label != "error"
    assert given.count(local.tokenizer.sep_token_id) == 2
    assert given.count(local.tokenizer.cls_token_id) == 1


def test_broken_weights_support_nothing(tiny: Path) -> None:
    """Scores that are no numbers, and a model that raises, are the label error of that pair."""
    verifier = NliVerifier(str(tiny))
    script(verifier, lambda text: (math.nan, 0.0, 0.0) if "nan" in text else (1.0, 0.0, 0.0))
    bad, good = verifier.judge([Pair("It is nan.", "It is."), FEE])
    assert bad.label == "error"
    assert bad.entailed == 0.0
    assert good.label == "entailed"

    def broken(text: str) -> tuple[float, ...]:
        raise RuntimeError("secret detail")

    script(verifier, broken)
    (failed,) = verifier.judge([FEE])
    assert failed.label == "error"
    assert "RuntimeError" in failed.error
    assert "secret" not in failed.error


def test_identity_is_of_weights_and_labels(tiny: Path, tmp_path: Path) -> None:
    """The same files elsewhere are the same model; other weights or labels are another."""
    first = NliVerifier(str(tiny)).identity
    moved = tmp_path / "tiny"
    shutil.copytree(tiny, moved)
    assert NliVerifier(str(moved)).identity == first
    assert first.name == "nli:tiny"
    assert first.version == "local"
    config = json.loads((moved / "config.json").read_text())
    config["id2label"] = {"0": "contradiction", "1": "neutral", "2": "entailment"}
    (moved / "config.json").write_text(json.dumps(config))
    assert NliVerifier(str(moved)).identity.sha256 != first.sha256
    other = save_tiny_nli(tmp_path / "other" / "tiny", THREE, bias=(0.0, 0.0, 1.0))
    assert NliVerifier(str(other)).identity.sha256 != first.sha256


def test_a_model_without_a_trained_head_is_refused(tmp_path: Path) -> None:
    """A bare encoder would be given a random head: that must not judge anything."""
    from transformers import BertConfig, BertModel

    words = bert_tokenizer(tmp_path / "bare", longest=64)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        id2label=dict(enumerate(THREE)),
    )
    BertModel(config).save_pretrained(tmp_path / "bare")
    words.save_pretrained(tmp_path / "bare")
    with pytest.raises(ModelError, match=r"lacks trained weights for classifier\.bias"):
        NliVerifier(str(tmp_path / "bare"))


def test_code_beside_a_model_is_never_run(tiny: Path, tmp_path: Path) -> None:
    """A model that brings its own class is read without it, or not at all."""
    model = tmp_path / "hostile"
    shutil.copytree(tiny, model)
    (model / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    config = json.loads((model / "config.json").read_text())
    config["auto_map"] = {
        "AutoConfig": "own.Own",
        "AutoModelForSequenceClassification": "own.Own",
    }
    (model / "config.json").write_text(json.dumps(config))
    assert NliVerifier(str(model)).judge([FEE])[0].label != "error"
    config["model_type"] = "unheard-of"
    (model / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="does not load"):
        NliVerifier(str(model))
    assert not (tmp_path / "ran").exists()


def test_an_absent_model_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is not there is named with the mend, and no connection is opened."""
    import socket

    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a connection"))
    for name in (str(tmp_path / "no-such-model"), "no-such-owner/no-such-model"):
        with pytest.raises(ModelError, match="no-such-model") as caught:
            NliVerifier(name)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("package", ["transformers", "torch"])
def test_a_missing_package_names_the_install_command(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    """Without the optional packages the error says how to install them."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"pip install 'certirag\[models\]'"):
        NliVerifier("any/model")
