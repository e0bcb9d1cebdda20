"""An embedder that works once for each text, however many systems, haystacks and runs share it."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

import numpy as np

from clew.core.calibration import Calibration
from clew.core.ports import Embedder, EmbedderIdentity, Vectors
from clew.errors import InvalidInput

_CHUNK = 16
_KEY_BYTES = 16


class SharedEmbedder:
    """Gives the vectors of another embedder. That one's owner closes it: no system may close it for the others."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._passages: dict[bytes, Vectors] = {}
        self._queries: dict[str, Vectors] = {}
        self.texts = 0
        """Passages that the model has embedded."""
        self.seconds = 0.0
        """How long that took."""
        self.query_ms: list[float] = []
        """How long each query took."""

    @property
    def identity(self) -> EmbedderIdentity:
        return self._embedder.identity

    @property
    def calibration(self) -> Calibration:
        return self._embedder.calibration

    def prepare(self, texts: Iterable[str], report: Callable[[int, int], None]) -> None:
        """Embed what is not known yet, on every core, so that no system is timed for it."""
        new = [text for text in dict.fromkeys(texts) if _key(text) not in self._passages]
        chunks = [new[first : first + _CHUNK] for first in range(0, len(new), _CHUNK)]
        started = perf_counter()
        pool = ThreadPoolExecutor(os.cpu_count() or 1)
        try:
            for done, (chunk, rows) in enumerate(
                zip(chunks, pool.map(self._embedder.embed_passages, chunks), strict=True)
            ):
                report(done * _CHUNK, len(new))
                self._remember(chunk, rows)
        finally:
            pool.shutdown(cancel_futures=True)
            self.seconds += perf_counter() - started

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if _key(text) not in self._passages]
        if new:
            started = perf_counter()
            self._remember(new, self._embedder.embed_passages(new))
            self.seconds += perf_counter() - started
        rows = [self._passages[_key(text)] for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), self.identity.dimensions)

    def embed_query(self, text: str) -> Vectors:
        if text not in self._queries:
            started = perf_counter()
            self._queries[text] = self._embedder.embed_query(text)
            self.query_ms.append((perf_counter() - started) * 1000.0)
        return self._queries[text].copy()

    def close(self) -> None:
        """Nothing: others may still need it."""

    def load(self, path: Path) -> None:
        """Take the passages of an earlier run, where there was one."""
        if not path.exists():
            return
        try:
            with np.load(path, allow_pickle=False) as kept:
                made_by, keys, rows = str(kept["made_by"]), kept["keys"], kept["rows"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InvalidInput(f"{path} holds no vectors of an earlier run: {error}") from error
        if made_by != self._made_by:
            raise InvalidInput(f"{path} holds vectors of {made_by}, not of {self._made_by}")
        self._passages.update(zip(map(bytes, keys), rows, strict=True))

    def save(self, path: Path) -> None:
        """Keep the passages for a later run, if there are new ones."""
        if not self.texts:
            return
        keys = np.frombuffer(b"".join(self._passages), np.uint8).reshape(-1, _KEY_BYTES)
        unfinished = path.with_name(f"{path.name}.part")
        with unfinished.open("wb") as file:
            np.savez(file, made_by=np.array(self._made_by), keys=keys, rows=np.array(list(self._passages.values())))
        unfinished.replace(path)

    @property
    def _made_by(self) -> str:
        return f"{self.identity.family}/{self.identity.dimensions}/{self.identity.weights_hash}"

    def _remember(self, texts: Sequence[str], rows: Vectors) -> None:
        self._passages.update(zip(map(_key, texts), rows, strict=True))
        self.texts += len(texts)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()
