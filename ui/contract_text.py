"""The words of the trust contract: prose for people, the same on every page; draws nothing."""

from __future__ import annotations

from typing import Final

from certirag.core.said import Message

MEANS: Final[Message] = """
**Verified** is a statement about evidence and policy, made by fixed rules that anyone can run
again. A claim is shown as Verified when *every* rule below answered "passed":

- sentences of your documents are attached to it, found there character for character;
- a verifier that sees only the claim and those sentences says that they entail it;
- no sentence it was compared with contradicts it;
- every number, date and unit in the claim stands in those sentences.

*Plant errors in this answer* tests that on the answer before you: small errors are put into its
claims, and a claim whose error passes every rule loses its badge.

The badge is worked out again from the signed record each time a page is drawn. It is never
stored, never sent, and no text in a question, a document or an answer can make one.
"""
DOES_NOT_MEAN: Final[Message] = """
- **Not that the claim is true.** If a document is wrong, a Verified claim is wrong with it.
- **Not that the answer is complete.** A document that was not added was not read.
- **Not that the newest version was used,** unless the claim names it. Look at the source.
- **Not that the verifier never errs.** It is a program with measured error; the rules are
  there so that its doubts cost a badge and never grant one.
- **Not advice.** Read the quoted sentences before you act on them: one click on a badge shows
  them.
"""
STATES: Final[Message] = """
| What you see | What it says |
|---|---|
| ✅ Verified | Every rule passed, on evidence that you can open. |
| ⚠️ Unverified | At least one rule did not pass. The claim may be right or wrong. |
| ❌ Contradicted | A sentence of your documents says otherwise. Shown in Debug only. |
"""
FAILS_CLOSED: Final[Message] = """
When a score is missing, a part fails, a text was cut off or a limit was reached, the claim loses
its badge; nothing can gain one that way. A caller may ask for a stricter policy than the
server's and never for a looser one. The log entry is written before an answer is shown: if it
cannot be written, there is no answer.
"""
RECORD: Final[Message] = """
*Download audit JSON* gives you the signed record of an answer: question, evidence, claims,
scores, decisions, policy and models, and the proof that the log holds it. A stranger can check it
on any machine, offline, even when this server is gone:

- **the checker page**, one HTML file: open it in a browser and drop the JSON on it;
- **`certirag/checker.py`**, one Python file that an auditor can read; `certirag check FILE` runs it.

They share no code with this app or with each other. Each works out every badge again and answers
VALID, STALE or TAMPERED with the reason; `certirag check --rescore` also runs the verifier again
and may say NOT-REPRODUCIBLE.

**The log** holds every question and every answer, and is only added to. Its checkpoint is a signed
line on all entries so far: whoever keeps one can see later that the log was changed or cut off.
*Audit* shows the newest one, compares it with yours, and verifies every entry.

**What to hold:** the public key, from the owner of the log and not from the file; the newest
checkpoint that you saw; the checker, with its digest; and the documents, to see that they changed.
"""
CHECKER_USE: Final[Message] = """
Open the checker page in a browser, drop the audit JSON of an answer on it, and give the public key.
It works offline and asks no server.
"""
KEY_FROM_OWNER: Final[Message] = (
    "A key proves most when it comes from somewhere else than the answer: compare it with the one "
    "that the owner of the log gave you."
)
KEYS_CHANGED: Final[Message] = (
    "This log's key was changed: one key checks the entries of its time only. Ask the owner for "
    "`trust.json` and the root key, which say which key is good for which entries."
)
# Of a rule that no policy lists: it is asked where errors were planted in an answer.
PLANTED_RULE: Final = "planted_errors"
PLANTED_TITLE: Final[Message] = "Planted errors are caught"
PLANT_HELP: Final[Message] = (
    "Changes a number, date, unit, name or negation in each claim that has a badge and sends it "
    "through the same checks. A claim whose false twin passes them loses its badge. The result "
    "is a new signed record."
)
# Rule name → its title, and what it asks in plain words with the thresholds in force.
RULE_TITLES: Final[dict[str, Message]] = {
    "evidence": "Evidence is attached",
    "entailed": "The evidence entails the claim",
    "not_contradicted": "Nothing contradicts it",
    "numbers": "Numbers, dates and units match",
    "well_formed": "One checkable statement",
    "sound_measurement": "The measurement is sound",
    "isolated": "The verifier was isolated",
    "class_minimum": "Enough support for its kind",
    "load_bearing": "The evidence is needed",
    "uncontested": "No other document opposes it",
}
RULE_WORDS: Final[dict[str, Message]] = {
    "evidence": "At least one sentence is attached, and each is found in its document word for "
    "word; text that a reader of the page cannot see does not count.",
    "entailed": "The attached sentences together reach an entailment score of {tau_entail:.2f}.",
    "not_contradicted": "Every sentence that was compared, attached or not, stays below a "
    "contradiction score of {tau_contradict:.2f}.",
    "numbers": "Each quantity, date, percentage and amount of the claim is in the attached "
    "sentences, with the same unit and period.",
    "well_formed": "The claim is a single statement that can be checked, stands on its own, and "
    "has at most {max_claim_tokens:d} words.",
    "sound_measurement": "Every score is a real number from 0 to 1, the verifier answered, no "
    "text was cut off, and no limit left out a pair that matters.",
    "isolated": "The record shows that the verifier was given the claim and the evidence text "
    "and nothing else: no question, no draft, no other claim.",
    "class_minimum": "Attached sentences needed: {factual_lit_claim:d} for a plain fact, "
    "{historical_claim:d} for a historical one, {comparative_claim:d} for a comparison, "
    "{scope_claim:d} for a statement of limits.",
    "load_bearing": "With the attached sentences taken away, the score falls below "
    "{least_tau_entail:.2f}: titles and headings alone do not carry the claim.",
    "uncontested": "No sentence of another document reaches a contradiction score of "
    "{tau_contest:.2f}.",
}
# Rule name → what it asks in one line, and what a policy's own limit for it is.
RULE_ASKS: Final[dict[str, tuple[Message, Message]]] = {
    "evidence": ("Sentences are attached, found in their documents word for word.", "asked"),
    "entailed": ("The attached sentences together entail the claim.", "{tau_entail:.2f} or more"),
    "not_contradicted": (
        "No sentence that was compared contradicts it.",
        "below {tau_contradict:.2f}",
    ),
    "numbers": ("Each figure and date stands in the attached sentences.", "asked"),
    "well_formed": (
        "It is one statement that can be checked and stands alone.",
        "at most {max_claim_tokens:d} words",
    ),
    "sound_measurement": ("Nothing was cut off, left out or broken.", "asked"),
    "isolated": ("The verifier saw the claim and the evidence only.", "asked"),
    "class_minimum": (
        "There are enough attached sentences for its kind.",
        (
            "fact {factual_lit_claim:d}, past {historical_claim:d}, "
            "compared {comparative_claim:d}, limits {scope_claim:d}"
        ),
    ),
    "load_bearing": (
        "Titles and headings alone do not carry the claim.",
        "below {least_tau_entail:.2f}",
    ),
    "uncontested": ("No other document opposes it.", "below {tau_contest:.2f}"),
}
NOT_ASKED: Final[Message] = "not asked"
SIMULATION: Final[Message] = (
    "This is a simulation. It decides the recorded scores of an answer again with the thresholds "
    "below, by the same rules. It grants nothing: no page shows an answer by it, and it is kept "
    "nowhere."
)
SIMULATION_LOOSER: Final[Message] = (
    "Looser than the policy in force: what would pass by it has not passed, and no page shows it "
    "as if it had."
)
NO_ANSWER_KEPT: Final[Message] = (
    "There is no answer in this session to try it on: ask a question or check a draft first."
)
PER_THRESHOLD: Final[Message] = (
    "Each set was measured once and decided again with other thresholds of entailment; all else is "
    "as the policy above asks. “At most” is the upper end of the exact 95 % interval. The set on "
    "which most badges may be wrong comes first. How many badges are wrong depends on how many "
    "untrue statements a set holds; on your documents nothing was measured."
)
NOT_PER_THRESHOLD: Final[Message] = (
    "Not measured at other thresholds than the policy's own, so nothing is said of them."
)
MEASURED_HERE: Final[Message] = "What was measured at this value, on other documents than yours:"
NOT_MEASURED_HERE: Final[Message] = (
    "Not measured for this verifier and policy, at this value or any other."
)
ONE_VARIED: Final[Message] = (
    "Not measured: figures exist for the policy's own threshold of contradiction alone."
)
NOTHING_MEASURED: Final[Message] = (
    "Nothing was measured for the verifier that runs here, at any threshold, so no figure is "
    "shown; those of another verifier say nothing of this one."
)
