"""Facets of made-up answers, and what a query asks for among them, written a second time."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from certirag.proof.facets import AnswerFacets, AnswerQuery, CitedDocument

BEGIN = datetime(2025, 12, 20, tzinfo=UTC)
WORDS = ("leave", "Leave", "GRÖẞE", "größe", "annual", "100%", "a_b", "axb", "café", "cafe\u0301")
DOCUMENTS = tuple(
    CitedDocument(f"doc-{n}", f"Title {n % 4}", f"doc-{n}.md", f"{n:064x}") for n in range(6)
)
CORPORA = ("a" * 64, "b" * 64)
POLICIES = ("strict-1", "clinical-1")
REASONS = ("ALL_VERIFIED", "SOME_UNVERIFIED", "NO_CLAIMS", "CONTRADICTED")


def made_facets(number: int, seed: int = 1) -> list[tuple[int, AnswerFacets]]:
    """Return *number* facets by entry, in the order of the log; their times are nearly so."""
    of = random.Random(seed)
    entries = sorted(of.sample(range(number * 3), number))
    return [(seq, _one(of, seq)) for seq in entries]


def _one(of: random.Random, seq: int) -> AnswerFacets:
    claims = of.randint(0, 5)
    verified = of.randint(0, claims)
    blocked = of.randint(0, claims - verified)
    at = BEGIN + timedelta(hours=seq * 7, minutes=of.randint(-3000, 3000))
    documents = of.sample(DOCUMENTS, of.randint(0, 3))
    decision = "REJECT" if not verified else "ACCEPT" if verified == claims else "STRIP"
    return AnswerFacets(
        trace_id=f"{seq:032x}",
        request=f"{seq // 2:032x}",
        at=at.isoformat(timespec="seconds"),
        question=" ".join(of.choices(WORDS, k=3)) + "?",
        corpus=of.choice(CORPORA),
        policy=of.choice(POLICIES),
        decision=decision,
        reason=of.choice(REASONS),
        confidence=of.choice(("high", "low")),
        grounding=verified / claims if claims else 0.0,
        claims=claims,
        states={
            "VERIFIED": verified,
            "UNVERIFIED": claims - verified - blocked,
            "BLOCKED": blocked,
        },
        verifier=of.choice(("embedded", "lexical")),
        generator=of.choice(("extractive", "embedded")),
        topic=documents[0].title if documents else "",
        documents=tuple(documents),
        complete=of.random() < 0.8,
    )


def asked_for(query: AnswerQuery, of: AnswerFacets) -> bool:
    """Say whether *query* asks for the answer of these facets."""
    at = datetime.fromisoformat(of.at)
    names = {name for d in of.documents for name in (d.doc_id, d.title, d.sha256)}
    words = [word.casefold() for word in _normal(of.question)]
    return all(
        (
            query.trace_id in {"", of.trace_id},
            not query.since or at >= datetime.fromisoformat(query.since),
            not query.until or at < datetime.fromisoformat(query.until),
            query.corpus in {"", of.corpus},
            query.score_from is None or of.grounding >= query.score_from,
            query.score_below is None or of.grounding < query.score_below,
            not query.decisions or of.decision in query.decisions,
            not query.reasons or of.reason in query.reasons,
            query.policy in {"", of.policy},
            query.model in {"", of.verifier, of.generator},
            not query.state or of.states[query.state] > 0,
            not query.document or query.document in names,
            all(word.casefold() in words for word in _normal(query.about)),
            query.parts or of.complete,
            query.among is None or of.trace_id in query.among,
        )
    )


def _normal(text: str) -> Iterator[str]:
    for word in text.replace("?", " ").replace("%", " ").split():
        yield word.replace("e\u0301", "é")


def made_query(of: random.Random) -> AnswerQuery:
    """Return a query of a few conditions that some answers may meet."""
    times = sorted(BEGIN + timedelta(hours=of.randint(0, 6000)) for _ in range(2))
    scores = sorted(of.sample((0.0, 0.2, 1 / 3, 0.5, 0.6, 0.8, 1.0), 2))
    choices: dict[str, object] = {
        "trace_id": f"{of.randint(0, 900):032x}",
        "since": times[0].isoformat(),
        "until": times[1].isoformat(timespec="milliseconds"),
        "corpus": of.choice((*CORPORA, "c" * 64)),
        "score_from": scores[0],
        "score_below": scores[1],
        "decisions": tuple(of.sample(("ACCEPT", "STRIP", "REJECT"), of.randint(1, 3))),
        "reasons": tuple(of.sample(REASONS, of.randint(1, 3))),
        "policy": of.choice(POLICIES),
        "model": of.choice(("embedded", "lexical", "extractive", "another")),
        "state": of.choice(("VERIFIED", "UNVERIFIED", "BLOCKED")),
        "document": of.choice(("doc-1", "Title 2", f"{3:064x}", "another")),
        "about": of.choice(("leave", "ANNUAL", "GRÖSSE", "a_b", "100", "café leave", "lea")),
        "parts": True,
        "among": tuple(f"{seq:032x}" for seq in of.sample(range(900), of.choice((0, 40, 500)))),
    }
    weights = [{"trace_id": 1, "among": 2}.get(name, 6) for name in choices]
    chosen = set(of.choices(list(choices), weights, k=of.randint(0, 4)))
    return AnswerQuery(**{name: value for name, value in choices.items() if name in chosen})


def entries_of(rows: Sequence[tuple[int, AnswerFacets]], query: AnswerQuery) -> list[int]:
    """Return the entries that *query* asks for, newest first."""
    return [seq for seq, of in reversed(rows) if asked_for(query, of)]
