"""`clew facts propose|review|accept|decline`: what texts propose as facts, and a person's word on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from clew.api import FactProposal, FactProposals, FactsDeclined, MemoryApi
from clew.core.model import Role
from clew.errors import InvalidInput, NotFound
from clew.faces.cli.command import Verb
from clew.faces.cli.fact_tables import MOMENT, cursor_option, day, print_receipt, user_option
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import counted, one_line, print_note, print_table

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
