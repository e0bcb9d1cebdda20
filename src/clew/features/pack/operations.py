"""Packs: the bounded, cited bundle for one request, and the trace that says why it is what it is."""

from __future__ import annotations

from typing import ClassVar, Generic

from msgspec import field

from clew.core.operation import Answer, R, Request


class PackItem(Answer, frozen=True):
    record_ref: str
    """Where it is stored, as `collection/id`."""
    layer: str
    """`L0` one line, `L1` a short overview, `L2` the whole record."""
    kind: str
    """`fact`, `preference`, `decision`, `task`, `plan`, `observation`, `event` or `note`."""
    importance: str | None
    """`must_remember`, `nice_to_have` or `ignore`; absent where it is not graded."""
    trust: str
    """`trusted`, `unknown`, `untrusted` or `quarantined`."""
    text: str
    """The text, at most `max_text_bytes`."""
    citation: str
    """The number the item has in the bundle's text, such as `[1]`."""
    tokens: int
    """Likely number of tokens of the text."""
    dissent: bool = False
    """Whether it is here because it contradicts a chosen item."""
    superseded_by: str | None = None
    """Of what holds no longer: the reference of the fact that holds instead, empty where none does."""


class LaneTrace(Answer, frozen=True):
    name: str
    """`hot`: the running session. `warm`: what is kept. `cold`: what was archived. `facts`, `plans`, `graph`."""
    collections: tuple[str, ...]
    """Names of collections."""
    searched: bool
    """Whether it was searched at all."""
    candidates: int = 0
    """How many records it found."""


class CandidateTrace(Answer, frozen=True):
    """One record that was considered: how it scored and what became of it. Never its text."""

    ref: str
    """The record, as `collection/id`."""
    lane: str
    """The lane that found it."""
    included: bool
    """Whether it is in the pack."""
    reason: str
    """Why it is in or out, in one word."""
    score: float
    """Similarity, age and scope in one number."""
    similarity: float
    """How similar to the query it is."""
    lexical: float | None = None
    """How well its words match."""
    lexical_rank: int | None = None
    """Its rank by words."""
    dense: float | None = None
    """How near it is in meaning."""
    dense_rank: int | None = None
    """Its rank in meaning; absent where too many are nearer to count them."""
    context: float = 0.0
    """How much the turns around it, its session, its speaker and its date add or take."""
    trust: str = ""
    """`trusted`, `unknown`, `untrusted` or `quarantined`."""
    importance: str | None = None
    """`must_remember`, `nice_to_have` or `ignore`; absent where it is not graded."""
    layer: str | None = None
    """How much of it is in the pack."""
    tokens: int = 0
    """Tokens it takes in the pack."""
    linked_from: str | None = None
    """The candidate that led to it, and whose place it takes: one that it replaces or contradicts."""
    path: tuple[str, ...] = ()
    """The way through the graph that led to it: the record of each edge."""


class Trace(Answer, frozen=True):
    """What a pack searched, took and left out, and why. Holds no content, not even of the query."""

    id: str
    """Id of the record in its collection, 1 to 512 characters."""
    ts: int
    """Milliseconds since 1970."""
    query_digest: str
    """A hash of the query."""
    user_id: str | None
    """The user."""
    session_id: str | None
    """The session."""
    policy: dict[str, str]
    """The rules that applied, by name: what untrusted text may do, the least similarity, the caps."""
    lanes: tuple[LaneTrace, ...]
    """The places that were searched."""
    candidates: tuple[CandidateTrace, ...]
    """Every record that was considered."""
    refreshed: tuple[str, ...]
    """Records whose last use moved, and which of the archive came back."""
    budget_tokens: int
    """Tokens the pack was allowed."""
    used_tokens: int
    """Tokens the pack took."""
    abstained: bool
    """Whether nothing was relevant enough."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""
    timings_ms: dict[str, float] = field(default_factory=dict)
    """How long each step took. In the trace that is kept; a pack's own answer is the same for equal runs."""


