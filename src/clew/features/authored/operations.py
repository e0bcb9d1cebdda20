"""The operations of authored text."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request


class AuthoredDocument(Answer, frozen=True):
    name: str
    core: bool
    """Whether it is one of the agent's own documents; otherwise a note."""
    hard_nodes: int
    hard_tokens: int
    soft_nodes: int
    soft_tokens: int
    lore_nodes: int
    conflicts: tuple[str, ...] = ()
    """Actions that one and the same node demands and forbids."""


class AuthoredReport(Answer, frozen=True):
    documents: tuple[AuthoredDocument, ...]
    degraded: tuple[str, ...] = ()
    """Files that could not be read."""


class LoadAuthored(Request[AuthoredReport], frozen=True):
    """Reads the authored files now. Fails where hard text is over its share of the budget."""

    method: ClassVar[str] = "load_authored"
    writes: ClassVar[bool] = True
    lets_writes_pass: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 60
    notes: bool = True
    """Whether every note is read, too; otherwise they come in bit by bit, in the background."""
