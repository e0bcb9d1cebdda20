"""The one interface that every face uses."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

from clew.api.methods import Methods
from clew.core.collections import Collection
from clew.kernel.operations import Flush, Flushed, SearchResult


class MemoryApi(Methods):
    """The operations of Clew as methods.

    Each builds a request and hands it to `call`, which is all that differs between `Memory` (in this process) and
    `Client` (over a daemon's socket).
    """

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def flush(self, *, timeout_ms: int = 20_000) -> Flushed:
        """Waits until everything acknowledged is searchable by meaning, too; longer than over the wire."""
        return self.call(Flush(timeout_ms=timeout_ms))

    def query_raw(self, session_id: str, text: str, *, k: int = 10) -> SearchResult:
        """Search every turn a session ever had, compacted or not."""
        return self.search(text, k=k, collections=[Collection.raw(session_id)])
