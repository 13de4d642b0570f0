"""Containerfile and compose.yaml say what is true of the project; no container engine is needed.

Nothing here builds the image. What it would do is done one by one: files that are copied exist, what
is installed is all that the app and the package import, commands parse, settings and ports are known.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
import tomllib
from dataclasses import fields
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from certirag.cli.arguments import command_line
from certirag.settings import Settings, read_settings

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
OURS = {"certirag", "ui", "app_pages"}
PROGRAM = [name for name, service in COMPOSE["services"].items() if "build" in service]
# Imported where they are chosen, and not in the image: models of the user, other generators, a cluster.
CHOSEN = {
    "torch",
    "transformers",
    "sentence_transformers",
    "safetensors",
    "spacy",
    "xllamacpp",
    "ray",
}


def _instructions() -> list[tuple[str, str]]:
    """Return each instruction of the Containerfile with its words, in order."""
    text = (ROOT / "Containerfile").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [(line.split()[0], line.split(None, 1)[1]) for line in joined if line.strip()]


def _of(name: str) -> list[str]:
    return [words for instruction, words in _instructions() if instruction == name]


def _installed() -> tuple[Requirement, list[str]]:
    """Return ourselves with the extras that are installed, and what else pip is told to install."""
    (line,) = [words for words in _of("RUN") if "pip install" in words]
    words = shlex.split(line)
    ours = words[words.index("--editable") + 1]
    assert words[words.index("--constraint") + 1] == "constraints.txt"
    return Requirement(f"certirag{ours.removeprefix('.')}"), words[words.index(ours) + 1 :]


def test_what_is_copied_exists() -> None:
    """And all of it that the app and the package are."""
    copied = {source for words in _of("COPY") for source in words.split()[:-1]}
    assert all((ROOT / source).exists() for source in copied)
    assert {"certirag", "assets", "ui", "app_pages", ".streamlit", "app.py", "asgi.py"} <= copied


def test_what_is_installed_is_what_is_imported() -> None:
    """Each extra is one of ours, each package is pinned, and no import is left without a package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    ours, others = _installed()
    assert ours.extras <= set(project["optional-dependencies"])
    told = [*project["dependencies"], *others]
    told += [one for extra in ours.extras for one in project["optional-dependencies"][extra]]
    pinned = {
        canonicalize_name(line.partition("==")[0])
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        if "==" in line
    }
    names = {canonicalize_name(Requirement(one).name) for one in told}
    assert names <= pinned
    there = _with_what_they_need(names)
    homes = packages_distributions()
    for name, path in _imports():
        if name in sys.stdlib_module_names or name in OURS | CHOSEN:
            continue
        found = {canonicalize_name(home) for home in homes.get(name, ())}
        assert found & there, f"{path} imports {name}, which the image does not install"


def _with_what_they_need(names: set[str]) -> set[str]:
    there, new = set(names), set(names)
    while new:
        needed = {
            canonicalize_name(one.name)
            for name in new
            for one in map(Requirement, distribution(name).requires or ())
            if one.marker is None or one.marker.evaluate({"extra": ""})
        }
        new = needed - there
        there |= new
    return there


def _imports() -> list[tuple[str, Path]]:
    found = []
    for folder in (*OURS, "app.py", "asgi.py"):
        place = ROOT / folder
        for path in place.rglob("*.py") if place.is_dir() else [place]:
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    found += [(alias.name.partition(".")[0], path) for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    found.append((node.module.partition(".")[0], path))
    return found


def _commands() -> list[list[str]]:
    """Return every command line of ours that image and compose file run, and those told to people."""
    assert _of("ENTRYPOINT") == ['["certirag"]']
    found = [json.loads(words) for words in _of("CMD")]
    found += [COMPOSE["services"][n]["command"] for n in PROGRAM if n != "app"]
    page = (ROOT / "docs" / "runbook.md").read_text("utf-8")
    told = re.findall(r"docker compose run --rm(?: -v \S+)? gateway (.+?)(?:\s+#.*)?$", page, re.M)
    assert told, "the runbook tells no first steps"
    return found + [shlex.split(line) for line in told]


@pytest.mark.parametrize("words", _commands(), ids=" ".join)
def test_commands_parse(words: list[str]) -> None:
    """The grammar of the command line takes them."""
    assert command_line().parse_args(words).run


def test_every_variable_is_a_setting() -> None:
    """What is set is read, and what is read is usable."""
    known = {f"CERTIRAG_{one.name.upper()}" for one in fields(Settings)}
    image = dict(part.split("=", 1) for words in _of("ENV") for part in words.split())
    assert {name for name in image if name.startswith("CERTIRAG_")} <= known
    for name in PROGRAM:
        given = COMPOSE["services"][name]["environment"]
        assert set(given) <= known
        read_settings(image | given)
    assert _of("VOLUME") == [image["CERTIRAG_HOME"]]
    for name in PROGRAM:
        assert COMPOSE["services"][name]["volumes"] == [f"home:{image['CERTIRAG_HOME']}"]


def test_ports_and_probes_agree() -> None:
    """Where the gateway and the app listen, what is published, and what a probe asks."""
    exposed = _of("EXPOSE")[0].split()
    gateway, app = COMPOSE["services"]["gateway"], COMPOSE["services"]["app"]
    served = command_line().parse_args(gateway["command"])
    assert str(command_line().parse_args(["serve"]).port) == str(served.port) == exposed[0]
    assert app["command"][app["command"].index("--server.port") + 1] == exposed[1]
    for service, port in zip((gateway, app), exposed, strict=True):
        assert service["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert f"http://127.0.0.1:{exposed[0]}/readyz" in _of("HEALTHCHECK")[0]
    assert "/_stcore/health" in app["healthcheck"]["test"][-1]


def test_the_program_runs_without_rights() -> None:
    """Not as root, on a file system that it cannot write but for its home and its scratch."""
    instructions = _instructions()
    user = next(at for at, (name, _) in enumerate(instructions) if name == "USER")
    assert instructions[user][1] != "root"
    assert not [name for name, _ in instructions[user:] if name in {"COPY", "RUN", "ADD"}]
    for name in PROGRAM:
        service = COMPOSE["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["tmpfs"] == ["/tmp"]  # noqa: S108  # of the container
    assert not COMPOSE["services"]["database"].get("ports")
    secrets = re.findall(r"PASSWORD[ :]+(\S+)", (ROOT / "compose.yaml").read_text("utf-8"))
    assert secrets
    assert all("${CERTIRAG_DB_" in secret for secret in secrets)
