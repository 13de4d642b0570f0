"""A local index under damage, failures, kills and two writers at once."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from fakes import FakeEmbedder
from index_cases import CHANGED, HANDBOOK, files, part

from certirag.adapters.index import index_format as form
from certirag.adapters.index import index_store as store
from certirag.adapters.index.index_format import read_generation
from certirag.adapters.index.index_store import merge, write_corpus
from certirag.adapters.index.local import LocalIndex
from certirag.core.text import sha256_hex
from certirag.errors import CorpusError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["manifest.json", "chunks.jsonl", "vectors.npy"])
@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "gone"])
def test_a_damaged_part_is_refused_and_mended_by_ingest(
    tmp_path: Path, name: str, harm: str
) -> None:
    """One changed byte anywhere is an error with its mend, and the mend works."""
    good = write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    target = part(tmp_path, name)
    content = target.read_bytes()
    if harm == "gone":
        target.unlink()
    else:
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        target.write_bytes({"flip": flipped, "cut": content[:-1], "empty": b""}[harm])
    with pytest.raises(CorpusError, match="run certirag ingest again"):
        LocalIndex.open(tmp_path)
    with pytest.raises(CorpusError):  # what was there is not known, so nothing is added to it
        write_corpus(tmp_path, lambda old: merge(old, CHANGED), FakeEmbedder())
    assert write_corpus(tmp_path, HANDBOOK, FakeEmbedder()).written
    assert LocalIndex.open(tmp_path).fingerprint == good.fingerprint


@pytest.mark.parametrize(
    "said", ["", "gen-", "../../etc", "gen-0123456789ab", "\xff\x00", "x" * 999]
)
def test_a_damaged_pointer_is_refused(tmp_path: Path, said: str) -> None:
    """CURRENT that names no whole generation, or a path elsewhere, opens nothing."""
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    (tmp_path / "CURRENT").write_bytes(said.encode("latin-1"))
    with pytest.raises(CorpusError, match="run certirag ingest again"):
        LocalIndex.open(tmp_path)
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    assert len(LocalIndex.open(tmp_path).chunks()) == 3


def test_no_index_says_how_to_make_one(tmp_path: Path) -> None:
    """A directory without an index, or none at all, is one line with the command."""
    for directory in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(CorpusError, match=r"no index in .*: run certirag ingest PATH --index"):
            LocalIndex.open(directory)


def forged(directory: Path, **changes: object) -> None:
    """Rewrite the manifest with *changes*, under the name that its new digest asks for."""
    folder = next(directory.glob("gen-*"))
    manifest = json.loads((folder / "manifest.json").read_bytes()) | changes
    raw = json.dumps(manifest).encode()
    (folder / "manifest.json").write_bytes(raw)
    name = f"gen-{sha256_hex(raw)[:12]}"
    folder.rename(directory / name)
    (directory / "CURRENT").write_text(name)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": 1}, "has format 1, this program reads 2"),
        ({"format": None}, "has format None"),
        ({"files": {}}, "differs from its recorded digest"),
        ({"documents": 3}, "a field amiss"),
        ({"embedder": {}}, "a field amiss"),
    ],
)
def test_a_manifest_of_another_kind_is_refused(
    tmp_path: Path, changes: dict[str, object], reason: str
) -> None:
    """Another format version or a malformed field is refused even under a right digest."""
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    forged(tmp_path, **changes)
    with pytest.raises(CorpusError, match=reason):
        LocalIndex.open(tmp_path)


def test_a_readable_manifest_that_was_edited_is_refused(tmp_path: Path) -> None:
    """A word changed in the manifest, which stays well formed, does not pass its digest."""
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    manifest = part(tmp_path, "manifest.json")
    manifest.write_bytes(manifest.read_bytes().replace(b"scan.pdf", b"scam.pdf"))
    with pytest.raises(CorpusError, match="differs from its recorded digest"):
        LocalIndex.open(tmp_path)


def test_a_pickled_array_is_never_loaded(tmp_path: Path) -> None:
    """vectors.npy with an object inside is refused although its digest is right."""
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    target = part(tmp_path, "vectors.npy")
    np.save(target, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    recorded = json.loads(part(tmp_path, "manifest.json").read_bytes())["files"]
    forged(tmp_path, files=recorded | {"vectors.npy": sha256_hex(target.read_bytes())})
    with pytest.raises(CorpusError, match="not an array"):
        LocalIndex.open(tmp_path)


def test_an_interrupt_leaves_the_old_index(tmp_path: Path) -> None:
    """Ctrl-C while embedding changes nothing and lets go of the lock."""
    write_corpus(tmp_path, CHANGED, FakeEmbedder())
    before = files(tmp_path)

    def interrupt(line: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_corpus(tmp_path, HANDBOOK, FakeEmbedder(), interrupt)
    assert files(tmp_path) == before
    assert write_corpus(tmp_path, HANDBOOK, FakeEmbedder()).written


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", range(8))
def test_a_failure_at_any_step_leaves_a_whole_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, step: int
) -> None:
    """Whichever fsync fails, the index is the old or the new one, and the next write mends."""
    write_corpus(tmp_path, CHANGED, FakeEmbedder())
    calls = []

    def fsync(handle: int) -> None:
        calls.append(handle)
        if len(calls) == step + 1:
            raise failure

    with monkeypatch.context() as patched:
        patched.setattr(store.os, "fsync", fsync)
        expected = CorpusError if isinstance(failure, OSError) else KeyboardInterrupt
        try:
            write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
        except expected:
            assert len(calls) == step + 1
        else:
            assert len(calls) == 7 < step + 1  # three parts, their folder, rename, CURRENT, folder
    assert len(LocalIndex.open(tmp_path).chunks()) in {2, 3}
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    assert len(LocalIndex.open(tmp_path).chunks()) == 3
    assert sorted(p.name for p in tmp_path.iterdir() if not p.name.startswith("gen-")) == [
        ".lock",
        "CURRENT",
    ]


def test_only_what_this_program_made_is_removed(tmp_path: Path) -> None:
    """Files of the user in the index directory stay; what killed writers left goes."""
    for name in ("notes.txt", "gen-x", "gen-0123456789abc", ".tmp-mine"):
        (tmp_path / name).write_text("mine")
    for name in ("gen-0123456789ab", ".tmp-gen-0123456789ab"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "vectors.npy").write_text("half")
    (tmp_path / ".tmp-CURRENT").write_text("gen-")
    outside = tmp_path.with_name("outside")
    outside.mkdir()
    (outside / "kept").write_text("mine")
    (tmp_path / "gen-aaaaaaaaaaaa").symlink_to(outside)
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    left = {p.name for p in tmp_path.iterdir()} - {next(tmp_path.glob("gen-" + "?" * 12)).name}
    assert left == {".lock", "CURRENT", "notes.txt", "gen-x", "gen-0123456789abc", ".tmp-mine"}
    assert (outside / "kept").read_text() == "mine"


def test_a_second_writer_is_refused_and_readers_are_not(tmp_path: Path) -> None:
    """While one writes, another is told to wait, and the old index opens."""
    write_corpus(tmp_path, CHANGED, FakeEmbedder())
    seen = []

    def meanwhile(line: str, done: int, total: int) -> None:
        if line.startswith("Embedding") and done == 0:
            with pytest.raises(CorpusError, match=r"another ingest is writing .*: wait"):
                write_corpus(tmp_path, CHANGED, FakeEmbedder())
            seen.append(len(LocalIndex.open(tmp_path).chunks()))

    write_corpus(tmp_path, HANDBOOK, FakeEmbedder(), meanwhile)
    assert seen == [2]
    assert len(LocalIndex.open(tmp_path).chunks()) == 3


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A file where the directory should be is an error that names it."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(CorpusError, match="file cannot be written"):
        write_corpus(tmp_path / "file", HANDBOOK, FakeEmbedder())
    with pytest.raises(CorpusError, match=r"index in .*file"):
        LocalIndex.open(tmp_path / "file")


def test_a_reader_follows_the_pointer_when_the_old_generation_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write between reading CURRENT and reading the files is not an error for the reader."""
    write_corpus(tmp_path, CHANGED, FakeEmbedder())
    real, raced = form._current, []

    def slow(directory: Path) -> str:
        name = real(directory)
        if not raced:
            raced.append(name)
            monkeypatch.setattr(form, "_current", real)
            write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
        return name

    monkeypatch.setattr(form, "_current", slow)
    assert len(read_generation(tmp_path).corpus.chunks) == 3
    assert raced


