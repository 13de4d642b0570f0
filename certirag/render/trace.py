"""The way of a claim from its text to a document, and the stage at which it failed: from the record.

Nothing here decides: that a claim failed, and on which rules, is the gate's word (`Chip`), and the
stage only says where to look. The record holds no times, so there are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from certirag.core.citation import Citation, CitationsRecord
from certirag.core.policy import Policy
from certirag.core.verdict import VerificationResult, is_score
from certirag.proof.certificate import FindingRecord
from certirag.render.present import Chip, EvidenceView

Stage = Literal["retrieval", "compilation", "verification", "policy"]
Place = Literal["claim", "citation", "passage", "document"]
STAGES: Final[tuple[Stage, ...]] = ("retrieval", "compilation", "verification", "policy")
# What these rules refuse is the measurement, in the order in which each makes the next one moot.
_MEASURED: Final = ("sound_measurement", "isolated", "not_contradicted", "entailed")
# Where one of these fails, a passage speaks against the claim.
_OPPOSED: Final = ("not_contradicted", "uncontested")
_CITED: Final = {
    "VALID": "the cited place supports the claim",
    "WEAK": "the cited place is on its subject and supports it too little",
    "INVALID": "the cited place does not support it",
    "HALLUCINATED": "what is cited does not exist",
}
_CORRECTED: Final = {
    "KEEP": "kept",
    "REPLACE": "replaced",
    "REMOVE": "removed",
    "ADD_ALTERNATE": "added",
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
    """Return where the claim of *chip* failed, None when every rule passed.

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
    if chip.badge.kind == "verified":
        return None
    failed = {finding.rule: finding.reason for finding in _failed(chip)}
    result = chip.result
    if "well_formed" in failed:
        return Failure("compilation", failed["well_formed"])
    if result is None or result.error or result.label == "error":
        words = "the record holds no single measurement of it"
        return Failure("verification", failed.get("sound_measurement", words))
    if not result.all_scores:
        return Failure("retrieval", "no passage was found to compare it with")
    unsound = failed.keys() & set(_MEASURED) - {"entailed"}
    if "entailed" in failed and not unsound and _off_subject(result):
        return Failure("retrieval", "no passage that was found is on its subject")
    if failed.keys() & {"sound_measurement", "isolated", "entailed"}:
        first = next(rule for rule in _MEASURED if rule in failed)
        return Failure("verification", failed[first])
    return Failure("policy", next(iter(failed.values()), "no rule passed it"))


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
        passages.append(Entry("", f"{lost} chosen, and not in the record as quoted"))
    nothing = "no passage" if chip.result is not None else "the record does not tell"
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
        yield "The record holds no single measurement, so it does not tell what was found."
        return
    passages = {score.chunk_id for score in result.all_scores}
    if passages:
        yield f"{_count(len(result.all_scores), 'sentence')} of {_count(len(passages), 'passage')} compared."
    else:
        yield "No passage was compared."
    ranks = {view.chunk.chunk_id: _found(view) for view in chip.evidence if view.attached}
    if ranks:
        yield f"Chosen: {'; '.join(ranks.values())}."
    if _off_subject(result) and passages:
        yield "None is on its subject, says the verdict on record."
    if result.pairs_dropped:
        yield f"A limit left {_count(result.pairs_dropped, 'sentence')} uncompared."


def _compiled(chip: Chip) -> Iterator[str]:
    form = [finding for finding in chip.findings if finding.rule == "well_formed"]
    yield from (f"{finding.reason}." for finding in form)
    yield f"Read as: {chip.claim.type.replace('_', ' ')}."
    if chip.claim.supplied:
        yield f"Added so that it stands alone: {', '.join(chip.claim.supplied)}."


def _measured(chip: Chip, policy: Policy) -> Iterator[str]:
    result = chip.result
    if result is None:
        yield "Not measured."
        return
    if result.error:
        yield f"The verifier did not answer: {result.error}."
    if is_score(result.score):
        yield f"The evidence entails it with {result.score:.2f}; {policy.tau_entail:.2f} is needed."
    else:
        yield "There is no sound entailment score."
    alone = _most([score.entailed for score in result.all_scores])
    against = _most([score.contradicted for score in result.all_scores])
    if alone is not None:
        yield f"Best sentence alone: {alone:.2f}."
    if against is not None:
        yield f"Highest contradiction: {against:.2f}; the limit is {policy.tau_contradict:.2f}."
    chosen = _count(len(result.best_evidence), "sentence")
    yield f"Chosen as evidence: {chosen} of {len(result.all_scores)}."
    if result.depth:
        yield f"Checked as a claim of {result.depth.lower()} confidence."


def _citations(claim_id: str, cited: CitationsRecord | None) -> tuple[Entry, ...]:
    if cited is None:
        return ()
    own = [citation for citation in cited.citations if citation.claim_id == claim_id]
    entries = [Entry(_mark(one), "; ".join(_judged(one, cited))) for one in own]
    entries += [
        Entry(_mark(one.new), f"{_CORRECTED[one.kind]}: {one.reason}")
        for one in cited.corrections
        if one.claim_id == claim_id and one.old is None and one.new is not None
    ]
    more = len(entries) - MOST_CITED
    return (*entries[:MOST_CITED], *([Entry("", f"{more} more")] if more > 0 else []))


def _mark(citation: Citation) -> str:
    return citation.raw or " ".join(part for part in (citation.doc_id, citation.place) if part)


def _judged(citation: Citation, cited: CitationsRecord) -> Iterator[str]:
    yield from (_CITED[one.verdict] for one in cited.judgements if one.citation == citation)
    yield from (_CORRECTED[one.kind] for one in cited.corrections if one.old == citation)


def _found(view: EvidenceView) -> str:
    rank = view.chunk.retrieval.rank
    return "found for this claim alone" if rank is None else f"rank {rank} for the question"


def _said_of(view: EvidenceView) -> str:
    said = [("entailment", view.score.entailed), ("contradiction", view.score.contradicted)]
    scores = [f"{name} {value:.2f}" for name, value in said if _sound(value) is not None]
    return ", ".join([_found(view), *scores, "chosen" if view.attached else "not chosen"])


def _numbered(entries: list[Entry]) -> list[Entry]:
    """Return *entries* with numbers where there are several, to tell what belongs together."""
    if len(entries) < 2:
        return entries
    return [
        Entry(text, f"{n}: {note}" if note else f"{n}") for n, (text, note) in enumerate(entries, 1)
    ]


def _against(view: EvidenceView) -> float:
    return _sound(view.score.contradicted) or 0.0


def _sound(value: float | None) -> float | None:
    return value if is_score(value) else None


def _where(view: EvidenceView) -> str:
    source = view.chunk.source
    page = "" if source.page is None else f"page {source.page}"
    return ", ".join(part for part in (page, source.section) if part)


def _most(values: Sequence[float | None]) -> float | None:
    return max((v for v in map(_sound, values) if v is not None), default=None)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
