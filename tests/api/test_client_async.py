"""The client for asyncio: many calls at once on one connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from clew import AsyncClient, Config, api
from clew.errors import Conflict, DaemonUnreachable, TooLarge, Unauthorized
from tests.testing.daemons import Daemon, running, short_folder

pytestmark = pytest.mark.requirement("API-1")


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with short_folder() as folder, running(folder / "data") as started:
        yield started


def with_client(daemon: Daemon, work: Callable[[AsyncClient], Awaitable[None]]) -> None:
    async def run() -> None:
        async with await AsyncClient.connect(config=Config(data_dir=daemon.data_dir)) as client:
            await work(client)

    asyncio.run(run())


def put(number: int, text: str = "t") -> api.Put:
    return api.Put(collection="user:many", id=str(number), text=text)


def test_many_calls_run_at_once_on_one_connection(daemon: Daemon) -> None:
    async def work(client: AsyncClient) -> None:
        await asyncio.gather(*(client.call(put(number, f"text {number}")) for number in range(300)))
        gets = [api.Get(collection="user:many", ids=(str(number),)) for number in range(300)]
        answers = await asyncio.gather(*(client.call(get) for get in gets))
        assert [answer.records[0].text for answer in answers] == [f"text {n}" for n in range(300)]

    with_client(daemon, work)


def test_a_cancelled_call_does_not_disturb_the_others(daemon: Daemon) -> None:
    async def work(client: AsyncClient) -> None:
        calls = [asyncio.ensure_future(client.call(put(number))) for number in range(50)]
        await asyncio.sleep(0)
        for call in calls[::2]:
            call.cancel()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes[::2])
        assert all(isinstance(outcome, api.PutReceipt) for outcome in outcomes[1::2])
        assert (await client.call(api.GetStatus())).ok

    with_client(daemon, work)


def test_an_error_reaches_the_call_it_belongs_to(daemon: Daemon) -> None:
    async def work(client: AsyncClient) -> None:
        def say(text: str) -> api.Ingest:
            return api.Ingest(session_id="a", message=api.Message(role="user", text=text, id="t1"))

        await client.call(say("one"))
        conflict, oversize, fine = await asyncio.gather(
            client.call(say("two")),
            client.call(put(1, "x" * 2 * 1024 * 1024)),
            client.call(api.GetStatus()),
            return_exceptions=True,
        )
        assert isinstance(conflict, Conflict)
        assert isinstance(oversize, TooLarge)
        assert isinstance(fine, api.Status)

    with_client(daemon, work)


def test_an_answer_over_the_default_stream_limit_arrives_whole(daemon: Daemon) -> None:
    async def work(client: AsyncClient) -> None:
        for number in range(4):
            await client.call(api.Put(collection="user:long", id=str(number), text="x" * 900_000))
        records = (await client.call(api.ListRecords(collection="user:long"))).records
        assert [len(record.text) for record in records] == [900_000] * 4

    with_client(daemon, work)


def test_without_a_daemon_the_error_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(DaemonUnreachable, match="clew up"):
        asyncio.run(AsyncClient.connect("tcp:127.0.0.1:1", config=Config(data_dir=tmp_path)))


def test_calls_fail_clearly_when_the_daemon_goes_away() -> None:
    async def run(daemon: Daemon) -> None:
        async with await AsyncClient.connect(daemon.endpoint) as client:
            assert (await client.call(api.GetStatus())).ok
            await asyncio.to_thread(daemon.stop)
            for _ in range(2):
                with pytest.raises(DaemonUnreachable):
                    await client.call(api.GetStatus())

    with short_folder() as folder, running(folder) as daemon:
        asyncio.run(run(daemon))


def test_a_call_on_a_closed_client_says_that_it_is_closed(daemon: Daemon) -> None:
    async def run() -> None:
        client = await AsyncClient.connect(daemon.endpoint)
        await client.close()
        with pytest.raises(DaemonUnreachable, match="closed"):
            await client.call(api.GetStatus())

    asyncio.run(run())


def test_tcp_takes_the_token_of_the_data_folder() -> None:
    async def run(daemon: Daemon) -> None:
        config = Config(data_dir=daemon.data_dir)
        async with await AsyncClient.connect(daemon.endpoint, config=config) as client:
            assert (await client.call(api.GetStatus())).ok
        with pytest.raises(Unauthorized):
            await AsyncClient.connect(daemon.endpoint, config=config, token="wrong")

    with short_folder() as folder, running(folder, listen="tcp:127.0.0.1:0") as daemon:
        asyncio.run(run(daemon))
