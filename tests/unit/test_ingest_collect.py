"""Collecting files, folders and uploads: order, what is skipped and why, and duplicates."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from certirag.core.text import Document, EvidenceChunk
from certirag.ingest import collect as module
from certirag.ingest.chunk import chunk_document
from certirag.ingest.collect import (
    CollectedFile,
    Skipped,
    Watch,
    collect,
    read_corpus,
    read_uploads,
)
from certirag.ingest.load import Limits, load_document
from certirag.ingest.sentences import sentence_splitter

SPLIT = sentence_splitter()
LIMITS = Limits(max_bytes=1_000)


def read(data: bytes, path: str) -> tuple[Document, tuple[EvidenceChunk, ...]]:
    """Read in this process."""
    document = load_document(data, path=path, limits=LIMITS)
    return document, chunk_document(document, SPLIT)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with good files and every kind of bad one."""
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / "b.txt").write_text("The pump runs.")
    (root / "a.md").write_text("# A\n\nThe fee is 4 euros.")
    (root / "sub" / "c.txt").write_text("A third text.")
    (root / "copy.txt").write_text("The pump runs.")
    (root / ".env").write_text("SECRET=1")
    (root / "~$b.docx").write_text("lock")
    (root / "big.txt").write_text("x" * 1_001)
    (root / "empty.txt").write_text("")
    (root / "x.exe").write_bytes(b"MZ\x00")
    outside = tmp_path / "outside.txt"
    outside.write_text("Not to be read.")
    (root / "link.txt").symlink_to(outside)
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe.txt")
    return root


def test_a_folder_gives_its_files_in_order_and_says_what_it_skips(folder: Path) -> None:
    """Links, hidden files, pipes and large files are skipped with a reason, never read."""
    found = list(collect([folder], limits=LIMITS))
    assert [item.path for item in found if isinstance(item, CollectedFile)] == [
        "a.md", "b.txt", "copy.txt", "empty.txt", "x.exe", "sub/c.txt"
    ]  # fmt: skip
    reasons = {item.path: item.reason for item in found if isinstance(item, Skipped)}
    assert {path: reason.split(": ", 1)[1].split(";")[0] for path, reason in reasons.items()} == {
        ".env": "hidden",
        "~$b.docx": "hidden",
        "big.txt": "1,001 bytes, more than the limit of 1,000",
        "link.txt": "a link, not followed",
        "loop": "a link, not followed",
        "pipe.txt": "no regular file",
    }


def test_a_corpus_reads_what_it_can(folder: Path) -> None:
    """Bad files and duplicates are skipped in one line each; the rest is read the same twice."""
    heard: list[tuple[str, int, int]] = []
    corpus = read_corpus(
        [folder], limits=LIMITS, read=read, watch=Watch(lambda *told: heard.append(told))
    )
    assert [document.path for document in corpus.documents] == ["a.md", "b.txt", "sub/c.txt"]
    assert [chunk.text for chunk in corpus.chunks] == [
        "The fee is 4 euros.", "The pump runs.", "A third text."
    ]  # fmt: skip
    reasons = {item.path: item.reason for item in corpus.skipped}
    assert "same content as b.txt" in reasons["copy.txt"]
    assert "empty" in reasons["empty.txt"]
    assert "cannot read .exe" in reasons["x.exe"]
    assert all("\n" not in reason for reason in reasons.values())
    assert heard[-1] == ("Read 3 documents, skipped 9", 12, 12)
    assert [done for _, done, _ in heard] == list(range(13))
    assert corpus == read_corpus([folder], limits=LIMITS, read=read)


def test_a_folder_that_becomes_a_link_before_it_is_read_is_not_followed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Files are listed first and read one by one: what was no link then may be one by now."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "c.txt").write_text("The password is swordfish.")

    def swap(line: str, done: int, _total: int) -> None:
        if line.startswith("Reading") and done == 0:
            (folder / "sub").rename(folder / "before")
            (folder / "sub").symlink_to(outside)

    corpus = read_corpus([folder], limits=LIMITS, read=read, watch=Watch(swap))
    assert [document.path for document in corpus.documents] == ["a.md", "b.txt"]
    assert "swordfish" not in str(corpus)
    assert "not a directory" in {item.path: item.reason for item in corpus.skipped}["sub/c.txt"]


def test_paths_that_are_missing_or_given_twice(folder: Path) -> None:
    """A missing path is skipped; a file given by itself and in its folder is read once."""
    corpus = read_corpus(
        [folder / "sub", folder / "gone", folder / "sub"], limits=LIMITS, read=read
    )
    assert [document.path for document in corpus.documents] == ["c.txt"]
    assert [item.path for item in corpus.skipped] == ["gone", "sub/c.txt"]


def test_uploads_lose_their_folders_and_keep_apart() -> None:
    """A hostile upload name is cut to its last part; equal names get different identifiers."""
    corpus = read_uploads(
        [("../../etc/a.txt", b"One fee."), ("C:\\x\\a.txt", b"Two fees."), ("", b"Three fees.")],
        read=read,
    )
    assert [document.path for document in corpus.documents] == ["a.txt", "2/a.txt", "upload"]
    assert len({document.doc_id for document in corpus.documents}) == 3


def test_documents_with_one_identifier_are_not_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should two names hash alike, the second is skipped: chunks must never share an identifier."""
    monkeypatch.setattr("certirag.ingest.load.doc_id_of", lambda path: "same-000000")
    corpus = read_uploads([("a.txt", b"One."), ("b.txt", b"Two.")], read=read)
    assert len(corpus.documents) == 1
    assert "same identifier as a.txt" in corpus.skipped[0].reason


def test_a_document_without_evidence_is_skipped() -> None:
    """A document of headings alone holds nothing that could support a claim."""
    corpus = read_uploads([("a.md", b"# Only a title")], read=read)
    assert "nothing that can be evidence" in corpus.skipped[0].reason
    assert module.Corpus((), (), corpus.skipped) == corpus


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("# Rules\n\n## From 2023\n\nThe fee is 40 euros.\n\n## Until 2022 (no longer in force)\n\nIt was 25.", True),
        ("# Rules\n\n## Until 2022 (no longer in force)\n\nThe fee was 25.\n\n## From 2023\n\nIt is 40.", True),
        ("# Rules\n\n## Superseded edition\n\nThe fee was 25.\n\nIt was due in May.", False),
        ("# Rules (withdrawn)\n\n## Fees\n\nThe fee was 25.", False),
        ("# Rules\n\nThis document has been withdrawn.\n\n## Fees\n\nThe fee was 25.", False),
        ("# Rules\n\nThis edition supersedes the rules of 2019.\n\nThe fee is 40.", True),
    ],
)  # fmt: skip
def test_a_document_is_kept_out_where_all_of_it_no_longer_holds(text: str, kept: bool) -> None:
    """The heading of one section says nothing of the others."""
    corpus = read_uploads([("a.md", text.encode())], read=read)
    assert bool(corpus.documents) is kept
    assert kept or "superseded" in corpus.skipped[0].reason
