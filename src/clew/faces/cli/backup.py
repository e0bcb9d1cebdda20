"""`clew backup`: a copy of the whole store that can be opened as one."""

from __future__ import annotations

from pathlib import Path

import click

from clew.api import Backup
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation


@click.command("backup", cls=Verb, examples=["clew backup ~/clew-monday.db"])
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_obj
def command(invocation: Invocation, file: Path) -> None:
    """Copy the store to a new FILE that you alone can read, while it is in use.

    `clew restore` puts it back; what was purged meanwhile stays purged.
    """
    path = file.expanduser().absolute()
    with invocation.open() as memory:
        memory.call(Backup(path=str(path)))
    invocation.show({"file": str(path), "bytes": path.stat().st_size}, lambda _: click.echo(f"copied to {path}"))
