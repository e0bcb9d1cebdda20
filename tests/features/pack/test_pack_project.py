"""A pack for a project: its records come first; those of another project must be clearly relevant."""

from __future__ import annotations

from typing import Any

import pytest

from clew.api import Assemble, Message, Pack, Why
from clew.engine import Memory
from clew.errors import InvalidInput
from clew.features.pack.choice import Reason
from clew.features.pack.why import _STAGES
from tests.conftest import NOW_MS, OpenMemory

pytestmark = pytest.mark.requirement("USE-5")

ATLAS, ORBIT = "github.com/ada/atlas", "orbit@12345678"
PORT = "The staging server listens on port {} behind the proxy."
QUERY = "Which port does the staging server listen on?"


def say(memory: Memory, text: str, project: str | None, session: str, before_ms: int = 0) -> None:
    metadata = {} if project is None else {"project": project}
    turn = Message(role="user", text=text, id="m", ts=NOW_MS - before_ms, metadata=metadata)
    memory.ingest_batch(session, [turn], user_id="u")
    assert memory.flush().ok


def pack_texts(memory: Memory, query: str = QUERY, **given: Any) -> list[str]:
    return [item.text for item in memory.call(Pack(query=query, user_id="u", **given)).items]


@pytest.fixture
def ports(memory: Memory) -> Memory:
    """The same statement in two projects and in none, that of the other project last."""
    say(memory, PORT.format(9001), ATLAS, "a", 3000)
    say(memory, PORT.format(9003), None, "n", 2000)
    say(memory, PORT.format(9002), ORBIT, "o", 1000)
    return memory


@pytest.mark.parametrize("project", [ATLAS, "atlas", "Atlas"])
def test_records_of_the_project_come_before_those_of_another(ports: Memory, project: str) -> None:
    found = pack_texts(ports, project=project)
    assert set(found) == {PORT.format(9001), PORT.format(9002), PORT.format(9003)}
    assert pack_texts(ports, project=project, limit=1) == [PORT.format(9001)]
    assert set(pack_texts(ports, project=project, limit=2)) == {PORT.format(9001), PORT.format(9003)}
    assert pack_texts(ports, project="orbit", limit=1) == [PORT.format(9002)]


def test_without_a_project_the_newest_record_wins(ports: Memory) -> None:
    assert pack_texts(ports, limit=1) == [PORT.format(9002)]


def test_project_only_leaves_out_all_other_records(ports: Memory) -> None:
    assert pack_texts(ports, project=ATLAS, project_only=True) == [PORT.format(9001)]
    why = ports.call(Why(ref="turns:u/o/m", query=QUERY, user_id="u", project=ATLAS, project_only=True))
    assert (why.included, why.stage, why.reason) == (False, "scope", Reason.PROJECT)
    assert ATLAS in why.sentence
    assert pack_texts(ports, project="nothing", project_only=True) == []


def test_a_weak_match_is_left_out_only_if_it_belongs_to_another_project(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(None)
    say(memory, PORT.format(9001), ATLAS, "a")
    faint = "Staging is down."
    say(memory, faint, ORBIT, "o")
    assert faint in pack_texts(memory)
    assert faint in pack_texts(memory, project="orbit")
    assert pack_texts(memory, project="atlas") == [PORT.format(9001)]


def test_a_vague_question_gets_the_state_of_the_project(memory: Memory) -> None:
    for number, (project, text) in enumerate(
        [(ATLAS, "Please move the atlas database to Postgres."), (ORBIT, "Please repaint the orbit dashboard.")]
    ):
        say(memory, text, project, f"s{number}", 1000 * (10 - number))
    question = "Where did we leave off?"
    assert pack_texts(memory, question, project="atlas") == ["Please move the atlas database to Postgres."]
    assert pack_texts(memory, question, project="orbit") == ["Please repaint the orbit dashboard."]
    assert len(pack_texts(memory, question)) == 2


def test_a_context_recalls_records_of_the_project_first(ports: Memory) -> None:
    def recalled(project: str | None) -> list[str]:
        request = Assemble(session_id="new", query=QUERY, user_id="u", messages=(), project=project)
        return [hit.record.text for hit in ports.call(request).recalled]

    assert recalled(ATLAS)[0] == PORT.format(9001)
    assert recalled("orbit")[0] == PORT.format(9002)


def test_a_memory_belongs_to_the_project_of_its_turn(memory: Memory) -> None:
    say(memory, "We decided to use Postgres 16 for the billing service.", ATLAS, "a")
    (kept,) = memory.list("user:u").records
    assert kept.metadata["project"] == ATLAS


@pytest.mark.parametrize(
    ("given", "message"),
    [({"project": ""}, "project"), ({"project": "x" * 256}, "project"), ({"project_only": True}, "projectOnly")],
)
def test_an_invalid_project_is_refused(memory: Memory, given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        memory.call(Pack(query="x", user_id="u", **given))


def test_every_reason_has_a_stage() -> None:
    assert set(_STAGES) == set(Reason)


@pytest.mark.parametrize(("text", "reason"), [("Which port does staging use?", "question")])
def test_why_explains_an_earlier_question(memory: Memory, text: str, reason: str) -> None:
    say(memory, text, None, "a")
    say(memory, PORT.format(9001), None, "b")
    why = memory.call(Why(ref="turns:u/a/m", query=QUERY, user_id="u"))
    assert (why.reason, why.stage) == (reason, "policy")
    assert why.sentence
