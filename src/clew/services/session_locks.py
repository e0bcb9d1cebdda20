"""One thread at a time works on what belongs to a session."""

from __future__ import annotations

import threading

_LOCKS = 32


class SessionLocks:
    """A fixed number of locks serves all sessions; two of them may share one, and wait for each other at worst."""

    def __init__(self) -> None:
        self._locks = tuple(threading.Lock() for _ in range(_LOCKS))

    def of(self, session_id: str) -> threading.Lock:
        return self._locks[hash(session_id) % _LOCKS]
