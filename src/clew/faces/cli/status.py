"""`clew status`: what the store holds and whether all of it works."""

from __future__ import annotations

import click
from msgspec import to_builtins

from clew.api import Status
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import byte_size, local_time, print_degraded, print_fields, print_json


@click.command("status", cls=Verb, examples=["clew status", "clew status --json"])
@click.pass_obj
def command(invocation: Invocation) -> None:
    """Show what the store holds and whether all of it works."""
    with invocation.open() as memory:
        status = memory.status()
    if invocation.json:
        print_json(to_builtins(status) | {"endpoint": invocation.served_at})
    else:
        _print_status(status, invocation.served_at)


def _print_status(status: Status, endpoint: str | None) -> None:
    print_fields(
        {
            "state": "ok" if status.ok else "not ok",
            "daemon": endpoint or "none; the store was opened for this command",
            "says": status.message,
            "version": status.version,
            "data folder": status.data_dir,
            "records": status.record_count,
            "user turns": status.turn_count,
            "memories": status.memory_count,
            "waiting": status.pending,
            "quarantined": status.quarantined_count,
            "last aged": "never" if status.last_lifecycle is None else local_time(status.last_lifecycle),
            "embedder": status.embedding_profile or "none: search is by words alone",
            "token counts": status.token_counter,
            "keeps turns from": f"gate score {status.gating_threshold:g}",
            "store": byte_size(status.store_bytes),
            "index in memory": byte_size(status.index_bytes),
        }
    )
    print_degraded(status.degraded)
