"""Models that fail, hang or talk nonsense, and compactions that meet: nothing is lost and the session goes on."""

from __future__ import annotations

import base64
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from clew.api import Compact, CompactReceipt, Export, Import, MemoryApi, Message
from clew.core.ports import Abstract, Vectors
from clew.engine import Memory
from clew.errors import EmbedderFailed, InvalidInput, SummarizerFailed
from clew.models.embedding.hashing import HashingEmbedder
from clew.models.guard import GuardedSummarizer
from tests.conftest import OpenMemory
from tests.testing.effort import effort

SESSION = "s"
TOLD = (
    "We decided to switch to PostgreSQL and fixed the bug in src/export/job{0}.py: def run_export(job) raised "
    "TypeError E10{0} in commit abc{0}234f, see https://example.org/api/v1/{0}; configured CACHE_SIZE={0}."
)


class Scripted:
    """A summarizing model that does what the test says."""

    name = "scripted"

    def __init__(self, act: Callable[[str], Any]) -> None:
        self.act = act
        self.asked: list[str] = []

    def ready(self) -> bool:
        return True

    def summarise(self, transcript: str, *, earlier: str, max_tokens: int) -> Any:
        self.asked.append(transcript)
        return self.act(transcript)

    def close(self) -> None: ...


class Trouble(HashingEmbedder):
    """An embedder that does what the test says once there is trouble."""

    def __init__(self, act: Callable[[Sequence[str]], Vectors]) -> None:
        self.act = act
        self.begun = False

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self.act(texts) if self.begun else super().embed_passages(texts)


def fail(error: Exception) -> Any:
    raise error


def talk(api: MemoryApi, count: int = 30) -> None:
    roles = ("user", "assistant")
    messages = [Message(role=roles[n % 2], text=TOLD.format(n), id=f"t{n}", ts=1_700_000_000_000) for n in range(count)]
    api.ingest_batch(SESSION, messages)
    assert api.flush().ok


def squeeze(api: MemoryApi) -> CompactReceipt:
    return api.call(Compact(session_id=SESSION, force=True, cluster_turns=10))


def assert_whole(api: MemoryApi, count: int = 30) -> None:
    """Every turn is reached from the view, once, as it was said; and all checks hold."""
    shown = api.show_session(SESSION)
    found = [turn for node in shown.view for turn in api.expand(SESSION, node.id, max_depth=64).turns]
    assert Counter(turn.id for turn in found) == Counter(f"t{n}" for n in range(count))
    assert all(turn.text == TOLD.format(int(turn.id[1:])) for turn in found)
    report = api.verify()
    assert report.ok, report


def methods(api: MemoryApi) -> set[str | None]:
    return {node.method for node in api.show_session(SESSION).summaries}


# --- a summarizer ----------------------------------------------------------------------------------


