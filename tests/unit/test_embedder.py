"""The embedder that ships: its files, its closeness to the original, its vectors' behaviour."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from certirag.adapters.embedders.minilm import GRAPH, TOKENIZER, OnnxEmbedder
from certirag.errors import InputError, MissingExtra, ModelError
from certirag.settings import ASSETS

DIRECTORY = ASSETS / "models" / "embedder"
# A rebuild that changes a byte changes these; write the new ones with the reason in CHANGELOG.
HELD = {
    "model.int8.onnx": "b6ebbe6b2b48e2db389c9ae86296d6dc809ef246387b54af8c17dd3d0bf6b45c",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "golden.json": "af4286dfc8b53ab235dcd29616fdc41c5c3de7935730b4900315ffbd74d5d5ae",
    "manifest.json": "478f3f584982570e354ac247d33cd5076729bff6cf34d456da4d7390bf8a2bcf",
}
GOLDEN = json.loads((DIRECTORY / "golden.json").read_text(encoding="utf-8"))
LONG = " ".join(f"Clause {n} binds the tenant of flat {n * 7 % 90}." for n in range(120))


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    """Return the embedder that ships, opened once for this file."""
    return OnnxEmbedder(DIRECTORY)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the model's directory that a test may spoil."""
    return Path(shutil.copytree(DIRECTORY, tmp_path / "embedder"))


@pytest.mark.parametrize("name", sorted(HELD))
def test_every_file_has_its_held_digest(name: str) -> None:
    """The files that ship are those that were measured, byte for byte."""
    assert hashlib.sha256((DIRECTORY / name).read_bytes()).hexdigest() == HELD[name]


def test_the_directory_is_small_and_complete() -> None:
    """All of it, tokeniser included, fits in 25 MB, and nothing lies there unlisted."""
    files = {path.name: path.stat().st_size for path in DIRECTORY.iterdir()}
    assert set(files) == {*HELD, "MODEL_CARD.md"}
    assert sum(files.values()) <= 25_000_000


def test_the_card_names_origin_licence_and_digests() -> None:
    """The model card says where the weights come from, their licence, and what to compare."""
    card = (DIRECTORY / "MODEL_CARD.md").read_text(encoding="utf-8")
    for expected in ("Apache-2.0", "sentence-transformers/all-MiniLM-L6-v2", HELD[GRAPH]):
        assert expected in card


@pytest.mark.parametrize("entry", GOLDEN["texts"], ids=lambda entry: entry["text"][:24] or "empty")
def test_vectors_are_those_of_the_original(embedder: OnnxEmbedder, entry: dict) -> None:
    """Every golden text's vector has a cosine of at least 0.98 with the 32-bit original's."""
    wanted = np.array(entry["vector"])
    assert np.linalg.norm(wanted) == pytest.approx(1, abs=1e-4)
    assert float(embedder.embed([entry["text"]])[0] @ wanted) >= 0.98


def test_token_vectors_are_those_of_the_original(embedder: OnnxEmbedder) -> None:
    """Each token's vector is close to the original's, and no marker is among them."""
    wanted = np.array(GOLDEN["tokens"]["vectors"])
    (found,) = embedder.embed_tokens([GOLDEN["tokens"]["text"]])
    assert found.shape == wanted.shape
    assert (found * wanted).sum(axis=1).min() >= 0.97


def test_meaning_decides_nearness(embedder: OnnxEmbedder) -> None:
    """A paraphrase is nearer than a sentence about something else."""
    claim, same, other = embedder.embed(
        [
            "Employees may work from home two days a week.",
            "Staff are allowed to telework on two days each week.",
            "The pump must be serviced by a certified plumber.",
        ]
    )
    assert claim @ same > claim @ other + 0.4


