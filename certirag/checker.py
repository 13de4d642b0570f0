"""Checks exported answers by docs/certificate.md, alone: standard library and `cryptography`.

It shares no code with the program that made the export; it can be copied out and run by itself:

    python checker.py FILE… --public-key FILE [--sources PATH…] [--json]
    python checker.py FILE… --trust FILE --root FILE [--sources PATH…] [--json]

Exit code 0: every file is VALID. 4: one is not. 2: it could not be asked.
Section signs are those of that document; `_examine` holds the steps of its §4 in their order.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import hmac
import io
import json
import math
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NoReturn

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

MAX_BYTES: Final = 16 * 1024 * 1024
MAX_DEPTH: Final = 32
PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
TRUST_TYPE: Final = "application/vnd.certirag.trust+json"
REVIEW_TYPE: Final = "application/vnd.certirag.review+json"
STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
RFC_8118: Final = "http://tools.ietf.org/rfc/rfc8118"
PREDICATE_TYPE: Final = "https://certirag.dev/attestation/answer/v2"
ANSWERS, OPEN = 0.5, 0.1  # the relevance of an answer, and of what says nothing on a part
BASE_RULES: Final = [
    "evidence",
    "entailed",
    "not_contradicted",
    "numbers",
    "well_formed",
    "sound_measurement",
    "isolated",
    "class_minimum",
]
_TRIPLE: Final = ("entailed", "not_enough_info", "contradicted")
STRICT_RULES: Final = ["load_bearing", "uncontested"]
RISK_CLASSES: Final = ["factual_lit_claim", "historical_claim", "comparative_claim", "scope_claim"]
_AS_RECORDED: Final = (
    "taken as recorded: the rules numbers and planted_errors, that a sentence is well formed, and "
    "the wording that class_minimum asks of a statement of scope"
)
# Our own words for the states: the program marks the badge's words wherever a text has them.
_STATES: Final = {
    "VERIFIED": "with the badge",
    "UNVERIFIED": "without the badge",
    "BLOCKED": "as contradicted",
}
_ORIGIN: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}(?:/[a-z0-9._-]{1,63}){1,3}")
_NOT_CHECKABLE: Final = re.compile("not_checkable")
_HEX64: Final = re.compile(r"[0-9a-f]{64}")
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,15}")
# A \u, behind an even number of backslashes, that four lower-case hex digits do not follow.
_ODD_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u(?![0-9a-f]{4})")
# All encodings of the points of order 1, 2, 4 and 8: under them a signature fits any message.
_SMALL_ORDER: Final = frozenset(
    bytes.fromhex(start + sign)
    for start, signs in (
        ("01" + "00" * 30, ("00", "80")),
        ("00" + "00" * 30, ("00", "80")),
        ("ec" + "ff" * 30, ("7f", "ff")),
        ("ed" + "ff" * 30, ("7f", "ff")),
        ("ee" + "ff" * 30, ("7f", "ff")),
        ("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc", ("05", "85")),
        ("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03", ("7a", "fa")),
    )
    for sign in signs
)

# §1 Shapes. `text int num bool any`; 'a|b one of these words; =1 this number; A/B either; [A] a
# list, {A} an object with any keys; ? or null; ~ before a field: may be left out, is never null.
_SHAPES: Final = """
Envelope = payloadType:text payload:text signatures:[Signature]
Signature = keyid:text sig:text
LogProof = leaf:text salt:text path:[text] checkpoint:text
Leaf = v:=1 origin:text index:int
  kind:'genesis|received|answer|failed|revoke|archive|erase|hold|release|rotate|retire
  |escalate|review at:text trace_id:text retention:text keyid:text commit:text detail:{any}
Countersigned = certificate:Envelope log:LogProof
Review = v:=1 trace_id:text certificate_sha256:text decision:'release|refuse reviewer:text
  reason:text at:text
AnswerRecord = question:text retrieval:RetrievalRecord claim_ir:ClaimIR
  verification:[VerificationResult] decisions:[RendererDecision] answer:AnswerSummary
  policy:Policy models:[ModelIdentity] config:{text/int/num/bool} config_hash:text created_at:text
  trace_id:text ~probe:Probe ~generation:GenerationRecord ~citations:CitationsRecord
RetrievalRecord = query:text chunks:[EvidenceChunk] settings:{text/int/num} dropped:[text]
EvidenceChunk = chunk_id:text doc_id:text text:text sha256:text source:ChunkSource
  spans:[SentenceSpan] retrieval:RetrievalScores
ChunkSource = title:text url_or_path:text section:text sha256:text page:int? start:int
RetrievalScores = bm25:num? dense:num? fused:num? rerank:num? bm25_rank:int? dense_rank:int?
  fused_rank:int? rank:int?
SentenceSpan = span_id:text start:int end:int sentence:text visible:bool boxes:[Box]
  ~selector:Selector
Box = page:int left:num bottom:num right:num top:num
Selector = quote:TextQuoteSelector position:TextPositionSelector fragment:FragmentSelector?
  section:text sha256:text utf8_start:int utf8_end:int utf16_start:int utf16_end:int
TextQuoteSelector = exact:text prefix:text suffix:text type:'TextQuoteSelector
TextPositionSelector = start:int end:int type:'TextPositionSelector
FragmentSelector = value:text conformsTo:text type:'FragmentSelector
ClaimIR = question:text claims:[Claim] generator:text draft:text dropped:[text] ~parts:[text]
Claim = id:text text:text
  type:'fact|numeric_fact|temporal_fact|attribution|comparison|scope|definition|procedure
  risk_class:'factual_lit_claim|historical_claim|comparative_claim|scope_claim fields:{text/int}
  evidence_candidates:[SpanRef] draft_start:int draft_end:int hedges:[text] supplied:[text]
  quantities:[Quantity] problems:[text] ~relevance:num ~by_part:[num]
SpanRef = chunk_id:text span_id:text
Quantity =
  kind:'number|percent|percentage_point|currency|measure|duration|date|year|period|ordinal
  text:text start:int end:int value:text unit:text high:text qualifier:text
