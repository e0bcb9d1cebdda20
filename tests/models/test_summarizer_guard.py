"""A slow, failing or hung summarizing model harms nobody who calls it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from clew.core.ports import Abstract, Summarizer
from clew.errors import InvalidInput, SummarizerFailed, TooLarge
from clew.models.guard import FIRST_BACKOFF_S, LONGEST_BACKOFF_S, GuardedSummarizer

pytestmark = pytest.mark.requirement("COMP-6")

PATIENT_MS = 20_000
IMPATIENT_MS = 20


class ScriptedModel:
    """Does what the test says, and notes what was asked of it."""

    name = "scripted"

    def __init__(self, act: Callable[[], Abstract] = lambda: Abstract("short", 0.5)) -> None:
        self.act = act
        self.asked: list[tuple[str, str, int]] = []
        self.closed = threading.Event()

    def summarise(self, transcript: str, *, earlier: str, max_tokens: int) -> Abstract:
        self.asked.append((transcript, earlier, max_tokens))
        return self.act()

    def close(self) -> None:
        assert not self.closed.is_set(), "closed once"
        self.closed.set()


class Hanging:
    """Blocks until it is released."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.released = threading.Event()

    def __call__(self) -> Abstract:
        self.entered.set()
        self.released.wait()
        return Abstract("late")


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    hang = Hanging()
    yield hang
    hang.released.set()


def fail() -> Abstract:
    raise SummarizerFailed("out of order")


def ask(summarizer: Summarizer, transcript: str = "a long talk") -> Abstract:
    return summarizer.summarise(transcript, earlier="before", max_tokens=40)


def failure(summarizer: Summarizer) -> str:
    with pytest.raises(SummarizerFailed) as caught:
        ask(summarizer)
    assert type(caught.value) is SummarizerFailed
    return str(caught.value)


def test_a_call_reaches_the_model_and_its_text_comes_back() -> None:
    model = ScriptedModel()
    guarded = GuardedSummarizer(model, PATIENT_MS)
    assert guarded.ready()
    assert guarded.name == "scripted"
    assert ask(guarded) == Abstract("short", 0.5)
    assert model.asked == [("a long talk", "before", 40)]


def test_broken_characters_neither_reach_the_model_nor_come_back_from_it() -> None:
    model = ScriptedModel(lambda: Abstract(" half a \ud800 pair\n"))
    assert ask(GuardedSummarizer(model, PATIENT_MS), "a\ud800b").text == "half a ? pair"
    assert model.asked[0][0] == "a?b"


@pytest.mark.parametrize(
    ("given", "taken"), [(None, None), (0.25, 0.25), (-3.0, 0.0), (7.0, 1.0), (math.nan, None), (math.inf, None)]
)
def test_a_confidence_is_a_number_from_zero_to_one_or_unknown(given: float | None, taken: float | None) -> None:
    guarded = GuardedSummarizer(ScriptedModel(lambda: Abstract("text", given)), PATIENT_MS)
    assert ask(guarded).confidence == taken


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_summary_of_nothing_is_a_failure(text: str) -> None:
    guarded = GuardedSummarizer(ScriptedModel(lambda: Abstract(text)), PATIENT_MS)
    assert "wrote nothing" in failure(guarded)
    assert not guarded.ready()


@pytest.mark.parametrize("error", [ZeroDivisionError("secret"), MemoryError(), InvalidInput("odd"), OSError(5, "x")])
def test_every_exception_of_a_model_reaches_the_caller_as_one_kind_of_error(error: Exception) -> None:
    def explode() -> Abstract:
        raise error

    guarded = GuardedSummarizer(ScriptedModel(explode), PATIENT_MS)
    assert "secret" not in failure(guarded)
    assert not guarded.ready()


def test_a_transcript_that_is_too_long_is_no_fault_of_the_model() -> None:
    def refuse() -> Abstract:
        raise TooLarge("longer than can be read")

    model = ScriptedModel(refuse)
    guarded = GuardedSummarizer(model, PATIENT_MS)
    assert failure(guarded) == "longer than can be read"
    assert guarded.ready()


@pytest.mark.parametrize("room", [0, -1])
def test_without_room_for_a_summary_the_model_is_not_asked(room: int) -> None:
    model = ScriptedModel()
    guarded = GuardedSummarizer(model, PATIENT_MS)
    with pytest.raises(SummarizerFailed, match="no room"):
        guarded.summarise("a", earlier="", max_tokens=room)
    assert model.asked == []
    assert guarded.ready()