def test_a_text_has_one_vector_whatever_it_is_embedded_with() -> None:
    """Company, order and thread count never change one bit of a text's vectors."""
    texts = [entry["text"] for entry in GOLDEN["texts"]] + [LONG, "x", "Flood?"]
    shuffled = texts[::-2] + texts[-2::-2]
    one, four = OnnxEmbedder(DIRECTORY, threads=1), OnnxEmbedder(DIRECTORY, threads=4)
    together = dict(zip(shuffled, four.embed(shuffled), strict=True))
    tokens_together = dict(zip(shuffled, four.embed_tokens(shuffled), strict=True))
    for text in texts:
        assert np.array_equal(one.embed([text])[0], together[text])
        assert np.array_equal(one.embed_tokens([text])[0], tokens_together[text])


def test_callers_on_many_threads_get_the_same_vectors(embedder: OnnxEmbedder) -> None:
    """Sharing one embedder between threads changes nothing."""
    texts = [entry["text"] for entry in GOLDEN["texts"]]
    alone = embedder.embed(texts)
    with ThreadPoolExecutor(6) as pool:
        for vectors in pool.map(embedder.embed, [texts] * 12):
            assert np.array_equal(vectors, alone)


def test_nothing_of_a_long_text_is_dropped(embedder: OnnxEmbedder) -> None:
    """Every token of a long text has a vector, and its last words move the text's vector."""
    (tokens,) = embedder.embed_tokens([LONG])
    encoding = embedder._tokenizer.encode(LONG, add_special_tokens=False)
    assert len(encoding.ids) > 1000
    assert tokens.shape == (len(encoding.ids), 384)
    plain, changed = embedder.embed([LONG, LONG + " Sharks hunt at night in warm seas."])
    assert np.linalg.norm(plain) == pytest.approx(1, abs=1e-6)
    assert not np.array_equal(plain, changed)


@pytest.mark.parametrize(
    ("tokens", "windows"),
    [
        (0, [0]),
        (1, [1]),
        (254, [254]),
        (255, [127, 128]),
        (508, [254, 254]),
        (509, [169, 170, 170]),
    ],
)
def test_windows_are_nearly_equal_and_within_the_limit(
    embedder: OnnxEmbedder, tokens: int, windows: list[int]
) -> None:
    """A text is cut into as few windows as hold it, of lengths that differ by one at most."""
    cut = embedder._windows("a " * tokens)
    assert [len(window) - 2 for window in cut] == windows
    assert all(len(window) <= 256 for window in cut)


def test_no_texts_and_empty_texts_keep_their_shapes(embedder: OnnxEmbedder) -> None:
    """No text gives no row; an empty or blank text gives a unit row and no token vectors."""
    assert embedder.embed([]).shape == (0, 384)
    assert embedder.embed_tokens([]) == ()
    vectors = embedder.embed(["", " \n\t"])
    assert np.array_equal(vectors[0], vectors[1])
    assert [rows.shape for rows in embedder.embed_tokens(["", "\u200b"])] == [(0, 384)] * 2


@pytest.mark.parametrize(
    "text",
    ["[SEP]", "[CLS] [MASK] [PAD]", "\ud800 half a pair", "\x00\x01", "a\u0301" * 400, "𝔙" * 300],
)
def test_hostile_texts_are_text(embedder: OnnxEmbedder, text: str) -> None:
    """Markers, broken code points and control characters give finite unit vectors."""
    vector = embedder.embed([text])[0]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_a_written_marker_is_not_a_marker(embedder: OnnxEmbedder) -> None:
    """The five characters [SEP] in a document are three tokens of text."""
    assert embedder.embed_tokens(["[SEP]"])[0].shape == (3, 384)


@pytest.mark.parametrize("texts", ["a lone text", b"bytes", [b"bytes"], [None], [3]])
def test_what_is_not_a_sequence_of_texts_is_refused(embedder: OnnxEmbedder, texts: object) -> None:
    """A lone text or a stranger among the texts is an InputError, never letters embedded."""
    with pytest.raises(InputError):
        embedder.embed(texts)


