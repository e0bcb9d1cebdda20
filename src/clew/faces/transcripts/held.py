"""The turns that a session holds already, also those that came by another way than this transcript.

Hooks and plugins keep turns while a session runs, under ids of their own. A turn of a transcript is known by its id, by
another id that it may have, or by its speaker, its words and its time.
"""

from __future__ import annotations

from clew.api import MemoryApi, RecordView
from clew.core.collections import Collection
from clew.core.model import Role, role_of
from clew.faces.transcripts.turns import Turn
from clew.text.utterances import Utterances

WINDOW_MS = 10 * 60 * 1000
"""How far apart two ways may date a turn: one when it was said, the other when it was kept."""

PAGE = 500
_SOURCE = "sourceUrl"
_SPEAKERS = (Role.USER, Role.ASSISTANT)


class HeldTurns:
    """What one session held when an import came to it."""

    def __init__(self, memory: MemoryApi, session_id: str) -> None:
        self._places: dict[str, tuple[str, int]] = {}
        self._typed: dict[str, str] = {}
        self._by_others = Utterances(WINDOW_MS)
        cursor: int | None = 0
        while cursor is not None:
            page = memory.list(Collection.raw(session_id), cursor=cursor, limit=PAGE)
            for record in page.records:
                self._add(record)
            cursor = page.cursor

    def has(self, turn: Turn) -> bool:
        """Whether the session holds the turn in another form, or under another id.

        Not for a turn under its own id alone, which the store compares by itself.
        """
        message = turn.message
        known = [id_ for id_ in (message.id, *turn.aliases) if id_ in self._places]
        for id_ in known:
            self._by_others.remove(*self._places[id_], id_)
        if known:
            return any(alias in self._places for alias in turn.aliases)
        if turn.part_of is not None and message.text.strip() in self._typed.get(turn.part_of, ""):
            return True
        speaker = _speaker(message.role, message.source)
        if not speaker or message.ts is None or not turn.is_dated:
            return False
        return self._by_others.claim(speaker, message.ts, message.text) is not None

    def _add(self, record: RecordView) -> None:
        source = record.metadata.get(_SOURCE)
        speaker = _speaker(record.role or "", source if isinstance(source, str) else None)
        self._places[record.id] = (speaker, record.ts)
        if speaker:
            self._by_others.add(speaker, record.ts, record.id, record.text)
        if record.role == Role.USER:
            self._typed[record.id] = record.text


def _speaker(role: str, source: str | None) -> str:
    """Who speaks; empty for a tool or a system. Words from outside never answer for the user's own."""
    if not role or role_of(role) not in _SPEAKERS:
        return ""
    return role if source is None else f"{role} from outside"
