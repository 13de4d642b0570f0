"""The app's frame: page config and navigation; each page is a short script in `app_pages/`."""

from pathlib import Path

import streamlit as st

from ui.services import offers_audit

# A local picture: a material icon would be fetched from a foreign host.
st.set_page_config(page_icon=Path(__file__).parent / "assets" / "icon.png", layout="centered")
st.navigation(
    [
        st.Page("app_pages/ask.py", title="Ask", icon="💬", default=True),
        st.Page("app_pages/draft.py", title="Check a draft", icon="📝"),
        st.Page("app_pages/corpus.py", title="Corpus", icon="📚"),
        *([st.Page("app_pages/audit.py", title="Audit", icon="🗂️")] if offers_audit() else []),
        st.Page("app_pages/contract.py", title="Trust contract", icon="📜"),
        st.Page("app_pages/document.py", title="Document", icon="📄", visibility="hidden"),
    ],
    position="top",
).run()
