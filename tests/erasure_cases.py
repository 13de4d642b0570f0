"""Answers with words that can be found again, and a search for those words in every byte."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path

from gate_cases import KEY, record

from certirag.ports import AuditLog, NewEntry
from certirag.proof.certificate import AnswerRecord, statement_bytes
from certirag.proof.envelope import sign, strict_base64
from certirag.proof.facets import facets_of
from certirag.proof.log import LogProof, parse_leaf

_MARK = rb"zqSecretWords[0-9a-f]{24}"
_RAW = re.compile(_MARK)
_WIDE = re.compile(b"\0".join([*(b"%c" % c for c in b"zqSecretWords"), *[b"[0-9a-f]"] * 24]))
_HEX = re.compile(rb"(?i)" + b"zqSecretWords".hex().encode() + rb"(?:3[0-9]|6[1-6]){24}")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{48,}")


@dataclass
class Spoken:
    """One request and its answer: whose words they are, when, and where the log keeps them."""

    rule: str
    at: datetime
    number: int
    indexes: list[int] = field(default_factory=list)

    @property
    def marker(self) -> str:
        return "zqSecretWords" + self._digest("marker")[:24]

    @property
    def trace_id(self) -> str:
        return self._digest("trace")[:32]

    @property
    def request(self) -> str:
        return self._digest("request")[:32]

    def _digest(self, of: str) -> str:
        return hashlib.sha256(f"{of} {self.rule} {self.number}".encode()).hexdigest()


@cache
def _plain() -> AnswerRecord:
    return record()


def answered(
    log: AuditLog, said: Spoken, parts: int = 1, of: str = "question", about: str = ""
) -> list[tuple[LogProof, bytes]]:
    """Log a request and its answer in *parts*; return the proofs with what they prove."""
    asked = {"answer": about} if about else {"question": f"What of {said.marker}?"}
    request = json.dumps(asked).encode()
    entries = [NewEntry("received", said.request, said.at, request, detail={"of": of})]
    for part in range(parts):
        last = part == parts - 1
        trace_id = (
            said.trace_id
            if last
            else hashlib.sha256(f"{part} {said.trace_id}".encode()).hexdigest()[:32]
        )
        question = f"What of {said.marker}?"
        plain = _plain()
        answer = replace(
            plain,
            question=question,
            retrieval=replace(plain.retrieval, query=question),
            created_at=said.at.isoformat(timespec="seconds"),
            trace_id=trace_id,
        )
        payload = statement_bytes(answer)
        signature = sign(payload, KEY).signatures[0]
        entries.append(
            NewEntry(
                "answer",
                trace_id,
                said.at,
                payload,
                (signature.keyid, strict_base64(signature.sig)),
                facets_of(answer, request=said.request, complete=last),
                {"request": said.request, "complete": last},
            )
        )
    proofs = [log.append(entry) for entry in entries]
    said.indexes += [parse_leaf(proof.leaf).index for proof in proofs]
    return [(proof, entry.content) for proof, entry in zip(proofs, entries, strict=True)]


def markers_in(folder: Path) -> set[str]:
    """Return the markers that stand in any byte of any file below *folder*.

    Looked for as they are, in UTF-16, in hexadecimal, and inside base64 at each alignment.
    """
    found: set[bytes] = set()
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        data = path.read_bytes()
        found.update(_RAW.findall(data))
        found.update(wide.replace(b"\0", b"") for wide in _WIDE.findall(data))
        found.update(bytes.fromhex(digits.decode()) for digits in _HEX.findall(data))
        for run in _BASE64.findall(data):
            plain = run.translate(bytes.maketrans(b"-_", b"+/"))
            for shift in range(4):
                whole = plain[shift : shift + (len(plain) - shift) // 4 * 4]
                found.update(_RAW.findall(base64.b64decode(whole)))
    return {marker.decode() for marker in found}
