"""The eight toggles of the fifth seed's Appendix B: names, defaults, fallbacks, and the contract.

Every toggle switched over, all off and all on: no planted error gets the badge, every badge is
derived again from the export, and what a toggle falls back on is what the seed says.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from draft_writer import DraftWriter, written_errors, wrote
from fake_language_model import FakeLanguageModel, prompt_text
from integration_fixtures import FIXTURES, Bench, drafts, part_of
from planted_counts import checkable, touched_errors, verified_ids
from remembered import remembering_services

from certirag.answers.draft import PROMPT_OF
from certirag.answers.pipeline import answer_question, verify_draft
from certirag.answers.services import AnswerWriter, SignedAnswer
from certirag.checker import check
from certirag.cli.main import main
from certirag.core.generation import Strategy
from certirag.errors import InputError
from certirag.ports import Hit, Index
from certirag.proof.certificate import AnswerRecord, open_export
from certirag.retrieve.hybrid import clean_text, retrieve_parts
from certirag.settings import Settings, read_settings
from certirag.verification.candidates import content_words

DEFAULTS = {
    "enable_evidence_preselection": True,
    "enable_interleaved_generation": True,
    "enable_confidence_classification": True,
    "enable_citation_correction": True,
    "enable_numeric_qa_verification": True,
    "enable_abstention": True,
    "enable_nei_verdict": True,
    "enable_verification_retrieval": False,
}
RUNS: dict[str, dict[str, bool]] = {
    "as it comes": {},
    **{f"{name} {'off' if on else 'on'}": {name: not on} for name, on in DEFAULTS.items()},
    "all off": dict.fromkeys(DEFAULTS, False),
    "all on": dict.fromkeys(DEFAULTS, True),
}
DRAFTS = part_of(drafts(), 6)
# All of them run under these; each other runs a third of the drafts that have planted errors,
# another third than the one before, so that each draft is tried with some toggles switched over.
WHOLE = ("as it comes", "all on")
_ALL = re.MULTILINE | re.DOTALL
OFF_TOPIC = "The quarterly swimming gala of Lake Ontario awards platinum kayaks to penguins."


@dataclass(frozen=True)
class Checked:
    """One draft as one run of the toggles verified it."""

    draft: dict
    answer: SignedAnswer
    record: AnswerRecord


Records = Callable[[str], Sequence[Checked]]


@pytest.fixture(scope="module")
def remembering(bench: Bench) -> Bench:
    """Return the bench with its models asked the same thing once."""
    return Bench(remembering_services(bench.services), bench.index)


def toggled(bench: Bench, toggles: dict[str, bool]) -> Bench:
    """Return *bench* with its settings' *toggles* set."""
    settings = replace(bench.services.settings, **toggles)
    return Bench(replace(bench.services, settings=settings), bench.index)


def verified(bench: Bench, draft: dict, index: Index | None = None) -> Checked:
    """Verify *draft* against its corpus."""
    answer = verify_draft(
        draft["text"],
        index or bench.index(draft["corpus"]),
        bench.services,
        question=draft.get("question", ""),
    )
    return Checked(draft, answer, open_export(answer.export, bench.services.trusted))


@pytest.fixture(scope="module")
def records(remembering: Bench) -> Records:
    """Return a way to the drafts as a run verified them, made when first asked for."""

    @cache
    def of(run: str) -> tuple[Checked, ...]:
        bench = toggled(remembering, RUNS[run])
        first = list(RUNS).index(run) % 3
        given = DRAFTS if run in WHOLE else [d for d in DRAFTS if d["errors"]][first::3]
        return tuple(verified(bench, draft) for draft in given)

    return of


def test_the_toggles_have_the_seeds_names_and_defaults() -> None:
    """All eight, and no ninth."""
    found = {f.name: f.default for f in fields(Settings) if f.name.startswith("enable_")}
    assert found == DEFAULTS
    assert {name: getattr(read_settings({}), name) for name in DEFAULTS} == DEFAULTS


@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize(("word", "value"), [("true", True), ("false", False), ("False", False)])
def test_a_toggle_is_read_from_its_variable(name: str, word: str, value: object) -> None:
    """CERTIRAG_ENABLE_…; the others stay as they are."""
    settings = read_settings({f"CERTIRAG_{name.upper()}": word})
    assert {n: getattr(settings, n) for n in DEFAULTS} == {**DEFAULTS, name: value}


