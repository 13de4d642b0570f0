"""No text from outside reaches a Streamlit sink: a lint over app.py, app_pages/ and ui/."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from certirag.render.badge import _WORDS

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    ROOT / "app.py",
    ROOT / "asgi.py",
    *sorted((ROOT / "app_pages").glob("*.py")),
    *sorted((ROOT / "ui").glob("*.py")),
]
PROSE = "contract_text.py"
INERT = "inert.py"
CHARTS = "charts.py"  # draws numbers and weeks only: tests/pages/test_audit.py

DRAWING = {
    name
    for name in {*dir(DeltaGenerator), *dir(st)}
    if not name.startswith("_") and callable(getattr(DeltaGenerator, name, getattr(st, name, None)))
} | {"update"}
LAYOUT = {
    "empty",
    "logo",
    "container",
    "columns",
    "form",
    "fragment",
    "rerun",
    "cache_data",
    "cache_resource",
    "get_option",
    "pagination",
    "switch_page",
    "Page",
    "App",
}
SAFE = LAYOUT | {
    "button",
    "caption",
    "dialog",
    "download_button",
    "expander",
    "file_uploader",
    "form_submit_button",
    "header",
    "info",
    "markdown",
    "navigation",
    "popover",  # its label is checked as any other; what stands in it is drawn by other calls
    "segmented_control",
    "selectbox",
    "set_page_config",
    "slider",
    "spinner",
    "status",
    "subheader",
    "text_area",
    "text_input",
    "title",
    "toggle",
    "update",
}
# Keywords that nobody reads: identities, callbacks, measures and the bytes of a download.
UNREAD = {
    "accept_multiple_files",
    "anchor",
    "args",
    "bind",
    "data",
    "disabled",
    "expanded",
    "file_name",
    "gap",
    "key",
    "max_chars",
    "max_entries",
    "middleware",
    "mime",
    "on_change",
    "on_click",
    "on_dismiss",
    "page_icon",
    "persist_state",
    "query_params",
    "scope",
    "vertical_alignment",
    "width",
    "wrap",
}
# The word of a badge in any language but English, which the prose of the contract explains.
BADGE_WORDS = sorted({word["verified"].casefold() for word in _WORDS.values()})
# A select box shows its options letter by letter; technique: no directive works there.
LITERAL_OPTIONS = {"selectbox": {"options", "format_func"}}


def violations(path: Path, source: str) -> list[str]:
    """Return what in *source* could draw text from outside, one line each."""
    tree = ast.parse(source)
    found = [*_imports(tree), *_bare_streamlit(tree), *_words(path, tree)]
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        on_streamlit = name and _is_streamlit(call.func.value)
        if not on_streamlit and (name not in DRAWING or _is_plain_method(call, name)):
            continue
        found += _call(path, tree, call, name)
    if path.name == INERT:
        found += _markup(tree)
    if path.name == PROSE:
        found += [f"line {n.lineno}: prose calls something" for n in _nodes(tree, ast.Call)]
    return found


def _nodes(tree: ast.AST, kind: type) -> Iterator:
    return (node for node in ast.walk(tree) if isinstance(node, kind))


def _is_streamlit(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "st"


def _is_plain_method(call: ast.Call, name: str) -> bool:
    """Methods of dicts, strings and paths that share a name with a drawing function."""
    return name in {"form", "context", "map"} and not call.args


def _imports(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "streamlit":
            found.append(f"line {node.lineno}: import streamlit only as st")
        if isinstance(node, ast.Import):
            found += [
                f"line {node.lineno}: import streamlit only as st"
                for alias in node.names
                if alias.name.split(".")[0] == "streamlit"
                and (alias.name, alias.asname) != ("streamlit", "st")
            ]
    return found


def _bare_streamlit(tree: ast.Module) -> list[str]:
    """`st` may only stand before a dot: no alias, no getattr."""
    before_dot = {id(node.value) for node in _nodes(tree, ast.Attribute)}
    return [
        f"line {node.lineno}: st is passed around"
        for node in _nodes(tree, ast.Name)
        if node.id == "st" and id(node) not in before_dot
    ]


def _words(path: Path, tree: ast.Module) -> list[str]:
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    refused = ["-badge[", ":material/", "unsafe_allow", *BADGE_WORDS]
    if path.name != PROSE:
        refused.append("verified")
    found = [
        f"line {node.lineno}: {word!r} in a string"
        for node in _nodes(tree, ast.Constant)
        if isinstance(node.value, str) and id(node) not in docstrings
        for word in refused
        if word in node.value.lower()
    ]
    return found + [
        f"line {node.value.lineno}: keyword {node.arg}"
        for node in _nodes(tree, ast.keyword)
        if (node.arg or "").startswith("unsafe_allow")
    ]


def _call(path: Path, tree: ast.Module, call: ast.Call, name: str) -> list[str]:
    where = f"{path.name} line {call.lineno}"
    if name == "html" and path.name == INERT:
        return _html_call(where, call)
    if _is_streamlit(call.func.value) and not isinstance(call.func.value, ast.Name):
        return []  # st.session_state.get, st.query_params.pop: state, nothing is drawn
    if name == "code" and path.name == INERT:
        return _code_call(where, call)
    if name == "plotly_chart" and path.name == CHARTS:
        return []
    if name not in SAFE:
        return [f"{where}: st.{name} is not on the safe list"]
    literal = LITERAL_OPTIONS.get(name, set())
    read = [] if name in LAYOUT - {"Page"} else list(call.args)
    if literal:
        read = read[:1]
    read += [
        k.value
        for k in call.keywords
        if k.arg not in UNREAD | literal
        # What it translates are the options, which are looked at themselves.
        and not (k.arg == "format_func" and ast.unparse(k.value) == "tr")
    ]
    return [
        f"{where}: st.{name} draws {ast.unparse(argument)}"
        for argument in read
        if not _constant(tree, argument)
    ]


def _html_call(where: str, call: ast.Call) -> list[str]:
    argument = ast.unparse(call.args[0])
    allowed = argument in {"STYLE", "''.join(parts)"} or argument.startswith("SCHEMES[")
    return [] if allowed else [f"{where}: st.html draws {argument}"]


def _code_call(where: str, call: ast.Call) -> list[str]:
    """A code box shows its text letter by letter (technique), if no language colours it.

    It takes a report, whose text cannot imitate a status, or text made `visible`.
    """
    body = call.args[0] if len(call.args) == 1 else None
    inert = isinstance(body, ast.Call) and ast.unparse(body.func) in {"plain_report", "visible"}
    plain = any(k.arg == "language" and ast.unparse(k.value) == "None" for k in call.keywords)
    return [] if inert and plain else [f"{where}: st.code draws {ast.unparse(call)}"]


def _constant(tree: ast.Module, node: ast.expr) -> bool:
    """Say whether *node* is ours whatever comes in: a literal, a constant, a number."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name.isupper() and _literal_name(tree, name)
        case ast.Subscript(value=value):
            return _constant(tree, value)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return all(_constant(tree, item) for item in items)
        case ast.Starred(value=value):
            return _constant(tree, value)
        case ast.IfExp(body=one, orelse=other):
            return _constant(tree, one) and _constant(tree, other)
        case ast.JoinedStr(values=values):
            return all(_constant(tree, value) for value in values)
        case ast.FormattedValue(format_spec=ast.JoinedStr(values=[ast.Constant(value=spec)])):
            return spec in {"d", ".2f"}  # a text in its place is an error, not a label
        case ast.FormattedValue(value=value, format_spec=None):
            return _constant(tree, value)
        case ast.Call(func=ast.Attribute(attr="label_in", value=ast.Attribute(attr="badge"))):
            return ast.unparse(node.args[0]) == "language()"  # the gate's own three words
        case ast.Call(func=ast.Name(id="tr" | "trn")):
            return _translated(tree, node)
        case ast.Call(func=ast.Attribute(attr="Page")):
            return True  # checked as a call of its own
    return False


