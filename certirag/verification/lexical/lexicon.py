"""What is written down of words, by hand: fixed expressions, synonyms, and pairs of opposites.

Fixed expressions count as one word: comparators, markers, idioms, contractions. Synonyms may stand
for one another in plain factual prose; words left of a bar oppose those right of it.
"""

from __future__ import annotations

from typing import Final

# Comparators that stand before a quantity (or, the second table, after it).
COMPARATORS: Final[dict[str, str]] = {
    "up to": "le", "at most": "le", "no more than": "le", "not more than": "le",
    "no longer than": "le", "not longer than": "le", "no later than": "le", "a maximum of": "le",
    "maximum of": "le", "max": "le", "not exceed": "le", "not exceeding": "le", "limited to": "le",
    "as many as": "le", "as much as": "le", "not above": "le", "at the most": "le",
    "not older than": "le", "no older than": "le", "a limit of": "le", "capped at": "le",
    "at least": "ge", "a minimum of": "ge", "minimum of": "ge", "no less than": "ge",
    "no fewer than": "ge", "not less than": "ge", "not fewer than": "ge", "min": "ge",
    "at the least": "ge", "not below": "ge", "not younger than": "ge",
    "more than": "gt", "over": "gt", "above": "gt", "exceeding": "gt", "exceeds": "gt",
    "exceed": "gt", "greater than": "gt", "larger than": "gt", "longer than": "gt",
    "higher than": "gt", "older than": "gt", "in excess of": "gt", "beyond": "gt",
    "less than": "lt", "fewer than": "lt", "under": "lt", "below": "lt", "lower than": "lt",
    "shorter than": "lt", "younger than": "lt", "smaller than": "lt",
    "within": "within", "in the first": "within",
    "about": "about", "around": "about", "approximately": "about", "roughly": "about",
    "nearly": "about", "almost": "about", "some": "about", "circa": "about", "exactly": "eq",
    "precisely": "eq",
}  # fmt: skip
COMPARATORS_AFTER: Final[dict[str, str]] = {
    "or more": "ge", "or longer": "ge", "or older": "ge", "or above": "ge", "or later": "ge",
    "and older": "ge", "and above": "ge", "and over": "ge", "and more": "ge", "or over": "ge",
    "or higher": "ge", "or greater": "ge", "or larger": "ge", "and up": "ge", "or less": "le",
    "or fewer": "le", "or younger": "le", "or below": "le", "or lower": "le", "or shorter": "le",
    "and younger": "le", "and below": "le", "at the latest": "le", "at most": "le",
    "at least": "ge", "at the earliest": "ge", "maximum": "le", "minimum": "ge",
}  # fmt: skip

