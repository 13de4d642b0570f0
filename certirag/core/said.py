"""A sentence for people: English as its value, and what it takes to say it in another language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    from gettext import NullTranslations

# Marks a constant of ours that people read, so that the catalogues can be checked against all of
# them (tests/unit/test_catalogue.py). To everything else it is a plain text.
Message = Annotated[str, "message"]


class Said(str):
    """Text made from a *message* with named places, which keeps the message and what fills them.

    Equal to the plain English text, hashed and written like it. Only code makes one: what is read
    from a record, a document or a model is plain text and is never translated.
    """

    __slots__ = ("message", "plural", "values")
    message: str
    plural: str
    values: Mapping[str, object]

    def __new__(cls, message: str, plural: str, values: Mapping[str, object]) -> Said:
        """Fill *values* into *message*, or into *plural* where there is one and ``n`` is not 1."""
        several = plural and values["n"] != 1
        new = super().__new__(cls, (plural if several else message).format(**values))
        new.message, new.plural, new.values = message, plural, values
        return new

    def __getnewargs__(self) -> tuple[str, str, dict[str, object]]:  # type: ignore[override]
        """Let a copy keep its message."""
        return self.message, self.plural, dict(self.values)

    def told(self, catalogue: NullTranslations) -> str:
        """Return the text in the language of *catalogue*; English where that lacks the message."""
        message = catalogue.gettext(self.message)
        if self.plural:
            message = catalogue.ngettext(self.message, self.plural, int(str(self.values["n"])))
        return message.format(
            **{k: v.told(catalogue) if isinstance(v, Said) else v for k, v in self.values.items()}
        )


def said(message: str, /, **values: object) -> Said:
    """Return *message* with *values* in its named places."""
    return Said(message, "", values)


def said_n(one: str, many: str, n: int, /, **values: object) -> Said:
    """Return *one* where *n* is 1, else *many*; ``{n}`` is the number."""
    return Said(one, many, {"n": n, **values})


def ended(text: str) -> Said:
    """Return *text* with a full stop behind it."""
    return Said("{text}.", "", {"text": text})


def together(*texts: str, between: str = " ") -> Said:
    """Return *texts* one behind the other, each still to be said in any language."""
    places = {f"text{number}": text for number, text in enumerate(texts)}
    return Said(between.join(f"{{{name}}}" for name in places), "", places)