VerificationResult = claim_id:text label:'entailed|contradicted|not_enough_info|error score:num?
  best_evidence:[SpanRef] all_scores:[SpanScore]
  verdict:'SUPPORTED|PARTIAL|UNSUPPORTED|CONTRADICTED|NEI set_input_sha256:text score_without:num?
  truncated:bool pairs_dropped:int needed_dropped:int error:text depth:'|HIGH|MEDIUM|LOW
  questions:[QuestionRecord] missing_part:text opposing:[SpanRef]
SpanScore = chunk_id:text span_id:text label:'entailed|contradicted|not_enough_info|error
  score:num? entailed:num? not_enough_info:num? contradicted:num? input_sha256:text truncated:bool
  error:text note:text
QuestionRecord = kind:'amount|when|name|polarity|modality|quantifier|roles|written question:text
  said:text answer:text outcome:'agree|differ|not_found
RendererDecision = claim_id:text render_state:'VERIFIED|UNVERIFIED|BLOCKED policy:{text/num}
  reason:text findings:[FindingRecord]
FindingRecord = rule:text passed:bool reason:text
AnswerSummary = decision:'ACCEPT|STRIP|REJECT reason_code:text
  confidence:'high|medium|low|insufficient_evidence verified:int unverified:int blocked:int
  limitations:[text] query_refinements:[text] reason:text basis:ConfidenceBasis?
  left_out:[LeftOut] closest_references:[Reference] suggestions:Suggestions?
ConfidenceBasis = checkable:int verified:int pass_rate:num high_risk_unresolved:int
  contradicted:int contested:int retrieval:num? specificity:num? caveats:[text]
  ~relevance:num ~open_parts:int
LeftOut = rule:text claims:[text]
Reference = chunk_id:text span_id:text title:text section:text page:int? quote:text why:text
Suggestions = refinements:[Suggestion] filters:[Filter]
Suggestion = kind:'spelling|period|question|heading query:text because:text
Filter = field:'document|section|period value:text passages:int
Policy = name:text rules:[text] tau_entail:num tau_contradict:num tau_contest:num
  max_claim_tokens:int class_minimum:{int}
ModelIdentity = role:text name:text version:text sha256:text
Probe = planted:[PlantedError] verification:[VerificationResult] policy:Policy planter:text
  left_out:int
PlantedError = id:text claim_id:text kind:'number|date|negation|entity|unit text:text start:int
  end:int becomes:text
GenerationRecord = strategy:'interleaved|generate-then-cite|strict-quote|prose
  prompts:[PromptIdentity] stream:text part:int
  end:'under_way|complete|abstained|unreachable|timed_out|rate_limited|rejected|server_error
  |refused|truncated|malformed|wrong_schema|empty|invented_source|altered_quote|misplaced_quote
  |short_quote|no_quote|no_citation|unreadable
  note:text ~quoted:[text]
PromptIdentity = name:text version:text sha256:text
CitationsRecord = citations:[Citation] judgements:[CitationJudgement] corrections:[Correction]
  dropped:[text]
Citation = claim_id:text doc_id:text raw:text place:text quote:text spans:[SpanRef] start:int
  end:int
CitationJudgement = citation:Citation verdict:'VALID|WEAK|INVALID|HALLUCINATED reason:text
  failed:'source|place|quote|entailment? entailed:num? evidence:[SpanRef] together:bool error:text
Correction = claim_id:text kind:'KEEP|REPLACE|REMOVE|ADD_ALTERNATE old:Citation? new:Citation?
  reason:text entailed:num?
Trust = v:=1 version:int origin:text keys:[TrustedKey]
TrustedKey = keyid:text public_key:text from_index:int until_index:int? reason:text
"""
SHAPES: Final[dict[str, str]] = {
    name: fields
    for line in re.sub(r"\s+(?=\|)|\n (?= )", "", _SHAPES).strip().split("\n")
    for name, _, fields in [line.partition(" = ")]
}

Object = dict[str, Any]
Verdict = Literal["VALID", "STALE", "NOT-REPRODUCIBLE", "TAMPERED"]


class Whole(int):
    """A JSON number without point and exponent, and how it was *spelled*."""

    spelled: str


class Real(float):
    """A JSON number with a point or an exponent, and how it was *spelled*."""

    spelled: str


class Broken(Exception):
    """What does not hold: the *code* of §4, and why in one line."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Unusable(ValueError):
    """A key or trust file that nothing can be checked with; nothing is said of any export."""


@dataclass(frozen=True, slots=True)
class TrustFile:
    """Public keys by key id, good for the log *origin* alone and for their *ranges* of entries.

    A range is the first entry and the one before which the key's time ends (None: no end).
    """

    origin: str
    keys: Mapping[str, Ed25519PublicKey]
    ranges: Mapping[str, tuple[int, int | None]]


@dataclass(frozen=True, slots=True)
class Report:
    """What is said of one export. *code* is "" when VALID; *record* is there when it is genuine.

    *reason* is one line that is safe to print: nothing in it is unseen or moves other text.
    """

    verdict: Verdict
    code: str
    reason: str
    record: Object | None = None

    @property
    def line(self) -> str:
        """The reason and, in brackets, the code."""
        return f"{self.reason} ({self.code})" if self.code else self.reason


def check(
    data: bytes,
    keys: Mapping[str, Ed25519PublicKey] | TrustFile,
    sources: Collection[str] | Mapping[str, SourceText] | None = None,
) -> Report:
    """Return the verdict on an export's bytes, whatever they are; nothing is raised.

    *keys* are pinned by key id. *sources* are the SHA-256 of today's files, None: not compared;
    where they come with their texts, the attached sentences are looked for in these.
    """
    try:
        record, reason = _examine(data, keys)
        stale = "" if sources is None else stale_place(record, sources)
        texts = sources if isinstance(sources, Mapping) and not stale else {}
        altered, note = _looked_up(record, texts) if texts else ("", "")
    except Broken as broken:
        return Report("TAMPERED", broken.code, visible(str(broken)))
    except Exception as error:  # noqa: BLE001  # what cannot be checked does not hold
        return Report("TAMPERED", "json", f"the check broke ({type(error).__name__})")
    if stale:
        return Report("STALE", "source", visible(stale), record)
    if altered:
        return Report("NOT-REPRODUCIBLE", "quote", visible(altered), record)
    return Report("VALID", "", visible(reason + note), record)


