"""Runs the daemon: takes the data folder, opens the memory, listens, stops cleanly."""

from __future__ import annotations

import asyncio
import gc
import logging
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable

import msgspec

from clew.api import LoadAuthored, MemoryApi
from clew.config import Config
from clew.errors import ClewError
from clew.faces.daemon.auth import daemon_token
from clew.faces.daemon.jobs import Jobs, take_spool
from clew.faces.daemon.limits import Limits
from clew.faces.daemon.lock import data_lock, listening
from clew.faces.daemon.server import Server
from clew.wire.endpoint import Endpoint, TcpEndpoint, parse_endpoint

log = logging.getLogger(__name__)

CLOSE_TIMEOUT_S = 10.0
SPOOL_SECONDS = 5.0
"""How long a start may take longer because of events that wait on disk."""
SWITCH_INTERVAL_S = 0.0005
"""How long one thread keeps the interpreter while others wait; Python's 5 ms is the latency of a whole request."""

COLLECT_AFTER = (20_000, 20, 50)
"""Thresholds of the garbage collector. A request makes thousands of short-lived objects and hardly any cycle, and a
full collection takes as long as half a request."""

SPARE_FILES = 256
"""Open files beside one for each client: the store, models, the log, clients that have not signed in or leave."""


def serve(config: Config, open_memory: Callable[[Config], MemoryApi]) -> int:
    """Runs a daemon until it is told to stop, and gives the exit status. Raises a ClewError where it cannot start.

    When it is ready, it prints its endpoint, alone, on one line of the standard output.
    """
    _log_to_stderr(config.log_format)
    endpoint = parse_endpoint(config.endpoint)
    _allow_files(config.max_connections + SPARE_FILES)
    tune_interpreter()
    with data_lock(config.data_dir) as announce:
        token = daemon_token(config) if isinstance(endpoint, TcpEndpoint) else None
        memory = open_memory(config)
        try:
            _read_authored(memory)
            _take_spool(memory)
            with listening(endpoint) as (listener, bound), Jobs(memory):
                server = Server(memory, Limits.from_config(config), token=token)
                announce(bound)
                drained = asyncio.run(_run(server, listener, bound))
        finally:
            closed = _close(memory)
    return 0 if drained and closed else 1


def tune_interpreter() -> None:
    """Tunes Python for a process that only serves. A library must not do that."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.set_threshold(*COLLECT_AFTER)


def _read_authored(memory: MemoryApi) -> None:
    """Loads the rules. Hard text that does not fit stops the daemon here: no agent may start without its rules."""
    for trouble in memory.call(LoadAuthored(notes=False)).degraded:
        log.warning("authored text: %s", trouble)


def _take_spool(memory: MemoryApi) -> None:
    """Takes in the events of hooks that found no daemon, before newer ones can come. A long rest comes in behind."""
    until = time.monotonic() + SPOOL_SECONDS
    try:
        while take_spool(memory) and time.monotonic() < until:
            continue
    except ClewError as error:
        log.warning("the spool of the hooks: %s", error)


async def _run(server: Server, listener: socket.socket, endpoint: Endpoint) -> bool:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)

    def ready() -> None:
        log.info("listening on %s", endpoint)
        sys.stdout.write(f"{endpoint}\n")
        sys.stdout.flush()

    drained = await server.run(listener, stop, ready)
    if not drained:
        log.error("stopped with requests still under way; their clients had no answer")
    return drained


def _close(memory: MemoryApi) -> bool:
    """Closes the memory, but does not wait for ever: a hung request may hold what closing needs.

    Every acknowledged write is on disk already, so leaving then loses nothing.
    """
    closing = threading.Thread(target=memory.close, name="clew-close", daemon=True)
    closing.start()
    closing.join(CLOSE_TIMEOUT_S)
    if closing.is_alive():
        log.error("the memory did not close within %g s", CLOSE_TIMEOUT_S)
        return False
    log.info("stopped")
    return True


def _allow_files(wanted: int) -> None:
    """Raises the soft limit of open files where it is lower than the number of clients."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _log_to_stderr(log_format: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if log_format == "json" else _TextFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


class _TextFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")


class _JsonFormatter(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, str | int] = {
            "ts": int(record.created * 1000),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return msgspec.json.encode(entry).decode()
