"""The settings decide which embedder is used, and why there is none."""

from __future__ import annotations

from importlib import util
from pathlib import Path

import numpy as np
import pytest

from clew.config import Config
from clew.errors import InvalidInput, ModelInstallFailed, NotFound
from clew.models.choose import make_embedder
from clew.models.embedding.endpoint import OllamaEmbedder, OpenAiEmbedder
from clew.models.embedding.hashing import HashingEmbedder
from clew.models.embedding.onnx import OnnxEmbedder
from clew.models.packs.pack import DEFAULT_PACK, MODEL_FILE
from tests.testing.tiny_model import write_tiny_pack

pytestmark = pytest.mark.requirement("STORE-5")


@pytest.fixture
def packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLEW_PACKS", str(tmp_path))
    return tmp_path


def test_the_setting_none_gives_no_embedder_and_says_so(packs: Path) -> None:
    choice = make_embedder(Config(embedder="none"))
    assert choice.model is None
    assert "none" in choice.reason


def test_auto_takes_the_default_pack_where_it_is_installed(packs: Path) -> None:
    write_tiny_pack(packs / DEFAULT_PACK)
    choice = make_embedder(Config(embedder="auto"))
    assert isinstance(choice.model, OnnxEmbedder)
    assert choice.reason == ""


def test_auto_without_a_pack_says_how_to_get_one(packs: Path) -> None:
    choice = make_embedder(Config(embedder="auto"))
    assert choice.model is None
    assert "clew model install" in choice.reason


def test_auto_without_the_runtime_says_what_to_install(packs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    choice = make_embedder(Config(embedder="auto"))
    assert choice.model is None
    assert "clew[onnx]" in choice.reason


def test_auto_with_a_damaged_pack_works_by_words_and_says_why(packs: Path) -> None:
    pack = write_tiny_pack(packs / DEFAULT_PACK)
    (pack.folder / MODEL_FILE).write_bytes(b"")
    choice = make_embedder(Config(embedder="auto"))
    assert choice.model is None
    assert "damaged" in choice.reason


def test_a_pack_named_in_the_settings_must_exist(packs: Path, tmp_path: Path) -> None:
    pack = write_tiny_pack(packs / "mine")
    for name in ("mine", str(pack.folder)):
        assert make_embedder(Config(embedder=name)).model is not None
    with pytest.raises(NotFound, match="'other'"):
        make_embedder(Config(embedder="other"))
    (pack.folder / MODEL_FILE).unlink()
    with pytest.raises(ModelInstallFailed, match="damaged"):
        make_embedder(Config(embedder="mine"))


def test_servers_are_chosen_by_kind_and_their_settings_checked(packs: Path) -> None:
    settings = {"embedder_url": "http://127.0.0.1:9", "embedder_model": "m"}
    assert isinstance(make_embedder(Config(embedder="openai", **settings)).model, OpenAiEmbedder)
    assert isinstance(make_embedder(Config(embedder="ollama", **settings)).model, OllamaEmbedder)
    with pytest.raises(InvalidInput, match="embedder_url"):
        make_embedder(Config(embedder="openai", embedder_model="m"))


def test_the_key_comes_from_the_named_variable(packs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "bad key\n")
    settings = {"embedder_url": "http://127.0.0.1:9", "embedder_model": "m", "embedder_key_env": "MY_KEY"}
    with pytest.raises(InvalidInput, match="key has characters"):
        make_embedder(Config(embedder="openai", **settings))


def test_the_hashing_embedder_puts_shared_words_close(packs: Path) -> None:
    embedder = make_embedder(Config(embedder="hashing")).model
    assert isinstance(embedder, HashingEmbedder)
    rows = embedder.embed_passages(["the red house", "a red house", "quarterly tax figures", ""])
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert np.array_equal(embedder.embed_query("the red house"), rows[0])
