"""The graph: what records name, how that is joined, and which projects an idea belongs to."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Done, Request

# --- what answers are made of --------------------------------------------------------------------------


class GraphEntity(Answer, frozen=True):
    """Something that records name."""

    kind: str
    """`project`, `repo`, `decision`, `concept`, `tool`, `person` or `file`."""
    name: str
    """As the oldest record that may be shown writes it."""
    records: int
    """Records that name it, counted up to 1,000."""


class GraphSource(Answer, frozen=True):
    """A record that says what an edge says."""

    ref: str
    trust: str
    text: str
    """The record in one line."""


class GraphStep(Answer, frozen=True):
    """One step of a path, and what it rests on."""

    kind: str
    """The edge: `uses`, `blocked_by`, `relates_to`, `evaluates`, `decides` or `mentions`. Out of an idea: `names`,
    where the idea itself names the entity, or `resembles`, where a record that is like the idea does."""
    forward: bool
    """Whether the edge leads this way; else it leads back."""
    to: GraphEntity
    strength: float
    """How strongly the step holds, from 0 to 1."""
    sources: tuple[GraphSource, ...]


class GraphPath(Answer, frozen=True):
    score: float
    """How strongly the path holds as a whole, from 0 to 1."""
    start: GraphEntity | None
    """Where it starts; absent where it starts at an idea."""
    steps: tuple[GraphStep, ...]
    text: str
    """The path in one line."""


class GraphNeighbour(Answer, frozen=True):
    entity: GraphEntity
    distance: int
    """Steps from the entity that was asked about."""
    path: GraphPath
    """The best way there."""


# --- questions -----------------------------------------------------------------------------------------


class GraphNeighbourhood(Answer, frozen=True):
    entity: GraphEntity
    """The one that was asked about."""
    neighbours: tuple[GraphNeighbour, ...]
    """The nearest and strongest first."""
    truncated: bool = False
    """Whether an entity has more edges than were read; the heaviest were."""


class GraphNeighbours(Request[GraphNeighbourhood], frozen=True):
    """What lies around an entity, in one or more steps."""

    method: ClassVar[str] = "graph_neighbours"
    name: str
    """The entity by its name or by `kind:name`."""
    user_id: str | None = None
    session_id: str | None = None
    kinds: tuple[str, ...] = ()
    """Only edges of these kinds; without any, of all."""
    direction: str = "both"
    """`out`, `in` or `both`: which way edges are followed."""
    depth: int = 1
    """Steps, 1 to 3."""
    limit: int = 20
    untrusted: bool = False
    """Take in what untrusted records say."""


class GraphUpstream(Request[GraphNeighbourhood], frozen=True):
    """What an entity stands on: what it uses or is blocked by, what that uses, and so on."""

    method: ClassVar[str] = "graph_upstream"
    name: str
    """The entity by its name or by `kind:name`."""
    user_id: str | None = None
    session_id: str | None = None
    depth: int = 4
    """Steps, 1 to 8."""
    limit: int = 50
    untrusted: bool = False
    """Take in what untrusted records say."""


class GraphDownstream(Request[GraphNeighbourhood], frozen=True):
    """What stands on an entity: what uses it or is blocked by it, what uses that, and so on."""

    method: ClassVar[str] = "graph_downstream"
    name: str
    """The entity by its name or by `kind:name`."""
    user_id: str | None = None
    session_id: str | None = None
    depth: int = 4
    """Steps, 1 to 8."""
    limit: int = 50
    untrusted: bool = False
    """Take in what untrusted records say."""


class GraphPathList(Answer, frozen=True):
    paths: tuple[GraphPath, ...]
    """The strongest first."""


class GraphPaths(Request[GraphPathList], frozen=True):
    """The strongest ways from one entity to another."""

    method: ClassVar[str] = "graph_paths"
    source: str
    """Where to start: a name or `kind:name`."""
    target: str
    """Where to go: a name or `kind:name`."""
    user_id: str | None = None
    session_id: str | None = None
    max_hops: int = 4
    """Steps, 1 to 4."""
    limit: int = 3
    untrusted: bool = False
    """Take in what untrusted records say."""


class GraphMatchItem(Answer, frozen=True):
    project: GraphEntity
    score: float
    """How much speaks for it, from 0 to 1."""
    path: GraphPath
    """The best way from the idea to the project."""
    paths: int
    """Ways that were found and counted."""


class GraphMatchList(Answer, frozen=True):
    matches: tuple[GraphMatchItem, ...]
    """The best first."""
    degraded: tuple[str, ...] = ()


class GraphMatch(Request[GraphMatchList], frozen=True):
    """Which projects an idea belongs to, each with the path that justifies it."""

    method: ClassVar[str] = "graph_match"
    idea: str
    """The idea in a sentence or a few."""
    user_id: str | None = None
    session_id: str | None = None
    limit: int = 5
    untrusted: bool = False
    """Take in what untrusted records say."""


class GraphEntityList(Answer, frozen=True):
    entities: tuple[GraphEntity, ...]
    """In the order they were first named, or the likest first."""
    cursor: int | None = None


class GraphEntities(Request[GraphEntityList], frozen=True):
    """The entities there are, a page a call, or those whose names are like a text, the likest first."""

    method: ClassVar[str] = "graph_entities"
    positional: ClassVar[tuple[str, ...]] = ("text",)
    text: str = ""
    """Part of a name, or a name that may be misspelt; without one, all are listed."""
    user_id: str | None = None
    session_id: str | None = None
    kinds: tuple[str, ...] = ()
    """Only entities of these kinds; without any, of all."""
    cursor: int = 0
    limit: int = 50
    untrusted: bool = False
    """Take in what untrusted records name."""


# --- merging -------------------------------------------------------------------------------------------


class GraphMergeProposal(Answer, frozen=True):
    """Two entities that may be one. Nothing is done about it."""

    keep: str
    """As `kind:name`."""
    drop: str
    """As `kind:name`."""
    reason: str
    """Why they may be one."""


class GraphMergeList(Answer, frozen=True):
    proposals: tuple[GraphMergeProposal, ...]
    """What may be one."""
    merged: tuple[GraphMergeProposal, ...] = ()
    """What the operator merged."""


class GraphMerges(Request[GraphMergeList], frozen=True):
    """Proposes entities that may be one, and lists those that were merged. Writes nothing."""

    method: ClassVar[str] = "graph_merges"
    deadline_factor: ClassVar[int] = 10
    user_id: str | None = None
    limit: int = 50


class GraphMerge(Request[Done], frozen=True):
    """The operator's word that two entities are one, for a user or, without one, for all."""

    method: ClassVar[str] = "graph_merge"
    writes: ClassVar[bool] = True
    keep: str
    """The entity whose name stays: a name or `kind:name`."""
    drop: str
    """The entity that is the same: a name or `kind:name`."""
    user_id: str | None = None


