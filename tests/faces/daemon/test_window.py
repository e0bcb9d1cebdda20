"""The window of a client: how many requests and bytes it may have open."""

from __future__ import annotations

import asyncio

import pytest

from clew.faces.daemon.limits import Window

pytestmark = pytest.mark.requirement("RPC-2")


async def start_waiting(window: Window, size_bytes: int) -> asyncio.Task[None]:
    """A request that finds no room; the task ends when the window admits it."""
    entering = asyncio.ensure_future(window.enter(size_bytes))
    await asyncio.sleep(0)
    assert not entering.done()
    return entering


def test_a_surplus_request_waits_until_another_one_ends() -> None:
    async def run() -> None:
        window = Window(requests=2, size_bytes=1000)
        await window.enter(1)
        await window.enter(1)
        third = await start_waiting(window, 1)
        window.leave(1)
        await third

    asyncio.run(run())


def test_open_bytes_hold_back_the_next_request() -> None:
    async def run() -> None:
        window = Window(requests=10, size_bytes=100)
        await window.enter(60)
        await window.enter(60)
        third = await start_waiting(window, 1)
        window.leave(60)
        await third

    asyncio.run(run())


def test_a_request_larger_than_the_window_is_admitted_alone() -> None:
    async def run() -> None:
        window = Window(requests=10, size_bytes=100)
        await window.enter(500)
        window.leave(500)
        await window.enter(1)

    asyncio.run(run())
