"""Removing for good: from the store, and from every file beside it, with a receipt and a ledger.

The ledger says when something was purged, of what kind and how much, and knows its target only by a
digest. It is in the store and in a file of its own, so that a copy of the store from before a
purge, put back into place, is purged again when it is opened.

A purge that has begun is finished: its order is kept until its end, every step of it can be taken again, and whoever
opens the store next takes those that are left before anything is served. Where a step fails while Clew runs, Clew tries
again, less and less often, and says so in its status; so it does where the store's own files cannot be cleaned yet.
However late an order is carried out, it is about what was there when it was given: how far the store and the capture
log reached is kept with it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from clew.core.collections import Collection
from clew.core.ids import checked_id
from clew.errors import InvalidInput, NotFound, StoreError
from clew.features.facts import writing as fact_endings
from clew.features.graph import merging as graph_merging
from clew.features.ledger import artifacts, harvest, spool
from clew.features.ledger import log as capture_log
from clew.features.ledger.lines import APPENDING, folder_of, hold, places_of
from clew.features.upkeep import later_lines
from clew.features.upkeep.later_lines import LaterLines, LogEnd
from clew.features.upkeep.operations import ListPurges, PurgeEntryView, PurgeList, PurgeReceipt
from clew.features.upkeep.operations import Purge as PurgeRequest
from clew.kernel.echoes import Echoes
from clew.kernel.intake import SOURCE_URL, check_size, policy_of
from clew.kernel.parts import Parts
from clew.kernel.queue import Pace, Worker
from clew.kernel.services import serves
from clew.storage.paging import every_record
from clew.storage.purging import (
    OrderedPurge,
    Purge,
    Purged,
    PurgeEntry,
    PurgeKind,
    counts_of,
    home_ref,
    is_from,
    plain_address,
    target_digest,
)
from clew.text.redaction import Policy, redact

LEDGER_FILE = "purges.jsonl"
PURGING = "purge.lock"
"""Held while orders are carried out; whoever needs others of the capture log, too, takes this one first."""

FIRST_PAUSE_MS = 1000
LONGEST_PAUSE_MS = 600_000
"""Between two tries to finish a purge, each pause twice as long as the one before."""

_ENDINGS = list[tuple[str | None, dict[str, tuple[str, int]]]]
"""Ends of facts by owner; an owner may be nobody, and so is no key in JSON."""

_log = logging.getLogger("clew.purge")


class LedgerLine(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A purge as the file beside the store keeps it."""

    clew: int
    id: str
    ts: int
    kind: str
    digest: str
    counts: dict[str, int]


@serves(PurgeRequest)
def purge(parts: Parts, request: PurgeRequest) -> PurgeReceipt:
    """A purge that finds nothing is carried out like any other: what was deleted or replaced earlier has left bytes in
    the store's files, and an older copy that is put back may hold what this one does not."""
    order = _order(parts, request)
    if request.dry_run:
        foreseen = parts.store.foresee(order)
        lines = capture_log.count(parts, _belongs(order, foreseen))
        return _receipt(order, foreseen, capture_lines=lines, dry_run=True)
    spool.take_all(parts)  # a hook's event that still waits must not come in behind the purge
    log_end = later_lines.end_of_log(parts)
    while harvest.some(parts):  # nor must a captured line: its record would be later than the order
        continue
    try:
        parts.store.foresee(order)
    except NotFound:  # somebody may have deleted the record, and its bytes are left
        parts.store.finish_purge(order.id, {})
        parts.store.scrub()
        raise
    with _alone(parts):
        purged, lines = _carry_out(parts, _keep_order(parts, order, log_end))
    parts.state(Echoes).forget()
    parts.store.scrub()
    return _receipt(order, purged, capture_lines=lines, dry_run=False)


@serves(ListPurges)
def list_purges(parts: Parts, _: ListPurges) -> PurgeList:
    return PurgeList(
        purges=tuple(
            PurgeEntryView(id=entry.id, ts=entry.ts_ms, kind=entry.kind, counts=_figures(entry.counts))
            for entry in parts.store.purges()
        )
    )


def reconcile(parts: Parts) -> int:
    """Finish what a crash left undone, and purge again what an older copy of the store has brought back.

    Gives how many purges were replayed. Raises StoreError where a purge that has begun cannot be finished.
    """
    _finish_orders(parts)
    for entry in parts.store.purges():
        if entry.target is not None:  # begun by a version that kept no orders
            _carry_out(parts, OrderedPurge(Purge(entry.id, entry.ts_ms, entry.kind, entry.target), {}))
    known = {entry.id for entry in parts.store.purges()}
    missing = [line for line in _ledger_lines(_ledger_file(parts)) if line.id not in known]
    replayed = sum(_replay(parts, line) for line in missing)
    with suppress(StoreError):  # where the disk is full or others read, the worker tries again
        parts.store.scrub(waits=False)
    return replayed


