"""Citations: read out of drafts, looked up, judged in the order of what the checks cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from fakes import chunk_of

from certirag.claims.citation_marks import (
    CitedDraft,
    citations_of,
    cited_sources,
    read_citations,
    with_marks,
)
from certirag.claims.compile import claims_from_draft, make_claim
from certirag.core.citation import Citation, CitationJudgement
from certirag.core.claim import Claim
from certirag.core.generation import ModelIdentity
from certirag.core.text import Box, SpanRef
from certirag.errors import InputError, VerifierError
from certirag.ingest.sentences import sentence_splitter
from certirag.ports import Judgement, Pair
from certirag.verification.citation_check import citation_precision_recall, judge_citations

SPLIT = sentence_splitter(None)
LEAVE = replace(
    chunk_of(
        "Employees receive 27 days of leave. Leave is requested in the portal.",
        name="leave-policy-md-0a1b2c",
        title="Leave policy 2024",
        section="Annual leave › 2.1 Amount",
    )
)
LEAVE = replace(LEAVE, source=replace(LEAVE.source, url_or_path="docs/leave-policy.md"))
REPORT = chunk_of(
    "Revenue was 288 million dollars. Costs fell.",
    name="report",
    title="Q3 report",
    section="Sales",
)
REPORT = replace(
    REPORT,
    source=replace(REPORT.source, url_or_path="report.pdf", page=3),
    spans=(REPORT.spans[0], replace(REPORT.spans[1], boxes=(Box(4, 0, 0, 1, 1),))),
)
CHUNKS = (LEAVE, REPORT)
SOURCES = cited_sources(CHUNKS)
LEAVE_ID, REPORT_ID = LEAVE.doc_id, REPORT.doc_id


class Says:
    """A verifier that looks its answers up: a function of claim and evidence gives entailment."""

    identity = ModelIdentity("verifier", "says", "1", "0" * 64)

    def __init__(self, entails: Callable[[Pair], float], against: float = 0.0) -> None:
        self.entails, self.against = entails, against
        self.asked: list[Pair] = []

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        self.asked += pairs
        return [self._one(pair) for pair in pairs]

    def _one(self, pair: Pair) -> Judgement:
        entailed = self.entails(pair)
        if math.isnan(entailed):
            return Judgement("entailed", entailed, 0.0, 0.0)
        contradicted = min(self.against, 1.0 - entailed)
        neutral = 1.0 - entailed - contradicted
        label = "entailed" if entailed >= 0.5 else "not_enough_info"
        if contradicted > max(entailed, neutral):
            label = "contradicted"
        return Judgement(label, entailed, neutral, contradicted)  # type: ignore[arg-type]


def holds(word: str) -> Callable[[Pair], float]:
    """Entail whatever the evidence says with *word* in it."""
    return lambda pair: 0.97 if word in pair.evidence else 0.1


class Breaks:
    """A verifier that does not answer."""

    identity = Says.identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        raise VerifierError("the model is not there")


def claim_of(text: str, name: str = "c1") -> Claim:
    """Return *text* as a claim."""
    return replace(make_claim(text, 0, len(text), ()), id=name)


CLAIM = claim_of("Employees receive 27 days of leave.")


def judged(
    citation: Citation, verifier: object, claim: Claim = CLAIM, **options: float
) -> CitationJudgement:
    """Judge one citation against both documents."""
    (found,) = judge_citations([claim], [citation], CHUNKS, verifier, **options)  # type: ignore[arg-type]
    return found


def read(draft: str) -> CitedDraft:
    """Read *draft*, and check that every place is where it says."""
    cited = read_citations(draft, SOURCES)
    assert "".join(draft[at] for at in cited.places) == cited.text
    assert all(draft[m.start : m.end] == m.raw for m in cited.marks)
    return cited


# --- reading -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draft", "text", "named"),
    [
        ("It rose [1].", "It rose.", [(LEAVE_ID, "")]),
        ("It rose. [2] It fell.", "It rose. It fell.", [(REPORT_ID, "")]),
        ("It rose [^1][2].", "It rose.", [(LEAVE_ID, ""), (REPORT_ID, "")]),
        ("It rose [1], [2].", "It rose.", [(LEAVE_ID, ""), (REPORT_ID, "")]),
        ("It rose [1, 2] in May.", "It rose in May.", [(LEAVE_ID, ""), (REPORT_ID, "")]),
        ("It rose [1-2].", "It rose.", [(LEAVE_ID, ""), (REPORT_ID, "")]),
        ("It rose [7].", "It rose.", [("", "")]),
        ("It rose 【2†source】.", "It rose.", [(REPORT_ID, "")]),
        ("It rose [[report]].", "It rose.", [(REPORT_ID, "")]),
        ("It rose [[no such thing]].", "It rose.", [("", "")]),
        ("It rose [[report#c0]].", "It rose.", [(REPORT_ID, "c0")]),
        ("It rose [report.pdf#Sales].", "It rose.", [(REPORT_ID, "Sales")]),
        ("It rose [leave-policy.md § 2.1].", "It rose.", [(LEAVE_ID, "§ 2.1")]),
        ("It rose [Leave policy 2024].", "It rose.", [(LEAVE_ID, "")]),
        ("It rose [memo-2031.pdf].", "It rose.", [("", "")]),
        ("It rose [2, p. 3].", "It rose.", [(REPORT_ID, "p. 3")]),
        ("It rose (Q3 report, p. 3).", "It rose.", [(REPORT_ID, "p. 3")]),
        ("It rose (Board Memo, p. 3).", "It rose.", [("", "p. 3")]),
        ("It rose (source: Q3 report).", "It rose.", [(REPORT_ID, "")]),
        ("It rose [Q3 report; leave-policy.md].", "It rose.", [(REPORT_ID, ""), (LEAVE_ID, "")]),
        ("[1] It rose.", "It rose.", [(LEAVE_ID, "")]),
        ("- [1] It rose.", "- It rose.", [(LEAVE_ID, "")]),
    ],
)
def test_marks_are_read_and_the_text_is_left_exact(
    draft: str, text: str, named: list[tuple[str, str]]
) -> None:
    """The usual forms, of sources that exist and of sources that do not."""
    cited = read(draft)
    assert cited.text == text
    assert [(m.doc_id, m.place) for m in cited.marks] == named


@pytest.mark.parametrize(
    "draft",
    [
        "It rose [sic] in May.",
        "Staff (headcount) rose.",
        "Water is covered (only from burst pipes, section 4).",
        "Profit rose (up 99%, p. 3).",
        "See the [report](https://example.org/report).",
        "In [2024] it rose.",
        "An array a[i] has items (see below).",
        "It rose (by 3, or 4; nobody knows).",
        "",
        "[[", "]]", "[]", "()", "[1",
    ],
)  # fmt: skip
def test_what_may_be_part_of_the_statement_stays(draft: str) -> None:
    """Cutting a qualifier out with the brackets around it would change what is checked."""
    cited = read(draft)
    assert cited.text == draft
    assert not cited.marks


def test_a_quote_before_or_inside_the_mark_is_the_sources_own_words() -> None:
    """Of three words or more; single words in quotation marks are no quote."""
    assert read('The rule is "27 days of leave" [1].').marks[0].quote == "27 days of leave"
    assert read("The rule is “27 days of leave.” [1]").marks[0].quote == "27 days of leave."
    inside = read('It rose [report.pdf, p. 3: "Revenue was 288 million"].').marks[0]
    assert (inside.doc_id, inside.place, inside.quote) == (
        REPORT_ID,
        "p. 3",
        "Revenue was 288 million",
    )
    assert read('The "portal" [1].').marks[0].quote == ""


def test_marks_find_their_claims_and_claims_their_places() -> None:
    """Each half of a sentence keeps its own mark; one at the end is for both; others for none."""
    draft = (
        "Employees receive 27 days of leave [1], and revenue was 288 million dollars [2]. "
        "Leave is requested in the portal. [1] Costs fell, and sales rose [9].\n\n"
        "# Heading [2]\n\nThe office is open."
    )
    cited = read(draft)
    ir = claims_from_draft("", cited.text, SPLIT, max_claims=20)
    found = citations_of(ir.claims, cited)
    by_text = {
        claim.text: [c.doc_id for c in found.citations if c.claim_id == claim.id]
        for claim in ir.claims
    }
    assert by_text["Employees receive 27 days of leave."] == [LEAVE_ID]
    assert by_text["Revenue was 288 million dollars."] == [REPORT_ID]
    assert by_text["Leave is requested in the portal."] == [LEAVE_ID]
    assert by_text["Costs fell, and sales rose."] == [""]
    assert by_text["The office is open."] == []
    moved = with_marks(ir, cited)
    assert moved.draft == draft
    assert [c.text for c in moved.claims] == [c.text for c in ir.claims]
    assert draft[moved.claims[0].draft_start : moved.claims[0].draft_end].startswith("Employees")


# --- judging -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("citation", "failed"),
    [
        (Citation("c1", "", raw="[9]"), "source"),
        (Citation("c1", "other"), "source"),
        (Citation("c1", LEAVE_ID, place="4.2"), "place"),
        (Citation("c1", LEAVE_ID, place="p. 1"), "place"),
        (Citation("c1", REPORT_ID, place="p. 5"), "place"),
        (Citation("c1", LEAVE_ID, spans=(SpanRef(LEAVE.chunk_id, "s9"),)), "place"),
        (Citation("c1", LEAVE_ID, quote="Employees receive 28 days"), "quote"),
        (Citation("c1", REPORT_ID, quote="Employees receive 27 days"), "quote"),
    ],
)
def test_what_does_not_exist_is_hallucinated_and_costs_nothing(
    citation: Citation, failed: str
) -> None:
    """Source, place, quote: the verifier is not asked, however willing it is."""
    verifier = Says(lambda _pair: 0.99)
    found = judged(citation, verifier)
    assert (found.verdict, found.failed) == ("HALLUCINATED", failed)
    assert found.reason
    assert verifier.asked == []


@pytest.mark.parametrize(
    "place",
    ["", "Annual leave", "annual-leave", "2.1 Amount", "2.1", "section 2", "§ 2.1", "c0", "0"],
)
def test_places_are_found_by_name_and_number(place: str) -> None:
    """Headings in words or as a slug, their numbers, chunk names; all of them hold the sentence."""
    chunks = (replace(LEAVE, chunk_id=f"{LEAVE_ID}#c0"),) if place == "c0" else CHUNKS
    (found,) = judge_citations(
        [CLAIM], [Citation("c1", LEAVE_ID, place=place)], chunks, Says(holds("27"))
    )
    assert found.verdict == "VALID"
    assert [ref.span_id for ref in found.evidence] == ["s1"]


def test_pages_are_those_of_the_sentence() -> None:
    """A chunk that goes over the page's end stands on both."""
    claim = claim_of("Costs fell.")
    for place, verdict in (("p. 4", "VALID"), ("pp. 3-4", "VALID"), ("page 3", "INVALID")):
        found = judged(Citation("c1", REPORT_ID, place=place), Says(holds("Costs")), claim)
        assert found.verdict == verdict, place


