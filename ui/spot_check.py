"""A blind spot check: one claim at a time with its evidence, judged by keys, under the rater's own name.

What is drawn is read from the items of a sample and from the rater's own file. The sample's key,
which knows the gold and the scores, is never opened here, and neither is the file of another rater.
Nobody signs in: a name is what was typed, so whoever types another's continues that one's ratings.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import streamlit as st

from certirag.core.said import Message, said
from certirag.errors import CertiRAGError
from certirag.eval.failure_kinds import KINDS, FailureKind, suggested_kind
from certirag.eval.spot_items import FOLDER, SpotItem, read_items, sample_names
from certirag.eval.spot_ratings import (
    MOST_REASON,
    RaterVerdict,
    Rating,
    rate,
    ratings_of,
    require_rater,
    withdraw_last,
)
from certirag.settings import read_settings
from ui import services
from ui.inert import draw_text, tell
from ui.language import tr

_AT: Final = "spot_item"  # the item whose kind of failure is being chosen
_KIND: Final = "spot_kind"  # the kind that is chosen
_SAID: Final = "spot_said"  # what came of the last key: text and role
NOT_HERE: Final[Message] = (
    "Spot checks show claims of every user's answers. Whoever operates this server can allow that."
)
NO_SAMPLE: Final[Message] = (
    "There is no sample to judge. The command certirag eval sample draws one of a run; it has to lie "
    "in the folder spot-checks of this server's home."
)
WHAT_FOR: Final[Message] = (
    "Each of these claims was given a badge. Judge by the sentences below it alone, not by what you "
    "know: do they say all of the claim?"
)
NAME_HELP: Final[Message] = (
    "Small letters, digits and . _ - as in anna.weber. Your ratings are kept under it, and you go on "
    "under it where you stopped. Nobody else's are shown to you."
)
CONSENT_HELP: Final[Message] = (
    "Off unless you say so, and it stands in each rating. Claim, evidence, your verdict and your reason "
    "may then be exported to train and to measure verifiers."
)
REASON_HELP: Final[Message] = "One line. Leave the box with Tab before you press a key."
KINDS_SAID: Final[dict[FailureKind, Message]] = {
    "unsupported": "Unsupported: the sentences do not say it",
    "contradicted": "Contradicted: they say the opposite",
    "misattributed": "Misattributed: it may be said, but not in these sentences",
    "over_synthesis": "Over-synthesis: a conclusion that none of them states",
    "numeric_drift": "Numeric drift: a wrong figure, unit, period or subject of one",
    "context_loss": "Context loss: what limits it was left out",
}


def draw_spot_check() -> None:
    """Draw the spot check: which sample, who rates, and the next claim that this rater has not judged."""
    if not services.shows_everyone():
        st.info(tr(NOT_HERE))
        return
    _draw_said()
    names = sample_names(read_settings().home)
    if not names:
        st.info(tr(NO_SAMPLE))
        return
    st.caption(tr(WHAT_FOR))
    with st.container(horizontal=True, vertical_alignment="bottom", key="spot-head"):
        chosen = st.selectbox(tr("Sample"), names, key="spot-sample", width=220)
        st.toggle(
            tr("My ratings may be used for training"),
            key="spot-consent",
            help=tr(CONSENT_HELP),
            persist_state="session",
        )
        # Last, so that Tab leads from it to the verdicts: keys are letters as long as it is typed in.
        rater = st.text_input(
            tr("Your name"),
            max_chars=64,
            key="spot-rater",
            help=tr(NAME_HELP),
            persist_state="session",
            width=220,
        ).strip()
    if not rater or chosen not in names:
        return
    folder = read_settings().home / FOLDER / chosen
    try:
        require_rater(rater)
        items = read_items(folder)
        rated = ratings_of(folder, rater, {item.id for item in items})
    except CertiRAGError as error:
        draw_text(str(error), "error")
        return
    left = [item for item in items if item.id not in rated]
    if left:
        place = len(items) - len(left) + 1
        st.subheader(tr("Claim {place:d} of {n:d}", place=place, n=len(items)), anchor=False)
        _draw_item(folder, rater, left[0])
    else:
        st.info(tr("You have judged all {n:d} claims of this sample. Thank you.", n=len(items)))
    st.button(
        tr("Take the last one back"),
        key=f"spot-undo-{len(rated):d}",
        shortcut="U",
        disabled=not rated,
        on_click=_undo,
        args=(folder, rater),
    )


def _draw_said() -> None:
    if _SAID in st.session_state:
        text, role = st.session_state.pop(_SAID)
        if role == "error":
            draw_text(text, "error")
        else:
            tell(text)


def _draw_item(folder: Path, rater: str, item: SpotItem) -> None:
    draw_text(item.claim, "claim")
    st.caption(tr("Evidence"))
    for sentence in item.evidence:
        draw_text(sentence, "passage")
    if item.against and item.against not in item.evidence:
        st.caption(tr("The sentence that speaks most against it"))
        draw_text(item.against, "passage")
    if st.session_state.get(_AT) == item.id:
        _draw_kinds(folder, rater, item)
    else:
        _draw_verdicts(folder, rater, item)
    st.text_input(
        tr("Reason (optional)"),
        max_chars=MOST_REASON,
        key=f"spot-reason-{item.id}",
        help=tr(REASON_HELP),
    )


def _draw_verdicts(folder: Path, rater: str, item: SpotItem) -> None:
    """Draw the three verdicts; their keys name the claim, so that none is taken for the next one's."""
    with st.container(horizontal=True, key="spot-verdicts"):
        st.button(
            tr("Supported"),
            key=f"spot-supported-{item.id}",
            shortcut="S",
            on_click=_rate,
            args=(folder, rater, item, "supported"),
        )
        st.button(
            tr("Not supported"),
            key=f"spot-not-{item.id}",
            shortcut="N",
            on_click=_ask_kind,
            args=(item,),
        )
        st.button(
            tr("Cannot tell"),
            key=f"spot-open-{item.id}",
            shortcut="T",
            on_click=_rate,
            args=(folder, rater, item, "cannot_tell"),
        )


