"""The plots of a run: their points are the figures, and no name in them is markup or a formula."""

from __future__ import annotations

import io
import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image

from certirag.bootstrap import load_policy
from certirag.eval import plot_files
from certirag.eval.gate_counts import trials_of
from certirag.eval.measured_claims import MeasuredClaim
from certirag.eval.pair_plots import FigurePlot, PlotSeries
from certirag.eval.pair_report import write_report
from certirag.eval.pair_rows import MeasuredRow
from certirag.eval.plot_files import plots_left_out, write_plots

POLICY = load_policy("strict-1")
TAUS = [trial.tau_entail for trial in trials_of(POLICY)]
HOSTILE = "$\\frac{1}$ <a href='https://e.org'>x</a><b>_y_ \u202e日本 שלום ✅ Verified </script>"


def _row(number: int, gold: str, score: float, source: str) -> MeasuredRow:
    """Return a row of one claim that has the badge where its score reaches the threshold."""
    true = gold == "entailed"
    counts = []
    for tau in TAUS:
        badge = int(score >= tau)
        counts.append((badge, badge * (not true), int(true), badge * true))
    state = "VERIFIED" if score >= POLICY.tau_entail else "UNVERIFIED"
    claim = MeasuredClaim("The mill is old.", state, "NEI", score, 0.0, (), "", (), "")
    return MeasuredRow(
        number=number,
        source=source,
        title="",
        premise="The mill is old.",
        hypothesis="The mill is old.",
        false="",
        gold=gold,
        label="entailed" if score >= 0.5 else "not_enough_info",
        entailed=score,
        not_enough_info=round(1 - score, 6),
        contradicted=0.0,
        cosine=0.5,
        premise_words=4,
        hypothesis_words=4,
        claims=[claim],
        counts=counts,
    )