def test_after_a_failure_it_is_not_ready_until_the_back_off_is_over() -> None:
    clock, model = Clock(), ScriptedModel(fail)
    guarded = GuardedSummarizer(model, PATIENT_MS, clock)
    assert failure(guarded) == "out of order"
    assert not guarded.ready()
    assert failure(guarded) == "out of order; next try in 1 s"
    assert len(model.asked) == 1
    clock.now_s += FIRST_BACKOFF_S
    assert guarded.ready()
    model.act = lambda: Abstract("well again")
    assert ask(guarded).text == "well again"
    assert guarded.trouble() is None


def test_the_back_off_doubles_up_to_a_minute_and_starts_anew_after_a_success() -> None:
    clock, model = Clock(), ScriptedModel(fail)
    guarded = GuardedSummarizer(model, PATIENT_MS, clock)
    waits = []
    for _ in range(8):
        failure(guarded)
        before = clock.now_s
        while not guarded.ready():
            clock.now_s += 0.5
        waits.append(clock.now_s - before)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    model.act = lambda: Abstract("well again")
    ask(guarded)
    model.act = fail
    failure(guarded)
    clock.now_s += FIRST_BACKOFF_S
    assert guarded.ready()


def test_a_hung_model_costs_its_caller_the_time_out_and_no_more_than_one_thread(hanging: Hanging) -> None:
    clock, model = Clock(), ScriptedModel(hanging)
    guarded = GuardedSummarizer(model, IMPATIENT_MS, clock)
    assert "did not answer within 20 ms" in failure(guarded)
    for _ in range(5):
        clock.now_s += LONGEST_BACKOFF_S
        assert not guarded.ready()
        assert "has not come back" in failure(guarded)
    assert len(model.asked) == 1


def test_a_model_that_comes_back_late_is_used_again(hanging: Hanging) -> None:
    model = ScriptedModel(hanging)
    guarded = GuardedSummarizer(model, IMPATIENT_MS)
    failure(guarded)
    hanging.released.set()
    while not guarded.ready():
        time.sleep(0.001)
    assert guarded.trouble() is None


def test_callers_take_turns_and_all_are_served() -> None:
    inside = threading.Semaphore(1)

    def alone() -> Abstract:
        assert inside.acquire(blocking=False), "one call at a time"
        inside.release()
        return Abstract("done")

    guarded = GuardedSummarizer(ScriptedModel(alone), PATIENT_MS)
    texts: list[str] = []
    callers = [threading.Thread(target=lambda: texts.append(ask(guarded).text)) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert texts == ["done"] * 8


def test_a_caller_that_waited_behind_a_failure_does_not_try_again_at_once(hanging: Hanging) -> None:
    def fail_when_released() -> Abstract:
        hanging()
        return fail()

    model = ScriptedModel(fail_when_released)
    guarded = GuardedSummarizer(model, PATIENT_MS, Clock())
    reasons: list[str] = []
    first = threading.Thread(target=lambda: reasons.append(failure(guarded)))
    first.start()
    hanging.entered.wait()
    second = threading.Thread(target=lambda: reasons.append(failure(guarded)))
    second.start()
    hanging.released.set()
    first.join()
    second.join()
    assert len(model.asked) == 1
    assert all(reason.startswith("out of order") for reason in reasons)


def test_without_a_thread_to_run_on_the_call_fails_and_the_next_may_try(monkeypatch: pytest.MonkeyPatch) -> None:
    guarded = GuardedSummarizer(ScriptedModel(), PATIENT_MS)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", lambda self: (_ for _ in ()).throw(RuntimeError("no more threads")))
        assert "no more threads" in failure(guarded)
    assert ask(guarded).text == "short"


def test_closing_does_not_wait_for_a_hung_call_and_the_model_is_closed_after_it(hanging: Hanging) -> None:
    model = ScriptedModel(hanging)
    guarded = GuardedSummarizer(model, IMPATIENT_MS)
    failure(guarded)
    guarded.close()
    assert not model.closed.is_set()
    hanging.released.set()
    assert model.closed.wait(10)


def test_a_closed_guard_refuses_work_and_closes_the_model_once() -> None:
    model = ScriptedModel()
    guarded = GuardedSummarizer(model, PATIENT_MS)
    ask(guarded)
    guarded.close()
    guarded.close()
    assert model.closed.is_set()
    assert not guarded.ready()
    assert "closed" in failure(guarded)


def test_closing_ends_a_call_that_can_be_ended(hanging: Hanging) -> None:
    class Endable(ScriptedModel):
        def interrupt(self) -> None:
            hanging.released.set()

    model = Endable(hanging)
    guarded = GuardedSummarizer(model, IMPATIENT_MS)
    failure(guarded)
    guarded.close()
    assert model.closed.is_set()
