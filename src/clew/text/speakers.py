"""Tells who wrote a text that arrives in the user's name: the user, or a host that adds its own words and others'.

Hosts put reminders, notices of the editor, messages of other agents and pages between tags. These quote files and
pages, which may hold the same tags, so a tag is only believed to end where nothing after it could still belong to it.
A command that the user typed comes between tags, too; it is given back as typed.

Every way into memory asks here. Hooks load it at a prompt: it may import nothing that takes time.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

INJECTED = "injected"
NOTIFICATION = "notification"
PEER = "peer"
SUMMARY = "summary"
COMMAND = "command"

_OUTPUT = {
    "bash-stdout": "bash",
    "bash-stderr": "bash",
    "local-command-stdout": "command",
    "local-command-stderr": "command",
}
"""By the name of a tag: what printed the text in it."""

_EXTERNAL = "<<EXTERNAL_UNTRUSTED_CONTENT"
_WRITERS = {
    # Claude Code
    "system-reminder": INJECTED,
    "ide_opened_file": INJECTED,
    "ide_selection": INJECTED,
    "ide_diagnostics": INJECTED,
    "new-diagnostics": INJECTED,
    "user-prompt-submit-hook": INJECTED,
    "session-start-hook": INJECTED,
    "local-command-caveat": INJECTED,
    "fetched-web-content": INJECTED,
    "task-notification": NOTIFICATION,
    "mcp-resource-update": NOTIFICATION,
    "mcp-polling-update": NOTIFICATION,
    "agent-message": PEER,
    "teammate-message": PEER,
    "channel": PEER,
    "channel-message": PEER,
    "cross-session-message": PEER,
    "slack-tag-message": PEER,
    # Codex
    "environment_context": INJECTED,
    "user_instructions": INJECTED,
    "user_shell_command": INJECTED,
    "turn_aborted": NOTIFICATION,
    "subagent_notification": NOTIFICATION,
    # Gemini CLI
    "hook_context": INJECTED,
    "session_context": INJECTED,
    "state_snapshot": SUMMARY,
    # OpenClaw
    _EXTERNAL: INJECTED,
    **dict.fromkeys(_OUTPUT, COMMAND),
}
"""By the name of a tag: who writes between it and its end."""

_PREAMBLE = "Another Claude session sent a message:"
_NOTICES = {
    "[Request interrupted by user": NOTIFICATION,
    "[SYSTEM NOTIFICATION": NOTIFICATION,
    "[Cross-session idle notice]": NOTIFICATION,
    "Stop hook feedback:": NOTIFICATION,
    _PREAMBLE: PEER,
    "This session is being continued from a previous conversation": SUMMARY,
}
"""How a host begins a text of its own without a tag."""

_TYPED = ("<bash-input>", "<command-name>", "<command-message>")
_TRAILERS = {
    "Read the output file to retrieve the result:": "\n",
    "This came from another Claude session": None,
    'That "other Claude session"': None,
}
"""How a host begins what it says itself behind a message that it has passed on, and what ends it; else it is the end
of the text."""
_OPENINGS = tuple(f"<{tag}" for tag in _WRITERS)
_LONGEST_LEAD = 80


class Words:
    """The words of one writer in a text. Those of the user have no writer, the output of a command has its tool."""

    __slots__ = ("text", "tool", "writer")

    def __init__(self, text: str, writer: str | None = None, tool: str | None = None) -> None:
        self.text = text
        self.writer = writer
        self.tool = tool

    @property
    def is_users(self) -> bool:
        return self.writer is None and self.tool is None


def words_of(blocks: Iterable[str], *, one_writer_each: bool = False) -> list[Words]:
    """What was typed as one, then what commands printed, then what others wrote, by who wrote it.

    Where each block has one writer, one that begins with a tag is wholly of its writer, whatever follows.
    """
    typed: list[str] = []
    printed: list[Words] = []
    others: dict[str, list[str]] = {}
    for block in blocks:
        for words in _words_of_block(block, one_writer_each):
            if words.writer is not None:
                others.setdefault(words.writer, []).append(words.text)
            elif words.tool is not None:
                printed.append(words)
            elif words.text:
                typed.append(words.text)
    said = [Words("\n\n".join(typed))] if typed else []
    return [*said, *printed, *(Words("\n".join(texts), writer) for writer, texts in others.items())]


def other_writer(text: str) -> str | None:
    """Who wrote in a text besides the user; None where nobody did. For a text that has to be one turn."""
    first = next((words for words in _words_of_block(text, False) if not words.is_users), None)
    return None if first is None else first.writer or first.tool


def printed(text: str) -> Words | None:
    """What a command printed; None where the text is something else."""
    stripped = text.strip()
    for tag, tool in _OUTPUT.items():
        if stripped.startswith(f"<{tag}>"):
            outputs = (_between(stripped, each).strip() for each in _OUTPUT)
            return Words("\n".join(filter(None, outputs)) or "[no output]", tool=tool)
    return None


def _words_of_block(text: str, is_one_writers: bool) -> Iterator[Words]:
    stripped = text.strip()
    output = printed(stripped)
    notice = next((writer for start, writer in _NOTICES.items() if stripped.startswith(start)), None)
    tag = _tag_at(stripped, 0) if is_one_writers else None
    if output is not None:
        yield output
    elif stripped.startswith(_TYPED):
        yield from _typed_command(stripped)
    elif notice is not None:
        yield Words(stripped, notice)
    elif tag is not None:
        yield Words(stripped, _WRITERS[tag])
    else:
        yield from _split(stripped)


def _split(text: str) -> Iterator[Words]:
    """The words the user typed, and the parts that a host added."""
    typed: list[str] = []
    done = 0
    for start, stop, tag in _spans(text):
        if start >= done:
            begin = _with_preamble(text, start)
            typed.append(text[done:begin])
            done = _with_trailer(text, stop)
            yield Words(text[begin:done], _WRITERS[tag])
    typed.append(text[done:])
    yield Words("".join(typed).strip())


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    """The place of a tag, up to the last mark that can close it, or one that was opened within it.

    One that nothing closes was cut off, and goes on to the end; within a line, somebody only speaks of it.
    """
    ends: dict[str, int] = {}
    begun: tuple[int, int, str] | None = None
    for place, tag in _openings(text):
        end = _last_end(text, tag, ends)
        if begun is not None and place < begun[1]:
            begun = begun[0], max(begun[1], end), begun[2]
            continue
        if begun is not None:
            yield begun
        end = len(text) if end < place and _begins_line(text, place) else end
        begun = (place, end, tag) if end > place else None
    if begun is not None:
        yield begun


def _openings(text: str) -> Iterator[tuple[int, str]]:
    """Every mark that opens a tag of a host, with its name."""
    place = text.find("<")
    while place >= 0:
        tag = _tag_at(text, place)
        if tag is not None:
            yield place, tag
        place = text.find("<", place + 1)


def _tag_at(text: str, place: int) -> str | None:
    """The tag that is opened here. A channel of a feed has no attributes; one of a host names its source."""
    if not text.startswith(_OPENINGS, place):
        return None
    for tag in _WRITERS:
        behind = place + 1 + len(tag)
        after = text[behind : behind + 1]
        is_whole = after.isspace() if tag == "channel" else not after.isalnum() and after not in ("_", "-")
        if is_whole and text.startswith(tag, place + 1):
            return tag
    return None


def _last_end(text: str, tag: str, ends: dict[str, int]) -> int:
    """Behind the last closing mark of a tag in the text; -1 where it has none. Each tag is looked for once."""
    if tag not in ends:
        found = text.rfind("<<<END_EXTERNAL_UNTRUSTED_CONTENT" if tag == _EXTERNAL else f"</{tag}")
        end = text.find(">>>" if tag == _EXTERNAL else ">", found)
        ends[tag] = -1 if found < 0 else len(text) if end < 0 else end + (3 if tag == _EXTERNAL else 1)
    return ends[tag]


def _begins_line(text: str, place: int) -> bool:
    return not text[max(place - _LONGEST_LEAD, 0) : place].rpartition("\n")[2].strip()


def _with_preamble(text: str, start: int) -> int:
    """Where a tag begins, with the line by which its host announces it."""
    before = text[max(start - _LONGEST_LEAD, 0) : start]
    found = before.rfind(_PREAMBLE)
    is_announced = found >= 0 and not before[found + len(_PREAMBLE) :].strip()
    return start - len(before) + found if is_announced else start


def _with_trailer(text: str, stop: int) -> int:
    """Where a tag ends, with what its host says behind it."""
    behind = len(text) - len(text[stop:].lstrip())
    for start, closing in _TRAILERS.items():
        if text.startswith(start, behind):
            end = -1 if closing is None else text.find(closing, behind)
            return len(text) if end < 0 else end
    return stop


def _typed_command(text: str) -> Iterator[Words]:
    """A command as the user typed it, and the parts that a host added."""
    stop = next((place for place, _ in _openings(text)), len(text))
    typed, rest = text[:stop], text[stop:]
    if typed.startswith("<bash-input>"):
        yield Words(f"! {_between(typed, 'bash-input').strip()}")
    else:
        name = _between(typed, "command-name").strip() or _between(typed, "command-message").strip()
        yield Words(f"/{name.removeprefix('/')} {_between(typed, 'command-args').strip()}".strip())
    if rest:
        yield from _words_of_block(rest, True)


def _between(text: str, tag: str) -> str:
    """The text in a tag, up to where it closes last or to the end; empty where there is no such tag."""
    rest = text.partition(f"<{tag}>")[2]
    inside, closed, _ = rest.rpartition(f"</{tag}>")
    return inside if closed else rest
