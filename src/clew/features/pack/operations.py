"""Packs: the bounded, cited bundle for one request, and the trace that says why it is what it is."""

from __future__ import annotations

from typing import ClassVar, Generic

from msgspec import field

from clew.core.operation import Answer, R, Request


class PackItem(Answer, frozen=True):
    record_ref: str
    layer: str
    """`L0` one line, `L1` a short overview, `L2` the whole record."""
    kind: str
    importance: str | None
    trust: str
    text: str
    citation: str
    """The number the item has in the bundle's text, such as `[1]`."""
    tokens: int
    dissent: bool = False
    """Whether it stands here because it contradicts what was chosen."""
    superseded_by: str | None = None
    """Of what holds no longer: the reference of the fact that holds instead, empty where none does."""


class LaneTrace(Answer, frozen=True):
    name: str
    """`hot`: the running session. `warm`: what is kept. `cold`: what was archived. `facts`, `plans`, `graph`."""
    collections: tuple[str, ...]
    searched: bool
    candidates: int = 0


class CandidateTrace(Answer, frozen=True):
    """One record that was considered: how it scored and what became of it. Never its text."""

    ref: str
    lane: str
    included: bool
    reason: str
    score: float
    similarity: float
    lexical: float | None = None
    lexical_rank: int | None = None
    dense: float | None = None
    dense_rank: int | None = None
    context: float = 0.0
    trust: str = ""
    importance: str | None = None
    layer: str | None = None
    tokens: int = 0
    linked_from: str | None = None
    """The candidate that led to it, and whose place it takes: one that it replaces or contradicts."""
    path: tuple[str, ...] = ()
    """The way through the graph that led to it: the record of each edge."""


class Trace(Answer, frozen=True):
    """What a pack searched, took and left out, and why. Holds no content, not even of the query."""

    id: str
    ts: int
    query_digest: str
    user_id: str | None
    session_id: str | None
    policy: dict[str, str]
    """The rules that applied, by name: what untrusted text may do, the least similarity, the caps."""
    lanes: tuple[LaneTrace, ...]
    candidates: tuple[CandidateTrace, ...]
    refreshed: tuple[str, ...]
    """Records whose last use moved, and which of the archive came back."""
    budget_tokens: int
    used_tokens: int
    abstained: bool
    degraded: tuple[str, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)
    """How long each step took. In the trace that is kept; a pack's own answer is the same for equal runs."""


class Bundle(Answer, frozen=True):
    """The pack: text for a prompt, and the same as data."""

    bundle_text: str
    """Framed quotations, ready for a prompt; empty when nothing relevant is known."""
    items: tuple[PackItem, ...]
    budget_tokens: int
    used_tokens: int
    abstained: bool
    """Whether nothing was relevant enough: a valid answer, better than noise."""
    notes: tuple[str, ...]
    trace_id: str
    trace: Trace | None = None
    """With `trace` in the request."""
    degraded: tuple[str, ...] = ()


class PackRequest(Request[R], Generic[R], frozen=True, kw_only=True):
    """What a pack is asked for. `why` takes the same, so that it explains the pack that `pack` would give."""

    query: str
    """What the pack is for."""
    budget_tokens: int | None = None
    """Size of the pack; else the setting `pack_budget_tokens`."""
    user_id: str | None = None
    """Pack what this user said and what is kept about them."""
    session_id: str | None = None
    """Pack from this session, too."""
    exclude_session: str | None = None
    """Leave out what was said or done in this session, since whoever asks has it before them."""
    limit: int | None = None
    """Items at most; else the setting `pack_items`."""
    kinds: tuple[str, ...] = ()
    """Only records of these kinds."""
    cold: bool = False
    """Search the archive, too; what a pack takes from it comes back to life."""
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
    ts: int
    user_id: str | None
    session_id: str | None
    candidates: int
    included: int
    used_tokens: int
    abstained: bool


class TraceList(Answer, frozen=True):
    traces: tuple[TraceHead, ...]


class ListTraces(Request[TraceList], frozen=True):
    """The traces of packs.

    Newest first.
    """

    method: ClassVar[str] = "list_traces"
    limit: int = 20


class ShowTrace(Request[Trace], frozen=True):
    """Why a pack is what it is."""

    method: ClassVar[str] = "show_trace"
    id: str


class TraceChange(Answer, frozen=True):
    """How one candidate fared in two traces; absent where it was no candidate."""

    ref: str
    before: str | None
    after: str | None
    score_before: float | None = None
    score_after: float | None = None


class TraceDiff(Answer, frozen=True):
    same: bool
    changes: tuple[TraceChange, ...]
    policy: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    """Rules that differ, by name: before and after."""


class DiffTraces(Request[TraceDiff], frozen=True):
    """What two packs took and left out differently."""

    method: ClassVar[str] = "diff_traces"
    before: str
    after: str


class Explanation(Answer, frozen=True):
    """Why a record would stand in a pack for a query, or would not."""

    ref: str
    included: bool
    stage: str
    """Where it was decided: `scope`, `archive`, `search`, `policy`, `selection`, `budget`, `pack`."""
    reason: str
    sentence: str
    """The same in plain words, with the figures."""
    candidate: CandidateTrace | None = None


class Why(PackRequest[Explanation], frozen=True, kw_only=True):
    """Why a record would be in the pack for a query, or would not.

    Packs for the query as `pack` would, without keeping or counting anything, and explains one record.
    """

    method: ClassVar[str] = "why"
    positional: ClassVar[tuple[str, ...]] = ("ref", "query")
    ref: str