def test_a_quote_narrows_what_is_read() -> None:
    """Only the sentences that hold the quote support; blanks may run differently."""
    verifier = Says(holds("27"))
    assert judged(Citation("c1", LEAVE_ID, quote="27  days\nof leave"), verifier).verdict == "VALID"
    other = judged(Citation("c1", LEAVE_ID, quote="requested in the portal"), verifier)
    assert other.verdict != "VALID"
    assert all("27" not in pair.evidence for pair in verifier.asked[-1:])


def test_hidden_text_cannot_be_cited() -> None:
    """Neither as a place nor as a quote."""
    hidden = chunk_of("Employees receive 27 days of leave. It rains.", name="x", hidden=("27",))
    for citation in (Citation("c1", "x", spans=(SpanRef("x#0", "s1"),)),
                     Citation("c1", "x", quote="Employees receive 27 days")):  # fmt: skip
        (found,) = judge_citations([CLAIM], [citation], [hidden], Says(lambda _: 0.99))
        assert found.verdict == "HALLUCINATED"


def test_the_score_decides_between_valid_weak_and_invalid() -> None:
    """At the target VALID; on the topic below it WEAK; about something else INVALID."""
    here, there = Citation("c1", LEAVE_ID), Citation("c1", REPORT_ID)
    assert judged(here, Says(lambda _: 0.85)).verdict == "VALID"
    assert judged(here, Says(lambda _: 0.84)).verdict == "WEAK"
    assert judged(here, Says(lambda _: 0.84), target=0.8).verdict == "VALID"
    assert judged(here, Says(lambda _: 0.1)).verdict == "WEAK"  # it has the claim's words
    assert judged(there, Says(lambda _: 0.1)).verdict == "INVALID"


