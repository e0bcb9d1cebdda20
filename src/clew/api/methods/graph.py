"""The operations of `graph` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from collections.abc import Sequence

from clew.api.calls import AsyncCalls, Calls
from clew.core.operation import Done
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


class GraphMethods(Calls):
    """The operations of `graph`."""

    def graph_neighbours(
        self, name: str, *, user_id: str | None = None, session_id: str | None = None, untrusted: bool = False,
        kinds: Sequence[str] = (), direction: str = "both", depth: int = 1, limit: int = 20,
    ) -> GraphNeighbourhood:  # fmt: skip
        """What lies around an entity, in one or more steps."""
        return self.call(GraphNeighbours(
            user_id=user_id, session_id=session_id, untrusted=untrusted, name=name, kinds=tuple(kinds),
            direction=direction, depth=depth, limit=limit,
        ))  # fmt: skip

    def graph_upstream(
        self, name: str, *, user_id: str | None = None, session_id: str | None = None, untrusted: bool = False,
        depth: int = 4, limit: int = 50,
    ) -> GraphNeighbourhood:  # fmt: skip
        """What an entity depends on: what it uses or is blocked by, what that uses, and so on."""
        return self.call(GraphUpstream(
            user_id=user_id, session_id=session_id, untrusted=untrusted, name=name, depth=depth, limit=limit,
        ))  # fmt: skip

    def graph_downstream(
        self, name: str, *, user_id: str | None = None, session_id: str | None = None, untrusted: bool = False,
        depth: int = 4, limit: int = 50,
    ) -> GraphNeighbourhood:  # fmt: skip
        """What depends on an entity: what uses it or is blocked by it, what uses that, and so on."""
        return self.call(GraphDownstream(
            user_id=user_id, session_id=session_id, untrusted=untrusted, name=name, depth=depth, limit=limit,
        ))  # fmt: skip

    def graph_paths(
        self, source: str, target: str, *, user_id: str | None = None, session_id: str | None = None,
        untrusted: bool = False, max_hops: int = 4, limit: int = 3,
    ) -> GraphPathList:  # fmt: skip
        """The strongest ways from one entity to another."""
        return self.call(GraphPaths(
            user_id=user_id, session_id=session_id, untrusted=untrusted, source=source, target=target,
            max_hops=max_hops, limit=limit,
        ))  # fmt: skip

    def graph_match(
        self, idea: str, *, user_id: str | None = None, session_id: str | None = None, untrusted: bool = False,
        limit: int = 5,
    ) -> GraphMatchList:  # fmt: skip
        """Which projects an idea belongs to, each with the path that justifies it."""
        return self.call(GraphMatch(
            user_id=user_id, session_id=session_id, untrusted=untrusted, idea=idea, limit=limit,
        ))  # fmt: skip

    def graph_entities(
        self, text: str = "", *, user_id: str | None = None, session_id: str | None = None, untrusted: bool = False,
        kinds: Sequence[str] = (), cursor: int = 0, limit: int = 50,
    ) -> GraphEntityList:  # fmt: skip
        """The entities there are, a page a call, or those whose names are like a text, the likest first."""
        return self.call(GraphEntities(
            user_id=user_id, session_id=session_id, untrusted=untrusted, text=text, kinds=tuple(kinds), cursor=cursor,
            limit=limit,
        ))  # fmt: skip

    def graph_merges(self, *, user_id: str | None = None, limit: int = 50) -> GraphMergeList:
        """Proposes entities that may be one, and lists those that were merged. Writes nothing."""
        return self.call(GraphMerges(user_id=user_id, limit=limit))

    def graph_merge(self, keep: str, drop: str, *, user_id: str | None = None) -> Done:
        """The operator's word that two entities are one, for a user or, without one, for all."""
        return self.call(GraphMerge(keep=keep, drop=drop, user_id=user_id))

    def graph_unmerge(self, name: str, *, user_id: str | None = None) -> Done:
        """Takes a merge back."""
        return self.call(GraphUnmerge(name=name, user_id=user_id))

    def graph_export(
        self, format: str = "markdown", *, user_id: str | None = None, session_id: str | None = None,
        untrusted: bool = False, name: str | None = None, depth: int = 2, limit: int = 60,
    ) -> GraphText:  # fmt: skip
        """The graph, or what lies around one entity, as Markdown, as a Mermaid diagram or as JSON."""
        return self.call(GraphExport(
            user_id=user_id, session_id=session_id, untrusted=untrusted, format=format, name=name, depth=depth,
            limit=limit,
        ))  # fmt: skip

    def graph_rebuild(self) -> Done:
        """Drops the graph and queues every record to be read for it again; merges stay."""
        return self.call(GraphRebuild())

    def graph_status(self, *, user_id: str | None = None) -> GraphStatusView:
        """How large the graph is, and whether records wait to be read for it."""
        return self.call(GraphStatus(user_id=user_id))


