"""Does the document itself say a sentence? What stands around it may quote it, ask it or list it.

Only what is exact is decided here: a quotation that is still open, a question mark, a list under a
line that ends in a colon, and a heading that names one of two things which the title sets side by
side. What needs reading ("Rejected motions", a correction in the next sentence) is the network's.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

from certirag.claims.lists import LEFT_OUT
from certirag.ports import Pair
from certirag.verification.candidates import content_words

_MARKS: Final = {"“": "”", "«": "»", "„": "“"}
_ENDS: Final = " \"')]»”’"


def reservations(pair: Pair) -> list[str]:
    """Return why the document may not assert the evidence of *pair*, in plain words; [] if it does.

    A claim that carries the frame itself (its marks, its lead-in, its heading) is left alone.
    """
    found = []
    sentences = [one for one in pair.evidence.splitlines() if one.strip()]
    if any(one.rstrip(_ENDS).endswith("?") for one in sentences):
        found.append("the passage asks and does not say")
    for sentence in sentences:
        before = pair.window.partition(sentence)[0] if sentence in pair.window else ""
        if _is_open(before):
            found.append("it stands in a quotation")
        lead = _lead_in(before)
        if lead and not content_words(lead) <= content_words(pair.claim):
            found.append(f"it stands in a list under “{lead}”")
    rival = _rival(pair)
    if rival:
        found.append(f"the passage stands under “{rival}”")
    return found


def drops_items(pair: Pair) -> bool:
    """Say whether the evidence is a part of a list, and the claim does not show that.

    "All of these are needed: a ticket" is not what a list says that names a passport too, nor what
    a document says that speaks of a ticket elsewhere.
    """
    window, said = pair.window.split("\n"), pair.evidence.splitlines()
    for number, lead in enumerate(said):
        if not pair.window or not lead.endswith(":"):
            continue
        at = next((n for n, line in enumerate(window) if line.endswith(lead)), len(window))
        items = list(takewhile(bool, window[at + 1 :]))
        if any(not any(line in item for item in items) for line in said[number + 1 :]):
            return True
        if LEFT_OUT not in pair.claim and any(item not in pair.evidence for item in items):
            return True
    return False


def _is_open(before: str) -> bool:
    """Say whether a quotation that begins in *before* has not ended there."""
    closed = any(before.count(mark) > before.count(end) for mark, end in _MARKS.items())
    return closed or before.count('"') % 2 == 1


def _lead_in(before: str) -> str:
    """Return the line ending in a colon under which the next line of a list stands, or ""."""
    if not before.endswith("\n"):
        return ""
    lines = before.rstrip("\n").split("\n")
    for line in reversed(lines):
        if line.endswith(":"):
            return re.split(r"(?<=[.!?])\s", line)[-1]
        if len(line.split()) > _LONGEST_ITEM:
            return ""
    return ""


_LONGEST_ITEM: Final = 25  # words; a longer line is a paragraph and ends the list


def _rival(pair: Pair) -> str:
    """Return the innermost heading where it names one thing of the title and the claim another."""
    title, _, rest = pair.context.partition(" › ")
    heading = rest.rpartition(" › ")[2]
    own, both, claim = map(content_words, (heading, title, pair.claim))
    other = (both & claim) - own - content_words(pair.evidence)
    return heading if own & both - claim and other else ""
