"""Records of answers for the vectors: small, varied, and decided by the program's own gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from certirag.core.citation import Citation, CitationJudgement, CitationsRecord, Correction
from certirag.core.claim import Claim, ClaimIR, Quantity
from certirag.core.generation import GenerationRecord, ModelIdentity, PromptIdentity
from certirag.core.judgement import (
    ConfidenceBasis,
    Filter,
    LeftOut,
    Reference,
    Suggestion,
    Suggestions,
)
from certirag.core.policy import BASE_RULES, RISK_CLASSES, STRICT_RULES, Policy
from certirag.core.selector import with_selectors
from certirag.core.text import (
    Box,
    ChunkSource,
    EvidenceChunk,
    RetrievalScores,
    SentenceSpan,
    SpanRef,
    joined_evidence,
    pair_digest,
    sha256_hex,
    shared_context,
)
from certirag.core.verdict import PlantedError, Probe, QuestionRecord, SpanScore, VerificationResult
from certirag.proof.certificate import (
    AnswerRecord,
    AnswerSummary,
    RetrievalRecord,
    record_json,
)
from certirag.render import certify

BASE: Final = Policy("base", BASE_RULES)
STRICT: Final = Policy("strict", BASE_RULES + STRICT_RULES, tau_contest=0.4)
SENTENCE: Final = "The library opens at nine on weekdays."
OTHER: Final = "The garden closes at noon on Sunday."
Scores = tuple[float | None, float | None, float | None]
SURE: Final[Scores] = (0.97, 0.02, 0.01)
UNSURE: Final[Scores] = (0.05, 0.93, 0.02)
AGAINST: Final[Scores] = (0.02, 0.05, 0.93)
Json = dict[str, Any]


def chunk(
    doc_id: str = "hours",
    sentences: Sequence[str] = (SENTENCE,),
    *,
    title: str = "Opening hours",
    section: str = "Library",
    between: str = " ",
    before: str = "",
    **source: Any,
) -> EvidenceChunk:
    """Return a chunk of *sentences* with a span each, named s1, s2 and so on."""
    text, spans = before, []
    for number, sentence in enumerate(sentences, 1):
        spans.append(SentenceSpan(f"s{number}", len(text), len(text) + len(sentence), sentence))
        text += sentence + between
    text = text.removesuffix(between)
    of = ChunkSource(title, f"{doc_id}.md", section, sha256_hex(doc_id), **source)
    return EvidenceChunk(f"{doc_id}#1", doc_id, text, sha256_hex(text), of, tuple(spans))


def claim(text: str = SENTENCE, name: str = "c1", **changes: Any) -> Claim:
    """Return a claim of one plain statement."""
    return replace(Claim(name, text, "fact", "factual_lit_claim"), **changes)


def scored(of: Claim, chunks: EvidenceChunk, span_id: str, scores: Scores) -> SpanScore:
    """Return the scores of one pair, under the digest of what an isolated verifier is given."""
    given = pair_digest(of.text, chunks.span(span_id).sentence, chunks.context)
    named = dict(zip(("entailed", "not_enough_info", "contradicted"), scores, strict=True))
    label: Any = max(named, key=lambda name: named[name] or 0.0)
    return SpanScore(chunks.chunk_id, span_id, label, named[label], *scores, given)


Pair = tuple[EvidenceChunk, str, Scores]


def result(of: Claim, pairs: Sequence[Pair], attach: int = 1, **changes: Any) -> VerificationResult:
    """Return the measurement of a claim on *pairs*, of which the first *attach* are attached."""
    scores = tuple(scored(of, *pair) for pair in pairs)
    chunks = [pair[0] for pair in pairs[:attach]]
    sentences = [pair[0].span(pair[1]).sentence for pair in pairs[:attach]]
    first = scores[0] if scores else None
    return replace(
        VerificationResult(
            of.id,
            first.label if first else "error",
            first.entailed if first else None,
            tuple(SpanRef(score.chunk_id, score.span_id) for score in scores[:attach]),
            scores,
            "SUPPORTED",
            pair_digest(of.text, joined_evidence(sentences), shared_context(chunks)),
            0.1,
        ),
        **changes,
    )


def answer(
    parts: Sequence[tuple[Claim, VerificationResult]],
    chunks: Sequence[EvidenceChunk],
    policy: Policy = STRICT,
    probe: Probe | None = None,
    **changes: Any,
) -> Json:
    """Return the record of an answer as JSON values; the gate's rules decide its states.

    The wording of findings and summary is fixed here, so that the vectors do not follow it.
    """
    claims, results = tuple(one for one, _ in parts), tuple(two for _, two in parts)
    located = with_selectors(chunks, results)
    decisions, summary = certify(claims, results, located, policy, probe)
    question = "When does it open?"
    record = AnswerRecord(
        question=question,
        retrieval=RetrievalRecord(question, located),
        claim_ir=ClaimIR(question, claims),
        verification=results,
        decisions=tuple(
            replace(
                decision,
                reason="as found",
                findings=tuple(
                    replace(f, reason="it holds" if f.passed else "it fails")
                    for f in decision.findings
                ),
            )
            for decision in decisions
        ),
        answer=AnswerSummary(
            summary.decision,
            summary.reason_code,
            "low",
            summary.verified,
            summary.unverified,
            summary.blocked,
        ),
        policy=policy,
        models=(ModelIdentity("verifier", "fixed", "1", sha256_hex("fixed")),),
        config={"max_chunks": 8},
        config_hash=sha256_hex("config"),
        created_at="2026-01-02T03:04:05+00:00",
        trace_id="0123456789abcdef" * 2,
        probe=probe,
    )
    return record_json(replace(record, **changes))


def single(
    sentence: str = SENTENCE,
    of: EvidenceChunk | None = None,
    scores: Scores = SURE,
    policy: Policy = STRICT,
    **changes: Any,
) -> Json:
    """Return a record of one claim on one span, with fields of its result changed."""
    own, one = of or chunk(sentences=(sentence,)), claim(sentence)
    return answer([(one, result(one, [(own, "s1", scores)], **changes))], [own], policy)


def of_two_parts(scores: Sequence[float], code: str) -> Json:
    """Return the record of `single` for a question of two parts that it answers that surely."""
    found = single()
    found["claim_ir"]["parts"] = ["When does it open?", "Who may come?"]
    found["claim_ir"]["claims"][0] |= {"relevance": max(scores), "by_part": list(scores)}
    found["answer"]["reason_code"] = code
    return found


def probed(survives: bool = False, policy: Policy = STRICT, under: Policy = STRICT) -> Json:
    """Return a record with one planted error, caught or not."""
    of, one = chunk(sentences=(SENTENCE, OTHER)), claim()
    start = SENTENCE.index("nine")
    text = SENTENCE.replace("nine", "noon")
    error = PlantedError("c1~1", "c1", "entity", text, start, start + 4, "noon")
    wrong = claim(text, error.id)
    pairs: list[Pair] = [(of, "s1", SURE), (of, "s2", UNSURE)]
    told: list[Pair] = [(of, "s1", SURE if survives else UNSURE), (of, "s2", UNSURE)]
    measured = result(wrong, told)
    probe = Probe((error,), (measured,), under, "vectors-1")
    return answer([(one, result(one, pairs))], [of], policy, probe)


def full() -> Json:
    """Return a record with every kind of object that a record may hold."""
    of = chunk(sentences=(SENTENCE, OTHER), page=3, start=100)
    boxes = (Box(3, 72.0, 500.5, 300, 512.25),)
    of = replace(
        of,
        spans=(replace(of.spans[0], boxes=boxes), of.spans[1]),
        retrieval=RetrievalScores(7.5, 0.5, 0.03, None, 1, 2, 1, 1),
    )
    quantity = Quantity("number", "nine", 21, 25, "9")
    ref = SpanRef(of.chunk_id, "s1")
    one = claim(fields={"subject": "library", "hour": 9}, quantities=(quantity,))
    one = replace(one, evidence_candidates=(ref,), hedges=("about",), supplied=("library",))
    question = QuestionRecord("when", "When does it open?", "nine", "nine", "agree")
    found = result(
        one,
        [(of, "s1", SURE), (of, "s2", UNSURE)],
        depth="LOW",
        questions=(question,),
        missing_part="Sunday",
        opposing=(SpanRef(of.chunk_id, "s2"),),
    )
    two = claim(OTHER, "c2")
    unsure = result(two, [(of, "s2", UNSURE)])
    text = SENTENCE.replace("nine", "noon")
    start = SENTENCE.index("nine")
    error = PlantedError("c1~1", "c1", "entity", text, start, start + 4, "noon")
    caught = result(claim(text, "c1~1"), [(of, "s1", UNSURE), (of, "s2", UNSURE)])
    cited = Citation("c1", "hours", "[1]", "Library", "", (ref,), 10, 13)
    judged = CitationJudgement(cited, "VALID", "it says so", None, 0.97, (ref,))
    value = answer(
        [(one, found), (two, unsure)],
        [of],
        STRICT,
        Probe((error,), (caught,), BASE, "vectors-1", 1),
        generation=GenerationRecord(
            "prose",
            (PromptIdentity("prose", "1", sha256_hex("p")),),
            "0" * 32,
            1,
            "complete",
            quoted=("c1",),
        ),
        citations=CitationsRecord(
            (cited,), (judged,), (Correction("c1", "KEEP", cited, cited, "it holds", 0.97),)
        ),
    )
    summary = AnswerSummary(
        "STRIP",
        "SOME_UNVERIFIED",
        "medium",
        1,
        1,
        0,
        ("One claim is left out.",),
        ("When does the garden close?",),
        "not all",
        ConfidenceBasis(2, 1, 0.5, 0, 0, 0, 0.5, None, ("pass rate",)),
        (LeftOut("entailed", ("c2",)),),
        (Reference(of.chunk_id, "s2", "Opening hours", "Library", 3, OTHER, "too little"),),
        Suggestions(
            (Suggestion("heading", "Library", "a heading"),), (Filter("section", "Library", 1),)
        ),
    )
    plain = record_json(
        replace(_EMPTY, answer=summary)  # the same writer as a record's own
    )
    return value | {"answer": plain["answer"]}


_EMPTY: Final = AnswerRecord(
    "",
    RetrievalRecord("", ()),
    ClaimIR("", ()),
    (),
    (),
    AnswerSummary("REJECT", "NO_CLAIMS", "low", 0, 0, 0),
    BASE,
    (),
    {},
    "",
    "",
    "",
)


def records() -> Iterator[tuple[str, Json]]:
    """Yield a name and a record, each of them sound, for what records can differ in."""
    yield from _plain()
    yield from _unverified()
    yield from _texts()
    yield "everything that a record may hold", full()
    yield "a planted error that was caught", probed()
    yield "a planted error that survived takes the badge", probed(survives=True)
    yield "a probe under a laxer policy than the claims'", probed(under=BASE)
    of, one = chunk(), claim()
    found = result(one, [(of, "s1", SURE)])
    nothing = Probe((), (), STRICT, "vectors-1")
    yield "a probe that found nothing to plant", answer([(one, found)], [of], STRICT, nothing)
    for end in ("under_way", "timed_out", "invented_source"):
        generation = GenerationRecord("strict-quote", (), "", 1, end)  # type: ignore[arg-type]
        yield f"a draft that ended as {end}", answer([(one, found)], [of], generation=generation)
    cited = CitationsRecord(())
    yield "citations without any citation", answer([(one, found)], [of], citations=cited)


def _plain() -> Iterator[tuple[str, Json]]:
    yield "one claim under the strict policy", single()
    yield "one claim under the base policy", single(policy=BASE)
    of, many = chunk(sentences=(SENTENCE, OTHER)), [claim(), claim(OTHER, "c2")]
    sure = result(many[0], [(of, "s1", SURE), (of, "s2", UNSURE)])
    unsure = result(many[1], [(of, "s2", UNSURE), (of, "s1", UNSURE)])
    against = result(many[1], [(of, "s2", AGAINST), (of, "s1", UNSURE)])
    yield "one of two claims is Verified", answer([(many[0], sure), (many[1], unsure)], [of])
    yield "one of two claims is Blocked", answer([(many[0], sure), (many[1], against)], [of])
    both = answer([(many[0], sure), (many[1], unsure)], [of])
    both["verification"].reverse()
    yield "the results stand in another order than the claims", both
    yield "no claim at all", answer([], [of])
    yield "no claim and no evidence", answer([], [])
    hello = claim("Hello.", "c2", problems=("not_checkable: it states nothing",))
    greeting = result(hello, [(of, "s2", UNSURE)])
    yield "a greeting does not count", answer([(many[0], sure), (hello, greeting)], [of])
    yield "only a greeting", answer([(hello, greeting)], [of])
    odd = claim("It opens.", "c2", problems=("not_self_contained: it",))
    vague = result(odd, [(of, "s1", SURE)])
    yield "a claim that is not well formed counts", answer([(many[0], sure), (odd, vague)], [of])
    exact = replace(STRICT, tau_entail=0.97, tau_contradict=0.5, name="exact")
    yield "a score at the threshold passes", single(policy=exact)
    yield "a contradiction at the threshold blocks", single(scores=(0.3, 0.2, 0.5), policy=exact)
    whole = replace(STRICT, tau_entail=1.0, tau_contradict=1.0, tau_contest=1.0, name="whole")
    yield "thresholds and scores of one", single(scores=(1.0, 0.0, 0.0), policy=whole)
    turned = replace(STRICT, rules=tuple(reversed(STRICT.rules)))
    yield "the rules in another order", single(policy=turned)
    yield from _supported()


def _supported() -> Iterator[tuple[str, Json]]:
    two = chunk(sentences=(SENTENCE, OTHER))
    text = f"{SENTENCE[:-1]}."
    for name, chunks in {
        "two sentences of one document": [two],
        "two documents share no heading": [chunk(), chunk("garden", (OTHER,), section="Garden")],
    }.items():
        one, last = claim(text), chunks[-1]
        places: list[Pair] = [(chunks[0], "s1", SURE), (last, last.spans[-1].span_id, UNSURE)]
        yield name, answer([(one, result(one, places, 2))], chunks)
    left = replace(chunk(section="Town › Library"), chunk_id="hours#left")
    right = chunk(sentences=(OTHER,), section="Town › Garden")
    one = claim(text)
    shared: list[Pair] = [(left, "s1", SURE), (right, "s1", UNSURE)]
    yield "two sections share a heading", answer([(one, result(one, shared, 2))], [left, right])
    yield "a title that looks like headings", single(of=chunk(title="A › B", section=" › "))
    yield "no title and no section", single(of=chunk(title="", section=""))
    double = replace(STRICT, class_minimum={**dict.fromkeys(RISK_CLASSES, 1)} | _TWO)
    compared = claim(risk_class="comparative_claim")
    pairs: list[Pair] = [(two, "s1", SURE), (two, "s2", UNSURE)]
    yield (
        "a comparison with two sentences",
        answer([(compared, result(compared, pairs, 2))], [two], double),
    )
    yield (
        "a comparison with one sentence",
        answer([(compared, result(compared, pairs))], [two], double),
    )
    hedged = replace(compared, hedges=("about",))
    yield "a hedged comparison", answer([(hedged, result(hedged, pairs))], [two], double)
    scope = claim(risk_class="scope_claim")
    yield (
        "a scope that no wording states",
        answer([(scope, result(scope, [(two, "s1", SURE)]))], [two]),
    )
    opposed = chunk("notice", ("The library opens at noon.",))
    contested: list[Pair] = [(two, "s1", SURE), (opposed, "s1", (0.1, 0.4, 0.5))]
    yield (
        "another document opposes it",
        answer([(claim(), result(claim(), contested))], [two, opposed]),
    )
    yield (
        "opposition does not count under the base policy",
        answer([(claim(), result(claim(), contested))], [two, opposed], BASE),
    )
    same: list[Pair] = [(two, "s1", SURE), (two, "s2", (0.1, 0.4, 0.5))]
    yield "its own document does not contest it", answer([(claim(), result(claim(), same))], [two])


_TWO: Final[Mapping[Any, int]] = {"comparative_claim": 2}


def _unverified() -> Iterator[tuple[str, Json]]:
    yield "a score below the threshold", single(scores=(0.84, 0.15, 0.01))
    yield "a contradicted claim", single(scores=AGAINST)
    yield "without its sentence it scores as high", single(score_without=0.85)
    yield "support without its sentence was not measured", single(score_without=None)
    yield "no evidence is attached", single(best_evidence=())
    twice = (SpanRef("hours#1", "s1"), SpanRef("hours#1", "s1"))
    yield "a sentence is attached twice", single(best_evidence=twice)
    yield "the score is not its only sentence's", single(score=0.96)
    yield "no score", single(score=None)
    yield "a score above one", single(score=1.5)
    yield "a failed verifier", single(label="error", error="late", score=None, all_scores=())
    yield "a text that was cut", single(truncated=True)
    yield "a cap left a pair out", single(needed_dropped=1)
    yield "the verifier says otherwise", single(label="not_enough_info")
    yield "the verifier says contradicted", single(label="contradicted")
    yield "another text was scored as the set", single(set_input_sha256="0" * 64)
    of, one = chunk(sentences=(SENTENCE, OTHER)), claim()
    first, second = scored(one, of, "s1", SURE), scored(one, of, "s2", UNSURE)
    for name, scores in {
        "an attached sentence that was not scored": (second,),
        "a sentence scored twice, the last one counts": (
            first,
            second,
            replace(first, entailed=0.5),
        ),
        "another text was scored": (first, replace(second, input_sha256="0" * 64)),
        "a span that was cut": (first, replace(second, truncated=True)),
        "a span that failed": (first, replace(second, error="late")),
        "a span with the label error": (first, replace(second, label="error")),
        "a span without scores": (first, scored(one, of, "s2", (None, None, None))),
        "a contradiction above one": (first, replace(second, contradicted=1.01)),
        "a contradiction below zero": (first, replace(second, contradicted=-0.01)),
    }.items():
        whole = result(one, [(of, "s1", SURE)], all_scores=scores)
        yield name, answer([(one, whole)], [of])
    for name, span in {
        "text that no reader sees": {"visible": False},
        "an offset outside of the text": {"end": 999},
        "an offset before the text": {"start": -1},
        "an empty span": {"end": 0},
        "another sentence than the text's": {"sentence": "The library opens at noon."},
    }.items():
        hidden = replace(chunk(), spans=(replace(chunk().spans[0], **span),))
        yield name, single(of=hidden)
    yield "a chunk whose digest is false", single(of=replace(chunk(), sha256="0" * 64))
    capital = replace(chunk().source, sha256="A" * 64)
    yield "a source whose digest is none", single(of=replace(chunk(), source=capital))
    for name, blank in {"control": "\x1c\x85\u3000", "line separators": "\u2028\u2029"}.items():
        yield f"a blank sentence of {name}", single(of=chunk(sentences=(blank,)))


def _texts() -> Iterator[tuple[str, Json]]:
    for name, text in {
        "characters beyond the basic plane": "𝒯he 📚 library opens at nine on weekdays.",
        "combining marks": "The cafe\u0301 opens at nine on weekdays.",
        "the same marks composed": "The caf\u00e9 opens at nine on weekdays.",
        "text from right to left": "המכון ʻabc פתוח at nine on weekdays.",
        "characters that are not seen": "The lib\u200brary\u202e opens\u2066 at nine.",
        "control characters": "The library\u0000 opens\u001f at\u007f nine.",
        "separators": "The library\u2028opens\u2029at nine.",
        "markup": '<b>"The</b> library\\u0041 opens\\" at nine/\\.',
        "a byte order mark that is not blank": "\ufeff",
        "private and unassigned characters": "The library \ue000\uffff\U0010ffff opens at nine.",
    }.items():
        yield f"{name} in claim and evidence", single(text)
        if name.startswith(("characters b", "combining")):
            before = chunk(sentences=(text, OTHER), before="📚e\u0301 " * 20, start=7)
            yield f"{name} before the sentence", single(text, before)
    long = chunk(sentences=(OTHER, SENTENCE, OTHER), start=1_000_000)
    one = claim()
    yield "a sentence between others", answer([(one, result(one, [(long, "s2", SURE)]))], [long])
    yield "a page", single(of=chunk(page=12))
    for page in (0, -1):
        yield f"the page {page}", single(of=chunk(page=page))
    names = ("\U0001f4da", "\uff5e", "a", "B", "", "a/b", "__proto__", "é", "e\u0301")
    many = [chunk(doc_id, ()) for doc_id in names]
    ordered = answer([(one, result(one, [(long, "s2", SURE)]))], [long, *many])
    yield "documents are ordered by code points", ordered
    odd = replace(chunk("__proto__"), chunk_id="constructor")
    odd = replace(odd, spans=(replace(odd.spans[0], span_id="__proto__"),))
    named = claim(name="toString", fields={"__proto__": 1, "constructor": "x"})
    found = result(named, [(odd, "__proto__", SURE)])
    yield (
        "names that programs give a meaning to",
        answer([(named, found)], [odd], config={"__proto__": True, "hasOwnProperty": 0.5}),
    )
    bare = single()
    bare["retrieval"]["chunks"].append(answer([], [chunk("spare")])["retrieval"]["chunks"][0])
    yield "a span that nothing leans on has no selector", bare
