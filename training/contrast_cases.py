"""Makes pairs of rows with one hypothesis and opposite labels from a premise and one edit."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from training.contrast_edits import edits_of
from training.contrast_keeps import KEEPS
from training.contrast_shapes import rewrites_of
from training.contrast_swap import Edit, holds, swapped
from training.contrast_words import MONTHS, STOP, WEEKDAYS
from training.rows import Row, RowLabel

Group = tuple[Row, ...]
# Captions of pictures name nobody: another caption may be true of the same hypothesis.
CAPTIONS: Final = ("snli", "cf_snli", "breaking_nli", "negation_snli", "med", "help")


@dataclass(frozen=True, slots=True)
class Case:
    """Two premises, each with a hypothesis that follows from it but not from the other premise.

    *forth* is the label of *other* given *premise*, *back* that of *claim* given *other_premise*.
    """

    kind: str
    premise: str
    claim: str
    other_premise: str
    other: str
    forth: RowLabel | None
    back: RowLabel | None


_SPACED: Final = re.compile(r" (?=[.,;:!?)%]|'(?:s|re|ve|ll|m|d)\b|n't\b)")
_QUOTES: Final = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\n": " "})


def tidy(text: str) -> str:
    """Undo the spaces and brackets that word splitting left in a text."""
    text = text.translate(_QUOTES).replace("``", '"').replace("''", '"')
    text = text.replace("-LRB-", "(").replace("-RRB-", ")").replace("( ", "(").replace(" - ", "-")
    text = re.sub(r"-[LR]SB-", "", text)
    return re.sub(r"\s+", " ", _SPACED.sub("", text)).strip()


_BREAK: Final = re.compile(r"(?<=[a-z0-9)%\"]{2}[.!?]) (?=[A-Z\"])")
_FINITE: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|can|may|must|should|does|did|do|could|would|[a-z]{3,}ed|"
    r"won|lost|began|became|made|took|wrote|led|held|ran|sold|built|rose|fell|grew|[a-z]{2,}(?:es|ts|ns|ds|ks|ys|ms))\b"
)


def sentences_of(text: str) -> list[str]:
    """Cut *text* at plain sentence ends."""
    return [part for part in _BREAK.split(text) if part]


def states(sentence: str) -> bool:
    """Whether *sentence* is one whole statement that may stand as a claim."""
    words = sentence.split()
    return (
        5 <= len(words) <= 38
        and sentence[0].isupper()
        and sentence[-1] == "."
        and sentence.count('"') % 2 == 0
        and sentence.count("(") == sentence.count(")")
        and not re.match(
            r"(?:And|But|Or|Because|So|Which|Who|While|If not|Well|Yes|No|Oh)\b", sentence
        )
        and bool(_FINITE.search(sentence))
    )


def _by_edit(premise: str, claim: str, edit: Edit) -> Case | None:
    if not holds(premise, edit.old) or holds(premise, edit.new) or holds(claim, edit.new):
        return None
    if len(edit.old) > 3 and claim.count(edit.old) > 1:
        return None
    other_premise, other = swapped(premise, edit.old, edit.new), swapped(claim, edit.old, edit.new)
    if other == claim or other_premise == premise:
        return None
    return Case(edit.kind, premise, claim, other_premise, other, edit.forth, edit.back)


def cases_of_row(row: Row, chance: random.Random) -> Iterator[Case]:
    """Yield the cases of an entailed row: one edit in the claim and the same in the premise."""
    premise, claim = tidy(row.premise), tidy(row.hypothesis)
    for edit in edits_of(claim, chance):
        case = _by_edit(premise, claim, edit)
        if case and edit.kind not in {"modality", "quantifier"}:
            yield case  # those two turn on words that a loose paraphrase does not keep


def cases_of_sentence(
    before: str, sentence: str, after: str, chance: random.Random
) -> Iterator[Case]:
    """Yield the cases of a claim that is word for word a sentence of its premise."""
    premise = " ".join(filter(None, (before, sentence, after)))
    for edit in edits_of(sentence, chance):
        case = _by_edit(premise, sentence, edit)
        if case:
            yield case
    for rewrite in rewrites_of(sentence, chance):
        other = " ".join(filter(None, (before, rewrite.other, after)))
        kind, forth, back = rewrite.kind, rewrite.forth, rewrite.back
        one, two = rewrite.said or sentence, rewrite.other_said or rewrite.other
        yield Case(kind, premise, one, other, two, forth, back)


_NAME: Final = re.compile(r"(?<=[a-z,] )(?:[A-Z][\w'-]+)(?: [A-Z][\w'-]+)*")
_JOINED: Final = re.compile(
    r"^,? ?(?:and|or|,|&|/|-|with|versus|vs\.?)?,? ?$|\b(?:and|with|between|met|married|both)\b"
)


_TIMES: Final = frozenset((*MONTHS, *WEEKDAYS, "I"))


def names_of(text: str) -> list[str]:
    """Return the names in *text*: runs of capitalised words that do not start a sentence."""
    found = (name.removesuffix("'s") for name in _NAME.findall(text))
    return [name for name in dict.fromkeys(found) if name not in _TIMES]


def case_of_names(premise: str, claim: str, chance: random.Random) -> Case | None:
    """Exchange two names of the premise of which the claim has one: the hardest wrong entity."""
    if re.search(r"\b[A-Z][a-z]+: ", premise):
        return None  # a conversation: who said what is seldom in the claim
    here = [name for name in names_of(claim) if holds(premise, name) and len(name) > 2]
    chance.shuffle(here)
    for one in here:
        for two in chance.sample(found := names_of(premise), len(found)):
            if two in here or one in two or two in one or len(one.split()) != len(two.split()):
                continue
            if any(set(one.split()) & set(n.split()) for n in found if n != one):
                continue
            first, second = sorted((premise.find(one), premise.find(two)))
            if first < 0 or _JOINED.search(premise[first:second].partition(" ")[2]):
                continue
            moved = swapped(swapped(swapped(premise, one, "\1"), two, one), "\1", two)
            other = swapped(claim, one, two)
            if moved != premise and other != claim:
                return Case(
                    "other_name", premise, claim, moved, other, "not_entailed", "not_entailed"
                )
    return None


def pairs_of(case: Case, chance: random.Random, keep_share: float) -> Iterator[Group]:
    """Yield one or both pairs of a case: one hypothesis, the premise it follows from and the other.

    Edited premises and edited claims thus occur with either label alike. In *keep_share* of the
    pairs the claim is said in another way, which changes neither label.
    """
    sides = []
    if case.forth is not None:
        sides.append((case.other, case.other_premise, case.premise, case.forth))
    if case.back is not None:
        sides.append((case.claim, case.premise, case.other_premise, case.back))
    if len(sides) == 2 and chance.random() < 0.7:
        sides = [chance.choice(sides)]
    for claim, supporting, other, label in sides:
        kind, said = case.kind, claim
        if chance.random() < keep_share:
            kind, said = _kept(case.kind, claim, chance)
        yield paired(kind, said, supporting, other, label)


def _kept(kind: str, claim: str, chance: random.Random) -> tuple[str, str]:
    for name in chance.sample(sorted(KEEPS), len(KEEPS)):
        said = KEEPS[name](claim, chance)
        if said != claim:
            return f"keep_{name}", said
    return kind, claim


def paired(kind: str, claim: str, supporting: str, other: str, label: RowLabel) -> Group:
    """Return the two rows of *claim*: entailed by one premise, *label* given the other."""
    source = f"made_{kind}"
    return Row(source, supporting, claim, "entailed"), Row(source, other, claim, label)


def wrapped(group: Group, before: Sequence[str], after: Sequence[str]) -> Group:
    """Put every premise of a group between the same sentences of other texts."""
    return tuple(
        Row("made_distractors", " ".join((*before, row.premise, *after)), row.hypothesis, row.label)
        for row in group
    )


def headed(group: Group, heading: str) -> Group:
    """Put a document's title and section before every premise, as evidence is written at work."""
    return tuple(
        Row("made_heading", f"{heading}: {row.premise}", row.hypothesis, row.label) for row in group
    )


def content(text: str) -> set[str]:
    """Return the words of *text* that carry its content, in lower case."""
    return {w for w in re.findall(r"[\w'-]+", text.lower()) if w not in STOP}


def specific(text: str) -> set[str]:
    """Return what pins a claim down, in lower case: its numbers and the words of its names."""
    found = {word.lower() for name in names_of(text) for word in name.split()}
    return found | set(re.findall(r"\d[\d.,]*\d|\d", text))


def missing(text: str, claim: str) -> set[str]:
    """Return the names and numbers of *claim* that *text* lacks."""
    there = text.lower()
    return {part for part in specific(claim) if part not in there}


def says_nothing_of(text: str, claim: str) -> bool:
    """Whether *text* lacks a name or number of *claim* and most of its content."""
    words = content(claim)
    return bool(missing(text, claim)) and len(words & content(text)) <= 0.6 * len(words)
