"""Verifiers by the names that settings give them, and what of those names is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_models import save_tiny_hhem, save_tiny_nli, save_tiny_roberta

from certirag.adapters.verifiers.cascade import CascadeVerifier
from certirag.bootstrap import make_verifier
from certirag.errors import InputError, ModelError
from certirag.ports import Pair
from certirag.settings import Settings, read_language_model_access, read_settings

CLASSES = ("entailment", "neutral", "contradiction")


def test_models_open_by_kind_and_directory(tmp_path: Path) -> None:
    """Each kind opens its model; the recorded name holds no path."""
    made = {
        "nli": save_tiny_nli(tmp_path / "one", CLASSES),
        "minicheck": save_tiny_roberta(tmp_path / "two"),
        "hhem": save_tiny_hhem(tmp_path / "three"),
    }
    for kind, directory in made.items():
        verifier = make_verifier(f"{kind}:{directory}")
        assert verifier.identity.name == f"{kind}:{directory.name}"
        assert verifier.judge([Pair("It is so.", "It is so.")])[0].label != "error"


def test_a_cascade_opens_its_parts(tmp_path: Path) -> None:
    """Two names, and perhaps the band; the recorded name opens the same cascade again."""
    model = save_tiny_nli(tmp_path / "one", CLASSES)
    whole = make_verifier(f"cascade:embedded, nli:{model}")
    band = make_verifier(f"cascade:embedded,nli:{model},0.2,0.9")
    assert isinstance(whole, CascadeVerifier)
    assert whole.identity.name == "cascade:embedded,nli:one,0.3,1.0"
    assert band.identity.name == "cascade:embedded,nli:one,0.2,0.9"


@pytest.mark.parametrize(
    "name", ["", "nli", "nli:", "llm:", "cascade:", "entailed", "NLI:model", "embedded:x", "x:y"]
)
def test_an_unknown_name_lists_the_choices(name: str) -> None:
    """There is no lenient default: what is not known is refused with all that is."""
    with pytest.raises(InputError) as caught:
        make_verifier(name)
    for choice in (
        "embedded",
        "nli:MODEL",
        "minicheck:MODEL",
        "hhem:MODEL",
        "reading:DIR",
        "llm:MODEL",
        "cascade:",
    ):
        assert choice in str(caught.value)


@pytest.mark.parametrize(
    "parts",
    [
        "embedded",
        "embedded,embedded,0.5",
        "embedded,embedded,0.9,0.1",
        "embedded,embedded,low,high",
        "embedded,embedded,nan,1",
        "embedded,embedded,0,1,1,1",
        "embedded,no-such",
        "cascade:embedded,embedded",
        "embedded,cascade:embedded",
        ",",
    ],
)
def test_an_unsound_cascade_is_refused(parts: str) -> None:
    """Too few or many parts, an empty band, an unknown part, a cascade within: InputError."""
    with pytest.raises(InputError):
        make_verifier(f"cascade:{parts}")


def test_an_absent_model_is_one_line(tmp_path: Path) -> None:
    """The error of each kind names the model."""
    for kind in ("nli", "minicheck", "hhem"):
        with pytest.raises(ModelError, match="no-such-model") as caught:
            make_verifier(f"{kind}:{tmp_path / 'no-such-model'}")
        assert "\n" not in str(caught.value)


def test_a_language_model_needs_its_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Endpoint and key come from the environment; the name may hold a colon."""
    monkeypatch.delenv("CERTIRAG_LLM_URL", raising=False)
    monkeypatch.setenv("CERTIRAG_LLM_KEY", "sk-secret-0123")
    with pytest.raises(InputError, match="CERTIRAG_LLM_URL"):
        make_verifier("llm:qwen:7b")
    monkeypatch.setenv("CERTIRAG_LLM_URL", "https://host.example/v1")
    verifier = make_verifier("llm:qwen:7b")
    assert verifier.identity.name == "llm:qwen:7b"
    assert "secret" not in repr(verifier.identity)


def test_no_record_holds_the_key_or_a_path(tmp_path: Path) -> None:
    """Settings never see the key, and a directory among the names is cut to its last part."""
    environment = {
        "CERTIRAG_LLM_URL": "https://host.example/v1",
        "CERTIRAG_LLM_KEY": "sk-secret-0123",
        "CERTIRAG_VERIFIER": f"cascade:embedded,nli:{tmp_path},0.2,0.9",
        "CERTIRAG_EMBEDDER": str(tmp_path),
        "CERTIRAG_RERANKER": "owner/model",
    }
    settings = read_settings(environment)
    caps = settings.caps()
    assert caps["verifier"] == f"cascade:embedded,nli:{tmp_path.name},0.2,0.9"
    assert caps["embedder"] == tmp_path.name
    assert caps["reranker"] == "owner/model"
    assert settings.verifier == environment["CERTIRAG_VERIFIER"]
    for shown in (repr(settings), repr(caps), repr(read_language_model_access(environment))):
        assert "secret" not in shown
    assert Settings().caps()["verifier"] == Settings().verifier
