"""The formats of labelled pairs by name: which files each is published in, and what reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from certirag.errors import InputError
from certirag.eval.pair_rows import PairRow, read_pair_rows
from certirag.eval.published_evidence import (
    fever_files,
    read_fever,
    read_finfact,
    read_scifact,
    scifact_files,
)
from certirag.eval.published_files import (
    LeftOut,
    PublicationReading,
    digest_of,
    files_named,
    one_file,
    told,
)
from certirag.eval.published_pairs import (
    read_attributionbench,
    read_attrscore,
    read_healthver,
    read_llm_aggrefact,
    read_numersense,
    read_qags,
    read_summedits,
    read_wice,
)
from certirag.eval.published_spans import (
    ragtruth_files,
    read_faithbench,
    read_faithbench_summaries,
    read_ragtruth,
    read_ragtruth_responses,
)
from certirag.ports import Progress

PLAIN: Final = "plain"
_Read = Callable[[Sequence[Path], PublicationReading], Iterator[PairRow]]
_BATCHES: Final = files_named("batch_*.json")
_FORMATS: Final[dict[str, tuple[Callable[[Path], list[Path]], _Read]]] = {
    PLAIN: (one_file, lambda files, _: read_pair_rows(files[0])),
    "attributionbench": (one_file, read_attributionbench),
    "attrscore": (one_file, read_attrscore),
    "faithbench": (_BATCHES, read_faithbench),
    "faithbench-summaries": (_BATCHES, read_faithbench_summaries),
    "fever": (fever_files, read_fever),
    "finfact": (one_file, read_finfact),
    "healthver": (one_file, read_healthver),
    "llm-aggrefact": (one_file, read_llm_aggrefact),
    "numersense": (one_file, read_numersense),
    "qags": (files_named("mturk_*.jsonl"), read_qags),
    "ragtruth": (ragtruth_files, read_ragtruth),
    "ragtruth-responses": (ragtruth_files, read_ragtruth_responses),
    "scifact": (scifact_files, read_scifact),
    "summedits": (files_named("summedits*.json"), read_summedits),
    "wice": (one_file, read_wice),
}
PAIR_FORMATS: Final = tuple(_FORMATS)


@dataclass(frozen=True, slots=True)
class PublishedPairs:
    """Labelled pairs in the files of a format; *left_out* fills while rows are read, by reason."""

    format: str
    path: Path
    files: tuple[Path, ...]
    left_out: LeftOut = field(default_factory=LeftOut)

    def rows(self, progress: Progress = lambda *_: None) -> Iterator[PairRow]:
        """Yield the rows from the start; InputError naming file, place and field of what is none.

        Raises InputError too where every row was left out.
        """
        self.left_out.clear()
        _, read = _FORMATS[self.format]
        found = False
        for row in read(self.files, PublicationReading(self.left_out, progress)):
            if self.format != PLAIN and not (row.premise.strip() and row.hypothesis.strip()):
                self.left_out["without a text or a statement"] += 1
                continue
            found = True
            yield row
        if not found:
            raise InputError(
                f"{self.path} holds no rows to measure; left out: {told(self.left_out)}"
            )

    def sha256(self) -> str:
        """Return the SHA-256 of the file, or of the names and digests of several."""
        return digest_of(self.files)


def published_pairs(name: str, path: Path) -> PublishedPairs:
    """Return the pairs of the file or folder *path* in the format *name*.

    Raises InputError for another name, and where the files of the format are not there.
    """
    if name not in _FORMATS:
        raise InputError(f"no format is called {name[:40]!r}: take {', '.join(_FORMATS)}")
    files_of, _ = _FORMATS[name]
    return PublishedPairs(name, path, tuple(files_of(path)))
