"""Published benchmarks of one statement and one text a row: what each row of their files becomes.

Each reader takes the files as their authors publish them and counts in its `PublicationReading` the rows that it
leaves out, by reason. Where people gave two labels alone, what is not supported is ``not_entailed``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter

from certirag.errors import InputError
from certirag.eval.pair_rows import Gold, PairRow
from certirag.eval.published_files import PublicationReading, plain_name, typed_rows
from certirag.quantities.find import find_quantities
from certirag.quantities.numbers import ONES

_ATTRSCORE: Final[dict[str, Gold]] = {
    "Attributable": "entailed",
    "Contradictory": "contradicted",
    "Extrapolatory": "not_enough_info",
}
_HEALTHVER: Final[dict[str, Gold]] = {
    "Supports": "entailed",
    "Refutes": "contradicted",
    "Neutral": "not_enough_info",
}
_NUMERSENSE_WORDS: Final = list(ONES)[:11]  # zero to ten
_MASK: Final = "<mask>"
_FEWEST_WORDS: Final = 4  # of an answer that says something without its question


@dataclass(frozen=True, slots=True)
class _Attribution:
    claim: str
    references: list[str]
    attribution_label: Literal["attributable", "not attributable"]
    src_dataset: str


@dataclass(frozen=True, slots=True)
class _AttributedAnswer:
    answer: str
    reference: str
    label: Literal["Attributable", "Contradictory", "Extrapolatory"]


@dataclass(frozen=True, slots=True)
class _HealthClaim:
    evidence: str
    claim: str
    label: Literal["Supports", "Refutes", "Neutral"]


@dataclass(frozen=True, slots=True)
class _Grounded:
    dataset: str
    doc: str
    claim: str
    label: Literal[0, 1]


@dataclass(frozen=True, slots=True)
class _Response:
    response: Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class _RatedSentence:
    sentence: str
    responses: list[_Response]


@dataclass(frozen=True, slots=True)
class _RatedSummary:
    article: str
    summary_sentences: list[_RatedSentence]


@dataclass(frozen=True, slots=True)
class _EditedSummary:
    doc: str
    summary: str
    label: Literal[0, 1]
    domain: str = ""


@dataclass(frozen=True, slots=True)
class _NumberProbe:
    sentence: str
    target: str


@dataclass(frozen=True, slots=True)
class _CitedClaim:
    claim: str
    evidence: list[str]
    label: Literal["supported", "partially_supported", "not_supported"]


def read_attributionbench(files: Sequence[Path], reading: PublicationReading) -> Iterator[PairRow]:
    """Yield AttributionBench (Li et al. 2024, arXiv:2402.15089): a claim and all its references.

    The hub's osunlp/AttributionBench has a file of JSON Lines for each split, such as
    ``test_all_subset_balanced.jsonl``.
    """
    for path in files:
        for _, row in typed_rows(path, TypeAdapter(_Attribution)):
            premise = "\n\n".join(text.strip() for text in row.references if text.strip())
            if not premise:
                reading.left_out["without a reference"] += 1
                continue
            label = two_way(row.attribution_label == "attributable")
            yield PairRow(
                premise, row.claim, label, f"attributionbench_{plain_name(row.src_dataset)}"
            )


def read_attrscore(files: Sequence[Path], reading: PublicationReading) -> Iterator[PairRow]:
    """Yield AttrScore (Yue et al. 2023, arXiv:2305.06311): an answer and its reference.

    The hub's osunlp/AttrScore has ``AttrEval-GenSearch.csv``, ``AttrEval-Simulation.csv`` and files for
    training. The paper puts the question before the answer; here the answer stands alone, for a
    question claims nothing, and one of fewer than four words is left out.
    """
    for path in files:
        for _, row in typed_rows(path, TypeAdapter(_AttributedAnswer)):
            if len(row.answer.split()) < _FEWEST_WORDS or not row.reference.strip():
                reading.left_out[
                    "of an answer too short to say anything, or without a reference"
                ] += 1
                continue
            source = f"attrscore_{plain_name(path.name.partition('.')[0])}"
            yield PairRow(row.reference, row.answer, _ATTRSCORE[row.label], source)


def read_healthver(files: Sequence[Path], _reading: PublicationReading) -> Iterator[PairRow]:
    """Yield HealthVer (Sarrouti et al. 2021, Findings of EMNLP): a health claim and its evidence.

    github.com/sarrouti/HealthVer has ``data/healthver_train.csv``, ``_dev.csv`` and ``_test.csv``.
    """
    for path in files:
        for _, row in typed_rows(path, TypeAdapter(_HealthClaim)):
            yield PairRow(row.evidence, row.claim.strip(), _HEALTHVER[row.label], "healthver")


def read_llm_aggrefact(files: Sequence[Path], _reading: PublicationReading) -> Iterator[PairRow]:
    """Yield LLM-AggreFact (Tang et al. 2024, arXiv:2404.10774): a claim and a document.

    The hub's lytang/LLM-AggreFact has ``data/dev-*.parquet`` and ``data/test-*.parquet``.
    """
    for path in files:
        for _, row in typed_rows(path, TypeAdapter(_Grounded)):
            source = f"llm-aggrefact_{plain_name(row.dataset)}"
            yield PairRow(row.doc, row.claim, two_way(row.label == 1), source)


def read_numersense(files: Sequence[Path], reading: PublicationReading) -> Iterator[PairRow]:
    """Yield NumerSense (Lin et al. 2020, EMNLP): a sentence, and the same with its number in figures.

    github.com/INK-USC/NumerSense has ``data/train.masked.tsv``: a sentence with ``<mask>`` for a number
    word, and the word. The benchmark asks a language model for the word; here the whole sentence is the
    text, and of two statements one has the same number in figures and the other the next one, so the
    labels are by construction. "no" is no figure and is left out; so is a number with a bound, for what
    is less than ten is less than eleven.
    """
    for path in files:
        rows = typed_rows(path, TypeAdapter(_NumberProbe), columns=("sentence", "target"))
        for place, row in rows:
            if row.sentence.count(_MASK) != 1:
                raise InputError(f"{place}: sentence: should hold {_MASK} once")
            word = row.target.strip().lower()
            if word not in _NUMERSENSE_WORDS:
                reading.left_out["whose word is no number from zero to ten"] += 1
                continue
            premise, start = row.sentence.replace(_MASK, word), row.sentence.index(_MASK)
            if any(one.qualifier for one in find_quantities(premise) if one.start == start):
                reading.left_out["whose number has a bound"] += 1
                continue
            same, other = (str(_NUMERSENSE_WORDS.index(word) + more) for more in (0, 1))
            true, untrue = (row.sentence.replace(_MASK, figure) for figure in (same, other))
            yield PairRow(premise, true, "entailed", "numersense")
            yield PairRow(premise, untrue, "not_entailed", "numersense", false=other)


def read_qags(files: Sequence[Path], reading: PublicationReading) -> Iterator[PairRow]:
    """Yield QAGS (Wang et al. 2020, ACL): a sentence of a summary and its article.

    github.com/W4ngatang/qags has ``data/mturk_cnndm.jsonl`` and ``data/mturk_xsum.jsonl``; supported
    is what more than half of the raters call so.
    """
    for path in files:
        name = plain_name(path.name.partition(".")[0].removeprefix("mturk_"))
        for _, row in typed_rows(path, TypeAdapter(_RatedSummary)):
            for rated in row.summary_sentences:
                yes = sum(one.response == "yes" for one in rated.responses)
                if 2 * yes == len(rated.responses):
                    reading.left_out["on which the raters are even"] += 1
                    continue
                label = two_way(2 * yes > len(rated.responses))
                yield PairRow(row.article, rated.sentence, label, f"qags_{name}")


def read_summedits(files: Sequence[Path], _reading: PublicationReading) -> Iterator[PairRow]:
    """Yield SummEdits (Laban et al. 2023, EMNLP): a whole summary and its document.

    The hub's Salesforce/summedits has ``summedits.json``, github.com/salesforce/factualNLG one file
    for each domain, ``summedits_news.json`` and its like, whose rows do not name it.
    """
    for path in files:
        named = path.name.partition(".")[0].removeprefix("summedits").strip("_")
        for _, row in typed_rows(path, TypeAdapter(_EditedSummary)):
            source = f"summedits_{plain_name(row.domain or named or 'unnamed')}"
            yield PairRow(row.doc, row.summary, two_way(row.label == 1), source)


def read_wice(files: Sequence[Path], _reading: PublicationReading) -> Iterator[PairRow]:
    """Yield WiCE (Kamoi et al. 2023, EMNLP): a claim of Wikipedia and the whole text that it cites.

    github.com/ryokamoi/wice has ``data/entailment_retrieval/claim/dev.jsonl`` and its like, and
    ``subclaim/`` with claims cut into parts. What is supported in part is not entailed.
    """
    for path in files:
        source = "wice_subclaim" if path.parent.name == "subclaim" else "wice"
        for _, row in typed_rows(path, TypeAdapter(_CitedClaim)):
            premise = "\n".join(row.evidence)
            yield PairRow(premise, row.claim, two_way(row.label == "supported"), source)


def two_way(supported: bool) -> Gold:
    """Return the label of a benchmark that says only whether a statement is supported."""
    return "entailed" if supported else "not_entailed"
