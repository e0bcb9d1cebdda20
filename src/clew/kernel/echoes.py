"""Gives a model's words no more trust than the text they repeat.

A reply that repeats the words of a tool would carry them into other sessions under the assistant's name. A statement
that a model stores on its own may come from anywhere. Neither has more trust than its likely source.
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
from clew.kernel.quoting import DEEDS, readable
from clew.storage.protocol import Marking, NewTurn, Place
from clew.text.echoes import READ_CHARS, Numbers, Runs, is_same_text, repeats, runs_of, says_same, union
from clew.text.sentences import split
from clew.text.speech import own_words, quoted_words
from clew.text.speech.printed import is_output
from clew.text.terms import analyse_query

HEARD_TEXTS = 200
"""The newest untrusted texts of a collection that a reply is compared with."""
HEARD_RUNS = 200_000
"""The most runs of words of those texts, 8 bytes each."""
REMEMBERED_RUNS, REMEMBERED_COLLECTIONS = 4_000_000, 128
"""The most runs of all collections together, and the most collections. The least recently used go first."""
UNREAD_OUTCOMES = 64
"""The newest captured outcomes of a collection that no harvest has taken in."""
_CHARS_A_RUN = 4
MOST_SOURCES = 8
"""The most sources that the mark of a reply names. A reply with more is shown only on request."""
PAYLOAD = "payload"
"""The key in the metadata of a captured outcome."""
PART_LEFT_OUT = "[words of a text that nobody vouches for left out]"
_OWN_PARTS = 1024
_READ_TURNS = 400
_LOOSE_TEXTS = 16
_SENTENCE_RUNS = 6
"""The fewest runs of a sentence that is compared by itself."""
_NEIGHBOURS = 8
_COMPARED_CHARS = 4000


class _Source(NamedTuple):
    """An untrusted text, or the part of a turn that its user only quotes."""

    name: str
    """Its id in its collection, or its reference."""
    trust: Trust
    runs: Runs
    is_quote: bool
    """A user hands over a text for the model to work on, so a reply may use some of its words."""

    @classmethod
    def read(cls, name: str, text: Record | Draft) -> Iterator[_Source]:
        """A text, and for a quotation also each sentence: nobody can tell where the words of somebody else begin."""
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
    """The untrusted texts of one collection, newest last."""

    def __init__(self) -> None:
        self.until = 0
        self.size = 0
        self.weight = 0
        self.lock = threading.Lock()
        self._texts: deque[_Source] = deque()
        self._known: Numbers = union([])
        self._loose = 0
        """How many of the newest texts are not among the known runs yet."""
        self._outcomes: deque[_Source] = deque(maxlen=UNREAD_OUTCOMES)
        self._unread: deque[tuple[str, str]] = deque(maxlen=UNREAD_OUTCOMES)

    def start_again(self) -> None:
        self.until = self.size = self._loose = 0
        self._texts.clear()
        self._known = union([])

    def weigh(self) -> None:
        """Notes the memory that it takes, in runs. One takes as much as a few characters."""
        unread = sum(len(text) for _, text in self._unread) // _CHARS_A_RUN
        self.weight = self.size + unread + sum(len(outcome.runs) for outcome in self._outcomes)

    def hear_outcome(self, ref: str, text: str) -> None:
        """Captured, and not in the ledger yet. It is read when a reply follows."""
        self._unread.append(
            (ref, text if len(text) <= 2 * READ_CHARS else f"{text[:READ_CHARS]}\n{text[-READ_CHARS:]}")
        )

    def outcomes(self) -> Iterable[_Source]:
        while self._unread:
            ref, text = self._unread.popleft()
            self._outcomes.append(_Source(ref, Trust.UNTRUSTED, runs_of(text), is_quote=False))
        return self._outcomes

    def hear(self, record: Record) -> None:
        self.until = max(self.until, record.seq)
        for source in _Source.read(record.id, record):
            self._texts.append(source)
            self.size += len(source.runs)
            self._loose += 1
        while len(self._texts) > HEARD_TEXTS or (self.size > HEARD_RUNS and len(self._texts) > 1):
            self.size -= len(self._texts.popleft().runs)

    def find_repeated(self, reply: Runs, *, just_read: bool) -> list[str]:
        """The ids of the texts that a reply repeats. Few of its runs are in any text, so others are dropped first."""
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
    """Remembers the untrusted texts of running sessions, so that each is read once."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._heard: OrderedDict[Collection, _Heard] = OrderedDict()
        self._own_parts: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def sources(self, reply: Runs, collections: Iterable[Collection], *, just_read: bool) -> Iterator[_Source]:
        """The untrusted texts that a reply repeats, with their present trust."""
        for collection in collections:
            heard = self._of(collection)
            with heard.lock:
                self._catch_up(collection, heard)
                same = heard.find_repeated(reply, just_read=just_read)
                outcomes = [one for one in heard.outcomes() if one.is_repeated(reply, just_read=just_read)]
                heard.weigh()
            yield from outcomes
            for record in self._parts.store.get(collection, list(dict.fromkeys(same))):
                yield from _Source.read(record.ref, record)  # none if the operator has released it meanwhile

    def hear_outcome(self, collections: Iterable[Collection], id_: str, text: str, payload: object) -> None:
        """A captured outcome: a reply may follow before a harvest brings it into the ledger."""
        whole = "\n".join([text, *_texts_in(payload)])
        for collection in collections:
            heard = self._of(collection)
            with heard.lock:
                heard.hear_outcome(collection.ref(id_), whole)
                heard.weigh()

    def own_part(self, reply: Record, refs: Sequence[str]) -> str:
        """The sentences of a reply that repeat none of these texts; empty where one of the texts is gone."""
        with self._lock:
            if reply.ref in self._own_parts:
                return self._own_parts[reply.ref]
        sources = [source for source in map(self._find, refs) if source is not None]
        if len(sources) < len(refs):  # gone, or not harvested yet
            return ""
        read = [part.runs for source in sources for part in _Source.read("", source)]
        known = union([numbers for runs in read for numbers in (runs.all, runs.plain)])
        words, mark, deeds = readable(reply).partition(DEEDS)  # its deeds are shown all or not at all
        told = [(sentence, runs_of(sentence)) for sentence in [*split(words), *([mark + deeds] if mark else [])]]
        own = [sentence for sentence, runs in told if len(runs) and not len(runs.within(known))]
        is_known = all("artifact" not in source.metadata for source in sources)
        text = "" if not (is_known and own) else "\n".join([*own, PART_LEFT_OUT])
        with self._lock:
            self._own_parts[reply.ref] = text
            while len(self._own_parts) > _OWN_PARTS:
                self._own_parts.popitem(last=False)
        return text

    def _find(self, ref: str) -> Record | None:
        places = readings_of(ref) if "/" in ref.strip("/") else []
        return next((record for name, id_ in places for record in self._parts.store.get(name, [id_])), None)

    def read_again(self) -> None:
        """Stored texts are read again: some may now have less trust."""
        with self._lock:
            self._own_parts.clear()
            known = list(self._heard.values())
        for heard in known:
            with heard.lock:
                heard.start_again()

    def forget(self) -> None:
        """Forgets all texts; those that are stored are read again."""
        with self._lock:
            self._own_parts.clear()
            self._heard.clear()

    def _of(self, collection: Collection) -> _Heard:
        with self._lock:
            heard = self._heard.setdefault(collection, _Heard())
            self._heard.move_to_end(collection)
            while len(self._heard) > 1 and (
                len(self._heard) > REMEMBERED_COLLECTIONS
                or sum(known.weight for known in self._heard.values()) > REMEMBERED_RUNS
            ):
                self._heard.popitem(last=False)
        return heard

    def _catch_up(self, collection: Collection, heard: _Heard) -> None:
        """Reads the records that came in since the last call; where they are many, only the newest."""
        store = self._parts.store
        page = store.page(collection, heard.until, _READ_TURNS) if heard.until else []
        if not heard.until or len(page) == _READ_TURNS:
            page = [record for record in store.newest(collection, None, _READ_TURNS)[::-1] if record.seq > heard.until]
        for record in page:
            heard.hear(record)


