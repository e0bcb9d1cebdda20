"""What stands in the user's name in a Claude Code transcript, told apart by who wrote it.

The program puts its own words between tags: reminders, notices of the editor, output of commands. A command that
the user typed stands between tags, too, and is given back as it was typed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from clew.api import JsonObject

_COMMAND_OUTPUT = {
    "bash-stdout": "bash",
    "bash-stderr": "bash",
    "local-command-stdout": "command",
    "local-command-stderr": "command",
}
_INJECTED = re.compile(
    r"<(?P<tag>system-reminder|ide_opened_file|ide_selection|ide_diagnostics|new-diagnostics|task-notification"
    r"|user-prompt-submit-hook|session-start-hook|local-command-caveat|teammate-message)(?:\s[^<>]{0,500})?>"
)
_INTERRUPTED = "[Request interrupted by user"


@dataclass(frozen=True, slots=True)
class Part:
    """One turn of a line."""

    role: str
    text: str
    call_id: str | None = None
    metadata: JsonObject = field(default_factory=dict)


def parts_of(text: str) -> list[Part]:
    """The turns of a text in the user's name: what was typed first, then what was put beside it."""
    stripped = text.strip()
    for tag, tool in _COMMAND_OUTPUT.items():
        if stripped.startswith(f"<{tag}>"):
            return [Part("tool", _outputs(stripped) or "[no output]", metadata={"toolName": tool})]
    if stripped.startswith("<bash-input>"):
        return [Part("user", f"! {_between(stripped, 'bash-input').strip()}")]
    if stripped.startswith(("<command-name>", "<command-message>")):
        return [Part("user", _command(stripped))]
    if stripped.startswith(_INTERRUPTED):
        return [Part("system", stripped)]
    typed, injected = _split(text)
    parts = [Part("user", typed.strip()), Part("system", injected)]
    return [part for part in parts if part.text.strip()]


def _split(text: str) -> tuple[str, str]:
    """What was typed, and what the program put into it; a mark that is never closed takes the rest."""
    typed: list[str] = []
    injected: list[str] = []
    done = 0
    while opening := _INJECTED.search(text, done):
        closing = f"</{opening['tag']}>"
        end = text.find(closing, opening.end())
        stop = len(text) if end < 0 else end + len(closing)
        typed.append(text[done : opening.start()])
        injected.append(text[opening.start() : stop])
        done = stop
    typed.append(text[done:])
    return "".join(typed), "\n".join(injected)


def _command(text: str) -> str:
    """A slash command as it was typed: its name and what followed it."""
    name = _between(text, "command-name").strip() or _between(text, "command-message").strip()
    arguments = _between(text, "command-args").strip()
    return f"/{name.removeprefix('/')} {arguments}".strip()


def _outputs(text: str) -> str:
    """What a command printed, to both of its outputs."""
    return "\n".join(part for part in (_between(text, tag).strip() for tag in _COMMAND_OUTPUT) if part)


def _between(text: str, tag: str) -> str:
    """What stands within a tag; up to the end where it is not closed, nothing where it is not there."""
    _, found, rest = text.partition(f"<{tag}>")
    return rest.partition(f"</{tag}>")[0] if found else ""
