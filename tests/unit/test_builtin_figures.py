"""README's figures are those of the benchmark that ships, measured with the verifier that ships."""

from __future__ import annotations

import re
from pathlib import Path

from certirag.bootstrap import load_policy, make_verifier
from certirag.eval.pairs import head_of
from certirag.settings import read_settings

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "builtin.md").read_text("utf-8")


def test_the_page_is_of_the_verifier_and_the_policy_that_ship() -> None:
    """Whoever changes either measures again: ``certirag eval builtin``."""
    settings = read_settings({})
    head = head_of(make_verifier(settings.verifier), load_policy(settings.policy))
    assert f"{head[:-1]}; reader `{settings.reader}`.\n" in PAGE


def test_readme_says_no_other_figures() -> None:
    """Every row of its tables of figures is one of the page's."""
    readme = (ROOT / "README.md").read_text("utf-8")
    part = readme.partition("\n## Figures\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\|.*\|$", part, re.MULTILINE)
    assert len(rows) > 20
    assert set(rows) <= set(PAGE.splitlines())
