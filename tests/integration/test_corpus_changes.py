"""Documents of an index removed and read again: a new sound index, or the old one as it was."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from builders import hostile_strings
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from index_cases import files

from certirag.adapters.index import index_store
from certirag.adapters.index.kept_readings import KeptReadings
from certirag.answers.pipeline import answer_question
from certirag.answers.services import Services
from certirag.auditing.recheck import check_file
from certirag.bootstrap import (
    build_services,
    corpus_writer,
    index_of_uploads,
    ingest_paths,
    open_index,
)
from certirag.cli.main import main
from certirag.errors import CertiRAGError, CorpusError, InputError
from certirag.gateway.access import ANYONE
from certirag.gateway.allowed import Corpora
from certirag.ingest.collect import Watch
from certirag.proof.envelope import key_id, raw_public_key
from certirag.proof.trust import KeyRing, Trust, TrustedKey
from certirag.settings import read_settings
from ui import services as ui_services

ROOT = Path(__file__).resolve().parents[2]
LEAVE = "# Leave\n\nStaff get 27 days of leave a year. Leave is asked for in writing.\n"
PAY = "# Pay\n\nThe salary is paid on the last day of each month.\n"


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Services:
    """Return the services of a home of its own."""
    home = tmp_path_factory.mktemp("home")
    return build_services(replace(read_settings(), home=home, verifier="embedded"))


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a folder of two documents."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "leave.md").write_text(LEAVE, "utf-8")
    (folder / "pay.md").write_text(PAY, "utf-8")
    return folder


@pytest.fixture
def index(services: Services, sources: Path, tmp_path: Path) -> Path:
    """Return the folder of their index."""
    directory = tmp_path / "index"
    ingest_paths([sources], directory, services, lambda *_: None)
    return directory


def change(index: Path, services: Services, what: str, *given: str, watch: Watch | None = None):
    """Remove or read again, and return the report."""
    with corpus_writer(index, services, watch or Watch()) as writer:
        return getattr(writer, what)(*given)


def paths_of(index: Path, services: Services) -> list[str]:
    """Return the paths of the documents in the index."""
    return [document.path for document in open_index(index, services).documents]


def test_a_removed_document_is_gone_and_its_answers_still_check(
    index: Path, services: Services, tmp_path: Path
) -> None:
    """The old certificate names the old fingerprint and holds; what is left is signed and asked."""
    question = "How many days of leave do staff get?"
    old = open_index(index, services)
    answer = answer_question(question, old, services, asked_policy=None)
    export = tmp_path / "answer.json"
    export.write_bytes(answer.export)
    report = change(index, services, "remove", "leave.md")
    assert (report.documents, report.embedded, report.written) == (1, 0, True)
    new = open_index(index, services)
    assert not new.foreign
    assert new.fingerprint != old.fingerprint
    assert all("27 days" not in chunk.text for chunk in new.chunks())
    assert check_file(export, services.settings).verdict == "VALID"
    assert old.fingerprint.encode() in answer.export
    assert len(old.chunks()) == 2, "who had it open goes on with what it held"
    with pytest.raises(InputError, match="no such document"):
        change(index, services, "remove", "leave.md")
    assert change(index, services, "reread").documents == 2, "its file was left where it was"


@pytest.mark.parametrize("way", ["page", "gateway"])
def test_what_was_removed_is_asked_no_more_whatever_the_times_say(
    sources: Path, services: Services, tmp_path: Path, monkeypatch, way: str
) -> None:
    """An entry of the folder from the future, as a backup can have it, hides no later change."""
    index = tmp_path / "indexes" / "garden"
    ingest_paths([sources], index, services, lambda *_: None)
    ahead = time.time() + 86_400
    (index / "notes.txt").touch()
    os.utime(index / "notes.txt", (ahead, ahead))
    monkeypatch.setattr(ui_services, "indexes_home", lambda: tmp_path / "indexes")
    monkeypatch.setattr(ui_services, "shared", lambda: SimpleNamespace(services=services))
    corpora = Corpora(tmp_path / "indexes", services)

    def asked() -> list[str]:
        if way == "page":
            return [d.path for d in ui_services.open_corpus("garden").documents]
        return [path for path, _ in corpora.allowed("garden", (), ANYONE).sources]

    assert asked() == ["leave.md", "pay.md"]
    change(index, services, "remove", "leave.md")
    assert asked() == ["pay.md"]


def test_the_last_document_can_go_too(index: Path, services: Services) -> None:
    """What is left is an index that finds nothing."""
    change(index, services, "remove", "leave.md")
    change(index, services, "remove", "pay.md")
    assert open_index(index, services).chunks() == ()


@pytest.mark.parametrize(
    ("text", "changed"),
    [(LEAVE.replace("27", "28"), True), (LEAVE + "\n\n\n", False)],
    ids=["another figure", "blank lines"],
)
def test_a_document_read_again_remembers_what_it_was(
    index: Path, sources: Path, services: Services, text: str, changed: bool
) -> None:
    """The other document is not read; the digest before, the time and whether its text changed."""
    before = {d.path: d for d in open_index(index, services).documents}
    (sources / "leave.md").write_text(text, "utf-8")
    (sources / "pay.md").unlink()
    heard: list[str] = []
    watch = Watch(outcome=heard.append)
    assert change(index, services, "reread", "leave.md", watch=watch).documents == 2
    assert heard == [""]
    leave, pay = open_index(index, services).documents
    (version,) = leave.versions
    assert (version.replaced, version.text_changed) == (before["leave.md"].sha256, changed)
    assert version.read_on.startswith(services.now().date().isoformat()[:4])
    assert pay == before["pay.md"]
    held = files(index)
    assert not change(index, services, "reread", "leave.md").written
    assert files(index) == held, "the same file again is no other version"


@pytest.mark.parametrize("harm", ["gone", "empty", "of the other", "link"])
def test_what_cannot_be_read_again_leaves_the_old_index(
    index: Path, sources: Path, services: Services, tmp_path: Path, harm: str
) -> None:
    """A file that is gone, empty, a copy of another one, or a link costs nothing that was there."""
    file = sources / "leave.md"
    file.unlink()
    if harm == "link":
        (tmp_path / "secret.md").write_text("The password is swordfish.", "utf-8")
        file.symlink_to(tmp_path / "secret.md")
    elif harm != "gone":
        file.write_text({"empty": "", "of the other": PAY}[harm], "utf-8")
    before = files(index)
    with pytest.raises(InputError, match=r"leave\.md: "):
        change(index, services, "reread", "leave.md")
    assert files(index) == before


def test_only_what_this_home_signed_is_changed(
    index: Path, services: Services, tmp_path: Path
) -> None:
    """Of an index made elsewhere nothing is signed anew, and no source that it names is opened."""
    other = replace(services.settings, home=tmp_path / "other", foreign_index=True)
    willing = build_services(other)
    before = files(index)
    for what, given in (("remove", ("leave.md",)), ("reread", ()), ("reread", ("leave.md",))):
        with pytest.raises(CorpusError, match="not made here"):
            change(index, willing, what, *given)
    assert files(index) == before


def test_whom_this_home_trusts_names_no_files_to_it(
    index: Path, sources: Path, services: Services, tmp_path: Path
) -> None:
    """An index of a trusted home is asked; which paths of this machine to read is not its to say."""
    willing = replace(services.settings, home=tmp_path / "other")
    build_services(willing)
    pinned = willing.home / "keys" / "trusted"
    pinned.mkdir()
    shutil.copy(services.settings.home / "keys" / "signing.pub", pinned / "friend.pub")
    trusting = build_services(willing)
    assert not open_index(index, trusting).foreign
    (sources / "leave.md").write_text("What this machine alone should know.", "utf-8")
    before = files(index)
    for what, given in (("remove", ("leave.md",)), ("reread", ()), ("reread", ("leave.md",))):
        with pytest.raises(CorpusError, match="not made here"):
            change(index, trusting, what, *given)
    assert files(index) == before


def test_what_a_former_key_signed_is_changed_still(
    index: Path, services: Services, tmp_path: Path
) -> None:
    """A home that took another key is the same home."""
    key = Ed25519PrivateKey.generate()
    keys = [one.public_key() for one in (services.key, key)]
    entries = tuple(TrustedKey(key_id(k), raw_public_key(k).hex(), 0, None, "") for k in keys)
    trust = Trust(1, 1, "here", entries)
    later = replace(services, key=key, trusted=KeyRing(trust.ring(), trust))
    assert change(index, later, "remove", "leave.md").documents == 1


def test_an_index_of_unknown_sources_says_so(index: Path, services: Services) -> None:
    """One that was written before its sources were recorded can lose documents, and no more."""
    index_store.write_corpus(
        index,
        lambda old: replace(old, sources=()),
        services.embedder,
        key=services.key,
        trusted=services.trusted,
    )
    with pytest.raises(CorpusError, match="does not say where its documents came from"):
        change(index, services, "reread", "leave.md")
    assert change(index, services, "remove", "leave.md").documents == 1


def test_links_in_the_folder_are_not_followed(
    index: Path, services: Services, tmp_path: Path
) -> None:
    """Whatever a link in the place of a file points at stays as it is, and the index is sound."""
    victim, folder = tmp_path / "victim", tmp_path / "folder"
    victim.write_text("mine", "utf-8")
    folder.mkdir()
    (folder / ("ab" * 32)).write_text("mine", "utf-8")
    name = (index / "CURRENT").read_text("ascii").strip()
    (index / ".tmp-CURRENT").symlink_to(victim)
    (index / f".tmp-{name}").symlink_to(folder)
    (index / "originals").symlink_to(folder)
    (index / "gen-000000000000").symlink_to(folder)
    assert change(index, services, "remove", "leave.md").written
    assert victim.read_text("utf-8") == "mine"
    assert [file.read_text("utf-8") for file in folder.iterdir()] == ["mine"]
    assert paths_of(index, services) == ["pay.md"]
    (index / ".lock").unlink()
    (index / ".lock").symlink_to(victim)
    with pytest.raises(CorpusError, match="cannot be written"):
        change(index, services, "remove", "pay.md")
    assert paths_of(index, services) == ["pay.md"]


@pytest.mark.parametrize("moment", ["Reading", "Writing"])
def test_breaking_off_leaves_the_old_index(
    index: Path, sources: Path, services: Services, moment: str
) -> None:
    """Whoever looks on may stop it, while a file is read as well; nothing is written then."""
    (sources / "leave.md").write_text(LEAVE.replace("27", "28"), "utf-8")
    before = files(index)

    def stop(line: str, done: int, _total: int) -> None:
        if line.startswith(moment) and (moment == "Reading" or done == 0):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        change(index, services, "reread", watch=Watch(progress=stop))
    assert files(index) == before
    assert change(index, services, "reread").written


def test_of_two_at_once_each_change_is_whole(
    index: Path, sources: Path, services: Services
) -> None:
    """Sessions that remove and read again at the same time lose no change and get no half index."""
    (sources / "pay.md").write_text(PAY.replace("last", "first"), "utf-8")
    failures: list[str] = []

    def insist(what: str, document: str) -> None:
        for _ in range(200):
            try:
                change(index, services, what, document)
            except CorpusError as error:
                if "another ingest is writing" not in str(error):
                    failures.append(str(error))
                    return
                time.sleep(0.01)
            else:
                return
        failures.append("never got its turn")

    at_work = [
        threading.Thread(target=insist, args=given)
        for given in (("remove", "leave.md"), ("reread", "pay.md"))
    ]
    for thread in at_work:
        thread.start()
    while any(thread.is_alive() for thread in at_work):
        assert set(paths_of(index, services)) <= {"leave.md", "pay.md"}
    assert failures == []
    (pay,) = open_index(index, services).documents
    assert (pay.path, len(pay.versions)) == ("pay.md", 1)


def test_a_document_removed_meanwhile_does_not_come_back(index: Path, services: Services) -> None:
    """One session reads it again while another one deletes it: it stays deleted."""

    def meanwhile(line: str, done: int, _total: int) -> None:
        if line.startswith("Reading") and done == 0:
            change(index, services, "remove", "leave.md")

    with pytest.raises(InputError, match="no such document"):
        change(index, services, "reread", "leave.md", watch=Watch(progress=meanwhile))
    assert paths_of(index, services) == ["pay.md"]


def test_the_folder_that_was_read_is_the_one_that_is_read_again(
    services: Services, tmp_path: Path, monkeypatch
) -> None:
    """`..` after a link is above where the link leads, not above where it lies."""
    for folder, text in (("far/docs", LEAVE), ("docs", "Nobody was to read this.")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "leave.md").write_text(text, "utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "far" / "docs")
    monkeypatch.chdir(tmp_path)
    index = tmp_path / "index"
    ingest_paths([Path("link/../docs")], index, services, lambda *_: None)
    assert not change(index, services, "reread").written
    assert open_index(index, services).documents[0].sha256 == digest_of(LEAVE.encode())


def test_a_file_of_one_name_in_another_folder_does_not_take_its_place(
    sources: Path, services: Services, tmp_path: Path
) -> None:
    """The first folder's file is gone: the second's of that name is not read in its stead."""
    other, index = tmp_path / "other", tmp_path / "index"
    other.mkdir()
    (other / "leave.md").write_text(LEAVE.replace("27", "31"), "utf-8")
    ingest_paths([sources, other], index, services, lambda *_: None)
    assert sorted(paths_of(index, services)) == ["leave.md", "other/leave.md", "pay.md"]
    assert not change(index, services, "reread", "leave.md").written
    (sources / "leave.md").unlink()
    with pytest.raises(InputError, match=r"other/leave\.md is no longer told apart from it"):
        change(index, services, "reread", "leave.md")
    first = next(d for d in open_index(index, services).documents if d.path == "leave.md")
    assert first.sha256 == digest_of(LEAVE.encode())


@pytest.mark.parametrize("given", [(), ("leave.md",)], ids=["all", "one"])
def test_an_older_reading_does_not_replace_a_newer_one(
    index: Path, sources: Path, services: Services, given: tuple[str, ...]
) -> None:
    """Who began earlier and ends later read the file as it no longer is: that is refused."""
    (sources / "leave.md").write_text(LEAVE.replace("27", "28"), "utf-8")

    def meanwhile(line: str, done: int, total: int) -> None:
        if done == total and line.startswith("Read "):
            (sources / "leave.md").write_text(LEAVE.replace("27", "29"), "utf-8")
            change(index, services, "reread", "leave.md")

    with pytest.raises(CorpusError, match="was changed while this was read: run it again"):
        change(index, services, "reread", *given, watch=Watch(progress=meanwhile))
    leave = open_index(index, services).documents[0]
    assert leave.sha256 == digest_of((sources / "leave.md").read_bytes())
    assert len(leave.versions) == 1
    assert not change(index, services, "reread", *given).written


KILLED = """
import itertools, sys
from dataclasses import replace
from pathlib import Path
from certirag.bootstrap import build_services, corpus_writer
from certirag.ingest.collect import Watch
from certirag.settings import read_settings
index, source = map(Path, sys.argv[1:])
services = build_services(replace(read_settings(), verifier="embedded"))
for turn in itertools.count():
    with corpus_writer(index, services, Watch()) as writer:
        print("turn", flush=True)
        writer.remove("leave.md")
        source.write_text(f"Staff get {turn} days of leave.", "utf-8")
        writer.reread()
