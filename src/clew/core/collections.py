"""Collections hold records. Each has a kind and an owner, and its name says both.

The name is the only key a search is given, so no query can reach across users or sessions by mistake. Names are
compared whole, never by prefix.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple, Self

from clew.core.ids import MAX_ID_LENGTH, checked_id
from clew.errors import InvalidInput


class Scope(StrEnum):
    """How near a collection is to the running conversation."""

    SESSION = "session"
    USER = "user"
    GLOBAL = "global"


class CollectionKind(StrEnum):
    """What a collection holds. The value is the first part of its name."""

    SESSION = "session"
    RAW = "session_raw"
    SUMMARIES = "session_summary"
    DISMISSED = "_dismissed"
    OBSERVATIONS = "observations"
    TURNS = "turns"
    REPLIES = "replies"
    OWNED = "_owned"
    MEMORIES = "user"
    GUIDANCE = "elevated"
    LEDGER = "ledger"
    FACTS = "facts"
    PLANS = "plans"
    ALIASES = "_aliases"
    GLOBAL = "global"
    AUTHORED = "authored"
    CATALOGUE = "_authored"
    ARCHIVE = "archive"
    OTHER = ""
    """Any other collection, which a program names itself."""


_OF_SESSION = frozenset(
    {
        CollectionKind.SESSION,
        CollectionKind.RAW,
        CollectionKind.SUMMARIES,
        CollectionKind.DISMISSED,
        CollectionKind.OBSERVATIONS,
    }
)
_OF_USER = frozenset({CollectionKind.TURNS, CollectionKind.REPLIES, CollectionKind.OWNED, CollectionKind.MEMORIES})
_OF_EITHER = frozenset(
    {
        CollectionKind.GUIDANCE,
        CollectionKind.LEDGER,
        CollectionKind.FACTS,
        CollectionKind.PLANS,
        CollectionKind.ALIASES,
    }
)
"""Their names say whether a user or a session owns them: `ledger:session:s1`."""
_WITHOUT_OWNER = frozenset({CollectionKind.FACTS, CollectionKind.PLANS, CollectionKind.ALIASES})
"""Of these, some may be for everybody: `facts:global`."""
_SHARED = frozenset({CollectionKind.GLOBAL, CollectionKind.AUTHORED})
_DERIVED = frozenset(
    {
        CollectionKind.SUMMARIES,
        CollectionKind.AUTHORED,
        CollectionKind.GUIDANCE,
        CollectionKind.LEDGER,
        CollectionKind.ARCHIVE,
        CollectionKind.FACTS,
        CollectionKind.PLANS,
        CollectionKind.OBSERVATIONS,
        CollectionKind.REPLIES,
    }
)
_SCOPES = (
    dict.fromkeys(
        (CollectionKind.SESSION, CollectionKind.RAW, CollectionKind.SUMMARIES, CollectionKind.OBSERVATIONS),
        Scope.SESSION,
    )
    | dict.fromkeys((CollectionKind.TURNS, CollectionKind.REPLIES, CollectionKind.MEMORIES), Scope.USER)
    | dict.fromkeys((CollectionKind.GUIDANCE, CollectionKind.LEDGER, CollectionKind.ARCHIVE), Scope.USER)
    | dict.fromkeys((CollectionKind.FACTS, CollectionKind.PLANS), Scope.USER)
)
_TURNS = frozenset({CollectionKind.SESSION, CollectionKind.RAW, CollectionKind.TURNS, CollectionKind.REPLIES})
_NAMED_BY_OWNER = frozenset(
    {
        CollectionKind.TURNS,
        CollectionKind.REPLIES,
        CollectionKind.RAW,
        CollectionKind.SUMMARIES,
        CollectionKind.GUIDANCE,
        CollectionKind.LEDGER,
    }
)
"""Kinds of collection that settings name by the user or session they belong to."""
_ARCHIVE: Final = "archive:"
_LONGEST_NAME = MAX_ID_LENGTH + 64
"""Names have a prefix before the longest id."""


class _Parts(NamedTuple):
    """The parts of a name."""

    kind: CollectionKind
    user_id: str | None = None
    session_id: str | None = None
    is_shared: bool = False


class Collection(str):
    """The name of a collection, which knows its kind and its owner.

    It is a string, so the store and the wire take it as it is. Nothing else takes the name apart.
    """

    __slots__ = ()

    # --- whose it is and what it holds -----------------------------------------------------------------

    @property
    def kind(self) -> CollectionKind:
        return _parts(self).kind

    @property
    def user_id(self) -> str | None:
        """The user who owns it; None where a session does, or nobody."""
        return _parts(self).user_id

    @property
    def session_id(self) -> str | None:
        """The session that owns it; None where a user does, or nobody."""
        return _parts(self).session_id

    @property
    def owner(self) -> str:
        """The id of the user or session that owns it; empty where nobody does."""
        return self.user_id or self.session_id or ""

    @property
    def is_shared(self) -> bool:
        """Whether it is for everybody: `global`, what the operator wrote, facts and plans of no user."""
        return _parts(self).is_shared

    @property
    def scope(self) -> Scope:
        return _SCOPES.get(self.kind, Scope.GLOBAL)

    @property
    def setting_names(self) -> tuple[str, str]:
        """How settings may name it: by its name, or by its user or session, as `user:ann` or `session:s1`."""
        home = self.home
        if home.kind not in _NAMED_BY_OWNER:
            return self, home
        if home.user_id is not None:
            return self, f"{CollectionKind.MEMORIES}:{home.user_id}"
        return self, home if home.session_id is None else f"{CollectionKind.SESSION}:{home.session_id}"

    @property
    def is_raw(self) -> bool:
        return self.kind is CollectionKind.RAW

    @property
    def is_internal(self) -> bool:
        """Whether it is a list of Clew's own, which no search looks into."""
        return self.startswith("_")

    @property
    def is_derived(self) -> bool:
        """Whether Clew alone writes it: from turns, or from the operator's files."""
        return self.kind in _DERIVED or self.is_internal

    @property
    def holds_summaries(self) -> bool:
        return self.kind in (CollectionKind.SESSION, CollectionKind.SUMMARIES)

    @property
    def holds_turns(self) -> bool:
        """Whether its members are turns, in the order in which they were said."""
        return self.kind in _TURNS

    @property
    def spans_sessions(self) -> bool:
        """Whether its members are turns of several sessions, each under its name among them."""
        return self.kind in (CollectionKind.TURNS, CollectionKind.REPLIES)

    # --- the archive -----------------------------------------------------------------------------------

    @property
    def archive(self) -> Collection:
        """The collection that keeps its unused records, out of ordinary recall, until somebody revives them."""
        return Collection(f"{_ARCHIVE}{self}")

    @property
    def home(self) -> Collection:
        """The collection that an archive belongs to; of any other, itself."""
        return Collection(self.removeprefix(_ARCHIVE))

    @property
    def is_archive(self) -> bool:
        return self.startswith(_ARCHIVE)

    def ref(self, id_: str) -> str:
        """How a record in it is cited."""
        return f"{self}/{id_}"

    # --- by owner --------------------------------------------------------------------------------------

    @classmethod
    def named(cls, name: str) -> Self:
        """The collection that a caller names. Raises InvalidInput where that can name none."""
        return cls(checked_id(name, "collection", _LONGEST_NAME))

    @classmethod
    def session(cls, session_id: str) -> Self:
        """The active view of a session."""
        return cls._of_session(CollectionKind.SESSION, session_id)

    @classmethod
    def raw(cls, session_id: str) -> Self:
        """Every turn of a session, for good."""
        return cls._of_session(CollectionKind.RAW, session_id)

    @classmethod
    def summaries(cls, session_id: str) -> Self:
        """All summaries of a session, also those that higher ones cover."""
        return cls._of_session(CollectionKind.SUMMARIES, session_id)

    @classmethod
    def dismissed(cls, session_id: str) -> Self:
        """Turns that somebody took out of a session's active view."""
        return cls._of_session(CollectionKind.DISMISSED, session_id)

    @classmethod
    def observations(cls, session_id: str) -> Self:
        """The dated log of what happened in a session."""
        return cls._of_session(CollectionKind.OBSERVATIONS, session_id)

    @classmethod
    def turns(cls, user_id: str) -> Self:
        """The turns of a user, over all sessions."""
        return cls._of_user(CollectionKind.TURNS, user_id)

    @classmethod
    def replies(cls, user_id: str) -> Self:
        """The replies of assistants to a user, over all sessions."""
        return cls._of_user(CollectionKind.REPLIES, user_id)

    @classmethod
    def owned(cls, user_id: str) -> Self:
        """Turns taken in for a user that neither the user nor an assistant said: calls of tools and their results."""
        return cls._of_user(CollectionKind.OWNED, user_id)

    @classmethod
    def memories(cls, user_id: str) -> Self:
        """The memories kept about a user for good."""
        return cls._of_user(CollectionKind.MEMORIES, user_id)

    @classmethod
    def guidance(cls, user_id: str | None, session_id: str | None = None) -> Self:
        """Turns of a user that are kept word for word because they guide; of a session where no user is known."""
        return cls._of_either(CollectionKind.GUIDANCE, user_id, session_id)

    @classmethod
    def ledger(cls, user_id: str | None, session_id: str | None = None) -> Self:
        """The actions of agents for a user, or in a session: outcomes of tools, events, decisions."""
        return cls._of_either(CollectionKind.LEDGER, user_id, session_id)

    @classmethod
    def facts(cls, user_id: str | None) -> Self:
        """The facts that hold, and held, for a user; without one, for everybody."""
        return cls._of_either(CollectionKind.FACTS, user_id)

    @classmethod
    def plans(cls, user_id: str | None) -> Self:
        """The plans of a user; without one, those for everybody."""
        return cls._of_either(CollectionKind.PLANS, user_id)

    @classmethod
    def aliases(cls, user_id: str | None) -> Self:
        """Which names of the graph mean the same, by the operator's word: for a user; without one, for everybody."""
        return cls._of_either(CollectionKind.ALIASES, user_id)

    @classmethod
    def _of_session(cls, kind: CollectionKind, session_id: str) -> Self:
        return cls(f"{kind}:{checked_id(session_id, 'sessionId')}")

    @classmethod
    def _of_user(cls, kind: CollectionKind, user_id: str) -> Self:
        return cls(f"{kind}:{checked_id(user_id, 'userId')}")

    @classmethod
    def _of_either(cls, kind: CollectionKind, user_id: str | None, session_id: str | None = None) -> Self:
        if user_id is not None:
            return cls(f"{kind}:user:{checked_id(user_id, 'userId')}")
        if session_id is not None:
            return cls(f"{kind}:session:{checked_id(session_id, 'sessionId')}")
        return cls(f"{kind}:{CollectionKind.GLOBAL}")


