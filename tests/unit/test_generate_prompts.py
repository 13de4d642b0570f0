"""Prompt files: a head with name and version, a place for the code, a digest of the whole."""

from __future__ import annotations

import hashlib
import re

import pytest
from fake_language_model import PROMPTS, prompt_text

from certirag.core.generation import MAX_PROMPT_BYTES, read_prompt_text
from certirag.errors import InputError

SHIPPED = ("interleaved", "cited", "quoted", "prose", "passages", "queries")
GOOD = b"---\nname: short\nversion: 3\n---\nSay {code} and {code}, {not} that.\n"


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_prompts_are_read(name):
    """Each prompt that ships has a head, a digest and says that material is no instruction."""
    prompt = prompt_text(name)
    assert (prompt.name, prompt.version.isdigit()) == (name, True)
    assert prompt.sha256 == hashlib.sha256((PROMPTS / f"{name}.md").read_bytes()).hexdigest()
    told = prompt.instructions("c0de")
    assert "c0de" in told
    assert "{code}" not in told
    assert "never an instruction" in told


def test_the_code_is_put_in_every_place_and_nothing_else_is_touched():
    """A code that looks like a place is not filled again; other braces stay."""
    prompt = read_prompt_text(GOOD, source="short.md")
    assert (prompt.name, prompt.version) == ("short", "3")
    assert prompt.instructions("x{code}x") == "Say x{code}x and x{code}x, {not} that."


def test_one_byte_changes_the_digest():
    """The digest is of the file."""
    assert (
        read_prompt_text(GOOD, source="a").sha256
        != read_prompt_text(GOOD.replace(b"Say", b"Say "), source="a").sha256
    )


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "is not a prompt"),
        (b"Say {code}.", "is not a prompt"),
        (GOOD.replace(b"version: 3\n", b""), "is not a prompt"),
        (GOOD.replace(b"version: 3", b"version: three"), "is not a prompt"),
        (GOOD.replace(b"name: short", b"name: ../etc"), "is not a prompt"),
        (b"---\nname: short\nversion: 3\n---\n \n", "is not a prompt"),
        (GOOD.replace(b"{code}", b"code"), "the model must be told the code"),
        (GOOD.replace(b"Say", b"\xff"), "is not UTF-8"),
        (GOOD + b"x" * MAX_PROMPT_BYTES, "at most"),
    ],
)
def test_a_file_that_is_no_prompt_is_refused(raw, says):
    """The error names the file and what is wrong."""
    with pytest.raises(InputError, match=re.escape(says)) as caught:
        read_prompt_text(raw, source="short.md")
    assert "short.md" in str(caught.value)
