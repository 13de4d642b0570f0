"""Labelled rows through the whole gate: how many badges are granted, and how many of them are wrong.

Each row's premise is one document, its hypothesis a draft about it. A badge counts as wrong
where the row is not entailed; a row may name in ``false`` the words that make it untrue, and
then a badge on another part of it counts as right. Where an untrue hypothesis makes several
claims and nobody says which is wrong, one badge is wrong if all have one, and none counts else.
A premise that begins with ``# `` is read as Markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.claims.compile import claims_from_draft, make_claim
from certirag.core.claim import Claim, ClaimIR
from certirag.core.policy import Policy
from certirag.core.selector import with_selectors
from certirag.core.text import Block, Document, EvidenceChunk, sha256_hex
from certirag.core.verdict import VerificationResult
from certirag.errors import ModelError
from certirag.eval.measured_claims import MeasuredClaim, measured_claims
from certirag.ingest.chunk import chunk_document
from certirag.ingest.extract import Limits
from certirag.ingest.load import load_document
from certirag.ports import SentenceSplitter, Verifier
from certirag.render import certify
from certirag.settings import Settings
from certirag.verification.candidates import Candidates, choose_candidates
from certirag.verification.measured import AtThreshold, Measurement
from certirag.verification.opinion import verify_claims

_AT_ONCE: Final = 200  # rows whose pairs the verifier batches by length
# Thresholds of entailment at which each policy is counted beside its own.
_THRESHOLDS: Final = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99)

Claims = list[MeasuredClaim]  # of one row
Verify = Callable[[Sequence[Candidates], Verifier], Sequence[VerificationResult]]


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A document, a statement about it, and whether the one bears out the other.

    *false* is what makes the statement untrue, or "" where that is its whole. *name* is what reasons
    call the document where it has no title; rows that are decided together have names of their own,
    or none.
    """

    title: str
    premise: str
    hypothesis: str
    entailed: bool
    false: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class BadgeCount:
    """*badges* granted, *wrong* of them; *asked* entailed rows, *whole* of them all Verified."""

    badges: int = 0
    wrong: int = 0
    asked: int = 0
    whole: int = 0

    def __add__(self, other: BadgeCount) -> BadgeCount:
        return BadgeCount(
            self.badges + other.badges,
            self.wrong + other.wrong,
            self.asked + other.asked,
            self.whole + other.whole,
        )


def trials_of(policy: Policy) -> list[Policy]:
    """Return *policy* with each threshold of entailment that is tried, its own among them, rising."""
    return [replace(policy, tau_entail=t) for t in sorted({*_THRESHOLDS, policy.tau_entail})]


def count_badges(
    rows: Sequence[LabelledRow],
    verifier: Verifier,
    policies: Sequence[Policy],
    split: SentenceSplitter,
    settings: Settings,
    progress: Callable[[int], None] = lambda _: None,
) -> list[BadgeCount]:
    """Verify every row on its own document, once, and count badges under each of *policies*."""
    counts = [BadgeCount()] * len(policies)
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        for row, each in zip(part, decided(part, verifier, policies, split, settings), strict=True):
            counts = [n + counted(row, claims) for n, claims in zip(counts, each, strict=True)]
        progress(start + len(part))
    return counts


def measure_set(
    named: tuple[str, str],
    rows: Sequence[LabelledRow],
    verifier: Verifier,
    policies: Sequence[Policy],
    split: SentenceSplitter,
    settings: Settings,
    progress: Callable[[int], None] = lambda _: None,
) -> list[Measurement]:
    """Return a measurement of *rows*, *named* and described so, for each of *policies*.

    Raises ModelError where a policy grants no badge at all.
    """

    def count(trials: Sequence[Policy]) -> list[BadgeCount]:
        return count_badges(rows, verifier, trials, split, settings, progress)

    return measurements_of(named, verifier.identity.sha256, policies, count)


