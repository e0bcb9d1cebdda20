"""`clew search`: the best records for a question, with the reasons for their order."""

from __future__ import annotations

import click

from clew.api import Hit, SearchResult
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import local_time, preview, print_degraded, print_note, print_table


@click.command(
    "search",
    cls=Verb,
    examples=[
        "clew search 'which database did we choose' --user ada",
        "clew search E1047 --collection session_raw:s1 -k 3",
    ],
)
@click.argument("query")
@click.option("--user", metavar="ID", help="Search what this user said and what is kept about them.")
@click.option("--session", metavar="ID", help="Search this session, too.")
@click.option("--collection", "collections", multiple=True, metavar="NAME", help="Search this; may be repeated.")
@click.option("-k", "k", type=click.IntRange(1, 1000), metavar="N", default=10, show_default=True, help="How many.")
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    query: str,
    user: str | None,
    session: str | None,
    collections: tuple[str, ...],
    k: int,
) -> None:
    """Find records by words and by meaning, best first."""
    if not (user or session or collections):
        raise click.UsageError("Say where to search: --user, --session or --collection.")
    with invocation.open() as memory:
        result = memory.search(query, k=k, collections=collections, user_id=user, session_id=session)
    invocation.show(result, _print_result)


def _print_result(result: SearchResult) -> None:
    if result.hits:
        print_hits(result.hits)
    else:
        print_note("nothing found")
    print_degraded(result.degraded)


def print_hits(hits: tuple[Hit, ...]) -> None:
    """The table of hits that search, assembly and the demo share; `-` is a lane that did not run."""
    print_table(
        ("score", "lexical", "dense", "context", "when", "collection", "id", "text"),
        [
            (
                hit.scores.score,
                hit.scores.lexical,
                hit.scores.dense,
                hit.scores.context,
                local_time(hit.record.ts),
                hit.record.collection,
                hit.record.id,
                preview(hit.record.text),
            )
            for hit in hits
        ],
    )
