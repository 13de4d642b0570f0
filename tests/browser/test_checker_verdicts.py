"""The offline page gives the verdicts of docs/certificate.md, and so does the other checker."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from checker_changes import RECORD_CHANGES, TEXT_CHANGES
from checker_page import (
    HEX,
    PAGE,
    PINS,
    ROOT_HEX,
    case,
    flipped,
    resigned,
    trust_entry,
    trust_file,
    verdicts,
)
from gate_cases import (
    CLAIM,
    OTHER,
    POLICY,
    SENTENCE,
    TRUSTED,
    chunk,
    export,
    good_case,
    record,
    result,
    with_first_score,
    with_result,
)
from gate_cases import score as span_score
from integration_fixtures import WHOLE
from playwright.sync_api import Browser, Page
from review_cases import FORGED, reviewed
from vector_cases import judged, vectors

from certirag import checker
from certirag.proof.certificate import statement_bytes
from certirag.render.gate import Case

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def opened(browser: Browser) -> Iterator[Page]:
    """Return the page from its file; nothing may be asked for but the file itself."""
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(PAGE.as_uri())
    yield page
    context.close()
    assert asked == [PAGE.as_uri()]
    assert complaints == []


def both(page: Page, exports: list[bytes]) -> list[tuple[str, str]]:
    """Return the page's verdict and code of each export, which are also the other checker's."""
    found = [(v["verdict"], v["code"]) for v in verdicts(page, [case(e, PINS) for e in exports])]
    other = [checker.check(data, TRUSTED) for data in exports]
    assert found == [(report.verdict, report.code) for report in other]
    return found


def test_both_checkers_agree_on_every_vector(opened: Page, capsys) -> None:
    """Verdict and code are those that are recorded, and those of `certirag.checker`."""
    published = vectors()
    pins = [{k: v for k, v in each.items() if k in ("keys", "trust", "root")} for each in published]
    cases = [
        case(each["export"], pin, each.get("sources"))
        for each, pin in zip(published, pins, strict=True)
    ]
    expected = [(each["name"], each["verdict"], each["code"]) for each in published]
    assert [(each["name"], *judged(each)[:2]) for each in published] == expected
    named = [
        (each["name"], v["verdict"], v["code"])
        for each, v in zip(published, verdicts(opened, cases), strict=True)
    ]
    assert named == expected
    valid = sum(verdict == "VALID" for _, verdict, _ in expected)
    with capsys.disabled():
        print(f"\nvectors: {len(expected)}, of them valid: {valid}, disagreements: 0")  # noqa: T201
    assert valid >= 200
    assert len(expected) - valid >= 700


def test_a_reviewers_countersignature_is_read_and_no_forged_one(opened: Page) -> None:
    """Both checkers name the step, and take the sound one."""
    exports = [json.dumps(made).encode() for made in (reviewed(), *FORGED.values())]
    found = both(opened, exports)
    assert found == [("VALID", ""), *[("TAMPERED", "review")] * len(FORGED)]


def test_changes_of_the_text_are_named(opened: Page) -> None:
    """Every way to write a file badly has the code of its step, in both checkers."""
    found = both(opened, [change(export()) for _, change, _ in TEXT_CHANGES])
    codes = {name: code for (name, _, _), (_, code) in zip(TEXT_CHANGES, found, strict=True)}
    assert codes == {name: code for name, _, code in TEXT_CHANGES}


def _statements() -> list[dict[str, Any]]:
    """Return the statements of a claim that passes, one that falls short and one contradicted."""
    good = good_case()
    short = with_result(
        with_first_score(good, entailed=0.4, not_enough_info=0.59),
        score=0.4,
        label="not_enough_info",
    )
    against = with_result(
        with_first_score(good, entailed=0.1, contradicted=0.9, label="contradicted"), score=0.1
    )
    return [json.loads(statement_bytes(record(each))) for each in (good, short, against)]


def _places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, part in parts:
        yield from _places(part, (*path, key))


def _spoil(statement: dict[str, Any], chance: random.Random) -> None:
    """Change one place of a statement's record to something else."""
    paths = [path for path in _places(statement["predicate"]) if path and path[0] != "trace_id"]
    *way, last = chance.choice(paths)
    inside: Any = statement["predicate"]
    for key in way:
        inside = inside[key]
    old = inside[last]
    kind = chance.randrange(4)
    if kind == 0:
        inside[last] = chance.choice(
            [None, True, False, 0, 1, -1, 0.7, 0.85, 1.0, 5, "", "x", [], {}]
        )
    elif kind == 1 and isinstance(inside, dict):
        del inside[last]
    elif kind == 1:
        inside.append(deepcopy(old))
    elif isinstance(old, bool):
        inside[last] = not old
    elif isinstance(old, int | float):
        inside[last] = old + chance.choice([1, -1, 0.0, 0.15, -0.3])
    elif isinstance(old, str):
        inside[last] = chance.choice([old + "\U0001f600", old[1:], old.upper(), " ", "\ufeff"])
    elif isinstance(old, list):
        inside[last] = old[::-1] if chance.random() < 0.5 else old[1:]


