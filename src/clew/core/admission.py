"""Which texts may enter a prompt, by their trust: one rule for packs, contexts, hooks and MCP."""

from __future__ import annotations

from clew.core.model import Trust


def may_enter(trust: Trust, *, asked_for: bool = False) -> bool:
    """Text of tools and from outside enters where it is asked for; what is quarantined never does.

    A session has asked for what its own tools gave: its model has seen it already.
    """
    return trust is not Trust.QUARANTINED and (asked_for or trust is not Trust.UNTRUSTED)
