"""Remembers token counts: the turns of a tail are counted again for every context they stand in."""

from __future__ import annotations

from functools import lru_cache

from clew.ports import TokenCounter

REMEMBERED_TEXTS = 4096
REMEMBERED_CHARS = 4096
"""Of one text. Both bounds together keep the cache to a few megabytes."""


class CachedCounter:
    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known_bound = lru_cache(REMEMBERED_TEXTS)(counter.bound)

    @property
    def name(self) -> str:
        return self._counter.name

    def estimate(self, text: str) -> int:
        return self._counter.estimate(text)

    def bound(self, text: str) -> int:
        return self._known_bound(text) if len(text) <= REMEMBERED_CHARS else self._counter.bound(text)
