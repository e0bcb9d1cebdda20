"""The figures of a benchmark: what each measures, and which properties hold for any ranking."""

from __future__ import annotations

import math

import pytest
from bench.retrieval.metrics import (
    SESSION_DEPTHS,
    TURN_DEPTHS,
    Outcome,
    after_audit,
    figures,
    normalised_gain,
    percentile,
    recall,
    reciprocal_rank,
    sessions_in_order,
    share,
)
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.requirement("PERF-1")

NAMES = [f"t{number}" for number in range(1, 61)]
SESSION_OF = {name: f"s{number // 4}" for number, name in enumerate(NAMES)}

evidences = st.frozensets(st.sampled_from(NAMES), max_size=6)
rankings = st.permutations(NAMES).flatmap(lambda order: st.integers(0, 60).map(lambda count: tuple(order[:count])))


def outcome(evidence: frozenset[str], ranked: tuple[str, ...], audited: frozenset[str] | None = None) -> Outcome:
    shown = {100: frozenset(ranked[:3]), 200: frozenset(ranked[:9])}
    sessions = sessions_in_order(ranked, SESSION_OF)
    written_out = {100: frozenset(ranked[:4])}
    return Outcome("c", "kind", evidence, audited, ranked, sessions, SESSION_OF, shown, written_out)


def test_recall_is_the_share_of_the_evidence_among_the_top_ranks() -> None:
    assert recall(frozenset({"a", "b", "c", "d"}), ["a", "x", "b", "c"], 3) == 0.5
    assert recall(frozenset({"a"}), [], 5) == 0.0
    assert share(frozenset(), ["a"]) == 0.0


def test_the_reciprocal_rank_is_that_of_the_first_turn_that_answers() -> None:
    assert reciprocal_rank(frozenset({"b", "c"}), ["a", "b", "c"]) == 0.5
    assert reciprocal_rank(frozenset({"z"}), ["a", "b"]) == 0.0


def test_the_normalised_gain_discounts_later_ranks() -> None:
    wanted = frozenset({"a", "b"})
    best = 1.0 + 1.0 / math.log2(3)
    assert normalised_gain(wanted, ["a", "b", "c"], 10) == 1.0
    assert normalised_gain(wanted, ["c", "a", "b"], 10) == pytest.approx((1 / math.log2(3) + 1 / 2) / best)
    assert normalised_gain(wanted, ["c", "d", "a"], 2) == 0.0


def test_sessions_are_ranked_by_their_first_turn() -> None:
    assert sessions_in_order(["t9", "t1", "t2", "t10", "t5"], SESSION_OF) == ("s2", "s0", "s1")


def test_a_session_counts_once_however_many_of_its_turns_answer() -> None:
    found = figures([outcome(frozenset({"t1", "t2", "t40"}), ("t3", *NAMES[20:36]))])
    assert found["session"]["any@5"] == 1.0
    assert found["session"]["mean@5"] == 0.5
    assert found["session"]["all@5"] == 0.0
    assert found["turn"]["recall@50"] == 0.0


def test_all_questions_weigh_the_same_and_those_without_evidence_nothing() -> None:
    found = figures(
        [
            outcome(frozenset({"t1"}), ("t1",)),
            outcome(frozenset({"t2", "t3", "t4", "t5"}), ("t2",)),
            outcome(frozenset(), ("t1",)),
        ]
    )
    assert found["turn"]["recall@5"] == (1.0 + 0.25) / 2
    assert found["turn"]["hit@5"] == 1.0
    assert found["budget"] == {"100": (1.0 + 0.25) / 2, "200": (1.0 + 0.25) / 2}
    assert found["written_out"] == {"100": (1.0 + 0.25) / 2}
    assert figures([outcome(frozenset(), ("t1",))]) == {}


def test_the_audit_corrects_evidence_and_leaves_questions_out() -> None:
    given = [
        outcome(frozenset({"t1"}), ("t2",), audited=frozenset({"t2"})),
        outcome(frozenset({"t1"}), ("t1",), audited=frozenset()),
        outcome(frozenset({"t1"}), ("t1",)),
    ]
    assert [one.evidence for one in after_audit(given)] == [{"t2"}]
    assert figures(after_audit(given))["turn"]["mrr"] == 1.0


@given(evidences.filter(bool), rankings)
def test_figures_are_shares_that_grow_with_depth_and_budget(evidence: frozenset[str], ranked: tuple[str, ...]) -> None:
    found = figures([outcome(evidence, ranked)])
    assert all(0.0 <= value <= 1.0 for level in found.values() for value in level.values())
    for kind, level, depths in (
        ("recall", "turn", TURN_DEPTHS),
        ("hit", "turn", TURN_DEPTHS),
        ("mean", "session", SESSION_DEPTHS),
    ):
        values = [found[level][f"{kind}@{depth}"] for depth in depths]
        assert values == sorted(values)
    assert found["budget"]["100"] <= found["budget"]["200"]
    for depth in TURN_DEPTHS:
        assert found["turn"][f"recall@{depth}"] <= found["turn"][f"hit@{depth}"]
    for depth in SESSION_DEPTHS:
        session = found["session"]
        assert session[f"all@{depth}"] <= session[f"mean@{depth}"] <= session[f"any@{depth}"]


@given(evidences.filter(bool), rankings)
def test_a_perfect_ranking_has_the_best_value_of_every_figure(
    evidence: frozenset[str], ranked: tuple[str, ...]
) -> None:
    ordered = sorted(ranked, key=lambda name: name not in evidence)
    assert reciprocal_rank(evidence, ordered) >= reciprocal_rank(evidence, ranked)
    assert normalised_gain(evidence, ordered, 10) >= normalised_gain(evidence, ranked, 10)
    if evidence <= set(ranked):
        assert normalised_gain(evidence, ordered, 10) == 1.0


@given(evidences.filter(bool), rankings, rankings)
def test_lower_ranks_do_not_change_the_figures_at_higher_ranks(
    evidence: frozenset[str], ranked: tuple[str, ...], behind: tuple[str, ...]
) -> None:
    whole = tuple(dict.fromkeys(ranked + behind))
    for depth in (depth for depth in TURN_DEPTHS if depth <= len(ranked)):
        assert recall(evidence, whole, depth) == recall(evidence, ranked, depth)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(1, 100))
def test_a_percentile_is_a_measured_value_that_covers_its_share(values: list[float], percent: float) -> None:
    found = percentile(values, percent)
    assert found in values
    assert sum(value <= found for value in values) * 100 >= percent * len(values) * (1 - 1e-9)
    assert percentile(values, 100) == max(values)
    assert percentile([], 50) == 0.0
