"""Trust contract: what the badge says, and every rule in force with its thresholds."""

from __future__ import annotations

from gate_cases import POLICY
from page_stage import html_of

from certirag.core.policy import BASE_RULES, STRICT_RULES
from certirag.render import NOTICE
from ui.contract import rule_words
from ui.contract_text import RULE_ASKS, RULE_TITLES, RULE_WORDS


def test_every_rule_in_force_is_listed_with_its_threshold(open_page) -> None:
    """Each rule of the policy is there in plain words, thresholds filled in."""
    at = open_page("contract")
    html = html_of(at)
    assert not at.exception
    assert html.count('class="cr-rule-name"') == len(POLICY.rules)
    for text in ("0.85", "0.70", "at most 60 words", "2 for a comparison"):
        assert text in html
    assert "{" not in html


def test_the_notice_and_the_limits_are_said(open_page) -> None:
    """The page says that a badge is not truth."""
    said = " ".join(m.value for m in open_page("contract").markdown)
    assert NOTICE in said
    assert "Not that the claim is true" in said


def test_no_rule_lacks_its_words() -> None:
    """Every rule that a policy can name has a title and a sentence."""
    rules = {*BASE_RULES, *STRICT_RULES}
    assert set(RULE_TITLES) == set(RULE_WORDS) == set(RULE_ASKS) == rules
    assert all(rule_words(rule, POLICY) for rule in rules)
