"""The checker stands alone, agrees with the renderer, and answers whatever it is given."""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import re
import subprocess
import sys
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from gate_cases import KEY, POLICY, TRUSTED, export, good_case, logged, record, with_result
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples
from vector_cases import judged, pinned, published_lines, vectors

from certirag import checker
from certirag.errors import CertificateError
from certirag.proof import envelope as core_envelope
from certirag.proof.certificate import open_export, statement_bytes
from certirag.proof.envelope import sign
from certirag.proof.schemas import published_schemas
from certirag.proof.trust import Trust, TrustedKey, open_trust, trust_bytes
from certirag.render import certify, visible

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "certirag" / "checker.py"
EXPORT = export()


def test_it_imports_nothing_of_the_program() -> None:
    """Standard library and `cryptography` alone, by whatever form of import."""
    allowed = sys.stdlib_module_names | {"cryptography"}
    for node in ast.walk(ast.parse(SOURCE.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module or ""]
        assert {name.partition(".")[0] for name in names} <= allowed
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            assert name not in {"__import__", "import_module", "eval", "exec"}


def test_every_vector_has_its_verdict_and_code(capsys: pytest.CaptureFixture[str]) -> None:
    """Sound exports are VALID, and each broken one is refused at the step that should."""
    codes: Counter[str] = Counter()
    for vector in vectors():
        verdict, code, reason = judged(vector)
        found = (vector["name"], verdict, code)
        assert found == (vector["name"], vector["verdict"], vector["code"]), reason
        codes[vector["code"] or "VALID"] += 1
    with capsys.disabled():
        sys.stdout.write(f"\nvectors: {codes.total()}: {dict(codes)}\n")
    assert codes["VALID"] >= 40
    assert codes.total() - codes["VALID"] >= 200
    steps = re.findall(r"^\| `([a-z0-9-]+)` \|", (ROOT / "docs/certificate.md").read_text(), re.M)
    assert len(steps) == 22
    steps.remove("review")  # tests/attacks/test_countersignature.py breaks that one
    assert all(codes[step] >= 3 for step in steps), set(steps) - set(codes)


def test_the_vectors_are_current() -> None:
    """scripts/vectors.py writes the same lines again."""
    script = f"import sys; sys.path.insert(0, {str(ROOT / 'scripts')!r})\n"
    script += "import json, vectors\nfor line in vectors.lines(): print(json.dumps(line))\n"
    made = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True, cwd=ROOT
    )
    assert made.stdout.splitlines() == published_lines()


def test_the_program_opens_what_the_checker_calls_valid() -> None:
    """The renderer reads every valid vector and derives the same findings and states."""
    for vector in vectors():
        if vector["verdict"] != "VALID":
            continue
        keys = pinned(vector)
        if isinstance(keys, checker.TrustFile):
            root = checker.load_key(bytes.fromhex(vector["root"]))
            keys = open_trust(vector["trust"], root).ring()
        of = open_export(vector["export"], keys)
        measured = (of.claim_ir.claims, of.verification, of.retrieval.chunks)
        decisions, summary = certify(*measured, of.policy, of.probe)
        for now, then in zip(decisions, of.decisions, strict=True):
            assert now.render_state == then.render_state, vector["name"]
            assert [(f.rule, f.passed) for f in now.findings] == [
                (f.rule, f.passed) for f in then.findings
            ], vector["name"]
        assert summary.decision == of.answer.decision


def test_the_program_opens_no_trust_file_that_the_checker_refuses() -> None:
    """What nothing can be checked with, the program does not check with either."""
    refused = [vector for vector in vectors() if vector["verdict"] == "CANNOT CHECK"]
    assert len(refused) >= 50
    for vector in refused:
        root = checker.load_key(bytes.fromhex(vector["root"]))
        with pytest.raises(CertificateError):
            open_trust(vector["trust"], root)


