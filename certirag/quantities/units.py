"""Units of measure: canonical names, exact conversions, scale words and currencies.

Only conversions that are exact by definition are made. Days and months are not convertible,
business days are not days, and no currency is converted into another.
"""

from __future__ import annotations

from fractions import Fraction

from certirag.quantities.figure_tokens import Tokens
from certirag.text.word_classes import word_set

CURRENCIES = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR",
    "£": "GBP", "gbp": "GBP", "¥": "JPY", "jpy": "JPY", "yen": "JPY",
    "₹": "INR", "inr": "INR", "rupees": "INR", "chf": "CHF", "francs": "CHF",
    "cad": "CAD", "c$": "CAD", "ca$": "CAD", "aud": "AUD", "a$": "AUD", "au$": "AUD",
    "cny": "CNY", "rmb": "CNY", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN",
    "₩": "KRW", "₽": "RUB", "₺": "TRY", "hkd": "HKD", "nzd": "NZD", "sgd": "SGD",
}  # fmt: skip
SCALES = {
    "hundred": 10**2, "thousand": 10**3, "thousands": 10**3, "k": 10**3, "lakh": 10**5,
    "million": 10**6, "millions": 10**6, "mn": 10**6, "mln": 10**6, "mio": 10**6,
    "crore": 10**7, "billion": 10**9, "billions": 10**9, "bn": 10**9,
    "trillion": 10**12, "trillions": 10**12, "tn": 10**12, "trn": 10**12, "dozen": 12,
}  # fmt: skip
TIME_UNITS = frozenset(
    ("second", "minute", "hour", "day", "night", "week", "fortnight", "month", "quarter", "year")
)
_WORDS = {
    "second": "seconds sec secs", "minute": "minutes min mins",
    "hour": "hours hr hrs", "day": "days", "night": "nights", "week": "weeks wk wks", "fortnight": "fortnights",
    "month": "months mo", "quarter": "quarters", "year": "years yr yrs", "decade": "decades",
    "century": "centuries", "millisecond": "milliseconds msec",
    "mg": "milligram milligrams milligramme milligrammes", "g": "gram grams gramme grammes gm",
    "kg": "kilogram kilograms kilo kilos kgs", "mcg": "microgram micrograms ug µg μg",
    "ng": "nanogram nanograms", "t": "tonne tonnes", "ton": "tons", "lb": "lbs",
    "pound": "pounds", "oz": "ounce ounces", "mL": "ml milliliter milliliters millilitre millilitres",
    "L": "l liter liters litre litres", "dL": "dl", "cL": "cl", "gallon": "gallons",
    "km": "kilometer kilometers kilometre kilometres kms", "cm": "centimeter centimeters "
    "centimetre centimetres", "mm": "millimeter millimeters millimetre millimetres",
    "m": "meter meters metre metres", "mile": "miles", "ft": "feet foot", "inch": "inches",
    "m²": "sqm m2", "ha": "hectare hectares", "m³": "m3", "km²": "km2", "cm²": "cm2", "ft²": "sqft", "kWh": "kwh", "MWh": "mwh",
    "GWh": "gwh", "kcal": "calories", "mmHg": "mmhg", "mmol": "", "ppm": "", "IU": "iu",
    "cent": "cents", "mol": "", "bpm": "", "dB": "db", "hPa": "hpa", "kPa": "kpa",
    "times": "time fold", "kB": "kilobyte kilobytes", "MB": "megabyte megabytes",
    "GB": "gigabyte gigabytes", "TB": "terabyte terabytes", "kbit": "kilobit kilobits",
    "Mbit": "megabit megabits", "Gbit": "gigabit gigabits", "W": "watt watts",
    "kW": "kilowatt kilowatts", "MW": "megawatt megawatts", "GW": "gigawatt gigawatts",
    "V": "volt volts", "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz",
}  # fmt: skip
_SYMBOLS = {
    "s": "second", "h": "hour", "d": "day", "ms": "millisecond", "Wh": "Wh", "W": "W", "kW": "kW",
    "MW": "MW", "GW": "GW", "V": "V", "Hz": "Hz", "kHz": "kHz", "MHz": "MHz", "GHz": "GHz",
    "kB": "kB", "KB": "kB", "MB": "MB", "GB": "GB", "TB": "TB", "PB": "PB", "GiB": "GiB",
    "MiB": "MiB", "KiB": "KiB", "TiB": "TiB", "Mbps": "Mbps", "Gbps": "Gbps", "kJ": "kJ",
    "MJ": "MJ", "J": "J", "x": "times", "pt": "pt", "px": "px", "Pa": "Pa", "μm": "µm",
    "µm": "µm", "nm": "nm", "µL": "µL", "μL": "µL", "U": "IU",
}  # fmt: skip
_UNITS = {form: name for name, forms in _WORDS.items() for form in (name, *forms.split())}
_UNITS |= {form.lower(): unit for form, unit in _UNITS.items() if len(form) > 2}
_PAIRS = {
    ("percentage", "points"): "pp", ("percentage", "point"): "pp", ("per", "cent"): "%",
    ("basis", "points"): "bps", ("basis", "point"): "bps", ("degrees", "celsius"): "°C",
    ("degrees", "fahrenheit"): "°F", ("degree", "celsius"): "°C", ("°", "c"): "°C",
    ("°", "f"): "°F", ("square", "metres"): "m²", ("square", "meters"): "m²",
    ("square", "kilometres"): "km²", ("square", "kilometers"): "km²", ("square", "feet"): "ft²",
    ("mm", "hg"): "mmHg", ("kilowatt", "hours"): "kWh",
    ("us", "dollars"): "USD", ("pounds", "sterling"): "GBP", ("pound", "sterling"): "GBP",
    ("swiss", "francs"): "CHF",
}  # fmt: skip
_SINGLES = {"%": "%", "percent": "%", "pct": "%", "pp": "pp", "pps": "pp", "bps": "bps",
            "bp": "bps", "℃": "°C", "℉": "°F"}  # fmt: skip
