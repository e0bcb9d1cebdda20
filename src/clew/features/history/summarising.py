"""One summary: made from turns or lower summaries, by words or by a model, with its lineage and confidence.

By words is the rule: the extractive summary needs no model and always can be made. A model is asked
only for clusters that matter, and its text is taken only if it points where its sources point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from clew.core.collections import Collection, CollectionKind
from clew.core.ids import memory_id, summary_id
from clew.core.lineage import Lineage
from clew.core.model import Kind, Provenance, Record, Role, Trust, least
from clew.errors import EmbedderFailed, SummarizerFailed
from clew.features.gate.rules import grade
from clew.features.history import confidence, summary
from clew.features.history.summary import Source, Tools
from clew.index.vectors import Grid, encode_grid
from clew.kernel.derivation import WITHHELD_IDS
from clew.kernel.intake import make_draft
from clew.kernel.meaning import similarities
from clew.kernel.parts import Parts
from clew.kernel.quoting import speaker_of
from clew.kernel.views import Summary
from clew.storage.protocol import NewSummary, Task
from clew.text.grading.kinds import kind_of_text
from clew.text.own_text import without_own
from clew.text.sanitise import projection, withheld
from clew.text.speech import own_words
from clew.text.terms import analyse, passage_text

ABSTRACT_ALIGNMENT = 0.65
"""A model's text is taken only if it is this near to the middle of its sources."""

ABSTRACT_GATE = 0.60
"""A model summarises a cluster whose turns are on average this worth keeping. A call takes seconds, so not all
clusters are worth one."""

ABSTRACT_DECISIONS = 1
"""Or one in which the user decided or laid down this many things: how they hang together is lost in quotes."""

ABSTRACT_SPEECH_CHARS = 4_000
"""Or one in which so much was said that quotes can show only a small part of it."""

ABSTRACT_TOKENS = 400
MAX_TRANSCRIPT_CHARS = 24_000


