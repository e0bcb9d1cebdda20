"""What a record says about entities, as the queue, the rebuild and the check all read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clew.domain import identity
from clew.domain.graph import SHARED, Extract, owner_of_record
from clew.domain.graph_extraction import RULES_VERSION, extract, extract_fact
from clew.domain.model import Draft
from clew.services.parts import Parts
from clew.storage.protocol import Finding, Place, StoredRecord

BATCH = 128
"""Records that are read for the graph in one step."""

MAX_PROBLEMS = 20
_RULES = "graph rules"
"""The bookmark that says by which rules the graph was made; where it is missing, by the first."""

_RECORDS_A_READ = 500


def said_by(draft: Draft, places: Sequence[Place]) -> tuple[str, Extract]:
    """Whose entities a record names, and what it says of them; nothing where it stands in nobody's reach."""
    owner = owner_of_record(place.collection for place in places)
    if owner is None:
        return SHARED, Extract()
    if any(identity.kind_of(place.collection) == "facts" for place in places):
        return owner, extract_fact(draft.metadata)
    return owner, extract(draft.text, draft.metadata, draft.provenance, draft.role)


def renew(parts: Parts) -> int:
    """Where the graph was made by other rules, every record waits to be read again; gives how many do."""
    if int(parts.store.bookmark(_RULES) or 1) == RULES_VERSION:
        return 0
    count = parts.store.queue_links()
    parts.store.put([], {_RULES: str(RULES_VERSION)})
    return count


def finding(parts: Parts) -> Finding:
    """The graph is what its records say; what still waits to be read is left out."""
    wrong = [f"record {key}" for key in _wrong(parts)]
    counts = parts.store.graph_counts(None)
    proof = f"{counts.entities} entities and {counts.edges} edges are what their records say"
    return Finding("graph sources", proof, tuple(wrong[:MAX_PROBLEMS]))


def repair(parts: Parts) -> None:
    """Records of which the graph says something else are read again."""
    for stored in _every(parts):
        said = said_by(stored.draft, stored.places)
        if _differs(parts.store.said([stored.key]).get(stored.key), said):
            parts.store.link([], {stored.key: said})


def _wrong(parts: Parts) -> Iterator[int]:
    """Nothing is told of a graph on which work is under way: it is about to change."""
    if parts.store.graph_counts(()).pending:
        return
    for stored in _every(parts):
        if _differs(parts.store.said([stored.key]).get(stored.key), said_by(stored.draft, stored.places)):
            yield stored.key


def _differs(held: tuple[str, Extract] | None, said: tuple[str, Extract]) -> bool:
    return said[1] != Extract() if held is None else held != said


def _every(parts: Parts) -> Iterator[StoredRecord]:
    after = 0
    while page := parts.store.export(after, _RECORDS_A_READ):
        yield from page
        after = page[-1].key
