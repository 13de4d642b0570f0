"""What a reader takes along of an answer: a file for reading, or its text with footnotes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.auditing.report_files import FORMATS, report_file
from certirag.render import file_name, footnotes_of
from ui.inert import draw_copyable, draw_text
from ui.language import tr

if TYPE_CHECKING:
    from certirag.render import Presentation

NAMES: Final = {"md": "Markdown", "docx": "Word", "pdf": "PDF"}


def draw_taking(presentation: Presentation, export: bytes, place: str = "") -> None:
    """Draw the ways to take along what this mode shows; a file is made when it is asked for.

    *export* is the signed record of it; *place* tells apart the answers of one page.
    """
    with st.popover(tr("Export"), key=f"export{place}"):
        st.caption(tr("For reading. The audit JSON is what proves it."))
        for suffix, of in FORMATS.items():
            if of.missing:
                draw_text(of.missing, "note")
                continue
            st.download_button(
                NAMES[suffix],
                data=partial(report_file, presentation, suffix),
                file_name=file_name(presentation, suffix),
                mime=of.mime,
                key=f"export-{suffix}{place}",
                on_click="ignore",
                width="stretch",
            )
    with st.popover(tr("Copy with footnotes"), key=f"copy{place}"):
        st.caption(tr("The button at the top right of the text copies all of it."))
        draw_copyable(footnotes_of(presentation))
    st.download_button(
        tr("Download audit JSON"),
        data=export,
        file_name=file_name(presentation, "json"),
        mime="application/json",
        key=f"audit-json{place}",
        on_click="ignore",
    )
