"""Word classes of English: closed ones, such as limits and prepositions, and which words are verbs.

The forms of a finite verb are found by rule from a list of stems.
"""

from __future__ import annotations

from typing import Final


def words_in(text: str) -> list[str]:
    """Return the words of *text*, a list written as one line."""
    return text.split()


def word_set(text: str) -> frozenset[str]:
    """Return the set of the words of *text*, a list written as one line."""
    return frozenset(words_in(text))


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


BE: Final = frozenset({"is", "are", "was", "were", "am"})
MODALS: Final = word_set(
    "can could may might must shall should will would cannot can't couldn't mustn't shouldn't "
    "won't wouldn't needn't"
)
AUXILIARIES: Final = (
    BE
    | MODALS
    | word_set("has have had does do did isn't aren't wasn't weren't hasn't haven't")
    | word_set("hadn't doesn't don't didn't")
)

# Stems that are hardly ever nouns: their -s form is a finite verb wherever it stands.
_PLAIN: Final = word_set(
    "surprise disappoint worry confuse attract chew matter arouse deduce await audit absorb accelerate accept accompany accrue accumulate achieve acknowledge acquire "
    "activate add adjust administer adopt advise affect agree aim allow amend amortise "
    "analyse announce appear apply appoint approve archive argue arise arrive ask assess "
    "assign assume attend authorise authorize avoid ban base bear beat become begin belong "
    "bind book borrow break bring build buy calculate carry catch cause cease certify chair "
    "chew choose cite classify coincide collect combine come commit compare compensate "
    "compete complete comply comprise compute conclude conduct confirm connect consider "
    "consist constitute consume contain continue contribute convert cooperate correlate "
    "create crush decide declare decline deduct define deliver demolish deny depend deploy "
    "derive describe deteriorate determine develop diagnose differ disappear disclose "
    "discontinue discover discuss dispose dissolve distribute donate dose double drop earn "
    "eat elect eliminate embed employ enable enact encourage encrypt endorse enforce engage "
    "enrol enroll ensure entail enter entitle escalate establish evaluate examine exceed "
    "exclude excrete exempt exhibit exist expand expect expire explain expose extend "
    "facilitate fail fall feature fill finance find fit follow forbid found fulfil fund gain "
    "gather generate get give go govern grant grow guarantee halve handle happen have hear "
    "help hire hold honour host identify implement imply impose improve include incorporate "
    "indicate inform inhale inherit inhibit inject inspect install insure interact interpret "
    "introduce invent invest invite invoice involve issue join keep know label lack lapse "
    "last launch lead learn lease leave lend let levy lie lose lower maintain make manage "
    "manufacture mean measure meet merge metabolise metabolize migrate mislead misuse "
    "moderate modernise modify monitor move narrate negotiate neutralise normalise notify "
    "obey obligate oblige observe obtain occupy occur omit open operate oppose originate "
    "outline outperform outsource overlap overlook oversee overstate overtake own participate "
    "pay penetrate perform permit persist pertain pledge pool pose posit possess postpone "
    "predict prefer prepare prescribe present prevail prevent prime proceed produce prohibit "
    "promote propose protect prove provide publish qualify randomise reach read recall "
    "receive recognise recognize recommend redesign reduce refer reflect refrigerate refuse "
    "regulate reimburse reject relate relieve rely remain remove renew renounce reopen repay "
    "replace represent require resemble reside resign resist resolve respond restate restore "
    "restrict restructure result resume retain retire return reveal revise reward rinse rise "
    "rotate run say see seek seem select sell send separate serve settle shrink sign slow "
    "span speak specialise specify spend split sponsor stabilise start state stay stem "
    "stipulate stock stop store strengthen submit subside substitute succeed sue suffer "
    "suggest supersede supply suspend sustain swallow take target teach tell tend terminate "
    "thaw think thrive tolerate transfer translate travel treat trigger triple turn undergo "
    "undermine understand understate undertake underwrite update upgrade validate vary verify "
    "vest vote waive warn warrant weaken wear weigh widen win wipe withdraw withhold work "
    "worsen write yield"
)
# Stems whose -s form or bare form is as often a noun: the words around them decide.
_AMBIGUOUS: Final = word_set(
    "answer audit average back balance bank bill block book call change charge check claim "
    "close code comment control cost count cover credit cut cycle damage date deal debate "
    "decrease delay demand design display document double drop end estimate exercise expense "
    "experience face fall feature feel figure file finance finish flow focus force form fund "
    "gain grant handle head heat highlight hope host house impact increase interest invoice "
    "issue judge label land lead lease leave level limit link list live load lock look lower "
    "mark match matter measure mention name need note notice number offer order peak pilot "
    "place plan plant play point pool post practice praise process profit program project "
    "purchase question range rank rate record register release rent repair repeat report "
    "request reserve rest result return review reward risk rule run sample schedule score "
    "seat ship show sign signal sleep sort sound source stand start state stay stock stop "
    "study supply support surge survey switch talk target task test total touch track trade "
    "train transfer transport travel trust try update use value view visit vote wait walk "
    "want wash watch weight wish work"
)
# stem: past, participle
_IRREGULAR: Final = {
    "arise": "arose arisen", "become": "became become", "begin": "began begun",
    "bind": "bound bound", "bring": "brought brought", "build": "built built",
    "buy": "bought bought", "choose": "chose chosen", "come": "came come", "cut": "cut cut",
    "fall": "fell fallen", "feel": "felt felt", "find": "found found", "get": "got got",
    "give": "gave given", "go": "went gone", "grow": "grew grown", "hear": "heard heard",
    "hold": "held held", "keep": "kept kept", "know": "knew known", "lead": "led led",
    "leave": "left left", "lend": "lent lent", "let": "let let", "lose": "lost lost",
    "make": "made made", "mean": "meant meant", "meet": "met met", "pay": "paid paid",
    "prove": "proved proven", "read": "read read", "rise": "rose risen", "run": "ran run",
    "say": "said said", "see": "saw seen", "seek": "sought sought", "sell": "sold sold",
    "send": "sent sent", "shrink": "shrank shrunk", "speak": "spoke spoken",
    "spend": "spent spent", "stand": "stood stood", "take": "took taken",
    "teach": "taught taught", "tell": "told told", "think": "thought thought",
    "understand": "understood understood", "wear": "wore worn", "win": "won won",
    "withdraw": "withdrew withdrawn", "withhold": "withheld withheld",
    "mislead": "misled misled", "write": "wrote written", "forbid": "forbade forbidden",
    "undergo": "underwent undergone", "undertake": "undertook undertaken",
    "oversee": "oversaw overseen", "overtake": "overtook overtaken", "repay": "repaid repaid",
    "bear": "bore borne", "beat": "beat beaten", "break": "broke broken",
    "catch": "caught caught", "eat": "ate eaten", "split": "split split",
    "underwrite": "underwrote underwritten", "show": "showed shown", "lie": "lay lain",
}  # fmt: skip
_DOUBLED: Final = word_set(
    "commit admit ban cut drop enrol fit get let occur omit permit plan prefer refer run ship "
    "shrink split stop submit transfer travel win equip stem"
)


