"""Feeds what reads strangers' bytes with inputs that reach new lines of it, until something breaks.

    pip install atheris==3.0.0  (Linux)
    PYTHONPATH=.:tests python scripts/fuzz.py TARGET FOLDER [-max_total_time=SECONDS …]

TARGET: html, md, txt, csv, jsonl, json or checker. FOLDER keeps the inputs that reached new lines, from which the next
run goes on; what breaks is written beside as crash-*, and becomes a fixed case of the tests. What
follows is for libFuzzer (`-help=1`). Coverage is that of our own modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import atheris

with atheris.instrument_imports(include=["certirag", "gate_cases"]):
    from gate_cases import TRUSTED, export

    from certirag import checker
    from certirag.drafting.strict_json import read_json
    from certirag.errors import IngestError, LanguageModelError
    from certirag.ingest.chunk import chunk_document
    from certirag.ingest.extract import Limits
    from certirag.ingest.load import load_document
    from certirag.ingest.sentences import sentence_splitter

CORPORA: Final = Path(__file__).resolve().parents[1] / "fixtures" / "corpora"
READERS: Final = ("html", "md", "txt", "csv", "jsonl")
LIMITS: Final = Limits()
SPLITTER: Final = sentence_splitter()


def _must(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)


def _read(kind: str) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        try:
            document = load_document(data, path=f"a.{kind}", limits=LIMITS)
        except IngestError as error:
            _must("\n" not in str(error), "a refusal is one line")
            return
        for chunk in chunk_document(document, SPLITTER):
            for span in chunk.spans:
                _must(bool(span.sentence), "a span has a sentence")
                _must(span.sentence in chunk.text, "a sentence stands in its chunk")

    return read


def _json(data: bytes) -> None:
    try:
        read_json(data.decode("utf-8", "surrogatepass" if data[:1] == b"\xed" else "replace"))
    except (LanguageModelError, UnicodeDecodeError):
        return


def _check(data: bytes) -> None:
    verdict = checker.check(data, TRUSTED).verdict
    _must(verdict in {"VALID", "TAMPERED", "NOT-REPRODUCIBLE"}, "a verdict is one of three")


def _seeds(target: str) -> list[bytes]:
    if target == "checker":
        return [export()]
    if target == "json":
        return [b'{"claims": [{"text": "The fee is 4 euros.", "sources": ["E1"], "n": 1.5e3}]}']
    return [path.read_bytes() for path in sorted(CORPORA.rglob(f"*.{target}"))[:4]]


def main() -> None:
    """Run the target that the command line names."""
    targets = {kind: _read(kind) for kind in READERS} | {"json": _json, "checker": _check}
    if len(sys.argv) < 3 or sys.argv[1] not in targets:  # program, target, folder
        sys.exit(f"usage: fuzz.py {{{','.join(targets)}}} FOLDER [libFuzzer's options]")
    target, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(_seeds(target)):
        (folder / f"seed-{number}").write_bytes(seed)
    options = [f"-artifact_prefix={folder.parent}/", "-max_len=60000", str(folder)]
    atheris.Setup([sys.argv[0], *options, *sys.argv[3:]], targets[target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
