"""Text from outside → inert text: one filter and one drawing path for every untrusted string.

`visible` replaces what cannot be seen or imitates our mark by ``⟨U+XXXX⟩`` or ``⟨word⟩``, in
the view only: hashes and offsets stay on the raw text. `inert_html` escapes the rest.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from confusable_homoglyphs import confusables

from certirag.core.said import said, said_n

# Characters drawn as nothing although their category is not "format" (UTS #39, technique of
# default-ignorable code points), and the braille blank.
_UNSEEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800")
_UNSEEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
# Look-alikes of the badge's marks: check marks, ballot boxes, shields, seals, coloured dots.
_MARKS: Final = frozenset("✓✔✅☑🗹🗸√⍻⎷∨✗✘❌❎☒⚠🛡🔒🟢🟩💚🔏🔐🏅🎖⭕🆗👍💯➰🗳🟰🆗✪⭐🌟🔰🉐ꪜ")
# Looked for at every letter: the one before a status word may seem to begin a longer one ("run Verified").
_STATUS: Final = ("unverified", "verified", "contradicted", "certified")
_STATUS_ELSEWHERE: Final = ("unbelegt", "belegt", "widersprochen")  # as `badge` has them
# Beside what UTS #39 calls confusable: digits, and small letters drawn as a Latin capital is.
_PUT_FOR: Final = {
    "i": "lI1|!",
    "e": "3",
    "o": "0",
    "t": "7тτ",
    "s": "5",
    "b": "8ßβв",
    "g": "69",
    "h": "н",
    "n": "п",
}
_DIGIT: Final = re.compile(r"[\d|!]")
# Enclosed letters, small capitals, letters with a stroke: what Unicode names after one Latin letter.
_NAMED: Final = re.compile(
    r"(?:.* )?(?:LATIN (?:CAPITAL |SMALL )?LETTER|REGIONAL INDICATOR SYMBOL LETTER) "
    r"(?:SMALL CAPITAL |TURNED )?([A-Z])(?: WITH .*)?"
)
_SPREAD: Final = 5  # so many gaps between letters, and even lower case is no ordinary word
MAX_LINES: Final = 60
MAX_QUOTE: Final = 160


def shortened(text: str, most: int = MAX_QUOTE) -> str:
    """Return *text*, the end of a long one cut off and marked."""
    return text if len(text) <= most else f"{text[:most].rstrip()}…"


def visible(text: str) -> str:
    """Return *text* with unseen characters and imitations of a badge made plain to see."""
    return "".join(visible_characters(text))


def visible_characters(text: str) -> tuple[str, ...]:
    """Return what each character of *text* is shown as: a cut hides no imitation across it."""
    shown = [_shown(character) for character in text]
    for start, end in _imitations(text):
        for at in range(start, end):
            if not text[at].isascii():
                shown[at] = f"⟨U+{ord(text[at]):04X}⟩"
        shown[start], shown[end - 1] = f"⟨{shown[start]}", f"{shown[end - 1]}⟩"
    return tuple(shown)


def oddities(text: str) -> tuple[str, ...]:
    """Say in plain words what `visible` changed in *text*, one line per kind."""
    found: list[str] = []
    unseen = sum(_unseen(c) for c in text)
    if unseen:
        found.append(
            said("{count} characters that cannot be seen or reorder text are marked", count=unseen)
        )
    if any(c in _MARKS for c in text):
        found.append(said("check marks or seals inside this text are quoted, not ours"))
    if _imitations(text):
        found.append(said("a status word inside this text is quoted, not a badge"))
    return tuple(found)


def inert_html(text: str, *, max_lines: int = MAX_LINES, told: Callable[[str], str] = str) -> str:
    """Return HTML that shows *text* as it is: nothing in it is markup, link, image or style.

    *told* says in the language of the reader how much was cut off.
    """
    lines = visible(text).split("\n")
    if len(lines) > max_lines:
        more = said_n("{n} more line", "{n} more lines", len(lines) - max_lines)
        lines = [*lines[:max_lines], f"… ({told(more)})"]
    return html.escape("\n".join(lines), quote=True)


def highlight_html(
    text: str, spans: Sequence[tuple[int, int]], differing: Sequence[tuple[int, int]] = ()
) -> str:
    """Return inert HTML of *text* with the code-point ranges *spans* in ``<mark>``.

    The ranges *differing* are set in ``<strong>``, inside a mark or outside of all. Ranges that
    overlap, are empty, leave the text or cross the edge of a mark are not drawn: a wrong highlight
    is false evidence.
    """
    parts, at, shown = [], 0, visible_characters(text)
    for start, end in sorted(spans):
        if not at <= start < end <= len(text):
            continue
        parts.append(_differing_html(shown, at, start, differing))
        parts.append(f"<mark>{_differing_html(shown, start, end, differing)}</mark>")
        at = end
    parts.append(_differing_html(shown, at, len(text), differing))
    return "".join(parts)


def _differing_html(
    shown: Sequence[str], start: int, end: int, differing: Sequence[tuple[int, int]]
) -> str:
    parts, at = [], start
    for first, last in sorted(differing):
        if not at <= first < last <= end:
            continue
        parts.append(inert_slice(shown, at, first))
        parts.append(f'<strong class="cr-differs">{inert_slice(shown, first, last)}</strong>')
        at = last
    parts.append(inert_slice(shown, at, end))
    return "".join(parts)


def inert_slice(shown: Sequence[str], start: int, end: int) -> str:
    """Return a part of *shown*, which are `visible_characters`, as inert HTML."""
    return html.escape("".join(shown[start:end]), quote=True)


def _shown(character: str) -> str:
    if character in "\n\t" or not (_unseen(character) or character in _MARKS):
        return character
    return f"⟨U+{ord(character):04X}⟩"


def _unseen(character: str) -> bool:
    if character in "\n\t":
        return False
    return (
        character in _UNSEEN
        or unicodedata.category(character) in _UNSEEN_CATEGORIES
        or "\ufe00" <= character <= "\ufe0f"
        or "\U000e0100" <= character <= "\U000e01ef"
    )


def _imitations(text: str) -> list[tuple[int, int]]:
    """Return where *text* reads as one of our status words, whatever it is written with.

    Marks, unseen characters, blanks and punctuation between the letters count for nothing; that
    the word stands by itself, for something. Plain lower case in one piece is an ordinary word.
    """
    letters: list[str] = []
    places: list[int] = []
    apart = [True]
    for place, character in enumerate(text):
        read = _read_as(character)
        if read == " ":
            apart[-1] = True
        for letter in read.strip(" "):
            # A stroke or digit beside the word ends it, one inside may stand for a letter.
            beside = text[places[-1]] if places else ""
            apart[-1] |= bool(_DIGIT.match(character) or _DIGIT.match(beside))
            letters.append(letter)
            places.append(place)
            apart.append(False)
    apart[-1] = True
    found: list[tuple[int, int]] = []
    for match in _status().finditer("".join(letters)):
        first, last = match.span(1)
        start, end = places[first], places[last - 1] + 1
        word = text[start:end]
        gaps = sum(apart[first + 1 : last])
        plain = word.isascii() and word.islower() and gaps < _SPREAD and not _DIGIT.search(word)
        inside = bool(found) and start < found[-1][1]
        if apart[first] and apart[last] and not plain and not inside:
            found.append((start, end))
    return found


@lru_cache(maxsize=4096)
def _read_as(character: str) -> str:
    """Return the letters that *character* is read as, " " for a gap, "" for what is not seen.

    A letter of no status word is itself; the end of a line is read as one.
    """
    known = _look_alikes()
    if character in known:
        return known[character]
    if _unseen(character) or unicodedata.combining(character):
        return ""
    named = _NAMED.fullmatch(unicodedata.name(character, ""))
    if named:
        return named[1].lower()
    plain = unicodedata.normalize("NFKD", character)
    if plain != character:
        return "".join(map(_read_as, plain)) or " "
    if character == "\n":
        return character
    # A modifier that is no letter by itself ("ː") only stands beside one.
    own = character.isalpha() and unicodedata.category(character) != "Lm"
    return character.lower() if own else " "


@lru_cache(maxsize=1)
def _status() -> re.Pattern[str]:
    """Return what finds a status word among letters as they are read: an l may be read as an i."""
    words = "|".join((*_STATUS, *_STATUS_ELSEWHERE)).replace("l", "[il]")
    return re.compile(f"(?=({words}))")


@lru_cache(maxsize=1)
def _look_alikes() -> dict[str, str]:
    """Return the letter of a status word that each of its look-alikes is taken for (UTS #39)."""
    found: dict[str, str] = {}
    first = sorted(set("".join(_STATUS)))
    for letter in dict.fromkeys([*first, *sorted("".join(_STATUS_ELSEWHERE))]):
        for form in (letter, letter.upper(), *_PUT_FOR.get(letter, "")):
            found.setdefault(form, letter)
            for entry in confusables.confusables_data.get(form, []):
                if len(entry["c"]) == 1:
                    found.setdefault(entry["c"], letter)
    return found