@pytest.mark.requirement("COMP-6", "COMP-5")
def test_what_a_model_writes_is_taken_where_it_points_where_its_sources_point(open_memory: OpenMemory) -> None:
    model = Scripted(lambda transcript: Abstract(transcript[: len(transcript) // 2], 1.0))
    memory = open_memory(HashingEmbedder(), model)
    talk(memory)
    assert squeeze(memory).summary_method == "abstractive"
    assert methods(memory) == {"abstractive"}
    assert all(node.confidence and node.confidence >= 0.65 * 0.4 for node in memory.show_session(SESSION).summaries)
    assert_whole(memory)


@pytest.mark.requirement("COMP-6", "COMP-5", "COMP-10")
@pytest.mark.parametrize(
    "act",
    [
        pytest.param(
            lambda _: Abstract("Gardening tips: water the roses every morning."), id="strays from its sources"
        ),
        pytest.param(lambda transcript: Abstract(transcript * 2), id="longer than its sources"),
        pytest.param(lambda _: Abstract(" \n\t "), id="blank"),
        pytest.param(lambda _: Abstract("\x00" * 50), id="control characters"),
        pytest.param(lambda _: Abstract("\ud800 half a pair"), id="not Unicode"),
        pytest.param(lambda _: Abstract("gardening", float("nan")), id="a confidence that is no number"),
        pytest.param(lambda _: None, id="nothing at all"),
        pytest.param(lambda _: fail(SummarizerFailed("down")), id="says that it failed"),
        pytest.param(lambda _: fail(RuntimeError("bug")), id="raises anything"),
        pytest.param(lambda _: fail(MemoryError()), id="out of memory"),
    ],
)
def test_a_model_that_fails_or_talks_nonsense_leaves_it_to_words(open_memory: OpenMemory, act: Any) -> None:
    model = Scripted(act)
    memory = open_memory(HashingEmbedder(), GuardedSummarizer(model, 10_000))
    talk(memory)
    assert squeeze(memory).did_compact
    assert model.asked
    assert methods(memory) == {"extractive"}
    assert_whole(memory)


@pytest.mark.requirement("COMP-6", "COMP-10")
def test_a_model_that_hangs_past_its_time_is_left_behind(open_memory: OpenMemory) -> None:
    released = threading.Event()
    model = Scripted(lambda _: released.wait() and Abstract("late"))
    memory = open_memory(HashingEmbedder(), GuardedSummarizer(model, 50))
    talk(memory)
    done = squeeze(memory)
    released.set()
    assert done.did_compact
    assert any("did not answer" in reason for reason in done.degraded)
    assert len(model.asked) == 1
    assert methods(memory) == {"extractive"}
    assert_whole(memory)


@pytest.mark.requirement("COMP-10")
def test_a_model_without_a_guard_that_raises_anything_costs_the_compaction_and_not_the_session(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(HashingEmbedder(), Scripted(lambda _: fail(RuntimeError("bug"))))
    talk(memory)
    squeeze(memory)
    assert_whole(memory)


@pytest.mark.requirement("COMP-6")
@pytest.mark.parametrize("known_words", [0, 4, 8, 9, 10, 12])
def test_what_a_model_writes_is_taken_from_an_alignment_of_two_thirds_on(
    open_memory: OpenMemory, known_words: int
) -> None:
    written = " ".join([*TOLD.format(7).split()[:known_words], *(f"gardening{n}" for n in range(24))])
    memory = open_memory(HashingEmbedder(), Scripted(lambda _: Abstract(written)))
    talk(memory)
    squeeze(memory)
    embedder = HashingEmbedder()
    for summary in memory.show_session(SESSION).summaries:
        middle = embedder.embed_passages([TOLD.format(int(id_[1:])) for id_ in summary.source_ids]).mean(axis=0)
        cosine = embedder.embed_query(written) @ middle / np.linalg.norm(middle)
        alignment = float(embedder.calibration.similarity(np.array([cosine], np.float32))[0])
        if abs(alignment - 0.65) > 0.02:  # vectors are stored with fewer digits
            assert (summary.method == "abstractive") == (alignment > 0.65)


@pytest.mark.requirement("COMP-3")
def test_a_model_sees_payloads_as_markers_and_the_store_keeps_them(open_memory: OpenMemory) -> None:
    model = Scripted(lambda _: Abstract("gardening"))
    memory = open_memory(HashingEmbedder(), model)
    payload = base64.b64encode(bytes(range(256)) * 40).decode()
    memory.ingest(SESSION, "user", TOLD.format(1))
    memory.ingest(SESSION, "assistant", f"Here it is:\n{payload}")
    memory.ingest_batch(SESSION, [Message(role="assistant", text=TOLD.format(n)) for n in range(12)])
    assert memory.flush().ok
    assert squeeze(memory).did_compact
    assert payload[:200] not in model.asked[0]
    assert "src/export/job1.py" in model.asked[0]
    (summary, *_) = memory.show_session(SESSION).view
    assert payload[:200] not in summary.text
    assert memory.expand(SESSION, summary.id).turns[1].text.endswith(payload)


@pytest.mark.requirement("COMP-6")
def test_a_model_is_not_asked_about_small_talk(open_memory: OpenMemory) -> None:
    model = Scripted(lambda _: Abstract("short"))
    memory = open_memory(HashingEmbedder(), model)
    memory.ingest_batch(SESSION, [Message(role="user", text=f"how are you today then {n}?") for n in range(30)])
    memory.flush()
    assert squeeze(memory).did_compact
    assert model.asked == []


# --- an embedder -----------------------------------------------------------------------------------


@pytest.mark.requirement("COMP-6", "COMP-10", "GUIDE-4")
def test_an_embedder_that_fails_is_asked_once_and_leaves_confidence_to_words(open_memory: OpenMemory) -> None:
    asked: list[Sequence[str]] = []
    embedder = Trouble(lambda texts: asked.append(texts) or fail(EmbedderFailed("down")))
    memory = open_memory(embedder)
    talk(memory)
    embedder.begun = True
    done = squeeze(memory)
    embedder.begun = False
    assert done.did_compact
    assert any("by words alone" in reason for reason in done.degraded)
    assert len(asked) == 1
    assert 0.0 < done.mean_confidence <= 1.0
    assert_whole(memory)


@pytest.mark.requirement("COMP-10")
@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda _: fail(RuntimeError("bug")), id="raises anything"),
        pytest.param(lambda texts: HashingEmbedder().embed_passages(texts)[:0], id="gives no vector"),
        pytest.param(lambda texts: HashingEmbedder().embed_passages(texts)[:, :3], id="gives short vectors"),
        pytest.param(lambda texts: HashingEmbedder().embed_passages(texts) * float("nan"), id="gives no numbers"),
    ],
)
def test_an_embedder_that_breaks_its_promises_loses_nothing(open_memory: OpenMemory, act: Any) -> None:
    embedder = Trouble(act)
    memory = open_memory(embedder)
    talk(memory)
    embedder.begun = True
    squeeze(memory)
    embedder.begun = False
    assert_whole(memory)


# --- compactions that meet ---------------------------------------------------------------------------


@pytest.mark.requirement("COMP-2", "COMP-8")
@pytest.mark.parametrize("stores", [1, 2])
def test_compactions_at_the_same_time_never_cover_a_turn_twice(open_memory: OpenMemory, stores: int) -> None:
    memories = [open_memory() for _ in range(stores)]
    talk(memories[0], 60)
    together = threading.Barrier(4)

    def run(number: int) -> CompactReceipt:
        together.wait()
        request = Compact(session_id=SESSION, force=True, cluster_turns=3 + number)
        return memories[number % stores].call(request)

    with ThreadPoolExecutor(4) as pool:
        receipts = list(pool.map(run, range(4)))
    assert sum(receipt.did_compact for receipt in receipts) == 1
    covered = Counter(id_ for node in memories[0].show_session(SESSION).summaries for id_ in node.source_ids)
    assert set(covered.values()) == {1}
    for memory in memories:
        assert_whole(memory, 60)


@pytest.mark.requirement("COMP-2", "INGEST-1")
def test_turns_that_arrive_during_compactions_are_all_there(open_memory: OpenMemory) -> None:
    memory = open_memory()

    def ingest(number: int) -> None:
        memory.ingest(SESSION, "assistant", TOLD.format(number), id=f"t{number}")
        if number % 15 == 0:
            squeeze(memory)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ingest, range(120)))
    assert_whole(memory, 120)


