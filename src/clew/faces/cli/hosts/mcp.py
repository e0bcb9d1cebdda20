"""`clew mcp`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from clew.config import Config
from clew.core.ids import checked_id
from clew.core.projects import project_at
from clew.errors import InvalidInput, NotAvailable
from clew.faces.cli.console.command import VerbGroup
from clew.faces.cli.console.fields import PROJECT
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.hosts.settings import program, settings_verbs
from clew.faces.hosts.install.servers import HOSTS, server_entry, servers_file
from clew.faces.hosts.person import own_user
from clew.wire.endpoint import TcpEndpoint, parse_endpoint

install, uninstall = settings_verbs(
    "MCP servers",
    HOSTS,
    lambda host, project, options: server_entry(host, servers_file(host, project), program(), options),
    examples=["clew mcp install claude-code --dry-run", "clew mcp install codex --user ada"],
    after=lambda _: "start the host anew, and it has the tools of Clew",
)


@click.group(
    "mcp",
    cls=VerbGroup,
    invoke_without_command=True,
    examples=["clew mcp", "clew mcp --user ada --session s1", "clew mcp --http 127.0.0.1:7450"],
)
@click.option("--user", metavar="ID", help="Whose memory; else your login name.")
@click.option("--session", metavar="ID", help="The session of the host; the tools look into it, too.")
@click.option(
    "--project", **PROJECT.settings, help="The project that packs are for; else that of the working folder, if any."
)
@click.option(
    "--http", metavar="HOST:PORT", help="Serve over HTTP on this machine; else over standard input and output."
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The token HTTP clients must show; else CLEW_TOKEN, else DATA/token.",
)
@click.pass_context
def mcp_command(
    ctx: click.Context,
    *,
    user: str | None,
    session: str | None,
    project: str | None,
    http: str | None,
    token_file: Path | None,
) -> None:
    """Serve one user's memory to an agent: search, pack, remember, timeline, get, expand, forget.

    Over HTTP, prints its URL on one line when it is ready; clients send "Authorization: Bearer TOKEN".
    """
    if ctx.invoked_subcommand is not None:
        return
    invocation = ctx.ensure_object(Invocation)
    if invocation.json:
        raise click.UsageError("A server speaks its own protocol; leave out --json.")
    if http is None and token_file is not None:
        raise click.UsageError("--token-file belongs to --http.")
    _require_sdk()
    from clew.faces.mcp.reconnect import ReopeningMemory
    from clew.faces.mcp.server import make_server, serve_stdio

    user_id = checked_id(user or own_user(), "user")
    session_id = None if session is None else checked_id(session, "session")
    with ReopeningMemory(invocation.open) as memory:
        if project is None and http is None:  # a host starts the server in the folder that it works in
            project = project_at(os.getcwd()) or None
        server = make_server(memory, user_id, session_id, project)
        if http is None:
            serve_stdio(server)
            return
        from clew.faces.mcp.http import serve_http

        serve_http(server, _address(http), _token(invocation.config(), token_file), click.echo)


mcp_command.add_command(install)
mcp_command.add_command(uninstall)


def _require_sdk() -> None:
    try:
        import mcp.server.mcpserver  # noqa: F401 — only whether it is there
    except ImportError as error:
        raise NotAvailable("serving MCP needs the `mcp` extra: pip install 'clew[mcp]'") from error


def _address(text: str) -> TcpEndpoint:
    endpoint = parse_endpoint(f"tcp:{text}")
    assert isinstance(endpoint, TcpEndpoint)  # what `tcp:` always gives
    return endpoint


def _token(config: Config, path: Path | None) -> str:
    """The token that clients must show: from the given file, else the token of the daemon."""
    from clew.faces.daemon.auth import daemon_token, read_token

    if path is None:
        config.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return daemon_token(config)
    token = read_token(path)
    if token is None:
        raise InvalidInput(f"{path} holds no token")
    return token
