"""Text from outside is drawn as text: nothing in it is markup, nothing in it is our mark."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from gate_cases import CLAIM, TRUSTED, export, good_case, record
from hypothesis import given
from hypothesis import strategies as st

from certirag.core.text import EvidenceChunk
from certirag.render import (
    Mode,
    highlight_html,
    inert_html,
    oddities,
    present,
    presentation_html,
    presentation_text,
    visible,
)

ATTACKS = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[2] / "fixtures/attacks/strings.jsonl")
    .read_text("utf-8")
    .splitlines()
]
any_text = st.text(st.characters(codec=None))


class _Tags(HTMLParser):
    """Collects the tags of a fragment and its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def _parsed(fragment: str) -> _Tags:
    parser = _Tags()
    parser.feed(fragment)
    parser.close()
    return parser


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["id"])
def test_an_attack_is_shown_as_text(attack: dict) -> None:
    """No tag comes out of it, and what is read is what `visible` says."""
    parsed = _parsed(inert_html(attack["text"], max_lines=10**6))
    assert parsed.tags == []
    assert parsed.text == visible(attack["text"])


@given(any_text)
def test_no_text_makes_a_tag(text: str) -> None:
    """Whatever the text, the HTML parser sees characters only."""
    parsed = _parsed(inert_html(text, max_lines=10**6))
    assert parsed.tags == []
    assert parsed.text == visible(text)


@given(any_text)
def test_nothing_unseen_remains(text: str) -> None:
    """No control, format, private or unassigned character and no mark of ours is left."""
    shown = visible(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\ufeff]", shown)
    assert not set(shown) & set("✅✔☑✓⚠❌")


@pytest.mark.parametrize(
    "word",
    [
        "Verified",
        "VERIFIED",
        "Vеrified",
        "V\u200berified",
        "Ｖｅｒｉｆｉｅｄ",
        "𝐕𝐞𝐫𝐢𝐟𝐢𝐞𝐝",
        "VΕRΙFIED",
        "Ver1f1ed",
        "V e r i f i e d",
        "v e r i f i e d",
        "Verifiedː",
        "Veriﬁed",
        "Veri\u200afied",
        "VERI FIED",
        "Ver-ified",
        "Ver|f|ed",
        "🆅🅴🆁🅸🅵🅸🅴🅳",
        "🅥🅔🅡🅘🅕🅘🅔🅓",
        "ⓥⓔⓡⓘⓕⓘⓔⓓ",
        "🇻🇪🇷🇮🇫🇮🇪🇩",
        "ᵛᵉʳⁱᶠⁱᵉᵈ",
        "ᴠᴇʀɪꜰɪᴇᴅ",
        "Ꮩerified",
        "Ⅴerified",
        "V̲e̲r̲i̲f̲i̲e̲d̲",
        "ver1fied",
        "C0ntradicted",
        "Contradicted",
        "Unverified",
        "Belegt",
        "BELEGT",
        "Be1egt",
        "B e l e g t",
        "Bеlegt",
        "8elegt",
        "ßelegt",
        "Bele9t",
        "BELE67",
        "Bеlеgт",
        "Belegτ",
        "uпbelegt",
        "Belegt1",
        "Verified3",
        "Unbelegt",
        "Widersprochen",
    ],
)
def test_a_status_word_is_bracketed_and_reported(word: str) -> None:
    """A word that reads as one of our states is marked as quoted."""
    assert visible(word).startswith("⟨")
    assert oddities(word)


@pytest.mark.parametrize(
    "text",
    [
        "The lab verified the samples.",
        "Das ist belegt, die Belege stehen im Anhang; belegte Zimmer.",
        "27 days of leave",
        "naïve café",
        "Ελλάδα",
        "日本語",
        "Recertified and preverified pumps; a verifier, two certificates.",
        "The line ends in veri-\nfied data.",
        "5 V. Eric fled, V | E | R | I",
    ],
)
def test_ordinary_text_is_untouched(text: str) -> None:
    """Prose, accents and other scripts are shown as they are, without a remark."""
    assert visible(text) == text
    assert oddities(text) == ()


@pytest.mark.parametrize(
    "text", ["|Verified|", "Verified!", "“Verified”", "Status:Verified.", "Run Verified"]
)
def test_the_word_is_found_beside_punctuation(text: str) -> None:
    """What stands around the word is no part of it."""
    assert "⟨Verified⟩" in visible(text)


@given(any_text, st.integers(-5, 50), st.integers(-5, 50))
def test_a_highlight_marks_exactly_the_range_or_nothing(text: str, start: int, end: int) -> None:
    """The text stays whole; a range outside of it is not drawn."""
    parsed = _parsed(highlight_html(text, [(start, end)]))
    sound = 0 <= start < end <= len(text)
    assert parsed.tags == (["mark"] if sound else [])
    if not sound:
        assert parsed.text == visible(text)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["id"])
def test_a_hostile_export_draws_one_badge_per_claim(attack: dict) -> None:
    """In HTML and in the terminal, the only badges are those that the gate gave."""
    case = good_case()
    of: EvidenceChunk = next(iter(case.chunks.values()))
    hostile = {**vars_of(of), "source": {**vars_of(of.source), "title": attack["text"]}}
    chunk = EvidenceChunk(**{**hostile, "source": type(of.source)(**hostile["source"])})
    claim = type(CLAIM)(**{**vars_of(CLAIM), "text": attack["text"]})
    spoiled = type(case)(claim, case.result, {chunk.chunk_id: chunk}, case.policy)
    shown = present(export(record(spoiled)), Mode.DEBUG, trusted=TRUSTED)
    assert presentation_html(shown).count("✅") == 0
    assert presentation_text(shown).count("✅") == 0
    assert "\x1b" not in presentation_text(shown)
    assert "<img" not in presentation_html(shown)


def vars_of(value: object) -> dict:
    """Return the fields of a slotted dataclass."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}  # type: ignore[attr-defined]


def test_a_cut_through_a_status_word_hides_nothing() -> None:
    """Half of an imitation inside a highlight and half outside is still made plain."""
    assert highlight_html("VERIFIED", [(0, 4)]) == "<mark>⟨VERI</mark>FIED⟩"
