"""Turns that came in more than once: hosts copy sessions, and a copy has its own name and the same turns.

A turn is the same where its id, its role and its text are. Ids are made from times or from contents, so two things that
were said never share one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from clew.core.collections import Collection
from clew.core.ids import digest, turn_name
from clew.core.model import Record, Role
from clew.features.upkeep.operations import CopyList, FindTurn, ListCopies, SessionCopy, TurnSessions
from clew.kernel.intake import SOURCE_URL
from clew.kernel.parts import Parts
from clew.kernel.services import serves
from clew.storage.paging import every_member

WORKING_COPY = "a working copy of the host's"
CONTAINED = "every turn is in another session"

_INTERNAL = "internal-session-effects-"
"""How OpenClaw names the copies of a session in which it works by itself, for instance before a compaction."""

_READ_IN_HISTORY = "openclaw:history"
_DIGEST_BYTES = 8


@serves(FindTurn)
def find_turn(parts: Parts, request: FindTurn) -> TurnSessions:
    """The sessions in which a user said a turn of this id, by name."""
    named = {turn_name(session, request.id): session for session in _sessions(parts)}
    held = parts.store.get(Collection.turns(request.user_id), list(named))
    return TurnSessions(sessions=tuple(sorted(named[record.id] for record in held)))


@serves(ListCopies)
def list_copies(parts: Parts, _: ListCopies) -> CopyList:
    """Sessions that add nothing to the others. Of two that are equal, the first by name is not a copy."""
    sizes = {session: parts.store.size(Collection.raw(session)) for session in _sessions(parts)}
    originals_first = sorted(sizes, key=lambda session: (session.startswith(_INTERNAL), -sizes[session]))
    kept: set[bytes] = set()
    copies = []
    for session in originals_first:
        is_internal = session.startswith(_INTERNAL)
        work_began_ms = _work_began_ms(parts, session) if is_internal else math.inf
        own = [
            _digest(turn) for turn in every_member(parts.store, Collection.raw(session)) if turn.ts_ms < work_began_ms
        ]
        if sizes[session] and kept.issuperset(own):
            reason = WORKING_COPY if is_internal else CONTAINED
            copies.append(SessionCopy(session_id=session, turns=sizes[session], reason=reason))
        else:
            kept.update(own)
    return CopyList(copies=tuple(copies))


def _work_began_ms(parts: Parts, session_id: str) -> float:
    """When the host began to work in a copy: with the first order of its own. The turns before it were copied."""
    orders = (
        turn.ts_ms
        for turn in every_member(parts.store, Collection.raw(session_id))
        if turn.role is Role.USER and turn.metadata.get(SOURCE_URL) != _READ_IN_HISTORY
    )
    return min(orders, default=math.inf)


def _sessions(parts: Parts) -> Iterator[str]:
    return (name.owner for name, _ in parts.store.collections() if name.is_raw)


def _digest(turn: Record) -> bytes:
    return digest(turn.id, turn.role or "", turn.text, size_bytes=_DIGEST_BYTES)
