"""Errors planted in an answer's own claims, with what the verifier said of each.

A record, never a permission: whether an error was caught is derived again in `render/probe_verdicts.py`
each time an answer is shown (docs/adr/0009).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from certirag.core.policy import Policy
from certirag.core.verdict import VerificationResult

PlantKind = Literal["number", "date", "negation", "entity", "unit"]


@dataclass(frozen=True, slots=True)
class PlantedError:
    """One small edit that makes a claim false to its evidence.

    *text* is the claim *claim_id* with its characters *start* to *end* (code points, end
    exclusive) replaced by *becomes*.
    """

    id: str
    claim_id: str
    kind: PlantKind
    text: str
    start: int
    end: int
    becomes: str


@dataclass(frozen=True, slots=True)
class Probe:
    """What was planted in one answer and measured: one result per error, under its id.

    *policy* is the one that the errors are judged under, whatever stricter one is in force for
    the claims. *planter* names the way they were made, *left_out* counts those that the cap on
    an answer kept from being measured.
    """

    planted: tuple[PlantedError, ...]
    verification: tuple[VerificationResult, ...]
    policy: Policy
    planter: str
    left_out: int = 0
