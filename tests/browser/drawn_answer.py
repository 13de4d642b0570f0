"""A page of its own for the tests: draws the export in a file with the app's own functions.

The shipped app has no such door. CERTIRAG_DRAWN names the export; the tests' key is trusted.
"""

import os
import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gate_cases import POLICY, TRUSTED

from ui.answer import show_answer
from ui.controls import choose_mode
from ui.inert import draw_style

draw_style()
st.session_state["runs"] = st.session_state.get("runs", 0) + 1
mode = choose_mode()
show_answer(Path(os.environ["CERTIRAG_DRAWN"]).read_bytes(), mode, trusted=TRUSTED, floor=POLICY)
st.caption("End of page")