def trouble(parts: Parts) -> str | None:
    """What is not finished; None where everything is."""
    if parts.store.ordered_purges():
        return "a purge is under way: not all that it removes is gone yet"
    if parts.store.needs_scrub():
        return "a purge is not finished: old text may still be in the store's files; Clew tries again"
    return None


def _finish_orders(parts: Parts) -> None:
    if not parts.store.ordered_purges():
        return
    with _alone(parts):  # whoever carried one out meanwhile has finished it
        for ordered in parts.store.ordered_purges():
            try:
                _carry_out(parts, ordered)
            except NotFound:  # the record has left by another way
                parts.store.finish_purge(ordered.purge.id, {})


@contextmanager
def _alone(parts: Parts) -> Iterator[None]:
    """While orders are carried out, by no more than one thread of all processes."""
    try:
        with hold(folder_of(parts.config), PURGING):
            yield
    except OSError as error:
        raise StoreError(f"the purge cannot begin: {error.strerror or error}") from error


class _NextTry:
    """When to try again what has failed. On a full disk, each try to write the store anew costs much, in vain."""

    def __init__(self, _: Parts) -> None:
        self._since_ms = 0
        self._pause_ms = 0

    def is_due(self, now_ms: int) -> bool:
        """Also when the clock was set back: nobody knows then how long it has been."""
        return not self._since_ms <= now_ms < self._since_ms + self._pause_ms

    def delay(self, now_ms: int) -> None:
        self._since_ms = now_ms
        self._pause_ms = min(max(2 * self._pause_ms, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)

    def forget(self) -> None:
        self._pause_ms = 0


def _is_due(parts: Parts) -> bool:
    next_try = parts.state(_NextTry)
    if not next_try.is_due(parts.clock.now_ms()):
        return False
    if parts.store.needs_scrub() or parts.store.ordered_purges():
        return True
    next_try.forget()
    return False


def _finish_later(parts: Parts, pace: Pace) -> bool:
    """Finish what whoever purged could not. A failure is no failure of other work, and leaves that its pace."""
    pace.begin_step()
    next_try = parts.state(_NextTry)
    next_try.delay(parts.clock.now_ms())
    try:
        _finish_orders(parts)
        parts.store.scrub(waits=False)
    except StoreError as error:
        _log.info("a purge is not finished: %s", error)
        return False
    next_try.forget()
    return True


WORKER = Worker(_finish_later, needs_meaning=False, is_due=_is_due)
"""Finishes purges that failed midway, and cleans the store's own files as soon as nobody is in the way."""


# --- one purge -----------------------------------------------------------------------------------------


def _order(parts: Parts, request: PurgeRequest) -> Purge:
    given = [
        (kind, target)
        for kind, target in (
            (PurgeKind.USER, request.user_id),
            (PurgeKind.SESSION, request.session_id),
            (PurgeKind.RECORD, request.ref),
            (PurgeKind.SOURCE, request.source),
        )
        if target is not None
    ]
    if len(given) != 1:
        raise InvalidInput("a purge takes exactly one of userId, sessionId, ref and source")
    ((kind, target),) = given
    if kind in (PurgeKind.USER, PurgeKind.SESSION):
        checked_id(target, f"{kind}Id")
    check_size("target", target.encode, parts.config.max_text_bytes)
    also: tuple[str, ...] = ()
    if kind is PurgeKind.RECORD:
        target = Collection(target).home
    if kind is PurgeKind.SOURCE:  # an address is kept as redacted as anything else
        also = tuple(plain_address(redact(target, policy).text) for policy in Policy)
        target = plain_address(redact(target, policy_of(parts)).text)
    return Purge(parts.ids.new(), parts.clock.now_ms(), kind, target, also)


def _keep_order(parts: Parts, order: Purge, log_end: LogEnd) -> OrderedPurge:
    """From here on, the purge is finished, whatever happens to this process. The order as the store keeps it."""
    endings = list(fact_endings.endings(parts).items())
    ordered = OrderedPurge(order, {"endings": endings, "log": [log_end.file, log_end.offset]})
    parts.store.order_purge(ordered)
    return next((kept for kept in parts.store.ordered_purges() if kept.purge.id == order.id), ordered)


def _carry_out(parts: Parts, ordered: OrderedPurge) -> tuple[Purged, int]:
    """Carries an order out, or what is left of it; what went, and how many captured lines.

    Lines leave the log first, so that no harvest brings back what goes. A fact that had ended stays ended, also where
    its ending goes.
    """
    order = ordered.purge
    spool.forget_aside(parts)
    lines = _forget_lines(parts, ordered, parts.store.foresee(order))
    purged = parts.store.purge(order)
    ended = msgspec.convert(ordered.beside.get("endings", ()), _ENDINGS)
    fact_endings.keep(parts, dict(ended))
    return purged, lines + _clean_files(parts, ordered, purged)


def _forget_lines(parts: Parts, ordered: OrderedPurge, purged: Purged) -> int:
    """Forget the captured lines that go, but for those of later events; how many."""
    written = ordered.beside.get("log")  # an earlier version kept none
    later = LaterLines(parts, None if written is None else msgspec.convert(written, LogEnd))
    belongs = _belongs(ordered.purge, purged)
    return capture_log.forget(parts, lambda event: belongs(event) and event not in later)


def _belongs(order: Purge, purged: Purged) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a captured event goes with what is purged."""
    sessions = {*purged.sessions, *([order.target] if order.kind is PurgeKind.SESSION else [])}
    captures = set(purged.captures)

    def goes(event: Mapping[str, Any]) -> bool:
        if order.kind is PurgeKind.SOURCE and is_from(event.get("source"), order):
            return True
        if order.kind is PurgeKind.USER and event.get("userId") == order.target:
            return True
        stored = (home_ref(place.collection, place.id) for place in places_of(event))
        return event.get("sessionId") in sessions or not captures.isdisjoint(stored)

    return goes


def _clean_files(parts: Parts, ordered: OrderedPurge, purged: Purged) -> int:
    """Everything beside the store, again where it was done before; how many captured lines were still there."""
    order = ordered.purge
    lines = _forget_lines(parts, ordered, purged)
    artifacts.remove(parts, purged.artifacts)
    graph_merging.forget_unnamed(parts)
    figures = counts_of(purged)
    _note_in_file(parts, order, figures)
    parts.store.finish_purge(order.id, figures)
    return lines


def _receipt(order: Purge, purged: Purged, *, capture_lines: int, dry_run: bool) -> PurgeReceipt:
    return PurgeReceipt(
        id=order.id,
        ts=order.ts_ms,
        kind=order.kind,
        dry_run=dry_run,
        artifacts=len(purged.artifacts),
        capture_lines=capture_lines,
        **counts_of(purged),
    )


# --- the ledger of purges ------------------------------------------------------------------------------


def _ledger_file(parts: Parts) -> Path:
    return parts.config.data_dir / LEDGER_FILE


def _note_in_file(parts: Parts, order: Purge, figures: dict[str, int]) -> None:
    path = _ledger_file(parts)
    if any(line.id == order.id for line in _ledger_lines(path)):
        return
    line = LedgerLine(1, order.id, order.ts_ms, order.kind, target_digest(order.kind, order.target), figures)
    try:
        with hold(folder_of(parts.config), APPENDING):  # a failed write takes its own line back, and nobody else's
            artifacts.append_whole(path, msgspec.json.encode(line) + b"\n", "the ledger of purges")
    except OSError as error:
        raise StoreError(f"the ledger of purges cannot be written: {error.strerror or error}") from error


def _ledger_lines(path: Path) -> Iterator[LedgerLine]:
    """A last line that a crash cut short is the line of a purge that is not finished, and will be written again."""
    try:
        written = path.read_bytes()
    except FileNotFoundError:
        return
    for line in written.splitlines():
        try:
            yield msgspec.json.decode(line, type=LedgerLine)
        except msgspec.MsgspecError:
            continue


def _replay(parts: Parts, line: LedgerLine) -> bool:
    """Whether this copy of the store held anything of it."""
    kind = PurgeKind(line.kind)
    target = next((name for name in _names(parts, kind) if target_digest(kind, name) == line.digest), None)
    if target is None:
        parts.store.note_purge(PurgeEntry(line.id, line.ts, kind, line.digest, None, line.counts))
        return False
    with _alone(parts):
        _carry_out(parts, _keep_order(parts, Purge(line.id, line.ts, kind, target), later_lines.end_of_log(parts)))
    return True


def _names(parts: Parts, kind: PurgeKind) -> Iterator[str]:
    """Everything in the store that a purge of a kind could be about."""
    if kind in (PurgeKind.USER, PurgeKind.SESSION):
        owners = (_owner(name, kind) for name, _ in parts.store.collections())
        yield from dict.fromkeys(owner for owner in owners if owner is not None)
        return
    for stored in every_record(parts.store):
        if kind is PurgeKind.RECORD:
            yield from (home_ref(place.collection, place.id) for place in stored.places)
        elif isinstance(stored.draft.metadata.get(SOURCE_URL), str):
            yield plain_address(stored.draft.metadata[SOURCE_URL])


def _owner(collection: Collection, kind: PurgeKind) -> str | None:
    """The user or session a collection is of, whatever it holds."""
    return collection.user_id if kind is PurgeKind.USER else collection.session_id


def _figures(counts: Mapping[str, Any]) -> dict[str, int]:
    return {name: value for name, value in counts.items() if isinstance(value, int)}