def test_what_speaks_against_the_claim_is_invalid() -> None:
    """However many of its words stand there."""
    found = judged(Citation("c1", LEAVE_ID), Says(lambda _: 0.05, against=0.9))
    assert found.verdict == "INVALID"
    assert found.reason == "the cited place speaks against it"


@pytest.mark.parametrize("verifier", [Breaks(), Says(lambda _: math.nan), Says(lambda _: 1.4)])
def test_a_verifier_that_fails_is_never_valid(verifier: object) -> None:
    """It is INVALID, without a score, and says why."""
    found = judged(Citation("c1", LEAVE_ID), verifier)
    assert (found.verdict, found.entailed) == ("INVALID", None)
    assert found.error
    assert found.reason.startswith("not judged: ")


def test_truncated_reading_is_never_valid() -> None:
    """What was not read to the end supports nothing."""

    class Cuts(Says):
        def _one(self, pair: Pair) -> Judgement:
            return replace(super()._one(pair), truncated=True)

    found = judged(Citation("c1", LEAVE_ID), Cuts(lambda _: 0.99))
    assert found.verdict == "INVALID"
    assert found.error


def test_citations_that_support_only_together_are_valid_together() -> None:
    """Both are needed; a third that adds nothing is not; and one alone is not VALID."""

    def both(pair: Pair) -> float:
        return 0.95 if "27 days" in pair.evidence and "288" in pair.evidence else 0.3

    text = "Employees receive 27 days of leave when revenue was 288 million dollars."
    claim = replace(claim_of(text), risk_class="comparative_claim")
    idle = chunk_of("The canteen has leave menus.", name="menu")
    first, second, third = (Citation("c1", d) for d in (LEAVE_ID, REPORT_ID, "menu"))
    chunks = (*CHUNKS, idle)
    found = judge_citations([claim], [first, second, third], chunks, Says(both))
    assert [j.verdict == "VALID" for j in found] == [True, True, False]
    assert found[0].together
    assert found[0].entailed == 0.95
    alone = judge_citations([claim], [first], chunks, Says(both))
    assert alone[0].verdict != "VALID"
    plain = judge_citations([claim_of(text)], [first, second], chunks, Says(both))
    assert not any(j.together for j in plain), "documents are not read together for it"


