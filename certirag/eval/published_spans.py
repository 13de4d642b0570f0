"""Published benchmarks in which people marked the words that a text does not bear out: RAGTruth and FaithBench.

A row is a sentence: one that no mark touches is entailed. A single mark of few words is what makes its
sentence untrue (``false``); a longer one may be cut in two by the claims, and then the sentence counts
whole. With *whole* a row is a response instead, as the papers count them; but of several claims a gate
then counts a wrong one only where it shows them all, so sentences say more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from certirag.errors import InputError
from certirag.eval.pair_rows import Gold, PairRow
from certirag.eval.published_files import PublicationReading, beside, typed_rows
from certirag.ingest.sentences import sentence_splitter

_NAMED_WORDS: Final = 5  # at most, of a mark that stands in one claim for sure
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_PASSAGE = re.compile(r"^passage \d+:\s*", re.MULTILINE)
# What RAGTruth's prompt tells a model to say of passages without an answer: a refusal, no claim.
_REFUSAL: Final = "unable to answer based on given passages"
# FaithBench: what a mark of each kind makes of its sentence, worst last; a benign one is no error and
# not in the source either, so that neither label would be right.
_SEVERITY: Final = {"Benign": 0, "Questionable": 1, "Unwanted": 2}


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    gold: Gold | Literal["benign"]


@dataclass(frozen=True, slots=True)
class _Marked:
    """A *text* about *premise*, with the marks of people."""

    premise: str
    text: str
    source: str
    spans: tuple[_Span, ...]


@dataclass(frozen=True, slots=True)
class _Label:
    start: int
    end: int
    label_type: str


@dataclass(frozen=True, slots=True)
class _ModelResponse:
    source_id: str | int
    split: str
    quality: str
    response: str
    labels: list[_Label]


@dataclass(frozen=True, slots=True)
class _SourceInfo:
    source_id: str | int
    task_type: Literal["QA", "Summary", "Data2txt"]
    source_info: str | dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Annotation:
    label: list[str]
    summary_start: int
    summary_end: int


@dataclass(frozen=True, slots=True)
class _Sample:
    source: str
    summary: str
    annotations: list[_Annotation]


def ragtruth_files(path: Path) -> list[Path]:
    """Return ``response.jsonl`` and ``source_info.jsonl`` of the folder *path*, or of the file's folder."""
    if path.is_dir():
        inner = path / "dataset"
        path = (inner if inner.is_dir() else path) / "response.jsonl"
        if not path.is_file():
            raise InputError(f"{path}: is not there: name the folder that holds response.jsonl")
    return [path, beside(path, "source_info.jsonl")]


def read_ragtruth(
    files: Sequence[Path], reading: PublicationReading, *, whole: bool = False
) -> Iterator[PairRow]:
    """Yield RAGTruth (Niu et al. 2024, ACL): responses of models to questions, articles and data.

    github.com/ParticleMedia/RAGTruth has ``dataset/response.jsonl`` and ``dataset/source_info.jsonl``.
    As the authors do, of the test split and of good quality alone. A conflict is ``contradicted``,
    baseless information ``not_enough_info``, even where it is true (``implicit_true``).
    """
    responses, sources = files
    found = {}
    for place, source in typed_rows(sources, TypeAdapter(_SourceInfo)):
        found[str(source.source_id)] = (source.task_type.lower(), _premise(source, place))
    for place, row in typed_rows(responses, TypeAdapter(_ModelResponse)):
        if row.split != "test":
            reading.left_out["of another split than test"] += 1
        elif row.quality != "good":
            reading.left_out["of a refusal or a response cut off, as their authors marked it"] += 1
        elif str(row.source_id) not in found:
            message = f"{place}: source_id: {sources.name} has no {str(row.source_id)[:40]!r}"
            raise InputError(message)
        else:
            task, premise = found[str(row.source_id)]
            spans = (
                _span(one.start, one.end, row.response, place, _ragtruth_gold(one))
                for one in row.labels
            )
            marked = _Marked(premise, row.response, f"ragtruth_{task}", tuple(spans))
            yield from _rows(marked, reading, whole=whole)


