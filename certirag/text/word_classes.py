"""Closed word classes of English that claim rules ask for: limits, pronouns, prepositions."""

from __future__ import annotations

from typing import Final


def word_set(words: str) -> frozenset[str]:
    """Return the set of the words in *words*, which are parted by blanks."""
    return frozenset(words.split())


# Words that limit a statement; what they introduce is never cut off.
LIMITS: Final = word_set(
    "if unless only except excluding until till provided providing when whenever where wherever "
    "while once without otherwise solely merely although though whether"
)
# Words that open a clause inside a clause: an "and" after one may belong to the inner clause.
SUBORDINATORS: Final = (LIMITS - word_set("only solely merely without excluding")) | word_set(
    "because since that which who whose whom as than before after"
)
DETERMINERS: Final = word_set(
    "the a an its their his her our your my each every this that these those no any all both "
    "some most many several few another such"
)
DEFINITE: Final = word_set("the its their his her our your my this that these those each")
PERSONAL: Final = word_set("it they he she")
ANAPHORS: Final = word_set(
    "it them him this that these those such latter former thereof same instead they he she "
    "itself themselves otherwise thereafter"
)
PREPOSITIONS: Final = word_set(
    "of in on at by for from to with within without under over during since until after before "
    "between among through throughout against per about above below into onto across via as than "
    "towards toward upon despite including excluding except outside inside beyond near unlike "
    "because due up down off"
)
CONJUNCTIONS: Final = word_set("and or but nor so yet")
# Subjects whose quantity spans both halves of a coordination: they are not divided.
SCOPED_SUBJECTS: Final = word_set(
    "no none nobody nothing neither nor not few fewer only hardly some several many most half "
    "any anyone anybody someone somebody one either exactly at up over under about around nearly "
    "almost less more just even half part another whoever whatever"
)
# Adverbs in the first half that may govern the second half too.
SPREADING: Final = word_set(
    "never always often usually sometimes rarely seldom hardly normally generally typically "
    "occasionally reportedly allegedly apparently probably possibly perhaps likely reputedly "
    "supposedly only merely solely not"
)
SEQUENCERS: Final = word_set("then thereafter afterwards subsequently later next finally not never")
SAYING: Final = word_set(
    "states state stated says say said reports report reported notes note noted confirms confirm "
    "confirmed explains explain explained announces announced writes wrote claims claimed "
    "specifies specify specified shows show showed finds found concludes concluded adds added "
    "requires provides stipulates stipulated describes indicates indicated mentions mentioned"
)
# Predicates that hold of the group, not of each member.
COLLECTIVE: Final = word_set(
    "merge merged merges meet met agree agreed differ differed cooperate cooperated collaborate "
    "collaborated compete competed combine combined unite united marry married share shared "
    "together jointly collectively identical similar equal equivalent different same comparable "
    "compatible partners neighbours neighbors related linked connected separate distinct "
    "alternatives synonymous total account accounted accounts form formed forms constitute "
    "constituted comprise comprised correlate correlated overlap overlapped coincide coincided "
    "interact interacted alternate complement balance split divorced between respectively other "
    "alike equally another mutually interchangeable adjacent parallel joint combined add sum"
)
FIXED_PAIRS: Final = frozenset(
    tuple(pair.split("+"))
    for pair in [
        "terms+conditions",
        "research+development",
        "profit+loss",
        "health+safety",
        "supply+demand",
        "rules+regulations",
        "mergers+acquisitions",
        "law+order",
        "bed+breakfast",
        "food+beverage",
        "food+drink",
        "wear+tear",
        "pros+cons",
        "checks+balances",
        "back+forth",
        "up+down",
        "black+white",
        "arts+sciences",
        "science+technology",
        "trial+error",
        "facts+figures",
        "goods+services",
        "sales+marketing",
        "oil+gas",
        "property+casualty",
        "hardware+software",
        "search+rescue",
        "nuts+bolts",
        "bread+butter",
        "room+board",
        "travel+subsistence",
        "collection+delivery",
        "peer+peer",
        "time+again",
        "more+more",
        "over+above",
        "by+large",
        "cut+paste",
        "null+void",
        "friends+family",
        "hide+seek",
        "plug+play",
        "first+foremost",
        "each+every",
        "travel+expenses",
        "data+analytics",
        "diversity+inclusion",
        "policies+procedures",
        "roles+responsibilities",
        "fixtures+fittings",
        "parts+labour",
        "repair+maintenance",
        "maintenance+repair",
        "storage+handling",
        "transport+logistics",
        "text+data",
        "training+education",
    ]
)
ORGANISATION_ENDS: Final = word_set(
    "sons co company partners brothers daughters associates bros sisters wesson gamble spencer "
    "johnson young poor mckinsey stanley jerry"
)
NUMBER_WORDS: Final = word_set(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million billion trillion half quarter third dozen"
)
# Phrases of time at a sentence's end, which may hold of all that goes before.
DEADLINES: Final = word_set("within after before until by during from since for")
# Prepositions that place a number in time, where it holds for each member of a group.
TEMPORAL: Final = word_set("in on by since until within before after from during")
