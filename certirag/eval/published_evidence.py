"""Published benchmarks whose claims come with what fact checkers found: SciFact, FEVER and Fin-Fact."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter

from certirag.errors import InputError
from certirag.eval.pair_rows import Gold, PairRow
from certirag.eval.published_files import PublicationReading, beside, joined_tokens, typed_rows

_NUMBER: Final = re.compile(r"[0-9]{1,18}")  # Python refuses to read thousands of digits
_SCIFACT: Final[dict[str, Gold]] = {"SUPPORT": "entailed", "CONTRADICT": "contradicted"}
_FINFACT: Final[dict[str, Gold]] = {
    "true": "entailed",
    "false": "contradicted",
    "neutral": "not_enough_info",
}
_FEVER: Final[dict[str, Gold]] = {"SUPPORTS": "entailed", "REFUTES": "contradicted"}


@dataclass(frozen=True, slots=True)
class _Abstract:
    doc_id: int
    title: str
    abstract: list[str]


@dataclass(frozen=True, slots=True)
class _Rationale:
    label: Literal["SUPPORT", "CONTRADICT"]


@dataclass(frozen=True, slots=True)
class _ScientificClaim:
    claim: str
    evidence: dict[str, list[_Rationale]]
    cited_doc_ids: list[int]


@dataclass(frozen=True, slots=True)
class _WikipediaClaim:
    """Of *evidence* each set has pieces: annotation, number, page and sentence, null where there is none."""

    claim: str
    label: Literal["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]
    evidence: list[list[tuple[int | None, int | None, str | None, int | None]]]


@dataclass(frozen=True, slots=True)
class _WikipediaPage:
    """A page; a line is its number, its sentence and its links, parted by tabs."""

    id: str
    lines: str


@dataclass(frozen=True, slots=True)
class _Found:
    sentence: str


@dataclass(frozen=True, slots=True)
class _FinancialClaim:
    claim: str
    label: Literal["true", "false", "neutral"]
    evidence: list[_Found]


def scifact_files(path: Path) -> list[Path]:
    """Return the file of claims and ``corpus.jsonl`` beside it; of a folder ``claims_dev.jsonl``."""
    if path.is_dir():
        inner = path / "data"
        path = (inner if inner.is_dir() else path) / "claims_dev.jsonl"
        if not path.is_file():
            raise InputError(f"{path}: is not there: name a file of claims with labels")
    return [path, beside(path, "corpus.jsonl")]


def read_scifact(files: Sequence[Path], reading: PublicationReading) -> Iterator[PairRow]:
    """Yield SciFact (Wadden et al. 2020, EMNLP): a claim and each abstract that its source cites.

    github.com/allenai/scifact names the archive with ``data/corpus.jsonl`` and ``claims_train.jsonl``,
    ``claims_dev.jsonl``. A cited abstract in which the annotators found no evidence is
    ``not_enough_info``.
    """
    claims, corpus = files
    abstracts = {row.doc_id: row for _, row in typed_rows(corpus, TypeAdapter(_Abstract))}
    for place, row in typed_rows(claims, TypeAdapter(_ScientificClaim)):
        found = {_number(name, place): rationales for name, rationales in row.evidence.items()}
        for number in dict.fromkeys([*found, *row.cited_doc_ids]):
            abstract = abstracts.get(number)
            if not abstract:
                raise InputError(f"{place}: document {number} is not in {corpus.name}")
            labels = {rationale.label for rationale in found.get(number, ())}
            if len(labels) > 1:
                reading.left_out["whose rationales contradict one another"] += 1
                continue
            gold = _SCIFACT[labels.pop()] if labels else "not_enough_info"
            premise = " ".join(text.strip() for text in abstract.abstract)
            yield PairRow(premise, row.claim, gold, "scifact", abstract.title)


def _number(name: str, place: str) -> int:
    if not _NUMBER.fullmatch(name):
        raise InputError(f"{place}: evidence: {name[:40]!r} is no number of a document")
    return int(name)


def fever_files(path: Path) -> list[Path]:
    """Return the file of claims and the pages beside it, ``wiki-pages/**/wiki-*.jsonl``.

    Of a folder it is the one file of JSON Lines in it.
    """
    if path.is_dir():
        claims = sorted(path.glob("*.jsonl"))
        if len(claims) != 1:
            told = f"holds {len(claims)} files of JSON Lines" if claims else "holds no JSON Lines"
            raise InputError(f"{path}: {told}: name the file of claims")
        path = claims[0]
    pages = sorted((path.parent / "wiki-pages").rglob("wiki-*.jsonl"))
    if not pages:
        message = (
            f"{path.parent / 'wiki-pages'}: holds no wiki-*.jsonl: unpack wiki-pages.zip there"
        )
        raise InputError(message)
    return [path, *pages]


def read_fever(files: Sequence[Path], reading: PublicationReading) -> Iterator[PairRow]:
    """Yield FEVER (Thorne et al. 2018, NAACL): a claim and its first set of evidence that is whole.

    fever.ai has ``train.jsonl``, ``shared_task_dev.jsonl``, ``paper_dev.jsonl`` and ``wiki-pages.zip``.
    The sentences of a set suffice together; each stands behind the title of its page, for they say
    "he" and "the film". What has NOT ENOUGH INFO names no evidence and is left out.
    """
    claims, *pages = files
    rows = TypeAdapter(_WikipediaClaim)
    wanted: dict[str, dict[int, str]] = {}
    for _, row in typed_rows(claims, rows):
        for one in row.evidence:
            for page, number in _pieces(one):
                wanted.setdefault(page, {})[number] = ""
    for number, path in enumerate(pages, 1):
        reading.progress("Reading pages", number, len(pages))
        for _, found in typed_rows(path, TypeAdapter(_WikipediaPage)):
            page = _name(found.id)
            if page in wanted:
                _take(found.lines, wanted[page])
    for _, row in typed_rows(claims, rows):
        if row.label not in _FEVER:
            reading.left_out["with not enough info, which name no evidence"] += 1
            continue
        sets = [[(page, wanted[page][n]) for page, n in _pieces(one)] for one in row.evidence]
        whole = next((one for one in sets if one and all(text for _, text in one)), None)
        if not whole:
            reading.left_out["whose evidence is not among the pages"] += 1
            continue
        premise = "\n\n".join(f"{_title(page)}: {joined_tokens(text)}" for page, text in whole)
        title = _title(whole[0][0])
        yield PairRow(premise, row.claim, _FEVER[row.label], "fever", title)


def _pieces(
    evidence: Sequence[tuple[int | None, int | None, str | None, int | None]],
) -> list[tuple[str, int]]:
    return [
        (_name(page), number)
        for _, _, page, number in evidence
        if page is not None and number is not None
    ]


def _name(page: str) -> str:
    """Return the name of a page in one form: claims and pages write some accents differently."""
    return unicodedata.normalize("NFC", page)


def _take(lines: str, sentences: dict[int, str]) -> None:
    """Put the sentences of a page that are wanted into *sentences*, by their numbers."""
    for line in lines.split("\n"):
        number, _, rest = line.partition("\t")
        if _NUMBER.fullmatch(number) and int(number) in sentences:
            sentences[int(number)] = rest.partition("\t")[0].strip()


def _title(page: str) -> str:
    return joined_tokens(page.replace("_", " ").replace("-COLON-", ":"))


def read_finfact(files: Sequence[Path], reading: PublicationReading) -> Iterator[PairRow]:
    """Yield Fin-Fact (Rangapur et al. 2023, arXiv:2309.08793): a financial claim and all its evidence.

    github.com/IIT-DM/Fin-Fact and the hub's amanrangapur/Fin-Fact have ``finfact.json``. The evidence is
    what the fact checkers' article cites, joined; a claim without any is left out.
    """
    for path in files:
        for _, row in typed_rows(path, TypeAdapter(_FinancialClaim)):
            premise = "\n\n".join(
                one.sentence.strip() for one in row.evidence if one.sentence.strip()
            )
            if not premise:
                reading.left_out["without evidence"] += 1
                continue
            yield PairRow(premise, row.claim.strip(), _FINFACT[row.label], "finfact")
