"""Chooses the models that the settings name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Generic, TypeVar

from clew.config import Config
from clew.core.ports import Embedder, Summarizer
from clew.errors import ClewError, NotFound
from clew.models.embedding.endpoint import OllamaEmbedder, OpenAiEmbedder
from clew.models.embedding.hashing import HashingEmbedder
from clew.models.embedding.onnx import OnnxEmbedder
from clew.models.guard import GuardedSummarizer, SummarizingModel
from clew.models.packs.pack import DEFAULT_PACK, find_pack, packs_dir
from clew.models.server import Address
from clew.models.summarizing.endpoint import OllamaSummarizer, OpenAiSummarizer
from clew.models.summarizing.folder import read_folder
from clew.models.summarizing.onnx import OnnxSummarizer

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Choice(Generic[M]):
    model: M | None
    reason: str = ""
    """Why there is none; empty when there is one."""


def make_embedder(config: Config) -> Choice[Embedder]:
    """The embedder of `config.embedder`.

    With `auto`, a default model that cannot run gives a reason and not an error: Clew then searches by words
    alone. An embedder that the settings name must be installed.
    """
    address = _address(config.embedder_url, config.embedder_model, config.embedder_key_env)
    match config.embedder:
        case "none":
            return Choice(None, "the setting embedder is none")
        case "auto":
            return _default_embedder()
        case "hashing":
            return Choice(HashingEmbedder())
        case "openai":
            return Choice(OpenAiEmbedder(address, packs_dir()))
        case "ollama":
            return Choice(OllamaEmbedder(address, packs_dir()))
        case name:
            return Choice(OnnxEmbedder(find_pack(name, packs_dir())))


def make_summarizer(config: Config) -> Choice[Summarizer]:
    """The summarizer of `config.summarizer`, guarded. It sends and loads nothing before its first use.

    Clew needs none, so the default is none, and a summarizer without its library is left out. Settings that cannot
    work raise an error now, and not at the first summary.
    """
    model: SummarizingModel
    address = _address(config.summarizer_url, config.summarizer_model, config.summarizer_key_env)
    match config.summarizer:
        case "none":
            return Choice(None, "the setting summarizer is none")
        case "openai":
            model = OpenAiSummarizer(address, config.summarizer_timeout_ms)
        case "ollama":
            model = OllamaSummarizer(address, config.summarizer_timeout_ms)
        case name:
            folder = read_folder(Path(name).expanduser())
            if missing := _missing_libraries():
                return Choice(None, missing)
            model = OnnxSummarizer(folder, config.summarizer_timeout_ms)
    return Choice(GuardedSummarizer(model, config.summarizer_timeout_ms))


def _default_embedder() -> Choice[Embedder]:
    if missing := _missing_libraries():
        return Choice(None, missing)
    try:
        return Choice(OnnxEmbedder(find_pack(DEFAULT_PACK, packs_dir())))
    except NotFound:
        return Choice(None, "no embedding model is installed: run `clew model install`")
    except ClewError as error:
        return Choice(None, str(error))


def _missing_libraries() -> str:
    """Why no model can run on this machine; empty if one can."""
    missing = [name for name in ("onnxruntime", "tokenizers") if util.find_spec(name) is None]
    return f"{' and '.join(missing)} not installed: pip install 'clew[onnx]'" if missing else ""


def _address(url: str, model: str, key_env: str) -> Address:
    return Address(url, model, os.environ.get(key_env, ""))