GLOBAL: Final = Collection("global")
HARD: Final = Collection("authored:hard")
SOFT: Final = Collection("authored:soft")
LORE: Final = Collection("authored:variant")
"""The operator's texts: always in the context; as far as they fit; where they are relevant."""
CATALOGUE: Final = Collection("_authored")
"""Which of the operator's files are known."""


def _parts(name: str) -> _Parts:
    """Remembers the names that can exist; a longer one would only fill the memory."""
    return _read(name) if len(name) <= _LONGEST_NAME else _read.__wrapped__(name)


@lru_cache(maxsize=8192)
def _read(name: str) -> _Parts:
    start = 0
    while name.startswith(_ARCHIVE, start):
        start += len(_ARCHIVE)
    is_archive, name = start > 0, name[start:]
    first, colon, rest = name.partition(":")
    kind = CollectionKind(first) if first in set(CollectionKind) else CollectionKind.OTHER
    is_own = kind is CollectionKind.GLOBAL and colon != ""  # `global:x` is a program's own, and not everybody's
    parts = _Parts(kind, is_shared=kind in _SHARED and not is_own)
    if kind in _OF_SESSION:
        parts = _Parts(kind, session_id=rest or None)
    elif kind in _OF_USER:
        parts = _Parts(kind, user_id=rest or None)
    elif kind in _OF_EITHER:
        parts = _owned_parts(kind, rest)
    return parts._replace(kind=CollectionKind.ARCHIVE) if is_archive else parts


def _owned_parts(kind: CollectionKind, owner: str) -> _Parts:
    of, _, id_ = owner.partition(":")
    return _Parts(
        kind,
        user_id=id_ or None if of == "user" else None,
        session_id=id_ or None if of == "session" else None,
        is_shared=kind in _WITHOUT_OWNER and owner == CollectionKind.GLOBAL,
    )


def readings_of(ref: str) -> list[tuple[Collection, str]]:
    """The collections and ids a reference can mean: both may hold a slash themselves."""
    places = [place for place, char in enumerate(ref) if char == "/" and 0 < place < len(ref) - 1]
    if not places:
        raise InvalidInput(f"{ref[:80]!r} is no reference; one has the form COLLECTION/ID")
    return [(Collection(ref[:place]), ref[place + 1 :]) for place in places]
