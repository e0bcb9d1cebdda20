"""`clew pack`: the bounded, cited bundle for one request."""

from __future__ import annotations

import click

from clew.api import Bundle, Pack
from clew.faces.cli.command import Verb
from clew.faces.cli.fields import takes
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import (
    counted,
    preview,
    print_degraded,
    print_heading,
    print_note,
    print_table,
    print_text,
)
from clew.faces.cli.trace import print_trace


@click.command(
    "pack",
    cls=Verb,
    examples=[
        "clew pack 'which database did we choose' --user ada",
        "clew pack 'the failing build' --session s1 --budget 600 --untrusted --trace",
    ],
)
@takes(Pack, "query", without=("refs",))
def command(invocation: Invocation, request: Pack) -> None:
    """Build the few cited lines that bear on a request, within a token budget."""
    if not (request.user_id or request.session_id):
        raise click.UsageError("Say for whom to pack: --user, --session or both.")
    with invocation.open() as memory:
        bundle = memory.call(request)
    invocation.show(bundle, _print_bundle)


def _print_bundle(bundle: Bundle) -> None:
    if bundle.items:
        print_text(bundle.bundle_text)
        click.echo()
        counts = f"{counted(len(bundle.items), 'item')}, {bundle.used_tokens:,} of {bundle.budget_tokens:,} tokens"
        print_heading(counts)
        print_table(
            ("n", "depth", "kind", "importance", "trust", "tokens", "record", "text"),
            [
                (
                    f"{item.citation}{' dissent' if item.dissent else ''}",
                    item.layer,
                    item.kind,
                    item.importance,
                    item.trust,
                    item.tokens,
                    item.record_ref,
                    preview(item.text),
                )
                for item in bundle.items
            ],
        )
    if bundle.trace is not None:
        click.echo()
        print_trace(bundle.trace)
    for note in bundle.notes:
        print_note(note)
    print_degraded(bundle.degraded)
