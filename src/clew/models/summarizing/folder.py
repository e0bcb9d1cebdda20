"""Reads the description of a sequence-to-sequence ONNX model from its folder, as people export them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from clew.core.structs import make_known
from clew.errors import InvalidInput, NotFound

ENCODER_FILE, DECODER_FILE, TOKENIZER_FILE = "encoder_model.onnx", "decoder_model.onnx", "tokenizer.json"
SETTINGS_FILES = ("config.json", "generation_config.json")
"""Where both files have a setting, that of the second counts."""

_SETTINGS_LIMIT_BYTES = 1 << 20
_DEFAULT_POSITIONS = 512
_MOST_POSITIONS = 4_096
"""Attention grows with the square of the length: a longer reading would take more memory than a summary is worth."""


@dataclass(frozen=True, slots=True)
class Seq2SeqFolder:
    name: str
    encoder: Path
    decoder: Path
    tokenizer: Path
    positions: int
    """How many tokens it reads, and writes, at once."""
    prefix: str
    """The prefix of every text to summarise."""
    first_tokens: tuple[int, ...]
    """The tokens that begin every text it writes."""
    end_tokens: frozenset[int]
    unrepeated_tokens: int
    """No run of this many tokens is written twice; 0 lets everything repeat."""


def read_folder(folder: Path) -> Seq2SeqFolder:
    """The model in a folder. Raises NotFound without its files, InvalidInput where their settings are incomplete."""
    models = folder if (folder / ENCODER_FILE).is_file() else folder / "onnx"
    files = (models / ENCODER_FILE, models / DECODER_FILE, folder / TOKENIZER_FILE)
    if not all(file.is_file() for file in files):
        raise NotFound(
            f"{folder} is no folder of a summarizing model: it must hold {ENCODER_FILE} and {DECODER_FILE} "
            f"(or both in onnx/) and {TOKENIZER_FILE}"
        )
    settings = _read_settings(folder)
    start = settings.decoder_start_token_id if settings.decoder_start_token_id is not None else settings.bos_token_id
    ends = [settings.eos_token_id] if isinstance(settings.eos_token_id, int) else settings.eos_token_id or []
    if start is None or not ends:
        raise InvalidInput(f"{folder}: {' and '.join(SETTINGS_FILES)} do not say which tokens begin and end a text")
    return Seq2SeqFolder(
        name=folder.resolve().name,
        encoder=files[0],
        decoder=files[1],
        tokenizer=files[2],
        positions=_positions(settings),
        prefix=_prefix(settings),
        first_tokens=tuple(token for token in (start, settings.forced_bos_token_id) if token is not None),
        end_tokens=frozenset(ends),
        unrepeated_tokens=max(settings.no_repeat_ngram_size or 0, 0),
    )


class _Settings(msgspec.Struct, kw_only=True):
    """The settings that the files may hold, under the names they use."""

    decoder_start_token_id: int | None = None
    bos_token_id: int | None = None
    eos_token_id: int | list[int] | None = None
    forced_bos_token_id: int | None = None
    no_repeat_ngram_size: int | None = None
    max_position_embeddings: int | None = None
    n_positions: int | None = None
    task_specific_params: dict[str, Any] | None = None


def _read_settings(folder: Path) -> _Settings:
    merged: dict[str, Any] = {}
    for name in SETTINGS_FILES:
        path = folder / name
        try:
            if path.is_file() and path.stat().st_size <= _SETTINGS_LIMIT_BYTES:
                read = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
                merged |= {key: value for key, value in read.items() if value is not None}
        except (msgspec.MsgspecError, UnicodeDecodeError, OSError) as error:
            raise InvalidInput(f"{path}: {error}") from error
    try:
        return msgspec.convert(merged, _Settings)
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"{folder}: {error}") from error


def _positions(settings: _Settings) -> int:
    given = settings.max_position_embeddings or settings.n_positions or _DEFAULT_POSITIONS
    if given < 16:
        raise InvalidInput(f"a summarizing model that reads {given} tokens at once is of no use")
    return min(given, _MOST_POSITIONS)


def _prefix(settings: _Settings) -> str:
    task = (settings.task_specific_params or {}).get("summarization")
    prefix = task.get("prefix") if isinstance(task, dict) else None
    return prefix if isinstance(prefix, str) else ""


make_known([_Settings])