def measurements_of(
    named: tuple[str, str],
    verifier: str,
    policies: Sequence[Policy],
    count: Callable[[Sequence[Policy]], Sequence[BadgeCount]],
) -> list[Measurement]:
    """Return a measurement for each of *policies*, of a set *named* and described so.

    *count* is asked once, for the badges under every policy with each threshold that is tried, and
    *verifier* is the SHA-256 of the one that it asks. Raises ModelError where a policy grants no
    badge at all: there is no share of none.
    """
    trials = [trials_of(policy) for policy in policies]
    counts = iter(count([trial for own in trials for trial in own]))
    found = []
    for policy, own_trials in zip(policies, trials, strict=True):
        each = {trial.tau_entail: next(counts) for trial in own_trials}
        own = each[policy.tau_entail]
        if not own.badges:
            raise ModelError(
                f"{named[0]}: {policy.name} grants no badge there, so none can be wrong: "
                "measure more rows, or under another policy"
            )
        at = tuple(AtThreshold(tau, n.badges, n.wrong, n.whole) for tau, n in each.items())
        found.append(Measurement(*named, verifier, policy, own.badges, own.wrong, own.asked, at))
    return found


def counted(row: LabelledRow, claims: Claims) -> BadgeCount:
    """Count the badges of *row*, of which *claims* were made."""
    verified = [claim.text for claim in claims if claim.state == "VERIFIED"]
    every = bool(claims) and len(verified) == len(claims)
    if not row.entailed and not row.false and len(claims) > 1:
        verified = verified[:1] if every else []
    wrong = sum(not row.entailed and row.false.casefold() in text.casefold() for text in verified)
    return BadgeCount(len(verified), wrong, int(row.entailed), int(row.entailed and every))


def decided(
    rows: Sequence[LabelledRow],
    verifier: Verifier,
    policies: Sequence[Policy],
    split: SentenceSplitter,
    settings: Settings,
    *,
    verify: Verify = verify_claims,
    raw: bool = False,
) -> Iterator[list[Claims]]:
    """Yield for each row, under each of *policies*, its claims as they were decided.

    For ablations alone: *verify* finds the evidence of each claim in another way, and *raw* takes a
    whole hypothesis as one claim.
    """
    claims: list[list[Claim]] = []
    chunks: list[EvidenceChunk] = []
    candidates: list[Candidates] = []
    for number, row in enumerate(rows):
        own = _chunks(row.name or f"row {number}", row, split)
        sentences = {span.sentence for chunk in own for span in chunk.spans}
        draft = (
            _whole(row.hypothesis, sentences)
            if raw
            else claims_from_draft(
                "", row.hypothesis, split, max_claims=settings.max_claims, sentences=sentences
            )
        )
        named = [replace(claim, id=f"{number}/{claim.id}") for claim in draft.claims]
        candidates += choose_candidates(
            named, own, max_spans=settings.max_spans_per_claim, max_pairs=settings.max_pairs
        )
        claims.append(named)
        chunks += own
    flat = [claim for own in claims for claim in own]
    results = verify(candidates, verifier)
    measured = (flat, results, with_selectors(chunks, results))
    each = [{one.claim_id: one for one in certify(*measured, policy)[0]} for policy in policies]
    by_policy = [list(measured_claims(*measured, decisions)) for decisions in each]
    start = 0
    for named in claims:
        end = start + len(named)
        yield [found[start:end] for found in by_policy]
        start = end


def _whole(text: str, sentences: Container[str]) -> ClaimIR:
    """Return *text* as one claim, whatever it states."""
    claim = make_claim(text.strip(), 0, len(text), (), quoted=text.strip() in sentences)
    return ClaimIR("", (replace(claim, id="c1"),), generator="draft", draft=text)


def _chunks(name: str, row: LabelledRow, split: SentenceSplitter) -> tuple[EvidenceChunk, ...]:
    text = row.premise
    if text.startswith("# "):
        return chunk_document(
            load_document(text.encode(), path=f"{name}.md", limits=Limits()), split
        )
    whole = (Block("paragraph", 0, len(text)),)
    document = Document(name, row.title, name, "text/plain", sha256_hex(text), text, whole)
    return chunk_document(document, split)
