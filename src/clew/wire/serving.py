"""The daemon of a data folder: found by its endpoint, named by the process that holds its lock."""

from __future__ import annotations

import fcntl
import os
import re
from pathlib import Path

from clew.config import Config

LOCK_FILE = "daemon.lock"
_KERNEL_LOCKS = Path("/proc/locks")


def serving_process(config: Config) -> int | None:
    """The process that serves the data folder, proven by the lock it holds; None when there is none."""
    written = _read_lock(config)
    return None if written is None else written[0]


def announced_endpoint(config: Config) -> str | None:
    """Where the daemon of the data folder says it listens; None when there is none, or it does not listen yet."""
    written = _read_lock(config)
    return None if written is None else written[1] or None


def serving_endpoint(config: Config) -> str:
    """Where the daemon of the data folder says it listens; where one would listen when there is none."""
    written = _read_lock(config)
    return config.endpoint if config.listen or written is None else written[1] or config.endpoint


def _read_lock(config: Config) -> tuple[int, str] | None:
    """The process that holds the lock and its endpoint; None when nobody does."""
    try:
        handle = os.open(config.data_dir / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        written = re.match(r"(\d+)\n(?:(.+)\n)?", os.read(handle, 4096).decode("utf-8", "replace"))
        if written is None or not _is_held(handle, int(written[1])):
            return None
        return int(written[1]), written[2] or ""
    finally:
        os.close(handle)


def _is_held(handle: int, pid: int) -> bool:
    """Whether this process holds the lock. Asking the kernel's table does not block a daemon."""
    try:
        table = _KERNEL_LOCKS.read_text("ascii")
    except FileNotFoundError:  # not Linux: try the lock; only its holder writes the file
        return _is_locked(handle)
    inode = os.fstat(handle).st_ino
    return re.search(rf"FLOCK\s+ADVISORY\s+WRITE\s+{pid}\s+\S+:{inode}\s", table) is not None


def _is_locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
