"""Join assets/checker/ to the one page that ships, assets/checker.html; run it after a change.

The page's Content-Security-Policy names its only script and its only style by their digests.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"
PARTS = ASSETS / "checker"
PAGE = ASSETS / "checker.html"
SCRIPTS = ("reader.js", "shapes.js", "proof.js", "rules.js", "check.js", "page.js")
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; connect-src 'none'; "
    "img-src 'none'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def built_page() -> str:
    """Return the page that the parts make."""
    parts = [(PARTS / name).read_text("utf-8").strip() for name in SCRIPTS]
    script = '\n"use strict";\n(() => {\n' + "\n\n".join(parts) + "\n})();\n"
    style = "\n" + (PARTS / "style.css").read_text("utf-8").strip() + "\n"
    page = (PARTS / "page.html").read_text("utf-8")
    policy = POLICY.format(script=_digest(script), style=_digest(style))
    for name, text in {"policy": policy, "style": style, "script": script}.items():
        page = page.replace(f"{{{{{name}}}}}", text, 1)
    return page


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode(
        "ascii"
    )


if __name__ == "__main__":
    PAGE.write_text(built_page(), "utf-8", newline="\n")
    print(f"wrote {PAGE.relative_to(ASSETS.parent)}")
