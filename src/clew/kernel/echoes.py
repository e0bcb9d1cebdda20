"""The trust of a model's words: no more than that of the text they repeat.

A reply that says the words of a tool again would carry them into other sessions under the assistant's name. A statement
that a model keeps by itself may come from anywhere. Both have no more trust than their likely source.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from clew.core.collections import GLOBAL, Collection, readings_of
from clew.core.marks import By, Mark, made, set_by, value_of
from clew.core.model import Draft, Provenance, Record, Role, Trust, least, may_enter
from clew.core.ranking import SIMILARITY_ALONE
from clew.index.search import Query, search
from clew.kernel.intake import speaker_in
from clew.kernel.parts import Parts
from clew.kernel.quoting import readable
from clew.storage.protocol import Marking, NewTurn, Place
from clew.text.echoes import Numbers, Runs, is_same_text, repeats, runs_of, says_same, union
from clew.text.printed import is_output
from clew.text.sentences import split
from clew.text.speech import own_words, quoted_words
from clew.text.terms import analyse_query

HEARD_TEXTS = 200
"""The newest untrusted texts of a collection that a reply is compared with."""
HEARD_RUNS = 200_000
"""Their runs of words at most, 8 bytes each."""
REMEMBERED_RUNS = 4_000_000
"""Of all collections together."""
MOST_SOURCES = 8
"""Of a reply that are named in its mark; one that repeats more is not shown at all where nobody asks for it."""
_OWN_PARTS = 1024
_READ_TURNS = 400
_LOOSE_TEXTS = 16
_SENTENCE_RUNS = 6
"""Of a sentence that says enough by itself."""
_NEIGHBOURS = 8
_COMPARED_CHARS = 4000


class _Source(NamedTuple):
    """An untrusted text that came in, or the part of a turn that its user only quotes."""

    name: str
    """Its id in its collection, or its reference."""
    trust: Trust
    runs: Runs
    is_quote: bool
    """A user who hands over a text wants it to be worked on, so a reply may use some of its words."""

    @classmethod
    def read(cls, name: str, text: Record | Draft) -> Iterator[_Source]:
        """A text, and of a quotation each sentence as well: nobody can tell where what somebody else wrote begins."""
        words, trust = _untrusted_part(text)
        is_quote = may_enter(text.trust)
        sentences = [one for one in split(words[:_COMPARED_CHARS]) if not is_output(one)] if is_quote else []
        for part in (words, *sentences):
            runs = runs_of(part)
            if len(runs.all) >= (_SENTENCE_RUNS if part is not words else 1):
                yield cls(name, trust, runs, is_quote)

    def is_repeated(self, reply: Runs, *, just_read: bool) -> bool:
        return repeats(reply, self.runs, just_read=just_read and not self.is_quote)


class _Heard:
    """The untrusted texts that came into one collection, newest last."""

    def __init__(self) -> None:
        self.until = 0
        self.size = 0
        self.lock = threading.Lock()
        self._texts: deque[_Source] = deque()
        self._known: Numbers = union([])
        self._loose = 0
        """How many of the newest texts are not among the known runs yet."""

    def hear(self, record: Record) -> None:
        self.until = max(self.until, record.seq)
        for source in _Source.read(record.id, record):
            self._texts.append(source)
            self.size += len(source.runs)
            self._loose += 1
        while len(self._texts) > HEARD_TEXTS or (self.size > HEARD_RUNS and len(self._texts) > 1):
            self.size -= len(self._texts.popleft().runs)

    def repeated(self, reply: Runs, *, just_read: bool) -> list[str]:
        """Ids of the texts that a reply repeats. Few of its runs are in any of them, so that is looked up first."""
        if self._loose > _LOOSE_TEXTS:
            self._known = union([numbers for text in self._texts for numbers in (text.runs.all, text.runs.plain)])
            self._loose = 0
        joined = reply.within(self._known)
        older = max(len(self._texts) - self._loose, 0)
        return [
            text.name
            for place, text in enumerate(self._texts)
            if text.is_repeated(joined if place < older else reply, just_read=just_read)
        ]


class Echoes:
    """Remembers the untrusted texts of the sessions that are going on, so that each is read once."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._heard: OrderedDict[Collection, _Heard] = OrderedDict()
        self._own_parts: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def sources(self, reply: Runs, collections: Iterable[Collection], *, just_read: bool) -> Iterator[_Source]:
        """The untrusted texts that a reply repeats, as they are judged by now."""
        for collection in collections:
            heard = self._of(collection)
            with heard.lock:
                self._catch_up(collection, heard)
                same = heard.repeated(reply, just_read=just_read)
            for record in self._parts.store.get(collection, list(dict.fromkeys(same))):
                yield from _Source.read(record.ref, record)  # none, if somebody has released it meanwhile

    def own_part(self, reply: Record, refs: Sequence[str]) -> str:
        """What a reply says beside the texts that it repeats; nothing where one of those is gone."""
        with self._lock:
            if reply.ref in self._own_parts:
                return self._own_parts[reply.ref]
        sources = [self._find(ref) for ref in refs]
        read = [part.runs for source in sources if source is not None for part in _Source.read("", source)]
        known = union([numbers for runs in read for numbers in (runs.all, runs.plain)])
        told = [(sentence, runs_of(sentence)) for sentence in split(readable(reply))]
        own = [sentence for sentence, runs in told if len(runs) and not len(runs.within(known))]
        text = "" if None in sources else "\n".join(own)
        with self._lock:
            self._own_parts[reply.ref] = text
            while len(self._own_parts) > _OWN_PARTS:
                self._own_parts.popitem(last=False)
        return text

    def _find(self, ref: str) -> Record | None:
        places = readings_of(ref) if "/" in ref.strip("/") else []
        return next((record for name, id_ in places for record in self._parts.store.get(name, [id_])), None)

    def forget(self) -> None:
        """Texts are read once more: some may be trusted less than before."""
        with self._lock:
            self._heard.clear()
            self._own_parts.clear()

    def _of(self, collection: Collection) -> _Heard:
        with self._lock:
            heard = self._heard.setdefault(collection, _Heard())
            self._heard.move_to_end(collection)
            while len(self._heard) > 1 and sum(known.size for known in self._heard.values()) > REMEMBERED_RUNS:
                self._heard.popitem(last=False)
        return heard

    def _catch_up(self, collection: Collection, heard: _Heard) -> None:
        """Reads what came in since; where that is much, only the newest of it."""
        store = self._parts.store
        page = store.page(collection, heard.until, _READ_TURNS) if heard.until else []
        if not heard.until or len(page) == _READ_TURNS:
            page = [record for record in store.newest(collection, None, _READ_TURNS)[::-1] if record.seq > heard.until]
        for record in page:
            heard.hear(record)


