"""What Clew does at each event of a host: the turn it keeps, the note it makes, the text it gives back.

Every hook loads this module, so it imports nothing that takes time. Each event imports only what it needs itself.
"""

from __future__ import annotations

import os
import time

from clew.faces.hosts.dialects import COMPACT, COMPACTED, END, ENDED, PROMPT, START, STOP, TOOL
from clew.faces.hosts.hook_delivery import FAILURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from clew.faces.hosts.dialects import Payload
    from clew.faces.hosts.hook_delivery import Delivery
    from clew.faces.hosts.hook_given import Given
    from clew.faces.hosts.hook_wire import Daemon

MAX_TEXT_CHARS = 80_000
"""The longest turn. Escaped in any way, it fits into half a frame of the daemon."""

_AT_ONCE = 0.0
"""The deadline for an answer that nobody needs."""


class Moment:
    """One event of one session, the way to the daemon, and the lines that the session has had from memory."""

    def __init__(self, payload: Payload, user_id: str, delivery: Delivery, given: Given) -> None:
        self.payload = payload
        self.user_id = user_id
        self.session_id = payload.session_id
        self.given = given
        self._delivery = delivery
        self._now_ms = time.time_ns() // 1_000_000

    def keep(self, role: str, text: str, source: str | None = None) -> None:
        """Stores one turn, once, however often a host delivers it."""
        if not text.strip():
            return
        if len(text) > MAX_TEXT_CHARS:
            from clew.text.cutting import cut_middle

            text = cut_middle(text, MAX_TEXT_CHARS)
        message: dict[str, object] = {"role": role, "text": text, "ts": self._now_ms, "metadata": self.metadata()}
        message["id"] = _make_id(self.payload.identity, role, str(len(text)), *filter(None, [source]))
        if source:
            message["source"] = source
        self._deliver("ingest", {"sessionId": self.session_id, "userId": self.user_id, "message": message})

    def capture(self, event: dict[str, object]) -> None:
        """Writes down the outcome of a tool."""
        call = self.payload.text("tool_use_id") or self.payload.identity
        event |= {"sessionId": self.session_id, "userId": self.user_id, "metadata": self.metadata()}
        event |= {"ts": self._now_ms, "id": _make_id(call, str(len(str(event["text"]))))}
        self._deliver("capture", {"events": [event]})

    def note(self, hook: str, reason: str) -> None:
        """Writes into the journal what happens to the session."""
        about = {"sessionId": self.session_id, "details": {"host": self.payload.host, "reason": reason}}
        self._deliver("add_hint", {"hook": hook, **about, "id": _make_id(self.payload.identity), "ts": self._now_ms})

    def recall(self, ask: Callable[[Daemon], str]) -> str:
        """The lines that memory has, without those that the session has had; empty where no daemon answers."""
        daemon = self._delivery.daemon
        if daemon is None:
            return ""
        try:
            found = ask(daemon)
        except FAILURES:  # the daemon went away; the turn must be kept all the same
            self._delivery.lose()
            return ""
        return self.given.without_repeats(found)

    def harvest(self) -> None:
        """Brings captured tool outcomes into the ledger."""
        if self._delivery.daemon is not None:
            self._delivery.daemon.ask("harvest", {})

    def compact(self, *, force: bool) -> None:
        """Replaces old turns by summaries and keeps the user's rules word for word. Nobody waits for it."""
        if self._delivery.daemon is not None:
            self._delivery.daemon.ask("compact", {"sessionId": self.session_id, "force": force}, _AT_ONCE)

    def _deliver(self, method: str, params: dict[str, Any]) -> None:
        if self.session_id:  # without one, nobody could keep it
            self._delivery.deliver(method, params)

    def metadata(self) -> dict[str, str]:
        known = {"host": self.payload.host, "project": self.payload.project}
        return {name: value for name, value in known.items() if value}


def context_for(moment: Moment) -> str:
    """Handles the event. Gives the text to put before the model; empty where there is none."""
    return _AT[moment.payload.happened](moment)


def _start(moment: Moment) -> str:
    """A resumed session has its history, and needs nothing. Any other begins without lines from memory."""
    from clew.faces.hosts import hook_recall

    payload, user_id, session_id = moment.payload, moment.user_id, moment.session_id
    if payload.source not in ("startup", "clear", "compact"):
        return ""
    moment.given.forget()
    is_compacted = payload.source == "compact"
    recall = hook_recall.recall_after_compaction if is_compacted else hook_recall.recall_at_start
    return moment.recall(lambda daemon: recall(daemon, user_id, session_id, payload.project))


def _prompt(moment: Moment) -> str:
    """Asks memory before it holds the prompt, and only about the user's own words in it."""
    from clew.text.speakers import words_of

    payload, context = moment.payload, ""
    if payload.outside:
        context = _recall_for(moment, payload.prompt)
        moment.keep("user", payload.prompt, payload.outside)
        return context
    for words in words_of([payload.prompt]):
        if words.is_users:
            context = _recall_for(moment, words.text)
        source = f"{payload.host}:{words.writer}" if words.writer else None
        moment.keep("user" if words.tool is None else "tool", words.text, source)
    return context


def _recall_for(moment: Moment, prompt: str) -> str:
    from clew.faces.hosts.hook_recall import recall_for_prompt

    user_id, session_id, project = moment.user_id, moment.session_id, moment.payload.project
    return moment.recall(lambda daemon: recall_for_prompt(daemon, user_id, session_id, prompt, project))


def _tool(moment: Moment) -> str:
    from clew.faces.hosts.hook_tools import make_event

    if not moment.payload.is_own_tool:
        moment.capture(make_event(moment.payload))
    return ""


def _stop(moment: Moment) -> str:
    """Brings captured tool outcomes into the ledger, keeps the reply, which is held against them, and compacts."""
    try:
        moment.harvest()
    finally:
        moment.keep("assistant", moment.payload.reply)
    moment.compact(force=False)
    return ""


def _compact(moment: Moment) -> str:
    if moment.payload.is_compacting:
        moment.given.forget()
        moment.note(COMPACTED, moment.payload.text("trigger"))
        moment.compact(force=True)
    return ""


def _end(moment: Moment) -> str:
    """A session that was cleared has lost its lines; any other may be resumed with them."""
    if moment.payload.text("reason") == "clear":
        moment.given.forget()
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


def _make_id(identity: str, *parts: str) -> str:
    """Gives the same id for the same event; a new one where the host sends nothing that tells events apart.

    Uses the length of a text and not its words: a hash of a text would tell something of a secret that redaction
    removes.
    """
    import hashlib

    if not identity:
        return f"h_{os.urandom(10).hex()}"
    digest = hashlib.blake2b("\0".join((identity, *parts)).encode("utf-8", "replace"), digest_size=10)
    return f"h_{digest.hexdigest()}"
