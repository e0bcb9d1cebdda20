"""Edits the settings file of another program: shows the change, backs the file up, writes it in one step, undoes it.

The file belongs to someone else. Clew adds and removes its own entries alone, and leaves a file alone that it cannot
read, with a sentence that says why.
"""

from __future__ import annotations

import difflib
import glob
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clew.errors import Conflict, InvalidInput

TextChange = Callable[[str], str]
"""Gives the new text of a settings file. Raises InvalidInput with a predicate of the file: "is not JSON"."""

NEW_FILE_MODE = 0o600


@dataclass(frozen=True, slots=True)
class Installation:
    """The entries of Clew in one settings file of a host."""

    path: Path
    add: TextChange
    """Adds the entries, or brings them up to date."""
    remove: TextChange
    """Gives an empty text where the file held nothing else."""
    normalize: TextChange = str
    """Gives the same text for all files that mean the same."""

    def plan(self, *, install: bool) -> Edit:
        """The edit that adds the entries, or removes them. Raises InvalidInput."""
        path = Path(os.path.realpath(self.path))
        before = read_content(path)
        with name_file(path, "; it was left alone"):
            text = decode(before or b"")
            after = self.add(text) if install else self.remove(text)
            if self.normalize(after) == self.normalize(text):
                return Edit(path, before, before)
        original = None if install else self._find_original(path, after)
        return Edit(path, before, original if original is not None else after.encode() or None)

    def _find_original(self, path: Path, wanted: str) -> bytes | None:
        """The file from before Clew came, byte for byte, where a backup has it and nothing else has changed since.

        Adds the entries to each backup and removes them again, because a removal also drops what then holds nothing.
        """
        for backup in sorted(path.parent.glob(f"{glob.escape(path.name)}.clew-backup-*"), reverse=True):
            content = backup.read_bytes()
            try:
                earlier = decode(content)
                has_entries = self.normalize(self.remove(earlier)) != self.normalize(earlier)
                undone = self.remove(self.add(earlier))
            except InvalidInput:
                continue
            if not has_entries and self.normalize(undone) == self.normalize(wanted):
                return content
        return None


@dataclass(frozen=True, slots=True)
class Edit:
    """The content of a settings file before and after a change; None is no file."""

    path: Path
    """The file itself, where the given name is a link to it."""
    before: bytes | None
    after: bytes | None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """The change as a unified diff; empty where there is none."""
        old, new = (_split_lines(content) for content in (self.before, self.after))
        return "".join(difflib.unified_diff(old, new, str(self.path), str(self.path)))

    def apply(self) -> Path | None:
        """Makes the change in one step and gives the backup; None where there was no file, or nothing to change.

        Raises OSError that names the settings file, not the copies that are made on the way.
        """
        try:
            return self._write() if self.changes else None
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error

    def _write(self) -> Path | None:
        if read_content(self.path) != self.before:
            raise Conflict(f"{self.path} was changed by another program just now; nothing was written")
        backup = None if self.before is None else _back_up(self.path, self.before)
        if self.after is None:
            self.path.unlink()
        else:
            _replace(self.path, self.after)
        return backup


def user_home() -> Path:
    """The home folder. Raises InvalidInput where HOME is not set: Clew does not guess where settings are."""
    home = os.environ.get("HOME")
    if not home:
        raise InvalidInput("HOME is not set, so it is not known where the settings are; set it to your home folder")
    return Path(home)


def read_content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput("is not UTF-8") from error


@contextmanager
def name_file(path: Path, outcome: str = "") -> Iterator[None]:
    """Makes a sentence of an error inside: the file, what is wrong with it, the outcome."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{path} {error.message}{outcome}") from error


def _split_lines(content: bytes | None) -> list[str]:
    lines = (content or b"").decode("utf-8", "replace").splitlines()
    return [f"{line}\n" for line in lines]


def _back_up(path: Path, content: bytes) -> Path:
    """Copies the file to a name beside it that no other backup has."""
    stamp = time.strftime("%Y%m%dT%H%M%S")
    number = 0
    while True:
        backup = path.with_name(f"{path.name}.clew-backup-{stamp}{f'-{number}' if number else ''}")
        try:
            descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _mode(path))
        except FileExistsError:
            number += 1
            continue
        with open(descriptor, "wb") as file:
            file.write(content)
        return backup


def _replace(path: Path, content: bytes) -> None:
    """At any moment the file has the old content or the new."""
    mode = _mode(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return NEW_FILE_MODE
