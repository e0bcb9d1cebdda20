"""Clew: a local-first continuity and memory engine for AI agents.

    from clew import Memory

    with Memory.open() as memory:
        memory.ingest("session-1", "user", "The staging database moves to Frankfurt on Friday.")
        print(memory.search("where is staging?", session_id="session-1").hits[0].record.text)

Names are imported when first used, so that a program pays only for what it touches.
"""

from __future__ import annotations

TYPE_CHECKING = False  # what type checkers take for true; importing it would cost a hook its time
if TYPE_CHECKING:
    from typing import Any

    from clew.api import Message as Message
    from clew.async_client import AsyncClient as AsyncClient
    from clew.client import Client as Client
    from clew.client import connect as connect
    from clew.config import Config as Config
    from clew.engine import Memory as Memory
    from clew.errors import ClewError as ClewError

__version__ = "0.1.0"

_HOME = {
    "AsyncClient": "clew.async_client",
    "ClewError": "clew.errors",
    "Client": "clew.client",
    "Config": "clew.config",
    "Memory": "clew.engine",
    "Message": "clew.api",
    "connect": "clew.client",
}

__all__ = ["AsyncClient", "ClewError", "Client", "Config", "Memory", "Message", "connect"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'clew' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
