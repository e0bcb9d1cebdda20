"""`clew compact`: summaries come to stand for a session's old turns, and every turn stays."""

from __future__ import annotations

import click

from clew.api import Compact, CompactReceipt
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import Cell, counted, print_degraded, print_fields, print_heading

FAILED = 1


@click.command("compact", cls=Verb, examples=["clew compact s1", "clew compact s1 --force --budget 32000"])
@click.argument("session_id", metavar="SESSION")
@click.option("--force", is_flag=True, help="Compact all but the newest turns, however few there are.")
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Context the tail is cut for; else budget_tokens."
)
@click.option("--cluster", type=click.IntRange(min=1), metavar="N", help="Turns a summary; else compact_cluster_turns.")
@click.option("--min-turns", type=click.IntRange(min=1), metavar="N", help="Turns to leave; else tail_min_turns.")
@click.option("--tail-tokens", type=click.IntRange(min=0), metavar="TOKENS", help="Size of the tail itself.")
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    session_id: str,
    force: bool,
    budget: int | None,
    cluster: int | None,
    min_turns: int | None,
    tail_tokens: int | None,
) -> None:
    """Let summaries stand for old turns in the active view; nothing is deleted. Status 1 when it failed."""
    request = Compact(
        session_id=session_id,
        force=force,
        budget_tokens=budget,
        cluster_turns=cluster,
        min_turns=min_turns,
        tail_tokens=tail_tokens,
    )
    with invocation.open() as memory, invocation.progress("Compacting", None) as report:
        report(0)
        receipt = memory.call(request)
    invocation.show(receipt, print_receipt)
    if receipt.degraded and not receipt.did_compact:
        raise click.exceptions.Exit(FAILED)


def print_receipt(receipt: CompactReceipt) -> None:
    print_heading(_what_happened(receipt))
    if receipt.clusters_formed or receipt.clusters_declined:
        print_fields(_figures(receipt))
    print_degraded(receipt.degraded)


def _what_happened(receipt: CompactReceipt) -> str:
    before, after = receipt.tokens_before, receipt.tokens_after
    if receipt.did_compact:
        return f"Active view: {before:,} tokens before, {after:,} after ({1 - after / before:.0%} less)"
    return f"Active view: {before:,} tokens, as before; {_why_not(receipt)}"


def _why_not(receipt: CompactReceipt) -> str:
    if receipt.degraded:
        return "nothing was compacted"
    if receipt.tokens_before == 0:
        return "there is nothing in it"
    if receipt.clusters_formed or receipt.clusters_declined:
        return "no summary was smaller than its turns"
    return "too few turns are outside the tail (--force takes them, too)"


def _figures(receipt: CompactReceipt) -> dict[str, Cell]:
    fields: dict[str, Cell] = {
        "turns out of the view": f"{receipt.turns_removed:,}, in {counted(receipt.clusters_formed, 'cluster')}; "
        "every one stays in the raw history",
        "new summaries": f"{len(receipt.summaries):,}, {receipt.summary_method or 'none'}, "
        f"mean confidence {receipt.mean_confidence:.2f}",
        "guidance kept": f"{counted(receipt.shards_kept, 'turn')}, word for word",
    }
    if receipt.clusters_declined:
        declined = counted(receipt.clusters_declined, "cluster")
        fields["left as it was"] = f"{declined} that no summary made smaller"
    return fields
