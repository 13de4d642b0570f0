"""Each rule at its very edge: the exact answer and reason, on both sides of every comparison."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from gate_cases import CLAIM, SENTENCE, chunk, good_case, score, with_first_score, with_result

from certirag.core.text import SpanRef, pair_digest
from certirag.render import rules
from certirag.render.gate import Case, Finding
from certirag.render.rules import RULES

Spoil = Callable[[Case], Case]
NEXT = math.nextafter
SPAN, OTHER_SPAN = SpanRef("leave#c1", "s1"), SpanRef("leave#c1", "s2")


def _scored(entailed: object, **changes: object) -> Spoil:
    return lambda c: with_first_score(with_result(c, score=entailed, **changes), entailed=entailed)


def _chunk(case: Case, **changes: object) -> Case:
    (of,) = case.chunks.values()
    return replace(case, chunks={of.chunk_id: replace(of, **changes)})  # type: ignore[arg-type]


def _span(case: Case, **changes: object) -> Case:
    (of,) = case.chunks.values()
    return _chunk(case, spans=(replace(of.spans[0], **changes), *of.spans[1:]))


def _opposed(contradicted: object, doc: str = "old") -> Spoil:
    """Add a span of the document *doc* that contradicts with this score."""

    def spoil(case: Case) -> Case:
        other = replace(chunk(f"{SENTENCE}", doc), chunk_id=f"{doc}#c9")
        against = replace(score(other, entailed=0.0, contradicted=0.5), contradicted=contradicted)
        grown = replace(case, chunks={**case.chunks, other.chunk_id: other})
        return with_result(grown, all_scores=(*case.result.all_scores, against))

    return spoil


def _policy(case: Case, **changes: object) -> Case:
    return replace(case, policy=replace(case.policy, **changes))  # type: ignore[arg-type]


def _claim(case: Case, **changes: object) -> Case:
    return replace(case, claim=replace(case.claim, **changes))  # type: ignore[arg-type]


def _both(case: Case, **changes: object) -> Case:
    return with_result(case, best_evidence=(SPAN, OTHER_SPAN), **changes)


def _apart(case: Case) -> Case:
    """Return *case* with its two sentences attached and the set's digest that goes with them."""
    (of,) = case.chunks.values()
    evidence = "\n".join(span.sentence for span in of.spans)
    return _both(case, set_input_sha256=pair_digest(case.claim.text, evidence, of.context))


def _scope(words: str, text: str = "Leave is granted.") -> Spoil:
    """Return the case of a scope claim with *words* about it in the attached sentence."""

    def spoil(case: Case) -> Case:
        sentence = f"{text[:-1]} {words}." if words else text
        of = chunk(sentence, sentence=sentence)
        scoped = replace(case, chunks={of.chunk_id: of})
        return _claim(scoped, risk_class="scope_claim")

    return spoil


NO_SCORE = "there is no sound entailment score"
UNSCORED = "an attached span was never scored"
DIFFERS = "the set's score differs from its only span's score"
AT = "the attached passage supports it with 0.97; 0.85 is needed"
SEEN = "2 spans scored whole, all scores sound"
NAMED = "a score of leave#c1 s1 is not a number"
GIVEN = "the verifier was given the claim and the evidence text only"
NOT_GIVEN = "the attached set was not what the verifier was given"
NO_OTHER = "no other document among the scored evidence opposes it"
NOT_MEASURED = "support without the attached sentences was not measured"
OUTSIDE = "the span s1 lies outside leave#c1"
QUOTE = "the quote of s1 differs from leave#c1"
DIGEST = "the digest of leave#c1 does not match its text"