# These words before a unit of time make another unit; the other adjectives only decorate it.
_DAY_KINDS = frozenset(("business", "working", "trading", "banking", "school", "calendar"))
_DECORATION = word_set(
    "consecutive full complete completed whole further additional extra more other successive "
    "continuous straight calendar"
)
_TO_BASE: dict[str, tuple[str, Fraction]] = {
    "millisecond": ("second", Fraction(1, 1000)), "minute": ("second", Fraction(60)),
    "hour": ("second", Fraction(3600)), "day": ("second", Fraction(86400)),
    "week": ("second", Fraction(604800)), "fortnight": ("second", Fraction(1209600)),
    "quarter": ("month", Fraction(3)),
    "year": ("month", Fraction(12)), "decade": ("month", Fraction(120)),
    "century": ("month", Fraction(1200)), "mg": ("g", Fraction(1, 1000)),
    "mcg": ("g", Fraction(1, 10**6)), "ng": ("g", Fraction(1, 10**9)), "kg": ("g", Fraction(1000)),
    "t": ("g", Fraction(10**6)), "mL": ("L", Fraction(1, 1000)), "cL": ("L", Fraction(1, 100)),
    "dL": ("L", Fraction(1, 10)), "µL": ("L", Fraction(1, 10**6)), "mm": ("m", Fraction(1, 1000)),
    "cm": ("m", Fraction(1, 100)), "km": ("m", Fraction(1000)), "µm": ("m", Fraction(1, 10**6)),
    "nm": ("m", Fraction(1, 10**9)), "kWh": ("Wh", Fraction(1000)), "MWh": ("Wh", Fraction(10**6)),
    "GWh": ("Wh", Fraction(10**9)), "kW": ("W", Fraction(1000)), "MW": ("W", Fraction(10**6)),
    "GW": ("W", Fraction(10**9)), "bps": ("pp", Fraction(1, 100)),
}  # fmt: skip


