"""A checked draft: which of its words get a mark, whose, and what the documents say instead."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from builders import FACTS, Statement, draft_record
from gate_cases import TRUSTED, export

from certirag.claims.compile import claims_from_draft
from certirag.core.citation import Citation, CitationsRecord, Correction
from certirag.render import Mode, present
from certirag.render.checked_draft import shortened
from certirag.render.draft_text import draft_lines

RIGHT = Statement(FACTS[0])
WEAK = Statement(FACTS[1], "unsupported")
WRONG = Statement(
    "Full-time employees receive 30 days of annual leave per calendar year.",
    "contradicted",
    sentence=FACTS[0],
)


def _draft(of, mode: Mode = Mode.STRICT):
    seen = present(export(of), mode, trusted=TRUSTED)
    assert seen.draft is not None
    return seen.draft


def _marks(draft) -> list[tuple[str, str, bool]]:
    """Return (words, kind of the mark, literal) of each marked stretch."""
    return [
        (draft.text[of.start : of.end], of.badge.kind, of.literal)
        for of in draft.stretches()
        if of.badge is not None
    ]


def test_each_claim_marks_its_own_words_with_the_gate_s_badge() -> None:
    """The whole text comes back in order; a contradicted figure has the document's beside it."""
    of = draft_record([RIGHT, WRONG, WEAK])
    draft = _draft(of)
    assert "".join(draft.text[s.start : s.end] for s in draft.stretches()) == of.claim_ir.draft
    assert _marks(draft) == [
        (RIGHT.text, "verified", True),
        (WRONG.text, "contradicted", True),
        (WEAK.text, "unverified", True),
    ]
    assert [one.remark for one in draft.statements] == ["", "the document says 27 days", ""]
    assert draft.statements[1].against == f"“Leave policy” says: “{FACTS[0]}”"
    assert draft.headline == "1 of 3 statements is verified against the documents."


def test_the_marks_are_the_same_in_every_mode_and_a_stricter_reader_takes_badges() -> None:
    """A mode hides chips; the draft is the reader's own. A floor can only turn marks down."""
    of = draft_record([RIGHT, WRONG, WEAK])
    assert len({str(_marks(_draft(of, mode))) for mode in Mode}) == 1
    floor = replace(of.policy, name="floor", tau_entail=0.99)
    seen = present(export(of), Mode.STRICT, trusted=TRUSTED, floor=floor)
    assert "verified" not in [kind for _, kind, _ in _marks(seen.draft)]
    assert seen.draft.headline == "0 of 3 statements are verified against the documents."


def test_one_count_leaves_out_what_states_nothing_and_counts_what_a_cap_left_out() -> None:
    """Greetings are no statements; statements that nobody checked are."""
    of = draft_record([RIGHT, Statement("Welcome to Tarnbrook!", "unsupported")])
    greeting = replace(of.claim_ir.claims[1], problems=("not_checkable: it is a greeting",))
    claim_ir = replace(of.claim_ir, claims=(of.claim_ir.claims[0], greeting))
    of = replace(of, claim_ir=claim_ir)
    draft = _draft(of)
    assert draft.headline == "1 of 1 statement is verified against the documents."
    assert draft.statements[1].remark == "not a statement"
    text = " ".join(f"Site {n} closes at {n} o'clock." for n in range(1, 6))
    capped = claims_from_draft("", text, lambda line: [(0, len(line))], max_claims=0)
    cut = _draft(replace(of, claim_ir=replace(claim_ir, dropped=capped.dropped)))
    assert cut.total == 1 + len(capped.dropped)
    assert f"{len(capped.dropped)} " in cut.headline
    assert "not checked" in cut.headline
    assert all("c1" not in line for line in cut.lacks)
    assert any("Site 1 closes" in line for line in cut.lacks)


def _placed(of, *places: tuple[int, int], **changes):
    claims = tuple(
        replace(claim, draft_start=start, draft_end=end, **changes)
        for claim, (start, end) in zip(of.claim_ir.claims, places, strict=True)
    )
    return replace(of, claim_ir=replace(of.claim_ir, claims=claims))


def test_overlapping_claims_show_the_least_of_them() -> None:
    """Words of a Verified claim that stand in one without a badge are not marked as Verified."""
    of = draft_record([RIGHT, WEAK])
    text = f"{RIGHT.text[:-1]} and {WEAK.text[0].lower()}{WEAK.text[1:]}"
    of = replace(of, claim_ir=replace(of.claim_ir, draft=text))
    whole = len(text)
    draft = _draft(_placed(of, (0, len(RIGHT.text) - 1), (0, whole)))
    kinds = {kind for _, kind, _ in _marks(draft)}
    assert kinds == {"unverified"}
    assert [one.literal for one in draft.statements] == [True, False]


@pytest.mark.parametrize(
    "place", [(-1, 20), (5, 5), (9, 3), (0, 10_000), (0, 12), (3, 40)], ids=str
)
def test_a_place_that_is_not_the_claim_s_gets_no_mark(place) -> None:
    """Exact or nothing: the claim is still listed and counted."""
    of = _placed(draft_record([RIGHT]), place)
    draft = _draft(of)
    assert _marks(draft) == []
    assert (draft.statements[0].words, draft.verified, draft.total) == ("", 1, 1)