@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize("word", ["", "yes", "maybe", " true", "2", "tru\u0435", "false\n"])
def test_any_other_word_is_refused_with_one_line(name: str, word: str) -> None:
    """The line names the variable, the word and the mend; a typing error switches nothing."""
    variable = f"CERTIRAG_{name.upper()}"
    with pytest.raises(InputError) as caught:
        read_settings({variable: word})
    message = str(caught.value)
    assert "\n" not in message
    assert variable in message
    assert "give true or false" in message


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_the_contract_holds(bench: Bench, records: Records, run: str) -> None:
    """No planted error is Verified; each badge is derived again; the record says what was set."""
    wanted = {**DEFAULTS, **RUNS[run]}
    for own in records(run):
        hit = [
            claim.text
            for claim in own.record.claim_ir.claims
            if claim.id in verified_ids(own.record) and touched_errors(claim, own.draft)
        ]
        assert hit == [], own.draft["id"]
        assert check(own.answer.export, bench.services.trusted).verdict == "VALID"
        assert {name: own.record.config[name] for name in DEFAULTS} == wanted


@pytest.mark.slow
def test_the_command_checks_an_export_of_every_run(
    bench: Bench, records: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`certirag check` says VALID of each."""
    monkeypatch.setenv("CERTIRAG_HOME", str(bench.services.settings.home))
    paths = [tmp_path / f"{number}.json" for number in range(len(RUNS))]
    for path, run in zip(paths, RUNS, strict=True):
        path.write_bytes(records(run)[0].answer.export)
    assert main(["check", *map(str, paths)]) == 0


@pytest.mark.slow
def test_the_table(records: Records, capsys: pytest.CaptureFixture[str]) -> None:
    """Print what each run verifies of the drafts with planted errors."""
    with capsys.disabled():
        print("\n| toggles | errors Verified | untouched Verified |\n|---|---|---|")
        for run in RUNS:
            errors = errors_verified = untouched = untouched_verified = 0
            for own in records(run):
                if not own.draft["errors"]:
                    continue
                errors += len(own.draft["errors"])
                for claim in own.record.claim_ir.claims:
                    shown = claim.id in verified_ids(own.record)
                    if touched_errors(claim, own.draft):
                        errors_verified += shown
                    elif checkable(claim):
                        untouched += 1
                        untouched_verified += shown
            print(
                f"| {run} | {errors_verified} of {errors} | {untouched_verified} of {untouched} |"
            )
            assert untouched_verified * 3 > untouched


@pytest.mark.slow
def test_without_classification_every_claim_is_looked_at_most_closely(records: Records) -> None:
    """Off: LOW, all of them. On: the wording picks more than one depth."""
    off = depths(records("enable_confidence_classification off"))
    assert set(off) == {"LOW"}
    assert len(depths(records("as it comes"))) > 1


def depths(checked: Sequence[Checked]) -> Counter[str]:
    """Count the depths that claims were verified at."""
    return Counter(r.depth for own in checked for r in own.record.verification)


@pytest.mark.slow
def test_without_questions_none_is_asked(records: Records) -> None:
    """Off: no question on any record. On: some, of the claims of LOW confidence."""

    def asked(run: str) -> int:
        return sum(len(r.questions) for own in records(run) for r in own.record.verification)

    assert asked("enable_numeric_qa_verification off") == 0
    assert asked("all off") == 0
    assert asked("enable_confidence_classification off") > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["enable_nei_verdict", "enable_abstention"])
def test_without_nei_a_verdict_is_forced_and_no_badge_moves(
    remembering: Bench, records: Records, name: str
) -> None:
    """NEI becomes UNSUPPORTED, and nothing else changes: a verdict is opinion."""
    draft = {"corpus": "policy", "text": OFF_TOPIC}
    on = verified(remembering, draft).record
    off = verified(toggled(remembering, {name: False}), draft).record
    assert [r.verdict for r in on.verification] == ["NEI"]
    assert [r.verdict for r in off.verification] == ["UNSUPPORTED"]
    assert verified_ids(on) == verified_ids(off) == set()
    by_id = {own.draft["id"]: own.record for own in records("as it comes")}
    for own in records(f"{name} off"):
        assert "NEI" not in {r.verdict for r in own.record.verification}
        assert own.record.decisions == by_id[own.draft["id"]].decisions


class Asked:
    """An index that notes what it was asked."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.queries: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def search_terms(self, query: str, *, limit: int) -> Sequence[Hit]:
        self.queries.append(query)
        return self._index.search_terms(query, limit=limit)


@pytest.mark.slow
def test_retrieval_searches_again_for_what_found_no_evidence_alone(remembering: Bench) -> None:
    """UNSUPPORTED and NEI, twice at most each; a claim that is supported or opposed, never."""
    searched: Counter[str] = Counter()
    for draft in part_of(drafts()[::4], 3):
        queries = {}
        for on in (False, True):
            index = Asked(remembering.index(draft["corpus"]))
            bench = toggled(remembering, {"enable_verification_retrieval": on})
            record = verified(bench, draft, index).record  # type: ignore[arg-type]
            queries[on] = Counter(index.queries)
            if not on:
                before = record
        allowed: Counter[str] = Counter()
        for claim, result in zip(before.claim_ir.claims, before.verification, strict=True):
            if result.verdict in ("UNSUPPORTED", "NEI") and result.label == "not_enough_info":
                words = " ".join(sorted(content_words(claim.text))) or claim.text
                allowed.update([clean_text(claim.text).strip(), clean_text(words).strip()])
                searched["claims"] += 1
        more = queries[True] - queries[False]
        assert more <= allowed
        searched["queries"] += more.total()
    assert 0 < searched["queries"] <= 2 * searched["claims"]


@pytest.mark.slow
def test_without_retrieval_nothing_is_searched_again(remembering: Bench) -> None:
    """Off, which is the default: each claim is searched for once with its own words."""
    draft = {"corpus": "policy", "text": OFF_TOPIC}
    index = Asked(remembering.index("policy"))
    verified(remembering, draft, index)  # type: ignore[arg-type]
    assert index.queries.count(OFF_TOPIC) == 1
    again = Asked(remembering.index("policy"))
    on = toggled(remembering, {"enable_verification_retrieval": True})
    verified(on, draft, again)  # type: ignore[arg-type]
    assert again.queries.count(OFF_TOPIC) == 2


def cited_draft(corpus: str, bench: Bench) -> tuple[dict, dict[str, set[str]], list[str]]:
    """Return a draft of cited claims, the documents each cites, and the claims that cite none.

    Of each three claims, one cites a document that holds it, one another document of the corpus,
    and one nothing.
    """
    path = FIXTURES / "citations" / f"{corpus}.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()][:12]
    documents = {c.source.url_or_path: c.doc_id for c in bench.index(corpus).chunks()}
    names = sorted(documents)
    said, cites, uncited = [], {}, []
    for number, row in enumerate(rows):
        words = row["claim"].rstrip(".")
        right = [own["document"] for own in row["right"]]
        name = right[0] if number % 3 == 0 else next(n for n in names if n not in right)
        if number % 3 == 2:
            uncited.append(words)
            said.append(f"{words}.")
            continue
        cites[words] = {documents[name]}
        said.append(f"{words} [{name}].")
    return {"corpus": corpus, "text": "\n".join(said)}, cites, uncited


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["policy", "finance", "clinical"])
def test_without_correction_a_claim_leans_on_what_it_cites_alone(
    remembering: Bench, corpus: str
) -> None:
    """All are kept, none is judged; evidence that was not cited gives no badge to who cites."""
    draft, cites, uncited = cited_draft(corpus, remembering)
    off = verified(toggled(remembering, {"enable_citation_correction": False}), draft)
    on = verified(remembering, draft).record
    assert check(off.answer.export, remembering.services.trusted).verdict == "VALID"
    record = off.record
    assert record.citations.judgements == ()
    assert {c.kind for c in record.citations.corrections} == {"KEEP"}
    assert all(c.old == c.new for c in record.citations.corrections)
    assert len(on.citations.judgements) == len(on.citations.citations)
    assert {c.kind for c in on.citations.corrections} > {"KEEP"}
    chunks = {chunk.chunk_id: chunk.doc_id for chunk in record.retrieval.chunks}
    leaning: Counter[str] = Counter()
    for claim, result in zip(record.claim_ir.claims, record.verification, strict=True):
        if claim.id not in verified_ids(record):
            continue
        own = [docs for words, docs in cites.items() if words.startswith(claim.text.rstrip("."))]
        leaning["uncited" if not own else "cited"] += 1
        if own:
            assert {chunks[ref.chunk_id] for ref in result.best_evidence} <= own[0], claim.text
    assert leaning["cited"] > 0
    same = [c for c in record.claim_ir.claims if c.text.rstrip(".") in uncited]
    for claim in same:  # who cites nothing is judged as ever
        assert (claim.id in verified_ids(record)) == (claim.id in verified_ids(on))
    assert leaning["uncited"] > 0


