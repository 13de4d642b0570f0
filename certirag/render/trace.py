"""The way of a claim from its text to a document, and the stage at which it failed: from the record.

Nothing here decides: that a claim failed, and on which rules, is the gate's word (`Chip`), and the
stage only says where to look. The record holds no times, so there are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from certirag.core.citation import Citation, CitationsRecord
from certirag.core.policy import Policy
from certirag.core.said import Message, said, said_n, together
from certirag.core.verdict import VerificationResult, is_score, two_places
from certirag.proof.certificate import FindingRecord
from certirag.render.present import Chip, EvidenceView

Stage = Literal["retrieval", "compilation", "verification", "policy"]
Place = Literal["claim", "citation", "passage", "document"]
STAGES: Final[tuple[Stage, ...]] = ("retrieval", "compilation", "verification", "policy")
# What these rules refuse is the measurement, in the order in which each makes the next one moot.
_MEASURED: Final = ("sound_measurement", "isolated", "not_contradicted", "entailed")
# Where one of these fails, a passage speaks against the claim.
_OPPOSED: Final = ("not_contradicted", "uncontested")
_CITED: Final[dict[str, Message]] = {
    "VALID": "the cited place supports the claim",
    "WEAK": "the cited place is on its subject and supports it too little",
    "INVALID": "the cited place does not support it",
    "HALLUCINATED": "what is cited does not exist",
}
_CORRECTED: Final[dict[str, Message]] = {
    "KEEP": "kept",
    "REPLACE": "replaced",
    "REMOVE": "removed",
    "ADD_ALTERNATE": "added",
}
CHECKED_AS: Final[dict[str, Message]] = {
    "HIGH": "Checked as a claim of high confidence.",
    "MEDIUM": "Checked as a claim of medium confidence.",
    "LOW": "Checked as a claim of low confidence.",
}
MOST_CITED: Final = 8


class Failure(NamedTuple):
    """The stage at which a claim failed, and why in the words of the record."""

    stage: Stage
    reason: str


class Entry(NamedTuple):
    """A text on a claim's way, and what is said of it; both may hold text from outside."""

    text: str
    note: str


class Stop(NamedTuple):
    """One place on a claim's way with its entries; passages and documents are paired in order."""

    place: Place
    entries: tuple[Entry, ...]


def failure_of(chip: Chip) -> Failure | None:
    """Return where the claim of *chip* failed, None when every rule passed; see `stage_of`."""
    if chip.badge.kind == "verified":
        return None
    return _failure(chip.result, tuple(_failed(chip)))


def stage_of(result: VerificationResult | None, failed: Sequence[FindingRecord]) -> Stage:
    """Return the stage at which a claim failed whose rules *failed*.

    The first of these that holds is the stage, for each makes what stands below it moot:

    1. compilation – the claim is not one well-formed, checkable statement. Evidence is looked for
       claim by claim, so whatever was or was not found for such a text says nothing.
    2. verification – there is no single measurement, or the verifier did not answer. What was
       found then cannot be told from the record.
    3. retrieval – no sentence was compared with the claim, and nothing says that one was left out.
    4. retrieval – sentences were compared, the measurement is sound, none contradicts, and the
       verdict on record is that none is on the claim's subject (NEI). That verdict is the only
       place of a record that says so: where it is switched off, such a claim falls under 5.
    5. verification – the measurement is unsound or not isolated, or the chosen evidence does not
       reach the threshold of entailment.
    6. policy – the evidence entails the claim well enough, and another rule refuses it; a sentence
       that contradicts a claim which others entail is such a case.
    """
    return _failure(result, failed).stage


