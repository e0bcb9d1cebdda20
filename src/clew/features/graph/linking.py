"""Keeps the graph up to date with its records: the queue, the renewal under new rules, the check and the repair."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from clew.core.collections import CollectionKind
from clew.core.model import Draft
from clew.features.graph.extraction import RULES_VERSION, extract, extract_fact
from clew.features.graph.merging import finish_forgetting
from clew.kernel.parts import Parts
from clew.kernel.queue import Pace, Worker
from clew.storage.protocol import Finding, Place, QueuedTask, Task
from clew.text.entities import SHARED, Extract, owner_of_record

BATCH = 128
"""Records to read for the graph in one step."""

MAX_PROBLEMS = 20
_RULES = "graph rules"
"""The bookmark with the version of the rules that made the graph; without one, the first."""

_RECORDS_A_READ = 500

_log = logging.getLogger("clew.graph")


def said_by(draft: Draft, places: Sequence[Place]) -> tuple[str, Extract]:
    """The owner of the entities that a record names, and what it says of them; nothing where it has no owner."""
    owner = owner_of_record(place.collection for place in places)
    if owner is None:
        return SHARED, Extract()
    if any(place.collection.kind is CollectionKind.FACTS for place in places):
        return owner, extract_fact(draft.metadata)
    return owner, extract(draft.text, draft.metadata, draft.provenance, draft.role)


def _link_some(parts: Parts, pace: Pace) -> bool:
    """Reads a batch of records for the graph."""
    tasks = parts.store.queued(Task.LINK, BATCH)
    until = pace.begin_step()
    done: list[QueuedTask] = []
    said = {}
    for task in tasks:
        said[task.record_key] = _read(task)
        done.append(task)
        if pace.is_over(until):
            break
    parts.store.link([task.seq for task in done], said)
    if len(done) == len(tasks) and not parts.store.queued(Task.LINK, 1):
        finish_forgetting(parts)  # a purge leaves this to be done while records wait
    return True


WORKER = Worker(_link_some, Task.LINK, needs_meaning=False)


def _read(task: QueuedTask) -> tuple[str, Extract]:
    """What a record says; nothing where the rules fail on it, so that the records behind it do not wait."""
    try:
        return said_by(task.draft, task.places)
    except Exception:  # noqa: BLE001 — the queue goes on, whatever a text does to a rule
        _log.exception("record %d was not read for the graph", task.record_key)
        return SHARED, Extract()


def renew(parts: Parts) -> int:
    """Queues every record to be read again where other rules made the graph; gives how many."""
    if int(parts.store.bookmark(_RULES) or 1) == RULES_VERSION:
        return 0
    count = parts.store.queue_links()
    parts.store.put([], {_RULES: str(RULES_VERSION)})
    return count


def finding(parts: Parts) -> Finding:
    """Checks that the graph holds what its records say. Skips records that still wait to be read."""
    wrong = [f"record {key}" for key, _ in _find_contradicted(parts, settled=True)]
    counts = parts.store.graph_counts(None)
    proof = f"{counts.entities} entities and {counts.edges} edges are what their records say"
    return Finding("graph sources", proof, tuple(wrong[:MAX_PROBLEMS]))


def repair(parts: Parts) -> None:
    """Reads the records again that the graph contradicts."""
    for key, said in _find_contradicted(parts, settled=False):
        parts.store.link([], {key: said})


def _find_contradicted(parts: Parts, *, settled: bool) -> Iterator[tuple[int, tuple[str, Extract]]]:
    """The records that the graph contradicts, with what they say; `settled` skips those read while work waits.

    A page of records, what the graph holds of them and the queue are read in one snapshot: between two reads a new
    record could arrive, and would look as if the graph had missed it.
    """
    after = 0
    while True:
        with parts.store.reading():
            page = parts.store.export(after, _RECORDS_A_READ)
            skip = settled and parts.store.pending(Task.LINK) > 0
            held = {} if skip else parts.store.said([stored.key for stored in page])
        if not page:
            return
        after = page[-1].key
        for stored in () if skip else page:
            said = said_by(stored.draft, stored.places)
            if _differs(held.get(stored.key), said):
                yield stored.key, said


def _differs(held: tuple[str, Extract] | None, said: tuple[str, Extract]) -> bool:
    return said[1] != Extract() if held is None else held != said