class AsyncGraphMethods(AsyncCalls):
    """The operations of `graph` to await."""

    async def graph_neighbours(
        self, name: str, *, user_id: str | None = None, session_id: str | None = None, untrusted: bool = False,
        kinds: Sequence[str] = (), direction: str = "both", depth: int = 1, limit: int = 20,
    ) -> GraphNeighbourhood:  # fmt: skip
        """What lies around an entity, in one or more steps."""
        return await self.call(GraphNeighbours(
            user_id=user_id, session_id=session_id, untrusted=untrusted, name=name, kinds=tuple(kinds),
            direction=direction, depth=depth, limit=limit,
        ))  # fmt: skip

    async def graph_upstream(
        self, name: str, *, user_id: str | None = None, session_id: str | None = None, untrusted: bool = False,
        depth: int = 4, limit: int = 50,
    ) -> GraphNeighbourhood:  # fmt: skip
        """What an entity depends on: what it uses or is blocked by, what that uses, and so on."""
        return await self.call(GraphUpstream(
            user_id=user_id, session_id=session_id, untrusted=untrusted, name=name, depth=depth, limit=limit,
        ))  # fmt: skip

    async def graph_downstream(
        self, name: str, *, user_id: str | None = None, session_id: str | None = None, untrusted: bool = False,
        depth: int = 4, limit: int = 50,
    ) -> GraphNeighbourhood:  # fmt: skip
        """What depends on an entity: what uses it or is blocked by it, what uses that, and so on."""
        return await self.call(GraphDownstream(
            user_id=user_id, session_id=session_id, untrusted=untrusted, name=name, depth=depth, limit=limit,
        ))  # fmt: skip

    async def graph_paths(
        self, source: str, target: str, *, user_id: str | None = None, session_id: str | None = None,
        untrusted: bool = False, max_hops: int = 4, limit: int = 3,
    ) -> GraphPathList:  # fmt: skip
        """The strongest ways from one entity to another."""
        return await self.call(GraphPaths(
            user_id=user_id, session_id=session_id, untrusted=untrusted, source=source, target=target,
            max_hops=max_hops, limit=limit,
        ))  # fmt: skip

    async def graph_match(
        self, idea: str, *, user_id: str | None = None, session_id: str | None = None, untrusted: bool = False,
        limit: int = 5,
    ) -> GraphMatchList:  # fmt: skip
        """Which projects an idea belongs to, each with the path that justifies it."""
        return await self.call(GraphMatch(
            user_id=user_id, session_id=session_id, untrusted=untrusted, idea=idea, limit=limit,
        ))  # fmt: skip

    async def graph_entities(
        self, text: str = "", *, user_id: str | None = None, session_id: str | None = None, untrusted: bool = False,
        kinds: Sequence[str] = (), cursor: int = 0, limit: int = 50,
    ) -> GraphEntityList:  # fmt: skip
        """The entities there are, a page a call, or those whose names are like a text, the likest first."""
        return await self.call(GraphEntities(
            user_id=user_id, session_id=session_id, untrusted=untrusted, text=text, kinds=tuple(kinds), cursor=cursor,
            limit=limit,
        ))  # fmt: skip

    async def graph_merges(self, *, user_id: str | None = None, limit: int = 50) -> GraphMergeList:
        """Proposes entities that may be one, and lists those that were merged. Writes nothing."""
        return await self.call(GraphMerges(user_id=user_id, limit=limit))

    async def graph_merge(self, keep: str, drop: str, *, user_id: str | None = None) -> Done:
        """The operator's word that two entities are one, for a user or, without one, for all."""
        return await self.call(GraphMerge(keep=keep, drop=drop, user_id=user_id))

    async def graph_unmerge(self, name: str, *, user_id: str | None = None) -> Done:
        """Takes a merge back."""
        return await self.call(GraphUnmerge(name=name, user_id=user_id))

    async def graph_export(
        self, format: str = "markdown", *, user_id: str | None = None, session_id: str | None = None,
        untrusted: bool = False, name: str | None = None, depth: int = 2, limit: int = 60,
    ) -> GraphText:  # fmt: skip
        """The graph, or what lies around one entity, as Markdown, as a Mermaid diagram or as JSON."""
        return await self.call(GraphExport(
            user_id=user_id, session_id=session_id, untrusted=untrusted, format=format, name=name, depth=depth,
            limit=limit,
        ))  # fmt: skip

    async def graph_rebuild(self) -> Done:
        """Drops the graph and queues every record to be read for it again; merges stay."""
        return await self.call(GraphRebuild())

    async def graph_status(self, *, user_id: str | None = None) -> GraphStatusView:
        """How large the graph is, and whether records wait to be read for it."""
        return await self.call(GraphStatus(user_id=user_id))
