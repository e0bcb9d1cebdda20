"""An embedder for measuring stores: deterministic, 384 numbers a text, and next to free.

Every word is hashed to a fixed random direction; a text is the sum of its words'. Texts that share words
are near to each other, as with a real model, and no system has to wait for one.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Sequence

import numpy as np

from clew.core.calibration import Calibration
from clew.core.ports import EmbedderIdentity, Vectors

DIMENSIONS = 384
DIRECTIONS = 4096
_WORD = re.compile(r"[a-z]{4,}")


class WordVectors:
    def __init__(self) -> None:
        self._directions = np.random.default_rng(1).standard_normal((DIRECTIONS, DIMENSIONS), np.float32)

    @property
    def identity(self) -> EmbedderIdentity:
        digest = hashlib.sha256(b"sum of random word directions").hexdigest()
        return EmbedderIdentity(family="bench", dimensions=DIMENSIONS, normalised=True, weights_hash=digest)

    @property
    def calibration(self) -> Calibration:
        return Calibration(unrelated=0.1, same_meaning=0.8)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(len(texts), DIMENSIONS)

    def embed_query(self, text: str) -> Vectors:
        words = _WORD.findall(text.lower()) or ["nothing"]
        total: Vectors = self._directions[[zlib.crc32(word.encode()) % DIRECTIONS for word in words]].sum(axis=0)
        return total / np.float32(np.linalg.norm(total))

    def close(self) -> None:
        """Nothing to release."""
