"""The observation log of a session in the store: its lines as records that cite their turns, and how far it reaches.

A line is a record of its own. A bookmark says how far the session was observed, where each run ended and which lines
the reflector dropped; it moves in the same step that writes new lines. The dropped lines leave right after that. Should
that fail, the bookmark still names them, and nobody sees them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

import msgspec
from msgspec import Struct

from clew.core.citing import SOURCES, sources_in
from clew.core.collections import Collection
from clew.core.ids import ID_BYTES, digest
from clew.core.model import Provenance, Record, Trust
from clew.core.structs import make_known
from clew.features.claims.log import claim_record
from clew.features.observations.observer import Observation, Priority
from clew.kernel.intake import make_draft
from clew.kernel.parts import Parts
from clew.storage.paging import every_member
from clew.storage.protocol import NewRecord, Place

OBSERVATION = "observation"
"""The key of a record's metadata that holds what a line is beside its text."""


class _Reached(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The bookmark of a session."""

    ends: list[int] = []
    """The place in the raw history of the last turn of each run."""
    reflections: int = 0
    dropped: list[str] = []
    """Ids of lines that are no longer part of the log."""


class _Kept(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A line as the metadata of its record keeps it."""

    priority: int
    observed: str
    run: int
    place: int
    until: str = ""
    """The last turn of its run."""
    is_own: bool = False
    when: str = ""
    relative: str = ""
    method: str = "rules"


make_known([_Reached, _Kept])


@dataclass(frozen=True, slots=True)
class Log:
    """The lines in order, and where the runs ended."""

    lines: tuple[Observation, ...] = ()
    ends: tuple[int, ...] = ()
    reflections: int = 0

    @property
    def until(self) -> int:
        """The place in the raw history of the last turn that was observed."""
        return self.ends[-1] if self.ends else 0


def read_log(parts: Parts, session_id: str) -> Log:
    """The log without lines that rest on a quarantined turn."""
    reached = _read_bookmark(parts, session_id)
    collection = Collection.observations(session_id)
    dropped = frozenset(reached.dropped)
    records = [record for record in every_member(parts.store, collection) if record.id not in dropped]
    withheld = _withheld(parts, session_id) if records else frozenset()
    found = [line for record in records if (line := _read(record, session_id)) is not None]
    lines = sorted(found, key=lambda line: (line.run, line.place))
    ends = tuple(reached.ends) or _ends_of(parts, session_id, records)
    lines = [line for line in lines if 1 <= line.run <= len(ends)]  # anything may be imported
    shown = (line for line in lines if line.trust is not Trust.QUARANTINED and withheld.isdisjoint(line.sources))
    return Log(tuple(shown), ends, reached.reflections)


def write_log(parts: Parts, session_id: str, before: Log, after: Log) -> bool:
    """Replace the log in one step; False, and nothing happens, where another run was faster."""
    collection = Collection.observations(session_id)
    held = {record.id for record in every_member(parts.store, collection)}
    wanted = {line_id(session_id, line): line for line in after.lines}
    reached = _read_bookmark(parts, session_id)
    if reached.ends and tuple(reached.ends) != before.ends:
        return False
    gone = sorted(held - wanted.keys())
    state = _Reached(ends=list(after.ends), reflections=after.reflections, dropped=gone)
    last = {turn.seq: turn.id for turn in parts.store.at(Collection.raw(session_id), after.ends)}
    fresh = [
        _record(parts, session_id, id_, line, last.get(after.ends[line.run - 1], ""))
        for id_, line in wanted.items()
        if id_ not in held
    ]
    parts.store.put(fresh, {_bookmark(session_id): msgspec.json.encode(state).decode()})
    parts.store.remove(collection, [*gone, *_orphans(parts, session_id, fresh)])
    return True


def line_ref(session_id: str, line: Observation) -> str:
    return f"{Collection.observations(session_id)}/{line_id(session_id, line)}"


def line_id(session_id: str, line: Observation) -> str:
    """Made from the line, so that the same line is the same record."""
    parts = (session_id, str(line.run), str(line.place), line.method, line.text, *line.sources)
    return f"o_{digest(*parts, size_bytes=ID_BYTES).hex()}"


def _orphans(parts: Parts, session_id: str, fresh: Iterable[NewRecord]) -> list[str]:
    """New lines that rest on a turn that somebody purged since it was read.

    A later purge finds the line itself; an earlier one shows here.
    """
    history = Collection.raw(session_id)
    found = []
    for new in fresh:
        ids = [ref.removeprefix(f"{history}/") for ref in sources_in(new.draft.metadata)]
        if len(parts.store.seqs(history, ids)) < len(set(ids)):
            found.append(new.place.id)
    return found


def _bookmark(session_id: str) -> str:
    """Named by a hash: a purge leaves no name of a session behind, and bookmarks are not purged."""
    return f"observed:{digest(session_id, size_bytes=ID_BYTES).hex()}"


def _read_bookmark(parts: Parts, session_id: str) -> _Reached:
    try:
        return msgspec.json.decode(parts.store.bookmark(_bookmark(session_id)) or "{}", type=_Reached)
    except msgspec.MsgspecError:  # from a newer version, or damaged: the lines tell enough of their runs
        return _Reached()


def _ends_of(parts: Parts, session_id: str, records: Iterable[Record]) -> tuple[int, ...]:
    """The ends of runs as far as their lines tell: an imported store has no bookmark."""
    history = Collection.raw(session_id)
    ends: dict[int, int] = {}
    for record in records:
        kept = _kept(record)
        if kept is not None:
            named = [kept.until, *_turn_ids(record, session_id)]
            ends[kept.run] = max([ends.get(kept.run, 0), *parts.store.seqs(history, named)])
    runs = min(max(ends, default=0), parts.store.size(history))  # each takes a turn at least
    return tuple(accumulate((ends.get(run, 0) for run in range(1, runs + 1)), max))


def _withheld(parts: Parts, session_id: str) -> frozenset[str]:
    history = Collection.raw(session_id)
    return frozenset(turn.id for turn in parts.store.at(history, parts.store.withheld(history)))


def _record(parts: Parts, session_id: str, id_: str, line: Observation, until: str) -> NewRecord:
    kept = _Kept(
        priority=int(line.priority),
        observed=line.observed,
        run=line.run,
        place=line.place,
        until=until,
        is_own=line.is_own,
        when=line.when,
        relative=line.relative,
        method=line.method,
    )
    history = Collection.raw(session_id)
    metadata = {
        "speaker": line.who,
        OBSERVATION: msgspec.to_builtins(kept),
        SOURCES: [f"{history}/{source}" for source in line.sources],
    }
    draft = make_draft(parts, line.text, role=None, provenance=Provenance.SUMMARY, ts_ms=line.ts_ms, metadata=metadata)
    return claim_record(parts, draft, Place(Collection.observations(session_id), id_), [line.trust])


def _read(record: Record, session_id: str) -> Observation | None:
    """The line that a record holds; None where it is no line of the log."""
    kept, sources = _kept(record), _turn_ids(record, session_id)
    if kept is None or not sources or kept.priority not in set(Priority):
        return None
    return Observation(
        priority=Priority(kept.priority),
        ts_ms=record.ts_ms,
        who=str(record.metadata.get("speaker", "")),
        text=record.text,
        sources=sources,
        trust=record.trust,
        is_own=kept.is_own,
        when=kept.when,
        relative=kept.relative,
        run=kept.run,
        place=kept.place,
        method=kept.method,
    )


def _kept(record: Record) -> _Kept | None:
    try:
        return msgspec.convert(record.metadata.get(OBSERVATION), _Kept)
    except msgspec.ValidationError:
        return None


def _turn_ids(record: Record, session_id: str) -> tuple[str, ...]:
    """Its sources that are turns of the session, by their ids there."""
    history = f"{Collection.raw(session_id)}/"
    return tuple(ref.removeprefix(history) for ref in sources_in(record.metadata) if ref.startswith(history))