@pytest.mark.slow
def test_without_correction_what_opposes_a_claim_still_counts(remembering: Bench) -> None:
    """A wrong claim gets no badge, and the verdict goes on saying that it is contradicted."""
    text = (
        "Full-time employees receive 40 days of annual leave per calendar year [leave-policy.md]."
    )
    draft = {"corpus": "policy", "text": text}
    for toggles in ({}, {"enable_citation_correction": False}):
        record = verified(toggled(remembering, toggles), draft).record
        assert verified_ids(record) == set()
        assert [r.verdict for r in record.verification] == ["CONTRADICTED"]


@pytest.mark.slow
def test_without_preselection_every_sentence_that_was_found_is_given(remembering: Bench) -> None:
    """Off: all that was retrieved, in document order, no cap. On: the best, under the caps."""
    draft = drafts()[0]
    index, services = remembering.index(draft["corpus"]), remembering.services
    prompts = {name: prompt_text(name) for name in PROMPT_OF.values()}
    given = {}
    for on in (True, False):
        model = FakeLanguageModel('{"claims": []}')
        changed = {"enable_evidence_preselection": on, "max_spans_per_source": 1}
        settings = replace(services.settings, **changed)
        writer = AnswerWriter(model, "generate-then-cite", prompts)
        answer_question(
            draft["question"], index, replace(services, settings=settings, writer=writer)
        )
        blocks = re.findall(
            r"^<evidence \d+ \w+>\n(.*?)\n</evidence", model.prompts[0].content, _ALL
        )
        given[on] = [block.split("\n")[-1] for block in blocks]
    found = retrieve_parts(
        draft["question"],
        services.reader.parts(draft["question"]),
        index,
        services.embedder,
        services.reranker,
        max_chunks=services.settings.max_chunks,
    )
    every = [
        " ".join(span.sentence.split())
        for document in dict.fromkeys(chunk.doc_id for chunk in found.chunks)
        for chunk in sorted(found.chunks, key=lambda c: (c.source.start, c.chunk_id))
        if chunk.doc_id == document
        for span in chunk.spans
        if span.visible
    ]
    assert given[False] == list(dict.fromkeys(every))
    # One of each document, but for those of which it says nothing on the topic, behind the third.
    assert 3 <= len(given[True]) <= len({chunk.doc_id for chunk in found.chunks})
    assert set(given[True]) < set(given[False])


