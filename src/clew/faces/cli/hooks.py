"""`clew hooks` and `clew hook`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import one_line, print_fields, print_heading, print_note
from clew.faces.cli.host_settings import (
    NOTHING_THERE,
    carry_out,
    daemon_trouble,
    edit_options,
    options_for,
    program,
    user_option,
)
from clew.faces.hosts.dialects import EVENTS
from clew.faces.hosts.hook_settings import HOSTS, hooks_edit, installed_commands, option_in, settings_file
from clew.faces.hosts.settings import read_json

NAMES = tuple(dict.fromkeys(event for events in EVENTS.values() for event in events))


@click.command(
    "hook",
    cls=Verb,
    examples=["clew hook claude-code UserPromptSubmit < event.json", "clew hook gemini BeforeAgent --user ada"],
)
@click.argument("host", metavar="HOST", type=click.Choice(tuple(EVENTS)))
@click.argument("event", metavar="EVENT", type=click.Choice(NAMES))
@click.option(
    "--user", "user_id", metavar="ID", help="Whose memory; else CLEW_USER, else the name you are logged in by."
)
@click.pass_obj
def hook_command(invocation: Invocation, host: str, event: str, user_id: str | None) -> None:
    """Answer one event of a host; `clew hooks install` makes the host call this.

    HOST is claude-code, codex or gemini, and EVENT is what the host calls it. The event comes as JSON on standard
    input. At a session's start and at a prompt, what memory knows of it is the answer; prompts and replies are
    kept as turns, outcomes of tools are captured, compactions and ends of sessions are noted in the journal.

    It needs the daemon (`clew up`), gives up after a second, and says nothing and ends with status 0 where anything
    goes wrong, so that no agent ever waits for its memory.
    """
    from clew.faces.hosts.hook import run

    given = ["--user", user_id] if user_id else []
    if invocation.data_dir is not None:
        given += ["--data", str(invocation.data_dir)]
    if invocation.endpoint is not None:
        given += ["--endpoint", invocation.endpoint]
    run([host, event, *given])


_AFTER = {
    "claude-code": "sessions that start from now on have memory; `/hooks` in Claude Code shows the entries",
    "codex": "Codex runs new hooks once you have trusted them: open `/hooks` there",
    "gemini": "sessions that start from now on have memory; `/hooks panel` in Gemini CLI shows the entries",
}

host_argument = click.argument("host", metavar="HOST", type=click.Choice(HOSTS))


@click.group(
    "hooks",
    cls=VerbGroup,
    examples=["clew hooks install claude-code --dry-run", "clew hooks install codex", "clew hooks status gemini"],
)
def hooks_command() -> None:
    """Give Claude Code, Codex or Gemini CLI a memory: install its hooks, remove them, look at them."""


@hooks_command.command(
    "install", cls=Verb, examples=["clew hooks install claude-code", "clew hooks install gemini --project . --user ada"]
)
@host_argument
@edit_options
@user_option
@click.pass_obj
def install(invocation: Invocation, host: str, project: Path | None, user_id: str | None, dry_run: bool) -> None:
    """Add Clew to the hooks of a host: claude-code, codex or gemini.

    Shows the change to the host's settings and makes it. What is there stays, in its order, and a copy of the file
    is kept beside it. Doing it again changes nothing but what is out of date. Hooks need the daemon: says so where
    none answers.
    """
    path = settings_file(host, project)
    edit = hooks_edit(host, path, program(), options_for(invocation, user_id), install=True)
    carry_out(invocation, host, edit, dry_run=dry_run, after=_AFTER[host], daemon=daemon_trouble(invocation))


@hooks_command.command("uninstall", cls=Verb, examples=["clew hooks uninstall claude-code"])
@host_argument
@edit_options
@click.pass_obj
def uninstall(invocation: Invocation, host: str, project: Path | None, dry_run: bool) -> None:
    """Take Clew out of the hooks of a host, and nothing else."""
    edit = hooks_edit(host, settings_file(host, project), program(), (), install=False)
    carry_out(invocation, host, edit, dry_run=dry_run, unchanged=NOTHING_THERE)


@hooks_command.command("status", cls=Verb, examples=["clew hooks status claude-code"])
@host_argument
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The settings of this project instead of the user's.",
)
@click.pass_obj
def status(invocation: Invocation, host: str, project: Path | None) -> None:
    """Show at which events of a host Clew is called, by which command, and whether a daemon answers."""
    path = settings_file(host, project)
    commands = installed_commands(host, read_json(path))
    missing = [event for event in EVENTS[host] if event not in commands]
    answer = {
        "host": host,
        "path": str(path),
        "installed": not missing,
        "commands": commands,
        "missing": missing,
        "daemon": daemon_trouble(_as_the_hooks_ask(invocation, commands)),
    }
    invocation.show(answer, _print_status)


def _as_the_hooks_ask(invocation: Invocation, commands: dict[str, str]) -> Invocation:
    """With the data folder and the endpoint that stand in the commands, where none were given here."""
    if invocation.data_dir or invocation.endpoint or not commands:
        return invocation
    hooks_command = next(iter(commands.values()))
    data_dir = option_in(hooks_command, "--data")
    return Invocation(data_dir=Path(data_dir) if data_dir else None, endpoint=option_in(hooks_command, "--endpoint"))


def _print_status(found: dict[str, Any]) -> None:
    print_heading(f"{found['host']}: {one_line(found['path'])}")
    if not found["commands"]:
        print_note(f"Clew is not there; `clew hooks install {found['host']}` adds it")
    else:
        print_fields({event: one_line(line) for event, line in found["commands"].items()})
        if found["missing"]:
            print_note(f"not at {', '.join(found['missing'])}; `clew hooks install {found['host']}` adds it")
    if found["daemon"]:
        print_note(found["daemon"])
