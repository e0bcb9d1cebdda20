"""`clew facts`: what is true of a subject, since when, and on what evidence."""

from __future__ import annotations

import click

from clew.api import FactLint, FactList, FactPack, FactRebuild, FactTimeline
from clew.core.predicates import canonical, sentence
from clew.faces.cli import facts_review
from clew.faces.cli.command import Verb, VerbGroup
from clew.faces.cli.fact_tables import (
    MOMENT,
    cursor_option,
    limit_option,
    predicate_option,
    print_facts,
    print_receipt,
    user_option,
)
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import one_line, print_degraded, print_fields, print_note, print_table, print_text


@click.group(
    "facts",
    cls=VerbGroup,
    examples=[
        "clew facts assert billing uses PostgreSQL --user ada",
        "clew facts current billing --user ada",
        "clew facts as-of 2026-03-01 billing --user ada",
        "clew facts review --user ada",
    ],
)
def command() -> None:
    """Keep what is true, with its time and its sources: now, as of a day, and as it changed."""


@command.command(
    "assert",
    cls=Verb,
    examples=[
        "clew facts assert billing uses PostgreSQL --user ada",
        "clew facts assert billing status live --from 2026-03-01 --source session_raw:s1/t_5f0c --user ada",
        "clew facts assert billing uses SQLite --supersedes f_5f0c --statement 'We moved to SQLite.' --user ada",
    ],
)
@click.argument("subject")
@click.argument("predicate")
@click.argument("object", metavar="OBJECT")
@user_option
@click.option("--from", "valid_from", type=MOMENT, metavar="DATE", help="Since when; else now.")
@click.option("--to", "valid_to", type=MOMENT, metavar="DATE", help="Until when, if that is known.")
@click.option("--source", "sources", multiple=True, metavar="REF", help="A record that says so; may be given again.")
@click.option("--statement", metavar="TEXT", default="", help="Words to keep as a memory and cite.")
@click.option("--supersedes", multiple=True, metavar="FACT", help="A fact that ends where this one begins.")
@click.option("--confidence", type=click.FloatRange(0, 1), metavar="X", help="Less than the sources allow.")
@click.pass_obj
def assert_(
    invocation: Invocation,
    *,
    subject: str,
    predicate: str,
    object: str,  # noqa: A002 — the third word of every fact
    user: str | None,
    valid_from: int | None,
    valid_to: int | None,
    sources: tuple[str, ...],
    statement: str,
    supersedes: tuple[str, ...],
    confidence: float | None,
) -> None:
    """Say that something is true, and on what ground.

    Without --source and --statement, the fact itself is kept as your statement, and cited.
    """
    said = statement if statement or sources else sentence(subject, canonical(predicate), object)
    with invocation.open() as memory:
        receipt = memory.facts_assert(
            subject,
            predicate,
            object,
            user_id=user,
            sources=sources,
            statement=said,
            valid_from=valid_from,
            valid_to=valid_to,
            confidence=confidence,
            supersedes=supersedes,
        )
    invocation.show(receipt, print_receipt)


@command.command(
    "invalidate",
    cls=Verb,
    examples=[
        "clew facts invalidate f_5f0c --user ada",
        "clew facts invalidate f_5f0c --at 2026-03-01 --reason 'It was a test.' --user ada",
    ],
)
@click.argument("fact")
@user_option
@click.option("--at", type=MOMENT, metavar="DATE", help="From when on it does not hold; its beginning is never.")
@click.option("--reason", metavar="TEXT", default="", help="Why, for whoever looks at it next.")
@click.pass_obj
def invalidate(invocation: Invocation, fact: str, user: str | None, at: int | None, reason: str) -> None:
    """Take a fact back, from some moment on; what was recorded of it stays."""
    with invocation.open() as memory:
        receipt = memory.facts_invalidate(fact, user_id=user, at=at, reason=reason)
    invocation.show(receipt, print_receipt)


@command.command("current", cls=Verb, examples=["clew facts current billing --user ada", "clew facts current"])
@click.argument("subject", required=False)
@user_option
@predicate_option
@limit_option
@cursor_option
@click.pass_obj
def current(
    invocation: Invocation, *, subject: str | None, user: str | None, predicate: str | None, limit: int, cursor: int
) -> None:
    """Show what is true now, of SUBJECT or of all; what has lost its sources stands apart."""
    with invocation.open() as memory:
        found = memory.facts_current(subject, predicate, user_id=user, cursor=cursor, limit=limit)
    invocation.show(found, _print_list)


