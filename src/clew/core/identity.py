"""Old names of `clew.core.collections` and `clew.core.ids`."""

from __future__ import annotations

from clew.core.collections import (
    GLOBAL,
    HARD,
    LORE,
    SOFT,
    Collection,
    Scope,
    readings_of,
)
from clew.core.ids import (
    ID_BYTES,
    LEDGER_ORIGIN,
    MAX_ID_LENGTH,
    checked_id,
    digest,
    id_of,
    memory_id,
    session_of,
    summary_id,
    turn_id,
    turn_name,
)

session = Collection.session
session_raw = Collection.raw
session_summary = Collection.summaries
dismissed = Collection.dismissed
guidance_of_user = Collection.guidance
ledger_of_user = Collection.ledger
facts_of = Collection.facts
plans_of = Collection.plans
aliases_of = Collection.aliases
observations_of = Collection.observations
replies_to = Collection.replies
owned_by = Collection.owned
turns_of = Collection.turns
memories_of = Collection.memories
checked_collection = Collection.named


def guidance_of_session(session_id: str) -> Collection:
    return Collection.guidance(None, session_id)


def ledger_of_session(session_id: str) -> Collection:
    return Collection.ledger(None, session_id)


def user_of_facts(collection: str) -> str | None:
    return Collection(collection).user_id


def archive_of(collection: str) -> Collection:
    return Collection(collection).archive


def kind_of(collection: str) -> str:
    return collection.partition(":")[0]


def scope_of(collection: str) -> Scope:
    return Collection(collection).scope


def owner_of(collection: str) -> str:
    return collection.partition(":")[2]


def is_raw(collection: str) -> bool:
    return Collection(collection).is_raw


def holds_summaries(collection: str) -> bool:
    return Collection(collection).holds_summaries


def holds_turns(collection: str) -> bool:
    return Collection(collection).holds_turns


def spans_sessions(collection: str) -> bool:
    return Collection(collection).spans_sessions


def is_derived(collection: str) -> bool:
    return Collection(collection).is_derived


def is_internal(collection: str) -> bool:
    return Collection(collection).is_internal


__all__ = [
    "GLOBAL",
    "HARD",
    "ID_BYTES",
    "LEDGER_ORIGIN",
    "LORE",
    "MAX_ID_LENGTH",
    "SOFT",
    "Collection",
    "Scope",
    "aliases_of",
    "archive_of",
    "checked_collection",
    "checked_id",
    "digest",
    "dismissed",
    "facts_of",
    "guidance_of_session",
    "guidance_of_user",
    "holds_summaries",
    "holds_turns",
    "id_of",
    "is_derived",
    "is_internal",
    "is_raw",
    "kind_of",
    "ledger_of_session",
    "ledger_of_user",
    "memories_of",
    "memory_id",
    "observations_of",
    "owned_by",
    "owner_of",
    "plans_of",
    "readings_of",
    "replies_to",
    "scope_of",
    "session",
    "session_of",
    "session_raw",
    "session_summary",
    "spans_sessions",
    "summary_id",
    "turn_id",
    "turn_name",
    "turns_of",
    "user_of_facts",
]
