"""Makes claims that two sentences prove together and neither of them proves alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from training.contrast_cases import Group
from training.contrast_templates import drawn, filled, redrawn, slots_of
from training.rows import Row

# The slot that joins the two sentences, first sentences, second sentences, claims.
_FAMILIES: Final = """
site1
{person1} runs the {site1} site. / The {site1} site is run by {person1}. / The head of the {site1} site is {person1}.
The {site1} site closes in {month1} because of {reason1}. / Because of {reason1}, the {site1} site will close in {month1}.
The site that {person1} runs closes in {month1}. / A site run by {person1} will close in {month1}. / In {month1}, the site headed by {person1} closes because of {reason1}.

dept1
{person1} works in {dept1}. / {person1} belongs to the {dept1} team. / {person1} has been a member of {dept1} since {year1}.
Everyone in {dept1} receives {n1} extra days of leave. / All members of {dept1} get {n1} more days of leave.
{person1} receives {n1} extra days of leave. / {person1} gets {n1} additional days of leave.

product1
{product1} is made by {company1}. / {company1} makes {product1}. / The maker of {product1} is {company1}.
{product1} was withdrawn from sale in {year1}. / In {year1}, {product1} was taken off the market.
In {year1}, a product of {company1} was withdrawn from sale. / A product made by {company1} was taken off the market in {year1}.

company1
{company1} has its head office in {city1}. / The head office of {company1} is in {city1}. / {company1} is based in {city1}.
In {year1}, {company2} bought {company1}. / {company1} was acquired by {company2} in {year1}.
{company2} bought a company based in {city1}. / In {year1}, {company2} acquired a company from {city1}.

drug1
{drug1} is a blood thinner. / {drug1} belongs to the group of blood thinners.
{person1} was given {drug1} in {month1}. / In {month1}, {person1} started treatment with {drug1}.
{person1} was given a blood thinner in {month1}. / In {month1}, {person1} was treated with a blood thinner.

drug1
Patients on {drug1} must not drive for {n1} hours after each dose. / After each dose of {drug1}, patients may not drive for {n1} hours.
{person1} is being treated with {drug1}. / {person1} takes {drug1} every evening.
{person1} must not drive for {n1} hours after a dose. / After each dose, {person1} may not drive for {n1} hours.

role1
Orders above {money1} are signed by the {role1}. / The {role1} signs all orders above {money1}.
{person1} has been the {role1} since {month1}. / The {role1} is {person1}. / Since {month1}, the post of {role1} has been held by {person1}.
{person1} signs the orders above {money1}. / Orders above {money1} are signed by {person1}.

person2
{person1} reports to {person2}. / The manager of {person1} is {person2}. / {person2} is the line manager of {person1}.
{person2} reports to {person3}. / The manager of {person2} is {person3}. / {person3} is the line manager of {person2}.
The manager of {person1} reports to {person3}. / {person1}'s manager has {person3} as a line manager.

dept1
{dept1} is on the {quarter1} floor of the {site1} building. / The offices of {dept1} are on the {quarter1} floor of the {site1} building.
{person1} leads {dept1}. / The head of {dept1} is {person1}.
The team that {person1} leads is on the {quarter1} floor of the {site1} building. / {person1} leads a team with offices on the {quarter1} floor of the {site1} building.

product1
The {product1} unit needs {n1} litres of coolant. / {n1} litres of coolant are needed by the {product1} unit.
The machine installed at {site1} in {year1} is a {product1} unit. / In {year1}, {site1} installed a {product1} unit.
The machine installed at {site1} in {year1} needs {n1} litres of coolant. / {site1} installed a machine in {year1} that needs {n1} litres of coolant.

company2
{company1} owns all shares of {company2}. / All shares of {company2} belong to {company1}. / {company2} is wholly owned by {company1}.
{company2} made a profit of {money1} in {year1}. / In {year1}, the profit of {company2} was {money1}.
A company that is wholly owned by {company1} made a profit of {money1} in {year1}. / In {year1}, a company owned by {company1} made a profit of {money1}.

region1
The {site1} site belongs to the {region1} region. / The {region1} region includes the {site1} site.
All sites of the {region1} region were inspected in {month1}. / In {month1}, every site of the {region1} region was inspected.
The {site1} site was inspected in {month1}. / In {month1}, inspectors came to the {site1} site.

city1
{person1} was born in {city1}. / The birthplace of {person1} is {city1}. / {city1} is where {person1} was born.
{company1} was founded in {city1}. / The founders of {company1} started it in {city1}.
{person1} was born in the city where {company1} was founded. / {company1} was founded in the birthplace of {person1}.

date1
The {product1} licence expires on {date1}. / {date1} is the day on which the {product1} licence expires.
{dept1} moves to {city1} on {date1}. / On {date1}, {dept1} moves to {city1}.
The {product1} licence expires on the day on which {dept1} moves to {city1}. / {dept1} moves to {city1} on the day the {product1} licence expires.

person1
{person1} wrote the {product1} report. / The author of the {product1} report is {person1}. / The {product1} report was written by {person1}.
{person1} left {company1} in {year1}. / In {year1}, {person1} resigned from {company1}.
The author of the {product1} report left {company1} in {year1}. / In {year1}, whoever wrote the {product1} report left {company1}.

role1
Every {role1} must hold certificate {n1}. / Certificate {n1} is required of every {role1}.
{person1} was appointed {role1} at {site1}. / At {site1}, {person1} is the {role1}.
{person1} must hold certificate {n1}. / {person1} is required to hold certificate {n1}.
"""
_FILLERS: Final = (
    "The notice was sent to all teams on {day1}.",
    "A copy of the plan hangs in the {site2} hall.",
    "{company3} supplies the office furniture.",
    "The next review takes place in {year2}.",
    "Questions are answered at the front desk.",
    "The {site2} library has {n2} seats.",
    "Lunch is served from {clock1}.",
    "{person4} prepared the minutes of the meeting.",
)


def hop_groups(chance: random.Random, count: int) -> Iterator[Group]:
    """Yield *count* groups of rows, each of one claim.

    Both sentences entail it, in either order and with others between; either one alone, or the two
    with the joint broken, leave it open.
    """
    blocks = [block.splitlines() for block in _FAMILIES.strip().split("\n\n")]
    for turn in range(count):
        joint, *lines = blocks[turn % len(blocks)]
        first, second, claim = (chance.choice(line.split(" / ")) for line in lines)
        filler = "\n".join(chance.sample(_FILLERS, 2))
        fill = drawn(slots_of("\n".join((first, second, claim, filler))), chance)
        broken = {**fill, joint: redrawn(joint, fill, chance)}
        one, two = filled(first, fill, 0, None), filled(second, fill, 0, None)
        apart = filled(second, broken, 0, None)
        here, there = filled(filler, fill, 0, None).split("\n")
        held = [
            f"{one} {two}",
            f"{two} {one}",
            f"{one} {here} {two}",
            f"{there} {two} {one} {here}",
        ]
        open_ones = [
            one,
            two,
            f"{one} {apart}",
            f"{apart} {here} {one}",
            f"{here} {two}",
            f"{one} {there}",
        ]
        said = filled(claim, fill, 0, None)
        yield (
            *(Row("made_hops", text, said, "entailed") for text in chance.sample(held, 2)),
            *(Row("made_hops", text, said, "neutral") for text in chance.sample(open_ones, 2)),
        )
