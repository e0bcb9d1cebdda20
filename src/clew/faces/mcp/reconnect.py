"""A memory that outlives its daemon: it opens at the first need, and again after a loss."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from clew.api import MemoryApi, Request
from clew.errors import DaemonUnreachable

R = TypeVar("R")


class ReopeningMemory(MemoryApi):
    """The operations of Clew on the memory that `open_memory` gives: a daemon, or the store itself.

    Sends a request that finds no daemon once more, to a newly opened memory. The lost daemon may have carried it out,
    so callers send only requests that may be carried out twice.
    """

    def __init__(self, open_memory: Callable[[], MemoryApi]) -> None:
        self._open_memory = open_memory
        self._lock = threading.Lock()
        self._memory: MemoryApi | None = None

    def call(self, request: Request[R]) -> R:
        memory = self._current()
        try:
            return memory.call(request)
        except DaemonUnreachable:
            self._drop(memory)
        return self._current().call(request)

    def close(self) -> None:
        if self._memory is not None:
            self._drop(self._memory)

    def _current(self) -> MemoryApi:
        with self._lock:
            if self._memory is None:
                self._memory = self._open_memory()
            return self._memory

    def _drop(self, memory: MemoryApi) -> None:
        """Closes this memory; a newer one that another thread has opened stays."""
        with self._lock:
            if self._memory is memory:
                self._memory = None
        memory.close()
