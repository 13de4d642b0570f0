"""Hand-written word lists from which training edits are made: opposites, synonyms, units, names."""

from __future__ import annotations

from typing import Final


def listed(text: str) -> tuple[str, ...]:
    """Return the words of *text*, which white space separates."""
    return tuple(text.split())


MONTHS: Final = listed(
    "January February March April May June July August September October November December"
)
WEEKDAYS: Final = listed("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")

# Verbs as base, third person, past, participle, -ing form; regular ones by their base alone.
_IRREGULAR: Final = """
rise rises rose risen rising | fall falls fell fallen falling | win wins won won winning |
lose loses lost lost losing | buy buys bought bought buying | sell sells sold sold selling |
begin begins began begun beginning | give gives gave given giving |
take takes took taken taking | grow grows grew grown growing |
shrink shrinks shrank shrunk shrinking | forget forgets forgot forgotten forgetting |
leave leaves left left leaving | come comes came come coming | go goes went gone going |
build builds built built building | send sends sent sent sending |
lend lends lent lent lending | sit sits sat sat sitting | stand stands stood stood standing |
cut cuts cut cut cutting | catch catches caught caught catching |
throw throws threw thrown throwing | push pushes pushed pushed pushing |
sleep sleeps slept slept sleeping | run runs ran run running | keep keeps kept kept keeping |
stop stops stopped stopped stopping | drop drops dropped dropped dropping |
ban bans banned banned banning | permit permits permitted permitted permitting |
forbid forbids forbade forbidden forbidding | admit admits admitted admitted admitting |
deny denies denied denied denying | find finds found found finding |
hide hides hid hidden hiding | speed speeds sped sped speeding | pay pays paid paid paying |
choose chooses chose chosen choosing | get gets got got getting | occur occurs occurred occurred occurring |
hold holds held held holding | speak speaks spoke spoken speaking | teach teaches taught taught teaching |
show shows showed shown showing | say says said said saying | apply applies applied applied applying |
study studies studied studied studying | ship ships shipped shipped shipping |
submit submits submitted submitted submitting | carry carries carried carried carrying
"""
_VERB_OPPOSITES: Final = """
increase decrease | rise fall | accept reject | allow forbid | permit ban | win lose | buy sell |
open close | begin end | start stop | include exclude | approve reject | admit deny |
arrive depart | enter exit | raise lower | improve worsen | expand contract | grow shrink |
gain lose | support oppose | agree disagree | love hate | like dislike | remember forget |
succeed fail | pass fail | push pull | lend borrow | create destroy |
attack defend | import export | add remove | connect disconnect | encourage discourage |
strengthen weaken | praise criticise | hire dismiss | lock unlock | install uninstall |
enable disable | confirm deny | appear disappear | send receive | import export |
extend shorten | widen narrow | keep discard | float sink | smile frown |
laugh cry | sit stand | praise criticize | underestimate overestimate |
load unload | dress undress | inhale exhale | upgrade downgrade | outperform underperform
"""
_PLAIN_OPPOSITES: Final = """
old young | new old | good bad | large small | big small | high low | long short | tall short |
hot cold | warm cool | early late | rich poor | strong weak | fast slow | easy difficult |
simple complex | hard soft | heavy light | wide narrow | deep shallow | thick thin | full empty |
open closed | wet dry | clean dirty | safe dangerous | public private | legal illegal |
lawful unlawful | possible impossible | true false | correct incorrect | right wrong |
successful unsuccessful | popular unpopular | happy sad | happy unhappy | alive dead |
married single | male female | internal external | domestic foreign | local foreign |
national international | northern southern | eastern western | north south | east west |
northeast southwest | northwest southeast | left right | upper lower | top bottom | inside outside |
indoor outdoor | indoors outdoors | front back | near far | major minor | common rare |
ancient modern | temporary permanent | voluntary compulsory | optional mandatory |
positive negative | active inactive | visible invisible | similar different | same different |
equal unequal | complete incomplete | sufficient insufficient | necessary unnecessary |
important unimportant | famous unknown | expensive cheap | noisy quiet | loud quiet |
dark bright | black white | sweet bitter | smooth rough | sharp blunt | straight crooked |
tight loose | fresh stale | natural artificial | rural urban | religious secular |
conservative liberal | guilty innocent | healthy sick | adult juvenile | senior junior |
maximum minimum | majority minority | increase decrease | rise fall | growth decline |
profit loss | victory defeat | success failure | advantage disadvantage | strength weakness |
beginning end | birth death | arrival departure | entrance exit | import export | east west |
buyer seller | employer employee | teacher student | doctor patient | winner loser |
husband wife | brother sister | son daughter | father mother | king queen | prince princess |
actor actress | man woman | men women | boy girl | boys girls | gentleman lady |
friend enemy | summer winter | spring autumn | morning evening | day night | sunrise sunset |
often rarely | frequently rarely | usually seldom | always never | quickly slowly |
directly indirectly | partly completely | partially fully | mainly slightly | together separately |
upstairs downstairs | forward backward | upward downward | uphill downhill | above below |
before after | over under | with without | within beyond | more less | first last |
fixed variable | written oral | daily yearly | monthly yearly | weekly monthly |
full-time part-time | gross net | retail wholesale | sitting standing | awake asleep |
crowded deserted | barefoot shod | upstream downstream | paid unpaid | remote on-site |
"""
COMPARATIVES: Final = """
higher lower | larger smaller | bigger smaller | greater smaller | longer shorter | older younger |
older newer | earlier later | better worse | faster slower | stronger weaker | richer poorer |
heavier lighter | warmer colder | taller shorter | wider narrower | cheaper costlier |
easier harder | nearer farther | more less | more fewer | above below | before after |
exceeded missed | highest lowest | largest smallest | biggest smallest | longest shortest |
oldest youngest | oldest newest | best worst | fastest slowest | first last | most least |
increased decreased | rose fell | increase decrease | growth decline
"""
SYNONYMS: Final = """
begin start | began started | end finish | ended finished | large big | buy purchase |
bought purchased | employees staff | approximately about | roughly about | children kids |
film movie | car automobile | physician doctor | located situated | located based | famous renowned |
well-known famous | company firm | companies firms | near close_to | received got |
obtained got | helped assisted | many numerous | rapidly quickly | fast quick | often frequently |
also additionally | however nevertheless | difficult hard | important significant |
required needed | requires needs | require need | constructed built | established founded |
founded set_up | created made | died passed_away | killed slain | entire whole | main principal |
primarily mainly | usually normally | sometimes occasionally | people persons | woman lady |
man guy | women ladies | men guys | child kid | picture photo | photograph photo | talking chatting |
shop store | road street | ill sick | happy glad | sad unhappy | tired exhausted | smart clever |
annually yearly | annual yearly | permitted allowed | forbidden prohibited | obligatory mandatory |
compulsory mandatory | assist help | commenced started | terminated ended | sufficient enough |
prior_to before | in_order_to to | because_of due_to | such_as like | at_present currently |
now currently | home house | town city | ship vessel | aircraft plane | physicians doctors |
revenue turnover | salary pay | fee charge | medicine drug | illness disease | error mistake |
errors mistakes | reply answer | goal aim | attempt try | attempted tried | selected chosen |
chose picked | worldwide globally | initially at_first | finally eventually | almost nearly |
"""
ABBREVIATIONS: Final = """
kg kilograms | km kilometres | mg milligrams | cm centimetres | mm millimetres | km kilometers |
hours h | minutes min | percent per_cent | USA United_States | U.S. United_States |
UK United_Kingdom | EU European_Union | UN United_Nations | MW megawatts | GW gigawatts |
World_War_II Second_World_War | World_War_I First_World_War | TV television | ml millilitres |
"""
UNITS: Final = tuple(
    listed(row)
    for row in [
        "\nmg g kg tonnes ",
        " milligrams grams kilograms tonnes ",
        " mm cm m km ",
        " ml l ",
        " acres hectares ",
        "\ncentimetres metres kilometres miles ",
        " centimeters meters kilometers miles ",
        " feet yards miles ",
        "\nseconds minutes hours days weeks months years decades ",
        " litres millilitres ",
        " km/h mph ",
        "\nsecond minute hour day week month year decade ",
        " kW MW GW ",
        " kilowatts megawatts gigawatts ",
        "\nthousand million billion trillion ",
        " ounces pounds tons ",
        " daily weekly monthly yearly ",
        " MB GB TB\n",
    ]
)
CURRENCIES: Final = (listed("$ € £"), listed("USD EUR GBP CHF"), listed("dollars euros francs yen"))
NAMES: Final[dict[str, tuple[str, ...]]] = {
    kind: tuple(word.replace("_", " ") for word in words.split())
    for kind, words in {
        "country": """France Germany Italy Spain Portugal Japan China India Canada Australia Brazil
        Mexico Argentina Sweden Norway Denmark Poland Russia Egypt Kenya Nigeria Ireland Scotland
        Wales England Greece Turkey Israel Iran Iraq Ukraine Austria Belgium Chile Peru Cuba
        Vietnam Thailand Indonesia Finland Hungary Pakistan Somalia Ethiopia""",
        "nationality": """French German Italian Spanish Portuguese Japanese Chinese Indian Canadian
        Australian Brazilian Mexican American British English Scottish Irish Swedish Norwegian
        Danish Polish Russian Egyptian Dutch Greek Turkish Korean Cuban Austrian Belgian""",
        "city": """London Paris Berlin Rome Madrid Tokyo Boston Chicago Toronto Sydney Melbourne
        Moscow Vienna Dublin Edinburgh Manchester Liverpool Philadelphia Seattle Houston Dallas
        Atlanta Denver Detroit Miami Los_Angeles San_Francisco New_York_City Washington Beijing
        Mumbai Amsterdam Brussels Prague Budapest Stockholm Oslo Copenhagen Athens Milan""",
        "state": """California Texas Florida Ohio Illinois Michigan Georgia Virginia Oregon Nevada
        Arizona Colorado Utah Alabama Tennessee Kentucky Missouri Iowa Kansas Minnesota Wisconsin
        Indiana Maryland Massachusetts Connecticut Pennsylvania Louisiana Mississippi Oklahoma""",
        "first name": """John James Robert Michael William David Richard Thomas Charles Daniel
        Matthew Anthony Mark Paul Steven Andrew Kenneth George Edward Brian""",
        "woman's name": """Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen
        Nancy Margaret Emily Helen Laura Anna Rebecca Catherine""",
        "colour": "red blue green yellow orange purple brown pink",
        "sport": "football basketball baseball tennis hockey rugby cricket soccer golf volleyball",
        "instrument": "guitar piano violin drums trumpet flute cello saxophone",
        "job": """actor singer writer director lawyer politician painter engineer physicist
        journalist architect chemist composer comedian""",
        "direction": "north south east west",
        "animal": "dog cat horse cow sheep bird elephant monkey",
    }.items()
}
NUMBER_WORDS: Final = listed("zero one two three four five six seven eight nine ten eleven twelve")
ORDINAL_WORDS: Final = listed("first second third fourth fifth sixth seventh eighth ninth")
STOP: Final = frozenset(
    listed("""
    the a an of to in on at for and or but with by from as is are was were be been being it its
    this that these those he she they his her their them him you your we our i not no do does
    did has have had will would can could may might must should there here which who whom what
    when where while than then so if into over under about after before also such only more most
    other some any all each both one two up out off just very own same s t
    """)
)


