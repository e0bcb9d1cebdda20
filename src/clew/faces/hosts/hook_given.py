"""The lines of memory that a session has had, so that no prompt gets one of them again.

A small file of the data folder has a digest of each line: of the speaker, the words and the warnings, without the
number and the time, which change by themselves. A record that has changed makes another line, and the session gets it.

Every hook loads this module, so it imports nothing that takes time.
"""

from __future__ import annotations

import json
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.wire.private import PrivateFolder

FOLDER = "given"
MAX_SESSIONS = 256
MAX_LINES = 2_000
MAX_LINES_UNTOLD = 100
"""For a host that does not say when it compacts a session: its newest lines are likely to be there still."""

_DIGEST_BYTES = 8
_LINE_BYTES = 2 * _DIGEST_BYTES + 1
_ITEM = re.compile(r"\[(\d+),")
_NUMBER = re.compile(r"\[(\d+)\]")
_NOTES = ("trust", "dissent", "superseded")
_SHAPE = 4
"""A line has a number, a time, a speaker and a text, and may have notes."""


class Given:
    """The lines that one session has had. Where its file cannot be read or written, lines may come again."""

    def __init__(self, data_dir: str, user_id: str, session_id: str, *, is_told: bool) -> None:
        self._path = os.path.join(os.path.abspath(data_dir), FOLDER)
        self._owner = f"{user_id}\0{session_id}"
        self._max_lines = MAX_LINES if is_told else MAX_LINES_UNTOLD

    def without_repeats(self, text: str) -> str:
        """The framed text without lines that the session has had, and without frames that have nothing else.

        A line stays where a new one refers to it by its number.
        """
        had = self._read() if text else frozenset()
        if not had:
            return text
        return "\n".join(line for frame in _frames(text) for line in _new_lines(frame, had))

    def remember(self, text: str) -> None:
        """Notes the lines that the host has taken over."""
        from clew.wire.private import PrivateFolder

        new = "".join(f"{digest}\n" for digest in dict.fromkeys(map(_digest, text.split("\n"))) if digest)
        with PrivateFolder(self._path, create=True) as folder:
            self._append(folder, new)

    def forget(self) -> None:
        """After a compaction or a clearing, the prompt has none of the lines any more."""
        from clew.wire.private import PrivateFolder

        try:
            with PrivateFolder(self._path) as folder:
                folder.remove(self._name)
        except OSError:
            pass

    @property
    def _name(self) -> str:
        return _hash(self._owner, 16)

    def _append(self, folder: PrivateFolder, new: str) -> None:
        """Adds the lines; keeps the newest ones, and the sessions that were used last."""
        names = folder.names()
        if self._name not in names and len(names) >= MAX_SESSIONS:
            by_age = sorted(names, key=lambda name: folder.look(name).st_mtime)
            for name in by_age[: len(names) - MAX_SESSIONS + 1]:
                folder.remove(name)
        if self._name in names and folder.look(self._name).st_size > 2 * MAX_LINES * _LINE_BYTES:
            folder.write(self._name, folder.read(self._name, 1 << 20)[-MAX_LINES * _LINE_BYTES :])
        folder.append(self._name, new.encode("ascii"))

    def _read(self) -> frozenset[str]:
        from clew.wire.private import PrivateFolder

        try:
            with PrivateFolder(self._path) as folder:
                lines = folder.read(self._name, 1 << 20).decode("ascii", "replace").split("\n")
        except OSError:
            return frozenset()
        return frozenset(lines[-self._max_lines - 1 :]) - {""}


def _frames(text: str) -> Iterator[list[str]]:
    """Groups of lines, each from the opening of a frame to its end."""
    frame: list[str] = []
    for line in text.split("\n"):
        frame.append(line)
        if line.startswith("</"):
            yield frame
            frame = []
    if frame:
        yield frame


def _new_lines(frame: list[str], had: frozenset[str]) -> list[str]:
    """The frame with its new lines; nothing where it has none."""
    items = {match[1]: line for line in frame if (match := _ITEM.match(line))}
    new = {number for number, line in items.items() if _digest(line) not in had}
    named = {number for place in new for number in _NUMBER.findall(_notes(items[place]))}
    kept = new | (named & items.keys())
    if not new:
        return []
    return [line for line in frame if not (match := _ITEM.match(line)) or match[1] in kept]


def _digest(line: str) -> str:
    """A digest of the words of a line; empty where it is a part of the frame."""
    item = _decode(line)
    if item is None:
        return ""
    return _hash("\0".join((*map(str, item[2:_SHAPE]), _NUMBER.sub("", _notes(line)))), _DIGEST_BYTES)


def _notes(line: str) -> str:
    """The notes that are a part of what a line says."""
    item = _decode(line)
    notes = item[_SHAPE] if item is not None and len(item) > _SHAPE else {}
    return " ".join(f"{name} {notes[name]}" for name in _NOTES if name in notes) if isinstance(notes, dict) else ""


def _decode(line: str) -> list[object] | None:
    if not _ITEM.match(line):
        return None
    try:
        item = json.loads(line)
    except ValueError:
        return None
    return item if isinstance(item, list) and len(item) >= _SHAPE else None


def _hash(text: str, size_bytes: int) -> str:
    import hashlib

    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=size_bytes).hexdigest()
