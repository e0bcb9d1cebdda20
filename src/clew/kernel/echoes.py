"""The trust of a model's words: no more than that of the text they repeat.

A reply that says the words of a tool again would carry them into other sessions under the assistant's name. A statement
that a model keeps by itself may come from anywhere. Both have no more trust than their likely source.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from clew.core.collections import Collection
from clew.core.marks import By, Mark, made, set_by
from clew.core.model import Draft, Provenance, Record, Role, Trust, least, may_enter
from clew.core.ranking import SIMILARITY_ALONE
from clew.index.search import Query, search
from clew.kernel.intake import speaker_in
from clew.kernel.parts import Parts
from clew.storage.protocol import Marking, NewTurn, Place
from clew.text.calls import speech
from clew.text.echoes import Runs, is_same_text, repeats, runs_of, says_same
from clew.text.speech import own_words
from clew.text.terms import analyse_query

HEARD_TEXTS = 200
"""The newest untrusted texts of a collection that a reply is compared with."""
HEARD_RUNS = 100_000
"""Their runs of words at most, 8 bytes each."""
HEARD_COLLECTIONS = 32
_READ_TURNS = 400
_NEIGHBOURS = 8
_COMPARED_CHARS = 4000


@dataclass
class _Heard:
    """The untrusted texts that came into one collection, newest last."""

    until: int = 0
    texts: deque[tuple[str, Runs]] = field(default_factory=deque)
    size: int = 0

    def hear(self, record: Record) -> None:
        self.until = max(self.until, record.seq)
        if _is_source(record):
            runs = runs_of(record.text)
            self.texts.append((record.id, runs))
            self.size += len(runs)
        while len(self.texts) > HEARD_TEXTS or (self.size > HEARD_RUNS and len(self.texts) > 1):
            self.size -= len(self.texts.popleft()[1])


class Echoes:
    """Remembers the untrusted texts of the sessions that are going on, so that each is read once."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._heard: OrderedDict[Collection, _Heard] = OrderedDict()
        self._lock = threading.Lock()

    def sources(self, reply: Runs, collections: Iterable[Collection]) -> Iterator[Record]:
        """The untrusted texts that a reply repeats, as they are judged by now."""
        for collection in collections:
            with self._lock:
                texts = list(self._catch_up(collection).texts)
            ids = [id_ for id_, runs in texts if repeats(reply, runs)]
            yield from filter(_is_source, self._parts.store.get(collection, ids))

    def _catch_up(self, collection: Collection) -> _Heard:
        store = self._parts.store
        if collection in self._heard:
            heard = self._heard[collection]
            while page := store.page(collection, heard.until, _READ_TURNS):
                for record in page:
                    heard.hear(record)
        else:
            heard = self._heard[collection] = _Heard()
            for record in reversed(store.newest(collection, None, _READ_TURNS)):
                heard.hear(record)
        self._heard.move_to_end(collection)
        while len(self._heard) > HEARD_COLLECTIONS:
            self._heard.popitem(last=False)
        return heard


class Replies:
    """Judges the replies of a session that come in together with other turns."""

    def __init__(self, parts: Parts, session_id: str, user_id: str | None) -> None:
        self._parts = parts
        self._heard = [Collection.raw(session_id), Collection.ledger(None, session_id)]
        self._heard += [] if user_id is None else [Collection.ledger(user_id)]
        self._arriving: deque[tuple[str, Trust, Runs]] = deque(maxlen=HEARD_TEXTS)

    def judge(self, draft: Draft) -> Draft:
        """A reply with no more trust than the untrusted texts that it repeats; any other turn as it is."""
        said = speech(draft.text) if draft.provenance is Provenance.ASSISTANT_TURN else ""
        runs = runs_of(said)
        if not len(runs):
            return draft
        stored = [(record.ref, record.trust) for record in self._parts.state(Echoes).sources(runs, self._heard)]
        arriving = [(ref, trust) for ref, trust, heard in self._arriving if repeats(runs, heard)]
        worst = least([draft.trust, *(trust for _, trust in (*stored, *arriving))])
        if worst is draft.trust:
            return draft
        origin = next(ref for ref, trust in (*stored, *arriving) if trust is worst)
        return _with_trust(draft, worst, f"repeats {origin}", self._parts.clock.now_ms())

    def hear(self, turn: NewTurn) -> None:
        """A turn that comes in before the next one."""
        if _is_source(turn.draft):
            home = turn.places[0]
            self._arriving.append((home.collection.ref(home.id), turn.draft.trust, runs_of(turn.draft.text)))


