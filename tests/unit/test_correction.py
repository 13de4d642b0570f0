"""Citation correction: similarity proposes, entailment decides, what is right stays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from fakes import FakeEmbedder, chunk_of

from certirag.claims.compile import make_claim
from certirag.core.citation import Citation, CitationJudgement, CitationVerdict, Correction
from certirag.core.claim import Claim
from certirag.core.generation import ModelIdentity
from certirag.core.text import SpanRef
from certirag.errors import InputError, ModelError, VerifierError
from certirag.ports import Judgement, Pair, Verifier
from certirag.verification.candidates import Candidate
from certirag.verification.correction import correct_citations, corrected, keep_citations
from certirag.verification.places import Place
from certirag.verification.proposals import (
    STRATEGIES,
    CorrectionStrategy,
    HybridStrategy,
    KeywordStrategy,
    SemanticStrategy,
    VerifierStrategy,
    correction_strategy,
)

LEAVE = chunk_of("Employees receive 27 days of leave. It is requested online.", name="leave")
FAQ = chunk_of("Staff receive 27 days of leave.", name="faq")
OLD = chunk_of("Employees received 24 days of leave.", name="old")
CHUNKS = (LEAVE, FAQ, OLD)


def claim_of(text: str, name: str = "c1") -> Claim:
    """Return *text* as a claim that asks for one citation."""
    made = replace(make_claim(text, 0, len(text), ()), id=name)
    return replace(made, risk_class="factual_lit_claim")


CLAIM = claim_of("Employees receive 27 days of leave.")


class Says:
    """A verifier that looks its answers up."""

    identity = ModelIdentity("verifier", "says", "1", "0" * 64)

    def __init__(self, entails: Callable[[Pair], float], against: Callable[[Pair], float]) -> None:
        self.entails, self.against = entails, against
        self.asked: list[Pair] = []

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        self.asked += pairs
        found = []
        for pair in pairs:
            entailed = self.entails(pair)
            contradicted = min(self.against(pair), 1.0 - entailed)
            label = "entailed" if entailed >= 0.5 else "not_enough_info"
            found.append(Judgement(label, entailed, 1.0 - entailed - contradicted, contradicted))  # type: ignore[arg-type]
        return found


class Breaks:
    """A verifier that does not answer."""

    identity = Says.identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        raise VerifierError("the model is not there")


def of_words(*words: str, score: float = 0.96) -> Says:
    """Entail what holds all *words*, contradict nothing."""
    return Says(
        lambda pair: score if all(word in pair.evidence for word in words) else 0.2, lambda _: 0.0
    )


def judgement(verdict: CitationVerdict, doc_id: str = "old", **more: object) -> CitationJudgement:
    """Return a judged citation of CLAIM."""
    evidence = (SpanRef(f"{doc_id}#0", "s1"),) if verdict != "HALLUCINATED" else ()
    citation = Citation("c1", doc_id, raw="[3]")
    return CitationJudgement(citation, verdict, "as judged", evidence=evidence, **more)  # type: ignore[arg-type]


def correct(
    judgements: Sequence[CitationJudgement],
    verifier: Verifier,
    strategy: CorrectionStrategy | None = None,
    claim: Claim = CLAIM,
    **options: object,
) -> tuple[Correction, ...]:
    """Correct the citations of one claim."""
    strategy = strategy or KeywordStrategy()
    return correct_citations([claim], judgements, CHUNKS, verifier, strategy, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("verdict", ["WEAK", "INVALID", "HALLUCINATED"])
def test_a_wrong_citation_is_replaced_by_what_supports(name: str, verdict: str) -> None:
    """Under every strategy, with the sentence and its score."""
    verifier = of_words("27")
    strategy = correction_strategy(name, FakeEmbedder(), verifier)
    (found,) = correct([judgement(verdict)], verifier, strategy)  # type: ignore[arg-type]
    assert found.kind == "REPLACE"
    assert found.old == judgement(verdict).citation  # type: ignore[arg-type]
    assert found.new == Citation("c1", "leave", spans=(SpanRef("leave#0", "s1"),))
    assert found.entailed == 0.96
    assert corrected([found]) == (found.new,)


def test_a_right_citation_is_kept_and_nothing_is_asked() -> None:
    """Whatever else would support the claim too."""
    verifier = of_words("27")
    (found,) = correct([judgement("VALID", "leave")], verifier)
    assert (found.kind, found.old, found.new) == ("KEEP", found.old, found.old)
    assert verifier.asked == []


def test_similarity_alone_replaces_nothing() -> None:
    """The closest sentence scores just below the target: the wrong citation goes."""
    (found,) = correct([judgement("INVALID")], of_words("27", score=0.84))
    assert (found.kind, found.new) == ("REMOVE", None)
    assert corrected([found]) == ()
    (lower,) = correct([judgement("INVALID")], of_words("27", score=0.84), target=0.8)
    assert lower.kind == "REPLACE"


def test_what_speaks_against_the_claim_is_never_cited() -> None:
    """However well the same sentence is said to support it."""
    verifier = Says(lambda pair: 0.28 if "27" in pair.evidence else 0.1, lambda _: 0.72)
    (found,) = correct([judgement("INVALID")], verifier, target=0.25)
    assert found.kind == "REMOVE"
    (higher,) = correct([judgement("INVALID")], verifier, target=0.25, against=0.73)
    assert higher.kind == "REPLACE"


def test_a_sentence_of_the_cited_document_is_preferred() -> None:
    """A wrong section of the right document stays in that document."""
    wrong_section = replace(
        judgement("WEAK"), citation=Citation("c1", "faq", raw="[2]", place="Other")
    )
    (found,) = correct([wrong_section], of_words("27"))
    assert found.new is not None
    assert found.new.doc_id == "faq"


def test_a_weak_citation_stays_where_nothing_is_closer() -> None:
    """What no sentence supports need not be wrong; elsewhere on the topic it goes."""
    nothing = of_words("no such word")
    (closest,) = correct([judgement("WEAK", "leave")], nothing)
    assert closest.kind == "KEEP"
    assert "nothing is closer" in closest.reason
    (other,) = correct([judgement("WEAK", "old")], nothing)
    assert other.kind == "REMOVE"
    (invalid,) = correct([judgement("INVALID", "leave")], nothing)
    assert invalid.kind == "REMOVE"


def test_a_wrong_citation_beside_a_right_one_goes() -> None:
    """The claim is supported already: nothing is looked for."""
    verifier = of_words("27")
    kept, gone = correct([judgement("VALID", "leave"), judgement("WEAK", "old")], verifier)
    assert (kept.kind, gone.kind) == ("KEEP", "REMOVE")
    assert "another citation" in gone.reason
    assert verifier.asked == []


def test_two_wrong_citations_of_a_claim_become_one_right_one() -> None:
    """The second is not needed; the counts of citations do not grow."""
    found = correct([judgement("INVALID"), judgement("HALLUCINATED", "")], of_words("27"))
    assert [c.kind for c in found] == ["REPLACE", "REMOVE"]


def test_an_uncited_claim_gains_its_citation() -> None:
    """Unless that is not asked for; and nothing where nothing supports it."""
    (found,) = correct([], of_words("27"))
    assert (found.kind, found.old) == ("ADD_ALTERNATE", None)
    assert correct([], of_words("27"), cite_uncited=False) == ()
    assert correct([], of_words("no such word")) == ()


def test_a_comparison_gains_its_second_source() -> None:
    """RFC-0004 §6.2 asks for two; the one there is kept and not cited twice."""
    comparison = replace(CLAIM, risk_class="comparative_claim")
    kept, added = correct([judgement("VALID", "leave")], of_words("27"), claim=comparison)
    assert (kept.kind, added.kind) == ("KEEP", "ADD_ALTERNATE")
    assert added.new is not None
    assert added.new.spans == (SpanRef("faq#0", "s1"),)


def test_sentences_of_one_document_are_cited_together() -> None:
    """Two sentences of one source make one citation; of two sources they make none."""
    claim = claim_of("Employees receive 27 days of leave, which is requested online.")
    (found,) = correct([judgement("HALLUCINATED", "")], of_words("27", "online"), claim=claim)
    assert found.kind == "REPLACE"
    assert found.new is not None
    assert found.new.spans == (SpanRef("leave#0", "s1"), SpanRef("leave#0", "s2"))
    claim = claim_of("Employees receive 27 days of leave, and received 24 days.")
    (gone,) = correct([judgement("HALLUCINATED", "")], of_words("27", "24"), claim=claim)
    assert gone.kind == "REMOVE"


def test_a_verifier_that_fails_changes_nothing_but_what_does_not_exist() -> None:
    """A citation that could not be judged, or bettered, stays; an invented source goes."""
    (unjudged,) = correct([replace(judgement("INVALID"), error="late")], of_words("27"))
    assert (unjudged.kind, unjudged.entailed) == ("KEEP", None)
    (weak,) = correct([judgement("WEAK")], Breaks())
    assert weak.kind == "KEEP"
    assert "the model is not there" in weak.reason
    (invented,) = correct([judgement("HALLUCINATED", "")], Breaks())
    assert invented.kind == "REMOVE"
    assert "the model is not there" in invented.reason


def test_scores_that_are_no_numbers_replace_nothing() -> None:
    """NaN for every proposed sentence."""
    verifier = Says(lambda _: math.nan, lambda _: 0.0)
    (found,) = correct([judgement("INVALID")], verifier)
    assert found.kind == "KEEP"


def test_hidden_text_is_never_proposed() -> None:
    """Not even by the verifier's own strategy."""
    hidden = chunk_of("Employees receive 27 days of leave.", name="h", hidden=("27",))
    verifier = of_words("27")
    for name in STRATEGIES:
        strategy = correction_strategy(name, FakeEmbedder(), verifier)
        (found,) = correct_citations([CLAIM], [judgement("INVALID")], [hidden], verifier, strategy)
        assert found.kind == "REMOVE"


