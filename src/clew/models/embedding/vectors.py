"""Makes unit vectors: every embedder returns those, whatever its input."""

from __future__ import annotations

import numpy as np

from clew.core.ports import Vectors
from clew.errors import EmbedderFailed


def unit_vector(values: Vectors, dimensions: int) -> Vectors:
    """Scaled to length one. A vector without a direction gets a fixed one, so that no caller meets a NaN."""
    if values.shape != (dimensions,):
        raise EmbedderFailed(f"the model gave {values.size} numbers where {dimensions} were expected")
    wide = values.astype(np.float64)
    length = float(np.linalg.norm(wide))
    if np.isfinite(length) and length > 1e-12:
        return (wide / length).astype(np.float32)
    fixed = np.zeros(dimensions, np.float32)
    fixed[0] = 1.0
    return fixed
