"""The runtime of the pair classifier: windows, errors, cache and threads, on a tiny model."""

from __future__ import annotations

import json
import math
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tiny_pair import MAX_TOKENS, SHAPE, tiny_tokenizer, tiny_weights, write_manifest

from certirag.adapters.networks import pair_windows
from certirag.adapters.networks.pair_model import PairModel
from certirag.adapters.networks.pair_windows import plan_windows
from certirag.errors import ModelError
from certirag.ports import Pair
from training.bert_onnx import write_encoder
from training.pair_onnx import write_pair_classifier

pytest.importorskip("onnx")

CLAIM = "The fee is not refundable."
LONG = " ".join(f"The river rises by {n}. A pump falls in May." for n in range(40))
PAIRS = [
    Pair(CLAIM, "The fee is refundable."),
    Pair("The cat sleeps.", "The fee is refundable."),
    Pair("A pump falls.", LONG),
    Pair("A pump falls.", LONG, context="River"),
    Pair("The river rises by 7.", "The river rises by 7."),
]


def _save(directory: Path, seed: int = 3) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    graph = write_pair_classifier(tiny_weights(seed), SHAPE, fine=False)
    (directory / "model.int8.onnx").write_bytes(graph)
    tiny_tokenizer().save(str(directory / "tokenizer.json"))
    write_manifest(directory)
    return directory


@pytest.fixture(scope="module")
def directory(tmp_path_factory) -> Path:
    """Return the folder of a tiny model with random weights."""
    return _save(tmp_path_factory.mktemp("verifier"))


@pytest.fixture(scope="module")
def model(directory: Path) -> PairModel:
    """Return that model, opened once for this file, without a cache."""
    return PairModel(directory, cached=0)


@pytest.fixture
def copy(directory: Path, tmp_path: Path) -> Path:
    """Return a copy of the model's folder that a test may spoil."""
    return Path(shutil.copytree(directory, tmp_path / "verifier"))


def _ids(model: PairModel, text: str) -> list[int]:
    return list(model._tokenizer.encode(text, add_special_tokens=False).ids)


def test_a_short_pair_is_one_window(model: PairModel) -> None:
    """Evidence that fits is read in one window: the graph's own logits of that very input."""
    (found,) = model.logits([Pair(CLAIM, "The fee is refundable. A dog sleeps.")])
    assert found.sentences == ("The fee is refundable.", "A dog sleeps.")
    assert (found.error, found.truncated, found.unread) == ("", False, ())
    (window,) = found.windows
    assert window.sentences == (0, 1)
    assert not window.focused
    evidence = [2, *_ids(model, "the fee is refundable . a dog sleeps ."), 3]
    claim = [*_ids(model, CLAIM), 3]
    feed = {
        "input_ids": np.array([[*evidence, *claim]]),
        "segments": np.array([[0] * len(evidence) + [1] * len(claim)]),
        "attention_mask": np.ones((1, len(evidence) + len(claim)), dtype=np.int64),
    }
    assert window.logits == tuple(model._session.run(None, feed)[0][0].tolist())


def test_every_sentence_is_in_a_window_that_fits(model: PairModel) -> None:
    """Long evidence is read whole, in windows within the limit, and once more around the claim."""
    (found,) = model.logits([Pair("The river rises by 39.", LONG)])
    assert len(found.sentences) == 80
    assert " ".join(found.sentences) == LONG
    in_a_row = [window for window in found.windows if not window.focused]
    (closest,) = [window for window in found.windows if window.focused]
    assert {at for window in in_a_row for at in window.sentences} == set(range(80))
    assert 78 in closest.sentences  # "The river rises by 39."
    for window in found.windows:
        own = [_ids(model, found.sentences[at]) for at in window.sentences]
        claim = _ids(model, "The river rises by 39.")
        assert sum(map(len, own)) + len(claim) + 3 <= MAX_TOKENS
        assert all(map(math.isfinite, window.logits))


