"""What one served user may read and remove.

A model names records freely, so Clew checks every name before it reads anything. A user may read their own
collections, shared ones (`global`, its facts, lore), and sessions that they took part in. For a record of somebody else
the answer is the same as for a record that does not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.api import MemoryApi, RecordView
from clew.core.collections import GLOBAL, LORE, Collection, CollectionKind, readings_of
from clew.core.ids import turn_name
from clew.errors import InvalidInput, NotFound

MAX_READINGS = 16
"""The most slashes in a reference: each gives another reading, and Clew looks every reading up."""

SESSION_LINES = 200
SESSION_PAGES = 5
"""How far into a session Clew looks for the user, who appears in nearly every line of their sessions."""

_SHARED = frozenset({GLOBAL, LORE, Collection.facts(None), Collection.plans(None)})
SESSION_KINDS = frozenset({CollectionKind.SESSION, CollectionKind.RAW, CollectionKind.SUMMARIES})
_OPEN_KINDS = SESSION_KINDS | {CollectionKind.GUIDANCE, CollectionKind.LEDGER}


@dataclass(frozen=True, slots=True)
class Reach:
    """One user's view of a store, and of the session that the server was started for."""

    memory: MemoryApi
    user_id: str
    session_id: str | None = None
    project: str | None = None
    """The project that the client works on."""

    def record(self, ref: str, max_chars: int) -> RecordView:
        """The record that a reference names, bounded. Raises NotFound, also for a record of somebody else."""
        return self._open_records(ref, max_chars)[0]

    def check_own(self, ref: str) -> None:
        """Raises NotFound, or InvalidInput where the record is not the user's alone."""
        if not all(map(self._is_own, self._open_records(ref, max_chars=1))):
            raise InvalidInput(
                f"{ref} is not this user's alone: it is shared, a summary, or somebody else's words; "
                "the operator can remove it with `clew purge`"
            )

    def session(self, session_id: str) -> str | None:
        """The named session, or else that of this server. Raises NotFound."""
        if not session_id:
            return self.session_id
        if not self._took_part(session_id):
            raise NotFound(f"this user has no session {session_id[:200]!r}")
        return session_id

    def _open_records(self, ref: str, max_chars: int) -> list[RecordView]:
        """Every record that the reference can mean: ids may hold slashes, so two records may have one name.

        The user must be allowed to read all of them, so that it does not matter which one is taken. Raises NotFound.
        """
        readings = readings_of(ref)
        if len(readings) > MAX_READINGS:
            raise InvalidInput(f"a reference holds at most {MAX_READINGS} slashes")
        found = [
            record
            for collection, id_ in readings
            for name in (collection, collection.archive)
            for record in self.memory.get(name, id_, max_chars=max_chars).records
        ]
        if not found or not all(self._is_open(record.collection) for record in found):
            raise NotFound(f"there is no record {ref[:200]!r}")
        return found

    def _is_open(self, collection: str) -> bool:
        home = Collection(collection).home
        if home in _SHARED or home in (*self._own_collections(), *self._read_only()):
            return True
        session_id = session_in(home)
        return session_id is not None and self._took_part(session_id)

    def _is_own(self, record: RecordView) -> bool:
        home = Collection(record.collection).home
        session_id = session_in(home)
        if session_id is None:
            return home in self._own_collections()
        return self._has_any(session_id, [record.id])

    def _own_collections(self) -> tuple[str, ...]:
        return (
            Collection.memories(self.user_id),
            Collection.turns(self.user_id),
            Collection.ledger(self.user_id),
            Collection.guidance(self.user_id),
        )

    def _read_only(self) -> tuple[str, ...]:
        """Collections about the user that hold words of others, or what the operator confirmed."""
        return (
            Collection.replies(self.user_id),
            Collection.facts(self.user_id),
            Collection.plans(self.user_id),
        )

    def _took_part(self, session_id: str) -> bool:
        """Whether the session holds a record of this user. The operator's own choice of a session needs no proof."""
        if session_id == self.session_id:
            return True
        cursor: int | None = 0
        for _ in range(SESSION_PAGES):
            if cursor is None:
                return False
            try:
                page = self.memory.replay(session_id, cursor=cursor, limit=SESSION_LINES)
            except NotFound:
                return False
            if self._has_any(session_id, [_id_in_session(line.ref, session_id) for line in page.lines]):
                return True
            cursor = page.cursor
        return False

    def _has_any(self, session_id: str, ids: Sequence[str]) -> bool:
        """Whether one of these turns and events of a session also belongs to a collection of the user."""
        names = [turn_name(session_id, id_) for id_ in ids]
        places = (
            Collection.turns(self.user_id),
            Collection.replies(self.user_id),
            Collection.owned(self.user_id),
            Collection.ledger(self.user_id),
        )
        return bool(names) and any(self.memory.get(place, *names, max_chars=1).records for place in places)


def session_in(collection: str) -> str | None:
    """The session whose turns, summaries, guidance or events a collection holds."""
    named = Collection(collection)
    return named.session_id if named.kind in _OPEN_KINDS else None


def _id_in_session(ref: str, session_id: str) -> str:
    turns, events = Collection.raw(session_id), Collection.ledger(None, session_id)
    return ref.removeprefix(f"{turns}/").removeprefix(f"{events}/")
