"""Takes in the events that hooks wrote to disk while no daemon answered: turns, tool outcomes, notes for the journal.

An event leaves the spool when it is kept. Its id makes it one event however often it is taken in, so a process that
dies in between loses nothing and doubles nothing. A bad line is set aside with its reason, and the others go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clew.core.collections import Collection
from clew.core.model import Role, role_of
from clew.core.structs import make_known
from clew.errors import Conflict, InvalidInput, StoreError, TooLarge
from clew.features.ledger.capture import capture
from clew.features.ledger.operations import Capture, SpoolReceipt, TakeSpool
from clew.kernel.ingest import ingest
from clew.kernel.intake import SOURCE_URL
from clew.kernel.operations import AddHint, Ingest
from clew.kernel.parts import Parts
from clew.kernel.records import add_hint, checked_limit
from clew.kernel.services import serves
from clew.storage.paging import every_member
from clew.text.utterances import Utterances
from clew.wire.spool import ASIDE_FOLDER, FOLDER, VERSION, Spool

MAX_EVENTS = 10_000
MAX_ASIDE = 500
HOOK_ID = "h_"
"""How the ids begin that hooks make."""

SAME_MOMENT_MS = 10_000
"""A hook and a transcript write the same turn down within this time. Nobody gets an answer and repeats it so soon."""

_SPEAKERS = (Role.USER, Role.ASSISTANT)


class _Event(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the spool."""

    clew: int
    method: str
    params: dict[str, Any]


class _Bad(Exception):
    """A line that no repetition makes good."""


@serves(TakeSpool)
def take_spool(parts: Parts, request: TakeSpool) -> SpoolReceipt:
    return _take(parts, checked_limit(request.max_events, MAX_EVENTS, "maxEvents"))


def take_all(parts: Parts) -> None:
    """Leaves nothing in the spool: whoever purges must find everything in the store."""
    while _take(parts, MAX_EVENTS, wait=True).waiting:
        continue


def forget_aside(parts: Parts) -> None:
    """Leaves nothing beside the spool, since nobody can say whose the lines are."""
    with _open(parts, ASIDE_FOLDER) as aside:
        if aside is not None:
            for name in aside.names():
                aside.remove(name)


def _take(parts: Parts, limit: int, *, wait: bool = False) -> SpoolReceipt:
    taking = _Taking(parts)
    with _open(parts) as spool:
        if spool is None:
            return SpoolReceipt(taken=0, unchanged=0, set_aside=0, waiting=0, dropped=0)
        with closing(spool.take(wait=wait)) as names:
            for name in names:
                taking.take(spool, name)
                if taking.count >= limit:
                    break
        return SpoolReceipt(
            taken=taking.taken,
            unchanged=taking.unchanged,
            set_aside=taking.set_aside,
            waiting=len(spool.names()),
            dropped=spool.dropped,
        )


class _Taking:
    """One run over the spool."""

    def __init__(self, parts: Parts) -> None:
        self.taken = self.unchanged = self.set_aside = 0
        self._parts = parts
        self._imported: dict[str, Utterances] = {}

    @property
    def count(self) -> int:
        return self.taken + self.unchanged + self.set_aside

    def take(self, spool: Spool, name: str) -> None:
        """Keeps one event, then removes it from the spool."""
        line = b""
        try:
            line = _read(spool, name)
            if not line:
                return
            is_new = self._keep(_decode(line))
        except _Bad as error:
            self._set_aside(str(error), line)
            self.set_aside += 1
        else:
            self.taken += is_new
            self.unchanged += not is_new
        spool.remove(name)

    def _keep(self, event: _Event) -> bool:
        """Whether the event is new. Raises _Bad where it can never be kept."""
        try:
            match event.method:
                case "ingest":
                    return self._keep_turn(msgspec.convert(event.params, Ingest))
                case "capture":
                    capture(self._parts, msgspec.convert(event.params, Capture))
                    return True
                case "add_hint":
                    return add_hint(self._parts, msgspec.convert(event.params, AddHint)).count > 0
        except (Conflict, InvalidInput, TooLarge) as error:
            raise _Bad(error.message) from error
        except (msgspec.MsgspecError, RecursionError) as error:
            raise _Bad(str(error)) from error
        raise _Bad("unknown method")

    def _keep_turn(self, request: Ingest) -> bool:
        if self._is_imported(request):
            return False
        try:
            return ingest(self._parts, request).stored
        except Conflict:  # the same event has other words of the same length
            message = replace(request.message, id=f"{request.message.id}-b")
            return ingest(self._parts, replace(request, message=message)).stored

    def _is_imported(self, request: Ingest) -> bool:
        """Whether an import has brought the turn meanwhile, under the id of its transcript."""
        message, role = request.message, role_of(request.message.role)
        if message.ts is None or role not in _SPEAKERS:
            return False
        if request.session_id not in self._imported:
            self._imported[request.session_id] = _imported_turns(self._parts, request.session_id)
        there = self._imported[request.session_id]
        return there.claim(_speaker(role, message.source), message.ts, message.text) is not None

    def _set_aside(self, reason: str, line: bytes) -> None:
        data_dir = str(self._parts.config.data_dir)
        try:
            with Spool(data_dir, ASIDE_FOLDER, create=True, max_events=MAX_ASIDE) as aside:
                aside.append(reason=reason, line=line.decode("utf-8", "replace"))
        except OSError as error:
            raise StoreError(f"a bad line of the spool cannot be set aside: {error.strerror or error}") from error


def _imported_turns(parts: Parts, session_id: str) -> Utterances:
    there = Utterances(SAME_MOMENT_MS)
    for turn in every_member(parts.store, Collection.raw(session_id)):
        if turn.role in _SPEAKERS and not turn.id.startswith(HOOK_ID):
            source = turn.metadata.get(SOURCE_URL)
            there.add(_speaker(turn.role, source if isinstance(source, str) else None), turn.ts_ms, turn.id, turn.text)
    return there


def _speaker(role: Role, source: str | None) -> str:
    """Words from outside never answer for the user's own."""
    return role if source is None else f"{role} from outside"


def _read(spool: Spool, name: str) -> bytes:
    """The line of an event; empty where a hook has dropped it to make room. Raises _Bad where it is none."""
    try:
        return spool.read(name) or b"\n"
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise _Bad(error.strerror or str(error)) from error


def _decode(line: bytes) -> _Event:
    try:
        event = msgspec.json.decode(line, type=_Event)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _Bad(str(error)) from error
    if event.clew != VERSION:
        raise _Bad("unknown version")
    return event


@contextmanager
def _open(parts: Parts, folder: str = FOLDER) -> Iterator[Spool | None]:
    """The spool; None where there is none. Raises StoreError where it cannot be used."""
    try:
        spool = Spool(str(parts.config.data_dir), folder)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise StoreError(f"the spool cannot be read: {error.strerror or error}") from error
    try:
        with spool:
            yield spool
    except OSError as error:
        raise StoreError(f"the spool cannot be used: {error.strerror or error}") from error


make_known([_Event])
