"""`certirag.ask` and `certirag.verify`: the package can be called, the display fails closed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import certirag

DOCUMENT = "# Leave\n\nEmployees receive 27 days of leave per year.\n"
DRAFT = "Employees receive 27 days of leave per year. Employees receive 40 days of leave per year."


def test_verify_shows_each_claim(tmp_path: Path) -> None:
    """One claim is Verified, the other is not; HTML and text agree."""
    (tmp_path / "leave.md").write_text(DOCUMENT, "utf-8")
    certificate = certirag.verify(DRAFT, tmp_path)
    assert str(certificate).count("✅ Verified") == 1
    assert certificate._repr_html_().count("✅ Verified") == 1
    assert certificate.save(tmp_path / "a.json").read_bytes() == certificate.export


def test_a_changed_certificate_displays_nothing(tmp_path: Path) -> None:
    """Bytes changed after signing show one plain line."""
    (tmp_path / "leave.md").write_text(DOCUMENT, "utf-8")
    certificate = certirag.verify(DRAFT, [tmp_path])
    certificate.export = certificate.export.replace(b"40 days", b"27 days")
    for shown in (str(certificate), certificate._repr_html_()):
        assert "does not hold" in shown
        assert "✅" not in shown


def test_the_name_verify_works_in_any_import_order() -> None:
    """Importing the subpackage first does not hide the function."""
    for first in ("", "import certirag.verification.opinion; ", "from certirag import verify; "):
        program = (
            f"import certirag; {first}print(callable(certirag.verify), callable(certirag.ask))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == ["True", "True"]


def test_importing_the_package_is_light() -> None:
    """The package alone loads none of the heavy libraries."""
    program = (
        "import sys, certirag; "
        "sys.exit(bool({'numpy', 'spacy', 'onnxruntime', 'torch', 'faiss'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
