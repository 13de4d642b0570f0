"""A candidate answer against the evidence pack that comes with it (RFC-0004 §4.1, §5.2, §12).

The pack is a corpus of its own, for one request: it is searched, measured and decided on, and the
result logged and signed, as every other answer is. Its text is hostile like any document's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from certirag.bootstrap import index_in_memory
from certirag.core.citation import Citation
from certirag.core.text import Block, Document, EvidenceChunk, SentenceSpan, SpanRef, sha256_hex
from certirag.gateway.allowed import Allowed
from certirag.gateway.gated import GatedRequest, grounding_score, require_measured
from certirag.gateway.refusals import Refused
from certirag.gateway.waiting import still_there
from certirag.gateway.wire import ClaimReport, SupportingCitation, VerificationReport
from certirag.ingest.chunk import chunk_document
from certirag.ingest.collect import Corpus
from certirag.ingest.extract import clean
from certirag.ingest.load import doc_id_of, superseded_notice
from certirag.render import Mode
from certirag.text.layout import read_lines
from certirag.text.word_classes import CONJUNCTIONS

if TYPE_CHECKING:
    from certirag.gateway.access import Caller
    from certirag.gateway.gated import Gate
    from certirag.gateway.waiting import Gone
    from certirag.gateway.wire import EvidencePack, VerifyRequest
    from certirag.ports import SentenceSplitter
    from certirag.render import Chip, Presentation

MAX_CHARACTERS: Final = 200_000  # of all passages together
_WORD: Final = re.compile(r"\w+")
_BETWEEN: Final = "\n\n"  # between the parts of a draft: a blank line keeps them apart
_SEPARATORS: Final = re.compile(r"[/\\]")
_PARAGRAPHS: Final = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class _Pack:
    """A pack as a *corpus*: by document its *works* and *passages*, with places in the text."""

    corpus: Corpus
    works: dict[str, str]
    passages: dict[str, tuple[tuple[str, int, int], ...]]
    left_out: tuple[str, ...]

    def holding(self, chunk: EvidenceChunk, span: SentenceSpan) -> SupportingCitation:
        """Return the passage that holds *span* of *chunk*."""
        at = chunk.source.start + span.start
        (name,) = [n for n, start, end in self.passages[chunk.doc_id] if start <= at < end]
        return SupportingCitation(work_id=self.works[chunk.doc_id], passage_id=name)

    def places(self) -> dict[tuple[str, str | None], tuple[str, tuple[SpanRef, ...]]]:
        """Return (document, sentences) by (work, passage); no sentences for a work as a whole."""
        found: dict[tuple[str, str | None], tuple[str, tuple[SpanRef, ...]]] = {}
        for chunk in self.corpus.chunks:
            found[self.works[chunk.doc_id], None] = (chunk.doc_id, ())
            for span in chunk.spans:
                held = self.holding(chunk, span)
                name = held.work_id, held.passage_id
                _, refs = found.get(name, ("", ()))
                found[name] = chunk.doc_id, (*refs, SpanRef(chunk.chunk_id, span.span_id))
        return found


@dataclass(frozen=True, slots=True)
class _Part:
    """A claim of the answer, or its summary: *index* is None; it is ``draft[start:end]``."""

    index: int | None
    text: str
    start: int
    cites: tuple[Citation, ...]

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def verification_report(
    request: VerifyRequest, caller: Caller, gate: Gate, gone: Gone
) -> VerificationReport:
    """Return what stands of the answer of *request* on its pack; Refused where it cannot be told."""
    # A report leaves whole, whatever the shares: the profile gives the policy.
    floor = replace(gate.floor(caller, request.profile), between="strip")
    pack = _read(request.evidence_pack, gate.services.split)
    with gate.places.turn(gone):
        index, _ = index_in_memory(pack.corpus, gate.services, lambda *_: still_there(gone))
    parts = _parts(request, pack)
    draft = _BETWEEN.join(part.text for part in parts)
    beside = tuple(citation for part in parts for citation in part.cites)
    sources = tuple((document.path, document.sha256) for document in pack.corpus.documents)
    asked = GatedRequest(request.query, Allowed(index, sources), floor, draft, beside)
    shown = gate.presented(caller, asked, gone, Mode.DEBUG)  # contradicted claims are told as well
    require_measured(shown)
    claims = [_report(part, shown, pack) for part in parts]
    codes = list(dict.fromkeys(code for claim in claims for code in claim.reason_codes))
    return VerificationReport(
        verdict="pass" if all(claim.passed for claim in claims) else "fail",
        reason_codes=codes,
        claims=claims,
        grounding_score=grounding_score(shown),
        confidence=shown.summary.confidence,
        left_out=list(pack.left_out),
        trace_id=shown.record.trace_id,
        profile=floor.name,
        policy=shown.policy.name,
        certificate=f"/v1/certificates/{shown.record.trace_id}",
    )


def _read(pack: EvidencePack, split: SentenceSplitter) -> _Pack:
    """Return the pack's works as documents; Refused for a pack that contradicts itself.

    A work that calls itself superseded is left out, as it is of every corpus (docs/adr/0006).
    """
    titles = {work.work_id: clean(work.title) for work in pack.works}
    ids = [(passage.work_id, passage.passage_id) for passage in pack.passages]
    if len(titles) < len(pack.works) or len(set(ids)) < len(ids):
        raise Refused("BAD_REQUEST", "evidence_pack: a work or a passage is there twice")
    if sum(len(passage.text) for passage in pack.passages) > MAX_CHARACTERS:
        message = f"evidence_pack: more than {MAX_CHARACTERS:,} characters in all passages"
        raise Refused("TOO_LARGE", message)
    documents, works, places, left_out = [], {}, {}, []
    for number, work in enumerate(dict.fromkeys(work for work, _ in ids), 1):
        text, blocks, passages = "", [], []
        for passage in pack.passages:
            if passage.work_id != work:
                continue
            # A heading without words parts the passages, which need not follow on one another.
            start = len(text)
            blocks.append(Block("heading", start, start))
            for paragraph in filter(None, map(clean, _PARAGRAPHS.split(passage.text))):
                blocks.append(Block("paragraph", len(text), len(text) + len(paragraph)))
                text += f"{paragraph}\n\n"
            passages.append((passage.passage_id, start, len(text)))
        # The number keeps those apart whose names are alike; none of them looks like a path.
        path = f"evidence-pack/{number}-{_SEPARATORS.sub('-', clean(work))}"
        doc_id = doc_id_of(path)
        document = Document(
            doc_id, titles.get(work, ""), path, "text/plain", sha256_hex(text), text, tuple(blocks)
        )
        if superseded_notice(document):
            left_out.append(work)
        else:
            documents.append(document)
            works[doc_id], places[doc_id] = work, tuple(passages)
    if not documents:
        raise Refused("NO_EVIDENCE", "Every work of the evidence pack calls itself superseded.")
    chunks = tuple(chunk for one in documents for chunk in chunk_document(one, split))
    return _Pack(Corpus(tuple(documents), chunks, ()), works, places, tuple(left_out))


def _parts(request: VerifyRequest, pack: _Pack) -> tuple[_Part, ...]:
    """Return the claims in order, each as a paragraph, and the summary where it says it otherwise."""
    claims = request.answer.claims
    texts = [clean(claim.text) for claim in claims]
    summary = clean(request.answer.answer_summary)
    places, parts, start = pack.places(), [], 0
    for number, (claim, text) in enumerate(zip(claims, texts, strict=True)):
        end = start + len(text)
        cited = (
            places.get((c.work_id, c.passage_id), ("", ())) for c in claim.supporting_citations
        )
        cites = [Citation("", doc, spans=spans, start=start, end=end) for doc, spans in cited]
        parts.append(_Part(number, text, start, tuple(dict.fromkeys(cites))))
        start = end + len(_BETWEEN)
    if summary and summary != " ".join(texts):
        parts.append(_Part(None, summary, start, ()))
    return tuple(parts)


def _report(part: _Part, shown: Presentation, pack: _Pack) -> ClaimReport:
    chips = [chip for chip in shown.shown if part.start <= chip.claim.draft_start < part.end]
    verified = [chip for chip in chips if chip.badge.kind == "verified"]
    codes = [chip.failures_first[0].rule for chip in chips if chip not in verified]
    if not codes and not _is_all_read(part, shown):
        codes.append("unread")
    supported = not codes
    if part.index is not None:
        codes += _citation_codes(part, chips, shown)
    views = [view for chip in verified for view in chip.evidence if view.attached]
    direct = all(sum(view.attached for view in chip.evidence) == 1 for chip in verified)
    carrying = [pack.holding(view.chunk, view.span) for view in views] if supported else []
    return ClaimReport(
        index=part.index,
        text=part.text if supported else "",
        supported=supported,
        passed=not codes,
        support_level=("direct" if direct else "indirect") if supported else None,
        supporting_citations=[c for at, c in enumerate(carrying) if c not in carrying[:at]],
        reason_codes=list(dict.fromkeys(codes)),
    )


def _is_all_read(part: _Part, shown: Presentation) -> bool:
    """Say whether every word of *part* is one of a Verified statement that was made of it alone.

    What the splitter passes over (asides, openers, what a cap cuts off) was never measured; and
    an item of a list would be read with the claim before it.
    """
    if shown.draft is None or [line.kind for line in read_lines(part.text)] != ["paragraph"]:
        return False
    text, read = shown.draft.text, 0
    for stretch in shown.draft.stretches():
        start, end = max(stretch.start, part.start), min(stretch.end, part.end)
        words = {word.lower() for word in _WORD.findall(text[start:end])} if start < end else set()
        if stretch.badge is not None and stretch.badge.kind == "verified":
            read += len(words)
        elif words - CONJUNCTIONS:
            return False
    return read > 0


def _citation_codes(part: _Part, chips: Sequence[Chip], shown: Presentation) -> list[str]:
    """Return what is wrong with what a claim cites (RFC-0004 §5.2, §6.3).

    Each of its statements needs a citation that carries it, and each citation a statement.
    """
    if not part.cites:
        return ["no_citation"]
    ids = {chip.claim_id for chip in chips}
    record = shown.record.citations
    judged = [] if record is None else [j for j in record.judgements if j.citation.claim_id in ids]
    codes = []
    if any(judgement.verdict == "HALLUCINATED" for judgement in judged):
        codes.append("unknown_citation")
    valid = [judgement.citation for judgement in judged if judgement.verdict == "VALID"]
    carried = {citation.claim_id for citation in valid}
    named = {(citation.doc_id, citation.spans) for citation in valid}
    if carried != ids or any(
        (cites.doc_id, cites.spans) not in named for cites in part.cites if cites.doc_id
    ):
        codes.append("citation_does_not_support")
    return codes