def _examine(data: bytes, keys: Mapping[str, Ed25519PublicKey] | TrustFile) -> tuple[Object, str]:
    """Take the steps of §4; return the signed record and what to say of it, or raise Broken."""
    export = strict_json(data, "json", "the file")
    if type(export) is not dict:
        raise Broken("json", "the file is not a JSON object")
    if "certificate" not in export or "log" not in export:
        raise Broken("export", "this is no exported answer: it needs 'certificate' and 'log'")
    envelope, log = export.pop("certificate"), export.pop("log")
    review = [export.pop("review")] if "review" in export else []
    _require_shape("Envelope", envelope, "envelope", "the certificate")
    if envelope["payloadType"] != PAYLOAD_TYPE or len(envelope["signatures"]) != 1:
        raise Broken("envelope", "the certificate is of another type, or not signed exactly once")
    _require_shape("LogProof", log, "log-proof", "the log's proof")
    keyid, sig = envelope["signatures"][0]["keyid"], envelope["signatures"][0]["sig"]
    pinned = keys.keys if isinstance(keys, TrustFile) else keys
    key = pinned.get(keyid)
    if key is None or not _is_sound(keyid, key):
        raise Broken("untrusted-key", f"signed by the key {_cut(keyid, 16)}, which is not pinned")
    payload = _signed_bytes(envelope["payload"], sig, PAYLOAD_TYPE, key)
    statement = _statement(payload)
    record: Object = statement["predicate"]
    _require_same(export, record)
    if statement["subject"] != _subject(record):
        raise Broken("subject", "the subject is not the digests of this answer and its sources")
    leaf, signer, newest = _logged(log, "answer", record, payload, keys)
    for keyid_, entry in ((keyid, leaf["index"]), (signer, newest)):
        _require_in_range(keys, keyid_, entry)
    _judge(record)
    said = [_reviewed(part, leaf, record, payload, keys) for part in review]
    count, planted = record["answer"], len(record.get("probe", {}).get("planted", ()))
    return record, (
        f"the signature of key {keyid[:16]} holds, entry {leaf['index']} of {leaf['origin']}; "
        f"{count['verified']} of {len(record['decisions'])} claims with the badge, "
        f"{count['unverified']} without, {count['blocked']} contradicted"
        f"{f'; {planted} errors were planted in them' if planted else ''}"
        f"{''.join(said)}; {_AS_RECORDED}"
    )


# §1 JSON, shapes and spellings.


def strict_json(data: bytes, code: str, what: str) -> Any:
    """Parse JSON that can be read in one way only; numbers keep their spelling."""
    if len(data) > MAX_BYTES:
        raise Broken(code, f"{what} is larger than {MAX_BYTES} bytes")
    try:
        text = data.decode("utf-8")
        if "\\u" in text and _ODD_ESCAPE.search(text):
            raise ValueError("an escape is not in lower-case hex")
        value = json.loads(
            text,
            object_pairs_hook=_once_each,
            parse_constant=_no_constant,
            parse_float=_real,
            parse_int=_whole,
        )
        if "\\ud" in text:  # the only way to half a surrogate pair, which cannot be encoded
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        level = _boxes([value])
        for _ in range(MAX_DEPTH):
            level = [box for outer in level for box in _boxes(_parts(outer))]
        if any(level):
            raise ValueError(f"a value stands inside more than {MAX_DEPTH} others")
    except (ValueError, RecursionError) as error:
        raise Broken(code, f"{what} is not strict JSON: {error}") from error
    return value


def _parts(box: Any) -> Iterable[Any]:
    return box.values() if type(box) is dict else box


def _boxes(parts: Iterable[Any]) -> list[Any]:
    return [part for part in parts if type(part) in (dict, list)]


