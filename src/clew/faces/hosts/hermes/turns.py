"""An exchange of Hermes as turns of Clew."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

TEXT_BYTES, REQUEST_BYTES, CALL_CHARS = 100_000, 400_000, 2000
"""The most for a text, a request and the description of a tool call."""

HOST = "hermes"
OWN_TOOLS = "clew_"
RECALLED = "[recalled from Clew]"

Message = dict[str, Any]


def turns_of(user: Any, assistant: Any, messages: Sequence[Any]) -> list[Message]:
    """One exchange as turns: the user's words, the tool calls and results behind the reply, the reply.

    Gives each turn a random id, once: a repeated delivery has the same ids, and another exchange in the same words has
    others. An id made from the words would tell something of a secret that redaction removes.
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
        | {"id": f"h_{key}_{place}", "ts": now_ms, "text": cut_text(turn["text"])}
        | {"metadata": {"host": HOST, **turn.get("metadata", {})}}
        for place, turn in enumerate(turns)
        if turn["text"].strip()
    ]


def _step(message: Message, tools: Mapping[str | None, str]) -> Message | None:
    """A message behind the reply as a turn; None where neither the assistant nor a tool wrote it.

    Replaces the output of Clew's own tools, which Clew must not learn again.
    """
    text = _text(message.get("content"))
    if message.get("role") == "tool":
        name, call_id = message.get("name") or message.get("tool_name"), _id(message.get("tool_call_id"))
        tool = replace_halves(name) if isinstance(name, str) and name else tools.get(call_id, "tool")
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
    return replace_halves(str(_function(call).get("name") or "tool"))


def _call(call: Message) -> str:
    arguments = _function(call).get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    return _beginning(f"[calls {_tool_of(call)}]\n{text}", CALL_CHARS)


def _id(value: Any) -> str | None:
    """The id of a tool call as text: some models number their calls."""
    return None if value is None or value == "" else replace_halves(str(value))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") or f"[{part.get('type')}]" for part in parts if isinstance(part, dict)]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def cut_text(text: str) -> str:
    """The text, or its beginning with the size of all of it."""
    text = replace_halves(text)
    if len(json.dumps(text)) <= TEXT_BYTES:
        return text
    return f"{_beginning(text, TEXT_BYTES // 6)}\n[cut: {len(text.encode('utf-8')):,} bytes in all]"


def replace_halves(text: str) -> str:
    """Replaces half characters, which no daemon takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _beginning(text: str, chars: int) -> str:
    """The beginning, in whole words, without a key that lacks its end: Clew would not recognise half of a secret."""
    if len(text) <= chars:
        return text
    piece = text[:chars]
    key = piece.rfind("-----BEGIN")
    if key > piece.rfind("-----END"):
        piece = piece[:key]
    return piece[: max(piece.rfind(char) for char in " \t\r\n\"',;") + 1].rstrip()


def batches(turns: Sequence[Message]) -> list[list[Message]]:
    """Groups the turns so that each group fits a request."""
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
