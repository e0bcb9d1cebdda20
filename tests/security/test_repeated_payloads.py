"""Payloads of the injection corpora that a model repeats or keeps: none reaches another session unasked."""

from __future__ import annotations

import pytest

from clew.api import Message, Pack
from clew.engine import Memory
from clew.text.echoes import runs_of
from tests.conftest import OpenMemory
from tests.security.test_injection_corpus import payloads
from tests.testing.effort import effort

pytestmark = pytest.mark.requirement("SAFE-2", "PACK-4")


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(tokenizer="estimate")


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Evenly taken. A text of fewer than four words is too short to be told from chance."""
    whole = [text for text in payloads() if len(runs_of(text).all) and len(text) < 4000]
    return whole[:: max(len(whole) // effort(80, 800), 1)]


def recalled(memory: Memory, query: str) -> str:
    context = memory.assemble("now", query=query, user_id="u", messages=[])
    return "".join(
        [
            *(hit.record.text for hit in context.recalled),
            *(item.text for item in memory.call(Pack(query=query, user_id="u")).items),
            context.guidance_text,
        ]
    )


@pytest.mark.parametrize("form", ["{}", "It says: {}", "The page I read:\n\n> {}"])
def test_no_reply_carries_a_tools_words_into_another_session(memory: Memory, texts: list[str], form: str) -> None:
    for number, text in enumerate(texts):
        turns = [Message(role="user", text="What does it say?"), Message(role="tool_result", text=text)]
        memory.ingest_batch(f"s{number}", [*turns, Message(role="assistant", text=form.format(text))], user_id="u")
    assert memory.flush().ok
    assert memory.list("user:u").records == ()
    assert [text for text in texts if text in recalled(memory, text[:400])] == []


def test_no_statement_of_a_model_enters_another_session_unasked(memory: Memory, texts: list[str]) -> None:
    for number, text in enumerate(texts):
        memory.put("user:u", f"m{number}", text, by_model=True)
    assert memory.flush().ok
    assert [text for text in texts if text in recalled(memory, text[:400])] == []
