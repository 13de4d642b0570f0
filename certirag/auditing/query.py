"""What an auditor asks, in words of the command line or of a page → an `AnswerQuery`. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, cast, get_args

from certirag.errors import InputError
from certirag.proof.facets import DECISIONS, RENDER_STATES, AnswerQuery, Grouping, question_words

PERIOD_FORMS: Final = (
    "2026, 2026-11, 2026-Q4, 2026-W47, 2026-11-21, a time as 2026-11-21T08:00Z, today, yesterday, "
    "this-week, last-quarter (or day, month, year), last-30-days (or hours, weeks)"
)
GROUPINGS: Final[tuple[str, ...]] = get_args(Grouping)
_MAX_TEXT: Final = 512
_MAX_BACK: Final = 100_000
_TRACE_ID: Final = re.compile(r"[0-9a-f]{32}")
_ROLLING: Final = re.compile(r"last-([1-9][0-9]{0,5})-(hour|day|week)s?")
_CALENDAR: Final = re.compile(r"(this|last)-(day|week|month|quarter|year)")
_YEAR: Final = re.compile(r"([0-9]{4})")
_QUARTER: Final = re.compile(r"([0-9]{4})-q([1-4])")
_WEEK: Final = re.compile(r"([0-9]{4})-w([0-9]{2})")
_MONTH: Final = re.compile(r"([0-9]{4})-([0-9]{2})")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


def read_query(
    now: datetime,
    *,
    trace_id: str = "",
    when: str = "",
    since: str = "",
    until: str = "",
    corpus: str = "",
    score_from: str = "",
    score_below: str = "",
    decisions: Sequence[str] = (),
    reasons: Sequence[str] = (),
    policy: str = "",
    model: str = "",
    state: str = "",
    document: str = "",
    about: str = "",
    parts: bool = False,
) -> AnswerQuery:
    """Return the query of these words; what is left empty asks for nothing.

    *when* is one of `PERIOD_FORMS`, counted from *now*; *since* and *until* are too, and mean
    where it begins: *until* is exclusive. Scores are decimals from 0 to 1. Decisions, reason codes
    and the state may be in lower case. Raises InputError naming the word that cannot be read.
    """
    if when.strip() and (since.strip() or until.strip()):
        raise InputError(f"{when!r}: give a period, or where it begins and ends, not both")
    begin, end = read_period(when, now) if when.strip() else ("", "")
    begin = read_period(since, now)[0] if since.strip() else begin
    end = read_period(until, now)[0] if until.strip() else end
    if begin and end and begin >= end:
        raise InputError(
            f"nothing lies between {since!r} and {until!r}: give the earlier one first"
        )
    low, high = _score(score_from), _score(score_below)
    if low is not None and high is not None and low >= high:
        raise InputError(f"no score is from {low} and below {high}: give the smaller one first")
    if about.strip() and not question_words(about):
        raise InputError(f"{about!r} holds no word to look for: give words of the question")
    return AnswerQuery(
        trace_id=_trace_id(trace_id),
        since=begin,
        until=end,
        corpus=_text(corpus),
        score_from=low,
        score_below=high,
        decisions=tuple(dict.fromkeys(_one_of(name, DECISIONS) for name in decisions)),
        reasons=tuple(dict.fromkeys(_code(name) for name in reasons)),
        policy=_text(policy),
        model=_text(model),
        state=_one_of(state, RENDER_STATES) if state.strip() else "",
        document=_text(document),
        about=_text(about),
        parts=parts,
    )


def read_groups(names: Sequence[str]) -> tuple[Grouping, ...]:
    """Return what to group by; InputError for an unknown name or one that comes twice."""
    found = [name.strip().lower() for name in names]
    for name in found:
        if name not in GROUPINGS:
            raise InputError(f"cannot group by {name!r}: choose {', '.join(GROUPINGS)}")
        if found.count(name) > 1:
            raise InputError(f"{name!r} is given twice: group by it once")
    return tuple(cast("Grouping", name) for name in found)


def read_period(words: str, now: datetime) -> tuple[str, str]:
    """Return where the period *words* begins and ends, in ISO 8601 UTC; the end is exclusive.

    A period that *now* lies in, and a single time, have no end (""). A time without a zone is
    UTC. InputError for anything but `PERIOD_FORMS`.
    """
    text = words.strip().lower()
    today = now.astimezone(UTC).date()
    try:
        found = _rolling(text, now) or _calendar(text, today) or _dated(text)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{words!r} is no time that there is ({error}): give another") from error
    if found is None:
        raise InputError(f"{words!r} is no time or period: give {PERIOD_FORMS}")
    begin, end = found
    return _iso(begin), "" if end is None or end > now else _iso(end)


_Period = tuple[datetime, datetime | None]


def _rolling(text: str, now: datetime) -> _Period | None:
    if match := _ROLLING.fullmatch(text):
        number = int(match[1])
        if number > _MAX_BACK:
            raise ValueError(f"give at most {_MAX_BACK}")
        return now - number * timedelta(**{f"{match[2]}s": 1}), None
    return None


def _calendar(text: str, today: date) -> _Period | None:
    text = {"today": "this-day", "yesterday": "last-day"}.get(text, text)
    match = _CALENDAR.fullmatch(text)
    if not match:
        return None
    begin = _begin(match[2], today)
    if match[1] == "last":
        begin = _begin(match[2], begin - timedelta(days=1))
    return _whole(match[2], begin)


def _dated(text: str) -> _Period | None:
    if match := _YEAR.fullmatch(text):
        return _whole("year", date(int(match[1]), 1, 1))
    if match := _QUARTER.fullmatch(text):
        return _whole("quarter", date(int(match[1]), int(match[2]) * 3 - 2, 1))
    if match := _WEEK.fullmatch(text):
        return _whole("week", date.fromisocalendar(int(match[1]), int(match[2]), 1))
    if match := _MONTH.fullmatch(text):
        return _whole("month", date(int(match[1]), int(match[2]), 1))
    if _DAY.fullmatch(text):
        return _whole("day", date.fromisoformat(text))
    if not _DAY.match(text):
        return None
    at = datetime.fromisoformat(text.upper())
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC), None


def _begin(unit: str, day: date) -> date:
    """Return the first day of the *unit* that *day* lies in; weeks begin on Monday (ISO 8601)."""
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    return day.replace(month=1, day=1) if unit == "year" else day


def _whole(unit: str, begin: date) -> _Period:
    """Return the *unit* that begins on the day *begin*."""
    longest = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}[unit]
    end = _begin(unit, begin + timedelta(days=longest))
    return _midnight(begin), _midnight(end)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds")


def _score(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise InputError(f"{text!r} is no grounding score: give a number from 0 to 1, as 0.80")
    return value


def _trace_id(text: str) -> str:
    found = text.strip().lower()
    if found and not _TRACE_ID.fullmatch(found):
        raise InputError(f"{text!r} is no trace id: give its 32 hex digits")
    return found


def _one_of(name: str, names: Sequence[str]) -> str:
    for known in names:
        if name.strip().upper() == known:
            return known
    raise InputError(f"unknown {name!r}: choose {', '.join(names)}")


def _code(name: str) -> str:
    found = name.strip().upper()
    if not _CODE.fullmatch(found):
        raise InputError(f"{name!r} is no reason code: give one as INSUFFICIENT_EVIDENCE")
    return found


def _text(text: str) -> str:
    if len(text) > _MAX_TEXT or "\x00" in text:
        raise InputError(
            f"{text[:40]!r}…: give at most {_MAX_TEXT} characters, none of them U+0000"
        )
    return text.strip()
