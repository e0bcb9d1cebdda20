"""What every service works with, put together once by the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.config import Config
from clew.index.cache import IndexCache
from clew.ports import Clock, Ids, Summarizer, TokenCounter
from clew.services.meaning import Meaning
from clew.storage.protocol import Store

if TYPE_CHECKING:
    from clew.services.authored import Library
    from clew.services.coverage import Coverage
    from clew.services.fact_views import FactViews
    from clew.services.recent import RecentTurns
    from clew.services.session_locks import SessionLocks


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
