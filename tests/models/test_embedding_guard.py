"""A slow, failing or hung embedder harms nobody who calls it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from clew.core.ports import Vectors
from clew.errors import EmbedderFailed
from clew.models import guard
from clew.models.embedding.hashing import HashingEmbedder
from clew.models.guard import GuardedEmbedder

pytestmark = pytest.mark.requirement("INGEST-3", "GUIDE-4")

PATIENT_MS = 20_000
IMPATIENT_MS = 20


class ScriptedEmbedder(HashingEmbedder):
    """Does what the test says, and notes what was asked of it."""

    def __init__(self, act: Callable[[], None] = lambda: None) -> None:
        self.act = act
        self.queries: list[str] = []
        self.closed = threading.Event()

    def embed_query(self, text: str) -> Vectors:
        self.queries.append(text)
        self.act()
        return super().embed_query(text)

    def close(self) -> None:
        self.closed.set()


class Hanging:
    """Blocks until it is released."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.released = threading.Event()

    def __call__(self) -> None:
        self.entered.set()
        self.released.wait()


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def fail() -> None:
    raise EmbedderFailed("out of order")


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    hang = Hanging()
    yield hang
    hang.released.set()


def query_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "clew-embed-query"]


def failure(call: Callable[[str], Vectors], text: str) -> str:
    with pytest.raises(EmbedderFailed) as caught:
        call(text)
    return str(caught.value)


def test_a_query_gets_the_embedders_vector_and_the_second_time_the_cached_one() -> None:
    inner = ScriptedEmbedder()
    guarded = GuardedEmbedder(inner, PATIENT_MS)
    first, second = guarded.embed_query("tea"), guarded.embed_query("tea")
    assert np.array_equal(first, HashingEmbedder().embed_query("tea"))
    assert second is first
    assert inner.queries == ["tea"]
    assert guarded.state() == "ok"
    assert guarded.trouble() is None


def test_a_caller_cannot_change_a_cached_vector() -> None:
    vector = GuardedEmbedder(ScriptedEmbedder(), PATIENT_MS).embed_query("tea")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 9


def test_cached_queries_are_bounded_in_number_and_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "CACHED_QUERIES", 2)
    inner = ScriptedEmbedder()
    guarded = GuardedEmbedder(inner, PATIENT_MS)
    for text in ("a", "b", "a", "c", "a", "b"):
        guarded.embed_query(text)
    assert inner.queries == ["a", "b", "c", "b"]
    long = "x" * (guard.CACHED_QUERY_LIMIT_CHARS + 1)
    guarded.embed_query(long)
    guarded.embed_query(long)
    assert inner.queries.count(long) == 2


def test_after_a_failure_calls_fail_at_once_until_the_back_off_is_over() -> None:
    clock, inner = Clock(), ScriptedEmbedder(fail)
    guarded = GuardedEmbedder(inner, PATIENT_MS, clock)
    assert failure(guarded.embed_query, "one") == "out of order"
    assert "next try in 1 s" in failure(guarded.embed_query, "two")
    assert guarded.trouble() is not None
    assert inner.queries == ["one"]
    clock.now_s += guard.FIRST_BACKOFF_S
    assert guarded.trouble() is None
    assert guarded.state() == "out of order"
    inner.act = lambda: None
    guarded.embed_query("three")
    assert guarded.state() == "ok"
    assert guarded.embed_query("four") is not None


def test_the_back_off_doubles_up_to_a_minute_and_starts_anew_after_a_success() -> None:
    clock, inner = Clock(), ScriptedEmbedder(fail)
    guarded = GuardedEmbedder(inner, PATIENT_MS, clock)
    waits = []
    for number in range(9):
        failure(guarded.embed_query, f"text {number}")
        before = clock.now_s
        while guarded.trouble() is not None:
            clock.now_s += 0.5
        waits.append(clock.now_s - before)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    inner.act = lambda: None
    guarded.embed_query("well again")
    inner.act = fail
    failure(guarded.embed_query, "ill again")
    clock.now_s += guard.FIRST_BACKOFF_S
    assert guarded.trouble() is None


def test_when_the_back_off_is_over_one_call_tries_and_the_others_still_fail_at_once(hanging: Hanging) -> None:
    clock, inner = Clock(), ScriptedEmbedder(fail)
    guarded = GuardedEmbedder(inner, PATIENT_MS, clock)
    failure(guarded.embed_query, "one")
    clock.now_s += guard.FIRST_BACKOFF_S
    inner.act = hanging
    trial = threading.Thread(target=guarded.embed_query, args=("two",))
    trial.start()
    hanging.entered.wait()
    assert "next try" in failure(guarded.embed_query, "three")
    hanging.released.set()
    trial.join()
    assert inner.queries == ["one", "two"]
    assert guarded.state() == "ok"


def test_a_hung_model_costs_a_caller_its_deadline_and_no_more_than_one_thread(hanging: Hanging) -> None:
    clock, inner = Clock(), ScriptedEmbedder(hanging)
    before = set(query_threads())
    guarded = GuardedEmbedder(inner, IMPATIENT_MS, clock)
    assert "did not answer within 20 ms" in failure(guarded.embed_query, "one")
    for number in range(20):
        clock.now_s += guard.LONGEST_BACKOFF_S
        assert "not come back" in failure(guarded.embed_query, f"text {number}")
    assert inner.queries == ["one"]
    assert len(set(query_threads()) - before) == 1  # those of other tests may end meanwhile


