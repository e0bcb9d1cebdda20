"""The parts that services work with. The engine puts them together once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from clew.config import Config
from clew.core.ports import Clock, Ids, Summarizer, TokenCounter
from clew.core.tuning import Tuning
from clew.index.cache import IndexCache
from clew.kernel.meaning import Meaning
from clew.storage.protocol import Store

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Parts:
    config: Config
    store: Store
    indexes: IndexCache
    meaning: Meaning
    counter: TokenCounter
    clock: Clock
    ids: Ids
    summarizer: Summarizer | None = None
    tuning: Tuning = field(default_factory=Tuning)
    _states: dict[Callable[[Parts], Any], Any] = field(default_factory=dict, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def state(self, make: Callable[[Parts], T]) -> T:
        """The state that a module keeps in memory while the engine runs, made from the parts on first use.

        So the kernel need not know which features keep state.
        """
        with self._lock:
            if make not in self._states:
                self._states[make] = make(self)
            state: T = self._states[make]
            return state
