"""Dictionary forms and word families by small suffix rules."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from certirag.verification.lexical.lexicon import SYNONYMS

# Irregular inflected forms, and verbs that mark where a predicate begins.

# Inflected forms that no suffix rule finds: form=lemma.
_IRREGULAR: Final = """
was=be were=be is=be are=be been=be being=be am=be has=have had=have having=have does=do did=do
done=do went=go gone=go goes=go made=make took=take taken=take gave=give given=give got=get
gotten=get kept=keep held=hold paid=pay said=say told=tell sent=send spent=spend built=build
bought=buy brought=bring thought=think taught=teach caught=catch found=find founded=found
lost=lose left=leave met=meet led=lead read=read ran=run run=run rose=rise risen=rise fell=fall
fallen=fall grew=grow grown=grow knew=know known=know drew=draw drawn=draw drove=drive
driven=drive wrote=write written=write chose=choose chosen=choose spoke=speak spoken=speak
broke=break broken=break stole=steal stolen=steal froze=freeze frozen=freeze began=begin
begun=begin became=become came=come saw=see seen=see showed=show shown=show wore=wear worn=wear
sold=sell stood=stand understood=understand won=win wound=wound cut=cut put=put set=set shut=shut
hit=hit hurt=hurt let=let lent=lend meant=mean felt=feel slept=sleep left=leave lit=light
laid=lay lain=lie lay=lay lying=lie dying=die tying=tie ate=eat eaten=eat drank=drink drunk=drink
swam=swim sang=sing sat=sit forbade=forbid forbidden=forbid forgot=forget forgotten=forget
bore=bear born=bear borne=bear bound=bind fought=fight flew=fly flown=fly shot=shoot shook=shake
shaken=shake struck=strike swept=sweep threw=throw thrown=throw woke=wake withdrew=withdraw
withdrawn=withdraw undertook=undertake undertaken=undertake overtook=overtake beat=beat
beaten=beat sought=seek dealt=deal children=child men=man women=woman people=person feet=foot
teeth=tooth mice=mouse criteria=criterion analyses=analysis crises=crisis data=data lives=life
wives=wife halves=half shelves=shelf selves=self leaves=leave staff=staff news=news series=series
species=species diabetes=diabetes premises=premises goods=good better=better best=best
less=less worse=worse busiest=busy used=use using=use uses=use dismissed=dismiss bus=bus gas=gas
this=this his=his its=its always=always perhaps=perhaps whereas=whereas besides=besides
towards=towards basis=basis analysis=analysis crisis=crisis diagnosis=diagnosis virus=virus
status=status bonus=bonus census=census campus=campus focus=focus canvas=canvas lens=lens
atlas=atlas chaos=chaos plus=plus minus=minus thus=thus across=across access=access
process=process business=business address=address illness=illness loss=loss class=class
pass=pass stress=stress success=success progress=progress express=express dialysis=dialysis
haemodialysis=haemodialysis jaundice=jaundice during=during morning=morning evening=evening
nothing=nothing something=something anything=anything everything=everything string=string
thing=thing king=king ring=ring spring=spring wing=wing sing=sing bring=bring building=building
meeting=meeting ceiling=ceiling speed=speed need=need feed=feed seed=seed weed=weed exceed=exceed
proceed=proceed succeed=succeed indeed=indeed hundred=hundred embed=embed bed=bed red=red
united=united breed=breed wedding=wedding planned=plan occurred=occur permitted=permit
submitted=submit committed=commit admitted=admit referred=refer preferred=prefer
transferred=transfer stopped=stop dropped=drop shipped=ship cancelled=cancel travelled=travel
labelled=label controlled=control enrolled=enrol fulfilled=fulfil agreed=agree freed=free
died=die tied=tie lied=lie issued=issue valued=value continued=continue
"""

# Verbs that seldom stand as nouns: they mark where a predicate begins.
_VERBS: Final = """
accept achieve acquire add agree allow appear apply appoint approve arrange ask attend become begin
believe belong buy carry cause choose close collect come complete comprise confirm consist contain
continue contribute cost create decide deliver depend describe determine develop die discover
discuss drive earn enable encourage end enrol ensure enter establish exceed exist expect expire
explain extend fall find follow forbid fund get give go govern grow happen have hear help hire
hold improve include increase inform inspect insure introduce involve issue join keep know lack
lapse lead learn leave let lie live lose maintain make mean measure meet merge move need
obtain occur offer open operate owe own pay perform permit prefer prepare prevent prohibit
prove provide publish raise reach receive recommend record reduce refer refuse reject relate
remain remove replace represent request require restrict rise run say see seem sell send serve
settle show sign sit speak spend stand start state stay stop submit suggest supply suspend take
teach tell tend terminate think throw travel try turn understand vary wait want warn win
withdraw work write acknowledge announce assess assign assume avoid beat bring build calculate
cease chair claim combine compare compete conclude conduct connect consider consume convert
convince coordinate cover cross deal declare decline deduct define defend delay delete demand
deny depart deserve deserve designate destroy detect differ disclose dismiss display dispose
distribute divide donate double drop eat eliminate employ endorse enforce examine exclude exempt
expand expose express fail feel fill fit fly forget gain generate grant guarantee handle
identify ignore imply impose indicate inhale injure install intend interview invest invite
justify last launch lend lift limit locate look love maintain manage manufacture marry
monitor observe oppose organise overlook participate perceive possess postpone predict
preside proceed produce promise promote propose protect pursue quit reach realise recognise
recover refund register regulate reimburse reinforce release rely remember renew rent repair
repeat reply reside resign resolve respond restore retain retire retaliate return reveal review
satisfy save search seek select separate share shrink solve split store strengthen stretch
substitute succeed suffer supersede surpass survive swallow sweep threaten transfer transmit
treat trigger trust undergo undertake use validate violate visit vote weigh welcome widen
"""

IRREGULAR: Final[dict[str, str]] = {
    form: lemma for form, _, lemma in (pair.partition("=") for pair in _IRREGULAR.split())
}
VERBS: Final[frozenset[str]] = frozenset(_VERBS.split())


_KNOWN: Final = VERBS | frozenset(SYNONYMS) | frozenset(IRREGULAR.values())
_VOWELS: Final = frozenset("aeiouy")
# Families that look related and are not: members never stand for one another.
_APART: Final = (
    frozenset({"employer", "employee", "employ", "employment"}),
    frozenset({"trainer", "trainee"}),
    frozenset({"payer", "payee"}),
    frozenset({"import", "importance", "important"}),
    frozenset({"organ", "organise", "organisation"}),
    frozenset({"univers", "universe", "university"}),
    frozenset({"part", "party", "partial", "partner"}),
    frozenset({"act", "actual", "actor"}),
    frozenset({"apply", "appliance"}),
    frozenset({"commune", "communist", "community"}),
    frozenset({"general", "generate", "generation"}),
    frozenset({"late", "later", "lately"}),
    frozenset({"hard", "hardly"}),
    frozenset({"short", "shortly"}),
    frozenset({"office", "officer", "official"}),
    frozenset({"firm", "firmer"}),
    frozenset({"person", "personal", "personnel"}),
    frozenset({"new", "newly", "news"}),
    frozenset({"care", "career", "careless", "careful"}),
    frozenset({"use", "useful", "useless"}),
    frozenset({"note", "notice", "notion"}),
    frozenset({"nation", "national", "native"}),
    frozenset({"state", "station", "statement"}),
    frozenset({"depart", "department", "departure"}),
    frozenset({"comply", "complete"}),
    frozenset({"found", "founder"}),
    frozenset({"invent", "inventory"}),
    frozenset({"hospital", "hospitality"}),
)
_SUFFIXES: Final = (
    "isation", "ization", "ations", "ation", "ments", "ment", "ances", "ance", "ences", "ence",
    "ities", "ity", "ness", "ively", "ally", "ional", "ions", "ion", "able", "ible", "ally",
    "ings", "ing", "als", "al", "ers", "er", "ors", "or", "ive", "ise", "ize", "ary", "ory",
    "ful", "ous", "ic", "ed", "es", "ly", "al", "e", "y", "s",
)  # fmt: skip


@lru_cache(maxsize=65536)
def lemma_of(word: str) -> str:
    """Return the dictionary form of *word* in lower case (``policies`` → ``policy``)."""
    lowered = word.lower().strip(".'")
    if lowered in IRREGULAR:
        return IRREGULAR[lowered]
    if len(lowered) <= 3 or not lowered.isascii() or any(c.isdigit() for c in lowered):
        return lowered
    if "-" in lowered:
        head, _, tail = lowered.rpartition("-")
        return f"{head}-{lemma_of(tail)}"
    for ending, restore in (
        ("ies", "y"),
        ("sses", "ss"),
        ("shes", "sh"),
        ("ches", "ch"),
        ("xes", "x"),
        ("zes", "ze"),
    ):
        if lowered.endswith(ending) and len(lowered) > len(ending) + 1:
            return lowered[: -len(ending)] + restore
    if lowered.endswith("s") and not lowered.endswith(("ss", "us", "is")):
        return lowered[:-1]
    if lowered.endswith("ied"):
        return lowered[:-3] + "y"
    for ending in ("ed", "ing"):
        if lowered.endswith(ending) and len(lowered) > len(ending) + 2:
            return _verb_base(lowered[: -len(ending)], lowered)
    return lowered


def _verb_base(stem: str, word: str) -> str:
    """Choose among ``stem``, ``stem+e`` and the undoubled stem: known verbs first."""
    if not _VOWELS & set(stem):
        return word
    undoubled = stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
    for candidate in (stem, stem + "e", undoubled):
        if candidate in _KNOWN:
            return candidate
    if undoubled != stem and stem[-1] not in "lsz":
        return undoubled
    ends_in_e = stem.endswith(
        ("at", "iz", "is", "us", "ur", "in", "ag", "dg", "rg", "ng", "c", "v", "u")
    )
    if ends_in_e and not stem.endswith(("ain", "ein", "oin", "eat", "oat", "ing")):
        return stem + "e"
    return stem


@lru_cache(maxsize=65536)
def stem_of(lemma: str) -> str:
    """Return the part of *lemma* that its word family shares (``approval`` → ``approv``)."""
    stem = lemma
    for _ in range(2):
        for suffix in _SUFFIXES:
            if stem.endswith(suffix) and len(stem) - len(suffix) >= 4:
                stem = stem[: -len(suffix)]
                break
        else:
            break
    if len(stem) > 5:
        stem = stem.removesuffix("s")
    return stem[:-1] + "i" if stem.endswith("y") else stem


@lru_cache(maxsize=65536)
def same_family(left: str, right: str) -> bool:
    """Say whether two lemmas belong to one word family (``approve`` and ``approval``)."""
    if left == right:
        return True
    if any(left in group and right in group for group in _APART):
        return False
    if {left[-2:], right[-2:]} == {"er", "ee"}:
        return False
    negative = ("un", "in", "im", "non", "dis", "ir", "il", "mis", "over", "under", "pre", "post")
    if any(left.startswith(p) != right.startswith(p) for p in negative):
        return False
    stems = stem_of(left), stem_of(right)
    return stems[0] == stems[1] and len(stems[0]) >= 4
