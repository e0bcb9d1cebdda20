"""`clew why`: why a record would stand in a pack for a query, or would not."""

from __future__ import annotations

import click

from clew.api import Explanation, Why
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import print_fields


@click.command("why", cls=Verb, examples=["clew why user:ada/m1 --query 'our backups' --user ada"])
@click.argument("ref")
@click.option("--query", required=True, metavar="TEXT", help="The request the pack would be for.")
@click.option("--user", metavar="ID", help="The user it would be for.")
@click.option("--session", metavar="ID", help="The session it would be for.")
@click.option("--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Its size; else pack_budget_tokens.")
@click.option("--untrusted", is_flag=True, help="As if text of tools and of pages were asked for, too.")
@click.option("--cold", is_flag=True, help="As if the archive were searched, too.")
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    ref: str,
    query: str,
    user: str | None,
    session: str | None,
    budget: int | None,
    untrusted: bool,
    cold: bool,
) -> None:
    """Say why a record is in the pack for a query, or at which step it dropped out."""
    request = Why(
        ref=ref,
        query=query,
        user_id=user,
        session_id=session,
        budget_tokens=budget,
        untrusted=untrusted,
        cold=cold,
    )
    with invocation.open() as memory:
        explanation = memory.call(request)
    invocation.show(explanation, _print_explanation)


def _print_explanation(explanation: Explanation) -> None:
    click.echo(explanation.sentence)
    candidate = explanation.candidate
    fields: dict[str, str | float] = {
        "record": explanation.ref,
        "in the pack": "yes" if explanation.included else "no",
        "decided by": explanation.stage,
        "reason": explanation.reason,
    }
    if candidate is not None:
        fields |= {"lane": candidate.lane, "score": candidate.score, "similarity": candidate.similarity}
    print_fields(fields)