@pytest.mark.slow
@pytest.mark.parametrize(
    "toggles",
    [
        {"enable_evidence_preselection": False},
        {"enable_interleaved_generation": False},
        dict.fromkeys(DEFAULTS, False),
        dict.fromkeys(DEFAULTS, True),
    ],
    ids=["preselection off", "interleaved off", "all off", "all on"],
)
def test_written_answers_keep_the_contract(remembering: Bench, toggles: dict[str, bool]) -> None:
    """A model that writes planted errors gets no badge for one; off, it cites afterwards."""
    bench = toggled(remembering, toggles)
    on = bench.services.settings.enable_interleaved_generation
    effective: Strategy = "interleaved" if on else "generate-then-cite"
    shown = 0
    for draft in drafts()[::5]:
        model = DraftWriter(draft, effective, bench.services.split)
        own = wrote(bench, draft, "interleaved", model=model)
        assert own.record.generation.strategy == effective
        assert [p.name for p in own.record.generation.prompts] == [PROMPT_OF[effective]]
        assert (model.asked == 1) is not on
        shown += len(verified_ids(own.record))
        for claim in own.claims:
            if claim.id in verified_ids(own.record):
                assert not written_errors(claim, own), claim.text
        assert check(own.last.export, bench.services.trusted).verdict == "VALID"
    assert shown > 0
