"""`clew plans`: what is meant to be done, what of it is due, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable

import click
from msgspec.structs import replace

from clew.api import (
    FactsDecline,
    MemoryApi,
    PlanList,
    PlanProposal,
    PlanProposals,
    PlansAdd,
    PlansClose,
    PlansDue,
    PlansList,
    PlansPropose,
    PlanView,
)
from clew.core.collections import Collection
from clew.errors import InvalidInput, NotFound
from clew.faces.cli.console.command import VerbGroup
from clew.faces.cli.console.fields import one_of, option, takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import counted, local_time, one_line, print_note, print_table
from clew.features.plans.operations import PlanState

MOST_PROPOSALS = 1_000


@click.group(
    "plans",
    cls=VerbGroup,
    examples=[
        "clew plans due --user ada",
        "clew plans add 'renew the certificate' --date 2026-03-01 --user ada",
        "clew plans done p_5f0c --user ada",
    ],
)
def command() -> None:
    """Keep what is meant to be done, with its day or condition, apart from what is true."""


@command.command("list", examples=["clew plans list --user ada", "clew plans list --user ada --state all"])
@takes(PlansList, state=option(type=one_of((*PlanState, "all"))))
def list_plans(invocation: Invocation, request: PlansList) -> None:
    """List plans, those with a day first; one with a condition alone is never due by itself."""
    invocation.answer(request, _print_plans)


@command.command("due", examples=["clew plans due --user ada"])
@takes(PlansDue)
def due(invocation: Invocation, request: PlansDue) -> None:
    """List the open plans whose day has come."""
    invocation.answer(request, _print_plans)


@command.command(
    "add",
    examples=[
        "clew plans add 'renew the certificate' --date 2026-03-01 --user ada",
        "clew plans add 'drop the old table' --when 'the migration has run'",
    ],
)
@takes(PlansAdd, "what", date=option(metavar="DAY"), condition=option("--when", metavar="TEXT"), proposal=None)
def add(invocation: Invocation, request: PlansAdd) -> None:
    """Write a plan down. The same plan again is the same record."""
    invocation.answer(request, _print_plan)


def _add_ending(name: str, state: PlanState, sentence: str) -> None:
    """One verb for each way a plan can end, and one to take that back; they differ in nothing but the state."""

    @command.command(name, help=sentence, examples=[f"clew plans {name} p_5f0c --user ada"])
    @click.option("--user", metavar="ID", help="Whose plans; without it, those for all.")
    @takes(PlansClose, "ref", ref=option(metavar="PLAN"), state=state.value)
    def end(invocation: Invocation, request: PlansClose, user: str | None) -> None:
        with invocation.open() as memory:
            ref = request.ref if "/" in request.ref else _ref_of(memory, user, request.ref)
            invocation.show(memory.call(replace(request, ref=ref)), _print_plan)


_add_ending(
    "done", PlanState.DONE, "Say that a plan was carried out. PLAN is the beginning of its id, or COLLECTION/ID."
)
_add_ending(
    "drop",
    PlanState.DROPPED,
    "Say that nothing will come of a plan. PLAN is the beginning of its id, or COLLECTION/ID.",
)
_add_ending("reopen", PlanState.OPEN, "Take back how a plan ended. PLAN is the beginning of its id, or COLLECTION/ID.")


@command.command("propose", examples=["clew plans propose --user ada"])
@takes(PlansPropose)
def propose(invocation: Invocation, request: PlansPropose) -> None:
    """Read a user's newest turns for plans that are not written down yet; writes nothing."""
    invocation.answer(request, _print_proposals)


@command.command("accept", examples=["clew plans accept c_5f0c --user ada"])
@click.argument("proposal", metavar="ID")
@click.option("--user", metavar="ID", required=True, help="Whose turns it was read from.")
@click.pass_obj
def accept(invocation: Invocation, proposal: str, user: str) -> None:
    """Write a proposed plan down, with the turn it was read from as its source."""
    with invocation.open() as memory:
        found = _find_proposal(memory, user, proposal)
        plan = PlansAdd(
            what=found.what, user_id=user, date=found.date, condition=found.condition, sources=(found.source,),
            proposal=found.id,
        )  # fmt: skip
        invocation.show(memory.call(plan), _print_plan)


@command.command("decline", examples=["clew plans decline c_5f0c --user ada"])
@click.argument("proposal", metavar="ID")
@click.option("--user", metavar="ID", required=True, help="Whose turns it was read from.")
@click.pass_obj
def decline(invocation: Invocation, proposal: str, user: str) -> None:
    """Take a proposed plan off the list for good; the turn stays as it is."""
    with invocation.open() as memory:
        found = _find_proposal(memory, user, proposal)
        declined = memory.call(FactsDecline(user_id=user, source=found.source, proposals=(found.id,)))
        invocation.show(declined, lambda _: click.echo(f"declined: {one_line(found.what)}"))


def _find_proposal(memory: MemoryApi, user: str, proposal: str) -> PlanProposal:
    proposed = memory.call(PlansPropose(user_id=user, limit=MOST_PROPOSALS)).proposals
    by_id = {item.id: item for item in proposed}
    found = by_id.get(_complete_id(proposal, by_id))
    if found is None:
        raise NotFound(f"no proposal {proposal!r}; `clew plans propose` lists them")
    return found


def _ref_of(memory: MemoryApi, user: str | None, beginning: str) -> str:
    plans = memory.call(PlansList(user_id=user, state="all")).plans
    return f"{Collection.plans(user)}/{_complete_id(beginning, (plan.ref.rpartition('/')[2] for plan in plans))}"


def _complete_id(beginning: str, ids: Iterable[str]) -> str:
    """The one id that begins so; as it was given where none does. Raises InvalidInput where several do."""
    found = sorted(id_ for id_ in ids if id_.startswith(beginning))
    if len(found) < 2 or beginning in found:
        return found[0] if len(found) == 1 and len(beginning) > len("p_") else beginning
    shown = ", ".join(found[:3])
    raise InvalidInput(f"{len(found)} ids begin with {one_line(beginning, 40)!r}, as {shown}; write more of it")


def _print_plans(found: PlanList) -> None:
    if not found.plans:
        print_note("no plans")
        return
    print_table(
        ("day", "due", "state", "trust", "record", "when", "plan"),
        [
            (plan.date, plan.due, plan.state, plan.trust, plan.ref, plan.condition or None, plan.what)
            for plan in found.plans
        ],
    )


def _print_plan(plan: PlanView) -> None:
    when = ", ".join(filter(None, (plan.date, plan.condition)))
    click.echo(f"{click.style(one_line(plan.ref), fg='cyan')}  {plan.state}  {one_line(plan.what)}")
    if when:
        click.echo(f"  when: {one_line(when)}")
    for ref in plan.sources:
        click.echo(f"  source: {one_line(ref)}")
    if plan.closed_by:
        click.echo(f"  closed by: {one_line(plan.closed_by)}")


def _print_proposals(found: PlanProposals) -> None:
    if found.proposals:
        print_table(
            ("proposal", "said", "day", "when", "source", "plan"),
            [
                (item.id, local_time(item.ts), item.date, item.condition or None, item.source, item.what)
                for item in found.proposals
            ],
        )
    print_note(f"{counted(found.looked_at, 'turn')} read; nothing was written")
