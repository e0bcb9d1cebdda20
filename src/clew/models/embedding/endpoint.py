"""Embeddings from a server that the operator runs or rents: OpenAI-compatible or Ollama."""

from __future__ import annotations

import hashlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from clew.core.calibration import Calibration
from clew.core.ports import EmbedderIdentity, Vectors
from clew.core.structs import make_known
from clew.errors import ClewError, EmbedderFailed
from clew.models.embedding.vectors import unit_vector
from clew.models.packs.calibrate import measure_calibration
from clew.models.server import Address, ModelServer
from clew.text.letters import replace_surrogates

_ANSWER_LIMIT_BYTES = 64 << 20
_TEXT_LIMIT_CHARS = 6_000
"""Servers refuse texts over their token limit; this many characters stay below 8,192 tokens in any script."""


class _Profile(msgspec.Struct, frozen=True, kw_only=True):
    dimensions: int
    calibration: Calibration


class _ServerEmbedder(ABC):
    """The base of both kinds. It sends nothing to the server before the first use."""

    _path: str

    def __init__(self, address: Address, cache_dir: Path, timeout_ms: int = 30_000, batch: int = 16) -> None:
        self._server = ModelServer(
            address,
            self._path,
            setting="embedder",
            title="the embedding server",
            failure=EmbedderFailed,
            timeout_ms=timeout_ms,
            answer_limit_bytes=_ANSWER_LIMIT_BYTES,
        )
        self._model = address.model
        self._cache_dir = cache_dir
        self._batch = batch
        self._probing = threading.Lock()

    @property
    def identity(self) -> EmbedderIdentity:
        """The model's name and dimensions: a server does not give the hash of its weights."""
        digest = hashlib.sha256(f"{self._model}\x00{self._dimensions}".encode()).hexdigest()
        return EmbedderIdentity(family=self._model, dimensions=self._dimensions, normalised=True, weights_hash=digest)

    @property
    def calibration(self) -> Calibration:
        return self._profile.calibration

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        dimensions = self._dimensions
        rows = np.empty((len(texts), dimensions), np.float32)
        for start in range(0, len(texts), self._batch):
            for number, values in enumerate(self._ask(texts[start : start + self._batch]), start):
                rows[number] = unit_vector(values, dimensions)
        return rows

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_passages([text])[0]
        return vector

    def close(self) -> None:
        self._server.close()

    @abstractmethod
    def _answer(self, question: Mapping[str, Any]) -> list[list[float]]:
        """The server's vectors, in the order of the texts."""

    @cached_property
    def _dimensions(self) -> int:
        return len(self._ask(["dimensions"])[0])

    @property
    def _profile(self) -> _Profile:
        with self._probing:
            return self._known_profile

    @cached_property
    def _known_profile(self) -> _Profile:
        """Measured once for a server and model, then kept in a file."""
        name = hashlib.sha256(f"{self._server.url}\x00{self._model}".encode()).hexdigest()[:32]
        path = self._cache_dir / f".endpoint-{name}.json"
        kept = _read_profile(path)
        if kept is not None and kept.dimensions == self._dimensions:
            return kept
        profile = _Profile(dimensions=self._dimensions, calibration=measure_calibration(self.embed_passages))
        _write_profile(path, profile)
        return profile

    def _ask(self, texts: Sequence[str]) -> list[Vectors]:
        answers = self._answer({"model": self._model, "input": [_make_sendable(text) for text in texts]})
        if len(answers) != len(texts):
            raise EmbedderFailed(f"the embedding server gave {len(answers)} vectors for {len(texts)} texts")
        vectors = [np.array(values, np.float64).astype(np.float32) for values in answers]
        if not all(vector.size and np.isfinite(vector).all() for vector in vectors):
            raise EmbedderFailed("the embedding server gave a vector that is empty or not all numbers")
        return vectors


class OpenAiEmbedder(_ServerEmbedder):
    """Any server with the OpenAI embeddings call; the base address usually ends in `/v1`."""

    _path = "/embeddings"

    def _answer(self, question: Mapping[str, Any]) -> list[list[float]]:
        items = self._server.ask(question, _OpenAiAnswer).data
        if sorted(item.index for item in items) != list(range(len(items))):
            raise EmbedderFailed("the embedding server's answer does not say which vector is whose")
        return [item.embedding for item in sorted(items, key=lambda item: item.index)]


class OllamaEmbedder(_ServerEmbedder):
    """An Ollama server."""

    _path = "/api/embed"

    def _answer(self, question: Mapping[str, Any]) -> list[list[float]]:
        return self._server.ask(question, _OllamaAnswer).embeddings


class _OpenAiItem(msgspec.Struct):
    index: int
    embedding: list[float]


class _OpenAiAnswer(msgspec.Struct):
    data: list[_OpenAiItem]


class _OllamaAnswer(msgspec.Struct):
    embeddings: list[list[float]]


def _make_sendable(text: str) -> str:
    """Servers refuse empty texts and broken characters; a dash replaces those without any letter."""
    sound = replace_surrogates(text[:_TEXT_LIMIT_CHARS])
    return sound if sound.strip() else "-"


def _read_profile(path: Path) -> _Profile | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Profile)
    except (OSError, msgspec.MsgspecError, ClewError):
        return None


def _write_profile(path: Path, profile: _Profile) -> None:
    """Saves the requests at the next start. A folder that cannot be written is no failure."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(msgspec.json.encode(profile))
        os.replace(unfinished, path)
    except OSError:
        unfinished.unlink(missing_ok=True)


make_known([_Profile, _OpenAiAnswer, _OllamaAnswer])
