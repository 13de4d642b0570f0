"""Corpus: documents are deleted and read again only when asked, allowed and confirmed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from builders import hostile_strings
from page_stage import corpus_index, html_of
from streamlit.runtime.context import StreamlitHeaders
from streamlit.testing.v1 import AppTest

from certirag.adapters.index.index_format import Version
from certirag.bootstrap import make_embedder
from certirag.core.text import sha256_hex
from certirag.errors import CorpusError
from certirag.render import inert_html
from certirag.settings import Settings
from ui.inert import MAX_LINES

EARLIER = " Earlier answers keep their certificates and say that they are of other documents."
READ = Version("2026-03-04T05:06:07+00:00", "cd" * 32, True)


@dataclass
class FakeWriter:
    """What the page asks of the corpus on disk, and how that ends."""

    asked: list[tuple[str, ...]] = field(default_factory=list)
    error: Exception | None = None

    def remove(self, path: str) -> object:
        """Count, then fail or not."""
        return self._do("remove", path)

    def reread(self, path: str) -> object:
        """Count, then fail or not."""
        return self._do("reread", path)

    def _do(self, *asked: str) -> object:
        self.asked.append(asked)
        if self.error is not None:
            raise self.error
        return SimpleNamespace(documents=4, skipped=("a", "b"))


@pytest.fixture
def writer(stage, monkeypatch) -> FakeWriter:
    """Let changes of the corpus on disk be counted, and be allowed."""
    import ui.corpus_changes
    from ui import services

    made = FakeWriter()

    @contextmanager
    def fake(directory: Path, _services: object, _watch: object) -> Iterator[FakeWriter]:
        made.asked.append((directory.name,))
        yield made

    index = corpus_index()
    index.sources = ("/somewhere",)
    monkeypatch.setattr(services, "open_corpus", lambda name: index)
    monkeypatch.setattr(ui.corpus_changes, "corpus_writer", fake)
    monkeypatch.setenv("CERTIRAG_CORPUS_CHANGES", "true")
    return made


def buttons(at: AppTest) -> set[str]:
    """Return the buttons that change something."""
    return {b.label for b in at.button if "again" in b.label or "elete" in b.label}


def test_deleting_asks_first_and_names_the_document(open_page, writer) -> None:
    """One click changes nothing; No takes the question away; Yes deletes that document once."""
    at = open_page("corpus")
    at.button(key="delete-1").click().run()
    assert "Delete “Leave policy.md” from “Company policy handbook”?" in html_of(at)
    assert writer.asked == []
    at.button(key="keep-1").click().run()
    assert "Delete “" not in html_of(at)
    at.button(key="delete-1").click().run()
    at.button(key="confirm-1").click().run()
    assert not at.exception
    assert writer.asked == [("policy",), ("remove", "in/Leave policy.md")]
    assert "“Leave policy.md” was deleted from this corpus." in html_of(at)
    at.run()
    assert len(writer.asked) == 2
    assert "was deleted" not in html_of(at)


@pytest.mark.parametrize("why", ["another took it away", "it cannot be opened"])
def test_what_was_asked_is_done_at_once_or_never(open_page, writer, monkeypatch, why) -> None:
    """A document that comes back later is not deleted by the click of before; its failure is told."""
    from ui import services

    with_it, without_it = corpus_index(), corpus_index()
    with_it.sources = without_it.sources = ("/somewhere",)
    without_it.documents = ()
    at = open_page("corpus")
    at.button(key="delete-1").click().run()
    writer.error = CorpusError("there is no such document in this corpus")

    def closed(_name: str) -> object:
        raise CorpusError("damaged")

    gone = {"another took it away": lambda _name: without_it, "it cannot be opened": closed}
    monkeypatch.setattr(services, "open_corpus", gone[why])
    at.button(key="confirm-1").click().run()
    assert not at.exception
    said = "Nothing was changed. there is no such document in this corpus"
    assert (said in html_of(at)) == (why == "another took it away")
    asked = list(writer.asked)
    monkeypatch.setattr(services, "open_corpus", lambda _name: with_it)
    at.run()
    assert "Delete document 1" in buttons(at)
    assert writer.asked == asked
    assert "Nothing was changed" not in html_of(at)


def test_one_document_or_all_are_read_again(open_page, writer) -> None:
    """By the path of the document, or without one; what came of it is said once."""
    at = open_page("corpus")
    at.button(key="reread-1").click().run()
    assert writer.asked == [("policy",), ("reread", "in/Leave policy.md")]
    assert "was read again. The file is the same as before.<" in html_of(at)
    at.button(key="reread-all").click().run()
    assert writer.asked[2:] == [("policy",), ("reread", "")]
    assert "4 can be quoted, 2 files were not read" in html_of(at)


def test_a_change_of_its_text_is_said(open_page, writer, monkeypatch) -> None:
    """The document that is there afterwards tells; its readings stay on the page."""
    from ui import services

    index, after = corpus_index(), corpus_index()
    index.sources = after.sources = ("/somewhere",)
    after.fingerprint = "ab" * 32
    after.documents[0].sha256, after.documents[0].versions = "ef" * 32, (READ,)
    monkeypatch.setattr(
        services, "open_corpus", lambda name: after if len(writer.asked) > 1 else index
    )
    at = open_page("corpus")
    at.button(key="reread-1").click().run()
    assert f"was read again; its text changed.{EARLIER}" in html_of(at)
    assert "Read again on 2026-03-04 at 05:06 UTC; its text changed." in html_of(at)


def test_readings_of_a_document_are_counted_beyond_three(open_page, writer, monkeypatch) -> None:
    """The newest come first."""
    from ui import services

    index = corpus_index()
    days = [replace(READ, read_on=f"2026-03-0{day}T00:00:00+00:00") for day in range(1, 6)]
    index.documents[0].versions = (*days[:4], replace(days[4], text_changed=False))
    monkeypatch.setattr(services, "open_corpus", lambda name: index)
    html = html_of(open_page("corpus"))
    assert html.index("2026-03-05 at 00:00 UTC; its text is unchanged.") < html.index("03-04")
    assert "2026-03-02" not in html
    assert "2 earlier changes." in html


def test_what_fails_is_said_and_changes_nothing(open_page, writer) -> None:
    """The error's line is inert, and the page goes on."""
    writer.error = CorpusError("busy <b>:green-badge[Verified]</b>")
    at = open_page("corpus")
    at.button(key="reread-1").click().run()
    assert not at.exception
    assert inert_html("Nothing was changed. busy <b>:green-badge[Verified]</b>") in html_of(at)
    assert "Delete document 1" in buttons(at)


