"""Marks text of strangers in a prompt as material: lines that nobody but us can have written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from certirag.errors import InputError, LanguageModelError

_LABEL: Final = re.compile(r"[a-z][a-z0-9 _.:-]{0,63}", re.IGNORECASE)
_NONCE: Final = re.compile(r"[0-9a-f]{16,64}")


def delimiters(label: str, nonce: str) -> tuple[str, str]:
    """Return the lines before and behind the text called *label*.

    *nonce* is drawn anew for each request (``secrets.token_hex(8)``), so that no text can have
    been written with it in view. Raises InputError for a label or a nonce of another form.
    """
    if not _LABEL.fullmatch(label):
        raise InputError(f"{label!r} cannot name a text in a prompt: use letters and digits")
    if not _NONCE.fullmatch(nonce):
        raise InputError("a delimiter must be 16 to 64 hexadecimal digits in small letters")
    return f"<{label} {nonce}>", f"</{label} {nonce}>"


def delimited(label: str, text: str, nonce: str) -> str:
    """Return *text*, as it is, between the delimiters of *label* and *nonce*.

    Raises InputError when the text holds the nonce, in whatever letters: then it was not drawn
    for this request alone, and the caller draws another.
    """
    before, behind = delimiters(label, nonce)
    if nonce in text.casefold():
        raise InputError(
            f"the text {label!r} holds its own delimiter: draw another for this request"
        )
    return f"{before}\n{text}\n{behind}"


def unmarked(pieces: Iterable[str], nonce: str) -> Iterator[str]:
    """Yield the *pieces* of an answer, none of which may write the *nonce* of its request.

    A small model repeats the material it was shown, delimiters and all; and an answer that gives
    the nonce away would let the next text be written with it in view. LanguageModelError then.
    """
    end = ""
    for piece in pieces:
        end += piece.casefold()
        if nonce in end:
            message = "the language model repeats the marks of its request instead of answering"
            raise LanguageModelError("malformed", message)
        end = end[-len(nonce) :]
        yield piece
