"""Reads and changes settings as JSON, TOML and YAML, and keeps the rest of a file as its owner wrote it.

The libraries for TOML and YAML are imported at first use, because they take long to load.
"""

from __future__ import annotations

import json
import re
import tomllib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clew.errors import InvalidInput
from clew.faces.hosts.install.edits import Installation, decode, name_file, read_content

Document = dict[str, Any]
Change = Callable[[Document], None]

_BYTE_ORDER_MARK = "\ufeff"
_INDENT = re.compile(r"^\{\r?\n([ \t]+)\"")


def line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


# --- JSON --------------------------------------------------------------------------------------------


def install_json(path: Path, add: Change, remove: Change) -> Installation:
    """Entries that changes of a JSON document add and remove."""
    return Installation(
        path,
        lambda text: _change_json(text, add),
        lambda text: _change_json(text, remove),
        lambda text: json.dumps(_parse_json(text)),
    )


def read_json(path: Path) -> Document:
    """The document of a JSON settings file; empty where there is no file. Raises InvalidInput."""
    with name_file(path):
        return _parse_json(decode(read_content(path) or b""))


def _change_json(text: str, change: Change) -> str:
    document = _parse_json(text)
    change(document)
    return _render_json(document, text) if document else ""


def _parse_json(text: str) -> Document:
    plain = text.removeprefix(_BYTE_ORDER_MARK)
    try:
        document = json.loads(plain, object_pairs_hook=_refuse_duplicates) if plain.strip() else {}
        json.dumps(document, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"is not plain JSON: {error}") from error
    if not isinstance(document, dict):
        raise InvalidInput("does not hold a JSON object")
    return document


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> Document:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("an object has the same key twice")
    return document


def _render_json(document: Document, before: str) -> str:
    """Writes the document in the style of the file: byte order mark, indent, line ends, letters beyond ASCII."""
    old = before.removeprefix(_BYTE_ORDER_MARK)
    found = _INDENT.match(old)
    indent = found[1] if found else "  "
    text = json.dumps(document, indent=indent, ensure_ascii=bool(old) and old.isascii())
    if any("\ud800" <= char <= "\udfff" for char in text):  # half of a character can only be written escaped
        text = json.dumps(document, indent=indent)
    if not old or old.endswith("\n"):
        text += "\n"
    return before[: len(before) - len(old)] + text.replace("\n", line_end(old))


# --- TOML --------------------------------------------------------------------------------------------


def parse_toml(text: str) -> Document:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"is not TOML: {error}") from error


def _parse_toml(text: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text)
    except (TOMLKitError, RecursionError) as error:
        raise InvalidInput(f"the settings cannot be edited: {error}") from error


def put_table(text: str, parent: str, name: str, entry: Document) -> str:
    """Gives `[parent.name]` these keys and keeps its others; a new table comes last. Raises InvalidInput."""
    import tomlkit

    document = _parse_toml(text)
    if name in document.get(parent, {}):
        table = document[parent][name]
        outdated = {key: value for key, value in entry.items() if table.get(key) != value}
        if not outdated:
            return text  # tomlkit would move the tables of a split list together
        table.update(outdated)
        return _check_rest(text, tomlkit.dumps(document), parent, name)
    end = line_end(text)
    gap = "" if not text else end if text.endswith("\n") else end * 2
    return _check_rest(text, text + gap + tomlkit.dumps({parent: {name: entry}}).replace("\n", end), parent, name)


def drop_table(text: str, parent: str, name: str) -> str:
    """Removes `[parent.name]` and the tables below it, but no comment that follows them. Raises InvalidInput."""
    import tomlkit
    from tomlkit.items import Whitespace

    document = _parse_toml(text)
    for key, part in document.body:
        items: Any = part
        if key is not None and key.key == parent and name in items:
            body = items.value.body
            place = next(place for place, (inner, _) in enumerate(body) if inner is not None and inner.key == name)
            comments = _last_comments(body[place][1].as_string())
            del items[name]
            body[place] = (None, Whitespace(comments))
    rest = tomlkit.dumps(document)
    gap = line_end(text) * 2
    if rest.endswith(gap) and not text.endswith(gap):
        rest = rest.removesuffix(line_end(text))
    return _check_rest(text, rest, parent, name)


def _last_comments(table: str) -> str:
    """The comments and empty lines at the end of a table: they lead over to the next one."""
    lines = table.splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return table[len("".join(lines)) :]


def _check_rest(before: str, after: str, parent: str, name: str) -> str:
    """Gives the new text back. Raises InvalidInput where it differs in anything but the table."""
    try:
        is_same = _drop_entry(parse_toml(before), parent, name) == _drop_entry(parse_toml(after), parent, name)
    except InvalidInput:
        is_same = False
    if not is_same:
        raise InvalidInput(f"has {parent} in a form that Clew cannot change alone (do it by hand)")
    return after


def _drop_entry(document: Document, parent: str, name: str) -> Document:
    inner = document.get(parent)
    if not isinstance(inner, dict):
        return document
    rest = {key: value for key, value in inner.items() if key != name}
    return {key: value for key, value in {**document, parent: rest}.items() if key != parent or rest}


# --- YAML --------------------------------------------------------------------------------------------


def read_yaml(text: str) -> tuple[Document, dict[tuple[str, ...], tuple[int, int]]]:
    """The document, and line and column of the keys on its first two levels, by their path. Raises InvalidInput."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        with warnings.catch_warnings(action="ignore"):  # they are about style
            document: Any = YAML().load(text)
    except MarkedYAMLError as error:
        place = "" if error.problem_mark is None else f"line {error.problem_mark.line + 1}: "
        raise InvalidInput(f"is not YAML that Clew can edit: {place}{error.problem}") from error
    except (YAMLError, ValueError, RecursionError) as error:
        raise InvalidInput(f"is not YAML that Clew can edit: {' '.join(str(error).split())}") from error
    if document is None:
        return {}, {}
    if not isinstance(document, dict):
        raise InvalidInput("does not hold keys with values")
    levels: list[tuple[tuple[str, ...], Any]] = [((), document)]
    levels += [((key,), value) for key, value in document.items() if isinstance(value, dict)]
    places = {
        (*path, key): (place[0], place[1]) for path, level in levels for key, place in (level.lc.data or {}).items()
    }
    return document, places
