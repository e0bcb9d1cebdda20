"""`clew redact`: cuts secrets out of a text, the way every text is treated before it is kept."""

from __future__ import annotations

from typing import Any

import click

from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.source import exact_text_or_stdin
from clew.faces.cli.terminal import counted, print_note


@click.command(
    "redact", cls=Verb, examples=["clew redact < deploy.log", "clew redact --pii 'Mail me at ann@example.org'"]
)
@click.argument("text", required=False)
@click.option("--pii", is_flag=True, help="Cut personal data, too: addresses, numbers of phones, cards and accounts.")
@click.pass_obj
def command(invocation: Invocation, text: str | None, pii: bool) -> None:
    """Cut secrets out of TEXT, or of what stands on standard input, and print the rest. Nothing is kept."""
    from clew.text.redaction import Policy, redact

    clean = redact(exact_text_or_stdin(text), Policy.PII if pii else Policy.SECRETS)
    found = [{"kind": cut.kind, "start": cut.start, "end": cut.end} for cut in clean.found]
    invocation.show({"text": clean.text, "found": found}, _print_clean)


def _print_clean(answer: dict[str, Any]) -> None:
    click.echo(answer["text"], nl=not answer["text"].endswith("\n"))
    if answer["found"]:
        print_note(f"cut {counted(len(answer['found']), 'secret')}")
