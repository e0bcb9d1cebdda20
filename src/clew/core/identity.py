"""Names and ids: which collections exist, whose they are, and how an id is made from content.

A collection's scope is part of its name, and the name is the only key a search is given, so no
query can reach across users or sessions by mistake. Names are compared whole, never by prefix.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from enum import StrEnum

from clew.core.model import Role
from clew.errors import InvalidInput

MAX_ID_LENGTH = 512
ID_BYTES = 10
"""Of an id Clew makes: short, since ids are quoted in prompts; 80 bits tell any session's turns apart."""

GLOBAL = "global"
HARD = "authored:hard"
SOFT = "authored:soft"
LORE = "authored:variant"
"""What the operator wrote: always in the context, as far as it fits, when it is relevant."""


class Scope(StrEnum):
    """How near a collection is to the running conversation."""

    SESSION = "session"
    USER = "user"
    GLOBAL = "global"


_SCOPE_OF_KIND = {
    "session": Scope.SESSION,
    "session_raw": Scope.SESSION,
    "session_summary": Scope.SESSION,
    "elevated": Scope.USER,
    "turns": Scope.USER,
    "replies": Scope.USER,
    "user": Scope.USER,
    "ledger": Scope.USER,
    "archive": Scope.USER,
    "facts": Scope.USER,
    "plans": Scope.USER,
    "observations": Scope.SESSION,
}


_DERIVED = frozenset(
    {"session_summary", "authored", "elevated", "ledger", "archive", "facts", "plans", "observations", "replies"}
)


def session(session_id: str) -> str:
    """The active view of a session."""
    return f"session:{checked_id(session_id, 'sessionId')}"


def session_raw(session_id: str) -> str:
    """Every turn of a session, for good."""
    return f"session_raw:{checked_id(session_id, 'sessionId')}"


def session_summary(session_id: str) -> str:
    """The summaries of a session, those that higher ones stand for included."""
    return f"session_summary:{checked_id(session_id, 'sessionId')}"


def dismissed(session_id: str) -> str:
    """Turns that were taken out of a session's active view by hand."""
    return f"_dismissed:{checked_id(session_id, 'sessionId')}"


def guidance_of_user(user_id: str) -> str:
    """Turns of a user that are kept word for word because they guide."""
    return f"elevated:user:{checked_id(user_id, 'userId')}"


def guidance_of_session(session_id: str) -> str:
    """The same for a session whose user is not known."""
    return f"elevated:session:{checked_id(session_id, 'sessionId')}"


def ledger_of_user(user_id: str) -> str:
    """What was captured of a user's agents at work: outcomes of tools, events, decisions."""
    return f"ledger:user:{checked_id(user_id, 'userId')}"


def ledger_of_session(session_id: str) -> str:
    """What was captured in a session."""
    return f"ledger:session:{checked_id(session_id, 'sessionId')}"


def facts_of(user_id: str | None) -> str:
    """What holds, and held, for a user; without one, for all."""
    return f"facts:{_whose(user_id)}"


def user_of_facts(collection: str) -> str | None:
    """Whose facts a collection holds; None for those of all."""
    owner = owner_of(collection)
    return None if owner == GLOBAL else owner.removeprefix("user:")


def plans_of(user_id: str | None) -> str:
    """What a user means to do; without one, what is planned for all."""
    return f"plans:{_whose(user_id)}"


def aliases_of(user_id: str | None) -> str:
    """Which names of the graph mean the same, by the operator's word: for a user; without one, for all."""
    return f"_aliases:{_whose(user_id)}"


def observations_of(session_id: str) -> str:
    """The dated log of what happened in a session."""
    return f"observations:{checked_id(session_id, 'sessionId')}"


def _whose(user_id: str | None) -> str:
    return GLOBAL if user_id is None else f"user:{checked_id(user_id, 'userId')}"


def archive_of(collection: str) -> str:
    """Where what is no longer used of a collection rests, out of ordinary recall, until it is revived."""
    return f"archive:{collection}"


def replies_to(user_id: str) -> str:
    """What assistants said to a user, over all sessions."""
    return f"replies:{checked_id(user_id, 'userId')}"


def owned_by(user_id: str) -> str:
    """Turns that were taken in for a user, and said neither by nor to the user: what tools were asked and gave back."""
    return f"_owned:{checked_id(user_id, 'userId')}"