def _failure(result: VerificationResult | None, findings: Sequence[FindingRecord]) -> Failure:
    failed = {finding.rule: finding.reason for finding in findings}
    if "well_formed" in failed:
        return Failure("compilation", failed["well_formed"])
    if result is None or result.error or result.label == "error":
        words = said("the record holds no single measurement of it")
        return Failure("verification", failed.get("sound_measurement", words))
    if not result.all_scores:
        return Failure("retrieval", said("no passage was found to compare it with"))
    unsound = failed.keys() & set(_MEASURED) - {"entailed"}
    if "entailed" in failed and not unsound and _off_subject(result):
        return Failure("retrieval", said("no passage that was found is on its subject"))
    if failed.keys() & {"sound_measurement", "isolated", "entailed"}:
        first = next(rule for rule in _MEASURED if rule in failed)
        return Failure("verification", failed[first])
    return Failure("policy", next(iter(failed.values()), said("no rule passed it")))


def stages_of(chip: Chip, policy: Policy) -> dict[Stage, tuple[str, ...]]:
    """Return what each stage but the policy decided on the claim, in sentences.

    What the policy decided are the failed rules, which `failed_rules` returns.
    """
    return {
        "retrieval": tuple(_retrieved(chip)),
        "compilation": tuple(_compiled(chip)),
        "verification": tuple(_measured(chip, policy)),
    }


def failed_rules(chip: Chip) -> tuple[FindingRecord, ...]:
    """Return the rules that did not pass, the most telling one first."""
    return tuple(_failed(chip))


def way_of(chip: Chip, cited: CitationsRecord | None) -> tuple[Stop, ...]:
    """Return claim → citation, if it has one → passage → document.

    The passages are those that were chosen; where none was, the nearest one, and it says so. Where
    a passage speaks against the claim, the one that does so most stands beside them.
    """
    citations = _citations(chip.claim_id, cited)
    attached = [view for view in chip.evidence if view.attached]
    views = [*(attached or chip.evidence[:1])]
    if any(finding.rule in _OPPOSED for finding in _failed(chip)):
        against = max(chip.evidence, key=_against, default=None)
        views += [] if against is None or against in views else [against]
    passages = _numbered([Entry(view.span.sentence, _said_of(view)) for view in views])
    documents = _numbered([Entry(v.chunk.source.title or v.chunk.doc_id, _where(v)) for v in views])
    lost = 0 if chip.result is None else len(chip.result.best_evidence) - len(attached)
    if lost > 0:
        passages.append(
            Entry("", said("{lost} chosen, and not in the record as quoted", lost=lost))
        )
    nothing = said("no passage") if chip.result is not None else said("the record does not tell")
    stops = (
        Stop("claim", (Entry(chip.text, ""),)),
        Stop("citation", citations),
        Stop("passage", tuple(passages) or (Entry("", nothing),)),
        Stop("document", tuple(documents)),
    )
    return tuple(stop for stop in stops if stop.entries)


def _failed(chip: Chip) -> Iterator[FindingRecord]:
    return (finding for finding in chip.failures_first if finding.passed is not True)


def _off_subject(result: VerificationResult) -> bool:
    return result.verdict == "NEI" and result.label == "not_enough_info"


def _retrieved(chip: Chip) -> Iterator[str]:
    result = chip.result
    if result is None:
        yield said("The record holds no single measurement, so it does not tell what was found.")
        return
    passages = {score.chunk_id for score in result.all_scores}
    if passages:
        yield said(
            "{sentences} of {passages} compared.",
            sentences=_sentences(len(result.all_scores)),
            passages=said_n("{n} passage", "{n} passages", len(passages)),
        )
    else:
        yield said("No passage was compared.")
    ranks = {view.chunk.chunk_id: _found(view) for view in chip.evidence if view.attached}
    if ranks:
        yield said("Chosen: {ranks}.", ranks=together(*ranks.values(), between="; "))
    if _off_subject(result) and passages:
        yield said("None is on its subject, says the verdict on record.")
    if result.pairs_dropped:
        yield said(
            "A limit left {sentences} uncompared.", sentences=_sentences(result.pairs_dropped)
        )


def _compiled(chip: Chip) -> Iterator[str]:
    form = [finding for finding in chip.findings if finding.rule == "well_formed"]
    yield from (f"{finding.reason}." for finding in form)
    yield said("Read as: {kind}.", kind=chip.claim.type.replace("_", " "))
    if chip.claim.supplied:
        yield said("Added so that it stands alone: {words}.", words=", ".join(chip.claim.supplied))