@pytest.mark.parametrize(
    ("fingerprint", "said"),
    [
        ("another", "The corpus was changed, but not all of it went well. the disk is full"),
        (None, "The corpus cannot be opened any more. the disk is full"),
    ],
)
def test_what_fails_after_the_change_is_not_called_no_change(
    open_page, writer, monkeypatch, fingerprint, said
) -> None:
    """An error does not tell whether the index was written before it: what is there is looked at."""
    from ui import services

    old = services.open_corpus("policy")
    at = open_page("corpus")
    looked = list[str]()

    def opened(name: str) -> object:
        looked.append(name)
        if len(looked) > 2:  # for the page after it
            return old
        if fingerprint is None:
            raise CorpusError("damaged")
        return SimpleNamespace(fingerprint=fingerprint)

    def failed(*_: str) -> None:
        monkeypatch.setattr(services, "open_corpus", opened)
        raise CorpusError("the disk is full")

    monkeypatch.setattr(writer, "reread", failed)
    at.button(key="reread-1").click().run()
    assert not at.exception
    assert said in html_of(at)


@pytest.mark.parametrize("why", ["not said", "false", "unreadable", "foreign", "a link"])
def test_without_leave_nothing_on_disk_is_changed(
    open_page, writer, monkeypatch, tmp_path, why
) -> None:
    """No button is there, and a task that was set all the same is not done."""
    from ui import services

    if why in {"not said", "false", "unreadable"}:
        monkeypatch.delenv("CERTIRAG_CORPUS_CHANGES")
        if why != "not said":
            monkeypatch.setenv("CERTIRAG_CORPUS_CHANGES", why)
    elif why == "foreign":
        index = corpus_index()
        index.foreign = True
        monkeypatch.setattr(services, "open_corpus", lambda name: index)
    else:
        (tmp_path / "policy").symlink_to(tmp_path)
        monkeypatch.setattr(services, "indexes_home", lambda: tmp_path)
    at = open_page("corpus")
    assert buttons(at) == set()
    at.session_state["corpus_task"] = ("policy", "delete", "in/Leave policy.md")
    at.session_state["corpus_confirm"] = ("policy", "in/Leave policy.md")
    at.run()
    assert not at.exception
    assert writer.asked == []
    assert buttons(at) == set()