class Replies:
    """Judges the replies of a session in a batch of turns."""

    def __init__(self, parts: Parts, session_id: str, user_id: str | None) -> None:
        self._parts = parts
        self._user_id = user_id
        self._just_read = [Collection.raw(session_id), Collection.ledger(None, session_id)]
        self._just_read += [] if user_id is None else [Collection.ledger(user_id)]
        self._arriving: deque[NewTurn] = deque(maxlen=HEARD_TEXTS)
        self._sources: deque[_Source] = deque(maxlen=HEARD_TEXTS)

    def judge(self, draft: Draft) -> Draft:
        """Lowers the trust of a reply to that of the untrusted texts it repeats; returns any other turn as it is."""
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
        """Notes a turn of the batch. It is read when a reply follows."""
        self._arriving.append(turn)

    def _with_arriving(self) -> Iterable[_Source]:
        while self._arriving:
            turn = self._arriving.popleft()
            self._sources += _Source.read(turn.places[0].collection.ref(turn.places[0].id), turn.draft)
        return self._sources


def without_repeats_of_others(parts: Parts, record: Record) -> Record | None:
    """A reply without the sentences that repeat untrusted texts, as any session may see it.

    None where nothing is left, and for a record that is untrusted for another reason. A sentence is left out if it
    shares a run of words with one of those texts, or is too short to tell.
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
    """Where else a model may have read: the records of this user, those for all users, and the user's turns."""
    if user_id is None:
        return [GLOBAL]
    return [Collection.memories(user_id), GLOBAL, Collection.owned(user_id), Collection.turns(user_id)]


