"""The rules of the contract (DESIGN §2), one small named function each.

Every rule recomputes what it can from the record itself: substrings, digests, numbers and
form are checked again here, whatever the earlier parts said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from certirag.claims.lists_and_rows import list_around, quotations, reads_row, without_gaps
from certirag.claims.well_formed import problems
from certirag.core.policy import LEAST_TAU_ENTAIL
from certirag.core.selector import CannotLocate, resolve
from certirag.core.text import (
    EvidenceChunk,
    SentenceSpan,
    joined_evidence,
    pair_digests,
    sha256_hex,
    shared_context,
)
from certirag.core.verdict import SpanScore, is_score, two_places
from certirag.quantities.derive import explain_quantities, is_only_result
from certirag.render.gate import Case, Finding, Rule

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
# RFC-0004 §6.2: a scope claim needs source text that itself describes limits or assumptions.
_SCOPE_WORDS: Final = re.compile(
    r"\b(?:only|except|unless|exclud\w+|limit\w*|appl(?:y|ies|icable)|up to|at least|at most|"
    r"must|may not|not|no|never|if|when|provided|until|within|between|maximum|minimum|all|every|"
    r"cover\w*|eligib\w+|exempt\w*|require[sd]?|for)\b",
    re.IGNORECASE,
)

_CLASS_NAMES: Final = {
    "factual_lit_claim": "a plain fact",
    "historical_claim": "a statement about the past",
    "comparative_claim": "a comparison",
    "scope_claim": "a statement of limits",
}


def evidence(case: Case) -> Finding:
    """1. Enough spans are attached, and each resolves to its exact characters and place."""
    attached = case.result.best_evidence
    if len(set(attached)) != len(attached):
        return Finding(False, "the same span is attached twice")
    if not attached:
        return Finding(False, "no evidence is attached")
    for ref in attached:
        chunk = case.chunks.get(ref.chunk_id)
        if chunk is None or chunk.chunk_id != ref.chunk_id:
            return Finding(False, f"the cited chunk {ref.chunk_id} is not in the record")
        span = _span(chunk, ref.span_id)
        if span is None:
            return Finding(False, f"the cited span {ref.span_id} is not in {ref.chunk_id}")
        if sha256_hex(chunk.text) != chunk.sha256 or not _SHA256.fullmatch(chunk.source.sha256):
            return Finding(False, f"the digest of {ref.chunk_id} does not match its text")
        if not 0 <= span.start < span.end <= len(chunk.text):
            return Finding(False, f"the span {ref.span_id} lies outside {ref.chunk_id}")
        if chunk.text[span.start : span.end] != span.sentence or not span.sentence.strip():
            return Finding(False, f"the quote of {ref.span_id} differs from {ref.chunk_id}")
        if span.visible is not True:
            return Finding(False, "the attached text cannot be seen by a reader of the document")
        where = resolve(chunk, span)
        if isinstance(where, CannotLocate):
            return Finding(False, f"cannot locate {ref.span_id} in {ref.chunk_id}: {where.reason}")
    return Finding(True, f"{_count(len(attached), 'span')} attached, each found word for word")


def entailed(case: Case) -> Finding:
    """2. The attached set together entails the claim at or above the threshold."""
    score, tau = case.result.score, case.policy.tau_entail
    if not is_score(score) or score is None:
        return Finding(False, "there is no sound entailment score")
    scored = {(s.chunk_id, s.span_id): s for s in case.result.all_scores}
    attached = [scored.get((ref.chunk_id, ref.span_id)) for ref in case.result.best_evidence]
    if not attached or None in attached:
        return Finding(False, "an attached span was never scored")
    if len(attached) == 1 and attached[0] is not None and attached[0].entailed != score:
        return Finding(False, "the set's score differs from its only span's score")
    if score < tau:
        note = attached[0].note if len(attached) == 1 and attached[0] is not None else ""
        below = (
            f"the closest passage supports it with {two_places(score, tau)}; {tau:.2f} is needed"
        )
        return Finding(False, f"{below}: {note}" if note else below)
    if case.result.label != "entailed":
        return Finding(False, f"the verifier's label is {case.result.label}, not entailed")
    return Finding(True, f"the attached passage supports it with {score:.2f}; {tau:.2f} is needed")


def not_contradicted(case: Case) -> Finding:
    """3. No scored span, attached or not, contradicts the claim."""
    worst, tau = 0.0, case.policy.tau_contradict
    for score in case.result.all_scores:
        if not is_score(score.contradicted) or score.contradicted is None:
            return Finding(False, f"{score.chunk_id} {score.span_id} has no contradiction score")
        worst = max(worst, score.contradicted)
        if score.contradicted >= tau:
            return Finding(
                False,
                f"{_place(case, score)} contradicts it: "
                f"{score.contradicted:.2f}, the threshold is {tau:.2f}",
            )
    if case.result.label == "contradicted":
        return Finding(False, "the verifier's label is contradicted")
    count = _count(len(case.result.all_scores), "scored span")
    return Finding(True, f"of {count} none contradicts it (highest {worst:.2f}, limit {tau:.2f})")


def numbers(case: Case) -> Finding:
    """4. Every quantity of the claim stands in the attached evidence, or follows from it.

    What stands there has the same value, unit, bound, role and period; that it is said of the
    same subject is the verifier's to read. What does not must be recomputed from attached figures
    alone; the reason then carries the ledger. The rule's text must not depend on the order of
    the attached spans, so they are read in the order of their documents.
    """
    if _is_quoted(case):
        return Finding(True, "the claim stands in the attached evidence word for word")
    attached = sorted(_attached(case), key=lambda pair: (pair[0].chunk_id, pair[1].start))
    sentences = [span.sentence for _, span in attached]
    follows = [False, *(_adjacent(*pair) for pair in pairwise(attached))]
    context = shared_context([chunk for chunk, _ in attached])
    documents = [chunk.doc_id for chunk, _ in attached]
    explained = explain_quantities(case.claim.text, sentences, context, follows, documents)
    for missing in explained.missing:
        if not missing.elsewhere:
            return Finding(False, missing.reason)
    if explained.derived:
        everything = _all_spans(case, frozenset(documents))
        beside = [False, *(_adjacent(*pair) for pair in pairwise(everything))]
        texts = [span.sentence for _, span in everything]
        for derivation in explained.derived:
            if not is_only_result(case.claim.text, derivation, texts, context, beside):
                return Finding(
                    False, f"other figures of the document speak against {derivation.ledger}"
                )
        ledgers = "; ".join(derivation.ledger for derivation in explained.derived)
        return Finding(
            True, f"the numbers follow from the attached evidence; recomputed: {ledgers}"
        )
    return Finding(True, "every number and date of the claim is in the attached evidence")


def well_formed(case: Case) -> Finding:
    """5. One atomic, self-contained, checkable statement within the token cap.

    A quotation may state several facts: its source states each of them, in that order.
    """
    cap, quoted = case.policy.max_claim_tokens, _is_quoted(case)
    found = problems(case.claim.text, max_tokens=cap, quoted=quoted)
    for problem in (*found, *case.claim.problems):
        return Finding(False, problem.replace("_", " "))
    return Finding(True, "one checkable statement that stands on its own")


def sound_measurement(case: Case) -> Finding:
    """6. Every score is finite and in range, nothing was truncated, no needed pair dropped."""
    result = case.result
    if result.claim_id != case.claim.id:
        return Finding(False, "the measurement belongs to another claim")
    if result.error or result.label == "error":
        return Finding(False, f"the verifier did not answer: {result.error or 'error'}")
    if not result.all_scores:
        return Finding(False, "no evidence was scored")
    if result.truncated or any(score.truncated for score in result.all_scores):
        return Finding(False, "part of the text was cut off before it was scored")
    for score in result.all_scores:
        if score.error or score.label == "error":
            return Finding(False, f"the verifier failed on {score.chunk_id} {score.span_id}")
        triple = (score.entailed, score.not_enough_info, score.contradicted)
        if not all(is_score(value) for value in triple):
            return Finding(False, f"a score of {score.chunk_id} {score.span_id} is not a number")
    if not is_score(result.score):
        return Finding(False, "the score of the attached set is not a number from 0 to 1")
    places = [(s.chunk_id, s.span_id) for s in result.all_scores]
    if len(set(places)) != len(places):
        return Finding(False, "a span was scored twice")
    if type(result.needed_dropped) is not int or result.needed_dropped != 0:
        return Finding(False, f"a cap left out {result.needed_dropped} pairs that matter here")
    return Finding(True, f"{_count(len(places), 'span')} scored whole, all scores sound")


def isolated(case: Case) -> Finding:
    """7. The record shows that the verifier saw this claim and the evidence, nothing else."""
    claim, result = case.claim.text, case.result
    for score in result.all_scores:
        chunk = case.chunks.get(score.chunk_id)
        span = None if chunk is None else _span(chunk, score.span_id)
        if chunk is None or span is None:
            return Finding(False, f"scored text {score.chunk_id} is not in the record")
        if score.input_sha256 not in pair_digests(claim, span.sentence, chunk.context, [chunk]):
            return Finding(False, "the verifier was given something other than the evidence")
    attached = list(_attached(case))
    evidence_text = joined_evidence([span.sentence for _, span in attached])
    chunks = [chunk for chunk, _ in attached]
    given = pair_digests(claim, evidence_text, shared_context(chunks), chunks)
    if result.set_input_sha256 not in given:
        return Finding(False, "the attached set was not what the verifier was given")
    return Finding(True, "the verifier was given the claim and the evidence text only")


def class_minimum(case: Case) -> Finding:
    """8. The support that the claim's risk class asks for (RFC-0004 §6.2)."""
    risk = case.claim.risk_class
    needed = case.policy.class_minimum[risk]
    spans = {span.sentence for _, span in _attached(case)}
    name = _CLASS_NAMES[risk]
    if risk == "comparative_claim" and case.claim.hedges:
        needed = min(needed, 1)  # "or 1 citation + explicit uncertainty"
    if len(spans) < needed:
        return Finding(False, f"{name} needs {_pieces(needed)}; {_are(len(spans))} attached")
    if risk == "scope_claim" and not any(_SCOPE_WORDS.search(text) for text in spans):
        return Finding(False, f"{name} needs a source that states the limits itself")
    return Finding(True, f"{name} needs {_pieces(needed)}; {_are(len(spans))} attached")