def test_words_that_nobody_read_are_never_under_a_mark() -> None:
    """A text put between the words of a Verified claim takes its mark away."""
    of = draft_record([RIGHT])
    text = RIGHT.text.replace("27 days", "27 days (see: and a free car)")
    of = replace(of, claim_ir=replace(of.claim_ir, draft=text))
    assert _marks(_draft(_placed(of, (0, len(text))))) == []


def test_a_resolved_claim_marks_what_it_was_read_from() -> None:
    """A supplied subject stands in the record; the pronoun is all that the claim does not say."""
    of = draft_record([RIGHT])
    text = "They receive 27 days of annual leave per calendar year."
    of = replace(of, claim_ir=replace(of.claim_ir, draft=text))
    of = _placed(of, (0, len(text)), supplied=("Full-time employees",))
    assert _marks(_draft(of)) == [(text, "verified", False)]
    assert _marks(_draft(_placed(of, (0, len(text)), supplied=()))) == []


def test_a_citation_inside_a_claim_is_not_marked() -> None:
    """The claim keeps its mark, the citation's own text has none, whatever it says."""
    of = draft_record([RIGHT])
    cut = RIGHT.text.index(" of annual")
    raw = "[[everything is free]]"
    text = f"{RIGHT.text[:cut]} {raw}{RIGHT.text[cut:]}"
    of = replace(of, claim_ir=replace(of.claim_ir, draft=text))
    of = _placed(of, (0, len(text)))
    there = Citation("c1", "leave", raw, start=cut + 1, end=cut + 1 + len(raw))
    marked = _marks(_draft(replace(of, citations=CitationsRecord((there,)))))
    assert [words for words, _, _ in marked] == [f"{RIGHT.text[:cut]} ", RIGHT.text[cut:]]
    assert {literal for _, _, literal in marked} == {True}
    forged = replace(there, raw="")
    assert _marks(_draft(replace(of, citations=CitationsRecord((forged,))))) == []


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("Full-time employees receive 27 days of annual leave.", "27 days"),
        ("Full-time employees receive four weeks of annual leave.", "four weeks"),
        ("Full-time employees receive 27 days, others 20 days.", ""),
        ("Full-time employees receive no annual leave.", ""),
        ("Full-time employees work in 27 offices.", ""),
    ],
)
def test_the_document_s_figure_is_named_only_where_there_is_one(said, instead) -> None:
    """Two that might stand there, another kind or none: then no figure is put in its mouth."""
    draft = _draft(draft_record([replace(WRONG, sentence=said)]))
    assert draft.statements[0].instead == instead
    assert draft.statements[0].against.endswith(f"says: “{said}”")


def test_what_a_reader_cannot_see_says_nothing() -> None:
    """A hidden sentence is not quoted against a draft."""
    of = draft_record([WRONG])
    chunks = tuple(
        replace(c, spans=tuple(replace(span, visible=False) for span in c.spans))
        for c in of.retrieval.chunks
    )
    draft = _draft(replace(of, retrieval=replace(of.retrieval, chunks=chunks)))
    assert (draft.statements[0].instead, draft.statements[0].against) == ("", "")


def test_no_line_of_a_checked_draft_names_a_claim_by_its_id() -> None:
    """What became of a citation is told with the words of the draft."""
    of = draft_record([RIGHT, WRONG])
    there = Citation("c2", "leave", "[1]")
    change = Correction("c2", "REMOVE", there, None, "the document says otherwise")
    of = replace(of, citations=CitationsRecord((there,), corrections=(change,)))
    seen = present(export(of), Mode.STRICT, trusted=TRUSTED)
    lines = "\n".join([*draft_lines(seen), *seen.draft.lacks])
    assert f"“{WRONG.text}”: [1] “leave” removed" in lines
    assert "c2" not in lines


def test_an_answer_that_nobody_pasted_has_no_draft() -> None:
    """Marks are for a reader's own words; a generated answer keeps what its mode hides."""
    of = draft_record([RIGHT])
    of = replace(of, claim_ir=replace(of.claim_ir, generator="extractive"))
    assert present(export(of), Mode.DEBUG, trusted=TRUSTED).draft is None


def test_thousands_of_overlapping_claims_are_cut_in_linear_time() -> None:
    """A record may hold what it likes: places nest, cross and repeat, and the text stays whole."""
    of = draft_record([RIGHT])
    text = "a " * 20_000
    draft = replace(_draft(of), text=text)
    one = draft.statements[0]
    many = tuple(
        replace(one, number=n, words="a", start=n % 97, end=40_000 - n % 89) for n in range(5_000)
    )
    began = time.perf_counter()
    cut = list(replace(draft, statements=many).stretches())
    assert time.perf_counter() - began < 2.0
    assert "".join(text[s.start : s.end] for s in cut) == text
    assert sum(len(s.ending) for s in cut) == 5_000


def test_a_long_quotation_is_cut_and_says_so() -> None:
    """One line stays one line."""
    assert shortened("a" * 500) == f"{'a' * 160}…"
