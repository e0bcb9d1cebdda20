"""Elevated guidance: turns of the user that are kept word for word, from the moment they are said.

Only words of the user can become guidance. Those of a tool, a web page or the assistant never do,
however they sound: authority comes from the origin of a text, not from its wording.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.core.collections import Collection
from clew.core.model import Record
from clew.errors import InvalidInput
from clew.features.guidance.marking import MAX_STANDING, guidance_mark, may_guide
from clew.features.guidance.operations import GuidanceItem, GuidanceList, ListGuidance
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit, view
from clew.kernel.services import serves
from clew.text.deontic import read
from clew.text.rules import Turn

MAX_LISTED = 10_000


@serves(ListGuidance)
def list_guidance(parts: Parts, request: ListGuidance) -> GuidanceList:
    limit = checked_limit(request.limit, MAX_LISTED)
    names = collections(request.user_id, request.session_id)
    if not names:
        raise InvalidInput("name a user, a session, or both")
    found = [record for name in names for record in parts.store.page(name, 0, limit) if may_guide(record)]
    successors = {piece.record.ref: piece.superseded_by for piece in told_apart(found)}
    return GuidanceList(items=tuple(_item(record, successors[record.ref]) for record in found[:limit]))


def collections(user_id: str | None, session_id: str | None) -> list[Collection]:
    """Where the guidance that holds for a user in a session is kept."""
    names = [] if user_id is None else [Collection.guidance(user_id)]
    return names if session_id is None else [*names, Collection.guidance(None, session_id)]


@dataclass(frozen=True, slots=True)
class Piece:
    """One turn that is kept as guidance."""

    record: Record
    is_general: bool
    """Whether it holds whatever the task."""
    superseded_by: str | None
    """The later piece that takes its place."""


def standing(parts: Parts, names: Sequence[Collection]) -> list[Piece]:
    """The guidance of these collections that may guide, newest first; also what gives way to a later piece."""
    found = [record for name in names for record in parts.store.newest(name, None, MAX_STANDING) if may_guide(record)]
    return sorted(told_apart(found), key=lambda piece: (-piece.record.ts_ms, -piece.record.seq))


def told_apart(records: Sequence[Record]) -> list[Piece]:
    """What is known of each piece. One whose successor is gone, or held back, holds again."""
    present = {record.ref for record in records}
    return [_piece(record, present) for record in records]


def _piece(record: Record, present: set[str]) -> Piece:
    known = guidance_mark(record.marks)
    successor = known.get("superseded_by")
    return Piece(record, known.get("general") is True, successor if successor in present else None)


def _item(record: Record, successor: str | None) -> GuidanceItem:
    return GuidanceItem(record=view(record), cues=_cues(record.text), superseded_by=successor or "")


def _cues(text: str) -> tuple[str, ...]:
    """Words of duty, else the sentences that are rules without one."""
    turn = Turn.read(text)
    words = [turn.words[norm.start : norm.end] for norm in read(turn.words).norms if norm.explicit]
    return tuple(dict.fromkeys(words or [rule.text for rule in turn.rules]))
