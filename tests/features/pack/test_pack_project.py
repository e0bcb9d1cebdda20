"""A pack for a project: what is of it comes first, what is of another one must be clearly relevant, or stays out."""

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


def said(memory: Memory, text: str, project: str | None, session: str, before_ms: int = 0) -> None:
    metadata = {} if project is None else {"project": project}
    turn = Message(role="user", text=text, id="m", ts=NOW_MS - before_ms, metadata=metadata)
    memory.ingest_batch(session, [turn], user_id="u")
    assert memory.flush().ok


def packed(memory: Memory, query: str = QUERY, **given: Any) -> list[str]:
    return [item.text for item in memory.call(Pack(query=query, user_id="u", **given)).items]


@pytest.fixture
def ports(memory: Memory) -> Memory:
    """The same said of two projects and of none, that of the other project last."""
    said(memory, PORT.format(9001), ATLAS, "a", 3000)
    said(memory, PORT.format(9003), None, "n", 2000)
    said(memory, PORT.format(9002), ORBIT, "o", 1000)
    return memory


@pytest.mark.parametrize("project", [ATLAS, "atlas", "Atlas"])
def test_what_is_of_the_project_comes_before_what_is_of_another(ports: Memory, project: str) -> None:
    found = packed(ports, project=project)
    assert set(found) == {PORT.format(9001), PORT.format(9002), PORT.format(9003)}
    assert packed(ports, project=project, limit=1) == [PORT.format(9001)]
    assert set(packed(ports, project=project, limit=2)) == {PORT.format(9001), PORT.format(9003)}
    assert packed(ports, project="orbit", limit=1) == [PORT.format(9002)]


def test_without_a_project_the_newest_counts_as_before(ports: Memory) -> None:
    assert packed(ports, limit=1) == [PORT.format(9002)]


def test_what_is_not_of_the_project_stays_out_where_it_must_be(ports: Memory) -> None:
    assert packed(ports, project=ATLAS, project_only=True) == [PORT.format(9001)]
    why = ports.call(Why(ref="turns:u/o/m", query=QUERY, user_id="u", project=ATLAS, project_only=True))
    assert (why.included, why.stage, why.reason) == (False, "scope", Reason.PROJECT)
    assert ATLAS in why.sentence
    assert packed(ports, project="nothing", project_only=True) == []


def test_what_faintly_bears_on_the_question_is_left_out_only_where_it_is_of_another_project(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(None)
    said(memory, PORT.format(9001), ATLAS, "a")
    faint = "Staging is down."
    said(memory, faint, ORBIT, "o")
    assert faint in packed(memory)
    assert faint in packed(memory, project="orbit")
    assert packed(memory, project="atlas") == [PORT.format(9001)]


def test_the_state_of_things_is_that_of_the_project(memory: Memory) -> None:
    for number, (project, text) in enumerate(
        [(ATLAS, "Please move the atlas database to Postgres."), (ORBIT, "Please repaint the orbit dashboard.")]
    ):
        said(memory, text, project, f"s{number}", 1000 * (10 - number))
    question = "Where did we leave off?"
    assert packed(memory, question, project="atlas") == ["Please move the atlas database to Postgres."]
    assert packed(memory, question, project="orbit") == ["Please repaint the orbit dashboard."]
    assert len(packed(memory, question)) == 2


def test_a_context_recalls_what_is_of_the_project_first(ports: Memory) -> None:
    def recalled(project: str | None) -> list[str]:
        request = Assemble(session_id="new", query=QUERY, user_id="u", messages=(), project=project)
        return [hit.record.text for hit in ports.call(request).recalled]

    assert recalled(ATLAS)[0] == PORT.format(9001)
    assert recalled("orbit")[0] == PORT.format(9002)


def test_a_memory_is_of_the_project_of_its_turn(memory: Memory) -> None:
    said(memory, "We decided to use Postgres 16 for the billing service.", ATLAS, "a")
    (kept,) = memory.list("user:u").records
    assert kept.metadata["project"] == ATLAS


@pytest.mark.parametrize(
    ("given", "message"),
    [({"project": ""}, "project"), ({"project": "x" * 256}, "project"), ({"project_only": True}, "projectOnly")],
)
def test_what_names_no_project_is_refused(memory: Memory, given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        memory.call(Pack(query="x", user_id="u", **given))


def test_every_reason_has_a_stage() -> None:
    assert set(_STAGES) == set(Reason)


@pytest.mark.parametrize(("text", "reason"), [("Which port does staging use?", "question")])
def test_why_explains_an_earlier_question(memory: Memory, text: str, reason: str) -> None:
    said(memory, text, None, "a")
    said(memory, PORT.format(9001), None, "b")
    why = memory.call(Why(ref="turns:u/a/m", query=QUERY, user_id="u"))
    assert (why.reason, why.stage) == (reason, "policy")
    assert why.sentence