class Bundle(Answer, frozen=True):
    """The pack: text for a prompt, and the same as data."""

    bundle_text: str
    """Framed quotations, ready for a prompt; empty when nothing relevant is known."""
    items: tuple[PackItem, ...]
    """In the order of the text."""
    budget_tokens: int
    """Tokens it was allowed."""
    used_tokens: int
    """Tokens of the text, counted on the safe side."""
    abstained: bool
    """Whether nothing was relevant enough: a valid answer, better than noise."""
    notes: tuple[str, ...]
    """Remarks for a reader of the items."""
    trace_id: str
    """The trace that says why."""
    trace: Trace | None = None
    """With `trace` in the request."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class PackRequest(Request[R], Generic[R], frozen=True, kw_only=True):
    """The fields that `pack` and `why` share, so that `why` explains the pack that `pack` would give."""

    query: str
    """What the pack is for."""
    budget_tokens: int | None = None
    """Size of the pack; else the setting `pack_budget_tokens`."""
    user_id: str | None = None
    """Pack what this user said and what is kept about them."""
    session_id: str | None = None
    """Pack from this session, too."""
    exclude_session: str | None = None
    """Leave out what was said or done in this session, since whoever asks has it already."""
    project: str | None = None
    """The project that the pack is for: the address of its repository, or its name. What is of another project comes
    behind, and only where it clearly bears on the query."""
    project_only: bool = False
    """Leave out what is not known to be of the project."""
    limit: int | None = None
    """Items at most; else 8."""
    kinds: tuple[str, ...] = ()
    """Only records of these kinds."""
    cold: bool = False
    """Search the archive, too; a record that a pack takes from it comes back."""
    untrusted: bool = False
    """Include text from tools and from outside: framed, capped, never more than quotation."""
    refs: bool = False
    """Give every line its reference, within the budget; else only lines with more to fetch have one."""


class Pack(PackRequest[Bundle], frozen=True, kw_only=True):
    """The bounded, cited bundle for one request."""

    method: ClassVar[str] = "pack"
    trace: bool = False
    """Put the trace into the answer; it is kept either way."""


class TraceHead(Answer, frozen=True):
    id: str
    """Id of the record in its collection, 1 to 512 characters."""
    ts: int
    """Milliseconds since 1970."""
    user_id: str | None
    """The user."""
    session_id: str | None
    """The session."""
    candidates: int
    """How many records were considered."""
    included: int
    """How many entered the pack."""
    used_tokens: int
    """Tokens the pack took."""
    abstained: bool
    """Whether nothing was relevant enough."""


class TraceList(Answer, frozen=True):
    traces: tuple[TraceHead, ...]
    """Newest first."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class ListTraces(Request[TraceList], frozen=True):
    """The traces of packs.

    Newest first.
    """

    method: ClassVar[str] = "list_traces"
    limit: int = 20
    """How many, newest first, 1 to 500."""


class ShowTrace(Request[Trace], frozen=True):
    """Why a pack is what it is."""

    method: ClassVar[str] = "show_trace"
    id: str
    """Id of the record in its collection, 1 to 512 characters."""


class TraceChange(Answer, frozen=True):
    """How one candidate fared in two traces; absent where it was no candidate."""

    ref: str
    """The record, as `collection/id`."""
    before: str | None
    """Its outcome in the first trace."""
    after: str | None
    """Its outcome in the second trace."""
    score_before: float | None = None
    """Its score in that trace."""
    score_after: float | None = None
    """Its score in that trace."""


class TraceDiff(Answer, frozen=True):
    same: bool
    """Whether both took and left out the same for the same reasons."""
    changes: tuple[TraceChange, ...]
    """Candidates that fared differently."""
    policy: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    """Rules that differ, by name: before and after."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class DiffTraces(Request[TraceDiff], frozen=True):
    """What two packs took and left out differently."""

    method: ClassVar[str] = "diff_traces"
    before: str
    """Id of one trace."""
    after: str
    """Id of the other trace."""


class Explanation(Answer, frozen=True):
    """Why a record would be in a pack for a query, or would not."""

    ref: str
    """The record, as `collection/id`."""
    included: bool
    """Whether it would be in the pack."""
    stage: str
    """Where it was decided: `scope`, `archive`, `search`, `policy`, `selection`, `budget`, `pack`."""
    reason: str
    """Why, in one word."""
    sentence: str
    """The same in plain words, with the figures."""
    candidate: CandidateTrace | None = None
    """Its line of the trace, where it was a candidate."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class Why(PackRequest[Explanation], frozen=True, kw_only=True):
    """Why a record would be in the pack for a query, or would not.

    Packs for the query as `pack` would, without keeping or counting anything, and explains one record.
    """

    method: ClassVar[str] = "why"
    positional: ClassVar[tuple[str, ...]] = ("ref", "query")
    ref: str
    """The record, as `collection/id`."""
