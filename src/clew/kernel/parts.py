"""What every service works with, put together once by the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.config import Config
from clew.core.ports import Clock, Ids, Summarizer, TokenCounter
from clew.index.cache import IndexCache
from clew.kernel.meaning import Meaning
from clew.storage.protocol import Store

if TYPE_CHECKING:
    from clew.features.authored.service import Library
    from clew.features.facts.views import FactViews
    from clew.features.history.coverage import Coverage
    from clew.features.history.recent import RecentTurns, SessionLocks


@dataclass(frozen=True, slots=True)
class Parts:
    config: Config
    store: Store
    indexes: IndexCache
    meaning: Meaning
    counter: TokenCounter
    clock: Clock
    ids: Ids
    library: Library
    coverage: Coverage
    facts: FactViews
    session_locks: SessionLocks
    recent: RecentTurns
    summarizer: Summarizer | None = None
