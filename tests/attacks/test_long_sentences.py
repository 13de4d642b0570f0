"""A sentence of more words than a network reads at once: it bears nothing out, and hides nothing.

One such sentence anywhere used to take the badge from every claim that it was compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from certirag.answers.pipeline import verify_draft
from certirag.answers.services import Services
from certirag.bootstrap import build_services, index_of_paths
from certirag.ports import Index
from certirag.proof.certificate import open_export
from certirag.settings import read_settings

pytestmark = pytest.mark.slow

DUTIES = (
    "keep the yard swept and the drains clear of leaves",
    "test the alarm in the boiler house and write the result into the red book",
    "let the surveyor in after a day's notice and show her the roof and the cellar",
    "tell the neighbours on both sides before any scaffold is put up or taken down",
    "store no paint, thinner or gas bottles under the stairs or on the landing",
    "have the lift looked at by a firm that the insurer has on its list",
    "carry the cost of broken panes unless a storm of force ten or more broke them",
    "leave the gas meter where it stands and its cupboard unlocked",
    "put no sign on the front of the house without the consent of the owners' meeting",
    "hand over a set of keys for every lock that is changed during the term",
    "clear snow from the pavement before the school opens and grit it when it freezes",
    "paint the window frames on the weather side in the third year and in the sixth",
)


def _long(*more: str) -> str:
    """Return one sentence of some 250 words in which *more* duties stand in the middle."""
    half = len(DUTIES) // 2
    duties = [*DUTIES, *DUTIES[:half], *more, *DUTIES[half:], *DUTIES[:2]]
    return f"During the term the tenant shall {', '.join(duties)}, all at the tenant's own expense."


LEASE = f"# Lease of the corner house\n\n## Duties\n\n{_long()}\n"
HOURS = (
    "# Reading room\n\n## Hours\n\nThe reading room closes at seven in the evening on weekdays. "
    "Visitors leave their coats with the porter.\n"
)


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Services:
    """Return the services that ship."""
    home = str(tmp_path_factory.mktemp("home"))
    return build_services(read_settings({"CERTIRAG_HOME": home}))


@pytest.fixture
def state(services: Services, tmp_path: Path) -> Callable[..., str]:
    """Return a function that says how a claim is decided over documents, by its state."""

    def decided(claim: str, *documents: str) -> str:
        for number, text in enumerate(documents):
            (tmp_path / f"{number}.md").write_text(text, "utf-8")
        index: Index = index_of_paths([tmp_path], services, lambda *_: None)[0]
        assert any(len(span.sentence.split()) > 250 for c in index.chunks() for span in c.spans)
        export = verify_draft(claim, index, services).export
        (decision,) = open_export(export, services.trusted).decisions
        return decision.render_state

    return decided


@pytest.mark.parametrize(
    "claim",
    [
        "The reading room closes at seven in the evening on weekdays.",
        "On weekdays the reading room closes at seven in the evening.",
        "Visitors leave their coats with the porter.",
    ],
)
def test_a_long_sentence_of_another_document_takes_no_badge(state, claim) -> None:
    """Nothing in it is about the claim, and all of it was read for that."""
    assert state(claim, HOURS, LEASE) == "VERIFIED"


def test_a_long_sentence_beside_it_takes_no_badge(state) -> None:
    """The passage around the evidence is read, its long sentence in parts."""
    beside = HOURS.rstrip() + f" {_long()}\n"
    assert (
        state("On weekdays the reading room closes at seven in the evening.", beside) == "VERIFIED"
    )


@pytest.mark.parametrize(
    ("duty", "sentence", "claim"),
    [
        (
            "pay the rent of 1,240 euros on the first day of each month",
            "The rent is 1,310 euros.",
            "The rent is 1,310 euros.",
        ),
        (
            "give six months' notice in writing before the tenancy ends",
            "The tenant gives three months' notice in writing before the tenancy ends.",
            "The tenant gives three months' notice in writing before the tenancy ends.",
        ),
        (
            "not keep any dogs in the house",
            "The tenant may keep dogs in the house.",
            "The tenant may keep dogs in the house.",
        ),
    ],
)
def test_what_opposes_a_claim_in_a_long_sentence_is_heard(state, duty, sentence, claim) -> None:
    """Another document says it word for word; what stands in the middle of the list speaks against it."""
    lease = LEASE.replace(_long(), _long(duty))
    said = f"# House notes\n\n{sentence}\n"
    assert state(claim, said, lease) != "VERIFIED"
    assert state(claim, said, LEASE) == "VERIFIED"


@pytest.mark.parametrize(
    "claim",
    [
        "The tenant shall keep the yard swept.",
        "The tenant has the lift looked at by a firm on the insurer's list.",
        "The tenant may store gas bottles under the stairs.",
        "The tenant carries the cost of broken panes.",
    ],
)
def test_a_part_of_a_long_sentence_bears_nothing_out(state, claim) -> None:
    """What the rest of it says of the part, nobody has read."""
    assert state(claim, LEASE, HOURS) != "VERIFIED"
