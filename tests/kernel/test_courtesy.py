"""Background work steps aside for callers, but not for ever."""

from __future__ import annotations

import threading

import pytest

from clew.kernel.queue import Courtesy

pytestmark = pytest.mark.requirement("INGEST-3")
LONG_S = 600.0


def test_nothing_is_waited_for_when_nobody_is_served() -> None:
    Courtesy().give_way(quiet_seconds=0.001, at_most_seconds=LONG_S, hurry=threading.Event())


def test_a_caller_is_waited_for_until_it_has_been_served() -> None:
    courtesy, served, began = Courtesy(), threading.Event(), threading.Event()
    order: list[str] = []

    def caller() -> None:
        with courtesy.call():
            began.set()
            served.wait()
            order.append("served")

    thread = threading.Thread(target=caller)
    thread.start()
    began.wait()
    worker = threading.Thread(
        target=lambda: (
            courtesy.give_way(quiet_seconds=0.001, at_most_seconds=LONG_S, hurry=threading.Event()),
            order.append("worked"),
        )
    )
    worker.start()
    served.set()
    thread.join()
    worker.join()
    assert order == ["served", "worked"]


def test_a_caller_that_stays_for_ever_is_not_waited_for_that_long() -> None:
    courtesy = Courtesy()
    with courtesy.call():
        courtesy.give_way(quiet_seconds=0.001, at_most_seconds=0.01, hurry=threading.Event())


def test_those_who_wait_for_the_work_itself_make_it_hurry() -> None:
    courtesy, hurry = Courtesy(), threading.Event()
    hurry.set()
    with courtesy.call():
        courtesy.give_way(quiet_seconds=LONG_S, at_most_seconds=LONG_S, hurry=hurry)
