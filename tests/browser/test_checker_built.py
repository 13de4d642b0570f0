"""The page that ships is the one that its parts make, and its policy allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import re

from checker_page import PAGE

from scripts.checker_page import built_page


def test_the_shipped_page_is_current() -> None:
    """scripts/checker_page.py was run after the last change of a part."""
    assert PAGE.read_bytes() == built_page().encode("utf-8")


def test_the_policy_allows_its_one_script_and_style_alone() -> None:
    """Nothing is fetched, sent or framed; script and style are named by their digests."""
    page = PAGE.read_text("utf-8")
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert len(policy) == 1
    allowed = dict(part.split(" ", 1) for part in policy[0].split("; "))
    digests = {}
    for name in ("script", "style"):
        texts = re.findall(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
        assert len(texts) == 1
        digest = hashlib.sha256(texts[0].encode("utf-8")).digest()
        digests[name] = f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
    assert allowed == {
        "default-src": "'none'",
        "script-src": digests["script"],
        "style-src": digests["style"],
        "connect-src": "'none'",
        "img-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }


def test_the_page_refers_to_nothing_outside_itself() -> None:
    """No address, no attribute that loads, no way from text to markup or code."""
    page = PAGE.read_text("utf-8")
    assert re.findall(r"\b(?:src|srcset|action|ping|poster|data)=", page) == []
    assert re.findall(r"\bhref=", page) == []
    code = page.partition("<script>")[2]
    for sink in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
    ):
        assert sink not in code
    for way in ("fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon", "import(", "localStorage"):
        assert way not in code