AT_HOME = {"Origin": "http://127.0.0.1:8501", "Host": "127.0.0.1:8501"}
OURS = {
    "server.address": "127.0.0.1",
    "server.allowedHosts": ["localhost", "127.0.0.1", "::1"],
    "server.enableCORS": True,
    "server.corsAllowedOrigins": [],
}


def may_change_at(monkeypatch, headers: dict[str, str], options: dict[str, object]) -> bool:
    """Say whether a browser that sends *headers* may change a corpus of a server of *options*."""
    from ui import services

    monkeypatch.delenv("CERTIRAG_CORPUS_CHANGES", raising=False)
    at = SimpleNamespace(
        context=SimpleNamespace(headers=StreamlitHeaders(headers.items())),
        get_option=options.__getitem__,
    )
    monkeypatch.setattr(services, "st", at)
    assert not services.allows_changes("elsewhere")
    return services.allows_changes("policy")


@pytest.mark.parametrize(
    ("address", "origin", "host", "may"),
    [
        ("127.0.0.1", "http://127.0.0.1:8501", "127.0.0.1:8501", True),
        ("localhost", "http://localhost:8501", "localhost:8501", True),
        ("::1", "http://[::1]:8501", "[::1]:8501", True),
        ("127.0.0.1", "http://localhost:3000", "127.0.0.1:8501", False),
        ("127.0.0.1", "http://127.0.0.1:3000", "127.0.0.1:8501", False),
        ("127.0.0.1", "http://127.0.0.1:8501", "docs.example", False),
        ("127.0.0.1", "https://docs.example", "docs.example", False),
        ("127.0.0.1", "http://127.0.0.1.example", "127.0.0.1.example", False),
        ("127.0.0.1", "http://localhost@evil.example", "localhost@evil.example", False),
        ("127.0.0.1", "null", "null", False),
        ("127.0.0.1", "", "127.0.0.1:8501", False),
        ("0.0.0.0", "http://127.0.0.1:8501", "127.0.0.1:8501", False),  # noqa: S104  # it is refused
        ("", "http://127.0.0.1:8501", "127.0.0.1:8501", False),
        (None, "http://127.0.0.1:8501", "127.0.0.1:8501", False),
        ("192.168.1.7", "http://192.168.1.7:8501", "192.168.1.7:8501", False),
    ],
)
def test_unsaid_only_our_page_on_this_machine_may(
    stage, monkeypatch, address, origin, host, may
) -> None:
    """The server listens to this machine alone, and its own page is open at its own address."""
    headers = {"Host": host} | ({"Origin": origin} if origin else {})
    assert may_change_at(monkeypatch, headers, OURS | {"server.address": address}) is may


