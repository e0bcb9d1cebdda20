"""`clew trust`: what is held back and why, and the operator's word on it."""

from __future__ import annotations

import click

from clew.api import Inspect, Inspection, ListTrust, ReviewReceipt, TrustList
from clew.core.model import Trust
from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import counted, local_time, one_line, print_fields, print_note, print_table
from clew.text.framing import clip, quote

SHOWN_CHARS = 4000
LISTED_REFS = 20


@click.group(
    "trust",
    cls=VerbGroup,
    examples=["clew trust list", "clew trust show session_raw:s1/t_5f0c", "clew trust release session_raw:s1/t_5f0c"],
)
def command() -> None:
    """See what is quarantined and why; release it, confirm it, or quarantine something else."""


@command.command("list", cls=Verb, examples=["clew trust list", "clew trust list --trust untrusted --limit 20"])
@click.option(
    "--trust",
    type=click.Choice([trust.value for trust in Trust]),
    default=Trust.QUARANTINED.value,
    show_default=True,
    help="Which trust to list.",
)
@click.option(
    "--limit", type=click.IntRange(1, 1000), metavar="N", default=50, show_default=True, help="Records a page."
)
@click.option("--cursor", type=click.IntRange(min=0), metavar="N", default=0, help="Where the next page starts.")
@click.pass_obj
def list_trust(invocation: Invocation, trust: str, limit: int, cursor: int) -> None:
    """List the records of a trust, oldest first, with the reason; texts are quoted."""
    with invocation.open() as memory:
        invocation.show(memory.call(ListTrust(trust=trust, cursor=cursor, limit=limit)), _print_list)


@command.command("show", cls=Verb, examples=["clew trust show session_raw:s1/t_5f0c"])
@click.argument("reference", metavar="REF")
@click.pass_obj
def show(invocation: Invocation, reference: str) -> None:
    """Show a record: its trust and why, where it stands, what it was made from and into; text is quoted."""
    with invocation.open() as memory:
        invocation.show(memory.call(Inspect(ref=reference)), _print_inspection)


def _add_verdict(name: str, example_reason: str, sentence: str) -> None:
    """One verb for each verdict; they differ in nothing but their name."""

    @command.command(
        name,
        cls=Verb,
        help=sentence,
        examples=[
            f"clew trust {name} user:ada/m_5f0c",
            f'clew trust {name} user:ada/m_5f0c --reason "{example_reason}"',
        ],
    )
    @click.argument("reference", metavar="REF")
    @click.option("--reason", metavar="TEXT", default="", help="Why, for whoever looks at it next.")
    @click.pass_obj
    def verdict(invocation: Invocation, reference: str, reason: str) -> None:
        with invocation.open() as memory:
            invocation.show(memory.review(reference, name, reason=reason), _print_receipt)


_add_verdict(
    "release",
    "a talk about prompt injection",
    "Give a record the trust of its origin, and what was held back because of it, too.",
)
_add_verdict(
    "quarantine",
    "from a page that was taken over",
    "Keep a record, and all that was made from it, out of contexts, packs and searches.",
)
_add_verdict(
    "confirm",
    "read and checked",
    "Trust a record on your own word; never more than what it was made from.",
)


def _print_list(found: TrustList) -> None:
    if not found.items:
        print_note("no records")
        return
    print_table(
        ("when", "trust", "from", "by", "record", "reason", "text"),
        [
            (local_time(item.ts), item.trust, item.provenance, item.by, item.ref, item.reason, item.text)
            for item in found.items
        ],
    )
    if found.cursor is not None:
        print_note(f"more follow: --cursor {found.cursor}")


def _print_inspection(found: Inspection) -> None:
    record = found.record
    print_fields(
        {
            "record": f"{record.collection}/{record.id}",
            "when": local_time(record.ts),
            "role": record.role,
            "from": record.provenance,
            "trust": record.trust,
            "reason": found.reason,
            "used": counted(record.access_count, "time"),
        }
    )
    for label, refs in (("stands in", found.places), ("made from", found.made_from), ("made into", found.made_into)):
        _print_refs(label, refs)
    click.echo(quote(clip(record.text, SHOWN_CHARS)))


def _print_receipt(receipt: ReviewReceipt) -> None:
    click.echo(f"{one_line(receipt.ref)}  {receipt.before} → {receipt.trust}")
    _print_refs("changed with it", receipt.affected)


def _print_refs(label: str, refs: tuple[str, ...]) -> None:
    for ref in refs[:LISTED_REFS]:
        click.echo(f"{click.style(label, fg='cyan')}  {one_line(ref)}")
    if len(refs) > LISTED_REFS:
        print_note(f"{label}: {len(refs) - LISTED_REFS:,} more; all with --json")
