"""An exchange of Hermes as turns of Clew."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

TEXT_BYTES, REQUEST_BYTES, CALL_CHARS = 100_000, 400_000, 2000
"""How long a text, a request and the description of a tool call may be."""

HOST = "hermes"
OWN_TOOLS = "clew_"
RECALLED = "[recalled from Clew]"

Message = dict[str, Any]


def turns_of(user: str, assistant: str, session_id: str, messages: Sequence[Message]) -> list[Message]:
    """One exchange as turns: the user's words, the tool calls and results behind the reply, the reply.

    Their ids come from the exchange and its place in the session, so that one that is delivered again is kept once.
    """
    last_user = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=None)
    between = [] if last_user is None else messages[last_user + 1 :]
    tools = {call.get("id"): _tool_of(call) for message in between for call in _calls(message)}
    steps = [turn for message in between if (turn := _step(message, tools)) is not None]
    if steps and steps[-1]["role"] == "assistant" and "toolCallIds" not in steps[-1]:
        steps.pop()
    turns = [{"role": "user", "text": user}, *steps, {"role": "assistant", "text": assistant}]
    identity = json.dumps([session_id, len(messages), user, assistant]).encode("ascii")
    key = hashlib.blake2b(identity, digest_size=10).hexdigest()
    now_ms = time.time_ns() // 1_000_000
    return [
        turn
        | {"id": f"h_{key}_{place}", "ts": now_ms, "text": bounded(turn["text"])}
        | {"metadata": {"host": HOST, **turn.get("metadata", {})}}
        for place, turn in enumerate(turns)
        if turn["text"].strip()
    ]


def _step(message: Message, tools: Mapping[Any, str]) -> Message | None:
    """A message behind the reply as a turn; None for what is neither the assistant's nor a tool's.

    What was recalled from Clew must not be learnt again.
    """
    text = _text(message.get("content"))
    if message.get("role") == "tool":
        name = message.get("name") or message.get("tool_name")
        tool = name if isinstance(name, str) and name else tools.get(message.get("tool_call_id"), "tool")
        said = RECALLED if tool.startswith(OWN_TOOLS) else text or "[no output]"
        answered = {"toolCallId": message.get("tool_call_id"), "metadata": {"toolName": tool}}
        return {"role": "tool", "text": said} | answered
    if message.get("role") != "assistant":
        return None
    calls = _calls(message)
    ids = [call["id"] for call in calls if isinstance(call.get("id"), str)]
    parts = [text, *(_call(call.get("function") or {}) for call in calls)]
    turn: Message = {"role": "assistant", "text": "\n\n".join(part for part in parts if part)}
    return turn | ({"toolCallIds": ids} if ids else {})


def _calls(message: Message) -> list[Message]:
    return [call for call in message.get("tool_calls") or () if isinstance(call, dict)]


def _tool_of(call: Message) -> str:
    return str((call.get("function") or {}).get("name") or "tool")


def _call(function: Mapping[str, Any]) -> str:
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return _beginning(f"[calls {function.get('name')}]\n{text}", CALL_CHARS)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") or f"[{part.get('type')}]" for part in parts if isinstance(part, dict)]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def bounded(text: str) -> str:
    """The text, or its beginning with its whole size; half characters, which no daemon takes, replaced."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    if len(json.dumps(whole)) <= TEXT_BYTES:
        return whole
    return f"{_beginning(whole, TEXT_BYTES // 6)}\n[cut: {len(whole.encode('utf-8')):,} bytes in all]"


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
