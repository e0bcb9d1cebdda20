"""`clew why`: why a record would stand in a pack for a query, or would not."""

from __future__ import annotations

import click

from clew.api import Explanation, Why
from clew.faces.cli.command import Verb
from clew.faces.cli.fields import takes
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import print_fields


@click.command("why", cls=Verb, examples=["clew why user:ada/m1 --query 'our backups' --user ada"])
@takes(Why, "ref", without=("refs",))
def command(invocation: Invocation, request: Why) -> None:
    """Say why a record is in the pack for a query, or at which step it dropped out."""
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
