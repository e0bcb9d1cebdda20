"""Work of the daemon beside its requests: once at the start, then by the clock."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from clew.api import Age, Assemble, Gate, MemoryApi, Message, TakeSpool
from clew.errors import ClewError

CHECK_SECONDS = 60.0
"""How often Clew looks whether ageing is due, and whether hooks have left events on disk."""

CLOSE_SECONDS = 5.0

log = logging.getLogger(__name__)


class Jobs:
    """A thread that warms the memory up, takes in what hooks left on disk, and ages the memory when that is due.

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
        _attempt("taking in the spool", self._take_spool)
        while not self._stopping.wait(self._check_seconds):
            _attempt("taking in the spool", self._take_spool)
            _attempt("the lifecycle run", self._age)

    def _take_spool(self) -> None:
        while take_spool(self._memory) and not self._stopping.is_set():
            continue

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


def take_spool(memory: MemoryApi) -> bool:
    """Takes in some events that hooks left on disk. Whether there are more that it can take."""
    done = memory.call(TakeSpool())
    handled = done.taken + done.unchanged + done.set_aside
    if handled:
        log.info("spool: %d taken in, %d there already, %d set aside", done.taken, done.unchanged, done.set_aside)
    if handled and done.dropped:
        log.warning("spool: %d events had no room, over all time", done.dropped)
    return handled > 0 and done.waiting > 0


def _attempt(what: str, job: Callable[[], None]) -> None:
    try:
        job()
    except ClewError as error:
        log.warning("%s failed: %s", what, error)
    except Exception:
        # The edge of the process: nobody else would see the fault, and the next run may go well.
        log.exception("%s failed", what)
