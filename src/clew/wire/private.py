"""A folder of files that only this user reads, written without locks by processes that come and go.

Hooks load this module, so it imports nothing that takes time.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_UNFINISHED = ".part"


class PrivateFolder:
    """A folder with mode 0700 and files with mode 0600. Follows no symbolic link, neither at the folder nor in it."""

    def __init__(self, path: str, *, create: bool = False) -> None:
        """Opens the folder. Raises FileNotFoundError where there is none, and OSError where it is not the user's."""
        if create:
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            os.makedirs(path, 0o700, exist_ok=True)
        self._handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        found = os.fstat(self._handle)
        if found.st_uid != os.geteuid():
            os.close(self._handle)
            raise PermissionError(f"{path} belongs to another user")
        if stat.S_IMODE(found.st_mode) & 0o077:
            os.fchmod(self._handle, 0o700)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def names(self) -> list[str]:
        """The names of the finished files, in order."""
        return sorted(name for name in os.listdir(self._handle) if not name.endswith(_UNFINISHED))

    def unfinished(self) -> list[str]:
        """The names of files that a process is writing, or has left behind."""
        return [name for name in os.listdir(self._handle) if name.endswith(_UNFINISHED)]

    def open_lock(self, name: str) -> int:
        """The descriptor of an empty file, for a lock."""
        return os.open(name, _WRITE, 0o600, dir_fd=self._handle)

    def look(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._handle, follow_symlinks=False)

    def read(self, name: str, limit_bytes: int) -> bytes:
        """The content of a plain file. Raises OSError for anything else, and for a file that is longer."""
        handle = os.open(name, _READ, dir_fd=self._handle)
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError("no plain file")
            content = file.read(limit_bytes + 1)
        if len(content) > limit_bytes:
            raise OSError(f"longer than {limit_bytes:,} bytes")
        return content

    def write(self, name: str, content: bytes) -> None:
        """Writes a whole file, or leaves none: it gets its name when it is on the disk."""
        unfinished = f"{os.urandom(8).hex()}{_UNFINISHED}"
        handle = os.open(unfinished, _WRITE | os.O_EXCL, 0o600, dir_fd=self._handle)
        try:
            with open(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(handle)
            os.rename(unfinished, name, src_dir_fd=self._handle, dst_dir_fd=self._handle)
        except OSError:
            self.remove(unfinished)
            raise

    def append(self, name: str, content: bytes) -> None:
        handle = os.open(name, _WRITE | os.O_APPEND, 0o600, dir_fd=self._handle)
        try:
            os.write(handle, content)
        finally:
            os.close(handle)

    def remove(self, name: str) -> bool:
        """Whether the file was there."""
        try:
            os.unlink(name, dir_fd=self._handle)
        except FileNotFoundError:
            return False
        return True