# rule, what is changed, whether it passes, and the reason
ROWS: list[tuple[str, Spoil, bool, str]] = [
    ("evidence", lambda c: c, True, "1 span attached, each found word for word"),
    ("evidence", _both, True, "2 spans attached, each found word for word"),
    ("evidence", lambda c: with_result(c, best_evidence=()), False, "no evidence is attached"),
    (
        "evidence",
        lambda c: with_result(c, best_evidence=(SPAN, SPAN)),
        False,
        "the same span is attached twice",
    ),
    (
        "evidence",
        lambda c: replace(c, chunks={}),
        False,
        "the cited chunk leave#c1 is not in the record",
    ),
    (
        "evidence",
        lambda c: _chunk(c, chunk_id="leave#c2"),
        False,
        "the cited chunk leave#c1 is not in the record",
    ),
    (
        "evidence",
        lambda c: replace(c, chunks={"leave#c1": replace(chunk(), chunk_id="leave#c2")}),
        False,
        "the cited chunk leave#c1 is not in the record",
    ),
    ("evidence", lambda c: _span(c, span_id="s9"), False, "the cited span s1 is not in leave#c1"),
    ("evidence", lambda c: _span(c, span_id="s2"), False, "the cited span s1 is not in leave#c1"),
    ("evidence", lambda c: _chunk(c, sha256="0" * 64), False, DIGEST),
    ("evidence", lambda c: _chunk(c, text="All else."), False, DIGEST),
    (
        "evidence",
        lambda c: _chunk(c, source=replace(chunk().source, sha256="f" * 63)),
        False,
        DIGEST,
    ),
    (
        "evidence",
        lambda c: _chunk(c, source=replace(chunk().source, sha256="f" * 65)),
        False,
        DIGEST,
    ),
    (
        "evidence",
        lambda c: _chunk(c, source=replace(chunk().source, sha256="F" * 64)),
        False,
        DIGEST,
    ),
    ("evidence", lambda c: _span(c, start=-1), False, OUTSIDE),
    ("evidence", lambda c: _span(c, start=len(SENTENCE)), False, OUTSIDE),
    ("evidence", lambda c: _span(c, start=9, end=9, sentence=""), False, OUTSIDE),
    ("evidence", lambda c: _span(c, end=len(chunk().text) + 1), False, OUTSIDE),
    ("evidence", lambda c: _span(c, start=1), False, QUOTE),
    ("evidence", lambda c: _span(c, end=len(SENTENCE) - 1), False, QUOTE),
    ("evidence", lambda c: _span(c, sentence="x"), False, QUOTE),
    (
        "evidence",
        lambda c: _span(c, start=len(SENTENCE), end=len(SENTENCE) + 1, sentence=" "),
        False,
        QUOTE,
    ),
    *(
        (
            "evidence",
            lambda c, seen=seen: _span(c, visible=seen),
            False,
            "the attached text cannot be seen by a reader of the document",
        )
        for seen in (False, None, 1)
    ),
    ("entailed", lambda c: c, True, AT),
    ("entailed", _scored(0.85), True, "the attached passage supports it with 0.85; 0.85 is needed"),
    (
        "entailed",
        _scored(NEXT(0.85, 0)),
        False,
        "the closest passage supports it with 0.84; 0.85 is needed",
    ),
    ("entailed", _scored(1.0), True, "the attached passage supports it with 1.00; 0.85 is needed"),
    ("entailed", _scored(1), True, "the attached passage supports it with 1.00; 0.85 is needed"),
    ("entailed", _scored(0.0), False, "the closest passage supports it with 0.00; 0.85 is needed"),
    *(
        ("entailed", _scored(odd), False, NO_SCORE)
        for odd in (NEXT(1, 2), -5e-324, math.nan, math.inf, None, True, "1", 2)
    ),
    ("entailed", lambda c: with_result(c, best_evidence=()), False, UNSCORED),
    ("entailed", lambda c: with_result(c, best_evidence=(SpanRef("x", "s1"),)), False, UNSCORED),
    (
        "entailed",
        lambda c: with_result(c, best_evidence=(SPAN, SpanRef("leave#c1", "s9"))),
        False,
        UNSCORED,
    ),
    ("entailed", lambda c: with_first_score(c, entailed=0.98), False, DIFFERS),
    ("entailed", lambda c: with_first_score(c, entailed=0.96), False, DIFFERS),
    ("entailed", lambda c: with_first_score(c, entailed=None), False, DIFFERS),
    ("entailed", lambda c: _both(with_first_score(c, entailed=0.5)), True, AT),
    (
        "entailed",
        lambda c: with_first_score(_scored(0.5)(c), note="a part is missing"),
        False,
        "the closest passage supports it with 0.50; 0.85 is needed: a part is missing",
    ),
    (
        "entailed",
        lambda c: _both(with_first_score(_scored(0.5)(c), note="a part is missing")),
        False,
        "the closest passage supports it with 0.50; 0.85 is needed",
    ),
    *(
        (
            "entailed",
            lambda c, label=label: with_result(c, label=label),
            False,
            f"the verifier's label is {label}, not entailed",
        )
        for label in ("contradicted", "not_enough_info", "error", "")
    ),
    (
        "not_contradicted",
        lambda c: c,
        True,
        "of 2 scored spans none contradicts it (highest 0.02, limit 0.70)",
    ),
    (
        "not_contradicted",
        lambda c: with_result(c, all_scores=c.result.all_scores[:1]),
        True,
        "of 1 scored span none contradicts it (highest 0.01, limit 0.70)",
    ),
    (
        "not_contradicted",
        lambda c: with_first_score(c, contradicted=0.5),
        True,
        "of 2 scored spans none contradicts it (highest 0.50, limit 0.70)",
    ),
    (
        "not_contradicted",
        lambda c: with_result(c, all_scores=()),
        True,
        "of 0 scored spans none contradicts it (highest 0.00, limit 0.70)",
    ),
    (
        "not_contradicted",
        _opposed(NEXT(0.7, 0)),
        True,
        "of 3 scored spans none contradicts it (highest 0.70, limit 0.70)",
    ),
    (
        "not_contradicted",
        _opposed(0.7),
        False,
        "“Leave policy” contradicts it: 0.70, the threshold is 0.70",
    ),
    (
        "not_contradicted",
        lambda c: _chunk(
            with_first_score(c, contradicted=0.9), source=replace(chunk().source, title="")
        ),
        False,
        "“leave” contradicts it: 0.90, the threshold is 0.70",
    ),
    (
        "not_contradicted",
        lambda c: replace(with_first_score(c, contradicted=0.9), chunks={}),
        False,
        "“leave#c1” contradicts it: 0.90, the threshold is 0.70",
    ),
    *(
        ("not_contradicted", _opposed(odd), False, "old#c9 s1 has no contradiction score")
        for odd in (None, math.nan, -5e-324, NEXT(1, 2), True, "0")
    ),
    (
        "not_contradicted",
        lambda c: with_result(c, label="contradicted"),
        False,
        "the verifier's label is contradicted",
    ),
    ("well_formed", lambda c: c, True, "one checkable statement that stands on its own"),
    (
        "well_formed",
        lambda c: _policy(c, max_claim_tokens=10),
        False,
        "too long: 11 words and 70 characters, the limit is 10 words",
    ),
    (
        "well_formed",
        lambda c: _policy(c, max_claim_tokens=11),
        True,
        "one checkable statement that stands on its own",
    ),
    (
        "well_formed",
        lambda c: _claim(c, problems=("not_atomic: two facts", "x")),
        False,
        "not atomic: two facts",
    ),
    ("sound_measurement", lambda c: c, True, SEEN),
    (
        "sound_measurement",
        lambda c: with_result(c, claim_id="c2"),
        False,
        "the measurement belongs to another claim",
    ),
    (
        "sound_measurement",
        lambda c: with_result(c, error="late"),
        False,
        "the verifier did not answer: late",
    ),
    (
        "sound_measurement",
        lambda c: with_result(c, label="error"),
        False,
        "the verifier did not answer: error",
    ),
    (
        "sound_measurement",
        lambda c: with_result(c, all_scores=()),
        False,
        "no evidence was scored",
    ),
    *(
        (
            "sound_measurement",
            spoil,
            False,
            "part of the text was cut off before it was scored",
        )
        for spoil in (
            lambda c: with_result(c, truncated=True),
            lambda c: with_first_score(c, truncated=True),
        )
    ),
    *(
        (
            "sound_measurement",
            lambda c, changes=changes: with_first_score(c, **changes),
            False,
            "the verifier failed on leave#c1 s1",
        )
        for changes in ({"error": "late"}, {"label": "error"})
    ),
    *(
        (
            "sound_measurement",
            lambda c, place=place, odd=odd: with_first_score(c, **{place: odd}),
            False,
            NAMED,
        )
        for place in ("entailed", "not_enough_info", "contradicted")
        for odd in (None, math.nan, NEXT(1, 2), -5e-324, True)
    ),
    (
        "sound_measurement",
        lambda c: with_result(c, score=math.nan),
        False,
        "the score of the attached set is not a number from 0 to 1",
    ),
    (
        "sound_measurement",
        lambda c: with_result(c, all_scores=c.result.all_scores * 2),
        False,
        "a span was scored twice",
    ),
    *(
        (
            "sound_measurement",
            lambda c, odd=odd: with_result(c, needed_dropped=odd),
            False,
            f"a cap left out {odd} pairs that matter here",
        )
        for odd in (1, -1, None, False, 0.0)
    ),
    (
        "sound_measurement",
        lambda c: with_result(c, all_scores=c.result.all_scores[:1]),
        True,
        "1 span scored whole, all scores sound",
    ),
    ("isolated", lambda c: c, True, GIVEN),
    ("isolated", _apart, True, GIVEN),
    ("isolated", _both, False, NOT_GIVEN),
    ("isolated", lambda c: with_result(c, set_input_sha256="0" * 64), False, NOT_GIVEN),
    (
        "isolated",
        lambda c: with_first_score(c, input_sha256="0" * 64),
        False,
        "the verifier was given something other than the evidence",
    ),
    (
        "isolated",
        lambda c: _chunk(c, source=replace(chunk().source, title="Another")),
        False,
        "the verifier was given something other than the evidence",
    ),
    (
        "isolated",
        lambda c: replace(c, chunks={}),
        False,
        "scored text leave#c1 is not in the record",
    ),
    (
        "isolated",
        lambda c: _span(c, span_id="s9"),
        False,
        "scored text leave#c1 is not in the record",
    ),
    ("class_minimum", lambda c: c, True, "a plain fact needs 1 piece of evidence; 1 is attached"),
    ("class_minimum", _both, True, "a plain fact needs 1 piece of evidence; 2 are attached"),
    (
        "class_minimum",
        lambda c: _claim(c, risk_class="comparative_claim"),
        False,
        "a comparison needs 2 pieces of evidence; 1 is attached",
    ),
    (
        "class_minimum",
        lambda c: _both(_claim(c, risk_class="comparative_claim")),
        True,
        "a comparison needs 2 pieces of evidence; 2 are attached",
    ),
    (
        "class_minimum",
        lambda c: _claim(c, risk_class="comparative_claim", hedges=("may",)),
        True,
        "a comparison needs 1 piece of evidence; 1 is attached",
    ),
    (
        "class_minimum",
        lambda c: with_result(
            _claim(c, risk_class="comparative_claim", hedges=("may",)), best_evidence=()
        ),
        False,
        "a comparison needs 1 piece of evidence; 0 are attached",
    ),
    (
        "class_minimum",
        lambda c: _claim(
            _policy(c, class_minimum={**c.policy.class_minimum, "historical_claim": 2}),
            risk_class="historical_claim",
            hedges=("may",),
        ),
        False,
        "a statement about the past needs 2 pieces of evidence; 1 is attached",
    ),
    (
        "class_minimum",
        _scope("to all"),
        True,
        "a statement of limits needs 1 piece of evidence; 1 is attached",
    ),
    (
        "class_minimum",
        _scope("UNLESS it rains"),
        True,
        "a statement of limits needs 1 piece of evidence; 1 is attached",
    ),
    (
        "class_minimum",
        _scope(""),
        False,
        "a statement of limits needs a source that states the limits itself",
    ),
    (
        "load_bearing",
        lambda c: c,
        True,
        "without the attached sentences the score falls to 0.10",
    ),
    *(
        ("load_bearing", lambda c, odd=odd: with_result(c, score_without=odd), False, NOT_MEASURED)
        for odd in (None, math.nan, -5e-324, NEXT(1, 2), False, "0.1")
    ),
    (
        "load_bearing",
        lambda c: with_result(c, score_without=0.5),
        False,
        "titles and headings alone already score 0.50",
    ),
    (
        "load_bearing",
        lambda c: with_result(c, score_without=NEXT(0.5, 0)),
        True,
        "without the attached sentences the score falls to 0.50",
    ),
    (
        "load_bearing",
        lambda c: with_result(c, score_without=0.0),
        True,
        "without the attached sentences the score falls to 0.00",
    ),
    ("uncontested", lambda c: c, True, NO_OTHER),
    ("uncontested", lambda c: with_first_score(c, contradicted=0.99), True, NO_OTHER),
    ("uncontested", _opposed(0.99, "leave"), True, NO_OTHER),
    ("uncontested", _opposed(NEXT(0.7, 0)), True, NO_OTHER),
    ("uncontested", _opposed(0.7), False, "“Leave policy” opposes it (0.70)"),
    (
        "uncontested",
        lambda c: _policy(_opposed(0.65)(c), tau_contest=0.6),
        False,
        "“Leave policy” opposes it (0.65)",
    ),
    *(
        ("uncontested", _opposed(odd), False, "old#c9 could not be read for opposition")
        for odd in (None, math.nan, True, NEXT(1, 2))
    ),
    (
        "uncontested",
        lambda c: replace(_opposed(0.1)(c), chunks=c.chunks),
        False,
        "old#c9 could not be read for opposition",
    ),
]


