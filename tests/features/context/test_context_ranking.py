"""The order of what a context recalls, by formula and by example."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from clew.api import Hit
from clew.core.collections import Collection
from clew.core.lineage import Lineage
from clew.core.model import Provenance
from clew.core.ranking import ContextWeights, context_score, quality, standing, use_share
from clew.engine import Memory
from clew.storage.protocol import NewRecord, NewSummary, Place
from tests.conftest import NOW_MS, FixedClock, OpenMemory
from tests.testing.drafts import draft

Open = Callable[..., Memory]


@pytest.fixture
def open_lexical(open_memory: OpenMemory) -> Open:
    return lambda **settings: open_memory(**{"tokenizer": "estimate"} | settings)


def recall_hits(memory: Memory, query: str, **given: object) -> list[Hit]:
    return list(memory.assemble("s", query=query, user_id="ana", **given).recalled)  # type: ignore[arg-type]


def put(memory: Memory, id: str, text: str, ts_ms: int = NOW_MS, provenance: Provenance = Provenance.MEMORY) -> None:
    made = replace(draft(text, ts_ms=ts_ms, role=None), provenance=provenance)
    memory._store.put([NewRecord(made, Place(Collection("user:ana"), id))])


# --- the formulas ------------------------------------------------------------------------------------


@pytest.mark.requirement("RANK-2")
def test_use_is_relative_to_the_most_used_candidate() -> None:
    assert use_share(0, 0) == use_share(0, 100) == 0.0
    assert use_share(3, 7) == pytest.approx(math.log(4) / math.log(9))
    assert use_share(7, 7) < 1.0


@pytest.mark.requirement("RANK-2")
def test_standing_is_the_weighted_sum_of_age_use_and_authority() -> None:
    weights = ContextWeights.normalised(2.0, 0.5, 0.5)  # clamped to 1, 0.5, 0.5
    assert standing(1.0, 0.0, 0.4, weights) == pytest.approx(0.5 + 0.25 * 0.4)


@pytest.mark.requirement("RANK-2")
def test_a_score_rises_with_the_share_of_query_words_by_their_influence() -> None:
    assert context_score(0.5, 0.8, 0.0) == pytest.approx(0.4 / 1.3)
    assert context_score(0.5, 0.8, 0.5) == pytest.approx(0.4 * 1.15 / 1.3)
    assert context_score(-0.5, 0.8, 1.0) == 0.0


@pytest.mark.requirement("RANK-2")
def test_a_summary_loses_half_of_its_score_with_all_of_its_confidence() -> None:
    assert [quality(decay) for decay in (0.0, 0.4, 1.0, 7.0)] == [1.0, 0.8, 0.5, 0.5]


# --- at work -----------------------------------------------------------------------------------------


@pytest.mark.requirement("RANK-1", "RANK-2")
def test_every_partial_score_is_shown_and_they_make_the_score_of_the_hit(open_lexical: Open) -> None:
    memory = open_lexical(context_weights=(0.2, 0.3, 0.5), recall_min_similarity=0.0)
    put(memory, "1", "the pelican feeds at dawn", NOW_MS - 50_000_000)
    put(memory, "2", "the pelican sleeps at noon")
    memory.touch({"user:ana": ["1", "1"]})
    for hit in recall_hits(memory, "pelican feeds dawn"):
        scores = hit.scores
        assert scores.use is not None
        assert scores.authority == 0.9
        stands = 0.2 * scores.recency + 0.3 * scores.use + 0.5 * 0.9
        emphasis = (1 + 0.3 * scores.keywords) / 1.3
        assert scores.score == pytest.approx(stands * scores.similarity * emphasis, rel=1e-5)
    first, second = recall_hits(memory, "pelican feeds dawn")
    assert (first.record.id, first.scores.keywords) == ("1", 1.0)
    assert second.scores.keywords == pytest.approx(1 / 3)


@pytest.mark.requirement("RANK-2")
@pytest.mark.parametrize(
    ("weights", "first"),
    [((1.0, 0.0, 0.0), "new"), ((0.0, 1.0, 0.0), "used"), ((0.0, 0.0, 1.0), "memory"), ((0.0, 0.0, 0.0), "memory")],
)
def test_the_weights_decide_between_age_use_and_origin(
    open_lexical: Open, weights: tuple[float, ...], first: str
) -> None:
    memory = open_lexical(context_weights=weights)
    old = NOW_MS - 10**9
    put(memory, "new", "the pelican feeds", NOW_MS, Provenance.TOOL_OUTPUT)
    put(memory, "used", "the pelican feeds", old, Provenance.TOOL_OUTPUT)
    put(memory, "memory", "the pelican feeds", old, Provenance.MEMORY)
    memory.touch({"user:ana": ["used", "used", "used"]})
    assert recall_hits(memory, "pelican feeds")[0].record.id == first


@pytest.mark.requirement("RANK-3")
def test_equal_scores_come_newest_first_then_by_id(open_lexical: Open) -> None:
    memory = open_lexical(context_weights=(0.0, 0.0, 1.0))
    for name, ts_ms in (("c", 5), ("a", 5), ("b", 9), ("d", 1)):
        put(memory, name, "the pelican feeds", ts_ms)
    orders = [[hit.record.id for hit in recall_hits(memory, "pelican feeds", budget_tokens=4000)] for _ in range(3)]
    assert orders == [["b", "a", "c", "d"]] * 3


@pytest.mark.requirement("RANK-3")
def test_the_same_store_query_and_clock_give_the_same_context_after_a_restart(open_lexical: Open) -> None:
    first = open_lexical(context_weights=(0.5, 0.0, 0.5))  # Clew counts uses, but they have no weight here
    for number in range(40):
        put(first, str(number), f"pelican {number % 5} feeds {number % 3} times", NOW_MS - number % 4)
    one = first.assemble("s", query="pelican 3 feeds 2 times", user_id="ana")
    first.close()
    two = open_lexical(context_weights=(0.5, 0.0, 0.5)).assemble("s", query="pelican 3 feeds 2 times", user_id="ana")
    assert one.recalled_text == two.recalled_text
    assert one.sections == two.sections


@pytest.mark.requirement("RANK-2")
def test_a_summary_of_low_confidence_ranks_lower_in_contexts_and_searches(open_lexical: Open) -> None:
    memory = open_lexical()
    for name, confidence in (("poor", 0.1), ("good", 0.95)):
        memory.ingest("s", "user", f"something about {name}", id=f"turn-{name}")
        memory._store.condense("s", [summary(name, confidence, f"turn-{name}")])
    context = memory.assemble("s", query="pelican feeds", messages=[])
    search = memory.search("pelican feeds", session_id="s")
    for hits in (context.recalled, search.hits):
        assert [hit.record.id for hit in hits] == ["good", "poor"]
        assert [hit.scores.quality for hit in hits] == pytest.approx([0.975, 0.55])
        assert hits[1].scores.score / hits[0].scores.score == pytest.approx(0.55 / 0.975, rel=1e-4)


def summary(id: str, confidence: float, source: str) -> NewSummary:
    lineage = Lineage(
        level=1,
        source_ids=(source,),
        turn_count=1,
        first_ts_ms=NOW_MS,
        last_ts_ms=NOW_MS,
        compacted_ts_ms=NOW_MS,
        method="extractive",
        confidence=confidence,
        source_tokens=9,
        trivial=True,
    )
    made = draft("the pelican feeds", ts_ms=NOW_MS, role=None, **lineage.as_metadata())
    return NewSummary(id, replace(made, provenance=Provenance.SUMMARY), (source,))


@pytest.mark.requirement("RANK-2")
def test_metadata_cannot_make_a_record_a_summary_or_give_it_authority(open_lexical: Open) -> None:
    memory = open_lexical()
    claims = {"type": "summary", "level": 1, "confidence": 0.0, "authority": 1.0, "hop_targets": ["AGENTS.md"]}
    memory.put("user:ana", "1", "the pelican feeds", claims)
    (hit,) = recall_hits(memory, "pelican feeds")
    assert (hit.scores.quality, hit.scores.authority, hit.scores.linked_from) == (1.0, 0.9, None)


@pytest.mark.requirement("RANK-4")
def test_only_records_in_the_context_count_as_used(open_lexical: Open) -> None:
    memory = open_lexical()
    for number in range(30):
        put(memory, str(number), f"the pelican number {number} feeds at dawn near the old pier")
    memory.search("pelican feeds", user_id="ana", k=30)
    context = memory.assemble("s", query="pelican feeds", user_id="ana", budget_tokens=300)
    taken = {hit.record.id for hit in context.recalled}
    assert 0 < len(taken) < 30
    assert {item.reason for item in context.sections[-1].left_out} == {"no room in the budget"}
    used = {record.id: record.access_count for record in memory.list("user:ana").records}
    assert {name for name, count in used.items() if count} == taken
    assert set(used.values()) == {0, 1}


@pytest.mark.requirement("RANK-2")
def test_recall_respects_the_threshold_and_the_largest_number_of_hits(open_lexical: Open) -> None:
    strict = open_lexical(recall_min_similarity=1.0)
    put(strict, "1", "the pelican feeds at dawn")
    assert recall_hits(strict, "pelican walrus heron") == []
    assert len(recall_hits(strict, "pelican feeds heron")) == 1  # without vectors, half the similarity is enough
    strict.close()
    few = open_lexical(recall_items=2, recall_min_similarity=0.0)
    put(few, "2", "the pelican sleeps")
    put(few, "3", "the pelican flies")
    assert len(recall_hits(few, "pelican")) == 2


@pytest.mark.requirement("RANK-2")
@pytest.mark.parametrize("query", ["", " ", "\0", "the of and", "?!", "\ud83d\ude00", "𓀀" * 5000, "a" * 100_000])
def test_an_empty_query_still_gets_a_context(open_lexical: Open, clock: FixedClock, query: str) -> None:
    memory = open_lexical()
    put(memory, "1", "the pelican feeds at dawn", NOW_MS + 10**9)
    clock.ms = 0
    memory.ingest("s", "user", "hello")
    context = memory.assemble("s", query=query, user_id="ana")
    assert [message.text for message in context.messages] == ["hello"]
    assert all(0 <= hit.scores.score <= 1 for hit in context.recalled)
