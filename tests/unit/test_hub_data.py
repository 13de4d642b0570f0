"""Data by a name of the hub, against a hub of our own: what is asked of it, and what a failure says."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from certirag.cli.main import main
from certirag.errors import InputError, MissingExtra
from certirag.eval.hub_data import local_data


class HubError(Exception):
    """Stands for what the library raises of an answer of the server."""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """Return what is asked of a hub that holds ``acme/rows`` alone."""
    found: list[dict[str, str]] = []

    def give(repo_id: str, filename: str = "", *, repo_type: str) -> str:
        found.append({"repo_id": repo_id, "filename": filename, "repo_type": repo_type})
        if repo_id == "acme/gated":
            message = "403 Forbidden\nAccess to it is restricted"
            raise HubError(message)
        if repo_id != "acme/rows":
            message = "no such data set"
            raise OSError(message)
        return str(tmp_path / filename)

    hub = types.ModuleType("huggingface_hub")
    hub.hf_hub_download = hub.snapshot_download = give  # type: ignore[attr-defined]
    errors = types.ModuleType("huggingface_hub.errors")
    errors.HfHubHTTPError = HubError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", errors)
    return found


def test_a_file_and_a_whole_data_set_are_fetched(asked, tmp_path) -> None:
    """The file is what stands behind the name of the data set, folders and all."""
    assert local_data(Path("hub:acme/rows/data/dev.jsonl")) == tmp_path / "data" / "dev.jsonl"
    assert local_data(Path("hub:acme/rows")) == tmp_path
    shared = {"repo_id": "acme/rows", "repo_type": "dataset"}
    assert asked == [shared | {"filename": name} for name in ("data/dev.jsonl", "")]


def test_a_path_asks_nobody(asked, tmp_path) -> None:
    """Nothing goes out for a file."""
    assert local_data(tmp_path / "a.jsonl") == tmp_path / "a.jsonl"
    assert asked == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hub:acme", "is no data set of the hub"),
        ("hub:/rows", "is no data set of the hub"),
        ("hub:acme/gone", "no such data set"),
        ("hub:acme/gated/a.jsonl", "403 Forbidden Access to it is restricted"),
    ],
)
def test_what_the_hub_does_not_give_is_one_line(asked, name, said) -> None:
    """With the name and what the hub said of it."""
    with pytest.raises(InputError) as raised:
        local_data(Path(name))
    assert str(raised.value).startswith(f"{name}: ")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_without_the_library_it_says_what_to_install(monkeypatch) -> None:
    """One line with the command."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtra, match=r"certirag\[models\]"):
        local_data(Path("hub:acme/rows"))


def test_each_command_takes_such_a_name(asked, tmp_path, capsys) -> None:
    """What was fetched is read in the format that is named."""
    (tmp_path / "bad.jsonl").write_text("{}\n", "utf-8")
    (tmp_path / "bad.json").write_text("[{}]", "utf-8")
    out = str(tmp_path / "run")
    for words in (
        ["pairs", "--format", "wice", "--out", out, "--data", "hub:acme/rows/bad.jsonl"],
        ["answers", "--format", "selqa", "--data", "hub:acme/rows/bad.json"],
        ["alce", "--out", out, "--data", "hub:acme/rows/bad.json"],
    ):
        assert main(["eval", *words]) == 2
        assert str(tmp_path / "bad.json") in capsys.readouterr().err
    assert len(asked) == 3