@pytest.mark.parametrize("row", range(len(ROWS)), ids=lambda n: f"{ROWS[n][0]}-{n}")
def test_a_rule_says_exactly_this(row: int) -> None:
    """Passed or not, and the whole reason."""
    rule, spoil, passed, reason = ROWS[row]
    assert RULES[rule](spoil(good_case())) == Finding(passed, reason)


@pytest.mark.parametrize(
    "word",
    [
        *[
            "only",
            "except",
            "unless",
            "excluding",
            "excluded",
            "limit",
            "limits",
            "limited",
            "apply",
            "applies",
            "must",
        ],
        *[
            "applicable",
            "not",
            "no",
            "never",
            "if",
            "when",
            "provided",
            "until",
            "within",
            "between",
            "maximum",
            "minimum",
        ],
        *[
            "all",
            "every",
            "cover",
            "covers",
            "covered",
            "eligible",
            "exempt",
            "exempted",
            "exemption",
            "require",
        ],
        *("requires", "required", "for", "ONLY", "up to", "at least", "at most", "may not"),
    ],
)
def test_a_scope_is_stated_by_these_words(word: str) -> None:
    """RFC-0004 §6.2: a scope claim needs source text that itself describes limits."""
    assert RULES["class_minimum"](_scope(word)(good_case())).passed is True


