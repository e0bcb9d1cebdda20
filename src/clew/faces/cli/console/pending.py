"""Waiting for the store's queue of texts, with a bar that shows how far it is."""

from __future__ import annotations

import time

import click

from clew.api import Flushed, MemoryApi
from clew.errors import DeadlineExceeded, EmbedderFailed
from clew.faces.cli.console.invocation import Invocation

STEP_MS = 500
STALLED_AFTER_S = 60.0


def drain(invocation: Invocation, memory: MemoryApi) -> Flushed:
    """Wait until no text waits. What an error leaves undone stays queued in the store.

    Raises EmbedderFailed when nothing more can be done now, and DeadlineExceeded when the queue has
    stopped moving.
    """
    total = memory.status().pending
    last, moved_at = total, time.monotonic()
    with invocation.progress("Indexing", total) as report:
        while True:
            asked_at = time.monotonic()
            flushed = memory.flush(timeout_ms=STEP_MS)
            now = time.monotonic()
            report(total - flushed.pending)
            if flushed.ok:
                return flushed
            if now - asked_at < STEP_MS / 1000:
                raise EmbedderFailed(f"{flushed.pending:,} texts wait for a model; `clew status` says why")
            if flushed.pending != last:  # notes that are read leave texts to be indexed
                last, moved_at = flushed.pending, now
            if now - moved_at > STALLED_AFTER_S:
                raise DeadlineExceeded(f"{flushed.pending:,} texts wait and none gets done; `clew status` says why")


def requeue(invocation: Invocation, *, everything: bool) -> None:
    """Queue every text again and wait until all are done."""
    with invocation.open() as memory:
        queued = memory.reindex(everything=everything).count
        flushed = drain(invocation, memory)
    invocation.show({"queued": queued, "pending": flushed.pending}, _print_requeued)


def _print_requeued(counts: dict[str, int]) -> None:
    click.echo(f"queued {counts['queued']:,} texts; {counts['pending']:,} wait")
