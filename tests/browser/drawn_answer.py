"""A page of its own for the tests: draws the export in a file with the app's own functions.

The shipped app has no such door. CERTIRAG_DRAWN names the export, CERTIRAG_DRAWN_SECOND that of a
second draft to stand beside it; the tests' key is trusted.
"""

import os
import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gate_cases import POLICY, TRUSTED

from ui.answer import show_answer
from ui.compared import show_compared
from ui.controls import choose_mode
from ui.inert import draw_style

draw_style()
st.session_state["runs"] = st.session_state.get("runs", 0) + 1
mode = choose_mode()
export = Path(os.environ["CERTIRAG_DRAWN"]).read_bytes()
second = os.environ.get("CERTIRAG_DRAWN_SECOND")
if second:
    both = (export, Path(second).read_bytes())
    show_compared(both, mode, trusted=TRUSTED, floor=POLICY, corpus=None, key="second")
else:
    show_answer(export, mode, trusted=TRUSTED, floor=POLICY)
st.caption("End of page")