def test_its_own_words_are_not_marked() -> None:
    """The program prints a reason as it is: its marks are for what a file says."""
    words = 0
    for vector in vectors():
        reason = re.sub("“.*”", "", judged(vector)[2])
        assert visible(reason) == re.sub("⟨.*⟩", "", reason), vector["name"]
        words += len(reason.split())
    assert words > 5000


def _shape_of(schema: dict[str, Any]) -> Any:
    """Return a published type in the words of `_read_shape`."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return frozenset().union(*(_as_set(_shape_of(part)) for part in schema["anyOf"]))
    if "enum" in schema:
        return frozenset(("word", word) for word in schema["enum"])
    if "const" in schema:
        kind = "word" if isinstance(schema["const"], str) else "number"
        return frozenset({(kind, schema["const"])})
    if schema["type"] == "array":
        return ("list", _shape_of(schema["items"]))
    if schema["type"] == "object":
        more = schema["additionalProperties"]
        return ("map", "any" if more is True else _shape_of(more))
    return schema["type"]


def _as_set(shape: Any) -> frozenset[Any]:
    return shape if isinstance(shape, frozenset) else frozenset({shape})


def _read_shape(text: str) -> Any:
    """Return a type of the checker's notation in the same words."""
    plain = {"text": "string", "int": "integer", "num": "number", "bool": "boolean", "any": "any"}
    if text.endswith("?"):
        return _as_set(_read_shape(text[:-1])) | {"null"}
    if text[0] == "'":
        return frozenset(("word", word) for word in text[1:].split("|"))
    if text[0] == "=":
        return frozenset({("number", int(text[1:]))})
    if text[0] in "[{":
        return ("list" if text[0] == "[" else "map", _read_shape(text[1:-1]))
    if "/" in text:
        return frozenset(plain[part] for part in text.split("/"))
    return plain.get(text, text)


def _published() -> dict[str, dict[str, tuple[bool, Any]]]:
    """Return each published object's fields: may it be left out, and its type."""
    found = {}
    for name in ("answer-record", "envelope", "log-proof", "leaf", "review", "countersigned"):
        schema = published_schemas()[name]
        for title, part in ({schema["title"]: schema} | schema.get("$defs", {})).items():
            assert part["additionalProperties"] is False
            found[title] = {
                field: (field not in part["required"], _shape_of(of))
                for field, of in part["properties"].items()
            }
    return found


def test_its_shapes_are_the_published_ones() -> None:
    """Every object, field, type, word, null and omission, in both directions."""
    own = {
        name: {
            field.lstrip("~"): (field[0] == "~", _read_shape(shape))
            for field, _, shape in (part.partition(":") for part in fields.split())
        }
        for name, fields in checker.SHAPES.items()
        if not name.startswith("Trust")
    }
    assert own == _published()
    assert all(
        hint in checker.SHAPES or not hint[0].isupper()
        for fields in checker.SHAPES.values()
        for hint in re.findall(r":[\[{]?([A-Za-z]+)", fields)
    )


def test_it_knows_the_keys_that_sign_everything() -> None:
    """The same encodings of points of small order as the program; none is loaded or used."""
    assert core_envelope._SMALL_ORDER_KEYS == checker._SMALL_ORDER
    for raw in (*checker._SMALL_ORDER, b"short", b""):
        with pytest.raises(checker.Unusable):
            checker.load_key(raw)
    mislabelled = {next(iter(TRUSTED)): Ed25519PrivateKey.generate().public_key()}
    assert checker.check(EXPORT, mislabelled).code == "untrusted-key"


@examples(300)
@given(st.binary(max_size=200) | st.text(max_size=60).map(str.encode))
def test_random_bytes_are_refused_without_an_exception(data: bytes) -> None:
    """Whatever the file holds, there is one line of a verdict."""
    for given_ in (data, b'{"certificate": %s, "log": {}}' % data):
        report = checker.check(given_, TRUSTED)
        assert (report.verdict, "\n" in report.reason) == ("TAMPERED", False)


_ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