def _pieces(count: int) -> str:
    return "1 piece of evidence" if count == 1 else f"{count} pieces of evidence"


def _are(count: int) -> str:
    return "1 is" if count == 1 else f"{count} are"


def load_bearing(case: Case) -> Finding:
    """Strict: without the attached sentences the claim would not be entailed, by any policy.

    The limit is the lowest that a policy may have and not this policy's own: with that one, a
    stricter policy would let more pass.
    """
    without = case.result.score_without
    if not is_score(without) or without is None:
        return Finding(False, "support without the attached sentences was not measured")
    if without >= LEAST_TAU_ENTAIL:
        return Finding(False, f"titles and headings alone already score {without:.2f}")
    return Finding(True, f"without the attached sentences the score falls to {without:.2f}")


def uncontested(case: Case) -> Finding:
    """Strict: no other document opposes the claim."""
    own = {chunk.doc_id for chunk, _ in _attached(case)}
    for score in case.result.all_scores:
        chunk = case.chunks.get(score.chunk_id)
        if chunk is None or not is_score(score.contradicted) or score.contradicted is None:
            return Finding(False, f"{score.chunk_id} could not be read for opposition")
        if chunk.doc_id not in own and score.contradicted >= case.policy.tau_contest:
            return Finding(False, f"{_place(case, score)} opposes it ({score.contradicted:.2f})")
    return Finding(True, "no other document among the scored evidence opposes it")


