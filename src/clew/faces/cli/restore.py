"""`clew restore`: puts a backup back into place; what was purged since stays purged."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clew.api import ListPurges
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import counted


@click.command("restore", cls=Verb, examples=["clew down", "clew restore ~/clew-monday.db --yes"])
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask before the store is replaced.")
@click.pass_obj
def command(invocation: Invocation, file: Path, yes: bool) -> None:
    """Replace the store by the backup in FILE. The daemon must be down.

    The store that was there stays beside it as clew.db.before-restore, until the next purge. Purges that the
    backup is too old to know of are carried out again on it, which removes that file as well.
    """
    config = invocation.config()
    if config.database.exists() and not yes:
        if invocation.json or not sys.stdin.isatty():
            raise click.UsageError("Replacing a store needs --yes where nobody can be asked.")
        click.confirm(f"Replace {config.database}?", abort=True, err=True)
    from clew.engine import Memory
    from clew.faces.daemon.lock import data_lock
    from clew.storage.sqlite.restore import restore

    with data_lock(config.data_dir):
        restore(config.database, file.expanduser())
        with Memory.open(config) as memory:
            records = memory.status().record_count
            purges = len(memory.call(ListPurges()).purges)
    answer = {"database": str(config.database), "records": records, "purges": purges}
    invocation.show(
        answer, lambda _: click.echo(f"restored {counted(records, 'record')}; {counted(purges, 'purge')} in its ledger")
    )