def _translated(tree: ast.Module, call: ast.Call) -> bool:
    """Say whether *call* translates a constant of ours, with nothing but numbers put into it."""
    plural = ast.unparse(call.func) == "trn"
    messages = call.args[:2] if plural else call.args
    if not all(_constant(tree, message) for message in messages):
        return False
    if not (call.keywords or plural):
        return True
    if not all(isinstance(message, ast.Constant) for message in messages):
        return False
    fields = [f for m in messages for f in Formatter().parse(m.value) if f[1] is not None]
    return all(spec in {"d", ".2f"} for _, _, spec, _ in fields)  # a text there is an error


def _literal_name(tree: ast.Module, name: str) -> bool:
    """Follow *name* to its definition, here or where it is imported from."""
    for node in tree.body:
        if isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(t, ast.Name) and t.id == name for t in targets):
                return _is_literal(node.value)
        if isinstance(node, ast.ImportFrom) and any(a.name == name for a in node.names):
            if node.module == "certirag.render":
                return isinstance(getattr(importlib.import_module(node.module), name), str)
            source = ROOT / f"{(node.module or '').replace('.', '/')}.py"
            return source.is_file() and _literal_name(ast.parse(source.read_text("utf-8")), name)
    return False


def _is_literal(node: ast.expr | None) -> bool:
    try:
        return node is not None and ast.literal_eval(node) is not None
    except ValueError:
        return isinstance(node, ast.Dict) and all(
            _is_literal(key) or isinstance(key, ast.Name) for key in node.keys
        )


