"""Tool calls given with a turn as data: stored after its words, found by their arguments, coupled by their ids."""

from __future__ import annotations

import pytest

from clew.api import MemoryApi, Message, ToolCall

SESSION = "calls"

pytestmark = pytest.mark.requirement("INGEST-1", "USE-1")


def test_calls_are_written_behind_the_words_and_give_the_ids(api: MemoryApi) -> None:
    call = ToolCall(name="edit", arguments={"path": "src/footer.ts", "newText": "dim"}, id="c1")
    turn = Message(role="assistant", text="I change the footer.", id="m1", calls=(call,))
    api.ingest_batch(SESSION, [turn, Message(role="tool", text="done", id="m2", tool_call_id="c1")])
    kept = api.list(f"session_raw:{SESSION}").records[0]
    assert kept.text == "I change the footer.\n\n[calls edit]\npath: src/footer.ts\nnewText: dim"
    assert kept.metadata["toolCallIds"] == ["c1"]


def test_a_turn_of_calls_alone_is_kept(api: MemoryApi) -> None:
    api.ingest(SESSION, "assistant", "", calls=[ToolCall(name="bash", arguments={"command": "npm test"})])
    assert api.list(f"session_raw:{SESSION}").records[0].text == "[calls bash]\ncommand: npm test"


def test_the_same_turn_as_data_and_as_text_is_one(api: MemoryApi) -> None:
    call = ToolCall(name="bash", arguments={"command": "ls"}, id="c1")
    api.ingest_batch(SESSION, [Message(role="assistant", text="I look.", id="m1", calls=(call,))])
    written = Message(role="assistant", text="I look.\n\n[calls bash]\ncommand: ls", id="m1", tool_call_ids=("c1",))
    assert api.ingest_batch(SESSION, [written]).receipts[0].duplicate
