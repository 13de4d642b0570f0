"""The plots of a run as files: pages where plotly is installed, pictures where matplotlib is."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from certirag.eval.pair_plots import CountGrid, FigurePlot

# Package → what it draws.
_DRAWN_BY: Final = {"plotly": "pages (HTML)", "matplotlib": "pictures (PNG)"}


def write_plots(plots: Sequence[FigurePlot | CountGrid], out: Path) -> None:
    """Write each plot into the folder *out* in every form whose package is installed."""
    if find_spec("plotly"):
        from certirag.eval.plot_pages import plot_page  # noqa: PLC0415  # not for tables alone

        for plot in plots:
            plot_page(plot).write_html(out / f"{plot.name}.html", include_plotlyjs="directory")
    if find_spec("matplotlib"):
        from certirag.eval.plot_pictures import write_picture  # noqa: PLC0415  # the same

        for plot in plots:
            write_picture(plot, out / f"{plot.name}.png")


def plots_left_out() -> str:
    """Return in one line which forms of the plots are not written and what to install, or ""."""
    missing = [package for package in _DRAWN_BY if not find_spec(package)]
    if not missing:
        return ""
    forms = " and ".join(_DRAWN_BY[package] for package in missing)
    verb = "is" if len(missing) == 1 else "are"
    packages = " and ".join(missing)
    return (
        f"no {forms} of the plots: {packages} {verb} not installed (pip install 'certirag[plots]')"
    )
