"""`clew openclaw`: give an OpenClaw agent this memory, and take it away again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clew.errors import ClewError
from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import one_line, print_fields, print_note
from clew.faces.cli.hosts.settings import NOTHING_DONE, daemon_endpoint, dry_run_option, user_option
from clew.faces.hosts.install.openclaw import (
    FORGET,
    Command,
    OpenClaw,
    Wiring,
    install_commands,
    plugin_folder,
    uninstall_commands,
)

program_option = click.option(
    "--openclaw",
    "program",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="The program; else the one on your PATH.",
)


@click.group(
    "openclaw",
    cls=VerbGroup,
    examples=["clew openclaw install --dry-run", "clew openclaw install", "clew openclaw status"],
)
def command() -> None:
    """Make Clew the memory and the context engine of OpenClaw, undo it, or look at it."""


@command.command("install", cls=Verb, examples=["clew openclaw install", "clew openclaw install --user ada"])
@program_option
@user_option("each agent has its own")
@dry_run_option
@click.pass_obj
def install(invocation: Invocation, program: Path | None, user_id: str | None, dry_run: bool) -> None:
    """Link the plugin into OpenClaw, in both slots, on the daemon of this data folder.

    OpenClaw edits its own settings. A second run changes nothing. Restart a gateway that runs.
    """
    host = OpenClaw.find(program)
    untested = host.check_version()
    if untested is not None:
        print_note(untested)
    earlier = host.wiring().user if user_id is None else None
    commands = install_commands(plugin_folder(), daemon_endpoint(invocation), user_id, earlier)
    _carry_out(invocation, host, commands, dry_run=dry_run, installs=True)


@command.command("uninstall", cls=Verb, examples=["clew openclaw uninstall"])
@program_option
@dry_run_option
@click.pass_obj
def uninstall(invocation: Invocation, program: Path | None, dry_run: bool) -> None:
    """Remove the plugin from OpenClaw, which restores both slots. The store of Clew stays."""
    _carry_out(invocation, OpenClaw.find(program), uninstall_commands(), dry_run=dry_run, installs=False)


@command.command("status", cls=Verb, examples=["clew openclaw status"])
@program_option
@click.pass_obj
def status(invocation: Invocation, program: Path | None) -> None:
    """Show whether OpenClaw uses Clew, and whether its daemon answers."""
    host = OpenClaw.find(program)
    wiring = host.wiring()
    answer = _facts(host, wiring) | {"daemon": _daemon(invocation, wiring.socket or daemon_endpoint(invocation))}
    invocation.show(answer, _print_status)


def _carry_out(
    invocation: Invocation, host: OpenClaw, commands: list[Command], *, dry_run: bool, installs: bool
) -> None:
    lines = [host.line(step) for step in commands]
    if dry_run:
        invocation.show({"commands": lines, "dryRun": True}, _print_commands)
        return
    with invocation.progress("asking OpenClaw", len(commands) + 1) as report:
        for done, step in enumerate(commands):
            report(done)
            if step != FORGET or host.wiring().known:
                host.run(step)
        report(len(commands))
        facts = _facts(host, host.wiring())
    if facts["ready"] is not installs:
        settings = ", ".join(facts["missing"]) or "plugins.slots"
        raise ClewError(f"OpenClaw ran every command, but these settings are not as they should be: {settings}")
    invocation.show({"commands": lines, "dryRun": False} | facts, _print_outcome)


def _facts(host: OpenClaw, wiring: Wiring) -> dict[str, Any]:
    return {
        "program": host.program,
        "slots": wiring.slots,
        "enabled": wiring.enabled,
        "socket": wiring.socket,
        "user": wiring.user,
        "ready": not wiring.missing,
        "missing": wiring.missing,
    }


def _daemon(invocation: Invocation, endpoint: str) -> dict[str, Any]:
    """Whether a daemon answers the plugin: its version, or the reason."""
    from clew.client import connect

    try:
        with connect(endpoint, invocation.config()) as memory:
            return {"endpoint": endpoint, "reachable": True, "version": memory.status().version, "reason": None}
    except ClewError as error:
        return {"endpoint": endpoint, "reachable": False, "version": None, "reason": error.message}


def _print_commands(answer: dict[str, Any]) -> None:
    for line in answer["commands"]:
        click.echo(one_line(line))
    print_note(NOTHING_DONE)


def _print_outcome(answer: dict[str, Any]) -> None:
    for line in answer["commands"]:
        click.echo(f"ran {one_line(line)}")
    _print_wiring(answer)
    print_note("start the gateway anew, if it runs: `openclaw gateway restart`")


def _print_status(answer: dict[str, Any]) -> None:
    _print_wiring(answer)
    if answer["missing"]:
        print_note(f"OpenClaw does not use Clew: see {', '.join(answer['missing'])}, or run `clew openclaw install`")
    daemon = answer["daemon"]
    if daemon["reachable"]:
        print_fields({"daemon": f"version {daemon['version']} at {daemon['endpoint']}"})
    else:
        print_note(daemon["reason"])


def _print_wiring(answer: dict[str, Any]) -> None:
    print_fields(
        {
            "OpenClaw": one_line(answer["program"]),
            "memory slot": answer["slots"]["memory"] or "not set",
            "context engine slot": answer["slots"]["contextEngine"] or "not set",
            "plugin": "on" if answer["enabled"] else "off",
            "socket": one_line(answer["socket"] or "the data folder's"),
            "memory of": one_line(answer["user"] or "each agent"),
        }
    )
