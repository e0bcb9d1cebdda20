"""The target of a purge, and the records that go with it: the part that every store shares.

With a user go their records; a session in which they alone spoke goes whole, and so does one that loses its last
turn. With a turn go the memory kept from it and every summary its words may have entered; the nodes under that
summary that stay come back into the active view. With a record goes the one under its id in the archive. A fact or a
plan goes with the last record it rests on, and a line of the observation log with the first, whose words it may hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from clew.core.citing import sources_in
from clew.core.collections import Collection, CollectionKind, readings_of
from clew.core.ids import digest, memory_id
from clew.core.lineage import Lineage
from clew.core.marks import Mark, value_of
from clew.core.model import Metadata
from clew.core.structs import make_known


class PurgeKind(StrEnum):
    USER = "user"
    SESSION = "session"
    RECORD = "record"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a store reached when an order was given. What came later is not what the order is about."""

    records: int
    """The largest key of a record."""
    hints: int
    traces: int


@dataclass(frozen=True, slots=True)
class Purge:
    """An order to remove everything of a user, a session, a record or an outside address, for good."""

    id: str
    ts_ms: int
    kind: PurgeKind
    target: str
    """The id, the reference `collection/id` as it is at home, or the address as `plain_address` gives it."""
    also: tuple[str, ...] = ()
    """Of an address: other forms of it, as other policies of redaction keep it."""
    extent: Extent | None = None
    """Set by the store that keeps the order. What was made from purged records goes whenever it was made."""


@dataclass(frozen=True, slots=True)
class OrderedPurge:
    """A purge that has begun and is to be finished, whatever happens meanwhile."""

    purge: Purge
    beside: Metadata
    """What the caller has to know at its end, and could not find out any more."""


@dataclass(frozen=True, slots=True)
class Purged:
    """The result of a purge: counts, and the names needed to clean the files beside the store."""

    records: int = 0
    turns: int = 0
    summaries: int = 0
    memories: int = 0
    observations: int = 0
    facts: int = 0
    plans: int = 0
    log_lines: int = 0
    """Of observation logs."""
    vectors: int = 0
    traces: int = 0
    hints: int = 0
    readmitted: int = 0
    """Nodes that an active view shows again, since the summary over them is gone."""
    sessions: tuple[str, ...] = ()
    """Sessions of which nothing is left."""
    captures: tuple[str, ...] = ()
    """Places of captured events that are gone, as they are cited at home."""
    artifacts: tuple[str, ...] = ()
    """Artifacts that no record refers to any more."""


@dataclass(frozen=True, slots=True)
class PurgeEntry:
    """A line of the ledger of purges.

    The target, and the names in the counts, are known only while files are still to be cleaned.
    """

    id: str
    ts_ms: int
    kind: PurgeKind
    digest: str
    target: str | None
    counts: Metadata


DIGEST_BYTES = 16

_LINKS = (Mark.SUPERSEDED_BY, Mark.CONTRADICTS, Mark.MERGED)


def plain_address(address: str) -> str:
    """An address without the parts that do not change where it leads: its fragment and a slash at its end."""
    return address.partition("#")[0].rstrip("/")


def home_ref(collection: str, id_: str) -> str:
    """How a record is cited, whether it is in the archive or not."""
    return Collection(collection).home.ref(id_)


def record_places(ref: str) -> list[tuple[Collection, str]]:
    """Where the record that a reference cites may be: at home, or in the archive."""
    readings = readings_of(Collection(ref).home)
    return [(name, id_) for collection, id_ in readings for name in (collection, collection.archive)]


def is_from(address: object, order: Purge) -> bool:
    """Whether something came from the address that an order is about."""
    return isinstance(address, str) and plain_address(address) in (order.target, *order.also)


def without_links(marks: Metadata, gone: AbstractSet[str]) -> dict[str, Any]:
    """The marks without references to records that are gone."""
    kept = dict(marks)
    closed = value_of(marks, Mark.PLAN_STATE)
    if isinstance(closed, Mapping) and closed.get("source") in gone:
        del kept[Mark.PLAN_STATE]
    guiding = value_of(marks, Mark.GUIDANCE)
    if isinstance(guiding, Mapping) and guiding.get("superseded_by") in gone:
        left_over = {key: value for key, value in guiding.items() if key != "superseded_by"}
        kept[Mark.GUIDANCE.value] = {**marks[Mark.GUIDANCE], "value": left_over}
    for name in _LINKS:
        value = value_of(marks, name)
        refs = value if isinstance(value, list) else [value]
        left = [ref for ref in refs if ref is not None and Collection(ref).home not in gone]
        if len(left) == len(refs):
            continue
        if left and isinstance(value, list):
            kept[name.value] = {**marks[name], "value": left}
        else:
            kept.pop(name.value, None)
    return kept


def target_digest(kind: PurgeKind, target: str) -> str:
    """Tells whether a name is the one a purge was about, without keeping the name."""
    return digest(kind, target, size_bytes=DIGEST_BYTES).hex()


def collections_of_user(user_id: str) -> list[Collection]:
    """Every collection that is a user's alone."""
    own = [
        Collection.memories(user_id),
        Collection.turns(user_id),
        Collection.replies(user_id),
        Collection.owned(user_id),
        Collection.guidance(user_id),
        Collection.ledger(user_id),
        Collection.facts(user_id),
        Collection.plans(user_id),
        Collection.aliases(user_id),
    ]
    return own + [name.archive for name in own]