def base_unit(unit: str) -> tuple[str, Fraction]:
    """Return the unit that *unit* converts into exactly, and the factor (itself and 1 if none)."""
    prefix = "every " if unit.startswith("every ") else ""
    name = unit.removeprefix("every ")
    base, factor = _TO_BASE.get(name, (name, Fraction(1)))
    return prefix + base, factor


def unit_word(text: str) -> str:
    """Return the canonical unit that one word or symbol names, or "" if it names none."""
    if text in _SYMBOLS:
        return _SYMBOLS[text]
    lower = text.lower()
    # Case tells short symbols apart: "5 g" is a mass, "5G" and "5M" are not.
    return _SINGLES.get(lower) or _UNITS.get(text if len(text) < 3 else lower, "")


def unit_at(tokens: Tokens, index: int) -> tuple[str, int]:
    """Return the canonical unit at *index* and the index after it; ("", index) if there is none.

    A hyphen may lead ("5-day"); decorating adjectives are skipped ("two full days").
    """
    start = index
    token = tokens.at(index)
    if token.text == "-" and token.glued and tokens.at(index + 1).glued:
        index += 1
    while tokens.at(index).lower in _DECORATION and index - start < 3:
        if tokens.at(index).lower == "calendar" and tokens.at(index + 1).lower in ("day", "days"):
            break
        index += 1
    first, second = tokens.at(index), tokens.at(index + 1)
    if (first.lower, second.lower) in _PAIRS:
        return _PAIRS[first.lower, second.lower], index + 2
    if first.lower in _DAY_KINDS:
        unit = unit_word(second.lower)
        return (f"{first.lower} {unit}", index + 2) if unit in TIME_UNITS else ("", start)
    if first.kind == "symbol" and first.text in CURRENCIES:
        return CURRENCIES[first.text], index + 1
    if first.kind not in ("word", "symbol"):
        return "", start
    unit = CURRENCIES.get(first.lower, "") or unit_word(first.text)
    if len(first.text) == 1 and first.text in "sdx" and not first.glued:
        unit = ""  # "5 s" is rare, a stray letter is not
    if second.glued and second.text in ("²", "2", "³", "3") and unit in ("m", "km", "cm"):
        return unit + {"2": "²", "3": "³"}.get(second.text, second.text), index + 2
    return (unit, index + 1) if unit else ("", start)


# Between systems of units: exact by definition, but never taken for the same figure by the
# matcher, because they rarely end after few decimals. Used only where a ledger shows the step.
_ACROSS: dict[str, tuple[str, Fraction]] = {
    "m": ("m", Fraction(1)), "mile": ("m", Fraction("1609.344")), "ft": ("m", Fraction("0.3048")),
    "inch": ("m", Fraction("0.0254")), "g": ("g", Fraction(1)), "lb": ("g", Fraction("453.59237")),
    "m²": ("m²", Fraction(1)), "ha": ("m²", Fraction(10_000)), "km²": ("m²", Fraction(10**6)),
    "ft²": ("m²", Fraction("0.09290304")),
}  # fmt: skip


def convert(value: Fraction, unit: str, target: str) -> Fraction | None:
    """Return *value* in *target* instead of *unit*; None where no exact conversion exists."""
    if (unit, target) == ("°C", "°F"):
        return value * 9 / 5 + 32
    if (unit, target) == ("°F", "°C"):
        return (value - 32) * 5 / 9
    (base, factor), (wanted, divisor) = base_unit(unit), base_unit(target)
    if base != wanted and base in _ACROSS and wanted in _ACROSS:
        (base, more), (wanted, less) = _ACROSS[base], _ACROSS[wanted]
        factor, divisor = factor * more, divisor * less
    return value * factor / divisor if base == wanted else None
