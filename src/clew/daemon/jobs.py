"""What the daemon does by the clock, beside serving."""

from __future__ import annotations

import logging
import threading
from types import TracebackType
from typing import Self

from clew.api import Age, MemoryApi
from clew.errors import ClewError

CHECK_SECONDS = 60.0
"""How often it looks whether something is due."""

CLOSE_SECONDS = 5.0

log = logging.getLogger(__name__)


class Jobs:
    """A thread that ages the memory when that is due; whatever fails is logged, and tried again at the next look."""

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
        while not self._stopping.wait(self._check_seconds):
            try:
                last = self._memory.call(Age(last=True)).ts
                done = self._memory.call(Age(dry_run=False, if_due=True))
            except ClewError as error:
                log.warning("the lifecycle run failed: %s", error)
                continue
            except Exception:
                # The edge of the process: nobody else would see the fault, and the next run may go well.
                log.exception("the lifecycle run failed")
                continue
            if done.ts != last:
                log.info("lifecycle: %d looked at, %d archived", done.looked_at, sum(done.archived.values()))