def test_identity_is_the_manifest_digest(embedder: OnnxEmbedder) -> None:
    """What a certificate records is the digest that sha256sum gives for manifest.json."""
    identity = embedder.identity
    assert (identity.role, identity.name) == ("embedder", "all-MiniLM-L6-v2")
    assert identity.sha256 == HELD["manifest.json"]


@pytest.mark.parametrize("name", [GRAPH, TOKENIZER, "golden.json"])
def test_a_changed_file_is_refused(copy: Path, name: str) -> None:
    """One changed byte in any listed file: ModelError that names the file."""
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    with pytest.raises(ModelError, match=name):
        OnnxEmbedder(copy)


@pytest.mark.parametrize("name", [GRAPH, TOKENIZER, "golden.json", "manifest.json"])
def test_a_missing_file_is_refused(copy: Path, name: str) -> None:
    """A missing file: ModelError that names it and the mend."""
    (copy / name).unlink()
    with pytest.raises(ModelError, match=rf"{name}.*restore"):
        OnnxEmbedder(copy)


@pytest.mark.parametrize(
    "change",
    [
        {"files": {}},
        {"files": None},
        {"files": {GRAPH: HELD[GRAPH], TOKENIZER: HELD[TOKENIZER], "../golden.json": "0"}},
        {"files": {GRAPH: HELD[GRAPH], TOKENIZER: None}},
        {"dimension": 0},
        {"dimension": True},
        {"dimension": 383},
        {"max_tokens": "256"},
        {"max_tokens": 2},
        {"name": ""},
        {"version": None},
    ],
)
def test_a_malformed_manifest_is_refused(copy: Path, change: dict) -> None:
    """A manifest that lacks, misnames or contradicts something gives no embedder, or no vector."""
    path = copy / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ModelError):
        OnnxEmbedder(copy).embed(["text"])


@pytest.mark.parametrize("content", ["", "[]", "{", "null", '"files"'])
def test_a_manifest_that_is_no_object_is_refused(copy: Path, content: str) -> None:
    """Anything but a JSON object is not a manifest."""
    (copy / "manifest.json").write_text(content)
    with pytest.raises(ModelError, match=r"manifest\.json"):
        OnnxEmbedder(copy)


@pytest.mark.parametrize("name", [GRAPH, TOKENIZER])
def test_a_listed_file_that_does_not_load_is_refused(copy: Path, name: str) -> None:
    """A file whose digest holds but which is no model or tokeniser: ModelError, no crash."""
    (copy / name).write_bytes(b"not a model")
    path = copy / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["files"][name] = hashlib.sha256(b"not a model").hexdigest()
    path.write_text(json.dumps(manifest))
    with pytest.raises(ModelError, match="does not load"):
        OnnxEmbedder(copy)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_package_names_the_install_command(monkeypatch, package: str) -> None:
    """Without its package the embedder raises MissingExtra with the command."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=f"pip install {package}"):
        OnnxEmbedder(DIRECTORY)


def test_no_threads_are_refused() -> None:
    """A thread count below one is an error, not a default."""
    with pytest.raises(ModelError, match="threads"):
        OnnxEmbedder(DIRECTORY, threads=0)


def test_a_vector_without_direction_is_refused(embedder: OnnxEmbedder, monkeypatch) -> None:
    """Zeros or NaN out of the model are a ModelError, never a vector."""
    for value in (0.0, np.nan, np.inf):
        broken = lambda ids, value=value: np.full((len(ids), 384), value, np.float32)  # noqa: E731
        monkeypatch.setattr(embedder, "_run", broken)
        with pytest.raises(ModelError):
            embedder.embed(["text"])
        with pytest.raises(ModelError):
            embedder.embed_tokens(["text"])


def test_the_embedder_never_imports_torch() -> None:
    """The default path stays free of torch and transformers."""
    program = (
        "import sys; from certirag.settings import ASSETS; "
        "from certirag.adapters.embedders.minilm import OnnxEmbedder; "
        "OnnxEmbedder(ASSETS / 'models' / 'embedder').embed(['text']); "
        "sys.exit(bool({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)))"
    )
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == 0
