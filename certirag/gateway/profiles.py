"""Profiles of the gateway: under which policy statements are decided, and how many must stand.

Thresholds are those of the gateway document (§2, concept 1): casual 0.70, financial 0.90,
clinical 0.98; mathematics has those of RFC-0004 (§7).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from pydantic import TypeAdapter, ValidationError

from certirag.bootstrap import load_policy
from certirag.core.policy import Policy
from certirag.errors import PolicyError
from certirag.settings import ASSETS

Between = Literal["strip", "retry", "escalate"]  # from the laxest to the strictest
_STRICTNESS: Final[tuple[Between, ...]] = get_args(Between)


def stricter(one: Between, other: Between) -> Between:
    """Return the stricter of two ways."""
    return max(one, other, key=_STRICTNESS.index)


@dataclass(frozen=True, slots=True)
class Profile:
    """A *policy* for each statement, and what becomes of an answer by its grounding score in [0, 1].

    From *accept* on it is whole. Below *reject* nothing of it leaves, the supported statements
    included. *between* the two, these leave alone and the answer is called stripped; or it is
    asked for once more; or it waits until a person has decided.
    """

    name: str
    policy: Policy
    accept: float
    reject: float
    between: Between

    @property
    def least(self) -> float:
        """The score below which nothing of the documents' own answer leaves by itself."""
        return self.accept if self.between == "escalate" else self.reject

    def meet(self, other: Profile) -> Profile:
        """Return what is at least as strict as both: a caller can only tighten."""
        names = dict.fromkeys(self.name.split("+") + other.name.split("+"))
        policy = self.policy.meet(other.policy)
        accept, reject = max(self.accept, other.accept), max(self.reject, other.reject)
        between = stricter(self.between, other.between)
        both = Profile("+".join(sorted(names)), policy, accept, reject, between)
        for one in (self, other):
            if replace(both, name=one.name) == one:
                return one
        return both


@dataclass(frozen=True, slots=True)
class _Written:
    name: str
    policy: str
    accept: float
    reject: float
    between: Between


_WRITTEN = TypeAdapter(_Written)


def profile_names() -> tuple[str, ...]:
    """Return the names of the profiles that ship."""
    return tuple(sorted(path.stem for path in (ASSETS / "profiles").glob("*.toml")))


def load_profile(name: str) -> Profile:
    """Return the profile *name*; PolicyError for an unknown one or an unsound file."""
    if name not in profile_names():
        raise PolicyError(f"unknown profile {name!r}: choose one of {', '.join(profile_names())}")
    path = ASSETS / "profiles" / f"{name}.toml"
    try:
        values = tomllib.loads(path.read_text("utf-8"))
        written = _WRITTEN.validate_python(values, extra="forbid")
    except (tomllib.TOMLDecodeError, ValidationError, OSError) as error:
        raise PolicyError(f"the profile file {path.name} cannot be used: {error}") from error
    if written.name != name or not 0.0 <= written.reject <= written.accept <= 1.0:
        raise PolicyError(f"the profile file {path.name}: its name or its shares cannot be right")
    policy = load_policy(written.policy)
    return Profile(name, policy, written.accept, written.reject, written.between)
