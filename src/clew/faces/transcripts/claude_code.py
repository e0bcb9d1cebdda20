"""Transcripts of Claude Code: lines of user, assistant and system, each with its own id.

The user did not type every line of the type user. This reader recognises results of tools, output of commands, and the
words of others, which get a source. A subagent's conversation is a session of its own, `SESSION/AGENT`, in which no
human typed anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from clew.errors import InvalidInput
from clew.faces.transcripts.blocks import Content, Result, read_content
from clew.faces.transcripts.turns import Turn, TurnMaker, choose_session, describe_outcome, kind_of, outcome_text
from clew.faces.transcripts.words import Part, command_output, foreign_part, parts_of
from clew.text.speakers import INJECTED, NOTIFICATION, SUMMARY

_HOST = "claude-code"
_TURNS = frozenset({"user", "assistant", "system"})
_WRITER_OF_MARK = {
    "isSidechain": "subagent",
    "isCompactSummary": SUMMARY,
    "isMeta": INJECTED,
    "isVisibleInTranscriptOnly": INJECTED,
}
_WRITER_OF_ORIGIN = {None: None, "human": None, "task-notification": NOTIFICATION}
_OWN_WORDS = ("compact_boundary", "microcompact_boundary", "turn_duration")
"""Lines of the type system that quote nobody; others hold the output of hooks and commands."""


class ClaudeCodeReader:
    def __init__(self, maker: TurnMaker, session_id: str | None, file_session: str) -> None:
        self._maker = maker
        self._given_session = session_id
        self._file_session = file_session

    def read(self, entry: dict[str, Any], line: int) -> Iterable[Turn]:
        kind = entry.get("type")
        if not isinstance(kind, str):
            raise InvalidInput("a line has no type")
        if kind not in _TURNS:
            self._maker.tally.passed_over[kind] += 1
            return ()
        self._maker.enter_folder(entry.get("cwd"))
        content = _content(entry, kind)
        self._maker.tally.thinking += content.thinking
        self._maker.tally.attachments += content.attachments + sum(result.attachments for result in content.results)
        return self._turns(entry, line, list(self._parts(entry, kind, content)), content.calls)

    def _parts(self, entry: dict[str, Any], kind: str, content: Content) -> Iterator[Part]:
        """The turns of a line, without ids: each tool result by itself, then the words."""
        for result in content.results:
            yield self._result(result)
        if kind == "assistant":
            self._maker.open_calls(content.calls)
            said = [Part("assistant", content.text)]
        elif kind == "system":
            said = [_system_part(entry, content.text)]
        elif writer := _writer(entry):
            said = [foreign_part(content.text, writer, _HOST)]
        elif content.results:
            said = [foreign_part(content.text, INJECTED, _HOST)]
        else:
            said = parts_of(content.parts, _HOST, one_writer_each=True)
        yield from (part for part in said if part.text.strip())

    def _result(self, result: Result) -> Part:
        tool = self._maker.close_call(result.call_id) or "tool"
        details = describe_outcome(tool, failed=result.failed)
        return Part("tool", outcome_text(tool, result.text), result.call_id, metadata=details)

    def _turns(self, entry: dict[str, Any], line: int, parts: list[Part], calls: Iterable[str]) -> Iterator[Turn]:
        if not parts:
            self._maker.tally.passed_over["thinking alone" if entry["type"] == "assistant" else "empty message"] += 1
            return
        session_id = self._session_of(entry)
        ts = self._maker.moment(entry.get("timestamp"))
        own_id = self._maker.id_of(entry.get("uuid"), session_id, parts[0].role, ts)
        for place, part in enumerate(parts):
            yield self._maker.turn(
                session_id, line, part.role, part.text,
                id_=f"{own_id}:{place}" if place else own_id,
                ts=ts,
                call_ids=calls if part.role == "assistant" else (),
                call_id=part.call_id,
                source=part.source,
                metadata=part.metadata,
            )  # fmt: skip

    def _session_of(self, entry: dict[str, Any]) -> str:
        session_id = self._given_session or choose_session(entry.get("sessionId"), self._file_session)
        if entry.get("isSidechain") is not True:
            return session_id
        agent = entry.get("agentId")
        return choose_session(f"{session_id}/{agent if isinstance(agent, str) and agent else 'sidechain'}", session_id)


def _content(entry: dict[str, Any], kind: str) -> Content:
    if kind == "system":
        return read_content(entry.get("content"))
    message = entry.get("message")
    if not isinstance(message, dict):
        raise InvalidInput(f"a line of the type {kind} holds no message")
    return read_content(message.get("content"))


def _system_part(entry: dict[str, Any], text: str) -> Part:
    if entry.get("subtype") in _OWN_WORDS:
        return Part("system", text)
    return command_output(text) or foreign_part(text, NOTIFICATION, _HOST)


def _writer(entry: dict[str, Any]) -> str | None:
    """The writer of a line of the type user; None where nothing speaks against the user."""
    by_mark = (writer for mark, writer in _WRITER_OF_MARK.items() if entry.get(mark) is True)
    kind = kind_of(entry.get("origin"))
    return next(by_mark, _WRITER_OF_ORIGIN.get(kind, kind))
