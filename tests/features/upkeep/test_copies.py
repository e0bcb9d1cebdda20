"""Sessions that a host copied: Clew finds them, shows them first, and purges them without losing any words."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.api import FindTurn, ListCopies, Message
from clew.engine import Memory
from tests.conftest import OpenMemory
from tests.testing.command_line import Clew

pytestmark = pytest.mark.requirement("HOST-1", "STORE-6")

HISTORY = "openclaw:history"


def talk(count: int, start: int = 0, source: str | None = None) -> list[Message]:
    """Exchanges as a host delivers them or, with a source, as Clew reads them in its history."""
    return [
        message
        for number in range(start, start + count)
        for message in (
            Message(role="user", text=f"Question {number}?", id=f"q{number}", ts=1000 + 2 * number, source=source),
            Message(role="assistant", text=f"Answer {number}.", id=f"a{number}", ts=1001 + 2 * number),
        )
    ]


def working_copy(memory: Memory, name: str, count: int, work_ts: int = 90_000) -> None:
    """What an older plugin stored of a session in which the host worked alone."""
    session = f"internal-session-effects-{name}"
    order = Message(role="user", text="Write down what lasts.", id=f"order-{name}", ts=work_ts)
    reply = Message(role="assistant", text="Nothing lasts.", id=f"reply-{name}", ts=work_ts + 1)
    memory.ingest_batch(session, [*talk(count, source=HISTORY), order, reply], user_id="ada")


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory()
    memory.ingest_batch("first", talk(6), user_id="ada")
    memory.ingest_batch("second", talk(3, start=50), user_id="ada")
    return memory


def copies(memory: Memory) -> list[tuple[str, int]]:
    return sorted((copy.session_id, copy.turns) for copy in memory.call(ListCopies()).copies)


def test_a_store_without_copies_has_none(memory: Memory) -> None:
    assert copies(memory) == []


def test_working_copies_and_renamed_sessions_are_found(memory: Memory) -> None:
    working_copy(memory, "one", 4)
    working_copy(memory, "two", 6)
    memory.ingest_batch("renamed", talk(6), user_id="ada")
    memory.ingest_batch("branch", [*talk(6), *talk(1, start=80)], user_id="ada")
    internal = [("internal-session-effects-one", 10), ("internal-session-effects-two", 14)]
    assert copies(memory) == [("first", 12), *internal, ("renamed", 12)], "the branch holds all they hold, and more"


def test_the_only_session_with_some_words_is_no_copy(memory: Memory) -> None:
    session = "internal-session-effects-rescued"
    memory.ingest_batch(session, talk(8, source=HISTORY), user_id="ada")
    assert copies(memory) == []


def test_the_same_words_under_other_ids_are_no_copy(memory: Memory) -> None:
    same = [Message(role="user", text=f"Question {number}?", id=f"x{number}") for number in range(6)]
    memory.ingest_batch("again", same, user_id="ada")
    assert copies(memory) == []


def test_a_turn_is_found_in_every_session_of_its_user_but_of_no_other(memory: Memory) -> None:
    memory.ingest_batch("branch", talk(2), user_id="ada")
    memory.ingest_batch("other", talk(2), user_id="bo")
    assert memory.call(FindTurn(user_id="ada", id="q1")).sessions == ("branch", "first")
    assert memory.call(FindTurn(user_id="ada", id="none")).sessions == ()
    assert memory.call(FindTurn(user_id="eve", id="q1")).sessions == ()


def test_purging_copies_shows_them_first_and_leaves_every_original(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    working_copy(memory, "one", 4)
    memory.ingest_batch("renamed", talk(6), user_id="ada")
    memory.close()
    cli = Clew(tmp_path / "data", capsys)
    dry = cli.json("purge", "--copies", "--dry-run")
    assert [copy["sessionId"] for copy in dry["copies"]] == ["renamed", "internal-session-effects-one"]
    assert dry["removed"]["turns"] == 22
    assert cli.json("purge", "--copies", "--yes")["removed"] == dry["removed"]
    assert cli.json("purge", "--copies", "--yes")["copies"] == []
    names = {view["name"] for view in cli.json("collections")["collections"]}
    assert {name for name in names if name.startswith("session_raw:")} == {"session_raw:first", "session_raw:second"}
    assert cli.json("verify")["ok"]
    assert "no session is a copy of another" in cli("purge", "--copies", "--yes")


def test_purging_copies_takes_no_target_and_needs_confirmation(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    working_copy(memory, "one", 4)
    memory.close()
    cli = Clew(tmp_path / "data", capsys)
    assert "takes no target" in cli("purge", "--copies", "--user", "ada", status=2)
    assert "needs --yes" in cli("purge", "--copies", status=2)
    assert "internal-session-effects-one" in cli("purge", "--copies", "--dry-run")
