"""The drafts with planted errors, written by a language model through each strategy.

A model that writes down every planted error gets no badge for one, whatever the strategy, and a
badge that was shown stays. The table is printed; `docs/development.md` has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
from draft_writer import DraftWriter, Written, written_errors, wrote
from fake_language_model import prompt_text
from integration_fixtures import WHOLE, Bench, drafts, part_of
from planted_counts import checkable, verified_ids
from remembered import remembering_services

from certirag import settings
from certirag.answers.draft import PROMPT_OF
from certirag.checker import check
from certirag.core.generation import Strategy

pytestmark = pytest.mark.slow

STRATEGIES: tuple[Strategy, ...] = settings.STRATEGIES
DRAFTS = part_of(drafts(), 4)


@pytest.fixture(scope="module")
def remembering(bench: Bench) -> Bench:
    """Return the bench with its models asked the same thing once."""
    return Bench(remembering_services(bench.services), bench.index)


@pytest.fixture(scope="module")
def written(remembering: Bench) -> Callable[[Strategy | None], tuple[Written, ...]]:
    """Return a way to every draft as one strategy wrote it, made when first asked for."""

    @cache
    def by(strategy: Strategy | None) -> tuple[Written, ...]:
        return tuple(wrote(remembering, draft, strategy) for draft in DRAFTS)

    return by


@dataclass
class Row:
    """One line of the table."""

    requests: int = 0
    claims: int = 0
    verified: int = 0
    errors: int = 0
    errors_verified: int = 0
    untouched: int = 0
    untouched_verified: int = 0


def counted(answers: tuple[Written, ...]) -> Row:
    """Return the counts of one strategy; claims of no draft are claims of the documents."""
    row = Row()
    for own in answers:
        verified = verified_ids(own.record)
        row.requests += 0 if own.model is None else own.model.asked
        row.claims += len(own.claims)
        row.verified += len(verified & {claim.id for claim in own.claims})
        if own.model is None:
            continue
        hit = set()
        for claim in own.claims:
            errors = written_errors(claim, own)
            hit |= errors
            row.errors_verified += len(errors) if claim.id in verified else 0
            if not errors and checkable(claim):
                row.untouched += 1
                row.untouched_verified += claim.id in verified
        row.errors += len(hit)
    return row


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_planted_error_is_verified(written, strategy: Strategy) -> None:
    """Each error that the model wrote stays without the badge; most of them were written."""
    row = counted(written(strategy))
    assert row.errors_verified == 0
    assert row.untouched_verified > 0
    if strategy != "interleaved":  # which leaves out at once what its sentence does not bear out
        written_down = sum(len(draft["errors"]) for draft in DRAFTS)
        assert row.errors > (80 if WHOLE else 0.7 * written_down)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_part_is_sound_and_takes_no_badge_back(bench: Bench, written, strategy) -> None:
    """What one part verifies the next does too, and each final export derives again."""
    for own in written(strategy):
        assert check(own.last.export, bench.services.trusted).verdict == "VALID"
        before: set[str] = set()
        for part in own.parts:
            now = {c.text for c in part.claim_ir.claims if c.id in verified_ids(part)}
            assert before <= now, own.draft["id"]
            before = now


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_record_names_strategy_prompt_and_model(written, strategy: Strategy) -> None:
    """A reader of the certificate knows who wrote, how, and from which words of ours."""
    for own in written(strategy):
        generation = own.parts[-1].generation
        prompt = prompt_text(PROMPT_OF[strategy])
        assert generation.strategy == strategy
        assert [(p.name, p.sha256) for p in generation.prompts] == [(prompt.name, prompt.sha256)]
        assert "generator" in {model.role for model in own.record.models}
        assert generation.end == ("complete" if own.claims else "abstained")


def test_an_extractive_answer_names_no_generator(written) -> None:
    """Its claims are sentences of the documents, so no planted error can be among them."""
    for own in written(None):
        assert own.record.generation is None
        assert "generator" not in {model.role for model in own.record.models}
        long = [error["text"] for error in own.draft["errors"] if len(error["text"]) > 40]
        texts = " ".join(claim.text.casefold() for claim in own.record.claim_ir.claims)
        assert not [error for error in long if error.casefold() in texts]


@pytest.mark.parametrize("draft", part_of(drafts()[::6], 3), ids=lambda draft: draft["id"])
def test_one_altered_quote_refuses_the_whole_answer(bench: Bench, draft: dict) -> None:
    """No claim of it is shown, and the record says why."""
    model = DraftWriter(draft, "strict-quote", bench.services.split, alter=True)
    own = wrote(bench, draft, "strict-quote", model=model)
    assert own.record.claim_ir.claims == ()
    assert own.record.generation.end == "altered_quote"
    assert "word for word" in own.record.generation.note
    assert own.record.answer.decision == "REJECT"
    assert len(own.parts) == 1


def test_the_table(written, capsys: pytest.CaptureFixture[str]) -> None:
    """Print what each strategy made of the drafts; a quarter of the untouched claims hold."""
    with capsys.disabled():
        print(
            "\n| strategy | requests | claims | Verified | errors written | errors Verified "
            "| untouched Verified |\n|---|---|---|---|---|---|---|"
        )
        for strategy in (None, *STRATEGIES):
            row = counted(written(strategy))
            untouched = (
                f"{row.untouched_verified} of {row.untouched}" if strategy is not None else "–"
            )
            print(
                f"| {strategy or 'extractive'} | {row.requests} | {row.claims} | {row.verified} "
                f"| {row.errors} | {row.errors_verified} | {untouched} |"
            )
            assert row.verified > 0
