"""Checking an export must not do on its behalf what its reader did not ask for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import certirag
from certirag.core.certificate import open_export
from certirag.errors import InputError
from certirag.recheck import _rescored
from certirag.render import check_export


def test_a_foreign_export_sends_nothing_to_the_readers_endpoint(tmp_path: Path) -> None:
    """An export that names a language model as verifier is not rescored unless that was chosen."""
    (tmp_path / "leave.md").write_text("# Leave\n\nStaff get 27 days of leave.\n", "utf-8")
    certificate = certirag.verify("Staff get 27 days of leave.", tmp_path)
    services = certificate._services
    record = open_export(certificate.export, services.trusted)
    for name in ("llm:judge", "cascade:lexical,llm:judge"):
        models = tuple(replace(m, name=name) if m.role == "verifier" else m for m in record.models)
        foreign = replace(record, models=models)
        report = check_export(certificate.export, services.trusted)
        with pytest.raises(InputError, match="language model"):
            _rescored(report, foreign, services.settings)