def _places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [place] if place else []
    parts = value.items() if isinstance(value, dict) else ()
    for key, part in enumerate(value) if isinstance(value, list) else parts:
        found += _places(part, (*place, key))
    return found


def _put(value: Any, place: tuple[Any, ...], to: Any) -> Any:
    value = copy.deepcopy(value)
    inner = value
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = to
    return value


STATEMENT = json.loads(statement_bytes(record()))
FILE_PLACES, STATEMENT_PLACES = _places(json.loads(EXPORT)), _places(STATEMENT)


@examples(400)
@given(st.sampled_from(FILE_PLACES), _ANY)
def test_a_changed_file_is_never_valid(place: tuple[Any, ...], to: Any) -> None:
    """Any value anywhere in the file, put there after signing."""
    value = json.loads(EXPORT)
    changed = _put(value, place, to)
    if json.dumps(changed) != json.dumps(value):
        assert checker.check(json.dumps(changed).encode(), TRUSTED).verdict == "TAMPERED"


@examples(400)
@given(st.sampled_from(STATEMENT_PLACES), _ANY)
def test_a_signed_falsehood_breaks_no_checker(place: tuple[Any, ...], to: Any) -> None:
    """Any value anywhere in a statement that the right key signs: a verdict, never a crash."""
    statement = _put(STATEMENT, place, to)
    statement["predicate"] = (
        statement["predicate"] if isinstance(statement["predicate"], dict) else {}
    )
    statement["predicate"]["trace_id"] = "0" * 32
    report = checker.check(logged(json.dumps(statement).encode()), TRUSTED)
    assert "the check broke" not in report.reason
    span = place[place.index("spans") + 1 :] if "spans" in place else ()
    if span and span[0] != 0:  # nothing leans on it, so nothing is derived from where it stands
        return
    if place[-1] in ("tau_entail", "render_state", "sentence", "start", "passed"):
        assert report.verdict == "TAMPERED" or to == _at(STATEMENT, place)


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


_SCORE = st.sampled_from([0.0, 0.1, 0.39, 0.4, 0.69, 0.7, 0.84, 0.85, 0.97, 1.0, 1.1, -0.1, None])
_LABEL = st.sampled_from(["entailed", "contradicted", "not_enough_info", "error"])


@examples(300)
@given(
    of=st.fixed_dictionaries(
        {},
        optional={
            "label": _LABEL,
            "score": _SCORE,
            "score_without": _SCORE,
            "truncated": st.booleans(),
            "needed_dropped": st.integers(-1, 1),
            "error": st.sampled_from(["", "late"]),
            "best_evidence": st.sampled_from(["none", "twice", "other", "both"]),
            "set_input_sha256": st.just("0" * 64),
        },
    ),
    first=st.fixed_dictionaries(
        {},
        optional={
            "label": _LABEL,
            "entailed": _SCORE,
            "not_enough_info": _SCORE,
            "contradicted": _SCORE,
            "truncated": st.booleans(),
            "error": st.sampled_from(["", "late"]),
            "input_sha256": st.just("0" * 64),
        },
    ),
    shape=st.sampled_from(["one", "two", "twice", "none"]),
    strict=st.booleans(),
    flipped=st.integers(0, 9),
)
def test_it_derives_what_the_renderer_derives(
    of: dict[str, Any], first: dict[str, Any], shape: str, strict: bool, flipped: int
) -> None:
    """Any measurement, decided by the renderer, is VALID; with one finding turned round it is not."""
    case = good_case()
    one, two = case.result.all_scores
    one = replace(one, **first)
    scores = {"one": (one,), "two": (one, two), "twice": (one, two, one), "none": ()}[shape]
    ref = case.result.best_evidence[0]
    other = replace(ref, span_id="s2")
    refs = {"none": (), "twice": (ref, ref), "other": (other,), "both": (other, ref)}
    if "best_evidence" in of:
        of = of | {"best_evidence": refs[of["best_evidence"]]}
    policy = POLICY if strict else replace(POLICY, rules=POLICY.rules[:8])
    made = record(with_result(case, all_scores=scores, **of), policy)
    report = checker.check(export(made), TRUSTED)
    assert report.verdict == "VALID", report.reason
    statement = json.loads(statement_bytes(made))
    finding = statement["predicate"]["decisions"][0]["findings"][flipped % len(policy.rules)]
    if finding["rule"] in ("numbers", "well_formed", "class_minimum"):
        return
    finding["passed"] = not finding["passed"]
    report = checker.check(logged(json.dumps(statement).encode()), TRUSTED)
    assert (report.verdict, report.code) == ("TAMPERED", "finding")


