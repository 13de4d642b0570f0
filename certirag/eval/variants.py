"""What an ablation changes, one thing at a time: verifier, evidence, claims, isolation, toggles, policy.

Nothing here is on the way of an answer: other ways to choose evidence, and a verifier that is shown what
it should judge, are there to be measured against the one that ships (CertiRAG seed §15).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from certirag.bootstrap import load_policy, policy_names
from certirag.core.generation import ModelIdentity
from certirag.core.policy import STRICT_RULES, Policy
from certirag.core.text import joined_evidence
from certirag.core.verdict import VerificationResult
from certirag.ports import Judgement, Pair, Verifier
from certirag.settings import Settings
from certirag.verification.candidates import Candidates
from certirag.verification.judge import judge_pairs
from certirag.verification.opinion import (
    judged_spans,
    judged_without,
    measured_result,
    verify_claims,
)
from certirag.verification.sufficient import SpanSet, pair_of

Selection = Literal["minimal", "top-1", "top-3"]
_SHIPPED: Final = ("embedded", "reading")
# Toggles that bear on how a draft is verified; the two others of the pipeline shape what is written.
_TOGGLES: Final = (
    "enable_confidence_classification",
    "enable_citation_correction",
    "enable_numeric_qa_verification",
    "enable_abstention",
    "enable_nei_verdict",
    "enable_verification_retrieval",
)
_THRESHOLDS: Final = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True)
class Variant:
    """One measuring: into the folder *name*, with *changed* being *to* something else.

    *toggles* are settings that are switched over. *selection*, *raw* and *isolated* concern the
    statements alone, so that the *parts* that a variant measures may be one of the two. *without* is
    a rule of the strict policies that would hide what the change does: it is certified without it too.
    """

    name: str
    changed: str
    to: str
    verifier: str
    toggles: tuple[tuple[str, bool], ...] = ()
    selection: Selection = "minimal"
    raw: bool = False
    isolated: bool = True
    parts: tuple[Literal["statements", "drafts"], ...] = ("statements", "drafts")
    without: str = ""

    def policies(self, every: Mapping[str, Policy]) -> dict[str, Policy]:
        """Return those of *every* policy, the own one first, that this measuring is certified under."""
        own, *_ = every
        if self.name == DEFAULT:
            return dict(every)
        names = (own, left_out(own, self.without))
        return {name: every[name] for name in names if name in every}


def left_out(policy: str, rule: str) -> str:
    """Return what *policy* is called without *rule*."""
    return f"{policy} without {rule}"


def variants_of(settings: Settings, verifiers: Sequence[str]) -> list[Variant]:
    """Return the default of *settings* and each variant of it; *verifiers* are named beside those that ship."""
    own = settings.verifier
    base = Variant(DEFAULT, "nothing", "as it comes", own)
    statements = replace(base, parts=("statements",))
    drafts = replace(base, parts=("drafts",))
    others = [name for name in dict.fromkeys((*_SHIPPED, *verifiers)) if name != own]
    return [
        base,
        *(
            replace(
                base,
                name=f"verifier-{at}-{''.join(c if c.isalnum() else '-' for c in name)[:40]}",
                changed="verifier",
                to=name,
                verifier=name,
            )
            for at, name in enumerate(others, 1)
        ),
        replace(
            statements,
            name="evidence-top-1",
            changed="evidence",
            to="the best sentence alone",
            selection="top-1",
        ),
        replace(
            statements,
            name="evidence-top-3",
            changed="evidence",
            to="the best three sentences together",
            selection="top-3",
        ),
        replace(
            statements,
            name="claims-raw",
            changed="claims",
            to="the whole statement as one",
            raw=True,
        ),
        replace(
            statements,
            name="isolation-off",
            changed="isolation",
            to="the verifier is shown the answer beside the evidence",
            isolated=False,
            without="load_bearing",  # it refuses a claim that is entailed without its evidence
        ),
        *(
            replace(
                drafts,
                name=f"toggle-{name.removeprefix('enable_').replace('_', '-')}",
                changed="toggle",
                to=f"{name} {'off' if getattr(settings, name) else 'on'}",
                toggles=((name, not getattr(settings, name)),),
            )
            for name in _TOGGLES
        ),
    ]


def policies_of(settings: Settings) -> dict[str, Policy]:
    """Return by name the policies that one measuring is certified under, that of *settings* first.

    The others that ship, this one without each strict addition, and with other thresholds.
    """
    own = load_policy(settings.policy)
    found = {own.name: own}
    found |= {name: load_policy(name) for name in policy_names() if name != own.name}
    for rule in STRICT_RULES:
        if rule in own.rules:
            rules = tuple(name for name in own.rules if name != rule)
            found[left_out(own.name, rule)] = replace(own, rules=rules)
    for tau in _THRESHOLDS:
        if tau != own.tau_entail:
            found[f"{own.name}, entailment from {tau:g}"] = replace(own, tau_entail=tau)
    return found


def best_alone(
    candidates: Sequence[Candidates], verifier: Verifier
) -> Sequence[VerificationResult]:
    """Verify each claim on its best single sentence: no set of sentences is tried (top-1)."""
    return verify_claims([replace(own, spare=0) for own in candidates], verifier)


def best_three(
    candidates: Sequence[Candidates], verifier: Verifier
) -> Sequence[VerificationResult]:
    """Verify each claim on its three best sentences together, needed or not (top-k, k = 3)."""
    single = judged_spans(candidates, [own.chosen for own in candidates], verifier)
    chosen = [
        tuple(
            sorted(
                (s.members[0] for s in sorted(sets, key=lambda s: -s.entailed)[:3]),
                key=lambda member: (member.chunk.chunk_id, member.span.start),
            )
        )
        for sets in single
    ]
    pairs = [
        pair_of(own.claim, spans) for own, spans in zip(candidates, chosen, strict=True) if spans
    ]
    judgements = iter(judge_pairs(verifier, pairs))
    attached = [SpanSet(spans, next(judgements)) if spans else None for spans in chosen]
    bare = judged_without(candidates, attached, verifier)
    return [
        measured_result(own, sets, support, without)
        for own, sets, support, without in zip(candidates, single, attached, bare, strict=True)
    ]


SELECTIONS: Final = {"minimal": verify_claims, "top-1": best_alone, "top-3": best_three}


class ShownTheAnswer:
    """A verifier that is not isolated: it reads the claim to be judged among the evidence for it.

    So would one that is given question, answer and documents together. It grants nothing outside a
    measurement: no name of a verifier leads here.
    """

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the verifier that is asked."""
        return self._verifier.identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return the judgements of *pairs*, each with its claim after its evidence."""
        shown = [
            replace(pair, evidence=joined_evidence([pair.evidence, pair.claim])) for pair in pairs
        ]
        return self._verifier.judge(shown)