# Idioms, longest first when matched; the value replaces the words.
IDIOMS: Final[dict[str, str]] = {
    "provided that": "provided", "on condition that": "provided", "as long as": "provided",
    "so long as": "provided", "on the condition that": "provided", "only if": "only if",
    "in case of": "during", "in the case of": "during", "in the event of": "during",
    "in the event that": "if", "in case": "if", "even if": "although", "even though": "although",
    "even when": "although", "because of": "due", "due to": "due", "owing to": "due",
    "as well as": "and", "as soon as": "after", "as well": "also", "along with": "and",
    "together with": "and", "in addition to": "and", "other than": "except",
    "apart from": "except", "with the exception of": "except", "except for": "except",
    "aside from": "except", "free of charge": "free", "at no cost": "free", "for free": "free",
    "at no charge": "free", "take place": "occur", "takes place": "occurs",
    "took place": "occurred", "taken place": "occurred", "carried out": "conducted",
    "carry out": "conduct", "carries out": "conducts", "set up": "establish",
    "comes into force": "begins", "came into force": "began", "took effect": "began",
    "takes effect": "begins", "take effect": "begin", "in force": "valid", "in effect": "valid",
    "in writing": "written", "by hand": "manually", "in advance": "beforehand",
    "ahead of": "before", "prior to": "before", "following the": "after the",
    "subsequent to": "after", "each year": "per year", "every year": "per year",
    "annually": "per year", "yearly": "per year", "a year": "per year", "daily": "per day",
    "a day": "per day", "every day": "per day", "each day": "per day", "a week": "per week",
    "weekly": "per week", "every week": "per week", "each week": "per week",
    "a month": "per month", "monthly": "per month", "every month": "per month",
    "each month": "per month", "quarterly": "per quarter", "every quarter": "per quarter",
    "each quarter": "per quarter", "hourly": "per hour", "every hour": "per hour",
    "nightly": "per night", "every night": "per night", "each night": "per night",
    "a night": "per night", "an hour": "per hour", "for each": "per", "for every": "per every",
    "one time": "once", "two times": "twice", "one-time": "once", "one-off": "once",
    "single": "one", "have to": "have_to", "has to": "have_to", "had to": "have_to",
    "having to": "have_to", "need to": "need_to", "needs to": "need_to",
    "needed to": "need_to", "is required to": "be_required", "are required to": "be_required",
    "are obliged to": "be_required", "is obliged to": "be_required",
    "was required to": "be_required", "were required to": "be_required",
    "is allowed to": "be_allowed", "are allowed to": "be_allowed",
    "is permitted to": "be_allowed", "are permitted to": "be_allowed",
    "is able to": "be_able", "are able to": "be_able", "was able to": "be_able",
    "not allowed to": "not be_allowed", "not permitted to": "not be_allowed",
    "forbidden to": "not be_allowed", "forbidden from": "not be_allowed",
    "prohibited from": "not be_allowed", "not required to": "not be_required", "not obliged to": "not be_required",
    "not have to": "not have_to", "fails to": "does not", "failed to": "did not",
    "fail to": "do not", "refuses to": "does not", "refused to": "did not",
    "no longer": "not longer_now", "any longer": "longer_now", "no more": "not longer_now",
    "may or may not": "might", "nothing but": "only", "none but": "only", "rather than": "not", "instead of": "not", "such as": "like", "so that": "so_that",
    "in order to": "to", "according to": "per_source", "in accordance with": "per_source",
    "as per": "per_source", "under the terms of": "per_source", "as stated in": "per_source",
    "2fa": "two-factor authentication", "mfa": "multi-factor authentication",
    "round the clock": "all-day", "around the clock": "all-day",
    "day and night": "all-day", "line manager": "linemanager", "e-mail": "email",
    "e-mails": "emails", "sign in": "login", "signs in": "login", "log in": "login",
    "logs in": "login", "night-time": "nighttime", "at night": "nighttime", "backed up": "backup",
    "back up": "backup", "backs up": "backup", "used up": "use", "passed away": "died",
    "put off": "postpone", "called off": "cancel", "turned down": "reject",
    "made up of": "consist", "in total": "total", "years old": "years", "years of age": "years",
    "aged": "aged", "whether or not": "although", "regardless of": "although",
    "irrespective of": "although", "not only": "and", "but also": "and", "full-time": "fulltime",
    "part-time": "parttime", "by itself": "itself", "at once": "immediately",
    "without delay": "immediately", "right away": "immediately", "straight away": "immediately",
    "on site": "onsite", "on-site": "onsite",
}  # fmt: skip

