"""Where each host keeps its MCP servers, and the entry of Clew among them."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

from clew.errors import InvalidInput
from clew.faces.hosts.install.edits import Installation, user_home
from clew.faces.hosts.install.formats import Document, drop_table, install_json, parse_toml, put_table
from clew.faces.hosts.install.hooks import home_of

HOSTS = ("claude-code", "codex", "cursor", "gemini")
NAME = "clew"
TABLES = "mcp_servers"
OBJECTS = "mcpServers"
"""Where TOML and JSON settings keep their servers."""

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


def server_entry(host: str, path: Path, program: tuple[str, ...], options: tuple[str, ...]) -> Installation:
    """The entry that makes a host start Clew as an MCP server."""
    entry: Document = {"command": program[0], "args": [*program[1:], "mcp", *options]}
    if host == "codex":
        return Installation(path, lambda text: _put_table(text, entry), _drop_table)
    if host == "claude-code":
        entry = {"type": "stdio", **entry}
    return install_json(path, lambda document: _add(document, entry), _remove)


def _put_table(text: str, entry: Document) -> str:
    _servers(parse_toml(text), TABLES)
    return put_table(text, TABLES, NAME, entry)


def _drop_table(text: str) -> str:
    servers = parse_toml(text).get(TABLES)
    is_there = isinstance(servers, dict) and _is_own(servers.get(NAME))
    return drop_table(text, TABLES, NAME) if is_there else text


def _add(document: Document, entry: Document) -> None:
    _servers(document, OBJECTS).setdefault(NAME, {}).update(entry)


def _remove(document: Document) -> None:
    servers = document.get(OBJECTS)
    if isinstance(servers, dict) and _is_own(servers.get(NAME)):
        del servers[NAME]
        if not servers:
            del document[OBJECTS]


def _servers(document: Document, key: str) -> Document:
    """The servers of a host, which may take the entry of Clew. Raises InvalidInput."""
    servers = document.setdefault(key, {})
    if not isinstance(servers, dict):
        raise InvalidInput(f"has {key} that does not hold servers")
    if NAME in servers and not _is_own(servers[NAME]):
        raise InvalidInput(f"has a server {NAME!r} that Clew did not write (remove or rename it first)")
    return servers


def _is_own(entry: Any) -> bool:
    """Whether it starts `clew mcp`, or `python -m clew mcp`."""
    if not isinstance(entry, dict):
        return False
    given = entry.get("args")
    words = [entry.get("command"), *(given if isinstance(given, list) else ())]
    named = [os.path.basename(word) if isinstance(word, str) else "" for word in words]
    return (NAME, "mcp") in pairwise(named)
