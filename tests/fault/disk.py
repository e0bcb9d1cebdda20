"""A disk that fails: at one step it kills the process, gives an error, is full, or loses its power.

A step is anything that changes a file: of SQLite through a VFS, of everybody else through `os`.

After a power cut a file is as it was at its last sync, with some of what was written since, in any order. A name that
is new since the last sync of its folder is gone, and what it replaced is back. SQLite syncs folders where nobody sees
it, so names of its files last.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

import apsw

KILLED = 9
_WRITING = os.O_WRONLY | os.O_RDWR


class Fault(StrEnum):
    NONE = "none"
    KILL = "kill"
    ERROR = "error"
    FULL = "full"
    POWER = "power"


class Disk:
    """Counts steps while it is armed, and fails at one of them. For a process that does nothing else."""

    def __init__(self, folder: Path, fault: Fault, fails_at: int) -> None:
        self.steps = 0
        self.armed = False
        self._fault = fault
        self._fails_at = fails_at
        self._loss = _Loss(folder, random.Random(fails_at)) if fault is Fault.POWER else None
        self._vfs = _Vfs(self, self._loss)  # in use for as long as something refers to it
        for name in ("write", "pwrite", "ftruncate", "fsync", "replace", "link", "unlink", "mkdir", "open"):
            setattr(os, name, self._failing(name, getattr(os, name)))

    def step(self, error: Callable[[], Exception]) -> None:
        if not self.armed:
            return
        self.steps += 1
        if self.steps == self._fails_at or (self._fault is Fault.FULL and self.steps > self._fails_at > 0):
            if self._fault in (Fault.ERROR, Fault.FULL):
                raise error()
            self.end()

    def end(self) -> None:
        """The process ends here, without a word."""
        if self._loss is not None:
            self._loss.cut()
        os._exit(KILLED)

    def _failing(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        code = errno.ENOSPC if self._fault is Fault.FULL else errno.EIO

        def attempt(*given: Any, **named: Any) -> Any:
            if name != "open" or given[1] & os.O_CREAT:
                self.step(lambda: OSError(code, os.strerror(code)))
            return real(*given, **named) if self._loss is None else self._loss.watch(name, real, given, named)

        return attempt


class _Vfs(apsw.VFS):
    def __init__(self, disk: Disk, loss: _Loss | None) -> None:
        super().__init__("failing", "unix", makedefault=True)
        self._disk = disk
        self._loss = loss

    def xOpen(self, name: Any, flags: Any) -> apsw.VFSFile:
        return _File(self._disk, self._loss, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self._disk.step(lambda: apsw.IOError("no more"))
        super().xDelete(filename, syncdir)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, loss: _Loss | None, name: Any, flags: Any) -> None:
        self._disk = disk
        self._loss = loss
        self._path = "" if name is None else name if isinstance(name, str) else name.filename()
        super().__init__("unix", name, flags)
        if loss is not None and self._path:
            loss.begin(self._path)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.step(lambda: apsw.FullError("full") if self._disk._fault is Fault.FULL else apsw.IOError("bad"))
        super().xWrite(data, offset)
        if self._loss is not None:
            self._loss.write(self._path, offset, bytes(data))

    def xTruncate(self, size: int) -> None:
        self._disk.step(lambda: apsw.IOError("bad"))
        super().xTruncate(size)
        if self._loss is not None:
            self._loss.write(self._path, size, None)

    def xSync(self, flags: int) -> None:
        self._disk.step(lambda: apsw.IOError("bad"))
        super().xSync(flags)
        if self._loss is not None:
            self._loss.sync(self._path)


class _Loss:
    """What a power cut would leave of each file."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._folder = str(folder)
        self._chance = chance
        self._kept: dict[str, bytes] = {}
        """By file, its content at its last sync."""
        self._since: dict[str, list[tuple[int, bytes | None]]] = {}
        """Writes of SQLite since then; without data, a cut at that size."""
        self._new: dict[str, bytes | None] = {}
        """Names that no sync of a folder has made last, with what was there before."""
        self._read = os.open, os.unlink

    def begin(self, path: str) -> None:
        if path not in self._kept:
            self._kept[path] = _content(path) or b""

    def write(self, path: str, offset: int, data: bytes | None) -> None:
        self._since.setdefault(path, []).append((offset, data))

    def sync(self, path: str) -> None:
        self._kept[path] = _content(path) or b""
        self._since.pop(path, None)

    def watch(self, name: str, real: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        target = str(given[1] if name in ("replace", "link") else given[0])
        before = _content(target) if name in ("open", "replace", "link", "mkdir") else None
        result = real(*given, **named)
        if not target.startswith(self._folder) and name not in ("fsync",):
            return result
        if name == "open" and given[1] & _WRITING:
            self._kept.setdefault(target, before or b"")
            if before is None:
                self._new.setdefault(target, None)
        elif name in ("replace", "link"):
            source = str(given[0])
            self._new.setdefault(target, before)
            self._kept[target] = self._kept.get(source, _content(target) or b"")
            self._since[target] = list(self._since.get(source, ()))
        elif name == "mkdir":
            self._new.setdefault(target, None)
        elif name == "fsync":
            self._fsync(os.readlink(f"/proc/self/fd/{given[0]}"))
        return result

    def _fsync(self, path: str) -> None:
        if os.path.isdir(path):
            self._new = {new: old for new, old in self._new.items() if os.path.dirname(new) != path}
        else:
            self.sync(path)

    def cut(self) -> None:
        for path, content in self._kept.items():
            if os.path.exists(path):
                _put(path, self._torn(content, self._since.get(path, [])))
        for path, old in self._new.items():
            if os.path.isdir(path):
                os.rename(path, f"{self._folder}.lost-{len(os.listdir(os.path.dirname(self._folder)))}")
            elif old is not None:
                _put(path, old)
            elif os.path.exists(path):
                self._read[1](path)

    def _torn(self, content: bytes, since: list[tuple[int, bytes | None]]) -> bytes:
        image = bytearray(content)
        arrived = [change for change in since if self._chance.random() < self._chance.choice((0.0, 0.5, 1.0))]
        self._chance.shuffle(arrived)
        for offset, data in arrived:
            if data is None:
                del image[offset:]
            else:
                image.extend(bytes(max(0, offset + len(data) - len(image))))
                image[offset : offset + len(data)] = data
        return bytes(image)


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except (FileNotFoundError, IsADirectoryError):
        return None


def _put(path: str, content: bytes) -> None:
    with open(path, "wb") as stream:
        stream.write(content)
