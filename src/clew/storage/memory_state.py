"""What the reference store holds: plain objects that can be copied as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field

from clew.domain.model import Draft
from clew.domain.terms import ANALYSER_VERSION
from clew.ports import EmbedderIdentity
from clew.storage.protocol import Hint, Place, Task


@dataclass
class Text:
    draft: Draft
    raw: bool
    places: set[Place] = field(default_factory=set)
    vectors: dict[EmbedderIdentity, bytes] = field(default_factory=dict)
    access_count: int = 0
    last_used_ms: int | None = None


@dataclass
class Member:
    seq: int
    text: int
    version: int


@dataclass
class Collection:
    last_seq: int = 0
    members: dict[str, Member] = field(default_factory=dict)
    removed: list[tuple[int, int]] = field(default_factory=list)
    vectors: list[tuple[int, int]] = field(default_factory=list)
    reset_at: int = 0

    def next_seq(self) -> int:
        self.last_seq += 1
        return self.last_seq

    def in_order(self) -> list[tuple[str, Member]]:
        return sorted(self.members.items(), key=lambda item: item[1].seq)


@dataclass
class State:
    texts: dict[int, Text] = field(default_factory=dict)
    collections: dict[str, Collection] = field(default_factory=dict)
    queue: dict[int, tuple[int, Task]] = field(default_factory=dict)
    hints: list[Hint] = field(default_factory=list)
    model: EmbedderIdentity | None = None
    analyser: int = ANALYSER_VERSION
    last_text: int = 0
    last_task: int = 0
    last_hint: int = 0


def same_content(one: Draft, other: Draft) -> bool:
    """Whether writing one over the other would change anything."""
    return (one.role, one.text, dict(one.metadata)) == (other.role, other.text, dict(other.metadata))
