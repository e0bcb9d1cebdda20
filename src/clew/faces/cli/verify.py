"""`clew verify`: proves the store's promises on the store itself."""

from __future__ import annotations

import click

from clew.api import VerifyReport
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import print_table, print_text

NOT_OK = 1


@click.command("verify", cls=Verb, examples=["clew verify", "clew verify --repair"])
@click.option("--repair", is_flag=True, help="Rebuild what can be derived again.")
@click.pass_obj
def command(invocation: Invocation, repair: bool) -> None:
    """Check that the store keeps its promises; status 1 when it does not."""
    with invocation.open() as memory:
        report = memory.verify(repair=repair)
    invocation.show(report, print_report)
    if not report.ok:
        raise click.exceptions.Exit(NOT_OK)


def print_report(report: VerifyReport) -> None:
    print_table(("holds", "check", "proof"), [(check.ok, check.name, check.proof) for check in report.checks])
    for check in report.checks:
        for problem in check.problems:
            print_text(f"{check.name}: {problem}")
    click.echo("verified: all checks hold" if report.ok else "not ok")
