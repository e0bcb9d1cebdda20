"""`clew down`: stops the daemon of the data folder, after its work is done."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import click

from clew.config import Config
from clew.errors import DeadlineExceeded
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.wire.serving import serving_process

STOP_TIMEOUT_S = 60.0
STEP_S = 0.05


@click.command("down", cls=Verb, examples=["clew down"])
@click.pass_obj
def command(invocation: Invocation) -> None:
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