CONTRACTIONS: Final[tuple[tuple[str, str], ...]] = (
    ("can't", "can not"), ("cannot", "can not"), ("won't", "will not"), ("shan't", "shall not"),
    ("n't", " not"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"), ("'m", " am"),
)  # fmt: skip


# Groups between bars. A word may be in several; membership does not carry over between them.
_SYNONYMS: Final = """
buy purchase acquire procure | sell vend | begin start commence |
end finish conclude terminate | finish complete | need require necessitate |
keep retain store preserve | keep hold | stay remain | check verify inspect examine |
check review | allow permit | authorise authorize approve |
permission consent authorisation authorization approval | forbid prohibit ban |
mandatory compulsory obligatory required | optional voluntary | free gratis complimentary |
employee staff worker colleague | company firm business enterprise | car vehicle |
automobile car | flight aeroplane plane airplane | journey trip travel | hotel accommodation |
fee charge | cost expense | cost charge | salary pay wage remuneration | pay reimburse |
reimburse refund | repay reimburse | money cash  | revenue turnover sales |
 quarter q | fall drop decline decrease | rise grow increase climb |
reduce cut lower decrease | raise increase lift | shrink fall | grow expand | total sum |
amount sum | number count | limit maximum cap ceiling | maximum max highest |
minimum min lowest | largest biggest greatest | big large | small little | smallest lowest |
quick fast rapid | quickly rapidly | immediately instantly promptly |
help assist aid support | show demonstrate | find discover | tell inform notify |
inform notify | report notify | ask request | request apply application |
answer reply respond | reply response answer | send forward transmit |
submit hand file present lodge | give provide supply | offer provide | receive get obtain |
earn receive | entitle receive | grant award give | select choose pick | choice option |
happen occur | cause lead | result outcome | result consequence | effect impact |
injury harm | damage harm | break fracture | broken faulty defective | fault defect |
fix repair mend | repair maintenance | change alter modify amend | replace substitute |
delete remove erase | remove withdraw | dispose discard | throw discard | close shut |
open available | build construct | building premises | plant factory | location place site |
town city | country nation | child kid | adolescent teenager | adult grown-up |
doctor physician | physician clinician | medicine drug medication | therapy treatment |
illness sickness disease | ill sick unwell | kidney renal | liver hepatic | heart cardiac |
lung pulmonary | child paediatric pediatric | dose dosage | tablet pill | inhaler device |
inhale inhalation | swallow ingest | breastfeeding lactation breastfeed | pregnancy pregnant |
trial study | study investigation | side-effect adverse | contraindicated unsuitable |
stop discontinue cease | stop halt | continue proceed | resume restart | pause interrupt |
extend prolong lengthen | shorten reduce | renew extend | expire lapse | valid effective |
binding mandatory | rule regulation | guideline guidance | document paper | form document |
written writing | contract agreement | agree consent | sign signature | meeting session |
boss manager supervisor | lead chair | chair preside | chairman chairperson chair chairwoman |
own possess | owner proprietor | insure cover | insurance cover coverage |
insurer underwriter | deductible excess | theft burglary | steal theft | stolen robbed |
fire blaze | flood inundation | storm tempest | lock secure | laptop notebook | computer pc |
telephone phone | email mail | password passcode | login sign-in signin | user account |
account profile | encrypt cipher | encrypted encryption | backup copy | copy duplicate |
restore recovery | update patch | software application | system platform | website site |
customer client | supplier vendor | contractor freelancer | partner spouse | parent guardian |
visitor guest | notice notification | warn alert | warning alert | safe secure |
secure protect | protection safeguard | danger hazard | dangerous hazardous |
hazardous harmful | accident incident | emergency urgent | holiday vacation | leave vacation |
remote home-based | remotely home | homeworking telework | work job | job position |
role function | department division unit | section part | portion part | percent percentage |
average mean | median midpoint | halve half | train railway rail | train instruct |
training instruction course | teach instruct | course class | certificate certification |
proof evidence | evidence data | confirm verify | confirm acknowledge |
receipt acknowledgement | invoice bill | budget funds | fund finance | loan credit |
debt liability | asset property | property belongings | shareholder stockholder |
dividend distribution payout | payout payment | invest investment | investor backer |
headquarters base | headquarter base | found establish create | establish create |
launch introduce | introduce implement | produce manufacture make | product item good |
deliver ship | delivery shipment | order purchase | return refund | exchange swap |
exempt excused | exception exemption | include contain comprise | include cover |
exclude omit | consist comprise | part component | kind type sort | group category class |
category class | several multiple | many numerous | enough sufficient adequate |
sufficient suffice | correct right accurate | wrong incorrect erroneous | true accurate |
false untrue | important significant | main primary principal | additional extra further |
same identical | equal identical | different distinct | similar alike | new novel |
old former | former previous prior | previous earlier | later subsequent | next subsequent |
current present | initial first | usual normal customary | usual typical | common frequent |
rare uncommon | difficult hard | easy simple | empty vacant | full complete | whole entire |
public open | private personal | secret confidential | anonymous unnamed | address location |
contact reach | reachable available contactable | speak talk | write record |
register enrol enroll | enrol recruit | read peruse | see view | view look | watch observe |
observe monitor | monitor track | measure test | test examine | estimate approximate |
calculate compute | compare contrast | weight mass | weigh weight | length duration |
last continue | period time | period term | term duration | deadline limit | delay postpone |
postpone defer | cancel revoke | revoke withdraw | reject refuse decline | refuse deny |
deny reject | accept approve | accept acceptable | dismiss fire | resign quit |
hire recruit employ | elect choose | death die | die perish | kill murder | birth born |
marry wed | marriage wedding | move relocate | live reside | resident inhabitant |
citizen national | law legislation | court tribunal | judge magistrate |
lawyer attorney counsel | crime offence offense | police officer | fraud deceit |
bribery corruption | punish discipline | penalty fine | allege claim | argue claim |
believe think | know aware | understand comprehend | learn discover | remember recall |
like enjoy | try attempt | attempt effort | allowance stipend | bonus premium |
expense outlay | travel commute | bicycle bike cycle | bus coach | road street |
bridge overpass | ship vessel boat | boy lad | girl lass | men male | women female |
human person | dog canine | cat feline | couch sofa | photo picture image photograph |
film movie | song track | author writer | artist painter | actor performer | win victory |
lose loss | defeat beat | game match | sport athletics | team squad | war conflict |
soldier troop | attack assault | weapon arm |
covid covid-19 coronavirus sars-cov-2 2019-ncov | virus pathogen | infection infect infected |
vaccine vaccination vaccinate | symptom sign | spread transmit transmission | mask facemask |
temperature heat | cold cool | hot warm | rain precipitation | ocean sea | forest wood |
food meal | drink beverage | alcohol alcoholic | smoke smoking smoker | exercise workout |
risk likelihood | link associate | associate relate | connect link | separate apart |
split divide | divide separate | join merge | merge combine | mix combine | carry transport |
transport transfer | transfer move | suit fit | block prevent | prevent avoid | avoid avert |
prefer favour favor | honour honor | colour color | centre center | metre meter |
litre liter | programme program | organisation organization | analyse analyze |
recognise recognize | grey gray | ageing aging | licence license | defence defense |
tyre tire | labour labor | behaviour behavior | up rise increase grow higher |
down fall decrease decline drop lower | previous-year prior-year | opening open
"""


def _groups(text: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for part in text.split("|"):
        group = set(part.split())
        for word in group:
            found.setdefault(word, set()).update(group)
    return {word: frozenset(group) for word, group in found.items()}


SYNONYMS: Final[dict[str, frozenset[str]]] = _groups(_SYNONYMS)


_OPPOSITES: Final = """
increase rise grow climb gain up | decrease fall decline drop reduce
increase rise grow climb gain up | shrink lower cut lose worsen
increase rise grow climb gain up | down
more raise expand improve | decrease fall decline drop reduce
more raise expand improve | shrink lower cut lose worsen
more raise expand improve | down
before earlier prior | after later following
minimum lowest least smallest | maximum highest most largest greatest biggest
more greater higher larger longer bigger | less fewer lower smaller shorter
more greater higher larger longer bigger | below under
above over | less fewer lower smaller shorter
above over | below under
allow permit authorise lawful legal | forbid prohibit ban disallow block deny unlawful illegal
include contain cover comprise inside | exclude omit outside
approve accept | reject refuse decline deny
adult | child adolescent infant minor teenager
mandatory compulsory obligatory required | optional voluntary exempt
begin start open commence | end finish close stop terminate conclude expire
continue resume | stop pause interrupt discontinue cease
buy purchase | sell
send | receive
win | lose
male man boy men father son husband | female woman girl women mother daughter wife
true correct accurate right | false incorrect wrong inaccurate untrue
internal inside inner | external outside outer
public open | private secret confidential restricted
early | late
read | write
faster quicker | slower
sooner earlier | later
cheaper | dearer costlier
older | newer younger
stronger | weaker
hotter warmer | colder cooler
lighter | heavier
wider broader | narrower
deeper | shallower
taller | shorter
easier simpler | harder
safer | riskier
nearer closer | farther further
input | output
inbound incoming | outbound outgoing
upload | download
up | down
first initial | last final
new | old
employee | employer
landlord lessor | tenant lessee
lender creditor | borrower debtor
buyer customer purchaser | seller vendor supplier
teacher | student
doctor | patient
add | remove subtract
add | deduct
arrive arrival | depart departure leave
credit | debit
profit gain surplus | loss deficit
asset | liability
import | export
domestic national | foreign international
full complete | empty partial incomplete
hot warm | cold cool
high tall | low short
heavy | light
strong | weak
safe | dangerous unsafe hazardous
success succeed successful | failure fail unsuccessful
pass | fail
present | absent
attach | detach
lock | unlock
enable activate | disable deactivate
encrypt | decrypt
encrypted | unencrypted
permanent indefinite | temporary interim fixed-term
gross | net
upper top | lower bottom
positive | negative
presence | absence
daytime | nighttime
weekday | weekend
morning | evening afternoon
north northern | south southern
east eastern | west western
top | bottom
better best | worse worst
easy simple | difficult hard
alive live | dead die
remember | forget
love like | hate dislike
agree | disagree
appear | disappear
rich wealthy | poor
young | old
fast quick | slow
sit | stand
awake | asleep sleep
indoor indoors inside | outdoor outdoors outside
happy | sad unhappy
inhaled | oral
tablet | cartridge
mild | severe
major | minor
primary | secondary
known | unknown
serious | trivial
single | multiple
double | halve
alone | together
paid | unpaid
common frequent | rare uncommon
onsite | remote remotely
fulltime | parttime
written | oral verbal
manually | automatically
always | never
everyone everybody | nobody
something anything everything | nothing
often | rarely seldom
many | few
ascend up upward | descend down downward
accident | intention
voluntarily | involuntarily
planned | unplanned emergency
active | inactive passive
able | unable
possible | impossible
likely | unlikely
"""


def _opposites(text: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in text.strip().splitlines():
        left, right = (side.split() for side in line.split("|"))
        for word in left:
            found.setdefault(word, set()).update(right)
        for word in right:
            found.setdefault(word, set()).update(left)
    return {word: frozenset(group) for word, group in found.items()}


OPPOSITES: Final[dict[str, frozenset[str]]] = _opposites(_OPPOSITES)
