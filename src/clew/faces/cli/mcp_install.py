"""`clew mcp install` and `clew mcp uninstall`: make a host start Clew as an MCP server, and undo it."""

from __future__ import annotations

from pathlib import Path

import click

from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.settings_edit import NOTHING_THERE, carry_out, edit_options, options_for, program, user_option
from clew.faces.hosts.mcp_settings import HOSTS, server_edit, servers_file

host_argument = click.argument("host", metavar="HOST", type=click.Choice(HOSTS))


@click.command(
    "install", cls=Verb, examples=["clew mcp install claude-code --dry-run", "clew mcp install codex --user ada"]
)
@host_argument
@edit_options
@user_option
@click.pass_obj
def install(invocation: Invocation, host: str, project: Path | None, user_id: str | None, dry_run: bool) -> None:
    """Add Clew to the MCP servers of a host: claude-code, codex, cursor or gemini.

    Shows the change to the host's settings and makes it. What is there stays, in its order, and a copy of the file
    is kept beside it. Doing it again changes nothing but what is out of date.
    """
    path = servers_file(host, project)
    edit = server_edit(host, path, program(), options_for(invocation, user_id), install=True)
    carry_out(invocation, host, edit, dry_run=dry_run, after="start the host anew, and it has the tools of Clew")


@click.command("uninstall", cls=Verb, examples=["clew mcp uninstall claude-code"])
@host_argument
@edit_options
@click.pass_obj
def uninstall(invocation: Invocation, host: str, project: Path | None, dry_run: bool) -> None:
    """Take Clew out of the MCP servers of a host, and nothing else."""
    edit = server_edit(host, servers_file(host, project), program(), (), install=False)
    carry_out(invocation, host, edit, dry_run=dry_run, unchanged=NOTHING_THERE)
