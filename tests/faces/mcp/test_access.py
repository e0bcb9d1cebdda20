"""The reach of `clew mcp`: one user, their sessions and shared records, and nothing of other users."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

import pytest

pytest.importorskip("mcp.server.mcpserver")

from mcp import Client
from mcp.shared.exceptions import MCPError

from clew.api import Age, Event, MemoryApi
from clew.engine import Memory
from clew.errors import DaemonUnreachable, InvalidInput, NotFound
from clew.faces.mcp.reach import Reach
from clew.faces.mcp.reconnect import ReopeningMemory
from clew.faces.mcp.server import make_server
from tests.testing.mcp_serving import called, packed, refusal, resource

pytestmark = pytest.mark.requirement("MCP-1", "STORE-1")

SECRET = "Bob's safe opens with heron-4711"

OF_BOB = [
    "user:bob/m1",
    "turns:bob/bobs/b1",
    "session_raw:bobs/b1",
    "session:bobs/b1",
    "_owned:bob/bobs/b2",
    "ledger:user:bob/bobs/e1",
    "ledger:session:bobs/e1",
    "elevated:user:bob/bobs/b3",
    "archive:user:bob/m2",
    "facts:user:bob/f1",
    "private/p1",
]


@pytest.fixture
def two_users(memory: Memory) -> Memory:
    """A store with records of Ann and of Bob."""
    memory.ingest("anns", "user", "My tea is green.", user_id="ann", id="a1")
    memory.ingest("anns", "assistant", "Green tea it is.", user_id="ann", id="a2")
    memory.ingest("bobs", "user", f"{SECRET}.", user_id="bob", id="b1")
    memory.ingest("bobs", "assistant", f"{SECRET}, noted.", user_id="bob", id="b2")
    memory.ingest("bobs", "user", f"You must never say that {SECRET}.", user_id="bob", id="b3")
    memory.put("user:ann", "m1", "Ann drinks green tea.")
    memory.put("user:bob", "m1", SECRET)
    memory.put("private", "p1", SECRET)
    memory.put("global", "g1", "Dates are written year first.")
    memory.capture(Event(text=f"typed: {SECRET}", tool="bash", session_id="bobs", user_id="bob", id="e1"))
    assert memory.flush().ok
    memory.compact("bobs", force=True)
    memory.facts_assert("safe", "configured_as", SECRET, user_id="bob", statement=f"Yes, {SECRET}.")
    return memory


def with_client(memory: MemoryApi, work, *, user: str = "ann", session: str | None = None) -> None:  # type: ignore[no-untyped-def]
    async def run() -> None:
        async with Client(make_server(memory, user, session)) as client:
            await work(client)

    asyncio.run(run())


def places_of_bob(memory: Memory) -> list[str]:
    """The references of all of Bob's records."""
    names = [view.name for view in memory.collections().collections if "bob" in view.name or view.name == "private"]
    return [f"{name}/{record.id}" for name in names for record in memory.list(name).records]


def test_no_tool_and_no_resource_reaches_another_user(two_users: Memory) -> None:
    refs = sorted({*OF_BOB, *places_of_bob(two_users)})
    assert len(refs) > len(OF_BOB), "what compaction and capture made is among them"

    async def work(client: Client) -> None:
        for ref in refs:
            for tool in ("get", "timeline", "forget"):
                assert await refusal(client, tool, ref=ref) == f"there is no record {ref!r}"
            assert await refusal(client, "forget", ref=ref, confirm=True) == f"there is no record {ref!r}"
            with pytest.raises(MCPError, match="there is no record"):
                await resource(client, f"clew://record/{quote(ref, safe='')}")
        for tool, arguments in (
            ("search", {"query": SECRET}),
            ("pack", {"query": SECRET}),
            ("expand", {"ids": ["b1"]}),
        ):
            assert "this user has no session" in await refusal(client, tool, session_id="bobs", **arguments)
        for tool in ("search", "pack"):
            result = await client.call_tool(tool, {"query": SECRET})
            assert "heron-4711" not in result.model_dump_json()
        assert not (await called(client, "facts", subject="safe"))["known"]

    with_client(two_users, work)
    assert two_users.get("user:bob", "m1").records[0].text == SECRET


def test_a_refusal_does_not_reveal_what_exists(two_users: Memory) -> None:
    async def work(client: Client) -> None:
        there = await refusal(client, "get", ref="user:bob/m1")
        assert there.replace("m1", "m9") == await refusal(client, "get", ref="user:bob/m9")
        session = await refusal(client, "expand", ids=["b1"], session_id="bobs")
        assert session.replace("bobs", "none") == await refusal(client, "expand", ids=["b1"], session_id="none")

    with_client(two_users, work)


