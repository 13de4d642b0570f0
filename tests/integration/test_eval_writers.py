"""A language model answers in four ways over the same documents: what each shows, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from integration_fixtures import FIXTURES
from llm_server import Played, endpoint, reply, spoken

from certirag.cli.main import main
from certirag.eval.writers import LINES, AnsweredByAll, AskedOfAll, writer_figures
from certirag.eval.writing_systems import CERTIFIED, SYSTEMS, WrittenAnswer

pytestmark = pytest.mark.slow

ASKED = "How many days of annual leave do full-time employees receive?"
RIGHT = "Full-time employees receive 27 days of annual leave per calendar year."
WRONG = "Full-time employees receive 40 days of annual leave per calendar year."
QUERIES = json.dumps({"queries": ["annual leave days full-time", "holiday allowance"]})
ONE_SEARCH, MORE_SEARCHES, FIRST, _ = SYSTEMS


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a home and an index of the policy corpus, and one question."""
    folder = tmp_path_factory.mktemp("writers")
    (folder / "questions.jsonl").write_text(json.dumps({"question": ASKED}) + "\n", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CERTIRAG_HOME", str(folder / "home"))
        corpus = FIXTURES / "corpora" / "policy"
        assert main(["ingest", str(corpus), "--index", str(folder / "index")]) == 0
    return folder


@pytest.fixture(autouse=True)
def _home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CERTIRAG_HOME", str(home / "home"))


class Model:
    """Writes *text* with *mark* from passages, *text* alone from a sentence, *queries* where it is asked for them."""

    def __init__(self) -> None:
        self.fails = ""  # at what it is asked
        self.says(RIGHT)

    def says(self, text: str, mark: str = " [1]", queries: str = QUERIES) -> None:
        """Write so from now on."""
        self.text, self.mark, self.queries = text, mark, queries

    def __call__(self, content: dict[str, Any], handler: object) -> bytes | None:
        told = content["messages"][0]["content"]
        asked = "queries" if "queries" in told else "passages" if "[2][3]" in told else "sentence"
        if asked == self.fails:
            reply(handler, 503)
            return None
        if asked == "queries":
            return spoken(self.queries)
        return spoken(f"{self.text[:-1]}{self.mark}." if asked == "passages" else self.text)


@pytest.fixture(scope="module")
def model() -> Model:
    """Return the model behind `served`."""
    return Model()


@pytest.fixture(scope="module")
def served(model: Model) -> Iterator[Played]:
    """Serve the model, at one address for all tests, since its name has the address in it."""
    with endpoint(model) as played:
        yield played


@pytest.fixture
def run(
    home: Path, served: Played, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Any]]:
    """Return a function that runs the command into a folder and gives the figures of each system."""
    monkeypatch.setenv("CERTIRAG_LLM_URL", served.url)
    given = ["--questions", str(home / "questions.jsonl"), "--index", str(home / "index")]

    def figures(out: str, name: str = "openai:test", exit_code: int = 0) -> dict[str, Any]:
        command = ["eval", "writers", *given, "--out", str(home / out), "--generator", name]
        assert main(command) == exit_code
        written = home / out / "figures.json"
        if not written.exists():
            return {}
        found = json.loads(written.read_text("utf-8"))
        return {own["system"]: own for own in found["systems"]}

    return figures


def _outputs(home: Path, out: str) -> dict[str, str]:
    (line,) = (home / out / LINES).read_text("utf-8").splitlines()
    return {own["system"]: own["output"] for own in json.loads(line)["answers"]}


def test_what_is_untrue_is_shown_by_all_but_one(home, model, run) -> None:
    """The model says 40 days: three systems show it, and the product quotes the document instead."""
    model.says(WRONG)
    figures = run("wrong")
    outputs = _outputs(home, "wrong")
    assert all("40 days" in outputs[name] for name in (ONE_SEARCH, MORE_SEARCHES, FIRST))
    assert "40 days" not in outputs[CERTIFIED]
    assert "27 days" in outputs[CERTIFIED]
    for name in (ONE_SEARCH, MORE_SEARCHES, FIRST):
        assert figures[name]["unsupported"]["part"] == figures[name]["sentences"] > 0
        assert figures[name]["recall"] == 0.0
    assert figures[CERTIFIED]["unsupported"]["part"] == 0
    assert figures[CERTIFIED]["quoted"] == figures[CERTIFIED]["sentences"] > 0
    assert (figures[ONE_SEARCH]["requests"], figures[MORE_SEARCHES]["requests"]) == (1.0, 2.0)


