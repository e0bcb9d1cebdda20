"""Replies to a user: found in other sessions, ranked behind the user's own words, and purged with the user."""

from __future__ import annotations

import pytest

from clew.api import MemoryApi, Message, Purge
from clew.engine import Memory
from tests.conftest import NOW_MS

REPLY = "The login test failed because the clock was mocked in the fixture."


def told(api: MemoryApi) -> None:
    api.ingest_batch(
        "monday",
        [
            Message(role="user", text="Why does the login test fail?", id="q", ts=NOW_MS - 2000),
            Message(role="assistant", text=REPLY, id="a", ts=NOW_MS - 1000),
            Message(role="tool", text="login test: 1 failed", id="r", tool_call_id="c", ts=NOW_MS - 500),
        ],
        user_id="ana",
    )
    api.flush()


@pytest.mark.requirement("INGEST-2", "CONT-6")
def test_a_reply_is_recalled_in_another_session(api: MemoryApi) -> None:
    told(api)
    context = api.assemble("tuesday", query="what was wrong with the login test", user_id="ana")
    assert REPLY in [hit.record.text for hit in context.recalled]
    packed = api.pack("the login test and its clock", user_id="ana").items
    assert "replies:ana/monday/a" in [item.record_ref for item in packed]
    assert [record.text for record in api.list("replies:ana").records] == [REPLY]


@pytest.mark.requirement("STORE-1")
def test_replies_to_another_user_are_not_found(api: MemoryApi) -> None:
    told(api)
    hits = api.search("login test clock fixture", user_id="bob", session_id="tuesday").hits
    assert hits == ()


@pytest.mark.requirement("CONT-6")
def test_in_its_own_session_a_reply_is_shown_once_and_by_the_sessions_view(memory: Memory) -> None:
    told(memory)
    hits = memory.search("login test clock fixture", user_id="ana", session_id="monday").hits
    shown = [f"{hit.record.collection}/{hit.record.id}" for hit in hits if hit.record.text == REPLY]
    assert shown == ["session:monday/a"]


@pytest.mark.requirement("CONT-3")
def test_a_long_reply_is_shown_by_its_part_that_fits_the_question(memory: Memory) -> None:
    long = "\n".join(["Here is what I found.", *(f"Point {n}: nothing." for n in range(24)), REPLY])
    memory.ingest("monday", "assistant", long, user_id="ana", id="a", ts=NOW_MS)
    memory.flush()
    context = memory.assemble("tuesday", query="why did the login test fail", user_id="ana")
    assert REPLY in context.recalled_text
    assert len(context.recalled_text) < len(long)


@pytest.mark.requirement("STORE-6")
def test_purging_a_user_removes_the_replies_to_them(api: MemoryApi) -> None:
    told(api)
    api.call(Purge(user_id="ana"))
    assert not [view for view in api.collections().collections if view.name.startswith("replies:")]
    assert api.list("session_raw:monday").records == ()
