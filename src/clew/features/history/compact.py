"""Compaction: summaries replace old turns in a session's active view.

Read `compact` top-down: the view, its tail, the turns outside it in rounds, each round planned in
memory and written in one step. Raw turns stay where they are; the summaries of a round lead back to every
one of them. A round that fails, or that another compaction has overtaken, changes nothing.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from clew.core.collections import Collection
from clew.core.model import Record, Trust, least, role_of
from clew.errors import ClewError, InvalidInput
from clew.features.guidance.marking import Guide
from clew.features.history.operations import Compact, CompactReceipt
from clew.features.history.summarising import Covered, Summariser, of_record, of_summary
from clew.features.history.tail import TailTurn, boundaries, split_clusters
from clew.features.history.turns import checked_budget, stored_message, tail_of, tail_target, tail_turn
from clew.features.trust.service import follow_sources
from clew.kernel.parts import Parts
from clew.kernel.services import serves
from clew.kernel.views import View, active_view
from clew.storage.protocol import NewSummary, Place, Shard

PRIOR_TOKENS = 600
"""How much of the earlier summaries a new summary is written in the light of."""

MAX_PRIOR_TOKENS = 100_000
ROUND_TURNS = 2000
"""Turns of one round at most. Bounds the memory of a plan, and how long its writing holds up others."""

LATER_TURNS = 20
"""Turns behind a cluster that its summary is written in the light of: they may answer its questions."""

_log = logging.getLogger("clew.compact")


@serves(Compact)
def compact(parts: Parts, request: Compact) -> CompactReceipt:
    Collection.session(request.session_id)
    size = request.cluster_turns or 0
    size = size if size > 0 else parts.config.compact_cluster_turns
    prior_tokens = _checked_prior(request.prior_tokens)
    view = active_view(parts, request.session_id)
    turns = [_tail_turn(parts, turn, len(view.turns) - place) for place, turn in enumerate(view.turns)]
    edges = boundaries(turns)
    outside = _outside(parts, request, turns)
    outcome = _Outcome(tokens_before=view.tokens)
    if outside >= (1 if request.force else size):
        levels = _Levels(view)
        for piece in _rounds(edges, outside):
            start = piece[0]
            plan = _Round(parts, request.session_id, levels, size, prior_tokens)
            if not plan.carry_out(view.turns[start:], [edge - start for edge in piece], outcome):
                break
    return outcome.receipt()


@dataclass
class _Outcome:
    """The totals of all rounds."""

    tokens_before: int
    formed: list[NewSummary] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    methods: Counter[str] = field(default_factory=Counter)
    clusters: int = 0
    declined: int = 0
    turns_removed: int = 0
    tokens_saved: int = 0
    shards: int = 0
    trivial: int = 0
    degraded: dict[str, None] = field(default_factory=dict)

    def receipt(self) -> CompactReceipt:
        return CompactReceipt(
            did_compact=self.clusters > self.trivial,
            clusters_formed=self.clusters,
            clusters_declined=self.declined,
            turns_removed=self.turns_removed,
            summary_method=self.methods.most_common(1)[0][0] if self.methods else None,
            mean_confidence=sum(self.confidences) / len(self.confidences) if self.confidences else 0.0,
            tokens_before=self.tokens_before,
            tokens_after=self.tokens_before - self.tokens_saved,
            shards_kept=self.shards,
            summaries=tuple(summary.id for summary in self.formed),
            degraded=tuple(self.degraded),
        )


class _Levels:
    """The summaries of the view, oldest first, by level; the plan of a round moves them upwards."""

    def __init__(self, view: View) -> None:
        self.by_level: dict[int, list[Covered]] = {}
        for summary in view.summaries:
            self.by_level.setdefault(summary.lineage.level, []).append(of_summary(summary))

    def copy(self) -> _Levels:
        twin = _Levels(View((), ()))
        twin.by_level = {level: list(held) for level, held in self.by_level.items()}
        return twin

    def newest_first(self) -> list[Covered]:
        held = [item for items in self.by_level.values() for item in items]
        return sorted(held, key=lambda item: (-item.last_ts_ms, item.level))

    def add(self, item: Covered) -> None:
        self.by_level.setdefault(item.level, []).append(item)

    def take_siblings(self, count: int) -> list[Covered]:
        """The oldest of the lowest level that has accumulated enough; none where no level has."""
        for level in sorted(self.by_level):
            held = self.by_level[level]
            if len(held) >= count:
                self.by_level[level] = held[count:]
                return held[:count]
        return []


class _Round:
    """One plan and its writing."""

    def __init__(self, parts: Parts, session_id: str, levels: _Levels, size: int, prior_tokens: int) -> None:
        self._parts = parts
        self._session_id = session_id
        self._levels = levels
        self._size = size
        self._prior_tokens = prior_tokens
        self._summariser = Summariser(parts, session_id)
        self._guide = Guide(parts)
        self._summaries: list[NewSummary] = []
        self._shards: list[Shard] = []

    def carry_out(self, turns: Sequence[Record], edges: Sequence[int], outcome: _Outcome) -> bool:
        """Whether the round was written, or had nothing to write; the next one then makes sense."""
        planned = _Outcome(tokens_before=0)
        levels = self._levels.copy()
        try:
            for cluster in split_clusters(edges, edges[-1], self._size):
                following = turns[cluster.stop : cluster.stop + LATER_TURNS]
                self._cover(turns[cluster.start : cluster.stop], following, levels, planned)
            self._condense(levels, planned)
            if self._summaries:
                self._parts.store.condense(self._session_id, self._summaries, self._shards)
                name = Collection.summaries(self._session_id)
                follow_sources(self._parts, [Place(name, summary.id) for summary in self._summaries])
        except ClewError as error:
            outcome.degraded[f"compaction stopped: {error.message}"] = None
            return False
        except Exception as error:  # noqa: BLE001 — the session goes on, uncompacted, whatever a summarizer does
            _log.exception("compaction failed")
            outcome.degraded[f"compaction failed: {type(error).__name__}: {error}"] = None
            return False
        self._levels.by_level = levels.by_level
        self._add_to(outcome, planned)
        return True

    def _cover(
        self, cluster: Sequence[Record], following: Sequence[Record], levels: _Levels, planned: _Outcome
    ) -> None:
        """One cluster: covers it with a summary if one is smaller, and keeps guidance that nobody has kept yet."""
        nodes = [of_record(turn) for turn in cluster]
        later = [of_record(turn) for turn in following]
        made = self._summariser.of_turns(nodes, self._prior(levels.newest_first(), nodes), later)
        if made is None:
            planned.declined += 1
            return
        shards, kept = self._guide.shards(self._session_id, cluster)
        self._shards += shards
        planned.shards += kept
        planned.clusters += 1
        planned.trivial += len(cluster) == 1
        planned.turns_removed += len(cluster)
        levels.add(self._take(made, planned))

    def _condense(self, levels: _Levels, planned: _Outcome) -> None:
        """Siblings that have accumulated become one higher summary, as long as there are any."""
        while siblings := levels.take_siblings(self._parts.config.compact_siblings):
            earlier = [item for item in levels.newest_first() if item.last_ts_ms <= siblings[0].first_ts_ms]
            made = self._summariser.of_summaries(siblings, self._prior(earlier, siblings))
            if made is None:  # they stay as they are, and out of the way of later ones
                continue
            levels.add(self._take(made, planned))

    def _take(self, made: tuple[NewSummary, Covered], planned: _Outcome) -> Covered:
        summary, covered = made
        self._summaries.append(summary)
        planned.formed.append(summary)
        planned.confidences.append(covered.confidence)
        planned.methods[covered.method] += 1
        planned.tokens_saved += covered.source_tokens - summary.draft.tokens
        return covered

    def _prior(self, newest_first: Iterable[Covered], nodes: Sequence[Covered]) -> list[Covered]:
        """The nearest of the earlier summaries that fit the allowance, oldest first.

        It leaves out those trusted less than the nodes: they have no say in which of these still holds.
        """
        chosen: list[Covered] = []
        left = self._prior_tokens
        trust = least(node.trust for node in nodes if node.trust is not Trust.QUARANTINED)
        for item in newest_first:
            if least((item.trust, trust)) is not trust:
                continue
            if item.tokens > left:
                break
            chosen.append(item)
            left -= item.tokens
        return chosen[::-1]

    def _add_to(self, outcome: _Outcome, planned: _Outcome) -> None:
        outcome.formed += planned.formed
        outcome.confidences += planned.confidences
        outcome.methods += planned.methods
        outcome.clusters += planned.clusters
        outcome.declined += planned.declined
        outcome.turns_removed += planned.turns_removed
        outcome.tokens_saved += planned.tokens_saved
        outcome.trivial += planned.trivial
        outcome.shards += planned.shards
        outcome.degraded |= dict.fromkeys(self._summariser.degraded)


def _outside(parts: Parts, request: Compact, turns: Sequence[TailTurn]) -> int:
    """How many of the oldest turns are outside the tail."""
    target = request.tail_tokens
    if target is None:
        target = tail_target(parts, checked_budget(parts, request.budget_tokens))
    min_turns = request.min_turns if request.min_turns is not None and request.min_turns > 0 else None
    return tail_of(parts, turns, 0 if request.force else target, min_turns).start


def _rounds(edges: Sequence[int], outside: int) -> Iterator[list[int]]:
    """The edges of the turns outside the tail, in bounded pieces; turns that cannot be parted may make a longer one."""
    first = 0
    while edges[first] < outside:
        last = bisect_right(edges, min(edges[first] + ROUND_TURNS, outside)) - 1
        last = max(last, first + 1)
        yield list(edges[first : last + 1])
        first = last


def _tail_turn(parts: Parts, turn: Record, from_end: int) -> TailTurn:
    """Counted exactly only where the turn may be in the tail; further back, only its couplings matter."""
    message = stored_message(turn)
    if from_end <= 2 * parts.tuning.tail_max_turns:
        return tail_turn(parts, message)
    return TailTurn(role_of(message.role), turn.tokens, message.tool_call_ids, message.tool_call_id)


def _checked_prior(tokens: int | None) -> int:
    if tokens is None:
        return PRIOR_TOKENS
    if not 0 <= tokens <= MAX_PRIOR_TOKENS:
        raise InvalidInput(f"priorTokens must be from 0 to {MAX_PRIOR_TOKENS}, not {tokens}")
    return tokens