def test_citations_of_unknown_claims_and_odd_targets_are_refused() -> None:
    """With a line that names them."""
    with pytest.raises(InputError, match="'c9'"):
        judged(Citation("c9", LEAVE_ID), Says(holds("27")))
    for value in (0.0, 1.2, math.nan, -1.0):
        with pytest.raises(InputError, match="target"):
            judged(Citation("c1", LEAVE_ID), Says(holds("27")), target=value)


def test_precision_and_recall() -> None:
    """Of Project 10's five claims: two VALID, one WEAK, one INVALID, one HALLUCINATED."""
    verdicts = ("VALID", "VALID", "WEAK", "INVALID", "HALLUCINATED")
    judgements = [
        CitationJudgement(Citation(f"c{n}", "d"), verdict, "")
        for n, verdict in enumerate(verdicts, 1)
    ]
    five = [f"c{n}" for n in range(1, 6)]
    quality = citation_precision_recall(five, judgements)
    assert (quality.precision, quality.recall) == (0.4, 0.4)
    twice = citation_precision_recall(five, [*judgements, judgements[0]])
    assert (twice.precision, twice.recall) == (0.5, 0.4)
    uncited = citation_precision_recall([*five, "c6"], judgements)
    assert uncited.recall == pytest.approx(1 / 3)
    assert citation_precision_recall(["c1"], judgements).citations == 1


def test_nothing_cited_is_not_perfect() -> None:
    """No citation has no precision, no claim no recall; neither is 1."""
    nothing = citation_precision_recall([], [])
    assert nothing.precision is None
    assert nothing.recall is None
    assert citation_precision_recall(["c1"], []).recall == 0.0
