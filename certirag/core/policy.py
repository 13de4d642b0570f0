"""A policy as a value: thresholds and rule names, with the order "is stricter than".

The rules themselves are functions in `render/rules.py`. What a policy can express is monotone
by construction: `meet` only tightens (RFC-0004 §6; DESIGN §2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from certirag.core.claim import RiskClass
from certirag.errors import PolicyError

BASE_RULES: Final = (
    "evidence",
    "entailed",
    "not_contradicted",
    "numbers",
    "well_formed",
    "sound_measurement",
    "isolated",
    "class_minimum",
)
# No policy may ask for less support than this (DESIGN §2).
LEAST_TAU_ENTAIL: Final = 0.5
STRICT_RULES: Final = ("load_bearing", "uncontested")
RISK_CLASSES: Final[tuple[RiskClass, ...]] = (
    "factual_lit_claim",
    "historical_claim",
    "comparative_claim",
    "scope_claim",
)


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds and rules of one named policy; raises PolicyError when it would be lax.

    *tau_entail* in [0.5, 1], *tau_contradict* and *tau_contest* in (0, 1]; *class_minimum*
    maps each risk class to its minimum number of attached spans (RFC-0004 §6.2);
    *max_claim_tokens* counts words.
    """

    name: str
    rules: tuple[str, ...]
    tau_entail: float = 0.85
    tau_contradict: float = 0.70
    tau_contest: float = 0.70
    max_claim_tokens: int = 60
    class_minimum: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RISK_CLASSES, 1))

    def __post_init__(self) -> None:
        """Refuse every policy that would verify more than the contract allows."""
        missing = [rule for rule in BASE_RULES if rule not in self.rules]
        unknown = [rule for rule in self.rules if rule not in BASE_RULES + STRICT_RULES]
        if missing or unknown or len(set(self.rules)) != len(self.rules):
            raise PolicyError(
                f"policy {self.name!r}: rules must be {', '.join(BASE_RULES)} and may add "
                f"{', '.join(STRICT_RULES)}; missing {missing}, unknown {unknown}"
            )
        _require_threshold(self.name, "tau_entail", self.tau_entail, low=LEAST_TAU_ENTAIL)
        _require_threshold(self.name, "tau_contradict", self.tau_contradict, low=0.0)
        _require_threshold(self.name, "tau_contest", self.tau_contest, low=0.0)
        if type(self.max_claim_tokens) is not int or not 1 <= self.max_claim_tokens <= 400:
            raise PolicyError(f"policy {self.name!r}: max_claim_tokens must be 1 to 400")
        if set(self.class_minimum) != set(RISK_CLASSES) or any(
            type(count) is not int or count < 1 for count in self.class_minimum.values()
        ):
            raise PolicyError(
                f"policy {self.name!r}: class_minimum needs a whole number of at least 1 for "
                f"each of {', '.join(RISK_CLASSES)}"
            )

    def meet(self, other: Policy) -> Policy:
        """Return the weakest policy that is at least as strict as both."""
        if self.refines(other):
            return self
        if other.refines(self):
            return other
        # Without the rule a policy asks nothing by its tau_contest, whatever number stands there.
        asking = [p for p in (self, other) if "uncontested" in p.rules] or [self, other]
        names = dict.fromkeys(self.name.split("+") + other.name.split("+"))
        return Policy(
            name="+".join(sorted(names)),
            rules=tuple(r for r in BASE_RULES + STRICT_RULES if r in self.rules + other.rules),
            tau_entail=max(self.tau_entail, other.tau_entail),
            tau_contradict=min(self.tau_contradict, other.tau_contradict),
            tau_contest=min(policy.tau_contest for policy in asking),
            max_claim_tokens=min(self.max_claim_tokens, other.max_claim_tokens),
            class_minimum={
                name: max(self.class_minimum[name], other.class_minimum[name])
                for name in RISK_CLASSES
            },
        )

    def refines(self, other: Policy) -> bool:
        """Say whether every claim that this policy verifies is verified by *other* too."""
        return (
            set(self.rules) >= set(other.rules)
            and self.tau_entail >= other.tau_entail
            and self.tau_contradict <= other.tau_contradict
            and (self.tau_contest <= other.tau_contest or "uncontested" not in other.rules)
            and self.max_claim_tokens <= other.max_claim_tokens
            and all(self.class_minimum[n] >= other.class_minimum[n] for n in RISK_CLASSES)
        )


def _require_threshold(policy: str, name: str, value: object, *, low: float) -> None:
    sound = isinstance(value, int | float) and not isinstance(value, bool)
    if not sound or not low <= value <= 1.0 or value == 0.0:  # type: ignore[operator]  # sound
        raise PolicyError(f"policy {policy!r}: {name} must be a number from {low} to 1, is {value}")
