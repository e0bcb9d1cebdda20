"""`clew assemble`: the context for the next model call, and where its budget went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from clew.api import Assemble, Context, Hit, Section
from clew.faces.cli.console.command import Verb
from clew.faces.cli.console.fields import PROJECT, one_of, option, takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import print_degraded, print_heading, print_table, print_text


@click.command(
    "assemble",
    cls=Verb,
    examples=[
        "clew assemble --session s1 --user ada --query 'our backups' --budget 1000",
        "clew assemble --session s1 --mode observations",
    ],
)
@takes(
    Assemble,
    mode=option(type=one_of(("recall", "observations", "both"))),
    project=PROJECT,
    limit_tokens=None,
    since=None,
)
def assemble_command(invocation: Invocation, request: Assemble) -> None:
    """Build the context for the next model call, within a token budget."""
    invocation.answer(request, print_context)


def print_context(context: Context) -> None:
    """Sections with their budgets, then every part in the order and in the words the model would read."""
    print_heading(f"Context: {context.used_tokens:,} of {context.budget_tokens:,} tokens")
    print_table(
        ("section", "items", "tokens", "allowed", "left out"),
        [(part.name, part.items, part.used_tokens, part.budget_tokens, _left_out(part)) for part in context.sections],
    )
    _print_part("Authored rules, word for word", context.authored_text)
    _print_part("Observed so far, framed as data", context.observations_text)
    click.echo()
    print_heading(f"Tail, word for word ({len(context.messages)} turns)")
    for message in context.messages:
        print_text(f"{message.role}: {message.text}", indent="  ")
    _print_part(f"Earlier guidance ({len(context.guidance)} of the user's turns)", context.guidance_text)
    _print_part(f"Recalled, framed as data ({len(context.recalled)} records)", context.recalled_text)
    if context.recalled:
        click.echo()
        print_heading("Why these were recalled")
        _print_reasons(context.recalled)
    print_degraded(context.degraded)


def _left_out(section: Section) -> str:
    """How many items have no place in it, by reason."""
    counts = Counter(item.reason for item in section.left_out)
    return "; ".join(f"{count:,} {reason}" for reason, count in counts.items()) or "-"


def _print_part(heading: str, text: str) -> None:
    if text:
        click.echo()
        print_heading(heading)
        print_text(text, indent="  ")


def _print_reasons(hits: Sequence[Hit]) -> None:
    print_table(
        ("score", "similarity", "keywords", "recency", "use", "authority", "quality", "record"),
        [
            (
                hit.scores.score,
                hit.scores.similarity,
                hit.scores.keywords,
                hit.scores.recency,
                hit.scores.use,
                hit.scores.authority,
                hit.scores.quality,
                _reference(hit),
            )
            for hit in hits
        ],
    )


def _reference(hit: Hit) -> str:
    link = f", linked from {hit.scores.linked_from}" if hit.scores.linked_from else ""
    return f"{hit.record.collection}/{hit.record.id}{link}"
