"""Picks the embedder the settings ask for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import TypedDict

from clew.config import Config
from clew.core.ports import Embedder
from clew.errors import ClewError, NotFound
from clew.models.embedding.endpoint import OllamaEmbedder, OpenAiEmbedder
from clew.models.embedding.hashing import HashingEmbedder
from clew.models.embedding.onnx import OnnxEmbedder
from clew.models.packs.pack import DEFAULT_PACK, find_pack, packs_dir


@dataclass(frozen=True, slots=True)
class Choice:
    embedder: Embedder | None
    reason: str = ""
    """Why there is none; empty when there is one."""


def make_embedder(config: Config) -> Choice:
    """The embedder of `config.embedder`.

    With `auto`, whatever keeps the default model from running is a reason and not an error: Clew then
    works by words alone. An embedder that was asked for by name must be there.
    """
    match config.embedder:
        case "none":
            return Choice(None, "the setting embedder is none")
        case "auto":
            return _automatic()
        case "hashing":
            return Choice(HashingEmbedder())
        case "openai":
            return Choice(OpenAiEmbedder(**_server_arguments(config)))
        case "ollama":
            return Choice(OllamaEmbedder(**_server_arguments(config)))
        case name:
            return Choice(OnnxEmbedder(find_pack(name, packs_dir())))


def _automatic() -> Choice:
    missing = [name for name in ("onnxruntime", "tokenizers") if util.find_spec(name) is None]
    if missing:
        return Choice(None, f"{' and '.join(missing)} not installed: pip install 'clew[onnx]'")
    try:
        return Choice(OnnxEmbedder(find_pack(DEFAULT_PACK, packs_dir())))
    except NotFound:
        return Choice(None, "no embedding model is installed: run `clew model install`")
    except ClewError as error:
        return Choice(None, str(error))


class _ServerArguments(TypedDict):
    url: str
    model: str
    key: str
    cache_dir: Path


def _server_arguments(config: Config) -> _ServerArguments:
    return {
        "url": config.embedder_url,
        "model": config.embedder_model,
        "key": os.environ.get(config.embedder_key_env, ""),
        "cache_dir": packs_dir(),
    }
