"""Divides a sentence into clauses with subject and predicate, their polarity and modality.

No parser: marks, conjunctions, relative words and a list of verbs. Where the division is
uncertain a clause stays whole, which can only make the comparison stricter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from certirag.text.word_classes import word_set
from certirag.verification.lexical.lemmas import VERBS
from certirag.verification.lexical.markers import CONDITION_CLASS, MODALS, PREPOSITIONS
from certirag.verification.lexical.word_tokens import WordToken, tokenise

ClauseKind = Literal[
    "main", "coordinate", "contrast", "reason", "aside", "relative", "condition", "fragment"
]
_AUXILIARIES: Final = word_set(
    "is are was were be been am has have had does do did will would isn aren"
)
_RELATIVES: Final = frozenset({"who", "which", "that", "whom", "whose"})
_REASONS: Final = frozenset({"because", "since", "although", "though", "so_that", "however"})
# What opens a comparison after a figure: "$160.6 million, up 31.4% from $122.2 million".
COMPARED: Final = word_set("up down compared versus against")
_DETERMINERS: Final = word_set(
    "a an the this that these those its their his her our your my no any some every each all"
)


@dataclass(slots=True)
class Clause:
    """A run of tokens (positions in the sentence) that makes one statement or condition."""

    kind: ClauseKind
    marker: str = ""
    parent: int | None = None
    tokens: list[int] = field(default_factory=list)
    verb: int | None = None
    passive: bool = False
    negations: int = 0
    modality: str = "plain"
    quantifiers: list[int] = field(default_factory=list)
    restrictors: list[int] = field(default_factory=list)

    def subject(self) -> list[int]:
        """Positions before the verb; empty where no verb was found."""
        return [] if self.verb is None else [at for at in self.tokens if at < self.verb]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A sentence's tokens, its clauses and for each token the number of its clause."""

    text: str
    tokens: tuple[WordToken, ...]
    clauses: tuple[Clause, ...]
    clause_of: tuple[int, ...]

    def inherited_subject(self, number: int) -> list[int]:
        """The subject of a clause, or that of the clause it continues."""
        clause = self.clauses[number]
        own = [at for at in clause.subject() if self.tokens[at].carries]
        if own or clause.kind not in {"coordinate", "contrast"}:
            return own
        for earlier in reversed(self.clauses[:number]):
            if earlier.kind in {"main", "coordinate", "contrast"}:
                found = [at for at in earlier.subject() if self.tokens[at].carries]
                if found:
                    return found
        return own


def _is_finite(tokens: tuple[WordToken, ...], at: int) -> bool:
    """Say whether the token at *at* looks like a verb that begins a predicate."""
    token = tokens[at]
    lowered = token.text.lower()
    if token.kind == "modal" or lowered in _AUXILIARIES:
        return True
    if token.lemma not in VERBS or token.kind not in {"content", "light"}:
        return False
    if lowered.endswith("ing") or at == 0:
        return False
    before = tokens[at - 1]
    if before.text.lower() in _DETERMINERS | PREPOSITIONS or before.text.lower() == "to":
        return False
    if before.kind == "punctuation" or before.text.lower() in {"and", "or", "but"}:
        return True
    if before.kind == "number":
        return False
    after = tokens[at + 1].text.lower() if at + 1 < len(tokens) else ""
    participle = lowered.endswith("ed") or lowered in {"given", "taken", "held", "kept", "made"}
    return not (participle and after in {"by", "in", "to", "on", "with", "at", "from", "for"})


def _opens(tokens: tuple[WordToken, ...], at: int, clause: Clause) -> tuple[ClauseKind, str] | None:
    """The kind and marker of the clause that begins at *at*, or None where none begins."""
    lowered = tokens[at].text.lower()
    before = tokens[at - 1].text if at else ""
    if lowered in {";", ":"}:
        return ("coordinate", lowered) if at else None
    if lowered in {"(", "—"} or (lowered == "-" and before):
        return "aside", lowered
    if lowered in _RELATIVES:
        return _opens_relative(tokens, at, clause)
    if lowered in _REASONS and (at or lowered in {"because", "although", "though"}):
        return "reason", lowered
    if lowered in CONDITION_CLASS and _is_clause_marker(tokens, at):
        return "condition", lowered
    if lowered == "but":
        return "contrast", lowered
    return None if clause.verb is None else _opens_after_verb(tokens, at, clause)


