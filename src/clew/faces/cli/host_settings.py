"""What `clew hooks` and `clew mcp install` share: the options, the program to name, and how an edit is shown."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from clew.config import default_data_dir
from clew.errors import ClewError, InvalidInput
from clew.faces.cli.console.invocation import Invocation, connect_if_served
from clew.faces.cli.console.terminal import one_line, print_note, safe
from clew.faces.hosts.settings import Edit
from clew.wire.endpoint import parse_endpoint

Command = Callable[..., None]

NOTHING_THERE = "is as it was: nothing of Clew's is there"
NO_DAEMON = "no daemon answers; start it with `clew up`"


def edit_options(command: Command) -> Command:
    """The options of a command that edits a host's settings."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Show the change and make none."),
        click.option(
            "--project",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            metavar="DIR",
            help="The settings of this project instead of the user's.",
        ),
    ):
        command = option(command)
    return command


user_option = click.option("--user", "user_id", metavar="ID", help="Whose memory; else your login name.")


def program() -> tuple[str, ...]:
    """The command line that starts this very Clew from anywhere."""
    started = os.path.abspath(sys.argv[0])
    beside = os.path.join(os.path.dirname(sys.executable), "clew")
    for path in (started, beside, shutil.which("clew")):
        if path and os.path.basename(path) == "clew" and os.access(path, os.X_OK) and os.path.isfile(path):
            return (_named(os.path.abspath(path)),)
    return (_named(os.path.abspath(sys.executable)), "-m", "clew")


def options_for(invocation: Invocation, user_id: str | None) -> tuple[str, ...]:
    """What a host must say each time, because it may not know the environment of this command."""
    options: list[str] = [] if user_id is None else ["--user", user_id]
    data_dir = invocation.data_dir or (default_data_dir() if os.environ.get("CLEW_HOME") else None)
    if data_dir is not None:
        options += ["--data", os.path.abspath(data_dir)]
    if invocation.endpoint is not None:
        options += ["--endpoint", str(parse_endpoint(invocation.endpoint))]
    return tuple(options)


def daemon_trouble(invocation: Invocation) -> str | None:
    """Why no daemon answers at the endpoint that was named, or for the data folder; None where one does."""
    try:
        daemon = invocation.open() if invocation.endpoint else connect_if_served(invocation.config())
    except ClewError as error:
        return error.message
    if daemon is None:
        return NO_DAEMON
    daemon.close()
    return None


def carry_out(
    invocation: Invocation,
    host: str,
    edit: Edit,
    *,
    dry_run: bool,
    after: str = "",
    unchanged: str = "is as it should be",
    **more: str | None,
) -> None:
    """Show an edit, and make it unless it is only to be shown; `more` goes into the answer, too."""
    backup = None if dry_run else edit.apply()
    answer = {
        "host": host,
        "path": str(edit.path),
        "changed": edit.changes and not dry_run,
        "diff": edit.diff(),
        "backup": None if backup is None else str(backup),
        **more,
    }
    invocation.show(answer, lambda shown: _print(shown, dry_run=dry_run, after=after, unchanged=unchanged))


def _print(shown: dict[str, Any], *, dry_run: bool, after: str, unchanged: str) -> None:
    if shown["diff"]:
        _print_change(shown, dry_run=dry_run, after=after)
    else:
        click.echo(f"{one_line(shown['path'])} {unchanged}")
    if shown.get("daemon"):
        print_note(shown["daemon"])


def _print_change(shown: dict[str, Any], *, dry_run: bool, after: str) -> None:
    click.echo(safe(shown["diff"]), nl=False)
    if dry_run:
        print_note("nothing was changed; without --dry-run it is")
        return
    if shown["backup"]:
        print_note(f"what was there is kept as {shown['backup']}")
    if after:
        print_note(after)


def _named(path: str) -> str:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput(f"the path of this program is not valid UTF-8: {path!r}") from None
    return path
