"""Take the screenshots of the README: start the app on its own home, ask, shoot, stop.

    python scripts/screenshots.py [--out docs/screenshots] [--chromium /usr/bin/chromium]

Needs playwright and a Chromium. Nothing of the user's own home is read or written.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

ROOT: Final = Path(__file__).resolve().parent.parent
CORPORA: Final = ("policy", "finance", "clinical")
CORPUS: Final = "Quarterly and annual figures"
QUESTION: Final = "How much did Tarnbeck pay for Ferrow Analytics?"
# Two documents in force give different figures for the first half of it.
CONFLICT: Final = (
    "What was customer retention in Software in 2024, and how much did Ferrow Analytics cost?"
)
REFUSED: Final = "How much revenue came from Brazil in 2024?"
WIDE: Final = (1280, 900)
NARROW: Final = (390, 844)
CHIP: Final = '[class*="st-key-chip-"] button'
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
)


def main() -> int:
    """Take every picture; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument(
        "--chromium", default=os.environ.get("CERTIRAG_CHROMIUM", "/usr/bin/chromium")
    )
    chosen = parser.parse_args()
    if not Path(chosen.chromium).exists():
        print(f"there is no browser at {chosen.chromium}: pass --chromium", file=sys.stderr)
        return 2
    chosen.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        # The audit page is shown to a session that asked nothing itself.
        environment = {**os.environ, "CERTIRAG_HOME": home, "CERTIRAG_AUDIT_EVERYONE": "true"}
        ingest(Path(home), environment)
        browser = playwright.chromium.launch(executable_path=chosen.chromium, args=list(ARGUMENTS))
        with served(environment) as address:
            shoot_all(browser, address, chosen.out)
        browser.close()
    return 0


def ingest(home: Path, environment: dict[str, str]) -> None:
    """Read the demo corpora into *home*."""
    for name in CORPORA:
        print(f"ingesting {name}")
        source, index = ROOT / "fixtures" / "corpora" / name, home / "indexes" / name
        subprocess.run(
            [sys.executable, "-m", "certirag", "ingest", source, "--index", index],
            cwd=ROOT,
            env=environment,
            check=True,
            capture_output=True,
        )


@contextmanager
def served(environment: dict[str, str]) -> Iterator[str]:
    """Serve the app on a free port and give its address; stop it at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "asgi.py", *options],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(address)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=15)


def wait_until_healthy(address: str, limit: float = 60.0) -> None:
    """Return once the app answers; TimeoutError when it does not within *limit* seconds."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):  # noqa: S310
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"{address} did not answer within {limit:.0f} seconds")


def shoot_all(browser: Browser, address: str, out: Path) -> None:
    """Take the pictures, one conversation for each screen and scheme."""
    page = opened(browser, address, WIDE)
    save(page, out / "home.png")
    ask(page, QUESTION)
    save(page, out / "ask-strict.png", whole=True)
    page.locator(CHIP).first.click()
    save_drawer(page, out / "drawer.png")
    switch(page, "mixed")
    save(page, out / "ask-mixed.png", whole=True)
    ask(page, CONFLICT)
    switch(page, "debug")
    save(page, out / "ask-debug.png", whole=True)
    page.locator('[class*="st-key-chip-contradicted-"] button').first.click()
    save_drawer(page, out / "drawer-contradicted.png")
    switch(page, "strict")
    ask(page, REFUSED)
    save(page, out / "ask-refused.png", whole=True)

    page = opened(browser, address, WIDE, scheme="dark")
    ask(page, CONFLICT)
    switch(page, "debug")
    save(page, out / "ask-dark.png", whole=True)
    page.locator(CHIP).first.click()
    save_drawer(page, out / "drawer-dark.png")

    page = opened(browser, address, NARROW)
    ask(page, QUESTION)
    save(page, out / "ask-mobile.png", whole=True)
    page.locator(CHIP).first.click()
    save_drawer(page, out / "drawer-mobile.png")

    for name in ("corpus", "contract"):
        page = opened(browser, f"{address}/{name}", WIDE)
        save(page, out / f"{name}.png")
    shoot_audit(browser, address, out)
    page = opened(browser, f"{address}/draft?mode=debug", WIDE)
    page.get_by_role("button", name="Check draft 1").click()
    page.get_by_text("Download audit JSON").wait_for()
    save(page, out / "draft.png", whole=True)