@command.command(
    "as-of",
    cls=Verb,
    examples=["clew facts as-of 2026-03-01 billing --user ada", "clew facts as-of 2026-03-01 --recorded 2026-02-01"],
)
@click.argument("at", type=MOMENT, metavar="DATE")
@click.argument("subject", required=False)
@click.option("--recorded", type=MOMENT, metavar="DATE", help="As far as it had been written down by then.")
@user_option
@predicate_option
@limit_option
@cursor_option
@click.pass_obj
def as_of(
    invocation: Invocation,
    *,
    at: int,
    subject: str | None,
    recorded: int | None,
    user: str | None,
    predicate: str | None,
    limit: int,
    cursor: int,
) -> None:
    """Show what was true on DATE; with --recorded, as it was believed on that one."""
    with invocation.open() as memory:
        found = memory.facts_as_of(at, subject, predicate, recorded=recorded, user_id=user, cursor=cursor, limit=limit)
    invocation.show(found, _print_list)


@command.command("timeline", cls=Verb, examples=["clew facts timeline billing --user ada"])
@click.argument("subject")
@user_option
@predicate_option
@limit_option
@click.pass_obj
def timeline(invocation: Invocation, subject: str, user: str | None, predicate: str | None, limit: int) -> None:
    """Show all that ever was true of SUBJECT, oldest first, and what was asserted and never held."""
    with invocation.open() as memory:
        found = memory.facts_timeline(subject, predicate, user_id=user, limit=limit)
    invocation.show(found, _print_timeline)


@command.command("lint", cls=Verb, examples=["clew facts lint --user ada"])
@user_option
@click.option(
    "--limit", type=click.IntRange(1, 10_000), metavar="N", default=1000, show_default=True, help="Problems shown."
)
@click.pass_obj
def lint(invocation: Invocation, user: str | None, limit: int) -> None:
    """Look for facts whose sources are gone or changed, that overlap, or that are not well formed.

    Ends with status 1 where it finds something.
    """
    with invocation.open() as memory:
        found = memory.facts_lint(user_id=user, limit=limit)
    invocation.show(found, _print_lint)
    if not found.ok:
        click.get_current_context().exit(1)


@command.command("stale", cls=Verb, examples=["clew facts stale --user ada"])
@user_option
@limit_option
@cursor_option
@click.pass_obj
def stale(invocation: Invocation, user: str | None, limit: int, cursor: int) -> None:
    """List the facts that have lost the ground they stood on, and what has become of it."""
    with invocation.open() as memory:
        invocation.show(memory.facts_stale(user_id=user, cursor=cursor, limit=limit), _print_list)


@command.command("rebuild", cls=Verb, examples=["clew facts rebuild --user ada"])
@user_option
@click.pass_obj
def rebuild(invocation: Invocation, user: str | None) -> None:
    """Replay the facts from the rows, and say whether what was kept in memory is the same."""
    with invocation.open() as memory:
        invocation.show(memory.facts_rebuild(user_id=user), _print_rebuild)


@command.command("pack", cls=Verb, examples=["clew facts pack 'which database does billing use?' --user ada"])
@click.argument("query")
@user_option
@click.option(
    "--budget", type=click.IntRange(64), metavar="TOKENS", default=400, show_default=True, help="Room for it."
)
@click.option("--limit", type=click.IntRange(1, 100), metavar="N", default=12, show_default=True, help="Facts at most.")
@click.pass_obj
def pack(invocation: Invocation, query: str, user: str | None, budget: int, limit: int) -> None:
    """Print the current facts that bear on QUERY, as they would stand in a prompt."""
    with invocation.open() as memory:
        invocation.show(memory.facts_pack(query, user_id=user, budget_tokens=budget, limit=limit), _print_pack)


for verb in (facts_review.propose, facts_review.review, facts_review.accept, facts_review.decline):
    command.add_command(verb)


# --- printing ------------------------------------------------------------------------------------------


def _print_list(found: FactList) -> None:
    if not found.known:
        click.echo(one_line(found.message))
    if found.facts:
        print_facts(found.facts)
    for fact in found.stale:
        print_note(f"stale, not to be relied on: {fact.id} {fact.text} ({'; '.join(fact.why)})")
    if found.cursor is not None:
        print_note(f"more follow: --cursor {found.cursor}")


def _print_timeline(found: FactTimeline) -> None:
    if not found.known:
        click.echo(one_line(found.message))
        return
    print_facts(found.facts)
    for fact in found.facts:
        if fact.stale:
            print_note(f"stale: {fact.id} ({'; '.join(fact.why)})")


def _print_lint(found: FactLint) -> None:
    if found.ok:
        click.echo(f"nothing is wrong; entries looked at: {found.checked:,}")
        return
    print_table(("kind", "record", "problem"), [(each.kind, each.ref, each.message) for each in found.problems])
    if found.found > len(found.problems):
        print_note(f"{found.found - len(found.problems):,} more; raise --limit")


def _print_rebuild(done: FactRebuild) -> None:
    click.echo(done.message)
    print_fields(
        {
            "facts": done.facts,
            "assertions": done.assertions,
            "invalidations": done.invalidations,
            "malformed": done.malformed,
            "digest": done.digest,
        }
    )


def _print_pack(packed: FactPack) -> None:
    if packed.text:
        print_text(packed.text)
    for note in packed.notes:
        print_note(note)
    print_degraded(packed.degraded)
