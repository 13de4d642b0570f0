"""Sentences with open places, in the manner of policies, accounts, clinical notes and tables.

Each block is one form: a line of its flips, the evidence (P) and claims that follow from it (C).
A flip reads ``kind place labels``: *place* names a slot that is drawn anew, two slots joined by +
that are exchanged, or [] for the alternatives in brackets; *labels* are those of the other claim
given the evidence and of the claim given the other evidence (C contradicted, N neutral, - none).
"""

from __future__ import annotations

from typing import Final

FORMS: Final = """
number n1 NN; unit dur1 NN; role role1 NN
P The {role1} answers every written request within {n1} {dur1}.
C Every written request is answered by the {role1} within {n1} {dur1}.
C Within {n1} {dur1}, the {role1} replies to every written request.

money money1 CC; exchange money1+money2 CC
P A {role1} may sign orders of up to {money1}. A {role2} may sign orders of up to {money2}.
C Orders of up to {money1} may be signed by a {role1}.
C A {role1} may sign orders up to {money1}.

exchange money1+money2 CC; money money1 CC
P Role: {role1}; Limit per order: {money1}
P Role: {role2}; Limit per order: {money2}
C The limit per order of a {role1} is {money1}.
C For a {role1} the limit for one order is {money1}.

exchange n1+n2 CC; number n1 CC
P Site: {site1}; Head: {person1}; Desks: {n1}
P Site: {site2}; Head: {person2}; Desks: {n2}
C The {site1} site has {n1} desks.
C There are {n1} desks at the {site1} site.

exchange person1+person2 NN; other_name person1 NN
P Site: {site1}; Head: {person1}; Desks: {n1}
P Site: {site2}; Head: {person2}; Desks: {n2}
C {person1} heads the {site1} site.
C The head of the {site1} site is {person1}.

modality [] N-
P Visitors [may|must] leave their bags with the {role1} at the {site1} gate.
C Visitors [may|must] leave bags with the {role1} at the gate of {site1}.

modality [] CC
P Staff with more than {n1} months of service [may|may not] work from another country.
C Staff [may|may not] work from another country once they have more than {n1} months of service.

qualifier [] N-
P Tools are lent to members for {n1} days[, provided that a deposit of {money1} has been paid|].
C Members can borrow tools for {n1} days.
C Tools are lent to members for {n1} days.

qualifier [] N-
P [Except in the production halls, visitors|Visitors] may take photographs at the {site1} site.
C Visitors may take photographs anywhere at the {site1} site.

qualifier [] N-
P The {dept1} team repays the cost of a taxi [only after {clock1}|at any time].
C The {dept1} team repays the cost of a taxi at any time of day.

qualifier [] N-
P Overtime is paid [only if the {role1} has approved it in writing|whenever it has been worked].
C Overtime is always paid when it has been worked.
C All overtime that has been worked is paid.

qualifier [] N-
P {person1} receives a bonus of {money1} [if the {product1} project is finished by {month1}|this year].
C {person1} will receive a bonus of {money1}.

quantifier [] N-
P [Most|All] of the {dept1} staff completed the safety course in {month1}.
C [Most|All] of the staff in {dept1} completed the safety course in {month1}.
C In {month1}, [most|all] of the {dept1} staff completed the safety course.

quantifier [] CC; date month1 CC
P [All|None] of the lifts at {site1} were inspected in {month1}.
C [All|None] of the lifts at the {site1} site were inspected in {month1}.

quantifier [] NN
P A parcel may contain [at least|at most] {n1} bottles.
C A parcel may hold [at least|at most] {n1} bottles.
C [At least|At most] {n1} bottles may be in one parcel.

quantifier [] CC
P The pump ran for [more than|less than] {n1} hours before it was stopped.
C The pump was stopped after it had run for [more than|less than] {n1} hours.

comparison [] CC; exchange site1+site2 CC
P In {year1}, the {site1} site used [more|less] water than the {site2} site.
C The {site1} site used [more|less] water in {year1} than the {site2} site.

roles site1+site2 CC
P The {site1} plant is larger than the {site2} plant.
C The {site2} plant is smaller than the {site1} plant.
C The {site1} plant is the larger of the two.

roles company1+company2 NN; date year1 CC
P {company1} bought {company2} in {year1}.
C In {year1}, {company2} was acquired by {company1}.
C {company2} was bought by {company1} in {year1}.
C {company1} acquired {company2} in {year1}.

roles company1+company2 NN; money money1 CC
P {company1} sued {company2} over unpaid invoices of {money1}.
C {company2} was sued by {company1} over unpaid invoices.
C {company1} brought a lawsuit against {company2} over invoices of {money1}.

roles person1+person2 NN; date year1 CC
P {person1} succeeded {person2} as head of {dept1} in {year1}.
C {person2} was succeeded by {person1} as head of {dept1}.
C In {year1}, {person1} followed {person2} as head of {dept1}.

roles person1+person2 CC
P {person1} reports to {person2}, who leads {dept1}.
C {person2} leads {dept1}.
C {person2} is the leader of {dept1}.

passive person1+person2 NN
P {person1} trained {person2} at the {site1} site in {month1}.
C {person2} was trained by {person1} at the {site1} site.
C In {month1}, {person2} was trained by {person1}.

negation [] CC
P The warranty of the {product1} [covers|does not cover] damage by frost.
C Frost damage [is|is not] covered by the warranty of the {product1}.
C Damage by frost [is|is not] covered by the {product1} warranty.

negation [] CC; entity product1 NN
P The {product1} [was|was not] tested at temperatures below minus {n1} degrees.
C Tests of the {product1} below minus {n1} degrees [took place|did not take place].

negation [] CC
P {company1} [has paid|has not paid] the fine of {money1}.
C The fine of {money1} [has been|has not been] paid by {company1}.
C {company1} [paid|did not pay] the fine.

antonym [] CC; date year1 CC
P Attendance at {site1} [rose|fell] by {n1} percent in {year1}.
C In {year1}, attendance at {site1} [went up|went down] by {n1} percent.
C Attendance at {site1} [increased|decreased] by {n1} percent in {year1}.
C {site1} saw attendance [grow|shrink] by {n1}% in {year1}.

antonym [] CC; money money1 CC
P {company1} made a [profit|loss] of {money1} in the {quarter1} quarter of {year1}.
C In the {quarter1} quarter of {year1}, {company1} had a [profit|loss] of {money1}.
C {company1} reported a [profit|loss] for the {quarter1} quarter of {year1}.

percent [] CC; number n1 CC
P The operating margin of {company1} rose by {n1} [percentage points|percent] in {year1}.
C In {year1}, {company1}'s operating margin went up by {n1} [percentage points|percent].

percent [] CC
P The board raised the interest rate on staff loans by {n1} [percent|percentage points].
C The interest rate on staff loans was raised by {n1} [percent|percentage points].
C The board increased the rate on staff loans by {n1} [percent|percentage points].

percent [] CC; number n1 CC; antonym dir1 CC
P The share of late trains {dir1} by {n1} [percentage points|percent] between {year1} and the following year.
C The share of late trains {dir1} by {n1} [percentage points|percent] after {year1}.

currency cur1 CC; number amount1 CC
P The fee for a second {product1} licence is {amount1} {cur1}.
C A second {product1} licence costs {amount1} {cur1}.
C For a second licence of {product1}, a fee of {amount1} {cur1} is charged.

currency cur1 CC; date year1 CC; number amount1 CC
P In {year1}, {company1} had revenue of {amount1} million {cur1} and employed {n1} people.
C {company1} had revenue of {amount1} million {cur1} in {year1}.
C Revenue of {company1} in {year1} was {amount1} million {cur1}.
C In {year1}, {company1} took in {amount1} million {cur1}.

exchange money1+money2 CC; exchange year1+year2 NN
P Revenue of {company1} was {money1} in {year1} and {money2} in {year2}.
C {company1} had revenue of {money1} in {year1}.
C In {year2}, the revenue of {company1} was {money2}.

exchange n1+n2 CC
P The workforce of {company1} went from {n1} to {n2} people in {year1}.
C After {year1}, {company1} employed {n2} people.
C At the start of {year1}, {company1} employed {n1} people.

unit mass1 CC; number n1 CC; entity drug1 NN
P The usual starting dose of {drug1} is {n1} {mass1} once a day.
C Treatment with {drug1} usually starts at {n1} {mass1} once daily.
C {drug1} is usually started at {n1} {mass1} a day.
C The usual first dose of {drug1} is {n1} {mass1} daily.

qualifier [] N-; number n1 CC
P {drug1} {n1} mg may be given to [patients over {n2} years of age|all patients].
C All patients may be given {drug1} {n1} mg.
C {drug1} {n1} mg may be given to patients of any age.

negation [] CC; entity drug1 NN
P {drug1} [must not be|may be] combined with {drug2}.
C Combining {drug1} with {drug2} [is not allowed|is allowed].
C {drug1} and {drug2} [must not|may] be taken together.

exchange drug1+drug2 NN
P {drug1} is taken before meals; {drug2} is taken at bedtime.
C {drug1} is taken before meals.
C {drug2} is to be taken at bedtime.

exchange pct1+pct2 CC; number pct1 CC
P Nausea was seen in {pct1} of patients on {drug1} and in {pct2} of those on placebo.
C {pct1} of the patients who took {drug1} had nausea.
C Nausea occurred in {pct2} of patients on placebo.

unit dur1 CC; antonym [] CC
P An opened bottle of {drug1} keeps for {n1} {dur1} [in a refrigerator|at room temperature].
C Once opened, {drug1} keeps for {n1} {dur1} [when refrigerated|when kept at room temperature].

modality [] N-
P The drop in blood pressure [may be|is] caused by {drug1}.
C {drug1} [may cause|causes] the drop in blood pressure.

modality [] N-
P Kidney tests every {n1} weeks are [recommended|required] during treatment with {drug1}.
C During treatment with {drug1}, kidney tests every {n1} weeks are [recommended|required].

modality [] N-
P {company1} [plans to open|opened] a plant in {city1} in {year1}.
C {company1} [plans|opened] a plant in {city1}.

entity city1 NN; date date1 CC; number n1 CC
P The {product1} workshop for {n1} guests takes place in {city1} on {date1}.
C On {date1}, {n1} guests attend the {product1} workshop in {city1}.
C {city1} is where the {product1} workshop takes place on {date1}.
C The {product1} workshop is on {date1}.

date date1 CC; other_name person1 NN
P {person1} signed the lease for the {site1} site on {date1}.
C The lease for the {site1} site was signed by {person1} on {date1}.
C {person1} signed the {site1} lease on {date1}.

comparison [] CC; date month1 CC
P Claims must reach the {dept1} office [before|after] the end of {month1}.
C The {dept1} office must receive claims [before|after] the end of {month1}.

date day1 CC; exchange day1+day2 CC
P The {dept1} desk closes at noon on {day1} and at six on {day2}.
C On {day1}, the {dept1} desk closes at noon.
C The {dept1} desk closes at six on {day2}.

exchange clock1+clock2 CC; negation [] CC
P The {site1} canteen opens at {clock1} and closes at {clock2}. It [is|is not] open on public holidays.
C The canteen at {site1} opens at {clock1}.
C The canteen at {site1} [is|is not] open on public holidays.

number n1 CC; unit power1 CC
P The wind farm near {city1} has {n2} turbines and delivers {n1} {power1}.
C {n1} {power1} are delivered by the wind farm near {city1}.
C The wind farm near {city1} delivers {n1} {power1}.

number n1 CC; unit far1 CC; entity city1 NN
P The new cable runs {n1} {far1} from {city1} to {city2}.
C The cable from {city1} to {city2} is {n1} {far1} long.

conjunct [] -N
P The insurance of the {site1} site covers theft[ and water damage|].
C The {site1} site is insured against theft[ and against water damage|].

conjunct [] -N; other_name person1 NN
P {person1}[ and {person2}|] approved the budget of {dept1}.
C The budget of {dept1} was approved by {person1}[ and {person2}|].

hierarchy [] N-
P A grant of {money1} is shared by [two of the three|all three] workshops in {city1}.
C All three workshops in {city1} share a grant of {money1}.

exception [] CN
P Every member pays the yearly fee of {money1}[, except honorary members|, honorary members included].
C Honorary members [do not have to|have to] pay the yearly fee.

threshold [] CC; money money1 CC
P Invoices [above|below] {money1} need two signatures.
C Two signatures are needed on invoices [above|below] {money1}.
"""
