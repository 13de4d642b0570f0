"""Training: rows and their split, batches, the two-way loss, going on after a stop, a whole run."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from pathlib import Path

import pytest

from certirag.adapters.verifiers.embedded_verifier import EmbeddedVerifier
from certirag.bootstrap import make_splitter, make_verifier
from certirag.errors import InputError, ModelError
from certirag.ports import Pair
from certirag.verification.vetoes import DOUBT_CEILING
from certirag.verification.windows import focused
from training.__main__ import main
from training.config import TrainingConfig, read_config
from training.encode import Example, encode_rows
from training.near_misses import NearMiss
from training.rows import Row, held_out, limited, read_rows

torch = pytest.importorskip("torch")

from training.build_reading import build_reading  # noqa: E402
from training.export import open_model  # noqa: E402
from training.fit import Schedule, Trainer, batches, logits_of, tensors  # noqa: E402
from training.network import (  # noqa: E402
    PairClassifier,
    loss_of,
    open_backbone,
)
from training.run import open_tokenizer  # noqa: E402

WORDS = [
    "the",
    "pump",
    "valve",
    "runs",
    "stops",
    "at",
    "night",
    "noon",
    "fee",
    "is",
    "forty",
    "fifty",
    "euros",
    "not",
    "all",
    "some",
    "in",
    "north",
    "south",
    "site",
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    ".",
    ",",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[PAD]",
    "[MASK]",
]
CONFIG = """
name = "tiny"
version = "0"
seed = 3
room = 32
max_tokens = 48
held_out = 0.1
[[stages]]
name = "one"
epochs = 6
learning_rate = 3e-3
tokens = 256
average = 0.9
"""


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a BERT of two narrow layers with random weights and a vocabulary of words."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("bert")
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(WORDS))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(0)
    shape = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(shape, add_pooling_layer=False).save_pretrained(folder)
    return folder


def _pairs(path: Path, count: int) -> Path:
    """Write *count* pairs whose label shows in one word: a fee of forty, not of fifty."""
    rng = random.Random(5)
    rows = []
    for number in range(count):
        site = " ".join(rng.choice("abcdef") for _ in range(3))
        claim, label = rng.choice(
            [
                ("the fee is forty euros .", "entailed"),
                ("the fee is fifty euros .", "contradicted"),
                ("the pump runs at noon .", "neutral"),
            ]
        )
        source = "fever_symmetric"
        if number % 5 == 0:
            source, label = "begin", "entailed" if label == "entailed" else "not_entailed"
        premise = f"in site {site} the fee is forty euros ."
        rows.append({"source": source, "premise": premise, "hypothesis": claim, "label": label})
    with gzip.open(path, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def test_a_bad_row_is_named(tmp_path: Path) -> None:
    """The message holds the file, the line and what is wrong with it."""
    path = tmp_path / "rows.jsonl"
    good = {"source": "s", "premise": "p", "hypothesis": "h", "label": "entailed"}
    for bad in ({"label": "maybe"}, {"premise": ""}):
        path.write_text(json.dumps(good) + "\n" + json.dumps(good | bad) + "\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"rows\.jsonl, line 2"):
            read_rows(path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        read_rows(path)
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds no pairs"):
        read_rows(path)


def test_rows_of_one_premise_stay_on_one_side() -> None:
    """No premise is both trained on and held out; grounding sources give more."""
    rows = [
        Row(source, f"premise {n}", f"hypothesis {h}", "entailed")
        for source in ("plain", "summedits_x")
        for n in range(2000)
        for h in range(2)
    ]
    train, held = held_out(rows, 0.05)
    assert {r.premise for r in train if r.source == "plain"}.isdisjoint(
        {r.premise for r in held if r.source == "plain"}
    )
    assert len(train) + len(held) == len(rows)
    assert held_out(rows, 0.05) == (train, held)
    plain = sum(row.source == "plain" for row in held)
    assert 0.03 < plain / 4000 < 0.07
    assert sum(row.source == "summedits_x" for row in held) > 3 * plain


def test_a_limit_keeps_every_source() -> None:
    """A limited run sees the same mixture, not the head of the file."""
    rows = [Row(f"s{n // 100}", "p", "h", "entailed") for n in range(1000)]
    assert len({row.source for row in limited(rows, 50)}) == 10
    assert list(limited(rows, None)) == rows


def test_batches_hold_every_example_once_within_their_room() -> None:
    """Bucketing loses nothing, and a batch's padded size stays within its tokens."""
    rng = random.Random(1)
    examples = [Example(tuple([n] * rng.randint(3, 40)), 2, (0,)) for n in range(500)]
    found = batches(examples, tokens=128, rng=random.Random(2))
    assert sorted(e.ids for batch in found for e in batch) == sorted(e.ids for e in examples)
    assert all(max(len(e.ids) for e in batch) * len(batch) <= 128 for batch in found)
    assert found == batches(examples, tokens=128, rng=random.Random(2))


