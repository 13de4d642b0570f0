"""A sentence is located exactly or not at all, in its passage and in its document."""

from __future__ import annotations

import json
import string
from dataclasses import replace

import pytest
from gate_cases import OTHER, SENTENCE, chunk, export, good_case, located, record, result
from hypothesis import assume, given
from hypothesis import strategies as st
from property_runs import examples

from certirag.core.selector import (
    AROUND,
    CannotLocate,
    Located,
    locate,
    locate_in,
    resolve,
    selector_of,
    with_selectors,
)
from certirag.core.text import (
    ChunkSource,
    EvidenceChunk,
    FragmentSelector,
    Selector,
    SentenceSpan,
    sha256_hex,
)
from certirag.ingest.chunk import chunk_document
from certirag.ingest.load import Limits, load_document
from certirag.ingest.sentences import sentence_splitter

# Astral characters, combining marks, right-to-left text and its marks, line ends of both kinds,
# zero-width characters, a flag and a family joined into one glyph.
ODD = (
    *("😀", "𝒳", "e\u0301", "\u0301", "العربية", "עברית", "\u202e", "\u2067", "\u2069"),
    *("\r\n", "\n", "\r", "\u2028", "\u200b", "\u200d", "\ufeff", "\u00a0", "🇳🇴", "👩‍👩‍👧"),
    *("Á", "ß", "…", " ", "x", "yz", "27 ", "\x00", "\U0010ffff", "\uffff"),
)
pieces = st.lists(st.sampled_from(ODD), max_size=30).map("".join)
texts = st.one_of(pieces, st.text(max_size=80))


def chunk_with(before: str, sentence: str, after: str, at: int = 0) -> EvidenceChunk:
    """Return a chunk at *at* of its document whose one span is *sentence*."""
    text = before + sentence + after
    span = SentenceSpan("s1", len(before), len(before) + len(sentence), sentence)
    source = ChunkSource("Title", "a.md", "A › B", sha256_hex("file"), start=at)
    return EvidenceChunk("d#c1", "d", text, sha256_hex(text), source, (span,))


def given_by(of: EvidenceChunk) -> Selector:
    """Return the selector of the one span of *of*, which must give one."""
    found = selector_of(of, of.spans[0])
    assert isinstance(found, Selector), found
    return found


@given(texts, texts, texts, st.integers(0, 10_000))
def test_every_offset_slices_out_the_sentence(
    before: str, sentence: str, after: str, at: int
) -> None:
    """Code points, UTF-8 bytes and UTF-16 units cut the same sentence, whatever it is made of."""
    assume(sentence.strip())
    of = chunk_with(before, sentence, after, at)
    found = given_by(of)
    utf8, utf16 = of.text.encode("utf-8"), of.text.encode("utf-16-le")
    assert utf8[found.utf8_start : found.utf8_end].decode("utf-8") == sentence
    assert utf16[2 * found.utf16_start : 2 * found.utf16_end].decode("utf-16-le") == sentence
    document = "\x01" * at + of.text
    assert document[found.position.start : found.position.end] == sentence
    assert found.quote.exact == sentence
    assert found.quote.prefix == before[-AROUND:]
    assert found.quote.suffix == after[:AROUND]
    assert found.sha256 == sha256_hex(sentence)
    assert locate(found, document) == Located(at + len(before), at + len(before) + len(sentence))
    assert locate_in(found, [of]) == locate(found, document)


def test_known_offsets() -> None:
    """One passage counted by hand: an astral character, a combining mark, CRLF, a zero width."""
    found = given_by(chunk_with("😀e\u0301\r\n", "\u200bשלום 𝒳.", "\r\n", 100))
    assert (found.position.start, found.position.end) == (105, 113)
    assert (found.utf8_start, found.utf8_end) == (9, 9 + 3 + 8 + 1 + 4 + 1)
    assert (found.utf16_start, found.utf16_end) == (6, 6 + 1 + 4 + 1 + 2 + 1)
    assert (found.quote.prefix, found.quote.suffix) == ("😀e\u0301\r\n", "\r\n")