def test_what_is_true_is_shown_by_all_and_each_file_is_one_of_alce(home, model, run) -> None:
    """The same sentence in all four, and `eval alce` reads what they cite."""
    model.says(RIGHT)
    figures = run("right")
    assert all("27 days" in output for output in _outputs(home, "right").values())
    for at, name in enumerate(SYSTEMS, 1):
        out = home / f"alce-{at}"
        assert (
            main(
                [
                    "eval",
                    "alce",
                    "--data",
                    str(home / "right" / f"system-{at}.json"),
                    "--out",
                    str(out),
                ]
            )
            == 0
        )
        cited = json.loads((out / "figures.json").read_text("utf-8"))["citations"]
        assert cited["sentences"] == figures[name]["sentences"] > 0
        assert cited["recall"] == pytest.approx(figures[name]["recall"])
    assert figures[CERTIFIED]["recall"] == 1.0


def test_a_run_goes_on_and_asks_nothing_twice(home, model, served, run) -> None:
    """What is written down stays; another model is another run."""
    model.says(RIGHT)
    first, asked = run("again"), len(served.requests)
    assert asked > 0
    assert run("again") == first
    assert run("again", "openai:other", exit_code=2) == first
    assert len(served.requests) == asked


@pytest.mark.parametrize("queries", ["none", '{"queries": 3}', '{"queries": ["a"], "x": 1}'])
def test_without_usable_queries_the_question_alone_is_searched(home, model, run, queries) -> None:
    """The answer stands, and the table says that the model failed."""
    out = f"queries-{len(queries)}"
    model.says(RIGHT, queries=queries)
    figures = run(out)
    assert figures[MORE_SEARCHES]["failed"] == 1
    assert figures[ONE_SEARCH]["failed"] == 0
    outputs = _outputs(home, out)
    assert outputs[MORE_SEARCHES] == outputs[ONE_SEARCH] != ""


def test_a_citation_of_nothing_supports_nothing(home, model, run) -> None:
    """A number that no passage has bears out nothing, whatever the sentence says."""
    model.says(RIGHT, mark=" [999]")
    figures = run("nowhere")
    assert figures[ONE_SEARCH]["recall"] == 0.0
    assert figures[ONE_SEARCH]["uncited"]["part"] == 1
    assert figures[CERTIFIED]["recall"] == 1.0
    assert figures[CERTIFIED]["uncited"]["part"] == 0


def test_a_mark_in_a_claim_is_no_citation(home, model, run) -> None:
    """A model that writes [1] into a claim gains no citation where claims have their own."""
    model.says(RIGHT.replace("leave", "leave [1]"))
    run("marked")
    assert "leave [1]" not in _outputs(home, "marked")[FIRST]


@pytest.mark.parametrize("system", ["passages", "queries", "sentence"])
def test_a_server_that_fails_ends_the_run_which_goes_on_later(
    home, model, run, capsys, system
) -> None:
    """One line, nothing kept of the question, and the same command asks it again."""
    model.says(RIGHT)
    model.fails = system
    capsys.readouterr()
    assert run(f"down-{system}", exit_code=2) == {}
    assert "Traceback" not in (told := capsys.readouterr().err)
    assert "run the same command again" in told.splitlines()[-1]
    model.fails = ""
    assert run(f"down-{system}")[CERTIFIED]["failed"] == 0


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ([], "--generator"),
        (["--generator", "openai:test", "--index", "x"], "belong together"),
        (["--generator", "openai:test", "--questions", "x"], "belong together"),
    ],
)
def test_what_is_missing_is_one_line(home, capsys, more, says) -> None:
    """Exit code 2, before anything is asked or written."""
    assert main(["eval", "writers", "--out", str(home / "none"), *more]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert told.count("\n") == 1
    assert not (home / "none").exists()


def _line(number: int, answerable: bool, *said: str) -> AnsweredByAll:
    asked = AskedOfAll("policy", "?", answerable, (("27 days", "27 d"),) if answerable else ())
    answers = tuple(
        WrittenAnswer(name, text, answers=bool(text))
        for name, text in zip(SYSTEMS, said, strict=True)
    )
    return AnsweredByAll(number, asked, answers, ((), (), (), ()))


def test_figures_are_counted_as_they_are_named() -> None:
    """Two questions with an answer and one without."""
    lines = [
        _line(0, True, "It is 27  Days.", "It is 40 days.", "", "27 d"),
        _line(1, True, "No idea.", "27 days", "", "27 days"),
        _line(2, False, "Yes.", "", "", ""),
    ]
    one, more, first, certified = writer_figures(lines)
    assert [own.told.part for own in (one, more, first, certified)] == [1, 1, 0, 2]
    assert [(own.without.part, own.without.whole) for own in (one, more, first)] == [
        (1, 2),
        (1, 2),
        (0, 0),
    ]
    assert [own.unanswerable.part for own in (one, more, first, certified)] == [1, 0, 0, 0]
    assert certified.p is None
    assert first.p == pytest.approx(1.0)
    assert all(own.unanswerable.whole == 1 for own in (one, more))