def _opens_relative(
    tokens: tuple[WordToken, ...], at: int, clause: Clause
) -> tuple[ClauseKind, str] | None:
    """After a comma a relative clause is an aside; "that" after a verb of saying opens nothing."""
    lowered = tokens[at].text.lower()
    if at == 0 or (clause.marker == lowered and len(clause.tokens) <= 2):
        return None
    if lowered != "that":
        return ("aside" if tokens[at - 1].text == "," else "relative"), lowered
    noun = tokens[at - 1].carries and tokens[at - 1].lemma not in VERBS
    return ("relative", lowered) if noun and at + 1 < len(tokens) else None


def _opens_after_verb(
    tokens: tuple[WordToken, ...], at: int, clause: Clause
) -> tuple[ClauseKind, str] | None:
    """Once a clause has its verb, marks and conjunctions may open the next one."""
    lowered = tokens[at].text.lower()
    before = tokens[at - 1].text if at else ""
    following = tokens[at + 1] if at + 1 < len(tokens) else tokens[at]
    verb = tokens[clause.verb or 0].text.lower()
    if lowered == "," and following.text.lower() in COMPARED:
        return "aside", following.text.lower()
    complete = tokens[at - 1].kind in {"name", "number"} and at > 0
    if lowered == "to" and complete and verb in {"was", "were"} and following.lemma in VERBS:
        return "reason", "to"
    if lowered in {",", "and", "or", "nor", "then"}:
        if before in {",", ";"} and lowered != ",":
            return None if clause.marker == "," else ("coordinate", lowered)
        return _after_comma(tokens, at)
    return None


def _is_clause_marker(tokens: tuple[WordToken, ...], at: int) -> bool:
    """Say whether a clause with a verb follows; before a plain noun the word is a preposition."""
    lowered = tokens[at].text.lower()
    if lowered == "during" or at + 1 >= len(tokens):
        return False
    if lowered not in {"before", "after", "until", "till", "except", "excluding"}:
        return True
    for ahead in range(at + 1, min(at + 9, len(tokens))):
        if tokens[ahead].text in {",", ";"}:
            return False
        if _is_finite(tokens, ahead):
            return True
    return False


def _after_comma(tokens: tuple[WordToken, ...], at: int) -> tuple[ClauseKind, str] | None:
    """Look past a comma or conjunction: a clause of its own, a fragment, or a list item."""
    start = at + 1
    while start < len(tokens) and tokens[start].text.lower() in {"and", "or", "then", "also"}:
        start += 1
    if start >= len(tokens):
        return None
    head = tokens[start]
    if head.kind == "negation" and head.text.lower() in {"not", "never"}:
        return "coordinate", tokens[at].text.lower()
    after = tokens[start + 1].text.lower() if start + 1 < len(tokens) else ""
    if head.text.lower() in PREPOSITIONS and after in _RELATIVES:
        return "aside", after
    if head.text.lower() in PREPOSITIONS and tokens[at].text.lower() in {",", "and", "or"}:
        chunk = tokens[start : start + 5]
        return ("fragment", "and") if any(t.kind == "number" for t in chunk) else None
    for ahead in range(start, len(tokens)):
        word = tokens[ahead].text.lower()
        if word in {",", ";", "and", "or", "but"} or word in _RELATIVES | _REASONS:
            break
        if word in CONDITION_CLASS:
            break
        if _is_finite(tokens, ahead):
            return "coordinate", tokens[at].text.lower()
    return None


def _resumes(tokens: tuple[WordToken, ...], at: int, clause: Clause) -> bool:
    """Say whether an embedded clause ends here because a second verb group begins."""
    if clause.verb is None or not _is_finite(tokens, at):
        return False
    between = tokens[clause.verb : at]
    return any(
        (t.carries and t.lemma not in VERBS) or t.kind == "number" or t.text == ","
        for t in between[1:]
    ) or (
        len(between) > 1
        and (tokens[at].kind == "modal" or tokens[at].text.lower() in {"is", "are", "was", "were"})
    )


