"""`clew hermes`: give Hermes this memory, and take it away again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clew.errors import ClewError
from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import one_line, print_fields, print_note, print_text
from clew.faces.hosts.hermes import NAME
from clew.faces.hosts.hermes_install import Hermes
from clew.faces.hosts.settings import Edit
from clew.wire.serving import serving_endpoint

home_option = click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The home folder of Hermes; else HERMES_HOME, else ~/.hermes.",
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")


@click.group(
    "hermes",
    cls=VerbGroup,
    examples=["clew hermes install --dry-run", "clew hermes install", "clew hermes status"],
)
def command() -> None:
    """Make Clew the memory of Hermes, undo it, or look at it."""


@command.command("install", cls=Verb, examples=["clew hermes install", "clew hermes install --user ada"])
@home_option
@dry_run_option
@click.option("--user", "user_id", metavar="ID", help="Whose memory; else your name on this system.")
@click.pass_obj
def install(invocation: Invocation, home: Path | None, dry_run: bool, user_id: str | None) -> None:
    """Put the memory provider into Hermes, on the daemon of this data folder, and select it.

    Changes one line of config.yaml, of which a copy is kept beside it. People who write to Hermes through a gateway
    each have a memory of their own. Doing it again changes nothing but what is out of date.
    """
    host = Hermes.find(home)
    settings = _settings(invocation, user_id)
    edit = host.edit(install=True)
    if not dry_run:
        host.write_folder(settings)
    backup = None if dry_run else edit.apply()
    _show(invocation, host, edit, backup, dry_run=dry_run)


@command.command("uninstall", cls=Verb, examples=["clew hermes uninstall"])
@home_option
@dry_run_option
@click.pass_obj
def uninstall(invocation: Invocation, home: Path | None, dry_run: bool) -> None:
    """Take the memory provider out of Hermes, and give back what was selected before.

    What Clew has stored stays.
    """
    host = Hermes.find(home)
    edit = host.edit(install=False)
    backup = None if dry_run else edit.apply()
    if not dry_run:
        host.remove_folder()
    _show(invocation, host, edit, backup, dry_run=dry_run)


@command.command("status", cls=Verb, examples=["clew hermes status"])
@home_option
@click.pass_obj
def status(invocation: Invocation, home: Path | None) -> None:
    """Show whether Hermes uses Clew, and whether the daemon it asks is there."""
    host = Hermes.find(home)
    given = {name: str(value) for name, value in host.settings().items()}
    endpoint = given.get("endpoint") or _endpoint(invocation)
    answer = {
        "home": str(host.home),
        "provider": host.provider(),
        "ready": host.provider() == NAME and bool(given.get("endpoint")),
        "upToDate": host.is_up_to_date(given),
        "endpoint": endpoint,
        "user": given.get("user"),
        "daemon": _trouble(invocation, endpoint),
    }
    invocation.show(answer, _print_status)


def _settings(invocation: Invocation, user_id: str | None) -> dict[str, str]:
    endpoint = _endpoint(invocation)
    settings = {"endpoint": endpoint}
    if endpoint.startswith("tcp:"):
        settings["tokenFile"] = str(invocation.config().token_file)
    return settings | ({"user": user_id} if user_id else {})


def _endpoint(invocation: Invocation) -> str:
    return invocation.endpoint or serving_endpoint(invocation.config())


def _trouble(invocation: Invocation, endpoint: str) -> str | None:
    """Why no daemon answers where the provider will ask; None where one does."""
    from clew.client import connect

    try:
        connect(endpoint, invocation.config()).close()
    except ClewError as error:
        return error.message
    return None


def _show(invocation: Invocation, host: Hermes, edit: Edit, backup: Path | None, *, dry_run: bool) -> None:
    answer = {
        "folder": str(host.folder),
        "config": str(edit.path),
        "changed": edit.changes,
        "diff": edit.diff(),
        "backup": None if backup is None else str(backup),
        "dryRun": dry_run,
    }
    invocation.show(answer, _print_change)


def _print_change(answer: dict[str, Any]) -> None:
    if answer["diff"]:
        print_text(answer["diff"].rstrip("\n"))
    fields = {"provider": answer["folder"], "settings": answer["config"]}
    print_fields(fields | ({"copy of them before": answer["backup"]} if answer["backup"] else {}))
    if answer["dryRun"]:
        print_note("nothing was changed; without --dry-run it is")
    else:
        print_note("sessions of Hermes that start from now on see the change")


def _print_status(answer: dict[str, Any]) -> None:
    print_fields(
        {
            "Hermes": one_line(answer["home"]),
            "memory provider": one_line(answer["provider"] or "none"),
            "endpoint": one_line(answer["endpoint"]),
            "memory of": one_line(answer["user"] or "whoever runs Hermes"),
        }
    )
    if not answer["ready"]:
        print_note("Hermes does not use Clew; `clew hermes install` changes that")
    elif not answer["upToDate"]:
        print_note("the provider is of another version of Clew; `clew hermes install` brings it up to date")
    if answer["daemon"]:
        print_note(answer["daemon"])
