"""Messages in the shape of chat APIs, and replies in any of the shapes that their clients give."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clew.api import ContextMessage
from clew.core.model import Role, Trust, role_of
from clew.errors import InvalidInput
from clew.text.framing import Quoted, frame, line

ChatMessage = dict[str, Any]

NO_RESULT = "[no result]"
RECENT_MESSAGES = 60
RECENT_CHARS = 32_000
"""The most of the conversation that the model gets where memory gives nothing."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it."""

    def parsed_arguments(self) -> Any:
        """The arguments as data; as text where they are no JSON."""
        try:
            return json.loads(self.arguments)
        except (ValueError, RecursionError):
            return self.arguments

    def shown(self) -> ChatMessage:
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    tool_calls: tuple[ToolCall, ...]
    raw: Any
    """The reply as the model's client gave it."""

    def __str__(self) -> str:
        return self.text

    def shown(self) -> ChatMessage:
        """The reply as a message of the next call."""
        message: ChatMessage = {"role": "assistant", "content": self.text}
        return message | ({"tool_calls": [call.shown() for call in self.tool_calls]} if self.tool_calls else {})


def read_reply(raw: Any) -> Reply:
    """Reads a text, a message or a whole response. Raises InvalidInput for anything else."""
    if isinstance(raw, str):
        return Reply(raw, (), raw)
    choices = _field(raw, "choices")
    message = _field(choices[0], "message") if choices else raw
    calls = tuple(_tool_call(call) for call in _field(message, "tool_calls") or ())
    text = _text(_field(message, "content"))
    if text is None and not calls:
        raise InvalidInput("`complete` gave neither a text nor a message with content or tool calls")
    return Reply(text or "", calls, raw)


def rebuild_message(message: ContextMessage, calls: Sequence[ToolCall]) -> ChatMessage:
    """A stored turn as a message, with the tool calls it made."""
    role = role_of(message.role)
    if role is Role.TOOL_RESULT:
        return {"role": "tool", "tool_call_id": message.tool_call_id or "", "content": message.text}
    if not message.tool_call_ids:
        return {"role": "assistant" if role is Role.TOOL_CALL else role.value, "content": message.text}
    known = {call.id: call for call in calls}
    shown = [known.get(id_, ToolCall(id_, "tool", "{}")).shown() for id_ in message.tool_call_ids]
    return {"role": "assistant", "content": message.text, "tool_calls": shown}


def pair_tool_calls(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Gives every tool call a result, because chat APIs refuse a call without one, or a result without its call.

    A call that nothing answered gets an empty result. A result without its call becomes a quotation.
    """
    given = list(messages)
    answered = {message.get("tool_call_id") for message in given if message["role"] == "tool"}
    whole: list[ChatMessage] = []
    called: set[str] = set()
    for message in given:
        if message["role"] == "tool" and message.get("tool_call_id") not in called:
            whole.append({"role": "user", "content": _quoted_result(message)})
            continue
        whole.append(message)
        ids = [call["id"] for call in message.get("tool_calls", ())]
        called.update(ids)
        whole += [{"role": "tool", "tool_call_id": id_, "content": NO_RESULT} for id_ in ids if id_ not in answered]
    return whole


def newest_messages(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The newest messages within the bounds, beginning with one of the user."""
    starts = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if not starts:
        return list(messages[-RECENT_MESSAGES:])
    start = starts[-1]
    chars = 0
    for place in range(len(messages) - 1, -1, -1):
        chars += len(messages[place]["content"] or "")
        if chars > RECENT_CHARS or len(messages) - place > RECENT_MESSAGES:
            break
        if messages[place]["role"] == "user":
            start = min(start, place)
    return list(messages[start:])


def insert_before_question(quoted: Sequence[ChatMessage], messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Inserts the quotations before the user's last message, so that the question and its tool results come last."""
    places = [place for place, message in enumerate(messages) if message["role"] == "user"]
    asked = places[-1] if places else len(messages)
    return [*messages[:asked], *quoted, *messages[asked:]]


def _quoted_result(message: ChatMessage) -> str:
    return frame([line(Quoted(when="", who="tool", text=message["content"] or "", trust=Trust.UNTRUSTED), 1)])


def _tool_call(call: Any) -> ToolCall:
    function = _field(call, "function")
    id_, name, arguments = _field(call, "id"), _field(function, "name"), _field(function, "arguments")
    if not isinstance(id_, str) or not isinstance(name, str):
        raise InvalidInput("a tool call of the reply has no id, or its function has no name")
    return ToolCall(id_, name, arguments if isinstance(arguments, str) else json.dumps(arguments or {}))


def _text(content: Any) -> str | None:
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        parts = [_field(part, "text") for part in content]
        return "".join(part for part in parts if isinstance(part, str))
    raise InvalidInput("the content of the reply is no text")


def _field(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