def test_one_sentence_that_states_the_scope_is_enough() -> None:
    """Of several attached ones only one need speak of limits."""
    of = chunk("Leave is granted. It applies to staff.", sentence="Leave is granted.")
    case = _claim(replace(good_case(), chunks={of.chunk_id: of}), risk_class="scope_claim")
    assert RULES["class_minimum"](case).passed is False
    assert RULES["class_minimum"](_both(case)) == Finding(
        True, "a statement of limits needs 1 piece of evidence; 2 are attached"
    )


def _two_documents(*, reverse: bool) -> Case:
    """Return a case that leans on one sentence each of two documents, given in either order."""
    one = chunk("Revenue was $10M in 2023.", "a", "Revenue was $10M in 2023.")
    text = "Revenue was $12M in 2024."
    other = chunk(text, "b", text)
    claim = replace(CLAIM, text="Revenue was $10M in 2023 and $12M in 2024.")
    refs = tuple(SpanRef(of.chunk_id, "s1") for of in (one, other))
    case = replace(good_case(), claim=claim, chunks={of.chunk_id: of for of in (one, other)})
    scores = tuple(score(of, claim=claim) for of in (one, other))
    attached = refs[::-1] if reverse else refs
    return with_result(case, best_evidence=attached, all_scores=scores)