def shoot_audit(browser: Browser, address: str, out: Path) -> None:
    """Take the audit page over what was asked before, and the checker page on one export of it."""
    page = opened(browser, f"{address}/audit", WIDE)
    page.get_by_role("button", name="Verify the whole log").click()
    page.locator(".st-key-log-report").get_by_text("The log holds").wait_for()
    save(page, out / "audit-log.png")
    with page.expect_download() as taken:
        page.get_by_text("Check an answer without this server").click()
        page.get_by_role("button", name="Download the public key").click()
    key = Path(taken.value.path()).read_text("ascii").strip()
    page.get_by_role("radio", name="Answers").click()
    picker = page.get_by_role("combobox", name="Open an answer")
    picker.scroll_into_view_if_needed()
    page.wait_for_timeout(800)
    save(page, out / "audit-answers.png", whole=True)
    page.get_by_role("radio", name="Trends").click()
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.wait_for_timeout(1200)
    save(page, out / "audit-trends.png", whole=True)
    page.get_by_role("radio", name="Replay").click()
    page.get_by_role("combobox", name="Under the policy").click()
    page.get_by_role("option", name="strict-2").click()
    page.get_by_role("button", name="Replay", exact=True).click()
    page.get_by_text("Decided otherwise").wait_for()
    save(page, out / "audit-replay.png", whole=True)
    page.get_by_role("radio", name="Answers").click()
    picker.wait_for()
    picker.scroll_into_view_if_needed()
    page.wait_for_timeout(800)  # a picker that is scrolled closes
    picker.click()
    page.get_by_role("option").filter(has_text=QUESTION).first.click()
    page.get_by_role("button", name="Download audit JSON").wait_for()
    page.wait_for_timeout(800)
    save(page, out / "audit-opened.png", whole=True)
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download audit JSON").click()
    with tempfile.TemporaryDirectory() as folder:
        export = Path(folder) / taken.value.suggested_filename
        taken.value.save_as(export)
        shoot_checker(browser, export, key, out)
    page.locator(CHIP).first.click()
    page.get_by_role("dialog").get_by_text("Where it stands").first.click()
    page.get_by_role("dialog").get_by_text("File's SHA-256").first.wait_for()
    save_drawer(page, out / "drawer-where.png")


def shoot_checker(browser: Browser, export: Path, key: str, out: Path) -> None:
    """Take the checker page, opened from its file, with the verdict on *export*."""
    page = browser.new_page(viewport={"width": WIDE[0], "height": WIDE[1]})
    page.goto((ROOT / "assets" / "checker.html").as_uri())
    page.locator("#key").fill(key)
    page.locator("#export").set_input_files(export)
    page.locator("#verdict", has_text="VALID").wait_for()
    page.wait_for_timeout(500)
    page.screenshot(path=out / "checker.png")
    print("saved checker.png")
    page.close()


def opened(browser: Browser, url: str, size: tuple[int, int], scheme: str = "light") -> Page:
    """Open *url* in a fresh session and wait until the page stands."""
    page = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    ).new_page()
    page.set_default_timeout(60_000)
    page.goto(url)
    page.get_by_role("heading", level=1).wait_for()
    page.wait_for_timeout(2500)
    return page


def ask(page: Page, question: str) -> None:
    """Choose the finance corpus and ask *question*."""
    picker = page.get_by_role("combobox", name="Corpus")
    if picker.input_value() != CORPUS:
        picker.click()
        page.get_by_role("option", name=CORPUS).click()
        page.wait_for_timeout(1500)
    page.get_by_label("Question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator(".st-key-answer").get_by_text(question).first.wait_for()
    page.wait_for_timeout(1200)


def switch(page: Page, mode: str) -> None:
    """Draw the same record in another mode."""
    page.locator(".st-key-mode").get_by_text(mode, exact=True).click()
    page.wait_for_timeout(1500)


def save_drawer(page: Page, path: Path) -> None:
    """Save the page with its open drawer, then close the drawer."""
    page.get_by_role("dialog").locator(".cr-rules").wait_for()
    page.wait_for_timeout(900)
    save(page, path)
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    page.wait_for_timeout(500)


def save(page: Page, path: Path, *, whole: bool = False) -> None:
    """Save a picture of the window, or of the whole page."""
    size = page.viewport_size or {"width": WIDE[0], "height": WIDE[1]}
    if whole:
        # The page scrolls inside its own box: the window is made as tall as what it holds.
        inner = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        page.set_viewport_size({"width": size["width"], "height": min(int(inner) + 8, 4000)})
        page.wait_for_timeout(700)
    page.mouse.move(5, 5)
    page.screenshot(path=path)
    print(f"saved {path.name}")
    page.set_viewport_size(size)


if __name__ == "__main__":
    sys.exit(main())
