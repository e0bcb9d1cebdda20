"""`clew assemble`: the context for the next model call, and where its budget went."""

from __future__ import annotations

import click

from clew.api import Context
from clew.cli.command import Verb
from clew.cli.invocation import Invocation
from clew.cli.terminal import print_degraded, print_heading, print_table, print_text


@click.command(
    "assemble",
    cls=Verb,
    examples=["clew assemble --session s1 --user ada --query 'our backups' --budget 1000"],
)
@click.option("--session", required=True, metavar="ID", help="The running session; gives the tail.")
@click.option("--user", metavar="ID", help="Recall this user's memories and turns, too.")
@click.option("--query", metavar="TEXT", help="What to recall for; else the newest user turn.")
@click.option("--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Size; else budget_tokens.")
@click.pass_obj
def command(invocation: Invocation, *, session: str, user: str | None, query: str | None, budget: int | None) -> None:
    """Build the context for the next model call, within a token budget."""
    with invocation.open() as memory:
        context = memory.assemble(session, query=query, budget_tokens=budget, user_id=user)
    invocation.show(context, print_context)


def print_context(context: Context) -> None:
    """Sections with their budgets, then the tail, then the recall as the model would read it."""
    print_heading(f"Context: {context.used_tokens:,} of {context.budget_tokens:,} tokens")
    print_table(
        ("section", "items", "tokens", "allowed"),
        [(part.name, part.items, part.used_tokens, part.budget_tokens) for part in context.sections],
    )
    click.echo()
    print_heading(f"Tail, word for word ({len(context.messages)} turns)")
    for message in context.messages:
        print_text(f"{message.role}: {message.text}", indent="  ")
    if context.recalled_text:
        click.echo()
        print_heading(f"Recalled, framed as data ({len(context.recalled)} records)")
        print_text(context.recalled_text, indent="  ")
    print_degraded(context.degraded)
