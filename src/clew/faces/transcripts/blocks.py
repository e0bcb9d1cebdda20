"""The content of a message: a text, or blocks of text, thinking, tool calls, tool results and pictures.

Hosts name the same blocks differently; here they become one shape. A block without text leaves a visible mark.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from clew.errors import InvalidInput
from clew.text.calls import render_call

CALLS = frozenset({"toolCall", "tool_use", "server_tool_use", "mcp_tool_use"})
RESULTS = frozenset({"tool_result"})
_THINKING = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a tool."""

    call_id: str | None
    text: str
    failed: bool
    attachments: int = 0


@dataclass(slots=True)
class Content:
    parts: list[str] = field(default_factory=list)
    calls: dict[str, str] = field(default_factory=dict)
    """The name of the tool by the id of its call."""
    results: list[Result] = field(default_factory=list)
    thinking: int = 0
    attachments: int = 0

    @property
    def text(self) -> str:
        return "\n\n".join(part for part in self.parts if part.strip())


def read_content(content: Any) -> Content:
    """Reads a text or a list of blocks. Raises InvalidInput for anything else."""
    if isinstance(content, str):
        return Content([content])
    if content is None:
        return Content()
    if not isinstance(content, list):
        raise InvalidInput("its content is neither a text nor a list of blocks")
    read = Content()
    for block in content:
        _add(read, {"type": "text", "text": block} if isinstance(block, str) else block)
    return read


def _add(read: Content, block: Any) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        raise InvalidInput("a block of its content has no type")
    if kind == "text":
        read.parts.append(_string(block, "text"))
    elif kind in _THINKING:
        read.thinking += 1
    elif kind in CALLS:
        name = _string(block, "name")
        read.calls[_string(block, "id")] = name
        read.parts.append(render_call(name, block.get("arguments", block.get("input"))))
    elif kind in RESULTS:
        inner = read_content(block.get("content"))
        call = block.get("tool_use_id")
        failed = block.get("is_error") is True
        read.results.append(Result(call if isinstance(call, str) else None, inner.text, failed, inner.attachments))
    else:
        read.attachments += 1
        read.parts.append(_mark(kind, block))


def _mark(kind: str, block: dict[str, Any]) -> str:
    """A picture or file by its type and size, such as `[image: image/png, 12,345 bytes]`."""
    source = block.get("source")
    holder = source if isinstance(source, dict) else block
    types = _strings(holder.get(key) for key in ("mimeType", "media_type", "mime_type"))
    data = _strings(holder.get(key) for key in ("data", "base64"))
    size = [f"{len(data[0]) * 3 // 4:,} bytes"] if data else []
    details = ", ".join([*types[:1], *size])
    return f"[{kind}: {details}]" if details else f"[{kind}]"


def _strings(values: Iterable[Any]) -> list[str]:
    return [value for value in values if isinstance(value, str) and value]


def _string(block: dict[str, Any], key: str) -> str:
    value = block.get(key)
    if not isinstance(value, str):
        raise InvalidInput(f"a block of its content has no {key}")
    return value
