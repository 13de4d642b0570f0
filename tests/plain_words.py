"""What a person reads about claims without a badge, and what of it is no word for people."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from gate_cases import KEY, TRUSTED, export

from certirag.proof.certificate import AnswerRecord
from certirag.render import Mode, Presentation, present
from certirag.render.judgement_text import judgement_lines, lacks, nearest_passages

# Names of rules and codes, ids of claims, passages and spans, digests; quotations of nothing.
INTERNAL = re.compile(
    r"\w+_\w+|“\s*”|\b[cs]\d+\b|#c\d|\b[0-9a-f]{12,}\b|"
    r"\b(?:chunks?|spans?|scored|label|cap|pairs?|tau|ACCEPT|STRIP|REJECT|NEI|"
    r"not contradicted|sound measurement|class minimum|load bearing|not checkable|not atomic|"
    r"not self contained|factual lit|None)\b"
)


def presented(of: AnswerRecord, mode: Mode = Mode.DEBUG) -> Presentation:
    """Return what *mode* shows of *of*; debug mode has a chip for every claim."""
    return present(export(of, KEY), mode, trusted=TRUSTED)


def sentences(of: Presentation) -> list[str]:
    """Return everything that pages and terminals say of why claims have no badge."""
    found = [*of.missing, *judgement_lines(replace(of, mode=Mode.STRICT))]
    for chip in (*of.shown, *of.folded):
        found += [chip.why.sentence, chip.why.mend]
        found += [chip.plain(finding).sentence for finding in chip.findings]
    return [*found, *(lacks(passage) for passage in nearest_passages(of))]


def internal(said: Iterable[str], outside: Iterable[str] = ()) -> list[str]:
    """Return what in *said* is no word for people, each with its sentence.

    What stands in the texts *outside* may be quoted: those are words of documents and claims.
    """
    known = "\n".join(outside)
    return [
        f"{found.group()!r} in {text!r}"
        for text in said
        for found in INTERNAL.finditer(text)
        if found.group() not in known
    ]


def texts_of(of: AnswerRecord) -> list[str]:
    """Return every text of *of* that came from outside."""
    chunks = of.retrieval.chunks
    return [
        of.question,
        *(claim.text for claim in of.claim_ir.claims),
        *(problem for claim in of.claim_ir.claims for problem in claim.problems),
        *(part for chunk in chunks for part in (chunk.text, chunk.source.title, chunk.context)),
    ]
