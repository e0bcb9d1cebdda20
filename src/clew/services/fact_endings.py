"""That a value ended outlives what ended it.

Where the only evidence of a newer value is purged, nothing of that value may stay. But the one before it did end: it
must not hold again as if nothing had happened. Its end stays, without a word of what came after.
"""

from __future__ import annotations

from collections.abc import Mapping

from clew.api import FactsInvalidate
from clew.domain import identity
from clew.services.facts import invalidate
from clew.services.parts import Parts

REMOVED = "what ended it was removed"

Endings = Mapping[str | None, Mapping[str, tuple[str, int]]]
"""By owner, each fact that another one ended: which, and when."""


def endings(parts: Parts) -> Endings:
    owners = [identity.user_of_facts(name) for name, size in parts.store.collections() if size and _holds_facts(name)]
    return {
        owner: {
            fact.id: (fact.ended_by, fact.valid_to_ms)
            for _, facts in parts.facts.of(parts, owner).subjects()
            for fact in facts
            if fact.ended_by is not None and fact.valid_to_ms is not None
        }
        for owner in owners
    }


def keep(parts: Parts, before: Endings) -> int:
    """Take back, from their old ends on, the facts that would hold again because what ended them is gone."""
    count = 0
    for owner, ended in before.items():
        view = parts.facts.of(parts, owner)
        for id_, (by, end_ms) in ended.items():
            fact = view.get(id_)
            if fact is not None and view.get(by) is None and fact.valid_to_ms != end_ms:
                invalidate(parts, FactsInvalidate(fact=id_, user_id=owner, at=end_ms, reason=REMOVED))
                count += 1
    return count


def _holds_facts(collection: str) -> bool:
    """Whether it is a log of facts, by its whole name."""
    owner = identity.owner_of(collection)
    is_named = owner == identity.GLOBAL or (owner.startswith("user:") and owner != "user:")
    return identity.kind_of(collection) == "facts" and is_named
