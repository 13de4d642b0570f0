"""What a person sees on the offline page: a verdict that nothing in a file can imitate."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from checker_page import (
    HEX,
    PAGE,
    PINS,
    ROOT_HEX,
    case,
    resigned,
    trust_entry,
    trust_file,
    verdicts,
)
from gate_cases import KEY, export, record
from playwright.sync_api import Browser, Page

from certirag.proof.certificate import statement_bytes
from certirag.proof.envelope import key_id

pytestmark = pytest.mark.browser

HOSTILE = (
    "<img src=x onerror=alert(1)><script>document.title='owned'</script>"
    "<style>*{display:none}</style><a href='https://example.org/'>VALID</a> "
    "\u202eDETSURT\u202c \u200b\u2066\ufeff\u00ad\U000e0041 \u2714 \u2705 VALID\nVERIFIED\n"
)


def _show(page: Page, data: bytes, key: str = HEX) -> None:
    page.fill("#key", key)
    file = {"name": "export.json", "mimeType": "application/json", "buffer": data}
    page.set_input_files("#export", file)
    page.wait_for_function("document.querySelector('#verdict h2').textContent !== 'No verdict yet'")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


@pytest.fixture
def fresh(visit: Callable[..., Any]) -> Callable[..., Page]:
    """Return a function that opens the page anew."""
    return lambda **how: visit(PAGE.as_uri(), **how).page


def test_a_person_reads_verdict_proof_claims_and_evidence(fresh) -> None:
    """The page shows what the brief of a reader needs: whose key, which log, what follows."""
    page = fresh()
    _show(page, export())
    assert page.inner_text("#verdict h2") == "VALID"
    found = page.inner_text("#found")
    for words in ("certirag.test/memory", "index 2, in a log of 3 entries", "2026-01-02T03:04:05"):
        assert words in found
    assert page.locator("#found .fingerprint").first.inner_text().replace("\n", "") == key_id(
        KEY.public_key()
    )
    assert page.locator(".chip").all_inner_texts() == ["Verified"]
    how = page.locator(".how").all_inner_texts()
    assert sorted(set(how)) == ["as recorded", "derived here"]
    assert len(how) == len(record().policy.rules)
    assert "It does not mean that a claim is true" in page.inner_text(".meaning")


def test_a_broken_export_shows_its_code_and_nothing_of_its_text(fresh) -> None:
    """What cannot be trusted is not shown."""
    page = fresh()
    _show(page, export().replace(b"27 days", b"28 days", 1))
    assert page.inner_text("#verdict h2") == "TAMPERED"
    assert "readable" in page.inner_text("#verdict")
    assert page.inner_text("#found") == ""
    assert "28 days" not in page.inner_text("body")


@pytest.mark.parametrize(
    "key", ["", "no key at all", "01" + "00" * 31, "-----BEGIN PUBLIC KEY-----"]
)
def test_without_a_usable_key_there_is_no_verdict(fresh, key) -> None:
    """No key is ever taken from the export."""
    page = fresh()
    _show(page, export(), key)
    assert page.inner_text("#verdict h2") == "Cannot check"
    assert page.inner_text("#found") == ""


def test_a_key_may_be_pem_and_a_file(fresh) -> None:
    """The public key's usual forms are read, and its fingerprint is shown at once."""
    der = bytes.fromhex("302a300506032b6570032100" + HEX)
    body = base64.b64encode(der).decode("ascii")
    pem = f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n"
    page = fresh()
    file = {"name": "log.pub", "mimeType": "text/plain", "buffer": pem.encode("ascii")}
    page.set_input_files("#key-file", file)
    page.locator("#pinned .fingerprint").wait_for()
    _show(page, export(), page.input_value("#key"))
    assert page.inner_text("#verdict h2") == "VALID"


def test_a_trust_file_is_used_with_its_root_key(fresh) -> None:
    """The other way to pin keys, by hand."""
    page = fresh()
    page.check("#by-trust")
    file = {
        "name": "trust.json",
        "mimeType": "application/json",
        "buffer": trust_file(trust_entry()),
    }
    page.set_input_files("#trust", file)
    _show(page, export(), ROOT_HEX)
    assert page.inner_text("#verdict h2") == "VALID"
    page.fill("#key", HEX)
    page.get_by_role("heading", name="Cannot check").wait_for()


def test_a_changed_source_is_named(fresh) -> None:
    """STALE names the document; the claim that leans on it is no longer plainly verified."""
    page = fresh()
    _show(page, export())
    source = {"name": "leave.md", "mimeType": "text/markdown", "buffer": b"changed"}
    page.set_input_files("#sources", source)
    page.get_by_role("heading", name="STALE").wait_for()
    assert "leave.md" in page.inner_text(".facts")
    assert page.locator(".chip").all_inner_texts() == ["Verified then, source changed since"]
    page.set_input_files("#sources", {**source, "buffer": b"leave"})  # the digest in the record
    page.get_by_role("heading", name="VALID").wait_for()


