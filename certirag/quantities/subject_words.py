"""Content words for the subject of a figure: stems, near-synonyms, and words that exclude.

The lists are small on purpose: a word that is not known here can only make a match stricter.
"""

from __future__ import annotations

from certirag.text.stems import FUNCTION_WORDS, stem
from certirag.text.word_classes import word_set, words_in

_FUNCTION = FUNCTION_WORDS | word_set(
    "above according again against ahead all almost already although altogether among another any "
    "approximately around below both circa compared currently each even ever every exactly few "
    "fewer however indeed just least less many max maximum min minimum minus more moreover most "
    "much nearly never no nor not now off once one's only onto other overall per please plus "
    "respectively roughly same several since some still therefore though thrice through "
    "throughout thus till today too total twice until upon versus very via whenever whereas why "
    "within without"
)
_GENERIC_VERBS = word_set(
    "is are was were be been being am has have had having do does did done can could may might "
    "must shall should will would get gets got getting give gives given gave receive receives "
    "received entitle entitled entitles grant granted grants allow allowed allows permit "
    "permitted permits provide provided provides need needs needed require required requires "
    "amount amounts amounted equal equals total totals totalled totaled come comes came reach "
    "reaches reached stand stands stood make makes made take takes taken took apply applies "
    "applied use used uses remain remains remained become becomes became set sets "
    "include includes included including based called known regarding concerning "
    "reported recorded post posted generate generated "
    "place eligible able due counted offer offers offered enjoy enjoys state states stated"
)
_GROUPS = (
    "employ employs employed employing work works worked working",
    "employer employers",
    "employee staff worker colleague personnel workforce headcount",
    "revenue sales turnover",
    "profit earnings",
    "cost expense expenditure spending",
    "rise rose risen increase increased grow grew grown growth climb climbed gain gained up",
    (
        "fall fell fallen decrease decreased decline declined drop dropped reduce reduced reduction "
        "down decreased lower lowered"
    ),
    "child children paediatric pediatric kid",
    "adult adults",
    "adolescent teenager",
    "elderly senior",
    "woman women female",
    "man men male",
    "person people individual",
    "participant subject",
    "patient patients",
    "customer client",
    "holiday vacation",
    "approve approval approved approves",
    "buy bought purchase purchased",
    "begin began start started beginning",
    "end ended expire expired expires ends",
    "keep kept retain retained maintain maintained hold held store stored",
    "pay paid payment",
    "deductible excess",
    "boss manager",
    "limit ceiling cap",
    "firm company business enterprise",
    "second-hand used",
    "two-factor 2fa",
    "tablet pill",
    "dose dosage",
    "reimburse reimbursed refund refunded",
    "cover covered coverage",
    "return returned",
    "average mean",
    "submit submitted",
    "kilometre kilometer",
    "notify notified inform informed",
    "max maximum highest",
)
# Classes of one line exclude each other: a figure for one is no evidence for another.
_CONTRASTS = (
    (
        "revenue | profit | loss | cost | margin | ebitda | cash | debt | capex | dividend | asset | "
        "liability | equity | tax | wage"
    ),
    "gross | net | operating",
    "adjusted | reported",
    "annual | sick | parental | maternity | paternity | special | compassionate | study | unpaid",
    "full-time fulltime | part-time parttime",
    "adult | child | adolescent | infant | neonate | elderly",
    "woman | man",
    "placebo | active",
    "rise | fall",
    "morning | evening | night | afternoon",
    "breakfast | lunch | dinner",
    "domestic | international | foreign",
    "inpatient | outpatient",
    "import | export",
    "buyer | seller",
    "tenant | landlord",
    "employee | employer | contractor | customer | supplier | participant",
    "arrival | departure",
    "systolic | diastolic",
    "oral | intravenous | inhaled | subcutaneous | topical",
    "average | median",
    "starting | maintenance",
    "hardware | software",
    "begin | end",
    "budget | forecast | actual",
    "inside | outside",
    "day | night",
    "daily | weekly | monthly | quarterly | annual | yearly",
    "mandatory | optional",
    "mild | moderate | severe",
    "short-term | long-term",
)
IMPLIED_RATES = {
    "annual": "year", "annually": "year", "yearly": "year", "monthly": "month", "weekly": "week",
    "daily": "day", "nightly": "night", "hourly": "hour", "quarterly": "quarter",
}  # fmt: skip
IMPLIED_BOUNDS = {
    "maximum": "at_most", "max": "at_most", "highest": "at_most", "limit": "at_most",
    "ceiling": "at_most", "cap": "at_most", "longest": "at_most", "latest": "at_most",
    "limits": "at_most", "minimum": "at_least", "min": "at_least", "lowest": "at_least",
    "shortest": "at_least", "earliest": "at_least",
}  # fmt: skip


def is_content(word: str) -> bool:
    """Say whether the lower-case *word* carries a subject (no function word, no empty verb)."""
    return len(word) > 1 and word not in _FUNCTION and word not in _GENERIC_VERBS


_CLASS = {word: group.split()[0] for group in _GROUPS for word in group.split()}
for _word, _head in list(_CLASS.items()):
    _CLASS.setdefault(stem(_word), _head)


def class_of(word: str) -> str:
    """Return what *word* is compared by: the head of its group of synonyms, else its stem."""
    bare = stem(word)
    return _CLASS.get(word.lower()) or _CLASS.get(bare, bare)


# A claim that says one of these narrows its figure; the evidence must say it too.
RESTRICTING = frozenset(
    class_of(word)
    for word in words_in(
        "restated adjusted underlying organic consolidated net gross operating preliminary estimated "
        "projected annualised annualized cumulative unaudited audited revised proposed budgeted "
        "forecast recurring initial final interim provisional pro-forma diluted basic average mean "
        "median new former first last early late unpaid paid partial additional extra"
    )
)
# What the evidence says with one of these is no fact; the claim must say it in the same way.
SUPPOSING = word_set(
    "forecast forecasts projected expected estimated anticipated planned proposed budgeted targeted "
    "preliminary provisional pro-forma"
)
_CONTRAST_OF = tuple(
    {class_of(word): number for number, part in enumerate(line.split("|")) for word in part.split()}
    for line in _CONTRASTS
)


def contrasts(claim: frozenset[str], evidence: frozenset[str]) -> tuple[str, str]:
    """Return a word of the claim and one of the evidence that exclude each other, or ("", "").

    Both are sets of stems. A word that both have excludes nothing.
    """
    for line in _CONTRAST_OF:
        ours = {line[word]: word for word in sorted(claim) if word in line}
        theirs = {line[word]: word for word in sorted(evidence) if word in line}
        missing = sorted(ours.keys() - theirs.keys())
        extra = sorted(theirs.keys() - ours.keys())
        if missing and extra:
            return ours[missing[0]], theirs[extra[0]]
    return "", ""
