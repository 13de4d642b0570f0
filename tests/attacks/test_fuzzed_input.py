"""Files and command lines drawn at random: a document or one clear line, and nothing else."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from property_runs import examples

from certirag.cli.main import main
from certirag.drafting.strict_json import read_json
from certirag.errors import IngestError, LanguageModelError
from certirag.ingest.extract import Limits
from certirag.ingest.load import load_document

CORPORA: Final = Path(__file__).parents[2] / "fixtures" / "corpora"
LIMITS: Final = Limits()
SMALLEST: Final = {
    kind: min(CORPORA.rglob(f"*.{kind}"), key=lambda path: path.stat().st_size)
    for kind in ("docx", "pdf", "html", "md")
}
CHANGES: Final = st.lists(
    st.tuples(
        st.sampled_from(["flip", "cut", "twice", "put"]),
        st.floats(0, 1, exclude_max=True),
        st.integers(1, 400),
        st.binary(max_size=12),
    ),
    min_size=1,
    max_size=6,
)


def _changed(data: bytes, changes: list[tuple[str, float, int, bytes]]) -> bytes:
    for how, where, length, new in changes:
        at = int(where * len(data))
        part = data[at : at + length]
        put = {
            "flip": bytes(byte ^ (1 << length % 8) for byte in part[:1]) + part[1:],
            "cut": b"",
            "twice": part * 2,
            "put": new,
        }[how]
        data = data[:at] + put + data[at + length :]
    return data


@pytest.mark.parametrize("kind", SMALLEST)
@examples(40)
@given(changes=CHANGES)
def test_a_damaged_file_is_read_or_refused(
    kind: str, changes: list[tuple[str, float, int, bytes]]
) -> None:
    """What a disk, a mail program or an attacker does to a file ends in no other error."""
    data = _changed(SMALLEST[kind].read_bytes(), changes)
    with suppress(IngestError):
        document = load_document(data, path=f"a.{kind}", limits=LIMITS)
        assert all(0 <= b.start < b.end <= len(document.text) for b in document.blocks)


@examples(300)
@given(
    st.recursive(
        st.sampled_from(
            ["1", "-0", "1e999", "NaN", '"a"', '"\\ud800"', "null", "01", '"\x00"', ""]
        ),
        lambda inner: (
            st.lists(inner, max_size=3).map(lambda parts: f"[{','.join(parts)}]")
            | st.lists(st.tuples(st.sampled_from(['"a"', '"b"', "a"]), inner), max_size=3).map(
                lambda pairs: "{" + ",".join(f"{key}:{value}" for key, value in pairs) + "}"
            )
        ),
        max_leaves=8,
    )
)
@example("[" * 100_000)
@example('{"a":1,"a":2}')
def test_strict_json_reads_or_refuses(text: str) -> None:
    """Doubled keys, endless depth and what is no JSON are refused by one error."""
    with suppress(LanguageModelError):
        read_json(text)


WORDS: Final = """
audit list query export verify checkpoint hold release erase retain stale scrub keys rotate retire
replay check ingest score --json --out --when --since --by --decision --score-below --limit --after
--profile --log --public-key --trust --root --sources --rescore --index --draft --evidence --pairs
--data --dry-run --entries --case --reason week topic ACCEPT 0 1 -1 1e9 0.5 9999999999999999999
last-quarter 2026-01-01 strict-1 /dev/null /dev/zero . .. a/b ' -- - -h --help =
""".split()  # noqa: SIM905  # read as one would type it
ARGUMENTS: Final = st.sampled_from([*WORDS, "\x00", "\ud800"]) | st.text(max_size=8)


@examples(150)
@given(words=st.lists(ARGUMENTS, max_size=6))
@example(words=["audit", "query", "--after", "9999999999999999999"])
@example(words=["check", "x" * 300])
def test_any_command_line_ends_in_one_line(
    words: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No words lead to a traceback, to an unexpected error, or to another exit code."""
    with pytest.MonkeyPatch.context() as patched:
        folder = tmp_path_factory.mktemp("words")
        patched.setenv("CERTIRAG_HOME", str(folder / "home"))
        patched.setenv("CERTIRAG_TRACEBACK", "1")  # what would be "unexpected" is raised
        patched.chdir(folder)
        try:
            code = main(words)
        except SystemExit as end:
            code = int(str(end.code))
    assert code in {0, 2, 3, 4}
