"""`clew harvest`: brings captured events into the ledger."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from clew.api import HarvestReceipt
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import print_note, print_table


@click.command("harvest", cls=Verb, examples=["clew harvest", "clew harvest events.jsonl"])
@click.argument("file", required=False, type=click.Path(dir_okay=False, resolve_path=True, path_type=Path))
@click.pass_obj
def command(invocation: Invocation, file: Path | None) -> None:
    """Read captured events into the ledger, from where the last harvest stopped.

    Without FILE, the capture log of the data folder. A line that cannot be read is set aside with the reason, and the
    harvest goes on.
    """
    path = None if file is None else str(file)
    lines = stored = unchanged = set_aside = 0
    reasons: Counter[str] = Counter()
    with invocation.open() as memory, invocation.stages() as report:
        while True:
            step = memory.harvest(path)
            lines, stored, unchanged = lines + step.lines, stored + step.stored, unchanged + step.unchanged
            set_aside += step.set_aside
            reasons.update(step.reasons)
            report("Harvesting", step.read_bytes, step.total_bytes)
            if step.done:
                break
    receipt = HarvestReceipt(
        lines=lines,
        stored=stored,
        unchanged=unchanged,
        set_aside=set_aside,
        reasons=dict(sorted(reasons.items())),
        read_bytes=step.read_bytes,
        total_bytes=step.total_bytes,
    )
    invocation.show(receipt, _print_receipt)


def _print_receipt(receipt: HarvestReceipt) -> None:
    if receipt.lines == 0:
        print_note("nothing new; what is captured is also harvested in the background")
        return
    print_table(
        ("lines", "stored", "there already", "set aside"),
        [(receipt.lines, receipt.stored, receipt.unchanged, receipt.set_aside)],
    )
    for reason, count in receipt.reasons.items():
        print_note(f"set aside {count:,}: {reason}; see captures/set-aside.jsonl in the data folder")
