"""`clew pack`: the bounded, cited bundle for one request."""

from __future__ import annotations

import click

from clew.api import Bundle, Pack
from clew.faces.cli.command import Verb
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
@click.argument("query")
@click.option("--user", metavar="ID", help="Pack what this user said and what is kept about them.")
@click.option("--session", metavar="ID", help="Pack from this session, too.")
@click.option("--exclude-session", metavar="ID", help="Leave out what was said or done in this session.")
@click.option("--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Size; else pack_budget_tokens.")
@click.option("--limit", type=click.IntRange(1, 100), metavar="N", help="Items at most; else pack_items.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only records of this kind; may be repeated.")
@click.option("--untrusted", is_flag=True, help="Text of tools and of pages, too: framed and capped.")
@click.option("--cold", is_flag=True, help="Search the archive, too; what is taken from it comes back.")
@click.option("--trace", is_flag=True, help="Show every candidate, and why it is in or out.")
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    query: str,
    user: str | None,
    session: str | None,
    exclude_session: str | None,
    budget: int | None,
    limit: int | None,
    kinds: tuple[str, ...],
    untrusted: bool,
    cold: bool,
    trace: bool,
) -> None:
    """Build the few cited lines that bear on a request, within a token budget."""
    if not (user or session):
        raise click.UsageError("Say for whom to pack: --user, --session or both.")
    request = Pack(
        query=query,
        budget_tokens=budget,
        user_id=user,
        session_id=session,
        exclude_session=exclude_session,
        limit=limit,
        kinds=kinds,
        cold=cold,
        untrusted=untrusted,
        trace=trace,
    )
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
