"""The verifier sees a claim and evidence: nothing else can reach it, by type and by trial.

Words that occur nowhere else are planted in the question, the draft, the other claims and the
generator's name; the whole pipeline runs at every depth before a verifier that keeps all it is given.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import fields, replace

import pytest
from fakes import AlignedWords, FakeEmbedder, WordReader, chunk_of
from gate_cases import KEY, POLICY, TRUSTED
from memory_log import MemoryLog

from certirag.adapters.index.local import LocalIndex
from certirag.answers import measure, pipeline
from certirag.answers.pipeline import answer_question, verify_draft
from certirag.answers.services import Instruments, Services
from certirag.claims.compile import claims_from_draft
from certirag.core.claim import ClaimIR
from certirag.core.generation import ModelIdentity
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import VerificationResult
from certirag.ingest.sentences import sentence_splitter
from certirag.ports import Judgement, Pair, Verifier
from certirag.proof.certificate import open_export
from certirag.settings import Settings
from certirag.verification.candidates import Candidates
from certirag.verification.depth import Asker, verify_at_depths
from certirag.verification.further_search import verify_with_retrieval
from certirag.verification.question_answers import answer_from_evidence, question_records
from certirag.verification.routing import Route

QUESTION = "zquestion"
REMARK = "zremark"
GENERATOR = "zgenerator"
# One word for each claim, in the claim and in its evidence.
OWN = ("zalpha", "zbeta", "zgamma", "zdelta")
SENTENCES = (
    "Every zalpha employee receives 27 days of leave.",
    "The zbeta depot was opened in May 2023.",
    "Visitors of zgamma must wear a badge.",
    "The zdelta margin rose to 14.5 percent.",
)
DRAFT = (
    f"I think this {REMARK} is what you want! {' '.join(SENTENCES)} The zbeta depot is in Lille."
)
CORPUS = [chunk_of(text, name=f"d{n}", title="Handbook") for n, text in enumerate(SENTENCES)]
DEPTHS = {
    "plain": None,
    "HIGH": Route(0.9, "HIGH"),
    "MEDIUM": Route(0.6, "MEDIUM"),
    "LOW": Route(0.3, "LOW"),
}


class Recording:
    """A verifier that keeps every pair that it is given."""

    identity = ModelIdentity("verifier", "recording", "1", "0" * 64)

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self._words = AlignedWords()

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        self.pairs += pairs
        return self._words.judge(pairs)


class Order:
    """A reranker that sees question and texts, as it may, and keeps their order."""

    identity = ModelIdentity("reranker", "order", "1", "1" * 64)

    def score(self, _query: str, texts: Sequence[str]) -> Sequence[float]:
        return [1.0 / (n + 1) for n in range(len(texts))]


def services_with(verifier: Verifier) -> Services:
    """Return services whose only part of interest is *verifier*."""
    return Services(
        settings=Settings(),
        policy=POLICY,
        embedder=FakeEmbedder(),
        reranker=Order(),
        reader=WordReader(),
        verifier=verifier,
        split=sentence_splitter(),
        audit_log=MemoryLog(KEY),  # type: ignore[arg-type]
        key=KEY,
        trusted=TRUSTED,
    )


def index() -> LocalIndex:
    """Return the four sentences as a corpus."""
    return LocalIndex.of(CORPUS, FakeEmbedder(), lambda *_: None)


def look_at(monkeypatch: pytest.MonkeyPatch, route: Route | None) -> list[tuple[str, str, str]]:
    """Make the pipeline look at every claim at one depth; return what the questions are given."""
    asked: list[tuple[str, str, str]] = []

    def ask(claim: str, evidence: str, context: str) -> tuple[object, ...]:
        asked.append((claim, evidence, context))
        return question_records(claim, evidence, context)

    def verify(
        candidates: Sequence[Candidates],
        routes: Sequence[Route],
        verifier: Verifier,
        **more: object,
    ) -> tuple[VerificationResult, ...]:
        more["ask"] = ask
        routes = routes if route is None else [route] * len(candidates)
        return verify_at_depths(candidates, routes, verifier, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(measure, "verify_at_depths", verify)
    return asked


def foreign(texts: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return those of (claim, evidence, context) that hold a word of somewhere else."""
    return [
        given
        for given in texts
        if any(word in " ".join(given) for word in (QUESTION, REMARK, GENERATOR))
        or sum(word in given[0] for word in OWN) > 1
        or any(
            word in evidence and not any(word in chunk.text for chunk in CORPUS)
            for word in OWN
            for evidence in given[1:]
        )
    ]


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_draft_reaches_the_verifier_as_single_claims(
    depth: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the question, nor the rest of the draft, nor who wrote it."""

    def generated(*given: object, **options: object) -> ClaimIR:
        made = claims_from_draft(*given, **options)  # type: ignore[arg-type]
        return replace(made, generator=GENERATOR)

    monkeypatch.setattr(pipeline, "claims_from_draft", generated)
    asked = look_at(monkeypatch, DEPTHS[depth])
    verifier = Recording()
    answer = verify_draft(DRAFT, index(), services_with(verifier), question=f"Why {QUESTION}?")
    record = open_export(answer.export, TRUSTED)
    assert record.claim_ir.generator == GENERATOR
    assert any(QUESTION in text for text in (record.question, record.claim_ir.question))
    given = [(p.claim, p.evidence, p.context) for p in verifier.pairs]
    assert {word for word in OWN if any(word in pair[0] for pair in given)} == set(OWN)
    assert foreign(given) == []
    assert foreign(asked) == []
    assert bool(asked) == (depth == "LOW")
    assert any(d.render_state == "VERIFIED" for d in record.decisions)


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_question_never_reaches_the_verifier(depth: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an answered question only its claims do, each alone."""
    asked = look_at(monkeypatch, DEPTHS[depth])
    verifier = Recording()
    question = f"How many days of leave has a zalpha employee, {QUESTION}?"
    answer = answer_question(question, index(), services_with(verifier))
    assert open_export(answer.export, TRUSTED).claim_ir.claims
    given = [(p.claim, p.evidence, p.context) for p in verifier.pairs]
    assert given
    assert foreign([*given, *asked]) == []


def test_the_recording_would_show_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trial can fail: a pipeline that told the verifier its question would be seen."""

    def leaking(
        candidates: Sequence[Candidates], routes: Sequence[Route], verifier: Verifier, **_: object
    ) -> tuple[VerificationResult, ...]:
        told = [
            replace(c, claim=replace(c.claim, text=f"{c.claim.text} {QUESTION}"))
            for c in candidates
        ]
        return verify_at_depths(told, routes, verifier)

    monkeypatch.setattr(measure, "verify_at_depths", leaking)
    verifier = Recording()
    verify_draft(DRAFT, index(), services_with(verifier))
    assert foreign([(p.claim, p.evidence, p.context) for p in verifier.pairs])


def test_a_further_search_keeps_the_isolation() -> None:
    """Its query is the claim; what it brings is evidence."""
    verifier = Recording()
    queries: list[str] = []

    def search(query: str, _limit: int) -> Sequence[EvidenceChunk]:
        queries.append(query)
        return CORPUS

    made = claims_from_draft(f"Why {QUESTION}?", DRAFT, sentence_splitter(), max_claims=9)
    candidates = [Candidates(claim, (), 0, 0) for claim in made.claims]
    verify_with_retrieval(candidates, verifier, search)
    given = [(p.claim, p.evidence, p.context) for p in verifier.pairs]
    assert given
    assert foreign([(p, "", "") for p in queries if REMARK not in p]) == []
    assert foreign(given) == []


def test_a_pair_has_room_for_claim_and_evidence_only() -> None:
    """Four texts and no more; another field would be another way in."""
    assert {f.name: f.type for f in fields(Pair)} == {
        "claim": "str",
        "evidence": "str",
        "context": "str",
        "window": "str",
    }
    assert not hasattr(Pair("a", "b"), "__dict__")
    hints = typing.get_type_hints(Verifier.judge)
    assert hints == {"pairs": Sequence[Pair], "return": Sequence[Judgement]}


@pytest.mark.parametrize(
    ("function", "taken"),
    [
        (measure.measure_claims, {"claims", "found", "index", "instruments", "citations"}),
        (verify_at_depths, {"candidates", "routes", "verifier", "ask", "nei"}),
        (question_records, {"claim", "evidence", "context"}),
        (answer_from_evidence, {"question", "evidence", "context"}),
    ],
)
def test_what_verifies_takes_no_draft(function: Callable[..., object], taken: set[str]) -> None:
    """The parameters are the whole world of these functions: none is a question or a draft."""
    assert set(inspect.signature(function).parameters) == taken


def test_what_measures_is_given_no_key_no_policy_and_no_log() -> None:
    """A part that only measures cannot sign, decide or record."""
    assert {f.name for f in fields(Instruments)} == {
        "settings", "embedder", "reranker", "reader", "verifier", "split", "stage",
    }  # fmt: skip
    assert typing.get_type_hints(measure.measure_claims)["instruments"] is Instruments


def test_an_asker_and_a_route_have_no_room_either() -> None:
    """A route is a number, a word and signals; an asker is given three texts of one pair."""
    assert {f.name for f in fields(Route)} == {"confidence", "routing", "signals"}
    assert typing.get_args(Asker)[0] == [str, str, str]
    assert {f.name for f in fields(Candidates)} == {
        "claim", "chosen", "dropped", "needed_dropped", "spare",
    }  # fmt: skip
