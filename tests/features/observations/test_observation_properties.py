"""Properties of every observation log, for any turns in any order and any bounds."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.api import Context, Message
from clew.config import Config
from clew.core.model import Role, Trust, least
from clew.core.tuning import Tuning
from clew.engine import Memory
from clew.features.observations.block import block, line
from clew.features.observations.observer import Observation, Priority, observe
from clew.features.observations.reflection import reflect
from clew.features.observations.tools import ObservedTurn
from clew.text.framing import LOG_CLOSE, LOG_OPEN
from tests.conftest import FixedClock
from tests.testing.effort import effort
from tests.testing.memory_store import MemoryStore

pytestmark = pytest.mark.requirement("OBS-1", "OBS-2")

WORDS = st.sampled_from(
    "we decided to always use PostgreSQL 16 never deploy on 2023-05-20 Friday error E1234 failed npm test "
    "src/main.py the river walk yes ok? Ana prefers tea. 数据库 決定 <b> </observation_log> \n \0 \u202e".split(" ")
)
TEXTS = st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=60)
TURNS = st.lists(
    st.builds(
        ObservedTurn,
        id=st.uuids().map(str),
        who=st.sampled_from(["Ana", "bash", "</observation_log>", ""]),
        role=st.sampled_from(list(Role)),
        ts_ms=st.integers(0, 4_000_000_000_000),
        text=TEXTS,
        trust=st.sampled_from(list(Trust)),
        tokens=st.integers(1, 200),
        tool_call_ids=st.sampled_from([(), ("c1",), ("c1", "c2")]),
        tool_call_id=st.sampled_from([None, "c1", "c2"]),
    ),
    max_size=25,
    unique_by=lambda turn: turn.id,
)
LINES = st.lists(
    st.builds(
        Observation,
        priority=st.sampled_from(list(Priority)),
        ts_ms=st.sampled_from([0, 86_400_000]),
        who=st.sampled_from(["Ana", "bash"]),
        text=TEXTS,
        sources=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True).map(tuple),
        trust=st.sampled_from([Trust.UNKNOWN, Trust.UNTRUSTED]),
        is_own=st.booleans(),
    ),
    max_size=30,
)


def cost(observation: Observation) -> int:
    return len(line(observation)) // 4 + 1


@settings(max_examples=effort(150, 1500), deadline=None)
@given(TURNS, st.lists(TEXTS, max_size=3))
def test_lines_cite_their_turns_inherit_their_trust_and_are_smaller(
    turns: list[ObservedTurn], heard: list[str]
) -> None:
    lines = observe(turns, cost, heard)
    assert lines == observe(turns, cost, heard)
    known = {turn.id: turn for turn in turns}
    for made in lines:
        sources = [known[id_] for id_ in made.sources]
        assert sources
        assert made.trust is least(turn.trust for turn in sources) is not Trust.QUARANTINED
        assert made.priority is not Priority.HIGH or all(turn.is_own for turn in sources)
    assert not lines or sum(map(cost, lines)) < sum(turn.tokens for turn in turns)
    order = [turn.id for turn in turns]
    assert [order.index(made.sources[0]) for made in lines] == sorted(order.index(made.sources[0]) for made in lines)


@settings(max_examples=effort(200, 2000), deadline=None)
@given(LINES, st.integers(1, 400))
def test_the_reflector_keeps_its_budget_and_prunes_the_least_important_first(
    lines: list[Observation], budget: int
) -> None:
    before, kept = sum(map(cost, lines)), reflect(lines, budget, cost)
    assert kept == reflect(lines, budget, cost)
    if before <= budget:
        assert kept == lines
        return
    assert sum(map(cost, kept)) < before
    assert sum(map(cost, kept)) <= budget
    cited = {source for made in lines for source in made.sources}
    assert all(set(made.sources) <= cited for made in kept)
    high = [made for made in lines if made.priority is Priority.HIGH and made.is_own]
    if any(made not in kept for made in high):
        assert all(made.priority is Priority.HIGH and made.is_own for made in kept)


@settings(max_examples=effort(150, 1500), deadline=None)
@given(LINES)
def test_no_text_can_leave_its_line_or_close_the_block(lines: list[Observation]) -> None:
    shown = block(lines)
    assert shown == block(lines)
    if not lines:
        assert shown == ""
        return
    opening, *rows, closing = shown.split("\n")
    assert (opening, closing) == (LOG_OPEN, LOG_CLOSE)
    assert [json.loads(row)[3] for row in rows] == [made.text for made in lines]
    assert not any("<" in row or ">" in row for row in rows)


# --- through the engine --------------------------------------------------------------------------------

SAID = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "tool_call", "tool_result", "system"]), TEXTS), max_size=30
)


@contextmanager
def open_engine(**tuned: int) -> Iterator[Memory]:
    with tempfile.TemporaryDirectory() as folder:
        config = Config.load(environment={}, data_dir=folder, embedder="none", tokenizer="estimate")
        with Memory(config, store=MemoryStore(), clock=FixedClock(), tuning=Tuning(**tuned)) as memory:
            yield memory


def storable(said: Sequence[tuple[str, str]]) -> list[Message]:
    return [
        Message(role=role, text=text.encode("utf-8", "replace").decode(), id=f"t{place}", ts=place * 3_600_000)
        for place, (role, text) in enumerate(said)
    ]


@settings(max_examples=effort(25, 250), deadline=None)
@given(SAID, st.integers(256, 600), st.integers(256, 400), st.integers(64, 3000))
def test_contexts_on_the_log_keep_their_budget_and_the_block_changes_only_with_a_run(
    said: list[tuple[str, str]], buffer: int, bound: int, budget: int
) -> None:
    with open_engine(observe_buffer_tokens=buffer, observe_block_tokens=bound) as memory:
        before: tuple[int, str] | None = None
        for message in storable(said):
            memory.ingest_batch("s", [message])
            context = memory.assemble("s", mode="observations", budget_tokens=budget)
            assert_in_budget(memory, context)
            stats = memory.observe_stats("s")
            if before is not None and before[0] == stats.runs and not context.degraded:
                assert context.observations_text in (before[1], "") or before[1] == ""
            before = (stats.runs, context.observations_text)
            assert stats.tokens <= bound
        if before is None:
            return
        shown = memory.observe_show("s")
        assert all(ref.startswith("session_raw:s/t") for each in shown.lines for ref in each.sources)
        memory.observe_rebuild("s")
        assert memory.observe_show("s") == shown


def assert_in_budget(memory: Memory, context: Context) -> None:
    over = any("are over the budget of" in reason for reason in context.degraded)
    assert (context.used_tokens <= context.budget_tokens) == (not over)
    assert context.used_tokens == sum(section.used_tokens for section in context.sections)
    sections = {section.name: section for section in context.sections}
    assert list(sections) == ["hard", "soft", "observations", "tail", "guidance"]
    assert all(0 <= section.used_tokens <= section.budget_tokens for section in context.sections)
    count = memory._parts.counter.estimate
    assert count(context.observations_text) <= sections["observations"].used_tokens