class Replies:
    """Judges the replies of a session that come in together with other turns."""

    def __init__(self, parts: Parts, session_id: str, user_id: str | None) -> None:
        self._parts = parts
        self._user_id = user_id
        self._just_read = [Collection.raw(session_id), Collection.ledger(None, session_id)]
        self._just_read += [] if user_id is None else [Collection.ledger(user_id)]
        self._arriving: deque[NewTurn] = deque(maxlen=HEARD_TEXTS)
        self._sources: deque[_Source] = deque(maxlen=HEARD_TEXTS)

    def judge(self, draft: Draft) -> Draft:
        """A reply with no more trust than the untrusted texts that it repeats; any other turn as it is."""
        if draft.provenance is not Provenance.ASSISTANT_TURN or draft.trust is Trust.QUARANTINED:
            return draft
        runs = runs_of(readable(draft))
        if not len(runs):
            return draft
        echoes = self._parts.state(Echoes)
        found = [source for source in self._with_arriving() if source.is_repeated(runs, just_read=True)]
        found += echoes.sources(runs, self._just_read, just_read=True)
        found += echoes.sources(runs, visible_to(self._user_id), just_read=False)
        return _no_more_than(draft, found, self._parts.clock.now_ms())

    def hear(self, turn: NewTurn) -> None:
        """A turn that comes in before the next one. It is read when a reply follows."""
        self._arriving.append(turn)

    def _with_arriving(self) -> Iterable[_Source]:
        while self._arriving:
            turn = self._arriving.popleft()
            self._sources += _Source.read(turn.places[0].collection.ref(turn.places[0].id), turn.draft)
        return self._sources


