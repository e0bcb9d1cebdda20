"""Where each host keeps its hooks, and the entries of Clew among them.

All three hosts have the same shape: an event holds groups, a group holds commands. Clew adds one group with one
command to each event, so that it can remove them again and touch nobody else's.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clew.errors import InvalidInput
from clew.faces.hosts.dialects import EVENTS
from clew.faces.hosts.install.edits import Installation, user_home
from clew.faces.hosts.install.formats import Document, install_json

HOSTS = tuple(EVENTS)
TIMEOUT_S = 3
"""A hook ends by itself within a second. Codex allows no more than this at the end of a session."""

_USER_FILES = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
    "codex": ("CODEX_HOME", ".codex", "hooks.json"),
    "gemini": ("", ".gemini", "settings.json"),
}
_PROJECT_FILES = {
    "claude-code": ".claude/settings.local.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
}
"""For Claude Code the file that people do not share: the commands name a program of this machine."""

_MATCHERS = {("gemini", "PreCompress"): {"matcher": "manual"}}
"""Gemini sends this event at every turn, before it knows whether there is anything to compress."""


def settings_file(host: str, project: Path | None) -> Path:
    if project is not None:
        return project / _PROJECT_FILES[host]
    variable, folder, name = _USER_FILES[host]
    given = os.environ.get(variable) if variable else None
    return (Path(given).expanduser() if given else home_of(host) / folder) / name


def home_of(host: str) -> Path:
    """The folder in which a host has its settings folder: the user's home, unless a variable names another."""
    given = os.environ.get("GEMINI_CLI_HOME") if host == "gemini" else None
    return Path(given).expanduser() if given else user_home()


def hook_entries(host: str, path: Path, program: tuple[str, ...], options: tuple[str, ...]) -> Installation:
    """The entries that make a host call Clew at its events."""
    return install_json(
        path,
        lambda document: _add(document, host, program, options),
        lambda document: _remove(document, host),
    )


def installed_commands(host: str, document: Document) -> dict[str, str]:
    """The commands of Clew among the hooks of a host, by event."""
    return {
        event: handler["command"]
        for event in EVENTS[host]
        for _, handler in _own_handlers(document.get("hooks"), host, event)
    }


def option_in(command: str, name: str) -> str | None:
    """The value that a command of Clew has for an option, as `hook_entries` writes it."""
    words = shlex.split(command)
    return words[words.index(name) + 1] if name in words[:-1] else None


def _add(document: Document, host: str, program: tuple[str, ...], options: tuple[str, ...]) -> None:
    hooks = document.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise InvalidInput("has hooks that are not an object")
    for event in EVENTS[host]:
        groups = hooks.setdefault(event, [])
        if not isinstance(groups, list):
            raise InvalidInput(f"has hooks.{event} that is not a list")
        wanted = _handler(host, shlex.join((*program, "hook", host, event, *options)))
        own = [handler for _, handler in _own_handlers(hooks, host, event)]
        for handler in own:
            handler.update(wanted)
        if not own:
            groups.append({**_MATCHERS.get((host, event), {}), "hooks": [wanted]})


def _remove(document: Document, host: str) -> None:
    """Also removes whatever held entries of Clew alone."""
    hooks: Any = document.get("hooks")
    for event in EVENTS[host]:
        for group, handler in list(_own_handlers(hooks, host, event)):
            group["hooks"].remove(handler)
            if not group["hooks"]:
                hooks[event].remove(group)
            if not hooks[event]:
                del hooks[event]
            if not hooks:
                del document["hooks"]


def _handler(host: str, command: str) -> Document:
    if host == "gemini":
        return {"name": "clew", "type": "command", "command": command, "timeout": TIMEOUT_S * 1000}
    return {"type": "command", "command": command, "timeout": TIMEOUT_S}


def _own_handlers(hooks: Any, host: str, event: str) -> Iterator[tuple[Document, Document]]:
    """The commands of Clew at an event, each with its group; passes over anything of another shape."""
    groups = hooks.get(event) if isinstance(hooks, dict) else None
    for group in groups if isinstance(groups, list) else ():
        handlers = group.get("hooks") if isinstance(group, dict) else None
        for handler in handlers if isinstance(handlers, list) else ():
            if isinstance(handler, dict) and _is_own(handler.get("command"), host, event):
                yield group, handler


def _is_own(command: Any, host: str, event: str) -> bool:
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    places = [place for place in range(1, len(words)) if words[place : place + 3] == ["hook", host, event]]
    return any(os.path.basename(words[place - 1]) == "clew" for place in places)
