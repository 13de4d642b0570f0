"""The five verdicts from what was measured: one pure decision tree (fifth seed, Stage 4, Gap 4).

is any candidate span about the topic?  no  → NEI
does the evidence state all of it, as surely as evidence must to be attached, and no question differ?
                                                             → SUPPORTED
does it state the contrary, or answer a question otherwise?  → CONTRADICTED
does it state a part, or leave a question open?              → PARTIAL
otherwise                                                    → UNSUPPORTED
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from certirag.core.verdict import VERDICT_OF_LABEL, Label, Outcome, Verdict
from certirag.verify.sufficient import ATTACH_TARGET

# A span that shares at least this part of a claim's content words is about its topic.
TOPIC_SHARE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Opinion:
    """All that the verdict on one claim rests on.

    *label* is the verifier's, of the attached set or of what opposes it, and *score* its support;
    *topical* says whether any candidate span reaches `TOPIC_SHARE`; *parts* are the labels of the
    claim's parts, where it was taken apart; *questions* what came of the questions put to the
    evidence.
    """

    label: Label
    score: float | None
    topical: bool
    parts: tuple[Label, ...] = ()
    questions: tuple[Outcome, ...] = ()


def verdict_of(opinion: Opinion, *, nei: bool = True) -> Verdict:
    """Return the verdict on one claim; *nei* False says UNSUPPORTED where no evidence was found.

    A measurement that failed (label ``error``) is NEI under either setting: nothing was found out.
    """
    if opinion.label == "error":
        return VERDICT_OF_LABEL["error"]
    if opinion.label == "contradicted" or "contradicted" in opinion.parts:
        return "CONTRADICTED"
    if opinion.label == "entailed":
        if "differ" in opinion.questions:
            return "CONTRADICTED"
        if "not_found" in opinion.questions:
            return "PARTIAL"
        # A verifier leans towards one word for what it only half believes: "supported" is said of
        # what evidence is attached for, whatever the policy asks besides.
        if opinion.score is not None and opinion.score >= ATTACH_TARGET:
            return "SUPPORTED"
    if not opinion.topical:
        return "NEI" if nei else "UNSUPPORTED"
    return "PARTIAL" if "entailed" in opinion.parts else "UNSUPPORTED"


def weakest(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on a statement made of several claims; NEI where there is none.

    One contradicted part contradicts the whole, and only parts that are all supported support it.
    What has supported and unstated parts is PARTIAL, for that is what the word says.
    """
    said = set(verdicts)
    if "CONTRADICTED" in said:
        return "CONTRADICTED"
    if said == {"SUPPORTED"}:
        return "SUPPORTED"
    if said & {"SUPPORTED", "PARTIAL"}:
        return "PARTIAL"
    return "UNSUPPORTED" if "UNSUPPORTED" in said else "NEI"