@pytest.mark.parametrize(
    ("headers", "options"),
    [
        ({"X-Forwarded-For": "127.0.0.1"}, {}),
        ({"x-forwarded-host": "docs.example"}, {}),
        ({"Forwarded": "for=203.0.113.9"}, {}),
        ({"X-Real-IP": "203.0.113.9"}, {}),
        ({"Via": "1.1 docs"}, {}),
        ({}, {"server.allowedHosts": ["localhost", "docs.example"]}),
        ({}, {"server.allowedHosts": ["*"]}),
        ({}, {"server.allowedHosts": []}),
        ({}, {"server.enableCORS": False}),
        ({}, {"server.corsAllowedOrigins": ["https://docs.example"]}),
    ],
)
def test_behind_a_proxy_nobody_may_whatever_is_said(stage, monkeypatch, headers, options) -> None:
    """No browser writes an origin that is not its own, but other programs do."""
    assert may_change_at(monkeypatch, AT_HOME, OURS)
    assert not may_change_at(monkeypatch, AT_HOME | headers, OURS | options)


@pytest.mark.parametrize(("_name", "text"), hostile_strings()[::6])
def test_hostile_paths_are_asked_about_inertly(open_page, writer, monkeypatch, _name, text) -> None:
    """The question and what came of it name the file as text, in a box of their own."""
    from ui import services

    index = corpus_index()
    index.documents[0].path = text
    monkeypatch.setattr(services, "open_corpus", lambda name: index)
    at = open_page("corpus")
    at.button(key="delete-1").click().run()
    at.button(key="confirm-1").click().run()
    assert not at.exception
    assert writer.asked[1:] == [("remove", text)]
    said = f"“{Path(text).name}” was deleted from this corpus."
    assert inert_html(said, max_lines=MAX_LINES) in html_of(at)
    drawn = [sink.value for sink in (*at.markdown, *at.caption, *at.header)]
    drawn += [button.label for button in at.button]
    assert not [shown for shown in drawn if text in shown]


@pytest.fixture
def own(stage, monkeypatch) -> None:
    """Let this session's documents be read for real."""
    from ui import services

    st.cache_resource.clear()
    settings = Settings()
    shared = services.Shared(
        SimpleNamespace(embedder=make_embedder("embedded"), settings=settings, trusted={})
    )
    monkeypatch.setattr(services, "shared", lambda: shared)


def test_own_documents_are_deleted_and_read_again(open_page, own) -> None:
    """A session needs nobody's leave for its own; the same content under two names goes as one."""
    at = open_page("corpus")
    at.session_state["session_documents"] = (
        ("a.md", b"The fee is 4 euros."),
        ("copy.md", b"The fee is 4 euros."),
        ("bad.pdf", b"none"),
        ("b.md", b"The key costs 9 euros."),
    )
    at.run()
    at.selectbox(key="corpus-corpus").set_value("your documents").run()
    assert not at.exception
    html = html_of(at)
    assert "copy.md: has the same content as a.md" in html
    assert "bad.pdf: damaged" in html
    at.button(key="reread-1").click().run()
    assert "“a.md” was read again." in html_of(at)
    at.button(key="delete-1").click().run()
    assert "Upload it again to have it back." in html_of(at)
    at.button(key="confirm-1").click().run()
    assert not at.exception
    assert [name for name, _ in at.session_state["session_documents"]] == ["bad.pdf", "b.md"]
    assert "“a.md” was deleted from your documents." in html_of(at)


def test_what_was_left_out_is_read_when_asked(open_page, own) -> None:
    """After Cancel the rest is named, and one click reads it."""
    documents = (("a.md", b"The fee is 4 euros."), ("b.md", b"The key costs 9 euros."))
    at = open_page("corpus")
    at.session_state["session_documents"] = documents[:1]
    at.run()
    at.selectbox(key="corpus-corpus").set_value("your documents").run()
    at.session_state["session_documents"] = documents
    at.session_state["session_left_out"] = tuple(sha256_hex(data) for _, data in documents)
    at.run()
    assert "b.md: not read, for the reading was cancelled" in html_of(at)
    assert "a.md: not read" not in html_of(at)
    at.run()
    at.button(key="corpus-corpus-read-on").click().run()
    assert not at.exception
    assert "not read, for" not in html_of(at)
    assert at.session_state["session_left_out"] == ()