def _measured(chip: Chip, policy: Policy) -> Iterator[str]:
    result = chip.result
    if result is None:
        yield said("Not measured.")
        return
    if result.error:
        yield said("The verifier did not answer: {error}.", error=result.error)
    if is_score(result.score) and result.score is not None:
        yield said(
            "The evidence entails it with {score}; {needed:.2f} is needed.",
            score=two_places(result.score, policy.tau_entail),
            needed=policy.tau_entail,
        )
    else:
        yield said("There is no sound entailment score.")
    alone = _most([score.entailed for score in result.all_scores])
    against = _most([score.contradicted for score in result.all_scores])
    if alone is not None:
        yield said("Best sentence alone: {score:.2f}.", score=alone)
    if against is not None:
        yield said(
            "Highest contradiction: {score:.2f}; the limit is {limit:.2f}.",
            score=against,
            limit=policy.tau_contradict,
        )
    yield said(
        "Chosen as evidence: {sentences} of {total}.",
        sentences=_sentences(len(result.best_evidence)),
        total=len(result.all_scores),
    )
    if result.depth:
        yield said(CHECKED_AS[result.depth])


def _citations(claim_id: str, cited: CitationsRecord | None) -> tuple[Entry, ...]:
    if cited is None:
        return ()
    own = [citation for citation in cited.citations if citation.claim_id == claim_id]
    entries = [Entry(_mark(one), together(*_judged(one, cited), between="; ")) for one in own]
    entries += [
        Entry(_mark(one.new), together(said(_CORRECTED[one.kind]), one.reason, between=": "))
        for one in cited.corrections
        if one.claim_id == claim_id and one.old is None and one.new is not None
    ]
    more = len(entries) - MOST_CITED
    return (
        *entries[:MOST_CITED],
        *([Entry("", said("{more} more", more=more))] if more > 0 else []),
    )


def _mark(citation: Citation) -> str:
    return citation.raw or " ".join(part for part in (citation.doc_id, citation.place) if part)


def _judged(citation: Citation, cited: CitationsRecord) -> Iterator[str]:
    yield from (said(_CITED[one.verdict]) for one in cited.judgements if one.citation == citation)
    yield from (said(_CORRECTED[one.kind]) for one in cited.corrections if one.old == citation)


def _found(view: EvidenceView) -> str:
    rank = view.chunk.retrieval.rank
    if rank is None:
        return said("found for this claim alone")
    return said("rank {rank} for the question", rank=rank)


def _said_of(view: EvidenceView) -> str:
    scores = []
    if _sound(view.score.entailed) is not None:
        scores.append(said("entailment {score:.2f}", score=view.score.entailed))
    if _sound(view.score.contradicted) is not None:
        scores.append(said("contradiction {score:.2f}", score=view.score.contradicted))
    chosen = said("chosen") if view.attached else said("not chosen")
    return together(_found(view), *scores, chosen, between=", ")


def _numbered(entries: list[Entry]) -> list[Entry]:
    """Return *entries* with numbers where there are several, to tell what belongs together."""
    if len(entries) < 2:
        return entries
    return [
        Entry(text, together(f"{n}", note, between=": ") if note else f"{n}")
        for n, (text, note) in enumerate(entries, 1)
    ]


def _against(view: EvidenceView) -> float:
    return _sound(view.score.contradicted) or 0.0


def _sound(value: float | None) -> float | None:
    return value if is_score(value) else None


def _where(view: EvidenceView) -> str:
    source = view.chunk.source
    page = "" if source.page is None else said("page {page}", page=source.page)
    return together(*(part for part in (page, source.section) if part), between=", ")


def _most(values: Sequence[float | None]) -> float | None:
    return max((v for v in map(_sound, values) if v is not None), default=None)


def _sentences(number: int) -> str:
    return said_n("{n} sentence", "{n} sentences", number)
