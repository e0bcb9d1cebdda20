"""Elevated guidance: turns of the user that are kept word for word through every compaction.

Only words of the user can become guidance. Those of a tool, a web page or the assistant never do,
however they sound: authority comes from the origin of a text, not from its wording.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from clew.core.collections import Collection, CollectionKind
from clew.core.ids import turn_name
from clew.core.model import Provenance, Record, Role, Trust
from clew.errors import EmbedderFailed, InvalidInput
from clew.features.guidance.operations import GuidanceItem, GuidanceList, ListGuidance
from clew.index.vectors import Grid
from clew.kernel.meaning import similarities
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit, view
from clew.kernel.services import serves
from clew.storage.paging import every_member
from clew.storage.protocol import Place, Shard
from clew.text.deontic import hints_at_guidance, read
from clew.text.own_text import without_own

MAX_LISTED = 10_000
_READ_CHARS = 20_000

BOOST_SIMILARITY = 0.48
"""How near a turn that only hints at guidance must be to a typical piece of it. Of 91 turns of everyday chat that hint
at it, none is as near."""

PROTOTYPES = (
    "Please keep answers short and to the point.",
    "I prefer tabs over spaces in this project.",
    "From now on use the staging database for tests.",
    "Stick to the existing code style and avoid new dependencies.",
    "Let's prioritise correctness over speed here.",
    "Remember to run the tests before committing.",
    "We agreed to keep the public interface stable.",
    "Going forward, write commit messages in English.",
    "We should probably keep this component simple.",
    "Use the agreed approach for this kind of change.",
)
"""Typical guidance without a word of duty in it."""


@serves(ListGuidance)
def list_guidance(parts: Parts, request: ListGuidance) -> GuidanceList:
    limit = checked_limit(request.limit, MAX_LISTED)
    names = collections(request.user_id, request.session_id)
    if not names:
        raise InvalidInput("name a user, a session, or both")
    found = [record for name in names for record in parts.store.page(name, 0, limit) if may_guide(record)][:limit]
    return GuidanceList(items=tuple(GuidanceItem(record=view(record), cues=_cues(record.text)) for record in found))


def collections(user_id: str | None, session_id: str | None) -> list[Collection]:
    """Where the guidance that holds for a user in a session is kept."""
    names = [] if user_id is None else [Collection.guidance(user_id)]
    return names if session_id is None else [*names, Collection.guidance(None, session_id)]


class Guide:
    """Finds, during one compaction, the turns that must survive word for word.

    A bare imperative alone is not enough: "run the tests" asks for one thing, once. And a turn that is at
    odds with itself is kept all the same, because a doubtful rule must not be lost.
    """

    def __init__(self, parts: Parts, session_id: str) -> None:
        self._parts = parts
        self._session_id = session_id
        self._known: dict[str, set[str]] = {}

    def shards(self, turns: Sequence[Record]) -> list[Shard]:
        """The turns of the active view among these that guide, and where each is kept; repeats count once."""
        found: list[Shard] = []
        for turn in turns:
            if self._guides(turn):
                place = self._place(turn.id)
                known = self._known_in(place.collection)
                if turn.text not in known:
                    known.add(turn.text)
                    found.append(Shard(turn.id, place))
        return found

    def _known_in(self, collection: str) -> set[str]:
        """The texts kept there already."""
        if collection not in self._known:
            kept = filter(may_guide, every_member(self._parts.store, collection))
            self._known[collection] = {record.text for record in kept}
        return self._known[collection]

    def _guides(self, turn: Record) -> bool:
        lasting = turn.stability >= self._parts.config.guidance_min_stability
        if not lasting or not _is_said_by_user(turn) or not may_guide(turn):
            return False
        text = _readable(without_own(turn.text))
        return any(norm.explicit for norm in read(text).norms) or (hints_at_guidance(text) and self._is_guidance(turn))

    def _is_guidance(self, turn: Record) -> bool:
        """Whether a turn that only hints at guidance means it. Without vectors, none does."""
        calibration = self._parts.meaning.calibration
        if calibration is None or self._prototypes is None:
            return False
        with self._parts.indexes.current(turn.collection) as index:
            own = index.vectors_at([turn.seq])
        return own is not None and float(similarities(self._prototypes, own[0], calibration).max()) >= BOOST_SIMILARITY

    @cached_property
    def _prototypes(self) -> Grid | None:
        try:
            return self._parts.meaning.grid_of_passages(PROTOTYPES)
        except EmbedderFailed:
            return None

    def _place(self, turn_id: str) -> Place:
        """With the user whose turn it is, where one is known."""
        places = self._parts.store.places(Collection.raw(self._session_id), turn_id)
        owner = next((place for place in places if place.collection.kind is CollectionKind.TURNS), None)
        if owner is not None:
            return Place(Collection.guidance(owner.collection.owner), owner.id)
        return Place(Collection.guidance(None, self._session_id), turn_name(self._session_id, turn_id))


def may_guide(turn: Record) -> bool:
    """Whether a turn may guide: not if it is held back, or came from a tool or from outside."""
    return turn.trust in (Trust.TRUSTED, Trust.UNKNOWN)


def _is_said_by_user(turn: Record) -> bool:
    """Some hosts send tool results in the user's name."""
    return turn.provenance is Provenance.USER_TURN and turn.role is Role.USER and "toolCallId" not in turn.metadata


def _readable(text: str) -> str:
    """A turn longer than this is a paste; its sender's wishes come before or after it."""
    half = _READ_CHARS // 2
    return text if len(text) <= _READ_CHARS else f"{text[:half]}\n{text[-half:]}"


def _cues(text: str) -> tuple[str, ...]:
    text = _readable(without_own(text))
    return tuple(dict.fromkeys(text[norm.start : norm.end] for norm in read(text).norms))
