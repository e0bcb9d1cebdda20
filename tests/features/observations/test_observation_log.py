"""The observation log through the engine and the daemon: when it grows, what it cites, what a context shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from clew.api import Assemble, Context, MemoryApi, Message, Section
from clew.core.ids import ID_BYTES, digest
from clew.core.ports import Abstract
from clew.engine import Memory
from clew.errors import InvalidInput, NotFound, RawHistoryProtected, SummarizerFailed
from clew.storage.protocol import Store
from clew.text.framing import LOG_CLOSE, LOG_OPEN
from tests.conftest import NOW_MS, OpenMemory, opened_api

pytestmark = pytest.mark.requirement("OBS-1", "OBS-2")

SMALL = {"observe_buffer_tokens": 400, "observe_block_tokens": 600, "tokenizer": "estimate"}
HOUR_MS = 3_600_000
DECISION = "We decided to move the billing database to PostgreSQL 16 tomorrow."


def spoken_turns(place: int) -> str:
    if place == 2:
        return DECISION
    if place % 2:
        return f"Step {place} is done: handler_{place} has its new name and the {place + 90} tests pass again."
    return f"Look at step {place}. It is about src/part_{place}.py, where handler_{place} has a misleading name."


def message(place: int, **given: Any) -> Message:
    settings = {"role": ("user", "assistant")[place % 2], "text": spoken_turns(place), "ts": NOW_MS + place * HOUR_MS}
    return Message(id=f"t{place}", **settings | given)


def talk(memory: MemoryApi, start: int, end: int, session: str = "s") -> None:
    memory.ingest_batch(session, [message(place) for place in range(start, end)], user_id="ana")


def section(context: Context, name: str) -> Section:
    (found,) = [part for part in context.sections if part.name == name]
    return found


def ids(context: Context) -> list[str | None]:
    return [each.id for each in context.messages]


@pytest.fixture(params=["memory", "client"])
def api(request: pytest.FixtureRequest) -> Iterator[MemoryApi]:
    with opened_api(request.param, tokenizer="estimate") as opened:
        yield opened


@pytest.fixture
def small(open_memory: OpenMemory) -> Memory:
    return open_memory(**SMALL)


# --- when it runs ----------------------------------------------------------------------------------------


def test_engine_and_daemon_make_show_and_rebuild_the_same_log(api: MemoryApi) -> None:
    talk(api, 0, 40)
    receipt = api.observe_run("s", force=True)
    log, stats = api.observe_show("s"), api.observe_stats("s")
    assert (receipt.runs, receipt.buffer_turns, receipt.degraded) == (stats.runs, 4, ())
    assert stats.runs >= 1
    assert stats.observed_turns == 36
    assert stats.high + stats.medium + stats.low == len(log.lines) == receipt.lines
    assert log.text.startswith(LOG_OPEN)
    assert log.tokens < stats.observed_tokens
    rebuilt = api.observe_rebuild("s")
    assert (rebuilt.added, rebuilt.dropped) == (0, 0)
    assert api.observe_show("s") == log


def test_the_observer_waits_while_the_buffer_is_within_its_bound(small: Memory) -> None:
    talk(small, 0, 6)
    assert small.observe_run("s").runs == 0
    context = small.assemble("s", mode="observations")
    assert (context.observations_text, len(context.messages)) == ("", 6)
    assert small.observe_run("s", force=True).runs == 1
    assert ids(small.assemble("s", mode="observations")) == ["t2", "t3", "t4", "t5"]


def test_a_session_without_observations_has_an_empty_log(small: Memory) -> None:
    talk(small, 0, 1, "new")
    assert small.observe_run("new", force=True).lines == 0
    assert small.observe_rebuild("new").lines == 0
    assert small.observe_show("new").text == ""
    assert small.observe_stats("new").share == 0.0


def test_an_unknown_session_has_no_log_and_an_empty_context(small: Memory) -> None:
    for ask in (small.observe_run, small.observe_rebuild, small.observe_show, small.observe_stats):
        with pytest.raises(NotFound):
            ask("none")
    assert small.assemble("none", mode="observations").messages == ()


def test_a_context_observes_turns_beyond_its_tail_and_shows_the_rest_word_for_word(small: Memory) -> None:
    talk(small, 0, 30)
    context = small.assemble("s", mode="observations")
    assert small.observe_stats("s").runs >= 1
    assert ids(context) == ["t26", "t27", "t28", "t29"]
    assert DECISION in context.observations_text
    assert section(context, "observations").items == len(small.observe_show("s").lines)
    assert context.recalled_text == ""
    assert [part.name for part in context.sections] == ["hard", "soft", "observations", "tail", "guidance"]
    shown = context.as_messages()
    assert shown[0] == {"role": "user", "content": context.observations_text}


def test_the_block_is_the_same_bytes_until_the_observer_runs_again(small: Memory) -> None:
    talk(small, 0, 30)
    first = small.assemble("s", mode="observations", query="handler_3")
    blocks = []
    for place in range(30, 46):
        small.ingest_batch("s", [message(place)])
        context = small.assemble("s", mode="observations", query=f"what about part_{place}?")
        blocks.append((small.observe_stats("s").runs, context.observations_text))
    assert len({runs for runs, _ in blocks}) > 1, "the observer ran meanwhile"
    assert len(set(blocks)) == len({runs for runs, _ in blocks})
    assert blocks[0][1] == first.observations_text


def test_the_log_is_pruned_when_it_passes_its_bound_and_keeps_what_matters(open_memory: OpenMemory) -> None:
    memory = open_memory(**SMALL | {"observe_block_tokens": 256})
    for start in range(0, 120, 10):
        talk(memory, start, start + 10)
        memory.observe_run("s", force=True)
    stats = memory.observe_stats("s")
    assert stats.reflections >= 1
    assert stats.tokens <= 256
    assert stats.runs == 12
    assert DECISION in [line.text for line in memory.observe_show("s").lines]
    before = memory.observe_show("s")
    memory.observe_rebuild("s")
    assert memory.observe_show("s") == before


# --- lines ----------------------------------------------------------------------------------------------


def test_a_line_is_a_record_that_cites_its_turns_and_names_its_three_dates(small: Memory) -> None:
    talk(small, 0, 30)
    small.observe_run("s")
    (line,) = [each for each in small.observe_show("s").lines if each.text == DECISION]
    assert line.sources == ("session_raw:s/t2",)
    assert (line.priority, line.observed, line.referenced, line.relative) == (
        "high",
        "2026-09-21",
        "2026-09-22",
        "in 1 day",
    )
    (record,) = small.get("observations:s", line.ref.removeprefix("observations:s/")).records
    assert (record.text, record.provenance, record.metadata["sources"]) == (DECISION, "summary", list(line.sources))
    assert small.search("billing database", collections=["observations:s"]).hits[0].record.id == record.id


def test_clients_cannot_write_the_log(small: Memory) -> None:
    with pytest.raises(InvalidInput):
        small.put("observations:s", "o1", "forged")
    talk(small, 0, 30)
    small.observe_run("s")
    with pytest.raises(RawHistoryProtected):
        small.clear("observations:s")


@pytest.mark.requirement("SAFE-2")
def test_untrusted_turns_give_untrusted_lines_and_quarantined_turns_give_none(small: Memory) -> None:
    small.ingest_batch("s", [message(0)])
    small.ingest("s", "tool_call", '{"command": "npm test"}', id="c", ts=NOW_MS, tool_call_ids=["x"])
    small.ingest("s", "tool_result", "Error: E4711 is unheard of", id="r", ts=NOW_MS, tool_call_id="x")
    talk(small, 1, 30)
    small.review("session_raw:s/t4", "quarantine")
    small.observe_run("s")
    lines = small.observe_show("s").lines
    (failed,) = [line for line in lines if "E4711" in line.text]
    assert (failed.trust, failed.priority) == ("untrusted", "medium")
    assert failed.sources == ("session_raw:s/c", "session_raw:s/r")
    assert not any("session_raw:s/t4" in line.sources for line in lines)
    shown = [json.loads(row) for row in small.observe_show("s").text.split("\n")[1:-1]]
    assert [row[4]["trust"] for row in shown if "E4711" in row[3]] == ["untrusted"]


@pytest.mark.requirement("SAFE-2")
def test_quarantining_a_turn_hides_its_line(small: Memory) -> None:
    talk(small, 0, 30)
    assert DECISION in small.assemble("s", mode="observations").observations_text
    small.review("session_raw:s/t2", "quarantine")
    assert DECISION not in small.assemble("s", mode="observations").observations_text


@pytest.mark.requirement("STORE-6")
def test_purging_a_turn_removes_its_lines_and_the_log_goes_on(small: Memory) -> None:
    talk(small, 0, 30)
    small.observe_run("s")
    small.purge(ref="session_raw:s/t2")
    small.purge(ref="session_raw:s/t25")
    assert not any("session_raw:s/t2" in line.sources for line in small.observe_show("s").lines)
    talk(small, 30, 60)
    context = small.assemble("s", mode="observations")
    assert DECISION not in context.observations_text
    assert not any("observ" in reason for reason in context.degraded)
    small.observe_rebuild("s")
    small.purge(session_id="s")
    talk(small, 60, 62)
    assert small.observe_show("s").lines == ()
    talk(small, 62, 90)
    assert small.assemble("s", mode="observations").observations_text
    assert small.verify().ok


@pytest.mark.requirement("STORE-6")
def test_a_purge_during_the_write_of_a_line_removes_the_line(small: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(small, 0, 30)
    put = type(small._parts.store).put

    def late(store: Any, *given: Any) -> Any:
        monkeypatch.undo()
        small.purge(ref="session_raw:s/t2")
        return put(store, *given)

    monkeypatch.setattr(type(small._parts.store), "put", late)
    small.observe_run("s")
    assert DECISION not in [record.text for record in small.list("observations:s").records]


def test_a_turn_dismissed_by_hand_is_neither_observed_nor_shown(small: Memory) -> None:
    talk(small, 0, 30)
    small.delete("session:s", "t2", "t29")
    context = small.assemble("s", mode="observations")
    assert DECISION not in context.observations_text
    assert "t29" not in ids(context)


def test_compaction_and_the_log_do_not_interfere(small: Memory) -> None:
    talk(small, 0, 30)
    assert small.compact("s", force=True).did_compact
    context = small.assemble("s", mode="observations")
    assert DECISION in context.observations_text
    assert small.verify().ok


# --- contexts -------------------------------------------------------------------------------------------


def test_mode_both_adds_recall_after_the_log_within_the_budget(small: Memory) -> None:
    talk(small, 0, 60)
    context = small.assemble("s", mode="both", query="handler_9", user_id="ana", budget_tokens=2000)
    assert context.observations_text
    assert "handler_9" in context.recalled_text
    assert context.used_tokens <= 2000
    names = [part.name for part in context.sections]
    assert names == ["hard", "soft", "observations", "tail", "guidance", "recalled"]


def test_a_context_drops_given_messages_that_the_log_covers(small: Memory) -> None:
    talk(small, 0, 30)
    small.observe_run("s")
    given = [message(place) for place in range(20, 30)] + [Message(role="user", text="And now?")]
    context = small.assemble("s", messages=given, mode="observations")
    assert ids(context) == ["t26", "t27", "t28", "t29", None]
    strangers = [Message(role="user", text=f"message {place}") for place in range(6)]
    assert len(small.assemble("s", messages=strangers, mode="observations").messages) == 6


def test_a_tight_budget_leaves_out_the_oldest_low_lines_and_names_them(small: Memory) -> None:
    talk(small, 0, 60)
    small.observe_run("s")
    whole = small.observe_show("s")
    context = small.assemble("s", mode="observations", budget_tokens=900)
    part = section(context, "observations")
    assert part.used_tokens <= part.budget_tokens < whole.tokens
    assert {item.reason for item in part.left_out} == {"no room in the budget"}
    assert {item.ref for item in part.left_out} | set(part.refs) == {line.ref for line in whole.lines}
    if part.items:
        assert DECISION in context.observations_text
    tiny = small.assemble("s", mode="observations", budget_tokens=64)
    assert tiny.observations_text == ""


def test_an_unknown_mode_is_refused(small: Memory) -> None:
    with pytest.raises(InvalidInput, match="recall, observations, both"):
        small.assemble("s", mode="everything")


def test_recall_is_the_default_mode(small: Memory) -> None:
    talk(small, 0, 30)
    assert small.assemble("s") == small.call(Assemble(session_id="s", mode="recall"))
    assert small.observe_stats("s").runs == 0


@pytest.mark.requirement("CONT-8")
@pytest.mark.parametrize("broken", ["put", "bookmark", "page"])
def test_a_fault_of_the_log_is_reported_and_the_context_is_still_made(
    small: Memory, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    talk(small, 0, 30)

    def fail(*_: object, **__: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(type(small._parts.store), broken, fail)
    context = small.assemble("s", mode="observations")
    assert ids(context)[-4:] == ["t26", "t27", "t28", "t29"]
    assert any("turns were not observed: OSError: the disk is gone" in reason for reason in context.degraded)


# --- crashes, imports, models ----------------------------------------------------------------------------


@pytest.mark.requirement("STORE-4")
def test_a_crash_before_pruned_lines_are_removed_leaves_the_same_log(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(**SMALL | {"observe_block_tokens": 256})
    with monkeypatch.context() as patch:
        patch.setattr(type(memory._parts.store), "remove", _nothing_removed)
        for start in range(0, 120, 10):
            talk(memory, start, start + 10)
            memory.observe_run("s", force=True)
    stats, log = memory.observe_stats("s"), memory.observe_show("s")
    held = len(memory.list("observations:s").records)
    assert stats.reflections >= 1
    assert held > len(log.lines)
    assert stats.tokens <= 256
    memory.observe_rebuild("s")
    assert memory.observe_show("s") == log
    assert len(memory.list("observations:s").records) == len(log.lines)


def _nothing_removed(_: Store, __: str, ___: object) -> int:
    return 0


def test_a_log_without_its_bookmark_resumes_after_its_last_line(small: Memory) -> None:
    talk(small, 0, 30)
    small.observe_run("s")
    log = small.observe_show("s")
    name = f"observed:{digest('s', size_bytes=ID_BYTES).hex()}"
    small._parts.store.put([], {name: "{}"})
    assert small.observe_show("s") == log
    talk(small, 30, 60)
    assert small.observe_run("s").runs >= 1
    texts = [line.text for line in small.observe_show("s").lines]
    assert len(texts) == len(set(texts))


class Scribe:
    """A summarizer that returns a given text."""

    name = "scribe"

    def __init__(self, text: str | None) -> None:
        self.text = text

    def ready(self) -> bool:
        return True

    def summarise(self, transcript: str, *, earlier: str, max_tokens: int) -> Abstract:
        if self.text is None:
            raise SummarizerFailed("it takes too long")
        return Abstract(self.text)

    def close(self) -> None: ...


def test_a_models_lines_are_used_if_they_keep_to_the_turns(open_memory: OpenMemory) -> None:
    sound, forged = "They move the billing database to PostgreSQL 16 tomorrow. [3]", "Ana lives at 17 Mill Lane. [1]"
    memory = open_memory(summarizer=Scribe(f"{sound}\n{forged}"), **SMALL)
    talk(memory, 0, 30)
    memory.observe_run("s")
    log = memory.observe_show("s")
    (line,) = [each for each in log.lines if each.method == "scribe"]
    assert (line.text, line.sources) == (sound.removesuffix(" [3]"), ("session_raw:s/t2",))
    assert "Mill Lane" not in log.text
    assert sum("session_raw:s/t2" in each.sources for each in log.lines) == 1
    assert any(each.method == "rules" for each in log.lines)
    assert log.text.endswith(LOG_CLOSE)


def test_the_rules_write_the_lines_if_a_model_fails_or_invents(open_memory: OpenMemory) -> None:
    texts = []
    for session, text in (("a", None), ("b", "Everything cost 4,000 euros. [2]"), ("c", "")):
        memory = open_memory(summarizer=Scribe(text), **SMALL)
        talk(memory, 0, 30, session)
        receipt = memory.observe_run(session)
        assert bool(receipt.degraded) == (text is None)
        texts.append([line.text for line in memory.observe_show(session).lines])
    assert texts[0] == texts[1] == texts[2] != []