class GraphUnmerge(Request[Done], frozen=True):
    """Takes a merge back."""

    method: ClassVar[str] = "graph_unmerge"
    writes: ClassVar[bool] = True
    name: str
    """The entity that was merged into another, as `kind:name`."""
    user_id: str | None = None


# --- the graph as a whole ------------------------------------------------------------------------------


class GraphText(Answer, frozen=True):
    format: str
    """`markdown`, `mermaid` or `json`."""
    text: str
    entities: int
    """Entities that are shown."""
    edges: int
    """Edges that are shown."""


class GraphExport(Request[GraphText], frozen=True):
    """The graph, or what lies around one entity, as Markdown, as a Mermaid diagram or as JSON."""

    method: ClassVar[str] = "graph_export"
    positional: ClassVar[tuple[str, ...]] = ("format",)
    format: str = "markdown"
    """`markdown`, `mermaid` or `json`."""
    name: str | None = None
    """Only what lies around this entity: a name or `kind:name`."""
    user_id: str | None = None
    session_id: str | None = None
    depth: int = 2
    """Steps around the entity, 1 to 3."""
    limit: int = 60
    """Entities at most, the ones that most records name first."""
    untrusted: bool = False
    """Take in what untrusted records say."""


class GraphRebuild(Request[Done], frozen=True):
    """Drops the graph and queues every record to be read for it again; merges stay."""

    method: ClassVar[str] = "graph_rebuild"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 10


class GraphStatusView(Answer, frozen=True):
    entities: int
    """Entities of the whole store."""
    edges: int
    """Edges of the whole store, one for each record that says it."""
    pending: int
    """Records that wait to be read for the graph."""


class GraphStatus(Request[GraphStatusView], frozen=True):
    """How large the graph is, and whether records wait to be read for it."""

    method: ClassVar[str] = "graph_status"
    user_id: str | None = None
    """Of what this user sees; without one, of all."""
