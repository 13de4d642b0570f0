"""The app's frame: page config and navigation; each page is a short script in `app_pages/`."""

from pathlib import Path

import streamlit as st

from ui.language import tr
from ui.services import offers_audit

# A local picture: a material icon would be fetched from a foreign host.
st.set_page_config(page_icon=Path(__file__).parent / "assets" / "icon.png", layout="centered")
st.navigation(
    [
        st.Page("app_pages/ask.py", title=tr("Ask"), icon="💬", default=True),
        st.Page("app_pages/draft.py", title=tr("Check a draft"), icon="📝"),
        st.Page("app_pages/corpus.py", title=tr("Corpus"), icon="📚"),
        *([st.Page("app_pages/audit.py", title=tr("Audit"), icon="🗂️")] if offers_audit() else []),
        *(
            [st.Page("app_pages/evaluation.py", title=tr("Evaluation"), icon="📊")]
            if offers_audit()
            else []
        ),
        st.Page("app_pages/contract.py", title=tr("Trust contract"), icon="📜"),
        st.Page("app_pages/document.py", title=tr("Document"), icon="📄", visibility="hidden"),
    ],
    position="top",
).run()
