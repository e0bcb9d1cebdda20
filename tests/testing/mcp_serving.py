"""`clew mcp` as its clients see it: a real process behind pipes or a port, with the official client."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, TextResourceContents

from clew.config import Config
from clew.engine import Memory
from tests.testing.daemons import WAIT_S

PROGRAM = "import sys; from clew.faces.cli.main import main; sys.exit(main())"
TOKEN = "a-token-of-the-tests"
SETTINGS = {"CLEW_EMBEDDER": "none", "CLEW_SYNCHRONOUS": "normal"}


def opened(data_dir: Path) -> Memory:
    """The store that a server of this folder serves, for a test to prepare or check."""
    return Memory(Config.load(environment={}, data_dir=data_dir, embedder="none", synchronous="normal"))


def command_line(data_dir: Path, *options: str) -> list[str]:
    return ["-W", "error", "-c", PROGRAM, "mcp", "--data", str(data_dir), *options]


def with_stdio(
    data_dir: Path, work: Callable[[Client], Awaitable[None]], *options: str, user: str = "ann", mode: str = "auto"
) -> None:
    """Give `work` a client of a server of its own, over standard input and output."""
    parameters = StdioServerParameters(
        command=sys.executable, args=command_line(data_dir, "--user", user, *options), env=dict(os.environ) | SETTINGS
    )

    async def run() -> None:
        async with Client(stdio_client(parameters), mode=mode, read_timeout_seconds=WAIT_S) as client:
            await work(client)

    asyncio.run(run())


@contextmanager
def serving_http(data_dir: Path, *options: str) -> Iterator[str]:
    """The URL of a server on a free port of this machine."""
    environment = dict(os.environ) | SETTINGS | {"CLEW_TOKEN": TOKEN}
    arguments = command_line(data_dir, "--http", "127.0.0.1:0", "--user", "ann", *options)
    process = subprocess.Popen(
        [sys.executable, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), process.communicate()
        yield url
    finally:
        process.terminate()
        output, errors = process.communicate(timeout=WAIT_S)
    assert (process.returncode, output, errors) == (0, "", "")


@asynccontextmanager
async def http_client(url: str, token: str = TOKEN, mode: str = "auto") -> Any:
    async with AsyncExitStack() as stack:
        headers = {"Authorization": f"Bearer {token}"}
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=WAIT_S))
        yield await stack.enter_async_context(Client(streamable_http_client(url, http_client=http), mode=mode))


def text_of(result: CallToolResult) -> str:
    """The text of an answer, as a client shows it."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def called(client: Client, tool: str, **arguments: object) -> Any:
    """The answer of a tool as data."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return result.structured_content


async def packed(client: Client, **arguments: object) -> str:
    """The text of a pack."""
    result = await client.call_tool("pack", arguments)
    assert (result.is_error, result.structured_content) == (False, None), text_of(result)
    return text_of(result)


async def refusal(client: Client, tool: str, **arguments: object) -> str:
    """The sentence with which a tool declines."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    return text_of(result)


async def resource(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text