@lru_cache(maxsize=8192)
def parse(sentence: str) -> Parsed:
    """Return the tokens and clauses of one sentence."""
    tokens = tokenise(sentence)
    clauses: list[Clause] = [Clause("main")]
    clause_of: list[int] = []
    current = 0
    for at in range(len(tokens)):
        here = clauses[current]
        opened = _opens(tokens, at, here)
        if opened and (here.tokens or opened[0] != "coordinate"):
            if not here.tokens and current == len(clauses) - 1 and at == 0:
                clauses[current] = Clause(opened[0], opened[1])
            else:
                clauses.append(Clause(opened[0], opened[1], parent=current))
                current = len(clauses) - 1
        elif _embedded(here) and _back_to_main(tokens, at, here, clauses):
            current = _outer(clauses, current)
        _place(tokens, at, clauses[current])
        clause_of.append(current)
    return Parsed(sentence, tokens, tuple(clauses), tuple(clause_of))


def _embedded(clause: Clause) -> bool:
    return clause.kind in {"relative", "aside", "condition", "reason"}


def _back_to_main(
    tokens: tuple[WordToken, ...], at: int, clause: Clause, clauses: list[Clause]
) -> bool:
    """Say whether the token at *at* belongs to the clause around *clause* again."""
    previous = tokens[at - 1].text if at else ""
    if clause.marker == "(":
        return previous == ")"
    if clause.parent is None:
        return previous == "," and at > 1 and not _list_continues(tokens, at)
    outer = clauses[clause.parent]
    if previous == "," and clause.kind == "aside":
        return outer.verb is None
    return outer.verb is None and _resumes(tokens, at, clause)


def _list_continues(tokens: tuple[WordToken, ...], at: int) -> bool:
    return not any(_is_finite(tokens, ahead) for ahead in range(at, len(tokens)))


def _outer(clauses: list[Clause], current: int) -> int:
    """The clause to go back to; a leading condition is followed by a new main clause."""
    parent = clauses[current].parent
    if parent is not None:
        return parent
    clauses.append(Clause("main"))
    return len(clauses) - 1


def _place(tokens: tuple[WordToken, ...], at: int, clause: Clause) -> None:
    """Add a token to its clause and note what it says of polarity, modality and scope."""
    token = tokens[at]
    clause.tokens.append(at)
    if token.kind == "negation" and not (token.text.lower() == "nor" and clause.negations):
        clause.negations += 1
    elif token.kind == "quantifier":
        clause.quantifiers.append(at)
    elif token.kind == "restrictor":
        clause.restrictors.append(at)
    elif token.kind == "modal":
        clause.modality = MODALS[token.text.lower()]
    if _is_finite(tokens, at):
        if clause.verb is None:
            clause.verb = at
        elif tokens[clause.verb].text.lower().endswith("ed") and token.kind in {"stop", "modal"}:
            clause.verb = at  # an earlier participle only described the subject
    _note_voice(tokens, at, clause)


_STATE_WORDS: Final[dict[str, str]] = {
    "required": "need", "mandatory": "need", "obligatory": "need", "compulsory": "need",
    "necessary": "need", "allowed": "may", "permitted": "may", "possible": "may",
    "forbidden": "ban", "prohibited": "ban", "banned": "ban", "exempt": "exempt",
    "optional": "exempt", "voluntary": "exempt", "recommended": "should",
    "advised": "should", "preferred": "should",
}  # fmt: skip


def _note_voice(tokens: tuple[WordToken, ...], at: int, clause: Clause) -> None:
    """Note a passive, and a state such as "is required" that works like a modal verb."""
    lowered = tokens[at].text.lower()
    near = {tokens[back].text.lower() for back in range(max(0, at - 3), at)}
    if not near & {"is", "are", "was", "were", "be", "been", "being"}:
        return
    if lowered in _STATE_WORDS:
        clause.modality = _STATE_WORDS[lowered]
    inflected = tokens[at].lemma != lowered or [t.lemma for t in tokens[at + 1 : at + 2]] == ["by"]
    if lowered.endswith(("ed", "en")) or (inflected and tokens[at].lemma in VERBS):
        clause.passive = True
