"""What an answer leaves in the log: its request first, its end, its staleness, its second check."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from draft_writer import DraftWriter
from fake_language_model import prompt_text
from integration_fixtures import Bench

from certirag.answers.draft import PROMPT_OF
from certirag.answers.pipeline import answer_question, stream_answer, verify_draft
from certirag.answers.services import AnswerWriter, Services
from certirag.auditing.logged_answers import export_again, open_answer
from certirag.auditing.replay import replay_log
from certirag.auditing.staleness import (
    Rechecked,
    digests_of,
    digests_of_files,
    recheck_answers,
    revocation,
    stale_answers,
)
from certirag.auditing.verify_log import verify_log
from certirag.bootstrap import index_of_paths, open_log, read_limits
from certirag.errors import AuditError, CertificateError, InputError
from certirag.ports import Index, LogEntry, NewEntry
from certirag.proof.certificate import open_export
from certirag.proof.facets import AnswerQuery
from certirag.proof.log import Leaf, parse_leaf

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


def _writing(services: Services) -> Services:
    """Return *services* with a model that writes two sentences, one after the other."""
    draft = {"text": "Full-time employees receive 27 days of annual leave. It is paid."}
    model = DraftWriter(draft, "generate-then-cite", services.split)
    prompts = {name: prompt_text(name) for name in PROMPT_OF.values()}
    return replace(services, writer=AnswerWriter(model, "generate-then-cite", prompts))


@pytest.mark.parametrize("read", [1, 2, 3])
def test_an_answer_without_its_last_part_is_a_failure(
    read: int, bench: Bench, services: Services
) -> None:
    """Whoever leaves before the last part leaves a failure, and after it, an answer."""
    question = "How many days of annual leave do full-time employees receive?"
    parts = stream_answer(question, bench.index("policy"), _writing(services))
    seen = [next(parts).complete for _ in range(read)]
    parts.close()  # type: ignore[attr-defined]
    _, request, *rest = _leaves(services)
    assert seen == [False, False, True][:read]
    assert [leaf.detail.get("complete") for leaf in rest[:read]] == seen
    ends = [leaf for leaf in rest if leaf.kind == "failed"]
    assert [leaf.detail for leaf in ends] == (
        [] if read == 3 else [{"request": request.trace_id, "error": "GeneratorExit"}]
    )


def test_a_log_that_breaks_half_way_shows_nothing_and_tells(
    bench: Bench, services: Services
) -> None:
    """The answer is not shown; the request stands without an end, as one that vanished."""
    real = services.audit_log

    class Breaking:
        def append(self, entry: NewEntry) -> object:
            if entry.kind == "received":
                return real.append(entry)
            raise AuditError("no room")

    broken = replace(services, audit_log=Breaking())  # type: ignore[arg-type]
    with pytest.raises(AuditError, match="no room"):
        verify_draft(CLAIM, bench.index("policy"), broken)
    report = verify_log(
        real.entries(),
        checkpoint=real.checkpoint(),
        keys=services.trusted,
        grace=timedelta(minutes=-1),
    )
    assert (report.faults, len(report.vanished)) == ((), 1)


def test_an_entry_that_does_not_hold_shields_no_other(services: Services, tmp_path: Path) -> None:
    """The others are checked and revoked; then it is named. It is not stood by either."""
    folder = tmp_path / "docs"
    old = _index(folder, services, leave=f"# Leave\n\n{CLAIM}\n")
    answers = [verify_draft(CLAIM, old, services) for _ in range(3)]
    new = _index(folder, services, leave=f"# Leave\n\n{CLAIM.replace('27', '25')}\n")
    stale = list(stale_answers(services.audit_log, digests_of(new)))

    class Torn:
        """The log, with one answer's content changed."""

        def __getattr__(self, name: str) -> object:
            return getattr(services.audit_log, name)

        def find(self, trace_id: str) -> LogEntry:
            entry = services.audit_log.find(trace_id)
            torn = trace_id == answers[1].trace_id
            return replace(entry, content=b"{}") if torn else entry

    torn = replace(services, audit_log=Torn())  # type: ignore[arg-type]
    done: list[Rechecked] = []
    with pytest.raises(CertificateError, match="1 of 3 answers could not be checked again: "):
        done.extend(recheck_answers(stale, new, torn, _silent))  # those before the error count
    assert {one.trace_id for one in done} == {answers[0].trace_id, answers[2].trace_id}
    assert all(one.lost == ("c1",) for one in done)
    with pytest.raises(AuditError, match="entry"):
        list(replay_log(torn.audit_log, AnswerQuery(), services.policy, services.trusted, _silent))


def test_a_revocation_is_found_whoever_asks(services: Services, tmp_path: Path) -> None:
    """By its entry, in a replay, and not for an answer that stands."""
    folder = tmp_path / "docs"
    old = _index(folder, services, leave=f"# Leave\n\n{CLAIM}\n")
    first = verify_draft(CLAIM, old, services)
    log = services.audit_log
    place = parse_leaf(log.find(first.trace_id).leaf).index
    assert revocation(log, place) is None
    new = _index(folder, services, leave=f"# Leave\n\n{CLAIM.replace('27', '25')}\n")
    stale = list(stale_answers(log, digests_of(new)))
    (done,) = recheck_answers(stale, new, services, _silent)
    found = revocation(log, place)
    assert found is not None
    assert found.detail["reason"] == "stale"
    assert revocation(log, found.detail["by"]) is None
    replays = replay_log(log, AnswerQuery(), services.policy, services.trusted, _silent)
    revoked = {one.trace_id: one.revoked for one in replays}
    assert revoked == {first.trace_id: "stale", done.renewed: ""}


def test_a_document_that_changed_back_brings_no_answer_back(
    services: Services, tmp_path: Path
) -> None:
    """What was revoked stays revoked; the second check leans on text that is stale by then."""
    folder = tmp_path / "docs"
    text = f"# Leave\n\n{CLAIM}\n"
    old = _index(folder, services, leave=text)
    first = verify_draft(CLAIM, old, services)
    new = _index(folder, services, leave=text.replace("27", "25"))
    stale = list(stale_answers(services.audit_log, digests_of(new)))
    (checked,) = recheck_answers(stale, new, services, _silent)
    back = _index(folder, services, leave=text)
    (again,) = stale_answers(services.audit_log, digests_of(back))
    assert again.row.facets.trace_id == checked.renewed
    rows = services.audit_log.search(AnswerQuery(trace_id=first.trace_id)).rows
    assert [row.revoked for row in rows] == ["stale"]


def test_files_say_the_same_as_an_index_of_them(services: Services, tmp_path: Path) -> None:
    """A doc_id is made of the path alone, so no model is needed to see what changed."""
    index = _index(tmp_path / "docs", services, leave=f"# Leave\n\n{CLAIM}\n", site=SECOND)
    limits = read_limits(services.settings)
    assert digests_of_files([tmp_path / "docs"], limits) == digests_of(index)
