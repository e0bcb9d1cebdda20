"""The bytes that the daemon holds for all its clients together, and who makes room where there are too many.

A bound for each client is not enough: a few hundred clients, each at its own bound, would still take gigabytes. Whoever
stops in the middle of a line, or does not take its answers, holds bytes for longer than others. So the one that has
waited longest makes room.
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol


class Holder(Protocol):
    """Someone for whom the daemon holds bytes."""

    def make_room(self) -> None:
        """Gives up all that is held for it."""


class Room:
    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.held_bytes = 0
        self._held: dict[Holder, Counter[int]] = {}
        """How many pieces of each size."""
        self._given_up: dict[Holder, Counter[int]] = {}
        """The same of pieces that made room, and that their holder still releases."""
        self._waiting: dict[Holder, None] = {}
        """Those that wait for their client, the longest first."""

    def hold(self, holder: Holder, size_bytes: int) -> None:
        """Counts more bytes for a holder. Others that wait make room for them; what is held already stays."""
        self._held.setdefault(holder, Counter())[size_bytes] += 1
        self.held_bytes += size_bytes
        self._shrink(keep=holder)

    def release(self, holder: Holder, size_bytes: int) -> None:
        """Counts a piece no longer that was held with this size.

        One that made room counts for nothing already. It must not take a newer one with it: of two pieces of a size, it
        is the first to be released.
        """
        if not _take(self._given_up, holder, size_bytes) and _take(self._held, holder, size_bytes):
            self.held_bytes -= size_bytes

    def forget(self, holder: Holder) -> None:
        """Counts nothing for a holder, as if it had never held anything."""
        self._give_up(holder)
        self._given_up.pop(holder, None)

    def begin_wait(self, holder: Holder) -> None:
        """The client has to do something now, or its holder makes room when others need it."""
        self._waiting.setdefault(holder)

    def end_wait(self, holder: Holder) -> None:
        self._waiting.pop(holder, None)

    def has_room(self, size_bytes: int) -> bool:
        """Whether so many bytes more would fit, after those that wait have made room."""
        self._shrink(wanted_bytes=size_bytes)
        return self.held_bytes + size_bytes <= self.size_bytes

    def _shrink(self, *, wanted_bytes: int = 0, keep: Holder | None = None) -> None:
        while self.held_bytes + wanted_bytes > self.size_bytes:
            oldest = next((holder for holder in self._waiting if holder is not keep), None)
            if oldest is None:
                return
            self._give_up(oldest)
            oldest.make_room()

    def _give_up(self, holder: Holder) -> None:
        self._waiting.pop(holder, None)
        if (held := self._held.pop(holder, None)) is not None:
            self.held_bytes -= sum(size_bytes * count for size_bytes, count in held.items())
            self._given_up.setdefault(holder, Counter()).update(held)


def _take(pieces: dict[Holder, Counter[int]], holder: Holder, size_bytes: int) -> bool:
    """Take a piece of this size away; False where there is none."""
    sizes = pieces.get(holder)
    if sizes is None or not sizes[size_bytes]:
        return False
    sizes[size_bytes] -= 1
    if not sizes[size_bytes]:
        del sizes[size_bytes]
    if not sizes:
        del pieces[holder]
    return True
