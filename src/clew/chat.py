"""Clew in a plain chat loop: `from clew.chat import Chat`."""

from clew.faces.chat import Chat, Reply, ToolCall

__all__ = ["Chat", "Reply", "ToolCall"]
