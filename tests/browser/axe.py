"""axe-core (Deque, MPL-2.0), fetched once for the tests: pinned, checked, and in no package of ours."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

VERSION = "4.14.1"
# Of the archive as the registry serves it, and of the one file in it that is used.
ARCHIVE_SHA256 = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"
SCRIPT_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
WCAG = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
ADVICE = "best-practice"
RUN = """async tags => {
  const found = await axe.run(document, {
    runOnly: {type: "tag", values: tags}, resultTypes: ["violations"], elementRef: false,
  });
  return found.violations.flatMap(rule => rule.nodes.map(node => ({
    rule: rule.id, tags: rule.tags, html: node.html, target: node.target.flat().join(" "),
    why: node.failureSummary,
  })));
}"""


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that an element breaks; *wcag* says that a success criterion of A or AA is broken."""

    rule: str
    wcag: bool
    target: str
    html: str
    why: str


def script_in(folder: Path) -> str:
    """Return axe's source, kept in *folder* after the first time; OSError when it cannot be had."""
    kept = folder / f"axe-{VERSION}.min.js"
    if not kept.is_file():
        kept.write_bytes(_fetched())
    source = kept.read_bytes()
    if hashlib.sha256(source).hexdigest() != SCRIPT_SHA256:
        raise OSError(f"{kept} is not axe-core {VERSION}: remove it, and it is fetched again")
    return source.decode("utf-8")


def _fetched() -> bytes:
    npm = shutil.which("npm")
    if npm is None:
        raise OSError("npm is not installed: on Debian, apt-get install npm")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", f"axe-core@{VERSION}", "--pack-destination", folder]
        done = subprocess.run(
            command, check=False, cwd=folder, capture_output=True, text=True, timeout=120
        )
        archives = list(Path(folder).glob("*.tgz"))
        if done.returncode or len(archives) != 1:
            raise OSError(f"npm did not fetch axe-core {VERSION}: {done.stderr.strip()[-300:]}")
        if hashlib.sha256(archives[0].read_bytes()).hexdigest() != ARCHIVE_SHA256:
            raise OSError(f"the archive of axe-core {VERSION} is not the one that was pinned")
        with tarfile.open(archives[0]) as archive:
            member = archive.extractfile("package/axe.min.js")
            if member is None:
                raise OSError(f"the archive of axe-core {VERSION} has no axe.min.js")
            return member.read()


def violations(page: Page, axe: str) -> list[Violation]:
    """Return what axe finds on *page* as it stands; its script is not subject to the page's policy."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
    found: list[dict[str, Any]] = page.evaluate(RUN, [*WCAG, ADVICE])
    return [
        Violation(
            each["rule"],
            not {*WCAG}.isdisjoint(each["tags"]),
            each["target"],
            each["html"],
            each["why"],
        )
        for each in found
    ]