def _markup(tree: ast.Module) -> list[str]:
    """In ui/inert.py: what enters a template is inert, finished markup or a number."""
    found = []
    for function in _nodes(tree, ast.FunctionDef):
        made = {
            target.id
            for node in _nodes(function, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(function):
            if isinstance(node, ast.FormattedValue) and not _inert_value(tree, node):
                found.append(f"line {node.lineno}: {ast.unparse(node.value)} enters a template")
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Markup":
                argument = node.args[0]
                if isinstance(argument, ast.Name) and argument.id not in made:
                    found.append(f"line {node.lineno}: {argument.id} becomes markup unseen")
    return found


def _inert_value(tree: ast.Module, node: ast.FormattedValue) -> bool:
    if isinstance(node.format_spec, ast.JoinedStr):
        spec = ast.unparse(node.format_spec)
        return spec in {"f'.1f'", "f'.2f'", "f'd'"}
    if not isinstance(node.value, ast.Call):
        return False
    name = ast.unparse(node.value.func)
    inert = {"inert_html", "inert_slice", "highlight_html", "inert_label", "_ready"}
    return name in inert or name.endswith("_markup")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_file_draws_text_from_outside(path: Path) -> None:
    """A page or ui file draws constants and numbers, or goes through ui/inert.py."""
    assert violations(path, path.read_text("utf-8")) == []


BAD = {
    "markdown of a name": "st.markdown(text)",
    "write": "st.write('hello')",
    "label from a claim": "st.button(chip.text)",
    "f-string with text": "st.caption(f'Title {title}')",
    "f-string with a spec": "st.caption(f'Title {title:>5}')",
    "on a container": "box.markdown(text)",
    "status label": "status.update(label=line)",
    "html elsewhere": "st.html('<b>x</b>')",
    "table": "st.dataframe(rows)",
    "exception": "st.exception(error)",
    "toast": "st.toast(message)",
    "fake badge": "st.caption('All Verified')",
    "fake badge in German": "st.caption('Alles belegt')",
    "translated text from outside": "st.caption(tr(title))",
    "text in a translated message": "st.caption(tr('Title {title}', title=title))",
    "text in a plural": "st.caption(trn('{n:d} {x}', '{n:d} {x}', 2, x=title))",
    "another translated label": "st.segmented_control('Show', ['a'], format_func=label)",
    "label of something else": "st.button(chip.label_in(language()))",
    "badge directive": "st.caption(':green-badge[x]')",
    "material icon": "st.button('Go', icon=':material/check:')",
    "unsafe html": "st.markdown('x', unsafe_allow_html=True)",
    "segmented labels": "st.segmented_control('Show', options)",
    "help text": "st.button('Go', help=text)",
    "caption of a variable constant": "NAME = load()\nst.caption(NAME)",
    "unknown constant": "st.caption(NOWHERE)",
    "alias": "draw = st\ndraw.caption('x')",
    "getattr": "getattr(st, 'markdown')(text)",
    "a code box elsewhere": "st.code(text)",
    "a chart elsewhere": "st.plotly_chart(figure)",
    "other import": "from streamlit import markdown",
    "expander": "with st.expander(title):\n    pass",
    "code": "st.code(plain_report(report), language=None)",
    "popover": "with st.popover(title):\n    pass",
    "dialog title": "@st.dialog(title)\ndef f():\n    pass",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD.keys())
def test_lint_refuses_what_it_is_for(source: str) -> None:
    """Each way to draw text from outside is found by the lint."""
    assert violations(Path("ui/some_file.py"), f"import streamlit as st\n{source}\n")


@pytest.mark.parametrize(
    "source",
    [
        "def draw_x(text):\n    st.html(text)",
        "def draw_x(text):\n    st.code(text, language=None)",
        "def draw_x(report):\n    st.code(plain_report(report))",
        "def draw_x(report):\n    st.code(plain_report(report), 'python')",
        "def draw_x(text):\n    _put(Markup(f'<b>{text}</b>'))",
        "def draw_x(text):\n    _put(Markup(text))",
    ],
)
def test_lint_refuses_raw_text_in_the_drawing_path(source: str) -> None:
    """Even in ui/inert.py a text that was not made inert is found."""
    assert violations(Path("ui/inert.py"), f"import streamlit as st\n{source}\n")
