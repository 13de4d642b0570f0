"""Whoever can write to an index can write its digests too, and is found out all the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from certirag import checker
from certirag.adapters.index.index_format import CHUNKS, CURRENT, MANIFEST, SIGNATURE
from certirag.answers.pipeline import answer_question
from certirag.answers.services import Services
from certirag.auditing.recheck import check_file
from certirag.bootstrap import build_services, ingest_paths, open_index
from certirag.core.text import sha256_hex
from certirag.errors import CorpusError
from certirag.proof.certificate import AnswerRecord, open_export
from certirag.proof.envelope import raw_public_key
from certirag.settings import read_settings

QUESTION = "How many days of leave do staff get?"


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Services:
    """Return the services of a home of its own."""
    return build_services(replace(read_settings(), home=tmp_path_factory.mktemp("home")))


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a folder with the document that is ingested."""
    folder = tmp_path / "documents"
    folder.mkdir()
    text = "# Leave\n\n## Employees\n\nStaff get 27 days of leave a year. Leave is asked for in writing.\n"
    (folder / "leave.md").write_text(text, "utf-8")
    return folder


@pytest.fixture
def index(services: Services, sources: Path, tmp_path: Path) -> Path:
    """Return the folder of the ingested index."""
    directory = tmp_path / "index"
    ingest_paths([sources], directory, services, lambda *_: None)
    return directory


def change(index: Path, old: str, new: str) -> None:
    """Put *new* for *old* in the chunks, and make every digest and name right again."""
    name = (index / CURRENT).read_text("ascii").strip()
    folder = index / name
    chunks = []
    assert old in (folder / CHUNKS).read_text("ascii")
    for line in (folder / CHUNKS).read_text("ascii").replace(old, new).splitlines():
        chunk = json.loads(line)
        chunk["sha256"] = sha256_hex(chunk["text"])
        chunks.append(f"{json.dumps(chunk)}\n")
    (folder / CHUNKS).write_text("".join(chunks), "ascii")
    manifest = json.loads((folder / MANIFEST).read_text("ascii"))
    manifest["files"][CHUNKS] = sha256_hex("".join(chunks))
    written = json.dumps(manifest, indent=1)
    (folder / MANIFEST).write_text(written, "ascii")
    renamed = f"gen-{sha256_hex(written)[:12]}"
    folder.rename(index / renamed)
    (index / CURRENT).write_text(f"{renamed}\n", "ascii")


def answered(index: Path, services: Services, tmp_path: Path) -> tuple[Path, AnswerRecord]:
    """Return the export's file and the record of the answer to `QUESTION`."""
    path = tmp_path / "answer.json"
    path.write_bytes(
        answer_question(QUESTION, open_index(index, services), services, asked_policy=None).export
    )
    return path, open_export(path.read_bytes(), services.trusted)


def test_an_index_as_it_was_ingested_is_open(
    index: Path, services: Services, sources: Path, tmp_path: Path
) -> None:
    """Its answers name no foreign index, and their passages stand in the sources."""
    path, record = answered(index, services, tmp_path)
    assert "corpus_origin" not in record.retrieval.settings
    checked = check_file(path, services.settings, sources=[sources], rescore=True)
    assert checked.verdict == "VALID", checked.reason
    assert "every passage stands in its source" in checked.reason


@pytest.mark.parametrize("signature", ["kept", "removed", "of another", "no JSON"])
def test_a_changed_index_is_not_asked(
    index: Path, services: Services, signature: str, tmp_path: Path
) -> None:
    """With every digest recomputed, only a key of this home could have signed it."""
    other = build_services(replace(services.settings, home=tmp_path / "other"))
    if signature == "of another":
        ingest_paths([tmp_path / "documents"], index, other, lambda *_: None)
    change(index, "27 days", "97 days")
    (path,) = index.glob(f"gen-*/{SIGNATURE}")
    if signature == "removed":
        path.unlink()
    elif signature == "no JSON":
        path.write_text("{", "ascii")
    with pytest.raises(CorpusError, match="not made here, or was changed since"):
        open_index(index, services)


