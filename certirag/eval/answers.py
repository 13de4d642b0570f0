"""`certirag eval answers`: how often an answer begins with the sentence that people marked.

Each passage of the data is a document of one corpus, and every question goes through the whole
pipeline. Beside it stands the plainest baseline: the sentence of all whose headings and text have
the largest cosine with the question.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from certirag.answers.pipeline import answer_question
from certirag.answers.services import Services
from certirag.bootstrap import build_services, index_of_paths
from certirag.errors import InputError
from certirag.eval.figure_tables import FigureTable
from certirag.eval.labelled_lines import labelled_lines
from certirag.eval.pairs import head_of
from certirag.eval.systems import Share
from certirag.ports import Index, Progress
from certirag.render import Mode, present
from certirag.retrieve.relevance import read_text
from certirag.settings import Settings

FORMAT: Final = 2  # of the report
_KINDS: Final = ("who", "when", "where", "why", "how", "what", "which")
_SHORTEST: Final = 20  # characters; a shorter text may stand inside any sentence by chance


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question with the sentences of one passage; *gold* numbers those that answer it."""

    id: str
    question: str
    title: str
    sentences: tuple[str, ...]
    gold: tuple[int, ...]
    source: str = ""
    headings: tuple[str, ...] = ()  # of each sentence, where they are not all under the title

    @property
    def kind(self) -> str:
        """The first word of the question that asks, or ``other``."""
        words = self.question.lower().split()
        return next((word for word in words if word in _KINDS), "other")


@dataclass(slots=True)
class AnswerTally:
    """Counts over some questions; see `shares`."""

    counts: Counter[str] = field(default_factory=Counter)

    def shares(self) -> dict[str, Share]:
        """Return each figure with its counts.

        What is called related only is not answered; *first_shown_marked* counts its first claim too.
        """
        c = self.counts
        return {
            "answered": Share(c["answered"], c["answerable"]),
            "first_claim_marked": Share(c["first"], c["answerable"]),
            "first_shown_marked": Share(c["first_shown"], c["answerable"]),
            "cosine_first_marked": Share(c["cosine"], c["answerable"]),
            "claims_marked": Share(c["marked"], c["shown"]),
            "refused_or_related": Share(c["refused"], c["unanswerable"]),
        }

    def as_report(self) -> dict[str, float | int]:
        """Return the counts, and shares to three decimals, 0 of nothing."""
        return {
            "answerable": self.counts["answerable"],
            "unanswerable": self.counts["unanswerable"],
            **{
                name: round(share.part / share.whole, 3) if share.whole else 0.0
                for name, share in self.shares().items()
            },
        }


def read_answer_rows(path: Path) -> list[QuestionRow]:
    """Read JSON lines, gzipped where the name ends in .gz; InputError names a bad line."""
    rows = []
    for number, row in labelled_lines(path, TypeAdapter(QuestionRow), "questions"):
        if not all(0 <= at < len(row.sentences) for at in row.gold):
            raise InputError(f"{path}, line {number}: gold names a sentence that is not there")
        rows.append(row)
    return rows


def run_answers(
    rows: Sequence[QuestionRow], settings: Settings, progress: Progress
) -> dict[str, Any]:
    """Ask every question of *rows* over all their passages and return the figures.

    A question that ends in an error counts as not answered, and is named.
    """
    with tempfile.TemporaryDirectory(prefix="certirag-answers-") as folder:
        services = build_services(replace(settings, home=Path(folder) / "home"))
        index = _corpus(rows, Path(folder) / "documents", services, progress)
        places = [(chunk, span) for chunk in index.chunks() for span in chunk.spans]
        vectors = services.embedder.embed([read_text(place) for place in places])
        whole, kinds = AnswerTally(), dict[str, AnswerTally]()
        failed = []
        for number, row in enumerate(rows, 1):
            progress("Asking", number, len(rows))
            try:
                cosines = vectors @ services.embedder.embed([row.question])[0]
                closest = places[int(cosines.argmax())][1].sentence
                found = _asked(row, index, services, closest)
            except Exception as error:  # noqa: BLE001  # counted and named, for whoever mends it
                failed.append(f"{row.id}: {type(error).__name__}: {error}")
                found = Counter({"answerable" if row.gold else "unanswerable": 1})
            for tally in (whole, kinds.setdefault(row.kind, AnswerTally())):
                tally.counts.update(found)
    head = head_of(services.verifier, services.policy)
    return {
        "format": FORMAT,
        "measured": f"{head[:-1]}; reader `{settings.reader}`.",
        "questions": len(rows),
        "all": whole.as_report(),
        "kinds": {kind: kinds[kind].as_report() for kind in sorted(kinds)},
        "table": _table({**{kind: kinds[kind] for kind in sorted(kinds)}, "all": whole}),
        "failed": failed,
    }


def _corpus(
    rows: Sequence[QuestionRow], folder: Path, services: Services, progress: Progress
) -> Index:
    folder.mkdir()
    for number, row in enumerate(rows):
        text = f"# {' '.join(row.title.split())}\n\n{' '.join(row.sentences)}\n"
        (folder / f"{number:05d}.md").write_text(text, encoding="utf-8")
    index, _ = index_of_paths([folder], services, progress)
    return index


def _asked(row: QuestionRow, index: Index, services: Services, closest: str) -> Counter[str]:
    """Return what became of *row*; *closest* is the sentence with the largest cosine."""
    shown = present(
        answer_question(row.question, index, services).export,
        Mode.STRICT,
        trusted=services.trusted,
        floor=services.policy,
    )
    texts = [chip.text for chip in shown.shown]
    answered = bool(texts) and shown.summary.reason_code != "RELATED_ONLY"
    if not row.gold:
        return Counter(unanswerable=1, refused=int(not answered))
    marked = [row.sentences[at] for at in row.gold]
    return Counter(
        answerable=1,
        answered=int(answered),
        first=int(answered and same_sentence(texts[0], marked)),
        first_shown=int(bool(texts) and same_sentence(texts[0], marked)),
        shown=len(texts) if answered else 0,
        marked=sum(same_sentence(text, marked) for text in texts) if answered else 0,
        cosine=int(same_sentence(closest, marked)),
    )


def same_sentence(text: str, marked: Sequence[str]) -> bool:
    """Say whether *text* is one of the *marked* sentences, a part of one, or holds one."""
    own = _letters(text)
    return any(
        own == other
        or (len(own) >= _SHORTEST and own in other)
        or (len(other) >= _SHORTEST and other in own)
        for other in map(_letters, marked)
    )


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _table(tallies: Mapping[str, AnswerTally]) -> str:
    """Return the counts of *tallies*, by kind of question, as Markdown."""
    names = tuple(AnswerTally().shares())
    head = ("question", *(name.replace("_", " ") for name in names))
    rows = [
        (kind, *(_counted(tally.shares()[name]) for name in names))
        for kind, tally in tallies.items()
    ]
    return FigureTable("answers", head, tuple(rows)).markdown()


def _counted(share: Share) -> str:
    return f"{share.part} of {share.whole}: {share.part / share.whole:.1%}" if share.whole else "–"


def answers_report_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield *report* as lines for a reader: what was measured, and a line for a kind of question."""
    yield report["measured"]
    yield ""
    yield from report["table"].splitlines()
    yield from (f"failed: {line}" for line in report["failed"])
