"""What a stranger needs to check an answer: the checker page, its digest, the log's public key."""

from __future__ import annotations

from typing import Final

import streamlit as st

from certirag.core.text import sha256_hex
from certirag.errors import InputError
from certirag.proof.envelope import raw_public_key
from certirag.proof.trust import KeyRing
from certirag.settings import ASSETS
from ui import services
from ui.contract_text import CHECKER_USE, KEY_FROM_OWNER, KEYS_CHANGED
from ui.inert import draw_text
from ui.language import tr

CHECKER: Final = ASSETS / "checker.html"


def draw_checkers(keyid: str = "") -> None:
    """Offer the checker page with its SHA-256, and the public key *keyid* if it is trusted.

    Raises InputError when the page is missing from the installation.
    """
    try:
        page = CHECKER.read_bytes()
    except OSError as error:
        raise InputError(f"assets/{CHECKER.name} is missing: restore it") from error
    st.markdown(tr(CHECKER_USE))
    trusted = services.shared().services.trusted
    key = trusted.get(keyid)
    with st.container(horizontal=True, vertical_alignment="center", key="checkers"):
        st.download_button(
            tr("Download the checker page"),
            data=page,
            file_name="certirag-checker.html",
            mime="text/html",
            on_click="ignore",
        )
        if key is not None:
            st.download_button(
                tr("Download the public key"),
                data=raw_public_key(key).hex() + "\n",
                file_name="certirag-signing.pub",
                mime="text/plain",
                on_click="ignore",
                help=tr(KEY_FROM_OWNER),
            )
    draw_text(tr("SHA-256 of the checker page: {digest}", digest=sha256_hex(page)), "note")
    if isinstance(trusted, KeyRing):
        st.caption(tr(KEYS_CHANGED))
