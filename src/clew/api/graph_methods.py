"""The operations on the graph as methods of `MemoryApi`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from clew.core.operation import Done, R, Request
from clew.features.graph.operations import (
    GraphDownstream,
    GraphEntities,
    GraphEntityList,
    GraphExport,
    GraphMatch,
    GraphMatchList,
    GraphMerge,
    GraphMergeList,
    GraphMerges,
    GraphNeighbourhood,
    GraphNeighbours,
    GraphPathList,
    GraphPaths,
    GraphRebuild,
    GraphStatus,
    GraphStatusView,
    GraphText,
    GraphUnmerge,
    GraphUpstream,
)


class GraphApi(ABC):
    """The operations on the graph as methods."""

    @abstractmethod
    def call(self, request: Request[R]) -> R: ...

    def graph_neighbours(
        self,
        name: str,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        kinds: Sequence[str] = (),
        direction: str = "both",
        depth: int = 1,
        limit: int = 20,
        untrusted: bool = False,
    ) -> GraphNeighbourhood:
        """What lies around an entity."""
        return self.call(
            GraphNeighbours(
                name=name, user_id=user_id, session_id=session_id, kinds=tuple(kinds), direction=direction,
                depth=depth, limit=limit, untrusted=untrusted,
            )
        )  # fmt: skip

    def graph_upstream(
        self,
        name: str,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        depth: int = 4,
        limit: int = 50,
        untrusted: bool = False,
    ) -> GraphNeighbourhood:
        """What an entity stands on."""
        return self.call(
            GraphUpstream(
                name=name, user_id=user_id, session_id=session_id, depth=depth, limit=limit, untrusted=untrusted
            )
        )

    def graph_downstream(
        self,
        name: str,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        depth: int = 4,
        limit: int = 50,
        untrusted: bool = False,
    ) -> GraphNeighbourhood:
        """What stands on an entity."""
        return self.call(
            GraphDownstream(
                name=name, user_id=user_id, session_id=session_id, depth=depth, limit=limit, untrusted=untrusted
            )
        )

    def graph_paths(
        self,
        source: str,
        target: str,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        max_hops: int = 4,
        limit: int = 3,
        untrusted: bool = False,
    ) -> GraphPathList:
        """The strongest ways from one entity to another."""
        return self.call(
            GraphPaths(
                source=source, target=target, user_id=user_id, session_id=session_id, max_hops=max_hops, limit=limit,
                untrusted=untrusted,
            )
        )  # fmt: skip

    def graph_match(
        self,
        idea: str,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        limit: int = 5,
        untrusted: bool = False,
    ) -> GraphMatchList:
        """Which projects an idea belongs to, and by which path."""
        return self.call(
            GraphMatch(idea=idea, user_id=user_id, session_id=session_id, limit=limit, untrusted=untrusted)
        )

    def graph_entities(
        self,
        text: str = "",
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        kinds: Sequence[str] = (),
        cursor: int = 0,
        limit: int = 50,
        untrusted: bool = False,
    ) -> GraphEntityList:
        """The entities there are, or those whose names are like a text."""
        return self.call(
            GraphEntities(
                text=text, user_id=user_id, session_id=session_id, kinds=tuple(kinds), cursor=cursor, limit=limit,
                untrusted=untrusted,
            )
        )  # fmt: skip

    def graph_merges(self, *, user_id: str | None = None, limit: int = 50) -> GraphMergeList:
        """Entities that may be one, and those that were merged."""
        return self.call(GraphMerges(user_id=user_id, limit=limit))

    def graph_merge(self, keep: str, drop: str, *, user_id: str | None = None) -> Done:
        """Say that two entities are one."""
        return self.call(GraphMerge(keep=keep, drop=drop, user_id=user_id))

    def graph_unmerge(self, name: str, *, user_id: str | None = None) -> Done:
        """Take a merge back."""
        return self.call(GraphUnmerge(name=name, user_id=user_id))

    def graph_export(
        self,
        format: str = "markdown",  # noqa: A002 — the word of every export
        *,
        name: str | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
        depth: int = 2,
        limit: int = 60,
        untrusted: bool = False,
    ) -> GraphText:
        """The graph, or a part of it, as text."""
        return self.call(
            GraphExport(
                format=format, name=name, user_id=user_id, session_id=session_id, depth=depth, limit=limit,
                untrusted=untrusted,
            )
        )  # fmt: skip

    def graph_rebuild(self) -> Done:
        """Make the graph again from the records."""
        return self.call(GraphRebuild())

    def graph_status(self, *, user_id: str | None = None) -> GraphStatusView:
        return self.call(GraphStatus(user_id=user_id))
