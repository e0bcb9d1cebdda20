"""A memory whose `gate` requests wait at a door until the test opens it, so that nothing depends on time."""

from __future__ import annotations

import threading
from typing import TypeVar

from clew import api
from tests.testing.daemons import WAIT_S
from tests.testing.dict_memory import DictMemory

R = TypeVar("R")


class GatedMemory(DictMemory):
    """Every `gate` request waits at the door; counts how many were inside at once."""

    def __init__(self) -> None:
        super().__init__()
        self.door = threading.Event()
        self.begun = threading.Semaphore(0)
        self.inside = 0
        self.most_inside = 0
        self.calls = 0
        self._counting = threading.Lock()

    def call(self, request: api.Request[R]) -> R:
        with self._counting:
            self.calls += 1
        if isinstance(request, api.Gate):
            self._wait_at_the_door()
        return super().call(request)

    def _wait_at_the_door(self) -> None:
        with self._counting:
            self.inside += 1
            self.most_inside = max(self.most_inside, self.inside)
        self.begun.release()
        assert self.door.wait(WAIT_S)
        with self._counting:
            self.inside -= 1
