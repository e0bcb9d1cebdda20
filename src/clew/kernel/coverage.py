"""Which summary of a session's active view leads to a turn that has left it.

A summary is lossy, and so is a search for it. It is found by what it says and also by the turns it
stands for: their own words and meanings are still in the raw history. What is shown stays the summary;
only an explicit expansion shows the turns.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

from clew.core.collections import Collection
from clew.core.lineage import Graph
from clew.kernel.parts import Parts
from clew.kernel.views import active_view, all_summaries

MAX_SESSIONS = 16
"""Sessions whose map is kept; making one reads all the summaries of its session."""


def summaries_over(parts: Parts, session_id: str) -> Mapping[int, int]:
    """The place in the view of the summary over each turn that has one, by the turn's place in the history."""
    return parts.state(Coverage).of(session_id)


class Coverage:
    """For each session, where the turns under its summaries lead. Safe to use from several threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._maps: OrderedDict[str, tuple[int, Mapping[int, int]]] = OrderedDict()

    def of(self, session_id: str) -> Mapping[int, int]:
        with self._parts.indexes.current(Collection.summaries(session_id)) as index:
            until, is_empty = index.until, index.size == 0
        if is_empty:
            return {}
        with self._lock:
            known = self._maps.get(session_id)
        if known is None or known[0] != until:
            known = (until, _covered(self._parts, session_id))
        with self._lock:
            self._maps[session_id] = known
            self._maps.move_to_end(session_id)
            if len(self._maps) > MAX_SESSIONS:
                self._maps.popitem(last=False)
            return known[1]


def _covered(parts: Parts, session_id: str) -> dict[int, int]:
    lineages = {item.record.id: item.lineage for item in all_summaries(parts, session_id)}
    named = {source for lineage in lineages.values() if lineage.level == 1 for source in lineage.source_ids}
    graph = Graph(lineages, named)
    found: dict[int, int] = {}
    for item in active_view(parts, session_id).summaries:
        turns = parts.store.seqs(Collection.raw(session_id), graph.turns_under(item.record.id))
        found.update(dict.fromkeys(turns, item.record.seq))
    return found