def test_records_signed_with_something_wrong_are_judged_alike(opened: Page) -> None:
    """Random changes of a record, signed and logged by the pinned key: both checkers agree."""
    chance = random.Random(5)
    exports = []
    originals = _statements()
    for number in range(900):
        statement = deepcopy(originals[number % 3])
        while statement == originals[number % 3]:
            _spoil(statement, chance)
        exports.append(resigned(statement))
    found = both(opened, exports)
    codes = {code for _, code in found}
    assert {"record", "subject", "integrity", "policy", "finding", "state", "summary", ""} <= codes


def _edited(edit: Callable[[dict[str, Any]], None]) -> bytes:
    statement = _statements()[0]
    edit(statement["predicate"])
    return resigned(statement)


def test_records_that_do_not_hold_are_named(opened: Page) -> None:
    """Each broken rule of §1 and §5 to §8 has its code, although the signature holds."""
    found = both(opened, [_edited(edit) for _, edit, _ in RECORD_CHANGES])
    codes = {name: code for (name, _, _), (_, code) in zip(RECORD_CHANGES, found, strict=True)}
    assert codes == {name: code for name, _, code in RECORD_CHANGES}


def test_keys_come_from_the_reader_alone(opened: Page) -> None:
    """Without a key there is no verdict; a trust file binds keys to a log and to entries."""
    root, sound, small = ROOT_HEX, trust_file(trust_entry()), "01" + "00" * 31
    pins: list[tuple[dict[str, Any] | None, str, str]] = [
        (PINS, "VALID", ""),
        (None, "CANNOT CHECK", "no-key"),
        ({"keys": []}, "TAMPERED", "untrusted-key"),
        ({"keys": [HEX.upper()]}, "CANNOT CHECK", "key"),
        ({"keys": [root]}, "TAMPERED", "untrusted-key"),
        ({"keys": [small]}, "TAMPERED", "untrusted-key"),
        ({"keys": [small, root, HEX]}, "VALID", ""),
        ({"trust": sound, "root": root}, "VALID", ""),
        ({"trust": sound, "root": HEX}, "CANNOT CHECK", "trust"),
        ({"trust": sound, "root": small}, "CANNOT CHECK", "key"),
        (
            {"trust": sound.replace(b'"payload": "ey', b'"payload": "eY'), "root": root},
            "CANNOT CHECK",
            "trust",
        ),
        ({"trust": b"{}", "root": root}, "CANNOT CHECK", "trust"),
        (
            {"trust": trust_file(trust_entry(), trust_entry()), "root": root},
            "CANNOT CHECK",
            "trust",
        ),
        ({"trust": trust_file(trust_entry(until=3)), "root": root}, "VALID", ""),
        ({"trust": trust_file(trust_entry(until=2)), "root": root}, "TAMPERED", "key-range"),
        ({"trust": trust_file(trust_entry(first=3)), "root": root}, "TAMPERED", "key-range"),
        (
            {"trust": trust_file(trust_entry(), origin="certirag.test/other"), "root": root},
            "TAMPERED",
            "checkpoint",
        ),
    ]
    found = verdicts(opened, [case(export(), pin) for pin, _, _ in pins])
    assert [(v["verdict"], v["code"]) for v in found] == [(v, c) for _, v, c in pins]


def test_offsets_count_code_points(opened: Page) -> None:
    """Characters of two UTF-16 units and four bytes stand in claim, evidence and around it."""
    sentence = SENTENCE[:-1] + " \U0001f600\U0001d4e2 \u00e9."
    claim = replace(CLAIM, text=sentence)
    of = chunk(f"{sentence} \U0001f4c4 {OTHER}", doc_id="\U0001f4c4\uffee", sentence=sentence)
    data = export(record(Case(claim, result(of, claim), {of.chunk_id: of}, POLICY)))
    assert both(opened, [data]) == [("VALID", "")]
    shifted = data.replace(b'"utf16_end": 7', b'"utf16_end": 8', 1)
    assert both(opened, [shifted]) == [("TAMPERED", "readable")]


