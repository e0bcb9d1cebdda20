"""Takes single files out of archives, and only the ones whose every byte is known beforehand."""

from __future__ import annotations

import hashlib
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from clew.errors import ModelInstallFailed

_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a zip archive, or of a compressed tar archive inside it, with its only accepted content."""

    path: str
    size_bytes: int
    sha256: str
    inner_path: str = ""


def extract_member(archive: Path, member: Member, target: Path) -> None:
    """Write the member to `target`. No name in the archive is ever used as a path."""
    try:
        with zipfile.ZipFile(archive) as opened, opened.open(member.path) as file:
            if member.inner_path:
                _extract_inner(file, member, target)
            else:
                _copy_exactly(file, member, target)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, KeyError, EOFError, _Unexpected) as error:
        raise ModelInstallFailed(
            f"{archive.name} does not hold the expected {member.inner_path or member.path}; nothing was installed"
        ) from error


class _Unexpected(Exception):
    """The archive is sound, but holds something else."""


def _extract_inner(file: IO[bytes], member: Member, target: Path) -> None:
    with tarfile.open(fileobj=file, mode="r|gz") as archive:
        for item in archive:
            inner = archive.extractfile(item) if item.isreg() and item.name == member.inner_path else None
            if inner is not None:
                _copy_exactly(inner, member, target)
                return
    raise _Unexpected


def _copy_exactly(file: IO[bytes], member: Member, target: Path) -> None:
    """Read at most one byte more than expected: enough to know, too little to fill a disk."""
    digest = hashlib.sha256()
    left_bytes = member.size_bytes + 1
    with target.open("wb") as output:
        while left_bytes and (chunk := file.read(min(_CHUNK_BYTES, left_bytes))):
            left_bytes -= len(chunk)
            digest.update(chunk)
            output.write(chunk)
    if left_bytes != 1 or digest.hexdigest() != member.sha256:
        raise _Unexpected