def read_faithbench(
    files: Sequence[Path], reading: PublicationReading, *, whole: bool = False
) -> Iterator[PairRow]:
    """Yield FaithBench (Bao et al. 2025, NAACL): summaries that detectors disagree about.

    github.com/vectara/FaithBench has ``data_for_release/batch_1.json`` to ``batch_16.json``. Of several
    marks the worst counts, and an unwanted or a questionable one is an error, as in its authors'
    ``binarize.py``; what is benign alone is left out, for the source does not say it.
    """
    for path in files:
        for place, row in typed_rows(path, TypeAdapter(_Sample), key="samples"):
            spans = (
                _span(one.summary_start, one.summary_end, row.summary, place, gold)
                for one in row.annotations
                for gold in [_faithbench_gold(one, place)]
            )
            marked = _Marked(row.source, row.summary, "faithbench", tuple(spans))
            yield from _rows(marked, reading, whole=whole)


read_ragtruth_responses = partial(read_ragtruth, whole=True)
read_faithbench_summaries = partial(read_faithbench, whole=True)


def _ragtruth_gold(label: _Label) -> Gold:
    return "not_enough_info" if "baseless" in label.label_type.lower() else "contradicted"


def _faithbench_gold(annotation: _Annotation, place: str) -> Gold | Literal["benign"]:
    kinds = [label.partition(".")[0] for label in annotation.label]
    if not kinds or not set(kinds) <= _SEVERITY.keys():
        known = ", ".join(_SEVERITY)
        raise InputError(f"{place}: annotations.label: should be of {known}")
    return "benign" if max(_SEVERITY[kind] for kind in kinds) == 0 else "not_entailed"


def _span(start: int, end: int, text: str, place: str, gold: Gold | Literal["benign"]) -> _Span:
    if not 0 <= start <= end <= len(text):
        raise InputError(f"{place}: the mark from {start} to {end} is not within the text")
    return _Span(start, end, gold)


def _premise(source: _SourceInfo, place: str) -> str:
    """Return what the model was given: an article, passages without their numbers, or data as lines."""
    info = source.source_info
    if source.task_type == "QA":
        passages = info.get("passages") if isinstance(info, dict) else None
        if not isinstance(passages, str):
            raise InputError(f"{place}: source_info.passages: should be text")
        return _PASSAGE.sub("", passages).strip()
    return info.strip() if isinstance(info, str) else "\n".join(_lines(info))


def _lines(value: object, *names: str) -> Iterator[str]:
    """Yield data as lines ``hours, Monday: 9:0-17:0``, in their order."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _lines(inner, *names, str(name).replace("_", " "))
    elif isinstance(value, list):
        for number, inner in enumerate(value, 1):
            yield from _lines(inner, *names, str(number))
    else:
        said = "unknown" if value is None else value
        if isinstance(value, bool):
            said = "yes" if value else "no"
        yield f"{', '.join(names)}: {said}"


def _rows(marked: _Marked, reading: PublicationReading, *, whole: bool) -> Iterator[PairRow]:
    places = [(0, len(marked.text))] if whole else sentence_splitter(None)(marked.text)
    for start, end in places:
        text = _plain(marked.text[start:end])
        if not any(map(str.isalnum, text)) or not marked.premise:
            reading.left_out["without words or a source"] += 1
            continue
        if text.casefold().rstrip(".") == _REFUSAL:
            reading.left_out["of a refusal"] += 1
            continue
        touching = [_within(span, start, end) for span in marked.spans]
        spans = [
            span for span in touching if any(map(str.isalnum, marked.text[span.start : span.end]))
        ]
        golds = {span.gold for span in spans}
        if golds == {"benign"}:
            reading.left_out["with nothing but benign marks"] += 1
            continue
        yield PairRow(
            marked.premise,
            text,
            _worst(golds - {"benign"}),
            marked.source,
            false=_false([span for span in spans if span.gold != "benign"], marked.text),
        )


def _plain(text: str) -> str:
    return " ".join(_ITEM.sub("", text).split())


def _within(span: _Span, start: int, end: int) -> _Span:
    """Return the part of *span* from *start* to *end*; an empty one where there is none."""
    low = max(span.start, start)
    return _Span(low, max(low, min(span.end, end)), span.gold)


def _worst(golds: set[Any]) -> Gold:
    order: tuple[Gold, ...] = ("contradicted", "not_entailed", "not_enough_info")
    return next((gold for gold in order if gold in golds), "entailed")


def _false(spans: Sequence[_Span], text: str) -> str:
    """Return the words of *spans* where they are one stretch of few words, else ""."""
    if not spans:
        return ""
    first, *others = sorted(spans, key=lambda span: span.start)
    reach = first.end
    for span in others:
        if span.start > reach:
            return ""
        reach = max(reach, span.end)
    words = text[first.start : reach].split()
    return " ".join(words) if len(words) <= _NAMED_WORDS else ""
