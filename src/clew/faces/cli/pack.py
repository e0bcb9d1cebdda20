"""`clew pack`, `clew trace` and `clew why`."""

from __future__ import annotations

import click

from clew.api import Bundle, DiffTraces, Explanation, ListTraces, Pack, ShowTrace, Trace, TraceDiff, TraceList, Why
from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.fields import PROJECT, takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import (
    counted,
    local_time,
    preview,
    print_degraded,
    print_fields,
    print_heading,
    print_note,
    print_table,
    print_text,
)


@click.group("trace", cls=VerbGroup, examples=["clew trace list", "clew trace show ID", "clew trace diff ID ID"])
def trace_command() -> None:
    """Look at the traces of packs: what was in, what was out, and why."""


@trace_command.command("list", examples=["clew trace list --limit 5"])
@takes(ListTraces)
def list_command(invocation: Invocation, request: ListTraces) -> None:
    """List the traces that are kept, newest first."""
    invocation.answer(request, _print_list)


@trace_command.command("show", examples=["clew trace show p_0123456789abcdef0123"])
@takes(ShowTrace, "id")
def show_command(invocation: Invocation, request: ShowTrace) -> None:
    """Show one trace: lanes, rules, and every candidate with its reason."""
    invocation.answer(request, print_trace)


@trace_command.command("diff", examples=["clew trace diff p_0123456789abcdef0123 p_9876543210fedcba9876"])
@takes(DiffTraces, "before", "after")
def diff_command(invocation: Invocation, request: DiffTraces) -> None:
    """Compare two traces: which candidates fared otherwise, and which rules differ."""
    invocation.answer(request, _print_diff)


def print_trace(trace: Trace) -> None:
    """Everything a trace says; `-` is a lane that did not see the candidate."""
    print_fields(
        {
            "trace": trace.id,
            "when": local_time(trace.ts),
            "user": trace.user_id,
            "session": trace.session_id,
            "used tokens": trace.used_tokens,
            **trace.policy,
        }
    )
    click.echo()
    print_table(
        ("lane", "searched", "candidates", "collections"),
        [(lane.name, lane.searched, lane.candidates, ", ".join(lane.collections)) for lane in trace.lanes],
    )
    if trace.candidates:
        click.echo()
        print_heading("Candidates")
        print_table(
            ("in", "reason", "score", "similarity", "lexical", "dense", "context", "lane", "trust", "depth", "record"),
            [
                (
                    candidate.included,
                    candidate.reason,
                    candidate.score,
                    candidate.similarity,
                    candidate.lexical,
                    candidate.dense,
                    candidate.context,
                    candidate.lane,
                    candidate.trust or None,
                    candidate.layer,
                    candidate.ref,
                )
                for candidate in trace.candidates
            ],
        )
    if trace.timings_ms:
        click.echo()
        print_table(("step", "ms"), [*trace.timings_ms.items(), ("all", sum(trace.timings_ms.values()))])
    print_degraded(trace.degraded)


def _print_list(traces: TraceList) -> None:
    if not traces.traces:
        print_note("no traces are kept yet")
        return
    print_table(
        ("id", "when", "user", "session", "candidates", "in", "tokens", "abstained"),
        [
            (
                head.id,
                local_time(head.ts),
                head.user_id,
                head.session_id,
                head.candidates,
                head.included,
                head.used_tokens,
                head.abstained,
            )
            for head in traces.traces
        ],
    )


def _print_diff(diff: TraceDiff) -> None:
    if diff.same:
        print_note("both say the same")
    if diff.policy:
        print_table(
            ("rule", "before", "after"), [(name, before, after) for name, (before, after) in diff.policy.items()]
        )
    if diff.changes:
        print_table(
            ("before", "after", "score before", "score after", "record"),
            [
                (change.before, change.after, change.score_before, change.score_after, change.ref)
                for change in diff.changes
            ],
        )


@click.command(
    "pack",
    cls=Verb,
    examples=[
        "clew pack 'which database did we choose' --user ada",
        "clew pack 'the failing build' --session s1 --budget 600 --untrusted --trace",
        "clew pack 'where did we leave off?' --user ada --project .",
    ],
)
@takes(Pack, "query", refs=None, project=PROJECT)
def pack_command(invocation: Invocation, request: Pack) -> None:
    """Build the few cited lines that bear on a request, within a token budget."""
    if not (request.user_id or request.session_id):
        raise click.UsageError("Say for whom to pack: --user, --session or both.")
    invocation.answer(request, _print_bundle)


def _print_bundle(bundle: Bundle) -> None:
    if bundle.items:
        print_text(bundle.bundle_text)
        click.echo()
        counts = f"{counted(len(bundle.items), 'item')}, {bundle.used_tokens:,} of {bundle.budget_tokens:,} tokens"
        print_heading(counts)
        print_table(
            ("n", "depth", "kind", "importance", "trust", "tokens", "record", "text"),
            [
                (
                    f"{item.citation}{' dissent' if item.dissent else ''}",
                    item.layer,
                    item.kind,
                    item.importance,
                    item.trust,
                    item.tokens,
                    item.record_ref,
                    preview(item.text),
                )
                for item in bundle.items
            ],
        )
    if bundle.trace is not None:
        click.echo()
        print_trace(bundle.trace)
    for note in bundle.notes:
        print_note(note)
    print_degraded(bundle.degraded)


@click.command("why", cls=Verb, examples=["clew why user:ada/m1 --query 'our backups' --user ada"])
@takes(Why, "ref", refs=None, project=PROJECT)
def why_command(invocation: Invocation, request: Why) -> None:
    """Say why a record is in the pack for a query, or at which step it dropped out."""
    invocation.answer(request, _print_explanation)


def _print_explanation(explanation: Explanation) -> None:
    click.echo(explanation.sentence)
    candidate = explanation.candidate
    fields: dict[str, str | float] = {
        "record": explanation.ref,
        "in the pack": "yes" if explanation.included else "no",
        "decided by": explanation.stage,
        "reason": explanation.reason,
    }
    if candidate is not None:
        fields |= {"lane": candidate.lane, "score": candidate.score, "similarity": candidate.similarity}
    print_fields(fields)
