"""`clew hermes`: give Hermes this memory, and take it away again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import one_line, print_fields, print_note
from clew.faces.cli.hosts.settings import (
    NOTHING_THERE,
    carry_out,
    daemon_endpoint,
    daemon_trouble,
    dry_run_option,
    user_option,
)
from clew.faces.hosts.hermes import NAME
from clew.faces.hosts.install.edits import Edit
from clew.faces.hosts.install.hermes import Hermes

AFTER = "sessions of Hermes that start from now on see the change"

home_option = click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The home folder of Hermes; else HERMES_HOME, else ~/.hermes.",
)


@click.group(
    "hermes",
    cls=VerbGroup,
    examples=["clew hermes install --dry-run", "clew hermes install", "clew hermes status"],
)
def command() -> None:
    """Make Clew the memory of Hermes, undo it, or look at it."""


@command.command("install", cls=Verb, examples=["clew hermes install", "clew hermes install --user ada"])
@home_option
@user_option("your login name")
@dry_run_option
@click.pass_obj
def install(invocation: Invocation, home: Path | None, user_id: str | None, dry_run: bool) -> None:
    """Put the memory provider into Hermes, on the daemon of this data folder, and select it.

    Changes one line of config.yaml and keeps a copy of the file beside it. People who write to Hermes through a gateway
    each have a memory of their own. A second run only updates what is out of date.
    """
    host = Hermes.find(home)
    settings = _settings(invocation, user_id)
    edit = host.entries().plan(install=True)
    if not dry_run:
        host.write_folder(settings)
    unchanged = f"is as it should be; the provider is in {one_line(str(host.folder))}"
    carry_out(invocation, edit, dry_run=dry_run, after=AFTER, unchanged=unchanged, more=_more(host, edit, dry_run))


@command.command("uninstall", cls=Verb, examples=["clew hermes uninstall"])
@home_option
@dry_run_option
@click.pass_obj
def uninstall(invocation: Invocation, home: Path | None, dry_run: bool) -> None:
    """Remove the memory provider from Hermes, and restore the earlier selection. The store of Clew stays."""
    host = Hermes.find(home)
    edit = host.entries().plan(install=False)
    carry_out(
        invocation,
        edit,
        dry_run=dry_run,
        after=AFTER,
        unchanged=NOTHING_THERE,
        finish=host.remove_folder,
        more=_more(host, edit, dry_run),
    )


@command.command("status", cls=Verb, examples=["clew hermes status"])
@home_option
@click.pass_obj
def status(invocation: Invocation, home: Path | None) -> None:
    """Show whether Hermes uses Clew, and whether its daemon answers."""
    host = Hermes.find(home)
    provider = host.provider()
    given = {name: str(value) for name, value in host.settings().items()}
    endpoint = given.get("endpoint") or daemon_endpoint(invocation)
    answer = {
        "home": str(host.home),
        "provider": provider,
        "ready": provider == NAME and bool(given.get("endpoint")),
        "upToDate": host.is_up_to_date(given),
        "endpoint": endpoint,
        "user": given.get("user"),
        "daemon": daemon_trouble(invocation, endpoint),
    }
    invocation.show(answer, _print_status)


def _settings(invocation: Invocation, user_id: str | None) -> dict[str, str]:
    endpoint = daemon_endpoint(invocation)
    settings = {"endpoint": endpoint}
    if endpoint.startswith("tcp:"):
        settings["tokenFile"] = str(invocation.config().token_file)
    return settings | ({"user": user_id} if user_id else {})


def _more(host: Hermes, edit: Edit, dry_run: bool) -> dict[str, str | bool]:
    return {"folder": str(host.folder), "config": str(edit.path), "changed": edit.changes, "dryRun": dry_run}


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
