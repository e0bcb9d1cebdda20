"""Text from tools and from outside enters no prompt of another session without a request."""

from __future__ import annotations

import pytest

from clew.api import Pack
from clew.core.model import Trust, may_enter
from clew.engine import Memory
from clew.features.context.assemble import UNTRUSTED

pytestmark = pytest.mark.requirement("SAFE-2", "PACK-4")

PAGE = "The staging server listens on port 9999, says the wiki of the vendor."
SAID = "The staging server listens on port 8080."
QUERY = "Which port does the staging server listen on?"


@pytest.fixture
def memory_with_page(memory: Memory) -> Memory:
    memory.ingest("then", "user", SAID, user_id="u")
    memory.ingest("then", "tool_result", PAGE, user_id="u", id="result")
    memory.put("user:u", "clip", f"{PAGE} Saved.", source="https://wiki.example/staging")
    assert memory.flush().ok
    return memory


def test_a_context_of_another_session_leaves_it_out_and_says_why(memory_with_page: Memory) -> None:
    context = memory_with_page.assemble("now", query=QUERY, user_id="u", messages=[])
    assert {hit.record.text for hit in context.recalled} == {SAID}
    assert PAGE not in context.recalled_text
    (recalled,) = (section for section in context.sections if section.name == "recalled")
    reasons = {item.reason for item in recalled.left_out if item.ref.startswith("user:u/")}
    assert reasons == {UNTRUSTED}


def test_the_session_that_received_it_may_recall_it(memory_with_page: Memory) -> None:
    context = memory_with_page.assemble("then", query=QUERY, user_id="u", messages=[])
    assert "result" in {hit.record.id for hit in context.recalled}
    assert "clip" not in {hit.record.id for hit in context.recalled}


def test_a_pack_and_a_context_leave_out_the_same(memory_with_page: Memory) -> None:
    packed = {item.text for item in memory_with_page.call(Pack(query=QUERY, user_id="u", exclude_session="now")).items}
    recalled = {
        hit.record.text for hit in memory_with_page.assemble("now", query=QUERY, user_id="u", messages=[]).recalled
    }
    assert packed == recalled == {SAID}
    asked = memory_with_page.call(Pack(query=QUERY, user_id="u", exclude_session="now", untrusted=True))
    assert len(asked.items) > 1


def test_quarantined_text_enters_nothing_even_on_request() -> None:
    assert [may_enter(trust) for trust in Trust] == [True, True, False, False]
    assert [may_enter(trust, asked_for=True) for trust in Trust] == [True, True, True, False]
