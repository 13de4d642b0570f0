"""Hand-written groups of words that may stand for one another in plain factual prose."""

from __future__ import annotations

from typing import Final

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
