"""What an answer leaves in the log: its request first, its end, its staleness, its second check."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from integration_fixtures import Bench

from certirag.audit.answers import export_again, open_answer
from certirag.bootstrap import index_of_paths, open_log
from certirag.core.certificate import open_export
from certirag.core.facets import AnswerQuery
from certirag.core.log import Leaf, parse_leaf
from certirag.errors import AuditError, InputError
from certirag.expiry import digests_of, recheck_answers, stale_answers
from certirag.pipeline import answer_question, stream_answer, verify_draft
from certirag.ports import Index
from certirag.services import Services

CLAIM = "Employees receive 27 days of leave."
SECOND = "The office has a canteen."


def _silent(_line: str, _done: int, _total: int) -> None:
    """Report nothing."""


@pytest.fixture
def services(bench: Bench, tmp_path: Path) -> Services:
    """Return the bench's services with a log of their own."""
    return replace(
        bench.services,
        audit_log=open_log(replace(bench.services.settings, audit_url=f"sqlite:///{tmp_path}/l")),
    )


def _leaves(services: Services) -> list[Leaf]:
    return [parse_leaf(entry.leaf) for entry in services.audit_log.entries()]


def _index(folder: Path, services: Services, **texts: str) -> Index:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return index_of_paths([folder], services, _silent)[0]


def test_the_request_is_logged_before_the_answer(bench: Bench, services: Services) -> None:
    """Received, then the answer, tied by one id; the request's text is content, not leaf."""
    question = "How many days of annual leave do full-time employees receive?"
    answer = answer_question(question, bench.index("policy"), services)
    genesis, request, answered = _leaves(services)
    assert [genesis.kind, request.kind, answered.kind] == ["genesis", "received", "answer"]
    assert answered.detail == {"request": request.trace_id, "complete": True}
    assert answered.trace_id == answer.trace_id
    received = [*services.audit_log.entries()][1]
    assert json.loads(received.content or b"") == {"question": question}
    assert all(question not in entry.leaf for entry in services.audit_log.entries())
    assert export_again(services.audit_log, answer.trace_id) == answer.export


def test_a_failure_is_logged_and_says_what_kind(bench: Bench, services: Services) -> None:
    """A request that could not be worked on ends in an entry, so that it has not vanished."""

    def broken(_text: str) -> list[tuple[int, int]]:
        raise InputError("no sentence can be found")

    with pytest.raises(InputError):
        verify_draft(CLAIM, bench.index("policy"), replace(services, split=broken))
    _, request, failed = _leaves(services)
    assert failed.kind == "failed"
    assert failed.detail == {"request": request.trace_id, "error": "InputError"}


def test_a_reader_who_leaves_is_a_failure_too(bench: Bench, services: Services) -> None:
    """An answer that is closed before its first part leaves no request open."""
    question = "How many days of annual leave do full-time employees receive?"
    steps: list[str] = []

    def leave(line: str, _done: int, _total: int) -> None:
        steps.append(line)
        if len(steps) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(stream_answer(question, bench.index("policy"), services, progress=leave))
    assert [leaf.kind for leaf in _leaves(services)] == ["genesis", "received", "failed"]


def test_no_work_is_begun_without_the_log(bench: Bench, services: Services) -> None:
    """If the request cannot be logged, nothing is searched, measured or shown."""

    class Full:
        def append(self, _entry: object) -> None:
            raise AuditError("no room")

    class Untouched:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(f"{name} was asked for")

    full = replace(services, audit_log=Full(), verifier=Untouched(), embedder=Untouched())  # type: ignore[arg-type]
    with pytest.raises(AuditError, match="no room"):
        verify_draft(CLAIM, bench.index("policy"), full)


def test_a_changed_document_makes_its_answers_stale(services: Services, tmp_path: Path) -> None:
    """What leans on it is listed; checked again, what fails is revoked and what holds renewed."""
    folder = tmp_path / "docs"
    old = _index(folder, services, leave=f"# Leave\n\n{CLAIM}\n", site=f"# Site\n\n{SECOND}\n")
    first = verify_draft(CLAIM, old, services)
    second = verify_draft(SECOND, old, services)
    assert list(stale_answers(services.audit_log, digests_of(old))) == []
    lowered = CLAIM.replace("27", "25")
    new = _index(
        folder,
        services,
        leave=f"# Leave\n\n{lowered}\n",
        site=f"# Site\n\n{SECOND}\n\nIt opens at noon.\n",
    )
    stale = list(stale_answers(services.audit_log, digests_of(new)))
    assert {one.row.facets.trace_id for one in stale} == {first.trace_id, second.trace_id}
    assert {d.title for one in stale for d in one.changed} == {"Leave", "Site"}
    checked = {one.trace_id: one for one in recheck_answers(stale, new, services, _silent)}
    assert (checked[first.trace_id].lost, checked[second.trace_id].lost) == (("c1",), ())
    rows = services.audit_log.search(AnswerQuery()).rows
    revoked = {row.facets.trace_id: row.revoked for row in rows}
    assert (revoked[first.trace_id], revoked[second.trace_id]) == ("stale", "renewed")
    renewed = services.audit_log.find(checked[second.trace_id].renewed)
    assert open_answer(renewed, services.trusted)[1].decisions[0].render_state == "VERIFIED"
    assert list(stale_answers(services.audit_log, digests_of(new))) == []


def test_a_document_that_is_gone_is_asked_for(services: Services, tmp_path: Path) -> None:
    """An index without the document may be another one: such answers are listed on request."""
    answer = verify_draft(
        CLAIM, _index(tmp_path / "one", services, leave=f"# Leave\n\n{CLAIM}\n"), services
    )
    other = _index(tmp_path / "two", services, site=f"# Site\n\n{SECOND}\n")
    today = digests_of(other)
    assert list(stale_answers(services.audit_log, today)) == []
    (stale,) = stale_answers(services.audit_log, today, gone=True)
    assert (stale.row.facets.trace_id, stale.changed) == (answer.trace_id, ())
    assert [document.title for document in stale.gone] == ["Leave"]
    (checked,) = recheck_answers([stale], other, services, _silent)
    assert checked.lost == ("c1",)


def test_a_second_check_cannot_be_cut_in_half(services: Services, tmp_path: Path) -> None:
    """A log that refuses in between leaves the first ones done and the rest as they were."""
    folder = tmp_path / "docs"
    old = _index(folder, services, leave=f"# Leave\n\n{CLAIM}\n")
    answers = [verify_draft(CLAIM, old, services) for _ in range(2)]
    new = _index(folder, services, leave=f"# Leave\n\n{CLAIM}\n\n{SECOND}\n")
    stale = list(stale_answers(services.audit_log, digests_of(new)))
    assert len(stale) == len(answers)
    steps = recheck_answers(stale, new, services, _silent)
    done = next(steps)
    steps.close()
    left = list(stale_answers(services.audit_log, digests_of(new)))
    assert [one.row.facets.trace_id for one in left] == [
        one.row.facets.trace_id for one in stale if one.row.facets.trace_id != done.trace_id
    ]
    assert open_export(export_again(services.audit_log, done.renewed), services.trusted)
