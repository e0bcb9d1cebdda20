"""The graph: what records name, how that is joined, and which projects an idea belongs to."""

from __future__ import annotations

from typing import ClassVar, Generic

from clew.core.operation import Answer, Done, R, Request

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
    """The record, as `collection/id`."""
    trust: str
    """`trusted`, `unknown`, `untrusted` or `quarantined`."""
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
    """Where the step leads."""
    strength: float
    """How strongly the step holds, from 0 to 1."""
    sources: tuple[GraphSource, ...]
    """The records that say so."""


class GraphPath(Answer, frozen=True):
    score: float
    """How strongly the path holds as a whole, from 0 to 1."""
    start: GraphEntity | None
    """Where it starts; absent where it starts at an idea."""
    steps: tuple[GraphStep, ...]
    """In the order of the path."""
    text: str
    """The path in one line."""


class GraphNeighbour(Answer, frozen=True):
    entity: GraphEntity
    """The neighbour."""
    distance: int
    """Steps from the entity that was asked about."""
    path: GraphPath
    """The best way there."""


# --- questions -----------------------------------------------------------------------------------------


class GraphQuestion(Request[R], Generic[R], frozen=True, kw_only=True):
    """Whose graph a question is about."""

    user_id: str | None = None
    """The user; without one, only what is for all."""
    session_id: str | None = None
    """A session without a user."""
    untrusted: bool = False
    """Take in what tools and pages said, too."""


class GraphNeighbourhood(Answer, frozen=True):
    entity: GraphEntity
    """The one that was asked about."""
    neighbours: tuple[GraphNeighbour, ...]
    """The nearest and strongest first."""
    truncated: bool = False
    """Whether an entity has more edges than were read; the heaviest were."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class GraphNeighbours(GraphQuestion[GraphNeighbourhood], frozen=True, kw_only=True):
    """What lies around an entity, in one or more steps."""

    method: ClassVar[str] = "graph_neighbours"
    name: str
    """The entity by its name or by `kind:name`."""
    kinds: tuple[str, ...] = ()
    """Only edges of these kinds."""
    direction: str = "both"
    """Which way to follow edges: `out`, `in` or `both`."""
    depth: int = 1
    """Steps to go, 1 to 3."""
    limit: int = 20
    """How many entities, 1 to 1,000."""


class GraphWalk(GraphQuestion[GraphNeighbourhood], frozen=True, kw_only=True):
    """A walk along edges that mean dependence, in one direction."""

    name: str
    """The entity by its name or by `kind:name`."""
    depth: int = 4
    """Steps to go, 1 to 8."""
    limit: int = 50
    """How many entities, 1 to 1,000."""


class GraphUpstream(GraphWalk, frozen=True, kw_only=True):
    """What an entity depends on: what it uses or is blocked by, what that uses, and so on."""

    method: ClassVar[str] = "graph_upstream"


class GraphDownstream(GraphWalk, frozen=True, kw_only=True):
    """What depends on an entity: what uses it or is blocked by it, what uses that, and so on."""

    method: ClassVar[str] = "graph_downstream"


class GraphPathList(Answer, frozen=True):
    paths: tuple[GraphPath, ...]
    """The strongest first."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class GraphPaths(GraphQuestion[GraphPathList], frozen=True, kw_only=True):
    """The strongest ways from one entity to another."""

    method: ClassVar[str] = "graph_paths"
    source: str
    """Where to start: a name or `kind:name`."""
    target: str
    """Where to go: a name or `kind:name`."""
    max_hops: int = 4
    """Steps at most, 1 to 4."""
    limit: int = 3
    """How many paths, 1 to 20."""


class GraphMatchItem(Answer, frozen=True):
    project: GraphEntity
    """The project."""
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
    """Why this answer is not as good as it could be; empty when it is."""


class GraphMatch(GraphQuestion[GraphMatchList], frozen=True, kw_only=True):
    """Which projects an idea belongs to, each with the path that justifies it."""

    method: ClassVar[str] = "graph_match"
    idea: str
    """The idea in a sentence or a few."""
    limit: int = 5
    """How many projects, 1 to 50."""


class GraphEntityList(Answer, frozen=True):
    entities: tuple[GraphEntity, ...]
    """In the order they were first named, or the likest first."""
    cursor: int | None = None
    """Where the next page starts; absent on the last."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class GraphEntities(GraphQuestion[GraphEntityList], frozen=True, kw_only=True):
    """The entities there are, a page a call, or those whose names are like a text, the likest first."""

    method: ClassVar[str] = "graph_entities"
    positional: ClassVar[tuple[str, ...]] = ("text",)
    text: str = ""
    """Part of a name, or a name that may be misspelt; without one, all are listed."""
    kinds: tuple[str, ...] = ()
    """Only entities of these kinds."""
    cursor: int = 0
    """Where the page starts: 0, or the cursor that the page before gave."""
    limit: int = 50
    """Entities a page, 1 to 1,000."""


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
    """Pairs that may be one."""
    merged: tuple[GraphMergeProposal, ...] = ()
    """Pairs that the operator merged."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class GraphMerges(Request[GraphMergeList], frozen=True):
    """Proposes entities that may be one, and lists those that were merged. Writes nothing."""

    method: ClassVar[str] = "graph_merges"
    deadline_factor: ClassVar[int] = 10
    user_id: str | None = None
    """The user; without one, only what is for all."""
    limit: int = 50
    """How many proposals, 1 to 500."""


class GraphMerge(Request[Done], frozen=True):
    """The operator's word that two entities are one, for a user or, without one, for all."""

    method: ClassVar[str] = "graph_merge"
    writes: ClassVar[bool] = True
    keep: str
    """The entity whose name stays: a name or `kind:name`."""
    drop: str
    """The entity that is the same: a name or `kind:name`."""
    user_id: str | None = None
    """For whom; without one, for all."""


class GraphUnmerge(Request[Done], frozen=True):
    """Takes a merge back."""

    method: ClassVar[str] = "graph_unmerge"
    writes: ClassVar[bool] = True
    name: str
    """The entity that was merged into another, as `kind:name`."""
    user_id: str | None = None
    """For whom it was merged; without one, for all."""


# --- the graph as a whole ------------------------------------------------------------------------------


class GraphText(Answer, frozen=True):
    format: str
    """`markdown`, `mermaid` or `json`."""
    text: str
    """The graph in that format."""
    entities: int
    """Entities that are shown."""
    edges: int
    """Edges that are shown."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class GraphExport(GraphQuestion[GraphText], frozen=True, kw_only=True):
    """The graph, or what lies around one entity, as Markdown, as a Mermaid diagram or as JSON."""

    method: ClassVar[str] = "graph_export"
    positional: ClassVar[tuple[str, ...]] = ("format",)
    format: str = "markdown"
    """How it is written: `markdown`, `mermaid` or `json`."""
    name: str | None = None
    """Only what lies around this entity: a name or `kind:name`."""
    depth: int = 2
    """Steps around the entity, 1 to 3."""
    limit: int = 60
    """Entities at most, those that most records name first, 1 to 500."""


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
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class GraphStatus(Request[GraphStatusView], frozen=True):
    """How large the graph is, and whether records wait to be read for it."""

    method: ClassVar[str] = "graph_status"
    user_id: str | None = None
    """Only what this user sees; else of all users together."""
