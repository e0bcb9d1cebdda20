"""What each host calls its events and fields, and the one shape in which all of them take an answer.

Loaded by every hook: it may import nothing that takes time.
"""

from __future__ import annotations

import os

START = "start"
PROMPT = "prompt"
TOOL = "tool"
STOP = "stop"
COMPACT = "compact"
END = "end"

COMPACTED = "pre_compact"
ENDED = "session_end"
"""What the journal calls the moments before a session's history is replaced by a summary, and after its end."""

EVENTS: dict[str, dict[str, str]] = {
    "claude-code": {
        "SessionStart": START,
        "UserPromptSubmit": PROMPT,
        "PostToolUse": TOOL,
        "PostToolUseFailure": TOOL,
        "Stop": STOP,
        "PreCompact": COMPACT,
        "SessionEnd": END,
    },
    "codex": {
        "SessionStart": START,
        "UserPromptSubmit": PROMPT,
        "PostToolUse": TOOL,
        "Stop": STOP,
        "PreCompact": COMPACT,
        "SessionEnd": END,
    },
    "gemini": {
        "SessionStart": START,
        "BeforeAgent": PROMPT,
        "AfterTool": TOOL,
        "AfterAgent": STOP,
        "PreCompress": COMPACT,
        "SessionEnd": END,
    },
}
"""By host: its name of an event, and what happened."""

_REPLY = {"claude-code": "last_assistant_message", "codex": "last_assistant_message", "gemini": "prompt_response"}
_IDENTITY = ("prompt_id", "turn_id", "timestamp")
"""Fields that tell one delivery of an event from the next; which of them a host has differs."""

_CONTEXT_OPENS = "<hook_context>"
_CONTEXT_CLOSES = "</hook_context>"
_CONTEXT_GAP = "\n\n"
"""Gemini puts what a hook said at a session's start before the first prompt, between these, its own marks escaped."""

_TYPED_BY_A_PERSON = (None, "user", "sdk")
_OWN_TOOLS = ("mcp__clew__", "mcp_clew_")
_FOLDERS_WITHOUT_A_NAME = frozenset({"", "app", "code", "dev", "home", "project", "repo", "root", "src", "tmp", "work"})


class Payload:
    """What a host said on standard input, read by field and never trusted to have a shape."""

    def __init__(self, host: str, event: str, fields: dict[str, object]) -> None:
        self.host = host
        self.event = event
        self.happened = EVENTS[host][event]
        self._fields = fields

    @property
    def session_id(self) -> str:
        return self.text("session_id")

    @property
    def source(self) -> str | None:
        """Of a session's start: how it came about. Of a prompt: who wrote it, if the host says so."""
        return self.text("source") or None

    @property
    def prompt(self) -> str:
        """What the user asked, without what hooks have put before it."""
        prompt, start = self.text("prompt"), 0
        while self.host == "gemini" and prompt.startswith(_CONTEXT_OPENS, start):
            end = prompt.find(_CONTEXT_CLOSES, start)
            if end < 0:
                break
            start = end + len(_CONTEXT_CLOSES)
            start += len(_CONTEXT_GAP) if prompt.startswith(_CONTEXT_GAP, start) else 0
        return prompt[start:]

    @property
    def is_compacting(self) -> bool:
        """Whether the history is about to be replaced. Gemini also says so before it looks whether it must."""
        return self.host != "gemini" or self.text("trigger") != "auto"

    @property
    def reply(self) -> str:
        """The assistant's last words."""
        return self.text(_REPLY[self.host])

    @property
    def identity(self) -> str:
        """Equal where an event is delivered again; empty where the host gives nothing to go by."""
        return next((self.text(name) for name in _IDENTITY if self.text(name)), "")

    @property
    def outside(self) -> str | None:
        """Where a prompt came from that nobody typed: a schedule, another agent, a channel."""
        return None if self.source in _TYPED_BY_A_PERSON else f"{self.host}:{self.source}"

    @property
    def is_own_tool(self) -> bool:
        """Whether the tool is Clew's: what was recalled once must not be learnt again."""
        return self.text("tool_name").startswith(_OWN_TOOLS)

    @property
    def project(self) -> str:
        """The name of the folder worked in, where it says more than that it is a folder."""
        folder = self.text("cwd").rstrip("/")
        name = os.path.basename(folder)
        is_home = folder == os.path.expanduser("~")
        return "" if is_home or name.lower() in _FOLDERS_WITHOUT_A_NAME or len(name) < 3 else name

    def text(self, name: str) -> str:
        value = self._fields.get(name)
        return value if isinstance(value, str) else ""

    def value(self, name: str) -> object:
        return self._fields.get(name)


def answer(event: str, context: str) -> dict[str, object]:
    """What a host reads as text to put before its model."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
