"""What a client may have under way: so many requests, so many bytes."""

from __future__ import annotations

import asyncio

import pytest

from clew.faces.daemon.limits import Window

pytestmark = pytest.mark.requirement("RPC-2")


async def waits(window: Window, size_bytes: int) -> asyncio.Task[None]:
    """A request that finds no room; the task ends when it is let in."""
    entering = asyncio.ensure_future(window.enter(size_bytes))
    await asyncio.sleep(0)
    assert not entering.done()
    return entering


def test_a_request_too_many_waits_for_one_to_leave() -> None:
    async def run() -> None:
        window = Window(requests=2, size_bytes=1000)
        await window.enter(1)
        await window.enter(1)
        third = await waits(window, 1)
        window.leave(1)
        await third

    asyncio.run(run())


def test_bytes_under_way_keep_the_next_request_out() -> None:
    async def run() -> None:
        window = Window(requests=10, size_bytes=100)
        await window.enter(60)
        await window.enter(60)
        third = await waits(window, 1)
        window.leave(60)
        await third

    asyncio.run(run())


def test_a_request_larger_than_the_window_is_let_in_alone() -> None:
    async def run() -> None:
        window = Window(requests=10, size_bytes=100)
        await window.enter(500)
        window.leave(500)
        await window.enter(1)

    asyncio.run(run())
