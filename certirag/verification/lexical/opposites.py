"""Hand-written pairs of opposites: words left of the bar oppose words right of it."""

from __future__ import annotations

from typing import Final

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
