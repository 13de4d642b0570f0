"""The rules of the house that import-linter cannot see."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path
    for folder in ("certirag", "training", "ui", "app_pages")
    for path in (ROOT / folder).rglob("*.py")
)
# The checker is one file on purpose: an auditor takes it along and reads it in a sitting.
# One file checks alone, and one file alone makes markup.
LONGEST = {"checker.py": 1110, "inert.py": 470}
WORDS = {"utils", "helpers", "helper", "manager", "util", "misc", "common"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_a_sentence(path: Path) -> None:
    """It says what it is for in its first line, and it is short."""
    text = path.read_text("utf-8")
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    most = LONGEST.get(path.name, 400)
    assert len(text.splitlines()) <= most, f"longer than {most} lines: split it"
    assert path.stem not in WORDS, "a name that says nothing"


def test_only_bootstrap_names_adapters() -> None:
    """Everything else speaks to ports; training builds the adapters' files and tries them."""
    allowed = {"bootstrap.py"}
    for path in SOURCES:
        if path.name in allowed or {"adapters", "training", "ui"} & set(path.parts):
            continue
        assert "certirag.adapters" not in path.read_text("utf-8"), path


def test_every_room_is_described_and_only_those() -> None:
    """docs/architecture.md has a paragraph and a line of its tree for each folder."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rooms = {path.parent.name for path in (ROOT / "certirag").glob("*/__init__.py")}
    assert set(re.findall(r"^\*\*(\w+)\*\* ", page, re.MULTILINE)) == rooms
    tree = page.split("```")[1]
    assert rooms <= set(re.findall(r"(\w+)/", tree))


def test_no_name_stands_twice() -> None:
    """A file or a public class is found by its name alone."""
    package = [path for path in SOURCES if path.is_relative_to(ROOT / "certirag")]
    files = Counter(path.name for path in package if not path.name.startswith("__"))
    classes = Counter(
        node.name
        for path in package
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    # pytest imports a test module by its file's name: of two that share it, one is not collected.
    tests = Counter(path.name for path in (ROOT / "tests").glob("*/*.py"))
    tests.pop("conftest.py", None)
    assert [name for name, count in (files + classes + tests).items() if count > 1] == []


def test_the_badge_words_have_one_home() -> None:
    """The badge's own strings exist in render/badge.py only; one file of prose explains them."""
    for path in SOURCES:
        if path.name in {"badge.py", "contract_text.py"}:  # the latter may not call anything
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.search(r"✅ ?Verified", node.value), path


def test_app_is_page_config_and_navigation_only() -> None:
    """app.py stays a table of contents."""
    assert len((ROOT / "app.py").read_text("utf-8").splitlines()) <= 60


def test_pages_are_thin() -> None:
    """A page is a script of at most 50 lines."""
    for path in (ROOT / "app_pages").glob("*.py"):
        assert len(path.read_text("utf-8").splitlines()) <= 50, path
