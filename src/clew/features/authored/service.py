"""Serves authored context: reads files when they change, stores their nodes by tier, keeps the rules in memory.

The store is the cache. A document's nodes are in `authored:hard`, `authored:soft` and `authored:variant`; the
catalogue holds the hash of the content they come from. No process parses a file again whose content is known.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from clew.core.budget import portion
from clew.core.collections import CATALOGUE, HARD, LORE, SOFT
from clew.core.model import Draft, Provenance, Record
from clew.errors import InvalidInput, TooLarge
from clew.features.authored.files import Content, File, Names, Stamp, core_files, note_files, read_file, stamp
from clew.features.authored.operations import AuthoredDocument, AuthoredReport, LoadAuthored
from clew.features.authored.rules import TIER_NUMBERS, Document, Kind, Node, Tier, parse
from clew.kernel.intake import draft_of, make_draft
from clew.kernel.parts import Parts
from clew.kernel.queue import Pace, Worker
from clew.kernel.services import serves
from clew.storage.paging import every_member
from clew.storage.protocol import NewRecord, Place, Task

COLLECTION_OF_TIER = {Tier.HARD: HARD, Tier.SOFT: SOFT, Tier.LORE: LORE}
"""The collection of each tier."""

NOTES_CHECK_SECONDS = 1.0
"""How often Clew lists the folders of notes; it checks the agent's own documents every time."""

NOTES_A_TIME = 8
"""How many notes one step reads, so that other work goes on."""

_UNSEARCHED = frozenset({Kind.HEADING, Kind.RULE, Kind.OTHER})
"""Lore of these kinds says nothing by itself; headings are part of the text under them."""

_JOINT_TOKENS = 1
"""How many tokens joining two texts may add."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A hard or soft node, ready for a context."""

    ref: str
    document: str
    text: str
    tokens: int
    start: int
    """Its place in its document, in bytes."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """All rules, in the order of the settings and of their documents, and the files that could not be read."""

    hard: tuple[Piece, ...] = ()
    soft: tuple[Piece, ...] = ()
    troubles: tuple[str, ...] = ()


@dataclass
class _Held:
    """A document as this process knows it."""

    file: File
    digest: str = ""
    kinds: tuple[str, ...] = ()
    looked_at: tuple[Stamp, tuple[str, ...]] | None = None
    """The file's stamp and the hard kinds at the last attempt to read it."""
    hard: list[Piece] = field(default_factory=list)
    soft: list[Piece] = field(default_factory=list)
    node_count: int = 0
    lore_nodes: int = 0
    lead: str | None = None
    conflicts: tuple[str, ...] = ()
    trouble: str | None = None

    def matches(self, text: str) -> bool:
        """Whether the file has every rule at its place, word for word: somebody may have tampered with the store."""
        data = text.encode("utf-8")
        return all(data.startswith(piece.text.encode("utf-8"), piece.start) for piece in (*self.hard, *self.soft))


@serves(LoadAuthored)
def load_authored(parts: Parts, request: LoadAuthored) -> AuthoredReport:
    """Reads the files that changed. Raises InvalidInput where hard text is over its share of the budget."""
    shelf = parts.state(Library).current(every_note=request.notes)
    trouble = over_share(parts, shelf.hard, parts.config.budget_tokens)
    if trouble is not None:
        raise InvalidInput(trouble)
    return AuthoredReport(documents=tuple(parts.state(Library).documents()), degraded=shelf.troubles)


def over_share(parts: Parts, hard: Sequence[Piece], total: int) -> str | None:
    """The document whose hard text is too much for a budget, with both figures; None where it all fits."""
    limit = portion(total, parts.config.authored_hard_share)
    used = 0
    for piece in hard:
        used += piece.tokens
        if used > limit:
            whole = sum(item.tokens for item in hard)
            return (
                f"{piece.document}: hard authored text has {whole} tokens, over the {limit} that authored_hard_share "
                f"allows of a budget of {total}; see `clew authored check`"
            )
    return None