class Forges:
    """A strategy that hands back a sentence of its own making, under a real place's name."""

    name = "forges"

    def proposes(
        self, claims: Sequence[str], pool: Sequence[Place], *, most: int
    ) -> tuple[tuple[Candidate, ...], ...]:
        chunk, span = pool[-1]
        forged = replace(span, sentence="Employees receive 27 days of leave.")
        stranger = chunk_of("Employees receive 27 days of leave.", name="stranger")
        return ((Candidate(chunk, forged, 1.0), Candidate(stranger, stranger.spans[0], 1.0)),)


class Drops:
    """A strategy that loses a claim."""

    name = "drops"

    def proposes(
        self, claims: Sequence[str], pool: Sequence[Place], *, most: int
    ) -> tuple[tuple[Candidate, ...], ...]:
        return ((), ())


def test_a_strategy_only_names_places() -> None:
    """What it says stands there is not believed, and places that are not there are dropped."""
    verifier = of_words("27")
    (found,) = correct([judgement("INVALID")], verifier, Forges())
    assert found.kind == "REMOVE"
    assert all("27" not in pair.evidence for pair in verifier.asked)
    (kept,) = correct([judgement("INVALID")], verifier, Drops())
    assert kept.kind == "KEEP"


@pytest.mark.parametrize(
    "strategy",
    [
        KeywordStrategy(),
        SemanticStrategy(FakeEmbedder()),
        HybridStrategy(FakeEmbedder()),
        VerifierStrategy(of_words("27")),
    ],
    ids=lambda s: s.name,
)
def test_strategies_rank_alike_whatever_the_order(strategy: CorrectionStrategy) -> None:
    """Best first, similarity in (0, 1], at most as many as asked, no difference by order."""
    pool = [(chunk, span) for chunk in CHUNKS for span in chunk.spans]
    (forth,) = strategy.proposes([CLAIM.text], pool, most=3)
    (back,) = strategy.proposes([CLAIM.text], pool[::-1], most=3)
    assert forth == back
    assert forth[0].chunk.doc_id in {"leave", "faq"}
    assert 0 < len(forth) <= 3
    shares = [c.share for c in forth]
    assert shares == sorted(shares, reverse=True)
    assert all(0.0 < share <= 1.0 for share in shares)


