"""The evaluation page: who may see it, and which of its views is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from certirag.core.said import Message
from ui import services
from ui.evaluation_runs import draw_runs
from ui.language import from_address, to_address, tr
from ui.spot_check import draw_spot_check

# Each view by its name, in order.
VIEWS: Final[dict[Message, Callable[[], None]]] = {
    "Runs": draw_runs,
    "Spot check": draw_spot_check,
}
FIRST: Final = "Runs"
CLOSED: Final[Message] = (
    "Runs hold the texts of their data, so this page opens for everybody or for nobody: whoever "
    "operates this server opens it by starting it with CERTIRAG_AUDIT_EVERYONE=true."
)


def evaluation_page() -> None:
    """Draw the whole of Evaluation below its heading, where everybody may see what is kept."""
    if not services.offers_audit():  # an address may lead here past the navigation
        st.info(tr("This server has no evaluation page."))
    elif not services.shows_everyone():
        st.info(tr(CLOSED))
    else:
        with st.container(key="evaluation"):
            VIEWS[_chosen_view()]()


def _chosen_view() -> str:
    """Draw the choice of the view, and return its name."""
    from_address("evaluation-view", tuple(VIEWS), FIRST)
    view = st.segmented_control(
        tr("View"),
        VIEWS,
        required=True,
        format_func=tr,
        key="evaluation-view",
        label_visibility="collapsed",
    )
    chosen = view if view in VIEWS else FIRST
    to_address("evaluation-view", chosen, FIRST)
    return chosen
