"""`clew facts`: what is true of a subject, since when, and on what evidence."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import click
from msgspec.structs import replace

from clew.api import (
    FactLint,
    FactList,
    FactPack,
    FactProposal,
    FactProposals,
    FactRebuild,
    FactReceipt,
    FactsAccept,
    FactsAsOf,
    FactsAssert,
    FactsCurrent,
    FactsDecline,
    FactsDeclined,
    FactsInvalidate,
    FactsLint,
    FactsPack,
    FactsPropose,
    FactsRebuild,
    FactsReview,
    FactsStale,
    FactsTimeline,
    FactTimeline,
    FactView,
    MemoryApi,
)
from clew.core.model import Role
from clew.core.predicates import canonical, sentence
from clew.errors import InvalidInput, NotFound
from clew.faces.cli.console.command import VerbGroup
from clew.faces.cli.console.fields import one_of, option, takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import (
    Cell,
    counted,
    one_line,
    print_degraded,
    print_fields,
    print_more,
    print_note,
    print_table,
    print_text,
)


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

_FROM = option("--from", type=MOMENT, metavar="DATE")
_TO = option("--to", type=MOMENT, metavar="DATE")
_AT = option("--at", type=MOMENT, metavar="DATE")
_SUPERSEDES = option("--supersedes", metavar="FACT")


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


_ANSWERS = {"a": "accept", "e": "edit", "r": "reject", "s": "skip", "q": "quit"}


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
    "propose",
    examples=["clew facts propose 'We moved billing to SQLite.' --user ada", "clew facts propose - < notes.txt"],
)
@takes(FactsPropose, "text", ts=_AT, role=option(type=one_of(Role)))
def propose(invocation: Invocation, request: FactsPropose) -> None:
    """Show what TEXT, or with - standard input, proposes as facts. Writes nothing."""
    text = sys.stdin.read() if request.text == "-" else request.text
    invocation.answer(replace(request, text=text), print_proposals)


@facts_command.command("review", examples=["clew facts review --user ada", "clew facts review --user ada --list"])
@takes(FactsReview)
@click.option("--list", "only_list", is_flag=True, help="List them and ask nothing, as into a pipe.")
def review(invocation: Invocation, request: FactsReview, only_list: bool) -> None:
    """Go through what a user's turns propose: accept, edit, reject or skip each one.

    Accepting writes a fact that cites the turn; rejecting is remembered; skipping leaves it for another day.
    """
    if only_list or invocation.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        invocation.answer(request, print_proposals)
        return
    with invocation.open() as memory:
        _go_through(memory, request)


@facts_command.command(
    "accept",
    examples=[
        "clew facts accept session_raw:s1/t_5f0c --user ada",
        "clew facts accept session_raw:s1/t_5f0c c_77d1 --object 'PostgreSQL 17' --user ada",
    ],
)
@takes(
    FactsAccept,
    "source",
    "proposal",
    source=option(metavar="TURN"),
    valid_from=_FROM,
    valid_to=_TO,
    supersedes=_SUPERSEDES,
)
def accept(invocation: Invocation, request: FactsAccept) -> None:
    """Make a proposal a fact that cites its turn. PROPOSAL may be left out where TURN has only one."""
    invocation.answer(request, print_receipt)


@facts_command.command(
    "decline",
    examples=["clew facts decline session_raw:s1/t_5f0c c_77d1 --user ada"],
)
@takes(FactsDecline, "source", "proposals", source=option(metavar="TURN"))
def decline(invocation: Invocation, request: FactsDecline) -> None:
    """Take proposals of a turn off the queue for good. The turn stays as it is."""
    invocation.answer(request, _print_declined)


def print_proposals(found: FactProposals) -> None:
    if found.proposals:
        print_table(
            ("proposal", "since", "subject", "predicate", "object", "confidence", "turn", "against", "words"),
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
    print_more(found.cursor)


# --- asking one by one ---------------------------------------------------------------------------------


def _go_through(memory: MemoryApi, request: FactsReview) -> None:
    done = dict.fromkeys(_ANSWERS.values(), 0)
    for proposal in _read_pages(memory, request):
        answer = _ask(proposal)
        if answer == "quit":
            break
        if answer == "reject":
            memory.facts_decline(request.user_id, proposal.source, proposal.id)
        elif answer in ("accept", "edit") and not _accept(memory, request.user_id, proposal, edit=answer == "edit"):
            answer = "skip"
        done[answer] += 1
    click.echo(
        f"{counted(done['accept'] + done['edit'], 'fact')} accepted, {done['reject']} rejected, {done['skip']} skipped"
    )


def _read_pages(memory: MemoryApi, request: FactsReview) -> Iterator[FactProposal]:
    following: int | None = request.cursor
    while following is not None:
        page = memory.call(replace(request, cursor=following))
        yield from page.proposals
        following = page.cursor


def _ask(proposal: FactProposal) -> str:
    words = f"{proposal.subject} · {proposal.predicate} · {proposal.object}"
    click.echo()
    click.echo(click.style(one_line(words), bold=True))
    click.echo(f"  since {day(proposal.valid_from)}, confidence {proposal.confidence:.2f}, {one_line(proposal.source)}")
    click.echo(f"  “{one_line(proposal.quote)}”")
    if proposal.known:
        click.echo("  this is known; accepting it adds a source")
    if proposal.contradicts or proposal.ends:
        click.echo(click.style(f"  {_against(proposal)}", fg="yellow"))
    choices = ", ".join(f"[{key}]{word[1:]}" for key, word in _ANSWERS.items())
    key = click.prompt(choices, type=click.Choice(list(_ANSWERS)), show_choices=False, default="s")
    return _ANSWERS[key]


def _accept(memory: MemoryApi, user: str, proposal: FactProposal, *, edit: bool) -> bool:
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
    """The facts that it contradicts, or that it takes back."""
    facts, verb = (proposal.ends, "ends") if proposal.ends else (proposal.contradicts, "contradicts")
    return f"{verb} {', '.join(f'{fact.text} ({fact.id})' for fact in facts)}" if facts else ""


def _print_declined(done: FactsDeclined) -> None:
    click.echo(f"declined; {counted(len(done.declined), 'proposal')} of {one_line(done.source)}")


@facts_command.command(
    "assert",
    examples=[
        "clew facts assert billing uses PostgreSQL --user ada",
        "clew facts assert billing status live --from 2026-03-01 --source session_raw:s1/t_5f0c --user ada",
        "clew facts assert billing uses SQLite --supersedes f_5f0c --statement 'We moved to SQLite.' --user ada",
    ],
)
@takes(
    FactsAssert,
    "subject",
    "predicate",
    "object",
    valid_from=_FROM,
    valid_to=_TO,
    supersedes=_SUPERSEDES,
)
def assert_(invocation: Invocation, request: FactsAssert) -> None:
    """Say that something is true, and on what ground.

    Without --source and --statement, the fact itself is kept as your statement, and cited.
    """
    if not (request.statement or request.sources):
        said = sentence(request.subject, canonical(request.predicate), request.object)
        request = replace(request, statement=said)
    invocation.answer(request, print_receipt)


@facts_command.command(
    "invalidate",
    examples=[
        "clew facts invalidate f_5f0c --user ada",
        "clew facts invalidate f_5f0c --at 2026-03-01 --reason 'It was a test.' --user ada",
    ],
)
@takes(FactsInvalidate, "fact", at=_AT)
def invalidate(invocation: Invocation, request: FactsInvalidate) -> None:
    """Take a fact back, from some moment on; what was recorded of it stays."""
    invocation.answer(request, print_receipt)


@facts_command.command("current", examples=["clew facts current billing --user ada", "clew facts current"])
@takes(FactsCurrent, "subject")
def current(invocation: Invocation, request: FactsCurrent) -> None:
    """Show what is true now, of SUBJECT or of all, and apart from it what has lost its sources."""
    invocation.answer(request, _print_list)


@facts_command.command(
    "as-of",
    examples=["clew facts as-of 2026-03-01 billing --user ada", "clew facts as-of 2026-03-01 --recorded 2026-02-01"],
)
@takes(
    FactsAsOf,
    "at",
    "subject",
    at=option(type=MOMENT, metavar="DATE"),
    recorded=option(type=MOMENT, metavar="DATE"),
)
def as_of(invocation: Invocation, request: FactsAsOf) -> None:
    """Show what was true on DATE; with --recorded, as it was believed on that one."""
    invocation.answer(request, _print_list)


@facts_command.command("timeline", examples=["clew facts timeline billing --user ada"])
@takes(FactsTimeline, "subject", limit=option(default=100))
def timeline(invocation: Invocation, request: FactsTimeline) -> None:
    """Show all that ever was true of SUBJECT, oldest first, and what was asserted and never held."""
    invocation.answer(request, _print_timeline)


@facts_command.command("lint", examples=["clew facts lint --user ada"])
@takes(FactsLint)
def lint(invocation: Invocation, request: FactsLint) -> None:
    """Look for facts whose sources are gone or changed, that overlap, or that are not well formed.

    Ends with status 1 where it finds something.
    """
    if not invocation.answer(request, _print_lint).ok:
        raise click.exceptions.Exit(1)


@facts_command.command("stale", examples=["clew facts stale --user ada"])
@takes(FactsStale)
def stale(invocation: Invocation, request: FactsStale) -> None:
    """List the facts whose sources no longer support them, and what has become of those sources."""
    invocation.answer(request, _print_list)


@facts_command.command("rebuild", examples=["clew facts rebuild --user ada"])
@takes(FactsRebuild)
def rebuild(invocation: Invocation, request: FactsRebuild) -> None:
    """Replay the facts from the rows, and say whether what was kept in memory is the same."""
    invocation.answer(request, _print_rebuild)


@facts_command.command("pack", examples=["clew facts pack 'which database does billing use?' --user ada"])
@takes(FactsPack, "query")
def pack(invocation: Invocation, request: FactsPack) -> None:
    """Print the current facts that bear on QUERY, as a prompt would have them."""
    invocation.answer(request, _print_pack)


# --- printing ------------------------------------------------------------------------------------------


def _print_list(found: FactList) -> None:
    if not found.known:
        click.echo(one_line(found.message))
    if found.facts:
        print_facts(found.facts)
    for fact in found.stale:
        print_note(f"stale, not to be relied on: {fact.id} {fact.text} ({'; '.join(fact.why)})")
    print_more(found.cursor)


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
