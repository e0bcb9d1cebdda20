"""Sessions of OpenClaw, and of the pi agent it is built on: a header, then one entry a line.

An entry of the type `message` holds a message of the user, of the assistant, or the result of a tool; others note a
change of model, or hold what an extension or a compaction put into the prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from clew.api import JsonObject
from clew.errors import InvalidInput
from clew.transcripts.blocks import Content, describe_call, read_content
from clew.transcripts.turns import Turn, TurnMaker, outcome, session_named

GUEST = "openclaw:guest"
"""The source of what somebody other than the agent's owner wrote."""

_IN_THE_PROMPT = {"custom_message": "content", "compaction": "summary", "branch_summary": "summary"}
"""Entries whose text went into the prompt and which nobody said, with the field that holds it."""
_SPOKEN_BY_NOBODY = frozenset({"custom", "hookMessage", "compactionSummary", "branchSummary", "system"})
_HEARTBEAT_REPLY = "HEARTBEAT_OK"
_HEARTBEAT_FILE = "HEARTBEAT.md"


class OpenClawReader:
    def __init__(self, maker: TurnMaker, session_id: str | None, file_session: str) -> None:
        self._maker = maker
        self._given_session = session_id
        self._session_id = session_id or file_session

    def read(self, entry: dict[str, Any], line: int) -> Iterable[Turn]:
        kind = entry.get("type")
        if not isinstance(kind, str):
            raise InvalidInput("an entry has no type")
        if kind == "message":
            return self._message(entry, line)
        if kind in _IN_THE_PROMPT:
            text = read_content(entry.get(_IN_THE_PROMPT[kind])).text
            return self._nobody(entry, line, text)
        if kind == "session" and self._given_session is None:
            self._session_id = session_named(entry.get("id"), self._session_id)
        self._maker.tally.passed_over[kind] += 1
        return ()

    def _message(self, entry: dict[str, Any], line: int) -> Iterable[Turn]:
        message = entry.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(role, str):
            raise InvalidInput("an entry of the type message holds no message with a role")
        if role == "bashExecution":
            return self._command(entry, message, line)
        content = read_content(message.get("content", message.get("summary")))
        if _is_heartbeat(role, content):
            self._maker.tally.passed_over["heartbeat"] += 1
            return ()
        self._maker.tally.thinking += content.thinking
        self._maker.tally.attachments += content.attachments
        if role == "toolResult":
            return self._result(entry, message, content, line)
        if role == "assistant":
            return self._assistant(entry, message, content, line)
        if role == "user" and _is_typed(message):
            return self._user(entry, message, content, line)
        if role == "user" or role in _SPOKEN_BY_NOBODY:
            return self._nobody(entry, line, content.text)
        raise InvalidInput(f"unknown role {role[:40]!r}")

    def _user(self, entry: dict[str, Any], message: dict[str, Any], content: Content, line: int) -> Iterator[Turn]:
        note = message.get("__openclaw")
        is_guest = isinstance(note, dict) and note.get("senderIsOwner") is False
        yield from self._turn(entry, message, line, "user", content.text, source=GUEST if is_guest else None)

    def _assistant(self, entry: dict[str, Any], message: dict[str, Any], content: Content, line: int) -> Iterator[Turn]:
        self._maker.opened(content.calls)
        yield from self._turn(entry, message, line, "assistant", content.text, call_ids=content.calls)

    def _result(self, entry: dict[str, Any], message: dict[str, Any], content: Content, line: int) -> Iterator[Turn]:
        call, tool = message.get("toolCallId"), message.get("toolName")
        call_id = call if isinstance(call, str) and call else None
        called = self._maker.answered(call_id)
        name = tool if isinstance(tool, str) and tool else called or "tool"
        details: JsonObject = {"toolName": name}
        if message.get("isError") is True:
            details["isError"] = True
        yield from self._turn(
            entry, message, line, "tool", outcome(name, content.text), call_id=call_id, metadata=details
        )

    def _command(self, entry: dict[str, Any], message: dict[str, Any], line: int) -> Iterator[Turn]:
        """A command that the user ran beside the conversation."""
        output = message.get("output")
        call = describe_call("bash", {"command": message.get("command")})
        text = f"{call}\n\n{output}" if isinstance(output, str) else call
        yield from self._turn(entry, message, line, "tool", text, metadata={"toolName": "bash"})

    def _nobody(self, entry: dict[str, Any], line: int, text: str) -> Iterator[Turn]:
        yield from self._turn(entry, {}, line, "system", text)

    def _turn(
        self,
        entry: dict[str, Any],
        message: dict[str, Any],
        line: int,
        role: str,
        text: str,
        *,
        call_ids: Iterable[str] = (),
        call_id: str | None = None,
        source: str | None = None,
        metadata: JsonObject | None = None,
    ) -> Iterator[Turn]:
        """The turn of an entry; none where it says nothing, as a reply that was broken off."""
        if not text.strip():
            self._maker.tally.passed_over["empty message"] += 1
            return
        ts = self._maker.moment(message.get("timestamp"), entry.get("timestamp"))
        id_ = self._maker.id_of(entry.get("id"), self._session_id, role, ts, call_id or "")
        yield self._maker.turn(
            self._session_id, line, role, text,
            id_=id_, ts=ts, call_ids=call_ids, call_id=call_id, source=source, metadata=metadata,
        )  # fmt: skip


def _is_typed(message: dict[str, Any]) -> bool:
    """Other sessions and the host itself speak in the user's name, too, and say so."""
    origin = message.get("provenance")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return kind is None or kind == "external_user"


def _is_heartbeat(role: str, content: Content) -> bool:
    if role == "user":
        return _HEARTBEAT_REPLY in content.text and _HEARTBEAT_FILE in content.text
    return role == "assistant" and content.text.strip() == _HEARTBEAT_REPLY
