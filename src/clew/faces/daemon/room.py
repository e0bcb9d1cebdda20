"""The bytes that the daemon holds for all its clients together, and who makes room where there are too many.

A bound for each client is not enough: a few hundred clients, each at its own bound, would still take gigabytes. Whoever
stops in the middle of a line, or does not take its answers, holds bytes for longer than others. So the one that has
waited longest makes room.
"""

from __future__ import annotations

from typing import Protocol


class Holder(Protocol):
    """Someone for whom the daemon holds bytes."""

    def make_room(self) -> None:
        """Gives up all that is held for it."""


class Room:
    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.held_bytes = 0
        self._held: dict[Holder, int] = {}
        self._waiting: dict[Holder, None] = {}
        """Those that wait for their client, the longest first."""

    def hold(self, holder: Holder, size_bytes: int) -> None:
        """Counts more bytes for a holder. Others that wait make room for them; what is held already stays."""
        self._held[holder] = self._held.get(holder, 0) + size_bytes
        self.held_bytes += size_bytes
        self._shrink(keep=holder)

    def release(self, holder: Holder, size_bytes: int) -> None:
        """Counts fewer bytes; nothing for a holder that has made room meanwhile."""
        held = self._held.pop(holder, 0)
        freed = min(held, size_bytes)
        self.held_bytes -= freed
        if held > freed:
            self._held[holder] = held - freed

    def forget(self, holder: Holder) -> None:
        """Counts nothing more for a holder."""
        self._waiting.pop(holder, None)
        self.held_bytes -= self._held.pop(holder, 0)

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
            self.forget(oldest)
            oldest.make_room()
