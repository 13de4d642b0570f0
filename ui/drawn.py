"""What the drawing path is given: badges of the gate, findings, drafts and passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol


class BadgeLike(Protocol):
    """What the gate's badge offers for drawing."""

    @property
    def kind(self) -> str: ...

    @property
    def icon(self) -> str: ...

    def word_in(self, language: str) -> str: ...

    def label_in(self, language: str) -> str: ...


class StatementLike(Protocol):
    """What is said of a claim of a draft where its words end."""

    @property
    def number(self) -> int: ...

    @property
    def badge(self) -> BadgeLike: ...

    @property
    def counted(self) -> bool: ...

    @property
    def words(self) -> str: ...

    @property
    def remark(self) -> str: ...


class QuotedLike(Protocol):
    """A statement of a draft, with the code points of its words that another draft has otherwise."""

    @property
    def statement(self) -> StatementLike: ...

    @property
    def differing(self) -> Sequence[tuple[int, int]]: ...


class StretchLike(Protocol):
    """A part of a draft that is drawn alike."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def badge(self) -> BadgeLike | None: ...

    @property
    def literal(self) -> bool: ...

    @property
    def ending(self) -> Sequence[StatementLike]: ...


class ShapeLike(Protocol):
    """A part of a passage: its *rows* hold ranges of the passage's text, one for each cell."""

    @property
    def kind(self) -> Literal["paragraph", "list", "lines", "table"]: ...

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def rows(self) -> Sequence[Sequence[tuple[int, int]]]: ...


class FindingLike(Protocol):
    """One rule's answer as recorded."""

    @property
    def rule(self) -> str: ...

    @property
    def passed(self) -> bool: ...

    @property
    def reason(self) -> str: ...
