"""The recent tail: where it may be cut, what always stays, how it grows."""

from __future__ import annotations

import pytest

from clew.core.model import Role
from clew.features.history.tail import Tail, TailTurn, boundaries, split_tail


def user(tokens: int = 1) -> TailTurn:
    return TailTurn(Role.USER, tokens)


def assistant(tokens: int = 1, *calls: str) -> TailTurn:
    return TailTurn(Role.ASSISTANT, tokens, calls)


def system(tokens: int = 1) -> TailTurn:
    return TailTurn(Role.SYSTEM, tokens)


def call(*ids: str, tokens: int = 1) -> TailTurn:
    return TailTurn(Role.TOOL_CALL, tokens, ids)


def result(call_id: str | None = None, tokens: int = 1) -> TailTurn:
    return TailTurn(Role.TOOL_RESULT, tokens, tool_call_id=call_id)


@pytest.mark.requirement("CONT-2")
class TestBoundaries:
    def test_an_empty_session_has_one_boundary(self) -> None:
        assert boundaries([]) == [0]

    def test_a_request_stays_with_its_reply(self) -> None:
        assert boundaries([user(), assistant(), user(), assistant()]) == [0, 2, 4]

    def test_a_reply_is_coupled_to_the_last_of_several_user_turns(self) -> None:
        assert boundaries([user(), user(), user(), assistant()]) == [0, 1, 2, 4]

    def test_a_system_turn_between_request_and_reply_does_not_separate_them(self) -> None:
        assert boundaries([user(), system(), assistant()]) == [0, 3]

    def test_a_request_without_a_reply_is_coupled_to_nothing(self) -> None:
        assert boundaries([assistant(), user(), user()]) == [0, 1, 2, 3]

    def test_only_the_first_reply_belongs_to_a_request(self) -> None:
        assert boundaries([user(), assistant(), assistant(), assistant()]) == [0, 2, 3, 4]

    def test_a_tool_call_stays_with_its_result(self) -> None:
        assert boundaries([call("a"), result("a"), assistant()]) == [0, 2, 3]

    def test_a_tool_call_may_be_the_reply_to_a_request(self) -> None:
        assert boundaries([user(), call("a"), result("a"), assistant()]) == [0, 3, 4]

    def test_a_long_run_of_tool_calls_is_not_one_unit(self) -> None:
        run = [turn for step in range(50) for turn in (call(f"c{step}"), result(f"c{step}"))]
        assert boundaries([user(), *run]) == [0, *range(3, 102, 2)]

    def test_parallel_calls_of_one_turn_stay_with_all_their_results(self) -> None:
        assert boundaries([assistant(1, "a", "b"), result("b"), system(), result("a"), user()]) == [0, 4, 5]

    def test_interleaved_calls_form_one_unit(self) -> None:
        assert boundaries([call("a"), call("b"), result("a"), result("b")]) == [0, 4]

    def test_a_late_result_couples_everything_back_to_its_call(self) -> None:
        turns = [user(), call("slow"), user(), assistant(), user(), assistant(), result("slow"), assistant()]
        assert boundaries(turns) == [0, 7, 8]

    def test_a_result_without_an_id_belongs_to_the_nearest_call(self) -> None:
        assert boundaries([call("a"), result("a"), call(), result(), result()]) == [0, 2, 5]

    def test_a_result_with_an_unknown_id_belongs_to_a_call_without_an_id(self) -> None:
        assert boundaries([call(), result("a")]) == [0, 2]

    def test_a_result_whose_call_is_missing_belongs_to_nothing(self) -> None:
        assert boundaries([result("gone"), result(), assistant(), call("a"), result("gone")]) == [0, 1, 2, 3, 4, 5]

    def test_a_reused_id_means_the_newer_call(self) -> None:
        turns = [call("0"), result("0"), assistant(), call("0"), result("0"), result("0")]
        assert boundaries(turns) == [0, 2, 3, 6]

    def test_a_call_repeated_before_its_result_is_the_same_call(self) -> None:
        assert boundaries([call("x"), call("x"), result("x"), result("x")]) == [0, 4]

    def test_a_call_abandoned_before_a_new_request_is_not_coupled(self) -> None:
        assert boundaries([call("x"), user(), call("x"), result("x")]) == [0, 1, 4]

    def test_tool_results_under_the_users_name_do_not_couple_a_whole_run(self) -> None:
        answer = TailTurn(Role.USER, 1, tool_call_id="x")
        assert boundaries([assistant(1, "x"), answer, assistant(1, "x"), answer]) == [0, 2, 4]


@pytest.mark.requirement("CONT-1")
class TestSplit:
    def test_an_empty_session_has_an_empty_tail(self) -> None:
        assert split_tail([], 4, 100) == Tail(0, 0, 0, 0)

    def test_the_base_is_the_whole_session_if_it_is_shorter_than_the_minimum(self) -> None:
        assert split_tail([user(3), assistant(4)], 4, 0) == Tail(0, 0, 7, 7)

    def test_the_base_is_the_shortest_suffix_with_enough_turns(self) -> None:
        turns = [assistant(10) for _ in range(9)]
        assert split_tail(turns, 4, 0) == Tail(5, 5, 40, 40)

    @pytest.mark.requirement("CONT-2")
    def test_the_base_takes_one_more_turn_rather_than_split_a_pair(self) -> None:
        turns = [user(), assistant(), user(), assistant(), user()]
        assert split_tail(turns, 2, 0).base_start == 2

    def test_the_tail_grows_backwards_while_it_fits_the_target(self) -> None:
        turns = [assistant(10) for _ in range(9)]
        assert split_tail(turns, 4, 69) == Tail(5, 3, 40, 60, (10, 10))

    def test_a_base_over_the_target_is_kept_and_not_extended(self) -> None:
        turns = [assistant(0), assistant(0), user(500), assistant(500)]
        assert split_tail(turns, 2, 100) == Tail(2, 2, 1000, 1000)

    def test_growth_stops_at_the_first_group_that_does_not_fit(self) -> None:
        turns = [assistant(1), user(90), assistant(90), assistant(5), assistant(5)]
        assert split_tail(turns, 1, 100) == Tail(4, 3, 5, 10, (5,))

    def test_the_extension_lists_the_groups_before_the_base_newest_first(self) -> None:
        turns = [user(1), assistant(2), call("a", tokens=4), result("a", 8), assistant(16)]
        assert split_tail(turns, 1, 1000).extension == (12, 3)
