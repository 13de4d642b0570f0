"""A sample for a spot check: stratified, blind, the same each time, its key apart and sealed."""

from __future__ import annotations

import json
import stat
from collections import Counter
from pathlib import Path

import pytest
from spot_cases import GUIDE, ROWS_OF_RUN, SALE, claim, row, run_folder, sample_folder

from certirag.cli.main import main
from certirag.errors import InputError
from certirag.eval.spot_draw import allocate, claims_of_run, draw_sample, gold_of
from certirag.eval.spot_items import read_items, read_key, sample_names


def test_a_sample_has_claims_with_a_badge_and_nothing_that_tells_of_them(tmp_path) -> None:
    """No source, gold, score or state stands in what a rater reads, in no file but the key."""
    folder = sample_folder(tmp_path / "s", seed=5)
    items = read_items(folder)
    assert {item.claim for item in items} == {
        SALE,
        GUIDE,
        "The mill of Corrant was sold in 1987.",
        "The mill was sold in 1988.",
    }
    assert [item.id for item in items] == ["001", "002", "003", "004"]
    lines = (folder / "items.jsonl").read_text("utf-8").splitlines()
    assert {tuple(json.loads(line)) for line in lines} == {("id", "claim", "evidence", "against")}
    for name in ("items.jsonl", "sample.json"):
        text = (folder / name).read_text("utf-8")
        for hidden in ("secret", "entailed", "0.98", "VERIFIED", "SUPPORTED"):
            assert hidden not in text
    key = read_key(folder)
    assert {(one.source, one.gold) for one in key.values()} == {
        ("secret-true", "entailed"),
        ("secret-untrue", "not_entailed"),
    }
    of = {item.id: item.claim for item in items}
    assert {(key[i].number, key[i].claim): of[i] for i in key} == {
        (0, 0): SALE,
        (0, 1): GUIDE,
        (1, 0): "The mill of Corrant was sold in 1987.",
        (2, 0): "The mill was sold in 1988.",
    }


