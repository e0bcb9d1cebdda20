"""SQLite does what the reference does, over random operations."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from clew.core.collections import Collection
from clew.core.model import Provenance
from clew.errors import ClewError
from clew.index.collection import CollectionIndex
from clew.storage.protocol import NewSummary, Place, Shard, Store, Task
from clew.storage.sqlite import SqliteStore
from tests.testing.drafts import MODEL, OTHER_MODEL, VECTOR, draft, record, turn
from tests.testing.effort import effort
from tests.testing.memory_store import MemoryStore

COLLECTIONS = [
    "session:s", "session:t", "session_raw:s", "session_summary:s", "_dismissed:s", "elevated:user:u",
    "turns:u", "user:u", "user:v",
]  # fmt: skip

ids = st.sampled_from("abcd")
nodes = st.lists(st.sampled_from("abcdxy"), max_size=3)
words = st.sampled_from(["red fox", "blue fox", "red hen", "", "狐 ERR_42"])
sessions = st.sampled_from("st")
users = st.sampled_from([None, "u", "v"])
collections = st.sampled_from(COLLECTIONS)


class StoreMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.real = SqliteStore(Path(self.folder.name) / "clew.db", synchronous="normal")
        self.model = MemoryStore()
        self.kept = {name: CollectionIndex() for name in COLLECTIONS}

    def both(self, operation: Callable[[Store], Any]) -> None:
        """Both give the same answer, or refuse in the same way."""
        assert _outcome(operation, self.real) == _outcome(operation, self.model)

    @rule(text=words, id=ids, session=sessions, user=users, queued=st.booleans())
    def append(self, text: str, id: str, session: str, user: str | None, queued: bool) -> None:
        tasks = (Task.EMBED, Task.GATE) if queued else ()
        self.both(lambda store: store.append([turn(text, id=id, session=session, user=user, tasks=tasks)]))

    @rule(text=words, id=ids, collection=collections, queued=st.booleans(), colour=st.sampled_from("rg"))
    def put(self, text: str, id: str, collection: str, queued: bool, colour: str) -> None:
        tasks = (Task.EMBED,) if queued else ()
        new = record(text, id=id, collection=collection, tasks=tasks, colour=colour)
        self.both(lambda store: store.put([new]))

    @rule(id=ids, collection=collections)
    def remove(self, id: str, collection: str) -> None:
        self.both(lambda store: store.remove(collection, [id]))

    @rule(collection=collections)
    def clear(self, collection: str) -> None:
        self.both(lambda store: store.clear(collection))

    @rule(session=sessions, covered=st.lists(st.tuples(st.sampled_from("xyza"), nodes), max_size=2), shards=nodes)
    def condense(self, session: str, covered: list[tuple[str, list[str]]], shards: list[str]) -> None:
        summaries = [summary(id_, sources) for id_, sources in covered]
        kept = [Shard(id_, Place(Collection("elevated:user:u"), f"{session}/{id_}")) for id_ in shards]
        self.both(lambda store: store.condense(session, summaries, kept))

    @rule(session=sessions, ids=nodes)
    def readmit(self, session: str, ids: list[str]) -> None:
        self.both(lambda store: store.readmit(session, ids))

    @rule()
    def move(self) -> None:
        """What one store exports, the other takes as its own."""
        exported = self.model.export(0, 100)
        assert self.real.restore(exported, ()) == self.model.restore(exported, ()) == (0, len(exported))

    @rule(id=ids, collection=collections, now=st.integers(0, 9))
    def touch(self, id: str, collection: str, now: int) -> None:
        self.both(lambda store: store.touch({collection: [id]}, now))

    @rule(task=st.sampled_from(list(Task)), limit=st.integers(1, 3))
    def work(self, task: Task, limit: int) -> None:
        def step(store: Store) -> list[str]:
            tasks = store.queued(task, limit)
            vectors = {item.record_key: VECTOR for item in tasks} if task is Task.EMBED else {}
            store.finish([item.seq for item in tasks], vectors)
            return [item.draft.text for item in tasks]

        self.both(step)

    @rule(identity=st.sampled_from([MODEL, OTHER_MODEL]))
    def adopt(self, identity: Any) -> None:
        self.both(lambda store: store.adopt_model(identity))

    @rule()
    def reopen(self) -> None:
        self.real.close()
        self.real = SqliteStore(Path(self.folder.name) / "clew.db", synchronous="normal")

    @invariant()
    def every_answer_is_the_same(self) -> None:
        self.both(lambda store: store.collections())
        self.both(lambda store: store.counts().pending)
        for name in COLLECTIONS:
            self.both(lambda store, name=name: store.page(name, 0, 100))
            self.both(lambda store, name=name: store.size(name))
            self.both(lambda store, name=name: [store.places(name, id_) for id_ in "abcdxyz"])
        self.both(lambda store: [item.places for item in store.export(0, 100)])

    @invariant()
    def an_index_kept_up_to_date_equals_one_built_anew(self) -> None:
        for name, kept in self.kept.items():
            kept.apply(self.real.feed(name, kept.until))
            fresh = CollectionIndex()
            fresh.apply(self.real.feed(name, 0))
            assert kept.equals(fresh), name

    def teardown(self) -> None:
        assert [finding for finding in self.real.findings() if finding.problems and finding.name != "vectors"] == []
        self.real.close()
        self.folder.cleanup()


def summary(id_: str, sources: list[str]) -> NewSummary:
    about = replace(draft(f"of {sources}", role=None), provenance=Provenance.SUMMARY)
    return NewSummary(id_, about, tuple(sources), (Task.EMBED,))


def _outcome(operation: Callable[[Store], Any], store: Store) -> Any:
    try:
        return operation(store)
    except ClewError as error:
        return type(error)


StoreMachine.TestCase.settings = settings(max_examples=effort(15, 40), stateful_step_count=30, deadline=None)


@pytest.mark.requirement("STORE-1", "STORE-2", "STORE-3", "STORE-4")
class TestStoreModel(StoreMachine.TestCase):  # type: ignore[misc, name-defined]
    pass
