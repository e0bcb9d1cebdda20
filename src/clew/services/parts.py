"""What every service works with, put together once by the engine."""

from __future__ import annotations

from dataclasses import dataclass

from clew.config import Config
from clew.index.cache import IndexCache
from clew.ports import Clock, Ids, TokenCounter
from clew.services.meaning import Meaning
from clew.storage.protocol import Store


@dataclass(frozen=True, slots=True)
class Parts:
    config: Config
    store: Store
    indexes: IndexCache
    meaning: Meaning
    counter: TokenCounter
    clock: Clock
    ids: Ids
