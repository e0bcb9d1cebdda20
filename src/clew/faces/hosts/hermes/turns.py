"""An exchange of Hermes as turns of Clew."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

TEXT_BYTES, REQUEST_BYTES, CALL_CHARS = 100_000, 400_000, 2000
"""How long a text, a request and the description of a tool call may be."""

HOST = "hermes"
OWN_TOOLS = "clew_"
RECALLED = "[recalled from Clew]"

Message = dict[str, Any]


def turns_of(user: Any, assistant: Any, messages: Sequence[Any]) -> list[Message]:
    """One exchange as turns: the user's words, the tool calls and results behind the reply, the reply.

    Their ids are made here, once: what is delivered again is kept once, and an exchange in the same words is another.
    They tell nothing of the words, since a secret that is cut out later must not shine through them.
    """
    known = [message for message in messages if isinstance(message, dict)]
    last_user = max((place for place, message in enumerate(known) if message.get("role") == "user"), default=None)
    between = [] if last_user is None else known[last_user + 1 :]
    tools = {_id(call.get("id")): _tool_of(call) for message in between for call in _calls(message)}
    steps = [turn for message in between if (turn := _step(message, tools)) is not None]
    if steps and steps[-1]["role"] == "assistant" and "toolCallIds" not in steps[-1]:
        steps.pop()
    turns = [{"role": "user", "text": _text(user)}, *steps, {"role": "assistant", "text": _text(assistant)}]
    key = secrets.token_hex(10)
    now_ms = time.time_ns() // 1_000_000
    return [
        turn
        | {"id": f"h_{key}_{place}", "ts": now_ms, "text": bounded(turn["text"])}
        | {"metadata": {"host": HOST, **turn.get("metadata", {})}}
        for place, turn in enumerate(turns)
        if turn["text"].strip()
    ]


def _step(message: Message, tools: Mapping[str | None, str]) -> Message | None:
    """A message behind the reply as a turn; None for what is neither the assistant's nor a tool's.

    What was recalled from Clew must not be learnt again.
    """
    text = _text(message.get("content"))
    if message.get("role") == "tool":
        name, call_id = message.get("name") or message.get("tool_name"), _id(message.get("tool_call_id"))
        tool = whole(name) if isinstance(name, str) and name else tools.get(call_id, "tool")
        said = RECALLED if tool.startswith(OWN_TOOLS) else text or "[no output]"
        return {"role": "tool", "text": said, "toolCallId": call_id, "metadata": {"toolName": tool}}
    if message.get("role") != "assistant":
        return None
    calls = _calls(message)
    ids = [id_ for call in calls if (id_ := _id(call.get("id"))) is not None]
    parts = [text, *(_call(call) for call in calls)]
    turn: Message = {"role": "assistant", "text": "\n\n".join(part for part in parts if part)}
    return turn | ({"toolCallIds": ids} if ids else {})


def _calls(message: Message) -> list[Message]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list | tuple) else []


def _function(call: Message) -> Mapping[str, Any]:
    function = call.get("function")
    return function if isinstance(function, dict) else {}


def _tool_of(call: Message) -> str:
    return whole(str(_function(call).get("name") or "tool"))


def _call(call: Message) -> str:
    arguments = _function(call).get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    return _beginning(f"[calls {_tool_of(call)}]\n{text}", CALL_CHARS)


def _id(value: Any) -> str | None:
    """The id of a tool call as text: some models number their calls."""
    return None if value is None or value == "" else whole(str(value))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") or f"[{part.get('type')}]" for part in parts if isinstance(part, dict)]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def bounded(text: str) -> str:
    """The text, or its beginning with its whole size."""
    text = whole(text)
    if len(json.dumps(text)) <= TEXT_BYTES:
        return text
    return f"{_beginning(text, TEXT_BYTES // 6)}\n[cut: {len(text.encode('utf-8')):,} bytes in all]"


def whole(text: str) -> str:
    """The text without half characters, which no daemon takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _beginning(text: str, chars: int) -> str:
    """Whole words alone, and no key without its end: Clew would not recognise half of a secret as one."""
    if len(text) <= chars:
        return text
    piece = text[:chars]
    key = piece.rfind("-----BEGIN")
    if key > piece.rfind("-----END"):
        piece = piece[:key]
    return piece[: max(piece.rfind(char) for char in " \t\r\n\"',;") + 1].rstrip()


def batches(turns: Sequence[Message]) -> list[list[Message]]:
    """The turns in groups that each fit a request."""
    groups: list[list[Message]] = [[]]
    size = 0
    for turn in turns:
        turn_size = len(json.dumps(turn))
        if groups[-1] and size + turn_size > REQUEST_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(turn)
        size += turn_size
    return [group for group in groups if group]
