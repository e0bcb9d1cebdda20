"""The spool: events of hooks that no daemon took, on disk until one does.

Each event is a file of its own with one line of JSON: a version, a method of the daemon, and its parameters. A file
gets its name when it is complete, so hooks that run at once need no lock and nobody reads half an event. The number in
a name gives the order. It comes from the names that are there and not from a clock.

Whoever writes must have cut out the secrets. Hooks load this module, so it imports nothing that takes time.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time

from clew.wire.private import PrivateFolder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any, Self

FOLDER = "spool"
ASIDE_FOLDER = "spool-aside"
"""For lines that cannot be taken in, each with the reason."""
ELSEWHERE = "spool-at-"
"""The beginning of folders for daemons that serve another data folder; the rest names the endpoint."""

VERSION = 1
MAX_EVENTS = 5_000
MAX_BYTES = 32 * 1024 * 1024
MAX_LINE_BYTES = 2 * 1024 * 1024

_NAME = re.compile(r"(\d{12,})-[0-9a-f]{8}\.jsonl")
_DROPPED = "dropped"
_LOCK = "lock"
_LEFT_BEHIND_S = 60.0
"""A file that was not finished within this time never will be."""


class Spool:
    """The events in a folder of the data folder, oldest first. Drops the oldest ones where they are too many."""

    def __init__(
        self,
        data_dir: str,
        folder: str = FOLDER,
        *,
        create: bool = False,
        max_events: int = MAX_EVENTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """Raises FileNotFoundError where no event was ever written, unless it may create the folder."""
        self._folder = PrivateFolder(os.path.join(os.path.abspath(data_dir), folder), create=create)
        self._max_events = max_events
        self._max_bytes = max_bytes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._folder.__exit__(*exc)

    @property
    def dropped(self) -> int:
        """How many events had to go, in all: the size of a file that grows by a byte for each."""
        try:
            return self._folder.look(_DROPPED).st_size
        except FileNotFoundError:
            return 0

    def names(self) -> list[str]:
        """The waiting events, oldest first."""
        return [name for name in self._folder.names() if _NAME.fullmatch(name)]

    def append(self, **fields: Any) -> None:
        """Adds an event behind the others. Raises OSError where the disk does not take it."""
        line = json.dumps({"clew": VERSION, **fields}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        names = self.names()
        if len(line) > min(MAX_LINE_BYTES, self._max_bytes):
            self._note_drop()
            return
        self._clean_up()
        self._make_room(names, len(line))
        number = int(names[-1].partition("-")[0]) + 1 if names else 1
        self._folder.write(f"{number:012d}-{os.urandom(4).hex()}.jsonl", line)

    def read(self, name: str) -> bytes:
        """The line of an event. Raises OSError where it is no plain file, or too long."""
        return self._folder.read(name, MAX_LINE_BYTES)

    def remove(self, name: str) -> bool:
        return self._folder.remove(name)

    def take(self, *, wait: bool = False) -> Generator[str]:
        """The names of the events, also of those that come meanwhile. While somebody else takes them: none, or a wait.

        The caller removes each before it asks for the next, and stops where it cannot.
        """
        lock = self._folder.open_lock(_LOCK)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            self._clean_up()
            while names := self.names():
                yield from names
        finally:
            os.close(lock)

    def _make_room(self, names: list[str], size_bytes: int) -> None:
        sizes = {name: self._size(name) for name in names}
        total_bytes, count = sum(sizes.values()), len(names)
        for name in names:
            if count < self._max_events and total_bytes + size_bytes <= self._max_bytes:
                return
            if self._folder.remove(name):
                self._note_drop()
            total_bytes, count = total_bytes - sizes[name], count - 1

    def _size(self, name: str) -> int:
        try:
            return self._folder.look(name).st_size
        except FileNotFoundError:
            return 0

    def _note_drop(self) -> None:
        self._folder.append(_DROPPED, b".")

    def _clean_up(self) -> None:
        """Removes the files of processes that were killed while they wrote."""
        for name in self._folder.unfinished():
            try:
                if time.time() - self._folder.look(name).st_mtime > _LEFT_BEHIND_S:
                    self._folder.remove(name)
            except FileNotFoundError:
                continue


class SpoolState:
    """The figures of a spool for a status: waiting, dropped, set aside."""

    def __init__(self, data_dir: str) -> None:
        try:
            folders = [name for name in os.listdir(data_dir) if name == FOLDER or name.startswith(ELSEWHERE)]
        except OSError:
            folders = []
        figures = [_figures(data_dir, folder) for folder in folders]
        self.waiting = sum(waiting for waiting, _ in figures)
        self.dropped = sum(dropped for _, dropped in figures)
        self.set_aside, _ = _figures(data_dir, ASIDE_FOLDER)


def _figures(data_dir: str, folder: str) -> tuple[int, int]:
    try:
        with Spool(data_dir, folder) as spool:
            return len(spool.names()), spool.dropped
    except OSError:
        return 0, 0
