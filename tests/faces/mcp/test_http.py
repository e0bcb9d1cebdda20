"""`clew mcp --http`: the same tools on a port of this machine, and the requests that it refuses."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("mcp.server.mcpserver")

from tests.testing.daemons import WAIT_S, short_folder
from tests.testing.mcp_serving import (
    SETTINGS,
    TOKEN,
    called,
    command_line,
    http_client,
    packed,
    refusal,
    resource,
    serving_http,
)

pytestmark = pytest.mark.requirement("MCP-1")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with short_folder() as data_dir, serving_http(data_dir) as served:
        yield served


def answer(url: str, path: str = "/mcp", **headers: str | None) -> tuple[int, str]:
    """The status and text for a request that lists the tools, with some headers changed or left out."""
    parts = urlsplit(url)
    usual = {
        "host": parts.netloc,
        "authorization": f"Bearer {TOKEN}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    body = json.dumps({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    })  # fmt: skip
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=WAIT_S)
    try:
        connection.putrequest("POST", path, skip_host=True, skip_accept_encoding=True)
        for name, value in (usual | headers).items():
            if value is not None:
                connection.putheader(name, value)
        connection.putheader("content-length", str(len(body)))
        connection.endheaders(body.encode())
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_works_over_http(url: str, mode: str) -> None:
    async def work() -> None:
        async with http_client(url, mode=mode) as client:
            ref = (await called(client, "remember", text=f"Osprey listens on port 7000, says {mode}."))["ref"]
            assert ref in [line["ref"] for line in (await called(client, "search", query="Osprey port"))["lines"]]
            assert "left out for lack of trust" in await packed(client, query="Osprey port")
            assert (await called(client, "get", ref=ref))["who"] == "assistant"
            assert [line["ref"] for line in (await called(client, "timeline", ref=ref, before=0))["lines"]] == [ref]
            assert "this user has no session" in await refusal(client, "expand", ids=["s"], session_id="none")
            assert (await called(client, "forget", ref=ref, confirm=True))["removed"]
            assert "there is no record" in await refusal(client, "get", ref=ref)
            assert "user: ann" in await resource(client, "clew://status")

    asyncio.run(work())


def test_many_clients_are_served_at_once(url: str) -> None:
    async def one(number: int) -> str:
        async with http_client(url) as client:
            await called(client, "remember", text=f"Heron {number} nests in box {number}.")
            found = await called(client, "search", query=f"box of Heron {number}", limit=1)
            return str(found["lines"][0]["text"])

    async def work() -> list[str]:
        return await asyncio.gather(*map(one, range(8)))

    assert asyncio.run(work()) == [f"Heron {number} nests in box {number}." for number in range(8)]


def test_an_ordinary_request_is_answered(url: str) -> None:
    status, text = answer(url)
    assert status == 200
    assert '"serverInfo"' in text


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Basic {TOKEN}",
        TOKEN,
    ],
)
def test_a_request_without_the_token_is_refused(url: str, given: str | None) -> None:
    status, text = answer(url, authorization=given)
    assert status == 401
    assert text == "This server asks for its token: Authorization: Bearer TOKEN."
    assert answer(url, path="/elsewhere", authorization=given)[0] == 401


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}",
     "127.0.0.1:{port}.evil.example", "127.0.0.1:{port}@evil.example", "0.0.0.0:{port}", ""],
)  # fmt: skip
def test_a_host_name_of_another_server_is_refused(url: str, host: str) -> None:
    port = urlsplit(url).port
    status, text = answer(url, host=host.format(port=port))
    assert status == 403
    assert text == "This server answers only to a loopback name and its own port."


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "[::1]"])
def test_every_loopback_name_is_accepted(url: str, host: str) -> None:
    assert answer(url, host=f"{host}:{urlsplit(url).port}")[0] == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1@evil.example:80",
     "http://evil.example:7450", "file://", "http://[::1", "http://user@127.0.0.1:80", ""],
)  # fmt: skip
def test_a_web_page_from_another_machine_is_refused(url: str, origin: str) -> None:
    status, text = answer(url, origin=origin)
    assert status == 403
    assert text == "This server takes no requests from pages of other machines."


@pytest.mark.parametrize("origin", ["http://localhost:5173", "https://127.0.0.1", "http://[::1]:9000"])
def test_a_web_page_from_this_machine_with_the_token_is_served(url: str, origin: str) -> None:
    assert answer(url, origin=origin)[0] == 200
    assert answer(url, origin=origin, authorization=None)[0] == 401


def test_an_overlong_request_is_refused(url: str) -> None:
    async def work() -> str:
        async with http_client(url) as client:
            return await refusal(client, "remember", text="long " * 4000)

    assert "at most 16000 characters" in asyncio.run(work())


def failed_start(data_dir: Path, *options: str, **environment: str) -> tuple[int, str]:
    """The exit status and the output of a server that must not start."""
    done = subprocess.run(
        [sys.executable, *command_line(data_dir, *options)],
        env=dict(os.environ) | SETTINGS | environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("address", ["0.0.0.0:7450", "192.168.1.7:7450", "example.com:80"])
def test_only_a_loopback_address_is_accepted(tmp_path: Path, address: str) -> None:
    status, words = failed_start(tmp_path, "--http", address)
    assert status == 2
    assert "for this machine alone" in words


def test_a_token_file_must_be_private_and_hold_a_token(tmp_path: Path) -> None:
    token_file = tmp_path / "secret"
    token_file.write_text("x\n", "ascii")
    token_file.chmod(0o644)
    options = ("--http", "127.0.0.1:0", "--token-file", str(token_file))
    assert failed_start(tmp_path, *options) == (
        2,
        f"error: {token_file} can be read by other users; run `chmod 600 {token_file}` or delete it\n",
    )
    token_file.write_text("\n", "ascii")
    token_file.chmod(0o600)
    assert failed_start(tmp_path, *options) == (2, f"error: {token_file} holds no token\n")


def test_a_given_token_file_wins_over_the_environment(tmp_path: Path) -> None:
    token_file = tmp_path / "secret"
    token_file.write_text("from-the-file\n", "ascii")
    token_file.chmod(0o600)
    with serving_http(tmp_path / "data", "--token-file", str(token_file)) as url:
        assert answer(url)[0] == 401
        assert answer(url, authorization="Bearer from-the-file")[0] == 200


def test_without_the_sdk_the_error_tells_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError('not here')\n", "ascii")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert failed_start(tmp_path, PYTHONPATH=path) == (
        1,
        "error: serving MCP needs the `mcp` extra: pip install 'clew[mcp]'\n",
    )


def test_a_token_file_without_http_is_a_mistake(tmp_path: Path) -> None:
    status, words = failed_start(tmp_path, "--token-file", __file__)
    assert status == 2
    assert "--token-file belongs to --http" in words
