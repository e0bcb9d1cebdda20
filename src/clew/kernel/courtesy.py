"""Background work steps aside for callers, but not for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Courtesy:
    """Knows when callers are served.

    Python threads share one interpreter, and a caller gives it up at every statement it sends to the
    store. Background work that runs at the same time takes its turn each time, so a call of one
    millisecond would take ten.
    """

    def __init__(self) -> None:
        self._calls = 0
        self._last_end = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def call(self) -> Iterator[None]:
        """For as long as a caller waits."""
        with self._lock:
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                self._last_end = time.monotonic()

    def give_way(self, *, quiet_seconds: float, at_most_seconds: float, hurry: threading.Event) -> None:
        """Wait until nobody has been served for a moment; when told to hurry, or after so long, go on anyway."""
        deadline = time.monotonic() + at_most_seconds
        while not self._is_quiet(quiet_seconds) and time.monotonic() < deadline:
            if hurry.wait(quiet_seconds):
                return

    def _is_quiet(self, seconds: float) -> bool:
        with self._lock:
            return self._calls == 0 and time.monotonic() - self._last_end >= seconds
