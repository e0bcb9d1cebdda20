"""What Clew does at each event of a host: the turn it keeps, the note it makes, the text it gives back.

Every hook loads this module, so it imports nothing that takes time. Each event imports only what it needs itself.
"""

from __future__ import annotations

from clew.faces.hosts.dialects import COMPACT, COMPACTED, END, ENDED, PROMPT, START, STOP, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.faces.hosts.dialects import Payload
    from clew.faces.hosts.hook_wire import Daemon

MAX_TEXT_CHARS = 80_000
"""The longest turn. Escaped in any way, it fits into half a frame of the daemon."""

_CONFLICT = -32011
_AT_ONCE = 0.0
"""The deadline for an answer that nobody needs."""


class Moment:
    """One event of one session, and the daemon that hears of it."""

    def __init__(self, payload: Payload, user_id: str, daemon: Daemon) -> None:
        self.payload = payload
        self.user_id = user_id
        self.session_id = payload.session_id
        self.daemon = daemon

    def keep(self, role: str, text: str, source: str | None = None) -> None:
        """Stores one turn, once, however often a host delivers it."""
        if not text.strip():
            return
        if len(text) > MAX_TEXT_CHARS:
            from clew.text.cutting import cut_middle

            text = cut_middle(text, MAX_TEXT_CHARS)
        message: dict[str, object] = {"role": role, "text": text, "metadata": self.metadata()}
        if self.payload.identity:
            message["id"] = _make_id(self.payload.identity, role, str(len(text)), *filter(None, [source]))
        if source:
            message["source"] = source
        turn = {"sessionId": self.session_id, "userId": self.user_id, "message": message}
        self.daemon.ask("ingest", turn)
        if self.daemon.refusal == _CONFLICT:  # the same event has other words of the same length
            message["id"] = f"{message['id']}-b"
            self.daemon.ask("ingest", turn)

    def note(self, hook: str, reason: str) -> None:
        """Writes into the journal what happens to the session."""
        details = {"host": self.payload.host, "reason": reason}
        self.daemon.ask("add_hint", {"hook": hook, "sessionId": self.session_id, "details": details})

    def compact(self, *, force: bool) -> None:
        """Replaces old turns by summaries and keeps the user's rules word for word. Nobody waits for it."""
        self.daemon.ask("compact", {"sessionId": self.session_id, "force": force}, _AT_ONCE)

    def metadata(self) -> dict[str, str]:
        known = {"host": self.payload.host, "project": self.payload.project}
        return {name: value for name, value in known.items() if value}


def context_for(moment: Moment) -> str:
    """Handles the event. Gives the text to put before the model; empty where there is none."""
    return _AT[moment.payload.happened](moment)


def _start(moment: Moment) -> str:
    """A resumed session has its history, and needs nothing."""
    from clew.faces.hosts import hook_recall

    payload = moment.payload
    if payload.source == "compact":
        return hook_recall.recall_after_compaction(moment.daemon, moment.user_id, moment.session_id)
    is_new = payload.source in ("startup", "clear")
    return hook_recall.recall_project(moment.daemon, moment.user_id, payload.project) if is_new else ""


def _prompt(moment: Moment) -> str:
    """Asks memory before it holds the prompt, and only about the user's own words in it."""
    from clew.faces.hosts.hook_recall import recall_for_prompt
    from clew.text.speakers import words_of

    payload, context = moment.payload, ""
    if payload.outside:
        context = recall_for_prompt(moment.daemon, moment.user_id, moment.session_id, payload.prompt)
        moment.keep("user", payload.prompt, payload.outside)
        return context
    for words in words_of([payload.prompt]):
        if words.is_users:
            context = recall_for_prompt(moment.daemon, moment.user_id, moment.session_id, words.text)
        source = f"{payload.host}:{words.writer}" if words.writer else None
        moment.keep("user" if words.tool is None else "tool", words.text, source)
    return context


def _tool(moment: Moment) -> str:
    from clew.faces.hosts.hook_tools import make_event

    payload = moment.payload
    if not payload.is_own_tool:
        event = make_event(payload)
        event |= {"sessionId": moment.session_id, "userId": moment.user_id, "metadata": moment.metadata()}
        call = payload.text("tool_use_id") or payload.identity
        if call:
            event["id"] = _make_id(call, str(len(str(event["text"]))))
        moment.daemon.ask("capture", {"events": [event]})
    return ""


def _stop(moment: Moment) -> str:
    """Keeps the reply, brings captured tool outcomes into the ledger, and compacts old turns."""
    moment.keep("assistant", moment.payload.reply)
    moment.daemon.ask("harvest", {})
    moment.compact(force=False)
    return ""


def _compact(moment: Moment) -> str:
    if moment.payload.is_compacting:
        moment.note(COMPACTED, moment.payload.text("trigger"))
        moment.compact(force=True)
    return ""


def _end(moment: Moment) -> str:
    moment.note(ENDED, moment.payload.text("reason"))
    moment.compact(force=True)
    return ""


_AT: dict[str, Callable[[Moment], str]] = {
    START: _start,
    PROMPT: _prompt,
    TOOL: _tool,
    STOP: _stop,
    COMPACT: _compact,
    END: _end,
}


def _make_id(*parts: str) -> str:
    """Gives the same id for the same event. Uses the length of a text and not its words: a hash of a text would tell
    something of a secret that redaction removes."""
    import hashlib

    digest = hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=10)
    return f"h_{digest.hexdigest()}"
