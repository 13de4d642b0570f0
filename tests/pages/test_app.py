"""The app as a whole: its pages open, and it starts without the heavy library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["ask", "draft", "corpus", "evaluation", "contract", "document"])
def test_each_page_opens_from_the_app(stage, page) -> None:
    """Every page of the navigation runs without an exception and shows its title."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
    at.switch_page(f"app_pages/{page}.py").run()
    assert not at.exception
    assert len(at.title) == 1


def test_the_app_never_imports_torch(tmp_path) -> None:
    """Importing the app's ui and building its services leaves torch out."""
    code = (
        "import sys, ui.ask, ui.corpus, ui.contract\n"
        "from certirag.bootstrap import build_services\n"
        "from certirag.settings import read_settings\n"
        "build_services(read_settings())\n"
        "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)\n"
    )
    environment = {"CERTIRAG_HOME": str(tmp_path), "PATH": "", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_headers_forbid_foreign_content() -> None:
    """The policy names no host but our own and no eval."""
    from ui.headers import CONTENT_SECURITY_POLICY, HEADERS

    assert "http" not in CONTENT_SECURITY_POLICY
    assert "eval" not in CONTENT_SECURITY_POLICY
    assert "default-src 'self'" in HEADERS["Content-Security-Policy"]
    assert HEADERS["X-Content-Type-Options"] == "nosniff"