"""


def test_kill_9_amid_changes_leaves_a_whole_index(
    index: Path, sources: Path, services: Services
) -> None:
    """Killed at any moment, what is there opens, is signed, and can be changed again."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "CERTIRAG_HOME": str(services.settings.home),
    }
    command = [sys.executable, "-c", KILLED, str(index), str(sources / "leave.md")]
    for wait in (0.0, 0.06, 0.13, 0.3):
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, env=environment, text=True
        ) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "turn\n"
            time.sleep(wait)
            writer.kill()
        found = open_index(index, services)
        assert not found.foreign
        assert set(paths_of(index, services)) in ({"pay.md"}, {"leave.md", "pay.md"})
    assert change(index, services, "reread").documents == 2
    assert not list(index.glob(".tmp-*"))


def test_hostile_names_are_removed_and_read_again(services: Services, tmp_path: Path) -> None:
    """A document is named by its path alone, whatever it is."""
    folder, index = tmp_path / "hostile", tmp_path / "index"
    folder.mkdir()
    for number, (_, text) in enumerate(hostile_strings()[::9]):
        name = f"{number} {text}".replace("/", "_").replace("\x00", "_").encode()[:120]
        with suppress(OSError):
            (folder / f"{name.decode('utf-8', 'ignore')}.md").write_text(f"Rule {number} holds.")
    ingest_paths([folder], index, services, lambda *_: None)
    paths = paths_of(index, services)
    assert len(paths) > 5
    for path in paths[:4]:
        assert not change(index, services, "reread", path).written
        change(index, services, "remove", path)
    assert paths_of(index, services) == paths[4:]
    for path in ("../leave.md", "/etc/passwd", "", "."):
        with pytest.raises(InputError):
            change(index, services, "remove", path)


