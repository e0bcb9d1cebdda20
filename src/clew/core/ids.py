"""Ids: which values are valid, how Clew makes ids from content, and how it names a turn among those of all sessions."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable

from clew.errors import InvalidInput

MAX_ID_LENGTH = 512
MAX_NAME_LENGTH = 4 * MAX_ID_LENGTH + 64
"""Of a turn's name among all turns of its user: its session, its id with every character escaped, and a number."""
ID_BYTES = 10
"""Length of an id that Clew makes: short, since prompts quote ids; 80 bits tell the turns of any session apart."""


def checked_id(value: str, what: str, most: int = MAX_ID_LENGTH) -> str:
    """Returns the value if it can be an id: not empty, bounded, printable. Raises InvalidInput."""
    if not value or len(value) > most:
        raise InvalidInput(f"{what} must have 1 to {most} characters, not {len(value)}")
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in value):
        raise InvalidInput(f"{what} must not hold control characters")
    return value


def turn_name(session_id: str, id_: str) -> str:
    """A turn's id among all turns of its user, where ids of several sessions meet.

    It escapes slashes in the id, so the last slash of a name ends the session: no two turns share a name.
    """
    return f"{session_id}/{id_.replace('%', '%25').replace('/', '%2F')}"


LEDGER_ORIGIN = "ledger\n"
"""Tells the names of events apart from those of turns, where both meet."""


def session_of(name: str) -> str:
    """The session of a turn, by its name among all turns of its user."""
    return name.rpartition("/")[0]


def id_of(name: str) -> str:
    """The id of a turn in its session, by its name among all turns of its user."""
    return name.rpartition("/")[2].replace("%2F", "/").replace("%25", "%")


def turn_id(session_id: str, role: str, ts_ms: int, text: str, occurrence: int = 0) -> str:
    """An id made from the content of the turn, so that delivering it again gives the same id.

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
    """Hashes each part with its length, so that the same letters split differently give another hash."""
    hasher = hashlib.blake2b(digest_size=size_bytes)
    for part in parts:
        data = part.encode("utf-8")
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.digest()