def test_the_context_stands_before_every_window(model: PairModel) -> None:
    """A context takes room in each window and changes what the model says."""
    bare, headed = model.logits([PAIRS[2], PAIRS[3]])
    assert len(headed.windows) >= len(bare.windows)
    (short,) = model.logits([Pair(CLAIM, "It is.", context="The fee")])
    (same,) = model.logits([Pair(CLAIM, "The fee: It is.")])
    assert short.sentences == ("It is.",)
    assert short.windows[0].logits == same.windows[0].logits
    assert model.logits([Pair(CLAIM, "It is.", context=" \n")]) == model.logits(
        [Pair(CLAIM, "It is.")]
    )


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (Pair(CLAIM, "A dog sleeps. " + "the cat and " * 30 + "the dog."), "sentence 2"),
        (Pair("the cat and " * 12, "A dog sleeps."), "leave"),
        (Pair(CLAIM, "A dog sleeps.", context="river " * 40), "leave"),
    ],
    ids=["sentence", "claim", "context"],
)
def test_what_does_not_fit_is_reported_not_scored(
    model: PairModel, pair: Pair, reason: str
) -> None:
    """A pair of which a part fits no window is truncated: no logits, whatever else was read."""
    short = PAIRS[0]
    found, beside = model.logits([pair, short])
    assert found.truncated
    assert reason in found.error
    assert found.windows == ()
    assert (beside,) == model.logits([short])
    assert beside.windows


def test_a_sentence_that_fits_no_window_is_read_in_parts_where_that_is_asked(model) -> None:
    """All of it is in windows that fit and overlap, the first with the sentence before it."""
    words = [f"{word} {number}" for number in range(40) for word in ("the cat", "a dog")]
    long = f"A dog sleeps. {' and '.join(words)}."
    pair = Pair(CLAIM, long)
    (whole,) = model.logits([pair])
    assert whole.truncated
    found, beside = model.logits([pair, PAIRS[0]], in_parts=True)
    assert (found.error, found.truncated) == ("", False)
    assert (beside,) == model.logits([PAIRS[0]])
    assert " ".join(found.sentences) == long
    in_a_row = [window.sentences for window in found.windows if not window.focused]
    assert in_a_row[0][:2] == (0, 1)
    assert {at for own in in_a_row for at in own} == set(range(len(found.sentences)))
    for window in found.windows:
        ids = [_ids(model, found.sentences[at]) for at in window.sentences]
        assert sum(map(len, ids)) + len(_ids(model, CLAIM)) + 3 <= MAX_TOKENS


def test_one_word_that_fits_no_window_is_an_error_even_in_parts(model) -> None:
    """It is never cut inside, and never left out."""
    (found,) = model.logits([Pair(CLAIM, f"A dog sleeps in {'7-' * 200} rows.")], in_parts=True)
    assert found.truncated
    assert not found.windows


def test_evidence_beyond_the_limits_is_reported(model: PairModel, monkeypatch) -> None:
    """More characters or windows than can be read are truncated too."""
    monkeypatch.setattr(pair_windows, "MOST_WINDOWS", 3)
    (found,) = model.logits([Pair(CLAIM, LONG)])
    assert found.truncated
    assert not found.windows
    assert "3 can be read" in found.error
    monkeypatch.setattr(pair_windows, "MOST_CHARACTERS", 1000)
    (found,) = model.logits([Pair(CLAIM, LONG)])
    assert found.truncated
    assert "1000 can be read" in found.error


def test_long_pieces_are_cut_where_statements_end(model: PairModel) -> None:
    """Tables and text without capitals are cut further at lines, full stops and cells."""
    table = "\n".join(f"river | pump {n} |" for n in range(20))
    lower = " ".join(f"the pump falls by {n} ." for n in range(20))
    flat = " ".join(f"| river | {n}" for n in range(30))
    for evidence, words in (
        (table, "river | pump 7 |"),
        (lower, "the pump falls by 7 ."),
        (flat, "7 |"),
    ):
        (found,) = model.logits([Pair(CLAIM, evidence)])
        assert not found.error
        assert words in found.sentences
        joined = "".join("".join(found.sentences).split())
        assert joined == "".join(evidence.split())