def test_the_order_of_attached_spans_changes_no_number() -> None:
    """The rule reads them in the order of their documents."""
    there, back = (RULES["numbers"](_two_documents(reverse=r)) for r in (False, True))
    assert there == back
    assert there.reason == "every number and date of the claim is in the attached evidence"


GROWTH = "Revenue grew 20% from 2023 to 2024."
YEARS = ("Revenue was $10M in 2023.", "Revenue was $12M in 2024.")


def _growth(*texts: str, attached: tuple[int, ...] = (0, 1), visible: bool = True) -> Case:
    """Return the case of a derived claim over one chunk of *texts*, those at *attached* attached."""
    whole = " ".join(texts)
    spans, start = [], 0
    for place, text in enumerate(texts):
        named = replace(
            chunk().spans[0],
            span_id=f"s{place + 1}",
            start=start,
            end=start + len(text),
            sentence=text,
            visible=visible or place in attached,
        )
        spans.append(named)
        start += len(text) + 1
    of = replace(chunk(whole, sentence=whole), spans=tuple(spans))
    claim = replace(CLAIM, text=GROWTH)
    case = replace(good_case(), claim=claim, chunks={of.chunk_id: of})
    return with_result(
        case,
        best_evidence=tuple(SpanRef(of.chunk_id, f"s{place + 1}") for place in attached),
        all_scores=tuple(score(of, span.span_id, claim=claim) for span in spans),
    )


