"""Fakes behind the ports, and builders of small documents, shared by the tests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from certirag.core.generation import ModelIdentity
from certirag.core.text import ChunkSource, Document, EvidenceChunk, SentenceSpan, sha256_hex
from certirag.core.verdict import Label
from certirag.ports import Judgement, Pair
from certirag.text.question import PART
from certirag.verification.lexical.scoring import score


class FakeEmbedder:
    """Gives each word a unit vector drawn from its hash, and each text the unit sum of them."""

    def __init__(self, *, dimension: int = 32, version: str = "1") -> None:
        self.dimension = dimension
        self.identity = ModelIdentity(
            "embedder", "fake", version, sha256_hex(f"fake {version} {dimension}")
        )
        self.embedded: list[str] = []  # every text that was ever given to embed

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        sums = np.stack([self._words(text or "nothing").sum(axis=0) for text in texts])
        return (sums / np.linalg.norm(sums, axis=1, keepdims=True)).astype(np.float32)

    def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
        return tuple(
            self._words(text)
            if re.search(r"\w", text)
            else np.empty((0, self.dimension), np.float32)
            for text in texts
        )

    def _words(self, text: str) -> NDArray[np.float32]:
        return np.stack([self._vector(w) for w in re.findall(r"\w+", text.lower()) or ["nothing"]])

    def _vector(self, word: str) -> NDArray[np.float32]:
        seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8])
        drawn = np.random.default_rng(seed).standard_normal(self.dimension)
        return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def chunk_of(
    text: str,
    *,
    name: str = "d1",
    place: int = 0,
    title: str = "",
    section: str = "",
    hidden: Sequence[str] = (),
) -> EvidenceChunk:
    """Return a chunk of document *name* whose sentences end at full stops."""
    spans = [
        SentenceSpan(
            f"s{n}", m.start(), m.end(), m.group(), visible=not any(h in m.group() for h in hidden)
        )
        for n, m in enumerate(re.finditer(r"\S[^.]*\.?", text), 1)
    ]
    source = ChunkSource(title, f"{name}.txt", section, sha256_hex(f"source of {name}"))
    return EvidenceChunk(f"{name}#{place}", name, text, sha256_hex(text), source, tuple(spans))


def document_of(
    name: str, *texts: str, title: str = ""
) -> tuple[Document, tuple[EvidenceChunk, ...]]:
    """Return document *name* and its chunks, one for each of *texts*."""
    chunks = tuple(chunk_of(t, name=name, place=n, title=title) for n, t in enumerate(texts))
    text = "\n".join(texts)
    document = Document(
        name, title, f"{name}.txt", "text/plain", sha256_hex(f"source of {name}"), text, ()
    )
    return document, chunks


class WordReader:
    """A reader that counts: the share of the question's longer words that a statement has."""

    identity = ModelIdentity("reader", "words", "1", "2" * 64)

    def relevance(self, question: str, statements: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return a share for each statement; words are the same by their first five letters.

        Of a part beside the whole question only the part counts.
        """
        asked = _long_words(question.rpartition(PART)[2])
        return [
            len(asked & _long_words(f"{headings} {text}")) / len(asked) if asked else 0.0
            for headings, text in statements
        ]

    def order(self, question: str, statements: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return the same shares: what answers most surely comes first."""
        return self.relevance(question, statements)

    def instructs(self, texts: Sequence[str]) -> Sequence[bool]:
        """Say so of what speaks of previous instructions."""
        return ["previous instructions" in text for text in texts]

    def parts(self, question: str) -> Sequence[str]:
        """Cut at a comma and an "and"."""
        return question.split(", and ", 1)


def _long_words(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


class AlignedWords:
    """A quick verifier: what `verification.lexical` says of a pair, without a network."""

    identity = ModelIdentity("verifier", "aligned-words", "1", "a" * 64)

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return one judgement per pair; the label of the largest of its scores."""
        return [self._judge(pair) for pair in pairs]

    def _judge(self, pair: Pair) -> Judgement:
        found = score(pair.claim, pair.evidence, pair.context)
        against = min(found.contradicted, 1.0 - found.entailed)
        rest = max(0.0, 1.0 - found.entailed - against)
        label: Label = "not_enough_info"
        if found.entailed >= max(rest, against):
            label = "entailed"
        elif against >= rest:
            label = "contradicted"
        detail = found.findings[0].detail if found.findings else ""
        return Judgement(label, found.entailed, rest, against, note=detail)