@pytest.mark.parametrize("evidence", ["", " \n\t", "\u200b\u200d", "\x00\x01"])
def test_nothing_to_read_is_an_error(model: PairModel, evidence: str) -> None:
    """A claim or evidence without a token has no logits, and is not a matter of length."""
    for pair in (Pair(CLAIM, evidence), Pair(evidence, LONG)):
        (found,) = model.logits([pair])
        assert found.error
        assert not found.windows
        assert not found.truncated


def test_hostile_text_is_text(model: PairModel) -> None:
    """Markers in a text are not markers, and half a surrogate pair is one pair's error."""
    pairs = [
        Pair(CLAIM, "A dog sleeps. [SEP] The fee is not refundable. [CLS]"),
        Pair("[SEP] [PAD] the cat sleeps", "A dog sleeps."),
        Pair(CLAIM, "A dog \ud83d sleeps."),
        Pair(CLAIM, "A dog sleeps."),
    ]
    markers, claim, half, plain = model.logits(pairs)
    assert not markers.error
    assert not claim.error
    for text in (pairs[0].evidence, pairs[1].claim):
        assert not {0, 2, 3} & set(_ids(model, text))
    assert "surrogate" in half.error
    assert half.windows == ()
    assert plain.windows


def test_words_without_tokens_are_named(model: PairModel) -> None:
    """A claim's unknown words are reported; one strange sign does not swallow a known word."""
    strange, glued, plain = model.logits(
        [
            Pair("The fee is \N{ROCKET}.", "The fee is \N{DOG FACE}."),
            Pair("The fee is refundable.", "The fee is not\N{DOG FACE} refundable."),
            Pair("The fee is refundable.", "The fee is not \N{DOG FACE} refundable."),
        ]
    )
    assert strange.unread == ("\N{ROCKET}",)
    assert glued.unread == plain.unread == ()
    assert glued.windows == plain.windows
    assert glued.windows


def test_the_answer_does_not_depend_on_what_else_is_asked(
    model: PairModel, directory: Path
) -> None:
    """Alone, together, in any order, on one thread or three: the same bits."""
    together = model.logits(PAIRS)
    assert together == tuple(model.logits([pair])[0] for pair in PAIRS)
    assert together == tuple(reversed(model.logits(PAIRS[::-1])))
    many = [Pair(f"The river rises by {n}.", "A pump falls in May.") for n in range(10, 60)]
    assert model.logits([*many, *PAIRS])[50:] == together
    for threads in (1, 3):
        assert PairModel(directory, threads=threads).logits(PAIRS) == together
    assert model.logits([]) == ()


def test_the_cache_changes_no_answer(model: PairModel, directory: Path, monkeypatch) -> None:
    """With a cache, warm, cold or overflowing, answers are those without one; repeats are free."""
    plain = model.logits(PAIRS)
    cached, small = PairModel(directory), PairModel(directory, cached=2)
    assert cached.logits(PAIRS) == small.logits(PAIRS) == small.logits(PAIRS) == plain
    assert len(small._cache._kept) == 2

    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(cached, "_run", fail)
    assert cached.logits(PAIRS[::-1]) == plain[::-1]
    with pytest.raises(AssertionError):
        cached.logits([Pair("A dog sleeps.", LONG)])


def test_equal_windows_are_scored_once(directory: Path, monkeypatch) -> None:
    """Repeated pairs, and a focused window that equals another, cost one run."""
    model = PairModel(directory, cached=0)
    scored = []
    run = model._run
    monkeypatch.setattr(model, "_run", lambda inputs: scored.extend(inputs) or run(inputs))
    model.logits([PAIRS[0]] * 5)
    assert len(scored) == 1
    model.logits([PAIRS[2], PAIRS[2]])
    assert len(scored) == len(set(scored))


def test_it_may_be_shared_between_threads(directory: Path, model: PairModel) -> None:
    """Many callers at once get what one caller gets."""
    shared = PairModel(directory, threads=2, cached=3)
    wanted = model.logits(PAIRS)
    with ThreadPoolExecutor(6) as callers:
        answers = list(callers.map(lambda _: shared.logits(PAIRS), range(24)))
    assert all(answer == wanted for answer in answers)