RULES: Final[dict[str, Rule]] = {
    rule.__name__: rule
    for rule in (
        evidence,
        entailed,
        not_contradicted,
        numbers,
        well_formed,
        sound_measurement,
        isolated,
        class_minimum,
        load_bearing,
        uncontested,
    )
}


def _span(chunk: EvidenceChunk, span_id: str) -> SentenceSpan | None:
    named = [span for span in chunk.spans if span.span_id == span_id]
    return named[0] if len(named) == 1 else None


def _attached(case: Case) -> Iterator[tuple[EvidenceChunk, SentenceSpan]]:
    for ref in case.result.best_evidence:
        chunk = case.chunks[ref.chunk_id]
        yield chunk, chunk.span(ref.span_id)


def _all_spans(case: Case, documents: frozenset[str]) -> list[tuple[EvidenceChunk, SentenceSpan]]:
    """Return every sentence of *documents* that stands in a chunk which the claim was scored on.

    What the record holds for other claims is left aside: a later claim must not change this one.
    """
    scored = {score.chunk_id for score in case.result.all_scores}
    own = [chunk for chunk in case.chunks.values() if chunk.chunk_id in scored]
    chunks = sorted(own, key=lambda chunk: chunk.chunk_id)
    found = [(chunk, span) for chunk in chunks for span in chunk.spans if span.visible]
    kept = [(chunk, span) for chunk, span in found if chunk.doc_id in documents]
    return sorted(kept, key=lambda pair: (pair[0].chunk_id, pair[1].start))


