"""Where each host keeps its MCP servers, and the entry of Clew among them."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

from clew.errors import InvalidInput
from clew.faces.hosts.hook_settings import home_of
from clew.faces.hosts.settings import Document, Edit, edit_json, edit_toml, user_home

HOSTS = ("claude-code", "codex", "cursor", "gemini")
NAME = "clew"
TABLE = f"mcp_servers.{NAME}"

_PROJECT_FILES = {
    "claude-code": ".mcp.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "gemini": ".gemini/settings.json",
}


def servers_file(host: str, project: Path | None) -> Path:
    if project is not None:
        return project / _PROJECT_FILES[host]
    if host == "claude-code":
        return Path(os.environ.get("CLAUDE_CONFIG_DIR") or user_home()).expanduser() / ".claude.json"
    if host == "codex" and os.environ.get("CODEX_HOME"):
        return Path(os.environ["CODEX_HOME"]).expanduser() / "config.toml"
    return home_of(host) / _PROJECT_FILES[host]


def server_edit(host: str, path: Path, program: tuple[str, ...], options: tuple[str, ...], *, install: bool) -> Edit:
    """The edit that makes a host start Clew as an MCP server, or no longer. Raises InvalidInput."""
    command, arguments = program[0], [*program[1:], "mcp", *options]
    if host == "codex":
        body = f"command = {_toml(command)}\nargs = {_toml(arguments)}"
        return edit_toml(path, TABLE, body if install else None, _is_own)
    entry: Document = {"command": command, "args": arguments}
    if host == "claude-code":
        entry = {"type": "stdio", **entry}
    return edit_json(path, lambda document: _add(document, entry, path), _remove, install=install)


def _add(document: Document, entry: Document, path: Path) -> None:
    servers = document.setdefault("mcpServers", {})
    if not isinstance(servers, dict):
        raise InvalidInput(f"{path}: mcpServers is not an object, so it was left alone")
    if NAME in servers and not _is_own(servers[NAME]):
        raise InvalidInput(f"{path} has a server {NAME!r} that Clew did not write; remove or rename it first")
    servers.setdefault(NAME, {}).update(entry)


def _remove(document: Document) -> None:
    servers = document.get("mcpServers")
    if isinstance(servers, dict) and _is_own(servers.get(NAME)):
        del servers[NAME]
        if not servers:
            del document["mcpServers"]


def _is_own(entry: Any) -> bool:
    """Whether it starts `clew mcp`, or `python -m clew mcp`."""
    if not isinstance(entry, dict):
        return False
    given = entry.get("args")
    words = [entry.get("command"), *(given if isinstance(given, list) else ())]
    named = [os.path.basename(word) if isinstance(word, str) else "" for word in words]
    return (NAME, "mcp") in pairwise(named)


def _toml(value: str | list[str]) -> str:
    """A string, or a list of them: TOML writes both as JSON does."""
    return json.dumps(value, ensure_ascii=False)
