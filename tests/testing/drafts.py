"""Drafts for tests of the store, made the way the services make them."""

from __future__ import annotations

from typing import Any

from clew.core.collections import Collection
from clew.core.model import Draft, Provenance, Role, Trust
from clew.core.ports import EmbedderIdentity
from clew.storage.protocol import NewRecord, NewTurn, Place, Task
from clew.text.terms import analyse, lexical_text, pack

MODEL = EmbedderIdentity("test", 4, True, "w1")
OTHER_MODEL = EmbedderIdentity("test", 4, True, "w2")
VECTOR = b"\x01\x00\x02\x00\x03\x00\x04\x00"


def draft(text: str, *, ts_ms: int = 1_700_000_000_000, role: Role | None = Role.USER, **metadata: Any) -> Draft:
    return Draft(
        text=text,
        ts_ms=ts_ms,
        role=role,
        provenance=Provenance.USER_TURN,
        trust=Trust.UNKNOWN,
        stability=0.5,
        tokens=len(text) // 4 + 1,
        terms=pack(analyse(lexical_text(text, None, ts_ms))),
        metadata=metadata,
    )


def turn(
    text: str,
    *,
    id: str,
    session: str = "s",
    user: str | None = None,
    tasks: tuple[Task, ...] = (),
    role: Role = Role.USER,
) -> NewTurn:
    places = [Place(Collection(f"session_raw:{session}"), id), Place(Collection(f"session:{session}"), id)]
    if user is not None:
        places.append(Place(Collection(f"turns:{user}"), f"{session}/{id}"))
    return NewTurn(draft(text, role=role), tuple(places), tasks)


def record(
    text: str, *, id: str, collection: str = "user:u", tasks: tuple[Task, ...] = (), **metadata: Any
) -> NewRecord:
    return NewRecord(draft(text, role=None, **metadata), Place(Collection(collection), id), tasks)
