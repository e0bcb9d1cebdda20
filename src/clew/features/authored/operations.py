"""The operations of authored text."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request


class AuthoredDocument(Answer, frozen=True):
    name: str
    """Its file name, with as much of its path as sets it apart."""
    core: bool
    """Whether it is one of the agent's own documents; otherwise a note."""
    hard_nodes: int
    """Nodes that are in every context."""
    hard_tokens: int
    """Tokens they take, counted on the safe side."""
    soft_nodes: int
    """Nodes that are in a context as far as they fit."""
    soft_tokens: int
    """Tokens they take, counted on the safe side."""
    lore_nodes: int
    """Nodes that are recalled when they fit."""
    conflicts: tuple[str, ...] = ()
    """Actions that one and the same node demands and forbids."""


class AuthoredReport(Answer, frozen=True):
    documents: tuple[AuthoredDocument, ...]
    """In the order of the settings, notes last."""
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