def _forms(base: str) -> tuple[str, ...]:
    for row in _IRREGULAR.split("|"):
        words = tuple(row.split())
        if words and words[0] == base:
            return words
    if base.endswith("e"):
        return base, base + "s", base + "d", base + "d", base[:-1] + "ing"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base, base[:-1] + "ies", base[:-1] + "ied", base[:-1] + "ied", base + "ing"
    third = base + ("es" if base.endswith(("s", "sh", "ch", "x", "ss")) else "s")
    return base, third, base + "ed", base + "ed", base + "ing"


def pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of one list: separated by bars, an underscore for a space in a phrase."""
    found = [tuple(row.split()) for row in text.split("|") if row.strip()]
    return tuple((one.replace("_", " "), two.replace("_", " ")) for one, two in found)


def _both_ways(listed: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for one, two in (*listed, *((two, one) for one, two in listed)):
        if two not in found.get(one, ()):
            found[one] = (*found.get(one, ()), two)
    return found


def _verb_opposites() -> tuple[tuple[str, str], ...]:
    return tuple(
        (one, two)
        for first, second in pairs(_VERB_OPPOSITES)
        for one, two in zip(_forms(first), _forms(second), strict=True)
    )


OPPOSITES: Final = _both_ways((*_verb_opposites(), *pairs(_PLAIN_OPPOSITES)))
COMPARED: Final = _both_ways(pairs(COMPARATIVES))
ALIKE: Final = _both_ways(pairs(SYNONYMS))
SHORT: Final = _both_ways(pairs(ABBREVIATIONS))
