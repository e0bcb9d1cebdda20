"""Models behind a server the operator runs or rents, OpenAI-compatible or Ollama; and embeddings from it."""

from __future__ import annotations

import hashlib
import http.client
import os
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from clew.core.calibration import Calibration
from clew.core.ports import EmbedderIdentity, Vectors
from clew.core.structs import make_known
from clew.errors import ClewError, EmbedderFailed, InvalidInput
from clew.models.embedding.vectors import unit_vector
from clew.models.packs.calibrate import measure_calibration

T = TypeVar("T")

_ANSWER_LIMIT_BYTES = 64 << 20
_TEXT_LIMIT_CHARS = 6_000
"""Servers refuse texts over their token limit; this many characters stay below 8,192 tokens in any script."""


class ModelServer:
    """Is asked in JSON over HTTP, and answers in JSON, within bounds of time and size.

    Whatever goes wrong is raised as `failure`, under the name `title`. Errors never hold the key, nor what the
    server said: it could repeat what was sent.
    """

    def __init__(
        self,
        *,
        url: str,
        path: str,
        key: str,
        timeout_ms: int,
        setting: str,
        title: str,
        failure: type[ClewError],
        answer_limit_bytes: int,
    ) -> None:
        """`setting` is how the names of the operator's settings for this server begin."""
        self.url = _checked_url(url, setting).rstrip("/") + path
        self._key = _checked_key(key, title)
        self._timeout_ms = timeout_ms
        self._title = title
        self._failure = failure
        self._answer_limit_bytes = answer_limit_bytes
        self._opener = urllib.request.build_opener(_NoRedirects)

    def ask(self, question: Mapping[str, Any], form: type[T]) -> T:
        """The server's answer, of the form given."""
        body = self._exchange(self._request(question))
        try:
            return msgspec.json.decode(body, type=form)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise self._failure(f"{self._title}'s answer is not of the expected form") from error

    def close(self) -> None:
        self._opener.close()

    def _request(self, question: Mapping[str, Any]) -> urllib.request.Request:
        request = urllib.request.Request(
            self.url, data=msgspec.json.encode(question), headers={"Content-Type": "application/json"}
        )
        if self._key:
            request.add_unredirected_header("Authorization", f"Bearer {self._key}")
        return request

    def _exchange(self, request: urllib.request.Request) -> bytes:
        deadline = time.monotonic() + self._timeout_ms / 1000
        try:
            with self._opener.open(request, timeout=self._timeout_ms / 1000) as response:
                return self._read_bounded(response.read1, deadline)
        except urllib.error.HTTPError as error:
            error.close()
            raise self._failure(f"{self._title} answered with status {error.code}") from None
        except TimeoutError:
            raise self._failure(f"{self._title} did not answer within {self._timeout_ms} ms") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None)
            kind = type(reason if isinstance(reason, Exception) else error).__name__
            raise self._failure(f"{self._title} cannot be reached ({kind})") from None

    def _read_bounded(self, read: Callable[[int], bytes], deadline: float) -> bytes:
        """All that comes, as long as it is not too much and not too slow."""
        body = bytearray()
        while chunk := read(1 << 16):
            body += chunk
            if len(body) > self._answer_limit_bytes:
                raise self._failure(f"{self._title}'s answer is too large")
            if time.monotonic() > deadline:
                raise TimeoutError
        return bytes(body)


class _Profile(msgspec.Struct, frozen=True, kw_only=True):
    dimensions: int
    calibration: Calibration


class _ServerEmbedder(ABC):
    """What both kinds share. Nothing is asked of the server before the first use."""

    _path: str

    def __init__(
        self, *, url: str, model: str, key: str, cache_dir: Path, timeout_ms: int = 30_000, batch: int = 16
    ) -> None:
        if not model:
            raise InvalidInput("embedder_model must name the model to ask the server for")
        self._server = ModelServer(
            url=url,
            path=self._path,
            key=key,
            timeout_ms=timeout_ms,
            setting="embedder",
            title="the embedding server",
            failure=EmbedderFailed,
            answer_limit_bytes=_ANSWER_LIMIT_BYTES,
        )
        self._model = model
        self._cache_dir = cache_dir
        self._batch = batch
        self._probing = threading.Lock()

    @property
    def identity(self) -> EmbedderIdentity:
        """The model's name and dimensions: a server does not tell the hash of its weights."""
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
        """The vectors the server gives, in the order of the texts."""

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
        answers = self._answer({"model": self._model, "input": [_sendable(text) for text in texts]})
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


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: following it would send texts and key where the operator did not say."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _sendable(text: str) -> str:
    """Servers refuse empty texts and broken characters; a dash stands for nothing."""
    sound = text[:_TEXT_LIMIT_CHARS].encode("utf-8", "replace").decode("utf-8")
    return sound if sound.strip() else "-"


def _checked_url(url: str, setting: str) -> str:
    try:
        parts = urllib.parse.urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InvalidInput(f"{setting}_url must be an http or https address such as http://127.0.0.1:11434")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(f"{setting}_url must not hold a user or password; use {setting}_key_env for a key")
    return url


def _checked_key(key: str, title: str) -> str:
    if key and (not key.isascii() or not key.isprintable() or " " in key):
        raise InvalidInput(f"{title}'s key has characters that no key has, such as a line break")
    return key


def _read_profile(path: Path) -> _Profile | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Profile)
    except (OSError, msgspec.MsgspecError, ClewError):
        return None


def _write_profile(path: Path, profile: _Profile) -> None:
    """Keeping it saves requests at the next start; a folder that cannot be written is no failure."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(msgspec.json.encode(profile))
        os.replace(unfinished, path)
    except OSError:
        unfinished.unlink(missing_ok=True)


make_known([_Profile, _OpenAiAnswer, _OllamaAnswer])
