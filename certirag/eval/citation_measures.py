"""How good the citations of an answer are, as ALCE counts them, and how much of an answer is supported.

Everything asks *entails*: whether a text bears a statement out. That may be any verifier, or a person.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

Entails = Callable[[str, str], bool]  # (text, statement)

AT_MOST: Final = 3  # citations of a statement that ALCE reads


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A statement without its citation marks, and the texts that it cites, in order.

    A mark that names no document makes *cited* empty: ALCE takes the statement for one without any.
    """

    text: str
    cited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CitationFigures:
    """Citation recall and precision in [0, 1], and *f1*, their harmonic mean; NaN for no statement."""

    recall: float
    precision: float
    f1: float


def citation_figures(
    statements: Sequence[CitedStatement], entails: Entails, *, at_most: int = AT_MOST
) -> CitationFigures:
    """Return how good the citations of one answer are.

    Gao et al. 2023, "Enabling Large Language Models to Generate Text with Citations", §3: *recall* is
    the share of statements that all their citations together bear out. *precision* is the share of
    citations that are not idle: its statement is borne out, and the citation bears it out alone, or the
    others would not do so without it. An answer without any citation has a precision of 0. Of each
    statement the first *at_most* citations count, and texts are joined by a line break, as in ALCE's
    program. The paper has no F1; ours is of its recall and precision.
    """
    if not statements:
        return CitationFigures(math.nan, math.nan, math.nan)
    recalled = useful = cited = 0
    for one in statements:
        texts = one.cited[:at_most]
        cited += len(texts)
        if not texts or not entails("\n".join(texts), one.text):
            continue
        recalled += 1
        useful += _useful(one.text, texts, cache(entails))
    recall = recalled / len(statements)
    precision = useful / cited if cited else 0.0
    return CitationFigures(recall, precision, _harmonic(recall, precision))


def mean_citation_figures(answers: Sequence[CitationFigures]) -> CitationFigures:
    """Return recall and precision as means over *answers* with statements, and the F1 of the means."""
    found = [own for own in answers if not math.isnan(own.recall)]
    if not found:
        return CitationFigures(math.nan, math.nan, math.nan)
    recall = sum(own.recall for own in found) / len(found)
    precision = sum(own.precision for own in found) / len(found)
    return CitationFigures(recall, precision, _harmonic(recall, precision))


def supported_share(claims: Sequence[str], text: str, entails: Entails) -> float:
    """Return the share of an answer's atomic *claims* that *text* bears out; NaN for no claim.

    FActScore of one answer (Min et al. 2023, "FActScore: Fine-grained Atomic Evaluation of Factual
    Precision", §3), without the penalty on short answers that its program has (gamma 0). Over answers it is
    the mean of those that make a claim: who does not respond is left out.
    """
    return sum(entails(text, claim) for claim in claims) / len(claims) if claims else math.nan


def _useful(statement: str, texts: Sequence[str], entails: Entails) -> int:
    """Count the citations of a statement that is borne out that are not idle."""
    if len(texts) == 1:
        return 1
    count = 0
    for at, text in enumerate(texts):
        rest = "\n".join((*texts[:at], *texts[at + 1 :]))
        count += entails(text, statement) or not entails(rest, statement)
    return count


def _harmonic(recall: float, precision: float) -> float:
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0
