"""Dates, years and periods as people write them, to ISO 8601 and its usual extensions.

Values: "2024-03-01", "2024-03", "--03-31" (no year), "--11" (a month alone), "2024", "2020s",
"2024-Q3", "-Q3" (no year), "2024-H1", "FY2024", "FY2024-Q3", "2023/24", and "T18:00" for a time
of day. What can be read in two ways, or is no date of the calendar, is "ambiguous:" and the text.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, replace

from certirag.core.claim import QuantityKind
from certirag.quantities.figure_tokens import Tokens, ends_cleanly
from certirag.quantities.numbers import ONES, ordinal_at
from certirag.quantities.units import CURRENCIES, TIME_UNITS, unit_at
from certirag.text.word_classes import word_set, words_in

_NAMES = words_in(
    "january february march april may june july august september october november december"
)
_MONTHS = {name: number for number, name in enumerate(_NAMES, start=1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_DASHES = ("-", "–", "—")
# "May" and "March" are words of other kinds too: alone they need one of these before them.
_BEFORE_MONTH = word_set(
    "in of since until till from by to through every each mid late early last next before after "
    "during and between"
)
_YEAR_CUES = word_set(
    "in since during for of by until till from year fiscal before after through to and the its "
    "our early late mid end ended ending fy between"
)
_NOT_COUNTED = word_set("results sales earnings figures accounts revenues targets was is has this")
_BEFORE_A_TIME = word_set("at from until till to by before after")
_HALF_DAYS = {"morning": 0, "afternoon": 12, "evening": 12}
_OF_YEARS = TIME_UNITS | {"decade", "century", "times", "pt", "cent", "pound"}


@dataclass(frozen=True, slots=True)
class Temporal:
    """A date or period: its kind and value, and the index after its last token.

    *joined* says a dash and the second date of a span follow ("2021-2023", "1-5 March").
    """

    kind: QuantityKind
    value: str
    next: int
    joined: bool = False


_WHOLE = re.compile(r"(?:(\d{4})|-)-(\d\d)(?:-(\d\d))?")
_PART = re.compile(r"(FY)?(\d{4})?-([QH]\d)")


def as_written(value: str) -> str:
    """Return the *value* of a date or period as a reader writes it: "31 March", "Q3 2024"."""
    if whole := _WHOLE.fullmatch(value):
        year, month, day = whole.groups()
        name = _NAMES[int(month) - 1].capitalize() if 0 < int(month) <= len(_NAMES) else month
        return " ".join(part for part in (day and str(int(day)), name, year) if part)
    if part := _PART.fullmatch(value):
        fiscal, year, which = part.groups()
        return f"{which} {fiscal or ''}{year or ''}".rstrip()
    return value.removeprefix("T")


def year_of(text: str) -> int:
    """Return the year 1900–2100 that *text* writes in four digits, or 0."""
    good = len(text) == 4 and text.isascii() and text.isdigit()
    return int(text) if good and 1900 <= int(text) <= 2100 else 0


def temporals_at(tokens: Tokens, index: int) -> tuple[Temporal, ...]:
    """Return the date or period that starts at *index*: one, or none."""
    token = tokens.at(index)
    if token.kind == "number":
        found = _from_number(tokens, index)
    elif token.kind == "word":
        found = _from_word(tokens, index)
    else:
        return ()
    return tuple(item for item in found if item.joined or ends_cleanly(tokens, item.next))


def _date(year: int, month: int, day: int, text: str, after: int) -> tuple[Temporal, ...]:
    try:
        value = datetime.date(year or 2000, month, day).isoformat()
    except ValueError:
        return (Temporal("date", f"ambiguous:{text}", after),)
    return (Temporal("date", value if year else f"--{value[5:]}", after),)


def _from_number(tokens: Tokens, index: int) -> tuple[Temporal, ...]:
    return (
        _clock(tokens, index)
        or _numeric_date(tokens, index)
        or _day_month(tokens, index)
        or _half_or_quarter(tokens, index)
        or _from_year(tokens, index)
    )


def _clock(tokens: Tokens, index: int) -> tuple[Temporal, ...]:
    """Read 10:30, "10.30 am", "4 p.m." and "at six in the evening" as a time of day."""
    written, after, colon = tokens.at(index).text, index + 1, tokens.at(index + 1)
    hour, _, minutes = str(ONES.get(written.lower(), written)).partition(".")
    if not hour.isdecimal() or len(hour) > 2:
        return ()
    if written == hour and colon.text == ":" and colon.glued and tokens.at(after + 1).glued:
        minutes, after = tokens.at(after + 1).text, after + 2
    minutes = minutes or "00"
    if not (len(minutes) == 2 and minutes.isdecimal() and minutes < "60"):
        return ()
    shift, ending = _half_day(tokens, index, after)
    if after == index + 1 and ending == after:
        return ()
    value = int(hour)
    if value > (12 if shift >= 0 else 24):
        return ()
    value = value if shift < 0 else value % 12 + shift
    return (Temporal("measure", f"T{value:02}:{minutes}", ending),)


def _half_day(tokens: Tokens, start: int, index: int) -> tuple[int, int]:
    """Read "am", "p.m." at *index*: hours to add (-1 where none is written), and what follows.

    The time starts at *start*: "in the evening" follows one only after "at" or "until" and the like.
    """
    word = tokens.at(index).lower
    shift = {"am": 0, "a": 0, "pm": 12, "p": 12}.get(word, -1)
    if word in ("am", "pm"):
        return shift, index + 1
    if shift >= 0 and tokens.words(index + 1, 2) == (".", "m"):
        return shift, index + 3 + (tokens.at(index + 3).text == "." and tokens.at(index + 3).glued)
    if tokens.at(start - 1).lower in _BEFORE_A_TIME:
        index += word in ("o'clock", "o’clock")
        if tokens.words(index, 2) == ("in", "the"):
            shift = _HALF_DAYS.get(tokens.at(index + 2).lower, -1)
            return shift, index + 3 if shift >= 0 else index
    return -1, index


def _numeric_date(tokens: Tokens, index: int) -> tuple[Temporal, ...]:
    """Read 2024-03-01, 2024/03/01, 31/12/2024, 1.3.2024 and 2024-03."""
    first = tokens.at(index)
    if first.text.count(".") == 2:
        day, month, year = first.text.split(".")
        good = year_of(year) and len(day) < 3 and len(month) < 3
        return _date(int(year), int(month), int(day), first.text, index + 1) if good else ()
    parts = [first.text]
    mark, after = tokens.at(index + 1), index + 1
    if mark.text not in ("-", "/"):
        return ()
    while len(parts) < 4 and tokens.at(after).text == mark.text and tokens.at(after).glued:
        part = tokens.at(after + 1)
        if part.kind != "number" or not part.glued:
            break
        parts.append(part.text)
        after += 2
    if not all(part.isdecimal() and len(part) in (1, 2, 4) for part in parts):
        return ()
    text = mark.text.join(parts)
    if len(parts) == 3 and year_of(parts[0]):
        return _date(int(parts[0]), int(parts[1]), int(parts[2]), text, after)
    if len(parts) == 3 and year_of(parts[2]):
        return _slash_date(int(parts[0]), int(parts[1]), int(parts[2]), text, after)
    if len(parts) == 2 and year_of(parts[0]) and len(parts[1]) == 2:
        if int(parts[1]) == (int(parts[0]) + 1) % 100:
            return (Temporal("period", f"{parts[0]}/{parts[1]}", after),)
        if mark.text == "-" and 1 <= int(parts[1]) <= 12:
            return (Temporal("date", text, after),)
    return ()


def _slash_date(a: int, b: int, year: int, text: str, after: int) -> tuple[Temporal, ...]:
    if a <= 12 and b <= 12 and a != b:
        return (Temporal("date", f"ambiguous:{text}", after),)
    day, month = (b, a) if b > 12 else (a, b)
    return _date(year, month, day, text, after)


def _day_month(tokens: Tokens, index: int) -> tuple[Temporal, ...]:
    """Read "1 March 2024", "1st of March" and the first day of "1–5 March 2024"."""
    after = _past_day(tokens, index)
    if not after:
        return ()
    ending = after
    if tokens.at(after).text in (*_DASHES, "to", "and"):
        ending = _past_day(tokens, after + 1) or after
    month_at = ending + 1 if tokens.at(ending).lower == "of" else ending
    month = _month(tokens, month_at)
    if not month:
        return ()
    year, past = _year_after(tokens, month_at + 1)
    text = tokens.source[tokens.at(index).start : tokens.at(past - 1).end]
    if ending != after:
        # The second day is read on its own, with the same month.
        found = _date(year, month, int(tokens.at(index).text), text, after)
        return tuple(replace(item, joined=True) for item in found)
    return _date(year, month, int(tokens.at(index).text), text, past)


def _past_day(tokens: Tokens, index: int) -> int:
    """Return the index after a day of the month ("1", "31st"), or 0."""
    token, following = tokens.at(index), tokens.at(index + 1)
    if token.kind != "number" or not token.text.isdecimal() or len(token.text) > 2:
        return 0
    if following.glued and following.kind == "word":
        return index + 2 if following.lower in ("st", "nd", "rd", "th") else 0
    return index + 1


def _month(tokens: Tokens, index: int) -> int:
    token = tokens.at(index)
    named = token.text[:1].isupper() and token.lower in _MONTHS
    return _MONTHS[token.lower] if named else 0


def _past_stop(tokens: Tokens, index: int) -> int:
    """Skip the full stop of "Sept." and the comma of "March 1, 2024"."""
    mark = tokens.at(index)
    return index + 1 if mark.text in (".", ",") and mark.glued else index


def _year_after(tokens: Tokens, index: int) -> tuple[int, int]:
    at = _past_stop(tokens, index)
    at += tokens.at(at).lower == "of"
    year = year_of(tokens.at(at).text)
    return (year, at + 1) if year and ends_cleanly(tokens, at + 1) else (0, index)


def _from_year(tokens: Tokens, index: int) -> tuple[Temporal, ...]:
    """Read a bare year, "2020s", "2024 Q3" and "2024-H1"."""
    token, after = tokens.at(index), index + 1
    year = year_of(token.text)
    if not year:
        return ()
    if tokens.at(after).glued and tokens.at(after).lower == "s":
        return (Temporal("period", f"{year}s", after + 1),)
    dash = tokens.at(after)
    if dash.text in _DASHES and dash.glued and year_of(tokens.at(after + 1).text) > year:
        return (Temporal("year", token.text, after, joined=True),)
    at = after + 1 if dash.text == "-" and dash.glued else after
    part = tokens.at(at).lower
    number = tokens.at(at + 1)
    if part in ("q", "h") and number.glued and number.text in ("1", "2", "3", "4"):
        return (Temporal("period", f"{year}-{part.upper()}{number.text}", at + 2),)
    if _is_measured(tokens, after):
        return ()
    counted = tokens.at(after)
    if counted.lower.endswith("s") and len(counted.text) > 3 and counted.text.islower():
        cue = tokens.at(index - 1).lower in _YEAR_CUES or counted.lower in _NOT_COUNTED
        return (Temporal("year", token.text, after),) if cue else ()
    return (Temporal("year", token.text, after),)


def _is_measured(tokens: Tokens, index: int) -> bool:
    """Say whether a unit of measure stands at *index*: "1950 kg" is no year.

    "2024 dollars" and "2024 second quarter" may be, so money and time are left out.
    """
    unit, _ = unit_at(tokens, index)
    return bool(unit) and unit not in _OF_YEARS and unit not in CURRENCIES.values()


def _from_word(tokens: Tokens, index: int) -> tuple[Temporal, ...]:
    token = tokens.at(index)
    month = _month(tokens, index)
    if month:
        return _month_first(tokens, index, month)
    spelled = _spelled_day(tokens, index)
    if spelled:
        return spelled
    if token.lower in ("fy", "fiscal", "financial", "full"):
        return _fiscal(tokens, index)
    return _clock(tokens, index) or _half_or_quarter(tokens, index)


def _spelled_day(tokens: Tokens, index: int) -> tuple[Temporal, ...]:
    """Read "the first of March 2024"."""
    day = ordinal_at(tokens, index)
    if day is None or tokens.at(day.next).lower != "of":
        return ()
    month = _month(tokens, day.next + 1)
    if not month:
        return ()
    year, past = _year_after(tokens, day.next + 2)
    text = tokens.source[tokens.at(index).start : tokens.at(past - 1).end]
    return _date(year, month, int(day.value), text, past)


def _month_first(tokens: Tokens, index: int, month: int) -> tuple[Temporal, ...]:
    """Read "March 1, 2024", "Mar 2024" and a month alone."""
    at = index + 1
    if tokens.at(at).text == "." and tokens.at(at).glued and len(tokens.at(index).text) < 5:
        at += 1
    year = year_of(tokens.at(_past_stop(tokens, at)).text)
    if year:
        return (Temporal("date", f"{year}-{month:02}", _past_stop(tokens, at) + 1),)
    past = _past_day(tokens, at)
    if past and tokens.at(past).text != ":" and not tokens.at(at).glued:
        year, ending = _year_after(tokens, past)
        text = tokens.source[tokens.at(index).start : tokens.at(ending - 1).end]
        return _date(year, month, int(tokens.at(at).text), text, ending)
    if tokens.at(index).lower == "of":
        return ()
    year, ending = _year_after(tokens, at)
    if year:
        return (Temporal("date", f"{year}-{month:02}", ending),)
    alone = tokens.at(index).lower
    if alone in ("may", "march", "mar") and tokens.at(index - 1).lower not in _BEFORE_MONTH:
        return ()
    return (Temporal("date", f"--{month:02}", index + 1),)


def _short_year(tokens: Tokens, index: int) -> tuple[str, int]:
    """Read the year of a period: "2024", "'24", "24", "of 2024", "FY24", "of fiscal 2024".

    The year comes back as "2024" or "FY2024", and as "" where none follows.
    """
    at = index
    while tokens.at(at).text in (",", "of", "the", "(", "'", "’", "-") and at - index < 3:
        at += 1
    fiscal = ""
    if tokens.at(at).lower in ("fy", "fiscal", "financial"):
        fiscal, at = "FY", at + 1
    at += tokens.at(at).lower == "year"
    text = tokens.at(at).text
    short = len(text) == 2 and text.isdecimal() and (bool(fiscal) or tokens.at(at).glued)
    year = year_of("20" + text) if short else year_of(text)
    if not year:
        return "", index
    after = at + 1
    if tokens.at(after).text in ("/", "-") and tokens.at(after).glued:
        second = tokens.at(after + 1)
        if second.glued and second.text == f"{(year + 1) % 100:02}":
            return f"{fiscal}{year}/{second.text}", after + 2
    return f"{fiscal}{year}", after


def _fiscal(tokens: Tokens, index: int) -> tuple[Temporal, ...]:
    """Read "FY2024", "FY24 Q3", "fiscal year 2024", "full year 2024"."""
    if tokens.at(index).lower == "full":
        word = index + 1 + (tokens.at(index + 1).text == "-")
        year = year_of(tokens.at(word + 1).text)
        good = tokens.at(word).lower == "year" and year
        return (Temporal("year", str(year), word + 2),) if good else ()
    year_text, after = _short_year(tokens, index)
    if not year_text:
        return ()
    at = after + (tokens.at(after).text == "-" and tokens.at(after).glued)
    number = tokens.at(at + 1)
    if tokens.at(at).lower in ("q", "h") and number.glued and number.text in ("1", "2", "3", "4"):
        return (
            Temporal("period", f"{year_text}-{tokens.at(at).text.upper()}{number.text}", at + 2),
        )
    return (Temporal("period", year_text, after),)


def _half_or_quarter(tokens: Tokens, index: int) -> tuple[Temporal, ...]:
    """Read "Q3 2024", "3Q24", "third quarter of 2024", "first half of 2024", "H1"."""
    token, following = tokens.at(index), tokens.at(index + 1)
    letter, number, after = "", 0, index
    if token.lower in ("q", "h") and following.glued and following.text in ("1", "2", "3", "4"):
        letter, number, after = token.lower, int(following.text), index + 2
    elif token.text in ("1", "2", "3", "4") and following.glued and following.lower in ("q", "h"):
        letter, number, after = following.lower, int(token.text), index + 2
    else:
        ordinal = ordinal_at(tokens, index)
        name = tokens.at(ordinal.next).lower if ordinal else ""
        if ordinal and name in ("quarter", "half") and ordinal.value.denominator == 1:
            letter, number, after = name[0], int(ordinal.value), ordinal.next + 1
    if not letter or number > (4 if letter == "q" else 2):
        return ()
    letter = letter.upper()
    year, ending = _short_year(tokens, after)
    if tokens.at(after).text == "(" and ending > after and tokens.at(ending).text == ")":
        ending += 1
    value = f"{year}-{letter}{number}" if year else f"-{letter}{number}"
    return (Temporal("period", value, ending),)
