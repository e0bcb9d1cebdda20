"""Sessions of OpenClaw, and of the pi agent it is built on: a header, then one entry a line.

An entry of the type `message` holds a message of the user, of the assistant, or the result of a tool. Others note a
change of model, or hold text that an extension or a compaction put into the prompt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from clew.api import JsonObject
from clew.errors import InvalidInput
from clew.faces.transcripts.blocks import Content, read_content
from clew.faces.transcripts.turns import (
    RECALLED,
    Turn,
    TurnMaker,
    choose_session,
    describe_outcome,
    kind_of,
    outcome_text,
)
from clew.faces.transcripts.words import parts_of
from clew.text.calls import render_call
from clew.text.speakers import other_writer

_HOST = "openclaw"
GUEST = "openclaw:guest"
"""The source of text that somebody other than the agent's owner wrote."""

EXTENSION = "openclaw:extension"
"""The source of text that an extension or a hook put into the prompt."""
SUMMARY = "openclaw:summary"
"""The source of a model's summary of turns, which may repeat the words of anybody."""
MEMORY_TOOLS = frozenset({"memory_search", "memory_get"})
"""The names of Clew's tools in OpenClaw."""

_IN_THE_PROMPT = {
    "custom_message": ("content", EXTENSION),
    "compaction": ("summary", SUMMARY),
    "branch_summary": ("summary", SUMMARY),
}
"""Entries with text for the prompt that nobody said: the field with the text, and its source."""
_SPOKEN_BY_NOBODY = {
    "system": ("system", None),
    "custom": ("user", EXTENSION),
    "hookMessage": ("user", EXTENSION),
    "compactionSummary": ("user", SUMMARY),
    "branchSummary": ("user", SUMMARY),
}
"""Roles of messages that neither side of the conversation said: the role and the source that they get."""
_KEPT_BY_THE_PLUGIN = frozenset({"user", "assistant", "toolResult", "system"})
_ID_CHARS = 24
_HEARTBEAT_REPLY = "HEARTBEAT_OK"
_HEARTBEAT_FILE = "HEARTBEAT.md"


class OpenClawReader:
    def __init__(self, maker: TurnMaker, session_id: str | None, file_session: str) -> None:
        self._maker = maker
        self._given_session = session_id
        self._session_id = session_id or file_session
        self._times: Counter[str] = Counter()
        self._named: str | None = None
        """The id that the plugin gives the message at hand."""

    def read(self, entry: dict[str, Any], line: int) -> Iterable[Turn]:
        self._named = None
        kind = entry.get("type")
        if not isinstance(kind, str):
            raise InvalidInput("an entry has no type")
        if kind == "message":
            return self._message(entry, line)
        if kind in _IN_THE_PROMPT:
            field, source = _IN_THE_PROMPT[kind]
            return self._turn(entry, {}, line, "user", read_content(entry.get(field)).text, source=source)
        if kind == "session":
            self._maker.enter_folder(entry.get("cwd"))
        if kind == "session" and self._given_session is None:
            self._session_id = choose_session(entry.get("id"), self._session_id)
        self._maker.tally.passed_over[kind] += 1
        return ()

    def _message(self, entry: dict[str, Any], line: int) -> Iterable[Turn]:
        message = entry.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(role, str):
            raise InvalidInput("an entry of the type message holds no message with a role")
        self._named = self._name_by_time(message, role)
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
        if role == "user":
            return self._user(entry, message, content, line)
        if role not in _SPOKEN_BY_NOBODY:
            raise InvalidInput(f"unknown role {role[:40]!r}")
        kept_role, source = _SPOKEN_BY_NOBODY[role]
        return self._turn(entry, {}, line, kept_role, content.text, source=source)

    def _user(self, entry: dict[str, Any], message: dict[str, Any], content: Content, line: int) -> Iterator[Turn]:
        source = _source(message)
        if source is None and other_writer(content.text) is not None:
            for place, part in enumerate(parts_of([content.text], _HOST)):
                yield from self._turn(
                    entry, message, line, part.role, part.text,
                    source=part.source, metadata=part.metadata, place=place,
                )  # fmt: skip
        else:
            yield from self._turn(entry, message, line, "user", content.text, source=source)

    def _assistant(self, entry: dict[str, Any], message: dict[str, Any], content: Content, line: int) -> Iterator[Turn]:
        self._maker.open_calls(content.calls)
        yield from self._turn(entry, message, line, "assistant", content.text, call_ids=content.calls)

    def _result(self, entry: dict[str, Any], message: dict[str, Any], content: Content, line: int) -> Iterator[Turn]:
        call, tool = message.get("toolCallId"), message.get("toolName")
        call_id = call if isinstance(call, str) and call else None
        called = self._maker.close_call(call_id)
        name = tool if isinstance(tool, str) and tool else called or "tool"
        details = describe_outcome(name, failed=message.get("isError") is True)
        said = RECALLED if name in MEMORY_TOOLS else outcome_text(name, content.text)
        yield from self._turn(entry, message, line, "tool", said, call_id=call_id, metadata=details)

    def _command(self, entry: dict[str, Any], message: dict[str, Any], line: int) -> Iterator[Turn]:
        """A command that the user ran beside the conversation."""
        output = message.get("output")
        call = render_call("bash", {"command": message.get("command")})
        text = f"{call}\n\n{output}" if isinstance(output, str) else call
        yield from self._turn(entry, message, line, "tool", text, metadata={"toolName": "bash"})

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
        place: int = 0,
    ) -> Iterator[Turn]:
        """The turn of an entry; none where its text is blank, as that of an interrupted reply."""
        if not text.strip():
            self._maker.tally.passed_over["empty message"] += 1
            return
        ts = self._maker.moment(message.get("timestamp"), entry.get("timestamp"))
        given, named, suffix = entry.get("id"), self._named, f":{place}" if place else ""
        own = self._maker.id_of(f"{given}{suffix}" if given else given, self._session_id, role, ts, call_id or "")
        id_ = own if named is None else f"{named}{suffix}"
        yield self._maker.turn(
            self._session_id, line, role, text,
            id_=id_, ts=ts, call_ids=call_ids, call_id=call_id, source=source, metadata=metadata,
            aliases=() if named is None else (id_, own), part_of=named if place else None,
        )  # fmt: skip

    def _name_by_time(self, message: dict[str, Any], role: str) -> str | None:
        """The id that the plugin gives a message: from its role and time, with a number where several share them.

        The plugin cannot see the ids of the file. None where it keeps no such message, or knows it by its words.
        """
        moment = message.get("timestamp")
        if role not in _KEPT_BY_THE_PLUGIN or isinstance(moment, bool) or not isinstance(moment, int) or moment < 0:
            return None
        base = sha256(f"{role}\n{moment}".encode()).hexdigest()[:_ID_CHARS]
        self._times[base] += 1
        return base if self._times[base] == 1 else f"{base}-{self._times[base]}"


def _source(message: dict[str, Any]) -> str | None:
    """None for the agent's owner; guests, other sessions and the host also write messages of the user."""
    kind = kind_of(message.get("provenance"))
    if kind not in (None, "external_user"):
        return f"openclaw:{kind}"
    note = message.get("__openclaw")
    return GUEST if isinstance(note, dict) and note.get("senderIsOwner") is False else None


def _is_heartbeat(role: str, content: Content) -> bool:
    if role == "user":
        return _HEARTBEAT_REPLY in content.text and _HEARTBEAT_FILE in content.text
    return role == "assistant" and content.text.strip() == _HEARTBEAT_REPLY
