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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.errors import Conflict, InvalidInput

Document = dict[str, Any]
Change = Callable[[Document], None]
"""Puts the entries of Clew into a document, where they are not there already, or takes them out."""

NEW_FILE_MODE = 0o600
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
        """Make the change in one step. Gives the backup of what was there; None where there was nothing."""
        if not self.changes:
            return None
        if _content(self.path) != self.before:
            raise Conflict(f"{self.path} was changed by another program just now; nothing was written")
        backup = None if self.before is None else _back_up(self.path, self.before)
        if self.after is None:
            self.path.unlink()
        else:
            _replace(self.path, self.after)
        return backup


def read_json(path: Path) -> Document:
    """What a JSON settings file holds; nothing where there is none. Raises InvalidInput."""
    content = _content(path)
    return {} if content is None else _parsed(path, content)


def edit_json(path: Path, add: Change, remove: Change, *, install: bool) -> Edit:
    """The edit that adds entries to a JSON document, or removes them. Raises InvalidInput."""
    path = Path(os.path.realpath(path))
    before = _content(path)
    document = {} if before is None else _parsed(path, before)
    wanted = _changed(document, add if install else remove)
    if _same(wanted, document):
        return Edit(path, before, before)
    original = None if install else _original(path, document, add, remove)
    return Edit(path, before, original or (_rendered(wanted, before) if wanted else None))


def edit_toml(path: Path, table: str, body: str | None) -> Edit:
    """The edit that puts a table of Clew at the end of a TOML file, between marks, or takes it out (`body` None).

    Raises InvalidInput.
    """
    path = Path(os.path.realpath(path))
    before = _content(path)
    text = "" if before is None else _text(path, before)
    others = _without_block(text, table)
    foreign = _toml(path, others)
    if _holds(foreign, table):
        raise InvalidInput(f"{path} has a table [{table}] that Clew did not write; remove or rename it first")
    if body is None:
        after = others.encode() if others else None if text else before
        return Edit(path, before, after)
    wanted = others + _separator(others) + _block(table, body)
    if _less(_toml(path, wanted), table) != _less(foreign, table):
        raise InvalidInput(f"{path}: [{table}] cannot be added at its end; add it by hand")
    return Edit(path, before, wanted.encode())


# --- JSON --------------------------------------------------------------------------------------------


def _changed(document: Document, change: Change) -> Document:
    copy: Document = json.loads(json.dumps(document))
    change(copy)
    return copy


def _same(one: Document, other: Document) -> bool:
    """As they would be written: Python takes 1 and true for equal, a settings file does not."""
    return json.dumps(one) == json.dumps(other)


def _parsed(path: Path, content: bytes) -> Document:
    text = _text(path, content)
    try:
        document = json.loads(text, object_pairs_hook=_distinct) if text.strip() else {}
        json.dumps(document, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is not plain JSON, so it was left alone: {error}") from error
    if not isinstance(document, dict):
        raise InvalidInput(f"{path} does not hold a JSON object, so it was left alone")
    return document


def _distinct(pairs: list[tuple[str, Any]]) -> Document:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return document


def _rendered(document: Document, before: bytes | None) -> bytes:
    """In the manner of the file as it was: its indent, its line ends, its way with letters beyond ASCII."""
    old = "" if before is None else before.decode("utf-8")
    found = _INDENT.match(old)
    indent = found[1] if found else "  "
    text = json.dumps(document, indent=indent, ensure_ascii=bool(old) and old.isascii())
    if any("\ud800" <= char <= "\udfff" for char in text):  # half of a character can only be written escaped
        text = json.dumps(document, indent=indent)
    if not old or old.endswith("\n"):
        text += "\n"
    return (text.replace("\n", "\r\n") if "\r\n" in old else text).encode("utf-8")


def _original(path: Path, document: Document, add: Change, remove: Change) -> bytes | None:
    """The very file from before Clew came, where there is a backup of it and nothing else has changed since."""
    for backup in sorted(path.parent.glob(f"{_literal(path.name)}.clew-backup-*"), reverse=True):
        content = backup.read_bytes()
        try:
            earlier = _parsed(backup, content)
        except InvalidInput:
            continue
        if _same(_changed(earlier, remove), earlier) and _same(_changed(earlier, add), document):
            return content
    return None


def _literal(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


# --- TOML --------------------------------------------------------------------------------------------


def _block(table: str, body: str) -> str:
    return f"{_opening(table)}\n[{table}]\n{body.rstrip()}\n{_closing(table)}\n"


def _opening(table: str) -> str:
    return f"# >>> clew: {table}"


def _closing(table: str) -> str:
    return f"# <<< clew: {table}"


def _separator(text: str) -> str:
    return "" if not text else "\n" if text.endswith("\n") else "\n\n"


def _without_block(text: str, table: str) -> str:
    """The text without the table of Clew and the empty line before it."""
    marks = re.compile(rf"^{re.escape(_opening(table))}\r?$.*?^{re.escape(_closing(table))}\r?$\n?", re.M | re.S)
    found = marks.search(text)
    if found is None:
        return text
    head = text[: found.start()]
    return (head[:-1] if head.endswith("\n\n") else head) + text[found.end() :]


def _toml(path: Path, text: str) -> Document:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is not TOML that can be edited, so it was left alone: {error}") from error


def _holds(document: Document, table: str) -> bool:
    parent, _, name = table.partition(".")
    inner = document.get(parent)
    return isinstance(inner, dict) and name in inner


def _less(document: Document, table: str) -> Document:
    """The document without one table, and without its parent where that holds nothing else."""
    parent, _, name = table.partition(".")
    inner = document.get(parent)
    if not isinstance(inner, dict):
        return document
    rest = {key: value for key, value in inner.items() if key != name}
    others = {key: value for key, value in document.items() if key != parent}
    return {**others, parent: rest} if rest else others


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
        raise InvalidInput(f"{path} is not UTF-8, so it was left alone") from error


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