def test_a_model_that_comes_back_is_used_again(hanging: Hanging) -> None:
    clock, inner = Clock(), ScriptedEmbedder(hanging)
    guarded = GuardedEmbedder(inner, IMPATIENT_MS, clock)
    failure(guarded.embed_query, "one")
    inner.act = lambda: None
    hanging.released.set()
    while guarded.state() != "ok":
        clock.now_s += guard.LONGEST_BACKOFF_S
        try:
            guarded.embed_query("two")
        except EmbedderFailed:
            continue
    assert guarded.trouble() is None


def test_calls_that_fail_together_lengthen_the_back_off_once(hanging: Hanging) -> None:
    def fail_when_released() -> None:
        hanging()
        fail()

    clock, inner = Clock(), ScriptedEmbedder(fail_when_released)
    guarded = GuardedEmbedder(inner, PATIENT_MS, clock)
    callers = [threading.Thread(target=failure, args=(guarded.embed_query, f"text {n}")) for n in range(8)]
    for caller in callers:
        caller.start()
    while len(guarded._queries._waiting) < 7:
        time.sleep(0.001)
    hanging.released.set()
    for caller in callers:
        caller.join()
    assert len(inner.queries) == 1, "those that waited behind it failed with it"
    assert "next try in 1 s" in failure(guarded.embed_query, "one more")
    clock.now_s += guard.FIRST_BACKOFF_S
    assert guarded.trouble() is None


def test_a_call_that_times_out_in_the_queue_is_no_fault_of_the_model(hanging: Hanging) -> None:
    inner = ScriptedEmbedder(hanging)
    guarded = GuardedEmbedder(inner, PATIENT_MS)
    first = threading.Thread(target=guarded.embed_query, args=("one",))
    first.start()
    hanging.entered.wait()
    with pytest.raises(EmbedderFailed, match="too busy to answer within 20 ms"):
        guarded._queries.run("two", IMPATIENT_MS)
    assert guarded.trouble() is None
    hanging.released.set()
    first.join()
    assert inner.queries == ["one"]


def test_without_a_thread_to_run_on_a_query_fails_and_the_next_may_try(monkeypatch: pytest.MonkeyPatch) -> None:
    guarded = GuardedEmbedder(ScriptedEmbedder(), PATIENT_MS)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", lambda self: (_ for _ in ()).throw(RuntimeError("no more threads")))
        assert "no more threads" in failure(guarded.embed_query, "one")
    assert guarded.embed_query("one").shape == (64,)


def test_a_hung_query_does_not_hold_up_passages(hanging: Hanging) -> None:
    guarded = GuardedEmbedder(ScriptedEmbedder(hanging), IMPATIENT_MS)
    failure(guarded.embed_query, "one")
    assert guarded.embed_passages(["a", "b"]).shape == (2, 64)


def test_failing_passages_show_in_the_state_and_do_not_turn_queries_away() -> None:
    class NoPassages(ScriptedEmbedder):
        broken = True

        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            if self.broken:
                fail()
            return super().embed_passages(texts)

    inner = NoPassages()
    guarded = GuardedEmbedder(inner, PATIENT_MS)
    for _ in range(2):
        with pytest.raises(EmbedderFailed, match="out of order"):
            guarded.embed_passages(["a"])
    assert guarded.state() == "out of order"
    guarded.embed_query("still works")
    inner.broken = False
    guarded.embed_passages(["a"])
    assert guarded.state() == "ok"


def test_every_exception_of_a_model_reaches_the_caller_as_one_kind_of_error() -> None:
    def explode() -> None:
        raise ZeroDivisionError("secret detail")

    clock, inner = Clock(), ScriptedEmbedder(explode)
    guarded = GuardedEmbedder(inner, PATIENT_MS, clock)
    assert failure(guarded.embed_query, "one") == "the embedding model failed: ZeroDivisionError"
    inner.act = lambda: None
    clock.now_s += guard.FIRST_BACKOFF_S
    assert guarded.embed_query("two").shape == (64,)


def test_closing_does_not_wait_for_a_hung_call_and_the_model_is_closed_after_it(hanging: Hanging) -> None:
    inner = ScriptedEmbedder(hanging)
    guarded = GuardedEmbedder(inner, IMPATIENT_MS)
    failure(guarded.embed_query, "one")
    guarded.close()
    assert not inner.closed.is_set()
    hanging.released.set()
    assert inner.closed.wait(10)


def test_a_closed_guard_refuses_work_and_closes_the_model_once() -> None:
    inner = ScriptedEmbedder()
    guarded = GuardedEmbedder(inner, PATIENT_MS)
    guarded.embed_query("one")
    guarded.close()
    guarded.close()
    assert inner.closed.wait(10)
    assert "closed" in failure(guarded.embed_query, "two")
    with pytest.raises(EmbedderFailed, match="closed"):
        guarded.embed_passages(["a"])


def test_the_guard_passes_on_the_models_identity_and_calibration() -> None:
    guarded = GuardedEmbedder(HashingEmbedder(), PATIENT_MS)
    assert guarded.identity == HashingEmbedder().identity
    assert guarded.calibration == HashingEmbedder().calibration