def without_repeats_of_others(parts: Parts, record: Record) -> Record | None:
    """A reply without what it repeats of untrusted texts, as any session may see it.

    None where that leaves nothing, and for a record that is untrusted for another reason. A sentence that shares a run
    of words with one of those texts is left out, and so is one that is too short to tell.
    """
    verdict = value_of(record.marks, Mark.TRUST)
    refs = verdict.get("sources") if isinstance(verdict, dict) else None
    is_judged = record.provenance is Provenance.ASSISTANT_TURN and set_by(record.marks, Mark.TRUST) == By.CLEW
    if record.trust is not Trust.UNTRUSTED or not is_judged or not isinstance(refs, list):
        return None
    said = parts.state(Echoes).own_part(record, refs)
    marks = {name: mark for name, mark in record.marks.items() if name != Mark.TRUST}
    return msgspec.structs.replace(record, text=said, trust=Trust.UNKNOWN, marks=marks) if said else None


def visible_to(user_id: str | None) -> list[Collection]:
    """Where else a model may have read: what is kept for this user and for all, and what came in in all sessions."""
    if user_id is None:
        return [GLOBAL]
    return [Collection.memories(user_id), GLOBAL, Collection.owned(user_id), Collection.turns(user_id)]


def judge_record(parts: Parts, place: Place, draft: Draft) -> Draft:
    """A record with the trust of its words: a model's wait for the user, and none gain trust by being put again."""
    if draft.provenance is Provenance.MODEL and draft.trust is Trust.UNTRUSTED:
        turn = _turn_that_says(parts, place.collection, draft.text)
        if turn is not None:
            draft = _with_trust(draft, Trust.UNKNOWN, said_in(turn), parts.clock.now_ms())
    draft = _as_before(parts, place, draft)
    if not may_enter(draft.trust):
        return draft
    collections = dict.fromkeys([place.collection, *visible_to(place.collection.user_id)])
    found = parts.state(Echoes).sources(runs_of(draft.text), collections, just_read=False)
    return _no_more_than(draft, list(found), parts.clock.now_ms())


def _as_before(parts: Parts, place: Place, draft: Draft) -> Draft:
    """A record whose words are in the collection already, with the trust that they have there."""
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
        if _waits_for_user(memory) and says_same(memory.text, own_words(said))
    ]  # fmt: skip


def _waits_for_user(memory: Record) -> bool:
    """Whether a statement is a model's, or was put by a client in the words of one."""
    judged = set_by(memory.marks, Mark.TRUST)
    is_put_again = memory.provenance is Provenance.MEMORY and judged == By.CLEW
    return (
        memory.trust is Trust.UNTRUSTED
        and judged != By.OPERATOR
        and (memory.provenance is Provenance.MODEL or is_put_again)
    )


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


def _untrusted_part(text: Record | Draft) -> tuple[str, Trust]:
    """The words of a text that nobody may carry on, and their trust: all of an untrusted text, and of a user's turn
    what the user only quotes. Replies are compared with those alone: they repeat each other."""
    if text.provenance is Provenance.USER_TURN and may_enter(text.trust):
        return quoted_words(text.text), Trust.UNTRUSTED
    if may_enter(text.trust) or text.provenance is Provenance.ASSISTANT_TURN:
        return "", text.trust
    return text.text, text.trust


def _no_more_than(draft: Draft, sources: Sequence[_Source], now_ms: int) -> Draft:
    worst = least([draft.trust, *(source.trust for source in sources)])
    if worst is draft.trust:
        return draft
    names = list(dict.fromkeys(source.name for source in sources))
    origin = next(source.name for source in sources if source.trust is worst)
    return _with_trust(draft, worst, f"repeats {origin}", now_ms, names if len(names) <= MOST_SOURCES else [])


def _with_trust(draft: Draft, trust: Trust, why: str, now_ms: int, sources: Sequence[str] = ()) -> Draft:
    return replace(draft, trust=trust, marks={**draft.marks, Mark.TRUST.value: _reason(trust, why, now_ms, sources)})


def _reason(trust: Trust, why: str, now_ms: int, sources: Sequence[str] = ()) -> dict[str, object]:
    repeated = {"sources": list(sources)} if sources else {}
    return made({"trust": trust.value, "reason": why, **repeated}, By.CLEW, now_ms)
