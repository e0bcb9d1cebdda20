"""What many tests need: an engine over a temporary folder, in this process or behind a daemon."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from clew.api import MemoryApi
from clew.client import connect
from clew.config import Config
from clew.core.ports import Embedder, Summarizer
from clew.core.tuning import Tuning
from clew.engine import Memory
from clew.faces.daemon.limits import Limits
from clew.models.embedding.hashing import HashingEmbedder
from tests.testing.daemons import Serving, short_folder, start_forking
from tests.testing.effort import load_profile

load_profile()

NOW_MS = 1_790_000_000_000

OpenMemory = Callable[..., Memory]


class FixedClock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.ms = NOW_MS

    def now_ms(self) -> int:
        return self.ms


def take_tuning(settings: dict[str, Any]) -> Tuning:
    """Takes the numbers that are no settings out of those that a test gives."""
    names = [item.name for item in fields(Tuning) if item.name in settings]
    return Tuning(**{name: settings.pop(name) for name in names})


@contextmanager
def opened_api(kind: str, **settings: Any) -> Iterator[MemoryApi]:
    """The operations called directly (`memory`) or by a client over a daemon's socket (`client`), on an empty store.

    The server runs in a thread: a process of its own takes seconds to start, and other tests start real ones.
    """
    given = {"embedder": "hashing", "synchronous": "normal"} | settings
    with short_folder() as folder:
        config = Config.load(environment={}, data_dir=folder, **given)
        with Memory(config) as memory:
            if kind == "memory":
                yield memory
            else:
                limits = Limits.from_config(config)
                with Serving(memory, folder, limits) as serving, connect(serving.endpoint) as client:
                    yield client


@pytest.fixture(scope="session", autouse=True)
def _forking() -> None:
    start_forking()


@pytest.fixture(params=["memory", "client"])
def api(request: pytest.FixtureRequest) -> Iterator[MemoryApi]:
    with opened_api(request.param) as opened:
        yield opened


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def open_memory(tmp_path: Path, clock: FixedClock) -> Iterator[OpenMemory]:
    """Opens engines on one data folder; closes what a test leaves open."""
    opened: list[Memory] = []

    def open_one(embedder: Embedder | None = None, summarizer: Summarizer | None = None, **settings: Any) -> Memory:
        given = {"data_dir": tmp_path / "data", "synchronous": "normal", "embedder": "none"} | settings
        tuning = take_tuning(given)
        config = Config.load(environment={}, **given)
        opened.append(Memory(config, embedder=embedder, summarizer=summarizer, clock=clock, tuning=tuning))
        return opened[-1]

    yield open_one
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    """An engine that searches by words and by the test embedder."""
    return open_memory(HashingEmbedder())
