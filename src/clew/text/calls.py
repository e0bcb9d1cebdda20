"""Tool calls inside the text of a turn: how they are written down, found again, and told in a few words.

A turn of the assistant holds its words first and its calls behind them. A call is a line that names the tool, then one
argument a line. Readers take the words as speech, and the calls as what was done: "edited theme.ts; ran npm test".
Arguments are never prose: they hold files, patches and scripts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import msgspec

from clew.text.cutting import beginning

CALL_CHARS = 2000
"""How much of a call a turn keeps: enough for search."""

_MARK = re.compile(r"^\[calls ([^\]\n]{1,80})\]$", re.MULTILINE)
_INLINE = re.compile(r"^([A-Za-z_][\w.:-]{0,79})\((\{.{0,20000})$", re.MULTILINE)
"""How the plugin for OpenClaw writes a call: the name and its arguments as JSON, on one line."""

_ARGUMENT = re.compile(r"^(\w{1,40}): ?(.*)$")
_JSON_ARGUMENT = re.compile(r'"(\w{1,40})"\s{0,4}:\s{0,4}"((?:[^"\\]|\\.){0,400}+)')
_VALUE_CHARS = 400


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: Mapping[str, str]
    """The first line of each argument, by its name."""


def render_call(name: str, arguments: Any) -> str:
    """A call as text: the tool, then one argument a line."""
    given = arguments.items() if isinstance(arguments, dict) else [("arguments", arguments)] if arguments else []
    text = "\n".join([f"[calls {name}]", *(f"{key}: {_value(value)}" for key, value in given)])
    if len(text) <= CALL_CHARS:
        return text
    return f"{beginning(text, CALL_CHARS)}\n[cut: {len(text):,} characters in all]"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode("utf-8")


def speech(text: str) -> str:
    """The words of an assistant's turn, without its calls."""
    first = min((found.start() for found in (_MARK.search(text), _INLINE.search(text)) if found), default=None)
    return text if first is None else text[:first].rstrip()


def calls(text: str) -> list[Call]:
    """The calls behind the words of an assistant's turn, in order."""
    marks = list(_MARK.finditer(text))
    if not marks:
        return [Call(found[1], dict(_json_arguments(found[2]))) for found in _INLINE.finditer(text)]
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [Call(mark[1], _arguments(text[mark.end() : end])) for mark, end in zip(marks, ends, strict=True)]


def call_of_turn(name: str, text: str) -> Call:
    """A turn that is nothing but a call: its text holds the arguments, in whatever form the host sends them."""
    found = calls(text)
    return found[0] if found else Call(name, _arguments(text))


def _arguments(text: str) -> dict[str, str]:
    """Arguments that are written one a line, or as JSON. The first of a name counts: later lines may be content."""
    text = text.strip("\n")
    if text.lstrip().startswith("{"):
        return dict(_json_arguments(text))
    found: dict[str, str] = {}
    for line in text.split("\n"):
        argument = _ARGUMENT.match(line)
        if argument is not None:
            found.setdefault(argument[1], argument[2][:_VALUE_CHARS].strip())
    return found or ({"command": text.split("\n", 1)[0][:_VALUE_CHARS]} if text else {})


def _json_arguments(text: str) -> Iterator[tuple[str, str]]:
    """Reads as far as the text goes: it may have been cut."""
    for found in _JSON_ARGUMENT.finditer(text):
        try:
            yield found[1], str(json.loads(f'"{found[2]}"', strict=False)).split("\n", 1)[0].strip()
        except ValueError:
            yield found[1], found[2]


# --- in words ------------------------------------------------------------------------------------------

_DOING = (
    ("read", re.compile(r"(?i)^(?:read|view|cat|open|get_?file|notebookread|readfile|read_file)(?:_?file)?$")),
    ("edited", re.compile(r"(?i)edit|replace|patch|update_file|insert")),
    ("wrote", re.compile(r"(?i)^(?:write|create|save)(?:_?file)?$|write_file|create_file")),
    ("ran", re.compile(r"(?i)bash|shell|exec|terminal|command|^run|powershell|process")),
    ("searched for", re.compile(r"(?i)grep|search|glob|find|^ls$|list")),
    ("fetched", re.compile(r"(?i)fetch|browse|url|http|navigate")),
)
"""What the name of a tool says was done, first match first."""

_OBJECTS = {
    "read": ("file_path", "path", "filePath", "file", "filename", "uri"),
    "edited": ("file_path", "path", "filePath", "file", "filename", "notebook_path"),
    "wrote": ("file_path", "path", "filePath", "file", "filename"),
    "ran": ("command", "cmd", "script", "code", "action"),
    "searched for": ("pattern", "query", "q", "regex", "glob", "path"),
    "fetched": ("url", "uri", "query"),
}
_ANY_OBJECT = (
    "file_path",
    "path",
    "command",
    "query",
    "url",
    "name",
    "id",
    "title",
    "subject",
    "prompt",
    "description",
)
_PATHS = frozenset({"read", "edited", "wrote"})
_OBJECT_CHARS = 100
_LEAST_STEPS = 3
"""Of a path. The name of a file with two folders above it tells which one is meant."""

_CHANGE_FOLDER = re.compile(r"^\s*cd\s+\S+\s*(?:&&|;)\s*")
_PLUMBING = re.compile(r"\s*(?:2>&1|2>\s?/dev/null|\|\s*(?:head|tail|grep|wc|less|cat|sort|tee)\b.*$)")


def describe(call: Call) -> tuple[str, str]:
    """What was done, and to what: `edited`, `src/theme.ts`."""
    doing = next((verb for verb, names in _DOING if names.search(call.tool)), "")
    names = (*_OBJECTS.get(doing, ()), *_ANY_OBJECT)
    told = next((call.arguments[name] for name in names if call.arguments.get(name)), "")
    if doing in _PATHS:
        return doing, short_path(told)
    if doing == "ran":
        return doing, short_command(told)
    return (doing, _clip(told)) if doing else (f"called {call.tool}", _clip(told))


def describe_all(made: Iterable[Call]) -> str:
    """Calls in a row as one phrase: `read a.ts, b.ts; edited a.ts; ran npm test`. Repeats count once."""
    told = dict.fromkeys(map(describe, made))
    phrases = []
    for doing, group in groupby(told, key=lambda one: one[0]):
        objects = [object_ for _, object_ in group if object_]
        phrases.append(f"{doing} {', '.join(objects)}".strip())
    return "; ".join(phrases)


def short_path(path: str) -> str:
    """The end of a path that tells which file it is; folders of a person or a machine say nothing."""
    steps = [step for step in path.replace("\\", "/").split("/") if step]
    return path if len(steps) <= _LEAST_STEPS and not path.startswith("/") else "/".join(steps[-_LEAST_STEPS:])


def short_command(command: str) -> str:
    """A command without the change of folder before it and the plumbing behind it."""
    plain = _CHANGE_FOLDER.sub("", command)
    return _clip(_PLUMBING.sub("", plain).strip() or plain)


def _clip(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _OBJECT_CHARS else f"{plain[: _OBJECT_CHARS - 1].rstrip()}…"