def collections_of_session(session_id: str) -> list[Collection]:
    """Every collection that is a session's alone."""
    own = [
        Collection.raw(session_id),
        Collection.session(session_id),
        Collection.summaries(session_id),
        Collection.dismissed(session_id),
        Collection.guidance(None, session_id),
        Collection.ledger(None, session_id),
        Collection.observations(session_id),
    ]
    return own + [name.archive for name in own]


def holds_memories(collection: str) -> bool:
    return Collection(collection).home.kind is CollectionKind.MEMORIES


def rests_on_others(collection: str) -> bool:
    """Whether its members are made from others, which they name."""
    return Collection(collection).home.kind in _RESTING


_RESTING = (CollectionKind.FACTS, CollectionKind.PLANS, CollectionKind.OBSERVATIONS)


def holds_captures(collection: str) -> bool:
    return Collection(collection).home.kind is CollectionKind.LEDGER


class Citing(NamedTuple):
    """A record that rests on others, as one collection shows it."""

    record: int
    ref: str
    """How it is cited at home."""
    sources: tuple[str, ...]
    needs_all: bool
    """Whether it holds words of each of its sources, and so goes with any of them."""


def citing(record: int, collection: str, id_: str, metadata: Metadata) -> Citing:
    needs_all = Collection(collection).home.kind is CollectionKind.OBSERVATIONS
    return Citing(record, home_ref(collection, id_), sources_in(metadata), needs_all)


def fallen_claims(claims: Iterable[Citing], gone: AbstractSet[str], exists: Callable[[str], bool]) -> set[int]:
    """The keys of the records that nothing supports any more, once the named ones are gone.

    `exists` tells whether a reference still means something: two records may be named alike, and one may stay. A
    record that rested on those that fall falls with them; records that rest on one another alone support nothing.
    """
    touched = _reach(claims, gone)
    doubtful = {claim.ref for claim in touched}
    supported = {ref for claim in touched for ref in claim.sources if ref not in doubtful and exists(ref)}
    waiting = list(touched)
    while waiting:
        held = [claim for claim in waiting if _is_supported(claim, supported)]
        if not held:
            break
        supported |= {claim.ref for claim in held}
        waiting = [claim for claim in waiting if claim.ref not in supported]
    return {claim.record for claim in waiting}


def _reach(claims: Iterable[Citing], gone: AbstractSet[str]) -> list[Citing]:
    """The claims that rest on a gone record, the claims that rest on those, and so on."""
    named: dict[str, list[Citing]] = {}
    for claim in claims:
        for ref in claim.sources:
            named.setdefault(ref, []).append(claim)
    found: dict[str, Citing] = {}
    waiting = list(gone)
    while waiting:
        fresh = [claim for claim in named.get(waiting.pop(), ()) if claim.ref not in found]
        found |= {claim.ref: claim for claim in fresh}
        waiting += [claim.ref for claim in fresh]
    return list(found.values())


def _is_supported(claim: Citing, supported: set[str]) -> bool:
    return supported.issuperset(claim.sources) if claim.needs_all else not supported.isdisjoint(claim.sources)


def of_kind(places: Iterable[tuple[int, str]], kind: CollectionKind) -> int:
    """How many of these records are in a collection of a kind, archived or not."""
    return len({record for record, name in places if Collection(name).home.kind is kind})


def counts_of(purged: Purged) -> dict[str, int]:
    """The figures of a purge, which are all that its ledger keeps."""
    return {name: value for name, value in asdict(purged).items() if isinstance(value, int)}


def cited_in(trace_body: str | bytes) -> set[str]:
    """The references a trace names."""
    found = _TRACE_REFS.decode(trace_body)
    return {ref for candidate in found.candidates for ref in (candidate.ref, *candidate.path)}


class _Cited(Struct, frozen=True):
    ref: str
    path: tuple[str, ...] = ()


class _TraceRefs(Struct, frozen=True):
    candidates: tuple[_Cited, ...] = ()


_TRACE_REFS = msgspec.json.Decoder(_TraceRefs)
make_known([_Cited, _TraceRefs, Purged, OrderedPurge])


def memory_places(turn_places: Iterable[tuple[str, str]]) -> list[tuple[Collection, str]]:
    """The places of the memories kept from a turn, by the turn's own places."""
    found = []
    for collection, id_ in turn_places:
        turns = Collection(collection)
        if turns.kind is CollectionKind.TURNS:
            memories = Collection.memories(turns.owner)
            memory = memory_id(collection, id_)
            found += [(memories, memory), (memories.archive, memory)]
    return found


def fallen_summaries(lineages: Mapping[str, Lineage], lost: Iterable[str]) -> set[str]:
    """The summaries of a session that words of lost nodes may have entered.

    A summary was made from its sources and in the light of earlier ones, and so on upwards.
    """
    made_from: dict[str, list[str]] = {}
    for id_, lineage in lineages.items():
        for node in (*lineage.source_ids, *lineage.prior_ids):
            made_from.setdefault(node, []).append(id_)
    waiting = list(lost)
    fallen = {id_ for id_ in waiting if id_ in lineages}
    while waiting:
        for id_ in made_from.get(waiting.pop(), ()):
            if id_ not in fallen:
                fallen.add(id_)
                waiting.append(id_)
    return fallen


def bared_nodes(lineages: Mapping[str, Lineage], fallen: set[str], lost: set[str]) -> list[str]:
    """The nodes under fallen summaries that stay: an active view has to show them again."""
    gone = fallen | lost
    nodes = (node for id_ in sorted(fallen) for node in lineages[id_].source_ids)
    return [node for node in dict.fromkeys(nodes) if node not in gone]
