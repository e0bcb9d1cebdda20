"""The observation log: makes lines of turns, merges and drops lines, shows the log.

The buffer holds the turns behind the last observed one. When the tail of a context has no room for all of it, the
observer makes lines of all but the newest turns, the base of the tail; when the lines pass their own bound, the
reflector makes them fewer. The lines of a run depend on its turns and their trust, the lines before it, the tuning
`observe_block_tokens` and the token counter. The log keeps the end of each run, so that a rebuild from the raw history
gives the same bytes while those stay the same. A rebuild makes lines by rules where a model wrote them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from clew.core.collections import Collection
from clew.core.model import Record, Role
from clew.errors import NotFound, SummarizerFailed
from clew.features.history.tail import Tail, TailTurn, boundaries, split_tail
from clew.features.history.turns import stored_message, tail_turn
from clew.features.observations import block as observation_block
from clew.features.observations.abstracts import sound_lines, transcripts
from clew.features.observations.observer import Costing, Observation, Priority, observe, within
from clew.features.observations.operations import (
    ObservationLine,
    ObservationLog,
    ObservationStats,
    ObserveRebuild,
    ObserveReceipt,
    ObserveRun,
    ObserveShow,
    ObserveStats,
)
from clew.features.observations.reflection import reflect
from clew.features.observations.store import Log, line_ref, read_log, write_log
from clew.features.observations.tools import ObservedTurn
from clew.kernel.parts import Parts
from clew.kernel.quoting import line_tokens, speaker_of
from clew.kernel.services import serves
from clew.kernel.views import is_turn
from clew.storage.paging import member_pages

ABSTRACT_TOKENS = 800
"""The most that a model writes for one piece of a run."""

LEAST_RUN_TOKENS = 50
"""Fewer tokens stay in the buffer: no shorter line could say the same."""

_TURNS_A_READ = 1000
_LONGEST_RUN_FACTOR = 2
"""A buffer of more than so many times its bound takes several runs of like size."""

_LOCKS = 32


class SessionLocks:
    """A fixed number of locks for all sessions. Two sessions may share one, and wait for each other at worst."""

    def __init__(self, _: Parts) -> None:
        self._locks = tuple(threading.Lock() for _ in range(_LOCKS))

    def of(self, session_id: str) -> threading.Lock:
        return self._locks[hash(session_id) % _LOCKS]


@serves(ObserveRun)
def observe_run(parts: Parts, request: ObserveRun) -> ObserveReceipt:
    """By rules, and by a model where there is one. With `force`, also while the buffer is within its bound."""
    _check_session(parts, request.session_id)
    done = catch_up(parts, request.session_id, parts.tuning.observe_buffer_tokens, force=request.force, ask_model=True)
    return _receipt(parts, request.session_id, done)


@serves(ObserveRebuild)
def observe_rebuild(parts: Parts, request: ObserveRebuild) -> ObserveReceipt:
    """Makes the log again from the raw history, run by run."""
    session_id = request.session_id
    _check_session(parts, session_id)
    with parts.state(SessionLocks).of(session_id):
        before = read_log(parts, session_id)
        observer = _Observer(parts)
        turns = list(turns_behind(parts, session_id, 0))
        after = Log()
        for start, end in zip((0, *before.ends), before.ends, strict=False):
            after = observer.run(after, [turn for turn in turns if start < turn.seq <= end], end)
        write_log(parts, session_id, before, after)
    return _receipt(parts, session_id, Done(before, after, observer.degraded))


@serves(ObserveShow)
def observe_show(parts: Parts, request: ObserveShow) -> ObservationLog:
    _check_session(parts, request.session_id)
    log = read_log(parts, request.session_id)
    buffer = _tail_turns(parts, turns_behind(parts, request.session_id, log.until))
    return ObservationLog(
        session_id=request.session_id,
        text=observation_block.block(log.lines),
        lines=tuple(_view(request.session_id, line) for line in log.lines),
        tokens=block_tokens(parts, log.lines),
        buffer_turns=len(buffer),
        buffer_tokens=sum(turn.tokens for turn in buffer),
    )


@serves(ObserveStats)
def observe_stats(parts: Parts, request: ObserveStats) -> ObservationStats:
    _check_session(parts, request.session_id)
    log = read_log(parts, request.session_id)
    turns = list(turns_behind(parts, request.session_id, 0))
    observed = [turn for turn in turns if turn.seq <= log.until]
    buffer = _tail_turns(parts, turns[len(observed) :])
    counts = {priority: sum(line.priority is priority for line in log.lines) for priority in Priority}
    tokens = block_tokens(parts, log.lines)
    raw_tokens = sum(turn.tokens for turn in observed)
    return ObservationStats(
        session_id=request.session_id,
        runs=len(log.ends),
        reflections=log.reflections,
        high=counts[Priority.HIGH],
        medium=counts[Priority.MEDIUM],
        low=counts[Priority.LOW],
        tokens=tokens,
        observed_turns=len(observed),
        observed_tokens=raw_tokens,
        share=tokens / raw_tokens if raw_tokens else 0.0,
        cited_turns=len({source for line in log.lines for source in line.sources}),
        buffer_turns=len(buffer),
        buffer_tokens=sum(turn.tokens for turn in buffer),
    )


def _check_session(parts: Parts, session_id: str) -> None:
    if parts.store.size(Collection.raw(session_id)) == 0:
        raise NotFound(f"there is no session {session_id[:200]!r}")


# --- runs --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Done:
    """The log before and after a request, and what went worse than it could."""

    before: Log
    after: Log
    degraded: list[str] = field(default_factory=list)


def catch_up(parts: Parts, session_id: str, limit_tokens: int, *, force: bool = False, ask_model: bool = False) -> Done:
    """Observe the turns that the buffer has no room for; none where it is within its bound."""
    with parts.state(SessionLocks).of(session_id):
        before = log = read_log(parts, session_id)
        observer = _Observer(parts, ask_model=ask_model)
        for turns in _due(parts, list(turns_behind(parts, session_id, log.until)), limit_tokens, force=force):
            after = observer.run(log, turns, turns[-1].seq)
            if not write_log(parts, session_id, log, after):
                return Done(before, read_log(parts, session_id), [*observer.degraded, "another run was faster"])
            log = after
    return Done(before, log, observer.degraded)


def turns_behind(parts: Parts, session_id: str, seq: int) -> Iterator[Record]:
    """Turns of the raw history behind a place in it, without those that somebody dismissed."""
    dismissed = Collection.dismissed(session_id)
    for page in member_pages(parts.store, Collection.raw(session_id), seq, _TURNS_A_READ):
        ids = [turn.id for turn in page]
        left_out = {turn.id for turn in parts.store.get(dismissed, ids)} if parts.store.size(dismissed) else set()
        yield from (turn for turn in page if is_turn(turn) and turn.id not in left_out)


def buffer_tail(parts: Parts, turns: Sequence[TailTurn], target: int) -> Tail:
    """The tail of a context that shows the log: bounded by its tokens alone, however many turns it has."""
    return split_tail(turns, parts.config.tail_min_turns, target)


def block_tokens(parts: Parts, lines: Sequence[Observation]) -> int:
    return sum(map(costing(parts), lines))


def costing(parts: Parts) -> Costing:
    """Counts the tokens of a line on the safe side: with its day, and with the end of the line."""
    return lambda line: line_tokens(parts, observation_block.line(line))


def _due(parts: Parts, turns: Sequence[Record], limit_tokens: int, *, force: bool) -> Iterator[Sequence[Record]]:
    """The turns to observe, in runs that part no coupled turns; none while the tail has room for all."""
    buffer = _tail_turns(parts, turns)
    tail = buffer_tail(parts, buffer, limit_tokens)
    if tail.base_start == 0 or (tail.start == 0 and not force):
        return
    edges = [edge for edge in boundaries(buffer) if edge <= tail.base_start]
    total = sum(turn.tokens for turn in buffer[: tail.base_start])
    if total < LEAST_RUN_TOKENS:
        return
    runs = -(-total // (parts.tuning.observe_buffer_tokens * _LONGEST_RUN_FACTOR))
    start = tokens = 0
    for before, edge in pairwise(edges):
        tokens += sum(turn.tokens for turn in buffer[before:edge])
        if edge == tail.base_start or tokens * runs >= total:
            yield turns[start:edge]
            start, tokens = edge, 0


def _tail_turns(parts: Parts, turns: Sequence[Record] | Iterator[Record]) -> list[TailTurn]:
    return [tail_turn(parts, stored_message(turn)) for turn in turns]


class _Observer:
    """Makes the runs of one request."""

    def __init__(self, parts: Parts, *, ask_model: bool = False) -> None:
        self._parts = parts
        self._cost = costing(parts)
        model = parts.summarizer
        self._model = model if ask_model and model is not None and model.ready() else None
        self.degraded: list[str] = []

    def run(self, log: Log, turns: Sequence[Record], end: int) -> Log:
        """The log with lines of these turns, after the reflector where it grew too long."""
        seen = [_observed_turn(turn) for turn in turns]
        number = len(log.ends) + 1
        made = observe(seen, self._cost, [line.text for line in log.lines])
        made = self._by_model(seen, made)
        lines = [*log.lines, *(replace(line, run=number, place=place) for place, line in enumerate(made))]
        kept = reflect(lines, self._parts.tuning.observe_block_tokens, self._cost)
        return Log(tuple(kept), (*log.ends, end), log.reflections + (len(kept) < len(lines)))

    def _by_model(self, turns: Sequence[ObservedTurn], made: list[Observation]) -> list[Observation]:
        """The sound lines of a model; rules speak for turns that none of them covers."""
        written = [line for piece, transcript in transcripts(turns) for line in self._ask(piece, transcript)]
        if not written:
            return made
        told = {source for line in written for source in line.sources}
        places = {turn.id: place for place, turn in enumerate(turns)}
        lines = [*written, *(line for line in made if told.isdisjoint(line.sources))]
        ordered = sorted(lines, key=lambda line: places[line.sources[0]])
        return within(ordered, sum(turn.tokens for turn in turns) - 1, self._cost)

    def _ask(self, turns: Sequence[ObservedTurn], transcript: str) -> list[Observation]:
        if self._model is None:
            return []
        most = min(ABSTRACT_TOKENS, sum(turn.tokens for turn in turns) - 1)
        try:
            written = self._model.summarise(transcript, earlier="", max_tokens=most)
        except SummarizerFailed as error:
            self.degraded.append(f"observed by rules alone: {error.message}")
            self._model = None  # each try may take its whole time-out
            return []
        return sound_lines(written.text, turns, self._model.name)


def _observed_turn(turn: Record) -> ObservedTurn:
    message = stored_message(turn)
    return ObservedTurn(
        id=turn.id,
        who=speaker_of(turn),
        role=turn.role or Role.USER,
        ts_ms=turn.ts_ms,
        text=turn.text,
        trust=turn.trust,
        tokens=turn.tokens,
        tool_call_ids=message.tool_call_ids,
        tool_call_id=message.tool_call_id,
        has_failed=turn.metadata.get("isError") is True,
    )


# --- answers -----------------------------------------------------------------------------------------


def _receipt(parts: Parts, session_id: str, done: Done) -> ObserveReceipt:
    before, after = ({line_ref(session_id, line) for line in log.lines} for log in (done.before, done.after))
    buffer = _tail_turns(parts, turns_behind(parts, session_id, done.after.until))
    return ObserveReceipt(
        session_id=session_id,
        runs=len(done.after.ends) - len(done.before.ends),
        reflections=max(done.after.reflections - done.before.reflections, 0),
        added=len(after - before),
        dropped=len(before - after),
        lines=len(after),
        tokens=block_tokens(parts, done.after.lines),
        buffer_turns=len(buffer),
        buffer_tokens=sum(turn.tokens for turn in buffer),
        degraded=tuple(dict.fromkeys(done.degraded)),
    )


def _view(session_id: str, line: Observation) -> ObservationLine:
    history = Collection.raw(session_id)
    return ObservationLine(
        ref=line_ref(session_id, line),
        priority=line.priority.name.lower(),
        observed=line.observed,
        referenced=line.when,
        relative=line.relative,
        who=line.who,
        text=line.text,
        trust=line.trust.value,
        sources=tuple(f"{history}/{source}" for source in line.sources),
        method=line.method,
    )
