"""In which way a claim failed, and at which stage, by rule: from what was recorded of it, and never by a guess.

The six kinds are the fifth seed's ("How hallucination shows up in real RAG agents"), the four stages
those of `render.trace`. Each rule is one line of the table in `failure_of`; the first that holds
names the kind, for what stands first is the more particular. Where none holds, none is named: that
nothing was measured, or that a text is no statement, is no kind of untruth. A rule reads words, so
it errs where words mislead; a rater who knows better corrects it (`eval.spot_ratings`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from certirag.claims.classify import claim_type, risk_class
from certirag.core.claim import Quantity
from certirag.eval.measured_claims import MeasuredClaim
from certirag.quantities.against import can_replace
from certirag.quantities.derive import explain_quantities
from certirag.quantities.find import find_quantities
from certirag.quantities.match import Mismatch
from certirag.render.trace import STAGES, Stage
from certirag.verification.candidates import content_words
from certirag.verification.features import adds_no_word
from certirag.verification.lexical.alignment import CheckFinding
from certirag.verification.lexical.scoring import score

FailureKind = Literal[
    "unsupported",
    "contradicted",
    "misattributed",
    "over_synthesis",
    "numeric_drift",
    "context_loss",
]
KINDS: Final[tuple[FailureKind, ...]] = get_args(FailureKind)
MOST_COMPARED: Final = 6_000  # characters of a claim and its sentences; longer ones are not read
# What a comparison of words finds → the qualifier that was lost, or the step that nobody states.
_QUALIFIERS: Final = frozenset({"restrictor", "frame", "modality", "superseded"})
_DROPPED: Final = "dropped"  # a word that the claim leaves out; or has another in its place
_STEPS: Final = frozenset({"joint"})  # "because" where the text says "and"


@dataclass(frozen=True, slots=True)
class ClaimFailure:
    """A claim without a badge: its *kind* ("": none of the six), *stage* at fault, and by which *rule*."""

    kind: FailureKind | Literal[""]
    stage: Stage
    rule: str


def failure_of(claim: MeasuredClaim) -> ClaimFailure | None:
    """Return how *claim* failed, None for a Verified one.

    The first line that holds decides:

    1. compilation, not self-contained – context_loss: what made it stand alone is gone.
    2. compilation otherwise – "": the text is not one statement that could be checked.
    3. the measurement is unsound or not isolated – "": nothing is known of the claim.
    4. the text entails it, and what is attached does not resolve or does not bear it –
       misattributed.
    5. its evidence has a figure of it otherwise, or of another subject – numeric_drift; this is
       before 6 and 7, for a wrong figure may be called off the subject, and is contradicted as a rule.
    6. retrieval – unsupported: nothing that was found is on its subject.
    7. a sentence contradicts it, attached or of another document – contradicted.
    8. a comparison with too few pieces of evidence – over_synthesis; a statement of limits whose
       source states none – context_loss.
    9. its evidence restricts, frames or weakens what it says plainly – context_loss.
    10. it joins by a word of its own what its evidence joins otherwise, or only several sentences
        together say it – over_synthesis.
    11. otherwise – unsupported.
    """
    if not claim.failed or claim.stage not in STAGES:
        return None
    kind, rule = _kind(claim)
    stage: Stage = next(stage for stage in STAGES if stage == claim.stage)
    return ClaimFailure(kind, stage, rule)


def suggested_kind(
    claim: str, evidence: Sequence[str], against: str = ""
) -> FailureKind | Literal[""]:
    """Return what the words alone tell of a claim that a rater finds not supported, or "".

    Lines 5, 7, 9 and 10 of `failure_of`, of the texts and nothing else: no score, no verdict and
    no decision can be read off it.
    """
    if _drifts(claim, evidence):
        return "numeric_drift"
    found = _findings(claim, [*evidence, *([against] if against else [])])
    if any(finding.opposes for finding in found):
        return "contradicted"
    return _of_words(claim, evidence)


def _kind(claim: MeasuredClaim) -> tuple[FailureKind | Literal[""], str]:
    failed = dict(claim.failed)
    if claim.stage == "compilation":
        lost = failed.get("well_formed", "").startswith("not self contained")
        return ("context_loss" if lost else ""), "well_formed"
    for unsound in ("sound_measurement", "isolated"):
        if unsound in failed and claim.stage != "retrieval":
            return "", unsound
    if "entailed" not in failed:
        for place in ("evidence", "load_bearing"):
            if place in failed:
                return "misattributed", place
    if _drifts(claim.text, (*claim.evidence, claim.against), failed):
        return "numeric_drift", "numbers"
    if claim.stage == "retrieval":
        return "unsupported", "retrieval"
    for opposed in ("not_contradicted", "uncontested"):
        if opposed in failed:
            return "contradicted", opposed
    if claim.verdict == "CONTRADICTED":
        return "contradicted", "verdict"
    if "class_minimum" in failed and "entailed" not in failed:
        limits = _asks_limits(claim.text)
        return ("context_loss" if limits else "over_synthesis"), "class_minimum"
    return _of_words(claim.text, claim.evidence) or "unsupported", "words"


def _asks_limits(text: str) -> bool:
    return risk_class(text, claim_type(text, find_quantities(text))) == "scope_claim"


def _of_words(claim: str, evidence: Sequence[str]) -> FailureKind | Literal[""]:
    found = {finding.name for finding in _findings(claim, evidence)}
    left_out = _DROPPED in found and adds_no_word(claim, " ".join(evidence))
    if found & _QUALIFIERS or left_out:
        return "context_loss"
    if found & _STEPS or len(set(evidence)) > 1:
        return "over_synthesis"
    return ""


def _findings(claim: str, sentences: Sequence[str]) -> tuple[CheckFinding, ...]:
    text = "\n".join(sentences)
    if not text or len(claim) + len(text) > MOST_COMPARED:
        return ()
    return score(claim, text, "").findings


def _drifts(claim: str, sentences: Sequence[str], recorded: Collection[str] = ("numbers",)) -> bool:
    """Say whether *claim* has a figure otherwise than *sentences* have it, or of another subject.

    They have it otherwise where they hold the same amount in another unit, another amount that could
    stand in its place, or any figure at all and at least half of the claim's other words. Where they
    do not, they are silent, and that is no drift. *recorded* are the rules that failed on record: what
    `numbers` passed may be missing here alone, for the record knows headings that the sentences lack.
    """
    texts = [text for text in sentences if text]
    if not texts or len(claim) + sum(map(len, texts)) > MOST_COMPARED:
        return False
    missing = explain_quantities(claim, texts).missing
    if "numbers" not in recorded:
        missing = tuple(one for one in missing if one.elsewhere)
    there = [figure for text in texts for figure in find_quantities(text)]
    if not missing or not there:
        return False
    return any(_has_rival(one, there) for one in missing) or _about_the_same(claim, texts)


def _has_rival(missing: Mismatch, there: Sequence[Quantity]) -> bool:
    ours = missing.quantity
    if missing.elsewhere or ours is None:
        return missing.elsewhere
    return any(can_replace(ours, other) or ours.value == other.value for other in there)


def _about_the_same(claim: str, texts: Sequence[str]) -> bool:
    """Say whether at least half of what *claim* says, its figures left out, is said by *texts*."""
    own = {word for word in content_words(claim) if not any(map(str.isdigit, word))}
    return 2 * len(own & content_words(" ".join(texts))) >= len(own) > 0