class Library:
    """The authored documents of one engine. Safe to use from several threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._held: dict[str, _Held] = {}
        self._names = Names(())
        self._loaded = False
        self._notes: list[File] = []
        self._notes_looked_at = float("-inf")
        self._notes_troubles: list[str] = []
        self._listing_troubles: list[str] = []
        self._waiting: list[tuple[File, Stamp]] = []
        """Changed notes that are not read yet."""
        self._latest = Shelf()

    def take_in_notes(self, deadline: float = 0.0) -> int:
        """Reads a few of the changed notes; with a deadline, as many as time allows. Returns how many are left."""
        if deadline:
            self._notes_looked_at = float("-inf")
        self.current()
        while self._waiting and time.monotonic() < deadline:
            self.current()
        return len(self._waiting)

    @property
    def latest(self) -> Shelf:
        """The rules of the last call of `current`."""
        return self._latest

    def current(self, *, every_note: bool = False) -> Shelf:
        """The rules, after a check of the files. Without `every_note` it reads only a few of the changed notes: a large
        folder must not delay a context."""
        config = self._parts.config
        with self._lock:
            if not config.authored_files and not config.authored_notes and self._loaded and not self._held:
                return Shelf()
            self._load_catalogue()
            core = core_files(config)
            self._bring_up_to_date(core)
            if every_note or self._waiting or time.monotonic() - self._notes_looked_at >= NOTES_CHECK_SECONDS:
                self._look_at_notes(core, None if every_note else NOTES_A_TIME)
            self._latest = self._shelf(core)
            return self._latest

    def lead_of(self, source: str, link: str) -> str | None:
        """The id of the first lore node of the document that a link leads to."""
        with self._lock:
            name = self._names.follow(source, link)
            held = None if name is None or name == source else self._held.get(name)
            return None if held is None else held.lead

    def documents(self) -> list[AuthoredDocument]:
        with self._lock:
            return [
                AuthoredDocument(
                    name=name,
                    core=held.file.core,
                    hard_nodes=len(held.hard),
                    hard_tokens=sum(piece.tokens for piece in held.hard),
                    soft_nodes=len(held.soft),
                    soft_tokens=sum(piece.tokens for piece in held.soft),
                    lore_nodes=held.lore_nodes,
                    conflicts=held.conflicts,
                )
                for name, held in self._held.items()
            ]

    # --- under the lock ----------------------------------------------------------------------------------

    def _load_catalogue(self) -> None:
        """Loads what earlier processes stored; a comparison by content then tells which files have changed."""
        if self._loaded:
            return
        rules = {name: {record.id: record for record in every_member(self._parts.store, name)} for name in (HARD, SOFT)}
        for entry in every_member(self._parts.store, CATALOGUE):
            held = self._held[entry.id] = _read_entry(entry)
            for (name, records), pieces in zip(rules.items(), (held.hard, held.soft), strict=True):
                ids = (_node_id(entry.id, ordinal) for ordinal in range(held.node_count))
                pieces += [_piece(self._parts, Place(name, id_), records[id_]) for id_ in ids if id_ in records]
        self._loaded = True

    def _look_at_notes(self, core: Sequence[File], at_most: int | None) -> None:
        """Goes on where the last look ended. A new look drops the documents that the settings no longer name."""
        if not self._waiting:
            self._list_notes(core)
        taken = self._waiting if at_most is None else self._waiting[:at_most]
        for file, found in taken:
            self._refresh(file, found)
        self._waiting = self._waiting[len(taken) :]
        if taken:
            self._names = Names(self._held)
        if not self._waiting:
            self._notes_looked_at = time.monotonic()
            self._notes_troubles = self._listing_troubles + self._troubles(self._notes)

    def _list_notes(self, core: Sequence[File]) -> None:
        """Lists the notes, and queues those that have changed."""
        try:
            self._notes = note_files(self._parts.config)
            self._listing_troubles = []
        except InvalidInput as error:  # known notes stay
            self._listing_troubles = [error.message]
            return
        stamps = [(file, stamp(file.path)) for file in self._notes]
        there = {file.name for file, found in stamps if found is not None} | {file.name for file in core}
        self._drop([name for name in self._held if name not in there])
        self._waiting = [
            (file, found) for file, found in stamps if found is not None and self._has_changed(file, found)
        ]
        self._names = Names(self._held)

    def _has_changed(self, file: File, found: Stamp) -> bool:
        held = self._held.get(file.name)
        return held is None or held.looked_at != (found, _hard_kinds(self._parts, file))

    def _bring_up_to_date(self, files: Sequence[File]) -> None:
        for file in files:
            found = stamp(file.path)
            if found is None:
                self._drop([file.name])
            elif self._has_changed(file, found):
                self._refresh(file, found)

    def _refresh(self, file: File, found: Stamp) -> None:
        held = self._held.setdefault(file.name, _Held(file))
        held.file = file
        kinds = _hard_kinds(self._parts, file)
        held.trouble = None
        try:
            content = read_file(file.path)
            if (_digest(file, content), kinds) != (held.digest, held.kinds) or not held.matches(content.text):
                held = _store(self._parts, held, parse(content.text, kinds), content, found[0] // 1_000_000)
                self._held[file.name] = held
        except (InvalidInput, TooLarge) as error:  # its earlier rules stay in force
            named = error.message.startswith(file.path.name)
            said = error.message.removeprefix(file.path.name) if named else f" cannot be used: {error.message}"
            held.trouble = file.name + said
        held.looked_at = (found, kinds)

    def _drop(self, names: Iterable[str]) -> None:
        """Removes documents that are gone, or that the settings no longer name."""
        for name in names:
            held = self._held.get(name)
            if held is not None and (held.digest or held.node_count):
                _mark_unfinished(self._parts, held, held.node_count)
                _remove_nodes(self._parts, name, held.node_count)
                self._parts.store.remove(CATALOGUE, [name])
            self._held.pop(name, None)

    def _shelf(self, core: Sequence[File]) -> Shelf:
        held = [self._held[file.name] for file in core if file.name in self._held]
        return Shelf(
            hard=tuple(piece for item in held for piece in item.hard),
            soft=tuple(piece for item in held for piece in item.soft),
            troubles=tuple(self._troubles(core) + self._notes_troubles),
        )

    def _troubles(self, files: Iterable[File]) -> list[str]:
        held = ((file, self._held.get(file.name)) for file in files)
        found = (f"{file.name} cannot be read: there is no such file" if h is None else h.trouble for file, h in held)
        return [trouble for trouble in found if trouble is not None]


def _digest(file: File, content: Content) -> str:
    """The hash that a document is compared by. The prefix makes Clew read notes again that an older version stored
    without judging them."""
    return content.digest if file.core else f"judged {content.digest}"


def _store(parts: Parts, held: _Held, document: Document, content: Content, ts_ms: int) -> _Held:
    """Replaces a document's nodes in the store; returns its new state."""
    file = held.file
    records = [
        _record(parts, file, node, ordinal, ts_ms)
        for ordinal, node in enumerate(document.nodes)
        if _is_stored(file, node)
    ]
    in_tier: dict[str, list[NewRecord]] = {collection: [] for collection in COLLECTION_OF_TIER.values()}
    for record in records:
        in_tier[record.place.collection].append(record)
    hard, soft, lore = in_tier[HARD], in_tier[SOFT], in_tier[LORE]
    now = _Held(
        file=file,
        digest=_digest(file, content),
        kinds=_hard_kinds(parts, file),
        hard=[_piece(parts, record.place, record.draft) for record in hard],
        soft=[_piece(parts, record.place, record.draft) for record in soft],
        node_count=len(document.nodes),
        lore_nodes=len(lore),
        lead=lore[0].place.id if lore else None,
        conflicts=tuple(dict.fromkeys(conflict for node in document.nodes for conflict in node.conflicts)),
    )
    if held.node_count:
        _mark_unfinished(parts, held, max(held.node_count, now.node_count))
        _remove_nodes(parts, file.name, held.node_count, keep=[record.place for record in records])
    parts.store.put([*records, _entry(parts, now)])
    return now


