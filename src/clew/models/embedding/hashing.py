"""An embedder without a model, for tests: words hashed to a few dimensions."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Sequence
from functools import cache

import numpy as np

from clew.core.calibration import Calibration
from clew.core.ports import EmbedderIdentity, Vectors
from clew.models.embedding.vectors import unit_vector
from clew.models.packs.calibrate import measure_calibration

DIMENSIONS = 64


class HashingEmbedder:
    """Texts that share words get similar vectors; the same text gets the same vector on every machine."""

    @property
    def identity(self) -> EmbedderIdentity:
        digest = hashlib.sha256(b"words by crc32, signed").hexdigest()
        return EmbedderIdentity(family="hashing", dimensions=DIMENSIONS, normalised=True, weights_hash=digest)

    @property
    def calibration(self) -> Calibration:
        return _calibration()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.array([_embed(text) for text in texts], np.float32).reshape(len(texts), DIMENSIONS)

    def embed_query(self, text: str) -> Vectors:
        return _embed(text)

    def close(self) -> None:
        """Nothing to release."""


def _embed(text: str) -> Vectors:
    counts = np.zeros(DIMENSIONS, np.float32)
    for word in re.findall(r"\w+", text.casefold()):
        code = zlib.crc32(word.encode("utf-8", "replace"))
        counts[code % DIMENSIONS] += 1.0 if code & 0x8000_0000 else -1.0
    return unit_vector(counts, DIMENSIONS)


@cache
def _calibration() -> Calibration:
    return measure_calibration(HashingEmbedder().embed_passages)
