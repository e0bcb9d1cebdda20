"""The names that each host has for its events and fields, and the one shape of an answer that all of them take.

Every hook loads this module, so it imports nothing that takes time.
"""

from __future__ import annotations

from clew.core.projects import project_at

START = "start"
PROMPT = "prompt"
TOOL = "tool"
STOP = "stop"
COMPACT = "compact"
END = "end"

COMPACTED = "pre_compact"
ENDED = "session_end"
"""The journal's names for the moments before a host compacts a session, and after its end."""

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
"""For each host: its name of an event, and what happened."""

_REPLY = {"claude-code": "last_assistant_message", "codex": "last_assistant_message", "gemini": "prompt_response"}
_IDENTITY = ("prompt_id", "turn_id", "timestamp")
"""Fields that tell events apart; each host has some of them."""

_CONTEXT_OPENS = "<hook_context>"
_CONTEXT_CLOSES = "</hook_context>"
_CONTEXT_GAP = "\n\n"
"""Gemini puts the answer of a hook at a session's start before the first prompt, between these marks."""

_TYPED_BY_A_PERSON = (None, "user", "sdk")
_OWN_TOOLS = ("mcp__clew__", "mcp_clew_")


class Payload:
    """The JSON object that a host sends, read field by field, because nothing guarantees its shape."""

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
        """At a session's start: the cause. At a prompt: the writer, if the host names one."""
        return self.text("source") or None

    @property
    def prompt(self) -> str:
        """The user's prompt, without the text that hooks have put before it."""
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
        """Whether the host is about to compact. Gemini also sends this event before it knows whether it must."""
        return self.host != "gemini" or self.text("trigger") != "auto"

    @property
    def tells_of_compactions(self) -> bool:
        """Whether the host says whenever it has compacted a session. Gemini says so only where the user asked it to."""
        return self.host != "gemini"

    @property
    def reply(self) -> str:
        """The assistant's last words."""
        return self.text(_REPLY[self.host])

    @property
    def identity(self) -> str:
        """The same for each delivery of one event; empty where the host sends no such field."""
        return next((self.text(name) for name in _IDENTITY if self.text(name)), "")

    @property
    def outside(self) -> str | None:
        """The origin of a prompt that nobody typed: a schedule, another agent, a channel."""
        return None if self.source in _TYPED_BY_A_PERSON else f"{self.host}:{self.source}"

    @property
    def is_own_tool(self) -> bool:
        """Whether the tool is Clew's own. Clew must not learn again what it recalled."""
        return self.text("tool_name").startswith(_OWN_TOOLS)

    @property
    def project(self) -> str:
        """The project of the working folder; empty where there is none."""
        return project_at(self.text("cwd"))

    def text(self, name: str) -> str:
        value = self._fields.get(name)
        return value if isinstance(value, str) else ""

    def value(self, name: str) -> object:
        return self._fields.get(name)


def answer(event: str, context: str) -> dict[str, object]:
    """The answer in which a host finds text to put before its model."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
