"""Properties of every fact log: one value at a time, the same past from the same entries, no crash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.config import Config
from clew.core.predicates import registry
from clew.engine import Memory
from clew.errors import InvalidInput, NotFound
from clew.features.facts.lanes import FOREVER_MS, Fact
from clew.features.facts.log import Assertion, Entry
from clew.features.facts.replay import Facts
from tests.conftest import FixedClock
from tests.testing.daemons import short_folder
from tests.testing.effort import effort
from tests.testing.fact_entries import said, taken_back
from tests.testing.memory_store import MemoryStore

pytestmark = pytest.mark.requirement("FACT-2")

REGISTRY = registry()
IDS = [f"f{number}" for number in range(12)]
NOWS = st.integers(0, 12)

assertions = st.builds(
    lambda id_, subject, predicate, value, start, length, recorded, supersedes, sources: said(
        id_,
        value,
        start,
        None if length is None else start + length,
        recorded=recorded,
        subject=subject,
        predicate=predicate,
        supersedes=supersedes,
        sources=sources,
    ),
    st.sampled_from(IDS),
    st.sampled_from(["billing", "Billing", "ledger"]),
    st.sampled_from(["status", "uses", "unheard_of"]),
    st.sampled_from(["x", "X ", "y", "z"]),
    NOWS,
    st.none() | st.integers(0, 6),
    NOWS,
    st.lists(st.sampled_from(IDS), max_size=2).map(tuple),
    st.lists(st.sampled_from(["user:ann/m1", *(f"facts:user:ann/{id_}" for id_ in IDS)]), max_size=2).map(tuple),
)
invalidations = st.builds(
    lambda number, facts, at, recorded: taken_back(f"i{number}", *facts, at=at, recorded=recorded),
    st.integers(0, 5),
    st.lists(st.sampled_from(IDS), min_size=1, max_size=3),
    NOWS,
    NOWS,
)


def each_once(entries: Sequence[Entry]) -> list[Entry]:
    return list({entry.id: entry for entry in entries}.values())


logs = st.lists(assertions | invalidations, max_size=14).map(each_once)


def all_facts(facts: Facts) -> list[Fact]:
    return [fact for _, found in facts.subjects() for fact in found]


def describe_facts(facts: Sequence[Fact]) -> list[tuple[str, str, str, int, int | None, tuple[str, ...]]]:
    return sorted(
        (each.subject, each.predicate, each.id, each.valid_from_ms, each.valid_to_ms, each.sources) for each in facts
    )


@given(logs)
def test_values_of_a_single_valued_predicate_never_overlap(log: list[Entry]) -> None:
    facts = Facts(REGISTRY, log)
    for subject in ("billing", "ledger"):
        held = [fact for fact in facts.timeline(subject, "status") if not fact.never_held]
        for earlier, later in pairwise(held):
            assert earlier.valid_to_ms is not None
            assert earlier.valid_to_ms <= later.valid_from_ms
    for at_ms in range(20):
        assert len(facts.current("billing", "status", at_ms=at_ms)) <= 1


@given(logs)
def test_the_same_value_never_holds_twice_at_one_time(log: list[Entry]) -> None:
    facts = Facts(REGISTRY, log)
    for at_ms in range(20):
        values = [fact.assertions[0].key for fact in facts.current(at_ms=at_ms)]
        assert len(values) == len(set(values))


@given(logs, st.integers(0, 20), NOWS)
def test_the_state_as_of_a_moment_is_the_replay_up_to_it(log: list[Entry], valid_ms: int, recorded_ms: int) -> None:
    until_then = [entry for entry in log if entry.recorded_ms <= recorded_ms]
    believed = Facts(REGISTRY, log).as_of(valid_ms, recorded_ms)
    assert describe_facts(believed) == describe_facts(Facts(REGISTRY, until_then).current(at_ms=valid_ms))


@given(logs, st.randoms(use_true_random=False))
def test_any_order_and_grouping_of_entries_gives_identical_bytes(log: list[Entry], random) -> None:  # type: ignore[no-untyped-def]
    whole = Facts(REGISTRY, log)
    shuffled = list(log)
    random.shuffle(shuffled)
    stepwise = Facts(REGISTRY)
    for entry in shuffled:
        stepwise.add([entry])
    assert stepwise.canonical() == whole.canonical()
    again = Facts(REGISTRY, [*shuffled, *log])
    assert again.canonical() == whole.canonical()


@given(logs)
def test_incremental_replay_equals_full_replay(log: list[Entry]) -> None:
    """Clew replays only what an entry can change. For the state as of a recorded moment it replays everything."""
    stepwise = Facts(REGISTRY)
    for entry in log:
        stepwise.add([entry])
        for at_ms in range(20):
            assert stepwise.current(at_ms=at_ms) == stepwise.as_of(at_ms, FOREVER_MS - 1)
    recorded = {}
    for each in stepwise.assertions():
        name = each.key[0], each.predicate
        recorded[name] = max(each.recorded_ms, recorded.get(name, 0))
    for (subject, predicate), last_ms in recorded.items():
        assert stepwise.last_recorded_ms(subject, predicate) == last_ms


def test_an_assertion_does_not_touch_facts_of_other_values() -> None:
    """The cost of an assertion does not grow with the facts of its subject."""
    facts = Facts(REGISTRY, [said(f"f{number}", f"v{number}", 0, predicate="uses") for number in range(300)])
    before = [facts.get(f"f{number}") for number in range(300)]
    facts.add([said("new", "another", 1, recorded=400, predicate="uses")])
    assert all(facts.get(f"f{number}") is fact for number, fact in enumerate(before))
    assert len(facts.timeline("billing", "uses")) == 301


def test_an_assertion_of_a_single_value_touches_only_its_neighbours() -> None:
    """The last, one in the middle, and one that ends before the first begins."""
    entries = [said(f"f{number:03d}", f"v{number}", 10 * number + 10) for number in range(300)]
    for start, end, renewed in ((5000, None, {299}), (1505, None, {149}), (1, 5, set())):
        facts = Facts(REGISTRY, entries)
        before = [facts.get(entry.id) for entry in entries]
        facts.add([said("new", "another", start, end, recorded=400)])
        after = [facts.get(entry.id) for entry in entries]
        changed = {place for place in range(300) if after[place] is not before[place]}
        assert renewed <= changed
        assert len(changed) <= 2


one_lane = st.lists(
    st.builds(
        lambda number, value, start, length, recorded, supersedes: said(
            f"f{number}",
            value,
            start,
            None if length is None else start + length,
            recorded=recorded,
            supersedes=tuple(f"f{each}" for each in supersedes),
        ),
        st.integers(0, 40),
        st.sampled_from("xyz"),
        st.integers(0, 30),
        st.none() | st.none() | st.integers(0, 20),
        st.integers(0, 9),
        st.lists(st.integers(0, 40), max_size=1),
    )
    | st.builds(
        lambda number, fact, at: taken_back(f"i{number}", f"f{fact}", at=at, recorded=9),
        st.integers(0, 20),
        st.integers(0, 40),
        st.integers(0, 40),
    ),
    max_size=40,
).map(each_once)


@given(one_lane, st.integers(1, 12))
def test_an_incremental_lane_equals_a_lane_built_at_once(log: list[Entry], step: int) -> None:
    kept = Facts(REGISTRY)
    for start in range(0, len(log), step):
        kept.add(log[start : start + step])
        whole = Facts(REGISTRY, log[: start + step])
        assert all_facts(kept) == all_facts(whole)
        for entry in log[: start + step]:
            assert kept.get(entry.id) == whole.get(entry.id)
            if isinstance(entry, Assertion):
                assert kept.history(entry) == whole.history(entry)


@given(one_lane, st.integers(0, 40), st.integers(1, 20))
def test_an_indexed_lookup_in_a_lane_equals_a_full_scan(log: list[Entry], at_ms: int, length: int) -> None:
    facts = Facts(REGISTRY, log)
    history = facts.history(said("any", "x", 0))
    spoken = [each.assertion for each in history.spans]
    assert set(history.meant_to_last(at_ms)) == {
        each for each in spoken if each.valid_to_ms is not None and each.valid_from_ms <= at_ms < each.valid_to_ms
    }
    assert history.begun_between(at_ms, at_ms + length) == [
        each for each in spoken if at_ms < each.valid_from_ms < at_ms + length
    ]
    assert [history.holding(at_ms)] == ([fact for fact in history.facts if fact.is_current(at_ms)] or [None])
    for fact in history.facts:
        own = {each.id for each in fact.assertions}
        ended = {other.id for other in history.facts if other.ended_by in own}
        named = {each for assertion in fact.assertions for each in assertion.supersedes}
        assert ended - {other.id for other in facts.beside(fact)} <= {
            other.id for other in history.facts if named & {each.id for each in other.assertions}
        }


@given(logs)
def test_every_assertion_belongs_to_one_fact_and_is_found_by_its_sources(log: list[Entry]) -> None:
    facts = Facts(REGISTRY, log)
    parts = [assertion.id for fact in all_facts(facts) for assertion in fact.assertions]
    assert sorted(parts) == sorted(entry.id for entry in log if isinstance(entry, Assertion))
    for entry in log:
        if isinstance(entry, Assertion):
            fact = facts.get(entry.id)
            assert fact is not None
            assert entry in fact.assertions
            assert all(fact in facts.citing(ref) for ref in entry.sources)


@given(logs)
def test_a_fact_ends_where_its_successor_begins(log: list[Entry]) -> None:
    facts = Facts(REGISTRY, log)
    for fact in all_facts(facts):
        if fact.ended_by is not None:
            ending = next(entry for entry in facts.assertions() if entry.id == fact.ended_by)
            assert fact.valid_to_ms is not None
            assert ending.valid_from_ms <= fact.valid_to_ms or fact.never_held


# --- through the engine --------------------------------------------------------------------------------


class Move(NamedTuple):
    what: str
    subject: str
    predicate: str
    value: str
    start: int | None
    length: int | None
    pick: int


moves = st.lists(
    st.builds(
        Move,
        st.sampled_from(["assert", "assert", "assert", "invalidate", "supersede", "tick"]),
        st.sampled_from(["billing", "BILLING", "ledger"]),
        st.sampled_from(["status", "uses"]),
        st.sampled_from(["x", "y"]),
        st.none() | st.integers(0, 12),
        st.none() | st.integers(1, 6),
        st.integers(0, 20),
    ),
    max_size=12,
)


def carry_out(memory: Memory, clock: FixedClock, done: Sequence[Move], *, on_facts: bool) -> None:
    """What a caller might do, right or wrong. Each fact cites one root, or an earlier fact."""
    memory.put("user:ann", "root", "The root of it all.", {"ts": 1})
    facts: list[str] = []
    for move in done:
        named = facts[move.pick % len(facts)] if facts else "f_none"
        source = f"facts:user:ann/{named}" if on_facts and facts and move.pick % 2 else "user:ann/root"
        with suppress(InvalidInput, NotFound):
            if move.what == "tick":
                clock.ms += 1
            elif move.what == "invalidate":
                memory.facts_invalidate(named, user_id="ann", at=move.start)
            else:
                receipt = memory.facts_assert(
                    move.subject,
                    move.predicate,
                    move.value,
                    user_id="ann",
                    sources=[source],
                    valid_from=move.start,
                    valid_to=None if move.start is None or move.length is None else move.start + move.length,
                    supersedes=[named] if move.what == "supersede" else [],
                )
                facts.append(receipt.fact.id)


@contextmanager
def small_memory() -> Iterator[tuple[Memory, FixedClock]]:
    clock = FixedClock()
    clock.ms = 10
    with short_folder() as folder:
        config = Config.load(environment={}, data_dir=folder, embedder="none", tokenizer="estimate")
        with Memory(config, store=MemoryStore(), clock=clock) as memory:
            yield memory, clock


@pytest.mark.requirement("FACT-3")
@settings(max_examples=effort(16, 50), deadline=None)
@given(moves)
def test_every_written_log_lints_clean_and_rebuilds_to_identical_bytes(done: list[Move]) -> None:
    with small_memory() as (memory, clock):
        carry_out(memory, clock, done, on_facts=False)
        assert memory.facts_lint(user_id="ann").problems == ()
        rebuilt = memory.facts_rebuild(user_id="ann")
        assert rebuilt.identical
        assert memory.facts_rebuild(user_id="ann").digest == rebuilt.digest
        assert memory.facts_stale(user_id="ann").known is False


@pytest.mark.requirement("FACT-3")
@settings(max_examples=effort(16, 50), deadline=None)
@given(moves)
def test_a_chain_of_facts_goes_stale_with_its_root(done: list[Move]) -> None:
    with small_memory() as (memory, clock):
        carry_out(memory, clock, done, on_facts=True)
        held = memory.facts_current(user_id="ann")
        memory.put("user:ann", "root", "It says something else now.", {"ts": 1})
        after = memory.facts_current(user_id="ann")
        assert after.facts == ()
        assert {fact.id for fact in after.stale} == {fact.id for fact in (*held.facts, *held.stale)}
        assert all(fact.why for fact in after.stale)
