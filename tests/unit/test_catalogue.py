"""The catalogues hold every sentence that people read, each once, and can bring nothing but words."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Final, get_args, get_origin

import polib
import pytest

from certirag.core.said import Message, Said, ended, said, said_n, together
from certirag.render.badge import _WORDS
from certirag.render.probe_verdicts import PlantedView, counted_sentence
from certirag.render.recorded import INSIDE, restated
from certirag.render.why import why
from ui.language import LANGUAGES, LOCALE, catalogue_of

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    ROOT / "app.py",
    *sorted((ROOT / "ui").glob("*.py")),
    *sorted((ROOT / "certirag" / "render").glob("*.py")),
    ROOT / "certirag" / "verification" / "measured.py",
]
SINGLE, PLURAL = {"tr", "said"}, {"trn", "said_n"}
CATALOGUES = {
    name: polib.pofile(str(LOCALE / name / "LC_MESSAGES" / "certirag.po")) for name in LANGUAGES[1:]
}
# Streamlit reads these as markup in a label; the prose of the contract has some, in every language.
MARKUP = re.compile(r"\*\*|[*_`|<>\[\]$#~\\]|:[a-z/_]+:|-badge|https?|www\.|@|^- |^\d+\. ", re.M)
# Drawn by the functions that take finished words: what stands there has been translated.
DRAWS = {
    *("button", "caption", "download_button", "expander", "form_submit_button", "header", "info"),
    *("popover", "selectbox", "slider", "status", "subheader", "text_area", "text_input", "title"),
    *("toggle", "spinner", "update", "segmented_control", "file_uploader", "markdown", "Page"),
}
# It takes the key of what the session keeps.
OWN_WORDS = {"draw_earlier"}
READ_KEYWORDS = {"label", "help", "placeholder", "title"}
# The same in every language: names of formats, and the choice of the language itself.
NAMES = {"CSV", "JSON Lines", "SHA-256", "Language · Sprache"}

OUTCOMES: Final = ("survived", "unmeasured")  # of a planted error
Entry = tuple[str, str]  # message, plural ("" without one)


def _module(path: Path) -> Any:
    return importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def _calls(path: Path) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else ""
            yield node, function.id if isinstance(function, ast.Name) else name


def _written(path: Path) -> Iterator[Entry]:
    """Yield the messages that stand in calls as literals."""
    for call, name in _calls(path):
        texts = [a.value if isinstance(a, ast.Constant) else None for a in call.args[:2]]
        if name in SINGLE and texts and isinstance(texts[0], str):
            yield texts[0], ""
        if name in PLURAL:
            yield str(texts[0]), str(texts[1])


def _kept(path: Path) -> Iterator[Entry]:
    """Yield the messages in constants, which their annotation marks."""
    if path.name == "app.py":
        return
    module = _module(path)
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            hint = ast.unparse(node.annotation)
            if hint != "Final" and not hint.startswith("Final[threading"):
                value = getattr(module, node.target.id)
                marked = _marked(eval(hint, vars(module)), value)  # noqa: S307  # our own code
                yield from ((text, "") for text in marked if text)


def _marked(hint: Any, value: Any) -> Iterator[str]:
    """Yield the parts of *value* that *hint* marks as messages."""
    if hint == Message:
        yield value
        return
    origin, inner = get_origin(hint), get_args(hint)
    if origin in {Final, Annotated}:
        yield from _marked(inner[0], value)
    elif isinstance(value, tuple) and inner:
        hints = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        for part, item in zip(hints, value, strict=True):
            yield from _marked(part, item)
    elif hasattr(value, "items") and inner:
        for key, item in value.items():
            yield from _marked(inner[0], key)
            yield from _marked(inner[1], item)


@cache
def messages() -> dict[Entry, str]:
    """Return every message of the code with the first file that has it."""
    found: dict[Entry, str] = {}
    for path in FILES:
        for entry in (*_written(path), *_kept(path)):
            if entry[0]:
                found.setdefault(entry, path.name)
    return found


def _forms(entry: polib.POEntry) -> list[str]:
    return [entry.msgstr] if not entry.msgid_plural else list(entry.msgstr_plural.values())


def _places(text: str) -> set[tuple[str, str, str]]:
    return {
        (name, spec or "", conversion or "")
        for _, name, spec, conversion in Formatter().parse(text)
        if name is not None
    }


@pytest.mark.parametrize("language", CATALOGUES)
def test_a_catalogue_has_every_message_and_no_other(language) -> None:
    """A sentence that the code has and the catalogue lacks stays English; one it lost is dead."""
    entries = {(e.msgid, e.msgid_plural) for e in CATALOGUES[language] if not e.obsolete}
    ours = messages()
    assert {entry: ours[entry] for entry in ours.keys() - entries} == {}
    assert entries - ours.keys() == set()
    assert [e.msgid for e in CATALOGUES[language] if not all(_forms(e)) or e.fuzzy] == []
    assert len(entries) == len(list(CATALOGUES[language]))


@pytest.mark.parametrize("language", CATALOGUES)
def test_a_translation_has_the_same_places_and_no_markup_of_its_own(language) -> None:
    """Whatever fills a place is drawn as it is in English, and no label gains markup."""
    wrong = []
    for entry in CATALOGUES[language]:
        for form in _forms(entry):
            same = _places(form) == _places(entry.msgid) | _places(entry.msgid_plural)
            alike = sorted(MARKUP.findall(form)) == sorted(MARKUP.findall(entry.msgid))
            plain = form.replace("\n", "").isprintable()
            wrong += [] if same and alike and plain else [form]
    assert wrong == []


@pytest.mark.parametrize("form", ["{name!r}", "{name!a}", "{name:>9}", "{name.real}", "{0}", "{}"])
def test_a_place_that_is_read_otherwise_is_another_place(form) -> None:
    """A translation cannot have the same value written in another way, nor a part of it."""
    assert _places(form) != _places("{name}")


def test_no_message_parts_the_thousands() -> None:
    """A comma is a decimal one in other languages: "1,224" would be read as little more than 1."""
    assert [m for m in messages() if any("," in spec for _, spec, _ in _places("".join(m)))] == []


@pytest.mark.parametrize("language", CATALOGUES)
def test_a_translation_speaks_of_the_badge_only_where_english_does(language) -> None:
    """The word of the badge itself is the gate's: no message is just that word."""
    word = _WORDS[language]["verified"].casefold()
    words = {w.casefold() for w in _WORDS[language].values()}
    for entry in CATALOGUES[language]:
        for form in _forms(entry):
            assert form.strip(" .✅⚠️❌").casefold() not in words, form
            if word in form.casefold():
                assert "verified" in entry.msgid.casefold(), form


