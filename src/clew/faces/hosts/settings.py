"""Editing the settings file of another program: shown before it is done, backed up, undone without a trace.

What stands in the file belongs to someone else. Only the entries of Clew come and go; every other key stays, in
its order; a file that cannot be read as what it should be is left alone, with a sentence that says why.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import stat
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.errors import Conflict, InvalidInput

Document = dict[str, Any]
Change = Callable[[Document], None]
"""Puts the entries of Clew into a document, where they are not there already, or takes them out."""

NEW_FILE_MODE = 0o600
_BYTE_ORDER_MARK = "\ufeff"
_INDENT = re.compile(r"^\{\r?\n([ \t]+)\"")


@dataclass(frozen=True, slots=True)
class Edit:
    """What a settings file holds and what it would hold; None is no file."""

    path: Path
    """The file itself, where the name that was given is a link to it."""
    before: bytes | None
    after: bytes | None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """The change, as a unified diff; empty where there is none."""
        old, new = (_lines(content) for content in (self.before, self.after))
        return "".join(difflib.unified_diff(old, new, str(self.path), str(self.path)))

    def apply(self) -> Path | None:
        """Make the change in one step. Gives the backup of what was there; None where there was nothing.

        Raises OSError that names the settings file, not the copies that are made on the way.
        """
        try:
            return self._made() if self.changes else None
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error

    def _made(self) -> Path | None:
        if _content(self.path) != self.before:
            raise Conflict(f"{self.path} was changed by another program just now; nothing was written")
        backup = None if self.before is None else _back_up(self.path, self.before)
        if self.after is None:
            self.path.unlink()
        else:
            _replace(self.path, self.after)
        return backup


def user_home() -> Path:
    """The home folder. Raises InvalidInput where HOME does not say it: settings are not put where it is guessed."""
    home = os.environ.get("HOME")
    if not home:
        raise InvalidInput("HOME is not set, so it is not known where the settings are; set it to your home folder")
    return Path(home)


def read_json(path: Path) -> Document:
    """What a JSON settings file holds; nothing where there is none. Raises InvalidInput."""
    content = _content(path)
    return {} if content is None else _parsed(path, content)


def edit_json(path: Path, add: Change, remove: Change, *, install: bool) -> Edit:
    """The edit that adds entries to a JSON document, or removes them. Raises InvalidInput."""
    path = Path(os.path.realpath(path))
    before = _content(path)
    with _left_alone():
        document = {} if before is None else _parsed(path, before)
    wanted = _changed(document, add if install else remove)
    if _same(wanted, document):
        return Edit(path, before, before)
    original = None if install else _original(path, wanted, add, remove)
    if original is not None:
        return Edit(path, before, original)
    return Edit(path, before, _rendered(wanted, before) if wanted else None)


def edit_toml(path: Path, table: str, body: str | None, is_own: Callable[[Document], bool]) -> Edit:
    """The edit that gives a TOML file a table of Clew, or takes it out (`body` None). Raises InvalidInput.

    The table is known by what it says: programs that write their settings anew move comments about, so marks would
    be no help. Keys that someone added to it stay as long as it does.
    """
    path = Path(os.path.realpath(path))
    before = _content(path)
    with _left_alone():
        text = "" if before is None else _text(path, before)
        document = _toml(path, text)
    entry = _entry(document, table)
    if entry is not None and not is_own(entry):
        raise InvalidInput(f"{path} has a table [{table}] that Clew did not write; remove or rename it first")
    if body is None and entry is None:
        return Edit(path, before, before)
    wanted = _without_table(text, table) if body is None else _with_table(text, table, body)
    after = _toml(path, wanted)
    if _less(after, table) != _less(document, table) or (_entry(after, table) is None) != (body is None):
        raise InvalidInput(f"{path}: [{table}] cannot be changed without changing the rest; do it by hand")
    return Edit(path, before, wanted.encode() if wanted or body is not None or was_empty(path) else None)


def was_empty(path: Path) -> bool:
    """Whether the file was there before Clew came, with nothing in it."""
    return any(backup.stat().st_size == 0 for backup in _backups(path))


# --- JSON --------------------------------------------------------------------------------------------


def _changed(document: Document, change: Change) -> Document:
    copy: Document = json.loads(json.dumps(document))
    change(copy)
    return copy


def _same(one: Document, other: Document) -> bool:
    """As they would be written: Python takes 1 and true for equal, a settings file does not."""
    return json.dumps(one) == json.dumps(other)


def _parsed(path: Path, content: bytes) -> Document:
    text = _text(path, content).removeprefix(_BYTE_ORDER_MARK)
    try:
        document = json.loads(text, object_pairs_hook=_distinct) if text.strip() else {}
        json.dumps(document, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is not plain JSON: {error}") from error
    if not isinstance(document, dict):
        raise InvalidInput(f"{path} does not hold a JSON object")
    return document


def _distinct(pairs: list[tuple[str, Any]]) -> Document:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return document


def _rendered(document: Document, before: bytes | None) -> bytes:
    """In the manner of the file as it was: its first bytes, its indent, its line ends, its letters beyond ASCII."""
    whole = "" if before is None else before.decode("utf-8")
    old = whole.removeprefix(_BYTE_ORDER_MARK)
    found = _INDENT.match(old)
    indent = found[1] if found else "  "
    text = json.dumps(document, indent=indent, ensure_ascii=bool(old) and old.isascii())
    if any("\ud800" <= char <= "\udfff" for char in text):  # half of a character can only be written escaped
        text = json.dumps(document, indent=indent)
    if not old or old.endswith("\n"):
        text += "\n"
    mark = whole[: len(whole) - len(old)]
    return (mark + (text.replace("\n", "\r\n") if "\r\n" in old else text)).encode("utf-8")


def _original(path: Path, wanted: Document, add: Change, remove: Change) -> bytes | None:
    """The very file from before Clew came, where there is a backup of it and nothing else has changed since.

    Compared without the entries of Clew, whatever options they were written with. What held nothing goes with them,
    so they are put into the earlier document first.
    """
    for backup in _backups(path):
        content = backup.read_bytes()
        try:
            earlier = _parsed(backup, content)
            undone = _changed(_changed(earlier, add), remove)
        except InvalidInput:
            continue
        if _same(_changed(earlier, remove), earlier) and _same(undone, wanted):
            return content
    return None


def _backups(path: Path) -> list[Path]:
    """The newest first."""
    return sorted(path.parent.glob(f"{_literal(path.name)}.clew-backup-*"), reverse=True)


def _literal(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


# --- TOML --------------------------------------------------------------------------------------------


def _with_table(text: str, table: str, body: str) -> str:
    """The text with these keys in the table: at its end, or in place of those it has."""
    found = _sections(table, "").search(text)
    if found is None:
        return f"{text}{_separator(text)}[{table}]\n{body.rstrip()}\n"
    keys = {line.partition("=")[0].strip() for line in body.splitlines()}
    others = [line for line in found["inner"].splitlines(True) if line.partition("=")[0].strip() not in keys]
    return f"{text[: found.start()]}[{table}]\n{body.rstrip()}\n{''.join(others)}{text[found.end() :]}"


def _without_table(text: str, table: str) -> str:
    """The text without the table and what is under it, but for comments that lead over to the next one."""

    def leading_over(found: re.Match[str]) -> str:
        kept = re.search(r"(?:^[ \t]*(?:#.*)?\r?\n?)*\Z", found["inner"], re.M)
        return kept[0] if kept is not None and found.end() < len(text) else ""

    rest = _sections(table, r"(?:\.[^\]\n]+)?").sub(leading_over, text)
    return rest[:-1] if rest.endswith("\n\n") and not text.endswith("\n\n") else rest


def _sections(table: str, under: str) -> re.Pattern[str]:
    header = rf"^[ \t]*\[{re.escape(table)}{under}\][ \t]*(?:#.*)?\r?(?:\n|\Z)"
    return re.compile(rf"{header}(?P<inner>(?:^(?![ \t]*\[).*(?:\n|\Z))*)", re.M)


def _separator(text: str) -> str:
    return "" if not text else "\n" if text.endswith("\n") else "\n\n"


def _toml(path: Path, text: str) -> Document:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is not TOML that can be edited, so it was left alone: {error}") from error


def _entry(document: Document, table: str) -> Document | None:
    parent, _, name = table.partition(".")
    inner = document.get(parent)
    entry = inner.get(name) if isinstance(inner, dict) else None
    return entry if isinstance(entry, dict) else None


def _less(document: Document, table: str) -> Document:
    """The document without one table, and without its parent where that holds nothing else."""
    parent, _, name = table.partition(".")
    inner = document.get(parent)
    if not isinstance(inner, dict):
        return document
    rest = {key: value for key, value in inner.items() if key != name}
    others = {key: value for key, value in document.items() if key != parent}
    return {**others, parent: rest} if rest else others


@contextmanager
def _left_alone() -> Iterator[None]:
    """Whatever is wrong with a file that was to be edited: the sentence says that it was not touched."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{error.message}; it was left alone") from error


# --- files -------------------------------------------------------------------------------------------


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _text(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8") from error


def _lines(content: bytes | None) -> list[str]:
    lines = (content or b"").decode("utf-8", "replace").splitlines()
    return [f"{line}\n" for line in lines]


def _back_up(path: Path, content: bytes) -> Path:
    """A copy beside the file that no other backup has the name of."""
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
    """At any moment the file holds the old content or the new."""
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
