"""A table of claims with evidence: what the word aligner may and may not call entailed."""

from __future__ import annotations

import pytest
from fakes import AlignedWords

from certirag.ports import Pair

# Claim | evidence | context (may be missing).
ENTAILED = """
The trip takes 90 minutes. | The trip takes 1.5 hours.
Full-time employees receive 27 days of leave. | Full-time employees receive 27 days of leave.
Theft must be reported within 24 hours. | Theft must be reported within 24 hours.
The hotline is open 24 hours a day. | The hotline is run by an external company and is open 24 hours a day.
The hotline is run by an external company. | The hotline is run by an external company and is open 24 hours a day.
Harbour tours start at 9:30. | Harbour tours begin at 9:30.
Elmdale has 120 parking spaces, and eight of these have a charging point. | Elmdale has 120 parking spaces, of which eight have a charging point.
Damage from a leaking roof is not covered. | Damage from flood, groundwater or a leaking roof is not covered.
Costs fell by 41% in the northern group. | Costs fell by 41% in the northern group and by 17% in the southern group.
Costs fell by 17% in the southern group. | Costs fell by 41% in the northern group and by 17% in the southern group.
Beta was acquired by Alpha. | Alpha acquired Beta.
Dogs are chased by cats. | Cats chase dogs.
Cash in a locked safe is covered up to €2,500. | Cash is covered up to €2,500 if it was kept in a locked safe.
The meeting lasted 2 hours. | The meeting lasted two hours.
The grant is worth $1.5 million. | The grant is worth $1,500,000.
Laptops are encrypted. | All laptops are encrypted.
The warranty covers parts. | The warranty covers parts and labour.
Refunds are granted within 30 days unless the item was on sale. | Refunds are granted within 30 days, unless the item was on sale.
The plant in Bergen makes valves. | The plant in Oslo makes pumps and the plant in Bergen makes valves.
Employees buy the tickets in the portal. | Employees purchase the tickets in the portal.
The lease lasts at most 36 months. | The lease lasts no longer than 36 months.
Visitors must wear a badge. | Visitors have to wear a badge.
The limit for water damage is €400,000 per event. | The limit is €400,000 per event. | Insurance › Water damage
It must be signed by the tutor. | It must be signed by the tutor.
Reports are kept for 25 years. | Reports are kept for 25 years, because the law requires it.
The museum is closed on Mondays. | The museum (built in 1911) is closed on Mondays.
Salaries are paid on the 25th of each month. | Salaries are paid on the 25th of every month.
The board approved the budget on 9 February 2024. | The budget was approved by the board on 9 February 2024.
Printers are not supplied. | Printers aren't supplied.
Mirelle Oakes chairs the audit committee. | Questions go to Mirelle Oakes, who chairs the audit committee.
Revenue was $288.7 million. | Revenue was $288.7 million, up 14.3% from $252.6 million a year earlier.
The Orchard trial enrolled 1,248 adults. | The trial enrolled 1,248 adults. | Orchard trial: summary
Parking is free in Elmdale. | Parking is free in Elmdale and Skarby.
A team lead may approve hardware up to 2500 EUR. | Role: Team Lead; Category: Hardware; Approval limit (EUR): 2500
For 2 to 5 years of service, notice by the employee is 1 month. | Length of service: 2 to 5 years; Notice by the employee: 1 month; Notice by the firm: 2 months
According to the Travel Handbook, trains are booked in second class. | Trains are booked in second class. | Travel Handbook › Rail
The lease ended on 30 June 2025. | The lease ended on 2025-06-30.
The tower has 1 048 steps. | The tower has 1,048 steps.
The plant supplies 45% of the heat. | The plant supplies 45 per cent of the heat.
The oven reaches 250 °C. | The oven reaches 250 degrees Celsius.
Revenue in Q3 2023 was $5 million. | Revenue in the third quarter of 2023 was $5 million.
The patent was filed in Sept. 2018. | The patent was filed in September 2018.
Power will be cut on 8 April 2025. | Power will be cut on Tuesday, 8 April 2025.
Oakfield Catering runs the canteen. | The canteen is run by Oakfield Catering.
The nurse calls the duty doctor if a patient faints. | If a patient faints, the nurse calls the duty doctor.
The compressor failed at noon. | The compressor failed at noon and the stock was moved to Leith.
The release fixes the login bug. | The release adds dark mode and fixes the login bug.
The festival closed on Sunday. | The festival opened on Friday and closed on Sunday.
Residents are not allowed to park in the yard. | Residents are forbidden to park in the yard.
"""
UNSUPPORTED = """
Managers must approve overtime. | Managers may approve overtime.
Managers may approve overtime. | Managers must approve overtime.
Ibuprofen reduces pain. | Ibuprofen may reduce pain.
Ibuprofen reduces pain. | Ibuprofen should reduce pain.
The agency closed the mill. | The agency claimed the firm opened the mine and closed the mill.
The stock is moved. | The plan assumes the pump fails and the stock is moved.
The nurse calls the doctor. | If a patient faints, the nurse calls the doctor.
A patient faints if the nurse calls the doctor. | If a patient faints, the nurse calls the doctor.
The nurse waits if a patient faints. | Unless a patient faints, the nurse waits.
The nurse leaves before the doctor signs. | Before the nurse leaves, the doctor signs.
The canteen runs Oakfield Catering. | The canteen is run by Oakfield Catering.
Oakfield Catering is run by the canteen. | Oakfield Catering runs the canteen.
The shop sells tickets on Wednesday, 8 April 2025. | The shop sells tickets on Tuesday, 8 April 2025.
The compressor failed. | The compressor failed only once and the stock was moved.
The firm closed on Sunday. | The bank that the firm sued opened on Friday and closed on Sunday.
Residents are allowed to park. | Residents are forbidden to park.
Revenue in Q4 2023 was $5 million. | Revenue in the third quarter of 2023 was $5 million.
Revenue in 2023 was $5 million. | Revenue in Q3 2023 was $5 million.
Staff must finish within 10 days. | Staff must finish within 10 working days.
Rent is €120. | Rent is €120 per night.
Water damage is covered. | Water damage is covered only if it is caused by burst pipes.
The policy covers water damage. | The policy covers water damage only from burst pipes.
Dogs are allowed in the office. | Dogs are allowed in the office on Fridays only.
The allowance is paid. | The allowance is paid only against receipts.
Minors may enter. | Minors may enter if accompanied by an adult.
The drug is safe. | The drug is safe except in pregnancy.
Refunds are granted within 30 days. | Refunds are granted within 30 days unless the item was on sale.
The office is closed. | The office is closed until Monday.
Panels are covered against hail. | Panels are covered against hail, but only if the grains are larger than two centimetres.
Two-factor login is mandatory. | Two-factor login is mandatory for administrator accounts.
Alcohol is reimbursed. | Alcohol is reimbursed when a client dinner has been approved.
The tax applies to imports. | The tax applies to imports from Asia.
The tax applies to imports from Asia. | The tax applies to imports.
Nurses administer vaccines. | Trained nurses administer vaccines.
Laptops are covered up to €2,000 each. | Laptops are covered up to €2,000 each, but not if they were left in a vehicle.
The deductible is €1,500 for every claim. | The deductible is €1,500 per claim, but for storm damage it is €5,000.
All employees can work remotely. | Employees who have passed their probation can work remotely.
Employees can work remotely. | Employees who have passed their probation can work remotely.
Staff are rarely late. | Staff are often late.
Employees must not take leave in December. | Employees need not take leave in December.
Ibuprofen reduces pain. | Ibuprofen does not always reduce pain.
Alpha acquired Beta. | Beta acquired Alpha.
Beta was acquired by Alpha. | Beta acquired Alpha.
The bank lends money to the company. | The company lends money to the bank.
Paris is larger than London. | London is larger than Paris.
Cats chase dogs. | Dogs chase cats.
Anna manages Ben. | Ben manages Anna.
Anna reports to Ben. | Ben reports to Anna.
The plant in Oslo makes valves. | The plant in Oslo makes pumps and the plant in Bergen makes valves.
Costs fell by 17% in the northern group. | Costs fell by 41% in the northern group and by 17% in the southern group.
The reduction is €22 for breakfast. | The reduction is €11 for breakfast and €22 for lunch or dinner.
Ten of the twelve machines failed. | Two of the twelve machines failed.
Restated profit is $40.1 million. | Restated profit is $36.5 million, not $40.1 million.
Profit rose from 12 million to 10 million. | Profit rose from 10 million to 12 million.
Revenue rose to 5%. | Revenue rose by 5%.
The fee is $40. | The fee is €40.
An advance of up to $500 is available. | An advance of up to €500 is available.
Tablets contain 5 mg. | Tablets contain 5 mcg.
The lease runs for 36 weeks. | The lease runs for 36 months.
The grant is worth $1.5 billion. | The grant is worth $1.5 million.
At least 20 people attended. | At most 20 people attended.
More than 20 people attended. | At least 20 people attended.
The review takes place after 3 May 2024. | The review takes place before 3 May 2024.
The review takes place on 3 June 2024. | The review takes place on 3 May 2024.
The licence ends in 2025. | The licence ends in 2024.
The core hours end at 15:00. | The core hours end at 16:00.
Forms are submitted after the trip. | Forms are submitted before the trip.
The average age was 46 years. | The maximum age was 46 years.
Patients over 65 need an ECG. | Patients under 65 need an ECG.
The plan was approved. | The plan was expected to be approved.
The company will open a plant in Oslo. | The company plans to open a plant in Oslo.
The company closed the plant. | Lee denied that the company closed the plant.
The company closed the plant. | Lee said that the company closed the plant.
The court dismissed the claim. | The court was asked to dismiss the claim.
The rate is 5 percent. | The rate was 5 percent until 2020.
Smith won the prize. | Smith's brother won the prize.
Mr. Vale signed the contract. | Ms. Oda signed the contract.
The contract was signed by Vale. | The contract was not signed by Vale but by Oda.
The insurer is Clearwell Mutual. | The insurer is Northmoor Mutual.
Contractors are exempt from training. | Contractors must complete the training.
The pump stops. | The pump stops automatically when the tank is full.
Employees are dismissed. | If employees steal, they are dismissed.
The cable connects the pump without a valve. | The cable connects the pump with a valve.
Only managers may sign. | Managers may sign.
Theft is covered if there are signs of forced entry. | Theft is covered only if there are signs of forced entry.
Interest is paid in June. | Interest is neither paid in June nor in July.
Adults must carry a card. | Children must carry a card.
The employee pays the employer. | The employer pays the employee.
Voters chose red. | Voters chose red or blue.
Gilbert coached Franklin College. | Gilbert coached Franklin and Marshall College.
The song is called "Hope". | The song is called "Hope and Glory".
The mayor called it "safe". | The mayor called it "almost safe".
The discography consists of twelve albums. | The discography consists of twelve albums and six singles.
Cadmium is a compound of chlorine. | Cadmium is a compound of sulphur and chlorine.
For 2 to 5 years of service, notice by the employee is 2 months. | Length of service: 2 to 5 years; Notice by the employee: 1 month; Notice by the firm: 2 months
A team lead may approve up to 2500 EUR. | Role: Team Lead; Category: Hardware; Approval limit (EUR): 2500
According to the Purchasing Guide, trains are booked in second class. | Trains are booked in second class. | Travel Handbook › Rail
According to the Rail Guide, trains are booked in second class. | Trains are booked in second class. | Travel Handbook › Rail Guide
Employees receive 24 days of leave. | Employees receive 24 days of leave. | Leave Policy 2023 (superseded)
Foster parents receive 20 weeks of leave. | Birth parents receive 20 weeks of leave.
The canteen in Oslo serves lunch. | The canteen in Bergen serves lunch.
Storm damage is covered. | Fire damage is covered. | Insurance › Fire and storm
"""
CONTRADICTED = """
Codes sent by text message are accepted. | Codes sent by text message are not accepted.
Codes sent by text message are not accepted. | Codes sent by text message are accepted.
Full-time employees receive 30 days of leave. | Full-time employees receive 27 days of leave.
Sales increased in May. | Sales decreased in May.
Overtime at weekends is paid. | Overtime at weekends is unpaid.
The fund excludes tobacco companies. | The fund includes tobacco companies.
Standard accounts require a second factor. | Standard accounts do not require a second factor.
Interest is paid on deposits. | No interest is paid on deposits.
Liver enzymes are measured every 12 weeks during the first year. | Liver enzymes are measured every 8 weeks during the first year.
Customer retention in Software was 94% in 2024. | Customer retention in Software was 91% in 2024.
The lease ends on 30 July 2025. | The lease ends on 2025-06-30.
Server backups are kept for 53 days. | Server backups are kept for 35 days.
"""
RELATED = """
Commuting is not a business trip. | A business trip is a journey of more than 30 kilometres. | Travel handbook
Its operating profit was $98.2 million. | Operating profit for 2024 was $160.6 million. | Annual report
Operating profit of the segment was $71.4 million. | The segment's operating profit was $4.5 million. | Third quarter report
Brightmoor plc, 24 February 2025 | Brightmoor plc was founded in Leeds in 1961.
Ferrow Analytics contributed $5.2 million of this. | Ferrow Analytics contributed $11.4 million of that.
Ferrow Analytics contributed $5.2 million. | Ferrow Analytics contributed $11.4 million. | Quarterly report, third quarter 2024
The lease ends on 5 June 2025. | The lease ends on 06/05/2025.
A partner receives six weeks of leave. | A partner receives five days of leave after a bereavement.
Carried-over days expire on 31 March. | Days that could not be taken because of illness expire on 31 December.
Passwords of standard accounts have 14 characters. | Passwords of administrator accounts have 20 characters.
Employees in Oslo receive 25 days of leave. | Employees in Bergen receive 28 days of leave.
Revenue for 2024 was $10 million. | Revenue for 2023 was $8 million.
Parental leave lasts 20 weeks. | Study leave lasts two weeks.
Sales decreased in May. | Sales did not increase in May.
Employees receive 27 days of leave. | Employees receive 24 days of leave. | Leave Policy 2023 (superseded)
"""
THRESHOLDS = (0.85, 0.70)


