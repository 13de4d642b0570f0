"""Text from outside → inert text: one filter and one drawing path for every untrusted string.

`visible` replaces what cannot be seen or imitates our mark by ``⟨U+XXXX⟩`` or ``⟨word⟩``, in
the view only: hashes and offsets stay on the raw text. `inert_html` escapes the rest.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from confusable_homoglyphs import confusables

# Characters drawn as nothing although their category is not "format" (UTS #39, technique of
# default-ignorable code points), and the braille blank.
_UNSEEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800")
_UNSEEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
# Look-alikes of the badge's marks: check marks, ballot boxes, shields, seals, coloured dots.
_MARKS: Final = frozenset("✓✔✅☑🗹🗸√⍻⎷∨✗✘❌❎☒⚠🛡🔒🟢🟩💚🔏🔐🏅🎖⭕🆗👍💯➰🗳🟰🆗✪⭐🌟🔰🉐")
_STATUS_WORDS: Final = ("verified", "unverified", "contradicted", "certified")
_WORD: Final = re.compile(r"[^\W_](?:[\w\u200b-\u200f'’]*[^\W_])?")
_SPACED: Final = re.compile(r"\b(?:[^\W\d_][ .\-_·*]){5,12}[^\W\d_]\b")
MAX_LINES: Final = 60


def visible(text: str) -> str:
    """Return *text* with unseen characters and imitations of a badge made plain to see."""
    spelled = _WORD.sub(lambda match: _spelled(match.group()), text)
    spelled = _SPACED.sub(lambda match: _spelled(match.group(), squeeze=True), spelled)
    return "".join(_shown(character) for character in spelled)


def oddities(text: str) -> tuple[str, ...]:
    """Say in plain words what `visible` changed in *text*, one line per kind."""
    found = []
    unseen = sum(_unseen(c) for c in text)
    if unseen:
        found.append(f"{unseen} characters that cannot be seen or reorder text are marked")
    if any(c in _MARKS for c in text):
        found.append("check marks or seals inside this text are quoted, not ours")
    if any(_imitates(m.group()) for m in _WORD.finditer(text)) or any(
        _imitates(m.group(), squeeze=True) for m in _SPACED.finditer(text)
    ):
        found.append("a status word inside this text is quoted, not a badge")
    return tuple(found)


def inert_html(text: str, *, max_lines: int = MAX_LINES) -> str:
    """Return HTML that shows *text* as it is: nothing in it is markup, link, image or style."""
    lines = visible(text).split("\n")
    if len(lines) > max_lines:
        lines = [*lines[:max_lines], f"… ({len(lines) - max_lines} more lines)"]
    return html.escape("\n".join(lines), quote=True)


def highlight_html(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return inert HTML of *text* with the code-point ranges *spans* in ``<mark>``.

    Ranges that overlap, are empty or leave the text are not drawn: a wrong highlight is false
    evidence.
    """
    parts, at = [], 0
    for start, end in sorted(spans):
        if not at <= start < end <= len(text):
            continue
        parts.append(inert_html(text[at:start], max_lines=10_000))
        parts.append(f"<mark>{inert_html(text[start:end], max_lines=10_000)}</mark>")
        at = end
    parts.append(inert_html(text[at:], max_lines=10_000))
    return "".join(parts)


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


def _spelled(word: str, *, squeeze: bool = False) -> str:
    if not _imitates(word, squeeze=squeeze):
        return word
    shown = "".join(c if c.isascii() else f"⟨U+{ord(c):04X}⟩" for c in word)
    return f"⟨{shown}⟩"


def _imitates(word: str, *, squeeze: bool = False) -> bool:
    """Say whether *word* reads as one of our status words, unless it is plain lower case."""
    if not 8 <= len(word) <= 60 or (word.isascii() and word.islower() and not squeeze):
        return False
    letters = [c for c in unicodedata.normalize("NFKD", word) if not _unseen(c)]
    letters = [c for c in letters if not unicodedata.combining(c)]
    if squeeze:
        letters = [c for c in letters if c.isalnum()]
    return any(
        len(letters) == len(status)
        and all(c in _look_alikes(s) for c, s in zip(letters, status, strict=True))
        for status in _STATUS_WORDS
    )


@lru_cache(maxsize=32)
def _look_alikes(letter: str) -> frozenset[str]:
    """Return the characters that can be taken for *letter*, after UTS #39's confusables.

    "i" and "l" are one class there (I, l, 1 and | look alike), and "3" is often put for "e".
    """
    forms = {letter, letter.upper()} | (set("lI1|!") if letter == "i" else set())
    forms |= {"3"} if letter == "e" else set()
    found = set(forms)
    for form in forms:
        found |= {entry["c"] for entry in confusables.confusables_data.get(form, [])}
    return frozenset(c for c in found if len(c) == 1)
