"""Why a claim got no badge, for a person: one plain sentence, and what would make it verifiable.

What the rules record is signed and derived again by strangers, so it stays as it is; here each kind
of recorded reason has its sentence, filled in with the record's own figures and names. A reason that
no row knows gets its rule's general sentence: nothing is ever repeated unread. A sentence may hold
words of claims, titles and passages: it is still to be drawn inert.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from certirag.core.said import Message, said
from certirag.render.inert import shortened
from certirag.render.recorded import INSIDE, MAX_REASON, OURS, SLOT, reader, restated

_STATED: Final[Message] = "A passage that states all of it would make it verifiable."
_FIGURE: Final[Message] = (
    "With the figure that a passage gives, of the same thing and time, it could be verified."
)
_NAMED: Final[Message] = "A passage that says this of the same name would make it verifiable."
_AGREE: Final[Message] = (
    "It could be verified once the documents agree: where one is outdated, take it out or let it "
    "say that it is superseded."
)
_OTHERWISE: Final[Message] = (
    "Worded as that passage has it, it could be verified; if the passage is outdated, take its "
    "document out."
)
_WORDED: Final[Message] = "Worded as one statement that stands on its own, it could be checked."
_SHORTER: Final[Message] = "A shorter statement, over shorter passages, could be checked."
_AGAIN: Final[Message] = "Nothing was found out about it: ask again, and it is checked anew."
_ORIGINALS: Final[Message] = (
    "Ask again over the documents themselves: this record does not bear it out."
)
_SECOND: Final[Message] = "A further passage that supports it would make it verifiable."
_LIMITS: Final[Message] = "A passage that states such limits itself would make it verifiable."
_ITSELF: Final[Message] = (
    "A passage that says it without the help of its title would make it verifiable."
)
_TESTED: Final[Message] = "A passage that says it in nearly the same words may stand this test."

# Of several failed rules, the one that tells a reader most; a low score comes along with each.
_TELLING: Final = (
    "evidence",
    "sound_measurement",
    "isolated",
    "planted_errors",
    "numbers",
    "well_formed",
    "uncontested",
    "class_minimum",
    "not_contradicted",
    "entailed",
    "load_bearing",
)

ALL_PASSED: Final = "every rule passed"
NOT_NAMED: Final = "the evidence does not name "
# One row a kind: what is recorded, the sentence, what would make it verifiable ("": it passed).
Row = tuple[str, Message, Message]
_ANY: Final[tuple[Row, ...]] = (
    ("this rule is unknown here, so it cannot pass", "It falls under a rule that is unknown here.", _AGAIN),
    ("the rule broke ({fault}); no pass", "One of the checks broke off, so it counts as not passed.", _AGAIN),
    ("the rule gave no finding; no pass", "One of the checks gave no answer, so it counts as not passed.", _AGAIN),
    ("no decision was made on it", "Nothing was decided on it.", _AGAIN),
)  # fmt: skip
# What the figures of a claim and of its evidence say of each other.
_FIGURES: Final[tuple[Row, ...]] = (
    ("the claim says {ours} for {period}; the evidence says it for {other}",
     "It says {ours} for {period}; the closest passage says it for {other}.", _FIGURE),
    ("the claim says {ours}; the evidence says {theirs}: {more}",
     "It says {ours}; the closest passage says {theirs}: {more}.", _FIGURE),
    ("the claim says {ours}; the evidence says {theirs}",
     "It says {ours}; the closest passage says {theirs}.", _FIGURE),
    ("where the claim says {ours}, the evidence says {theirs}",
     "Where it says {ours}, the closest passage says {theirs}.", _FIGURE),
    ("the claim says “{ours}” where the evidence says “{theirs}”",
     "It says “{ours}” where the closest passage says “{theirs}”.", _STATED),
    ("the evidence does not say that {theirs} is for {period}",
     "The closest passage does not say that {theirs} is for {period}.", _FIGURE),
    ("the evidence does not say that {theirs} is “{words}”",
     "The closest passage does not say that {theirs} is “{words}”.", _STATED),
    ("the evidence does not say “{ours}”", "The closest passage does not say “{ours}”.", _FIGURE),
    ("the evidence does not say {ours}", "The closest passage does not say “{ours}”.", _FIGURE),
    (NOT_NAMED + "{name}", "The closest passage does not name {name}.", _NAMED),
    ("the evidence for {theirs} does not name “{name}”",
     "Where the closest passage says {theirs}, it does not name “{name}”.", _NAMED),
    ("the evidence for {theirs} says nothing of “{words}”",
     "Where the closest passage says {theirs}, it says nothing of “{words}”.", _STATED),
    ("the evidence says {theirs} as “{word}”, the claim as fact",
     "The closest passage says {theirs} as “{word}”; it is worded as a fact.", _STATED),
    ("the evidence says {theirs} of another figure than {ours}",
     "The closest passage says {theirs} of another figure than {ours}.", _FIGURE),
    ("the evidence says {theirs} of “{words}”", "The closest passage says {theirs} of “{words}”.", _STATED),
    ("the evidence has {theirs} for one of several periods; the claim names none",
     "The closest passage has {theirs} for one of several periods, and this names none.",
     "Worded with its period, it could be verified."),
    ("it is not clear which period {theirs} belongs to; the claim says {ours}",
     "The closest passage leaves open which period {theirs} belongs to; it says {ours}.", _FIGURE),
    ("the claim is about “{ours}”, the evidence about “{theirs}”",
     "It is about “{ours}”; the closest passage is about “{theirs}”.", _STATED),
    ("the claim counts “{ours}”, the evidence “{theirs}”",
     "It counts “{ours}”; the closest passage counts “{theirs}”.", _STATED),
    ("the claim does not say what {ours} is about", "It does not say what {ours} is about.", _WORDED),
    ("the claim's words fit {other} in the evidence, not {theirs}",
     "Its words fit {other} in the closest passage, not {theirs}.", _FIGURE),
    ("the claim has {ours} in another role than the evidence",
     "It uses {ours} otherwise than the closest passage does.", _FIGURE),
    ("one of claim and evidence says that it is not {theirs}",
     "Either it or the closest passage says that it is not {theirs}.", _STATED),
    ("the claim has more than {most} characters", "It has more than {most} characters.", _SHORTER),
    ("the claim has more than {most} figures", "It has more than {most} figures.", _SHORTER),
    ("the sentence is too long to tell which figure is about what",
     "The sentence is too long to tell which figure is about what.", _SHORTER),
    ("other figures of the document speak against {ledger}",
     "Other figures of the document speak against the calculation {ledger}.", _FIGURE),
)  # fmt: skip
# What the verifier noted of the one passage that is closest.
_NOTES: Final[tuple[Row, ...]] = (
    *_FIGURES,
    ("“{words}” is not in the evidence", "The closest passage does not say “{words}”.", _STATED),
    ("'{words}' is not in the evidence", "The closest passage does not say “{words}”.", _STATED),
    ("{words} is not in the evidence", "The closest passage does not say “{words}”.", _STATED),
    ("{words} is not in the row", "The closest row of the table does not say “{words}”.", _STATED),
    ("{words} stands there only once", "The closest passage has “{words}” only once.", _STATED),
    ("the evidence states it as {said}", "The closest passage states it only as {said}.", _STATED),
    ("the evidence excepts {words}", "The closest passage makes an exception: {words}.", _STATED),
    ("the evidence speaks of one {words}", "The closest passage speaks of one {words} only.", _STATED),
    ("the evidence says “only” of {words}", "The closest passage says “only” of {words}.", _STATED),
    ("the evidence says “{theirs}”, not “{ours}”",
     "The closest passage says “{theirs}” and not “{ours}”.", _STATED),
    ("the evidence says {words}",
     "The closest passage says “{words}”, which is left out here.", _STATED),
    ("the evidence adds: {words}", "The closest passage adds: “{words}”.", _STATED),
    ("the evidence denies {words}", "The closest passage denies “{words}”.", _STATED),
    ("the evidence quotes {words}", "The closest passage only quotes {words}.", _STATED),
    ("one side is negated", "Either it or the closest passage says that it is not so.", _STATED),
    ("nothing in the evidence says so", "Nothing in the closest passage says so.", _STATED),
    ("the document says that it no longer holds",
     "The document says of itself that it no longer holds.", "A document that holds today would make it verifiable."),
    ("the heading takes back what stands below it",
     "The heading takes back what the closest passage says.", _STATED),
    ("the passage asks and does not say", "The closest passage asks this and does not say it.", _STATED),
    ("it stands in a list under “{words}”",
     "The closest passage stands in a list under “{words}”.", _STATED),
    ("the passage stands under “{words}”", "The closest passage stands under “{words}”.", _STATED),
    ("its words are scattered over {count} sentences",
     "Its words stand in {count} different sentences, and none says it whole.", _STATED),
    ("the row is about {words}", "The closest row of the table is about {words}.", _STATED),
    ("the row does not say {words}", "The closest row of the table does not say {words}.", _STATED),
)  # fmt: skip
_ROWS: Final[dict[str, tuple[Row, ...]]] = {
    "evidence": (
        ("{count} attached, each found word for word", "The quoted words stand in the document, word for word.", ""),
        ("no evidence is attached", "No passage of the documents was found for it.", _STATED),
        ("the attached text cannot be seen by a reader of the document",
         "The passage behind it cannot be seen by a reader of the document.", _STATED),
        ("the same span is attached twice", "The record gives one passage for it twice.", _ORIGINALS),
    ),
    "entailed": (
        ("the attached passage supports it with {score}; {needed} is needed",
         "The quoted passage supports it with {score}; {needed} is needed.", ""),
        ("the closest passage supports it with {score}; {needed} is needed",
         "The closest passage supports this with {score}; {needed} is needed.", _STATED),
        ("there is no sound entailment score", "How far the passages support it could not be measured.", _AGAIN),
        ("an attached span was never scored", "A passage given for it was never compared with it.", _ORIGINALS),
        ("the set's score differs from its only span's score",
         "The record gives two different scores for its one passage.", _ORIGINALS),
        ("the verifier's label is contradicted, not entailed",
         "Read together, the closest passages speak against it.", _OTHERWISE),
        ("the verifier's label is {label}, not entailed",
         "Read together, the closest passages do not bear it out.", _STATED),
    ),
    "not_contradicted": (
        ("of {count} none contradicts it (highest {worst}, limit {limit})",
         "No passage that was compared with it says otherwise.", ""),
        ("“{title}” contradicts it: {score}, the threshold is {limit}", "“{title}” says otherwise.", _OTHERWISE),
        ("the verifier's label is contradicted",
         "Read together, the closest passages speak against it.", _OTHERWISE),
        ("{place} has no contradiction score",
         "Whether a passage speaks against it could not be measured.", _AGAIN),
    ),
    "numbers": (
        ("every number and date of the claim is in the attached evidence",
         "Every number and date of it stands in the quoted passages.", ""),
        ("the claim stands in the attached evidence word for word",
         "It stands in the quoted passages word for word.", ""),
        ("the numbers follow from the attached evidence; recomputed: {ledgers}",
         "Its numbers follow from the quoted passages: {ledgers}.", ""),
        *_FIGURES,
    ),
    "well_formed": (
        ("one checkable statement that stands on its own", "It is one statement that stands on its own.", ""),
        ("not checkable: {why}", "It cannot be checked: {why}.", _WORDED),
        ("not self contained: “{words}” points at another sentence",
         "“{words}” points at another sentence, so it does not stand on its own.",
         "With the thing named in place of that word, it could be checked."),
        ("not atomic: {why}", "It cannot be checked as one statement: {why}.",
         "Split into single statements, each could be checked."),
        ("too long: {count}, the limit is {limit} words",
         "It is too long to be checked as one statement: {count}, and {limit} words is the limit.",
         _SHORTER),
    ),
    "sound_measurement": (
        ("{count} scored whole, all scores sound", "Every passage was read whole and compared soundly.", ""),
        ("the measurement belongs to another claim", "The record holds the comparison of another statement for it.", _ORIGINALS),
        ("the verifier did not answer: {fault}", "The check broke off before it gave a result.", _AGAIN),
        ("no evidence was scored", "No passage was compared with it.", _STATED),
        ("part of the text was cut off before it was scored",
         "It or a passage was too long to be read whole.", _SHORTER),
        ("the verifier failed on {place}", "One of the passages could not be compared with it.", _AGAIN),
        ("a score of {place} is not a number", "One of the passages has no sound score for it.", _AGAIN),
        ("the score of the attached set is not a number from 0 to 1",
         "How far the passages support it could not be measured.", _AGAIN),
        ("a span was scored twice", "The record gives two comparisons with one passage.", _ORIGINALS),
        ("a cap left out 1 pairs that matter here",
         "A limit on the number of comparisons left out 1 that matters for it.",
         "Checked with fewer statements at once, it could be compared with every passage."),
        ("a cap left out {count} pairs that matter here",
         "A limit on the number of comparisons left out {count} that matter for it.",
         "Checked with fewer statements at once, it could be compared with every passage."),
    ),
    "isolated": (
        ("the verifier was given the claim and the evidence text only",
         "It was compared with the words of the documents and with nothing else.", ""),
    ),
    "class_minimum": (
        ("{kind} needs a source that states the limits itself",
         "It states limits, and no passage given for it does so itself.", _LIMITS),
        ("{kind} needs {count}; {found} attached", "{kind} needs {count}; {found} found.", _SECOND),
    ),
    "load_bearing": (
        ("without the attached sentences the score falls to {score}",
         "Without the quoted passages the support falls to {score}: they carry it.", ""),
        ("titles and headings alone already score {score}",
         "Titles and headings alone already support it with {score}, so the passage may add nothing.",
         _ITSELF),
        ("support without the attached sentences was not measured",
         "Whether the passage is what bears it out was not measured.", _AGAIN),
    ),
    "uncontested": (
        ("no other document among the scored evidence opposes it",
         "No other document that was compared with it says otherwise.", ""),
        ("“{title}” opposes it ({score})", "Another document, “{title}”, says otherwise.", _AGREE),
        ("{place} could not be read for opposition",
         "Whether another document says otherwise could not be read.", _AGAIN),
    ),
    "planted_errors": (
        ("{count} planted, {caught} caught", "{count} errors were planted in it, and all were caught.", ""),
        ("a planted error passed every rule: “{text}”",
         "A version of it with an error put in passed the same checks: “{text}”.", _TESTED),
        ("{count} could not be measured: {why}", "{count} could not be measured.", _AGAIN),
        ("no planted error is in the record", "The record lacks the errors that were planted in it.", _AGAIN),
        (ALL_PASSED, "Every rule passed.", ""),
    ),
    # What is recorded of a passage that came near, and not of a claim.
    "nearest": (
        ("says otherwise than claim {claim} ({score})", "it says otherwise than a statement here", _AGREE),
        ("supports claim {claim} with {score}; {needed} is needed",
         "it supports a statement here with {score}; {needed} is needed", _STATED),
        ("supports claim {claim} with {score}, but another passage says otherwise",
         "it supports a statement here with {score}, but another passage says otherwise", _AGREE),
        ("supports claim {claim} with {score}, but another rule did not pass",
         "it supports a statement here with {score}, but another check did not pass", _STATED),
        ("it answers the question with {score}; {needed} is needed",
         "it answers the question with {score}; {needed} is needed", _STATED),
        ("it answers the question with {score}, and no claim here says it",
         "it answers the question with {score}, and no statement here says it", _STATED),
        ("it reads as an instruction to a model, and was ignored",
         "it reads as an instruction to a model, and was ignored", _STATED),
    ),
}  # fmt: skip
# What a failure of a rule says where no row knows the reason.
_GENERAL: Final[dict[str, tuple[Message, Message]]] = {
    "evidence": ("A passage given for it does not stand in the documents as the record says.", _ORIGINALS),
    "entailed": ("The closest passage does not support it enough.", _STATED),
    "not_contradicted": ("A passage says otherwise.", _OTHERWISE),
    "numbers": ("A figure of it does not stand in the closest passage in the same sense.", _FIGURE),
    "well_formed": ("It is not one statement that stands on its own.", _WORDED),
    "sound_measurement": ("It could not be measured whole.", _AGAIN),
    "isolated": ("The record does not show that it was compared with the documents alone.", _ORIGINALS),
    "class_minimum": ("It needs more passages than were found for it.", _SECOND),
    "load_bearing": ("It is not sure that the passage is what bears it out.", _ITSELF),
    "uncontested": ("Another document may say otherwise.", _AGREE),
    "planted_errors": ("It did not stand the test with planted errors.", _TESTED),
    "nearest": ("it was not enough", _STATED),
}  # fmt: skip
_UNKNOWN: Final[tuple[Message, Message]] = ("One of the checks did not pass.", _AGAIN)
_PASSED: Final[Message] = "It passed this check."
# The one passage is scored too low; behind the colon stands what the verifier noted of it.
_LOW: Final = re.compile(
    r"(the closest passage supports it with [0-9.]+; [0-9.]+ is needed)(?:: (.*))?", re.S
)


@dataclass(frozen=True, slots=True)
class Why:
    """One *sentence* for a person, and *mend*: what would make the claim verifiable, "" if it is."""

    sentence: str
    mend: str


def why(
    rule: str, reason: str, *, passed: bool = False, titles: Collection[str] | None = None
) -> Why:
    """Return the plain words for *reason*, which *rule* recorded; any text is welcome.

    *titles* are those of the documents at hand: what a reason names beside them is the number of a
    passage, which tells nobody anything.
    """
    low = _LOW.fullmatch(reason) if rule == "entailed" and len(reason) <= MAX_REASON else None
    if low and low[2] and not passed:
        return _said(_NOTES, low[2], titles) or why(rule, low[1])
    found = _said((*_ROWS.get(rule, ()), *_ANY), reason, titles)
    if passed:
        fits = found is not None and (not found.mend or rule == "class_minimum")
        return Why(found.sentence if found and fits else said(_PASSED), "")
    return found if found and found.mend else Why(*map(said, _GENERAL.get(rule, _UNKNOWN)))


def why_any(reason: str, *, titles: Collection[str]) -> Why:
    """Return the plain words for *reason*, whichever rule of a claim recorded it."""
    for rule, rows in _ROWS.items():
        if _said(rows, reason, titles) or (rule == "entailed" and is_low(reason)):
            return why(rule, reason, passed=reason == ALL_PASSED, titles=titles)
    return Why(*map(said, _UNKNOWN))


def is_low(reason: str) -> bool:
    """Say whether *reason* is a low score, with no other note on it than that a word is missing."""
    low = _LOW.fullmatch(reason) if len(reason) <= MAX_REASON else None
    return low is not None and (not low[2] or low[2].endswith(" is not in the evidence"))


def telling(rule: str, *, blocked: bool) -> tuple[int, int]:
    """Return the order of a failed *rule*: what tells a reader most comes first.

    *blocked*: the documents contradict the claim, and that says more than anything else.
    """
    first = 0 if blocked and rule == "not_contradicted" else 1
    return first, _TELLING.index(rule) if rule in _TELLING else len(_TELLING)


def _said(rows: Sequence[Row], reason: str, titles: Collection[str] | None = None) -> Why | None:
    """Return the sentence of the first row that *reason* is of, or None."""
    if len(reason) > MAX_REASON:
        return None
    for recorded, sentence, mend in rows:
        found = reader(recorded).fullmatch(reason)
        if found is None:
            continue
        slots = found.groupdict()
        # An empty name or quotation would say nothing: then the rule's general sentence does.
        named = titles is None or slots.get("title") is None or slots["title"] in titles
        if named and all(value.strip() for value in slots.values()):
            places = SLOT.findall(sentence)
            filled = {place: shortened(slots[place]) for place in places}
            if sentence.startswith("{") and sentence.endswith("."):
                filled[places[0]] = filled[places[0]][:1].upper() + filled[places[0]][1:]
            # Words of claims and documents are quoted as they are; these slots hold none.
            filled |= {p: restated(filled[p], INSIDE) for p in OURS & filled.keys()}
            return Why(said(sentence, **filled), said(mend) if mend else "")
    return None
