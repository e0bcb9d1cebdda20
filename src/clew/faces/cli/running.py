"""Verbs that run a daemon and say how it is."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
from msgspec import to_builtins

from clew.api import Flushed, Journal, ReadJournal, Status
from clew.config import Config
from clew.errors import DaemonUnreachable, DeadlineExceeded, StoreInUse
from clew.faces.cli.console.command import Verb
from clew.faces.cli.console.fields import takes
from clew.faces.cli.console.invocation import Invocation, connect_if_served
from clew.faces.cli.console.pending import drain, requeue
from clew.faces.cli.console.terminal import (
    byte_size,
    compact_json,
    counted,
    local_time,
    print_degraded,
    print_fields,
    print_json,
    print_note,
    print_table,
)
from clew.wire.endpoint import parse_endpoint
from clew.wire.serving import announced_endpoint, serving_endpoint, serving_process

START_TIMEOUT_S = 120.0
LOG_FILE = "daemon.log"


@click.command("up", cls=Verb, examples=["clew up", "clew up --foreground --data ./memory --listen tcp:127.0.0.1:7440"])
@click.option("--foreground", is_flag=True, help="Serve from this process until it is stopped.")
@click.option("--listen", metavar="ENDPOINT", help="unix:PATH or tcp:127.0.0.1:PORT; else DATA/clew.sock.")
@click.pass_obj
def up_command(invocation: Invocation, foreground: bool, listen: str | None) -> None:
    """Start the daemon and print its endpoint once it answers."""
    config = invocation.config(listen=listen)
    if foreground:
        if invocation.json:
            raise click.UsageError("--foreground prints its endpoint on a plain line; leave out --json.")
        raise click.exceptions.Exit(_serve(config))
    running = connect_if_served(config) if _is_own(config) else None
    if running is None:
        _refuse_second_daemon(config)
        endpoint = _start_detached(config, listen)
    else:
        running.close()
        endpoint = serving_endpoint(config)
    answer = {"endpoint": endpoint, "pid": serving_process(config), "started": running is None}
    invocation.show(answer, lambda _: click.echo(endpoint))


def _is_own(config: Config) -> bool:
    """Whether the daemon of the data folder listens where it is wanted: that somebody answers there proves nothing."""
    announced = announced_endpoint(config)
    return announced is not None and announced == str(parse_endpoint(serving_endpoint(config)))


def _refuse_second_daemon(config: Config) -> None:
    pid = serving_process(config)
    if pid is not None:
        raise StoreInUse(
            f"a daemon (process {pid}) already serves {config.data_dir} and does not answer at "
            f"{config.endpoint}; `clew down` stops it"
        )


def _serve(config: Config) -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported; see clew.index.vectors
    from clew.engine import Memory
    from clew.faces.daemon.run import serve

    return serve(config, Memory.open)


def _start_detached(config: Config, listen: str | None) -> str:
    """Start a daemon in a session of its own; its first line of output is the endpoint it serves."""
    config.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    log = config.data_dir / LOG_FILE
    arguments = ["up", "--foreground", "--data", str(config.data_dir.absolute())]
    if listen:
        arguments += ["--listen", listen]
    log_handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    log_start = os.lseek(log_handle, 0, os.SEEK_END)
    process = subprocess.Popen(
        [sys.executable, "-m", "clew.faces.cli.main", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log_handle,
        start_new_session=True,
    )
    os.close(log_handle)
    assert process.stdout is not None  # asked for as a pipe above
    with process.stdout as output:
        ready, _, _ = select.select([output], [], [], START_TIMEOUT_S)
        endpoint: str = output.readline().decode("utf-8").strip() if ready else ""
    if not endpoint:
        process.terminate()
        process.wait()
        raise DaemonUnreachable(f"the daemon did not start: {_last_line(log, log_start)}")
    return endpoint


def _last_line(log: Path, start: int) -> str:
    """What the daemon said last; its earlier runs are not asked."""
    with log.open("rb") as stream:
        stream.seek(start)
        lines = stream.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("error: ") if lines else f"it said nothing in {log}"


STOP_TIMEOUT_S = 60.0
STEP_S = 0.05


@click.command("down", cls=Verb, examples=["clew down"])
@click.pass_obj
def down_command(invocation: Invocation) -> None:
    """Stop the daemon of the data folder; nothing happens when none runs."""
    if invocation.endpoint:
        raise click.UsageError("A daemon is stopped where it runs: name its folder with --data.")
    config = invocation.config()
    pid = serving_process(config)
    if pid is not None:
        _stop(config, pid)
    invocation.show({"stopped": pid is not None, "pid": pid}, _print_stopped)


def _stop(config: Config, pid: int) -> None:
    """Ask the process to end, and wait until it has let go of the data folder."""
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while serving_process(config) == pid:
        if time.monotonic() > deadline:
            raise DeadlineExceeded(f"the daemon (process {pid}) still works after {STOP_TIMEOUT_S:.0f} s")
        time.sleep(STEP_S)


def _print_stopped(answer: dict[str, Any]) -> None:
    click.echo(f"stopped process {answer['pid']}" if answer["stopped"] else "no daemon is running")


@click.command("status", cls=Verb, examples=["clew status", "clew status --json"])
@click.pass_obj
def status_command(invocation: Invocation) -> None:
    """Show what the store holds and whether all of it works."""
    with invocation.open() as memory:
        status = memory.status()
    if invocation.json:
        print_json(to_builtins(status) | {"endpoint": invocation.served_at})
    else:
        _print_status(status, invocation.served_at)


def _print_status(status: Status, endpoint: str | None) -> None:
    print_fields(
        {
            "state": "ok" if status.ok else "not ok",
            "daemon": endpoint or "none; the store was opened for this command",
            "says": status.message,
            "version": status.version,
            "data folder": status.data_dir,
            "records": status.record_count,
            "user turns": status.turn_count,
            "memories": status.memory_count,
            "waiting": status.pending,
            "spool": _describe_spool(status),
            "quarantined": status.quarantined_count,
            "last aged": "never" if status.last_lifecycle is None else local_time(status.last_lifecycle),
            "embedder": status.embedding_profile or "none: search is by words alone",
            "token counts": status.token_counter,
            "keeps turns from": f"gate score {status.gating_threshold:g}",
            "store": byte_size(status.store_bytes),
            "index in memory": byte_size(status.index_bytes),
        }
    )
    print_degraded(status.degraded)


def _describe_spool(status: Status) -> str:
    """How many events of hooks wait on disk, and what became of those that could not."""
    parts = [counted(status.spool_waiting, "event")]
    parts += [f"{status.spool_dropped:,} dropped"] if status.spool_dropped else []
    parts += [f"{status.spool_set_aside:,} set aside"] if status.spool_set_aside else []
    return ", ".join(parts)


@click.command("flush", cls=Verb, examples=["clew flush"])
@click.pass_obj
def flush_command(invocation: Invocation) -> None:
    """Wait until everything stored is searchable by meaning, too."""
    with invocation.open() as memory:
        invocation.show(drain(invocation, memory), _print_flushed)


def _print_flushed(flushed: Flushed) -> None:
    click.echo(f"done; {flushed.pending:,} texts wait")


@click.command("journal", cls=Verb, examples=["clew journal --session s1"])
@takes(ReadJournal)
def journal_command(invocation: Invocation, request: ReadJournal) -> None:
    """Show the hosts' notes about session ends and resets."""
    invocation.answer(request, _print_journal)


def _print_journal(journal: Journal) -> None:
    if not journal.entries:
        print_note("the journal is empty")
        return
    print_table(
        ("when", "hook", "session", "details"),
        [
            (
                local_time(entry.ts),
                entry.hook,
                entry.session_id,
                compact_json(entry.details),
            )
            for entry in journal.entries
        ],
    )


@click.command("reindex", cls=Verb, examples=["clew reindex"])
@click.pass_obj
def reindex_command(invocation: Invocation) -> None:
    """Recompute search terms and vectors of every text. Stopped, it goes on where it was."""
    requeue(invocation, everything=True)


@click.command("reembed", cls=Verb, examples=["clew reembed"])
@click.pass_obj
def reembed_command(invocation: Invocation) -> None:
    """Embed every text that the model set now has not embedded. Stopped, it goes on where it was."""
    requeue(invocation, everything=False)
