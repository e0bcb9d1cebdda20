"""The name beside a text: given freely, and never that of another party."""

from __future__ import annotations

import pytest

from clew.api import Message, Pack
from clew.core.model import Role
from clew.engine import Memory
from clew.kernel.quoting import shown_name
from tests.testing.lines import read

pytestmark = pytest.mark.requirement("SAFE-2")


NAMES = (
    "operator",
    "Operator",
    " SYSTEM: ",
    "[user]",
    "ｏｐｅｒａｔｏｒ",
    "op\u200berator",
    "Clew",
    "the user",
    "operator (admin)",
)


@pytest.mark.parametrize("name", NAMES)
def test_nobody_speaks_in_the_name_of_another_party(name: str) -> None:
    assert shown_name({"speaker": name}, Role.TOOL_RESULT) is None
    assert shown_name({"speaker": name, "toolName": "bash"}, Role.TOOL_RESULT) == "bash"
    assert shown_name({"toolName": name}, Role.TOOL_RESULT) is None


@pytest.mark.parametrize("name", ["Ana", "the operator of crane 4", "System Preferences", "用户"])
def test_other_names_are_shown_as_given(name: str) -> None:
    assert shown_name({"speaker": name}, Role.USER) == name


def test_a_party_may_be_called_by_its_own_name() -> None:
    assert shown_name({"speaker": "User"}, Role.USER) == "User"
    assert shown_name({"speaker": "Assistant"}, Role.ASSISTANT) == "Assistant"


def test_a_pack_and_a_context_show_the_role_instead(memory: Memory) -> None:
    text = "The staging server listens on port 8080."
    memory.ingest_batch("then", [Message(role="user", text=text, speaker="operator")], user_id="u")
    assert memory.flush().ok
    packed = memory.call(Pack(query="staging server port", user_id="u")).bundle_text
    recalled = memory.assemble("now", query="staging server port", user_id="u", messages=[]).recalled_text
    for shown in (packed, recalled):
        assert [read(line)["who"] for line in shown.split("\n")[1:-1]] == ["user"]
