"""Properties of every context, for any budget, shares, rules, turns and memories."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.api import Context, Hit, Message, Section
from clew.config import Config
from clew.core.budget import portion
from clew.core.collections import Collection
from clew.core.tuning import Tuning
from clew.engine import Memory
from clew.storage.protocol import Place, Shard
from clew.text.framing import CUT_MARK
from tests.conftest import FixedClock
from tests.testing.drafts import turn
from tests.testing.effort import effort
from tests.testing.lines import read
from tests.testing.memory_store import MemoryStore

pytestmark = pytest.mark.requirement("CONT-3", "CONT-5")

QUERY = "pelican"
OTHER_QUERY = "zebra"
WORDS = st.integers(0, 120)
SHARE = st.floats(0, 1)
ROLES = st.sampled_from(["user", "assistant", "tool_call", "tool_result", "system"])


@dataclass(frozen=True)
class World:
    """Everything that a context may consist of, by size in words."""

    budget: int
    hard: list[int]
    soft: list[int]
    turns: list[tuple[str, int]]
    guidance: list[int]
    memories: list[int]
    shares: tuple[float, float, float, float]
    min_turns: int

    @property
    def messages(self) -> list[Message]:
        return [
            Message(role=role, text=_words(f"turn {place}", size), id=f"t{place}")
            for place, (role, size) in enumerate(self.turns)
        ]


WORLDS = st.builds(
    World,
    budget=st.integers(64, 3000),
    hard=st.lists(WORDS, max_size=4),
    soft=st.lists(WORDS, max_size=5),
    turns=st.lists(st.tuples(ROLES, WORDS), max_size=14),
    guidance=st.lists(WORDS, max_size=5),
    memories=st.lists(WORDS, max_size=6),
    shares=st.tuples(SHARE, SHARE, SHARE, SHARE),
    min_turns=st.integers(1, 6),
)


def _words(start: str, count: int) -> str:
    return " ".join([start, *(f"word{number % 7}" for number in range(count))])


@contextmanager
def open_engine(world: World) -> Iterator[Memory]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "AGENTS.md")
        items = [f"- {_words(f'hard {place}', size)}\n" for place, size in enumerate(world.hard)]
        quotes = [f"\n> {_words(f'soft {place}', size)}\n" for place, size in enumerate(world.soft)]
        path.write_text("".join([*items, *quotes]), "utf-8")
        soft, tail, guidance, hard = world.shares
        config = Config.load(
            environment={},
            data_dir=folder,
            embedder="none",
            tokenizer="estimate",
            authored_files=(str(path),),
            authored_hard_share=hard,
            authored_soft_share=soft,
            tail_share=tail,
            guidance_share=guidance,
            tail_min_turns=world.min_turns,
        )
        store = MemoryStore()
        for place, size in enumerate(world.guidance):
            store.append([turn(_words(f"pelican guidance {place}", size), id=f"g{place}", session="old", user="ana")])
            store.condense("old", [], [Shard(f"g{place}", Place(Collection("elevated:user:ana"), f"old/g{place}"))])
        with Memory(config, store=store, clock=FixedClock(), tuning=Tuning(recall_min_similarity=0.0)) as memory:
            for place, size in enumerate(world.memories):
                memory.put("user:ana", str(place), _words(f"pelican memory {place}", size))
            yield memory


def assemble_context(memory: Memory, world: World, query: str = QUERY) -> Context:
    return memory.assemble("s", query=query, messages=world.messages, user_id="ana", budget_tokens=world.budget)


def by_name(context: Context) -> dict[str, Section]:
    return {section.name: section for section in context.sections}


def is_over(context: Context) -> bool:
    return any("are over the budget of" in reason for reason in context.degraded)


@pytest.mark.requirement("CONT-4")
@settings(max_examples=effort(40, 300), deadline=None)
@given(WORLDS)
def test_a_context_keeps_to_its_budget_or_says_why_it_cannot(world: World) -> None:
    with open_engine(world) as memory:
        context = assemble_context(memory, world)
        sections = by_name(context)
        assert list(sections) == ["hard", "soft", "tail", "guidance", "recalled"]
        assert context.used_tokens == sum(section.used_tokens for section in context.sections)
        assert (context.used_tokens <= world.budget) == (not is_over(context))
        assert all(0 <= section.used_tokens <= section.budget_tokens for section in context.sections)
        if is_over(context):
            assert sections["soft"].items == sections["guidance"].items == sections["recalled"].items == 0
        assert sections["soft"].used_tokens <= portion(world.budget, world.shares[0])
        assert sections["guidance"].used_tokens <= portion(world.budget, world.shares[2])
        assert_honest(memory, context, sections)


def assert_honest(memory: Memory, context: Context, sections: dict[str, Section]) -> None:
    """The text to send takes no more tokens than the receipt says."""
    count = memory._parts.counter.estimate
    if context.authored_text:
        assert count(context.authored_text) + 4 <= sections["hard"].used_tokens + sections["soft"].used_tokens
    assert sum(count(message.text) + 4 for message in context.messages) <= sections["tail"].used_tokens
    for name, text in (("guidance", context.guidance_text), ("recalled", context.recalled_text)):
        assert (count(text) + 4 if text else 0) <= sections[name].used_tokens
    for text, hits in ((context.guidance_text, context.guidance), (context.recalled_text, context.recalled)):
        assert_cited_by_number(text, hits)


def assert_cited_by_number(text: str, hits: Sequence[Hit]) -> None:
    """The lines have the numbers of the hits in order, and name the record if it holds more text."""
    for number, (line, hit) in enumerate(zip(text.split("\n")[1:-1], hits, strict=True), 1):
        said = read(line)
        assert said["n"] == number
        assert hit.record.text.startswith(said["text"].removesuffix(CUT_MARK))
        assert said.get("ref") == (
            None if said["text"] == hit.record.text else f"{hit.record.collection}/{hit.record.id}"
        )


@pytest.mark.requirement("CONT-1", "CONT-8")
@settings(max_examples=effort(40, 300), deadline=None)
@given(WORLDS)
def test_hard_text_and_base_are_always_whole_and_other_sections_are_cut_at_the_end(world: World) -> None:
    with open_engine(world) as memory:
        given_messages = world.messages
        context = assemble_context(memory, world)
        texts = [message.text for message in given_messages]
        kept = [message.text for message in context.messages]
        assert kept == texts[len(texts) - len(kept) :]
        assert len(kept) >= min(world.min_turns, len(texts))
        lines = context.authored_text.split("\n")
        assert [line for line in lines if line.startswith("- hard")] == [
            f"- {_words(f'hard {place}', size)}" for place, size in enumerate(world.hard)
        ]
        soft = [line for line in lines if line.startswith("> soft")]
        assert soft == [f"> {_words(f'soft {place}', size)}" for place, size in enumerate(world.soft)][: len(soft)]
        assert given_messages == world.messages


@settings(max_examples=effort(30, 200), deadline=None)
@given(WORLDS)
def test_memories_never_change_rules_or_tail(world: World) -> None:
    with open_engine(world) as memory:
        asked, unasked = assemble_context(memory, world), assemble_context(memory, world, OTHER_QUERY)
        assert asked.sections[:3] == unasked.sections[:3]
        assert asked.messages == unasked.messages
        assert asked.authored_text == unasked.authored_text
        assert unasked.recalled_text == ""


@pytest.mark.requirement("GUIDE-3")
@settings(max_examples=effort(30, 200), deadline=None)
@given(WORLDS)
def test_a_lower_section_never_takes_room_that_a_higher_one_could_use(world: World) -> None:
    with open_engine(world) as memory:
        context = assemble_context(memory, world)
        if is_over(context):
            return
        sections = by_name(context)
        higher = sum(sections[name].used_tokens for name in ("hard", "soft", "tail"))
        limit = portion(world.budget, world.shares[2])
        assert sections["guidance"].budget_tokens == min(limit, world.budget - higher)
        assert sections["recalled"].budget_tokens == world.budget - higher - sections["guidance"].used_tokens
        assert len(sections["guidance"].refs) + len(sections["guidance"].left_out) == len(world.guidance)
        shown = [hit.record.text for hit in (*context.guidance, *context.recalled)]
        assert len(shown) == len(set(shown))


@pytest.mark.requirement("RANK-3", "RANK-4")
@settings(max_examples=effort(20, 150), deadline=None)
@given(WORLDS)
def test_the_same_question_gets_the_same_context_and_only_its_records_count_as_used(world: World) -> None:
    with open_engine(world) as memory:
        first = assemble_context(memory, world)
        used = {record.id for record in memory.list("user:ana").records if record.access_count}
        assert used == {hit.record.id for hit in first.recalled if hit.record.collection == "user:ana"}
        with open_engine(world) as other:
            second = assemble_context(other, world)
        assert first == second
