"""Citations of a claim, what is said of each one, and how it is corrected.

A citation verdict is an opinion about a citation; it neither grants nor implies a badge. A
citation that could not be judged is INVALID and says so in ``error``: it is never VALID.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from certirag.core.text import SpanRef

# VALID: the cited place supports the claim. WEAK: it is about the claim's topic and supports it
# too little. INVALID: it does neither, or speaks against the claim, or could not be judged.
# HALLUCINATED: what is cited does not exist, be it the source, the place or the quoted words.
CitationVerdict = Literal["VALID", "WEAK", "INVALID", "HALLUCINATED"]
CorrectionKind = Literal["KEEP", "REPLACE", "REMOVE", "ADD_ALTERNATE"]
# The checks in the order of what they cost (Project 10, Citation Integrity Validation); a
# judgement names the first that failed.
CitationCheck = Literal["source", "place", "quote", "entailment"]
CHECKS: Final[tuple[CitationCheck, ...]] = ("source", "place", "quote", "entailment")


@dataclass(frozen=True, slots=True)
class CitedSource:
    """One source as drafts may name it: by its 1-based *number*, id, title, path or file name."""

    number: int
    doc_id: str
    title: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """One claim's pointer to one source.

    *doc_id* is "" where the draft names no source that was given. *place* is the section, page
    or chunk as the draft wrote it ("" for the whole source); *spans* are sentences of that source
    where they are known exactly. *quote* is what the draft puts in quotation marks as the
    source's own words. *raw* is the mark as the draft wrote it, at ``draft[start:end]``; a
    citation that was proposed here has no mark: *raw* is "".
    """

    claim_id: str
    doc_id: str
    raw: str = ""
    place: str = ""
    quote: str = ""
    spans: tuple[SpanRef, ...] = ()
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class CitationJudgement:
    """What was found about one citation, and why.

    *failed* is the first check that failed, None where none did. *entailed* is the verifier's
    score in [0, 1] of the claim on *evidence*, the sentences of the cited place that speak for it
    best; None where it was not asked or gave no sound answer, the latter with its *error*.
    *together* says that the place supports the claim only with the claim's other citations.
    """

    citation: Citation
    verdict: CitationVerdict
    reason: str
    failed: CitationCheck | None = None
    entailed: float | None = None
    evidence: tuple[SpanRef, ...] = ()
    together: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class Correction:
    """What becomes of one citation: *old* → *new*.

    KEEP has *old* as *new*, REMOVE has no *new*. ADD_ALTERNATE leaves what is there and has no
    *old*: it is the claim's further citation, or its first where the draft cited nothing.
    *entailed* is the verifier's score of the claim on the sentences of *new*.
    """

    claim_id: str
    kind: CorrectionKind
    old: Citation | None
    new: Citation | None
    reason: str
    entailed: float | None = None


@dataclass(frozen=True, slots=True)
class CitationQuality:
    """How well an answer is cited: counts, from which both shares follow."""

    citations: int
    valid: int
    claims: int
    supported: int

    @property
    def precision(self) -> float | None:
        """The share of citations that are VALID; None without a citation, which is no merit."""
        return self.valid / self.citations if self.citations else None

    @property
    def recall(self) -> float | None:
        """The share of claims with a VALID citation; None where there was no claim to cite for."""
        return self.supported / self.claims if self.claims else None


@dataclass(frozen=True, slots=True)
class CitationsRecord:
    """What a draft cited, what was found about each citation, and what became of it.

    No *judgements* where correction was switched off.
    """

    citations: tuple[Citation, ...]
    judgements: tuple[CitationJudgement, ...] = ()
    corrections: tuple[Correction, ...] = ()
    dropped: tuple[str, ...] = ()
