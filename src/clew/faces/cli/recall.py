"""`clew recall`: the first step of looking something up, one line a record."""

from __future__ import annotations

import click

from clew.api import Line, RecallResult
from clew.core.model import Kind
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import local_time, preview, print_degraded, print_note, print_table


@click.command(
    "recall",
    cls=Verb,
    examples=[
        "clew recall 'which database did we choose' --user ada",
        "clew recall 'failing tests' --session s1 --episodes --mode lexical",
        "clew recall release --user ada --kind plan --kind decision",
    ],
)
@click.argument("query")
@click.option("--user", metavar="ID", help="What is kept about this user, and captured for them.")
@click.option("--session", metavar="ID", help="What was captured in this session.")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "lexical", "vector"]),
    metavar="MODE",
    default="hybrid",
    show_default=True,
    help="lexical (by words), vector (by meaning) or hybrid.",
)
@click.option("--episodes", is_flag=True, help="Search the evidence: raw turns and captured events.")
@click.option(
    "--kind",
    "kinds",
    type=click.Choice([kind.value for kind in Kind]),
    metavar="KIND",
    multiple=True,
    help="Only this kind; may be repeated.",
)
@click.option("-k", "k", type=click.IntRange(1, 1000), metavar="N", default=10, show_default=True, help="How many.")
@click.pass_obj
def command(
    invocation: Invocation, *, query: str, user: str | None, session: str | None, mode: str, episodes: bool,
    kinds: tuple[str, ...], k: int,
) -> None:  # fmt: skip
    """Find records and captured events, one line each. `clew timeline` shows what was around one."""
    if not (user or session):
        raise click.UsageError("Say where to look: --user or --session.")
    with invocation.open() as memory:
        found = memory.recall(
            query, user_id=user, session_id=session, mode=mode, episodes=episodes, kinds=kinds, k=k
        )  # fmt: skip
    invocation.show(found, _print_result)


def print_lines(lines: tuple[Line, ...]) -> None:
    """The table of lines that recall, timeline and replay share; the reference is what the next step takes."""
    print_table(
        ("when", "kind", "who", "trust", "importance", "ref", "text"),
        [
            (local_time(line.ts), line.kind, line.who, line.trust, line.importance, line.ref, preview(line.text))
            for line in lines
        ],
    )


def _print_result(found: RecallResult) -> None:
    if found.lines:
        print_lines(found.lines)
    else:
        print_note("nothing found")
    print_degraded(found.degraded)
