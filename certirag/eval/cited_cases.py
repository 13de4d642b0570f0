"""Cited claims of the fixtures, three citations in ten made wrong, and what correction makes of them.

A citation is made wrong as a careless writer makes one: it names another document, a neighbouring
section, or a source that is not there (fifth seed, Stage 5). The same ones are wrong in every run.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from certirag.answers.services import Services
from certirag.claims.citation_marks import citations_of, cited_sources, read_citations
from certirag.claims.compile import make_claim
from certirag.core.citation import Citation, Correction
from certirag.core.claim import Claim
from certirag.core.text import EvidenceChunk
from certirag.eval.builtin import corpus_index, fixture_lines
from certirag.eval.sought import DEMO
from certirag.eval.systems import Share
from certirag.eval.workload import FIXTURES
from certirag.settings import Settings
from certirag.verification.citation_check import judge_citations
from certirag.verification.correction import correct_citations, corrected
from certirag.verification.proposals import correction_strategy

_Wrong = Literal["", "other document", "neighbouring section", "invented source"]
_KINDS: Final[tuple[_Wrong, ...]] = ("other document", "neighbouring section", "invented source")
_SHARE_WRONG: Final = 0.3
_SEED: Final = 20_240


@dataclass(frozen=True, slots=True)
class CitedCase:
    """One claim of *corpus*, the places that support it as (document, section, sentence), its citation."""

    corpus: str
    claim: Claim
    right: tuple[tuple[str, str, str], ...]
    citation: Citation
    wrong: _Wrong

    def is_right(self, citation: Citation, chunks: Sequence[EvidenceChunk]) -> bool:
        """Say whether *citation* points at a sentence that supports the claim, or at its section."""
        by_id = {chunk.chunk_id: chunk for chunk in chunks}
        if citation.spans:
            cited = {
                (
                    by_id[ref.chunk_id].source.url_or_path,
                    by_id[ref.chunk_id].span(ref.span_id).sentence,
                )
                for ref in citation.spans
            }
            return any((document, sentence) in cited for document, _, sentence in self.right)
        documents = {chunk.doc_id: chunk.source.url_or_path for chunk in chunks}
        named = (documents.get(citation.doc_id), citation.place)
        return any((document, section) == named for document, section, _ in self.right)


def cited_cases(corpora: Mapping[str, Sequence[EvidenceChunk]]) -> list[CitedCase]:
    """Return every cited claim of the fixtures over *corpora*, the chunks of each by its name."""
    rows = [
        (corpus, row)
        for corpus in DEMO
        for row in fixture_lines(FIXTURES / "citations" / f"{corpus}.jsonl")
    ]
    draw = random.Random(_SEED)  # noqa: S311  # the same ones each time, no secret
    chosen = draw.sample(range(len(rows)), round(_SHARE_WRONG * len(rows)))
    kinds = {at: _KINDS[n % len(_KINDS)] for n, at in enumerate(chosen)}
    return [
        _case(corpus, row, kinds.get(at, ""), corpora[corpus], draw)
        for at, (corpus, row) in enumerate(rows)
    ]


def _case(
    corpus: str,
    row: dict[str, Any],
    kind: _Wrong,
    chunks: Sequence[EvidenceChunk],
    draw: random.Random,
) -> CitedCase:
    right = tuple((own["document"], own["section"], own["sentence"]) for own in row["right"])
    mark = _mark(*right[0][:2])
    if kind:
        mark, kind = _wrong_mark(right, kind, chunks, draw)
    text = row["claim"]
    cited = read_citations(f"{text[:-1]} {mark}{text[-1]}", cited_sources(chunks))
    claim = replace(make_claim(text, 0, len(text), ()), id=row["id"])
    (citation,) = citations_of([claim], cited).citations
    return CitedCase(corpus, claim, right, citation, kind)


def _mark(document: str, section: str) -> str:
    return f"[{document}#{section}]" if section else f"[{document}]"


def _wrong_mark(
    right: Sequence[tuple[str, str, str]],
    kind: _Wrong,
    chunks: Sequence[EvidenceChunk],
    draw: random.Random,
) -> tuple[str, _Wrong]:
    """Return a wrong mark of *kind*; of another document where the right one has one section."""
    if kind == "invented source":
        name = draw.choice(("annual-outlook", "board-memo"))
        return f"[{name}-{draw.randint(2031, 2039)}.pdf]", kind
    places = list(dict.fromkeys((c.source.url_or_path, c.source.section) for c in chunks))
    known = {(document, section) for document, section, _ in right}
    document, section, _ = right[0]
    at = places.index((document, section))
    near = [
        place
        for place in places[max(0, at - 1) : at + 2]
        if place[0] == document and place not in known and place[1]
    ]
    if kind == "neighbouring section" and near:
        return _mark(*draw.choice(near)), kind
    documents = {name for name, _ in known}
    others = [place for place in places if place[0] not in documents]
    return _mark(*draw.choice(others)), "other document"


def corrected_cases(services: Services, settings: Settings, every: int) -> tuple[Share, Share]:
    """Return how many wrong citations are restored, and right ones broken, of each *every*-th case."""
    corpora = {corpus: tuple(corpus_index(corpus, settings).chunks()) for corpus in DEMO}
    cases = cited_cases(corpora)[::every]
    strategy = correction_strategy(settings.correction, services.embedder, services.verifier)
    corrections: list[Correction] = []
    for corpus, chunks in corpora.items():
        own = [case for case in cases if case.corpus == corpus]
        claims = [case.claim for case in own]
        judged = judge_citations(claims, [c.citation for c in own], chunks, services.verifier)
        corrections += correct_citations(claims, judged, chunks, services.verifier, strategy)
    good = {}
    for case in cases:
        left = corrected([c for c in corrections if c.claim_id == case.claim.id])
        chunks = corpora[case.corpus]
        good[case.claim.id] = bool(left) and all(case.is_right(one, chunks) for one in left)
    wrong = [good[case.claim.id] for case in cases if case.wrong]
    right = [good[case.claim.id] for case in cases if not case.wrong]
    return Share(sum(wrong), len(wrong)), Share(right.count(False), len(right))
