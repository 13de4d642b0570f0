"""What was measured of wrong badges, drawn below a badge; nothing is claimed where nothing fits."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

from certirag.errors import ModelError
from certirag.render import Presentation
from certirag.settings import ASSETS
from certirag.verification.measured import Measurement, measured_for, read_measurements
from ui.inert import draw_text
from ui.language import tr

MEASURED: Final = ASSETS / "models" / "verifier" / "measured.json"


def draw_risk(presentation: Presentation) -> None:
    """Draw how often badges of this verifier and policy were wrong, or that nobody measured it."""
    st.subheader(tr("How often such badges are wrong"), anchor=False)
    found = measured_for(shipped(), presentation.record.models, presentation.policy)
    for measurement in found:
        draw_text(measurement.sentence, "reason")
        draw_text(measurement.description, "note", max_lines=4)
    if not found:
        st.caption(tr("No measurement exists for this verifier and policy."))


def shipped() -> tuple[Measurement, ...]:
    """Return all measurements that ship, of whatever verifier and policy."""
    return _read(MEASURED)


def _read(path: Path) -> tuple[Measurement, ...]:
    """Return the measurements that ship, none of them when the file is not as it should be."""
    try:
        return read_measurements(path)
    except ModelError:
        return ()