def _trust(**changes: Any) -> bytes:
    public = KEY.public_key()
    raw = core_envelope.raw_public_key(public).hex()
    key = TrustedKey(checker.key_id(public), raw, 0, None, "")
    return trust_bytes(replace(Trust(1, 1, "certirag.test/memory", (key,)), **changes), KEY)


def test_a_trust_file_is_the_roots_or_none() -> None:
    """Another signer, a small key, a key twice and a false range make it unusable."""
    root = KEY.public_key()
    good = checker.open_trust(_trust(), root)
    assert checker.check(EXPORT, good).verdict == "VALID"
    key = TrustedKey(*(next(iter(TRUSTED)), core_envelope.raw_public_key(root).hex(), 0, None, ""))
    small = "01" + "00" * 31
    name = core_envelope.sha256_hex(bytes.fromhex(small))
    for data in (
        b"",
        b"{}",
        _trust(keys=(key, key)),
        _trust(keys=(replace(key, keyid="0" * 64),)),
        _trust(keys=(replace(key, from_index=-1),)),
        _trust(keys=(replace(key, until_index=-1),)),
        _trust(keys=(replace(key, public_key="x" * 64),)),
        _trust(keys=(TrustedKey(name, small, 0, None, ""),)),
        _trust().replace(b"certirag.trust", b"certirag.other"),
        json.dumps(core_envelope.envelope_json(sign(b"{}", KEY, checker.TRUST_TYPE))).encode(),
    ):
        with pytest.raises(checker.Unusable):
            checker.open_trust(data, root)
    with pytest.raises(checker.Unusable):
        checker.open_trust(_trust(), Ed25519PrivateKey.generate().public_key())
    raw = bytes.fromhex(small)  # under which the key itself and zeros are a signature
    forged = {"keyid": core_envelope.sha256_hex(raw), "sig": b64encode(raw + bytes(32)).decode()}
    envelope = json.loads(_trust()) | {"signatures": [forged]}
    with pytest.raises(checker.Unusable):
        checker.open_trust(json.dumps(envelope).encode(), Ed25519PublicKey.from_public_bytes(raw))


