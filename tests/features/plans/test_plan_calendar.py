"""A pack finds the due plans without reading all of them, no matter who changed them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from clew.api import PlansAdd, PlansClose
from clew.config import Config
from clew.core.collections import Collection
from clew.core.model import Trust
from clew.engine import Memory
from clew.features.plans.calendar import plans_between
from clew.features.plans.service import open_plans
from clew.storage.protocol import Marking, Place
from clew.storage.sqlite import SqliteStore
from tests.conftest import NOW_MS, FixedClock, OpenMemory
from tests.testing.effort import effort
from tests.testing.memory_store import MemoryStore

pytestmark = pytest.mark.requirement("PACK-4")

TODAY = datetime.fromtimestamp(NOW_MS / 1000, UTC).date()
YESTERDAY = (TODAY - timedelta(days=1)).isoformat()


def add(memory: Memory, what: str, day: str | None = YESTERDAY) -> str:
    return memory.call(PlansAdd(what=what, user_id="ada", date=day)).ref


def due(memory: Memory) -> set[str]:
    """The plans that a pack about something else brings in."""
    items = memory.pack("where is the ladder", user_id="ada").items
    return {item.text.removeprefix("Plan: ").partition(" (")[0] for item in items}


def count_rows_read(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> int:
    """How many records the store reads during an action."""
    count = 0

    def counted(real: Callable[..., Iterable[Any]]) -> Callable[..., Iterable[Any]]:
        def read(*given: Any, **named: Any) -> Iterable[Any]:
            nonlocal count
            found = list(real(*given, **named))
            count += len(found)
            return found

        return read

    with monkeypatch.context() as patched:
        for name in ("at", "page", "get", "newest"):
            patched.setattr(SqliteStore, name, counted(getattr(SqliteStore, name)))
        work()
    return count


@pytest.mark.parametrize("state", ["open", "done"])
def test_a_pack_reads_only_new_and_due_plans(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    memory = open_memory()
    for number in range(60):
        ref = add(memory, f"Paint wall {number}", "2099-01-01" if state == "open" else YESTERDAY)
        if state == "done":
            memory.call(PlansClose(ref=ref, state="done"))
    assert due(memory) == set()
    assert count_rows_read(monkeypatch, lambda: due(memory)) == 0
    add(memory, "Call the painter")
    assert count_rows_read(monkeypatch, lambda: due(memory)) < 10
    assert due(memory) == {"Call the painter"}


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "in another process"])
def test_a_pack_sees_every_change_of_a_plan_at_once(open_memory: OpenMemory, elsewhere: bool) -> None:
    memory = open_memory()
    other = open_memory() if elsewhere else memory
    assert due(memory) == set()
    ref = add(other, "Send the report")
    assert due(memory) == {"Send the report"}
    for state, shown in (("done", set()), ("open", {"Send the report"}), ("dropped", set())):
        other.call(PlansClose(ref=ref, state=state))
        assert due(memory) == shown
    other.call(PlansClose(ref=ref, state="open"))
    place = Place(Collection.plans("ada"), ref.rpartition("/")[2])
    other._parts.store.mark([Marking(place, trust=Trust.QUARANTINED)])
    assert due(memory) == set()
    other._parts.store.mark([Marking(place, trust=Trust.UNKNOWN)])
    assert due(memory) == {"Send the report"}
    other.purge(ref=ref)
    assert due(memory) == set()
    add(other, "Send the letter")
    assert due(memory) == {"Send the letter"}
    other.purge(user_id="ada")
    assert due(memory) == set()
    add(other, "Send it anew")
    assert due(memory) == {"Send it anew"}


def test_purging_the_turn_that_closed_a_plan_opens_it_again(open_memory: OpenMemory) -> None:
    memory = open_memory()
    add(memory, "call the dentist")
    memory.ingest("s", "user", "I called the dentist.", user_id="ada", id="t", ts=NOW_MS + 1)
    assert memory.flush().ok
    assert due(memory) == set()
    memory.purge(ref="session_raw:s/t")
    assert due(memory) == {"call the dentist"}


class Calendar(RuleBasedStateMachine):
    """After any steps, and however often it is read, the calendar equals a scan of all plans."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        config = Config.load(environment={}, data_dir=self.folder.name, embedder="none", tokenizer="estimate")
        self.memory = Memory(config, store=MemoryStore(), clock=FixedClock())
        self.refs: list[str] = []

    @rule(number=st.integers(0, 5), day=st.none() | st.integers(-20, 5))
    def add(self, number: int, day: int | None) -> None:
        self.refs.append(
            add(self.memory, f"Paint wall {number}", day if day is None else (TODAY + timedelta(days=day)).isoformat())
        )

    @rule(pick=st.integers(0, 20), state=st.sampled_from(["open", "done", "dropped"]))
    def close(self, pick: int, state: str) -> None:
        ref = self._pick(pick)
        if ref is not None:
            self.memory.call(PlansClose(ref=ref, state=state))

    @rule(pick=st.integers(0, 20), trust=st.sampled_from([Trust.QUARANTINED, Trust.UNKNOWN]))
    def judge(self, pick: int, trust: Trust) -> None:
        ref = self._pick(pick)
        if ref is not None:
            place = Place(Collection.plans("ada"), ref.rpartition("/")[2])
            self.memory._parts.store.mark([Marking(place, trust=trust)])

    @rule(pick=st.integers(0, 20), how=st.sampled_from(["remove", "purge", "clear"]))
    def remove(self, pick: int, how: str) -> None:
        ref = self._pick(pick)
        if ref is None:
            return
        store = self.memory._parts.store
        if how == "remove":
            store.remove("plans:user:ada", [ref.rpartition("/")[2]])
        elif how == "purge":
            self.memory.purge(ref=ref)
        else:
            store.clear("plans:user:ada")

    @rule()
    def reload(self) -> None:
        self.memory._parts.store.forget_vectors()

    @rule()
    def look(self) -> None:
        found = [plan.ref for plan in plans_between(self.memory._parts, "ada", date.min, date.max)]
        dated = [plan for plan in open_plans(self.memory._parts, "ada") if plan.day is not None]
        assert found == [plan.ref for plan in sorted(dated, key=lambda plan: (plan.day, plan.ref))]

    @invariant()
    def stays_current_between_rare_looks(self) -> None:
        if len(self.refs) % 3 == 0:
            self.look()

    def _pick(self, pick: int) -> str | None:
        there = [record.id for record in self.memory.list("plans:user:ada").records]
        return f"plans:user:ada/{there[pick % len(there)]}" if there else None

    def teardown(self) -> None:
        self.memory.close()
        self.folder.cleanup()


TestCalendar = Calendar.TestCase
TestCalendar.settings = settings(max_examples=effort(15, 60), stateful_step_count=20, deadline=None)
TestCalendar.pytestmark = pytestmark  # type: ignore[attr-defined]
