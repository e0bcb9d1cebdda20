"""`clew facts`: what is true of a subject, since when, and on what evidence."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import click

from clew.api import (
    FactLint,
    FactList,
    FactPack,
    FactProposal,
    FactProposals,
    FactRebuild,
    FactReceipt,
    FactsDeclined,
    FactTimeline,
    FactView,
    MemoryApi,
)
from clew.core.model import Role
from clew.core.predicates import canonical, sentence
from clew.errors import InvalidInput, NotFound
from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import (
    Cell,
    counted,
    one_line,
    print_degraded,
    print_fields,
    print_note,
    print_table,
    print_text,
)

user_option = click.option("--user", metavar="ID", help="Whose facts; without it, those for all.")
limit_option = click.option(
    "--limit", type=click.IntRange(1, 1000), metavar="N", default=100, show_default=True, help="Facts a page."
)
cursor_option = click.option(
    "--cursor", type=click.IntRange(min=0), metavar="N", default=0, help="Where the next page starts."
)
predicate_option = click.option("--predicate", metavar="NAME", help="Only what has this predicate.")


class Moment(click.ParamType[int]):
    """A day or a time as ISO 8601 writes it, in UTC unless it says otherwise."""

    name = "date"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{one_line(str(value), 40)!r} is no date; write 2026-03-01 or 2026-03-01T09:30", param, ctx)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return round(aware.timestamp() * 1000)


MOMENT = Moment()


def print_receipt(receipt: FactReceipt) -> None:
    """What was written, since when it holds, and what it put an end to."""
    fact = receipt.fact
    click.echo(f"{click.style(one_line(fact.id), fg='cyan')}  {one_line(fact.text)}  {_span(fact)}")
    if not receipt.new:
        print_note("this was known already; nothing was written")
    for ended in receipt.ended:
        click.echo(f"{click.style('ended', fg='cyan')}  {one_line(ended.id)}  {one_line(ended.text)}  {_span(ended)}")
    if receipt.redacted:
        print_note(f"cut out before it was written: {', '.join(receipt.redacted)}")


def print_facts(facts: Sequence[FactView]) -> None:
    print_table(
        ("fact", "since", "until", "subject", "predicate", "object", "trust", "confidence", "sources"),
        [_row(fact) for fact in facts],
    )


def day(ts_ms: int | None) -> str:
    """A moment in UTC: its day, and its minute where it is not midnight."""
    if ts_ms is None:
        return ""
    moment = datetime.fromtimestamp(ts_ms / 1000, UTC)
    return f"{moment:%Y-%m-%d}" if ts_ms % 86_400_000 == 0 else f"{moment:%Y-%m-%d %H:%M}"


def _row(fact: FactView) -> tuple[Cell, ...]:
    return (
        fact.id,
        day(fact.valid_from),
        _until(fact),
        fact.subject,
        fact.predicate,
        fact.object,
        fact.trust,
        fact.confidence,
        ", ".join(fact.sources),
    )


def _span(fact: FactView) -> str:
    until = _until(fact)
    return f"since {day(fact.valid_from)}" + (f" until {until}" if until else "")


def _until(fact: FactView) -> str:
    if fact.valid_to is not None and fact.valid_to <= fact.valid_from:
        return "never held"
    return day(fact.valid_to)


_whose_turns = click.option("--user", metavar="ID", required=True, help="Whose turns.")

_ANSWERS = {"a": "accept", "e": "edit", "r": "reject", "s": "skip", "q": "quit"}


@click.command(
    "propose",
    cls=Verb,
    examples=["clew facts propose 'We moved billing to SQLite.' --user ada", "clew facts propose - < notes.txt"],
)
@click.argument("text")
@user_option
@click.option("--speaker", metavar="NAME", default="", help='Who says "I" in it.')
@click.option("--at", type=MOMENT, metavar="DATE", help="When it was said; else now.")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.USER.value,
    show_default=True,
    help="Who speaks; what a tool says proposes nothing.",
)
@click.pass_obj
def propose(invocation: Invocation, *, text: str, user: str | None, speaker: str, at: int | None, role: str) -> None:
    """Show what TEXT, or with - standard input, proposes as facts. Writes nothing."""
    read = sys.stdin.read() if text == "-" else text
    with invocation.open() as memory:
        found = memory.facts_propose(read, user_id=user, speaker=speaker, ts=at, role=role)
    invocation.show(found, print_proposals)


@click.command("review", cls=Verb, examples=["clew facts review --user ada", "clew facts review --user ada --list"])
@_whose_turns
@click.option("--list", "only_list", is_flag=True, help="List them and ask nothing, as into a pipe.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), metavar="N", default=50, show_default=True, help="Proposals a page."
)
@cursor_option
@click.pass_obj
def review(invocation: Invocation, user: str, only_list: bool, limit: int, cursor: int) -> None:
    """Go through what a user's turns propose: accept, edit, reject or skip each one.

    Accepting writes a fact that cites the turn; rejecting is remembered; skipping leaves it for another day.
    """
    asks = not (only_list or invocation.json) and sys.stdin.isatty() and sys.stdout.isatty()
    with invocation.open() as memory:
        if asks:
            _go_through(memory, user, limit, cursor)
        else:
            invocation.show(memory.facts_review(user, cursor=cursor, limit=limit), print_proposals)


@click.command(
    "accept",
    cls=Verb,
    examples=[
        "clew facts accept session_raw:s1/t_5f0c --user ada",
        "clew facts accept session_raw:s1/t_5f0c c_77d1 --object 'PostgreSQL 17' --user ada",
    ],
)
@click.argument("turn")
@click.argument("proposal", required=False)
@_whose_turns
@click.option("--subject", metavar="TEXT", help="Another subject.")
@click.option("--predicate", metavar="NAME", help="Another predicate.")
@click.option("--object", "object_", metavar="TEXT", help="Another object.")
@click.option("--from", "valid_from", type=MOMENT, metavar="DATE", help="Since when; else as the turn says.")
@click.option("--to", "valid_to", type=MOMENT, metavar="DATE", help="Until when, if that is known.")
@click.pass_obj
def accept(
    invocation: Invocation,
    *,
    turn: str,
    proposal: str | None,
    user: str,
    subject: str | None,
    predicate: str | None,
    object_: str | None,
    valid_from: int | None,
    valid_to: int | None,
) -> None:
    """Make a proposal a fact that cites its turn. PROPOSAL may be left out where TURN has only one."""
    with invocation.open() as memory:
        receipt = memory.facts_accept(
            user,
            turn,
            proposal or "",
            subject=subject,
            predicate=predicate,
            object=object_,
            valid_from=valid_from,
            valid_to=valid_to,
        )
    invocation.show(receipt, print_receipt)


@click.command(
    "decline",
    cls=Verb,
    examples=["clew facts decline session_raw:s1/t_5f0c c_77d1 --user ada"],
)
@click.argument("turn")
@click.argument("proposals", nargs=-1, required=True, metavar="PROPOSAL...")
@_whose_turns
@click.pass_obj
def decline(invocation: Invocation, turn: str, proposals: tuple[str, ...], user: str) -> None:
    """Take proposals of a turn off the queue for good. The turn stays as it is."""
    with invocation.open() as memory:
        invocation.show(memory.facts_decline(user, turn, *proposals), _print_declined)


def print_proposals(found: FactProposals) -> None:
    if found.proposals:
        print_table(
            ("proposal", "since", "subject", "predicate", "object", "confidence", "turn", "contradicts", "words"),
            [
                (
                    each.id, day(each.valid_from), each.subject, each.predicate, each.object, each.confidence,
                    each.source or None, _against(each) or None, each.quote,
                )
                for each in found.proposals
            ],
        )  # fmt: skip
    else:
        click.echo("nothing is proposed")
    print_note(found.message)
    if found.cursor is not None:
        print_note(f"more follow: --cursor {found.cursor}")


# --- asking one by one ---------------------------------------------------------------------------------


def _go_through(memory: MemoryApi, user: str, limit: int, cursor: int) -> None:
    done = dict.fromkeys(_ANSWERS.values(), 0)
    for proposal in _each(memory, user, limit, cursor):
        answer = _asked(proposal)
        if answer == "quit":
            break
        if answer == "reject":
            memory.facts_decline(user, proposal.source, proposal.id)
        elif answer in ("accept", "edit") and not _accepted(memory, user, proposal, edit=answer == "edit"):
            answer = "skip"
        done[answer] += 1
    click.echo(
        f"{counted(done['accept'] + done['edit'], 'fact')} accepted, {done['reject']} rejected, {done['skip']} skipped"
    )


def _each(memory: MemoryApi, user: str, limit: int, cursor: int) -> Iterator[FactProposal]:
    following: int | None = cursor
    while following is not None:
        page = memory.facts_review(user, cursor=following, limit=limit)
        yield from page.proposals
        following = page.cursor


def _asked(proposal: FactProposal) -> str:
    words = f"{proposal.subject} · {proposal.predicate} · {proposal.object}"
    click.echo()
    click.echo(click.style(one_line(words), bold=True))
    click.echo(f"  since {day(proposal.valid_from)}, confidence {proposal.confidence:.2f}, {one_line(proposal.source)}")
    click.echo(f"  “{one_line(proposal.quote)}”")
    if proposal.known:
        click.echo("  this is known; accepting it adds a source")
    if proposal.contradicts:
        click.echo(click.style(f"  contradicts {_against(proposal)}", fg="yellow"))
    choices = ", ".join(f"[{key}]{word[1:]}" for key, word in _ANSWERS.items())
    key = click.prompt(choices, type=click.Choice(list(_ANSWERS)), show_choices=False, default="s")
    return _ANSWERS[key]


def _accepted(memory: MemoryApi, user: str, proposal: FactProposal, *, edit: bool) -> bool:
    """Whether it is a fact now. What cannot be one is said, and the next one is asked."""
    subject = predicate = object_ = None
    if edit:
        subject = click.prompt("subject", default=proposal.subject)
        predicate = click.prompt("predicate", default=proposal.predicate)
        object_ = click.prompt("object", default=proposal.object)
    try:
        receipt = memory.facts_accept(
            user, proposal.source, proposal.id, subject=subject, predicate=predicate, object=object_
        )
    except (InvalidInput, NotFound) as error:
        print_note(error.message)
        return False
    print_receipt(receipt)
    return True


def _against(proposal: FactProposal) -> str:
    return ", ".join(f"{fact.text} ({fact.id})" for fact in proposal.contradicts)


def _print_declined(done: FactsDeclined) -> None:
    click.echo(f"declined; {counted(len(done.declined), 'proposal')} of {one_line(done.source)}")


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
def facts_command() -> None:
    """Keep what is true, with its time and its sources: now, as of a day, and as it changed."""


@facts_command.command(
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


@facts_command.command(
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


@facts_command.command("current", cls=Verb, examples=["clew facts current billing --user ada", "clew facts current"])
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


@facts_command.command(
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


@facts_command.command("timeline", cls=Verb, examples=["clew facts timeline billing --user ada"])
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


@facts_command.command("lint", cls=Verb, examples=["clew facts lint --user ada"])
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


@facts_command.command("stale", cls=Verb, examples=["clew facts stale --user ada"])
@user_option
@limit_option
@cursor_option
@click.pass_obj
def stale(invocation: Invocation, user: str | None, limit: int, cursor: int) -> None:
    """List the facts that have lost the ground they stood on, and what has become of it."""
    with invocation.open() as memory:
        invocation.show(memory.facts_stale(user_id=user, cursor=cursor, limit=limit), _print_list)


@facts_command.command("rebuild", cls=Verb, examples=["clew facts rebuild --user ada"])
@user_option
@click.pass_obj
def rebuild(invocation: Invocation, user: str | None) -> None:
    """Replay the facts from the rows, and say whether what was kept in memory is the same."""
    with invocation.open() as memory:
        invocation.show(memory.facts_rebuild(user_id=user), _print_rebuild)


@facts_command.command("pack", cls=Verb, examples=["clew facts pack 'which database does billing use?' --user ada"])
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


for verb in (propose, review, accept, decline):
    facts_command.add_command(verb)


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