def test_segments_mark_the_claim() -> None:
    """The claim and its marker are segment 1; padding is masked."""
    ids, segments, mask, labels = tensors(
        [Example((1, 2, 3, 4, 5), 3, (2,)), Example((1, 2), 1, (0,))], "cpu"
    )
    assert segments.tolist() == [[0, 0, 0, 1, 1], [0, 1, 0, 0, 0]]
    assert mask.tolist() == [[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]
    assert ids.shape == (2, 5)
    assert labels.tolist() == [2, 0]


def test_claims_about_one_text_go_together_while_there_is_room(weights: Path) -> None:
    """Each claim keeps its label and its place; one that does not fit begins another example."""
    tokenizer = open_tokenizer(weights)
    rows = [Row("s", "the fee is forty euros .", f"the fee is {n} .", label)
            for n, label in (("forty", "entailed"), ("fifty", "contradicted"), ("a", "neutral"))]  # fmt: skip
    split = make_splitter("rules")
    apart = encode_rows(rows, tokenizer, split, room=64)
    room = len(apart[0].ids) + len(apart[1].ids) - apart[1].evidence
    found = encode_rows(rows, tokenizer, split, room=64, together=room)
    assert [example.labels for example in found] == [(0, 2), (1,)]
    assert found[0].ids == (*apart[0].ids, *apart[1].ids[apart[1].evidence :])
    assert found[0].segments().count(2) == len(apart[1].ids) - apart[1].evidence
    assert found[1] == apart[2]


def test_two_way_rows_teach_the_support_side_only() -> None:
    """Not-entailed pushes entailed down and leaves neutral against contradicted alone."""
    logits = torch.tensor([[0.3, 1.0, -2.0]], requires_grad=True)
    loss = loss_of(logits, torch.tensor([3]), 0.0)
    loss.backward()
    assert logits.grad is not None
    shares = torch.softmax(logits.detach(), dim=-1)[0]
    assert torch.isclose(loss.detach(), -torch.log(1 - shares[0]))
    entailed, neutral, contradicted = logits.grad[0].tolist()
    assert entailed > 0 > neutral
    # Both rise in proportion to what they have: their ratio stays what it was.
    assert abs(neutral / contradicted - float(shares[1] / shares[2])) < 1e-4


def test_the_focused_window_takes_what_completes_the_claim() -> None:
    """The second sentence taken is the one that adds words, not a second copy of the first."""
    sentences = [
        "the north site runs a pump.",
        "the north site runs a pump at times.",
        "filler of no use here.",
        "its valve was made in vega.",
    ]
    chosen = focused("the north site pump has a valve made in vega", sentences, [7] * 4, room=14)
    assert 3 in chosen
    assert len(chosen) == 2
    assert focused("nothing shared whatsoever", ["alpha beta."], [3], room=10) == ()


def test_a_stopped_stage_goes_on_to_the_same_weights(weights: Path, tmp_path: Path) -> None:
    """A stage broken off after a save ends with the weights of a stage that ran through."""
    schedule = Schedule("s", 1, 1e-3, 64, 0.0, 0.9, 7)
    rng = random.Random(3)
    epochs = [
        [Example(tuple(rng.choices(range(20), k=8)), 5, (rng.randint(0, 3),)) for _ in range(160)]
    ]

    def run(name: str, stop_at: int | None) -> dict[str, object]:
        torch.manual_seed(1)
        backbone, shape = open_backbone(weights)
        model = PairClassifier(backbone, shape["hidden_size"])
        state = tmp_path / f"{name}.state"

        def stop(line: str, done: int, total: int) -> None:
            if done == stop_at:
                raise KeyboardInterrupt

        def quiet(line: str, done: int, total: int) -> None:
            return

        if stop_at is not None:
            first = Trainer(model, schedule, device="cpu", state_path=state, save_seconds=-1.0)
            # Progress is told at the last step: the state of the step before is on disk.
            with pytest.raises(KeyboardInterrupt):
                first.run(epochs, stop)
            assert state.exists()
        again = Trainer(model, schedule, device="cpu", state_path=state, save_seconds=-1.0)
        again.run(epochs, quiet)
        assert not state.exists()
        return {name: value.clone() for name, value in model.state_dict().items()}

    whole, broken = run("whole", None), run("broken", 20)
    assert all(torch.equal(whole[name], broken[name]) for name in whole)


def test_a_run_learns_and_is_taken_up(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command trains a stage that tells the two fees apart, and does not train it twice."""
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    config, pairs = tmp_path / "c.toml", _pairs(tmp_path / "p.jsonl.gz", 600)
    config.write_text(CONFIG, encoding="utf-8")
    command = ["--config", str(config), "--pairs", str(pairs), "--weights", str(weights)]
    command += [
        "--work",
        str(tmp_path / "work"),
        "--limit",
        "500",
        "--threads",
        "1",
        "--device",
        "cpu",
    ]
    assert main(command) == 0
    folder = tmp_path / "work" / "1-one"
    assert {p.name for p in folder.iterdir()} == {
        "model.safetensors",
        "config.json",
        "tokenizer.json",
    }
    backbone, shape = open_backbone(weights)
    model = PairClassifier(backbone, shape["hidden_size"])
    model.load_state_dict(load_file(folder / "model.safetensors"))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")

    def pair(fee: str) -> Example:
        premise = tokenizer.encode("in site a a a the fee is forty euros .").ids
        claim = tokenizer.encode(f"the fee is {fee} euros .").ids
        return Example((cls, *premise, sep, *claim, sep), len(premise) + 2, (0,))

    right, wrong = logits_of(model, [pair("forty"), pair("fifty")], device="cpu")
    assert right[0] > max(right[1:])
    assert wrong[2] > wrong[0]
    capsys.readouterr()
    out = tmp_path / "model"
    assert main([*command, "--out", str(out)]) == 0
    assert "there already" in capsys.readouterr().err
    verifier = EmbeddedVerifier(out)
    evidence = "in site a b a the fee is forty euros ."
    right, wrong = verifier.judge(
        [Pair(f"the fee is {fee} euros .", evidence) for fee in ("forty", "fifty")]
    )
    assert right.entailed > wrong.entailed
    manifest = out / "manifest.json"
    assert verifier.identity.sha256 == hashlib.sha256(manifest.read_bytes()).hexdigest()
    calibration = out / "calibration.json"
    calibration.write_bytes(calibration.read_bytes().replace(b"temperature", b"temperaturE"))
    with pytest.raises(ModelError, match="was changed"):
        EmbeddedVerifier(out)


def test_an_mpnet_keeps_its_frozen_layers_and_loses_the_top_ones(
    weights: Path, tmp_path: Path
) -> None:
    """Of three layers two are kept and the lower one stays; the result can be trained further."""
    from safetensors.torch import load_file
    from transformers import MPNetConfig, MPNetModel

    folder = tmp_path / "mpnet"
    torch.manual_seed(1)
    shape = MPNetConfig(
        vocab_size=len(WORDS) + 2,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=80,
    )
    MPNetModel(shape, add_pooling_layer=False).save_pretrained(folder)
    names = (weights / "tokenizer.json").read_text(encoding="utf-8")
    for old, new in (("[CLS]", "<s>"), ("[SEP]", "</s>"), ("[UNK]", "<unk>")):
        names = names.replace(f'"{old}"', f'"{new}"')
    (folder / "tokenizer.json").write_text(names, encoding="utf-8")
    config = tmp_path / "c.toml"
    two = "room = 32\nlayers = 2\nfrozen = 1"
    config.write_text(CONFIG.replace("room = 32", two).replace("= 6", "= 1"), encoding="utf-8")
    pairs = _pairs(tmp_path / "p.jsonl.gz", 200)
    command = ["--config", str(config), "--pairs", str(pairs), "--weights", str(folder)]
    assert main([*command, "--work", str(tmp_path / "work"), "--device", "cpu"]) == 0
    before = load_file(folder / "model.safetensors")
    after = load_file(tmp_path / "work" / "1-one" / "model.safetensors")
    part = "encoder.layer.{}.output.dense.weight"
    assert torch.equal(before[part.format(0)], after[f"backbone.{part.format(0)}"])
    assert not torch.equal(before[part.format(1)], after[f"backbone.{part.format(1)}"])
    assert not any(".layer.2." in name for name in after)
    again = open_model(tmp_path / "work" / "1-one").state_dict()
    assert all(torch.equal(again[name], value) for name, value in after.items())
    _reads_what_is_quoted(tmp_path / "work" / "1-one", read_config(config), tmp_path / "reading")
    config.write_text('merged = "with the start"\n' + config.read_text("utf-8"), "utf-8")
    command[-1] = str(tmp_path / "work" / "1-one")
    assert main([*command, "--work", str(tmp_path / "more"), "--device", "cpu"]) == 0
    end = load_file(tmp_path / "more" / "1-one" / "model.safetensors")
    mean = load_file(tmp_path / "more" / "merged" / "model.safetensors")
    assert not torch.equal(end["dense.weight"], after["dense.weight"])
    assert all(torch.allclose(mean[name], (after[name] + end[name]) / 2) for name in end)


def _reads_what_is_quoted(checkpoint: Path, config: TrainingConfig, out: Path) -> None:
    """The checkpoint becomes a verifier: what stands there needs no network, the rest is read."""
    texts = ("The fee is forty euros. The site is in a b.", "The fee is fifty euros. A site a b.")
    claims = (
        ("The fee at the site is forty euros.", "ec"),
        ("The fee at the site is fifty euros.", "ce"),
        ("The fee is in the site.", "nn"),
    )
    cases = [
        NearMiss(f"f{n}", (texts[0] + f" A {w}.", texts[1]), claims) for n, w in enumerate("abcde")
    ]
    build_reading(config, checkpoint, cases, out=out, say=str)
    verifier = make_verifier(f"reading:{out}")
    quoted, other, asked = verifier.judge(
        [
            Pair("The fee is forty euros.", "The fee is forty euros."),
            Pair("The fee is fifty euros.", "The fee is forty euros."),
            Pair("The fee is forty euros.", "Is the fee forty euros?"),
        ]
    )
    assert (quoted.label, quoted.entailed) == ("entailed", 0.99)
    assert other.label != "error"
    assert asked.entailed <= DOUBT_CEILING


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = 1", "name"),
        (CONFIG + "tau = 1\n", "tau"),
        (CONFIG.replace("epochs = 6", ""), "epochs"),
        ("name='a'\nversion='1'\nseed=1\nstages=[]", "stages"),
        ("[", "cannot read"),
    ],
)
def test_a_bad_config_is_named(tmp_path: Path, text: str, said: str) -> None:
    """Unknown, missing and mistyped settings are refused by name."""
    path = tmp_path / "c.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_config(path)


def test_the_config_of_the_larger_network_is_sound() -> None:
    """Its stage reads near misses, and the slots are filled at least once an epoch."""
    config = read_config(Path(__file__).parents[2] / "training" / "near_misses.toml")
    assert config.fills >= 1
    assert all(stage.shares.get("near_", 1.0) > 0 for stage in config.stages)


def test_the_shipped_config_is_sound() -> None:
    """The recipe beside the code can be read."""
    config = read_config(Path(__file__).parents[2] / "training" / "verifier.toml")
    assert config.room <= config.max_tokens


def test_bad_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Missing pairs, weights or a limit of nothing end with code 2 and one line."""
    config = tmp_path / "c.toml"
    config.write_text(CONFIG, encoding="utf-8")
    base = ["--config", str(config), "--weights", str(tmp_path), "--work", str(tmp_path / "w")]
    for more in (["--pairs", "absent.jsonl"], ["--pairs", "absent.jsonl", "--limit", "3"]):
        assert main([*base, *more]) == 2
        err = capsys.readouterr().err
        assert err.startswith("error: ")
        assert err.count("\n") == 1