def test_a_recomputed_number_carries_its_ledger() -> None:
    """It passes from attached figures, in either order, and says how."""
    for order in ((0, 1), (1, 0)):
        finding = RULES["numbers"](_growth(*YEARS, attached=order))
        assert finding.passed is True
        assert finding.reason.startswith(
            "the numbers follow from the attached evidence; recomputed: "
        )
        assert "20" in finding.reason


def test_a_rival_figure_beside_the_evidence_refuses() -> None:
    """An unattached sentence of the same document that gives another result speaks against it."""
    rival = "Revenue was $15M in 2024."
    against = RULES["numbers"](_growth(*YEARS, rival))
    assert against.passed is False
    assert against.reason.startswith("other figures of the document speak against ")
    assert RULES["numbers"](_growth(*YEARS, rival, visible=False)).passed is True


def test_a_rival_counts_only_where_the_claim_was_compared_with_it() -> None:
    """Another document's figure and a chunk that was scored for other claims do not speak here."""
    case = _growth(*YEARS)
    rival = "Revenue was $15M in 2024."
    for doc, scored, passed in (("leave", True, False), ("leave", False, True), ("x", True, True)):
        other = replace(chunk(rival, doc, rival), chunk_id="other#c2")
        grown = replace(case, chunks={**case.chunks, other.chunk_id: other})
        if scored:
            more = (*case.result.all_scores, score(other, claim=case.claim))
            grown = with_result(grown, all_scores=more)
        assert RULES["numbers"](grown).passed is passed, (doc, scored)


@pytest.mark.parametrize(
    ("one", "other", "between", "near"),
    [
        (((0, 5), "c"), ((6, 9), "c"), (), True),
        (((0, 5), "c"), ((6, 9), "d"), (), False),
        (((0, 5), "c"), ((5, 9), "c"), (), True),
        (((0, 5), "c"), ((9, 12), "c"), ((5, 8),), False),
        (((0, 5), "c"), ((9, 12), "c"), ((6, 8),), False),
        (((0, 5), "c"), ((9, 12), "c"), ((4, 8),), True),
        (((0, 5), "c"), ((9, 12), "c"), ((9, 11),), True),
        (((0, 5), "c"), ((9, 12), "c"), ((8, 11),), False),
        (((0, 5), "c"), ((9, 12), "c"), ((20, 25), (6, 8)), False),
    ],
)
def test_sentences_are_neighbours_where_nothing_starts_between(
    one: Any, other: Any, between: tuple[tuple[int, int], ...], near: bool
) -> None:
    """In one chunk, and no other span begins after the first ends and before the second begins."""
    spans = [
        replace(chunk().spans[0], span_id=f"s{n}", start=start, end=end)
        for n, (start, end) in enumerate((one[0], other[0], *between))
    ]
    first, second = (
        replace(chunk(), chunk_id=named, spans=tuple(spans)) for named in (one[1], other[1])
    )
    assert rules._adjacent((first, spans[0]), (second, spans[1])) is near


def test_a_missing_number_is_named() -> None:
    """The first figure that is nowhere is the reason."""
    text = "Employees receive 28 days of annual leave and 5 weeks of parental leave."
    finding = RULES["numbers"](replace(good_case(), claim=replace(CLAIM, text=text)))
    assert finding.passed is False
    assert "28" in finding.reason
    assert "5" not in finding.reason
