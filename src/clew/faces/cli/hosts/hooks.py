"""`clew hooks` and `clew hook`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import one_line, print_fields, print_heading, print_note
from clew.faces.cli.hosts.settings import daemon_trouble, program, settings_parameters, settings_verbs, user_option
from clew.faces.hosts.dialects import EVENTS
from clew.faces.hosts.install.formats import read_json
from clew.faces.hosts.install.hooks import HOSTS, hook_entries, installed_commands, option_in, settings_file

NAMES = tuple(dict.fromkeys(event for events in EVENTS.values() for event in events))


@click.command(
    "hook",
    cls=Verb,
    examples=["clew hook claude-code UserPromptSubmit < event.json", "clew hook gemini BeforeAgent --user ada"],
)
@click.argument("host", metavar="HOST", type=click.Choice(tuple(EVENTS)))
@click.argument("event", metavar="EVENT", type=click.Choice(NAMES))
@user_option("CLEW_USER, else your login name")
@click.pass_obj
def hook_command(invocation: Invocation, host: str, event: str, user_id: str | None) -> None:
    """Answer one event of a host; `clew hooks install` makes the host call this.

    HOST is claude-code, codex or gemini, and EVENT is the host's name for it. The event comes as JSON on standard
    input. At a session's start and at a prompt, Clew answers with what memory knows of it. It keeps prompts and
    replies as turns, captures outcomes of tools, and notes compactions and ends of sessions in the journal.

    It asks the daemon (`clew up`) and gives up after a second. An event that no daemon takes waits in the spool of the
    data folder for the next one. Where anything goes wrong, it says nothing and ends with status 0, so that no agent
    ever waits for its memory.
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


@click.group(
    "hooks",
    cls=VerbGroup,
    examples=["clew hooks install claude-code --dry-run", "clew hooks install codex", "clew hooks status gemini"],
)
def hooks_command() -> None:
    """Give Claude Code, Codex or Gemini CLI a memory: install its hooks, remove them, look at them."""


for verb in settings_verbs(
    "hooks",
    HOSTS,
    lambda host, project, options: hook_entries(host, settings_file(host, project), program(), options),
    examples=["clew hooks install claude-code", "clew hooks install gemini --project . --user ada"],
    after=_AFTER.__getitem__,
    needs_daemon=True,
):
    hooks_command.add_command(verb)


@hooks_command.command("status", cls=Verb, examples=["clew hooks status claude-code"])
@settings_parameters(HOSTS)
@click.pass_obj
def status(invocation: Invocation, host: str, project: Path | None) -> None:
    """Show the events at which a host calls Clew, the commands, and whether a daemon answers."""
    path = settings_file(host, project)
    commands = installed_commands(host, read_json(path))
    missing = [event for event in EVENTS[host] if event not in commands]
    answer = {
        "host": host,
        "path": str(path),
        "installed": not missing,
        "commands": commands,
        "missing": missing,
        "daemon": _daemon_trouble(invocation, commands),
    }
    invocation.show(answer, _print_status)


def _daemon_trouble(invocation: Invocation, commands: dict[str, str]) -> str | None:
    """Why no daemon answers: the one that the options name, else the one that the hooks ask."""
    if commands and not (invocation.data_dir or invocation.endpoint):
        line = next(iter(commands.values()))
        data_dir = option_in(line, "--data")
        invocation = Invocation(data_dir=Path(data_dir) if data_dir else None, endpoint=option_in(line, "--endpoint"))
    return daemon_trouble(invocation, invocation.endpoint)


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