def judge_record(parts: Parts, place: Place, draft: Draft) -> Draft:
    """A record with the trust of its words: a model's wait for the user, and none gain trust by being put again."""
    if draft.provenance is Provenance.MODEL and draft.trust is Trust.UNTRUSTED:
        turn = _turn_that_says(parts, place.collection, draft.text)
        if turn is not None:
            draft = _with_trust(draft, Trust.UNKNOWN, said_in(turn), parts.clock.now_ms())
    for held in (*parts.store.get(place.collection, [place.id]), *_nearest(parts, place.collection, draft.text)):
        lower = least((held.trust, draft.trust)) is not draft.trust and set_by(held.marks, Mark.TRUST) != By.OPERATOR
        said_alike = held.id == place.id or speaker_in(held.metadata) == speaker_in(draft.metadata)
        if lower and said_alike and is_same_text(held.text, draft.text):
            reason = {name: mark for name, mark in held.marks.items() if name == Mark.TRUST}
            if held.id != place.id and not reason:
                return _with_trust(draft, held.trust, f"repeats {held.ref}", parts.clock.now_ms())
            return replace(draft, trust=held.trust, marks={**draft.marks, **reason})
    return draft


def confirmations(parts: Parts, memories: Iterable[Record], turn: str, said: str) -> list[Marking]:
    """What becomes of a model's statements when the user says the same: they may be recalled."""
    now_ms = parts.clock.now_ms()
    return [
        Marking(Place(memory.collection, memory.id), {Mark.TRUST.value: _reason(Trust.UNKNOWN, said_in(turn), now_ms)},
                Trust.UNKNOWN)
        for memory in memories
        if memory.provenance is Provenance.MODEL
        and memory.trust is Trust.UNTRUSTED
        and set_by(memory.marks, Mark.TRUST) != By.OPERATOR
        and says_same(memory.text, own_words(said))
    ]  # fmt: skip


def said_in(ref: str) -> str:
    return f"the user says the same in {ref}"


def _turn_that_says(parts: Parts, collection: Collection, statement: str) -> str | None:
    """The turn in which the user of these memories says what a statement says."""
    if collection != Collection.memories(collection.owner or ""):
        return None
    for turn in _nearest(parts, Collection.turns(collection.owner), statement):
        if turn.role is Role.USER and may_enter(turn.trust) and says_same(statement, own_words(turn.text)):
            return turn.ref
    return None


def _nearest(parts: Parts, collection: Collection, text: str) -> list[Record]:
    """The members that share most words with a text."""
    query = Query(
        terms=analyse_query(text[:_COMPARED_CHARS]),
        vector=None,
        calibration=None,
        now_ms=parts.clock.now_ms(),
        weights=SIMILARITY_ALONE,
        by_surroundings=False,
    )
    with parts.indexes.current(collection) as index:
        found = search(index, query, collection.scope, 0.0, _NEIGHBOURS)
    return parts.store.at(collection, [one.seq for one in found])


def _is_source(text: Record | Draft) -> bool:
    """Whether a reply must not carry on its words. Replies are compared with tools alone: they repeat each other."""
    return not may_enter(text.trust) and text.provenance is not Provenance.ASSISTANT_TURN


def _with_trust(draft: Draft, trust: Trust, why: str, now_ms: int) -> Draft:
    return replace(draft, trust=trust, marks={**draft.marks, Mark.TRUST.value: _reason(trust, why, now_ms)})


def _reason(trust: Trust, why: str, now_ms: int) -> dict[str, object]:
    return made({"trust": trust.value, "reason": why}, By.CLEW, now_ms)
