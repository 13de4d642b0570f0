"""Is a text one checkable, self-contained statement? The gate asks again before any badge.

Deterministic and total: any string gets an answer, in time linear in its length.
"""

from __future__ import annotations

import re
from typing import Final

from certirag.claims.clauses import joins_clauses
from certirag.claims.self_contained import pointing_words, second_sentence
from certirag.claims.split import is_table_row, split_claims
from certirag.text.tokens import clause_verb, finite_verb, tokenize
from certirag.text.word_classes import is_verb_form

# Beyond this length a text is refused as too long without being read further.
MAX_CHARACTERS: Final = 4000

_GREETING: Final = re.compile(
    r"(?:hi|hello|hey|dear|welcome|good (?:morning|afternoon|evening|day|to |luck|question)|"
    r"thanks|thank you|many thanks|you're welcome|sure|certainly|of course|absolutely|great|"
    r"congratulations|happy to|glad to|sorry|apologies|cheers|best regards|kind regards|regards|"
    r"yours|enjoy|have a|okay|ok|yes|no)\b[^.]{0,80}[!.,:]?$",
    re.IGNORECASE,
)
_META: Final = re.compile(
    r"(?:here(?:'s| is| are)|below (?:is|are)|above (?:is|are)|the following|this (?:answer|summary|"
    r"response|overview) (?:is|covers|was|summari[sz]es|lists)|these are the|i (?:hope|have|will|can|"
    r"would|could|am|was|do not|don't|cannot|can't|found|could not)|i'm|i've|i'll|let's|let us|let me|"
    r"in (?:summary|short|conclusion|brief)[,:]?$|to (?:sum up|summari[sz]e)|as an ai|"
    r"hope (?:this|that)|based on the (?:documents|context|information)(?: provided)?[,:]?$)\b",
    re.IGNORECASE,
)
_READER: Final = re.compile(
    r"(?:please )?(?:let me know|feel free|do not hesitate|don't hesitate|contact me|ask me|"
    r"tell me|reach out|click here|see below|see above|read on|keep in mind|remember|note|"
    r"stay tuned|let me)\b[^0-9]{0,200}$",
    re.IGNORECASE,
)
_OPINION: Final = re.compile(
    r"(?:i|we) (?:personally )?(?:think|find|believe|feel|guess|suppose|recommend|suggest|would|"
    r"advise|love|like|hope)\b|in (?:my|our) (?:view|opinion|experience)\b|personally,? i\b|"
    r"(?:to be honest|frankly)\b|(?:perhaps |maybe )?you (?:should|might want to|may want to|could|"
    r"might) (?:also )?(?:consider|think|try|want|look|ask)\b|it(?:'s| is| would be) (?:always )?(?:a |"
    r"an )?(?:good|great|bad|wise|best|nice|smart|excellent|better|worth)\b|"
    r"that(?:'s| is| sounds) (?:a )?(?:good|great|nice|excellent)\b",
    re.IGNORECASE,
)
_PRAISE: Final = re.compile(
    r"\b(?:great|amazing|wonderful|fantastic|awesome|lovely|impressive|excellent|generous|"
    r"a good idea|a bad idea|worth it|exciting|unfortunate|sad|happy)[.!]*$",
    re.IGNORECASE,
)


def problems(text: str, *, max_tokens: int, quoted: bool = False) -> tuple[str, ...]:
    """Return the reasons why *text* is not one well-formed claim, () when it is.

    Each reason begins with ``not_checkable:``, ``not_self_contained:``, ``not_atomic:`` or
    ``too_long:``. *max_tokens* counts words between blanks. What is *quoted* word for word from one
    place may state several facts: the source states each of them.
    """
    stripped = text.strip()
    words = stripped.split()
    if len(words) > max_tokens or len(stripped) > MAX_CHARACTERS:
        count = f"{len(words)} words and {len(stripped)} characters"
        return (f"too_long: {count}, the limit is {max_tokens} words",)
    labelled = quoted and re.match(r"[^:]{2,200}: \S", stripped)
    unfit = "" if labelled and not stripped.endswith(("?", ":")) else _not_checkable(stripped)
    if unfit:
        return (f"not_checkable: {unfit}",)
    if is_table_row(stripped):
        return ()
    found: list[str] = []
    pointing = pointing_words(stripped)
    if pointing:
        found.append(f"not_self_contained: “{pointing}” points at another sentence")
    several = "" if quoted else _not_atomic(stripped)
    if several:
        found.append(f"not_atomic: {several}")
    return tuple(found)


def _not_checkable(text: str) -> str:
    """Return why *text* states nothing that evidence could bear out, or ""."""
    if not any(c.isalnum() for c in text):
        return "there is no statement"
    plain = text.strip("*_# \t“”\"'")
    if plain.rstrip(")”\"' ").endswith("?"):
        return "it is a question"
    if is_table_row(plain):
        return ""
    courteous = _GREETING.match(plain) and len(plain.split()) <= 9
    if courteous and clause_verb(tokenize(plain)) < 1 and not re.search(r"\d", plain):
        return "it is a greeting or a courtesy"
    if _READER.match(plain):
        return "it speaks to the reader and states nothing"
    if _OPINION.match(plain):
        return "it is an opinion or a recommendation"
    if _META.match(plain):
        return "it speaks about the answer itself"
    if plain.endswith(":"):
        return "it introduces what follows"
    if _PRAISE.search(plain) and not re.search(r"\d", plain):
        return "it is a judgement of taste"
    if _is_fragment(plain):
        return "it is a heading or a fragment without a verb"
    return ""


def _is_fragment(text: str) -> bool:
    tokens = [t for t in tokenize(text) if t.text[:1].isalnum()]
    if not tokens:
        return True
    if re.match(r"[^:]{2,60}: \S", text) and any(c.isdigit() for c in text):
        return False
    if not text.endswith((".", "!", ";")) and len(tokens) <= 8:
        return finite_verb(tokens) < 1  # "Water damage": a noun that could be a verb form
    rest = tokens if tokens[0].lower in {"is", "are"} else tokens[1:]
    if any(is_verb_form(t.lower) and not t.text[:1].isupper() for t in rest):
        return False
    if is_verb_form(tokens[0].lower) and len(tokens) > 2 and text.endswith("."):
        return False  # an instruction: "Call the emergency line first."
    if text.endswith(".") and len(tokens) >= 6:
        return False  # a full sentence whose verb is not on the list
    guess = any(t.lower.endswith(("s", "ed")) and t.text.islower() for t in rest)
    return not (text.endswith((".", "!")) and guess)


def _not_atomic(text: str) -> str:
    """Return why *text* states more than one fact, or ""."""
    if second_sentence(text) < len(text):
        return "it is more than one sentence"
    if "\n" in text.strip():
        return "it runs over several lines"
    pieces = split_claims(text)
    if len(pieces) > 1:
        return f"it states {len(pieces)} facts"
    if joins_clauses(tokenize(text)):
        return "it joins two statements"
    return ""
