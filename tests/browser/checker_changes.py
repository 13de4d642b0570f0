"""Changes of an export and of a signed record, each with the code that it has in a check."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

# Changes of the text of an export, and the code of each.
TEXT_CHANGES: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("as it is", lambda e: e, ""),
    ("white space around", lambda e: b" \n\t\r" + e + b"\n ", ""),
    (
        "written by another hand",
        lambda e: json.dumps(json.loads(e), ensure_ascii=False).encode(),
        "",
    ),
    ("empty", lambda e: b"", "json"),
    ("byte order mark", lambda e: b"\xef\xbb\xbf" + e, "json"),
    ("cut", lambda e: e[:-9], "json"),
    ("something behind", lambda e: e + b"{}", "json"),
    ("not UTF-8", lambda e: e.replace(b"annual", b"ann\xffal", 1), "json"),
    ("half a pair in UTF-8", lambda e: e.replace(b"annual", b"ann\xed\xa0\x80", 1), "json"),
    ("form feed between", lambda e: e.replace(b"\n", b"\x0c", 1), "json"),
    ("a key twice", lambda e: e.replace(b"{", b'{"log": 1,', 1), "json"),
    ("a key twice, escaped", lambda e: e.replace(b"{", b'{"l\\u006fg": 1,', 1), "json"),
    ("upper-case escape", lambda e: e.replace(b"annual", b"\\u006Enual", 1), "json"),
    ("half a pair", lambda e: e.replace(b"annual", b"\\ud83d", 1), "json"),
    ("a control character", lambda e: e.replace(b"annual", b"ann\x01al", 1), "json"),
    ("NaN", lambda e: e.replace(b"0.85", b"NaN", 1), "json"),
    ("infinity", lambda e: e.replace(b"0.85", b"1e999", 1), "json"),
    ("too large a number", lambda e: e.replace(b"0.85", b"9007199254740992", 1), "json"),
    ("a leading zero", lambda e: e.replace(b"0.85", b"00.85", 1), "json"),
    ("too deep", lambda e: e.replace(b"{", b'{"x": ' + b"[" * 33 + b"]" * 33 + b",", 1), "json"),
    (
        "as deep as may be",
        lambda e: e.replace(b"{", b'{"x": ' + b"[" * 32 + b"]" * 32 + b",", 1),
        "readable",
    ),
    ("very deep", lambda e: b"[" * 1_000_000, "json"),
    ("as large as may be", lambda e: e + b" " * (16 * 1024 * 1024 - len(e)), ""),
    ("a byte too large", lambda e: e + b" " * (16 * 1024 * 1024 - len(e) + 1), "json"),
    ("a list", lambda e: b"[" + e + b"]", "json"),
    ("not an export", lambda e: b"{}", "export"),
    ("another spelling of a number", lambda e: e.replace(b"0.85", b"0.850", 1), "readable"),
    ("an escape that says the same", lambda e: e.replace(b"annual", b"\\u0061nnual", 1), ""),
    ("another word", lambda e: e.replace(b"27 days", b"28 days", 1), "readable"),
    ("a key more", lambda e: e.replace(b"{", b'{"x": 1,', 1), "readable"),
    ("__proto__", lambda e: e.replace(b"{", b'{"__proto__": {"question": "x"},', 1), "readable"),
]


def _name_an_error_as_its_claim(predicate: dict[str, Any]) -> None:
    """Plant an error that has the claim's own id, with everything else in order."""
    planted = {"id": "c1", "claim_id": "c1", "kind": "number", "text": "x", "start": 0, "end": 1}
    predicate["probe"] = {
        "planted": [{**planted, "becomes": "y"}],
        "verification": predicate["verification"],
        "policy": predicate["policy"],
        "planter": "x",
        "left_out": 0,
    }
    finding = {"rule": "planted_errors", "passed": True, "reason": "x"}
    predicate["decisions"][0]["findings"].append(finding)


# Changes of a predicate that is then signed and logged, and the code of each.
RECORD_CHANGES: list[tuple[str, Callable[[dict[str, Any]], None], str]] = [
    (
        "a claim twice",
        lambda p: p["claim_ir"]["claims"].append(p["claim_ir"]["claims"][0]),
        "subject",
    ),
    ("a decision too many", lambda p: p["decisions"].append(p["decisions"][0]), "integrity"),
    ("a result too few", lambda p: p["verification"].clear(), "integrity"),
    (
        "an unknown span",
        lambda p: p["verification"][0]["opposing"].append(
            {"chunk_id": "leave#c1", "span_id": "s9"}
        ),
        "integrity",
    ),
    ("a rule too few", lambda p: p["policy"]["rules"].remove("isolated"), "policy"),
    ("a lax threshold", lambda p: p["policy"].update(tau_entail=0.49), "policy"),
    (
        "a decision of another policy",
        lambda p: p["decisions"][0]["policy"].update(tau_entail=0.9),
        "policy",
    ),
    (
        "a finding that says no",
        lambda p: p["decisions"][0]["findings"][0].update(passed=False),
        "finding",
    ),
    ("findings in another order", lambda p: p["decisions"][0]["findings"].reverse(), "finding"),
    (
        "a problem that was passed",
        lambda p: p["claim_ir"]["claims"][0]["problems"].append("too_long: x"),
        "finding",
    ),
    (
        "a selector of another place",
        lambda p: p["retrieval"]["chunks"][0]["spans"][0]["selector"]["position"].update(start=1),
        "finding",
    ),
    ("no selector", lambda p: p["retrieval"]["chunks"][0]["spans"][0].pop("selector"), "finding"),
    (
        "a state that does not follow",
        lambda p: p["decisions"][0].update(render_state="BLOCKED"),
        "state",
    ),
    ("a count that does not follow", lambda p: p["answer"].update(verified=2), "summary"),
    ("a decision that does not follow", lambda p: p["answer"].update(decision="STRIP"), "summary"),
    (
        "a claim that does not answer",
        lambda p: p["claim_ir"]["claims"][0].update(relevance=0.2),
        "summary",
    ),
    (
        "a relevance that is none",
        lambda p: p["claim_ir"]["claims"][0].update(relevance=1.5),
        "summary",
    ),
    ("none that answers", lambda p: p["answer"].update(reason_code="RELATED_ONLY"), "summary"),
    ("null for nothing", lambda p: p.update(probe=None), "record"),
    ("true for 1", lambda p: p["answer"].update(verified=True), "record"),
    ("1.0 for 1", lambda p: p["answer"].update(verified=1.0), "record"),
    ("an unknown field", lambda p: p["answer"].update(note="x"), "record"),
    ("a field of every object's own", lambda p: p["answer"].update(toString="x"), "record"),
    ("an error that is named as its claim", _name_an_error_as_its_claim, "integrity"),
]