@pytest.mark.requirement("COMP-8", "SAFE-1")
def test_a_store_at_work_verifies_and_needs_no_repair(open_memory: OpenMemory) -> None:
    memory = open_memory(tokenizer="estimate")
    stop = threading.Event()

    def work() -> int:
        for number in range(400):
            memory.ingest(SESSION, "assistant", TOLD.format(number), id=f"t{number}")
            if number % 5 == 0:
                squeeze(memory)
            if stop.is_set():
                break
        return number + 1

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        reports = [memory.verify(repair=number % 2 == 1) for number in range(effort(8, 30))]
        stop.set()
    assert [check for report in reports for check in report.checks if not check.ok] == []
    assert_whole(memory, working.result())


# --- size, and stores that were merged -----------------------------------------------------------------


@pytest.mark.requirement("COMP-7")
def test_the_view_of_five_thousand_short_turns_stays_small(open_memory: OpenMemory) -> None:
    memory = open_memory(tokenizer="estimate")
    for start in range(0, 5000, 1000):
        given = [Message(role="user", text=f"note {n} on fox {n % 7}", id=f"t{n}") for n in range(start, start + 1000)]
        memory.ingest_batch(SESSION, given)
        memory.compact(SESSION)
    shown = memory.show_session(SESSION)
    summaries = [node for node in shown.view if node.kind == "summary"]
    assert len(shown.view) - len(summaries) <= 120 + 20
    assert all(count < 8 for count in Counter(node.level for node in summaries).values())
    assert shown.turn_count == 5000
    assert sum(node.turn_count for node in shown.view) == 5000
    found = {turn.id for node in shown.view for turn in memory.expand(SESSION, node.id, max_depth=64).turns}
    assert found == {f"t{n}" for n in range(5000)}
    assert memory.verify().ok


@pytest.mark.requirement("STORE-7", "COMP-8")
def test_a_session_merged_with_its_own_compacted_copy_goes_on(open_memory: OpenMemory, tmp_path: Any) -> None:
    here, there = open_memory(), open_memory(data_dir=tmp_path / "there")
    for memory in (here, there):
        talk(memory)
    assert squeeze(there).did_compact
    here.call(Import(lines=there.call(Export(limit=5000)).lines))
    done = squeeze(here)
    assert done.did_compact
    assert done.degraded == ()
    assert here.verify().ok
    _condense_all(here)
    assert here.verify().ok


@pytest.mark.requirement("STORE-7", "SAFE-2")
def test_an_imported_turn_that_names_no_role_is_refused(open_memory: OpenMemory, tmp_path: Any) -> None:
    here, there = open_memory(), open_memory(data_dir=tmp_path / "there")
    talk(there)
    lines = there.call(Export(limit=5000)).lines
    with pytest.raises(InvalidInput, match="line 2"):
        here.call(Import(lines=tuple(line.replace('"role":"assistant"', '"role":null') for line in lines)))
    assert here.status().record_count == 0


def _condense_all(memory: Memory) -> None:
    """More turns, until those that are covered twice stand under one higher summary."""
    memory.ingest_batch(SESSION, [Message(role="assistant", text=TOLD.format(n), id=f"u{n}") for n in range(120)])
    squeeze(memory)
    assert any(node.level == 2 for node in memory.show_session(SESSION).view)
