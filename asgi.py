"""The served app: the pages with security headers around them (`streamlit run asgi.py`)."""

import streamlit as st
from starlette.middleware import Middleware

from ui.headers import SecurityHeaders

app = st.App("app.py", middleware=[Middleware(SecurityHeaders)])