def _hostile_export() -> bytes:
    """Return an export that is VALID and says something hostile wherever it may say anything."""
    statement = json.loads(statement_bytes(replace(record(), question=HOSTILE)))
    predicate = statement["predicate"]
    for finding in predicate["decisions"][0]["findings"]:
        finding["reason"] = HOSTILE
    predicate["decisions"][0]["reason"] = HOSTILE
    predicate["retrieval"]["chunks"][0]["source"]["url_or_path"] = HOSTILE
    predicate["policy"]["name"] = predicate["decisions"][0]["policy"]["name"] = HOSTILE
    predicate["models"][0]["name"] = HOSTILE
    return resigned(statement)


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_text_is_inert(fresh, width) -> None:
    """It makes no element, no request and no verdict, and what cannot be seen is spelled."""
    page = fresh(width=width)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    title = page.title()
    _show(page, _hostile_export())
    assert page.inner_text("#verdict h2") == "VALID"
    assert page.title() == title
    assert page.locator("#found :is(img, a, style, script, iframe, form, input)").count() == 0
    assert page.locator(".quoted *").count() == 0
    assert asked == []
    outside = page.evaluate("""() => {
      const copy = document.body.cloneNode(true);
      copy.querySelectorAll('.quoted, script, template').forEach((each) => each.remove());
      return copy.textContent;
    }""")
    assert "onerror" not in outside
    assert "DETSURT" not in outside
    shown = page.locator(".quoted", has_text="DETSURT")
    assert shown.count() == len(record().policy.rules) + 3  # reasons, question, policy, place
    for text in shown.all_inner_texts():
        for spelled in ("202E", "202C", "200B", "2066", "FEFF", "00AD", "E0041", "2714", "2705"):
            assert f"⟨U+{spelled}⟩" in text
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_hostile_key_of_a_broken_file_stays_in_its_frame(fresh) -> None:
    """What a refusal repeats from the file is quoted, too."""
    page = fresh()
    changed = json.loads(export())
    changed["certificate"][HOSTILE] = 1
    _show(page, json.dumps(changed).encode("utf-8"))
    assert page.inner_text("#verdict h2") == "TAMPERED"
    assert "onerror" in page.inner_text("#verdict .quoted")
    assert page.locator("#verdict :is(img, a, style, script)").count() == 0


# What a browser may lack or do wrongly, as scripts that run before the page's own.
BROKEN_BROWSERS = {
    "no Web Crypto": "Object.defineProperty(crypto, 'subtle', { value: undefined });",
    "no Ed25519": """const real = crypto.subtle.importKey.bind(crypto.subtle);
        crypto.subtle.importKey = (...a) => (a[2].name === 'Ed25519'
          ? Promise.reject(new DOMException('x', 'NotSupportedError')) : real(...a));""",
    "everything holds": "crypto.subtle.verify = async () => true;",
    "nothing holds": "crypto.subtle.verify = async () => false;",
    "one digest for all": "crypto.subtle.digest = async () => new ArrayBuffer(32);",
}


@pytest.mark.parametrize("lack", BROKEN_BROWSERS)
def test_a_browser_that_cannot_check_says_so(browser: Browser, lack) -> None:
    """It names the browsers that can, and never says VALID."""
    context = browser.new_context()
    context.add_init_script(BROKEN_BROWSERS[lack])
    page = context.new_page()
    page.goto(PAGE.as_uri())
    page.get_by_role("heading", name="Cannot check").wait_for()
    assert "Chrome or Edge 137, Firefox 130, Safari 17" in page.inner_text("#verdict")
    _show(page, export())
    assert page.inner_text("#verdict h2") == "Cannot check"
    assert verdicts(page, [case(export(), PINS)])[0]["code"] == "unsupported"
    context.close()


THROWING = {
    "HMAC": "crypto.subtle.sign = () => { throw new Error('no'); };",
    "text": "TextDecoder.prototype.decode = function () { throw new Error('no'); };",
    "every": "Array.prototype.every = function () { throw new Error('no'); };",
}


@pytest.mark.parametrize("part", THROWING)
def test_an_error_inside_is_never_a_verdict_that_holds(browser: Browser, part) -> None:
    """`checkExport` returns, and what it returns is not VALID."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(PAGE.as_uri())
    page.evaluate(f"() => {{ {THROWING[part]} }}")
    found = verdicts(page, [case(export(), PINS)])[0]
    assert found["verdict"] in {"CANNOT CHECK", "TAMPERED"}
    for odd in ("undefined", "null", "42", "'text'", "{}", "[]"):
        answered = page.evaluate(f"window.checkExport({odd}, {{ keys: ['{HEX}'] }})")
        assert answered["verdict"] != "VALID"
        answered = page.evaluate(f"window.checkExport(new Uint8Array(3), {odd})")
        assert answered["verdict"] == "CANNOT CHECK"
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_and_is_reached_by_keyboard(fresh, scheme, width) -> None:
    """Nothing is wider than the page, and Tab reaches every control in order."""
    page = fresh(scheme=scheme, width=width)
    reached = []
    for _ in range(5):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    assert reached == ["export", "by-key", "key", "key-file", "sources"]
    _show(page, export())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.focus("#sources")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    assert page.locator("details[open]").count() == 0
