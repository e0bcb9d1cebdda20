"""How a budget is divided among the sections, by example."""

from __future__ import annotations

import pytest

from clew.core.budget import Grant, Shares, fitting, longest_prefix, plan, portion

SHARES = Shares(soft=0.15, tail=0.50, guidance=0.10)


@pytest.mark.requirement("CONT-3")
def test_sections_are_served_in_order_and_recall_gets_the_rest() -> None:
    allocation = plan(
        1000, hard=100, base=200, soft=[60, 60, 60], extension=[90, 150, 70], guidance=[80, 40], shares=SHARES
    )
    assert allocation.soft == Grant(allowed=150, used=120, taken=(0, 1))
    assert allocation.extension == Grant(allowed=300, used=240, taken=(0, 1))
    assert allocation.guidance == Grant(allowed=100, used=80, taken=(0,))
    assert allocation.recall == 1000 - 100 - 200 - 120 - 240 - 80
    assert allocation.committed == 740
    assert allocation.degraded is None


@pytest.mark.requirement("CONT-3")
def test_without_authored_text_and_guidance_the_tail_and_recall_share_everything() -> None:
    allocation = plan(1000, base=200, extension=[100, 150, 100], shares=SHARES)
    assert (allocation.extension.used, allocation.recall) == (250, 550)


@pytest.mark.requirement("CONT-3")
def test_a_tail_that_keeps_its_size_in_a_smaller_total_leaves_guidance_its_share() -> None:
    allocation = plan(600, base=200, extension=[100, 150, 100], guidance=[50], shares=SHARES, tail_target=500)
    assert (allocation.extension.used, allocation.guidance.used, allocation.recall) == (250, 50, 100)
    tighter = plan(300, base=200, extension=[100, 150], guidance=[20], shares=SHARES, tail_target=500)
    assert (tighter.extension.used, tighter.guidance.used, tighter.recall) == (0, 20, 80)


@pytest.mark.requirement("CONT-3")
def test_soft_text_is_bounded_by_what_hard_text_and_base_leave() -> None:
    allocation = plan(1000, hard=500, base=450, soft=[40, 40], shares=SHARES)
    assert allocation.soft == Grant(allowed=50, used=40, taken=(0,))
    assert allocation.recall == 10


@pytest.mark.requirement("CONT-3")
def test_a_budget_used_up_to_the_last_token_leaves_nothing_for_the_rest() -> None:
    allocation = plan(100, hard=40, base=60, soft=[1], extension=[1], guidance=[1], shares=SHARES)
    assert allocation.degraded is None
    assert (allocation.committed, allocation.recall) == (100, 0)


@pytest.mark.requirement("CONT-1", "CONT-3")
def test_a_base_over_the_tails_target_is_not_extended() -> None:
    allocation = plan(1000, base=600, extension=[1], shares=SHARES)
    assert allocation.extension == Grant(allowed=0, used=0, taken=())
    assert allocation.recall == 400


@pytest.mark.requirement("CONT-4", "CONT-5")
def test_hard_text_and_base_over_the_budget_are_kept_and_reported() -> None:
    allocation = plan(100, hard=70, base=31, soft=[1], extension=[1], guidance=[1], shares=SHARES)
    assert (allocation.hard, allocation.base, allocation.committed, allocation.recall) == (70, 31, 101, 0)
    assert allocation.degraded is not None
    for figure in ("70", "31", "100"):
        assert figure in allocation.degraded


@pytest.mark.requirement("CONT-5")
def test_soft_text_is_cut_as_a_prefix_even_where_a_later_piece_would_fit() -> None:
    assert plan(1000, base=0, soft=[10, 200, 10], shares=SHARES).soft.taken == (0,)


@pytest.mark.requirement("CONT-3")
def test_a_rule_that_is_too_long_does_not_keep_out_a_shorter_one() -> None:
    assert plan(1000, base=0, guidance=[400, 60, 50, 40], shares=SHARES).guidance == Grant(100, 100, (1, 3))


@pytest.mark.requirement("CONT-3")
@pytest.mark.parametrize(("total", "share", "tokens"), [(100, 0.29, 29), (8000, 0.15, 1200), (7, 0.5, 3), (9, 1.0, 9)])
def test_a_share_is_exact_and_rounded_down(total: int, share: float, tokens: int) -> None:
    assert portion(total, share) == tokens


@pytest.mark.requirement("CONT-5")
def test_the_longest_prefix_stops_at_the_first_piece_that_does_not_fit() -> None:
    assert longest_prefix([3, 4, 5, 0], 8) == (2, 7)
    assert longest_prefix([], 8) == (0, 0)
    assert longest_prefix([0, 0], 0) == (2, 0)


@pytest.mark.requirement("CONT-3")
def test_fitting_skips_a_piece_that_does_not_fit() -> None:
    assert fitting([3, 9, 5, 1], 8) == ((0, 2), 8)


@pytest.mark.requirement("CONT-3")
def test_the_frame_of_guidance_is_paid_once_and_only_where_something_is_in_it() -> None:
    framed = plan(1000, base=0, guidance=[30, 30, 30], guidance_frame=40, shares=SHARES)
    assert framed.guidance == Grant(allowed=100, used=100, taken=(0, 1))
    assert framed.recall == 900
    empty = plan(1000, base=0, guidance=[61], guidance_frame=40, shares=SHARES)
    assert empty.guidance == Grant(allowed=100, used=0, taken=())
    assert empty.recall == 1000


@pytest.mark.requirement("CONT-3", "CONT-5")
def test_sections_are_served_hard_base_soft_tail_guidance_recall_as_the_budget_grows() -> None:
    whole = Shares(soft=1.0, tail=1.0, guidance=1.0)
    served = []
    for total in (20, 30, 40, 50):
        allocation = plan(total, hard=10, base=10, soft=[10], extension=[10], guidance=[10], shares=whole)
        grants = (allocation.soft, allocation.extension, allocation.guidance)
        served.append([grant.used for grant in grants] + [allocation.recall])
    assert served == [[0, 0, 0, 0], [10, 0, 0, 0], [10, 10, 0, 0], [10, 10, 10, 0]]
