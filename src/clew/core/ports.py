"""The seams to the outside world: each a protocol so small that its double is trivial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from clew.core.calibration import Calibration

Vectors = NDArray[np.float32]


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""


class Ids(Protocol):
    def new(self) -> str:
        """An id that no other call has given."""


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Two vectors are comparable only if this is equal for both."""

    family: str
    dimensions: int
    normalised: bool
    weights_hash: str

    def __str__(self) -> str:
        return f"{self.family}/{self.dimensions}/{self.weights_hash[:12]}"


class Embedder(Protocol):
    """Turns text into unit vectors. May be slow, may raise; never called inside a transaction."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    @property
    def calibration(self) -> Calibration:
        """How this model's cosines map to a similarity in [0, 1]."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit row per text. Raises EmbedderFailed."""

    def embed_query(self, text: str) -> Vectors:
        """One unit vector; a zero vector for a text that this model cannot read. Raises EmbedderFailed."""

    def close(self) -> None: ...


@runtime_checkable
class Interruptible(Protocol):
    """A model whose calls can be ended from outside, as those of a native library must be before a process ends."""

    def interrupt(self) -> None:
        """Let calls under way and calls to come fail soon."""


@dataclass(frozen=True, slots=True)
class Abstract:
    """A text a model wrote, and how sure it says it is, in [0, 1], where it says so."""

    text: str
    confidence: float | None = None


class Summarizer(Protocol):
    """Rewrites turns as a shorter text. May be slow, may raise; never called inside a transaction."""

    @property
    def name(self) -> str: ...

    def ready(self) -> bool:
        """Whether it is worth asking now; answers at once."""

    def summarise(self, transcript: str, *, earlier: str, max_tokens: int) -> Abstract:
        """Raises SummarizerFailed, also when it takes too long."""

    def close(self) -> None: ...


class TokenCounter(Protocol):
    """The one place token counts come from."""

    @property
    def name(self) -> str: ...

    def estimate(self, text: str) -> int:
        """The likely number of tokens."""

    def bound(self, text: str) -> int:
        """A number the true count should not pass; used wherever a budget is hard."""