def test_the_hybrid_weighs_words_and_meaning() -> None:
    """At 1 it ranks as words do, at 0 as meaning does; between, its share lies between."""
    pool = [(chunk, span) for chunk in CHUNKS for span in chunk.spans]

    def shares(strategy: CorrectionStrategy) -> dict[str, float]:
        (own,) = strategy.proposes([CLAIM.text], pool, most=9)
        return {f"{c.chunk.chunk_id}{c.span.span_id}": c.share for c in own}

    embedder = FakeEmbedder()
    words, meaning = shares(KeywordStrategy()), shares(SemanticStrategy(embedder))
    assert shares(HybridStrategy(embedder, weight=1.0)) == words
    assert shares(HybridStrategy(embedder, weight=0.0)) == meaning
    mixed = shares(HybridStrategy(embedder))
    name = "old#0s1"
    assert mixed[name] == pytest.approx(0.8 * words[name] + 0.2 * meaning[name], abs=1e-5)


class NanEmbedder(FakeEmbedder):
    """Gives vectors that are no numbers."""

    def embed(self, texts: Sequence[str]) -> object:  # type: ignore[override]
        return super().embed(texts) * math.nan


def test_unsound_vectors_unknown_names_and_odd_numbers_are_refused() -> None:
    """Each with one line that says what to do."""
    with pytest.raises(ModelError, match="CERTIRAG_EMBEDDER"):
        correct([judgement("INVALID")], of_words("27"), SemanticStrategy(NanEmbedder()))
    with pytest.raises(InputError, match="keyword, semantic, hybrid, verifier"):
        correction_strategy("bert_score", FakeEmbedder(), of_words("27"))
    with pytest.raises(InputError, match="2"):
        HybridStrategy(FakeEmbedder(), weight=2.0)
    with pytest.raises(InputError, match="target"):
        correct([judgement("INVALID")], of_words("27"), target=0.0)
    with pytest.raises(InputError, match="'c1'"):
        correct([judgement("INVALID")], of_words("27"), claim=replace(CLAIM, id="c2"))


def test_switched_off_everything_stays() -> None:
    """As the draft wrote it, and the reason says that nothing was judged."""
    own = judgement("HALLUCINATED", "").citation
    (found,) = keep_citations([own])
    assert (found.kind, found.old, found.new, found.entailed) == ("KEEP", own, own, None)
    assert corrected([found]) == (own,)
