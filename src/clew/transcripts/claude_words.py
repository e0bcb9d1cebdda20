"""What stands in the user's name in a Claude Code transcript, told apart by who wrote it.

The program puts words of its own and of others between tags: reminders, notices of the editor, messages of other
agents, output of commands. They quote files and pages, which may hold the same tags, so a tag is only believed to end
where nothing after it could still belong to it. A command that the user typed stands between tags, too, and is given
back as it was typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from clew.api import JsonObject

INJECTED = "injected"
NOTIFICATION = "notification"
PEER = "peer"

_HOST = "claude-code"
_COMMAND_OUTPUT = {
    "bash-stdout": "bash",
    "bash-stderr": "bash",
    "local-command-stdout": "command",
    "local-command-stderr": "command",
}
_WRITER_OF_TAG = {
    "system-reminder": INJECTED,
    "ide_opened_file": INJECTED,
    "ide_selection": INJECTED,
    "ide_diagnostics": INJECTED,
    "new-diagnostics": INJECTED,
    "user-prompt-submit-hook": INJECTED,
    "session-start-hook": INJECTED,
    "local-command-caveat": INJECTED,
    "task-notification": NOTIFICATION,
    "mcp-resource-update": NOTIFICATION,
    "mcp-polling-update": NOTIFICATION,
    "teammate-message": PEER,
    "channel": PEER,
    "channel-message": PEER,
    "cross-session-message": PEER,
}
_OPENING = re.compile(rf"<(?P<tag>{'|'.join(_WRITER_OF_TAG)})(?![\w-])")
_INTERRUPTED = "[Request interrupted by user"


@dataclass(frozen=True, slots=True)
class Part:
    """One turn of a line."""

    role: str
    text: str
    call_id: str | None = None
    source: str | None = None
    metadata: JsonObject = field(default_factory=dict)


def by_another(text: str, writer: str) -> Part:
    """Words in the user's name that the user did not write."""
    return Part("user", text, source=f"{_HOST}:{writer}")


def command_output(text: str) -> Part | None:
    """What a command printed; None where the text is something else."""
    stripped = text.strip()
    for tag, tool in _COMMAND_OUTPUT.items():
        if stripped.startswith(f"<{tag}>"):
            return Part("tool", _outputs(stripped) or "[no output]", metadata={"toolName": tool})
    return None


def parts_of(blocks: Iterable[str]) -> list[Part]:
    """The turns of blocks in the user's name: what was typed as one, then what was put beside it, by who wrote it."""
    typed: list[str] = []
    outputs: list[Part] = []
    others: dict[str, list[str]] = {}
    for block in blocks:
        for part in _parts_of_block(block):
            if part.source is not None:
                others.setdefault(part.source, []).append(part.text)
            elif part.role == "tool":
                outputs.append(part)
            elif part.text:
                typed.append(part.text)
    said = [Part("user", "\n\n".join(typed))] if typed else []
    return [*said, *outputs, *(Part("user", "\n".join(texts), source=source) for source, texts in others.items())]


def _parts_of_block(text: str) -> Iterator[Part]:
    stripped = text.strip()
    output = command_output(stripped)
    if output is not None:
        yield output
    elif stripped.startswith("<bash-input>"):
        yield Part("user", f"! {_between(stripped, 'bash-input').strip()}")
    elif stripped.startswith(("<command-name>", "<command-message>")):
        yield Part("user", _command(stripped))
    elif stripped.startswith(_INTERRUPTED):
        yield by_another(stripped, NOTIFICATION)
    elif opening := _OPENING.match(stripped):
        yield by_another(stripped, _WRITER_OF_TAG[opening["tag"]])
    else:
        yield from _split(text)


def _split(text: str) -> Iterator[Part]:
    """What was typed, and what was put into it: up to the last mark that can close it, or else to the end."""
    typed: list[str] = []
    done = 0
    while opening := _OPENING.search(text, done):
        tag = opening["tag"]
        closing = f"</{tag}>"
        end = text.rfind(closing, opening.end())
        stop = len(text) if end < 0 else end + len(closing)
        typed.append(text[done : opening.start()])
        yield by_another(text[opening.start() : stop], _WRITER_OF_TAG[tag])
        done = stop
    typed.append(text[done:])
    yield Part("user", "".join(typed).strip())


def _command(text: str) -> str:
    """A slash command as it was typed: its name and what followed it."""
    name = _between(text, "command-name").strip() or _between(text, "command-message").strip()
    arguments = _between(text, "command-args").strip()
    return f"/{name.removeprefix('/')} {arguments}".strip()


def _outputs(text: str) -> str:
    """What a command printed, to both of its outputs."""
    return "\n".join(part for part in (_between(text, tag).strip() for tag in _COMMAND_OUTPUT) if part)


def _between(text: str, tag: str) -> str:
    """What stands within a tag up to where it is closed last, or to the end; nothing where it is not there."""
    rest = text.partition(f"<{tag}>")[2]
    inside, closed, _ = rest.rpartition(f"</{tag}>")
    return inside if closed else rest