ROWS = [
    _row(0, "entailed", 0.98, "a"),
    _row(1, "entailed", 0.72, "a"),
    _row(2, "not_enough_info", 0.91, "a"),
    _row(3, "contradicted", 0.03, HOSTILE),
    _row(4, "entailed", 0.9, HOSTILE),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Return a folder with the report of the rows above."""
    out = tmp_path_factory.mktemp("run")
    write_report(ROWS, POLICY, out, seed=0, head="Measured: by hand.")
    return out


def _page(path: Path) -> list[dict]:
    """Return the traces of a page of plotly."""
    text = path.read_text("utf-8")
    start = text.index("Plotly.newPlot(")
    return json.JSONDecoder().raw_decode(text, text.index("[{", start))[0]


def test_the_points_are_the_figures(run) -> None:
    """At 0.85 three badges, one of them wrong, and two of three true rows reached."""
    by_name = {trace["name"]: trace for trace in _page(run / "risk.html") if "name" in trace}
    policy = by_name["threshold of the policy, 0.85"]
    assert (policy["x"], policy["y"]) == ([2 / 3], [2 / 3])
    curve = by_name["all rows (5)"]
    assert len(curve["x"]) == len(TAUS) - 1  # at 0.99 there is no badge and so no precision
    assert curve["hovertext"][TAUS.index(0.7)] == "threshold 0.70"
    assert (curve["x"][TAUS.index(0.7)], curve["y"][TAUS.index(0.7)]) == (1.0, 0.75)
    (sources,) = _page(run / "sources.html")
    assert sources["x"] == [2 / 3, 0.5, 1.0]  # all rows first, from below
    assert sources["hovertext"] == ["1 wrong of 3", "1 wrong of 2", "0 wrong of 1"]
    strict = _page(run / "exposure.html")[-1]
    assert (strict["name"], strict["x"], strict["y"]) == ("CertiRAG Strict", [2 / 3], [1 / 3])
    (grid,) = _page(run / "confusion.html")
    assert grid["y"] == ["entailed", "not enough info", "contradicted"]
    assert grid["z"] == [[3, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]]
    scores = {trace["name"]: trace for trace in _page(run / "scores.html")}
    assert list(scores) == ["contradicted (1)", "entailed (3)", "not enough info (1)"]
    assert scores["entailed (3)"]["y"][14] == 1 / 3  # 0.72 lies in [0.70, 0.75)
    assert sum(scores["entailed (3)"]["y"]) == pytest.approx(1.0)


def test_a_hostile_name_is_text_on_a_page(run) -> None:
    """No tag of it stands in a page: plotly would make a link of one; what nobody sees is marked."""
    for path in run.glob("*.html"):
        text = path.read_text("utf-8")
        assert "<a href" not in text
        assert "\\u003ca" not in text
        assert "\u202e" not in text
        assert "\\u202e" not in text
    (sources,) = [json.dumps(_page(run / "sources.html"))]
    assert "✅" not in sources


def test_a_hostile_name_is_text_in_every_table(run) -> None:
    """The report as a whole: a row for each source has it, and nothing in it is a command."""
    tex = (run / "figures.tex").read_text("utf-8")
    assert "\\frac" not in tex
    assert "\u202e" not in tex + (run / "figures.md").read_text("utf-8")
    assert tex.count(r"\textbackslash{}frac\{1\}") == 6  # three tables, and three classes


def test_a_picture_is_the_same_on_each_run(run, tmp_path) -> None:
    """Hostile names, formulas that TeX could not read and letters without a glyph included."""
    pytest.importorskip("matplotlib")
    from certirag.eval.plot_pictures import as_drawn

    names = sorted(path.name for path in run.glob("*.png"))
    assert names == [
        f"{name}.png"
        for name in sorted(("risk", "exposure", "reliability", "confusion", "sources", "scores"))
    ]
    write_report(ROWS, POLICY, tmp_path, seed=0, head="Measured: by hand.")
    for name in names:
        data = (run / name).read_bytes()
        assert (tmp_path / name).read_bytes() == data
        with Image.open(io.BytesIO(data)) as image:
            assert image.size[0] == 1200
            assert len(image.convert("L").getcolors() or ()) > 2
    assert as_drawn("a 日 ש é") == "a ⟨U+65E5⟩ ⟨U+05E9⟩ é"


def test_a_picture_draws_a_name_with_an_underscore_and_no_formula(tmp_path, monkeypatch) -> None:
    """Matplotlib hides a name that begins so, and would read what stands between dollar signs."""
    matplotlib = pytest.importorskip("matplotlib")
    from certirag.eval import plot_pictures

    drawn = []
    save = plot_pictures.Figure.savefig

    def keep(figure, *args, **kwargs):
        (axes,) = figure.axes
        drawn.extend(axes.get_legend().get_texts())
        return save(figure, *args, **kwargs)

    monkeypatch.setattr(plot_pictures.Figure, "savefig", keep)
    before = dict(matplotlib.rcParams)
    series = tuple(PlotSeries(name, (0.0, 1.0), (0.0, 1.0)) for name in ("_a", "$\\frac{1$"))
    write_plots([FigurePlot("p", "$\\bad{$", "_x_", "y", series)], tmp_path)
    assert [text.get_text() for text in drawn] == [" _a", "$\\frac{1$"]
    assert not any(text.get_parse_math() for text in drawn)
    assert dict(matplotlib.rcParams) == before


def test_what_is_not_installed_is_said_and_left_out(tmp_path, monkeypatch) -> None:
    """Tables are written all the same, and one line names what to install."""
    monkeypatch.setattr(plot_files, "find_spec", lambda name: None)
    write_report(ROWS, POLICY, tmp_path, seed=0, head="Measured: by hand.")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("figures.csv", "figures.json", "figures.md", "figures.tex", "systems.csv"),
    ]
    assert plots_left_out() == (
        "no pages (HTML) and pictures (PNG) of the plots: plotly and matplotlib are not installed "
        "(pip install 'certirag[plots]')"
    )
    monkeypatch.setattr(plot_files, "find_spec", find_spec)
    assert ("matplotlib" in plots_left_out()) == (find_spec("matplotlib") is None)


def test_rows_without_a_badge_have_plots_too(tmp_path) -> None:
    """Nothing to draw is an empty plot and no error; one class alone as well."""
    rows = [_row(0, "entailed", 0.1, "a"), _row(1, "entailed", 0.2, "a")]
    write_report(rows, POLICY, tmp_path, seed=0, head="Measured: by hand.")
    curve = next(
        trace for trace in _page(tmp_path / "risk.html") if trace["name"] == "all rows (2)"
    )
    assert curve["x"] == []
    (sources,) = _page(tmp_path / "sources.html")
    assert sources["x"] == []
