"""Untrained transformers models of a few kilobytes, and a scripted stand-in for their weights."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

CHARACTERS = string.ascii_letters + string.digits + string.punctuation + "€"
LETTERS = [*CHARACTERS, *(f"##{character}" for character in CHARACTERS)]

# Where each marker stands in the vocabulary.
ROBERTA_MARKERS = {
    "bos_token": 0,
    "cls_token": 0,
    "pad_token": 1,
    "eos_token": 2,
    "sep_token": 2,
    "unk_token": 3,
}
T5_MARKERS = {"pad_token": 0, "eos_token": 1, "unk_token": 2}


def bert_tokenizer(directory: Path, *, longest: int) -> Any:
    """Return a WordPiece tokeniser that knows single characters and their continuations."""
    from transformers import BertTokenizerFast

    directory.mkdir(parents=True, exist_ok=True)
    vocabulary = directory / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS]))
    return BertTokenizerFast(str(vocabulary), do_lower_case=False, model_max_length=longest)


def save_tiny_nli(
    directory: Path,
    labels: Sequence[str],
    *,
    bias: Sequence[float] | None = None,
    longest: int = 128,
) -> Path:
    """Save a BERT classifier with *labels*; with *bias* its logits are that, whatever it reads."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    tokenizer = bert_tokenizer(directory, longest=longest)
    torch.manual_seed(11)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=longest,
        id2label=dict(enumerate(labels)),
        label2id={label: at for at, label in enumerate(labels)},
    )
    model = BertForSequenceClassification(config)
    settle(model.classifier, bias)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory


def roberta_tokenizer(*, longest: int, words: Sequence[str] = ()) -> Any:
    """Return a byte-level tokeniser with RoBERTa's markers; *words* are written, never read."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    markers = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = [*markers, *letters, *words]
    backend = Tokenizer(models.BPE({word: at for at, word in enumerate(vocabulary)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=longest,
        **{name: markers[at] for name, at in ROBERTA_MARKERS.items()},
    )


def save_tiny_roberta(
    directory: Path, *, bias: Sequence[float] | None = None, longest: int = 512, labels: int = 2
) -> Path:
    """Save a RoBERTa classifier as MiniCheck's; with *bias* its logits are that."""
    import torch
    from transformers import RobertaConfig, RobertaForSequenceClassification

    tokenizer = roberta_tokenizer(longest=longest)
    torch.manual_seed(12)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=longest + 2,  # positions start behind the padding's row
        pad_token_id=1,
        num_labels=labels,
    )
    model = RobertaForSequenceClassification(config)
    settle(model.classifier.out_proj, bias)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory


def t5_tokenizer() -> Any:
    """Return a tokeniser of single characters with T5's markers and its word for the answer 1."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0), ("▁1", -2.0)]
    words += [(character, -4.0) for character in CHARACTERS]
    backend = Tokenizer(models.Unigram(words, unk_id=2))
    backend.normalizer = normalizers.Replace("\n", " ")
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    backend.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, **{name: words[at][0] for name, at in T5_MARKERS.items()}
    )


def t5_config(vocabulary: int) -> Any:
    """Return the dimensions of a T5 of one layer."""
    from transformers import T5Config

    return T5Config(
        vocab_size=vocabulary,
        d_model=16,
        d_kv=8,
        d_ff=16,
        num_layers=1,
        num_heads=2,
        num_labels=2,
        decoder_start_token_id=0,
        tie_word_embeddings=False,
    )


def save_tiny_t5(directory: Path, *, change: Callable[[Any, Any], None] | None = None) -> Path:
    """Save a sequence-to-sequence T5 as MiniCheck's; *change* may work on model and tokeniser."""
    import torch
    from transformers import T5ForConditionalGeneration

    tokenizer = t5_tokenizer()
    torch.manual_seed(13)
    model = T5ForConditionalGeneration(t5_config(len(tokenizer)))
    # As in Flan-T5, the words are not read and written by the same vectors.
    model.lm_head.weight = torch.nn.Parameter(torch.randn(len(tokenizer), 16))
    if change is not None:
        change(model, tokenizer)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory


def save_tiny_hhem(
    directory: Path,
    *,
    bias: Sequence[float] | None = None,
    described: Mapping[str, object] | None = None,
    rename: Callable[[str], str] = lambda key: f"t5.{key}",
) -> Path:
    """Save files as HHEM-2.1's: weights under a prefix, the founding model in a directory."""
    import json

    import torch
    from safetensors.torch import save_file
    from transformers import T5ForTokenClassification

    tokenizer = t5_tokenizer()
    foundation = directory / "foundation"
    config = t5_config(len(tokenizer))
    config.save_pretrained(foundation)
    tokenizer.save_pretrained(foundation)
    torch.manual_seed(14)
    model = T5ForTokenClassification(config)
    settle(model.classifier, bias)
    shared = "transformer.encoder.embed_tokens.weight"  # kept once, under its other name
    state = {rename(k): v.contiguous() for k, v in model.state_dict().items() if k != shared}
    save_file(state, directory / "model.safetensors")
    content = {"model_type": "HHEMv2", "foundation": "foundation", **(described or {})}
    (directory / "config.json").write_text(json.dumps(content))
    return directory


def settle(layer: Any, bias: Sequence[float] | None) -> None:
    """Make *layer* answer *bias* whatever it is given; with None, larger than it began."""
    import torch

    with torch.no_grad():
        if bias is None:
            layer.weight.mul_(100.0)  # so that what is read shows in the scores
        else:
            layer.weight.zero_()
            layer.bias.copy_(torch.tensor(bias))


def script(
    verifier: Any, rule: Callable[[str], Sequence[float]], *, at: int | None = None
) -> list[str]:
    """Replace the model of *verifier*: *rule* gives the logits of a text; return what it reads.

    *at* is the number of rows that a model of one output per token or step is to have.
    """
    import torch

    read: list[str] = []
    local = verifier._local

    def answer(**inputs: Any) -> SimpleNamespace:
        (ids,) = inputs["input_ids"].tolist()
        read.append(local.tokenizer.decode(ids))
        logits = torch.tensor([list(rule(read[-1]))])
        return SimpleNamespace(logits=logits if at is None else logits[:, None].expand(1, at, -1))

    answer.config = local.model.config  # type: ignore[attr-defined]
    verifier._local = replace(local, model=answer)
    return read
