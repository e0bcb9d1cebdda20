"""Ageing, for every set of records: a dry run predicts the run, no record is lost, none is archived by accident."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.api import Age, AgeReceipt, Revive
from clew.config import Config
from clew.core.collections import Collection
from clew.core.marks import By, Mark, made
from clew.core.model import Trust
from clew.engine import Memory
from clew.features.lifecycle.resemblance import Wording, like_pairs, likeness
from clew.features.lifecycle.retention import DAY_MS, Retention, is_due, retention_of
from clew.storage.protocol import NewRecord, Place
from tests.conftest import FixedClock
from tests.testing.drafts import draft
from tests.testing.effort import effort
from tests.testing.memory_store import MemoryStore

times = st.integers(-(2**62), 2**62)
days = st.tuples(st.integers(1, 36_500), st.integers(1, 36_500))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12) | st.sampled_from(["P0", "P1", "P2", "ignore"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["value", "label", "ts"]), inner),
    max_leaves=6,
)
wordings = st.builds(
    Wording, st.frozensets(st.sampled_from("abcdefgh"), max_size=6), st.frozensets(st.sampled_from("123"), max_size=2)
)

TEXTS = (
    "The budget is 500 euros.",
    "The budget is 700 euros.",
    "I like tea.",
    "I do not like tea.",
    "I like tea!",
    "We decided to use PostgreSQL for the billing service.",
    "ok",
)
COLLECTIONS = ("user:ana", "user:bo", "global", "ledger:session:s", "ledger:user:ana", "elevated:user:ana")
kept = st.fixed_dictionaries(
    {
        "text": st.sampled_from(TEXTS),
        "collection": st.sampled_from(COLLECTIONS),
        "age_days": st.sampled_from([-400, -1, 0, 29, 31, 89, 91, 4000]),
        "used_days": st.sampled_from([None, None, -5, 1, 31, 91]),
        "retention": st.sampled_from([None, None, "P0", "P1", "P2"]),
        "grade": st.sampled_from([None, "must_remember", "nice_to_have", "ignore"]),
        "trust": st.sampled_from([Trust.UNKNOWN, Trust.UNTRUSTED, Trust.QUARANTINED]),
    }
)


@pytest.mark.requirement("LIFE-3")
@given(st.sampled_from(Retention), times, times, days)
def test_permanent_records_and_records_from_the_future_are_never_due(
    retention: Retention, since_ms: int, now_ms: int, allowed: tuple[int, int]
) -> None:
    if is_due(retention, since_ms, now_ms, allowed):
        assert retention is not Retention.FOR_GOOD
        assert now_ms - since_ms > min(allowed) * DAY_MS


@pytest.mark.requirement("LIFE-1", "LIFE-3")
@given(st.dictionaries(st.sampled_from([Mark.GRADE.value, Mark.RETENTION.value, "other"]), json_values))
def test_no_damaged_mark_makes_a_record_due_earlier(marks: dict[str, Any]) -> None:
    if retention_of(marks) is Retention.SHORT:
        assert any(word in repr(marks) for word in ("P2", "ignore"))


@pytest.mark.requirement("LIFE-5")
@given(st.lists(wordings, max_size=8), st.floats(0.3, 1.0))
def test_every_similar_pair_is_found(items: list[Wording], at_least: float) -> None:
    alike = [
        (one, other)
        for other in range(len(items))
        for one in range(other)
        if likeness(items[one], items[other]) >= at_least
    ]
    assert [(pair.one, pair.other) for pair in like_pairs(items, at_least, 100)] == sorted(alike)


@contextmanager
def open_engine(records: list[dict[str, Any]]) -> Iterator[tuple[Memory, FixedClock]]:
    clock = FixedClock()
    with tempfile.TemporaryDirectory() as folder:
        config = Config.load(environment={}, data_dir=Path(folder), embedder="none", tokenizer="estimate")
        with Memory(config, store=MemoryStore(), clock=clock) as memory:
            for number, given_ in enumerate(records):
                write(memory, clock.ms, f"r{number}", given_)
            yield memory, clock


def write(memory: Memory, now_ms: int, id_: str, given_: dict[str, Any]) -> None:
    marks = {}
    if given_["retention"]:
        marks[Mark.RETENTION.value] = made(given_["retention"], By.OPERATOR, now_ms)
    if given_["grade"]:
        marks[Mark.GRADE.value] = made({"label": given_["grade"]}, By.CLEW, now_ms)
    text = draft(given_["text"], ts_ms=now_ms - given_["age_days"] * DAY_MS, role=None)
    text = replace(text, marks=marks, trust=given_["trust"])
    memory._store.put([NewRecord(text, Place(Collection(given_["collection"]), id_))])
    if given_["used_days"] is not None:
        memory._store.touch({given_["collection"]: [id_]}, now_ms - given_["used_days"] * DAY_MS)


def everything(memory: Memory) -> list[tuple[str, str, str]]:
    """Every record with its text and trust, in any collection."""
    return sorted(
        (stored.places[0].collection.removeprefix("archive:"), stored.draft.text, stored.draft.trust)
        for stored in memory._store.export(0, 1000)
    )


def figures(receipt: AgeReceipt) -> tuple[Any, ...]:
    return (
        receipt.looked_at,
        receipt.graded,
        receipt.archived,
        receipt.archived_refs,
        receipt.contradictions,
        receipt.contradiction_refs,
    )


@pytest.mark.requirement("LIFE-1", "LIFE-3", "LIFE-4")
@settings(max_examples=effort(25, 150), deadline=None)
@given(st.lists(kept, max_size=12))
def test_a_dry_run_predicts_the_run_and_the_run_loses_nothing(records: list[dict[str, Any]]) -> None:
    with open_engine(records) as (memory, _):
        before = everything(memory)
        foretold = memory.call(Age(dry_run=True))
        assert everything(memory) == before
        done = memory.call(Age(dry_run=False))
        assert figures(done) == figures(foretold)
        assert everything(memory) == before
        again = memory.call(Age(dry_run=False))
        assert (again.graded, again.archived, again.contradictions) == ({}, {}, 0)
        if done.archived_refs:
            assert memory.call(Revive(refs=done.archived_refs)).count == sum(done.archived.values())
        assert not [name for name, count in memory._store.collections() if name.startswith("archive:") and count]
        assert memory.call(Age(dry_run=True)).archived == {}


@pytest.mark.requirement("LIFE-3")
@settings(max_examples=effort(15, 80), deadline=None)
@given(st.lists(kept, max_size=8), st.integers(-(10**13), 0))
def test_a_clock_that_runs_backwards_archives_nothing_new(records: list[dict[str, Any]], step_ms: int) -> None:
    with open_engine(records) as (memory, clock):
        memory.call(Age(dry_run=False))
        clock.ms = max(clock.ms + step_ms, 0)
        assert memory.call(Age(dry_run=False)).archived == {}