def _adjacent(
    first: tuple[EvidenceChunk, SentenceSpan], second: tuple[EvidenceChunk, SentenceSpan]
) -> bool:
    """Say whether the second span stands right behind the first, in one chunk."""
    (chunk, span), (other, following) = first, second
    if chunk.chunk_id != other.chunk_id:
        return False
    return not any(span.end <= between.start < following.start for between in chunk.spans)


def _is_quoted(case: Case) -> bool:
    """Say whether the claim is attached sentences word for word, or cells of an attached row.

    Sentences must stand one behind the other: with another between them, "it" means another thing.
    Of a list, items may be left out where the quotation marks that. What is attached besides takes
    nothing from a quotation: a comparison needs a second piece of evidence.
    """
    attached = sorted(_attached(case), key=lambda pair: (pair[0].chunk_id, pair[1].start))
    if any(reads_row(case.claim.text, span.sentence) for _, span in attached):
        return True
    if attached and _of_one_list(attached) and _says(attached, case.claim.text):
        return True
    for start in range(len(attached)):
        run = attached[start : start + 1]
        while not _says(run, case.claim.text):
            following = attached[start + len(run) : start + len(run) + 1]
            longer = sum(len(span.sentence) for _, span in run) >= len(case.claim.text)
            if longer or not following or not _adjacent(run[-1], following[0]):
                break
            run = [*run, *following]
        else:
            return True
    return False


def _says(run: Sequence[tuple[EvidenceChunk, SentenceSpan]], text: str) -> bool:
    """Say whether *text* is what *run* says word for word, by itself or under its heading."""
    said = quotations([span.sentence for _, span in run], run[0][0].context)
    return any(one.split() == without_gaps(text).split() for one in said)


def _of_one_list(attached: Sequence[tuple[EvidenceChunk, SentenceSpan]]) -> bool:
    """Say whether the first span leads into a list and the others are items of it, in order."""
    chunk, lead = attached[0]
    listed = list_around(chunk, lead)
    return all(other == chunk and span in listed for other, span in attached)


def _place(case: Case, score: SpanScore) -> str:
    chunk = case.chunks.get(score.chunk_id)
    title = score.chunk_id if chunk is None else chunk.source.title or chunk.doc_id
    return f"“{title}”"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