def _blank() -> Case:
    """Return a case whose attached sentence is of white space that only Unicode knows."""
    of = chunk(f"\u2003\x1f\u0085 {OTHER}", sentence="\u2003\x1f\u0085")
    return Case(CLAIM, result(of), {of.chunk_id: of}, POLICY)


def _contested_at(limit: float) -> Case:
    """Return a case that another document opposes by exactly the policy's limit."""
    case = good_case()
    other = chunk(OTHER, doc_id="other", sentence=OTHER)
    opposed = span_score(other, entailed=0.1, neutral=1 - limit - 0.1, contradicted=limit)
    chunks = {**case.chunks, other.chunk_id: other}
    case = with_result(case, all_scores=(*case.result.all_scores, opposed))
    return replace(case, chunks=chunks, policy=replace(POLICY, tau_contest=limit))


def test_the_edges_of_the_rules_are_where_the_program_has_them(opened: Page) -> None:
    """Honest records at a rule's very limit: both checkers derive what was recorded."""
    contested = _contested_at(0.5)
    unmeasured = with_first_score(good_case(), not_enough_info=None)
    exports = [
        export(record(_blank())),
        export(record(contested, contested.policy)),
        export(record(unmeasured)),
    ]
    failed = []
    for data in exports:
        findings = json.loads(data)["decisions"][0]["findings"]
        failed.append({finding["rule"] for finding in findings if not finding["passed"]})
    assert "evidence" in failed[0]
    assert failed[1:] == [{"uncontested"}, {"sound_measurement"}]
    assert both(opened, exports) == [("VALID", "")] * 3


def test_one_document_has_one_digest(opened: Page) -> None:
    """A record whose two chunks of one document name different files has no subject."""
    case = good_case()
    other = replace(chunk(OTHER, sentence=OTHER), chunk_id="leave#c2")
    other = replace(other, source=replace(other.source, sha256="0" * 64))
    exports = [
        export(record(replace(case, chunks=chunks)))
        for chunks in (
            {**case.chunks, other.chunk_id: other},
            {other.chunk_id: other, **case.chunks},
        )
    ]
    assert both(opened, exports) == [("TAMPERED", "subject")] * 2


def test_sources_make_a_sound_export_stale(opened: Page) -> None:
    """Evidence must stand in one of today's files; a broken export stays broken."""
    digest = record().retrieval.chunks[0].source.sha256
    broken = export().replace(b"27 days", b"28 days", 1)
    asked = [(export(), [digest, "0" * 64]), (export(), []), (export(), ["0" * 64]), (broken, [])]
    found = verdicts(opened, [case(data, PINS, sources) for data, sources in asked])
    verdict = [v["verdict"] for v in found]
    assert verdict == ["VALID", "STALE", "STALE", "TAMPERED"]
    assert verdict == [checker.check(data, TRUSTED, set(s)).verdict for data, s in asked]


def test_no_single_flipped_bit_is_accepted(opened: Page, capsys) -> None:
    """The bits of one export; the quick way gives the codes that the plain way gives.

    Of each eighth of it a quarter, unless CERTIRAG_WHOLE=1 asks for all.
    """
    data = export()
    bits, eighth = len(data) * 8, len(data)
    parts = [(0, bits)] if WHOLE else [(at, at + eighth // 4) for at in range(0, bits, eighth)]
    found = [flipped(opened, data, PINS, *part) for part in parts]
    tried = sum(one["tried"] for one in found)
    accepted = [bit for one in found for bit in one["accepted"]]
    codes = Counter[str]()
    for one in found:
        codes.update(one["codes"])
    with capsys.disabled():
        print(f"\nbits flipped: {tried}, accepted: {len(accepted)}")  # noqa: T201
    assert tried == sum(last - first for first, last in parts)
    assert accepted == []
    assert codes.total() == tried
    assert codes.keys().isdisjoint({"", "internal", "no-key", "key", "unsupported"})
    chance = random.Random(7)
    changed, quick = [], []
    for bit in chance.sample(range(len(data) * 8), 400):
        spoilt = bytearray(data)
        spoilt[bit // 8] ^= 1 << bit % 8
        changed.append(bytes(spoilt))
        quick += flipped(opened, data, PINS, bit, bit + 1)["codes"]
    assert [code for _, code in both(opened, changed)] == quick
