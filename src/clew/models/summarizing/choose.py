"""Picks the summarizing model the settings ask for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import TypedDict

from clew.config import Config
from clew.core.ports import Summarizer
from clew.models.guard import GuardedSummarizer, SummarizingModel
from clew.models.summarizing.endpoint import OllamaSummarizer, OpenAiSummarizer
from clew.models.summarizing.folder import read_folder
from clew.models.summarizing.onnx import OnnxSummarizer


@dataclass(frozen=True, slots=True)
class SummarizerChoice:
    summarizer: Summarizer | None
    reason: str = ""
    """Why there is none; empty when there is one."""


def make_summarizer(config: Config) -> SummarizerChoice:
    """The summarizer of `config.summarizer`, guarded; nothing is asked of it, or loaded, before its first use.

    None is needed, so none is the default, and one whose library is not installed is left out. Settings that
    cannot work are an error now and not a surprise at the first summary.
    """
    model: SummarizingModel
    match config.summarizer:
        case "none":
            return SummarizerChoice(None, "the setting summarizer is none")
        case "openai":
            model = OpenAiSummarizer(**_server_arguments(config))
        case "ollama":
            model = OllamaSummarizer(**_server_arguments(config))
        case name:
            folder = read_folder(Path(name).expanduser())
            missing = [name for name in ("onnxruntime", "tokenizers") if util.find_spec(name) is None]
            if missing:
                return SummarizerChoice(None, f"{' and '.join(missing)} not installed: pip install 'clew[onnx]'")
            model = OnnxSummarizer(folder, config.summarizer_timeout_ms)
    return SummarizerChoice(GuardedSummarizer(model, config.summarizer_timeout_ms))


class _ServerArguments(TypedDict):
    url: str
    model: str
    key: str
    timeout_ms: int


def _server_arguments(config: Config) -> _ServerArguments:
    return {
        "url": config.summarizer_url,
        "model": config.summarizer_model,
        "key": os.environ.get(config.summarizer_key_env, ""),
        "timeout_ms": config.summarizer_timeout_ms,
    }