def test_it_is_for_its_owner_alone(tmp_path) -> None:
    """What people asked may be in it."""
    folder = sample_folder(tmp_path / "s")
    for path in folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_the_same_run_and_seed_give_the_same_bytes(tmp_path) -> None:
    """Another seed gives another order."""
    many = tuple(row(n, f"s{n % 3}", "entailed", claim(f"Claim {n}.")) for n in range(30))
    found = [
        (sample_folder(tmp_path / name, many, size=12, seed=seed) / "items.jsonl").read_bytes()
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert found[0] == found[1] != found[2]


def test_nothing_is_drawn_twice_and_each_source_by_its_share(tmp_path) -> None:
    """Of 60, 30 and 1 claims: 20 are 13, 6 and 1."""
    sizes = {"large": 60, "middle": 30, "one": 1}
    many = tuple(
        row(n, source, "entailed", claim(f"{source} {k}."))
        for n, (source, k) in enumerate((s, k) for s, size in sizes.items() for k in range(size))
    )
    folder = sample_folder(tmp_path / "s", many, size=20)
    claims = [item.claim for item in read_items(folder)]
    assert len(set(claims)) == len(claims) == 20
    assert Counter(one.source for one in read_key(folder).values()) == {
        "large": 13,
        "middle": 6,
        "one": 1,
    }


@pytest.mark.parametrize(
    ("sizes", "size", "expected"),
    [
        ({"a": 50, "b": 50}, 10, {"a": 5, "b": 5}),
        ({"a": 2, "b": 1}, 200, {"a": 2, "b": 1}),
        ({"a": 97, "b": 1, "c": 1, "d": 1}, 4, {"a": 1, "b": 1, "c": 1, "d": 1}),
        ({"a": 97, "b": 1, "c": 1, "d": 1}, 10, {"a": 7, "b": 1, "c": 1, "d": 1}),
        ({"a": 10, "b": 10, "c": 10}, 10, {"a": 4, "b": 3, "c": 3}),
    ],
)
def test_shares_are_proportional_with_one_at_least(sizes, size, expected) -> None:
    """Counted by hand; the largest remainder has what is left."""
    assert allocate(sizes, size) == expected


def test_every_allocation_is_whole() -> None:
    """Never more than there are, never none, and together what was asked for."""
    for a in range(1, 12):
        for b in range(1, 9):
            for size in range(3, a + b + 9):
                sizes = {"a": a, "b": b, "c": 5}
                found = allocate(sizes, size)
                assert sum(found.values()) == min(size, a + b + 5)
                assert all(1 <= found[name] <= sizes[name] for name in sizes)


def test_gold_of_a_claim_is_what_people_said_of_it() -> None:
    """Of an untrue row that names no words and makes several claims, nobody said which is untrue."""
    two = (claim(SALE), claim("It was sold to a bank."))
    assert gold_of(row(0, "", "entailed", *two), 1) == "entailed"
    named = row(0, "", "not_entailed", *two, false="to a bank")
    assert [gold_of(named, at) for at in (0, 1)] == ["entailed", "not_entailed"]
    assert [gold_of(row(0, "", "contradicted", *two), at) for at in (0, 1)] == ["", ""]
    assert gold_of(row(0, "", "contradicted", two[0]), 0) == "contradicted"


def _sample(*arguments: object) -> int:
    return main(["eval", "sample", *map(str, arguments)])


def test_the_command_draws_and_says_where(tmp_path, monkeypatch, capsys) -> None:
    """The page offers what lies in the home."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path / "home"))
    run = run_folder(tmp_path / "run")
    assert _sample(run, "--out", tmp_path / "elsewhere") == 0
    error = capsys.readouterr().err
    assert "4 of 4 claims with the badge, from 2 sources, are in" in error
    assert "put the folder there" in error
    assert _sample(run, "--out", tmp_path / "home/spot-checks/first", "--size", 3) == 0
    assert "put the folder there" not in capsys.readouterr().err
    assert sample_names(tmp_path / "home") == ("first",)
    assert len(read_items(tmp_path / "home/spot-checks/first")) == 3


def test_bad_input_is_one_line(tmp_path, monkeypatch, capsys) -> None:
    """It names what is wrong, and nothing is written."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path / "home"))
    out = tmp_path / "out"
    none = run_folder(tmp_path / "none", ROWS_OF_RUN[3:])
    run = run_folder(tmp_path / "run")
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine.txt").write_text("mine", "utf-8")
    torn = run_folder(tmp_path / "torn")
    (torn / "rows.jsonl").write_text('{"number": 1', "utf-8")
    for arguments, said in (
        ((none, "--out", out), "has no Verified claim"),
        ((tmp_path, "--out", out), "is no run of certirag eval"),
        ((torn, "--out", out), "rows.jsonl, line 1: is no measured row"),
        ((run, "--out", out, "--size", 1), "have 2 sources: give at least 2"),
        ((run, "--out", full), "holds something already"),
        (("--out", out), "give a run's folder, or --refused"),
        ((run, "--refused", "--consent", "--out", out), "give a run's folder, or --refused"),
        (("--refused", "--out", out), "--refused and --consent go together"),
        ((run, "--consent", "--out", out), "--refused and --consent go together"),
    ):
        assert _sample(*arguments) == 2, arguments
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1
        assert said in error.replace("⟨Verified⟩", "Verified")
        assert not out.exists()
    assert (full / "mine.txt").read_text("utf-8") == "mine"


def test_a_sample_that_was_changed_is_refused(tmp_path) -> None:
    """Items and key are bound by their digests; a key that was taken away is none."""
    folder = sample_folder(tmp_path / "s")
    key = folder / "sealed" / "key.jsonl"
    held = key.read_bytes()
    key.write_bytes(held.replace(b'"entailed"', b'"contradicted"', 1))
    with pytest.raises(InputError, match="is not the key that was sealed"):
        read_key(folder)
    key.unlink()
    assert read_key(folder) == {}
    items = folder / "items.jsonl"
    items.write_bytes(items.read_bytes() + b"\n")
    with pytest.raises(InputError, match="is not what was drawn"):
        read_items(folder)


def test_a_folder_is_offered_by_a_plain_name_alone(tmp_path) -> None:
    """A name that could imitate our words, or hide, is not in the list."""
    for name in ("good-1", "Verified", ".hidden", "a b", "x" * 80):
        sample_folder(tmp_path / "spot-checks" / name)
    assert sample_names(tmp_path) == ("good-1",)
    assert sample_names(tmp_path / "nowhere") == ()


def test_a_sample_cannot_be_drawn_over_a_file(tmp_path) -> None:
    """One line, no traceback."""
    (tmp_path / "file").write_text("x", "utf-8")
    claims = claims_of_run(run_folder(tmp_path / "run"))
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError):
            draw_sample(claims, Path(out))
