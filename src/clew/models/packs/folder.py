"""Reads a folder with an ONNX model as people export them, and makes a pack's files of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Literal

import msgspec

from clew.core.calibration import Calibration
from clew.errors import ModelInstallFailed
from clew.models.packs.pack import MODEL_FILE, TOKENIZER_FILE, Manifest, describe_file
from clew.models.runtime import onnx_runtime

_MODEL_PLACES = (MODEL_FILE, f"onnx/{MODEL_FILE}")
_DEFAULT_MAX_TOKENS = 512
_SETTINGS_LIMIT_BYTES = 1 << 20


def copy_onnx_folder(source: Path, target: Path) -> Manifest:
    """Copy model and tokenizer, and describe them from the settings files beside them; not yet calibrated."""
    model = next((source / place for place in _MODEL_PLACES if (source / place).is_file()), None)
    if model is None or not (source / TOKENIZER_FILE).is_file():
        raise ModelInstallFailed(f"{source} must hold {MODEL_FILE} (or onnx/{MODEL_FILE}) and {TOKENIZER_FILE}")
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(model, target / MODEL_FILE)
    shutil.copyfile(source / TOKENIZER_FILE, target / TOKENIZER_FILE)
    prompts = _settings(source, "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    return Manifest(
        family=source.resolve().name,
        dimensions=_dimensions(target),
        pooling=_pooling(source),
        query_prefix=_first_text(prompts, "query"),
        passage_prefix=_first_text(prompts, "passage", "document"),
        max_tokens=_max_tokens(source),
        calibration=Calibration(unrelated=0.0, same_meaning=1.0),
        files=(describe_file(target / MODEL_FILE), describe_file(target / TOKENIZER_FILE)),
        licence="as given by the model's author",
        sources=(f"folder {source.resolve().name}",),
    )


def _dimensions(folder: Path) -> int:
    """The last axis of the model's first output."""
    onnxruntime = onnx_runtime()
    try:
        session = onnxruntime.InferenceSession(str(folder / MODEL_FILE), providers=["CPUExecutionProvider"])
        size = session.get_outputs()[0].shape[-1]
    except Exception as error:  # the runtime raises its own, undeclared kinds
        raise ModelInstallFailed(
            f"the model cannot be loaded ({type(error).__name__}); it must be one ONNX file without external data"
        ) from error
    if not isinstance(size, int):
        raise ModelInstallFailed("the model does not say how many dimensions its vectors have")
    return size


def _pooling(source: Path) -> Literal["mean", "cls"]:
    return "cls" if _settings(source, "1_Pooling/config.json").get("pooling_mode_cls_token") is True else "mean"


def _max_tokens(source: Path) -> int:
    given = _settings(source, "sentence_bert_config.json").get("max_seq_length")
    return given if isinstance(given, int) and 8 <= given <= 32_768 else _DEFAULT_MAX_TOKENS


def _first_text(prompts: dict[str, Any], *names: str) -> str:
    return next((prompts[name] for name in names if isinstance(prompts.get(name), str)), "")


def _settings(source: Path, name: str) -> dict[str, Any]:
    """One of the optional settings files; empty where it is absent."""
    path = source / name
    if not path.is_file() or path.stat().st_size > _SETTINGS_LIMIT_BYTES:
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise ModelInstallFailed(f"{path}: {error}") from error