def _alone(tmp_path: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a copy of the checker by itself, where nothing of the program can be imported."""
    copied = tmp_path / "checker.py"
    copied.write_bytes(SOURCE.read_bytes())
    return subprocess.run(
        [sys.executable, "-I", str(copied), *map(str, arguments)],
        capture_output=True,
        check=False,
        text=True,
        encoding="utf-8",
        cwd=tmp_path,
        env={"PYTHONUTF8": "1"},
    )


@pytest.fixture
def pub(tmp_path: Path) -> Path:
    """Return the file of the public key."""
    path = tmp_path / "key.pub"
    path.write_text(core_envelope.raw_public_key(KEY.public_key()).hex() + "\n", "ascii")
    return path


def test_it_runs_alone(tmp_path: Path, pub: Path) -> None:
    """One line per file; 0 for all VALID, 4 for one that is not, 2 for what cannot be asked."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_bytes(EXPORT)
    bad.write_bytes(EXPORT.replace(b"27 days", b"28 days", 1))
    done = _alone(tmp_path, good, "--public-key", pub)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"VALID  {good}  the signature of key ")
    assert "taken as recorded" in done.stdout
    done = _alone(tmp_path, good, bad, "--public-key", pub, "--json")
    assert done.returncode == 4
    rows = json.loads(done.stdout)
    assert [(row["verdict"], row["code"]) for row in rows] == [
        ("VALID", ""),
        ("TAMPERED", "readable"),
    ]
    trust = tmp_path / "trust.json"
    trust.write_bytes(_trust())
    assert _alone(tmp_path, good, "--trust", trust, "--root", pub).returncode == 0
    for wrong in (
        [good],
        [good, "--trust", trust],
        [good, "--public-key", pub, "--trust", trust, "--root", pub],
        [tmp_path / "none.json", "--public-key", pub],
        [good, "--public-key", bad],
        [good, "--trust", good, "--root", pub],
        [good, "--public-key", pub, "--sources", tmp_path / "none"],
    ):
        done = _alone(tmp_path, *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr


def test_it_compares_sources(tmp_path: Path, pub: Path) -> None:
    """A document that is not there unchanged makes the answer STALE; the line names the quote."""
    path, folder = tmp_path / "a.json", tmp_path / "documents" / "in"
    path.write_bytes(EXPORT)
    folder.mkdir(parents=True)
    (folder / "leave.md").write_bytes(b"leave")  # whose digest the builder records
    arguments = (path, "--public-key", pub, "--sources", tmp_path / "documents")
    assert _alone(tmp_path, *arguments).returncode == 0
    (folder / "leave.md").write_bytes(b"left")
    done = _alone(tmp_path, *arguments)
    assert (done.returncode, done.stdout.split()[0]) == (4, "STALE")
    for part in ("Leave policy", "leave.md", "leave#c1", "s1", "Full-time employees receive"):
        assert part in done.stdout


@pytest.mark.parametrize(
    ("name", "said", "code"),
    [
        ("a.txt", "27 days of annual leave per", ""),
        ("a.txt", "27 days of\n\tannual\r\n leave per", ""),
        ("a.txt", "2.7 days of annual leave per", "quote"),
        ("a.txt", "2 7 days of annual leave per", "quote"),
        ("a.txt", "-27 days of annual leave per", "quote"),
        ("a.txt", "27² days of annual leave per", "quote"),
        ("a.txt", "27 Days of annual leave per", "quote"),
        ("a.txt", "27 days of an\u00adnual leave per", "quote"),
        ("a.md", "2.7 days of annual leave per", ""),
        ("a.pdf", "2.7 days of annual leave per", ""),
    ],
)
def test_plain_text_says_what_is_quoted_from_it(
    tmp_path: Path, name: str, said: str, code: str
) -> None:
    """Line breaks and tabs apart, to the letter; other formats are left to the program itself."""
    (tmp_path / name).write_bytes(f"Full-time employees receive {said} calendar year.".encode())
    (text,) = checker._sources([tmp_path]).values()
    digest = hashlib.sha256(b"leave").hexdigest()  # which the builder records
    assert checker.check(EXPORT, TRUSTED, {digest: text}).code == code


def test_text_of_a_file_is_printed_inert() -> None:
    """Names of claims, keys and documents cannot move or hide the verdict."""
    odd = "c\x1b[2J\u202e\u200b\nVALID\u2028"
    statement = copy.deepcopy(STATEMENT)
    statement["predicate"]["decisions"][0]["claim_id"] = odd
    statement["predicate"]["claim_ir"]["claims"][0]["id"] = odd
    statement["predicate"]["verification"][0]["claim_id"] = odd
    statement["predicate"]["decisions"][0]["findings"].pop()
    report = checker.check(logged(json.dumps(statement).encode()), TRUSTED)
    assert report.code == "finding"
    assert report.reason.startswith("“c⟨U+001B⟩[2J⟨U+202E⟩⟨U+200B⟩⟨U+000A⟩VALID⟨U+2028⟩”")
    assert checker.visible("Straße 10 € ❤\ufe0f") == "Straße 10 € ❤⟨U+FE0F⟩"
