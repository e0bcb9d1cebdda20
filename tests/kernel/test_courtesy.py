"""Background work steps aside for callers, but not for ever."""

from __future__ import annotations

import threading

import pytest

from clew.kernel.queue import Courtesy

pytestmark = pytest.mark.requirement("INGEST-3")
LONG_S = 600.0


def test_background_work_does_not_wait_without_callers() -> None:
    Courtesy().give_way(quiet_seconds=0.001, at_most_seconds=LONG_S, hurry=threading.Event())


def test_background_work_waits_until_a_caller_has_been_served() -> None:
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


def test_background_work_does_not_wait_for_ever() -> None:
    courtesy = Courtesy()
    with courtesy.call():
        courtesy.give_way(quiet_seconds=0.001, at_most_seconds=0.01, hurry=threading.Event())


def test_work_that_somebody_waits_for_does_not_give_way() -> None:
    courtesy, hurry = Courtesy(), threading.Event()
    hurry.set()
    with courtesy.call():
        courtesy.give_way(quiet_seconds=LONG_S, at_most_seconds=LONG_S, hurry=hurry)