@pytest.mark.parametrize(
    ("before", "after", "prefix", "suffix"),
    [
        ("", "", "", ""),
        ("a" * 31, "b" * 31, "a" * 31, "b" * 31),
        ("a" * 32, "b" * 32, "a" * 32, "b" * 32),
        ("z" + "a" * 32, "b" * 32 + "z", "a" * 32, "b" * 32),
    ],
)
def test_what_stands_around_is_cut_at_the_borders(
    before: str, after: str, prefix: str, suffix: str
) -> None:
    """Up to 32 code points of the passage on either side, and never any of another one's."""
    quote = given_by(chunk_with(before, SENTENCE, after)).quote
    assert (quote.prefix, quote.suffix) == (prefix, suffix)


BAD_SPANS = {
    "before the passage": SentenceSpan("s1", -1, 4, "abc "),
    "past the passage": SentenceSpan("s1", 0, 99, "abc def"),
    "empty": SentenceSpan("s1", 3, 3, ""),
    "backwards": SentenceSpan("s1", 4, 1, "bc "),
    "blank": SentenceSpan("s1", 3, 4, " "),
    "another quote": SentenceSpan("s1", 0, 3, "abd"),
    "a bool for a number": SentenceSpan("s1", False, 3, "abc"),
    "a float for a number": SentenceSpan("s1", 0, 3.0, "abc"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", BAD_SPANS)
def test_a_span_that_is_not_there_gives_no_selector(name: str) -> None:
    """It is said, not raised, and nothing is attached."""
    of = replace(chunk_with("", "abc", " def"), spans=(BAD_SPANS[name],))
    assert isinstance(selector_of(of, of.spans[0]), CannotLocate)
    assert isinstance(resolve(of, of.spans[0]), CannotLocate)
    assert located(of).spans[0].selector is None


def test_half_a_surrogate_pair_gives_no_selector() -> None:
    """Such a text has no UTF-8, so no place in it."""
    of = chunk_with("\ud83d", SENTENCE, "")
    assert isinstance(selector_of(of, of.spans[0]), CannotLocate)


def test_only_attached_spans_get_a_selector() -> None:
    """Of all results, what `best_evidence` names; other chunks are the very same objects."""
    bare = _bare(chunk())
    other = _bare(chunk(doc_id="other"))
    first, second = with_selectors([bare, other], [result(bare)])
    assert [span.selector is not None for span in first.spans] == [True, False]
    assert isinstance(resolve(first, first.spans[0]), Selector)
    assert second is other
    assert with_selectors([bare], []) == (bare,)


def test_a_wrong_selector_is_replaced() -> None:
    """What a chunk brings along does not stand for what it gives."""
    of = chunk()
    wrong = replace(of, spans=(replace(of.spans[0], selector=of.spans[1].selector), of.spans[1]))
    assert with_selectors([wrong], [result(of)]) == (of,)


def _bare(of: EvidenceChunk) -> EvidenceChunk:
    return replace(of, spans=tuple(replace(span, selector=None) for span in of.spans))


class _Agreeable(str):
    """A text that says of itself that it equals anything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


CHANGED = {
    "exact": lambda s: replace(s, quote=replace(s.quote, exact=s.quote.exact[:-1])),
    "prefix": lambda s: replace(s, quote=replace(s.quote, prefix="x")),
    "suffix": lambda s: replace(s, quote=replace(s.quote, suffix=s.quote.suffix[:-1])),
    "quote type": lambda s: replace(s, quote=replace(s.quote, type="TextSelector")),
    "start": lambda s: replace(s, position=replace(s.position, start=s.position.start + 1)),
    "end": lambda s: replace(s, position=replace(s.position, end=s.position.end - 1)),
    "start as a bool": lambda s: replace(s, position=replace(s.position, start=False)),
    "end as a float": lambda s: replace(s, position=replace(s.position, end=float(len(SENTENCE)))),
    "a page": lambda s: replace(s, fragment=FragmentSelector("page=1")),
    "section": lambda s: replace(s, section="Sick leave"),
    "digest": lambda s: replace(s, sha256=sha256_hex(OTHER)),
    "UTF-8 start": lambda s: replace(s, utf8_start=1),
    "UTF-8 end": lambda s: replace(s, utf8_end=s.utf8_end + 1),
    "UTF-16 start": lambda s: replace(s, utf16_start=-1),
    "UTF-16 end": lambda s: replace(s, utf16_end=0),
    "nothing": lambda s: None,
    "a text that agrees": lambda s: replace(s, section=_Agreeable("x")),
    "another object": lambda s: json.loads("{}"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_selector_is_what_its_chunk_gives_in_every_field(name: str) -> None:
    """One field, one type or one character away is not it."""
    of = chunk()
    span = of.spans[0]
    assert resolve(of, span) == span.selector
    changed = replace(span, selector=CHANGED[name](span.selector))
    assert isinstance(resolve(of, changed), CannotLocate)


def test_a_pdf_has_its_page_and_others_their_section() -> None:
    """RFC 8118 counts pages from 1; without a page there is no fragment."""
    of = chunk()
    paged = replace(of, source=replace(of.source, page=7))
    found = selector_of(paged, paged.spans[0])
    assert isinstance(found, Selector)
    assert found.fragment == FragmentSelector("page=7")
    assert given_by(of).fragment is None
    assert found.section == given_by(of).section == "Annual leave"


# ------------------------------------------------------------------ in a document of today

PAGE = f"Leave.\n{SENTENCE} {OTHER}\n{SENTENCE} Bring a towel. {SENTENCE}"
letters = st.text(alphabet=string.ascii_lowercase + " .7\n", max_size=12)


def _second() -> Selector:
    """Return the selector of the second of three equal sentences in `PAGE`."""
    start = PAGE.index(SENTENCE, 20)
    return given_by(chunk_with("", SENTENCE, " Bring a towel.", start))


@examples(500)
@given(st.lists(st.tuples(st.integers(0, len(PAGE)), st.integers(0, 40), letters), max_size=4))
def test_after_any_edit_it_is_the_same_sentence_in_its_place_or_none(
    edits: list[tuple[int, int, str]],
) -> None:
    """Whatever is cut and put in, what is returned is exact, and so is what stands around it."""
    selector, text = _second(), PAGE
    for place, length, put in edits:
        text = text[:place] + put + text[place + length :]
    found = locate(selector, text)
    quote, place = selector.quote, selector.position
    there = text[place.start - len(quote.prefix) : place.end + len(quote.suffix)]
    if isinstance(found, Located):
        assert text[found.start : found.end] == SENTENCE
        assert (found.start, found.end) == (place.start, place.end)
        assert text[: found.start].endswith(quote.prefix)
        assert text[found.end :].startswith(quote.suffix)
    else:
        assert there != quote.prefix + quote.exact + quote.suffix
        assert found.reason


@given(st.integers(0, PAGE.index(SENTENCE, 20)), letters.filter(bool))
def test_a_twin_elsewhere_is_not_taken_for_it(place: int, put: str) -> None:
    """Moved by an insertion before it, it is lost, though its words stand twice at least."""
    moved = PAGE[:place] + put + PAGE[place:]
    assert moved.count(SENTENCE) >= 2
    assert isinstance(locate(_second(), moved), CannotLocate)


EDITED = {
    "unchanged": (PAGE, ""),
    "changed far behind it": (PAGE[:-4] + "week", ""),
    "one letter in it": (PAGE.replace("27", "28"), "other words"),
    "one letter before it": (PAGE.replace("Leave.", "Leaves."), "other words"),
    "what stands behind it": (PAGE.replace("towel", "spoon"), "around it"),
    "cut off before it": (PAGE[:40], "nothing stands"),
    "cut off in it": (PAGE[: PAGE.index(SENTENCE, 20) + 9], "other words"),
    "empty": ("", "nothing stands"),
    "another normal form": (PAGE.replace("Full-time", "Full\u2010time"), "other words"),
}


@pytest.mark.parametrize("name", EDITED)
def test_why_it_cannot_be_located_is_said(name: str) -> None:
    """One reason each, and the two ways to look for it agree."""
    text, reason = EDITED[name]
    found = locate(_second(), text)
    source = ChunkSource("T", "a.md", "", sha256_hex(text))
    whole = EvidenceChunk("d#c1", "d", text, sha256_hex(text), source, ())
    assert locate_in(_second(), [whole]) == found
    if reason:
        assert isinstance(found, CannotLocate)
        assert reason in found.reason
    else:
        assert isinstance(found, Located)


HOSTILE = {
    "negative": lambda s: replace(s, position=replace(s.position, start=-80, end=-10)),
    "backwards": lambda s: replace(s, position=replace(s.position, start=s.position.end, end=0)),
    "longer than its words": lambda s: replace(s, position=replace(s.position, end=9999)),
    "a bool": lambda s: replace(s, position=replace(s.position, start=True)),
    "a prefix that does not fit": lambda s: replace(s, quote=replace(s.quote, prefix="x" * 999)),
    "another digest": lambda s: replace(s, sha256="0" * 64),
    "no words": lambda s: replace(
        s,
        quote=replace(s.quote, exact=""),
        position=replace(s.position, end=s.position.start),
        sha256=sha256_hex(""),
    ),
    "far away": lambda s: replace(
        s,
        position=replace(s.position, start=2**52, end=2**52 + len(SENTENCE)),
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_selector_that_contradicts_itself_is_nowhere(name: str) -> None:
    """It is refused before anything is compared, and costs nothing."""
    hostile = HOSTILE[name](_second())
    assert isinstance(locate(hostile, PAGE), CannotLocate)
    assert isinstance(locate_in(hostile, [chunk_with("", PAGE, "")]), CannotLocate)


def test_a_document_is_known_as_far_as_its_chunks_go() -> None:
    """Between chunks, in a hidden sentence and where two chunks differ, nothing is found."""
    selector = _second()
    start, end = selector.position.start, selector.position.end
    before, there = chunk_with("", PAGE[:start], ""), chunk_with("", PAGE[start:], "", start)
    assert locate_in(selector, [there, before]) == Located(start, end)
    assert locate_in(selector, [before]) == CannotLocate("nothing stands in its place")
    cut = chunk_with("", PAGE[start : end + 3], "", start)
    assert locate_in(selector, [cut]) == CannotLocate("the words around it are others")
    twice = chunk_with("", "xyz", "", end - 3)
    assert "two ways" in str(locate_in(selector, [there, twice]))
    hidden = replace(there, spans=(replace(there.spans[0], visible=False),))
    assert "cannot see" in str(locate_in(selector, [hidden]))


FILES = {
    "notes.md": f"# Leave\n\n## Annual leave\n\nWelcome 😀. {SENTENCE} {OTHER}\n".encode(),
    "notes.txt": f"Welcome 😀.\r\n\r\n{SENTENCE}\r\n{OTHER}\r\n".encode(),
    "notes.html": f"<h1>Leave</h1><p>Welcome 😀. {SENTENCE}</p><p>{OTHER}</p>".encode(),
    "notes.csv": f"name,text\r\na,{SENTENCE}\r\nb,{OTHER}\r\n".encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_every_sentence_of_a_read_file_is_located_in_its_text(name: str) -> None:
    """Chunked small, so that chunks begin anywhere: document, chunks and selectors agree."""
    document = load_document(FILES[name], path=name, limits=Limits())
    chunks = chunk_document(document, sentence_splitter(), max_words=12, max_spans=1)
    seen = 0
    for of in chunks:
        for span in of.spans:
            found = selector_of(of, span)
            assert isinstance(found, Selector)
            where = locate(found, document.text)
            assert isinstance(where, Located)
            assert document.text[where.start : where.end] == span.sentence
            assert locate_in(found, chunks) == where
            seen += 1
    assert seen >= 2


def test_the_record_carries_it_and_keeps_it() -> None:
    """Signed, read back and derived again, a selector is the same; bare spans have no such key."""
    of = chunk()
    bare = replace(of, spans=(of.spans[0], replace(of.spans[1], selector=None)))
    case = replace(good_case(), chunks={bare.chunk_id: bare})
    spans = json.loads(export(record(case)))["retrieval"]["chunks"][0]["spans"]
    assert spans[0]["selector"]["quote"] == {
        "exact": SENTENCE,
        "prefix": "",
        "suffix": f" {OTHER}"[:AROUND],
        "type": "TextQuoteSelector",
    }
    assert spans[0]["selector"]["fragment"] is None
    assert "selector" not in spans[1]
