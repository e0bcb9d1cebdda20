"""The caller chooses event ids, and they count within one session: no event hides another one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.api import Event, Pack, Purge, Recall
from clew.core.collections import Collection
from clew.engine import Memory
from clew.features.ledger.lines import log_files, places_of
from clew.features.ledger.lookup import recall_lines
from clew.features.upkeep.purge import purge
from clew.storage.protocol import Place
from tests.conftest import OpenMemory
from tests.features.ledger.test_capture_log import event, everything, folder, harvest_all, keep, make_parts

pytestmark = pytest.mark.requirement("CAPTURE-2", "STORE-1")


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory()


def settle(memory: Memory) -> None:
    while not memory.harvest().done:
        pass


def test_the_ledger_of_a_user_holds_events_of_one_id_from_two_sessions(memory: Memory) -> None:
    memory.capture(
        Event(text="a heron in the morning", id="1", session_id="s", user_id="ann"),
        Event(text="a heron in the evening", id="1", session_id="t", user_id="ann"),
        Event(text="a heron at night", id="1", user_id="ann"),
    )
    settle(memory)
    shown = {record.id: record.text for record in memory.list("ledger:user:ann").records}
    assert shown == {"s/1": "a heron in the morning", "t/1": "a heron in the evening", "1": "a heron at night"}
    assert [record.id for record in memory.list("ledger:session:t").records] == ["1"]
    refs = {line.ref for line in memory.recall("heron", user_id="ann").lines}
    assert refs == {f"ledger:user:ann/{id_}" for id_ in shown}
    assert memory.verify().ok


@pytest.mark.requirement("STORE-6")
def test_purging_a_user_leaves_nothing_whatever_the_event_ids(tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "data")
    keep(parts, *(event(f"canary in {name}", id="1", session_id=name, user_id="ann") for name in ("s", "t")))
    keep(parts, event("bob's own", id="1", session_id="of bob", user_id="bob"))
    harvest_all(parts)
    purge(parts, Purge(user_id="ann", dry_run=False))
    assert parts.store.size("ledger:session:s") == parts.store.size("ledger:session:t") == 0
    assert b"canary" not in everything(parts)
    assert parts.store.size("ledger:user:bob") == 1


@pytest.mark.requirement("STORE-6")
def test_purging_a_record_keeps_records_of_others_with_the_same_id(tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "data")
    keep(parts, event("canary of ann", id="1", session_id="s", user_id="ann"))
    harvest_all(parts)
    keep(parts, event("bob's own", id="1", session_id="of bob", user_id="bob"))
    purge(parts, Purge(ref="ledger:user:ann/s/1", dry_run=False))
    harvest_all(parts)
    assert [record.text for record in parts.store.page("ledger:user:bob", 0, 9)] == ["bob's own"]
    assert b"canary" not in everything(parts)


@pytest.mark.requirement("CAPTURE-4", "PACK-3")
def test_a_record_in_two_ledgers_counts_once(memory: Memory) -> None:
    memory.capture(
        Event(text="decided that the heron is called Otto", kind="decision", id="1", session_id="s", user_id="ann"),
        Event(text="decided that the heron is called Otto", kind="decision", id="1", session_id="t", user_id="ann"),
    )
    settle(memory)
    lines = memory.recall("heron", user_id="ann", session_id="s").lines
    assert sorted(line.session_id or "" for line in lines) == ["s", "t"]
    bundle = memory.call(Pack(query="what is the heron called", user_id="ann", session_id="s"))
    assert bundle.bundle_text.count("Otto") == 1


def test_the_places_of_a_line_are_the_places_of_its_record(tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "data")
    keep(
        parts,
        event("one", id="1", session_id="s", user_id="ann"),
        event("two", id="1", session_id=None, user_id="ann"),
        event("three", id="1", session_id="t"),
    )
    (path,) = log_files(folder(parts))
    expected = [places_of(json.loads(line)) for line in path.read_text().splitlines()]
    harvest_all(parts)
    assert expected[0] == [Place(Collection("ledger:session:s"), "1"), Place(Collection("ledger:user:ann"), "s/1")]
    for places in expected:
        assert sorted(parts.store.places(places[0].collection, places[0].id)) == sorted(places)
    assert len(recall_lines(parts, Recall(text="one", user_id="ann", session_id="s")).lines) == 1


@given(
    st.dictionaries(st.sampled_from(["id", "sessionId", "userId", "x"]), st.none() | st.text(max_size=3) | st.floats())
)
def test_a_line_without_an_event_has_no_places(line: dict[str, Any]) -> None:
    places = places_of(line)
    owners = [line.get(name) for name in ("sessionId", "userId")]
    assert len(places) in (0, sum(owner is not None for owner in owners))
    if not all(isinstance(owner, str | None) for owner in owners) or not isinstance(line.get("id"), str):
        assert places == []
