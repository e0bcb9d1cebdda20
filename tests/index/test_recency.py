"""Age in the ranking: of two equally similar records the newer ranks first, and each scope ages at its own pace."""

from __future__ import annotations

import math

import numpy as np
import pytest

from clew.core.collections import Scope
from clew.core.ranking import recency
from clew.engine import Memory
from tests.conftest import NOW_MS, FixedClock, OpenMemory

pytestmark = pytest.mark.requirement("RANK-1", "RANK-2")

HOUR_MS = 3_600_000
TEXT = "The copper kettle stands on the stove."
RATES = {Scope.SESSION: 1e-4, Scope.USER: 1e-5, Scope.GLOBAL: 2e-6}
"""Per second of age, from the specification."""

PLACES = {Scope.SESSION: "session:s", Scope.USER: "user:ann", Scope.GLOBAL: "global"}


def keep(memory: Memory, scope: Scope, ages_ms: dict[str, int]) -> None:
    """The same text at each age, the youngest last and under the last id, so that neither decides."""
    for id_, age_ms in ages_ms.items():
        if scope is Scope.SESSION:
            memory.ingest("s", "assistant", TEXT, id=id_, ts=NOW_MS - age_ms)
        else:
            memory.put(PLACES[scope], id_, TEXT, {"ts": NOW_MS - age_ms})
    assert memory.flush().ok


@pytest.mark.parametrize("rate", RATES.values())
@pytest.mark.parametrize("age_s", [0, 1, 60, 86_400, 30 * 86_400])
def test_recency_falls_with_every_second_of_age(rate: float, age_s: int) -> None:
    (recent,) = recency(np.array([NOW_MS - age_s * 1000]), NOW_MS, rate)
    assert recent == pytest.approx(math.exp(-rate * age_s), rel=1e-4)


@pytest.mark.parametrize("scope", RATES)
def test_a_hit_has_the_recency_of_its_age_and_scope(memory: Memory, scope: Scope) -> None:
    keep(memory, scope, {"old": 24 * HOUR_MS, "new": HOUR_MS})
    hits = memory.search("copper kettle", collections=[PLACES[scope]]).hits
    shown = {hit.record.id: hit.scores.recency for hit in hits}
    expected = {id_: math.exp(-RATES[scope] * hours * 3600) for id_, hours in {"old": 24, "new": 1}.items()}
    assert shown == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("scope", RATES)
def test_of_two_equally_similar_records_the_newer_scores_higher(memory: Memory, scope: Scope) -> None:
    keep(memory, scope, {"a": 3 * HOUR_MS, "b": 2 * HOUR_MS, "c": HOUR_MS})
    hits = memory.search("copper kettle", collections=[PLACES[scope]]).hits
    scores = [hit.scores.score for hit in hits]
    assert [hit.record.id for hit in hits] == ["c", "b", "a"]
    assert len({hit.scores.similarity for hit in hits}) == 1
    assert scores[0] > scores[1] > scores[2]


def test_an_hour_counts_most_in_a_session_and_least_for_all(open_memory: OpenMemory) -> None:
    memory = open_memory()
    lost = {}
    for scope in RATES:
        keep(memory, scope, {"old": HOUR_MS, "new": 0})
        hits = memory.search("copper kettle", collections=[PLACES[scope]]).hits
        scores = {hit.record.id: hit.scores.score for hit in hits}
        lost[scope] = scores["new"] - scores["old"]
    assert lost[Scope.SESSION] > lost[Scope.USER] > lost[Scope.GLOBAL] > 0


def test_a_record_ages_as_the_clock_moves_on(memory: Memory, clock: FixedClock) -> None:
    keep(memory, Scope.USER, {"a": 0})
    for hours in (0, 10, 100):
        clock.ms = NOW_MS + hours * HOUR_MS
        (hit,) = memory.search("copper kettle", user_id="ann").hits
        assert hit.scores.recency == pytest.approx(math.exp(-1e-5 * hours * 3600), rel=1e-4)


def test_a_context_and_a_pack_show_the_newer_of_two_equal_texts_first(memory: Memory) -> None:
    """One and the same text is shown once: the newer one stays."""
    keep(memory, Scope.USER, {"a": 48 * HOUR_MS, "b": HOUR_MS})
    hits = memory.assemble("new", query="Where is the copper kettle?", user_id="ann").recalled
    assert [hit.record.id for hit in hits][:1] == ["b"]
    packed = memory.pack("Where is the copper kettle?", user_id="ann").items
    assert [item.record_ref for item in packed] == ["user:ann/b"]