WRITER = """
import sys
from pathlib import Path
from fakes import FakeEmbedder, document_of
from index_cases import corpus_of
from certirag.adapters.index.index_store import merge, write_corpus
turn, embedder = int(sys.argv[2]), FakeEmbedder()
while True:
    turn += 1
    documents = [document_of(f"d{n:02}", f"Turn {turn} of text {n}.") for n in range(25)]
    write_corpus(Path(sys.argv[1]), corpus_of(documents), embedder)
    print(turn, flush=True)
"""


def test_kill_9_at_any_moment_leaves_a_whole_index(tmp_path: Path) -> None:
    """Killed a dozen times amid its writes, a writer leaves the last or the next turn whole."""
    drawn, turn = random.Random(5), 0
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    for attempt in range(14):
        command = [sys.executable, "-c", WRITER, str(tmp_path), str(turn)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, env=environment, text=True
        ) as writer:
            assert writer.stdout is not None
            said = [writer.stdout.readline()]  # it is at work
            time.sleep(drawn.uniform(0.0, 0.05))
            patience = time.monotonic() + 5
            while attempt % 2 and time.monotonic() < patience and not any(tmp_path.glob(".tmp-*")):
                pass  # every other time, in the middle of a write for sure
            writer.kill()
            said += writer.stdout.readlines()
        done = int([line for line in said if line.endswith("\n")][-1])
        turns = {chunk.text.split()[1] for chunk in LocalIndex.open(tmp_path).chunks()}
        assert len(turns) == 1
        turn = int(turns.pop())
        assert turn in {done, done + 1}
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    assert len(list(tmp_path.iterdir())) == 3  # .lock, CURRENT and one generation
