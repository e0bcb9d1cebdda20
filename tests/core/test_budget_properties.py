"""What holds for every budget and every set of pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.budget import Allocation, Shares, fitting, longest_prefix, plan, portion

TOKENS = st.integers(0, 500)
PIECES = st.lists(TOKENS, max_size=12)
TOTAL = st.integers(0, 4000)


@dataclass(frozen=True)
class Demand:
    hard: int
    base: int
    soft: list[int]
    extension: list[int]
    guidance: list[int]
    shares: Shares

    def planned(self, total: int, tail_target: int | None = None) -> Allocation:
        return plan(
            total,
            tail_target=tail_target,
            hard=self.hard,
            base=self.base,
            soft=self.soft,
            extension=self.extension,
            guidance=self.guidance,
            shares=self.shares,
        )


SHARE = st.floats(0, 1)
DEMANDS = st.builds(
    Demand,
    hard=TOKENS,
    base=TOKENS,
    soft=PIECES,
    extension=PIECES,
    guidance=PIECES,
    shares=st.builds(Shares, soft=SHARE, tail=SHARE, guidance=SHARE),
)


@pytest.mark.requirement("CONT-3", "CONT-4")
@given(TOTAL, DEMANDS)
def test_the_sections_add_up_to_the_total_or_the_plan_is_degraded(total: int, demand: Demand) -> None:
    allocation = demand.planned(total)
    assert (allocation.degraded is not None) == (demand.hard + demand.base > total)
    if allocation.degraded is None:
        assert allocation.committed + allocation.recall == total
        assert allocation.recall >= 0
    else:
        assert allocation.committed == demand.hard + demand.base
        assert allocation.recall == 0


@pytest.mark.requirement("CONT-3")
@given(TOTAL, st.integers(0, 8000), DEMANDS)
def test_a_tail_that_keeps_its_size_takes_from_recall_alone(total: int, target: int, demand: Demand) -> None:
    plain, kept = demand.planned(total), demand.planned(total, target)
    assert kept.committed + kept.recall == max(total, demand.hard + demand.base)
    assert kept.recall >= 0
    assert kept.extension.used <= max(target - demand.base, 0)
    assert kept.soft == plain.soft
    if kept.degraded is None:
        assert kept.guidance.allowed == min(
            portion(total, demand.shares.guidance), total - kept.committed + kept.guidance.used
        )


@pytest.mark.requirement("CONT-5")
@given(TOTAL, DEMANDS)
def test_hard_and_base_are_never_cut(total: int, demand: Demand) -> None:
    allocation = demand.planned(total)
    assert (allocation.hard, allocation.base) == (demand.hard, demand.base)


@pytest.mark.requirement("CONT-3")
@given(TOTAL, DEMANDS)
def test_no_section_exceeds_its_allowance_or_its_share(total: int, demand: Demand) -> None:
    allocation = demand.planned(total)
    shares = demand.shares
    rounding = 1 + total / 1_000_000
    assert allocation.soft.allowed <= shares.soft * total + rounding
    assert allocation.guidance.allowed <= shares.guidance * total + rounding
    assert allocation.extension.allowed <= max(shares.tail * total + rounding - demand.base, 0)
    for grant, pieces in (
        (allocation.soft, demand.soft),
        (allocation.extension, demand.extension),
        (allocation.guidance, demand.guidance),
    ):
        assert 0 <= grant.used <= grant.allowed
        assert grant.used == sum(pieces[place] for place in grant.taken)


@pytest.mark.requirement("CONT-3")
@given(TOTAL, DEMANDS)
def test_a_lower_section_gets_nothing_that_a_higher_one_could_have_used(total: int, demand: Demand) -> None:
    allocation = demand.planned(total)
    for grant, pieces in ((allocation.soft, demand.soft), (allocation.extension, demand.extension)):
        refused = pieces[len(grant.taken) :]
        assert not refused or allocation.degraded or grant.used + refused[0] > grant.allowed
    guidance = allocation.guidance
    for place, size in enumerate(demand.guidance):
        assert place in guidance.taken or allocation.degraded or guidance.used + size > guidance.allowed


@pytest.mark.requirement("CONT-3")
@given(TOTAL, DEMANDS)
def test_the_demand_of_a_lower_section_never_changes_a_higher_one(total: int, demand: Demand) -> None:
    whole = demand.planned(total)
    alone = replace(demand, extension=[], guidance=[]).planned(total)
    assert alone.soft == whole.soft
    without_guidance = replace(demand, guidance=[]).planned(total)
    assert without_guidance.extension == whole.extension


@pytest.mark.requirement("CONT-3")
@given(TOTAL, TOTAL, DEMANDS)
def test_a_larger_total_serves_the_sections_better_in_their_order(one: int, other: int, demand: Demand) -> None:
    small, large = (demand.planned(total) for total in sorted((one, other)))
    assert (small.soft.used, small.extension.used, small.guidance.used) <= (
        large.soft.used,
        large.extension.used,
        large.guidance.used,
    )


@pytest.mark.requirement("CONT-5")
@given(PIECES, TOKENS)
def test_the_longest_prefix_fits_and_the_next_piece_would_not(sizes: list[int], allowance: int) -> None:
    count, used = longest_prefix(sizes, allowance)
    assert used == sum(sizes[:count]) <= allowance
    assert count == len(sizes) or used + sizes[count] > allowance


@pytest.mark.requirement("CONT-3")
@given(PIECES, TOKENS)
def test_fitting_takes_at_least_the_longest_prefix(sizes: list[int], allowance: int) -> None:
    taken, used = fitting(sizes, allowance)
    count, prefix = longest_prefix(sizes, allowance)
    assert taken[:count] == tuple(range(count))
    assert prefix <= used <= allowance
