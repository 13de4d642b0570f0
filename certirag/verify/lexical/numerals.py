"""Number words, units, months and currencies: what turns tokens into quantities."""

from __future__ import annotations

from typing import Final

NUMBER_WORDS: Final[dict[str, float]] = {
    word: float(value)
    for value, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"]
    )
} | {
    "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "seventy": 70.0,
    "eighty": 80.0, "ninety": 90.0,
}  # fmt: skip
SCALES: Final[dict[str, float]] = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
    "mn": 1e6, "bn": 1e9, "dozen": 12.0,
}  # fmt: skip
SCALE_LETTERS: Final[dict[str, float]] = {"k": 1e3, "m": 1e6, "bn": 1e9, "b": 1e9, "mn": 1e6}
MONTHS: Final[dict[str, int]] = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun",
            "july jul", "august aug", "september sep sept", "october oct", "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip

CURRENCIES: Final[dict[str, str]] = {
    "€": "eur", "$": "usd", "£": "gbp", "¥": "jpy", "eur": "eur", "euro": "eur", "euros": "eur",
    "usd": "usd", "dollar": "usd", "dollars": "usd", "gbp": "gbp", "pound": "gbp",
    "pounds": "gbp", "chf": "chf", "franc": "chf", "francs": "chf", "yen": "jpy", "jpy": "jpy",
    "sek": "sek", "nok": "nok", "dkk": "dkk", "inr": "inr", "₹": "inr",
}  # fmt: skip
UNITS: Final[dict[str, str]] = {
    form: canonical
    for canonical, forms in (
        ("second", "second seconds sec secs"), ("minute", "minute minutes min mins"),
        ("hour", "hour hours hr hrs h"), ("day", "day days"), ("week", "week weeks"),
        ("month", "month months"), ("quarter", "quarter quarters"), ("year", "year years yr yrs"),
        ("night", "night nights"), ("decade", "decade decades"), ("century", "century centuries"),
        ("%", "% percent pct percentage"), ("point", "point points"), ("bp", "bp bps"),
        ("mg", "mg milligram milligrams"), ("mcg", "mcg µg ug microgram micrograms"),
        ("g", "g gram grams"), ("kg", "kg kilogram kilograms"), ("tonne", "tonne tonnes ton tons"),
        ("ml", "ml millilitre millilitres"), ("l", "l litre litres liter liters"),
        ("mm", "mm millimetre millimetres"), ("cm", "cm centimetre centimetres centimeters"),
        ("m", "m metre metres meter meters"), ("km", "km kilometre kilometres kilometers"),
        ("mile", "mile miles"), ("foot", "foot feet ft"), ("inch", "inch inches"),
        ("ms", "ms millisecond milliseconds"), ("mmol", "mmol mmol/l"),
        ("mmhg", "mmhg"), ("ml/min", "ml/min"), ("°c", "°c celsius"), ("°f", "°f fahrenheit"),
        ("kb", "kb"), ("mb", "mb"), ("gb", "gb"), ("tb", "tb"), ("kwh", "kwh"), ("mw", "mw"),
        ("times", "time times"), ("degree", "degree degrees"), ("v", "v volt volts"),
    )
    for form in forms.split()
}  # fmt: skip
# Units of one kind measure the same thing: another value or unit of it is a rival.
KINDS: Final[dict[str, str]] = {
    unit: kind
    for kind, units in (
        ("duration", "second minute hour day week month quarter year night decade century ms"),
        ("money", "eur usd gbp chf jpy sek nok dkk inr"), ("mass", "mg mcg g kg tonne"),
        ("volume", "ml l"), ("length", "mm cm m km mile foot inch"), ("share", "% bp point"),
        ("date", "date"), ("clock", "clock"), ("temperature", "°c °f"),
        ("storage", "kb mb gb tb"),
    )
    for unit in units.split()
}  # fmt: skip
