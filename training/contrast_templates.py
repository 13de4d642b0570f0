"""Fills the forms with made-up names, dates and amounts, and flips one place of each."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Final

from training.contrast_cases import Case
from training.contrast_edits import other_number
from training.contrast_forms import FORMS
from training.contrast_swap import drawing
from training.contrast_words import MONTHS, NAMES, WEEKDAYS, listed
from training.rows import RowLabel

Fill = dict[str, tuple[str, ...]]  # a slot's value, in one or more ways of writing it

_LISTS: Final[dict[str, tuple[str, ...]]] = {
    kind: tuple(part.strip() for part in text.split(","))
    for kind, text in {
        "role": "duty officer, team lead, store keeper, site manager, deputy director, clerk, "
        "registrar, head nurse, treasurer, shift supervisor, board member, porter, auditor",
        "dept": "Logistics, Customer Care, Research, Catering, Purchasing, Archives, Fleet, "
        "Maintenance, Legal Affairs, Publishing, Admissions, Quality Control, Payroll, Estates",
        "site": "Brackley, Oststadt, Millbank, Kerrin, Fallowfield, Lindholm, Parkside, Redcliff, "
        "Old Mill, Westhaven, Varna Road, Kingsmead, Ferndale, Port Elis, Torrance, Hillcrest",
        "product": "Argon, Lantern, Solara, Quillet, Navis, Pelican, Trident, Tundra, Saffron, Juno, "
        "Meridian, Falcon, Mistral, Orbit, Lyric, Cirrus",
        "company": "Delmont Foods, Karsten Rail, Gablonz Glass, Redwing Media, Lumo Energy, "
        "Greyfriars Bank, Harwood Shipping, Serin Health, Norden Paper, Bellamy Homes, "
        "Rowe & Daughters, Hexacore, Maripol, Curlew Air, Union Dairies, Zellweger Tools",
        "drug": "Atrovin, Lumadol, Peraxil, Corbitan, Sanefrin, Dolvatine, Merucade, Oxilene, "
        "Tavorin, Brevolan, Nestamol, Zircadine",
        "dur": "days, weeks, months, hours, working days",
        "mass": "mg, g, micrograms, ml",
        "power": "MW, GW, kW",
        "far": "km, miles, metres",
        "cur": "euros, dollars, pounds, Swiss francs",
        "quarter": "first, second, third, fourth",
        "region": "northern, southern, eastern, western, central, coastal",
        "dir": "rose, fell",
        "clock": "6 a.m., 7 a.m., 8 a.m., 9 a.m., 10 a.m., 5 p.m., 6 p.m., 8 p.m., 9 p.m., 10 p.m.",
        "reason": "a shortage of staff, a delayed delivery, repairs to the roof, new fire rules, "
        "a strike at the port, a fall in demand, the new tax law, a power failure",
    }.items()
}
_SURNAMES: Final = listed("""
    Achebe Brunner Carvalho Dufour Eriksen Fontaine Grady Hosseini Ito Jankowski Kovacs
    Lindholm-Berg Mercier Nakamura Obi Petrov Quiroga Rossi Sato Tanaka Ueda Vargas Weiss Yilmaz
    Zeman
    """)
_FIRST: Final = (
    *NAMES["first name"],
    *NAMES["woman's name"],
    "Amina",
    "Ravi",
    "Mei",
    "Omar",
    "Ana",
)


def _draw(kind: str, chance: random.Random) -> tuple[str, ...]:
    if kind in _LISTS:
        return (chance.choice(_LISTS[kind]),)
    if kind == "person":
        return (f"{chance.choice(_FIRST)} {chance.choice(_SURNAMES)}",)
    if kind == "city":
        return (chance.choice(NAMES["city"]),)
    if kind == "year":
        return (str(chance.randint(1985, 2031)),)
    if kind == "month":
        return (chance.choice(MONTHS),)
    if kind == "day":
        return (chance.choice(WEEKDAYS),)
    if kind == "n":
        return (str(chance.choice((*range(3, 31), 36, 40, 45, 48, 50, 60, 72, 80, 90, 120))),)
    if kind == "pct":
        number = chance.choice((chance.randint(2, 60), chance.randint(11, 399) / 10))
        return f"{number} percent", f"{number}%"
    if kind == "amount":
        return (f"{chance.choice((chance.randint(12, 980), chance.randint(4, 96) * 50)):,}",)
    if kind == "date":
        day, month, year = chance.randint(1, 28), chance.randrange(12), chance.randint(1998, 2031)
        name = MONTHS[month]
        return f"{day} {name} {year}", f"{name} {day}, {year}", f"{year}-{month + 1:02d}-{day:02d}"
    if kind == "money":
        number = chance.choice((chance.randint(2, 90) * 50, chance.randint(2, 60) * 500))
        return f"EUR {number:,}", f"{number:,} euros", f"€{number:,}", f"{number} euros"
    message = f"no such slot: {kind}"
    raise KeyError(message)


def _kind(slot: str) -> str:
    return slot.rstrip("0123456789")


def drawn(slots: list[str], chance: random.Random) -> Fill:
    """Draw a value for every slot, no two the same for slots of one kind."""
    fill: Fill = {}
    for slot in slots:
        fill[slot] = redrawn(slot, fill, chance)
    return fill


def redrawn(slot: str, fill: Fill, chance: random.Random) -> tuple[str, ...]:
    """Draw a value for *slot* that no slot of *fill* has; near the old one for a number."""
    taken = {value[0] for value in fill.values()}
    if slot in fill and _kind(slot) in {"n", "year"}:
        near = (
            other_number(fill[slot][0], chance)
            if _kind(slot) == "n"
            else _near_year(fill, slot, chance)
        )
        if near not in taken:
            return (near,)
    for _ in range(60):
        value = _draw(_kind(slot), chance)
        words = set(value[0].split()) if _kind(slot) == "person" else {value[0]}
        if not any(words & ({*t.split(), t}) for t in taken) or (
            _kind(slot) == "money" and value[0] not in taken
        ):
            return value
    return _draw(_kind(slot), chance)


def _near_year(fill: Fill, slot: str, chance: random.Random) -> str:
    return str(int(fill[slot][0]) + chance.choice((-4, -2, -1, 1, 2, 5)))


_SLOT: Final = re.compile(r"\{(\w+)\}")
_BRACKET: Final = re.compile(r"\[([^\[\]|]*)\|([^\[\]|]*)\]")


def slots_of(text: str) -> list[str]:
    """Return the names of the open places of *text*."""
    return sorted(set(_SLOT.findall(text)))


def filled(text: str, fill: Fill, side: int, chance: random.Random | None) -> str:
    """Fill *text*: *side* picks in each bracket, *chance* the way of writing (None: the first)."""
    text = _BRACKET.sub(lambda match: match[side + 1], text)

    def put(match: re.Match[str]) -> str:
        ways = fill[match[1]]
        return chance.choice(ways) if chance else ways[0]

    text = re.sub(r"\b([Aa]) (?=[AEIOUaeiou])", r"\1n ", _SLOT.sub(put, text))
    text = text.replace("m..", "m.")  # a time of day at the end of a sentence
    return text[0].upper() + text[1:]


_LABELS: Final[dict[str, RowLabel | None]] = {"C": "contradicted", "N": "neutral", "-": None}
_NAMES_OF_KINDS: Final = {
    "money": "number", "role": "entity", "other_name": "entity", "hierarchy": "quantifier",
    "exception": "qualifier", "threshold": "comparison",
}  # fmt: skip


def template_cases(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield about *count* cases, every form and every flip of it about equally often."""
    forms = [block.splitlines() for block in FORMS.strip().split("\n\n")]
    flips = [(lines, flip.split()) for lines in forms for flip in lines[0].split("; ")]
    for turn in range(count):
        lines, (kind, place, labels) = flips[turn % len(flips)]
        case = _case(lines[1:], kind, place, labels, chance)
        if case is not None:
            yield case


def _case(
    lines: list[str], kind: str, place: str, labels: str, chance: random.Random
) -> Case | None:
    premise = "\n".join(line[2:] for line in lines if line.startswith("P "))
    claim = chance.choice([line[2:] for line in lines if line.startswith("C ")])
    fill = drawn(slots_of("\n".join(lines)), chance)
    other, side = dict(fill), 0
    if place == "[]":
        side = 1
    elif "+" in place:
        one, two = place.split("+")
        other[one], other[two] = fill[two], fill[one]
    else:
        other[place] = redrawn(place, fill, chance)
    ways = chance.random()  # the same ways of writing on either side
    said = filled(claim, fill, 0, drawing(ways))
    other_said = filled(claim, other, side, drawing(ways))
    if place != "[]" and said == other_said:
        return None  # the claim does not speak of the place
    one, two = filled(premise, fill, 0, None), filled(premise, other, side, None)
    forth, back = (_LABELS[label] for label in labels)
    if said == other_said:  # one claim for both texts: it follows from the second alone
        return Case(f"form_{_NAMES_OF_KINDS.get(kind, kind)}", one, "", two, said, forth, None)
    return Case(f"form_{_NAMES_OF_KINDS.get(kind, kind)}", one, said, two, other_said, forth, back)
