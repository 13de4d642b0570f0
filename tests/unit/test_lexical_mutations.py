"""Every small untruth made from the fixtures' own sentences loses its support."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import AlignedWords

from certirag.ports import Pair

FIXTURES = Path(__file__).parents[2] / "fixtures"
_SENTENCE = re.compile(r"[A-Z][^.\n|#*>]{25,220}\.(?=\s|$)")


def _sentences() -> list[str]:
    sources = sorted((FIXTURES / "sources").rglob("*.md"))
    sources += sorted((FIXTURES / "corpora").rglob("*.md"))
    found: dict[str, None] = {}
    for path in sources:
        for match in _SENTENCE.finditer(path.read_text(encoding="utf-8")):
            if not re.search(r"\b(?:Dr|Ms|Mr|No|St)\.$", match.group()):
                found[match.group()] = None
    return list(found)


def _negated(text: str) -> str:
    if re.search(r"\b(?:not|no|never|neither|nor|cannot|without|unless)\b", text, re.IGNORECASE):
        return re.sub(r" (?:not|never)\b", "", text, count=1)
    return re.sub(r"\b(is|are|was|were|must|may|can|will|should)\b", r"\1 not", text, count=1)


def _other_number(text: str) -> str:
    return re.sub(
        r"(?<![\w.,:-])(\d{1,3})(?![\w.,:-]|\s*(?:st|nd|rd|th)\b)",
        lambda match: str(int(match.group(1)) * 2 + 1),
        text,
        count=1,
    )


def _other_unit(text: str) -> str:
    swaps = {"days": "weeks", "weeks": "months", "months": "years", "hours": "days", "mg": "mcg"}
    return re.sub(
        r"(?<=\d )(days|weeks|months|hours|mg)\b", lambda m: swaps[m.group()], text, count=1
    )


def _other_month(text: str) -> str:
    return re.sub(
        r"\b(?:March|April|May|September|December)\b(?= 20| \d|\.)", "October", text, count=1
    )


def _other_name(text: str) -> str:
    return re.sub(r"(?<=[a-z] )(?!I\b)[A-Z][a-z]{3,}\b", "Vellmark", text, count=1)


MUTATIONS: dict[str, Callable[[str], str]] = {
    "negation": _negated, "number": _other_number, "unit": _other_unit, "date": _other_month,
    "entity": _other_name,
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(MUTATIONS))
def test_a_changed_sentence_is_not_entailed_by_the_original(kind: str) -> None:
    """Whatever is changed, the true sentence does not bear the changed one out."""
    changed = [(MUTATIONS[kind](text), text) for text in _sentences()]
    pairs = [Pair(claim, evidence) for claim, evidence in changed if claim != evidence]
    assert len(pairs) >= 10
    judged = zip(pairs, AlignedWords().judge(pairs), strict=True)
    wrong = [pair.claim for pair, judgement in judged if judgement.entailed > 0.5]
    assert wrong == []


def test_a_shortened_sentence_is_not_entailed_where_a_limit_went() -> None:
    """A sentence cut before "only", "unless", "except", "until" or "if" loses its support."""
    cut = re.compile(r",?(?<!even)\s(?:only|unless|except|until|if|provided)\b.*$")
    pairs = [
        Pair(cut.sub(".", text), text)
        for text in _sentences()
        if cut.search(text) and len(cut.sub(".", text)) > 20
    ]
    assert len(pairs) >= 20
    judged = zip(pairs, AlignedWords().judge(pairs), strict=True)
    wrong = [pair for pair, judgement in judged if judgement.entailed > 0.5]
    assert wrong == []


def test_true_sentences_stay_entailed() -> None:
    """The same sentences, unchanged but for their closing mark, are all entailed."""
    pairs = [Pair(text.rstrip("."), text) for text in _sentences()]
    assert all(j.entailed >= 0.85 for j in AlignedWords().judge(pairs))
