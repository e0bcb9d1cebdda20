"""`clew trust`: what is held back and why, and the operator's word on it."""

from __future__ import annotations

import click

from clew.api import Inspect, Inspection, ListTrust, Review, ReviewReceipt, TrustList
from clew.core.model import Trust
from clew.faces.cli.console.command import VerbGroup
from clew.faces.cli.console.fields import one_of, option, takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import (
    counted,
    local_time,
    one_line,
    print_fields,
    print_more,
    print_note,
    print_table,
)
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


@command.command("list", examples=["clew trust list", "clew trust list --trust untrusted --limit 20"])
@takes(ListTrust, trust=option(type=one_of(Trust)), limit=option(default=50))
def list_trust(invocation: Invocation, request: ListTrust) -> None:
    """List the records of a trust, oldest first, with the reason; texts are quoted."""
    invocation.answer(request, _print_list)


@command.command("show", examples=["clew trust show session_raw:s1/t_5f0c"])
@takes(Inspect, "ref")
def show(invocation: Invocation, request: Inspect) -> None:
    """Show a record: its trust and why, its places, what it was made from and into; text is quoted."""
    invocation.answer(request, _print_inspection)


def _add_verdict(name: str, example_reason: str, sentence: str) -> None:
    """One verb for each verdict; they differ in nothing but their name."""

    @command.command(
        name,
        help=sentence,
        examples=[
            f"clew trust {name} user:ada/m_5f0c",
            f'clew trust {name} user:ada/m_5f0c --reason "{example_reason}"',
        ],
    )
    @takes(Review, "ref", verdict=name)
    def verdict(invocation: Invocation, request: Review) -> None:
        invocation.answer(request, _print_receipt)


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
    print_more(found.cursor)


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
    for label, refs in (("is in", found.places), ("made from", found.made_from), ("made into", found.made_into)):
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
