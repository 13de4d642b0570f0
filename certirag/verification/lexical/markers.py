"""Closed word classes of English: function words, negation, quantifiers, modality, markers."""

from __future__ import annotations

from typing import Final

from certirag.text.word_classes import word_set

STOP: Final = word_set(
    """a an the this that these those its their his her our your my own it they them he she we us
    you i him me himself herself itself themselves be is are was were been being am will would
    do does did done doing have has had having to of in on at by for from with as into onto upon
    about between among through via per and or so than then there here also too both each such
    which who whom whose what whether case within during while since against toward towards
    respectively therefore however thus hence moreover furthermore additionally besides namely
    meanwhile further likewise well per_source so_that just even still already yet otherwise instead both either
    mr mrs ms dr prof professor st etc eg ie if when where because although though after before
    until unless but nor not no never neither none cannot without dear please thanks hello hi
    respect regard regarding concerning terms way ways thing things fact"""
)

PREPOSITIONS: Final = word_set(
    """of in on at by for from with into onto about between among through via during within
    against toward towards under over above below across outside inside near behind beyond after
    before until since as per to without throughout despite like"""
)

NEGATIONS: Final = word_set(
    "not no never neither none nobody nothing nowhere nor without cannot hardly barely scarcely"
)

PRONOUNS: Final = word_set(
    """it they he she this these those that its their his her them him both each one we you all
    such neither i us here there"""
)

# Words whose presence narrows what is said; a claim may neither drop nor add one.
RESTRICTORS: Final = word_set(
    """only unless except excluding solely exclusively merely until till otherwise alone barring
    save bar apart"""
)

CONDITION_CLASS: Final[dict[str, str]] = {
    "if": "if", "provided": "if", "providing": "if", "when": "if", "whenever": "if",
    "where": "if", "wherever": "if", "assuming": "if", "supposing": "if",
    "unless": "unless", "except": "unless", "excluding": "unless",
    "until": "until", "till": "until", "before": "before", "after": "after",
    "while": "while", "whilst": "while", "during": "while", "whereas": "contrast",
}  # fmt: skip

UNIVERSAL: Final = word_set(
    """all every each any always everyone everybody everything anyone anybody anything entire
    whole completely entirely fully anywhere everywhere whatever whichever whoever universally
    invariably"""
)
PARTIAL: Final = word_set(
    """some sometimes several many few most mostly usually generally typically often occasionally
    partly partially certain majority minority rarely seldom frequently mainly largely primarily
    normally commonly nearly almost likely unlikely probably possibly perhaps maybe
    apparently reportedly allegedly supposedly potentially temporarily initially"""
)

# Modality: obligation ("must"), necessity ("need"), permission ("may"), advice ("should"),
# possibility ("might").
MODALS: Final[dict[str, str]] = {
    "must": "must", "shall": "must", "may": "may", "can": "may", "could": "might",
    "might": "might", "should": "should", "ought": "should", "cannot": "may",
    "need_to": "need", "have_to": "need", "be_required": "need", "be_allowed": "may",
    "be_able": "may", "be_exempt": "exempt", "be_optional": "exempt", "be_forbidden": "ban",
    "recommend": "should",
}  # fmt: skip

# Adverbs and particles that a claim may drop or add without changing what is stated.
HARMLESS: Final = word_set(
    """also therefore however then thus hence again accordingly moreover additionally already
    simply currently now today together first own respective corresponding relevant following
    namely yes indeed clearly short brief summary overall total well known called named
    actual"""
)

# Verbs that carry little of their own beside their object ("get leave", "receive leave").
LIGHT: Final = word_set(
    """receive get be have make do give take apply exist hold become provide go come grant offer
    entitle belong concern involve place obtain gain say state note explain mention describe
    specify define stipulate set include contain list show mean occur happen keep use carry
    person people remain"""
)

ATTRIBUTION_VERBS: Final = word_set(
    "state say explain note mention specify report stipulate describe show confirm set indicate"
)
