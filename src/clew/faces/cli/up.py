"""`clew up`: the daemon, in this terminal or behind it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import click

from clew.config import Config
from clew.errors import DaemonUnreachable, StoreInUse
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation, connect_if_served
from clew.wire.endpoint import parse_endpoint
from clew.wire.serving import announced_endpoint, serving_endpoint, serving_process

START_TIMEOUT_S = 120.0
LOG_FILE = "daemon.log"


@click.command("up", cls=Verb, examples=["clew up", "clew up --foreground --data ./memory --listen tcp:127.0.0.1:7440"])
@click.option("--foreground", is_flag=True, help="Serve from this process until it is stopped.")
@click.option("--listen", metavar="ENDPOINT", help="unix:PATH or tcp:127.0.0.1:PORT; else DATA/clew.sock.")
@click.pass_obj
def command(invocation: Invocation, foreground: bool, listen: str | None) -> None:
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
