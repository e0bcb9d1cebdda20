"""The words of the system as types: roles, provenance, trust, drafts and stored records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from clew.core.collections import Collection
from clew.errors import InvalidInput

Metadata = Mapping[str, Any]
"""Free JSON given by a client. Returned as it came; Clew never takes authority from it."""


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"


_ROLE_ALIASES = {role.value: role for role in Role} | {
    "tool": Role.TOOL_RESULT,
    "toolresult": Role.TOOL_RESULT,
    "function": Role.TOOL_RESULT,
    "toolcall": Role.TOOL_CALL,
    "tool_use": Role.TOOL_CALL,
    "developer": Role.SYSTEM,
}
"""The hosts' names of the same five roles."""


def role_of(name: str) -> Role:
    role = _ROLE_ALIASES.get(name.lower())
    if role is None:
        raise InvalidInput(f"unknown role; it must be one of {', '.join(Role)}")
    return role


class Provenance(StrEnum):
    """Where a text came from. Decides trust and authority; wording never does."""

    AUTHORED = "authored"
    USER_TURN = "user_turn"
    ASSISTANT_TURN = "assistant_turn"
    SYSTEM_TURN = "system_turn"
    TOOL_OUTPUT = "tool_output"
    WEB = "web"
    """Text from an address outside, whoever brought it in."""
    MEMORY = "memory"
    MODEL = "model"
    """A statement that a model keeps by itself, see `clew.kernel.echoes`."""
    SUMMARY = "summary"
    NOTE = "note"


class Kind(StrEnum):
    """The kind of statement a record makes, see `clew.text.grading.kinds`."""

    FACT = "fact"
    PREFERENCE = "preference"
    DECISION = "decision"
    TASK = "task"
    PLAN = "plan"
    """Future intent with its trigger; never shown as a fact."""
    OBSERVATION = "observation"
    EVENT = "event"
    NOTE = "note"


def kind_named(name: str) -> Kind:
    try:
        return Kind(name)
    except ValueError:
        raise InvalidInput(f"kind must be one of {', '.join(Kind)}") from None


class Trust(StrEnum):
    TRUSTED = "trusted"
    UNKNOWN = "unknown"
    UNTRUSTED = "untrusted"
    QUARANTINED = "quarantined"


_BY_TRUST = (Trust.TRUSTED, Trust.UNKNOWN, Trust.UNTRUSTED, Trust.QUARANTINED)


def least(trusts: Iterable[Trust]) -> Trust:
    """The trust of a record made from several texts: the least trust of any of them."""
    return max(trusts, key=_BY_TRUST.index, default=Trust.UNKNOWN)


def may_enter(trust: Trust, *, asked_for: bool = False) -> bool:
    """Whether a text may enter a prompt: one rule for packs, contexts, hooks and MCP.

    Text of tools and from outside enters where it is asked for; what is quarantined never does. A session has asked for
    what its own tools gave: its model has seen it already.
    """
    return trust is not Trust.QUARANTINED and (asked_for or trust is not Trust.UNTRUSTED)


PROVENANCE_OF_ROLE: Mapping[Role, Provenance] = {
    Role.USER: Provenance.USER_TURN,
    Role.ASSISTANT: Provenance.ASSISTANT_TURN,
    Role.SYSTEM: Provenance.SYSTEM_TURN,
    Role.TOOL_CALL: Provenance.ASSISTANT_TURN,
    Role.TOOL_RESULT: Provenance.TOOL_OUTPUT,
}

TRUST_OF_PROVENANCE: Mapping[Provenance, Trust] = {
    Provenance.AUTHORED: Trust.TRUSTED,
    Provenance.USER_TURN: Trust.UNKNOWN,
    Provenance.ASSISTANT_TURN: Trust.UNKNOWN,
    Provenance.SYSTEM_TURN: Trust.UNKNOWN,
    Provenance.TOOL_OUTPUT: Trust.UNTRUSTED,
    Provenance.WEB: Trust.UNTRUSTED,
    Provenance.MEMORY: Trust.UNKNOWN,
    Provenance.MODEL: Trust.UNTRUSTED,
    Provenance.SUMMARY: Trust.UNKNOWN,
    Provenance.NOTE: Trust.UNKNOWN,
}

STABILITY_OF_PROVENANCE: Mapping[Provenance, float] = {
    Provenance.AUTHORED: 1.0,
    Provenance.USER_TURN: 0.5,
    Provenance.ASSISTANT_TURN: 0.3,
    Provenance.SYSTEM_TURN: 0.3,
    Provenance.TOOL_OUTPUT: 0.1,
    Provenance.WEB: 0.1,
    Provenance.MEMORY: 0.5,
    Provenance.MODEL: 0.3,
    Provenance.SUMMARY: 0.3,
    Provenance.NOTE: 0.8,
}
"""How lasting a text is taken to be before anything is known of it. Only authored text is 1.0."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A text ready to be stored: everything but the place it goes to."""

    text: str
    ts_ms: int
    role: Role | None
    provenance: Provenance
    trust: Trust
    stability: float
    tokens: int
    terms: bytes
    """The packed search terms of this text, see `clew.text.terms`."""
    metadata: Metadata = field(default_factory=dict)
    marks: Metadata = field(default_factory=dict)
    """Judgements on it beside its text, see `clew.core.marks`."""


class Record(Struct, frozen=True):
    """A stored text as one collection sees it. Hundreds are read for a context, for which a dataclass is too slow."""

    collection: Collection
    id: str
    text: str
    ts_ms: int
    role: Role | None
    provenance: Provenance
    trust: Trust
    stability: float
    tokens: int
    metadata: Metadata
    seq: int
    """Place in the collection's own order. Grows with every write; never reused."""
    version: int
    access_count: int
    last_used_ms: int | None
    marks: Metadata = msgspec.field(default_factory=dict)

    @property
    def ref(self) -> str:
        """How it is cited: its collection and its id there."""
        return self.collection.ref(self.id)