def test_the_command_line_does_the_same(
    index: Path, sources: Path, services: Services, monkeypatch, capsys
) -> None:
    """Listed, read again, removed; what is not there is one line and exit code 2."""
    monkeypatch.setenv("CERTIRAG_HOME", str(services.settings.home))
    monkeypatch.setenv("CERTIRAG_VERIFIER", "embedded")
    (sources / "leave.md").write_text(LEAVE.replace("27", "28"), "utf-8")
    at = ["--index", str(index)]
    assert main(["corpus", "reread", "leave.md", *at]) == 0
    capsys.readouterr()
    assert main(["corpus", "list", *at]) == 0
    said = capsys.readouterr().out
    assert "leave.md  1 passages" in said or "leave.md  2 passages" in said
    assert "; its text changed" in said
    assert main(["corpus", "remove", "leave.md", *at]) == 0
    assert paths_of(index, services) == ["pay.md"]
    capsys.readouterr()
    assert main(["corpus", "remove", "leave.md", *at]) == 2
    assert "leave.md: there is no such document" in capsys.readouterr().err


def test_a_newline_in_a_name_makes_no_line_of_the_list(
    index: Path, sources: Path, services: Services, monkeypatch, capsys
) -> None:
    """A name cannot write a document into the list that is not there."""
    monkeypatch.setenv("CERTIRAG_HOME", str(services.settings.home))
    monkeypatch.setenv("CERTIRAG_VERIFIER", "embedded")
    (sources / "a\nforged.md  9 passages  0123456789ab.md").write_text("Rule 9 holds.", "utf-8")
    ingest_paths([sources], index, services, lambda *_: None)
    assert main(["corpus", "list", "--index", str(index)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert not any(line.startswith("forged") for line in lines)


def test_uploads_are_read_once_and_cancelling_keeps_them(services: Services) -> None:
    """Stopped in the middle, what was read is kept; the rest is left out until it is asked for."""
    kept, heard = KeptReadings(), list[str]()
    uploads = [(f"{n}.md", f"Rule {n} holds for {n} days.".encode()) for n in range(4)]

    class Stopped(BaseException):
        """What a page raises on a click."""

    def stop(line: str, done: int, _total: int) -> None:
        if line.startswith("Reading") and done == 2:
            raise Stopped

    def read(watch: Watch, left_out: list[str]) -> tuple[str, ...]:
        return index_of_uploads(uploads, services, watch, kept=kept, left_out=left_out)[1]

    with pytest.raises(Stopped):
        read(Watch(progress=stop), [])
    digests = [digest_of(data) for _, data in uploads]
    assert [kept.knows(digest) for digest in digests] == [True, True, False, False]
    skipped = read(Watch(outcome=heard.append), digests)
    assert skipped == tuple(f"{n}.md: not read, for the reading was cancelled" for n in (2, 3))
    assert [bool(reason) for reason in heard] == [False, False, True, True]
    assert read(Watch(), []) == ()


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of *data*."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


def test_a_file_that_takes_long_is_given_up_at_once(services: Services) -> None:
    """Whoever waits may stop amid a file: its process ends, and the next file is read by another."""
    slow = ("slow.html", b"<p " + b" ".join(b"a%d=1" % n for n in range(800_000)) + b">Fee.</p>")
    begun = time.monotonic()

    def impatient() -> None:
        if time.monotonic() > begun + 1:
            raise TimeoutError

    kept = KeptReadings()
    with pytest.raises(TimeoutError):
        index_of_uploads([slow], services, Watch(waiting=impatient), kept=kept)
    assert time.monotonic() < begun + 5
    assert not kept.knows(digest_of(slow[1]))
    fee = ("fee.txt", b"The fee is four euros.")
    assert len(index_of_uploads([fee], services, Watch(), kept=kept)[0].chunks()) == 1


def test_errors_of_a_watcher_are_no_reason_to_skip(index: Path, services: Services) -> None:
    """Only what cannot be read is skipped: another error while reading is passed on."""

    def fail(*_: object) -> None:
        raise CertiRAGError("stop")

    with pytest.raises(CertiRAGError, match="stop"):
        change(index, services, "reread", watch=Watch(progress=fail))
