"""The dense lane's way to an embedder: which one is in use, whether its vectors fit the store's.

Everything here may be missing or fail. Then the answer is by words alone, and says so.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from clew.core.calibration import Calibration
from clew.core.ports import Embedder, EmbedderIdentity, Vectors
from clew.errors import EmbedderFailed
from clew.index.vectors import Grid, cosines, encode, to_grid
from clew.storage.protocol import Store

Floats = NDArray[np.float32]

UNREADABLE = "search by words alone: the embedding model does not read this text"
"""Of a query in a script that the model was not trained on."""


class WatchedEmbedder(Embedder, Protocol):
    """An embedder that keeps its callers from hanging and knows how it fares."""

    def embed_passages_in_time(self, texts: Sequence[str]) -> Vectors:
        """For a caller that waits. Raises EmbedderFailed, also when it takes too long."""

    def trouble(self) -> str | None:
        """Why a query would fail right now; None when it is worth trying."""

    def state(self) -> str:
        """`ok`, or the reason of the last failure that no success has followed."""


class Meant(NamedTuple):
    """The meaning of a query: its vector and how to read its cosines, or the reason why there is none."""

    vector: Grid | None = None
    calibration: Calibration | None = None
    trouble: str | None = None


def similarities(rows: Grid, vector: Grid, calibration: Calibration) -> Floats:
    """How near each row is to a vector, in [0, 1]."""
    return calibration.similarity(cosines(rows, vector))


class Meaning:
    def __init__(
        self, store: Store, embedder: WatchedEmbedder | None, absent_reason: str = "", patience_ms: int = 1000
    ) -> None:
        """`patience_ms` is how long a query waits for an embedder that is still loading."""
        self._store = store
        self._embedder = embedder
        self._absent_reason = absent_reason
        self._patience_s = patience_ms / 1000
        self._settled = threading.Event()
        self._unsettled_reason: str | None = None

    @property
    def available(self) -> bool:
        """Whether there is an embedder at all, working or not."""
        return self._embedder is not None

    @property
    def hopeful(self) -> bool:
        """Whether texts that wait for vectors may get them here: there is an embedder, and it fits or may yet."""
        return self._embedder is not None and (not self._settled.is_set() or self.usable)

    @property
    def wanted(self) -> bool:
        """Whether texts should wait for vectors: one embeds them now, or one has before."""
        return self.available or self._store.model() is not None

    @property
    def usable(self) -> bool:
        """Whether vectors may join the store's now. Another process may have given the store another embedder."""
        return self._settled.is_set() and self.identity is not None and self._store.model() == self.identity

    @property
    def identity(self) -> EmbedderIdentity | None:
        return self._embedder.identity if self._embedder is not None else None

    @property
    def profile(self) -> str | None:
        return str(self.identity) if self.usable else None

    @property
    def calibration(self) -> Calibration | None:
        """For two stored texts; `of_queries` of it for a query and a stored text."""
        return self._embedder.calibration if self.usable and self._embedder else None

    def settle(self) -> None:
        """Compare the embedder with the store's vectors; a store without any takes this one.

        Raises EmbedderFailed where the embedder cannot say yet who it is.
        """
        if self._embedder is None or self._settled.is_set():
            return
        try:
            identity, held = self._embedder.identity, self._store.model()
        except EmbedderFailed as error:
            self._unsettled_reason = str(error)
            raise
        if held is None:
            self._store.adopt_model(identity)
        self._settled.set()

    def adopt(self) -> int:
        """Make the embedder the store's, and queue all it has not embedded; how many."""
        if self._embedder is None:
            raise EmbedderFailed(f"there is no embedding model to use: {self._absent_reason}")
        queued = self._store.adopt_model(self._embedder.identity)
        self._settled.set()
        return queued

    def of_query(self, text: str) -> Meant:
        self.await_settling()
        reason = self.trouble()
        if reason is not None or self._embedder is None:
            return Meant(trouble=reason)
        try:
            vector = to_grid(self._embedder.embed_query(text))[0]
            return Meant(vector, self._embedder.calibration.of_queries) if vector.any() else Meant(trouble=UNREADABLE)
        except EmbedderFailed as error:
            return Meant(trouble=f"search by words alone: {error}")

    def of_passages(self, texts: Sequence[str]) -> list[bytes]:
        """Vectors as the store keeps them. Raises EmbedderFailed."""
        if self._embedder is None:
            raise EmbedderFailed("there is no embedding model")
        return encode(self._embedder.embed_passages(texts))

    def grid_of_passages(self, texts: Sequence[str]) -> Grid:
        """Vectors to compare with stored ones, in time for a caller. Raises EmbedderFailed."""
        if self._embedder is None or not self.usable:
            raise EmbedderFailed("there is no embedding model whose vectors fit the store's")
        return to_grid(self._embedder.embed_passages_in_time(texts))

    def trouble(self) -> str | None:
        """Why a search would be by words alone right now; None when it would not."""
        failing = self._embedder.trouble() if self._embedder is not None else None
        return self._unfit() or (failing and f"search by words alone: {failing}")

    def health(self) -> str | None:
        """Why not all is well; None when it is. Unlike `trouble`, remembers a failure until a success."""
        self.await_settling()
        state = self._embedder.state() if self._embedder is not None else "ok"
        return self._unfit() or (None if state == "ok" else f"search by words alone: {state}")

    def await_settling(self, at_most_s: float = math.inf) -> bool:
        """A model that is still loading is worth a moment, once; one that fails is not. Whether it is there now."""
        if self._embedder is not None and self._unsettled_reason is None:
            is_there = self._settled.wait(min(self._patience_s, at_most_s))
            if not is_there and self._patience_s <= at_most_s:
                self._unsettled_reason = "the embedding model is still loading"
        return self._settled.is_set()

    def _unfit(self) -> str | None:
        if self._embedder is None:
            return f"search by words alone: {self._absent_reason}"
        if not self._settled.is_set():
            return f"search by words alone: {self._unsettled_reason or 'the embedding model is loading'}"
        if not self.usable:
            held, own = self._store.model(), self.identity
            return f"search by words alone: the store holds vectors of {held}, not of {own}: run `clew reembed`"
        return None

    def close(self) -> None:
        if self._embedder is not None:
            self._embedder.close()