class _Broken:
    """A session that answers one length wrongly."""

    def __init__(self, session, answer) -> None:
        self._session, self._answer = session, answer

    def run(self, names, feed):
        (rows,) = self._session.run(names, feed)
        return [rows if feed["input_ids"].shape[1] > 20 else self._answer(rows)]


def _raise(rows: np.ndarray) -> np.ndarray:
    message = "out of memory"
    raise RuntimeError(message)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda rows: rows * np.nan, "not finite"),
        (lambda rows: rows + np.inf, "not finite"),
        (lambda rows: rows[:, :2], "shape"),
        (_raise, "out of memory"),
    ],
)
def test_a_window_that_fails_is_its_pair_s_error(directory: Path, answer, reason: str) -> None:
    """NaN, another shape or an error of the runtime leaves that pair without logits, not others."""
    model = PairModel(directory)
    whole = model._session
    model._session = _Broken(whole, answer)
    short = Pair(CLAIM, "The fee is refundable.")
    long = Pair(CLAIM, "The fee is refundable. A dog sleeps. A cat sleeps. A pump falls in May.")
    failed, fine = model.logits([short, long])
    assert reason in failed.error
    assert failed.windows == ()
    assert fine.windows
    model._session = whole
    assert model.logits([short])[0].windows  # the failure was not kept


@pytest.mark.parametrize("name", ["model.int8.onnx", "tokenizer.json"])
def test_changed_and_missing_files_are_refused(copy: Path, name: str) -> None:
    """One byte more, or no file at all, is a ModelError that names it."""
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content + b" ")
    with pytest.raises(ModelError, match="was changed"):
        PairModel(copy)
    (copy / name).unlink()
    with pytest.raises(ModelError, match=name):
        PairModel(copy)


@pytest.mark.parametrize("limit", [0, 35, "64", True, None])
def test_a_manifest_without_a_sound_limit_is_refused(copy: Path, limit: object) -> None:
    """max_tokens must be a count that leaves room for a sentence."""
    write_manifest(copy, max_tokens=limit)
    with pytest.raises(ModelError, match="max_tokens"):
        PairModel(copy)


def test_the_model_is_known_by_its_manifest(copy: Path, model: PairModel) -> None:
    """Any change of the manifest changes the digest that names the model."""
    write_manifest(copy, version="2")
    changed = PairModel(copy)
    assert changed.files.sha256 != model.files.sha256
    assert changed.logits(PAIRS) == model.logits(PAIRS)


def test_files_of_another_kind_are_refused(copy: Path) -> None:
    """A graph with other inputs, no graph at all, and a tokeniser without markers."""
    graph = copy / "model.int8.onnx"
    weights = {name.removeprefix("backbone."): w for name, w in tiny_weights().items()}
    for content in (write_encoder(weights, SHAPE), b"no graph"):
        graph.write_bytes(content)
        write_manifest(copy)
        with pytest.raises(ModelError, match=r"model\.int8\.onnx"):
            PairModel(copy)
    _save(copy)
    tokenizer = json.loads((copy / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["added_tokens"] = []
    del tokenizer["model"]["vocab"]["[SEP]"]
    (copy / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    write_manifest(copy)
    with pytest.raises(ModelError, match="SEP"):
        PairModel(copy)


def test_no_threads_are_refused(directory: Path) -> None:
    """At least one thread is needed."""
    with pytest.raises(ModelError, match="threads"):
        PairModel(directory, threads=0)


def test_a_plan_reads_nothing_twice_by_mistake() -> None:
    """A plan's windows hold the ids of exactly the sentences that it names, context first."""

    def encode(text: str) -> list[int]:
        return [ord(letter) for letter in text if letter.isalnum()]

    plan = plan_windows(Pair("Ab", "Cd. " * 60, context="X"), encode, max_tokens=50)
    assert not plan.fault
    for window in plan.windows:
        wanted = [ord("X"), *(ord(c) for _ in window.sentences for c in "Cd")]
        assert list(window.evidence) == wanted
        assert len(window.evidence) + 2 + 3 <= 50
