"""What the verbs that put Clew into a host share: options, the command for the host, and how to show an edit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from clew.config import default_data_dir
from clew.errors import ClewError, InvalidInput
from clew.faces.cli.console.command import Verb
from clew.faces.cli.console.invocation import Invocation, connect_if_served
from clew.faces.cli.console.terminal import one_line, print_note, safe
from clew.faces.hosts.install.edits import Edit, Installation
from clew.wire.endpoint import parse_endpoint
from clew.wire.serving import serving_endpoint

Command = Callable[..., None]

NOTHING_THERE = "is as it was: it holds nothing of Clew"
NO_DAEMON = "no daemon answers; start it with `clew up`"
NOTHING_DONE = "nothing was changed; leave out --dry-run to do it"

dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")


def user_option(otherwise: str) -> Callable[[Command], Command]:
    return click.option("--user", "user_id", metavar="ID", help=f"Whose memory; else {otherwise}.")


def settings_parameters(hosts: Sequence[str]) -> Callable[[Command], Command]:
    """The host, and whether its settings are the user's or those of a project."""
    host = click.argument("host", metavar="HOST", type=click.Choice(hosts))
    project = click.option(
        "--project",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="The settings of this project instead of the user's.",
    )
    return lambda command: host(project(command))


def settings_verbs(
    what: str,
    hosts: Sequence[str],
    entries: Callable[[str, Path | None, tuple[str, ...]], Installation],
    *,
    examples: Sequence[str],
    after: Callable[[str], str],
    needs_daemon: bool = False,
) -> tuple[click.Command, click.Command]:
    """The verbs that add Clew to a part of a host's settings, and remove it: `entries` takes host, project, options."""
    help_text = (
        f"Add Clew to the {what} of a host: {', '.join(hosts[:-1])} or {hosts[-1]}.\n\n"
        "Shows the change to the host's settings and makes it. Other entries stay, in their order, and Clew keeps a "
        "copy of the file beside it. A second run only updates what is out of date."
        + (" Hooks need the daemon; Clew says so where none answers." if needs_daemon else "")
    )

    @click.command("install", cls=Verb, help=help_text, examples=examples)
    @settings_parameters(hosts)
    @user_option("your login name")
    @dry_run_option
    @click.pass_obj
    def install(invocation: Invocation, host: str, project: Path | None, user_id: str | None, dry_run: bool) -> None:
        edit = entries(host, project, options_for(invocation, user_id)).plan(install=True)
        more = {"daemon": daemon_trouble(invocation, invocation.endpoint)} if needs_daemon else {}
        carry_out(invocation, edit, dry_run=dry_run, after=after(host), more={"host": host, **more})

    removal = f"Remove Clew from the {what} of a host, and nothing else."
    example = examples[0].replace(" install ", " uninstall ").removesuffix(" --dry-run")

    @click.command("uninstall", cls=Verb, help=removal, examples=[example])
    @settings_parameters(hosts)
    @dry_run_option
    @click.pass_obj
    def uninstall(invocation: Invocation, host: str, project: Path | None, dry_run: bool) -> None:
        edit = entries(host, project, ()).plan(install=False)
        carry_out(invocation, edit, dry_run=dry_run, unchanged=NOTHING_THERE, more={"host": host})

    return install, uninstall


def program() -> tuple[str, ...]:
    """The command line that starts this very Clew from anywhere."""
    started = os.path.abspath(sys.argv[0])
    beside = os.path.join(os.path.dirname(sys.executable), "clew")
    for path in (started, beside, shutil.which("clew")):
        if path and os.path.basename(path) == "clew" and os.access(path, os.X_OK) and os.path.isfile(path):
            return (_check_utf8(os.path.abspath(path)),)
    return (_check_utf8(os.path.abspath(sys.executable)), "-m", "clew")


def options_for(invocation: Invocation, user_id: str | None) -> tuple[str, ...]:
    """The options that a host must give each time, because it may not know the environment of this command."""
    options: list[str] = [] if user_id is None else ["--user", user_id]
    data_dir = invocation.data_dir or (default_data_dir() if os.environ.get("CLEW_HOME") else None)
    if data_dir is not None:
        options += ["--data", os.path.abspath(data_dir)]
    if invocation.endpoint is not None:
        options += ["--endpoint", str(parse_endpoint(invocation.endpoint))]
    return tuple(options)


def daemon_endpoint(invocation: Invocation) -> str:
    """Where the daemon listens, written so that it means the same from any folder."""
    return str(parse_endpoint(invocation.endpoint or serving_endpoint(invocation.config())))


def daemon_trouble(invocation: Invocation, endpoint: str | None) -> str | None:
    """Why no daemon answers at the endpoint, or for the data folder; None where one does."""
    from clew.client import connect

    try:
        daemon = connect(endpoint, invocation.config()) if endpoint else connect_if_served(invocation.config())
    except ClewError as error:
        return error.message
    if daemon is None:
        return NO_DAEMON
    daemon.close()
    return None


def carry_out(
    invocation: Invocation,
    edit: Edit,
    *,
    dry_run: bool,
    after: str = "",
    unchanged: str = "is as it should be",
    finish: Callable[[], None] = lambda: None,
    more: Mapping[str, str | bool | None],
) -> None:
    """Makes the edit, unless this is a dry run, and shows it; `more` becomes part of the answer."""
    backup = None
    if not dry_run:
        backup = edit.apply()
        finish()
    answer = {
        "path": str(edit.path),
        "changed": edit.changes and not dry_run,
        "diff": edit.diff(),
        "backup": None if backup is None else str(backup),
        **more,
    }
    invocation.show(answer, lambda shown: _print(shown, dry_run=dry_run, after=after, unchanged=unchanged))


def _print(shown: dict[str, Any], *, dry_run: bool, after: str, unchanged: str) -> None:
    if shown["diff"]:
        click.echo(safe(shown["diff"]), nl=False)
    else:
        click.echo(f"{one_line(shown['path'])} {unchanged}")
    if shown["backup"]:
        print_note(f"the file from before is kept as {shown['backup']}")
    if shown["diff"] and (dry_run or after):
        print_note(NOTHING_DONE if dry_run else after)
    if shown.get("daemon"):
        print_note(shown["daemon"])


def _check_utf8(path: str) -> str:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput(f"the path of this program is not valid UTF-8: {path!r}") from None
    return path