def third_person(stem: str) -> str:
    """Return the -s form of a verb *stem* ("carry" gives "carries")."""
    if stem == "have":
        return "has"
    if stem.endswith(("s", "x", "z", "ch", "sh", "o")):
        return stem + "es"
    if stem.endswith("y") and stem[-2:-1] not in "aeiou":
        return stem[:-1] + "ies"
    return stem + "s"


def _regular_past(stem: str) -> str:
    if stem.endswith("e"):
        return stem + "d"
    if stem.endswith("y") and stem[-2:-1] not in "aeiou":
        return stem[:-1] + "ied"
    return stem + (stem[-1] if stem in _DOUBLED else "") + "ed"


def _pasts(stem: str) -> tuple[str, str]:
    if stem in _IRREGULAR:
        past, participle = _IRREGULAR[stem].split()
        return past, participle
    regular = _regular_past(stem)
    return regular, regular


_STEMS: Final = tuple(sorted(_PLAIN | _AMBIGUOUS))
AMBIGUOUS_STEMS: Final = _AMBIGUOUS
STEM_OF: Final = {third_person(stem): stem for stem in _STEMS}
BASE_FORMS: Final = frozenset(_STEMS)
PAST_FORMS: Final = frozenset(_pasts(stem)[0] for stem in _STEMS)
PARTICIPLES: Final = frozenset(_pasts(stem)[1] for stem in _STEMS)
# Forms that are a past tense and cannot be a participle ("grew"), so never a reduced relative.
PAST_ONLY: Final = frozenset(
    past for past, participle in map(_pasts, _STEMS) if past not in PARTICIPLES
)
AMBIGUOUS_FORMS: Final = frozenset(third_person(stem) for stem in _AMBIGUOUS)


def is_verb_form(word: str) -> bool:
    """Say whether lower-case *word* can be some form of a verb on the list, or an auxiliary."""
    return (
        word in AUXILIARIES
        or word in STEM_OF
        or word in BASE_FORMS
        or word in PAST_FORMS
        or word in PARTICIPLES
    )