def _mark_unfinished(parts: Parts, held: _Held, node_count: int) -> None:
    """Marks a document as half written, so that after a crash it is written again, whatever its file then says."""
    parts.store.put([_entry(parts, replace(held, digest="", node_count=node_count))])


def _entry(parts: Parts, held: _Held) -> NewRecord:
    """A document's entry in the catalogue."""
    metadata = {
        "hash": held.digest,
        "core": held.file.core,
        "kinds": list(held.kinds),
        "nodes": held.node_count,
        "lore": held.lore_nodes,
        "lead": held.lead,
        "conflicts": list(held.conflicts),
    }
    name, now_ms = held.file.name, parts.clock.now_ms()
    draft = make_draft(parts, name, role=None, provenance=Provenance.AUTHORED, ts_ms=now_ms, metadata=metadata)
    return NewRecord(draft, Place(CATALOGUE, name))


def _hard_kinds(parts: Parts, file: File) -> tuple[str, ...]:
    return parts.config.authored_hard_kinds if file.core else ()


def _is_stored(file: File, node: Node) -> bool:
    is_lore = node.tier is Tier.LORE or not file.core
    return bool(node.text.strip()) and not (is_lore and node.kind in _UNSEARCHED)


def _record(parts: Parts, file: File, node: Node, ordinal: int, ts_ms: int) -> NewRecord:
    tier = node.tier if file.core else Tier.LORE
    metadata = {
        "authored": True,
        "tier": TIER_NUMBERS[tier],
        "kind": node.kind.value,
        "ordinal": ordinal,
        "source_doc": file.name,
        "start": node.start,
        "end": node.end,
        "hop_targets": list(node.links),
        "speaker": f"{file.name} › {node.heading}" if node.heading else file.name,
    }
    provenance = Provenance.AUTHORED if file.core else Provenance.NOTE
    place = Place(COLLECTION_OF_TIER[tier], _node_id(file.name, ordinal))
    intake = draft_of(
        parts, node.text, collection=place.collection, role=None, provenance=provenance, ts_ms=ts_ms, metadata=metadata
    )
    return NewRecord(intake.draft, place, (Task.EMBED, Task.LINK) if parts.meaning.wanted else (Task.LINK,))