_LAID_DOWN = (Kind.DECISION, Kind.PREFERENCE)
_TOOL_ROLES = (Role.TOOL_CALL, Role.TOOL_RESULT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """A node of the active view that a summary may cover."""

    id: str
    level: int
    source: Source
    first_ts_ms: int
    last_ts_ms: int
    tokens: int
    trust: Trust
    turn_count: int = 1
    seq: int | None = None
    """Its place in the active view; None while it is only planned."""
    vector: Grid | None = None
    record: Record | None = None
    confidence: float = 1.0
    method: str = ""
    source_tokens: int = 0


def of_record(turn: Record) -> Covered:
    covered = Covered(
        id=turn.id,
        level=0,
        source=Source(speaker_of(turn), turn.role, turn.ts_ms, without_own(turn.text), _tools(turn)),
        first_ts_ms=turn.ts_ms,
        last_ts_ms=turn.ts_ms,
        tokens=turn.tokens,
        trust=turn.trust,
        seq=turn.seq,
        record=turn,
    )
    return _unless_quarantined(covered, (turn.role or "turn").replace("_", " "))


def _tools(turn: Record) -> Tools:
    made, answered = turn.metadata.get("toolCallIds", ()), turn.metadata.get("toolCallId")
    return Tools(
        call_ids=tuple(call for call in made if isinstance(call, str)) if isinstance(made, list) else (),
        answers=answered if isinstance(answered, str) else None,
        has_failed=turn.metadata.get("isError") is True,
    )


def of_summary(item: Summary) -> Covered:
    record, lineage = item.record, item.lineage
    covered = Covered(
        id=record.id,
        level=lineage.level,
        source=Source(who="summary", role=None, ts_ms=lineage.last_ts_ms, text=record.text),
        first_ts_ms=lineage.first_ts_ms,
        last_ts_ms=lineage.last_ts_ms,
        tokens=record.tokens,
        trust=record.trust,
        turn_count=lineage.turn_count,
        seq=record.seq,
        record=record,
    )
    return _unless_quarantined(covered, "summary")


def _unless_quarantined(node: Covered, what: str) -> Covered:
    """A summary leads to a quarantined node and says that one is there. Neither its words nor its name enter it."""
    if node.trust is not Trust.QUARANTINED:
        return node
    shown = withheld(f"quarantined {what}", node.source.text)
    return replace(node, source=replace(node.source, who=what, text=shown), seq=None, record=None)


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a summary to be, with its properties."""

    text: str
    method: str
    vector: Grid | None
    in_space: float
    of_model: float | None = None


class _Extractor(Protocol):
    def __call__(
        self, sources: Sequence[Source], /, *, earlier: Sequence[str], below: int, count: Callable[[str], int]
    ) -> summary.Summary | None: ...


class Summariser:
    """Makes the summaries of one session's compaction."""

    def __init__(self, parts: Parts, session_id: str) -> None:
        self._parts = parts
        self._session_id = session_id
        self.degraded: list[str] = []
        self._embedder_failed = False

    def of_turns(
        self, cluster: Sequence[Covered], prior: Sequence[Covered], later: Sequence[Covered] = ()
    ) -> tuple[NewSummary, Covered] | None:
        """A summary strictly smaller than its turns; None where there is none. `later` are the turns that follow."""
        vectors = self._vectors([node for node in cluster if node.source.role not in _TOOL_ROLES] or cluster)
        following = [node.source for node in later if node.trust is not Trust.QUARANTINED]
        by_words = partial(summary.summarise, later=following)
        written = self._abstract(cluster, prior, vectors) or self._extract(by_words, cluster, prior, vectors)
        return None if written is None else self._new(written, cluster, prior)

    def of_summaries(self, siblings: Sequence[Covered], prior: Sequence[Covered]) -> tuple[NewSummary, Covered] | None:
        """A higher summary of summaries, strictly smaller than they are together."""
        written = self._extract(summary.condense, siblings, prior, self._vectors(siblings))
        return None if written is None else self._new(written, siblings, prior)

    # --- by words --------------------------------------------------------------------------------------

    def _extract(
        self, make: _Extractor, nodes: Sequence[Covered], prior: Sequence[Covered], vectors: Grid | None
    ) -> _Text | None:
        sources, earlier = [node.source for node in nodes], [node.source.text for node in prior]
        below = sum(node.tokens for node in nodes)
        made = make(sources, earlier=earlier, below=below, count=self._parts.counter.estimate)
        if made is None:
            return None
        vector = None if vectors is None else self._embed(made.text)
        if vectors is not None and vector is not None:
            in_space = confidence.of_space(*self._nearness(vector, vectors))
        else:
            in_space = confidence.of_words(analyse(made.text), [analyse(projection(node.text)) for node in sources])
        return _Text(made.text, made.method, vector, in_space)

    # --- by a model ------------------------------------------------------------------------------------

    def _abstract(self, cluster: Sequence[Covered], prior: Sequence[Covered], vectors: Grid | None) -> _Text | None:
        """A model's summary of a cluster that matters; None where the model is not asked, fails, or strays."""
        model = self._parts.summarizer
        if model is None or vectors is None or not model.ready():
            return None
        transcript = summary.transcript([node.source for node in cluster])
        matters = len(transcript) >= ABSTRACT_SPEECH_CHARS or self._matters(cluster)
        if not matters or len(transcript) > MAX_TRANSCRIPT_CHARS:  # a part cannot represent the whole
            return None
        below = sum(node.tokens for node in cluster)
        try:
            earlier = "\n".join(node.source.text for node in prior)
            made = model.summarise(transcript, earlier=earlier, max_tokens=min(ABSTRACT_TOKENS, below - 1))
        except SummarizerFailed as error:
            self.degraded.append(f"summaries by words alone: {error.message}")
            return None
        vector = self._embed(made.text)
        if vector is None or not made.text.strip() or self._parts.counter.estimate(made.text) >= below:
            return None
        alignment, coverage = self._nearness(vector, vectors)
        if alignment < ABSTRACT_ALIGNMENT:
            return None
        return _Text(made.text, "abstractive", vector, confidence.of_space(alignment, coverage), made.confidence)

    def _matters(self, cluster: Sequence[Covered]) -> bool:
        """Whether the user decided something in it, or the user's turns are on average worth keeping."""
        turns = [node.record for node in cluster if node.record is not None and node.record.role is Role.USER]
        decided = sum(kind_of_text(own_words(turn.text), turn.role) in _LAID_DOWN for turn in turns)
        if decided >= ABSTRACT_DECISIONS:
            return True
        return bool(turns) and sum(map(self._gate, turns)) / len(turns) >= ABSTRACT_GATE

    def _gate(self, turn: Record) -> float:
        """The gate's value of a turn that was kept as a memory; of any other, its grade below the threshold."""
        store, threshold = self._parts.store, self._parts.config.gate_threshold
        places = store.places(Collection.raw(self._session_id), turn.id)
        own = next((place for place in places if place.collection.kind is CollectionKind.TURNS), None)
        if own is None:
            return grade(turn.text, [], []).gate
        memories = Collection.memories(own.collection.owner)
        for memory in store.get(memories, [memory_id(own.collection, own.id)]):
            score = memory.metadata.get("gating_score")
            return float(score) if isinstance(score, float) else threshold
        return min(grade(turn.text, [], []).gate, threshold)

    # --- meanings --------------------------------------------------------------------------------------

    def _vectors(self, nodes: Sequence[Covered]) -> Grid | None:
        """Of the nodes that have one; None where nothing can be compared.

        An embedder that has failed is not asked again: each try may take its whole time-out.
        """
        if self._embedder_failed or self._parts.meaning.calibration is None:
            return None
        planned = [node.vector for node in nodes if node.vector is not None]
        with self._parts.indexes.current(Collection.session(self._session_id)) as index:
            stored = index.vectors_at([node.seq for node in nodes if node.seq is not None])
        rows = ([] if stored is None else list(stored)) + planned
        return np.stack(rows) if rows else None

    def _embed(self, text: str) -> Grid | None:
        try:
            vector: Grid = self._parts.meaning.grid_of_passages([passage_text(text, None)])[0]
        except EmbedderFailed as error:
            self.degraded.append(f"confidence of summaries by words alone: {error.message}")
            self._embedder_failed = True
            return None
        return vector

    def _nearness(self, vector: Grid, vectors: Grid) -> tuple[float, list[float]]:
        """To the middle of the sources, and to each of them."""
        calibration = self._parts.meaning.calibration
        assert calibration is not None
        middle = vectors.mean(axis=0, keepdims=True)
        length = float(np.linalg.norm(middle))
        if length > 0.0:
            middle *= np.float32(np.linalg.norm(vector)) / np.float32(length)
        alignment = similarities(middle, vector, calibration)
        return float(alignment[0]), [float(value) for value in similarities(vectors, vector, calibration)]

    # --- the record ------------------------------------------------------------------------------------

    def _new(self, written: _Text, nodes: Sequence[Covered], prior: Sequence[Covered]) -> tuple[NewSummary, Covered]:
        parts = self._parts
        entered = [node for node in nodes if node.trust is not Trust.QUARANTINED]
        left_out = [node.id for node in nodes if node.trust is Trust.QUARANTINED]
        lineage = Lineage(
            level=nodes[0].level + 1,
            source_ids=tuple(node.id for node in nodes),
            turn_count=sum(node.turn_count for node in nodes),
            first_ts_ms=min(node.first_ts_ms for node in nodes),
            last_ts_ms=max(node.last_ts_ms for node in nodes),
            compacted_ts_ms=parts.clock.now_ms(),
            method=written.method,
            confidence=confidence.blend(written.in_space, written.of_model),
            source_tokens=sum(node.tokens for node in nodes),
            prior_ids=tuple(node.id for node in prior),
            trivial=len(nodes) == 1,
        )
        draft = make_draft(
            parts,
            written.text,
            role=None,
            provenance=Provenance.SUMMARY,
            ts_ms=lineage.last_ts_ms,
            metadata=lineage.as_metadata() | ({WITHHELD_IDS: left_out} if left_out else {}),
        )
        draft = replace(draft, trust=least(node.trust for node in (*entered, *prior)))
        id_ = self._free_id(lineage.source_ids)
        vector = None if written.vector is None else encode_grid(written.vector)
        tasks = (Task.EMBED,) if vector is None and parts.meaning.wanted else ()
        covered = Covered(
            id=id_,
            level=lineage.level,
            source=Source(who="summary", role=None, ts_ms=lineage.last_ts_ms, text=written.text),
            first_ts_ms=lineage.first_ts_ms,
            last_ts_ms=lineage.last_ts_ms,
            tokens=draft.tokens,
            trust=draft.trust,
            turn_count=lineage.turn_count,
            vector=written.vector,
            confidence=lineage.confidence,
            method=lineage.method,
            source_tokens=lineage.source_tokens,
        )
        return NewSummary(id_, draft, lineage.source_ids, tasks, vector), covered

    def _free_id(self, source_ids: tuple[str, ...]) -> str:
        """The id of these sources' summary. Where one that was damaged or imported has it, the id after that."""
        id_ = summary_id(self._session_id, source_ids)
        holders = (Collection.session(self._session_id), Collection.summaries(self._session_id))
        taken = any(self._parts.store.seqs(name, [id_]) for name in holders)
        return self._free_id((*source_ids, id_)) if taken else id_
