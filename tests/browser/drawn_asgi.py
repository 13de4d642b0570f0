"""Serves `drawn_answer.py` behind the app's own security headers."""

import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ui.headers import SecurityHeaders

app = st.App("drawn_answer.py", middleware=[Middleware(SecurityHeaders)])