def _draw_kinds(folder: Path, rater: str, item: SpotItem) -> None:
    """Draw the six kinds of failure with the chosen one marked, at first what a rule proposes."""
    chosen = st.session_state.get(_KIND, "")
    suggested = suggested_kind(item.claim, item.evidence, item.against)
    st.caption(
        tr("Why is it not supported? A rule proposes the marked one; press a number to change it.")
        if suggested
        else tr("Why is it not supported? No rule proposes anything; press a number.")
    )
    for number, kind in enumerate(KINDS, 1):
        st.button(
            tr(KINDS_SAID[kind]),
            key=f"spot-kind-{number:d}-{item.id}",
            shortcut=f"{number:d}",
            type="primary" if kind == chosen else "secondary",
            on_click=_choose_kind,
            args=(kind,),
        )
    with st.container(horizontal=True, key="spot-record"):
        st.button(
            tr("Record it"),
            key=f"spot-record-{item.id}",
            shortcut="N",
            disabled=not chosen,
            on_click=_rate,
            args=(folder, rater, item, "not_supported"),
        )
        st.button(tr("Back"), key=f"spot-back-{item.id}", shortcut="B", on_click=_ask_nothing)


def _ask_kind(item: SpotItem) -> None:
    st.session_state[_AT] = item.id
    st.session_state[_KIND] = suggested_kind(item.claim, item.evidence, item.against)


def _choose_kind(kind: FailureKind) -> None:
    st.session_state[_KIND] = kind


def _ask_nothing() -> None:
    st.session_state.pop(_AT, None)
    st.session_state.pop(_KIND, None)


def _rate(folder: Path, rater: str, item: SpotItem, verdict: RaterVerdict) -> None:
    """Keep the rating, unless what was allowed when its button was drawn no longer is.

    A key that was pressed twice before the next claim was drawn rates this one once.
    """
    if not services.shows_everyone():
        return
    failed = verdict == "not_supported"
    rating = Rating(
        item=item.id,
        verdict=verdict,
        kind=st.session_state.get(_KIND, "") if failed else "",
        suggested=suggested_kind(item.claim, item.evidence, item.against) if failed else "",
        reason=str(st.session_state.get(f"spot-reason-{item.id}", "")),
        rater=rater,
        consent=bool(st.session_state.get("spot-consent", False)),
    )
    try:
        if item.id not in ratings_of(folder, rater, {one.id for one in read_items(folder)}):
            rate(folder, rating, datetime.now(UTC))
        st.session_state[_SAID] = (said("Kept. The next claim follows."), "note")
    except CertiRAGError as error:
        st.session_state[_SAID] = (str(error), "error")
        return
    _ask_nothing()


def _undo(folder: Path, rater: str) -> None:
    if not services.shows_everyone():
        return
    try:
        ids = {item.id for item in read_items(folder)}
        withdraw_last(folder, rater, ids, datetime.now(UTC))
        st.session_state[_SAID] = (said("Taken back. It is to be judged again."), "note")
    except CertiRAGError as error:
        st.session_state[_SAID] = (str(error), "error")
    _ask_nothing()