def _remove_nodes(parts: Parts, name: str, count: int, keep: Iterable[Place] = ()) -> None:
    """Removes the nodes that a document no longer has."""
    kept = set(keep)
    for collection in COLLECTION_OF_TIER.values():
        had = (Place(collection, _node_id(name, ordinal)) for ordinal in range(count))
        gone = [place.id for place in had if place not in kept]
        if gone:
            parts.store.remove(collection, gone)


def _node_id(name: str, ordinal: int) -> str:
    return f"{name}#{ordinal}"


def _read_entry(entry: Record) -> _Held:
    """A document from the catalogue. It has no path and no stamp yet, so its file is read once and compared.

    An unreadable entry counts as that of an unfinished document.
    """
    data = entry.metadata
    file = File(path=Path(), name=entry.id, core=bool(data.get("core")))
    try:
        return _Held(
            file=file,
            digest=str(data["hash"]),
            kinds=tuple(data["kinds"]),
            node_count=int(data["nodes"]),
            lore_nodes=int(data["lore"]),
            lead=data["lead"],
            conflicts=tuple(data["conflicts"]),
        )
    except (KeyError, TypeError, ValueError):
        return _Held(file)


def _piece(parts: Parts, place: Place, text: Draft | Record) -> Piece:
    source, start = str(text.metadata.get("source_doc")), text.metadata.get("start")
    known = start if isinstance(start, int) else 0
    return Piece(f"{place.collection}/{place.id}", source, text.text, _cost(parts, text.text), known)


def _cost(parts: Parts, text: str) -> int:
    return parts.counter.bound(text) + _JOINT_TOKENS


def _take_in_some(parts: Parts, pace: Pace) -> bool:
    if not parts.config.authored_notes:
        return False
    pace.begin_step()
    return parts.state(Library).take_in_notes() > 0


WORKER = Worker(_take_in_some)
"""Reads notes while no caller waits. Their records then wait for vectors like any other."""
