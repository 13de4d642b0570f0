"""Retention: calendar, policies and their files, and what is due of a log's leaves."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certirag.errors import AuditError, InputError
from certirag.proof.log import Leaf
from certirag.proof.retention import (
    FATES,
    Acts,
    Authorisation,
    Due,
    Period,
    RetentionPolicy,
    after,
    due,
    indexes_of,
    lacks,
    spans_before,
    spans_of,
)
from certirag.proof.retention_files import known_policies, retention_in_force, shipped_names

YEAR, MONTH, DAY = Period(years=1), Period(months=1), Period(days=1)
FAQ = RetentionPolicy("faq", Period(days=30), Period(days=90))
CLINICAL = RetentionPolicy(
    "clinical", YEAR, Period(years=6), Period(years=6), "privacy officer", (), True
)
POLICIES = {"faq": FAQ, "clinical": CLINICAL}
T0 = datetime(2026, 1, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("start", "period", "end"),
    [
        ("2024-02-29", YEAR, "2025-03-01"),  # no such day: never earlier than a year
        ("2024-02-29", Period(years=4), "2028-02-29"),
        ("2023-02-28", YEAR, "2024-02-28"),
        ("2096-02-29", Period(years=4), "2100-03-01"),  # 2100 is no leap year
        ("2026-01-31", MONTH, "2026-03-01"),
        ("2026-03-31", MONTH, "2026-05-01"),
        ("2026-12-15", MONTH, "2027-01-15"),
        ("2026-11-30", Period(years=1, months=3), "2028-03-01"),  # that February has 29 days
        ("2026-11-30", Period(months=3, days=1), "2027-03-02"),
        ("2026-12-31", DAY, "2027-01-01"),
        ("2026-01-01", Period(days=90), "2026-04-01"),
        ("2026-01-01", Period(), "2026-01-01"),
        ("9999-06-01", YEAR, "9999-12-31"),  # beyond the calendar: never
    ],
)
def test_periods_are_exact(start: str, period: Period, end: str) -> None:
    """Years and months by the calendar; a day that a month lacks is the first of the next."""
    moment = after(datetime.fromisoformat(start).replace(tzinfo=UTC), period)
    assert moment.date().isoformat() == end


_DAYS = st.integers(0, 40_000).map(
    lambda days: datetime(1990, 1, 1, tzinfo=UTC) + timedelta(days=days)
)
_PERIODS = st.builds(Period, st.integers(0, 30), st.integers(0, 40), st.integers(0, 4000))


@given(_DAYS, _DAYS, _PERIODS)
def test_later_is_never_sooner(one: datetime, other: datetime, period: Period) -> None:
    """The older of two entries is never due after the younger one, and nothing before its time."""
    first, second = sorted((one, other))
    assert after(first, period) <= after(second, period)
    least = 365 * period.years + 28 * period.months + period.days
    assert after(first, period) - first >= timedelta(days=least)


def test_what_ships_is_what_was_promised() -> None:
    """A shipped policy never changes under its name: a change needs a new name and this table."""
    known = known_policies(Path("/nowhere"))
    assert known == {
        "internal_faq": RetentionPolicy("internal_faq", Period(days=30), Period(days=90)),
        "financial_7yr": RetentionPolicy(
            "financial_7yr", YEAR, Period(years=7), Period(years=7), "compliance officer"
        ),
        "clinical_6yr": RetentionPolicy(
            "clinical_6yr",
            YEAR,
            Period(years=6),
            Period(years=6),
            "privacy officer",
            justification=True,
        ),
    }
    assert shipped_names() == tuple(sorted(known))


def leaf(index: int, when: datetime, rule: str = "faq", **changes: Any) -> Leaf:
    """Return the leaf of an answer, or of what *changes* make of it."""
    plain = Leaf(
        1, "certirag.test/x", index, "answer", when.isoformat(), f"{index:032x}", rule, "k", "c"
    )
    return replace(plain, **changes)


def act(index: int, kind: str, *spans: tuple[int, int], **detail: Any) -> Leaf:
    """Return the leaf of an act."""
    said = {"targets": [list(s) for s in spans], "rule": "faq", "file": "f" * 64, "hold": "h"}
    return leaf(index, T0, kind=kind, commit="", detail={**said, **detail})


def acts_of(*leaves: Leaf) -> Acts:
    """Return what *leaves* did."""
    acts = Acts()
    for one in leaves:
        acts.add(one)
    return acts


def fates(found: Due) -> dict[str, list[int]]:
    """Return the entries of each fate that has any."""
    of = {
        fate: sorted(i for f in getattr(found, fate).values() for i in f.indexes) for fate in FATES
    }
    return {fate: indexes for fate, indexes in of.items() if indexes}


OLD = T0 - timedelta(days=90)
DUE = [
    ("on the day", leaf(3, OLD), {"erase": [3]}),
    ("a moment before", leaf(3, OLD + timedelta(milliseconds=1)), {"archive": [3]}),
    ("to be archived", leaf(3, T0 - timedelta(days=30)), {"archive": [3]}),
    ("young", leaf(3, T0 - timedelta(days=29)), {}),
    ("from a future", leaf(3, T0 + timedelta(seconds=1)), {"ahead": [3]}),
    ("from a far future", leaf(3, datetime(9999, 1, 1, tzinfo=UTC)), {"ahead": [3]}),
    ("of no known policy", leaf(3, OLD, "gone"), {"unknown": [3]}),
    ("of a policy without a name", leaf(3, OLD, ""), {"unknown": [3]}),
    ("without contents", leaf(3, OLD, commit=""), {}),
    ("a request", leaf(3, OLD, kind="received"), {"erase": [3]}),
    ("in another zone", leaf(3, OLD, at="2025-10-12T14:00:00.000+02:00"), {"erase": [3]}),
    ("erased before", leaf(0, OLD), {}),
    ("archived before", leaf(1, T0 - timedelta(days=40)), {}),
    ("archived and due", leaf(1, OLD), {"erase": [1]}),
    ("under a hold", leaf(2, OLD), {"held": [2], "archive": [2]}),
    (
        "waits for a name",
        leaf(3, T0 - timedelta(days=2200), "clinical"),
        {"waiting": [3], "archive": [3]},
    ),
    ("not six years yet", leaf(3, T0 - timedelta(days=2190), "clinical"), {"archive": [3]}),
]


@pytest.mark.parametrize(("entry", "expected"), [row[1:] for row in DUE], ids=[r[0] for r in DUE])
def test_what_is_due(entry: Leaf, expected: dict[str, list[int]]) -> None:
    """Entry 0 is erased, 1 archived, 2 held; the rest speaks for itself."""
    acts = acts_of(act(4, "erase", (0, 0)), act(5, "archive", (1, 1)), act(6, "hold", (2, 2)))
    assert fates(due([entry], POLICIES, acts, T0)) == expected


def test_an_authoriser_lets_one_policy_go() -> None:
    """Deletion of the policy that is authorised, and of no other that waits."""
    old = T0 - timedelta(days=4000)
    other = replace(CLINICAL, name="other")
    found = due(
        [leaf(0, old, "clinical"), leaf(1, old, "other")],
        {**POLICIES, "other": other},
        Acts(),
        T0,
        authorised={"clinical"},
    )
    assert fates(found) == {"erase": [0], "waiting": [1], "archive": [1]}


def test_a_hold_outlives_an_authoriser_and_ends_with_its_release() -> None:
    """Two holds: both must be released."""
    held = [act(5, "hold", (0, 2), hold="a"), act(6, "hold", (1, 1), hold="b")]
    entries = [leaf(i, OLD) for i in range(3)]
    assert fates(due(entries, POLICIES, acts_of(*held), T0))["held"] == [0, 1, 2]
    freed = acts_of(*held, act(7, "release", (0, 2), hold="a"))
    assert fates(due(entries, POLICIES, freed, T0)) == {
        "erase": [0, 2],
        "held": [1],
        "archive": [1],
    }
    assert (freed.holds(1), freed.hold_names, freed.held("b")) == (("b",), ("b",), ((1, 1),))


def test_a_clock_that_fell_back_makes_nothing_old() -> None:
    """An entry is as young as the youngest before it; the clock is handed from part to part."""
    recent = T0 - timedelta(days=1)
    entries = [leaf(0, recent), leaf(1, datetime(1970, 1, 1, tzinfo=UTC))]
    assert fates(due(entries, POLICIES, Acts(), T0)) == {}
    first = due(entries[:1], POLICIES, Acts(), T0)
    assert fates(due(entries[1:], POLICIES, Acts(), T0, clock=first.clock)) == {}


def test_a_clock_that_ran_ahead_keeps_nothing_else() -> None:
    """A time that has not come says nothing about the entries behind it."""
    entries = [leaf(0, T0 + timedelta(days=9999)), leaf(1, OLD)]
    assert fates(due(entries, POLICIES, Acts(), T0)) == {"ahead": [0], "erase": [1]}


@pytest.mark.parametrize("at", ["", "yesterday", "2026-01-01T00:00:00", "nan"])
def test_an_unreadable_time_stops_everything(at: str) -> None:
    """Nothing is erased on the ground of a time that is none."""
    with pytest.raises(AuditError, match="entry 3"):
        due([leaf(3, T0, at=at)], POLICIES, Acts(), T0)


@pytest.mark.parametrize(
    "targets",
    [
        None,
        "0-1",
        [0, 1],
        [[0]],
        [[0, 1, 2]],
        [[1, 0]],
        [[-1, 0]],
        [[0, 5]],  # itself
        [[0, 99]],
        [[0.0, 1.0]],
        [[True, True]],
        [["0", "1"]],
    ],
)
def test_an_unreadable_act_stops_everything(targets: Any) -> None:
    """A hold that cannot be read must not be taken for none."""
    for kind in ("hold", "release", "erase", "archive"):
        with pytest.raises(AuditError, match="entry 5"):
            Acts().add(act(5, kind, targets=targets))


@given(st.sets(st.integers(0, 300)))
def test_spans_say_the_same(indexes: set[int]) -> None:
    """Spans and back, and no two of them touch."""
    rising = sorted(indexes)
    spans = spans_of(rising)
    assert list(indexes_of(spans)) == rising
    assert all(b[0] - a[1] > 1 for a, b in pairwise(spans))
    for most in range(1, len(spans) + 2):
        assert spans_of(rising[: spans_before(rising, most)]) == spans[:most]


@pytest.mark.parametrize(
    ("name", "why", "missing"),
    [
        ("", "", "name of the privacy officer"),
        ("", "over", "name of the privacy officer"),
        ("Ada", "", "justification"),
        ("Ada", "over", ""),
    ],
)
def test_what_an_authoriser_must_give(name: str, why: str, missing: str) -> None:
    """The privacy officer by name, and a reason."""
    assert missing in lacks(CLINICAL, Authorisation(name, why))
    assert bool(missing) == bool(lacks(CLINICAL, Authorisation(name, why)))
    listed = replace(CLINICAL, officers=("Grace",))
    assert lacks(listed, Authorisation(name, why))
    assert not lacks(FAQ, Authorisation(name, why))


GOOD = 'name = "own"\narchive_after = "1 year 6 months"\ndelete_after = "7 years"\n'


def test_a_policy_of_ones_own_is_named_by_its_file(tmp_path: Path) -> None:
    """A changed file is another policy, and the old one still binds what it was written for."""
    file, home = tmp_path / "own.toml", tmp_path / "home"
    file.write_text(GOOD)
    old = retention_in_force(str(file), home)
    assert re.fullmatch("own-[0-9a-f]{16}", old.name)
    assert retention_in_force(str(file), home) == old
    file.write_text(GOOD.replace("7 years", "2 years"))
    new = retention_in_force(str(file), home)
    assert new.name != old.name
    known = known_policies(home)
    assert (known[old.name], known[new.name]) == (old, new)
    assert known[old.name].delete_after == Period(years=7)
    kept = home / "retention" / f"{old.name}.toml"
    kept.write_text(GOOD.replace("7 years", "18 months"))
    with pytest.raises(InputError, match="has changed"):
        known_policies(home)


def test_a_name_of_ours_is_not_theirs(tmp_path: Path) -> None:
    """A file that calls itself as a shipped policy does not become it."""
    file = tmp_path / "f.toml"
    file.write_text(GOOD.replace('"own"', '"clinical_6yr"').replace("7 years", "2 years"))
    assert retention_in_force(str(file), tmp_path).name.startswith("clinical_6yr-")
    assert known_policies(tmp_path)["clinical_6yr"].delete_after == Period(years=6)


BAD = {
    "not TOML": "name = ",
    "unknown key": GOOD + "delete_at = '1 year'\n",
    "no name": GOOD.replace('name = "own"', ""),
    "no deletion": GOOD.replace('delete_after = "7 years"', ""),
    "name of another form": GOOD.replace('"own"', '"../own"'),
    "name in capitals": GOOD.replace('"own"', '"OWN"'),
    "a number": GOOD.replace('"7 years"', "7"),
    "no unit": GOOD.replace("7 years", "7"),
    "a fraction": GOOD.replace("7 years", "6.5 years"),
    "negative": GOOD.replace("7 years", "-7 years"),
    "another unit": GOOD.replace("7 years", "7 weeks"),
    "a unit twice": GOOD.replace("7 years", "3 years 4 years"),
    "other digits": GOOD.replace("7 years", "٧ years"),
    "leading zero": GOOD.replace("7 years", "07 years"),
    "empty": GOOD.replace("7 years", ""),
    "at once": GOOD.replace("1 year 6 months", "0 days").replace("7 years", "0 days"),
    "archived after deletion": GOOD.replace("1 year 6 months", "8 years"),
    "deleted before its minimum": GOOD + 'keep_at_least = "8 years"\n',
    "minimum of never": GOOD + 'keep_at_least = "never"\n',
    "justification of words": GOOD + 'justification = "yes"\n',
    "officers without a role": GOOD + 'officers = ["Ada"]\n',
    "officers of numbers": GOOD + 'authoriser = "officer"\nofficers = [1]\n',
    "role with a line end": GOOD + 'authoriser = "a\\nb"\n',
    "a huge file": GOOD + "#" * 70_000,
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_one_clear_line(text: str, tmp_path: Path) -> None:
    """It names the file, and nothing is kept of it."""
    file = tmp_path / "own.toml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        retention_in_force(str(file), tmp_path / "home")
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "setting", ["clinical", "no/such/file.toml", "../retention", "INTERNAL_FAQ"]
)
def test_an_unknown_policy_is_refused(setting: str, tmp_path: Path) -> None:
    """The line names what there is."""
    with pytest.raises(InputError, match="internal_faq"):
        retention_in_force(setting, tmp_path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """Neither UTF-16 nor a folder is a policy."""
    file = tmp_path / "own.toml"
    file.write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(InputError, match="UTF-8"):
        retention_in_force(str(file), tmp_path)
    with pytest.raises(InputError):
        retention_in_force(str(tmp_path), tmp_path)


def test_never_is_never() -> None:
    """A policy without deletion erases nothing, however late it is."""
    keeps = RetentionPolicy("keeps", None, None)
    found = due([leaf(0, OLD, "keeps")], {"keeps": keeps}, Acts(), datetime(9999, 1, 1, tzinfo=UTC))
    assert fates(found) == {}


@given(
    st.lists(
        st.tuples(st.integers(0, 3000), st.sampled_from(["faq", "clinical", "x"])), max_size=30
    ),
    st.sets(st.integers(0, 29)),
    st.sets(st.integers(0, 29)),
    st.booleans(),
)
def test_nothing_goes_that_must_stay(
    ages: list[tuple[int, str]], held: set[int], erased: set[int], authorised: bool
) -> None:
    """Whatever the ages, holds and acts: what is erased is old, free, known and authorised."""
    acts = acts_of(
        act(100, "erase", *spans_of(sorted(erased))), act(101, "hold", *spans_of(sorted(held)))
    )
    entries = [leaf(i, T0 - timedelta(days=age), rule) for i, (age, rule) in enumerate(ages)]
    allowed = {"clinical"} if authorised else set()
    found = due(entries, POLICIES, acts, T0, authorised=allowed)
    gone = {i for f in found.erase.values() for i in f.indexes}
    for index in gone:
        age, rule = ages[index]
        assert index not in held | erased
        assert age >= (90 if rule == "faq" else 6 * 365)
        assert rule == "faq" or (rule == "clinical" and authorised)
        assert all(a >= (90 if rule == "faq" else 6 * 365) for a, _ in ages[:index])
    assert not gone & {i for f in found.archive.values() for i in f.indexes}
