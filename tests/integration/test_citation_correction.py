"""Citation correction on cited claims of the drafts, three in ten of the citations made wrong."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pytest
from integration_fixtures import CORPORA, FIXTURES, Bench, drafts

from certirag.bootstrap import make_verifier
from certirag.claims.citation_marks import citations_of, cited_sources, read_citations
from certirag.claims.compile import claims_from_draft, make_claim
from certirag.core.citation import Citation, CitationJudgement, Correction
from certirag.core.claim import Claim
from certirag.core.text import EvidenceChunk
from certirag.ingest.sentences import sentence_splitter
from certirag.verification.citation_check import citation_precision_recall, judge_citations
from certirag.verification.correction import correct_citations, corrected
from certirag.verification.proposals import STRATEGIES, correction_strategy

Wrong = Literal["", "other document", "neighbouring section", "invented source"]
KINDS: tuple[Wrong, ...] = ("other document", "neighbouring section", "invented source")
SPLIT = sentence_splitter(None)
SHARE_WRONG = 0.3
SEED = 20_240
MOST_BROKEN = 0.05
# Measured: 0.75 to 0.78 with the small network. What is not restored is removed, for it does not
# find its right evidence to entail it either.
RESTORED = 0.70


@dataclass(frozen=True)
class Case:
    """One claim with its right evidence, and the citation that the draft gives it."""

    row: dict
    claim: Claim
    citation: Citation
    wrong: Wrong


def rows(corpus: str) -> list[dict]:
    """Return the cited claims of *corpus*; each sentence in ``right`` supports its claim alone."""
    path = FIXTURES / "citations" / f"{corpus}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def is_right(citation: Citation, row: dict, chunks: Sequence[EvidenceChunk]) -> bool:
    """Say whether *citation* points at a sentence that supports the claim, or at its section."""
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    if citation.spans:
        sentences = {
            (by_id[ref.chunk_id].source.url_or_path, by_id[ref.chunk_id].span(ref.span_id).sentence)
            for ref in citation.spans
        }
        return any((own["document"], own["sentence"]) in sentences for own in row["right"])
    documents = {c.doc_id: c.source.url_or_path for c in chunks}
    return any(
        own["document"] == documents.get(citation.doc_id) and own["section"] == citation.place
        for own in row["right"]
    )


def mark_of(document: str, section: str) -> str:
    """Return the mark that a draft would write."""
    return f"[{document}#{section}]" if section else f"[{document}]"


def wrong_mark(
    row: dict, kind: Wrong, chunks: Sequence[EvidenceChunk], draw: random.Random
) -> tuple[str, Wrong]:
    """Return a wrong mark of *kind*; of another document where the right one has one section."""
    right = {(own["document"], own["section"]) for own in row["right"]}
    if kind == "invented source":
        return (
            f"[{draw.choice(('annual-outlook', 'board-memo'))}-{draw.randint(2031, 2039)}.pdf]",
            kind,
        )
    places = list(dict.fromkeys((c.source.url_or_path, c.source.section) for c in chunks))
    own = row["right"][0]
    at = places.index((own["document"], own["section"]))
    near = [p for p in places[max(0, at - 1) : at + 2] if p[0] == own["document"]]
    near = [p for p in near if p not in right and p[1]]  # without a section it is the whole
    if kind == "neighbouring section" and near:
        return mark_of(*draw.choice(near)), kind
    documents = {document for document, _ in right}
    return mark_of(*draw.choice([p for p in places if p[0] not in documents])), "other document"


def cases(corpora: dict[str, Sequence[EvidenceChunk]]) -> list[Case]:
    """Return every claim with its citation; the same ones are wrong in every run."""
    everything = [(corpus, row) for corpus in CORPORA for row in rows(corpus)]
    draw = random.Random(SEED)
    chosen = draw.sample(range(len(everything)), round(SHARE_WRONG * len(everything)))
    kinds = {at: KINDS[n % len(KINDS)] for n, at in enumerate(chosen)}
    found = []
    for at, (corpus, row) in enumerate(everything):
        chunks = corpora[corpus]
        mark = mark_of(row["right"][0]["document"], row["right"][0]["section"])
        kind = kinds.get(at, "")
        if kind:
            mark, kind = wrong_mark(row, kind, chunks, draw)
        text = row["claim"]
        cited = read_citations(f"{text[:-1]} {mark}{text[-1]}", cited_sources(chunks))
        assert cited.text == text  # the claim without its mark is the claim, to the letter
        claim = replace(make_claim(text, 0, len(text), ()), id=row["id"])
        (citation,) = citations_of([claim], cited).citations
        assert is_right(citation, row, chunks) is (not kind), (mark, citation)
        found.append(Case(row, claim, citation, kind))
    return found


@pytest.fixture(scope="module")
def corpora(bench: Bench) -> dict[str, Sequence[EvidenceChunk]]:
    """Return the chunks of each demo corpus: all that may be cited, and be proposed."""
    return {corpus: tuple(bench.index(corpus).chunks()) for corpus in CORPORA}


def test_the_right_evidence_is_there(corpora: dict[str, Sequence[EvidenceChunk]]) -> None:
    """Each sentence stands in its section, and each claim in its draft outside planted errors."""
    texts = {draft["id"]: draft for draft in drafts()}
    for corpus in CORPORA:
        spans = {
            (chunk.source.url_or_path, chunk.source.section, span.sentence)
            for chunk in corpora[corpus]
            for span in chunk.spans
            if span.visible
        }
        for row in rows(corpus):
            assert row["right"], row["id"]
            for own in row["right"]:
                assert (own["document"], own["section"], own["sentence"]) in spans, row["id"]
            draft = texts[row["draft"]]
            claims = claims_from_draft("", draft["text"], SPLIT, max_claims=40).claims
            (claim,) = [claim for claim in claims if claim.text == row["claim"]]
            assert not any(
                claim.draft_start < error["end"] and error["start"] < claim.draft_end
                for error in draft["errors"]
            ), row["id"]


@dataclass
class Tally:
    """What became of the citations under one strategy."""

    injected: int = 0
    restored: int = 0
    removed: int = 0
    still_wrong: int = 0
    right: int = 0
    broken: int = 0


def tally(
    all_cases: Sequence[Case],
    corrections: Sequence[Correction],
    corpora: dict[str, Sequence[EvidenceChunk]],
) -> tuple[Tally, list[str]]:
    """Count what was restored and broken; the lines say what went wrong."""
    counts, lines = Tally(), []
    for case in all_cases:
        own = [c for c in corrections if c.claim_id == case.claim.id]
        left = corrected(own)
        good = bool(left) and all(is_right(c, case.row, corpora[case.row["corpus"]]) for c in left)
        if not case.wrong:
            counts.right += 1
            counts.broken += not good
        else:
            counts.injected += 1
            counts.restored += good
            counts.removed += not left
            counts.still_wrong += bool(left) and not good
        if not good:
            what = "; ".join(f"{c.kind}: {c.reason} → {c.new and c.new.spans}" for c in own)
            lines.append(f"{case.wrong or 'right'} | {case.claim.id} {case.claim.text} | {what}")
    return counts, lines


@pytest.mark.slow
def test_wrong_citations_are_restored_and_right_ones_stay(
    bench: Bench,
    corpora: dict[str, Sequence[EvidenceChunk]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Printed for each strategy; at most one right citation in twenty is broken."""
    verifier = make_verifier("embedded")
    all_cases = cases(corpora)
    judged: dict[str, tuple[CitationJudgement, ...]] = {}
    for corpus, chunks in corpora.items():
        own = [case for case in all_cases if case.row["corpus"] == corpus]
        judged[corpus] = judge_citations(
            [case.claim for case in own], [case.citation for case in own], chunks, verifier
        )
    by_claim = {j.citation.claim_id: j for own in judged.values() for j in own}
    before = citation_precision_recall([c.claim.id for c in all_cases], list(by_claim.values()))
    made_wrong = sum(bool(case.wrong) for case in all_cases)
    line = f"{len(all_cases)} citations, {made_wrong} made wrong; as judged before"
    printed = [f"\n{line}: precision {before.precision:.2f}, recall {before.recall:.2f}"]
    for kind in KINDS:
        verdicts = [by_claim[c.claim.id].verdict for c in all_cases if c.wrong == kind]
        assert "VALID" not in verdicts, kind
        printed.append(f"  {kind}: {dict(sorted(Counter(verdicts).items()))}")
    results = {}
    for name in STRATEGIES:
        strategy = correction_strategy(name, bench.services.embedder, verifier)
        corrections = [
            correction
            for corpus, chunks in corpora.items()
            for correction in correct_citations(
                [case.claim for case in all_cases if case.row["corpus"] == corpus],
                judged[corpus],
                chunks,
                verifier,
                strategy,
            )
        ]
        counts, lines = tally(all_cases, corrections, corpora)
        results[name] = counts
        printed.append(
            f"  {name:9} restored {counts.restored}/{counts.injected} "
            f"({counts.restored / counts.injected:.0%}), removed {counts.removed}, "
            f"still wrong {counts.still_wrong}; right ones broken {counts.broken}/{counts.right} "
            f"({counts.broken / counts.right:.1%})"
        )
        if name == "hybrid":  # the default: each that is not right, and why
            printed += [f"      {line}" for line in lines]
    with capsys.disabled():
        print("\n".join(printed))
    for counts in results.values():
        assert counts.broken <= MOST_BROKEN * counts.right
        assert counts.still_wrong == 0
        assert counts.restored >= RESTORED * counts.injected
