"""Work of the daemon beside its requests: once at the start, then by the clock."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from clew.api import Age, Assemble, Gate, MemoryApi, Message
from clew.errors import ClewError

CHECK_SECONDS = 60.0
"""How often Clew looks whether ageing is due."""

CLOSE_SECONDS = 5.0

log = logging.getLogger(__name__)


class Jobs:
    """A thread that warms the memory up, and then ages it when that is due.

    It logs every failure, and tries ageing again at the next look.
    """

    def __init__(self, memory: MemoryApi, check_seconds: float = CHECK_SECONDS) -> None:
        self._memory = memory
        self._check_seconds = check_seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="clew-jobs", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._stopping.set()
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        _attempt("warming up", self._warm_up)
        while not self._stopping.wait(self._check_seconds):
            _attempt("the lifecycle run", self._age)

    def _warm_up(self) -> None:
        """Loads the parts that the first context needs, because hosts do not wait long for one."""
        # The assistant asks nothing, so that Clew recalls and counts nothing.
        greeting = Message(role="assistant", text="Good morning")
        self._memory.call(Assemble(session_id="-", messages=(greeting,)))
        self._memory.call(Gate(text=greeting.text))

    def _age(self) -> None:
        last = self._memory.call(Age(last=True)).ts
        done = self._memory.call(Age(dry_run=False, if_due=True))
        if done.ts != last:
            log.info("lifecycle: %d looked at, %d archived", done.looked_at, sum(done.archived.values()))


def _attempt(what: str, job: Callable[[], None]) -> None:
    try:
        job()
    except ClewError as error:
        log.warning("%s failed: %s", what, error)
    except Exception:
        # The edge of the process: nobody else would see the fault, and the next run may go well.
        log.exception("%s failed", what)