def _once_each(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _whole(spelled: str) -> Whole:
    if len(spelled) > 17 or abs(int(spelled)) >= 2**53:
        raise ValueError(f"{spelled[:20]} is too large to be read by everybody alike")
    number = Whole(spelled)
    number.spelled = spelled
    return number


def _real(spelled: str) -> Real:
    number = Real(spelled)
    if not math.isfinite(number):
        raise ValueError(f"{spelled[:20]} is too large")
    number.spelled = spelled
    return number


# A matcher returns "" for a value that fits, and else the place inside it that does not.
Matcher = Callable[[Any], str | None]
_PLAIN: Final = {"text": (str,), "int": (Whole,), "num": (Whole, Real), "bool": (bool,)}


def _require_shape(name: str, value: object, code: str, what: str) -> None:
    place = _matcher(name)(value)
    if place is not None:
        raise Broken(code, f"{what} has another shape at {_cut(place.lstrip('.')) or 'its top'}")


def _matcher(shape: str) -> Matcher:
    """Return the matcher of a type in the notation of `SHAPES`; made once."""
    if shape not in _MATCHERS:
        _MATCHERS[shape] = _make_matcher(shape)
    return _MATCHERS[shape]


def _make_matcher(shape: str) -> Matcher:
    if shape in SHAPES:
        return _object_matcher(SHAPES[shape])
    if shape.endswith("?"):
        some = _matcher(shape[:-1])
        return lambda value: None if value is None else some(value)
    if shape[0] == "'":
        words = frozenset(shape[1:].split("|"))
        return lambda value: None if type(value) is str and value in words else ""
    if shape[0] == "=":
        number = shape[1:]
        return lambda value: None if type(value) is Whole and str(value) == number else ""
    if shape[0] == "[":
        item = _matcher(shape[1:-1])
        return lambda value: "" if type(value) is not list else _inside(enumerate(value), item)
    if shape[0] == "{":
        item = _matcher(shape[1:-1])
        return lambda value: "" if type(value) is not dict else _inside(value.items(), item)
    if shape == "any":
        return lambda _: None
    types = {kind for part in shape.split("/") for kind in _PLAIN[part]}
    return lambda value: None if type(value) in types else ""


def _object_matcher(fields: str) -> Matcher:
    named = [field.partition(":") for field in fields.split()]
    required = {name for name, _, _ in named if name[0] != "~"}
    matchers = {name.lstrip("~"): _matcher(shape) for name, _, shape in named}

    def match(value: Any) -> str | None:
        if type(value) is not dict or not required <= value.keys():
            return ""
        for name, part in value.items():
            place = matchers[name](part) if name in matchers else ""
            if place is not None:
                return f".{name}{place}"
        return None

    return match


def _inside(parts: Iterable[tuple[object, Any]], item: Matcher) -> str | None:
    for name, part in parts:
        place = item(part)
        if place is not None:
            return f".{name}{place}"
    return None


_MATCHERS: Final[dict[str, Matcher]] = {}


def _base64(text: str) -> bytes | None:
    """Decode base64, None for any spelling but the canonical one."""
    try:
        found = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return found if base64.b64encode(found).decode("ascii") == text else None


def _sha256(text: str | bytes) -> str:
    return hashlib.sha256(text.encode("utf-8") if isinstance(text, str) else text).hexdigest()


def _lengths(texts: Iterable[str]) -> str:
    """Return the digest of texts, each behind its length, so that none moves into the next."""
    return _sha256("\x00".join(f"{len(text)}:{text}" for text in texts))


# §1, §3 Keys, envelope, statement.


def load_key(raw: bytes) -> Ed25519PublicKey:
    """Return the key of 32 raw bytes; Unusable for another length or a small order."""
    if len(raw) != 32 or raw in _SMALL_ORDER:
        raise Unusable("a public key is 32 bytes and not of small order")
    return Ed25519PublicKey.from_public_bytes(raw)


def key_id(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of the key's 32 raw bytes, in hex."""
    return _sha256(_raw(key))


def open_trust(data: bytes, root: Ed25519PublicKey) -> TrustFile:
    """Return the keys of a trust file that the *root* key signed; Unusable otherwise."""
    try:
        envelope = strict_json(data, "trust", "the trust file")
        _require_shape("Envelope", envelope, "trust", "the trust file")
        if envelope["payloadType"] != TRUST_TYPE or len(envelope["signatures"]) != 1:
            raise Broken("trust", "it is of another type, or not signed exactly once")
        signature = envelope["signatures"][0]
        if signature["keyid"] != key_id(root) or not _is_sound(key_id(root), root):
            raise Broken("trust", "the trust file is not signed by the root key")
        payload = _signed_bytes(envelope["payload"], signature["sig"], TRUST_TYPE, root)
        trust = strict_json(payload, "trust", "the trust file's payload")
        _require_shape("Trust", trust, "trust", "the trust file's payload")
        keys, ranges = {}, {}
        for one in trust["keys"]:
            name, until = one["keyid"], one["until_index"]
            if not _HEX64.fullmatch(one["public_key"]) or name in keys:
                raise Broken("trust", f"the key {_cut(name, 16)} is malformed, or named twice")
            keys[name] = load_key(bytes.fromhex(one["public_key"]))
            if key_id(keys[name]) != name or one["from_index"] < 0 or (until or 0) < 0:
                raise Broken("trust", f"the key {_cut(name, 16)} has another id, or a false range")
            ranges[name] = (one["from_index"], until)
    except Broken as broken:
        raise Unusable(visible(str(broken))) from broken
    return TrustFile(trust["origin"], keys, ranges)


def _raw(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def _is_sound(keyid: str, key: Ed25519PublicKey) -> bool:
    return key_id(key) == keyid and _raw(key) not in _SMALL_ORDER


def _require_in_range(
    keys: Mapping[str, Ed25519PublicKey] | TrustFile, keyid: str, index: int
) -> None:
    first, until = keys.ranges[keyid] if isinstance(keys, TrustFile) else (0, None)
    if index < first or (until is not None and index >= until):
        raise Broken("key-range", f"the key {keyid[:16]} was not good for entry {index}")


def _signed_bytes(payload: str, sig: str, kind: str, key: Ed25519PublicKey) -> bytes:
    """Return the payload's bytes once the signature holds over their encoding (DSSE v1)."""
    found, signature = _base64(payload), _base64(sig)
    if found is None or signature is None:
        raise Broken("base64", "the payload or the signature is not canonical base64")
    try:
        key.verify(signature, b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(found), found))
    except (InvalidSignature, ValueError) as error:
        raise Broken("signature", "the signature does not hold over the signed bytes") from error
    return found


def _statement(payload: bytes) -> Object:
    """Return the in-toto Statement of verified bytes, its record in its shape."""
    found = strict_json(payload, "payload", "the signed payload")
    expected = {"_type", "subject", "predicateType", "predicate"}
    if type(found) is not dict or found.keys() != expected:
        raise Broken("payload", "the signed payload is not an in-toto Statement")
    if (found["_type"], found["predicateType"]) != (STATEMENT_TYPE, PREDICATE_TYPE):
        raise Broken("payload", "the signed statement is of another type or version")
    _require_shape("AnswerRecord", found["predicate"], "record", "the signed record")
    return found


def _require_same(readable: Object, record: Object) -> None:
    for name in sorted(readable.keys() | record.keys()):
        both = name in readable and name in record
        if not both or not _same(readable[name], record[name]):
            raise Broken("readable", f"the readable part differs from the signed at {_cut(name)}")


def _same(one: Any, other: Any) -> bool:
    """Compare by type too, and numbers by their spelling."""
    if type(one) is not type(other):
        return False
    if type(one) is dict:
        return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if type(one) is list:
        return len(one) == len(other) and all(map(_same, one, other))
    if type(one) in (Whole, Real):
        return bool(one.spelled == other.spelled)
    return bool(one == other)


def _subject(record: Object) -> list[Object]:
    sources: dict[str, str] = {}
    for chunk in record["retrieval"]["chunks"]:
        digest = chunk["source"]["sha256"]
        if sources.setdefault(chunk["doc_id"], digest) != digest:
            raise Broken("subject", f"{_cut(chunk['doc_id'])} has two digests")
    answer = _lengths(claim["text"] for claim in record["claim_ir"]["claims"])
    named = [("answer", answer), *((f"source/{doc}", sources[doc]) for doc in sorted(sources))]
    return [{"name": name, "digest": {"sha256": digest}} for name, digest in named]


# §2 The log: leaf, checkpoint, Merkle path.


def _logged(
    log: Object,
    kind: str,
    record: Object,
    content: bytes,
    keys: Mapping[str, Ed25519PublicKey] | TrustFile,
) -> tuple[Object, str, int]:
    """Return the leaf of *kind* that speaks of *content*, who signed for the log, its last entry."""
    pinned = keys.keys if isinstance(keys, TrustFile) else keys
    leaf = _leaf(log["leaf"], kind, record)
    origin, size, root, signer = _checkpoint(log["checkpoint"], pinned)
    if leaf["origin"] != origin or (isinstance(keys, TrustFile) and keys.origin != origin):
        raise Broken("checkpoint", f"the checkpoint is of another log, {_cut(origin)}")
    if _root(leaf["index"], size, log["leaf"].encode("ascii"), log["path"]) != root:
        raise Broken("inclusion", f"entry {leaf['index']} is not in the log of the checkpoint")
    if not _HEX64.fullmatch(log["salt"]):
        raise Broken("commitment", "the salt is not 64 hex digits")
    if hmac.digest(bytes.fromhex(log["salt"]), content, "sha256").hex() != leaf["commit"]:
        raise Broken("commitment", f"entry {leaf['index']} of the log speaks of another content")
    return leaf, signer, size - 1


def _reviewed(
    part: Any,
    answer: Object,
    record: Object,
    payload: bytes,
    keys: Mapping[str, Ed25519PublicKey] | TrustFile,
) -> str:
    """§13: return what a reviewer decided, in words, once log and signature hold for it."""
    try:
        _require_shape("Countersigned", part, "review", "it")
        envelope, log = part["certificate"], part["log"]
        if envelope["payloadType"] != REVIEW_TYPE or len(envelope["signatures"]) != 1:
            raise Broken("review", "it is of another type, or not signed exactly once")
        content = _base64(envelope["payload"])
        if content is None:
            raise Broken("review", "its payload is not canonical base64")
        leaf, signer, newest = _logged(log, "review", record, content, keys)
        _require_in_range(keys, signer, newest)
        named = leaf["detail"].get("public_key")
        key = load_key(bytes.fromhex(named if type(named) is str else ""))
        signature = envelope["signatures"][0]
        if signature["keyid"] != key_id(key):
            raise Broken("review", "it is signed by another key than the log names")
        _signed_bytes(envelope["payload"], signature["sig"], REVIEW_TYPE, key)
        said = strict_json(content, "review", "it")
        _require_shape("Review", said, "review", "it")
        target = leaf["detail"].get("target")
        detail = {"target": target, "decision": said["decision"], "reviewer": said["reviewer"]}
        if leaf["detail"] != {**detail, "public_key": _raw(key).hex()}:
            raise Broken("review", "the log's entry and the reviewer say different things")
        entry = (answer["origin"], answer["index"], record["trace_id"], _sha256(payload))
        about = (leaf["origin"], target, said["trace_id"], said["certificate_sha256"])
        if type(target) is not Whole or about != entry or leaf["index"] <= answer["index"]:
            raise Broken("review", "it is of another answer")
    except (Broken, ValueError) as error:
        raise Broken("review", f"what a reviewer signed does not hold: {error}") from error
    done = "released" if said["decision"] == "release" else "refused"
    return f"; {done} by the reviewer {_cut(said['reviewer'])} at {_cut(said['at'], 40)}"


def _leaf(text: str, kind: str, record: Object) -> Object:
    if not text.isascii():
        raise Broken("leaf", "the log's entry is not ASCII")
    leaf: Object = strict_json(text.encode("ascii"), "leaf", "the log's entry")
    _require_shape("Leaf", leaf, "leaf", "the log's entry")
    if (leaf["kind"], leaf["trace_id"]) != (kind, record["trace_id"]):
        raise Broken("leaf", f"entry {leaf['index']} of the log is not of this answer")
    return leaf


def _checkpoint(text: str, pinned: Mapping[str, Ed25519PublicKey]) -> tuple[str, int, bytes, str]:
    """Return origin, size, root and the id of the key of a signed note; RFC 9162's tree head."""
    malformed = Broken("checkpoint", "the checkpoint is not a signed note of one signature")
    lines = text.split("\n")
    if len(lines) != 6 or lines[3] or lines[5]:
        raise malformed
    origin, size, root = lines[0], lines[1], _base64(lines[2])
    prefix = f"— {origin} "
    signed = _base64(lines[4].removeprefix(prefix)) if lines[4].startswith(prefix) else None
    if not _ORIGIN.fullmatch(origin) or not _SIZE.fullmatch(size) or int(size) >= 2**53:
        raise malformed
    if root is None or len(root) != 32 or signed is None or len(signed) != 68:
        raise malformed
    body = "".join(f"{line}\n" for line in lines[:3]).encode("ascii")
    for keyid, key in pinned.items():
        name = hashlib.sha256(f"{origin}\n\x01".encode("ascii") + _raw(key)).digest()
        if name[:4] != signed[:4] or not _is_sound(keyid, key):
            continue
        try:
            key.verify(signed[4:], body)
        except InvalidSignature:
            continue
        return origin, int(size), root, keyid
    raise Broken("checkpoint", "no pinned key signed the checkpoint")


def _root(index: int, size: int, leaf: bytes, path: Sequence[str]) -> bytes:
    """Return the root that *path* leads to (RFC 9162 §2.1.3.2)."""
    if not 0 <= index < size or len(path) > 64 or not all(map(_HEX64.fullmatch, path)):
        raise Broken("inclusion", f"entry {index} cannot be shown in a log of {size} entries")
    root = hashlib.sha256(b"\x00" + leaf).digest()
    number, last = index, size - 1
    for step in map(bytes.fromhex, path):
        if last == 0:
            raise Broken("inclusion", "the path to the checkpoint is too long")
        if number & 1 or number == last:
            root = hashlib.sha256(b"\x01" + step + root).digest()
            while number and not number & 1:
                number, last = number >> 1, last >> 1
        else:
            root = hashlib.sha256(b"\x01" + root + step).digest()
        number, last = number >> 1, last >> 1
    if last:
        raise Broken("inclusion", "the path to the checkpoint is too short")
    return root


# §5 to §8 What the record says.


class _Evidence:
    """The chunks and spans of a record by their names; none of them twice."""

    def __init__(self, chunks: Sequence[Object]) -> None:
        _require_distinct((chunk["chunk_id"] for chunk in chunks), "chunk")
        self.chunks = {chunk["chunk_id"]: chunk for chunk in chunks}
        self.spans: dict[tuple[str, str], Object] = {}
        for chunk in chunks:
            _require_distinct((s["span_id"] for s in chunk["spans"]), f"{chunk['chunk_id']}: span")
            self.spans |= {(chunk["chunk_id"], span["span_id"]): span for span in chunk["spans"]}

    def attached(self, result: Object) -> list[tuple[Object, Object]]:
        """Return chunk and span of each attached sentence, in order."""
        places = map(_place, result["best_evidence"])
        return [(self.chunks[place[0]], self.spans[place]) for place in places]


def _place(ref: Object) -> tuple[str, str]:
    return ref["chunk_id"], ref["span_id"]


def _require_distinct(names: Iterable[str], what: str) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise Broken("integrity", f"{_cut(what)} {_cut(name)} is there {count} times")


def _judge(record: Object) -> None:
    """Raise Broken where the record contradicts itself or its policy."""
    evidence = _Evidence(record["retrieval"]["chunks"])
    _require_integrity(record, evidence)
    _require_policies(record)
    policy, probe = record["policy"], record.get("probe")
    planted = {error["claim_id"] for error in probe["planted"]} if probe else set()
    results = {result["claim_id"]: result for result in record["verification"]}
    pairs = list(zip(record["claim_ir"]["claims"], record["decisions"], strict=True))
    for claim, decision in pairs:
        asked = [*policy["rules"], *(["planted_errors"] if claim["id"] in planted else [])]
        if [finding["rule"] for finding in decision["findings"]] != asked:
            raise Broken("finding", f"{_cut(claim['id'])}: the findings are not the policy's")
        must, may = _derived(policy, claim, results[claim["id"]], evidence)
        for finding in decision["findings"]:
            rule, passed = finding["rule"], finding["passed"]
            if must.get(rule, passed) is not passed or (passed and not may.get(rule, True)):
                said = "passed" if passed else "failed"
                named = f"{_cut(claim['id'])}: {rule} is recorded as {said}"
                raise Broken("finding", f"{named}, and the record gives the opposite")
    for claim, decision in pairs:
        _require_state(policy, results[claim["id"]], decision)
    _require_summary(record)


def _require_integrity(record: Object, evidence: _Evidence) -> None:
    claims = [claim["id"] for claim in record["claim_ir"]["claims"]]
    probe = record.get("probe") or {"planted": [], "verification": []}
    planted = [error["id"] for error in probe["planted"]]
    _require_distinct([*claims, *planted], "claim or planted error")
    for error in probe["planted"]:
        if error["claim_id"] not in claims:
            raise Broken("integrity", f"{_cut(error['id'])} is planted in no claim of the answer")
    for expected, results in ((claims, record["verification"]), (planted, probe["verification"])):
        if sorted(expected) != sorted(result["claim_id"] for result in results):
            raise Broken("integrity", "there is not exactly one result per claim or planted error")
        for result in results:
            for ref in (*result["best_evidence"], *result["all_scores"], *result["opposing"]):
                if _place(ref) not in evidence.spans:
                    place = f"{_cut(ref['chunk_id'])} {_cut(ref['span_id'])}"
                    named = _cut(result["claim_id"])
                    raise Broken("integrity", f"{named} names {place}, which is not in the record")
    if claims != [decision["claim_id"] for decision in record["decisions"]]:
        raise Broken("integrity", "there is not exactly one decision per claim, in their order")


def _require_policies(record: Object) -> None:
    """§6: neither policy is laxer than the contract, nor the record's than the probe's."""
    own = record["policy"]
    other = record["probe"]["policy"] if "probe" in record else own
    for policy in (own, other):
        rules, minimum = policy["rules"], policy["class_minimum"]
        if not (
            len(set(rules)) == len(rules)
            and set(BASE_RULES) <= set(rules) <= {*BASE_RULES, *STRICT_RULES}
            and 0.5 <= policy["tau_entail"] <= 1
            and 0 < policy["tau_contradict"] <= 1
            and 0 < policy["tau_contest"] <= 1
            and 1 <= policy["max_claim_tokens"] <= 400
            and minimum.keys() == set(RISK_CLASSES)
            and min(minimum.values()) >= 1
        ):
            raise Broken("policy", f"the policy {_cut(policy['name'])} is laxer than the contract")
    contest = own["tau_contest"] <= other["tau_contest"] or "uncontested" not in other["rules"]
    if not (
        set(own["rules"]) >= set(other["rules"])
        and own["tau_entail"] >= other["tau_entail"]
        and own["tau_contradict"] <= other["tau_contradict"]
        and contest
        and own["max_claim_tokens"] <= other["max_claim_tokens"]
        and all(own["class_minimum"][n] >= other["class_minimum"][n] for n in RISK_CLASSES)
    ):
        raise Broken("policy", "planted errors are judged more strictly than the claims")
    used = {name: own[name] for name in ("name", "tau_entail", "tau_contradict")}
    for decision in record["decisions"]:
        if decision["policy"] != used:
            raise Broken("policy", f"{_cut(decision['claim_id'])} is decided under another policy")


def _is_score(value: object) -> bool:
    return isinstance(value, Whole | Real) and 0 <= value <= 1


def _derived(
    policy: Object, claim: Object, result: Object, evidence: _Evidence
) -> tuple[dict[str, bool], dict[str, bool]]:
    """Return §7's rules that must have passed or not, and those that may have passed or not."""
    label, scores, attached = result["label"], result["all_scores"], evidence.attached(result)
    places = list(map(_place, result["best_evidence"]))
    scored = {_place(score): score["entailed"] for score in scores}
    against = [(evidence.chunks[s["chunk_id"]]["doc_id"], s["contradicted"]) for s in scores]
    own = {chunk["doc_id"] for chunk, _ in attached}
    sentences = [span["sentence"] for _, span in attached]
    shared = _shared_context([chunk for chunk, _ in attached])
    needed = policy["class_minimum"][claim["risk_class"]]
    if claim["risk_class"] == "comparative_claim" and claim["hedges"]:
        needed = min(needed, 1)
    must = {
        "evidence": bool(places)
        and len(set(places)) == len(places)
        and all(_resolves(chunk, span) for chunk, span in attached),
        "entailed": _is_score(result["score"])
        and result["score"] >= policy["tau_entail"]
        and bool(places)
        and all(place in scored for place in places)
        and (len(places) > 1 or scored[places[0]] == result["score"])
        and label == "entailed",
        "not_contradicted": all(_is_score(s) and s < policy["tau_contradict"] for _, s in against)
        and label != "contradicted",
        "sound_measurement": bool(scores)
        and all(_is_sound_answer(answer) for answer in (result, *scores))
        and all(_is_score(s[name]) for s in scores for name in _TRIPLE)
        and _is_score(result["score"])
        and len(scored) == len(scores)
        and result["needed_dropped"] == 0,
        "isolated": all(
            s["input_sha256"] in _inputs(claim, [s], _around(s, evidence), evidence) for s in scores
        )
        and result["set_input_sha256"] in _inputs(claim, result["best_evidence"], shared, evidence),
        "load_bearing": _is_score(result["score_without"]) and result["score_without"] < 0.5,
        "uncontested": all(
            _is_score(s) and (doc_id in own or s < policy["tau_contest"]) for doc_id, s in against
        ),
    }
    may = {"class_minimum": len(set(sentences)) >= needed, "well_formed": not claim["problems"]}
    return must, may


def _is_sound_answer(answer: Object) -> bool:
    return not answer["truncated"] and not answer["error"] and answer["label"] != "error"


def _around(score: Object, evidence: _Evidence) -> str:
    return _context(evidence.chunks[score["chunk_id"]])


def _inputs(claim: Object, places: Sequence[Object], context: str, evidence: _Evidence) -> set[str]:
    """Return the digests that the verifier's input may have: without and with a window (§7)."""
    spans = [_place(place) for place in places]
    text = "\n".join(evidence.spans[span]["sentence"] for span in spans)
    given = (claim["text"], text, context)
    windows = {name: evidence.chunks[name]["text"] for name, _ in spans}
    found = {_lengths(given)}
    if len(windows) == 1:
        found.add(_lengths((*given, *windows.values())))
    return found


def _context(chunk: Object) -> str:
    return " › ".join(filter(None, (chunk["source"]["title"], chunk["source"]["section"])))


def _shared_context(chunks: Sequence[Object]) -> str:
    shared: list[str] = []
    for parts in zip(*((c["doc_id"], *_context(c).split(" › ")) for c in chunks), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return " › ".join(filter(None, shared[1:]))


def _resolves(chunk: Object, span: Object) -> bool:
    """Say whether an attached sentence stands where it says, to be seen, with its selector."""
    text, source, start, end = chunk["text"], chunk["source"], span["start"], span["end"]
    if not (0 <= start < end <= len(text) and text[start:end] == span["sentence"]):
        return False
    position = {"start": source["start"] + start, "end": source["start"] + end}
    selector = {  # §9
        "quote": {
            "exact": text[start:end],
            "prefix": text[max(0, start - 32) : start],
            "suffix": text[end : end + 32],
            "type": "TextQuoteSelector",
        },
        "position": {**position, "type": "TextPositionSelector"},
        "fragment": None
        if source["page"] is None
        else {
            "value": f"page={source['page']}",
            "conformsTo": RFC_8118,
            "type": "FragmentSelector",
        },
        "section": source["section"],
        "sha256": _sha256(span["sentence"]),
        "utf8_start": len(text[:start].encode("utf-8")),
        "utf8_end": len(text[:end].encode("utf-8")),
        "utf16_start": len(text[:start].encode("utf-16-le")) // 2,
        "utf16_end": len(text[:end].encode("utf-16-le")) // 2,
    }
    return (
        chunk["sha256"] == _sha256(text)
        and bool(_HEX64.fullmatch(source["sha256"]))
        and bool(span["sentence"].strip())
        and span["visible"]
        and span.get("selector") == selector
    )


def _require_state(policy: Object, result: Object, decision: Object) -> None:
    worst = [s["contradicted"] for s in result["all_scores"] if _is_score(s["contradicted"])]
    state = "BLOCKED" if any(s >= policy["tau_contradict"] for s in worst) else "UNVERIFIED"
    if all(finding["passed"] for finding in decision["findings"]):
        state = "VERIFIED"
    if decision["render_state"] != state:
        recorded, named = _STATES[decision["render_state"]], _cut(decision["claim_id"])
        raise Broken("state", f"{named} is recorded {recorded}, its figures give: {_STATES[state]}")


def _require_summary(record: Object) -> None:
    """§8."""
    summary, claims = record["answer"], record["claim_ir"]["claims"]
    states = Counter(decision["render_state"] for decision in record["decisions"])
    for state, words in _STATES.items():
        if summary[state.lower()] != states[state]:
            raise Broken("summary", f"the count of claims {words} is not that of the decisions")
    problems = {claim["id"]: claim["problems"] for claim in claims}
    checkable = {i for i, of in problems.items() if not any(map(_NOT_CHECKABLE.match, of))}
    verified = {d["claim_id"] for d in record["decisions"] if d["render_state"] == "VERIFIED"}
    decision = "REJECT"
    if checkable and verified:
        decision = "ACCEPT" if verified == checkable else "STRIP"
    if summary["decision"] != decision:
        raise Broken(
            "summary", f"the decision is {summary['decision']}, its claims give {decision}"
        )
    asked = len(record["claim_ir"].get("parts", ()))
    for claim in claims:
        parts, rated = claim.get("by_part", []), claim.get("relevance")
        sound = len(parts) == asked and max(parts, default=rated) == rated
        if not sound or not all(map(_is_score, parts if rated is None else [rated, *parts])):
            raise Broken("summary", "a claim's relevance to the parts of the question is unsound")
    own = [claim for claim in claims if claim["id"] in verified and "relevance" in claim]
    related = bool(own) and all(claim["relevance"] < ANSWERS for claim in own)
    left = [at for at in range(asked) if own and all(c["by_part"][at] < OPEN for c in own)]
    codes = {"RELATED_ONLY": related, "PARTLY_ANSWERED": bool(left) and not related}
    if any((summary["reason_code"] == code) != so for code, so in codes.items()):
        raise Broken("summary", "whether its claims answer does not follow from their relevance")


# What is said, and today's sources.

_PLAIN_TEXT: Final = (".txt", ".text")
_MARKED_UP: Final = (".md", ".markdown", ".html", ".htm", ".csv", ".tsv", ".jsonl")
# Is it plain text, which must hold every sentence that is quoted from it; and its text, or "".
SourceText = tuple[bool, str]


def stale_place(record: Object, sources: Collection[str]) -> str:
    """Return which document and sentence of the evidence *sources* lack, "" when none."""
    evidence = _Evidence(record["retrieval"]["chunks"])
    for result in record["verification"]:
        for chunk, span in evidence.attached(result):
            source = chunk["source"]
            if source["sha256"] not in sources:
                document = f"{_cut(source['title'])}, {_cut(source['url_or_path'], 80)},"
                where = (
                    f"{_cut(span['sentence'])} ({chunk['chunk_id'][:80]} {span['span_id'][:20]})"
                )
                return (
                    f"{document} has changed or is not among the sources; it is quoted as {where}"
                )
    return ""


def _looked_up(record: Object, texts: Mapping[str, SourceText]) -> tuple[str, str]:
    """Return an attached sentence that its plain text lacks, or "", and how many were looked for.

    A run of blanks is one, for a reader of documents may join lines, and nothing else is changed:
    2.7 days are not 27. A document in another format may hold what this program cannot find.
    """
    evidence = _Evidence(record["retrieval"]["chunks"])
    attached = [place for r in record["verification"] for place in evidence.attached(r)]
    found = 0
    for chunk, span in attached:
        plain, text = texts[chunk["source"]["sha256"]]
        sentence = _one_line(span["sentence"])
        if sentence and sentence in text:
            found += 1
        elif plain:
            said = f"{_cut(chunk['source']['title'])} does not say {_cut(span['sentence'], 200)}"
            return f"{said}, which is quoted from it", ""
    return "", (
        f"; {found} of {len(attached)} attached sentences stand in their sources as text, the "
        "others are not compared"
    )


def _one_line(text: str) -> str:
    kept = (" " if c in "\ufffe\uffff" or unicodedata.category(c) == "Cc" else c for c in text)
    return " ".join("".join(kept).split())


def _cut(text: str, length: int = 60) -> str:
    """Return *text* in quotation marks, cut short: it may be anybody's."""
    return f"“{text if len(text) <= length else text[:length] + '…'}”"


def visible(text: str) -> str:
    """Return *text* with what cannot be seen, or moves other text, made plain to see."""
    return "".join(c if _is_plain(c) else f"⟨U+{ord(c):04X}⟩" for c in text)


def _is_plain(character: str) -> bool:
    if character.isascii():
        return character.isprintable()
    selectors = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    hidden = unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}
    return not (
        hidden or selectors or character in "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
    )


# The command line.


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the files that *arguments* name, one line each, and return the exit code."""
    parser = argparse.ArgumentParser(description="Checks exported answers, alone and offline.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--public-key", action="append", type=Path, metavar="FILE", default=[])
    parser.add_argument("--trust", type=Path, metavar="FILE", help="which keys are good for what")
    parser.add_argument("--root", type=Path, metavar="FILE", help="the key that signed --trust")
    parser.add_argument("--sources", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if bool(options.public_key) == bool(options.trust) or bool(options.trust) != bool(options.root):
        parser.error("name the keys to trust: --public-key, or --trust with --root")
    try:
        if options.trust:
            keys: Any = open_trust(_read(options.trust), read_key(options.root))
        else:
            keys = {key_id(key): key for key in map(read_key, options.public_key)}
        sources = None if options.sources is None else _sources(options.sources)
        reports = [(str(path), check(_read(path), keys, sources)) for path in options.files]
    except (OSError, Unusable) as error:
        sys.stderr.write(f"checker: {visible(str(error))}\n")
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):  # whatever its encoding, a verdict comes out
        sys.stdout.reconfigure(errors="backslashreplace")
    if options.json:
        names = ("verdict", "code", "reason")
        rows = [{"file": file} | {n: getattr(report, n) for n in names} for file, report in reports]
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    else:
        sys.stdout.writelines(f"{r.verdict}  {visible(file)}  {r.line}\n" for file, r in reports)
    return 0 if all(report.verdict == "VALID" for _, report in reports) else 4


def read_key(path: Path) -> Ed25519PublicKey:
    """Return the key of a file of 64 hex digits or of PEM; Unusable for anything else."""
    data = _read(path)
    try:
        if not data.lstrip().startswith(b"-----BEGIN"):
            return load_key(bytes.fromhex(data.decode("ascii").strip()))
        key = serialization.load_pem_public_key(data)
        return load_key(_raw(key) if isinstance(key, Ed25519PublicKey) else b"")
    except Exception as error:
        raise Unusable(f"{path}: no usable Ed25519 public key: {error}") from error


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _sources(paths: Iterable[Path]) -> dict[str, SourceText]:
    """Return every file of *paths*, in folders at any depth, by its SHA-256."""
    found: dict[str, SourceText] = {}
    for path in paths:
        for file in [f for f in path.rglob("*") if f.is_file()] if path.is_dir() else [path]:
            suffix = file.suffix.lower()
            text, is_text = "", suffix in (*_PLAIN_TEXT, *_MARKED_UP)
            data = file.read_bytes() if is_text else b""
            with io.BytesIO(data) if is_text else file.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
            with suppress(UnicodeDecodeError):
                text = _one_line(data.decode("utf-8"))
            read = (text != "" and suffix in _PLAIN_TEXT, text)
            # The same bytes under the name of another format do not make them any less plain.
            found[digest] = max(found.get(digest, read), read)
    return found


if __name__ == "__main__":
    sys.exit(main())