def judge_record(parts: Parts, place: Place, draft: Draft) -> Draft:
    """A record with the trust of its words. A model's words wait for the user, and a second put adds no trust."""
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
    """Gives a record whose words are already in the collection no more trust than they have there."""
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
    """The marks that let a model's statements be recalled once the user says the same."""
    now_ms = parts.clock.now_ms()
    return [
        Marking(Place(memory.collection, memory.id), {Mark.TRUST.value: _reason(Trust.UNKNOWN, said_in(turn), now_ms)},
                Trust.UNKNOWN)
        for memory in memories
        if _waits_for_user(memory) and says_same(memory.text, own_words(said))
    ]  # fmt: skip


def _waits_for_user(memory: Record) -> bool:
    """Whether a statement comes from a model, or from a client in a model's words."""
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
    """The turn in which the user of these memories says the same as a statement."""
    if collection != Collection.memories(collection.owner or ""):
        return None
    for turn in _nearest(parts, Collection.turns(collection.owner), statement):
        if turn.role is Role.USER and may_enter(turn.trust) and says_same(statement, own_words(turn.text)):
            return turn.ref
    return None


def _nearest(parts: Parts, collection: Collection, text: str) -> list[Record]:
    """The members that share the most words with a text."""
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
    """The words of a text that must not spread, and their trust: all of an untrusted text, and the quotations in a
    user's turn. A reply has none: replies repeat each other."""
    if text.provenance is Provenance.USER_TURN and may_enter(text.trust):
        return quoted_words(text.text), Trust.UNTRUSTED
    if may_enter(text.trust) or text.provenance is Provenance.ASSISTANT_TURN:
        return "", text.trust
    return "\n".join([text.text, *_texts_in(text.metadata.get(PAYLOAD))]), text.trust


def _texts_in(payload: object) -> Iterator[str]:
    """What a captured outcome holds beside its short text."""
    if isinstance(payload, str):
        yield payload
    elif isinstance(payload, dict | list):
        for value in payload.values() if isinstance(payload, dict) else payload:
            yield from _texts_in(value)


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