def test_another_home_must_say_that_it_wants_it(
    index: Path, services: Services, tmp_path: Path
) -> None:
    """An index made elsewhere is asked once that is said, and the certificate names it foreign."""
    settings = replace(services.settings, home=tmp_path / "other")
    with pytest.raises(CorpusError, match="CERTIRAG_FOREIGN_INDEX"):
        open_index(index, build_services(settings))
    willing = build_services(replace(settings, foreign_index=True))
    _, record = answered(index, willing, tmp_path)
    assert str(record.retrieval.settings["corpus_origin"]).startswith("foreign")


@pytest.mark.parametrize(
    ("said", "instead", "found", "denied"),
    [
        ("27 days", "97 days", "97 days", "Staff get 97 days"),
        ('"section": "Employees"', '"section": "Contractors"', "Contractors", "Staff get 27 days"),
    ],
    ids=["another figure", "under another heading"],
)
def test_the_sources_show_what_an_index_made_up(
    index: Path,
    services: Services,
    sources: Path,
    tmp_path: Path,
    said: str,
    instead: str,
    found: str,
    denied: str,
) -> None:
    """Signed, logged and scored as recorded, and yet the document does not say it, or not of that."""
    change(index, said, instead)
    willing = replace(services, settings=replace(services.settings, foreign_index=True))
    path, record = answered(index, willing, tmp_path)
    assert any(denied in claim.text for claim in record.claim_ir.claims)
    assert any(found in f"{c.context}\n{c.text}" for c in record.retrieval.chunks)
    assert check_file(path, willing.settings, rescore=True).verdict == "VALID"
    checked = check_file(path, willing.settings, sources=[sources])
    assert (checked.verdict, checked.code) == ("NOT-REPRODUCIBLE", "quote")
    assert f"does not say: “{denied}" in checked.reason


def test_what_was_changed_is_not_carried_over(
    index: Path, services: Services, sources: Path
) -> None:
    """Ingested again, an index that nobody signed gives neither its passages nor its vectors."""
    change(index, "27 days", "97 days")
    report = ingest_paths([sources], index, services, lambda *_: None)
    assert report.written
    assert report.embedded == report.chunks
    assert any("27 days" in chunk.text for chunk in open_index(index, services).chunks())


@pytest.mark.parametrize(
    ("name", "days", "verdict", "said"),
    [
        ("leave.txt", "97", "NOT-REPRODUCIBLE", "does not say “Staff get 97 days"),
        ("leave.txt", "2⁷", "NOT-REPRODUCIBLE", "does not say “Staff get 2⁷ days"),
        ("leave.md", "97", "VALID", "0 of 1 attached sentences stand in their sources as text, "),
    ],
)
def test_the_one_file_checker_looks_quotations_up(
    services: Services,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    days: str,
    verdict: str,
    said: str,
) -> None:
    """It denies what plain text does not say, and says what it did not compare."""
    folder, index = tmp_path / "documents", tmp_path / "index"
    folder.mkdir()
    text = "LEAVE\n\nStaff get 27 days of leave\na year. Leave is asked for in writing.\n"
    (folder / name).write_text(text, "utf-8")
    ingest_paths([folder], index, services, lambda *_: None)
    willing = replace(services, settings=replace(services.settings, foreign_index=True))
    key = tmp_path / "key.hex"
    key.write_text(raw_public_key(services.key.public_key()).hex())

    def told() -> tuple[int, str]:
        path, _ = answered(index, willing, tmp_path)
        code = checker.main([str(path), "--public-key", str(key), "--sources", str(folder)])
        return code, capsys.readouterr().out

    code, line = told()
    assert code == 0
    assert "1 of 1 attached sentences stand in their sources as text" in line
    change(index, "27 days", f"{days} days")
    code, line = told()
    assert line.startswith(verdict)
    assert said in line
    assert code == (0 if verdict == "VALID" else 4)
