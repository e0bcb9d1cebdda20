"""What is true now of what records say: whether a fact holds, and what holds instead of what was said once."""

from __future__ import annotations

from dataclasses import dataclass

from clew.core import identity
from clew.core.model import Record, Trust
from clew.features.claims.rules import Lapse
from clew.features.facts.replay import Fact
from clew.features.facts.staleness import standings
from clew.features.facts.views import known_facts
from clew.kernel.parts import Parts
from clew.kernel.search import turn_ref

_RELIED_ON = (Trust.TRUSTED, Trust.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Held:
    """A fact that holds, and whose it is."""

    fact: Fact
    owner: str | None

    @property
    def ref(self) -> str:
        return f"{identity.facts_of(self.owner)}/{self.fact.id}"


def owners_of(user_id: str | None) -> tuple[str | None, ...]:
    """Whose facts and plans a request may see: its user's, and those of all."""
    return (None,) if user_id is None else (user_id, None)


class Truth:
    """The facts a request may see, as they stand at its moment."""

    def __init__(self, parts: Parts, user_id: str | None, now_ms: int) -> None:
        self._parts = parts
        self._now_ms = now_ms
        self._views = {owner: known_facts(parts, owner) for owner in owners_of(user_id)}
        self._telling = {owner: view for owner, view in self._views.items() if not view.is_empty}

    def fact_in(self, record: Record) -> tuple[Fact | None, Lapse | None, Held | None]:
        """The fact that a record of a log is part of, why it does not hold, and what holds instead.

        What is no fact by itself, as what takes one back, never holds.
        """
        owner = next((owner for owner in self._views if identity.facts_of(owner) == record.collection), None)
        fact = self._views[owner].get(record.id)
        if fact is None:
            return None, Lapse.ENDED, None
        if fact.is_current(self._now_ms):
            return fact, None if self._is_sound(fact) else Lapse.STALE, None
        instead = self._instead_of(owner, fact)
        return fact, Lapse.ENDED if instead is None else Lapse.SUPERSEDED, instead

    def overtaken(self, record: Record) -> tuple[bool, Held | None]:
        """Whether a fact was read from a record and holds no longer, and what holds in its place."""
        refs = _cited_as(record) if self._telling else ()
        for owner, view in self._telling.items():
            over = [fact for ref in refs for fact in view.citing(ref) if not fact.is_current(self._now_ms)]
            instead = next((held for fact in over if (held := self._instead_of(owner, fact)) is not None), None)
            if instead is not None and not set(refs) & set(instead.fact.sources):
                return True, instead
            if instead is None and any(fact.invalidated for fact in over):
                return True, None
        return False, None

    def _instead_of(self, owner: str | None, fact: Fact) -> Held | None:
        """What holds now in the place of a fact; None where nothing does, or nothing that may be gone by."""
        view, passed = self._views[owner], {fact.id}
        after = view.successor(fact)
        while after is not None and after.id not in passed and not after.is_current(self._now_ms):
            passed.add(after.id)
            after = view.successor(after)
        if after is None or after.id in passed:
            return None
        return Held(after, owner) if self._is_sound(after) else None

    def _is_sound(self, fact: Fact) -> bool:
        standing = standings(self._parts, [fact])[fact.id]
        return not standing.reasons and standing.trust in _RELIED_ON


def _cited_as(record: Record) -> tuple[str, ...]:
    """The references by which a fact may cite a record, or the turn that it was kept from."""
    own = record.ref.removeprefix(identity.archive_of(""))
    turn = turn_ref(record)
    return (own,) if turn is None else (own, turn)