def _rows(table: str) -> list[tuple[str, str, str]]:
    rows = []
    for line in table.strip().splitlines():
        claim, evidence, *context = (part.strip() for part in line.split(" | "))
        rows.append((claim, evidence, context[0] if context else ""))
    return rows


@pytest.fixture(scope="module")
def verifier() -> AlignedWords:
    """What the word aligner says, without a network."""
    return AlignedWords()


@pytest.mark.parametrize("row", _rows(ENTAILED))
def test_supported_claims_are_entailed(verifier: AlignedWords, row: tuple[str, ...]) -> None:
    """Verbatim support and plain paraphrase pass the default threshold uncontradicted."""
    judgement = verifier.judge([Pair(*row)])[0]
    assert judgement.entailed >= THRESHOLDS[0]
    assert judgement.contradicted < 0.2


@pytest.mark.parametrize("row", _rows(UNSUPPORTED))
def test_changed_claims_are_never_entailed(verifier: AlignedWords, row: tuple[str, ...]) -> None:
    """A claim that says other or more than its evidence stays at or below one half."""
    assert verifier.judge([Pair(*row)])[0].entailed <= 0.5


@pytest.mark.parametrize("row", _rows(CONTRADICTED))
def test_opposed_claims_are_contradicted(verifier: AlignedWords, row: tuple[str, ...]) -> None:
    """Same subject with opposite polarity, opposite word or other figure is a contradiction."""
    judgement = verifier.judge([Pair(*row)])[0]
    assert judgement.label == "contradicted"
    assert judgement.contradicted >= THRESHOLDS[1]


@pytest.mark.parametrize("row", _rows(RELATED))
def test_related_evidence_is_no_contradiction(verifier: AlignedWords, row: tuple[str, ...]) -> None:
    """Evidence about another group, place, year or an old version neither supports nor opposes."""
    judgement = verifier.judge([Pair(*row)])[0]
    assert judgement.entailed <= 0.5
    assert judgement.contradicted < THRESHOLDS[1]


def test_table_is_large_and_half_negative() -> None:
    """The table keeps at least 120 pairs, half of them not entailed."""
    negative = sum(len(_rows(table)) for table in (UNSUPPORTED, CONTRADICTED, RELATED))
    assert negative + len(_rows(ENTAILED)) >= 120
    assert negative >= 60
