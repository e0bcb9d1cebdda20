"""The settings decide which summarizer is used, and why there is none."""

from __future__ import annotations

from importlib import util
from pathlib import Path

import pytest

from clew.config import Config
from clew.errors import InvalidInput, NotFound
from clew.models.choose import make_summarizer

pytestmark = pytest.mark.requirement("COMP-6")

SERVER = {"summarizer_url": "http://127.0.0.1:9", "summarizer_model": "m"}


def write_folder(folder: Path) -> Path:
    """Files under the right names; nothing reads the models before the first use."""
    folder.mkdir()
    for name in ("encoder_model.onnx", "decoder_model.onnx", "tokenizer.json"):
        (folder / name).write_bytes(b"")
    (folder / "config.json").write_text('{"decoder_start_token_id": 0, "eos_token_id": 1}')
    return folder


def test_by_default_there_is_no_summarizer_and_the_reason_says_so() -> None:
    choice = make_summarizer(Config())
    assert choice.model is None
    assert "none" in choice.reason


@pytest.mark.parametrize("kind", ["openai", "ollama"])
def test_a_server_is_chosen_by_its_kind_and_not_asked_at_once(kind: str) -> None:
    choice = make_summarizer(Config(summarizer=kind, **SERVER))
    assert choice.model is not None
    assert choice.model.name == f"{kind}:m"
    assert choice.model.ready()
    assert choice.reason == ""
    choice.model.close()


@pytest.mark.parametrize("missing", list(SERVER))
def test_a_server_without_its_settings_is_an_error(missing: str) -> None:
    with pytest.raises(InvalidInput, match=missing):
        make_summarizer(Config(summarizer="openai", **{name: SERVER[name] for name in SERVER if name != missing}))


def test_the_key_comes_from_the_named_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "bad key\n")
    with pytest.raises(InvalidInput, match="key has characters"):
        make_summarizer(Config(summarizer="openai", summarizer_key_env="MY_KEY", **SERVER))


def test_a_folder_is_chosen_by_its_path_and_must_hold_a_model(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="the `onnx` extra is not installed")
    choice = make_summarizer(Config(summarizer=str(write_folder(tmp_path / "bart"))))
    assert choice.model is not None
    assert choice.model.name == "onnx:bart"
    with pytest.raises(NotFound, match=r"encoder_model\.onnx"):
        make_summarizer(Config(summarizer=str(tmp_path / "elsewhere")))


def test_a_folder_without_the_runtime_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_folder(tmp_path / "bart")
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    choice = make_summarizer(Config(summarizer=str(folder)))
    assert choice.model is None
    assert "clew[onnx]" in choice.reason
