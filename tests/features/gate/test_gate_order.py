"""The gate behind ingest: turns are judged in their order, beside what came before, and some are never kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from clew.api import Message
from clew.core.collections import Collection
from clew.engine import Memory
from clew.features.gate import service
from clew.kernel.parts import Parts
from clew.models.embedding.hashing import HashingEmbedder
from clew.storage.protocol import Place, QueuedTask, Task
from tests.conftest import OpenMemory

RULE = "We decided to use Postgres 16 for the billing service."


def record_judgements(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    """Record what the gate judges from now on: each text, and how many similar ones came before."""
    seen: list[tuple[str, float]] = []
    real = service.refusal  # type: ignore[attr-defined]

    def noted(text: str, parts: Any, held: Any) -> str | None:
        seen.append((text, parts.input_frequency))
        return cast("str | None", real(text, parts, held))

    monkeypatch.setattr(service, "refusal", noted)
    return seen


@pytest.mark.requirement("GATE-3", "INGEST-3")
def test_a_turn_counts_only_equal_turns_before_it_though_all_are_indexed(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = record_judgements(monkeypatch)
    memory.ingest_batch("s", [Message(role="user", text="the queue is stuck again") for _ in range(3)], user_id="ana")
    assert memory.flush().ok
    assert [frequency for _, frequency in seen] == pytest.approx([0.0, 0.2, 0.4])


@pytest.mark.requirement("GATE-3")
def test_a_batch_and_single_turns_give_the_same_memories(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [RULE, "the build is slow today", RULE, "I prefer short answers.", "the build is slow today", "ok"] * 2
    seen = record_judgements(monkeypatch)
    memory.ingest_batch("b", [Message(role="user", text=text) for text in texts], user_id="batch")
    assert memory.flush().ok
    for number, text in enumerate(texts):
        memory.ingest(f"s{number}", "user", text, user_id="single")
        assert memory.flush().ok
    assert seen[: len(texts)] == seen[len(texts) :]
    batch, single = (
        [(record.text, record.metadata["gating_score"]) for record in memory.list(f"user:{user}").records]
        for user in ("batch", "single")
    )
    assert batch == single


@pytest.mark.requirement("GATE-3", "INGEST-3")
def test_a_late_vector_delays_only_later_turns_of_the_same_user() -> None:
    def task(seq: int, user: str, vector: bytes | None) -> QueuedTask:
        place = Place(Collection.turns(user), str(seq))
        return QueuedTask(seq, Task.GATE, seq, cast("Any", None), (place,), vector)

    queued = [task(1, "ana", b"1"), task(2, "ana", None), task(3, "bob", b"3"), task(4, "ana", b"4")]
    parts = cast("Parts", SimpleNamespace(meaning=SimpleNamespace(usable=True)))
    assert [one.seq for one in service._ready(parts, queued)] == [1, 3]
    without = cast("Parts", SimpleNamespace(meaning=SimpleNamespace(usable=False)))
    assert [one.seq for one in service._ready(without, queued)] == [1, 2, 3, 4]


@pytest.mark.requirement("GATE-4")
@pytest.mark.parametrize("text", ["/mode", "/the", "continue", "ok thanks!", "Which port does it use?"])
def test_commands_acknowledgements_and_questions_are_kept_at_no_threshold(open_memory: OpenMemory, text: str) -> None:
    memory = open_memory(HashingEmbedder(), gate_threshold=0.0)
    for number in range(6):
        memory.ingest(f"s{number}", "user", text, user_id="ana")
    assert memory.flush().ok
    assert len(memory.list("user:ana").records) == 0


@pytest.mark.requirement("GATE-4")
def test_a_text_that_is_only_new_waits_until_it_is_repeated(memory: Memory) -> None:
    memory.ingest("s", "user", "the thing over there", user_id="ana")
    memory.flush()
    assert len(memory.list("user:ana").records) == 0
    for number in range(6):
        memory.ingest(f"s{number}", "user", "the thing over there", user_id="ana")
    memory.flush()
    assert [record.text for record in memory.list("user:ana").records] == ["the thing over there"]


@pytest.mark.requirement("GATE-4")
def test_decisions_settings_and_addresses_are_kept_without_code_in_them(memory: Memory) -> None:
    told = [
        RULE,
        "The staging server is at staging.example.org now.",
        "Retries must stop after 5 attempts.",
        "My sister Ana moved to Lisbon last month.",
    ]
    memory.ingest_batch("s", [Message(role="user", text=text) for text in told], user_id="ana")
    assert memory.flush().ok
    assert {record.text for record in memory.list("user:ana").records} == set(told)


@pytest.mark.requirement("GATE-4")
def test_the_same_words_are_kept_once_and_a_changed_version_is_kept_too(memory: Memory) -> None:
    for number in range(5):
        memory.ingest(f"s{number}", "user", RULE, user_id="ana")
        memory.flush()
    memory.ingest("s9", "user", RULE.replace("16", "17"), user_id="ana")
    memory.flush()
    assert [record.text for record in memory.list("user:ana").records] == [RULE, RULE.replace("16", "17")]
    assert memory.gate(RULE, user_id="ana").refusal == "already kept"


@pytest.mark.requirement("GATE-6")
def test_an_explanation_names_the_refusal(memory: Memory) -> None:
    assert memory.gate("/mode").refusal == "a command"
    assert memory.gate("What is new?").refusal == "only asks"
    assert memory.gate("the thing over there").refusal == "only new"
    kept = memory.gate(RULE)
    assert (kept.refusal, kept.keep) == (None, True)
    assert not memory.gate("/mode").keep
