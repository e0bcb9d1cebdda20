"""Proof that histories keep their promises: a view leads back to every raw turn.

Each check reads the rows as they are and says in one line what it compared, over how many. The store may
be at work meanwhile: a problem counts only if a second reading finds it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from clew.core.collections import HARD, LORE, SOFT, Collection, CollectionKind
from clew.core.lineage import Graph
from clew.core.model import Provenance, Record, Trust, least
from clew.features.context.assemble import planned
from clew.kernel.derivation import withheld_ids
from clew.kernel.parts import Parts
from clew.kernel.views import Summary, active_view, all_summaries, is_turn
from clew.storage.paging import every_member
from clew.storage.protocol import Finding

MAX_PROBLEMS = 20


def findings(parts: Parts) -> Iterator[Finding]:
    names = [name for name, _ in parts.store.collections()]
    yield _tiers(parts)
    report = _Report()
    for session_id in sessions(names):
        _check_session(parts, session_id, report)
    yield from report.findings()
    yield _shards(parts, names)


def sessions(names: Sequence[Collection]) -> list[str]:
    return [name.owner for name in names if name.is_raw]


def repair(parts: Parts) -> None:
    """Put back into its view whatever leads to a turn that nothing else leads to. Nothing is taken away."""
    for session_id in sessions([name for name, _ in parts.store.collections()]):
        lost, still_lost = (_History.read(parts, session_id).lost_roots() for _ in range(2))
        parts.store.readmit(session_id, [id_ for id_ in still_lost if id_ in lost])
        parts.store.readmit(session_id, _History.read(parts, session_id).lost_turns())


@dataclass
class _History:
    """One session with everything that is compared."""

    session_id: str
    turns: dict[str, Record]
    summaries: dict[str, Summary]
    malformed: list[str]
    graph: Graph
    shown: set[str]
    dismissed: set[str]

    @classmethod
    def read(cls, parts: Parts, session_id: str) -> _History:
        """In this order, since turns and summaries only ever come to be: what the view shows leads to every
        turn that was there before it was read, by summaries that are there after it."""
        turns = {record.id: record for record in every_member(parts.store, Collection.raw(session_id))}
        view = active_view(parts, session_id)
        dismissed = {record.id for record in every_member(parts.store, Collection.dismissed(session_id))}
        kept = [record.id for record in every_member(parts.store, Collection.summaries(session_id))]
        summaries = {item.record.id: item for item in all_summaries(parts, session_id)}
        return cls(
            session_id=session_id,
            turns=turns,
            summaries=summaries,
            malformed=[id_ for id_ in kept if id_ not in summaries],
            graph=Graph({id_: item.lineage for id_, item in summaries.items()}, turns.keys()),
            shown={turn.id for turn in view.turns} | {item.record.id for item in view.summaries},
            dismissed=dismissed,
        )

    def lost_turns(self) -> list[str]:
        """Raw turns that neither the view nor any of its summaries leads to, and that nobody dismissed."""
        return [id_ for id_ in self.graph.uncovered(self.shown) if id_ not in self.dismissed]

    def lost_roots(self) -> list[str]:
        """Summaries that neither the view shows nor a higher one covers."""
        covered = {source for item in self.summaries.values() for source in item.lineage.source_ids}
        return [id_ for id_ in self.summaries if id_ not in self.shown and id_ not in covered]

    def turn_count(self, id_: str, level: int) -> int:
        return 1 if level == 0 else self.summaries[id_].lineage.turn_count

    def sources(self, item: Summary) -> list[Record]:
        if item.lineage.level == 1:
            return [self.turns[id_] for id_ in item.lineage.source_ids if id_ in self.turns]
        return [self.summaries[id_].record for id_ in item.lineage.source_ids if id_ in self.summaries]


@dataclass
class _Report:
    """What was counted and what was found wrong, over all sessions."""

    sessions: int = 0
    turns: int = 0
    summaries: int = 0
    compacted: int = 0
    problems: dict[str, list[str]] = field(default_factory=dict)

    def add(self, history: _History, problems: Mapping[str, Iterable[str]]) -> None:
        self.sessions += 1
        self.turns += len(history.turns)
        self.summaries += len(history.summaries)
        self.compacted += len(history.turns.keys() - history.shown - history.dismissed)
        for check, found in problems.items():
            self.problems.setdefault(check, []).extend(f"session {history.session_id}: {text}" for text in found)

    def findings(self) -> Iterator[Finding]:
        proofs = {
            "tail": f"the newest turns of {self.sessions} sessions are in their views as they were said",
            "budget": f"contexts of {self.sessions} sessions keep to the budget or say why they cannot",
            "acyclic": f"no circle among {self.summaries} summaries; every edge leads one level down",
            "expansion": f"each of {self.summaries} summaries reaches raw turns of its own session, and no others",
            "coverage": f"each of {self.turns} raw turns is in its view or under a summary; "
            f"{self.compacted} are under one",
            "progress": f"each of {self.summaries} summaries is smaller than what it covers",
            "lineage": f"{self.summaries} summaries name their sources, times, method, confidence and trust",
        }
        for check, proof in proofs.items():
            yield Finding(check, proof, tuple(self.problems.get(check, ())[:MAX_PROBLEMS]))


def _check_session(parts: Parts, session_id: str, report: _Report) -> None:
    history = _History.read(parts, session_id)
    problems = _problems(parts, history)
    if any(problems.values()):
        again = _problems(parts, _History.read(parts, session_id))
        problems = {check: {text: None for text in found if text in again[check]} for check, found in problems.items()}
    report.add(history, problems)


def _problems(parts: Parts, history: _History) -> dict[str, dict[str, None]]:
    """What is wrong with a session, by check, in order."""
    coverage = [f"turn {id_} is out of reach" for id_ in history.lost_turns()]
    coverage += [f"summary {id_} is out of reach" for id_ in history.lost_roots()]
    found: dict[str, Iterable[str]] = {
        "tail": _tail(parts, history),
        "budget": _budget(parts, history.session_id),
        "acyclic": [*history.graph.dangling(), *_circle(history.graph)],
        "expansion": _expansion(history),
        "coverage": coverage,
        "progress": _progress(history),
        "lineage": [*(f"summary {id_} has none" for id_ in history.malformed), *_lineage(history)],
    }
    return {check: dict.fromkeys(problems) for check, problems in found.items()}


def _tail(parts: Parts, history: _History) -> Iterator[str]:
    """The newest turns were not compacted, and the view shows turns of its history, word for word."""
    newest = next(reversed(history.turns), None)
    if newest is not None and newest not in history.shown and newest not in history.dismissed:
        yield f"the newest turn {newest} is not in the view"
    for shown in every_member(parts.store, Collection.session(history.session_id)):
        said = history.turns.get(shown.id)
        if said is None and is_turn(shown):
            yield f"turn {shown.id} of the view is not in the raw history"
        if said is not None and shown.text != said.text:
            yield f"turn {shown.id} is not shown as it was said"


def _budget(parts: Parts, session_id: str) -> Iterator[str]:
    allocation = planned(parts, session_id)
    if allocation.committed > allocation.total and allocation.degraded is None:
        yield f"a context takes {allocation.committed} of {allocation.total} tokens and does not say so"


def _circle(graph: Graph) -> Iterator[str]:
    circle = graph.cycle()
    if circle:
        yield "summaries reach each other in a circle: " + ", ".join(circle)


def _expansion(history: _History) -> Iterator[str]:
    for id_, item in history.summaries.items():
        told = [history.turn_count(source.id, item.lineage.level - 1) for source in history.sources(item)]
        if not history.graph.turns_under(id_):
            yield f"summary {id_} reaches no turn"
        elif sum(told) != item.lineage.turn_count:
            yield f"summary {id_} covers {sum(told)} turns, not {item.lineage.turn_count}"


def _progress(history: _History) -> Iterator[str]:
    for id_, item in history.summaries.items():
        sources = sum(record.tokens for record in history.sources(item))
        if item.record.tokens >= sources:
            yield f"summary {id_} has {item.record.tokens} tokens, its sources {sources}"


def _lineage(history: _History) -> Iterator[str]:
    for id_, item in history.summaries.items():
        lineage, sources = item.lineage, history.sources(item)
        if not sources:
            continue
        if lineage.trivial != (len(lineage.source_ids) == 1):
            yield f"summary {id_} is wrong about being trivial"
        if least((item.record.trust, *_trusts_that_entered(item, sources))) is not item.record.trust:
            yield f"summary {id_} is {item.record.trust}, which its sources are not"
        times = [history.turns[turn].ts_ms for turn in history.graph.turns_under(id_)]
        if times and (min(times), max(times)) != (lineage.first_ts_ms, lineage.last_ts_ms):
            yield f"summary {id_} names times that are not those of its turns"


def _trusts_that_entered(item: Summary, sources: Iterable[Record]) -> list[Trust]:
    """A summary says nothing of what was quarantined when it was made. Trust may be lower than that of its sources."""
    withheld = withheld_ids(item.record)
    return [record.trust for record in sources if record.id not in withheld]


def _tiers(parts: Parts) -> Finding:
    seen: dict[str, str] = {}
    problems = []
    for name in (HARD, SOFT, LORE):
        for record in every_member(parts.store, name):
            if record.id in seen:
                problems.append(f"{record.id} is in {seen[record.id]} and in {name}")
            seen[record.id] = name
    return Finding("tiers", f"each of {len(seen)} authored nodes has exactly one tier", tuple(problems[:MAX_PROBLEMS]))


def _shards(parts: Parts, names: Sequence[Collection]) -> Finding:
    """A shard is the turn itself in one more place, so it can only be word for word."""
    problems = []
    count = 0
    for name in names:
        for record in every_member(parts.store, name) if name.kind is CollectionKind.GUIDANCE else ():
            count += 1
            places = parts.store.places(name, record.id)
            if record.provenance is not Provenance.USER_TURN or not any(p.collection.is_raw for p in places):
                problems.append(f"{name}/{record.id} is not a turn of a user")
    return Finding("shards", f"{count} pieces of guidance are turns of users, word for word", tuple(problems))