def test_what_is_read_is_translated() -> None:
    """A literal that a page draws goes through the catalogue."""
    bare = []
    for path in FILES:
        if path.parent.name == "render" or path.name in {"inert.py", "measured.py"}:
            continue
        for call, name in _calls(path):
            first = call.args[:1] if name in DRAWS and isinstance(call.func, ast.Attribute) else []
            drawn = call.args if name.startswith("draw_") and name not in OWN_WORDS else []
            named = [k.value for k in call.keywords if k.arg in READ_KEYWORDS and (first or drawn)]
            bare += [
                f"{path.name} {node.lineno}: {ast.unparse(node)}"
                for node in [*first, *drawn[:1], *named]
                for node in _untranslated(node)
            ]
    assert bare == []


def _untranslated(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Constant(value=str(text)):
            if re.search(r"[A-Za-z]{2}", text) and text not in NAMES and "app_pages" not in text:
                yield node
        case ast.Name(id=name) if name.isupper() and name not in {"STYLE"}:
            yield node
        case ast.JoinedStr(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
            for value in values:
                yield from _untranslated(value)
        case ast.IfExp(body=one, orelse=other):
            yield from _untranslated(one)
            yield from _untranslated(other)


def test_every_constant_that_is_looked_up_is_marked() -> None:
    """`tr(NAME)` and `said(NAME)` look up what an annotation marks, so that it is collected."""
    unmarked = []
    for path in FILES:
        module = None if path.name == "app.py" else _module(path)
        for call, name in _calls(path):
            if name not in SINGLE | {"tr_of"} or not call.args:
                continue
            root = call.args[0]
            while isinstance(root, ast.Subscript | ast.Attribute | ast.Call):
                root = root.func if isinstance(root, ast.Call) else root.value
            known = {message for message, _ in messages()} | {""}
            if isinstance(root, ast.Name) and root.id.isupper():
                unmarked += sorted(set(_texts(getattr(module, root.id))) - known)
    assert unmarked == []


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if hasattr(value, "values") else value:
        if not isinstance(value, str):
            yield from _texts(item)


def test_a_sentence_is_english_until_it_is_told() -> None:
    """Equal to its English text, written like it, and told with what fills it as it is."""
    german = catalogue_of("de")
    hostile = "{n} **x** {x.__class__}"
    line = said("Claim {number} is left out. {why}", number=2, why=hostile)
    assert line == f"Claim 2 is left out. {hostile}"
    assert type(str(line)) is str
    assert line.told(german).endswith(hostile)
    assert line.told(german) != line
    one, two = (said_n("{n} passage", "{n} passages", n) for n in (1, 2))
    assert (one, two) == ("1 passage", "2 passages")
    assert one.told(german) != two.told(german)
    both = ended(together(one, "as it is", two, between="; "))
    assert both == "1 passage; as it is; 2 passages."
    assert both.told(german) == f"{one.told(german)}; as it is; {two.told(german)}."


def test_one_planted_error_is_told_as_one() -> None:
    """German has another verb for one than for several, where English has the same."""
    german = catalogue_of("de")
    one, several = (PlantedView("c1", "unit", "x", "x", "x", o, "") for o in OUTCOMES)
    told = counted_sentence([one, several, several]).told(german)
    assert told == "3 eingebaut, 0 erkannt, 1 bestand jede Regel, 2 ließen sich nicht messen."


def test_a_copy_of_a_sentence_can_still_be_told() -> None:
    """What a session keeps is pickled and copied."""
    import copy
    import pickle

    line = said_n("{n} passage", "{n} passages", 3)
    for other in (copy.deepcopy(line), pickle.loads(pickle.dumps(line))):  # noqa: S301  # our own
        assert isinstance(other, Said)
        assert other == line
        assert other.told(catalogue_of("de")) == line.told(catalogue_of("de"))


def test_a_recorded_text_of_a_known_shape_can_be_told() -> None:
    """It stays what was recorded, letter for letter, and a quotation of it is left alone."""
    told = why("well_formed", "not checkable: it is a question").sentence
    assert told == "It cannot be checked: it is a question."
    assert told.told(catalogue_of("de")).endswith("sie ist eine Frage.")
    quoted = why("numbers", "the evidence does not say “it is a question”").sentence
    assert "“it is a question”" in quoted
    assert "it is a question" in quoted.told(catalogue_of("de"))
    missed = why("planted_errors", "1 of 3 planted errors could not be measured: the rule broke")
    told = missed.sentence.told(catalogue_of("de"))
    assert told == "Nicht messen ließen sich: 1 von 3 eingebauten Fehlern."
    assert type(restated("it is something else", INSIDE)) is str


def test_an_unknown_language_is_english() -> None:
    """Nothing outside of the list is looked for on the disk."""
    assert catalogue_of("../../etc").gettext("Ask") == "Ask"