def turns_of(user_id: str) -> str:
    """What a user said, over all sessions."""
    return f"turns:{checked_id(user_id, 'userId')}"


def memories_of(user_id: str) -> str:
    """What is kept about a user for good."""
    return f"user:{checked_id(user_id, 'userId')}"


def kind_of(collection: str) -> str:
    return collection.partition(":")[0]


def scope_of(collection: str) -> Scope:
    return _SCOPE_OF_KIND.get(kind_of(collection), Scope.GLOBAL)


def owner_of(collection: str) -> str:
    """Whose it is: the part of the name behind the kind."""
    return collection.partition(":")[2]


def is_raw(collection: str) -> bool:
    return kind_of(collection) == "session_raw"


def holds_summaries(collection: str) -> bool:
    return kind_of(collection) in ("session", "session_summary")


def holds_turns(collection: str) -> bool:
    """Whether its members are turns, in the order in which they were said."""
    return kind_of(collection) in ("session", "session_raw", "turns", "replies")


def spans_sessions(collection: str) -> bool:
    """Whether its members are turns of several sessions, each by its name among them."""
    return kind_of(collection) in ("turns", "replies")


def is_derived(collection: str) -> bool:
    """Whether Clew alone writes it: from turns, or from what the operator wrote."""
    return kind_of(collection) in _DERIVED or is_internal(collection)


def is_internal(collection: str) -> bool:
    return collection.startswith("_")


def readings_of(ref: str) -> list[tuple[str, str]]:
    """The collections and ids a reference can mean: both may hold a slash themselves."""
    places = [place for place, char in enumerate(ref) if char == "/" and 0 < place < len(ref) - 1]
    if not places:
        raise InvalidInput(f"{ref[:80]!r} is no reference; one has the form COLLECTION/ID")
    return [(ref[:place], ref[place + 1 :]) for place in places]


def checked_collection(name: str) -> str:
    """The name itself, if it can name a collection."""
    return checked_id(name, "collection")


def checked_id(value: str, what: str) -> str:
    """The value itself, if it can be an id: not empty, bounded, printable."""
    if not value or len(value) > MAX_ID_LENGTH:
        raise InvalidInput(f"{what} must have 1 to {MAX_ID_LENGTH} characters, not {len(value)}")
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in value):
        raise InvalidInput(f"{what} must not hold control characters")
    return value


def turn_name(session_id: str, id_: str) -> str:
    """A turn's id among all turns of its user, where ids of several sessions stand together.

    A slash in the id is written otherwise, so that the last one of a name ends the session: no two turns share a name.
    """
    return f"{session_id}/{id_.replace('%', '%25').replace('/', '%2F')}"


LEDGER_ORIGIN = "ledger\n"
"""What tells the names of events apart from those of turns, where both stand together."""


def session_of(name: str) -> str:
    """The session of a turn, by its name among all turns of its user."""
    return name.rpartition("/")[0]


def id_of(name: str) -> str:
    """The id of a turn in its session, by its name among all turns of its user."""
    return name.rpartition("/")[2].replace("%2F", "/").replace("%25", "%")


def turn_id(session_id: str, role: Role, ts_ms: int, text: str, occurrence: int = 0) -> str:
    """An id made from what the turn is, so that delivering it again gives the same id.

    `occurrence` tells apart equal turns that one batch delivers with one time.
    """
    parts = (session_id, role, str(ts_ms), text, str(occurrence))
    return f"t_{digest(*parts, size_bytes=ID_BYTES).hex()}"


def summary_id(session_id: str, source_ids: Iterable[str]) -> str:
    """The id of the summary of these nodes."""
    return f"s_{digest(session_id, *source_ids, size_bytes=ID_BYTES).hex()}"


def memory_id(source_collection: str, source_id: str) -> str:
    """The id of the memory kept from one turn: the same turn is never kept twice."""
    return f"m_{digest(source_collection, source_id, size_bytes=ID_BYTES).hex()}"


def digest(*parts: str, size_bytes: int) -> bytes:
    """A hash that tells apart what is split differently: each part counts with its length."""
    hasher = hashlib.blake2b(digest_size=size_bytes)
    for part in parts:
        data = part.encode("utf-8")
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.digest()