def test_own_and_shared_records_can_be_read(two_users: Memory) -> None:
    async def work(client: Client) -> None:
        for ref in ("user:ann/m1", "turns:ann/anns/a1", "session_raw:anns/a2", "session:anns/a1", "global/g1"):
            assert (await called(client, "get", ref=ref))["ref"] == ref
        assert (await called(client, "expand", ids=["a1", "a2"], session_id="anns"))["turns"]
        assert '"ref":' in await packed(client, query="green tea", session_id="anns")

    with_client(two_users, work)


def test_only_records_of_this_user_alone_can_be_forgotten(two_users: Memory) -> None:
    two_users.ingest("anns", "user", "I am Cleo, just passing by.", user_id="cleo", id="c1")

    async def work(client: Client) -> None:
        for ref in ("global/g1", "session_raw:anns/c1"):
            assert await called(client, "get", ref=ref)
            assert "not this user's alone" in await refusal(client, "forget", ref=ref, confirm=True)
        for ref in ("session_raw:anns/a2", "turns:ann/anns/a1", "user:ann/m1"):
            assert (await called(client, "forget", ref=ref, confirm=True))["removed"]

    with_client(two_users, work)
    assert [record.id for record in two_users.list("session_raw:anns").records] == ["c1"]
    assert two_users.get("global", "g1").records


def test_a_session_named_by_the_operator_is_open_from_its_start(two_users: Memory) -> None:
    async def work(client: Client) -> None:
        assert '"ref":' not in await packed(client, query="anything")
        two_users.ingest("fresh", "user", "The launch code word is albatross.", id="f1")
        found = await called(client, "search", query="launch code word")
        assert [line["ref"] for line in found["lines"]] == ["session:fresh/f1"]

    with_client(two_users, work, session="fresh")


def test_a_reference_to_records_of_two_users_is_out_of_reach(memory: Memory) -> None:
    memory.put("user:ann", "x/m1", "Ann's own.")
    memory.put("user:ann/x", "m1", "Of a user whose name holds a slash.")
    ref = "user:ann/x/m1"
    for user in ("ann", "ann/x"):
        with pytest.raises(NotFound):
            Reach(memory, user).record(ref, 100)
        with pytest.raises(NotFound):
            Reach(memory, user).check_own(ref)
    memory.purge(user_id="ann")
    assert Reach(memory, "ann/x").record(ref, 100).text == "Of a user whose name holds a slash."


def test_an_archived_record_still_belongs_to_its_owner(open_memory, clock) -> None:  # type: ignore[no-untyped-def]
    memory = open_memory()
    for user in ("ann", "bob"):
        memory.put(f"user:{user}", "old", "ok thanks")
    clock.ms += 400 * 86_400_000
    memory.call(Age(dry_run=False))
    assert memory.get("archive:user:bob", "old").records
    for ref in ("archive:user:ann/old", "user:ann/old"):
        assert Reach(memory, "ann").record(ref, 100).text == "ok thanks"
    for ref in ("archive:user:bob/old", "user:bob/old"):
        with pytest.raises(NotFound):
            Reach(memory, "ann").record(ref, 100)


def test_a_captured_event_alone_shows_that_a_user_took_part(memory: Memory) -> None:
    memory.capture(Event(text="ls: 3 files", tool="bash", session_id="quiet", user_id="ann", id="e1"))
    assert memory.flush().ok
    assert Reach(memory, "ann").session("quiet") == "quiet"
    Reach(memory, "ann").check_own("ledger:session:quiet/e1")
    with pytest.raises(NotFound):
        Reach(memory, "bob").session("quiet")


def test_a_reference_with_too_many_slashes_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="at most 16 slashes"):
        Reach(memory, "ann").record("a/" * 17 + "b", 100)


class Lost(MemoryApi):
    """A client whose daemon is gone."""

    closed = False

    def call(self, request):  # type: ignore[no-untyped-def]
        raise DaemonUnreachable("no daemon answers")

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def lost() -> Lost:
    return Lost()


def test_a_lost_connection_is_opened_again(memory: Memory, lost: Lost) -> None:
    opened: list[MemoryApi] = [lost, memory]
    reopening = ReopeningMemory(lambda: opened.pop(0))
    assert reopening.status().ok
    assert (lost.closed, opened) == (True, [])
    assert reopening.status().ok


def test_if_no_daemon_returns_the_answer_is_the_error() -> None:
    async def work(client: Client) -> None:
        assert await refusal(client, "search", query="x") == "no daemon answers"
        with pytest.raises(MCPError, match="no daemon answers"):
            await resource(client, "clew://status")

    with_client(ReopeningMemory(Lost), work)
