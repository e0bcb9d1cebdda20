"""What one daemon alone may hold: a data folder and the address that it listens on."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clew.errors import InvalidInput, StoreInUse
from clew.wire.endpoint import Endpoint, TcpEndpoint, UnixEndpoint
from clew.wire.serving import LOCK_FILE

BACKLOG = 1024
"""Connections that the kernel holds until the daemon accepts them; asyncio's 100 is less than a burst of clients."""
PROBE_TIMEOUT_S = 1.0


@contextmanager
def data_lock(data_dir: Path) -> Iterator[Callable[[Endpoint], None]]:
    """Holds the data folder for this process. Raises StoreInUse, which names the process that has it.

    Yields a function that announces the endpoint: the file's first line is the process id, the second the
    endpoint, so that other programs find the daemon wherever it listens. The lock itself is the kernel's, on
    an open file: it ends with its process, so no lock is ever stale.
    """
    _make_private(data_dir)
    descriptor = os.open(data_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 32).decode("ascii", "replace").partition("\n")[0] or "unknown"
            message = f"another daemon (process {holder}) serves {data_dir}"
            raise StoreInUse(message) from error
        os.ftruncate(descriptor, 0)
        first_line = b"%d\n" % os.getpid()
        os.pwrite(descriptor, first_line, 0)
        yield lambda endpoint: _write_line(descriptor, str(endpoint), len(first_line))
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _write_line(descriptor: int, text: str, offset: int) -> None:
    os.pwrite(descriptor, f"{text}\n".encode(), offset)


@contextmanager
def listening(endpoint: Endpoint) -> Iterator[tuple[socket.socket, Endpoint]]:
    """Yields a listening socket, and the endpoint with its real port. Removes a Unix socket at the end."""
    if isinstance(endpoint, TcpEndpoint):
        sock = _bind_tcp(endpoint)
        with sock:
            yield sock, TcpEndpoint(endpoint.host, sock.getsockname()[1])
        return
    sock = _bind_unix(endpoint)
    path = Path(endpoint.path)
    inode = path.lstat().st_ino
    try:
        with sock:
            yield sock, endpoint
    finally:
        # Whoever replaced the file in the meantime keeps theirs.
        with suppress(FileNotFoundError):
            if path.lstat().st_ino == inode:
                path.unlink()


def _bind_tcp(endpoint: TcpEndpoint) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((endpoint.host, endpoint.port))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise InvalidInput(f"cannot listen on {endpoint}: {error.strerror}") from error
    return sock


def _bind_unix(endpoint: UnixEndpoint) -> socket.socket:
    path = Path(endpoint.path)
    _make_private(path.parent)
    _clear_stale(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # The mask decides the mode at birth; a chmod afterwards would leave a moment open to others.
    mask = os.umask(0o177)
    try:
        sock.bind(endpoint.path)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise InvalidInput(f"cannot listen on {endpoint}: {error.strerror}") from error
    finally:
        os.umask(mask)
    return sock


def _make_private(folder: Path) -> None:
    """Makes a folder that only this user can change. Raises InvalidInput where others can change it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError as error:
        raise InvalidInput(f"cannot use {folder}: {error.strerror}") from error
    if found.st_uid not in (os.geteuid(), 0):
        raise InvalidInput(f"{folder} belongs to another user; choose a folder of your own")
    if stat.S_IMODE(found.st_mode) & 0o022:
        raise InvalidInput(f"other users can write to {folder}; run `chmod 700 {folder}` or choose another")


def _clear_stale(path: Path) -> None:
    """Removes a socket that a killed daemon left behind. Raises an error for anything else that is there."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise InvalidInput(f"{path} exists and is not a socket; it was left alone")
    if _answers(path):
        raise StoreInUse(f"a process already listens on unix:{path}")
    path.unlink(missing_ok=True)


def _answers(path: Path) -> bool:
    """Whether somebody listens. Only a refused connection proves that nobody does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(PROBE_TIMEOUT_S)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True
    return True
