"""The language of the page: which one, and its sentences. All else stays English and as it is.

A sentence is looked up at the moment it is drawn. Text from outside is none of ours: it is never
looked up, and a catalogue cannot change how it is drawn (tests/unit/test_catalogue.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from typing import Any, Final

import polib
import streamlit as st

from certirag.core.said import Message, Said
from certirag.settings import ASSETS

LANGUAGES: Final = ("en", "de")
LOCALE: Final = ASSETS / "locale"
_KEY: Final = "lang"  # of the control, and in the address
_KEPT: Final = "language"
# The texts in forms. What is typed there and not sent is in the browser alone: a value from here,
# even the same one, would take its place.
TYPED: Final = ("question", "draft", "draft_question", "second_draft")


def language() -> str:
    """Return what the session has, else what the address names, else the browser's; or "en"."""
    asked = (st.session_state.get(_KEPT), st.query_params.get(_KEY), _of_browser())
    return next((str(one) for one in asked if one in LANGUAGES), LANGUAGES[0])


def choose_language() -> None:
    """Draw the choice of the language; the session keeps it, and the address for a reload."""
    now = st.session_state[_KEPT] = st.session_state[_KEY] = language()
    st.segmented_control(
        "Language · Sprache",
        LANGUAGES,
        required=True,
        key=_KEY,
        on_change=_changed,
        label_visibility="collapsed",
    )
    first = next((one for one in (_of_browser(),) if one in LANGUAGES), LANGUAGES[0])
    to_address(_KEY, now, first)


def from_address(key: str, options: Sequence[str], first: str) -> None:
    """Let the control *key* stand where the address says; else at *first*.

    Streamlit would name a choice there by its label, which is another one in each language. And
    on another page it takes the control for a new one, unless the script itself says where it
    stands. A choice just made counts, not the address: of two made at once, the browser sends the
    second with the address from before the first.
    """
    named, last = st.query_params.get(key, first), st.session_state.get(f"{key}-named")
    if last is not None and (named == last or st.session_state.get(key, last) != last):
        named = st.session_state.get(key, named)
    st.session_state[key] = named if named in options else first


def to_address(key: str, chosen: str, first: str) -> None:
    """Let the address name what is *chosen* in the control *key*, unless that is *first*."""
    st.session_state[f"{key}-named"] = chosen
    if chosen == first:
        st.query_params.pop(key, None)
    elif st.query_params.get(key) != chosen:
        st.query_params[key] = chosen


def _of_browser() -> str:
    return str(st.context.locale or "").partition("-")[0].lower()


def _changed() -> None:
    """Keep the language, and what other controls stand at: by its value, not by its old label."""
    st.session_state[_KEPT] = st.session_state[_KEY]
    for key, value in list(st.session_state.items()):
        if isinstance(value, str) and key not in {_KEY, *TYPED}:
            st.session_state[key] = value


def catalogue_of(name: str) -> NullTranslations:
    """Return the catalogue of the language *name*: `LOCALE`/name/LC_MESSAGES/certirag.po, read once."""
    return _read(name) if name in LANGUAGES[1:] else NullTranslations()


@cache
def _read(name: str) -> NullTranslations:
    path = LOCALE / name / "LC_MESSAGES" / "certirag.po"
    return GNUTranslations(BytesIO(polib.pofile(str(path)).to_binary()))


def tr(message: str, /, **values: object) -> str:
    """Return *message*, one of ours, in the language of the page, *values* in its named places."""
    if not message:
        return ""
    found = catalogue_of(language()).gettext(message)
    return (
        found.format(**{k: say(v) if isinstance(v, str) else v for k, v in values.items()})
        if values
        else found
    )


def trn(one: str, many: str, n: int, /, **values: object) -> str:
    """Return *one* or *many*, as the language has it for *n*; ``{n}`` is the number."""
    return catalogue_of(language()).ngettext(one, many, n).format(n=n, **values)


def tr_of(words: Mapping[Any, Message], name: str) -> str:
    """Return what *words* has for *name*; any other name is none of ours and stays as it is."""
    return tr(words[name]) if name in words else name


def say(text: str) -> str:
    """Return a sentence of ours in the language of the page, any other text as it is."""
    return text.told(catalogue_of(language())) if isinstance(text, Said) else text
