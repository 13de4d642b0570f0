"""Sentences of the demo corpora with one edit each that makes them untrue of their document."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from certirag.bootstrap import build_services, read_limits, reading_process
from certirag.core.text import EvidenceChunk
from certirag.ingest.collect import read_corpus
from certirag.settings import read_settings
from training.contrast_cases import states
from training.contrast_edits import edits_of
from training.contrast_shapes import rewrites_of
from training.contrast_swap import holds, swapped

CORPORA = Path(__file__).resolve().parents[1] / "fixtures" / "corpora"
Row = dict[str, str]

# A number behind one of these is a bound: another bound may follow from it.
_BOUND = re.compile(
    r"\b(?:at least|at most|up to|more than|less than|fewer than|under|over|above|below|within|"
    r"minimum|maximum|limit(?:ed)? (?:of|to)|no later than|before|after|until|by|or more|or less|"
    r"exceeds?|exceeding|from|between|beyond|since|about|around|nearly|almost)$"
)
_PLACES = frozenset({"number", "date", "unit", "currency", "percent", "entity"})
_DRAWS = 14  # each draw may choose other words for the same place
_OF_ONE_PLACE = 3


@dataclass(frozen=True, slots=True)
class _Planted:
    kind: str
    place: str
    claim: str
    false: str  # the words that make it untrue: another part of the sentence may well be true


def planted_contrasts() -> list[Row]:
    """Return rows as `near_miss_path.decide` takes them: id, kind, title, evidence, claim, false.

    The evidence is the whole chunk that has the true sentence; the claim is that sentence with one
    edit. Always the same rows.
    """
    return list(_rows())


def true_sentences() -> list[Row]:
    """Return the sentences that the contrasts were made from, each as a claim on its own chunk."""
    return [_row(at, *found, prefix="true") for at, found in enumerate(_truths())]


def _truths() -> Iterator[tuple[str, _Planted, EvidenceChunk]]:
    for corpus, chunk, _ in _chunks():
        for sentence in _sentences(chunk):
            yield corpus, _Planted("true", "", sentence, ""), chunk


@cache
def _rows() -> tuple[Row, ...]:
    rows: list[Row] = []
    seen: set[tuple[str, str]] = set()
    for corpus, chunk, text in _chunks():
        for planted in _of_chunk(chunk, text):
            if (planted.claim, chunk.chunk_id) not in seen:
                seen.add((planted.claim, chunk.chunk_id))
                rows.append(_row(len(rows), corpus, planted, chunk))
    return tuple(rows)


@cache
def _chunks() -> tuple[tuple[str, EvidenceChunk, str], ...]:
    """Return every chunk with the name of its corpus and the whole text of its document."""
    services = build_services(read_settings())
    chunks = []
    for corpus in sorted(path for path in CORPORA.iterdir() if path.is_dir()):
        limits = read_limits(services.settings)
        with reading_process(services.settings) as read:
            found = read_corpus([corpus], limits=limits, read=read)
        whole = {document.doc_id: document.text for document in found.documents}
        chunks += [(corpus.name, c, whole[c.chunk_id.rpartition("#")[0]]) for c in found.chunks]
    return tuple(chunks)


def _sentences(chunk: EvidenceChunk) -> list[str]:
    found = (" ".join(span.sentence.split()) for span in chunk.spans)
    return [sentence for sentence in dict.fromkeys(found) if states(sentence)]


def _row(
    number: int, corpus: str, planted: _Planted, chunk: EvidenceChunk, *, prefix: str = "planted"
) -> Row:
    return {
        "id": f"{prefix}-{corpus}-{number:04d}",
        "kind": planted.kind,
        "title": corpus,
        "evidence": chunk.text,
        "claim": planted.claim,
        "false": planted.false,
    }


def _of_chunk(chunk: EvidenceChunk, text: str) -> Iterator[_Planted]:
    for sentence in _sentences(chunk):
        taken: Counter[tuple[str, str]] = Counter()
        for draw in range(_DRAWS):
            chance = random.Random(f"{sentence}/{draw}")
            for planted in _planted(sentence, text, chance):
                if taken[planted.kind, planted.place] < _OF_ONE_PLACE:
                    taken[planted.kind, planted.place] += 1
                    yield planted


def _planted(sentence: str, text: str, chance: random.Random) -> Iterator[_Planted]:
    """Yield the edits of *sentence* that *text*, its whole document, makes untrue or leaves open."""
    for edit in edits_of(sentence, chance):
        before = sentence[: max(0, sentence.find(edit.old))].rstrip("$€£ ")
        before = before.rstrip("0123456789., ") if edit.kind == "unit" else before
        bound = edit.kind in {"number", "unit"} and _BOUND.search(before.lower())
        if edit.forth is None or bound or not holds(sentence, edit.old):
            continue
        if edit.kind in _PLACES and holds(text, edit.new) and not edit.new[0].isspace():
            continue  # the document may say the other thing elsewhere
        claim = swapped(sentence, edit.old, edit.new)
        once = claim.casefold().count(edit.new.casefold()) == 1
        if claim != sentence and once:
            yield _Planted(edit.kind, edit.old, claim, edit.new)
    for rewrite in rewrites_of(sentence, chance):
        if rewrite.forth is None or (rewrite.kind != "negation" and " and " in rewrite.other):
            continue  # of two joined statements, the one that was left alone stays true
        false = " not" if rewrite.kind == "negation" and " not " in rewrite.other else ""
        if rewrite.other.count(" not ") == bool(false):
            yield _Planted(rewrite.kind, "", rewrite.other, false)
        if rewrite.other_said:
            yield _Planted(rewrite.kind, "said", rewrite.other_said, "")
